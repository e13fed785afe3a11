"""Exchange with other programs: gensim, the word2vec format with variances, the original BSG, TSV, pandas.

Each function takes or returns a :class:`~densvec.keyed.KeyedDensities`, whose methods of similar names call it.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from densvec.files import word2vec
from densvec.files.streams import local_path, open_for_writing
from densvec.files.word2vec import Options
from densvec.types import Floats, PathLike

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities

__all__ = [
    "Keyed",
    "build",
    "from_gensim",
    "intersect_word2vec",
    "load_bsg",
    "load_word2vec",
    "save_bsg",
    "save_projector",
    "save_word2vec",
    "to_dataframe",
    "to_gensim",
]

logger = logging.getLogger(__name__)

Keyed = TypeVar("Keyed", bound="KeyedDensities")


def build(
    cls: type[Keyed],
    words: Sequence[str],
    means: Floats,
    log_variances: Floats | None = None,
    counts: Any = None,
) -> Keyed:
    """Return a KeyedDensities of the given arrays; without counts, they only reflect the order."""
    attributes = None if counts is None else {"count": counts}
    return cls.from_arrays(list(words), means, log_variances=log_variances, attributes=attributes)


def load_word2vec(
    cls: type[Keyed], path: PathLike, fvocab: PathLike | None, variances: PathLike | None, options: Options
) -> Keyed:
    """Return what a file in the word2vec format holds, with counts and variances from two more files."""
    words, means = word2vec.read(path, options)
    counts = None
    if fvocab is not None:
        known = word2vec.read_counts(fvocab, options.encoding, options.errors)
        missing = [word for word in words if word not in known]
        if missing:
            logger.warning(
                "%s has no counts for %d words, such as %r: taken as 0", fvocab, len(missing), missing[0]
            )
        counts = np.array([known.get(word, 0) for word in words], dtype=np.int64)
    log_variances = None
    if variances is not None:
        log_variances = _read_log_variances(variances, words, means.shape[1], options)
    return build(cls, words, means, log_variances, counts)


def save_word2vec(
    wv: KeyedDensities,
    path: PathLike,
    fvocab: PathLike | None,
    variances: PathLike | None,
    *,
    binary: bool,
    total_vec: int | None,
    write_header: bool,
    prefix: str,
    append: bool,
    sort_attr: str,
) -> None:
    """Write the means in the word2vec format, counts and variances in two more files, if asked."""
    rows = list(wv.key_to_index.values())
    if sort_attr in wv.expandos:
        attribute = wv.expandos[sort_attr]
        rows.sort(key=lambda row: -attribute[row])
    elif fvocab is not None:
        raise ValueError(
            f"the keys have no attribute {sort_attr!r} to store in {os.fspath(fvocab)}: set it first"
        )
    else:
        logger.warning(
            "the keys have no attribute %r to sort by: they are stored in their own order", sort_attr
        )
    words = [wv.index_to_key[row] for row in rows]
    if fvocab is not None:
        word2vec.write_counts(fvocab, words, (wv.expandos[sort_attr][row] for row in rows), prefix)
    header = None if not write_header else -1 if total_vec is None else total_vec
    word2vec.write(path, words, wv.vectors[rows], binary=binary, header=header, prefix=prefix, append=append)
    if variances is not None:
        table = wv.get_variance(rows)
        word2vec.write(variances, words, table, binary=binary, header=header, prefix=prefix, append=append)


def intersect_word2vec(wv: KeyedDensities, path: PathLike, options: Options) -> int:
    """Copy the means of the words that a file and `wv` share; return how many there are."""
    overlap = 0
    for words, vectors in word2vec.read_blocks(path, options):
        if vectors.shape[1] != wv.vector_size:
            raise ValueError(
                f"{local_path(path)} has vectors of size {vectors.shape[1]}, not {wv.vector_size}"
            )
        shared = [(i, wv.key_to_index[word]) for i, word in enumerate(words) if word in wv.key_to_index]
        if shared:
            here, there = zip(*shared, strict=True)
            wv.vectors[list(there)] = vectors[list(here)]
            overlap += len(shared)
    wv.norms = None
    logger.info("took %d vectors from %s", overlap, path)
    return overlap


def load_bsg(cls: type[Keyed], mu: PathLike, sigma: PathLike, options: Options) -> Keyed:
    """Return what the original BSG release wrote: means in `mu`, variances in `sigma`."""
    words, means = word2vec.read(mu, options)
    return build(cls, words, means, _read_log_variances(sigma, words, means.shape[1], options))


def save_bsg(wv: KeyedDensities, mu: PathLike, sigma: PathLike) -> None:
    """Write the two text files of the original release of the BSG: a word and its numbers on each line."""
    variances = wv.variances
    word2vec.write(mu, wv.index_to_key, wv.vectors, header=None)
    word2vec.write(sigma, wv.index_to_key, variances, header=None)


def to_gensim(wv: KeyedDensities) -> Any:
    """Return a gensim KeyedVectors with the means and all attributes."""
    try:
        from gensim.models import KeyedVectors
    except ImportError as error:
        raise ImportError("to_gensim needs gensim: pip install gensim") from error
    keyed = KeyedVectors(wv.vector_size, dtype=wv.vectors.dtype)
    keyed.index_to_key = list(wv.index_to_key)
    keyed.key_to_index = dict(wv.key_to_index)
    keyed.next_index = len(keyed.index_to_key)
    keyed.vectors = wv.vectors.copy()
    keyed.expandos = {attr: values.copy() for attr, values in wv.expandos.items()}
    return keyed


def from_gensim(cls: type[Keyed], keyed: Any, variances: Any) -> Keyed:
    """Return the vectors and attributes of a gensim KeyedVectors, or of a model that has one as ``wv``."""
    keyed = getattr(keyed, "wv", keyed)
    means = np.array(keyed.vectors)
    log_variances = None
    if variances is not None:
        table = np.asarray(variances, dtype=means.dtype)
        if table.ndim == 0:
            table = np.broadcast_to(table, (len(means), 1))
        if table.shape not in {(len(means), 1), means.shape}:
            raise ValueError(
                f"variances have shape {table.shape}; {len(means)} vectors of size {means.shape[1]} need "
                f"{(len(means), 1)} or {means.shape}"
            )
        log_variances = _logarithms(table, keyed.index_to_key, "variances")
    wv = build(cls, keyed.index_to_key, means, log_variances)
    wv.expandos = {attr: np.array(values) for attr, values in keyed.expandos.items()}
    return wv


def save_projector(wv: KeyedDensities, directory: PathLike) -> tuple[str, str]:
    """Write ``vectors.tsv`` and ``metadata.tsv`` for the TensorFlow projector; return their paths."""
    folder = Path(local_path(directory))
    folder.mkdir(parents=True, exist_ok=True)
    vectors, metadata = folder / "vectors.tsv", folder / "metadata.tsv"
    with open_for_writing(vectors) as file:
        for row in wv.vectors:
            file.write(("\t".join(map(str, row)) + "\n").encode())
    columns: dict[str, Any] = {"word": [_one_line(key) for key in wv.index_to_key]}
    if "count" in wv.expandos:
        columns["frequency"] = wv.expandos["count"]
    if wv.log_variances is not None:
        columns["generality"] = [f"{value:.6g}" for value in wv.generality(range(len(wv)))]
    with open_for_writing(metadata) as file:
        if len(columns) > 1:  # the projector takes the first line of a single column for a word
            file.write(("\t".join(columns) + "\n").encode())
        for values in zip(*columns.values(), strict=True):
            file.write(("\t".join(map(str, values)) + "\n").encode())
    return str(vectors), str(metadata)


def to_dataframe(wv: KeyedDensities) -> Any:
    """Return a pandas DataFrame with a row per key: its attributes, generality, means and variances."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("to_dataframe needs pandas: pip install pandas") from error
    index = pd.Index(wv.index_to_key, name="word")
    parts = [pd.DataFrame(dict(wv.expandos), index=index)]
    if wv.log_variances is not None:
        parts.append(pd.DataFrame({"generality": wv.generality(range(len(wv)))}, index=index))
    parts.append(pd.DataFrame(wv.vectors, index=index, columns=_names("mean", wv.vector_size)))
    if wv.log_variances is not None:
        variances = wv.variances
        names = ["variance"] if variances.shape[1] == 1 else _names("variance", wv.vector_size)
        parts.append(pd.DataFrame(variances, index=index, columns=names))
    return pd.concat(parts, axis=1)


def _names(name: str, count: int) -> list[str]:
    return [f"{name}_{i}" for i in range(count)]


def _one_line(key: Any) -> str:
    return " ".join(str(key).split())


def _read_log_variances(path: PathLike, words: Sequence[str], dimension: int, options: Options) -> Floats:
    """Return the logarithms of the variances in a file, in the order of `words`."""
    limitless = Options(
        options.binary, options.encoding, options.errors, None, options.dtype, options.no_header
    )
    theirs, variances = word2vec.read(path, limitless)
    if variances.shape[1] not in (1, dimension):
        raise ValueError(
            f"{local_path(path)} has {variances.shape[1]} variances for each word; expected 1 (spherical) or "
            f"{dimension} (diagonal)"
        )
    rows = {word: i for i, word in enumerate(theirs)}
    missing = [word for word in words if word not in rows]
    if missing:
        raise ValueError(
            f"{local_path(path)} has no variance for {len(missing)} words, such as {missing[0]!r}"
        )
    return _logarithms(variances[[rows[word] for word in words]], words, local_path(path))


def _logarithms(variances: Floats, words: Sequence[Any], name: str) -> Floats:
    bad = np.flatnonzero(~((variances > 0) & np.isfinite(variances)).all(axis=1))
    if len(bad):
        value = variances[bad[0]]
        raise ValueError(
            f"{name}: the variance of {words[bad[0]]!r} is {value}; it must be positive and finite"
        )
    return np.log(variances, dtype=variances.dtype)
