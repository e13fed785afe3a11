"""Finding keys: the most similar ones by any metric, for one query or for many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from densvec.distances.metrics import find_metric
from densvec.distances.pairwise import approximate_distances, distances
from densvec.distances.table import products, row_blocks
from densvec.gaussian import Gaussian
from densvec.keyed.keys import KEY_TYPES, refuse_bytes
from densvec.keyed.lookup import Lookup, cosine, unit
from densvec.keyed.queries import Query, parse_query
from densvec.keyed.ranking import BestOfBlocks, best
from densvec.types import Floats

__all__ = ["Found", "Search"]

Found: TypeAlias = list[tuple[str, float]]

_SPARE = 10
"""How many more candidates than asked for are scored again exactly, to correct what rounding misplaced."""

_BATCH = 512
"""Queries whose scores are computed together."""

_BLOCK_ENTRIES = 1 << 22
"""Scores of such a batch that are computed at a time."""


class Search(Lookup):
    """Most similar keys."""

    def most_similar(
        self,
        positive: Any = None,
        negative: Any = None,
        topn: int | None = 10,
        clip_start: int = 0,
        clip_end: int | None = None,
        restrict_vocab: int | None = None,
        indexer: Any = None,
        *,
        metric: str = "cosine",
    ) -> Any:
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
            ``"expected_likelihood"`` (its logarithm) or ``"wasserstein"`` (minus the distance).

        Returns
        -------
        list of (str, float)
            Keys and scores, best first, without the keys asked for; an array of all scores for ``topn=None``.

        Examples
        --------
        >>> [word for word, _ in wv.most_similar("dog", topn=2)]
        ['animal', 'cat']
        >>> wv.most_similar("dog", metric="kl", topn=1)
        [('animal', -0.7612...)]
        >>> wv.most_similar(wv.density("dog"), metric="kl", topn=1)
        [('dog', 0.0)]
        """
        if topn is not None and topn < 1:
            return []
        query = parse_query(positive, negative)
        if restrict_vocab:
            clip_start, clip_end = 0, restrict_vocab
        start, stop, _ = slice(clip_start, clip_end).indices(len(self.vectors))
        if indexer is not None and topn is not None:
            return self._ask_indexer(indexer, query, metric, topn)
        if metric == "cosine":
            scores = self._cosines(self._mean_of_query(query), slice(start, stop))
        else:
            scores = self._density_scores(query, metric, start, stop)
        if topn is None:
            return scores
        asked = {int(self.get_index(key)) for key in query.keys}
        rows = best(scores, topn + len(asked) + (0 if metric == "cosine" else _SPARE))
        found, values = start + rows, scores[rows]
        if metric != "cosine" and len(query.items) == 1:
            found, values = self._rescored(self._one_density(query.items[0]), query.signs[0], metric, found)
        return self._named(found, values, asked, topn)

    def most_similar_batch(
        self,
        queries: Sequence[Any] | Floats | Gaussian,
        topn: int | None = 10,
        restrict_vocab: int | None = None,
        *,
        metric: str = "cosine",
    ) -> Any:
        """Find the most similar keys for each of many queries, many times faster than one by one.

        Parameters
        ----------
        queries : list of keys, vectors or Gaussians; array of shape (n, D); or a batch of Gaussians
            One query each.
        topn : int or None, optional
            How many keys to return for each; None for the scores of all.
        restrict_vocab : int, optional
            Search only the first rows.
        metric : str, optional
            As in :meth:`most_similar`.

        Returns
        -------
        list of list of (str, float)
            For each query, what :meth:`most_similar` returns; for ``topn=None`` an array of shape (n, V).

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
        stop = slice(0, restrict_vocab or None).indices(len(self.vectors))[1]
        parts = [self._batch(items[i : i + _BATCH], topn, stop, metric) for i in range(0, len(items), _BATCH)]
        if topn is None:
            return np.concatenate(parts) if parts else np.empty((0, stop), dtype=self.vectors.dtype)
        return [found for part in parts for found in part]

    def similar_by_key(
        self, key: Any, topn: int | None = 10, restrict_vocab: int | None = None, *, metric: str = "cosine"
    ) -> Any:
        """Find the keys most similar to one key; see :meth:`most_similar`.

        Examples
        --------
        >>> [word for word, _ in wv.similar_by_key("dog", topn=1, metric="wasserstein")]
        ['cat']
        """
        return self.most_similar(positive=[key], topn=topn, restrict_vocab=restrict_vocab, metric=metric)

    def similar_by_word(
        self, word: Any, topn: int | None = 10, restrict_vocab: int | None = None, *, metric: str = "cosine"
    ) -> Any:
        """Find the keys most similar to one word: another name for :meth:`similar_by_key`.

        Examples
        --------
        >>> [word for word, _ in wv.similar_by_word("cat", topn=1)]
        ['animal']
        """
        return self.similar_by_key(word, topn, restrict_vocab, metric=metric)

    def similar_by_vector(
        self, vector: Any, topn: int | None = 10, restrict_vocab: int | None = None, *, metric: str = "cosine"
    ) -> Any:
        """Find the keys most similar to a vector; see :meth:`most_similar`.

        Examples
        --------
        >>> [word for word, _ in wv.similar_by_vector([2.0, 1.1], topn=2)]
        ['dog', 'animal']
        """
        refuse_bytes(vector)
        if not isinstance(vector, (*KEY_TYPES, Gaussian)):
            vector = np.asarray(vector)
        return self.most_similar(positive=[vector], topn=topn, restrict_vocab=restrict_vocab, metric=metric)

    def similar_by_density(
        self,
        density: Gaussian,
        topn: int | None = 10,
        restrict_vocab: int | None = None,
        *,
        metric: str = "kl",
    ) -> Any:
        """Find the keys most similar to a density, such as a posterior; see :meth:`most_similar`.

        Examples
        --------
        >>> from densvec.gaussian import Gaussian
        >>> [word for word, _ in wv.similar_by_density(Gaussian([1.2, 1.9], 0.5), topn=1)]
        ['cat']
        """
        return self.most_similar(positive=[density], topn=topn, restrict_vocab=restrict_vocab, metric=metric)

    def most_similar_cosmul(
        self,
        positive: Any = None,
        negative: Any = None,
        topn: int | None = 10,
        restrict_vocab: int | None = None,
    ) -> Any:
        """Find the most similar keys by the product of cosines (3CosMul of Levy and Goldberg, 2014).

        The cosines, moved to [0, 1], with all positive items are multiplied and divided by those with the
        negative ones, so that no single large cosine decides.

        Parameters
        ----------
        positive : key, vector or list of them
            What the keys should be like.
        negative : key, vector or list of them, optional
            What they should not be like.
        topn : int or None, optional
            How many keys to return; None for the scores of all.
        restrict_vocab : int, optional
            Search only the first rows.

        Examples
        --------
        >>> [word for word, _ in wv.most_similar_cosmul(["dog", "cat"], ["car"], topn=1)]
        ['animal']
        """
        if topn is not None and topn < 1:
            return []
        query = parse_query(positive, negative)
        if not any(sign > 0 for sign in query.signs):
            raise ValueError("most_similar_cosmul needs at least one positive key")
        rows = slice(0, restrict_vocab or None)
        products = {1: np.ones(len(self.vectors[rows])), -1: np.ones(len(self.vectors[rows]))}
        for item, sign in zip(query.items, query.signs, strict=True):
            vector = unit(np.asarray(self._vector_of(item)))
            products[1 if sign > 0 else -1] *= (1.0 + self._cosines(vector, rows)) / 2.0
        scores = products[1] / (products[-1] + 1e-6)
        if topn is None:
            return scores
        asked = {int(self.get_index(key)) for key in query.keys}
        order = best(scores, topn + len(asked))
        return self._named(order, scores[order], asked, topn)

    def relative_cosine_similarity(self, wa: Any, wb: Any, topn: int = 10) -> float:
        """Return the cosine of two keys relative to the sum over the `topn` keys most similar to `wa`.

        Above 1/topn, `wb` is more similar to `wa` than those are on average (Leeuwenberg et al., 2016).

        Examples
        --------
        >>> round(wv.relative_cosine_similarity("dog", "cat", topn=2), 2)
        0.46
        """
        neighbours = self.similar_by_word(wa, topn)
        return float(cosine(self._vector_of(wa), self._vector_of(wb))) / float(
            sum(score for _, score in neighbours)
        )

    def _mean_of_query(self, query: Query) -> Floats:
        """Return the unit vector that a query asks for."""
        items = [item.mean if isinstance(item, Gaussian) else item for item in query.items]
        return self.get_mean_vector(items, query.signs, post_normalize=True, ignore_missing=False)

    def _ask_indexer(self, indexer: Any, query: Query, metric: str, topn: int) -> Found:
        """Return what an index finds."""
        searched_by = getattr(indexer, "metric", "cosine")
        if searched_by != metric:
            raise ValueError(
                f"metric={metric!r} was asked for, but the indexer searches by {searched_by!r}: make one by "
                f"{metric!r} (densvec.search), or ask by {searched_by!r}"
            )
        if not hasattr(indexer, "metric"):  # one of gensim's
            found: Found = indexer.most_similar(self._mean_of_query(query), topn)
            return found
        asked = {self.index_to_key[self.get_index(key)] for key in query.keys}
        if metric == "cosine":
            found = indexer.most_similar(self._mean_of_query(query), topn + len(asked))
        elif len(query.items) == 1 and query.signs[0] > 0:
            found = indexer.most_similar(self._one_density(query.items[0]), topn + len(asked))
        else:
            found = indexer.most_similar(self._densities(query.items), topn + len(asked), weights=query.signs)
        return [(key, score) for key, score in found if key not in asked][:topn]

    def _densities(self, items: Iterable[Any]) -> Gaussian:
        """Return the densities of several items as one batch."""
        densities = [self._one_density(item) for item in items]
        means = np.array([density.mean for density in densities], dtype=self.vectors.dtype)
        if all(density.is_spherical for density in densities):
            return Gaussian(means, np.array([density.variance for density in densities], dtype=means.dtype))
        variances = [np.broadcast_to(density.variance, density.mean.shape) for density in densities]
        return Gaussian(means, np.array(variances, dtype=means.dtype))

    def _density_scores(self, query: Query, metric: str, start: int, stop: int) -> Floats:
        """Return the scores of the rows against the densities of a query, in float64."""
        find_metric(metric)
        if not query.items:
            raise ValueError("nothing to be similar to: give at least one positive or negative item")
        values = distances(self._densities(query.items), self._density_table(), metric, start, stop)
        weights = np.array(query.signs) / np.abs(query.signs).sum()
        scores: Floats = values[0] * weights[0] if len(weights) == 1 else weights @ values
        return np.subtract(0.0, scores, out=scores)

    def _rescored(self, q: Gaussian, sign: float, metric: str, rows: Any) -> tuple[Any, Floats]:
        """Score candidates again without rounding errors, and put them in order."""
        exact = find_metric(metric).exact(q, self._density_table().densities(rows))
        scores = 0.0 - np.sign(sign) * exact
        order = np.argsort(-scores, kind="stable")
        return rows[order], scores[order]

    def _batch(self, items: list[Any], topn: int | None, stop: int, metric: str) -> Any:
        """Return the best keys of some queries, or all scores."""
        q = None if metric == "cosine" else self._densities(items)
        if topn is None:
            if q is not None:
                return 0.0 - distances(q, self._density_table(), metric, 0, stop)
            return np.concatenate([scores for _, scores in self._cosine_blocks(items, stop)], axis=1)
        found = BestOfBlocks(len(items), topn + 1 + (0 if q is None else _SPARE))
        if q is None:
            for rows, scores in self._cosine_blocks(items, stop):
                found.add(rows.start, scores)
        else:
            for rows, values in approximate_distances(q, self._density_table(), metric, 0, stop):
                found.add(rows.start, np.negative(values, out=values))
        answers = []
        for i, (columns, scores) in enumerate(found.result()):
            if q is not None:
                columns, scores = self._rescored(q[i], 1.0, metric, columns)
            asked = {int(self.get_index(items[i]))} if isinstance(items[i], KEY_TYPES) else set()
            answers.append(self._named(columns, scores, asked, topn))
        return answers

    def _cosine_blocks(self, items: list[Any], stop: int) -> Iterator[tuple[slice, Floats]]:
        """Yield the cosines of several items with all rows, in blocks of rows."""
        vectors = np.array([unit(self._vector_of(item)) for item in items], dtype=self.vectors.dtype)
        divisors = self._divisors()
        for rows in row_blocks(0, stop, len(items), _BLOCK_ENTRIES):
            scores = products(vectors, self.vectors[rows])
            scores /= divisors[rows]
            yield rows, scores

    def _named(self, rows: Any, scores: Floats, asked: set[int], topn: int) -> Found:
        """Return keys and scores of the rows, without those asked for."""
        pairs = zip(rows.tolist(), scores.tolist(), strict=True)
        return [(self.index_to_key[row], score) for row, score in pairs if row not in asked][:topn]
