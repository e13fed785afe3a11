"""The tables of KeyedDensities: keys, means, log-variances, encoder and per-word attributes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from densvec.encoder import Encoder
from densvec.gaussian import Gaussian

Floats = npt.NDArray[np.floating[Any]]
Key: TypeAlias = str | int | np.integer[Any]
KEY_TYPES = (str, int, np.integer)

COVARIANCES = ("spherical", "diagonal")


class Storage:
    """Keys, their rows in the tables, and per-key attributes."""

    vector_size: int
    window: int
    encoder: Encoder | None
    index_to_key: list[str]
    key_to_index: dict[str, int]
    expandos: dict[str, npt.NDArray[Any]]

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
        if covariance is not None and covariance not in COVARIANCES:
            raise ValueError(f"covariance={covariance!r} is unknown: use 'spherical', 'diagonal' or None (means only)")
        self.vector_size = vector_size
        self.index_to_key = [None] * count  # type: ignore[list-item]  # slots that add_vector fills, as in gensim
        self.key_to_index = {}
        self.next_index = 0
        self.expandos = {}
        self.mapfile_path = mapfile_path
        self.window = window
        self.encoder = encoder
        self.vectors = np.zeros((count, vector_size), dtype=dtype)
        width = {None: None, "spherical": 1, "diagonal": vector_size}[covariance]
        self.log_variances = None if width is None else np.zeros((count, width), dtype=dtype)

    # Tables. Assigning one forgets what was derived from it; whoever writes into one calls fill_norms(force=True).

    @property
    def vectors(self) -> Floats:
        """The means, one row per key: gensim's name for them."""
        return self._vectors

    @vectors.setter
    def vectors(self, vectors: Floats) -> None:
        self._vectors = vectors
        self._forget_derived()

    @property
    def means(self) -> Floats:
        """The prior means, one row per key: the same array as `vectors`."""
        return self._vectors

    @means.setter
    def means(self, means: Floats) -> None:
        self.vectors = means

    @property
    def log_variances(self) -> Floats | None:
        """Logarithms of the prior variances, (V, 1) or (V, D); None when only means are known."""
        return self._log_variances

    @log_variances.setter
    def log_variances(self, log_variances: Floats | None) -> None:
        self._log_variances = log_variances
        self._forget_derived()

    @property
    def norms(self) -> Floats | None:
        """Length of every mean, or None until `fill_norms`; setting None forgets everything derived from the tables."""
        return self._norms

    @norms.setter
    def norms(self, norms: Floats | None) -> None:
        self._forget_derived()
        self._norms = norms

    def _forget_derived(self) -> None:
        """Drop what is computed from the tables: norms and the terms of the divergences."""
        self._norms: Floats | None = None

    def fill_norms(self, force: bool = False) -> None:
        """Compute the norms of the means, if they are not known yet or with `force`.

        Call it with ``force=True`` after writing into `vectors` or `log_variances`.
        """
        if force:
            self._forget_derived()
        if self._norms is None:
            self._norms = np.linalg.norm(self.vectors, axis=1)

    # Keys

    def __len__(self) -> int:
        return len(self.index_to_key)

    def __contains__(self, key: object) -> bool:
        return self.has_index_for(key)

    def has_index_for(self, key: Any) -> bool:
        """Return whether `key` is here: a word of the vocabulary, or the number of a row."""
        return self.get_index(key, -1) >= 0

    def get_index(self, key: Any, default: int | None = None) -> int:
        """Return the row of `key`; `default` for an unknown key, or KeyError if there is none."""
        index = self.key_to_index.get(key, -1)
        if index >= 0:
            return index
        if isinstance(key, (int, np.integer)) and 0 <= key < len(self.index_to_key):
            return key  # type: ignore[return-value]  # a row number stands for itself, whatever integer type it has
        if default is not None:
            return default
        raise KeyError(f"Key '{key}' not present")

    # Lookup

    def __getitem__(self, key_or_keys: Any) -> Floats:
        if isinstance(key_or_keys, KEY_TYPES):
            return self.get_vector(key_or_keys)
        rows = [self.get_index(key) for key in key_or_keys]
        if not rows:
            raise ValueError("no keys given: name at least one")
        return self.vectors[rows]

    def get_vector(self, key: Any, norm: bool = False) -> Floats:
        """Return the mean of `key`, read-only; with `norm`, scaled to unit length."""
        index = self.get_index(key)
        if norm:
            self.fill_norms()
            assert self.norms is not None
            vector = self.vectors[index] / self.norms[index]
        else:
            vector = self.vectors[index].view()
        vector.setflags(write=False)
        return vector

    # Attributes

    def allocate_vecattrs(self, attrs: Sequence[str] | None = None, types: Sequence[Any] | None = None) -> None:
        """Make room for the named attributes (or all that exist), one entry per key."""
        if attrs is None:
            attrs, types = list(self.expandos), [array.dtype for array in self.expandos.values()]
        assert types is not None
        for attr, kind in zip(attrs, types, strict=True):
            kind = _attribute_type(kind)
            existing = self.expandos.get(attr)
            if existing is None:
                self.expandos[attr] = np.zeros(len(self), dtype=kind)
                continue
            if not np.issubdtype(kind, existing.dtype):
                raise TypeError(f"attribute {attr!r} has type {existing.dtype}: it cannot hold a value of type {np.dtype(kind)}")
            if len(existing) < len(self):
                grown = np.zeros(len(self), dtype=existing.dtype)
                grown[: len(existing)] = existing
                self.expandos[attr] = grown

    def set_vecattr(self, key: Any, attr: str, val: Any) -> None:
        """Set the attribute `attr` of `key`."""
        self.allocate_vecattrs(attrs=[attr], types=[type(val)])
        self.expandos[attr][self.get_index(key)] = val

    def get_vecattr(self, key: Any, attr: str) -> Any:
        """Return the attribute `attr` of `key`."""
        index = self.get_index(key)
        return self.expandos[attr][index]

    # Growth

    def resize_vectors(self, seed: int = 0) -> None:
        """Give every key of `index_to_key` its rows: new means are drawn from U(±1/D), new log-variances are 0."""
        missing = len(self.index_to_key) - len(self.vectors)
        if missing <= 0:
            self.vectors = self.vectors[: len(self.index_to_key)]
            if self.log_variances is not None:
                self.log_variances = self.log_variances[: len(self.index_to_key)]
            return
        rng = np.random.default_rng(seed)
        fresh = (rng.random((missing, self.vector_size)) * 2.0 - 1.0) / self.vector_size
        self._append_rows(fresh.astype(self.vectors.dtype), None)

    def _append_rows(self, means: Floats, log_variances: Floats | None) -> None:
        """Append rows to every table; unknown log-variances are 0, unknown embeddings of the encoder too."""
        self.vectors = np.concatenate([self.vectors, means.astype(self.vectors.dtype, copy=False)])
        if self.log_variances is not None:
            if log_variances is None:
                log_variances = np.zeros((len(means), self.log_variances.shape[1]))
            self.log_variances = np.concatenate([self.log_variances, log_variances.astype(self.log_variances.dtype, copy=False)])
        if self.encoder is not None:
            embeddings = self.encoder.embeddings
            zeros = np.zeros((len(means), embeddings.shape[1]), dtype=embeddings.dtype)
            self.encoder.embeddings = np.concatenate([embeddings, zeros])

    def add_vectors(
        self,
        keys: Any,
        weights: npt.ArrayLike,
        extras: Mapping[str, Any] | Iterable[tuple[str, Any]] | None = None,
        replace: bool = False,
        *,
        log_variances: npt.ArrayLike | None = None,
    ) -> None:
        """Append keys and their means; a key that is already here keeps its old rows unless `replace`."""
        if isinstance(keys, KEY_TYPES):
            keys, weights = [keys], np.asarray(weights).reshape(1, -1)
        keys, means = list(keys), np.asarray(weights)
        if means.shape != (len(keys), self.vector_size):
            raise ValueError(f"{len(keys)} keys need vectors of shape {(len(keys), self.vector_size)}: got {means.shape}")
        lv = None
        if log_variances is not None:
            if self.log_variances is None:
                raise ValueError("log_variances given, but this object has means only: create it with covariance=")
            lv = np.asarray(log_variances).reshape(len(keys), self.log_variances.shape[1])

        old_rows, old, new, fresh = [], [], [], {}
        for i, key in enumerate(keys):
            if key in self.key_to_index:
                old_rows.append(self.key_to_index[key])
                old.append(i)
            elif key not in fresh or replace:
                fresh[key] = i
        new = list(fresh.values())
        for key in fresh:
            self.key_to_index[key] = len(self.index_to_key)
            self.index_to_key.append(key)
        self._append_rows(means[new], None if lv is None else lv[new])
        attributes = dict(extras or {})
        self.allocate_vecattrs()
        self.allocate_vecattrs(list(attributes), [np.asarray(v).dtype for v in attributes.values()])
        for attr, values in attributes.items():
            self.expandos[attr][[self.key_to_index[keys[i]] for i in new]] = np.asarray(values)[new]
        if replace:
            self.vectors[old_rows] = means[old]
            if lv is not None and self.log_variances is not None:
                self.log_variances[old_rows] = lv[old]
            for attr, values in attributes.items():
                self.expandos[attr][old_rows] = np.asarray(values)[old]
        self._forget_derived()

    def add_vector(self, key: Any, vector: npt.ArrayLike) -> int:
        """Add one key, into a free slot if there is one, and return its row."""
        raise NotImplementedError

    def __setitem__(self, keys: Any, weights: npt.ArrayLike) -> None:
        self.add_vectors(keys, weights, replace=True)

    # Densities

    def density(self, key_or_keys: Any) -> Gaussian:
        """Return the prior density of a key, or a batch of those of a list of keys."""
        if self.log_variances is None:
            raise ValueError("these are means without variances")
        single = isinstance(key_or_keys, KEY_TYPES)
        rows: Any = self.get_index(key_or_keys) if single else [self.get_index(key) for key in key_or_keys]
        return Gaussian(self.vectors[rows], np.exp(self.log_variances[rows]))


def _attribute_type(kind: Any) -> Any:
    """Return the NumPy type that stores a Python type; what is no number is kept as an object."""
    if kind is int:
        return np.int64
    if kind in (float, np.float64):
        return np.float64
    if np.issubdtype(kind, np.number):
        return kind
    return object
