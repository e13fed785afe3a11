"""Names that gensim 4 removed or renamed; using an old name gives the new one."""

from __future__ import annotations

import warnings
from typing import Any, NoReturn

from densvec.keyed.lookup import Lookup
from densvec.types import Floats

__all__ = ["REMOVED", "Retired"]

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
    "get_keras_embedding": "vectors, to build the layer from",
    "syn1neg": "encoder, which stands for a skip-gram's second table; that of a SkipGram is context_vectors",
    "syn1": "encoder, which stands for a skip-gram's second table; that of a SkipGram is context_vectors",
    "vectors_lockf": "a copy of the vectors that must not change: words cannot be locked while others are trained",
    "wv": "the object itself: it is the model's wv",
}


class Retired(Lookup):
    """What code written for older versions of gensim calls."""

    def __getattr__(self, name: str) -> NoReturn:
        if name in REMOVED:
            raise AttributeError(
                f"{name!r} is not here, as in gensim 4: use {REMOVED[name]}", name=name, obj=self
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)

    def init_sims(self, replace: bool = False) -> None:
        """Do what :meth:`fill_norms` does, or :meth:`unit_normalize_all` with `replace`: use those.

        Examples
        --------
        >>> wv.fill_norms()
        """
        _warn("init_sims", "fill_norms() or unit_normalize_all()")
        self.fill_norms()
        if replace:
            self.unit_normalize_all()

    def word_vec(self, *args: Any, **kwargs: Any) -> Floats:
        """Do what :meth:`get_vector` does: use that.

        Examples
        --------
        >>> wv.get_vector("dog")
        array([2., 1.], dtype=float32)
        """
        _warn("word_vec", "get_vector()")
        return self.get_vector(*args, **kwargs)

    def words_closer_than(self, word1: Any, word2: Any) -> list[str]:
        """Do what :meth:`closer_than` does: use that.

        Examples
        --------
        >>> wv.closer_than("dog", "cat")
        ['animal']
        """
        _warn("words_closer_than", "closer_than()")
        return self._whole.closer_than(word1, word2)

    def similarity_unseen_docs(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise NotImplementedError: this belongs to gensim's Doc2Vec.

        Examples
        --------
        >>> wv.similarity_unseen_docs()
        Traceback (most recent call last):
        NotImplementedError: similarity_unseen_docs belongs to gensim's Doc2Vec; here use n_similarity()
        """
        raise NotImplementedError(
            "similarity_unseen_docs belongs to gensim's Doc2Vec; here use n_similarity()"
        )


def _warn(old: str, new: str) -> None:
    warnings.warn(f"{old}() is deprecated: use {new}", DeprecationWarning, stacklevel=3)
