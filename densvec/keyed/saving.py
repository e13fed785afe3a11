"""How KeyedDensities are stored in files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from densvec.encoder import Encoder
from densvec.files import compact, packing, persistence
from densvec.files.fasttext import NGRAMS, NGrams
from densvec.files.schema import field, leave_out, tensor
from densvec.integrations.exchange import load_foreign
from densvec.questions.beside import BESIDE, Beside
from densvec.questions.kinds import KINDS, Kinds
from densvec.reading import Reading
from densvec.tables import ENCODER, tables_of
from densvec.text.text_reading import TextReading
from densvec.types import Array, PathLike

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities

_ATTRIBUTES = "attributes."
_SUBWORDS = "subwords."  # in older files, and no longer read
_PARTS = (
    "vocabulary.",
    "means",
    "log_variances",
    "context_vectors",
    ENCODER,
    _SUBWORDS,
    BESIDE,
    KINDS,
    NGRAMS,
    _ATTRIBUTES,
)
_NEEDED = ("means", "vectors", "index_to_key", "key_to_index")


def save(
    wv: KeyedDensities,
    fname: PathLike | IO[bytes],
    separately: Any = None,
    sep_limit: int = 10 * 1024**2,
    ignore: Iterable[str] = frozenset(),
    pickle_protocol: int | None = None,
    *,
    dtype: str | None = None,
) -> None:
    """Save everything, encoder included, to one file that :meth:`load` reads.

    Parameters
    ----------
    fname : str, PathLike or binary file
        A path, or what smart_open can write. The file is written whole or not at all.
    separately, sep_limit, pickle_protocol : optional
        Accepted as in gensim, without effect: there is one file, and no pickle in it.
    ignore : iterable of str, optional
        What to leave out: ``"encoder"`` (which halves the file, but then nothing can be inferred from contexts),
        ``"log_variances"``, ``"beside"``, ``"kinds"``, ``"ngrams"``, or attributes such as ``"count"``. Unknown names
        are ignored.
    dtype : {"float32", "float16", "int8"}, optional
        How tables are stored: as they are by default, or in half (``"float16"``) or a quarter (``"int8"``,
        each row with its own scale) of the space. They are loaded as float32 again.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "words.dv")
    >>> wv.save(path)
    >>> type(wv).load(path).kl_divergence("dog", "cat")
    1.0
    """
    if dtype not in (None, *compact.TYPES):
        raise ValueError(f"dtype={dtype!r}: use {', '.join(map(repr, compact.TYPES))}")
    tensors = leave_out(tensors_of(wv), ignore, needed=_NEEDED)
    header = header_of(wv)
    persistence.check_loadable(type(wv)._restore, header, tensors)
    if dtype is not None:
        tensors = compact.compacted(tensors, dtype)
        header |= {} if dtype == "float32" else {"compact": dtype}
    wv._provenance = persistence.write(fname, tensors, header)


def load(
    cls: type[KeyedDensities],
    fname: PathLike | IO[bytes],
    mmap: str | None = None,
    *,
    max_bytes: int | None = None,
) -> KeyedDensities:
    """Load what :meth:`save` wrote; also the densities of a saved model, and vectors of gensim and fastText.

    From what the ``save`` of gensim 3.8 to 4.4 wrote, a model or KeyedVectors, words with their vectors and counts are
    read without gensim, and nothing in it is run. A model of fastText, gensim's or a ``.bin``, brings its n-grams, and
    words that are not known then have vectors, too.

    Parameters
    ----------
    fname : str, PathLike or binary file
        A path, or what smart_open can read.
    mmap : {None, "r", "c"}, optional
        Map the tables into memory instead of reading them: ``"r"`` read-only and shared between
        processes, ``"c"`` copy-on-write. A mapped file must stay as it is: saving replaces files, which is
        safe, but if a file is truncated in place (by ``cp`` over it, say), touching a lost part ends the
        process with a bus error. Without `mmap`, later changes to the file do not matter.
    max_bytes : int, optional
        How large the tables may be, checked before anything is unpacked; by default twenty times the size of
        a compressed file, or 64 MiB if that is more.

    Raises
    ------
    DensvecFileError
        If the file is damaged, truncated or foreign.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "words.dv")
    >>> wv.save(path)
    >>> type(wv).load(path, mmap="r")
    KeyedDensities<vector_size=2, 4 keys, spherical, encoder>
    """
    try:
        tensors, header = persistence.read(
            fname, mmap=mmap, only=lambda name: name.startswith(_PARTS), max_bytes=max_bytes
        )
    except persistence.DensvecFileError as error:
        refused = error
    else:
        with persistence.faults_of(fname):
            return restored(cls, header, tensors)
    foreign = None if hasattr(fname, "read") else load_foreign(cls, fname, mmap, max_bytes)
    if foreign is None:
        raise refused
    return foreign


# What a file holds. A model's file has the same tensors and some of its own.


def tensors_of(wv: KeyedDensities) -> dict[str, Array]:
    """Return all arrays by the names they have in a file."""
    for kind in set(map(type, wv.index_to_key)):
        if not issubclass(kind, str):
            key = next(key for key in wv.index_to_key if type(key) is kind)
            raise ValueError(f"only words can be saved as keys: got {key!r} of type {kind.__name__}")
    tensors: dict[str, Array] = {**packing.pack_words(wv.index_to_key), **tables_of(wv)}
    if wv.beside is not None:
        tensors |= wv.beside.arrays()
    if wv.kinds is not None:
        tensors |= wv.kinds.arrays()
    if wv.ngrams is not None:
        tensors[NGRAMS] = wv.ngrams.table[:]
    for name, values in wv.expandos.items():
        if name == "count":
            tensors["vocabulary.counts"] = values
        elif values.dtype != object:
            tensors[_ATTRIBUTES + name] = values
    return tensors


def header_of(wv: KeyedDensities) -> dict[str, Any]:
    """Return everything that is not an array, as a JSON document."""
    return {
        "class": "KeyedDensities",
        "window": wv.window,
        "residual": wv.encoder is not None and wv.encoder.residual,
        "reading": None if wv.encoder is None else wv.encoder.reading.header(),
        "attributes": {name: list(a) for name, a in wv.expandos.items() if a.dtype == object},
        "ngrams": None if wv.ngrams is None else [wv.ngrams.shortest, wv.ngrams.longest],
        "card": wv.card,
        "text": None if wv.text_reading is None else wv.text_reading.header(),
        "lifecycle_events": wv.lifecycle_events,
        "provenance": wv._provenance,
    }


def restored(
    cls: type[KeyedDensities], header: Mapping[str, Any], tensors: Mapping[str, Array]
) -> KeyedDensities:
    """Return the words of a file of KeyedDensities or of a model."""
    words, index = packing.unpack_vocabulary(tensors)
    if header.get("compact") is not None:
        tensors = compact.restored(tensors, header["compact"])
    means = tensor(tensors, "means", "f", (len(words), None))
    parameters = header.get("parameters", header)  # a model's file keeps them separately
    window = field(parameters, "window", int, minimum=1)
    encoder = None
    if any(name.startswith(ENCODER) for name in tensors):
        encoder = Encoder(
            **_weights(tensors),
            residual=field(parameters, "residual", bool) if "residual" in parameters else False,
            # Older files, which do not say how the encoder reads, have the paper's plain sum.
            reading=Reading(window)
            if header.get("reading") is None
            else Reading.from_header(field(header, "reading", dict)),
        )
    optional: dict[str, Any] = {
        name: tensor(tensors, name, "f", (len(words), None))
        for name in ("log_variances", "context_vectors")
        if name in tensors
    }
    wv = cls.from_arrays(
        words,
        means,
        encoder=encoder,
        attributes=_attributes(header, tensors, len(words)),
        window=window,
        index=index,
        **optional,
    )
    wv.beside = Beside.restored(tensors, len(wv))
    wv.kinds = Kinds.restored(tensors, len(wv))
    if NGRAMS in tensors:
        wv.ngrams = NGrams(
            tensor(tensors, NGRAMS, "f", (None, means.shape[1])), *field(header, "ngrams", list)
        )
    wv._provenance = header.get("provenance")
    wv.card = None if header.get("card") is None else field(header, "card", str)
    wv.text_reading = TextReading.from_header(header.get("text"))
    events = header.get("lifecycle_events")
    wv.lifecycle_events = (
        events if isinstance(events, list) and header.get("class") == "KeyedDensities" else []
    )
    return wv


def _weights(tensors: Mapping[str, Array]) -> dict[str, Any]:
    """Return the encoder's weights."""
    axes = {name: 1 if name.endswith("bias") else 2 for name in Encoder.names()}
    weights = {name: tensor(tensors, ENCODER + name, "f", (None,) * axes[name]) for name in axes}
    types = sorted({str(array.dtype) for array in weights.values()})
    if len(types) > 1:
        raise ValueError(f"the encoder's tensors have different types: {', '.join(types)}")
    return weights


def _attributes(header: Mapping[str, Any], tensors: Mapping[str, Array], count: int) -> dict[str, Array]:
    """Return the attributes of the words: numbers are tensors, everything else is in the header."""
    listed = header.get("attributes", {})
    listed = listed if isinstance(listed, dict) else {}
    if "count" in listed or _ATTRIBUTES + "count" in tensors:
        raise ValueError("the words' counts are among their attributes, not in vocabulary.counts")
    names = {"vocabulary.counts": "count"} | {
        name: name.removeprefix(_ATTRIBUTES) for name in tensors if name.startswith(_ATTRIBUTES)
    }
    found = {
        attribute: tensor(tensors, name, tensors[name].dtype.kind, (count,))
        for name, attribute in names.items()
        if name in tensors
    }
    for name, values in listed.items():
        if not isinstance(values, list) or len(values) != count:
            raise ValueError(f"the header's attribute {name!r} is not a list of {count:,} values")
        found[name] = np.empty(count, dtype=object)
        found[name][:] = values
    return found
