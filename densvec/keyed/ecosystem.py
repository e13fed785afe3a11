"""KeyedDensities in other packages: thin methods, each importing its package when it is called."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities


__all__ = [
    "export_onnx",
    "from_arrow",
    "from_pretrained",
    "load_parquet",
    "save_parquet",
    "save_pretrained",
    "to_arrow",
    "to_spacy",
]

PathLike = str | os.PathLike[str]


def to_spacy(wv: KeyedDensities, nlp: Any, *, component: bool = True, lowercase: bool = False) -> Any:
    """Fill the vocabulary of a spaCy pipeline with the means; tokens get the posteriors of their words.

    See :func:`densvec.spacy.to_spacy`.

    Parameters
    ----------
    nlp : spacy.Language
        The pipeline; it is changed, and returned.
    component : bool, optional
        Whether to add the component that sets ``token._.density`` and ``doc._.densities``.
    lowercase : bool, optional
        Whether the component looks words up in lower case.

    Examples
    --------
    >>> import spacy  # doctest: +SKIP
    >>> nlp = wv.to_spacy(spacy.blank("en"))  # doctest: +SKIP
    >>> nlp("dog and cat")[0]._.density.mean.shape  # doctest: +SKIP
    (2,)
    """
    from densvec.spacy import to_spacy

    return to_spacy(wv, nlp, component=component, lowercase=lowercase)


def save_pretrained(wv: KeyedDensities, folder: PathLike, *, card: Mapping[str, Any] | None = None) -> None:
    """Write a folder in the layout of the Hugging Face hub: weights, configuration and model card.

    Parameters
    ----------
    folder : str or PathLike
        Where to write; created if necessary.
    card : mapping, optional
        What the model card says at its top, such as ``{"license": "mit", "language": "en"}``.

    Examples
    --------
    >>> import os, tempfile
    >>> folder = os.path.join(tempfile.mkdtemp(), "kiwi")
    >>> wv.save_pretrained(folder)
    >>> type(wv).from_pretrained(folder)
    KeyedDensities<vector_size=2, 4 keys, spherical, encoder>
    """
    from densvec.integrations.hub import save_pretrained

    save_pretrained(wv, folder, card=card)


def from_pretrained(
    cls: type[KeyedDensities], /, name: PathLike, *, mmap: str | None = None, **options: Any
) -> KeyedDensities:
    """Load a folder that :meth:`save_pretrained` wrote, from disk or from the Hugging Face hub.

    Parameters
    ----------
    name : str or PathLike
        A folder, for which the network is never touched; or a name such as ``"user/model"``, if there is no such
        folder.
    mmap : {None, "r", "c"}, optional
        As in :meth:`load`.
    **options
        For the hub: ``revision``, ``token``, ``cache_dir``, ``local_files_only``.

    Examples
    --------
    >>> type(wv).from_pretrained("./no/such/folder")
    Traceback (most recent call last):
    FileNotFoundError: there is no folder './no/such/folder'
    """
    from densvec.integrations.hub import from_pretrained

    return from_pretrained(cls, name, mmap=mmap, **options)


def to_arrow(wv: KeyedDensities) -> Any:
    """Return a ``pyarrow.Table`` with words, means, variances and counts.

    Examples
    --------
    >>> wv.to_arrow().num_rows
    4
    """
    from densvec.integrations.arrow import to_arrow

    return to_arrow(wv)


def from_arrow(cls: type[KeyedDensities], table: Any) -> KeyedDensities:
    """Return the words of a ``pyarrow.Table`` such as :meth:`to_arrow` makes.

    Examples
    --------
    >>> type(wv).from_arrow(wv.to_arrow())
    KeyedDensities<vector_size=2, 4 keys, spherical>
    """
    from densvec.integrations.arrow import from_arrow

    return from_arrow(cls, table)


def save_parquet(wv: KeyedDensities, path: PathLike, **options: Any) -> None:
    """Write words, means, variances and counts to a Parquet file; it has no encoder.

    Parameters
    ----------
    path : str or PathLike
        The file.
    **options
        For ``pyarrow.parquet.write_table``, such as ``compression="zstd"``.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "words.parquet")
    >>> wv.save_parquet(path)
    >>> type(wv).load_parquet(path).index_to_key
    ['animal', 'dog', 'cat', 'car']
    """
    from densvec.integrations.arrow import write_parquet

    write_parquet(wv, path, **options)


def load_parquet(cls: type[KeyedDensities], path: PathLike) -> KeyedDensities:
    """Load what :meth:`save_parquet` wrote.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "words.parquet")
    >>> wv.save_parquet(path)
    >>> type(wv).load_parquet(path)
    KeyedDensities<vector_size=2, 4 keys, spherical>
    """
    from densvec.integrations.arrow import read_parquet

    return read_parquet(cls, path)


def export_onnx(wv: KeyedDensities, path: PathLike, *, words: PathLike | None = None) -> None:
    """Write encoder and priors as an ONNX graph, for posteriors in any language; see :mod:`densvec.integrations.onnx`.

    Parameters
    ----------
    path : str or PathLike
        The file.
    words : str or PathLike, optional
        Where to write the words, one per line, in the order of their rows.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "posterior.onnx")
    >>> wv.export_onnx(path)
    >>> os.path.exists(path)
    True
    """
    from densvec.integrations.onnx import export_onnx

    export_onnx(wv, path, words=words)
