"""Names that gensim 4 removed or renamed; using an old name gives the new one."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from densvec.types import Floats

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities

REMOVED = {
    "vocab": "key_to_index (word to row), index_to_key (row to word) and get_vecattr(word, 'count')",
    "index2word": "index_to_key",
    "index2entity": "index_to_key",
    "syn0": "vectors",
    "syn0norm": "get_normed_vectors()",
    "vectors_norm": "get_normed_vectors()",
    "accuracy": "evaluate_word_analogies()",
    "log_accuracy": "evaluate_word_analogies(), which logs its scores",
    "add": "add_vectors()",
    "similarity_unseen_docs": "n_similarity()",
    "get_keras_embedding": "vectors, to build the layer from",
    "syn1neg": "encoder, which stands for a skip-gram's second table; that of a SkipGram is context_vectors",
    "syn1": "encoder, which stands for a skip-gram's second table; that of a SkipGram is context_vectors",
    "vectors_lockf": "vectors, in a copy: words cannot be locked while others are trained",
    "wv": "the object itself: it is the model's wv",
}


def missing(wv: KeyedDensities, name: str) -> AttributeError:
    """Return what to raise for an attribute that does not exist."""
    hint = f"is not here, as in gensim 4: use {REMOVED[name]}" if name in REMOVED else None
    message = f"{name!r} {hint}" if hint else f"{type(wv).__name__!r} object has no attribute {name!r}"
    return AttributeError(message, name=name, obj=wv)


def init_sims(wv: KeyedDensities, replace: bool = False) -> None:
    """Do what :meth:`fill_norms` does, or :meth:`unit_normalize_all` with `replace`: use those.

    Examples
    --------
    >>> wv.fill_norms()
    """
    _warn("init_sims", "fill_norms() or unit_normalize_all()")
    wv.fill_norms()
    if replace:
        wv.unit_normalize_all()


def word_vec(wv: KeyedDensities, *args: Any, **kwargs: Any) -> Floats:
    """Do what :meth:`get_vector` does: use that.

    Examples
    --------
    >>> wv.get_vector("dog")
    array([2., 1.], dtype=float32)
    """
    _warn("word_vec", "get_vector()")
    return wv.get_vector(*args, **kwargs)


def words_closer_than(wv: KeyedDensities, word1: Any, word2: Any) -> list[str]:
    """Do what :meth:`closer_than` does: use that.

    Examples
    --------
    >>> wv.closer_than("dog", "cat")
    ['animal']
    """
    _warn("words_closer_than", "closer_than()")
    return wv.closer_than(word1, word2)


def _warn(old: str, new: str) -> None:
    warnings.warn(f"{old}() is deprecated: use {new}", DeprecationWarning, stacklevel=3)
