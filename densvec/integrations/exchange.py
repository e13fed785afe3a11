"""Words and densities in files of other programs: word2vec, gensim, fastText, pandas.

The functions are methods of :class:`~densvec.keyed.KeyedDensities`, where they take its words or return one.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from densvec.checks import needs
from densvec.files import persistence, word2vec
from densvec.files.fasttext import is_fasttext, read_fasttext
from densvec.files.gensim import is_gensim, read_gensim
from densvec.files.streams import local_path, open_stream
from densvec.files.word2vec import Options
from densvec.types import Floats, PathLike

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities

logger = logging.getLogger(__name__)


def load_foreign(
    cls: type[KeyedDensities], path: PathLike, mmap: str | None, max_bytes: int | None
) -> KeyedDensities | None:
    """Return the words of a file of gensim or fastText; None if it is of another kind."""
    with persistence.faults_of(path):
        with open_stream(path) as file:
            start = file.read(4)
        if is_gensim(start):
            found = read_gensim(path, mmap, max_bytes)
        elif is_fasttext(start):
            found = read_fasttext(local_path(path), mapped=mmap is not None)
        else:
            return None
        wv = cls.from_arrays(found.words, found.vectors, attributes=found.attributes)
    wv.ngrams = found.ngrams
    return wv


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
    words, means = word2vec.read(fname, options)
    attributes = None
    if fvocab is not None:
        known = word2vec.read_counts(fvocab, options.encoding, options.errors)
        missing = [word for word in words if word not in known]
        if missing:
            logger.warning(
                "%s has no counts for %d words, such as %r: taken as 0", fvocab, len(missing), missing[0]
            )
        attributes = {"count": np.array([known.get(word, 0) for word in words], dtype=np.int64)}
    log_variances = None
    if variances is not None:
        log_variances = _read_log_variances(variances, words, means.shape[1], options)
    return cls.from_arrays(words, means, log_variances=log_variances, attributes=attributes)


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
    word2vec.write(fname, words, wv.vectors[rows], binary=binary, header=header, prefix=prefix, append=append)
    if variances is not None:
        table = wv.get_variance(rows)
        word2vec.write(variances, words, table, binary=binary, header=header, prefix=prefix, append=append)


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
    fname, binary, encoding, unicode_errors
        As in :meth:`load_word2vec_format`.
    lockf : float, optional
        Accepted for compatibility with gensim: later training changes these means like all others.

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
    overlap = 0
    for words, vectors in word2vec.read_blocks(fname, options):
        if vectors.shape[1] != wv.vector_size:
            raise ValueError(
                f"{local_path(fname)} has vectors of size {vectors.shape[1]}, not {wv.vector_size}"
            )
        shared = [(i, wv.key_to_index[word]) for i, word in enumerate(words) if word in wv.key_to_index]
        if shared:
            here, there = zip(*shared, strict=True)
            wv.vectors[list(there)] = vectors[list(here)]
            overlap += len(shared)
    wv.norms = None
    logger.info("took %d vectors from %s", overlap, fname)
    wv.add_lifecycle_event("intersect_word2vec_format", msg=f"{overlap} vectors from {os.fspath(fname)}")


def to_gensim(wv: KeyedDensities) -> Any:
    """Return a gensim ``KeyedVectors`` with the means, counts and other attributes.

    Examples
    --------
    >>> wv.to_gensim().most_similar("dog", topn=1)
    [('animal', 0.948...)]
    """
    keyed = needs("gensim.models").KeyedVectors(wv.vector_size, dtype=wv.vectors.dtype)
    keyed.index_to_key = list(wv.index_to_key)
    keyed.key_to_index = dict(wv.key_to_index)
    keyed.next_index = len(keyed.index_to_key)
    keyed.vectors = wv.vectors.copy()
    keyed.expandos = {attr: values.copy() for attr, values in wv.expandos.items()}
    return keyed


def from_gensim(cls: type[KeyedDensities], keyed_vectors: Any) -> KeyedDensities:
    """Return the vectors and attributes of a gensim ``KeyedVectors``, or of a model that has one.

    Examples
    --------
    >>> type(wv).from_gensim(wv.to_gensim())
    KeyedDensities<vector_size=2, 4 keys, means only>
    """
    keyed = getattr(keyed_vectors, "wv", keyed_vectors)
    attributes = {attr: np.array(values) for attr, values in keyed.expandos.items()}
    return cls.from_arrays(keyed.index_to_key, np.array(keyed.vectors), attributes=attributes)


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
    pd = needs("pandas")
    columns = dict(wv.expandos)
    if wv.log_variances is not None:
        columns["generality"] = wv.generality(range(len(wv)))
    columns |= {f"mean_{i}": column for i, column in enumerate(wv.vectors.T)}
    if wv.covariance == "spherical":
        columns["variance"] = wv.variances[:, 0]
    elif wv.covariance == "diagonal":
        columns |= {f"variance_{i}": column for i, column in enumerate(wv.variances.T)}
    return pd.DataFrame(columns, index=pd.Index(wv.index_to_key, name="word"))


def _read_log_variances(path: PathLike, words: Sequence[str], dimension: int, options: Options) -> Floats:
    """Return the logarithms of the variances in a file, in the order of `words`."""
    theirs, variances = word2vec.read(path, replace(options, limit=None))
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
    variances = variances[[rows[word] for word in words]]
    bad = np.flatnonzero(~(variances > 0).all(axis=1))
    if len(bad):
        value = variances[bad[0]]
        raise ValueError(
            f"{local_path(path)}: the variance of {words[bad[0]]!r} is {value}; it must be positive and finite"
        )
    return np.log(variances, dtype=variances.dtype)
