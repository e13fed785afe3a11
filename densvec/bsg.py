"""The Bayesian Skip-gram."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from densvec.checks import check_covariance
from densvec.gaussian import Gaussian
from densvec.keyed import KeyedDensities
from densvec.model import DensityModel, model, of_words
from densvec.model.parameters import (
    choice,
    number,
    parameter,
    rates_of,
    whole,
)
from densvec.questions import inference, prediction, substitution
from densvec.reading import Reading
from densvec.training.backend import Backend
from densvec.training.choice import check_backend, choose_backend, make_backend
from densvec.training.layout import Layout, Start, TableLayout, average_word, uniform, zeros
from densvec.training.settings import Objective, Rates
from densvec.training.tables import optimiser_layout

#: Half the width of the uniform distribution that means, embeddings and the first layer start from.
START = 0.05


def default_hidden_size(vector_size: int) -> int:
    """Return how many hidden units the encoder of densities of this size has, unless told otherwise.

    Examples
    --------
    >>> [default_hidden_size(size) for size in (20, 100, 200, 300)]
    [20, 64, 96, 128]
    """
    return min(vector_size, 64 + max(0, vector_size - 100) // 3 // 16 * 16)


@model
@dataclass(repr=False, eq=False)
class BayesianSkipGram(DensityModel):
    """Words as Gaussian densities: a prior for each word, a posterior for each of its occurrences.

    The model of Bražinskas, Havrylov & Titov (COLING 2018). The prior p(z|w) of a word is what it can mean;
    the posterior q(z|w, context) is what it means in a context, inferred by a small network. The variance
    of a prior says how general a word is. (Other work calls another model "Bayesian skip-gram": Barkan,
    2017, does variational inference of skip-gram vectors.)

    The constructor is that of gensim's ``Word2Vec``: same names, same order, same meaning, followed by
    parameters of its own. Some defaults differ, for the reasons given below. With a corpus, it builds
    the vocabulary and trains.

    Parameters
    ----------
    vector_size : int
        Dimensions of the densities, and of the network's word embeddings.
    alpha : float
        Learning rate at the start. The rates of the individual tables are multiples of it, see ``rates``.
    sample : float or "auto"
        Threshold above which frequent words are thinned. "auto" picks 5e-5 for sixteen million words and more, where
        gensim has 1e-3: a window's posterior is one sum over all its words, so function words drown the others
        unless they are rarer. Less text is thinned less (`densvec.text.thinning.auto_sample`). Once the vocabulary
        is built, ``model.sample`` is the number.
    seed : int
        Seed of everything random. With ``workers=1`` the same seed and corpus give the same bits, in any
        process and whatever PYTHONHASHSEED. Several workers draw the same, but write to the same tables
        without waiting for each other, so that their runs differ a little.
    negative : int
        Negatives drawn for each centre word, or for each context word when ``pairing="paired"``. 20 where
        gensim has 5: shared ones cost little.
    shrink_windows : bool
        Draw each window's size from 1 to ``window``, as word2vec does. False here: the paper's are full.
    hidden_size : int, optional
        Units of the network's hidden layer. By default 64 for 100 dimensions, and one more for every three
        further ones, in whole vectors of 16: 128 for 300 (``vector_size``, if that is less than 64). More
        units train more slowly and give no better densities. The paper's network has ``vector_size`` units.
    margin : float
        By how much a context word must be nearer to the posterior than a negative.
    pairing : {"shared", "paired"}
        Contrast every context word with all negatives of its centre, or each with negatives of its own. The
        paper's exact settings are ``pairing="paired", negative=1, residual=False, nearness=0, margin=5, kl_weight=1,
        sample=1e-4, hidden_size=vector_size, rates={"contrast": 3, "coverage": 0}``. See
        `densvec.training.settings.Objective`.
    residual : bool
        Whether the network computes the posterior's shift from the prior, μ_q = μ_w + hU + b and
        log v_q = log v_w + hW + b', instead of the whole density, hU + b and hW + b', as in the paper. A
        context then only has to say what it changes, which trains faster and better (``docs/recipe.md``). Such a
        network reads contexts as `densvec.reading.Reading` says, and v_q = v_w / (1 + h|W|): the more a context
        says, the more certain the posterior is. With False contexts are summed as in the paper.
    nearness : float
        How much more near context words count, in the loss and in what the network reads: 0 not at all, as in the
        paper, 1 as much as they do on average where windows are shrunk.
    kl_weight : float
        Weight of KL[posterior‖prior] in the loss, 1 in the paper. At 2, contexts shift posteriors less, and
        posteriors predict unread words of the context better.
    rates : densvec.training.settings.Rates, optional
        Learning rates of the tables as multiples of ``alpha``.
    backend : {"auto", "native", "torch"}
        What trains: the native kernel, or torch. "auto" is native, unless torch and a CUDA device are available.
    device : str, optional
        Where torch trains: "cpu", "cuda", "mps", …

    Attributes
    ----------
    wv : KeyedDensities
        The words, their densities and the network: all that is needed to use the model.
    loss_history : list of EpochLoss
        For each epoch: epoch, loss, hinge and kl per centre word, words, words_per_second, seconds.
    corpus_count, corpus_total_words : int
        Sentences and words of the corpus that the vocabulary was built from last.
    train_count, total_train_time, epochs_trained, min_alpha_yet_reached, effective_min_count
        As in gensim.

    Examples
    --------
    A language in which "kiwi" is a bird and a fruit:

    >>> from densvec import BayesianSkipGram
    >>> from densvec.datasets import toy_language
    >>> sentences = toy_language(5000)
    >>> model = BayesianSkipGram(sentences, vector_size=20, sample=1e-2, alpha=0.05, epochs=10, workers=1)
    >>> bird = model.infer_posterior("kiwi", "the flightless shy kiwi digs near the forest".split())
    >>> fruit = model.infer_posterior("kiwi", "the ripe fuzzy kiwi softens near the smoothie".split())
    >>> bool(bird.kl(model.wv.density("owl")) < fruit.kl(model.wv.density("owl")))
    True
    >>> bool(fruit.kl(model.wv.density("apple")) < bird.kl(model.wv.density("apple")))
    True

    General words have larger variances:

    >>> model.wv.generality("animal") > model.wv.generality("kakapo")
    True
    """

    _: KW_ONLY
    hidden_size: int | None = whole(None, least=1)
    margin: float = number(8.0)
    covariance: str = choice("spherical", check_covariance)
    residual: bool = parameter(True, lambda name, value: bool(value))
    nearness: float = number(1.0)
    kl_weight: float = number(2.0)
    rates: Rates | Mapping[str, float] | None = rates_of(Rates)

    def _check_together(self) -> None:
        super()._check_together()
        check_backend(self.backend, self.device)
        self._objective()  # raises if something is wrong with it
        self.hidden_size = self.hidden_size or default_hidden_size(self.vector_size)

    def _objective(self) -> Objective:
        return Objective(self.margin, self.kl_weight, self.pairing, self.nearness)

    # Words in context

    def infer_posterior(
        self, word: str | int, context: str | Sequence[str], position: int | None = None
    ) -> Gaussian:
        """Return what a word means in a context, q(z | word, context); see :meth:`KeyedDensities.infer`.

        Examples
        --------
        >>> from densvec import BayesianSkipGram
        >>> model = BayesianSkipGram([["a", "b", "c"]] * 9, vector_size=4, min_count=1, workers=1)
        >>> model.infer_posterior("a", "a b c", position=0) == model.infer_posterior("a", ["b", "c"])
        True
        """
        return self.wv.infer(context, word=word, position=position)

    infer_posteriors = of_words(inference.infer_posteriors)
    substitutes = of_words(substitution.substitutes)
    predict_output_word = of_words(prediction.predict_output_word, sample="sample")

    # What the shared front asks of a model

    def _new_keyed(self) -> KeyedDensities:
        return KeyedDensities(self.vector_size, covariance=self.covariance, window=self.window)

    def _reading(self) -> Reading:
        if not self.residual:
            return Reading(self.window)
        return Reading.of_thinned_text(self.window, self.nearness)

    def layout(self) -> Layout:
        """Return the layout of the model's tables: priors, network, and the optimiser's accumulators."""
        size, hidden = self.vector_size, self.hidden_size or default_hidden_size(self.vector_size)
        variances = 1 if self.covariance == "spherical" else size
        head = 0.1 if self.residual else 1.0  # a residual posterior starts near its prior
        weights: dict[str, tuple[tuple[int, ...], Start]] = {
            "context_layer": ((size, hidden), uniform(START)),
            "centre_layer": ((size, hidden), uniform(START)),
            "mean_head": ((hidden, size), uniform(head * np.sqrt(6 / (hidden + size)))),
            "mean_bias": ((size,), zeros),
            "variance_head": ((hidden, variances), uniform(head**2 * np.sqrt(6 / (hidden + variances)))),
            "variance_bias": ((variances,), zeros),
        }
        near_average: dict[str, Any] = {
            "per_word": True,
            "start": uniform(START),
            "grow": average_word(START),
        }
        return Layout(
            [
                TableLayout("means", (size,), **near_average),
                # The same for every word: training on little text would not remove what a random start adds.
                TableLayout("log_variances", (variances,), per_word=True, grow=average_word(0.0)),
                TableLayout("encoder.embeddings", (size,), **near_average, group="embeddings"),
                *(
                    TableLayout(f"encoder.{name}", shape, start=start, group="encoder")
                    for name, (shape, start) in weights.items()
                ),
                *optimiser_layout({name: shape for name, (shape, _) in weights.items()}),
            ]
        )

    def _make_backend(self) -> Backend:
        return make_backend(
            choose_backend(self.backend, self.device),
            self.wv,
            self._objective(),
            self._rates_as(Rates),
            self._optimiser_state,
            device=self.device,
            workers=self._threads,
        )

    def _loss_scale(self) -> float:
        return max(1.0, self.margin) * max(1.0, self.kl_weight)
