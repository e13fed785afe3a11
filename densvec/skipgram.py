"""Skip-gram with negative sampling: the baseline that every word embedding is compared with."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from densvec.keyed import KeyedDensities
from densvec.model import DensityModel
from densvec.model.state import Corpus, CorpusFile, TrimRule
from densvec.training.backend import Backend
from densvec.training.native import SkipGramBackend
from densvec.types import Array

__all__ = ["SkipGram"]

logger = logging.getLogger(__name__)


class SkipGram(DensityModel):
    """Skip-gram with negative sampling (Mikolov et al., 2013): word vectors without densities.

    The vector x of a centre word predicts each word around it by that word's context vector y, against
    negatives n drawn at random; the loss of a pair is −log σ(x·y) − Σ log σ(−x·y_n), trained by plain
    stochastic gradient descent. It is gensim's ``Word2Vec(sg=1)`` over densvec's corpora, sampler, training
    loop and files, so that densities and vectors can be compared on the same words of the same text.

    The constructor is that of gensim's ``Word2Vec``: same names, same order, same meaning. The defaults are
    gensim's too, apart from ``sample``, which is 1e-4 in all models here.

    Parameters
    ----------
    sentences : iterable of token lists, optional
        The corpus, iterable more than once: a list, `densvec.corpora.LineSentence`, …
    corpus_file : path, optional
        A file with one sentence per line, in place of ``sentences``; the fastest way to train.
    vector_size : int
        Dimensions of the vectors.
    alpha : float
        Learning rate at the start.
    window : int
        Context words on either side of a centre word.
    min_count : int
        Ignore words that occur fewer times.
    max_vocab_size : int, optional
        Bound the memory of counting, by dropping rare words on the way.
    sample : float
        Threshold above which frequent words are thinned.
    seed : int
        Seed of everything random. With ``workers=1`` the same seed and corpus give the same bits; several
        workers write to the same tables without waiting for each other.
    workers : int, optional
        Threads; by default all cores that the process may use.
    min_alpha : float
        Learning rate at the end; it falls linearly with the words read.
    sg, hs, null_word, hashfxn, compute_loss
        Accepted for gensim's sake. ``sg=0`` (CBOW), ``hs=1`` and ``null_word=1`` have no meaning here and are
        errors; the others have no effect. Losses are always computed.
    negative : int
        Negatives drawn for each context word, or for each centre word when ``pairing="shared"``.
    ns_exponent : float or "subsampled"
        Negatives are drawn by counts to this power; "subsampled" draws them as words occur in the thinned
        text.
    cbow_mean : {0, 1}
        Whether `predict_output_word` takes the mean of the context's vectors or their sum.
    epochs : int
        Passes over the corpus.
    trim_rule : callable, optional
        ``trim_rule(word, count, min_count)`` says which words to keep, see `build_vocab`. Not stored.
    sorted_vocab : {0, 1}
        Order words by descending count.
    batch_words : int
        Words of a chunk, the unit of work and of randomness.
    callbacks : iterable
        Objects with hooks, see `densvec.callbacks`; also used by ``train()``.
    comment : str, optional
        Stored and saved, nothing else.
    max_final_vocab : int, optional
        Keep at most so many words, by raising ``min_count``.
    shrink_windows : bool
        Draw each window's size from 1 to ``window``, as word2vec does.
    pairing : {"paired", "shared"}
        Whether each context word has negatives of its own, as in word2vec, or all those of a centre word have
        the same, which then count once for each of them. Shared ones train about three times as fast.
    backend : {"auto", "native"}
        What trains: the native kernel.
    device : str, optional
        None or "cpu".
    show_progress : bool, optional
        Draw a progress bar; by default in terminals and notebooks only.

    Attributes
    ----------
    wv : KeyedDensities
        The words: ``wv.vectors``, and ``wv.context_vectors``, gensim's ``syn1neg``. There are no variances.
    loss_history : list of EpochLoss
        For each epoch: epoch, words, words_per_second, seconds, and the negative log-likelihood per centre
        word as ``loss`` (``hinge`` is the same, ``kl`` is 0).

    Examples
    --------
    >>> from densvec.datasets import toy_language
    >>> from densvec.skipgram import SkipGram
    >>> model = SkipGram(toy_language(2000), vector_size=20, sample=1e-2, alpha=0.1, epochs=10, workers=1)
    >>> "barks" in dict(model.wv.most_similar("dog"))
    True
    >>> model.wv.context_vectors.shape == model.wv.vectors.shape
    True
    """

    own_parameters = ("pairing",)

    def __init__(
        self,
        sentences: Corpus | None = None,
        corpus_file: CorpusFile | None = None,
        vector_size: int = 100,
        alpha: float = 0.025,
        window: int = 5,
        min_count: int = 5,
        max_vocab_size: int | None = None,
        sample: float = 1e-4,
        seed: int = 1,
        workers: int | None = None,
        min_alpha: float = 0.0001,
        sg: int = 1,
        hs: int = 0,
        negative: int = 5,
        ns_exponent: float | str = 0.75,
        cbow_mean: int = 1,
        hashfxn: Callable[[str], int] = hash,
        epochs: int = 5,
        null_word: int = 0,
        trim_rule: TrimRule | None = None,
        sorted_vocab: int = 1,
        batch_words: int = 10_000,
        compute_loss: bool = False,
        callbacks: Iterable[Any] = (),
        comment: str | None = None,
        max_final_vocab: int | None = None,
        shrink_windows: bool = True,
        *,
        pairing: str = "paired",
        backend: str = "auto",
        device: str | None = None,
        show_progress: bool | None = None,
    ) -> None:
        parameters = {name: value for name, value in locals().items() if name not in _OWN}
        self.pairing = check_pairing(pairing)
        check_native(type(self).__name__, backend, device)
        super().__init__(**parameters)

    @property
    def syn1neg(self) -> Array:
        """The context vectors, by gensim's name."""
        context_vectors = self.wv.context_vectors
        if context_vectors is None:
            raise AttributeError("the model has no context vectors yet: build its vocabulary first")
        return context_vectors

    def predict_output_word(
        self, context_words_list: Sequence[str | int], topn: int = 10
    ) -> list[tuple[str, float]] | None:
        """Return the words that a context speaks for, most probable first, as gensim computes it.

        The probability of a word is the softmax, over the vocabulary, of the product of its context vector
        with the mean (``cbow_mean=0``: the sum) of the vectors of the words around it.

        Parameters
        ----------
        context_words_list : sequence of str or int
            The context words, or their rows; unknown ones are skipped.
        topn : int
            How many words to return.

        Returns
        -------
        list of (str, float), or None
            Words and probabilities; None, and a warning in the log, if no context word is known.

        Examples
        --------
        >>> from densvec.skipgram import SkipGram
        >>> model = SkipGram([["a", "b", "c"]] * 9, vector_size=4, min_count=1, workers=1)
        >>> len(model.predict_output_word(["b", "c"], topn=2))
        2
        """
        wv = self.wv
        if wv.context_vectors is None:
            raise RuntimeError("the model knows no words yet: build its vocabulary and train it first")
        known = [wv.get_index(word) for word in context_words_list if word in wv]
        if not known:
            logger.warning("all the context words are unknown to the model")
            return None
        vectors = wv.vectors[known].astype(np.float64)
        scores = wv.context_vectors @ (vectors.mean(0) if self.cbow_mean else vectors.sum(0))
        probabilities = np.exp(scores - scores.max())
        probabilities /= probabilities.sum()
        best = np.argsort(-probabilities, kind="stable")[:topn]
        return [(wv.index_to_key[i], float(probabilities[i])) for i in best]

    # What the shared front asks of a model

    def _new_keyed(self) -> KeyedDensities:
        return KeyedDensities(self.vector_size, window=self.window)

    def _start_tables(self, words: int, rng: np.random.Generator) -> None:
        self.wv.vectors = self._start(words, rng)
        self.wv.context_vectors = np.zeros((words, self.vector_size), np.float32)

    def _grow_tables(self, added: int, rng: np.random.Generator) -> None:
        self.wv._append_rows(self._start(added, rng), None)

    def _start(self, words: int, rng: np.random.Generator) -> Array:
        width = 0.5 / self.vector_size
        return rng.uniform(-width, width, (words, self.vector_size)).astype(np.float32)

    def _make_backend(self) -> Backend:
        return SkipGramBackend(self.wv)

    def _saved_shapes(self, words: int) -> dict[str, tuple[int, ...]]:
        return dict.fromkeys(("means", "context_vectors"), (words, self.vector_size))

    def _bytes_per_word(self) -> dict[str, int]:
        return dict.fromkeys(("means", "context_vectors"), 4 * self.vector_size)


_OWN = {"self", "__class__", "pairing"}


def check_pairing(pairing: str) -> str:
    """Return how negatives are drawn, or say what is wrong with it."""
    if pairing not in ("paired", "shared"):
        raise ValueError(f"pairing={pairing!r} is unknown: use 'shared' or 'paired'")
    return pairing


def check_native(name: str, backend: str, device: str | None) -> None:
    """Refuse what only the torch backend of the Bayesian Skip-gram can do."""
    if backend == "torch" or device not in (None, "cpu"):
        raise ValueError(
            f"backend={backend!r}, device={device!r}: a {name} is trained on the CPU by its native kernel; leave "
            "backend='auto' and device=None"
        )
