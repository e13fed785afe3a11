"""How large densities are drawn: as they are, or exaggerated where their variances hardly differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from densvec.gaussian import Gaussian
from densvec.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from densvec.keyed import KeyedDensities

__all__ = ["RADII", "entropy_factors", "note_radii", "rank_factors"]

RADII = ("auto", "true", "scaled")
"""What the functions that draw ellipses take as ``radii``."""

_VISIBLE = 0.2  # log-variances of one dimension that differ by this give radii that differ by a tenth


def rank_factors(wv: KeyedDensities, densities: Gaussian, radii: str) -> Floats | None:
    """Return what to multiply the radii of words by: from ½ for the narrowest of all words to 1½ for the widest.

    None if they are to be drawn as they are.
    """
    logs = densities.log_determinant / densities.mean.shape[-1]
    if not _exaggerate(logs, radii):
        return None
    everyone = np.sort(wv.generality(range(len(wv))))
    ranks = np.searchsorted(everyone, densities.log_determinant) / max(len(everyone), 1)
    factors: Floats = 0.5 + ranks
    return factors


def entropy_factors(prior: Gaussian, posteriors: Gaussian, radii: str) -> Floats | None:
    """Return what to multiply the radii of posteriors by: e to the power of half the change in entropy.

    None if they are to be drawn as they are.
    """
    changes = posteriors.entropy() - prior.entropy()
    logs = np.array([0.0, *(2 * changes / prior.mean.shape[-1])])
    if not _exaggerate(logs, radii):
        return None
    factors: Floats = np.clip(np.exp(changes / 2), 0.3, 2.0)
    return factors


def note_radii(ax: Axes, text: str) -> None:
    """Say in the picture that the radii are not to scale."""
    ax.text(0.01, 0.01, text, transform=ax.transAxes, fontsize=7, color="#666666", va="bottom")


def _exaggerate(logs: Floats, radii: str) -> bool:
    if radii not in RADII:
        raise ValueError(f"radii={radii!r}: use one of {', '.join(map(repr, RADII))}")
    return radii == "scaled" or (radii == "auto" and len(logs) > 1 and float(np.ptp(logs)) < _VISIBLE)
