"""The arrays that training the Bayesian Skip-gram reads and writes, by the names that all its backends share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from densvec.text.thinning import log_frequencies
from densvec.training.layout import STATE, TableLayout
from densvec.training.settings import COMPANY
from densvec.types import Array

if TYPE_CHECKING:
    from densvec.tables import Tables

__all__ = ["PER_WORD", "bayesian_company", "bayesian_state", "bayesian_tables", "optimiser_layout"]

#: Tables with a row for each word; the others are the encoder's weights.
PER_WORD = ("means", "log_variances", "embeddings")


def bayesian_tables(wv: Tables) -> dict[str, Array]:
    """Return the trained arrays of ``wv`` themselves: densities, then the encoder's embeddings and weights."""
    assert wv.encoder is not None
    assert wv.log_variances is not None
    return {"means": wv.vectors, "log_variances": wv.log_variances, **wv.encoder.arrays()}


def bayesian_company(wv: Tables) -> Array:
    """Return what being in the window of each word makes coverage expect less of a word's stretch, as a share.

    It goes with the word's log-frequency in the thinned text, and is 0 on average over that; see `settings.Rates`.
    Without counts it is 0 for all words.
    """
    if "count" not in wv.expandos or not len(wv.vectors):
        return np.zeros(len(wv.vectors), dtype=wv.vectors.dtype)
    logs = log_frequencies(wv.expandos["count"], wv.expandos.get("keep"))
    # Not by BLAS: its threads would go on for a while, waiting for more to do.
    average = float((np.exp(logs) * logs).sum())
    return (COMPANY * (logs - average)).astype(wv.vectors.dtype)


def optimiser_layout(weights: Mapping[str, tuple[int, ...]]) -> list[TableLayout]:
    """Return the layout of the optimiser's accumulators, given the shapes of the encoder's weights."""
    return [
        TableLayout(STATE + "embedding_squares", (), per_word=True, group="embedding_squares"),
        TableLayout(STATE + "typical_word", (2,), start=_typical_word, group="typical_word"),
        TableLayout(STATE + "adam_steps", (1,), dtype=np.int64, group="encoder_moments"),
        *(
            TableLayout(f"{STATE}adam_{moment}.{name}", shape, group="encoder_moments")
            for moment in ("first", "second")
            for name, shape in weights.items()
        ),
    ]


def _typical_word(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Start at the stretch 1 and the log-variance 0; see `settings.Rates`."""
    return np.array([1.0, 0.0])


def bayesian_state(tables: dict[str, Array]) -> dict[str, Array]:
    """Return the optimiser's accumulators as they are before the first step."""
    words, dtype = tables["means"].shape[0], tables["means"].dtype
    shapes = {name: table.shape for name, table in tables.items() if name not in PER_WORD}
    rng = np.random.default_rng(0)  # none of them starts at random
    return {
        table.name.removeprefix(STATE): table.start(rng, table.full_shape(words)).astype(
            table.dtype if table.dtype is np.int64 else dtype
        )
        for table in optimiser_layout(shapes)
    }
