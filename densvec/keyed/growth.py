"""How KeyedDensities grows: per-key attributes, new keys, and the order of the rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from densvec.checks import KEY_TYPES
from densvec.questions.lookup import rows_among, vector_from_ngrams
from densvec.tables import append_rows, forget_derived, set_keys, take_rows
from densvec.types import Among, Floats, Indices

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities

    K = TypeVar("K", bound=KeyedDensities)

# Attributes


def allocate_vecattrs(
    wv: KeyedDensities, attrs: Sequence[str] | None = None, types: Sequence[Any] | None = None
) -> None:
    """Make room for per-key attributes, one entry for each key; new entries are 0.

    Parameters
    ----------
    attrs : sequence of str, optional
        Names; all existing attributes if not given.
    types : sequence of type, optional
        Type of each. An attribute that exists with a type that cannot hold it is a TypeError.

    Examples
    --------
    >>> animals = wv.vectors_for_all(["dog", "cat"])
    >>> animals.allocate_vecattrs(["legs"], [int])
    >>> animals.expandos["legs"]
    array([0, 0])
    """
    if attrs is None:
        attrs, types = list(wv.expandos), [array.dtype for array in wv.expandos.values()]
    for attr, asked in zip(attrs, types or [], strict=True):
        kind, existing = _check_attribute(wv, attr, asked), wv.expandos.get(attr)
        if existing is None or len(existing) != len(wv):
            old = np.zeros(0, dtype=kind) if existing is None else existing[: len(wv)]
            wv.expandos[attr] = np.concatenate([old, np.zeros(len(wv) - len(old), dtype=old.dtype)])


def _check_attribute(wv: KeyedDensities, attr: str, asked: Any) -> np.dtype[Any]:
    """Return the type that values of this type are stored as; TypeError if the attribute cannot hold them."""
    kind: np.dtype[Any] = _storage_type(asked)
    existing = wv.expandos.get(attr)
    if existing is not None and not np.issubdtype(kind, existing.dtype):
        raise TypeError(f"attribute {attr!r} holds {existing.dtype}: a value of type {kind} does not fit")
    return kind


def set_vecattr(wv: KeyedDensities, key: Any, attr: str, val: Any) -> None:
    """Set an attribute of a key; the first value given to any key decides the attribute's type.

    Examples
    --------
    >>> animals = wv.vectors_for_all(["dog", "cat"])
    >>> animals.set_vecattr("dog", "sound", "woof")
    >>> animals.get_vecattr("dog", "sound")
    'woof'
    """
    wv.allocate_vecattrs(attrs=[attr], types=[type(val)])
    wv.expandos[attr][wv.get_index(key)] = val
    if attr in ("count", "keep"):
        forget_derived(wv)


def get_vecattr(wv: KeyedDensities, key: Any, attr: str) -> Any:
    """Return an attribute of a key; an unknown key or attribute is a KeyError.

    Examples
    --------
    >>> int(wv.get_vecattr("dog", "count"))
    300
    """
    index = wv.get_index(key)
    return wv.expandos[attr][index]


# Growth and order


def resize_vectors(wv: KeyedDensities, seed: int = 0) -> None:
    """Give every key of `index_to_key` its row in every table.

    New means are drawn from U(±1/D), new log-variances and new embeddings of the encoder are 0.

    Examples
    --------
    >>> animals = wv.vectors_for_all(["dog", "cat"])
    >>> animals.index_to_key.append("unicorn")
    >>> animals.key_to_index["unicorn"] = 2
    >>> animals.resize_vectors(seed=1)
    >>> animals.vectors.shape
    (3, 2)
    """
    missing = len(wv.index_to_key) - len(wv.vectors)
    if missing < 0:
        take_rows(wv, np.arange(len(wv.index_to_key)))
    elif missing:
        means = np.random.default_rng(seed).random((missing, wv.vector_size))
        append_rows(wv, (means * 2.0 - 1.0) / wv.vector_size, None)
    wv.allocate_vecattrs()


def add_vector(wv: KeyedDensities, key: Any, vector: npt.ArrayLike) -> int:
    """Add one key and its mean, in a free slot if `count` left one, and return its row.

    A key that is already here keeps its mean. Its log-variance is 0; :meth:`add_vectors` takes others.

    Examples
    --------
    >>> animals = type(wv)(2, count=1)
    >>> animals.add_vector("dog", [2.0, 1.0])
    0
    """
    if key in wv.key_to_index:
        return wv.key_to_index[key]
    row = wv.next_index
    if row < len(wv) and wv.index_to_key[row] is None:
        wv.vectors[row] = vector
        wv.index_to_key[row] = key
        wv.key_to_index[key] = row
        forget_derived(wv)
    else:
        warnings.warn(
            "adding keys one by one copies all tables each time: use add_vectors, or make room with count=",
            UserWarning,
            stacklevel=2,
        )
        wv.add_vectors([key], np.asarray(vector)[None])
        row = wv.key_to_index[key]
    wv.next_index = row + 1
    return row


def add_vectors(
    wv: KeyedDensities,
    keys: Any,
    weights: npt.ArrayLike,
    extras: Mapping[str, Any] | Iterable[tuple[str, Any]] | None = None,
    replace: bool = False,
    *,
    log_variances: npt.ArrayLike | None = None,
) -> None:
    """Append keys and their means.

    Parameters
    ----------
    keys : str, int or list of them
        The keys.
    weights : array_like, shape (n, D)
        Their means.
    extras : mapping of str to array_like, optional
        Attributes of the keys, one value for each.
    replace : bool, optional
        Whether keys that are already here take the new means; otherwise they keep theirs.
    log_variances : array_like, shape (n, 1) or (n, D), optional
        Their log-variances; 0 if not given. The encoder knows nothing of keys added by hand: their
        embeddings are 0.

    Examples
    --------
    >>> animals = wv.vectors_for_all(["dog", "cat"])
    >>> animals.add_vectors(["wolf", "puma"], [[2.5, 0.5], [0.5, 2.5]], log_variances=[[0.1], [0.2]])
    >>> animals.index_to_key
    ['dog', 'cat', 'wolf', 'puma']
    """
    if isinstance(keys, KEY_TYPES):
        keys, weights = [keys], np.asarray(weights)[None]
    keys = list(keys)
    # Everything is checked before anything changes.
    means = _rows_for(keys, weights, wv.vector_size, "vectors")
    spreads = _spreads_for(wv, keys, log_variances)
    attributes = {attr: np.asarray(values) for attr, values in dict(extras or {}).items()}
    for attr, values in attributes.items():
        if len(values) != len(keys):
            raise ValueError(f"{len(keys)} keys need as many values of {attr!r}: got {len(values)}")
        _check_attribute(wv, attr, values.dtype)

    fresh: dict[Any, int] = {}  # new key -> the given row that belongs to it
    known = [i for i, key in enumerate(keys) if key in wv.key_to_index]
    for i, key in enumerate(keys):
        if key not in wv.key_to_index and (replace or key not in fresh):
            fresh[key] = i
    new = list(fresh.values())
    append_rows(wv, means[new], None if spreads is None else spreads[new])
    for key in fresh:
        wv.key_to_index[key] = len(wv.index_to_key)
        wv.index_to_key.append(key)
    wv.allocate_vecattrs()
    wv.allocate_vecattrs(list(attributes), [values.dtype for values in attributes.values()])

    given = new + known if replace else new
    rows = [wv.key_to_index[keys[i]] for i in given]
    wv.vectors[rows] = means[given]
    if spreads is not None and wv.log_variances is not None:
        wv.log_variances[rows] = spreads[given]
    for attr, values in attributes.items():
        wv.expandos[attr][rows] = values[given]
    forget_derived(wv)


def unlearn(wv: KeyedDensities, word: Any) -> None:
    """Remove a word that was learnt, or added by hand.

    One that was trained is a ValueError, since a model needs its words: :meth:`restrict` makes a new object without it.

    Examples
    --------
    >>> small = wv.vectors_for_all(["animal", "dog", "cat", "car"])
    >>> _ = small.learn("wug", "the wug chased a dog")
    >>> small.unlearn("wug")
    >>> "wug" in small
    False
    """
    row = wv.get_index(word)
    if "count" in wv.expandos and wv.expandos["count"][row] > 0:
        raise ValueError(f"{word!r} was not learnt but trained: restrict(words) makes an object without it")
    _keep(wv, np.delete(np.arange(len(wv)), row))


def sort_by_descending_frequency(wv: KeyedDensities) -> None:
    """Give the most frequent keys the first rows, by the attribute ``"count"``, without which it is a KeyError.

    Examples
    --------
    >>> animals = wv.vectors_for_all(["cat", "dog"], copy_vecattrs=True)
    >>> animals.sort_by_descending_frequency()
    >>> animals.index_to_key
    ['dog', 'cat']
    """
    if not len(wv):
        return
    _keep(wv, np.argsort(wv.expandos["count"])[::-1])


def _keep(wv: KeyedDensities, rows: Indices) -> None:
    """Keep the words of the given rows, in that order."""
    set_keys(wv, [wv.index_to_key[i] for i in rows])
    wv.expandos = {attr: values[rows] for attr, values in wv.expandos.items()}
    take_rows(wv, rows)


def vectors_for_all(
    wv: K, keys: Iterable[Any], allow_inference: bool = True, copy_vecattrs: bool = False
) -> K:
    """Return a new object with the given keys only.

    Parameters
    ----------
    keys : iterable of str
        The keys to keep; unknown and repeated ones are left out.
    allow_inference : bool, optional
        Whether unknown words of a fastText model are added, with vectors of their n-grams.
    copy_vecattrs : bool, optional
        Whether to copy the attributes; otherwise the counts only reflect the order of the keys.

    Examples
    --------
    >>> wv.vectors_for_all(["dog", "unicorn", "cat"]).index_to_key
    ['dog', 'cat']
    """
    keys = list(dict.fromkeys(keys))
    words = [key for key in keys if key in wv.key_to_index]
    rows = np.array([wv.key_to_index[word] for word in words], dtype=np.intp)
    made = type(wv).from_arrays(
        words,
        wv.vectors[rows],
        log_variances=None if wv.log_variances is None else wv.log_variances[rows],
        encoder=None if wv.encoder is None else wv.encoder.with_rows(rows),
        context_vectors=None if wv.context_vectors is None else wv.context_vectors[rows],
        attributes={a: values[rows] for a, values in wv.expandos.items()} if copy_vecattrs else None,
        window=wv.window,
    )
    made.beside = None if wv.beside is None else wv.beside.with_rows(rows)
    made.kinds = None if wv.kinds is None else wv.kinds.with_rows(rows)
    made.ngrams = wv.ngrams
    unseen = {key: vector_from_ngrams(wv, key) for key in (keys if allow_inference and wv.ngrams else ())}
    vectors = {key: vector for key, vector in unseen.items() if vector is not None}
    if vectors:
        made.add_vectors(list(vectors), np.stack(list(vectors.values())))
    return made


def restrict(wv: K, words: int | Among) -> K:
    """Return a new object with some words only: the most frequent ones, or those named.

    Attributes, encoder and card are kept, and so is the order of the words.

    Parameters
    ----------
    words : int, iterable of str or boolean mask
        How many of the most frequent words to keep (by their ``count``; the first ones where counts are
        unknown), or the words, of which unknown ones are left out, or a mask over the rows.

    Examples
    --------
    >>> wv.restrict(2).index_to_key, wv.restrict(["car", "cat"]).index_to_key
    (['animal', 'dog'], ['cat', 'car'])
    """
    if isinstance(words, (int, np.integer)):
        if words < 1:
            raise ValueError(f"restrict({words}) leaves no words: give how many to keep")
        counts = wv.expandos.get("count")
        order = np.arange(len(wv)) if counts is None else np.argsort(-counts, kind="stable")
        rows = np.sort(order[:words])
    else:
        rows = np.sort(rows_among(wv, words))
    made = wv.vectors_for_all([wv.index_to_key[row] for row in rows], copy_vecattrs=True)
    made.card, made.text_reading = wv.card, wv.text_reading
    made.lifecycle_events = None if wv.lifecycle_events is None else list(wv.lifecycle_events)
    return made


def _spreads_for(wv: KeyedDensities, keys: list[Any], log_variances: npt.ArrayLike | None) -> Floats | None:
    """Return the log-variances given for new keys, checked."""
    if log_variances is None:
        return None
    if wv.log_variances is None:
        raise ValueError(
            "there are only means here: create KeyedDensities with covariance= to add log_variances"
        )
    return _rows_for(keys, log_variances, wv.log_variances.shape[1], "log_variances")


def _storage_type(kind: Any) -> Any:
    """Return the NumPy type that stores values of a type; values that are not numbers are kept as objects."""
    kind = {int: np.int64, float: np.float64, bool: np.bool_}.get(kind, kind)
    return kind if np.issubdtype(kind, np.number) or np.issubdtype(kind, np.bool_) else object


def _rows_for(keys: list[Any], values: npt.ArrayLike, width: int, name: str) -> Floats:
    """Return `values` as one row per key, or say what is wrong with them."""
    rows = np.asarray(values)
    if not keys and not rows.size:
        rows = rows.reshape(0, width)
    if rows.shape != (len(keys), width):
        raise ValueError(f"{len(keys)} keys need {name} of shape {(len(keys), width)}: got {rows.shape}")
    return rows
