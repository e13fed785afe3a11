"""What every model is made of: its densities, its counters, its position in training, and its parameters."""

from __future__ import annotations

import functools
import logging
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any, NoReturn, TypeVar

import numpy as np

from densvec.checks import check_whole
from densvec.distributed.group import connect, launched
from densvec.files.fingerprint import difference, fingerprint
from densvec.keyed import KeyedDensities
from densvec.keyed.retired import REMOVED
from densvec.model.parameters import SharedParameters
from densvec.reading import Reading
from densvec.tables import Lifecycle, set_tables, tables_of
from densvec.text.source import recorded_paths
from densvec.text.vocabulary import RawVocabulary
from densvec.training import signals
from densvec.training.backend import Backend
from densvec.training.layout import STATE, Layout
from densvec.training.loop import Loop
from densvec.training.run import EpochLoss, Run
from densvec.types import Array, CorpusFile, Sentences

logger = logging.getLogger(__name__)

F = TypeVar("F", bound=Callable[..., Any])
R = TypeVar("R")


def alone(method: F) -> F:
    """Let a method that changes a model run alone: not during training, nor together with another such method.

    Signals wait, so that no change is left half done; what takes long lets them in with `signals.undeferred`.
    """

    @functools.wraps(method)
    def guarded(self: ModelState, *args: Any, **kwargs: Any) -> Any:
        with signals.deferred(), self._alone(method.__name__):
            return method(self, *args, **kwargs)

    return guarded  # type: ignore[return-value]


#: Counters that are saved with every model.
COUNTERS = (
    "corpus_count",
    "corpus_total_words",
    "train_count",
    "total_train_time",
    "min_alpha_yet_reached",
    "effective_min_count",
)


class ModelState(SharedParameters, Lifecycle):
    """The attributes of a model and what a subclass must define: its tables and its backend."""

    def _begin(self, hashfxn: Callable[[str], int] = hash, distributed: bool | None = None) -> None:
        """Set all other attributes, once the parameters are set."""
        self._check_together()
        self.distributed = distributed
        self._auto_sample = self.sample == "auto"
        self.layer1_size = self.vector_size
        self.hashfxn = hashfxn
        self.wv = self._new_keyed()
        self.corpus_count = 0
        self.corpus_total_words = 0
        self.train_count = 0
        self.total_train_time = 0.0
        self.min_alpha_yet_reached = float(self.alpha)
        self.effective_min_count = self.min_count
        self.lifecycle_events = []
        self._raw = RawVocabulary({}, 0, 0)
        self._corpus = (None, None)
        self._run: Run | None = None  # the position in training: what `train()` goes on from
        self._lock = (
            threading.RLock()
        )  # held while what is saved with a model changes as a whole, or is saved
        self._loop: Loop | None = None  # while training
        self._optimiser_state: dict[str, Array] | None = None
        self._state_words: list[str] = []  # the words whose rows the optimiser's state has
        self._constructor_callbacks: tuple[Any, ...] = ()
        self._provenance: dict[str, Any] | None = None

    # What a subclass defines.

    def layout(self) -> Layout:
        """Return the layout of the model's tables."""
        raise NotImplementedError

    def _make_backend(self) -> Backend:
        """Return what trains ``wv``."""
        raise NotImplementedError

    def _new_keyed(self) -> KeyedDensities:
        """Return an empty `KeyedDensities` of the model's shape."""
        raise NotImplementedError

    def _reading(self) -> Reading | None:
        """Return how a new encoder reads contexts, if the model has one."""
        return None

    def _loss_scale(self) -> float:
        """Return the factor by which the model's losses exceed those of usual parameters."""
        return 1.0

    # What its parts share.

    @property
    def _threads(self) -> int:
        """The number of workers, which a parameter of None has become."""
        assert self.workers is not None
        return self.workers

    def _rates_as(self, kind: Callable[..., R]) -> R:
        """Return the learning rates, which are kept as a dictionary."""
        kept: Any = getattr(self, "rates")  # noqa: B009 - only some models have rates
        return kind(**kept)

    @property
    def _corpus(self) -> tuple[Sentences | None, CorpusFile | None]:
        """The corpus: token lists, or a file."""
        return self._sources

    @_corpus.setter
    def _corpus(self, sources: tuple[Sentences | None, CorpusFile | None]) -> None:
        self._sources = sources
        path = sources[1]
        # What a file of the model says about its corpus: the path, and what the file there is like.
        paths = None if path is None else recorded_paths(path)
        self._recorded = None if paths is None else (paths, fingerprint(paths))

    def _recorded_corpus(self) -> str | list[str] | None:
        """Return the file that a loaded model was trained on; RuntimeError if it is no longer that file.

        A model's file may come from anyone and name any file: it is only read if it is as recorded.
        """
        if self._recorded is None:
            return None
        path, recorded = self._recorded
        why = difference(path, recorded)
        if why is not None:
            raise RuntimeError(
                f"the model's corpus, {path!r}, {why}: give the corpus to go on with, as in "
                "train(corpus_file=..., resume=True)"
            )
        return path

    @property
    def epochs_trained(self) -> int:
        """How many epochs the model was trained, over all calls of ``train()``."""
        return 0 if self._run is None else self._run.number

    @property
    def loss_history(self) -> list[EpochLoss]:
        """The losses of each of these epochs; a copy.

        Examples
        --------
        >>> from densvec import BayesianSkipGram
        >>> model = BayesianSkipGram([["a", "b", "c"]] * 9, vector_size=4, min_count=1, workers=1, epochs=2)
        >>> [entry.epoch for entry in model.loss_history]
        [1, 2]
        """
        return [] if self._run is None else list(self._run.position.losses)

    @property
    def raw_vocab(self) -> dict[str, int]:
        """The counts of all words, rare ones included, as long as they are kept.

        The words become strings when this is first used.

        Examples
        --------
        >>> from densvec import BayesianSkipGram
        >>> model = BayesianSkipGram()
        >>> _ = model.scan_vocab([["a", "b"], ["b", "c"]])
        >>> model.raw_vocab
        {'a': 1, 'b': 2, 'c': 1}
        """
        return self._raw.counts

    @raw_vocab.setter
    def raw_vocab(self, counts: Mapping[str, int]) -> None:
        counts = {
            word: check_whole(f"the count of {word!r}", count, least=0) for word, count in counts.items()
        }
        self._raw = RawVocabulary(counts, self.corpus_total_words, self.corpus_count)

    def _arrays(self) -> dict[str, Array]:
        """Return the arrays of the layout that exist, by their names in a file."""
        state = self._optimiser_state or {}
        return {**tables_of(self.wv), **{STATE + name: array for name, array in state.items()}}

    def _fit_tables(self) -> None:
        """Give every table the type of the layout, and the optimiser's state a row for every word that there is.

        Words can be added to ``wv``, removed and sorted, and its tables replaced, without the model knowing.
        """
        types = {table.name: table.dtype for table in self.layout()}
        arrays = self._arrays()
        fitted = {name: np.asarray(array, types.get(name)) for name, array in arrays.items()}
        words = self.wv.index_to_key
        if self._optimiser_state is not None and words != self._state_words:
            rows = {word: row for row, word in enumerate(self._state_words)}
            old = np.array([rows.get(word, -1) for word in words], np.intp)
            logger.info(
                "the words have changed since they were trained: %i of %i have no optimiser state yet",
                np.count_nonzero(old < 0),
                len(words),
            )
            for table in self.layout():
                if table.is_state and table.per_word and table.name in arrays:
                    state = table.start(np.random.default_rng(self.seed), table.full_shape(len(words)))
                    state = state.astype(table.dtype)
                    state[old >= 0] = arrays[table.name][old[old >= 0]]
                    fitted[table.name] = state
            self._state_words = list(words)
        if any(fitted[name] is not array for name, array in arrays.items()):
            self._set_arrays(fitted)

    def _set_arrays(self, arrays: Mapping[str, Array]) -> None:
        """Replace all arrays; the optimiser's are forgotten if there are none."""
        set_tables(
            self.wv,
            {name: array for name, array in arrays.items() if not name.startswith(STATE)},
            residual=getattr(self, "residual", None),
            reading=self._reading() if self.wv.encoder is None else None,
        )
        state = {name.removeprefix(STATE): a for name, a in arrays.items() if name.startswith(STATE)}
        self._optimiser_state = state or None

    # What may happen at the same time.

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute, unless it would not fit the others."""
        if name == "wv" and self.__dict__.get("_loop") is not None:
            raise RuntimeError("wv cannot be replaced while the model is trained: do it after train()")
        if name in self.parameter_names() and "wv" in self.__dict__:
            self._change_parameter(name, value)
        else:
            super().__setattr__(name, value)

    def _change_parameter(self, name: str, value: Any) -> None:
        """Change a parameter of an existing model."""
        old, shapes = getattr(self, name), self._shapes()
        super().__setattr__(name, value)
        if getattr(self, name) == old:
            return
        try:
            self._check_together()
            if len(self.wv) and self._shapes() != shapes:
                raise ValueError(
                    f"{name}={value!r}: the tables of the model were made for {old!r}; make a new model, or set it "
                    "before the vocabulary is built"
                )
        except BaseException:
            super().__setattr__(name, old)
            raise
        if name == "sample":
            self._auto_sample = isinstance(self.sample, str)
        elif name == "window":
            self.wv.window = self.window
        if self._shapes() != shapes:
            self.wv = self._new_keyed()
            self.layer1_size = self.vector_size

    def _shapes(self) -> tuple[Any, ...]:
        """Return what the parameters say about the tables."""
        tables = tuple((table.name, table.full_shape(1)) for table in self.layout())
        return tables, getattr(self, "residual", None)

    @contextmanager
    def _alone(self, action: str) -> Iterator[None]:
        """Refuse what would change the model while it is trained, or while another thread changes it."""
        mine = (threading.current_thread(), action)
        # in one step, so that only one thread can get it
        theirs = self.__dict__.setdefault("_occupied", mine)
        if theirs is not mine:
            thread, other = theirs
            if thread is mine[0] and "train" not in (action, other):
                yield  # one step of a longer action
                return
            where = (
                "in another thread"
                if thread is not mine[0]
                else "by this very call, from one of its callbacks"
            )
            raise RuntimeError(
                f"{action}() cannot be called while {other}() is running {where}: wait until it has finished"
            )
        try:
            yield
        finally:
            del self.__dict__["_occupied"]

    @contextmanager
    def _standstill(self) -> Iterator[None]:
        """If the model is being trained, stop between two chunks with everything up to date; signals wait."""
        with signals.deferred(), self._lock:
            loop = self._loop
            if loop is not None and loop.process != os.getpid():
                raise RuntimeError(
                    "this process was forked while the model was trained, which goes on in the other one: save the "
                    "model there, and load the file here"
                )
            with nullcontext() if loop is None else loop.gate.pause():
                if loop is not None:
                    self._settle(loop)
                yield

    @contextmanager
    def _paused(self) -> Iterator[None]:
        """Pause for something that a signal may interrupt."""
        with self._standstill():
            if self._loop is not None:
                self._loop.agree()
                self._settle(self._loop)
            with signals.undeferred():
                yield

    def _settle(self, loop: Loop) -> None:
        """Bring ``wv``, the optimiser's state and the learning rate reached up to date with the backend."""
        loop.backend.synchronise()
        self.wv.norms = None
        tally = loop.run.tally
        self.min_alpha_yet_reached = min(
            self.min_alpha_yet_reached, loop.run.alpha(tally.words, tally.examples)
        )
        self._optimiser_state = loop.backend.state() or None

    def __getstate__(self) -> dict[str, Any]:
        """Copy the state of a model that is not being trained."""
        with self._standstill():
            left_out = ("_occupied", "_loop", "_lock")
            return {name: value for name, value in self.__dict__.items() if name not in left_out}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _loop=None, _lock=threading.RLock())

    def _ranks(self) -> Any:
        """Return the processes that train the model together; None if this is the only one."""
        if self.distributed is False or not launched():
            if self.distributed:
                raise RuntimeError(
                    "distributed=True, but this process was not started together with others: start the script "
                    "with torchrun, or leave distributed=None"
                )
            return None
        return connect()

    def _is_main(self) -> bool:
        """Return whether this process reports and saves: the only one, or rank 0."""
        ranks = self._ranks()
        return ranks is None or bool(ranks.is_main)

    def _on_all_ranks(self, check: Callable[[], None]) -> None:
        """Check something; an error on one rank is raised on all."""
        ranks = self._ranks()
        check() if ranks is None else ranks.together(check)

    def __str__(self) -> str:
        return (
            f"{type(self).__name__}<vocab={len(self.wv)}, vector_size={self.vector_size}, alpha={self.alpha}>"
        )

    def __repr__(self) -> str:
        known = f"{len(self.wv):,} words" if len(self.wv) else "no vocabulary yet"
        done = len(self.loss_history)
        return f"<{type(self).__name__}: {known}, vector_size={self.vector_size}, {done} of {self.epochs} epochs>"

    def _repr_html_(self) -> str:
        from densvec.files.html import facts

        loss = f"{self.loss_history[-1].loss:.4f}" if self.loss_history else None
        return facts(
            type(self).__name__,
            [
                ("words", f"{len(self.wv):,}" if len(self.wv) else "no vocabulary yet"),
                ("dimensions", self.vector_size),
                ("epochs", f"{len(self.loss_history)} of {self.epochs}"),
                ("loss", loss),
                ("words of text", f"{self.corpus_total_words:,}" if self.corpus_total_words else None),
            ],
        )

    def __getitem__(self, key: Any) -> NoReturn:
        raise TypeError(f"the words of a {type(self).__name__} are in its wv: ask model.wv[{key!r}]")

    def __contains__(self, key: object) -> NoReturn:
        raise TypeError(f"the words of a {type(self).__name__} are in its wv: ask {key!r} in model.wv")

    def __getattr__(self, name: str) -> Any:
        # Only reached for unknown names; those that older scripts use get a hint.
        if name in _RENAMED:
            use = _RENAMED[name]
        elif name in REMOVED:
            use = f"wv.{REMOVED[name]}"
        elif not name.startswith("_") and hasattr(KeyedDensities, name):
            use = f"wv.{name}"
        else:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}: use {use}")


#: Names that models had in older versions of gensim; those of their words are in `densvec.keyed.retired`.
_RENAMED = {
    "size": "vector_size",
    "iter": "epochs",
    "vocabulary": "wv.key_to_index and the model's own attributes",
    "trainables": "the model's own attributes",
    "score": "wv.infer or predict_output_word: there is no hierarchical softmax (hs=1) here",
}
