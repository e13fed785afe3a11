"""The arrays that training the Bayesian Skip-gram reads and writes: their names in all backends, and how they lie."""

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

#: Numbers of the longest vectors, which in single precision are a cache line.
LANES = 16

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


# Spherical densities are trained natively with a word's log-variance beside its mean: a row then takes as few cache
# lines as can be, no vector lies across two of them, and workers that train different words never write the same one.


def lay_side_by_side(wv: Tables) -> None:
    """Replace means and log-variances by views of one table; diagonal densities stay where they are.

    Examples
    --------
    >>> lay_side_by_side(wv)
    >>> wv.vectors.strides, wv.log_variances.strides, wv.log_variances.base is wv.vectors.base
    ((64, 4), (64, 4), True)
    >>> lay_apart(wv)
    >>> wv.vectors.flags.c_contiguous
    True
    """
    means, log_variances = wv.vectors, wv.log_variances
    if log_variances is None or log_variances.shape[1] != 1 or means.dtype != log_variances.dtype:
        return
    words, size = means.shape
    table = _aligned(words, size + 1, means.dtype)
    table[:, :size] = means
    table[:, size : size + 1] = log_variances
    wv.vectors, wv.log_variances = table[:, :size], table[:, size : size + 1]


def lay_apart(wv: Tables) -> None:
    """Make arrays of their own of means and log-variances that lie side by side."""
    if not wv.vectors.flags.c_contiguous:
        wv.vectors = np.ascontiguousarray(wv.vectors)
    if wv.log_variances is not None and not wv.log_variances.flags.c_contiguous:
        wv.log_variances = np.ascontiguousarray(wv.log_variances)


def _aligned(rows: int, columns: int, dtype: np.dtype) -> Array:
    """Return a table of zeros whose rows begin at cache lines, and go on for whole ones."""
    columns = -(-columns // LANES) * LANES
    memory = np.zeros(rows * columns + LANES, dtype)
    begin = -(memory.ctypes.data // dtype.itemsize) % LANES
    return memory[begin : begin + rows * columns].reshape(rows, columns)
