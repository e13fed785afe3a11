"""Words and their tables: the data of a model, without the questions."""

from __future__ import annotations

import functools
import logging
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from densvec._corpus import MAX_WINDOW
from densvec._version import __version__
from densvec.checks import check_covariance, check_whole, refuse_bytes
from densvec.distances.table import row_blocks
from densvec.encoder import Encoder
from densvec.files.compact import CompactRows, Rows
from densvec.reading import Reading
from densvec.text.spelling import UnknownKeyError
from densvec.text.text_reading import TextReading
from densvec.types import Array, Floats, Integers

if TYPE_CHECKING:
    from typing_extensions import Self

    from densvec.files.fasttext import NGrams
    from densvec.questions.beside import Beside
    from densvec.questions.kinds import Kinds

logger = logging.getLogger(__name__)

ENCODER = "encoder."
"""The prefix of the names of the encoder's arrays, among those of all tables."""


_LOCKED = frozenset(
    {
        "_vectors",
        "_log_variances",
        "encoder",
        "context_vectors",
        "index_to_key",
        "key_to_index",
        "vector_size",
    }
)
"""What must stay the same object while a model is trained."""


class Lifecycle:
    """Keeps a log of the events in a model's life, which is saved with it."""

    lifecycle_events: list[dict[str, Any]] | None

    def add_lifecycle_event(
        self, event_name: str, log_level: int | None = logging.INFO, **event: Any
    ) -> None:
        """Append an event to ``lifecycle_events`` and log it.

        Set ``lifecycle_events = None`` to keep no record.

        Parameters
        ----------
        event_name : str
            What happened, in one word.
        log_level : int or None
            The level to log it at; None or False: do not log.
        **event
            Anything to remember about it that JSON can hold; the date and the versions are added.

        Examples
        --------
        >>> from densvec import BayesianSkipGram
        >>> model = BayesianSkipGram()
        >>> model.add_lifecycle_event("reviewed", reviewer="Ada")
        >>> model.lifecycle_events[-1]["reviewer"]
        'Ada'
        """
        event = {
            **event,
            "datetime": datetime.now().isoformat(),
            "densvec": __version__,
            "python": sys.version,
            "platform": platform.platform(),
            "event": event_name,
        }
        if self.lifecycle_events is not None:
            self.lifecycle_events.append(event)
        if log_level:
            logger.log(log_level, "%s lifecycle event %s", type(self).__name__, event)


class Tables(Lifecycle):
    """Words, a row for each of them in every table, and their attributes.

    This is what models train, files hold and search engines index; `densvec.KeyedDensities` is the same with
    everything that can be asked, and describes parameters and attributes.
    """

    index_to_key: list[str]
    key_to_index: dict[str, int]
    vector_size: int
    expandos: dict[str, Array]
    encoder: Encoder | None
    context_vectors: Floats | None
    window: int
    beside: Beside | None
    kinds: Kinds | None
    ngrams: NGrams | None
    card: str | None
    text_reading: TextReading | None
    _vectors: Rows
    _log_variances: Rows | None
    _derived: dict[tuple[Any, ...], Any]  # what has been computed from the tables

    def __init__(
        self,
        vector_size: int,
        count: int = 0,
        dtype: npt.DTypeLike = np.float32,
        mapfile_path: str | None = None,
        *,
        covariance: str | None = None,
        encoder: Encoder | None = None,
        window: int = 5,
    ) -> None:
        check_covariance(covariance, optional=True)
        width = {"spherical": 1, "diagonal": vector_size}.get(str(covariance))
        self.vector_size = vector_size
        self.index_to_key = [None] * count  # type: ignore[list-item]  # free slots, which add_vector fills
        self.key_to_index = {}
        self.next_index = 0
        self.expandos = {}
        self.mapfile_path = mapfile_path
        self.lifecycle_events: list[dict[str, Any]] | None = []
        self.encoder = encoder
        self.window = check_whole("window", window, 1, MAX_WINDOW)
        self.context_vectors = None
        self.beside = None
        self.kinds = None
        self.ngrams = None
        self.card = None
        self.text_reading = None
        self.vectors = np.zeros((count, vector_size), dtype=dtype)
        self.log_variances = None if width is None else np.zeros((count, width), dtype=dtype)

    @classmethod
    def from_arrays(
        cls,
        keys: Sequence[str],
        means: Rows,
        *,
        log_variances: Rows | None = None,
        encoder: Encoder | None = None,
        context_vectors: Floats | None = None,
        attributes: Mapping[str, Array] | None = None,
        window: int = 5,
        index: dict[str, int] | None = None,
    ) -> Self:
        """Return an object made of the given arrays, which are used as they are, not copied.

        Parameters
        ----------
        keys : sequence of str
            The words, one for each row.
        means : numpy.ndarray, shape (V, D)
            Their means.
        log_variances : numpy.ndarray, shape (V, 1) or (V, D), optional
            Their log-variances; without them only means are known.
        encoder : Encoder, optional
            The network that infers posteriors, with V embeddings.
        context_vectors : numpy.ndarray, shape (V, D), optional
            What stands for a word when it is the context of another.
        attributes : mapping of str to numpy.ndarray, optional
            Attributes of the words, such as ``"count"``. Without any, counts reflect the order of the rows.
        window : int, optional
            How many tokens on each side are a word's context in a sentence.
        index : dict, optional
            The row of each word, if it is known already.

        Examples
        --------
        >>> means = np.array([[2.0, 1.0], [1.0, 2.0]])
        >>> type(wv).from_arrays(["dog", "cat"], means, log_variances=np.zeros((2, 1)))
        KeyedDensities<vector_size=2, 2 keys, spherical>
        """
        if means.ndim != 2:
            raise ValueError(f"means have shape {means.shape}: they must be (words, dimensions)")
        count, size = means.shape
        made = cls(size, dtype=means.dtype, encoder=encoder, window=window)
        set_keys(made, list(keys), index)
        tables = {"means": means, "log_variances": log_variances, "context_vectors": context_vectors}
        for name, table in tables.items():
            if table is None:
                continue
            if table.ndim != 2 or len(table) != len(made):
                raise ValueError(f"{name} has shape {table.shape}: {len(made)} words need a row each")
            if table.shape[1] not in ((1, size) if name == "log_variances" else (size,)):
                wanted = "1 or " * (name == "log_variances") + str(size)
                raise ValueError(f"{name} has {table.shape[1]} columns, not {wanted}")
        if encoder is not None and (len(encoder.embeddings), encoder.dimension) != (count, size):
            raise ValueError(
                f"the encoder has {len(encoder.embeddings)} words and {encoder.dimension} dimensions, but the "
                f"means have {count} and {size}"
            )
        made.vectors, made.log_variances, made.context_vectors = means, log_variances, context_vectors
        given = {"count": np.arange(count, 0, -1, dtype=np.int64)} if attributes is None else dict(attributes)
        for name, values in given.items():
            if len(values) != count:
                raise ValueError(f"attribute {name!r} has {len(values)} values for {count} words")
        made.expandos = given
        return made

    # Keys

    def __len__(self) -> int:
        return len(self.index_to_key)

    def __contains__(self, key: object) -> bool:
        return self.has_index_for(key)

    def has_index_for(self, key: Any) -> bool:
        """Return whether `key`, a word or the number of a row, is known.

        Examples
        --------
        >>> wv.has_index_for("dog"), wv.has_index_for("unicorn"), "dog" in wv
        (True, False, True)
        """
        return self.get_index(key, -1) >= 0

    def get_index(self, key: Any, default: int | None = None) -> int:
        """Return the row of `key`.

        Parameters
        ----------
        key : str or int
            A word, or the number of a row.
        default : int, optional
            What to return for an unknown key, instead of raising a KeyError.

        Examples
        --------
        >>> wv.get_index("dog"), wv.get_index("unicorn", -1)
        (1, -1)
        """
        index = self.key_to_index.get(key, -1)
        if index >= 0:
            return index
        if isinstance(key, bool):
            raise TypeError(f"{key} is neither a word nor the number of a row; {str(key)!r} would be a word")
        if isinstance(key, (int, np.integer)) and 0 <= key < len(self.index_to_key):
            return key  # type: ignore[return-value]  # a row number stands for itself
        if default is not None:
            return default
        refuse_bytes(key)
        raise UnknownKeyError(key, self.key_to_index)

    # Training works directly on the tables of ``wv``. Replacing them, or the keys, would leave it training arrays
    # that nobody sees; reading them, or writing into them, does no harm.

    _provenance: dict[str, Any] | None = None  # when and by what this was first saved
    _in_training: int = 0  # the id of the object while it is trained: a copy of it is free

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _LOCKED and self._in_training == id(self):
            raise RuntimeError(
                "words and tables cannot be added, removed or replaced while the model is trained: do it before "
                "train() or after it, or change a copy (copy.deepcopy(wv))"
            )
        super().__setattr__(name, value)

    # Assigning a table forgets what was derived from it; whoever writes into one calls fill_norms(force=True). A
    # compact one is expanded when it is first asked for; only the encoder's stays as it is.

    @property
    def vectors(self) -> Floats:
        """The means, one row per key, under gensim's name.

        Examples
        --------
        >>> wv.vectors is wv.means
        True
        """
        if isinstance(self._vectors, CompactRows):
            self._vectors = self._vectors[:]
        return self._vectors

    @vectors.setter
    def vectors(self, vectors: Rows) -> None:
        self._vectors = vectors
        forget_derived(self)

    @property
    def means(self) -> Floats:
        """The prior means, one row per key.

        Examples
        --------
        >>> wv.means[wv.get_index("dog")]
        array([2., 1.], dtype=float32)
        """
        return self.vectors

    @means.setter
    def means(self, means: Floats) -> None:
        self.vectors = means

    @property
    def log_variances(self) -> Floats | None:
        """Logarithms of the prior variances, (V, 1) or (V, D); None when only means are known.

        Examples
        --------
        >>> wv.log_variances.shape
        (4, 1)
        """
        if isinstance(self._log_variances, CompactRows):
            self._log_variances = self._log_variances[:]
        return self._log_variances

    @log_variances.setter
    def log_variances(self, log_variances: Rows | None) -> None:
        self._log_variances = log_variances
        forget_derived(self)

    @property
    def covariance(self) -> str | None:
        """``"spherical"`` or ``"diagonal"``; None when only means are known.

        Examples
        --------
        >>> wv.covariance
        'spherical'
        """
        if self.log_variances is None:
            return None
        return "spherical" if self.log_variances.shape[1] == 1 else "diagonal"

    @property
    def norms(self) -> Floats | None:
        """Length of every mean; None until it is first needed.

        Setting None forgets everything that was derived from the tables.

        Examples
        --------
        >>> wv.fill_norms()
        >>> wv.norms.round(2)
        array([1.41, 2.24, 2.24, 3.  ], dtype=float32)
        """
        norms: Floats | None = self._derived.get(("filled_norms",))
        return norms

    @norms.setter
    def norms(self, norms: Floats | None) -> None:
        self._derived = {} if norms is None else {("filled_norms",): norms}


# Operations for the package's own use are functions, not methods that users would see.


F = TypeVar("F", bound=Callable[..., Any])


def derived(compute: F) -> F:
    """Cache the result of a function of the tables until they change."""

    @functools.wraps(compute)
    def known(wv: Tables, *arguments: Any) -> Any:
        cache, key = wv._derived, (compute.__name__, *arguments)  # another thread may replace the cache
        if key not in cache:
            cache[key] = compute(wv, *arguments)
        return cache[key]

    return cast("F", known)


@derived
def filled_norms(wv: Tables) -> Floats:
    """Return the length of every mean."""
    norms = np.empty(len(wv.vectors), dtype=np.float64)
    for rows in row_blocks(0, len(norms), wv.vector_size):
        block = wv.vectors[rows].astype(np.float64)
        norms[rows] = np.sqrt(np.einsum("ij,ij->i", block, block))
    return norms.astype(wv.vectors.dtype)


def lock(wv: Tables, locked: bool) -> None:
    """Forbid, or allow again, that keys and tables are replaced."""
    wv._in_training = id(wv) if locked else 0


def set_keys(wv: Tables, keys: Sequence[str], index: dict[str, int] | None = None) -> None:
    """Set the keys, one for each row of the tables."""
    wv.index_to_key = keys if isinstance(keys, list) else list(keys)
    wv.key_to_index = {key: i for i, key in enumerate(wv.index_to_key)} if index is None else index
    if len(wv.key_to_index) != len(wv.index_to_key):
        repeated = next(key for i, key in enumerate(keys) if wv.key_to_index[key] != i)
        raise ValueError(f"the key {repeated!r} occurs more than once")
    wv.next_index = len(wv.index_to_key)


def tables_of(wv: Tables) -> dict[str, Array]:
    """Return all tables, by the names that they have in a file."""
    tables: dict[str, npt.NDArray[Any] | None] = {
        "means": wv.vectors,
        "log_variances": wv.log_variances,
        "context_vectors": wv.context_vectors,
    }
    if wv.encoder is not None:
        tables |= {ENCODER + name: array for name, array in wv.encoder.arrays().items()}
    return {name: table for name, table in tables.items() if table is not None}


def set_tables(
    wv: Tables,
    tables: Mapping[str, Array],
    residual: bool | None = None,
    reading: Reading | None = None,
) -> None:
    """Replace all tables, given by name.

    `residual` says how a new encoder's output is meant, `reading` how it reads; by default as the one before.
    """
    wv.vectors = tables["means"]
    wv.log_variances = tables.get("log_variances")
    wv.context_vectors = tables.get("context_vectors")
    weights: dict[str, Any] = {
        name.removeprefix(ENCODER): table for name, table in tables.items() if name.startswith(ENCODER)
    }
    if residual is None:
        residual = wv.encoder is not None and wv.encoder.residual
    if reading is None:
        reading = Reading(wv.window) if wv.encoder is None else wv.encoder.reading
    wv.encoder = Encoder(**weights, residual=residual, reading=reading) if weights else None


def forget_derived(wv: Tables) -> None:
    """Drop cached results."""
    wv._derived = {}


def append_rows(wv: Tables, means: Floats, log_variances: Floats | None) -> None:
    """Append rows to every table; log-variances that are not given, and rows for words as contexts, are 0."""
    count = len(means)
    if not count:
        return
    wv.vectors = np.concatenate([wv.vectors, means.astype(wv.vectors.dtype, copy=False)])
    if wv.log_variances is not None:
        if log_variances is None:
            log_variances = np.zeros((count, wv.log_variances.shape[1]))
        added = log_variances.astype(wv.log_variances.dtype, copy=False)
        wv.log_variances = np.concatenate([wv.log_variances, added])
    if wv.encoder is not None:
        wv.encoder = wv.encoder.with_rows_appended(count)
    if wv.context_vectors is not None:
        wv.context_vectors = np.pad(wv.context_vectors, ((0, count), (0, 0)))
    if wv.beside is not None:
        wv.beside = wv.beside.with_rows_appended(count)


def take_rows(wv: Tables, rows: Integers) -> None:
    """Keep the given rows of every table, in that order."""
    wv.vectors = wv.vectors[rows]
    if wv.log_variances is not None:
        wv.log_variances = wv.log_variances[rows]
    if wv.encoder is not None:
        wv.encoder = wv.encoder.with_rows(rows)
    if wv.context_vectors is not None:
        wv.context_vectors = wv.context_vectors[rows]
    if wv.beside is not None:
        wv.beside = wv.beside.with_rows(rows)
    if wv.kinds is not None:
        wv.kinds = wv.kinds.with_rows(rows)
