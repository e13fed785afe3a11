"""What every model is made of: its parameters, its densities, its counters and its position in training."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from densvec.files.lifecycle import Lifecycle
from densvec.keyed import KeyedDensities
from densvec.model.parameters import available_cores, check_parameters
from densvec.training.backend import Backend
from densvec.training.choice import check_backend
from densvec.training.loop import Loop
from densvec.training.run import EpochLoss, Run
from densvec.types import Array, Corpus, CorpusFile, TrimRule

__all__ = ["Corpus", "CorpusFile", "ModelState", "TrimRule"]

#: Parameters that are saved with every model, by the names of their attributes.
SHARED_PARAMETERS = (
    "vector_size",
    "alpha",
    "window",
    "min_count",
    "max_vocab_size",
    "sample",
    "seed",
    "workers",
    "min_alpha",
    "sg",
    "hs",
    "negative",
    "ns_exponent",
    "cbow_mean",
    "epochs",
    "null_word",
    "sorted_vocab",
    "batch_words",
    "compute_loss",
    "comment",
    "max_final_vocab",
    "shrink_windows",
    "backend",
    "device",
    "show_progress",
)

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


class ModelState(Lifecycle):
    """The attributes of a model and what a subclass must define: its tables and its backend."""

    #: The subclass's own parameters, saved with the shared ones.
    own_parameters: tuple[str, ...] = ()

    def __init__(
        self,
        *,
        vector_size: int,
        alpha: float,
        window: int,
        min_count: int,
        max_vocab_size: int | None,
        sample: float,
        seed: int,
        workers: int | None,
        min_alpha: float,
        sg: int,
        hs: int,
        negative: int,
        ns_exponent: float | str,
        cbow_mean: int,
        hashfxn: Callable[[str], int],
        epochs: int,
        null_word: int,
        sorted_vocab: int,
        batch_words: int,
        compute_loss: bool,
        comment: str | None,
        max_final_vocab: int | None,
        shrink_windows: bool,
        backend: str,
        device: str | None,
        show_progress: bool | None,
    ) -> None:
        given = {name: value for name, value in locals().items() if name in SHARED_PARAMETERS}
        given["workers"] = available_cores() if workers is None else workers
        check_parameters(given)
        check_backend(backend, device)
        for name, value in given.items():
            setattr(self, name, value)
        self.layer1_size = vector_size
        self.hashfxn = hashfxn
        self.wv = self._new_keyed()
        self.corpus_count = 0
        self.corpus_total_words = 0
        self.train_count = 0
        self.total_train_time = 0.0
        self.min_alpha_yet_reached = float(alpha)
        self.effective_min_count = min_count
        self.epochs_trained = 0
        self.loss_history: list[EpochLoss] = []
        self.lifecycle_events = []
        self.raw_vocab: dict[str, int] = {}
        self._corpus: tuple[Corpus | None, CorpusFile | None] = (None, None)
        self._run: Run | None = None
        self._loop: Loop | None = None  # while training
        self._optimiser_state: dict[str, Array] | None = None
        self._constructor_callbacks: tuple[Any, ...] = ()
        self._provenance: dict[str, Any] | None = None

    vector_size: int
    alpha: float
    window: int
    min_count: int
    max_vocab_size: int | None
    sample: float
    seed: int
    workers: int
    min_alpha: float
    sg: int
    hs: int
    negative: int
    ns_exponent: float | str
    cbow_mean: int
    epochs: int
    null_word: int
    sorted_vocab: int
    batch_words: int
    compute_loss: bool
    comment: str | None
    max_final_vocab: int | None
    shrink_windows: bool
    backend: str
    device: str | None
    show_progress: bool | None
    pairing: str = "shared"  # models that know no pairing draw negatives per centre

    # What a subclass defines.

    def _new_keyed(self) -> KeyedDensities:
        """Return an empty `KeyedDensities` of the model's shape."""
        raise NotImplementedError

    def _start_tables(self, words: int, rng: np.random.Generator) -> None:
        """Give ``wv`` tables of so many words, as training starts from."""
        raise NotImplementedError

    def _grow_tables(self, added: int, rng: np.random.Generator) -> None:
        """Append rows for so many new words to the tables of ``wv`` and to the optimiser's accumulators."""
        raise NotImplementedError

    def _make_backend(self) -> Backend:
        """Return what trains ``wv``."""
        raise NotImplementedError

    def _loss_scale(self) -> float:
        """Return by how much the model's losses exceed those of usual parameters."""
        return 1.0

    def _bytes_per_word(self) -> dict[str, int]:
        """Return the bytes that a word takes in each table, and in training."""
        raise NotImplementedError

    def _saved_shapes(self, words: int) -> dict[str, tuple[int, ...]]:
        """Return the shapes that a saved model's arrays must have, by their names in the file."""
        return {}

    def _fixed_bytes(self) -> dict[str, int]:
        """Return the bytes of what does not grow with the vocabulary."""
        return {}

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
