"""Training a model, by gensim's methods and one more: ``train()`` without arguments."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Iterable
from typing import Any

from densvec._corpus import Sampler
from densvec.callbacks import call
from densvec.checks import check_number, check_whole, is_finite
from densvec.distributed.group import Group
from densvec.files.schema import LARGEST
from densvec.model.state import ModelState, alone
from densvec.model.vocabulary import check_sources
from densvec.tables import lock
from densvec.text._text import TextReader
from densvec.text._words import WordIndex
from densvec.text.feed import Feed
from densvec.text.thinning import keep_probabilities, noise_weights
from densvec.training import signals
from densvec.training.backend import UnstableTrainingError
from densvec.training.layout import STATE, writable
from densvec.training.loop import LOSS_BOUND, Loop, thread_limits
from densvec.training.progress import Progress
from densvec.training.recovery import LastGood
from densvec.training.run import EpochLoss, Position, Run, Tally
from densvec.training.tables import lay_apart
from densvec.types import CorpusFile, Sentences

logger = logging.getLogger(__name__)


class Training(ModelState):
    """The methods that train a model and report its losses."""

    @alone
    def train(
        self,
        corpus_iterable: Sentences | None = None,
        corpus_file: CorpusFile | None = None,
        total_examples: int | None = None,
        total_words: int | None = None,
        epochs: int | None = None,
        start_alpha: float | None = None,
        end_alpha: float | None = None,
        word_count: int = 0,
        queue_factor: int = 2,
        report_delay: float = 1.0,
        compute_loss: bool = False,
        callbacks: Iterable[Any] = (),
        *,
        resume: bool = False,
    ) -> Any:
        """Train the model, and return it.

        Without arguments, ``train()`` brings the model to its ``epochs`` on its own corpus: it trains a model
        that was not trained, resumes an interrupted or re-loaded one where it stopped, and returns at once
        when nothing is left. With a corpus it is gensim's call: that many more epochs; with nothing but a
        corpus, an interrupted or re-loaded model goes on where it stopped.

        Ctrl-C (KeyboardInterrupt) is raised once the current chunks are finished. The model can then be used
        and saved, and ``train()`` goes on where it stopped.

        Parameters
        ----------
        corpus_iterable : iterable of token lists, optional
            The corpus; or
        corpus_file : path or list of paths, optional
            a file with one sentence per line, a directory of them, a pattern such as ``"texts/*.gz"``, or a list.
        total_examples, total_words : int, optional
            Number of sentences or raw words of the corpus, by which the learning rate falls; one of them is needed
            with a corpus.
        epochs : int, optional
            Passes over the corpus; needed with a corpus.
        start_alpha, end_alpha : float, optional
            Learning rates at the start and at the end; they become the model's ``alpha`` and ``min_alpha``.
        word_count, queue_factor, compute_loss : optional
            Accepted as in gensim, without effect: the loss is always computed.
        report_delay : float
            Seconds between two lines of the log.
        callbacks : iterable
            Objects with hooks, see `densvec.callbacks`; by default those given to the constructor.
        resume : bool
            Complete the model's own epochs, as without arguments, but on the corpus given: for a re-loaded
            model whose corpus was not a file.

        Raises
        ------
        UnstableTrainingError
            If the loss is no longer a finite, reasonable number; the message says what to lower.

        Examples
        --------
        >>> from densvec import BayesianSkipGram
        >>> sentences = [["hello", "densities"], ["goodbye", "points"]] * 10
        >>> model = BayesianSkipGram(vector_size=4, epochs=2)
        >>> model.build_vocab(sentences)
        >>> len(model.train().loss_history)
        2
        >>> model = model.train(sentences, total_examples=model.corpus_count, epochs=3)
        >>> len(model.loss_history)
        5
        """
        alpha = self.alpha if start_alpha is None else check_number("start_alpha", start_alpha)
        min_alpha = self.min_alpha if end_alpha is None else check_number("end_alpha", end_alpha)
        total_examples = _whole("total_examples", total_examples)
        total_words = _whole("total_words", total_words)
        epochs = _whole("epochs", epochs)
        self._check_ready()
        self.alpha, self.min_alpha = alpha, min_alpha
        given = corpus_iterable is not None or corpus_file is not None
        interrupted = self._run is not None and not self._run.finished
        if resume or not (total_examples or total_words or epochs or (given and not interrupted)):
            run = self._own_run(corpus_iterable, corpus_file, given)
        else:
            run = self._further_run(corpus_iterable, corpus_file, total_examples, total_words, epochs)
        if run is None:
            return self
        if self.alpha > self.min_alpha_yet_reached and not run.tally.chunks and not run.epoch:
            logger.warning("Effective 'alpha' higher than previous training cycles")
        try:
            self._train(run, tuple(callbacks) or self._constructor_callbacks, report_delay)
        finally:
            with self._standstill():
                lay_apart(self.wv)
        return self

    def get_latest_training_loss(self) -> float:
        """Return the mean loss per centre word of the current epoch, or of the latest one between runs.

        Unlike gensim's, it is always computed in double precision, and can be compared between runs and
        corpora. `loss_history` has all epochs. 0.0 before any training.

        Examples
        --------
        >>> from densvec import BayesianSkipGram
        >>> model = BayesianSkipGram([["a", "b", "c"]] * 9, vector_size=4, min_count=1, sample=0, workers=1)
        >>> model.get_latest_training_loss() == model.loss_history[-1].loss
        True
        """
        if self._run is not None and self._run.tally.result.centres:
            return self._run.tally.per_centre()[0]
        return self.loss_history[-1].loss if self.loss_history else 0.0

    # Which epochs to train

    def _own_run(
        self, sentences: Sentences | None, corpus_file: CorpusFile | None, given: bool
    ) -> Run | None:
        """Return what is left of the model's own epochs, or None if nothing is."""
        run = self._run
        if run is None:
            run = self._new_run(self.epochs, self.corpus_total_words, self.corpus_count)
            run.own = True
        elif run.own:
            run.epochs = max(run.epochs, self.epochs)  # raised since: go on to the new number
        run.start_alpha, run.end_alpha = self.alpha, self.min_alpha  # they may have been changed since
        if run.finished:
            logger.info("nothing to train: the model has had its %i epochs", run.epochs)
            return None
        if given:
            self._corpus = (sentences, corpus_file)
        if self._corpus[0] is None and self._corpus[1] is None:
            self._corpus = (None, self._recorded_corpus())
        if self._corpus[0] is None and self._corpus[1] is None:
            raise RuntimeError(
                "the model's corpus is not available (the model was loaded, or its vocabulary was not built "
                "from a corpus): give it as train(sentences, resume=True)"
            )
        self._on_all_ranks(lambda: check_sources(*self._corpus, passes=run.epochs - run.epoch))
        return run

    def _further_run(
        self,
        sentences: Sentences | None,
        corpus_file: CorpusFile | None,
        total_examples: int | None,
        total_words: int | None,
        epochs: int | None,
    ) -> Run:
        """Return a run over the given corpus, as gensim's call asks for."""
        self._on_all_ranks(lambda: check_sources(sentences, corpus_file, passes=epochs or 1))
        if total_words is None and total_examples is None:
            raise ValueError(
                "give total_examples or total_words, which the learning rate depends on; for the corpus that "
                "the vocabulary was built from, total_examples=model.corpus_count"
            )
        if epochs is None or epochs <= 0:
            raise ValueError(f"epochs={epochs}: give how many epochs to train, usually epochs=model.epochs")
        if total_words is None and total_examples == self.corpus_count:
            total_words = self.corpus_total_words or None
        self._corpus = (sentences, corpus_file)
        return self._new_run(epochs, total_words, total_examples)

    def _new_run(self, epochs: int, total_words: int | None, total_examples: int | None) -> Run:
        return Run(
            epochs=epochs,
            start_alpha=self.alpha,
            end_alpha=self.min_alpha,
            total_words=total_words,
            total_examples=total_examples,
            first_epoch=self.epochs_trained,
            position=Position(losses=tuple(self.loss_history)),
        )

    def _check_ready(self) -> None:
        """Raise an error unless there is a vocabulary, and tables that can be trained."""
        if not len(self.wv.index_to_key):
            raise RuntimeError(
                "you must first build the vocabulary before training the model: call build_vocab"
            )
        if len(self.wv.vectors) != len(self.wv.index_to_key):
            raise RuntimeError("you must first initialise the weights before training: call prepare_weights")
        self._fit_tables()
        self.layout().check(self._arrays(), len(self.wv.index_to_key))
        for name, array in self._arrays().items():
            if not is_finite(array):
                raise ValueError(f"{name} holds NaN or infinite numbers: such a model cannot be trained")

    # Training them

    def _train(self, run: Run, callbacks: tuple[Any, ...], report_delay: float) -> None:
        """Train what is left of a run. Signals are deferred: only callbacks, and the loop, let them interrupt."""
        run.check_exact()
        self._own_arrays()
        ranks = self._ranks()
        open_feed, backend = self._feeds(), self._make_backend()
        bound = LOSS_BOUND * self._loss_scale()
        several = ranks is not None or run.position.pieces is not None
        if several:
            from densvec.distributed.loop import RankLoop

            loop: Loop = RankLoop(self, ranks or Group.alone(), run, backend, open_feed, loss_bound=bound)
        else:
            loop = Loop(run, backend, open_feed, workers=self._threads, loss_bound=bound)
        state = {STATE + name: array for name, array in backend.state().items()}
        last_good = LastGood({**self._arrays(), **state}, run)
        progress = Progress(run, self.show_progress, report_delay, silent=not self._is_main())
        watchers = [callback for callback in callbacks if hasattr(callback, "on_batch_end")]

        def on_chunk(tally: Tally, seconds: float) -> None:
            progress.chunk(tally, seconds)
            last_good.note(tally)
            self._call(watchers, "on_batch_end")

        self.add_lifecycle_event("train", msg=f"training with {self.workers} workers", epochs=run.epochs)
        started = time.perf_counter()
        diverged = False
        with self._standstill():
            self._run, self._loop = run, loop
            lock(self.wv, True)
        try:
            with thread_limits(backend, self._threads):
                self._call(callbacks, "on_train_begin")
                while not run.finished:
                    self._call(callbacks, "on_epoch_begin")
                    tally = loop.epoch(on_chunk)
                    with self._standstill():
                        loss = run.complete_epoch()
                        now = time.perf_counter()  # what callbacks save says how long it has taken so far
                        self.total_train_time, started = self.total_train_time + now - started, now
                        last_good.take(self._arrays(), loss)
                    progress.epoch(loss, tally)
                    self._warn_of_nothing(loss)
                    self._call(callbacks, "on_epoch_end")
                self._call(callbacks, "on_train_end")
        except UnstableTrainingError as error:
            diverged = True
            raise UnstableTrainingError(f"{error} {last_good}") from error
        finally:
            with self._standstill():
                if diverged:
                    last_good.restore(self._arrays())
                self._loop = None
                lock(self.wv, False)
                self.total_train_time += time.perf_counter() - started
                self.train_count += 1
            progress.close()

    def _call(self, callbacks: Iterable[Any], hook: str) -> None:
        """Call a hook of the callbacks, which signals may interrupt."""
        if callbacks:
            with signals.undeferred():
                call(callbacks, hook, self)

    def _warn_of_nothing(self, loss: EpochLoss) -> None:
        if math.isnan(loss.loss):
            logger.warning(
                "epoch %i had nothing to learn from: thinning by sample=%g left no two words of a "
                "sentence together; raise sample, or set sample=0 to keep all words",
                loss.epoch,
                self.sample,
            )

    def _own_arrays(self) -> None:
        """Copy tables that cannot be trained in place, such as those mapped from a file."""
        self._set_arrays({name: writable(array) for name, array in self._arrays().items()})
        self._state_words = list(self.wv.index_to_key)

    def _feeds(self) -> Any:
        """Return what opens the corpus at an epoch."""
        sentences, corpus_file = self._corpus
        counts = self.wv.expandos["count"]
        if len(counts) != len(self.wv):
            raise ValueError(
                f"wv.expandos['count'] has {len(counts)} counts for {len(self.wv)} words: set one for each word"
            )
        keep = keep_probabilities(counts, float(self.sample))
        sampler = Sampler(
            keep,
            noise_weights(counts, self.ns_exponent, keep),
            window=self.window,
            shrink_windows=bool(self.shrink_windows),
            negative=self.negative,
            pairing=self.pairing,
            seed=self.seed,
        )
        index = WordIndex(self.wv.key_to_index)

        def open_feed(
            epoch: int,
            start: int,
            reader: TextReader | None = None,
            chunk_words: int | None = None,
        ) -> Feed:
            return Feed(
                sentences,
                corpus_file,
                index=index,
                sampler=sampler,
                epoch=epoch,
                chunk_words=chunk_words or self.batch_words,
                start=start,
                reader=reader,
            )

        return open_feed


def _whole(name: str, value: Any) -> int | None:
    return None if value is None else check_whole(name, value, least=0, most=LARGEST)
