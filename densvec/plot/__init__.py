"""Pictures of densities: matplotlib axes in, axes out.

Ellipses are drawn at one standard deviation, in the plane that shows most of what is drawn (its first two
principal components). Colours are those of Okabe and Ito, which colour-blind people can tell apart.
"""

from densvec.plot.axes import COLOURS
from densvec.plot.contexts import plot_contexts
from densvec.plot.entailment import plot_entailment
from densvec.plot.entropy import plot_entropy
from densvec.plot.generality import plot_generality
from densvec.plot.plane import Plane
from densvec.plot.senses import plot_senses
from densvec.plot.shift import plot_shift
from densvec.plot.taxonomy import plot_taxonomy
from densvec.plot.words import plot_words

__all__ = [
    "COLOURS",
    "Plane",
    "plot_contexts",
    "plot_entailment",
    "plot_entropy",
    "plot_generality",
    "plot_senses",
    "plot_shift",
    "plot_taxonomy",
    "plot_words",
]
