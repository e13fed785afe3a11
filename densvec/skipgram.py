"""Skip-gram with negative sampling: the baseline that every word embedding is compared with."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from densvec._corpus import MAX_NEGATIVE
from densvec.checks import check_pairing
from densvec.keyed import KeyedDensities
from densvec.model import DensityModel, model, of_words
from densvec.model.parameters import (
    anything,
    choice,
    ns_exponent,
    whole,
)
from densvec.questions import prediction
from densvec.training.backend import Backend
from densvec.training.choice import check_native
from densvec.training.layout import Layout, TableLayout, uniform
from densvec.training.native import skip_gram_backend
from densvec.types import Array


@model
@dataclass(repr=False, eq=False)
class SkipGram(DensityModel):
    """Skip-gram with negative sampling (Mikolov et al., 2013): word vectors without densities.

    The vector x of a centre word predicts each word around it by that word's context vector y, against
    negatives n drawn at random; the loss of a pair is −log σ(x·y) − Σ log σ(−x·y_n), trained by plain
    stochastic gradient descent. It is gensim's ``Word2Vec(sg=1)`` over densvec's corpora, sampler, training
    loop and files, so that densities and vectors can be compared on the same words of the same text.

    The constructor is that of gensim's ``Word2Vec``: same names, same order, same meaning. The defaults are
    gensim's too, apart from ``sample``, which follows the size of the text in all models here.

    Parameters
    ----------
    vector_size : int
        Dimensions of the vectors.
    alpha : float
        Learning rate at the start.
    negative : int
        Negatives drawn for each context word, or for each centre word when ``pairing="shared"``.
    cbow_mean : {0, 1}
        Whether `predict_output_word` takes the mean of the context's vectors or their sum.
    pairing : {"paired", "shared"}
        Whether each context word has negatives of its own, as in word2vec, or all context words of a centre word
        share the same ones, which then count once for each. Shared ones train about three times as fast.

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

    negative: int = whole(5, least=1, most=MAX_NEGATIVE)
    ns_exponent: float | str = ns_exponent(0.75)
    shrink_windows: bool = anything(True)
    _: KW_ONLY
    pairing: str = choice("paired", check_pairing)

    def _check_together(self) -> None:
        super()._check_together()
        check_native(type(self).__name__, self.backend, self.device)

    @property
    def syn1neg(self) -> Array:
        """The context vectors, by gensim's name."""
        context_vectors = self.wv.context_vectors
        if context_vectors is None:
            raise AttributeError("the model has no context vectors yet: build its vocabulary first")
        return context_vectors

    predict_output_word = of_words(prediction.predict_output_word, average="cbow_mean")

    # What the shared front asks of a model

    def _new_keyed(self) -> KeyedDensities:
        return KeyedDensities(self.vector_size, window=self.window)

    def layout(self) -> Layout:
        """Return the layout of the model's tables: vectors and context vectors."""
        size = self.vector_size
        return Layout(
            [
                TableLayout("means", (size,), per_word=True, start=uniform(0.5 / size)),
                TableLayout("context_vectors", (size,), per_word=True),
            ]
        )

    def _make_backend(self) -> Backend:
        return skip_gram_backend(self.wv)
