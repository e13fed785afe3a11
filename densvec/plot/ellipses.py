"""Densities as ellipses in a plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from densvec.checks import one_of
from densvec.gaussian import Gaussian
from densvec.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Plane:
    """A plane through high-dimensional space: `origin` (D,) and two orthonormal `directions` (D, 2)."""

    origin: Floats
    directions: Floats

    @classmethod
    def fitted(cls, means: Floats) -> Plane:
        """Return the plane that shows most of the differences between these points (principal components).

        Examples
        --------
        >>> plane = Plane.fitted(np.array([[0.0, 0, 0], [4, 0, 0], [0, 2, 0]]))
        >>> abs(plane.directions[2]).round(6)  # the third dimension is not needed
        array([0., 0.])
        """
        points = np.asarray(means, dtype=np.float64)
        origin = points.mean(axis=0)
        # The most important first.
        axes = np.linalg.svd(points - origin, full_matrices=len(points) < 2)[2][:2]
        axes = np.pad(axes, ((0, 2 - len(axes)), (0, 0)))  # words of one dimension
        # The signs of the axes are arbitrary: the first point goes to the lower left, so that pictures repeat.
        signs = np.where(axes @ (points[0] - origin) > 0, -1.0, 1.0)
        return cls(origin, (axes * signs[:, None]).T)

    def points(self, means: Floats) -> Floats:
        """Return where points fall in the plane, (..., 2)."""
        projected: Floats = (np.asarray(means, dtype=np.float64) - self.origin) @ self.directions
        return projected

    def covariance(self, density: Gaussian) -> Floats:
        """Return the covariance, (2, 2), that one density has in the plane."""
        variance = np.broadcast_to(density.variance, density.mean.shape).astype(np.float64)
        covariance: Floats = (self.directions * variance[:, None]).T @ self.directions
        return covariance


def draw_ellipse(
    ax: Axes,
    plane: Plane,
    density: Gaussian,
    colour: str,
    alpha: float,
    linestyle: str = "-",
    factor: float = 1.0,
) -> Any:
    """Add the ellipse of one standard deviation, or `factor` times as large, and return it."""
    from matplotlib.colors import to_rgba
    from matplotlib.patches import Ellipse

    values, vectors = np.linalg.eigh(plane.covariance(density))
    width, height = 2 * factor * np.sqrt(np.maximum(values, 0))
    ellipse = Ellipse(
        tuple(plane.points(density.mean)),
        width,
        height,
        angle=float(np.degrees(np.arctan2(vectors[1, 0], vectors[0, 0]))),
        facecolor=to_rgba(colour, alpha),
        edgecolor=to_rgba(colour, 0.9),
        linewidth=1.5,
        linestyle=linestyle,
    )
    ax.add_patch(ellipse)
    return ellipse


RADII = ("auto", "true", "scaled")
"""What the functions that draw ellipses take as ``radii``."""

_VISIBLE = 0.2  # log-variances of one dimension that differ by this give radii that differ by a tenth


def are_exaggerated(log_variances: Floats, radii: str) -> bool:
    """Whether differences between these variances, each the mean of its dimensions, are to be exaggerated."""
    one_of("radii", radii, RADII)
    return radii == "scaled" or (radii == "auto" and float(np.ptp(log_variances)) < _VISIBLE)


def note_radii(ax: Axes, text: str) -> None:
    """Write in the picture that the radii are not to scale."""
    ax.text(0.01, 0.01, text, transform=ax.transAxes, fontsize=7, color="#666666", va="bottom")
