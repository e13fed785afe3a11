"""The layout of a model's tables: names, shapes, how they start and grow, and how they are saved.

A model says once what its tables are. Starting and growing them, checking those of a file, the bytes that they
take, and which to copy before training in place all follow from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from densvec.files.schema import tensor

Array: TypeAlias = npt.NDArray[Any]

#: Makes an array of a shape, from which training starts.
Start: TypeAlias = Callable[[np.random.Generator, tuple[int, ...]], Array]

#: Makes the rows of new words in a table: called with its layout, a generator, how many, and the table.
Grow: TypeAlias = Callable[["TableLayout", np.random.Generator, int, Array], Array]

#: The prefix of the names of the optimiser's arrays, which those of ``wv`` do not have.
STATE = "training."


def zeros(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Start at 0."""
    return np.zeros(shape)


def constant(value: float) -> Start:
    """Start at a value."""
    return lambda rng, shape: np.full(shape, value)


def uniform(width: float) -> Start:
    """Start at random between −`width` and `width`."""
    return lambda rng, shape: rng.uniform(-width, width, shape)


def like_start(layout: TableLayout, rng: np.random.Generator, added: int, table: Array) -> Array:
    """Let new words start as all words did."""
    return layout.start(rng, (added, *layout.shape))


def average_word(noise: float) -> Grow:
    """Let new words start from the average word, up to `noise` away from it in each dimension."""

    def grow(layout: TableLayout, rng: np.random.Generator, added: int, table: Array) -> Array:
        average: Array = table.mean(0, dtype=np.float64) + rng.uniform(-noise, noise, (added, *layout.shape))
        return average

    return grow


@dataclass(frozen=True)
class TableLayout:
    """One array of a model.

    Parameters
    ----------
    name : str
        What it is called in a file: ``"means"``, ``"encoder.mean_head"``, ``"training.adam_steps"``.
    shape : tuple of int
        Its shape; that of one row, if each word has a row.
    per_word : bool
        Whether each word has a row.
    start : callable
        How it starts.
    grow : callable
        How the rows of new words start.
    dtype : type
        Type of its numbers.
    group : str, optional
        The name under which its bytes are counted; its own by default.
    """

    name: str
    shape: tuple[int, ...]
    per_word: bool = False
    start: Start = zeros
    grow: Grow = like_start
    dtype: type = np.float32
    group: str | None = None

    @property
    def is_state(self) -> bool:
        """Whether it is one of the optimiser's, which a model has only once it is trained."""
        return self.name.startswith(STATE)

    def full_shape(self, words: int) -> tuple[int, ...]:
        """Return the shape for this many words."""
        return (words, *self.shape) if self.per_word else self.shape


class Layout:
    """All arrays of a model, in the order in which their random starts are drawn.

    Examples
    --------
    >>> layout = Layout([TableLayout("means", (2,), per_word=True, start=uniform(0.5)), TableLayout("bias", (3,))])
    >>> tables = layout.start(4, np.random.default_rng(1))
    >>> tables["means"].shape, tables["bias"].shape
    ((4, 2), (3,))
    >>> layout.grown(tables, 1, np.random.default_rng(2))["means"].shape
    (5, 2)
    >>> layout.bytes(4)
    {'means': 32, 'bias': 12}
    """

    def __init__(self, tables: Iterable[TableLayout]) -> None:
        self.tables = tuple(tables)

    def __iter__(self) -> Iterator[TableLayout]:
        return iter(self.tables)

    def start(self, words: int, rng: np.random.Generator) -> dict[str, Array]:
        """Return the tables of ``wv`` as training starts from them."""
        return {
            table.name: table.start(rng, table.full_shape(words)).astype(table.dtype)
            for table in self
            if not table.is_state
        }

    def grown(self, arrays: Mapping[str, Array], added: int, rng: np.random.Generator) -> dict[str, Array]:
        """Return the arrays with rows for new words; those that are missing stay missing."""
        grown = dict(arrays)
        for table in self:
            if table.per_word and table.name in arrays:
                old = arrays[table.name]
                rows = table.grow(table, rng, added, old)
                grown[table.name] = np.concatenate([old, rows.astype(old.dtype)])
        return grown

    def check(self, tensors: Mapping[str, Array], words: int) -> None:
        """Raise ValueError unless a file's tensors have the shapes and types of this layout.

        The optimiser's are all there or none is, except for those that older files lack.
        """
        trained = any(name.startswith(STATE) for name in tensors)
        for table in self:
            if table.is_state and (not trained or (table.name in _LATER and table.name not in tensors)):
                continue
            array = tensor(tensors, table.name, np.dtype(table.dtype).kind, table.full_shape(words))
            if array.dtype != table.dtype:
                raise ValueError(
                    f"tensor {table.name} is {array.dtype}, a model's is {np.dtype(table.dtype)}"
                )
            if table.name.startswith(_SQUARES_AND_STEPS) and array.min(initial=0) < 0:
                raise ValueError(f"tensor {table.name} holds negative numbers")

    def bytes(self, words: int) -> dict[str, int]:
        """Return the bytes that the tables take while a model of this many words is trained."""
        taken: dict[str, int] = {}
        for table in self:
            group = table.group or table.name
            size = int(np.prod(table.full_shape(words), dtype=np.int64)) * np.dtype(table.dtype).itemsize
            taken[group] = taken.get(group, 0) + size
        return taken


#: Sums of squares, means of them, and the number of steps taken: never below 0.
_SQUARES_AND_STEPS = (STATE + "embedding_squares", STATE + "adam_second.", STATE + "adam_steps")

#: Older files lack these; training then starts them afresh.
_LATER = frozenset({STATE + "typical_word"})


def writable(array: Array) -> Array:
    """Return an array that can be trained in place: itself, or a copy of a mapped file's."""
    return np.require(array, requirements=["C", "W"])
