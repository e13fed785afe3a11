"""KeyedDensities in files: its own format, the word2vec format, and exchange with other packages."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from densvec.encoder import Encoder
from densvec.files import compact, exchange, persistence
from densvec.files.schema import field, leave_out, tensor
from densvec.files.word2vec import Options
from densvec.questions.spelling_model import SUBWORDS, SpellingModel
from densvec.reading import Reading
from densvec.tables import ENCODER

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities


__all__ = [
    "from_gensim",
    "intersect_word2vec_format",
    "load",
    "load_bsg_format",
    "load_word2vec_format",
    "save",
    "save_bsg_format",
    "save_projector",
    "save_word2vec_format",
    "to_dataframe",
    "to_gensim",
]

Arrays = dict[str, npt.NDArray[Any]]
PathLike = str | os.PathLike[str]

_ATTRIBUTES = "attributes."
_PARTS = ("vocabulary.", "means", "log_variances", "context_vectors", ENCODER, SUBWORDS, _ATTRIBUTES)
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
        ``"log_variances"``, or attributes such as ``"count"``. Unknown names are ignored.
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
    """Load what :meth:`save` wrote; also the densities of a saved model.

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
    tensors, header = persistence.read(fname, mmap=mmap, only=_is_ours, max_bytes=max_bytes)
    with persistence.faults_of(fname):
        return restored(cls, header, tensors)


def load_word2vec_format(
    cls: type[KeyedDensities],
    fname: PathLike,
    fvocab: PathLike | None = None,
    binary: bool = False,
    encoding: str = "utf8",
    unicode_errors: str = "strict",
    limit: int | None = None,
    datatype: npt.DTypeLike = np.float32,
    no_header: bool = False,
    *,
    variances: PathLike | None = None,
) -> KeyedDensities:
    """Load means in the word2vec format, text or binary.

    Parameters
    ----------
    fname : str or PathLike
        The file; also compressed (.gz, .bz2, .xz) or remote.
    fvocab : str or PathLike, optional
        A file with the words' counts.
    binary : bool, optional
        Whether the file is binary.
    encoding, unicode_errors : str, optional
        How words are decoded, as in ``bytes.decode``.
    limit : int, optional
        The most vectors to read.
    datatype : dtype, optional
        Type of the vectors in memory.
    no_header : bool, optional
        Whether the file starts with a vector rather than a header, as GloVe's text files do.
    variances : str or PathLike, optional
        A file of the same kind with each word's variance, one number (spherical) or D (diagonal). Without
        it only the means are known: cosine answers work, questions about densities do not.

    Raises
    ------
    ValueError
        If the file is damaged; the message names the file and the line.

    Examples
    --------
    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> means, variances = os.path.join(folder, "means.txt"), os.path.join(folder, "variances.txt")
    >>> wv.save_word2vec_format(means, variances=variances)
    >>> type(wv).load_word2vec_format(means, variances=variances)
    KeyedDensities<vector_size=2, 4 keys, spherical>
    """
    options = Options(binary, encoding, unicode_errors, limit, datatype, no_header)
    return exchange.load_word2vec(cls, fname, fvocab, variances, options)


def save_word2vec_format(
    wv: KeyedDensities,
    fname: PathLike,
    fvocab: PathLike | None = None,
    binary: bool = False,
    total_vec: int | None = None,
    write_header: bool = True,
    prefix: str = "",
    append: bool = False,
    sort_attr: str = "count",
    *,
    variances: PathLike | None = None,
) -> None:
    """Save the means in the word2vec format, text or binary.

    Parameters
    ----------
    fname : str or PathLike
        The file to write.
    fvocab : str or PathLike, optional
        Where to write the words' counts.
    binary : bool, optional
        Whether to write a binary file.
    total_vec : int, optional
        The count that the header states, if more vectors are to be appended.
    write_header : bool, optional
        Whether to write the header.
    prefix : str, optional
        What to put in front of each word.
    append : bool, optional
        Whether to append to the file.
    sort_attr : str, optional
        The attribute to sort by, in descending order.
    variances : str or PathLike, optional
        Where to write the variances, in the same format.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "means.txt")
    >>> wv.save_word2vec_format(path)
    >>> print(open(path).read().splitlines()[:2])
    ['4 2', 'animal 1.0 1.0']
    """
    exchange.save_word2vec(
        wv,
        fname,
        fvocab,
        variances,
        binary=binary,
        total_vec=total_vec,
        write_header=write_header,
        prefix=prefix,
        append=append,
        sort_attr=sort_attr,
    )


def intersect_word2vec_format(
    wv: KeyedDensities,
    fname: PathLike,
    lockf: float = 0.0,
    binary: bool = False,
    encoding: str = "utf8",
    unicode_errors: str = "strict",
) -> None:
    r"""Replace the means of known words by those in a file of the word2vec format.

    Parameters
    ----------
    fname : str or PathLike
        The file.
    lockf : float, optional
        Accepted for compatibility with gensim: later training changes these means like all others.
    binary : bool, optional
        Whether the file is binary.
    encoding, unicode_errors : str, optional
        How words are decoded.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "means.txt")
    >>> with open(path, "w") as file:
    ...     _ = file.write("2 2\ndog 9 9\nunicorn 1 1\n")
    >>> wv.intersect_word2vec_format(path)
    >>> wv["dog"], "unicorn" in wv
    (array([9., 9.], dtype=float32), False)
    """
    options = Options(binary, encoding, unicode_errors, dtype=wv.vectors.dtype)
    overlap = exchange.intersect_word2vec(wv, fname, options)
    wv.add_lifecycle_event("intersect_word2vec_format", msg=f"{overlap} vectors from {os.fspath(fname)}")


def load_bsg_format(
    cls: type[KeyedDensities], mu: PathLike, sigma: PathLike, *, no_header: bool = True
) -> KeyedDensities:
    """Load the two text files of the original BSG release.

    Parameters
    ----------
    mu : str or PathLike
        ``mu.vectors``: a word and its mean on each line.
    sigma : str or PathLike
        ``sigma.vectors``: a word and its variance (despite the name), one number or D.
    no_header : bool, optional
        Whether the files have no first line with their sizes.

    Examples
    --------
    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> mu, sigma = os.path.join(folder, "mu.vectors"), os.path.join(folder, "sigma.vectors")
    >>> wv.save_bsg_format(mu, sigma)
    >>> type(wv).load_bsg_format(mu, sigma).get_variance("animal").round(2)
    array([4.], dtype=float32)
    """
    return exchange.load_bsg(cls, mu, sigma, Options(no_header=no_header))


def save_bsg_format(wv: KeyedDensities, mu: PathLike, sigma: PathLike) -> None:
    """Save means and variances as the two text files of the original BSG release.

    Examples
    --------
    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> wv.save_bsg_format(os.path.join(folder, "mu.vectors"), os.path.join(folder, "sigma.vectors"))
    >>> sorted(os.listdir(folder))
    ['mu.vectors', 'sigma.vectors']
    """
    exchange.save_bsg(wv, mu, sigma)


def to_gensim(wv: KeyedDensities) -> Any:
    """Return a gensim ``KeyedVectors`` with the means, counts and other attributes.

    Examples
    --------
    >>> wv.to_gensim().most_similar("dog", topn=1)
    [('animal', 0.948...)]
    """
    return exchange.to_gensim(wv)


def from_gensim(
    cls: type[KeyedDensities], keyed_vectors: Any, variances: npt.ArrayLike | None = None
) -> KeyedDensities:
    """Return the vectors and attributes of a gensim ``KeyedVectors``, or of a model that has one.

    Parameters
    ----------
    keyed_vectors : gensim.models.KeyedVectors or a model
        What to copy.
    variances : float or array_like, shape (V, 1) or (V, D), optional
        Variances, if there are any to give.

    Examples
    --------
    >>> type(wv).from_gensim(wv.to_gensim())
    KeyedDensities<vector_size=2, 4 keys, means only>
    """
    return exchange.from_gensim(cls, keyed_vectors, variances)


def save_projector(wv: KeyedDensities, directory: PathLike) -> tuple[str, str]:
    r"""Write two TSV files for the TensorFlow embedding projector, with frequency and generality.

    Returns
    -------
    tuple of str
        The paths of ``vectors.tsv`` and ``metadata.tsv``.

    Examples
    --------
    >>> import tempfile
    >>> vectors, metadata = wv.save_projector(tempfile.mkdtemp())
    >>> print(open(metadata).read().splitlines()[:2])
    ['word\tfrequency\tgenerality', 'animal\t400\t2.77259']
    """
    return exchange.save_projector(wv, directory)


def to_dataframe(wv: KeyedDensities) -> Any:
    """Return a pandas ``DataFrame`` with a row for each word: attributes, generality, mean and variance.

    Examples
    --------
    >>> wv.to_dataframe().round(2)
            count  generality  mean_0  mean_1  variance
    word
    animal    400        2.77     1.0     1.0       4.0
    dog       300        0.00     2.0     1.0       1.0
    cat       200        0.00     1.0     2.0       1.0
    car       100        0.00    -3.0     0.0       1.0
    """
    return exchange.to_dataframe(wv)


# What a file holds. A model's file has the same tensors and some of its own.


def tensors_of(wv: KeyedDensities) -> Arrays:
    """Return all arrays by the names they have in a file."""
    for kind in set(map(type, wv.index_to_key)):
        if not issubclass(kind, str):
            key = next(key for key in wv.index_to_key if type(key) is kind)
            raise ValueError(f"only words can be saved as keys: got {key!r} of type {kind.__name__}")
    tensors: Arrays = {**persistence.pack_words(wv.index_to_key), **wv._tables()}
    if wv.subwords is not None:
        tensors |= wv.subwords.arrays()
    for name, values in wv.expandos.items():
        if name == "count":
            tensors["vocabulary.counts"] = values
        elif values.dtype != object:
            tensors[_ATTRIBUTES + name] = values
    return tensors


def header_of(wv: KeyedDensities) -> dict[str, Any]:
    """Return all that is not an array, as a JSON document."""
    return {
        "class": "KeyedDensities",
        "window": wv.window,
        "residual": wv.encoder is not None and wv.encoder.residual,
        "reading": None if wv.encoder is None else wv.encoder.reading.header(),
        "attributes": {name: list(a) for name, a in wv.expandos.items() if a.dtype == object},
        "card": wv.card,
        "lifecycle_events": wv.lifecycle_events,
        "provenance": wv._provenance,
    }


def restored(
    cls: type[KeyedDensities], header: Mapping[str, Any], tensors: Mapping[str, npt.NDArray[Any]]
) -> KeyedDensities:
    """Return what `tensors_of` and `header_of`, or those of a model, describe."""
    words, index = persistence.unpack_vocabulary(tensors)
    if header.get("compact") is not None:
        tensors = compact.restored(tensors, header["compact"])
    means = tensor(tensors, "means", "f", (len(words), None))
    parameters = header.get("parameters", header)  # a model's file keeps them separately
    encoder = _restore_encoder(tensors)
    if encoder is not None and "residual" in parameters:
        encoder.residual = field(parameters, "residual", bool)
    window = field(parameters, "window", int, minimum=1)
    if encoder is not None:
        encoder.reading = _restore_reading(header, window)
    optional: dict[str, Any] = {
        name: tensor(tensors, name, "f", (len(words), None))
        for name in ("log_variances", "context_vectors")
        if name in tensors
    }
    wv = cls.from_arrays(
        words,
        means,
        encoder=encoder,
        attributes=_restore_attributes(header, tensors, len(words)),
        window=window,
        index=index,
        **optional,
    )
    wv.subwords = SpellingModel.restored(tensors, wv.vector_size)
    wv._provenance = header.get("provenance")
    wv.card = None if header.get("card") is None else field(header, "card", str)
    events = header.get("lifecycle_events")
    wv.lifecycle_events = (
        events if isinstance(events, list) and header.get("class") == "KeyedDensities" else []
    )
    return wv


def _restore_encoder(tensors: Mapping[str, npt.NDArray[Any]]) -> Encoder | None:
    arrays = {name.removeprefix(ENCODER): a for name, a in tensors.items() if name.startswith(ENCODER)}
    if not arrays:
        return None
    for name in Encoder.names():
        axes = 1 if name.endswith("bias") else 2
        arrays[name] = tensor(tensors, ENCODER + name, "f", (None,) * axes)
    weights: dict[str, Any] = {name: arrays[name] for name in Encoder.names()}
    types = sorted({str(array.dtype) for array in weights.values()})
    if len(types) > 1:
        raise ValueError(f"the encoder's tensors have different types: {', '.join(types)}")
    return Encoder(**weights)


def _restore_reading(header: Mapping[str, Any], window: int) -> Reading:
    """Return how the encoder reads; older files do not say, and have the paper's plain sum."""
    if header.get("reading") is None:
        return Reading(window)
    reading = field(header, "reading", dict)
    for name in ("nearness", "saturation"):
        if name == "nearness" or reading.get(name) is not None:
            field(reading, name, float, minimum=0)
    for name in ("thinned", "narrowing"):
        field(reading, name, bool)
    field(reading, "window", int, minimum=1)
    if "emphasis" in reading:
        field(reading, "emphasis", float, minimum=1)
    if "frequency" in reading:
        field(reading, "frequency", float, minimum=0)
    return Reading.from_header(reading)


def _restore_attributes(
    header: Mapping[str, Any], tensors: Mapping[str, npt.NDArray[Any]], count: int
) -> dict[str, npt.NDArray[Any]]:
    found = {}
    listed = header.get("attributes", {})
    for attributes in (listed if isinstance(listed, dict) else {}, tensors):
        if {"count", _ATTRIBUTES + "count"} & set(attributes):
            raise ValueError("the words' counts are among their attributes, not in vocabulary.counts")
    if "vocabulary.counts" in tensors:
        counts = tensors["vocabulary.counts"]
        found["count"] = tensor(tensors, "vocabulary.counts", counts.dtype.kind, (count,))
    for name, values in tensors.items():
        if name.startswith(_ATTRIBUTES):
            found[name.removeprefix(_ATTRIBUTES)] = tensor(tensors, name, values.dtype.kind, (count,))
    for name, values in (listed if isinstance(listed, dict) else {}).items():
        if not isinstance(values, list) or len(values) != count:
            raise ValueError(f"the header's attribute {name!r} is not a list of {count:,} values")
        found[name] = np.empty(count, dtype=object)
        found[name][:] = values
    return found


def _is_ours(name: str) -> bool:
    return name.startswith(_PARTS)
