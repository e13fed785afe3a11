"""What every model is made of: its densities, its counters, its position in training, and its parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from densvec.files.lifecycle import Lifecycle
from densvec.keyed import KeyedDensities
from densvec.model.layout import STATE, Layout
from densvec.model.parameters import SharedParameters
from densvec.reading import Reading
from densvec.text.vocabulary import RawVocabulary
from densvec.training.backend import Backend
from densvec.training.loop import Loop
from densvec.training.run import EpochLoss, Run
from densvec.types import Array, Corpus, CorpusFile, TrimRule

__all__ = ["COUNTERS", "Corpus", "CorpusFile", "ModelState", "TrimRule"]


#: Counters that are saved with every model.
COUNTERS = (
    "corpus_count",
    "corpus_total_words",
    "train_count",
    "total_train_time",
    "min_alpha_yet_reached",
    "effective_min_count",
    "epochs_trained",
)


class ModelState(SharedParameters, Lifecycle):
    """The attributes of a model and what a subclass must define: its tables and its backend."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._set_parameters(values)
        self._auto_sample = values["sample"] == "auto"
        self.layer1_size = self.vector_size
        self.hashfxn: Callable[[str], int] = values.get("hashfxn", hash)
        self.wv = self._new_keyed()
        self.corpus_count = 0
        self.corpus_total_words = 0
        self.train_count = 0
        self.total_train_time = 0.0
        self.min_alpha_yet_reached = float(self.alpha)
        self.effective_min_count = self.min_count
        self.epochs_trained = 0
        self.loss_history: list[EpochLoss] = []
        self.lifecycle_events = []
        self._raw = RawVocabulary({}, 0, 0)
        self._corpus: tuple[Corpus | None, CorpusFile | None] = (None, None)
        self._run: Run | None = None
        self._loop: Loop | None = None  # while training
        self._optimiser_state: dict[str, Array] | None = None
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
        """Return by how much the model's losses exceed those of usual parameters."""
        return 1.0

    # What its parts share.

    @property
    def raw_vocab(self) -> dict[str, int]:
        """The counts of all words, rare ones included, as long as they are kept.

        The words become strings when this is first asked for.

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
        self._raw = RawVocabulary(counts, self.corpus_total_words, self.corpus_count)

    def _arrays(self) -> dict[str, Array]:
        """Return all arrays of the layout that there are, by their names in a file."""
        state = self._optimiser_state or {}
        return {**self.wv._tables(), **{STATE + name: array for name, array in state.items()}}

    def _set_arrays(self, arrays: Mapping[str, Array]) -> None:
        """Replace all arrays; the optimiser's are forgotten if there are none."""
        self.wv._set_tables(
            {name: array for name, array in arrays.items() if not name.startswith(STATE)},
            residual=getattr(self, "residual", None),
            reading=self._reading() if self.wv.encoder is None else None,
        )
        state = {name.removeprefix(STATE): a for name, a in arrays.items() if name.startswith(STATE)}
        self._optimiser_state = state or None

    def _settle(self) -> None:
        """Bring ``wv`` and the counters up to date with the backend."""
        assert self._loop is not None
        assert self._run is not None
        self._loop.backend.synchronise()
        self.wv.norms = None
        alpha = self._run.alpha(self._run.tally.words, self._run.tally.examples)
        self.min_alpha_yet_reached = min(self.min_alpha_yet_reached, alpha)

    @contextmanager
    def _paused(self) -> Iterator[None]:
        """Stand still between two chunks, everything up to date, if the model is being trained."""
        loop = self._loop
        if loop is None:
            yield
            return
        with loop.gate.pause():
            self._settle()
            self._optimiser_state = loop.backend.state()
            yield

    def __str__(self) -> str:
        return (
            f"{type(self).__name__}<vocab={len(self.wv)}, vector_size={self.vector_size}, alpha={self.alpha}>"
        )

    def __getattr__(self, name: str) -> Any:
        # Reached only for names that are not there; those that older scripts use get a hint.
        if name in _MOVED:
            raise AttributeError(
                f"{type(self).__name__} has no attribute {name!r}, as gensim since its version 4: use "
                f"{_MOVED[name]}"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


_MOVED = {
    "size": "vector_size",
    "iter": "epochs",
    "vocab": "wv.key_to_index",
    "vocabulary": "wv.key_to_index and the model's own attributes",
    "trainables": "the model's own attributes",
    "syn0": "wv.vectors",
    "syn0norm": "wv.get_normed_vectors()",
    "index2word": "wv.index_to_key",
    **{
        name: f"wv.{name}"
        for name in (
            "most_similar",
            "most_similar_cosmul",
            "similar_by_word",
            "similar_by_vector",
            "similarity",
            "n_similarity",
            "doesnt_match",
            "wmdistance",
            "evaluate_word_pairs",
            "accuracy",
        )
    },
    "accuracy": "wv.evaluate_word_analogies",
}
