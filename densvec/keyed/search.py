"""Finding keys: the most similar ones by any metric, for one query or for many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, overload

import numpy as np

from densvec.checks import KEY_TYPES, refuse_bytes
from densvec.distances.metrics import find_metric
from densvec.distances.pairwise import approximate_distances, distances
from densvec.distances.ranking import BestOfBlocks, best
from densvec.distances.table import DensityTable, products, row_blocks
from densvec.distances.vectors import cosine, unit
from densvec.gaussian import Gaussian
from densvec.questions.lookup import (
    Item,
    cosines_with,
    density_table,
    known_log_variances,
    one_density,
    row_divisors,
    rows_among,
    vector_of,
)
from densvec.types import Among, Floats, Found, Indices, Key

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from densvec.keyed import KeyedDensities

_SPARE = 10
"""How many more candidates than asked for are scored again exactly, to correct what rounding misplaced."""

_BATCH = 512
"""Queries whose scores are computed together."""

_BLOCK_ENTRIES = 1 << 22
"""Scores of such a batch that are computed at a time."""

Limit: TypeAlias = "int | None"
Queries: TypeAlias = "Sequence[Item] | Floats | Gaussian"
Items: TypeAlias = "Item | Sequence[Item | tuple[Item, float]] | None"


class Options(TypedDict, total=False):
    """The keyword arguments of every search."""

    metric: str
    among: Among | None


class More(Options, total=False):
    """Further arguments of `most_similar`."""

    clip_start: int
    clip_end: int | None
    restrict_vocab: int | None
    indexer: Any


@dataclass(frozen=True)
class Query:
    """Items (keys, vectors or densities) and their weights, negative for unwanted ones."""

    items: list[Any]
    signs: list[float]

    @property
    def keys(self) -> list[Any]:
        """The items that are keys."""
        return [item for item in self.items if isinstance(item, KEY_TYPES)]


@overload
def most_similar(
    wv: KeyedDensities, positive: Items = ..., negative: Items = ..., topn: int = 10, **how: Unpack[More]
) -> Found: ...
@overload
def most_similar(
    wv: KeyedDensities, positive: Items = ..., negative: Items = ..., *, topn: None, **how: Unpack[More]
) -> Floats: ...
def most_similar(
    wv: KeyedDensities,
    positive: Items = None,
    negative: Items = None,
    topn: int | None = 10,
    clip_start: int = 0,
    clip_end: int | None = None,
    restrict_vocab: int | None = None,
    indexer: Any = None,
    *,
    metric: str = "cosine",
    among: Among | None = None,
) -> Found | Floats:
    """Find the most similar keys.

    By cosine, keys are compared with the weighted mean of the unit vectors asked for, as in gensim. By
    any other metric, the score of a key is the weighted mean of its scores against each density asked
    for.

    Parameters
    ----------
    positive : key, vector, Gaussian or list of them, optional
        What the keys should be like. A pair ``(item, weight)`` in a list gives an item a weight other
        than 1. A vector stands for a density of typical variance when the metric is not cosine.
    negative : key, vector, Gaussian or list of them, optional
        What they should not be like; the weight is −1 unless given.
    topn : int or None, optional
        How many keys to return; None for the scores of all.
    clip_start, clip_end : int, optional
        Search only these rows.
    restrict_vocab : int, optional
        Search only the first rows; overrides `clip_start` and `clip_end`.
    indexer : object, optional
        An index of all rows to ask, instead of comparing with each row: one from :mod:`densvec.search`, made
        for the same metric, or for cosine an object with ``most_similar(vector, topn)``, such as gensim's
        ``AnnoyIndexer``, whose answers are returned as they are.
    metric : str, optional
        ``"cosine"``, ``"kl"`` (score −KL[query‖key]), ``"reverse_kl"``, ``"jeffreys"``,
        ``"expected_likelihood"`` (its logarithm) or ``"wasserstein"`` (minus the distance). ``"kl"`` orders the
        neighbours of a word better than cosine, and lists fewer rare words (``docs/recipe.md``).

    among : iterable of keys or boolean array, optional
        Search only these words, of which unknown ones are left out, or the rows that a mask marks, such as
        ``wv.expandos["count"] >= 100``.

    Returns
    -------
    list of (str, float)
        Keys and scores, best first, without the keys asked for; for ``topn=None`` an array of the scores of all that
        are searched.

    Examples
    --------
    >>> [word for word, _ in wv.most_similar("dog", topn=2)]
    ['animal', 'cat']
    >>> wv.most_similar("dog", metric="kl", topn=1)
    [('animal', -0.7612...)]
    >>> wv.most_similar(wv.density("dog"), metric="kl", topn=1)
    [('dog', 0.0)]
    >>> [word for word, _ in wv.most_similar("dog", among=["car", "cat", "unicorn"])]
    ['cat', 'car']
    """
    if topn is not None and topn < 1:
        return []
    query = _parsed(positive, negative)
    if restrict_vocab:
        clip_start, clip_end = 0, restrict_vocab
    rows = _searched(wv, clip_start, clip_end, among)
    if indexer is not None and topn is not None:
        if among is not None:
            raise ValueError("an index is searched as a whole: give either indexer or among")
        return _ask_indexer(wv, indexer, query, metric, topn)
    if metric == "cosine":
        scores = cosines_with(wv, _mean_of_query(wv, query), rows)
    else:
        scores = _density_scores(wv, query, metric, rows)
    if topn is None:
        return scores
    asked = {int(wv.get_index(key, -1)) for key in query.keys}
    places = best(scores, topn + len(asked) + (0 if metric == "cosine" else _SPARE))
    found, values = _rows_at(rows, places), scores[places]
    if metric != "cosine" and len(query.items) == 1:
        found, values = _rescored(wv, one_density(wv, query.items[0]), query.signs[0], metric, found)
    return _named(wv, found, values, asked, topn)


@overload
def most_similar_batch(
    wv: KeyedDensities, queries: Queries, topn: int = 10, restrict_vocab: Limit = ..., **how: Unpack[Options]
) -> list[Found]: ...
@overload
def most_similar_batch(
    wv: KeyedDensities, queries: Queries, topn: None, restrict_vocab: Limit = ..., **how: Unpack[Options]
) -> Floats: ...
def most_similar_batch(
    wv: KeyedDensities,
    queries: Queries,
    topn: int | None = 10,
    restrict_vocab: int | None = None,
    *,
    metric: str = "cosine",
    among: Among | None = None,
) -> list[Found] | Floats:
    """Find the most similar keys for each of many queries, many times faster than one by one.

    Parameters
    ----------
    queries : list of keys, vectors or Gaussians; array of shape (n, D); or a batch of Gaussians
        One query each.
    topn, restrict_vocab, metric, among : optional
        As in :meth:`most_similar`.

    Returns
    -------
    list of list of (str, float)
        For each query, what :meth:`most_similar` returns; for ``topn=None`` an array of shape (n, V), or with as
        many columns as are searched.

    Examples
    --------
    >>> for found in wv.most_similar_batch(["dog", "car"], topn=1, metric="wasserstein"):
    ...     print(found)
    [('cat', -1.4142...)]
    [('animal', -4.3588...)]
    """
    if topn is not None and topn < 1:
        return [[] for _ in queries]
    if metric != "cosine":
        find_metric(metric)
    items = list(queries)
    rows = _searched(wv, 0, restrict_vocab or None, among)
    parts = [_batch(wv, items[i : i + _BATCH], topn, rows, metric) for i in range(0, len(items), _BATCH)]
    if topn is None:
        width = rows.stop if isinstance(rows, slice) else len(rows)
        return np.concatenate(parts) if parts else np.empty((0, width), dtype=wv.vectors.dtype)
    return [found for part in parts for found in part]


def similar_by_key(
    wv: KeyedDensities, key: Item, topn: int = 10, restrict_vocab: Limit = None, **how: Unpack[Options]
) -> Found:
    """Find the keys most similar to one key.

    Further arguments are `metric` and `among`, as in :meth:`most_similar`, which can also return the scores of all.

    Examples
    --------
    >>> [word for word, _ in wv.similar_by_key("dog", topn=1, metric="wasserstein")]
    ['cat']
    """
    return wv.most_similar([key], topn=topn, restrict_vocab=restrict_vocab, **how)


def similar_by_word(
    wv: KeyedDensities, word: Item, topn: int = 10, restrict_vocab: Limit = None, **how: Unpack[Options]
) -> Found:
    """Find the keys most similar to one word: another name for :meth:`similar_by_key`.

    Examples
    --------
    >>> [word for word, _ in wv.similar_by_word("cat", topn=1)]
    ['animal']
    """
    return wv.similar_by_key(word, topn, restrict_vocab, **how)


def similar_by_vector(
    wv: KeyedDensities, vector: Any, topn: int = 10, restrict_vocab: Limit = None, **how: Unpack[Options]
) -> Found:
    """Find the keys most similar to a vector; see :meth:`most_similar`.

    Examples
    --------
    >>> [word for word, _ in wv.similar_by_vector([2.0, 1.1], topn=2)]
    ['dog', 'animal']
    """
    refuse_bytes(vector)
    if not isinstance(vector, (*KEY_TYPES, Gaussian)):
        vector = np.asarray(vector)
    return wv.similar_by_key(vector, topn, restrict_vocab, **how)


def similar_by_density(
    wv: KeyedDensities,
    density: Gaussian,
    topn: int = 10,
    restrict_vocab: Limit = None,
    **how: Unpack[Options],
) -> Found:
    """Find the keys most similar to a density, such as a posterior; see :meth:`most_similar`.

    Examples
    --------
    >>> from densvec.gaussian import Gaussian
    >>> [word for word, _ in wv.similar_by_density(Gaussian([1.2, 1.9], 0.5), topn=1)]
    ['cat']
    """
    how.setdefault("metric", "kl")
    return wv.similar_by_key(density, topn, restrict_vocab, **how)


@overload
def most_similar_cosmul(
    wv: KeyedDensities,
    positive: Items = ...,
    negative: Items = ...,
    topn: int = 10,
    restrict_vocab: Limit = ...,
) -> Found: ...
@overload
def most_similar_cosmul(
    wv: KeyedDensities, positive: Items, negative: Items, topn: None, restrict_vocab: Limit = ...
) -> Floats: ...
def most_similar_cosmul(
    wv: KeyedDensities,
    positive: Items = None,
    negative: Items = None,
    topn: int | None = 10,
    restrict_vocab: int | None = None,
) -> Found | Floats:
    """Find the most similar keys by the product of cosines (3CosMul of Levy and Goldberg, 2014).

    The cosines, moved to [0, 1], with all positive items are multiplied and divided by those with the
    negative ones, so that no single large cosine decides. The arguments are those of :meth:`most_similar`.

    Examples
    --------
    >>> [word for word, _ in wv.most_similar_cosmul(["dog", "cat"], ["car"], topn=1)]
    ['animal']
    """
    if topn is not None and topn < 1:
        return []
    query = _parsed(positive, negative)
    if not any(sign > 0 for sign in query.signs):
        raise ValueError("most_similar_cosmul needs at least one positive key")
    rows = slice(0, restrict_vocab or None)
    products = {1: np.ones(len(wv.vectors[rows])), -1: np.ones(len(wv.vectors[rows]))}
    for item, sign in zip(query.items, query.signs, strict=True):
        vector = unit(np.asarray(vector_of(wv, item)))
        products[1 if sign > 0 else -1] *= (1.0 + cosines_with(wv, vector, rows)) / 2.0
    scores = products[1] / (products[-1] + 1e-6)
    if topn is None:
        return scores
    asked = {int(wv.get_index(key, -1)) for key in query.keys}
    order = best(scores, topn + len(asked))
    return _named(wv, order, scores[order], asked, topn)


def relative_cosine_similarity(wv: KeyedDensities, wa: Key, wb: Key, topn: int = 10) -> float:
    """Return the cosine of two keys relative to the sum over the `topn` keys most similar to `wa`.

    Above 1/topn, `wb` is more similar to `wa` than those are on average (Leeuwenberg et al., 2016).

    Examples
    --------
    >>> round(wv.relative_cosine_similarity("dog", "cat", topn=2), 2)
    0.46
    """
    neighbours = wv.similar_by_word(wa, topn)
    return float(cosine(vector_of(wv, wa), vector_of(wv, wb))) / float(sum(score for _, score in neighbours))


def _parsed(positive: Any, negative: Any) -> Query:
    """Return the query that gensim's arguments `positive` and `negative` stand for.

    Examples
    --------
    >>> query = _parsed(["king", ("woman", 0.5)], "man")
    >>> query.items, query.signs
    (['king', 'woman', 'man'], [1.0, 0.5, -1.0])
    """
    query = Query([], [])
    for given, usual, name in ((positive, 1.0, "positive"), (negative, -1.0, "negative")):
        for each in _listed(given, name):
            item, weight = each if isinstance(each, tuple) and len(each) == 2 else (each, usual)
            if not _is_item(item):
                refuse_bytes(item)
                raise TypeError(
                    f"{name} has an item that is not a key, vector, Gaussian or (item, weight): {item!r}"
                )
            query.items.append(item)
            query.signs.append(float(weight))
    return query


def _listed(given: Any, name: str) -> list[Any]:
    """Return the items of an argument that may be a single one or nothing."""
    if given is None or _is_item(given):
        return [] if given is None else [given]
    if isinstance(given, (list, np.ndarray, Gaussian)):
        return list(given)
    refuse_bytes(given)
    raise TypeError(
        f"{name} must be a key, a vector, a Gaussian or a list of them: got {type(given).__name__}"
    )


def _is_item(given: Any) -> bool:
    if isinstance(given, Gaussian):
        return not given.shape
    return isinstance(given, KEY_TYPES) or (isinstance(given, np.ndarray) and given.ndim == 1)


def _mean_of_query(wv: KeyedDensities, query: Query) -> Floats:
    """Return the unit vector that a query asks for."""
    items = [item.mean if isinstance(item, Gaussian) else item for item in query.items]
    return wv.get_mean_vector(items, query.signs, post_normalize=True, ignore_missing=False)


def _ask_indexer(wv: KeyedDensities, indexer: Any, query: Query, metric: str, topn: int) -> Found:
    """Return what an index finds for a query."""
    searched_by = getattr(indexer, "metric", "cosine")
    if searched_by != metric:
        raise ValueError(
            f"metric={metric!r} was asked for, but the indexer searches by {searched_by!r}: make one by "
            f"{metric!r} (densvec.search), or ask by {searched_by!r}"
        )
    if not hasattr(indexer, "metric"):  # one of gensim's
        found: Found = indexer.most_similar(_mean_of_query(wv, query), topn)
        return found
    asked = {wv.index_to_key[row] for key in query.keys if (row := wv.get_index(key, -1)) >= 0}
    if metric == "cosine":
        found = indexer.most_similar(_mean_of_query(wv, query), topn + len(asked))
    elif len(query.items) == 1 and query.signs[0] > 0:
        found = indexer.most_similar(one_density(wv, query.items[0]), topn + len(asked))
    else:
        found = indexer.most_similar(_densities(wv, query.items), topn + len(asked), weights=query.signs)
    return [(key, score) for key, score in found if key not in asked][:topn]


def _densities(wv: KeyedDensities, items: Iterable[Any]) -> Gaussian:
    """Return the densities of several items as one batch."""
    densities = [one_density(wv, item) for item in items]
    means = np.array([density.mean for density in densities], dtype=wv.vectors.dtype)
    if all(density.is_spherical for density in densities):
        return Gaussian(means, np.array([density.variance for density in densities], dtype=means.dtype))
    variances = [np.broadcast_to(density.variance, density.mean.shape) for density in densities]
    return Gaussian(means, np.array(variances, dtype=means.dtype))


def _searched(wv: KeyedDensities, start: int, stop: int | None, among: Among | None) -> slice | Indices:
    """Return the rows to search, from `start` to `stop`, or those of them that are among some words."""
    start, stop, _ = slice(start, stop).indices(len(wv.vectors))
    if among is None:
        return slice(start, max(start, stop))
    rows = rows_among(wv, among)
    return rows[(rows >= start) & (rows < stop)]


def _rows_at(rows: slice | Indices, places: Any) -> Any:
    """Return the rows at these places among those that are searched."""
    return rows.start + places if isinstance(rows, slice) else rows[places]


def _compared(wv: KeyedDensities, rows: slice | Indices) -> tuple[DensityTable, int, int]:
    """Return a table of densities, and from where to where it is to be searched."""
    if isinstance(rows, slice):
        return density_table(wv), rows.start, rows.stop
    part = DensityTable(wv.vectors[rows], log_variances=known_log_variances(wv)[rows])
    return part, 0, len(rows)


def _density_scores(wv: KeyedDensities, query: Query, metric: str, rows: slice | Indices) -> Floats:
    """Return the scores of the rows against the densities of a query, in float64."""
    find_metric(metric)
    if not query.items:
        raise ValueError("nothing to be similar to: give at least one positive or negative item")
    table, start, stop = _compared(wv, rows)
    values = distances(_densities(wv, query.items), table, metric, start, stop)
    weights = np.array(query.signs) / np.abs(query.signs).sum()
    scores: Floats = values[0] * weights[0] if len(weights) == 1 else weights @ values
    return np.subtract(0.0, scores, out=scores)


def _rescored(wv: KeyedDensities, q: Gaussian, sign: float, metric: str, rows: Any) -> tuple[Any, Floats]:
    """Score candidates again exactly, and sort them."""
    exact = find_metric(metric).exact(q, density_table(wv).densities(rows))
    scores = 0.0 - np.sign(sign) * exact
    order = np.argsort(-scores, kind="stable")
    return rows[order], scores[order]


def _batch(wv: KeyedDensities, items: list[Any], topn: int | None, rows: slice | Indices, metric: str) -> Any:
    """Return the best keys of some queries, or all scores."""
    if metric == "cosine":
        q, blocks = None, _cosine_blocks(wv, items, rows)
    else:
        q, (table, start, stop) = _densities(wv, items), _compared(wv, rows)
        if topn is None:
            return 0.0 - distances(q, table, metric, start, stop)
        near = approximate_distances(q, table, metric, start, stop)
        blocks = ((first, np.negative(values, out=values)) for first, values in near)
    if topn is None:
        return np.concatenate([scores for _, scores in blocks], axis=1)
    found = BestOfBlocks(len(items), topn + 1 + (0 if q is None else _SPARE))
    for block, scores in blocks:
        found.add(block.start, scores)
    answers = []
    for i, (places, scores) in enumerate(found.result()):
        nearest = _rows_at(rows, places)
        if q is not None:
            nearest, scores = _rescored(wv, q[i], 1.0, metric, nearest)
        asked = {int(wv.get_index(items[i], -1))} if isinstance(items[i], KEY_TYPES) else set()
        answers.append(_named(wv, nearest, scores, asked, topn))
    return answers


def _cosine_blocks(
    wv: KeyedDensities, items: list[Any], rows: slice | Indices
) -> Iterator[tuple[slice, Floats]]:
    """Yield the cosines of several items with the rows, in blocks of rows."""
    vectors = np.array([unit(vector_of(wv, item)) for item in items], dtype=wv.vectors.dtype)
    table, divisors = wv.vectors[rows], row_divisors(wv)[rows]
    for block in row_blocks(0, len(table), len(items), _BLOCK_ENTRIES):
        scores = products(vectors, table[block])
        scores /= divisors[block]
        yield block, scores


def _named(wv: KeyedDensities, rows: Any, scores: Floats, asked: set[int], topn: int) -> Found:
    """Return keys and scores of the rows, without those asked for."""
    pairs = zip(rows.tolist(), scores.tolist(), strict=True)
    return [(wv.index_to_key[row], score) for row, score in pairs if row not in asked][:topn]
