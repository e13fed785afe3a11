"""The front that all models share: parameters, vocabulary, training and files."""

from densvec.model.front import DensityModel, of_words

__all__ = ["DensityModel", "of_words"]
