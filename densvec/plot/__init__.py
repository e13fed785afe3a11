"""Pictures of densities: matplotlib axes in, axes out.

Ellipses are drawn at one standard deviation, in the plane that shows most of what is drawn (its first two
principal components). Colours are those of Okabe and Ito, which colour-blind people can tell apart.
"""

from densvec.plot.answers import plot_senses, plot_shift, plot_taxonomy
from densvec.plot.axes import COLOURS
from densvec.plot.densities import plot_contexts, plot_words
from densvec.plot.ellipses import Plane
from densvec.plot.figures import plot_generality
from densvec.plot.regression import plot_norms, plot_path, plot_telling

__all__ = [
    "COLOURS",
    "Plane",
    "plot_contexts",
    "plot_generality",
    "plot_norms",
    "plot_path",
    "plot_senses",
    "plot_shift",
    "plot_taxonomy",
    "plot_telling",
    "plot_words",
]
