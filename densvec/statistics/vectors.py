"""Least squares with vectors as responses: how long coefficients are, without bias, and whether chance explains them.

Everything is derived from how much each cluster of rows moves a coefficient, u_g: the variance of the coefficient is Σ
u_g u_gᵀ, and Σ ± u_g, with random signs, is what it could be by chance alone. So neither the variances nor the sizes of
groups need be equal, and rows of one cluster may depend on each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import gammaincc

from densvec.types import Floats

_CELLS_AT_ONCE = 1 << 23
"""Numbers of a block: of rows, coefficients and dimensions."""

_FLIPS_AT_ONCE = 250
"""Draws of chance that are made together; an interruption keeps all whole lots."""

_FEW = 10
"""With fewer draws beyond a value, their tail is estimated."""

NORMAL = 1.959964
"""So many standard errors on either side are 95 % of a normal distribution."""

_LEAST = 1e-10
"""Nothing is said of how much smaller a p-value is."""


@dataclass(frozen=True)
class VectorFit:
    """Coefficients that are vectors.

    Attributes
    ----------
    coefficients : numpy.ndarray, shape (p, D)
    squares : numpy.ndarray, shape (p,)
        Their squared lengths, without the bias that noise gives them: 0 on average where there is no effect.
    errors : numpy.ndarray, shape (p,)
        Standard errors of these.
    p_values : numpy.ndarray, shape (p,)
        How often chance alone makes a coefficient as long.
    draws : int
        How often chance was tried.
    """

    coefficients: Floats
    squares: Floats
    errors: Floats
    p_values: Floats
    draws: int


def fit_vectors(
    responses: Floats,
    design: Floats,
    clusters: npt.NDArray[np.generic] | None = None,
    *,
    draws: int = 999,
    seed: int = 0,
) -> VectorFit:
    """Regress vectors, (n, D), on a design of full rank, (n, p), with an intercept among its columns.

    Interrupted, it keeps the draws of chance that it has; without any, the interruption goes on.

    Parameters
    ----------
    clusters : numpy.ndarray, shape (n,), optional
        Rows with the same value may depend on each other; by default no rows do.
    draws, seed : int, optional
        How often chance is tried.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> group = np.repeat([0.0, 1.0], 50)
    >>> points = rng.normal(size=(100, 3)) + group[:, None]
    >>> fit = fit_vectors(points, np.column_stack([np.ones(100), group]))
    >>> bool(abs(fit.squares[1] - 3) < 2 * fit.errors[1]), bool(fit.p_values[1] < 0.001)
    (True, True)
    """
    influence = Influence(responses, design, clusters)
    lengths: Floats = (influence.coefficients**2).sum(axis=1)
    bias, errors, least = influence.spread()
    blocks: list[Floats] = []
    try:
        for block in influence.by_chance(draws, seed):
            blocks.append(block)
    except KeyboardInterrupt:
        if not blocks:
            raise
    by_chance = np.concatenate(blocks) if blocks else np.zeros((0, len(lengths)))
    p_values = np.array([p_value(*each) for each in zip(lengths, by_chance.T, least, strict=True)])
    return VectorFit(influence.coefficients, lengths - bias, errors, p_values, len(by_chance))


def p_value(value: float, by_chance: Floats, least: float = _LEAST) -> float:
    """Return how often chance alone reaches a value: where it did so fewer than ten times, by a gamma distribution.

    That has the mean, the variance and the skewness of the draws (Winkler et al. 2016), so that the smallest p-value
    does not depend on how many draws there are; but it is not below `least`, if so many draws would show less.

    Examples
    --------
    >>> draws = np.random.default_rng(1).chisquare(30, 999)
    >>> p_value(30.0, draws) > 0.3, p_value(80.0, draws) < 1e-4
    (True, True)
    """
    beyond = int((by_chance >= value * (1 - 1e-9)).sum())
    deviation = by_chance.std() if len(by_chance) else 0.0
    if beyond >= _FEW or len(by_chance) < 10 * _FEW or deviation <= 0:
        return (beyond + 1) / (len(by_chance) + 1)
    skewness = max(float((((by_chance - by_chance.mean()) / deviation) ** 3).mean()), 1e-3)
    shape = 4 / skewness**2
    above = shape + (value - by_chance.mean()) / deviation * np.sqrt(shape)
    return max(float(gammaincc(shape, max(above, 0.0))), min(least, 1 / (len(by_chance) + 1)))


def dependent_columns(design: Floats) -> tuple[int, list[int]] | None:
    """Return the first column that others before it add up to, and which these are; None if there is none.

    Examples
    --------
    >>> dependent_columns(np.array([[1.0, 0.0, 1.0], [1.0, 1.0, 0.0], [1.0, 1.0, 0.0]]))
    (2, [0, 1])
    """
    scaled = design / np.maximum(np.abs(design).max(axis=0), 1e-30)
    for j, column in enumerate(scaled.T):
        weights = np.linalg.lstsq(scaled[:, :j], column, rcond=None)[0]
        if np.linalg.norm(column - scaled[:, :j] @ weights) <= 1e-7 * np.linalg.norm(column):
            return j, np.flatnonzero(np.abs(weights) > 1e-6).tolist()
    return None


class Influence:
    """How much each cluster of rows moves each coefficient of a regression of `responses`, (n, D), on `design`, (n, p).

    The residuals are scaled up by what fitting took from them (Bell and McCaffrey's CR2), which makes the variance of a
    difference between two groups exact.
    """

    def __init__(self, responses: Floats, design: Floats, clusters: npt.NDArray[np.generic] | None) -> None:
        if clusters is not None:
            order = np.argsort(clusters, kind="stable")
            responses, design, clusters = responses[order], design[order], clusters[order]
            self._starts = np.flatnonzero(np.append(True, clusters[1:] != clusters[:-1]))
        else:
            self._starts = np.arange(len(design))
        self._axes, triangle = np.linalg.qr(design.astype(np.float64))
        self._inverse = np.linalg.inv(triangle)
        along = np.zeros((design.shape[1], responses.shape[1]))
        for rows in self._blocks(len(design), responses.shape[1]):
            along += self._axes[rows].T @ responses[rows].astype(np.float64)
        self.coefficients: Floats = self._inverse @ along
        self._residuals = responses - (self._axes.astype(np.float32) @ along.astype(np.float32))

    def __len__(self) -> int:
        return len(self._starts)

    @staticmethod
    def _blocks(count: int, size: int) -> Iterator[slice]:
        step = max(1, _CELLS_AT_ONCE // size)
        return (slice(first, min(first + step, count)) for first in range(0, count, step))

    def __iter__(self) -> Iterator[npt.NDArray[np.float32]]:
        """Yield blocks, (clusters, p, D)."""
        stops = np.append(self._starts[1:], len(self._axes))
        for block in self._blocks(len(self), self.coefficients.size):
            spans = list(zip(self._starts[block].tolist(), stops[block].tolist(), strict=True))
            axes, residuals = (each[spans[0][0] : spans[-1][1]] for each in (self._axes, self._residuals))
            if len(spans) == len(axes):  # a row each
                sizes = (axes**2).sum(axis=1, keepdims=True)
                freed = axes / np.sqrt(_left(sizes))
                weights = (freed @ self._inverse.T).astype(np.float32)
                yield weights[:, :, None] * residuals[:, None, :]
                continue
            parts = [(self._axes[start:stop], self._residuals[start:stop]) for start, stop in spans]
            sizes, turns = np.linalg.eigh(np.array([axes.T @ axes for axes, _ in parts]))
            scales = 1 / np.sqrt(_left(sizes))
            weights = (self._inverse @ (turns * scales[:, None, :]) @ turns.transpose(0, 2, 1)).astype(
                np.float32
            )
            moved = [axes.T.astype(np.float32) @ residuals for axes, residuals in parts]
            yield weights @ np.array(moved)

    def spread(self) -> tuple[Floats, Floats, Floats]:
        """Return of each coefficient the bias of its squared length, the standard error of that, and the least p-value.

        That is how seldom all signs agree, of as many clusters as the coefficient rests on.
        """
        p, dimensions = self.coefficients.shape
        bias, sums, fourths = np.zeros(p), np.zeros(p), np.zeros(p)
        grams = np.zeros((p, dimensions, dimensions))
        lengths = self.coefficients.astype(np.float32)
        for moves in self:
            by_coefficient = np.ascontiguousarray(moves.transpose(1, 0, 2))  # (p, clusters, D)
            squares = (by_coefficient**2).sum(axis=2, dtype=np.float64)
            along = (by_coefficient @ lengths[:, :, None])[:, :, 0].astype(np.float64)
            bias += squares.sum(axis=1)
            fourths += (squares**2).sum(axis=1)
            sums += 4 * (along**2).sum(axis=1)
            grams += by_coefficient.transpose(0, 2, 1) @ by_coefficient
        between = np.maximum((grams**2).sum(axis=(1, 2)) - fourths, 0)
        least = np.maximum(2.0 ** (1 - bias**2 / np.maximum(fourths, 1e-30)), _LEAST)
        return bias, np.sqrt(np.maximum(sums - 2 * between, 2 * between)), least

    def by_chance(self, draws: int, seed: int) -> Iterator[Floats]:
        """Yield blocks, (draws, p), of the squared lengths that chance alone gives the coefficients."""
        shape = self.coefficients.shape
        for first in range(0, draws, _FLIPS_AT_ONCE):
            rng = np.random.default_rng([seed, first])
            count = min(_FLIPS_AT_ONCE, draws - first)
            total = np.zeros((count, self.coefficients.size), dtype=np.float32)
            for moves in self:
                signs = rng.integers(0, 2, (count, len(moves)), dtype=np.int8).astype(np.float32) * 2 - 1
                total += signs @ moves.reshape(len(moves), -1)
            yield (total.reshape(count, *shape) ** 2).sum(axis=2, dtype=np.float64)


def _left(sizes: Floats) -> Floats:
    """Return what fitting leaves of residuals, by how far single clusters decide directions of the design."""
    if sizes.max() > 1 - 1e-6:
        raise ValueError(
            "a coefficient rests on one cluster alone (a speaker, a document), which says nothing of its certainty: "
            "leave that level out of the formula, or join it with another"
        )
    return 1 - sizes
