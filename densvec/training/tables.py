"""The arrays that training the Bayesian Skip-gram reads and writes, by the names that all its backends share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from densvec.types import Array

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities

__all__ = ["PER_WORD", "bayesian_state", "bayesian_tables"]

#: Tables with a row for each word; the others are the encoder's weights.
PER_WORD = ("means", "log_variances", "embeddings")


def bayesian_tables(wv: KeyedDensities) -> dict[str, Array]:
    """Return the trained arrays of ``wv`` themselves: densities, then the encoder's embeddings and weights."""
    assert wv.encoder is not None
    assert wv.log_variances is not None
    return {"means": wv.vectors, "log_variances": wv.log_variances, **wv.encoder.arrays()}


def bayesian_state(tables: dict[str, Array]) -> dict[str, Array]:
    """Return the optimiser's accumulators as they are before the first step."""
    dtype = tables["means"].dtype
    weights = {name: table for name, table in tables.items() if name not in PER_WORD}
    return {
        "embedding_squares": np.zeros(len(tables["embeddings"]), dtype),
        "typical_word": np.array([1.0, 0.0], dtype),  # stretch and log-variance; see `settings.Rates`
        "adam_steps": np.zeros(1, np.int64),
        **{f"adam_first.{name}": np.zeros_like(weight) for name, weight in weights.items()},
        **{f"adam_second.{name}": np.zeros_like(weight) for name, weight in weights.items()},
    }
