"""Word2Gauss: one Gaussian for each word."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass

import numpy as np

from densvec._corpus import MAX_NEGATIVE
from densvec.checks import check_covariance, one_of
from densvec.keyed import KeyedDensities
from densvec.model import DensityModel, model
from densvec.model.parameters import (
    choice,
    ns_exponent,
    number,
    rates_of,
    whole,
)
from densvec.training.backend import Backend
from densvec.training.choice import check_native
from densvec.training.layout import Layout, TableLayout, constant, uniform
from densvec.training.native import ENERGIES, word2gauss_backend
from densvec.training.settings import Bounds, GaussRates

#: Half the width of the uniform distribution that means start from.
START = 0.05


@model
@dataclass(repr=False, eq=False)
class Word2Gauss(DensityModel):
    """Words as Gaussian densities, trained on pairs of words (Vilnis & McCallum, ICLR 2015).

    Every word has one density, which serves it as a centre and as a context. A word w must fit a word c of
    its context better than a random word n, by a margin: max(0, margin − E(w, c) + E(w, n)). Variances grow
    with the variety of a word's contexts, so that they tell how general it is.

    Three energies E are known. ``"kl"`` is −KL[c‖w], as the authors have it: the density of a word must cover
    those of its contexts. ``"reverse_kl"`` is −KL[w‖c], the contrast of the Bayesian Skip-gram without its
    network. ``"expected_likelihood"`` is log ∫ w(z) c(z) dz, which is symmetric. With each of them a general
    word should end up broader than the words it stands for, so that KL[w1‖w2] < KL[w2‖w1] when w2 is the more
    general one: what `densvec.evaluation.entailment_direction` and ``wv.entailment`` ask. On much text ``"kl"``
    tells the direction best, because its variances follow the words' frequencies; on text where frequency says
    little, such as the example below, the other two do, and they are a little better at similarity.

    There is no network: a word has no posterior in a context. For that, see `densvec.BayesianSkipGram`.

    The constructor is that of gensim's ``Word2Vec``: same names, same order, same meaning, followed by
    parameters of this model's own.

    Parameters
    ----------
    negative : int
        Negatives drawn for each centre word, or for each context word when ``pairing="paired"``. Shared ones
        cost little, and more of them are clearly better: 30 here.
    margin : float
        By how much the energy of a word and its context must pass that of the word and a negative.
    energy : {"kl", "reverse_kl", "expected_likelihood"}
        How well two densities fit.
    pairing : {"shared", "paired"}
        Contrast every context word with all negatives of its centre, or each with negatives of its own. The
        loss is averaged over the negatives of a context word.
    variance : float
        Variance of every word at the start, in each dimension.
    min_variance, max_variance, max_norm : float
        Bounds of the variances and of the length of a mean, kept after every step. KL does not change when all
        means are scaled by s and all variances by s²: without bounds the scale may drift for ever.
    rates : GaussRates or mapping, optional
        Learning rates of the tables, ``mean`` and ``log_variance``, as multiples of ``alpha``.

    Attributes
    ----------
    wv : KeyedDensities
        The words and their densities: all that is needed to use the model.
    loss_history : list of EpochLoss
        For each epoch: epoch, words, words_per_second, seconds, and the hinge per centre word as ``loss``
        (``hinge`` is the same, ``kl`` is 0).

    Examples
    --------
    >>> from densvec.datasets import toy_language
    >>> from densvec.word2gauss import Word2Gauss
    >>> sentences = toy_language(2000)
    >>> model = Word2Gauss(sentences, vector_size=20, sample=1e-2, energy="reverse_kl", epochs=10, workers=1)
    >>> "barks" in dict(model.wv.most_similar("dog"))
    True

    Words are densities here too, and general words are broader:

    >>> model.wv.density("dog")
    Gaussian(...)
    >>> model.wv.direction("dog", "animal") > 0  # a dog is an animal
    True
    """

    negative: int = whole(30, least=1, most=MAX_NEGATIVE)
    ns_exponent: float | str = ns_exponent("subsampled")
    _: KW_ONLY
    margin: float = number(5.0)
    energy: str = choice("kl", lambda value: one_of("energy", value, ENERGIES))
    covariance: str = choice("spherical", check_covariance)
    variance: float = number(1.0)
    min_variance: float = number(0.05)
    max_variance: float = number(20.0)
    max_norm: float = number(100.0)
    rates: GaussRates | Mapping[str, float] | None = rates_of(GaussRates)

    def _check_together(self) -> None:
        super()._check_together()
        check_native(type(self).__name__, self.backend, self.device)
        self._bounds()  # says what is wrong with them
        if not self.min_variance <= self.variance <= self.max_variance:
            raise ValueError(
                f"variance={self.variance} is not between {self.min_variance} and {self.max_variance}, its bounds"
            )

    def _bounds(self) -> Bounds:
        return Bounds(self.min_variance, self.max_variance, self.max_norm)

    # What the shared front asks of a model

    def _new_keyed(self) -> KeyedDensities:
        return KeyedDensities(self.vector_size, covariance=self.covariance, window=self.window)

    def layout(self) -> Layout:
        """Return the layout of the model's tables: means and log-variances."""
        variances = 1 if self.covariance == "spherical" else self.vector_size
        return Layout(
            [
                TableLayout("means", (self.vector_size,), per_word=True, start=uniform(START)),
                TableLayout(
                    "log_variances", (variances,), per_word=True, start=constant(float(np.log(self.variance)))
                ),
            ]
        )

    def _make_backend(self) -> Backend:
        return word2gauss_backend(
            self.wv,
            self.margin,
            self.energy,
            self._bounds(),
            self._rates_as(GaussRates),
        )
