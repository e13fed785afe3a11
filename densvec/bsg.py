"""The Bayesian Skip-gram."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from densvec.encoder import Encoder
from densvec.gaussian import Gaussian
from densvec.keyed import KeyedDensities
from densvec.model import DensityModel
from densvec.model.state import Corpus, CorpusFile, TrimRule
from densvec.text.vocabulary import keep_probabilities, noise_weights
from densvec.training.backend import Backend
from densvec.training.choice import choose_backend, make_backend
from densvec.training.settings import Objective, Rates
from densvec.types import Array

__all__ = ["BayesianSkipGram"]

logger = logging.getLogger(__name__)

#: Half the width of the uniform distribution that means, embeddings and the first layer start from.
START = 0.05


class BayesianSkipGram(DensityModel):
    """Words as Gaussian densities: a prior for each word, a posterior for each of its occurrences.

    The model of Bražinskas, Havrylov & Titov (COLING 2018). The prior p(z|w) of a word is what it can mean;
    the posterior q(z|w, context) is what it means in a context, inferred by a small network. The variance
    of a prior says how general a word is. (Other work calls another model "Bayesian skip-gram": Barkan,
    2017, does variational inference of skip-gram vectors.)

    The constructor is that of gensim's ``Word2Vec``: same names, same order, same meaning, followed by
    parameters of this model's own. Some defaults differ, for reasons given below. With a corpus, it builds
    the vocabulary and trains.

    Parameters
    ----------
    sentences : iterable of token lists, optional
        The corpus, iterable more than once: a list, `densvec.corpora.LineSentence`, …
    corpus_file : path, optional
        A file with one sentence per line, in place of ``sentences``; the fastest way to train.
    vector_size : int
        Dimensions of the densities, and of the network's word embeddings.
    alpha : float
        Learning rate at the start. The rates of the single tables are multiples of it, see ``rates``.
    window : int
        Context words on either side of a centre word.
    min_count : int
        Ignore words that occur fewer times.
    max_vocab_size : int, optional
        Bound the memory of counting, by dropping rare words on the way.
    sample : float
        Threshold above which frequent words are thinned. 1e-4 where gensim has 1e-3: a window's posterior is
        one sum over all its words, so that function words drown the others unless they are rarer.
    seed : int
        Seed of everything random. With ``workers=1`` the same seed and corpus give the same bits, in any
        process and whatever PYTHONHASHSEED. Several workers draw the same, but write to the same tables
        without waiting for each other, so that their runs differ a little.
    workers : int, optional
        Threads; by default all cores that the process may use.
    min_alpha : float
        Learning rate at the end; it falls linearly with the words read.
    sg, hs, null_word, cbow_mean, hashfxn, compute_loss
        Accepted for gensim's sake. ``sg=0`` (CBOW), ``hs=1`` and ``null_word=1`` have no meaning here and are
        errors; the others have no effect. Losses are always computed.
    negative : int
        Negatives drawn for each centre word, or for each context word when ``pairing="paired"``. 20 where
        gensim has 5: shared ones cost little.
    ns_exponent : float or "subsampled"
        Negatives are drawn by counts to this power; "subsampled" draws them as words occur in the thinned
        text, which measured better than gensim's 0.75.
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
        Draw each window's size from 1 to ``window``, as word2vec does. False here: the paper's are full.
    hidden_size : int, optional
        Units of the network's hidden layer. By default two thirds of ``vector_size``, in whole vectors of 16
        and not below 64 (or ``vector_size``, if that is less): 64 for 100 dimensions, which trains a fifth
        faster than 100 units and to no worse densities. The paper's network has ``vector_size`` of them.
    margin : float
        By how much a context word must be nearer to the posterior than a negative.
    pairing : {"shared", "paired"}
        Contrast every context word with all negatives of its centre, or each with negatives of its own: the
        paper to the letter is ``pairing="paired", negative=1, residual=False, nearness=0,
        hidden_size=vector_size, rates={"contrast": 3, "coverage": 0}``. See `densvec.training.settings.Objective`.
    covariance : {"spherical", "diagonal"}
        One variance for each density, or one for each of its dimensions.
    residual : bool
        Whether the network gives the posterior's shift from the prior, μ_q = μ_w + hU + b and
        log v_q = log v_w + hW + b', instead of the whole density, hU + b and hW + b', as in the paper. A
        context then only has to say what it changes, which trains faster and better (``docs/recipe.md``),
        and the more it says the surer is the posterior.
    nearness : float
        How much more near context words count in the loss: 0 not at all, as in the paper, 1 as much as they do
        on average where windows are shrunk. The network reads all alike in any case.
    kl_weight : float
        Weight of KL[posterior‖prior] in the loss, 1 in the paper.
    rates : densvec.training.settings.Rates, optional
        Learning rates of the tables as multiples of ``alpha``.
    backend : {"auto", "native", "torch"}
        What trains: the native kernel, or torch. "auto" is native, unless torch and a CUDA device are there.
    device : str, optional
        Where torch trains: "cpu", "cuda", "mps", …
    show_progress : bool, optional
        Draw a progress bar; by default in terminals and notebooks only.

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

    own_parameters = (
        "hidden_size",
        "margin",
        "pairing",
        "covariance",
        "residual",
        "nearness",
        "kl_weight",
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
        negative: int = 20,
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
        hidden_size: int | None = None,
        margin: float = 5.0,
        pairing: str = "shared",
        covariance: str = "spherical",
        residual: bool = True,
        nearness: float = 1.0,
        kl_weight: float = 1.0,
        rates: Rates | Mapping[str, float] | None = None,
        backend: str = "auto",
        device: str | None = None,
        show_progress: bool | None = None,
    ) -> None:
        if covariance not in ("spherical", "diagonal"):
            raise ValueError(f"covariance={covariance!r} is unknown: use 'spherical' or 'diagonal'")
        if hidden_size is not None and hidden_size < 1:
            raise ValueError(f"hidden_size={hidden_size} is too small: it must be at least 1")
        Objective(margin, kl_weight, pairing, nearness)  # says what is wrong with them
        self.hidden_size = hidden_size or max(min(vector_size, 64), vector_size * 2 // 3 // 16 * 16)
        self.margin = margin
        self.pairing = pairing
        self.covariance = covariance
        self.residual = bool(residual)
        self.nearness = nearness
        self.kl_weight = kl_weight
        self.rates = asdict(rates if isinstance(rates, Rates) else Rates(**(rates or {})))
        super().__init__(
            sentences,
            corpus_file,
            vector_size=vector_size,
            alpha=alpha,
            window=window,
            min_count=min_count,
            max_vocab_size=max_vocab_size,
            sample=sample,
            seed=seed,
            workers=workers,
            min_alpha=min_alpha,
            sg=sg,
            hs=hs,
            negative=negative,
            ns_exponent=ns_exponent,
            cbow_mean=cbow_mean,
            hashfxn=hashfxn,
            epochs=epochs,
            null_word=null_word,
            trim_rule=trim_rule,
            sorted_vocab=sorted_vocab,
            batch_words=batch_words,
            compute_loss=compute_loss,
            callbacks=callbacks,
            comment=comment,
            max_final_vocab=max_final_vocab,
            shrink_windows=shrink_windows,
            backend=backend,
            device=device,
            show_progress=show_progress,
        )

    # Words in context

    def infer_posterior(
        self, word: str, context: str | Sequence[str], position: int | None = None
    ) -> Gaussian:
        """Return what a word means in a context: q(z | word, context).

        Parameters
        ----------
        word : str
            The centre word; KeyError if it is unknown.
        context : str or sequence of str
            The words around it, as a list or separated by spaces; unknown ones are skipped, and with no known
            one the posterior is the prior.
        position : int, optional
            Where the word stands, if `context` is its whole sentence: the window around it counts, as in
            training.

        Examples
        --------
        >>> from densvec import BayesianSkipGram
        >>> model = BayesianSkipGram([["a", "b", "c"]] * 9, vector_size=4, min_count=1, workers=1)
        >>> model.infer_posterior("a", ["b", "c"]).mean.shape
        (4,)
        >>> model.infer_posterior("a", "a b c", position=0) == model.infer_posterior("a", ["b", "c"])
        True
        """
        return self.wv.infer(context, word, position)

    def infer_posteriors(self, pairs: Iterable[Sequence[Any]]) -> Gaussian:
        """Return a batch of posteriors: many at once are fast.

        Parameters
        ----------
        pairs : iterable of (word, context) or (word, context, position)
            Each as in :meth:`infer_posterior`.

        Examples
        --------
        >>> from densvec import BayesianSkipGram
        >>> model = BayesianSkipGram([["a", "b", "c"]] * 9, vector_size=4, min_count=1, workers=1)
        >>> model.infer_posteriors([("a", ["b", "c"]), ("b", ["a"])]).mean.shape
        (2, 4)
        """
        return self.wv.infer_posteriors(pairs)

    def substitutes(
        self,
        word: str,
        context: str | Sequence[str],
        candidates: Iterable[str] | None = None,
        topn: int | None = 10,
        exclude_inflections: bool = False,
        *,
        position: int | None = None,
    ) -> list[tuple[str, float]]:
        """Return words that could stand in a word's place in a context, best first.

        They are ranked by KL[q(z | word, context) ‖ p(z | substitute)].

        Parameters
        ----------
        word : str
            The word to replace.
        context : str or sequence of str
            The words around it.
        candidates : iterable of str, optional
            Rank these only.
        topn : int or None
            How many to return; None for all.
        exclude_inflections : bool
            Whether to leave out other regular (English) forms of the word, such as its plural.
        position : int, optional
            Where the word stands, if `context` is its whole sentence.

        Examples
        --------
        >>> from densvec import BayesianSkipGram
        >>> model = BayesianSkipGram([["a", "b", "c"]] * 9, vector_size=4, min_count=1, workers=1)
        >>> len(model.substitutes("a", ["b", "c"], topn=2))
        2
        """
        return self.wv.substitutes(
            word, context, candidates, topn, exclude_inflections, position=position
        )

    def predict_output_word(
        self, context_words_list: Sequence[str | int], topn: int = 10
    ) -> list[tuple[str, float]] | None:
        """Return the words that a context speaks for, most probable first.

        A word is the more probable the more frequent it is in the thinned text, the less the context moves
        its posterior q from its prior, and the nearer q is to the context words: p(w | context) ∝
        p(w) · exp(−KL[q‖p(z | w)] − mean_j KL[q‖p(z | c_j)]), the terms of the training objective.

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
        >>> from densvec import BayesianSkipGram
        >>> model = BayesianSkipGram([["a", "b", "c"]] * 9, vector_size=4, min_count=1, workers=1)
        >>> len(model.predict_output_word(["b", "c"], topn=2))
        2
        """
        wv = self.wv
        encoder, log_variances = wv.encoder, wv.log_variances
        if encoder is None or log_variances is None or not len(wv):
            raise RuntimeError("the model knows no words yet: build its vocabulary and train it first")
        known = [wv.get_index(word) for word in context_words_list if word in wv]
        if not known:
            logger.warning("all the context words are unknown to the model")
            return None
        words = len(wv)
        offsets = np.arange(words + 1) * len(known)
        priors = (wv.vectors, log_variances)
        posteriors = _gaussian(*encoder.posteriors(np.arange(words), known * words, offsets, priors))
        scores = -posteriors.kl(_gaussian(wv.vectors, log_variances))
        for row in known:
            scores -= posteriors.kl(_gaussian(wv.vectors[row], log_variances[row])) / len(known)
        keep = keep_probabilities(wv.expandos["count"], self.sample)
        scores += np.log(noise_weights(wv.expandos["count"], "subsampled", keep))
        probabilities = np.exp(scores - scores.max())
        probabilities /= probabilities.sum()
        best = np.argsort(-probabilities, kind="stable")[:topn]
        return [(wv.index_to_key[i], float(probabilities[i])) for i in best]

    # What the shared front asks of a model

    def _new_keyed(self) -> KeyedDensities:
        return KeyedDensities(self.vector_size, covariance=self.covariance, window=self.window)

    @property
    def _variances(self) -> int:
        """Numbers that make up one variance."""
        return 1 if self.covariance == "spherical" else self.vector_size

    def _start_tables(self, words: int, rng: np.random.Generator) -> None:
        size, hidden, variances = self.vector_size, self.hidden_size, self._variances
        head = 0.1 if self.residual else 1.0  # a residual posterior starts near its prior

        def uniform(*shape: int, width: float = START) -> Any:
            return rng.uniform(-width, width, shape).astype(np.float32)

        self.wv.vectors = uniform(words, size)
        # The same for every word: what a random start adds, training on little text does not remove.
        self.wv.log_variances = np.zeros((words, variances), np.float32)
        self.wv.encoder = Encoder(
            embeddings=uniform(words, size),
            context_layer=uniform(size, hidden),
            centre_layer=uniform(size, hidden),
            mean_head=uniform(hidden, size, width=head * np.sqrt(6 / (hidden + size))),
            mean_bias=np.zeros(size, np.float32),
            variance_head=uniform(hidden, variances, width=head * np.sqrt(6 / (hidden + variances))),
            variance_bias=np.zeros(variances, np.float32),
            residual=self.residual,
        )

    def _grow_tables(self, added: int, rng: np.random.Generator) -> None:
        """Let new words start from the average word, with the noise of any start."""
        wv = self.wv
        assert wv.log_variances is not None
        assert wv.encoder is not None

        def grown(table: Any, width: float) -> Any:
            rows = table.mean(0, dtype=np.float64) + rng.uniform(-width, width, (added, table.shape[1]))
            return np.concatenate([table, rows.astype(table.dtype)])

        wv.vectors = grown(wv.vectors, START)
        wv.log_variances = grown(wv.log_variances, 0.0)
        weights = wv.encoder.arrays()
        weights["embeddings"] = grown(weights["embeddings"], START)
        wv.encoder = Encoder(**weights, residual=wv.encoder.residual)
        if self._optimiser_state is not None:
            squares = self._optimiser_state["embedding_squares"]
            self._optimiser_state["embedding_squares"] = np.concatenate(
                [squares, np.zeros(added, squares.dtype)]
            )

    def _make_backend(self) -> Backend:
        return make_backend(
            choose_backend(self.backend, self.device),
            self.wv,
            Objective(self.margin, self.kl_weight, self.pairing, self.nearness),
            Rates(**self.rates),
            self._optimiser_state,
            device=self.device,
            workers=self.workers,
        )

    def _saved_shapes(self, words: int) -> dict[str, tuple[int, ...]]:
        size, hidden, variances = self.vector_size, self.hidden_size, self._variances
        weights = {
            "context_layer": (size, hidden),
            "centre_layer": (size, hidden),
            "mean_head": (hidden, size),
            "mean_bias": (size,),
            "variance_head": (hidden, variances),
            "variance_bias": (variances,),
        }
        return {
            "means": (words, size),
            "log_variances": (words, variances),
            "encoder.embeddings": (words, size),
            **{f"encoder.{name}": shape for name, shape in weights.items()},
            "training.embedding_squares": (words,),
            "training.adam_steps": (1,),
            **{f"training.adam_first.{name}": shape for name, shape in weights.items()},
            **{f"training.adam_second.{name}": shape for name, shape in weights.items()},
        }

    def _loss_scale(self) -> float:
        return max(1.0, self.margin) * max(1.0, self.kl_weight)

    def _bytes_per_word(self) -> dict[str, int]:
        return {
            "means": 4 * self.vector_size,
            "log_variances": 4 * self._variances,
            "embeddings": 4 * self.vector_size,
            "embedding_squares": 4,
        }

    def _fixed_bytes(self) -> dict[str, int]:
        size, hidden = self.vector_size, self.hidden_size
        weights = 2 * size * hidden + (hidden + 1) * (size + self._variances)
        return {"encoder": 4 * weights, "encoder_moments": 8 * weights}


def _gaussian(means: Array, log_variances: Array) -> Gaussian:
    return Gaussian(means, np.exp(log_variances))
