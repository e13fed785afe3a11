"""Word2Gauss: one Gaussian for each word."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from densvec.keyed import KeyedDensities
from densvec.model import DensityModel
from densvec.model.state import Corpus, CorpusFile, TrimRule
from densvec.skipgram import check_native, check_pairing
from densvec.training.backend import Backend
from densvec.training.native import Word2GaussBackend, check_energy
from densvec.training.settings import Bounds, GaussRates, check_margin
from densvec.types import Array

__all__ = ["Word2Gauss"]

#: Half the width of the uniform distribution that means start from.
START = 0.05


class Word2Gauss(DensityModel):
    """Words as Gaussian densities, trained on pairs of words (Vilnis & McCallum, ICLR 2015).

    Every word has one density, which serves it as a centre and as a context. A word w must fit a word c of
    its context better than a random word n, by a margin: max(0, margin − E(w, c) + E(w, n)). Variances grow
    with the variety of a word's contexts, so that they tell how general it is.

    Three energies E are known. ``"kl"`` is −KL[c‖w], as the authors have it: the density of a word must cover
    those of its contexts. ``"reverse_kl"`` is −KL[w‖c], the contrast of the Bayesian Skip-gram without its
    network. ``"expected_likelihood"`` is log ∫ w(z) c(z) dz, which is symmetric. With each of them a general
    word should end up broader than the words it stands for, so that KL[w1‖w2] < KL[w2‖w1] when w2 is the more
    general one: what `densvec.evaluation.direction` and ``wv.entailment`` ask. On much text ``"kl"`` tells the
    direction best, because its variances follow the words' frequencies; on text where frequency says little,
    such as the example below, the other two do, and they are a little better at similarity.

    There is no network: a word has no posterior in a context. For that, see `densvec.BayesianSkipGram`.

    The constructor is that of gensim's ``Word2Vec``: same names, same order, same meaning, followed by
    parameters of this model's own.

    Parameters
    ----------
    sentences : iterable of token lists, optional
        The corpus, iterable more than once: a list, `densvec.corpora.LineSentence`, …
    corpus_file : path, optional
        A file with one sentence per line, in place of ``sentences``; the fastest way to train.
    vector_size : int
        Dimensions of the densities.
    alpha : float
        Learning rate at the start. The rates of the tables are multiples of it, see ``rates``.
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
    sg, hs, null_word, cbow_mean, hashfxn, compute_loss
        Accepted for gensim's sake. ``sg=0`` (CBOW), ``hs=1`` and ``null_word=1`` have no meaning here and are
        errors; the others have no effect. Losses are always computed.
    negative : int
        Negatives drawn for each centre word, or for each context word when ``pairing="paired"``. Shared ones
        cost little, and more of them are clearly better: 30 here.
    ns_exponent : float or "subsampled"
        Negatives are drawn by counts to this power; "subsampled" draws them as words occur in the thinned
        text.
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
    margin : float
        By how much the energy of a word and its context must pass that of the word and a negative.
    energy : {"kl", "reverse_kl", "expected_likelihood"}
        How well two densities fit.
    pairing : {"shared", "paired"}
        Contrast every context word with all negatives of its centre, or each with negatives of its own. The
        loss is averaged over the negatives of a context word.
    covariance : {"spherical", "diagonal"}
        One variance for each density, or one for each of its dimensions.
    variance : float
        Variance of every word at the start, in each dimension.
    min_variance, max_variance, max_norm : float
        Bounds of the variances and of the length of a mean, kept after every step. KL does not change when all
        means are scaled by s and all variances by s²: without bounds the scale may drift for ever.
    rates : GaussRates or mapping, optional
        Learning rates of the tables, ``mean`` and ``log_variance``, as multiples of ``alpha``.
    backend : {"auto", "native"}
        What trains: the native kernel.
    device : str, optional
        None or "cpu".
    show_progress : bool, optional
        Draw a progress bar; by default in terminals and notebooks only.

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

    own_parameters = (
        "margin",
        "energy",
        "pairing",
        "covariance",
        "variance",
        "min_variance",
        "max_variance",
        "max_norm",
        "rates",
    )

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
        negative: int = 30,
        ns_exponent: float | str = "subsampled",
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
        shrink_windows: bool = False,
        *,
        margin: float = 5.0,
        energy: str = "kl",
        pairing: str = "shared",
        covariance: str = "spherical",
        variance: float = 1.0,
        min_variance: float = 0.05,
        max_variance: float = 20.0,
        max_norm: float = 100.0,
        rates: GaussRates | Mapping[str, float] | None = None,
        backend: str = "auto",
        device: str | None = None,
        show_progress: bool | None = None,
    ) -> None:
        parameters = {name: value for name, value in locals().items() if name not in _OWN}
        if covariance not in ("spherical", "diagonal"):
            raise ValueError(f"covariance={covariance!r} is unknown: use 'spherical' or 'diagonal'")
        Bounds(min_variance, max_variance, max_norm)  # says what is wrong with them
        if not min_variance <= variance <= max_variance:
            raise ValueError(f"variance={variance} is not between {min_variance} and {max_variance}, its bounds")
        check_native(type(self).__name__, backend, device)
        self.margin = check_margin(margin)
        self.energy = check_energy(energy)
        self.pairing = check_pairing(pairing)
        self.covariance = covariance
        self.variance = variance
        self.min_variance = min_variance
        self.max_variance = max_variance
        self.max_norm = max_norm
        self.rates = asdict(rates if isinstance(rates, GaussRates) else GaussRates(**(rates or {})))
        super().__init__(**parameters)

    # What the shared front asks of a model

    def _new_keyed(self) -> KeyedDensities:
        return KeyedDensities(self.vector_size, covariance=self.covariance, window=self.window)

    @property
    def _variances(self) -> int:
        """Numbers that make up one variance."""
        return 1 if self.covariance == "spherical" else self.vector_size

    def _start_tables(self, words: int, rng: np.random.Generator) -> None:
        self.wv.vectors, self.wv.log_variances = self._start(words, rng)

    def _grow_tables(self, added: int, rng: np.random.Generator) -> None:
        self.wv._append_rows(*self._start(added, rng))

    def _start(self, words: int, rng: np.random.Generator) -> tuple[Array, Array]:
        means = rng.uniform(-START, START, (words, self.vector_size)).astype(np.float32)
        return means, np.full((words, self._variances), np.log(self.variance), np.float32)

    def _make_backend(self) -> Backend:
        return Word2GaussBackend(
            self.wv,
            self.margin,
            self.energy,
            Bounds(self.min_variance, self.max_variance, self.max_norm),
            GaussRates(**self.rates),
        )

    def _saved_shapes(self, words: int) -> dict[str, tuple[int, ...]]:
        return {"means": (words, self.vector_size), "log_variances": (words, self._variances)}

    def _bytes_per_word(self) -> dict[str, int]:
        return {"means": 4 * self.vector_size, "log_variances": 4 * self._variances}


_OWN = {"self", "__class__", *Word2Gauss.own_parameters}
