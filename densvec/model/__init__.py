"""The front that all models share: parameters, vocabulary, training and files."""

from densvec.model.front import DensityModel

__all__ = ["DensityModel"]
