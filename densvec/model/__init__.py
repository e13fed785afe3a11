"""The front that all models share: parameters, vocabulary, training and files."""

from densvec.model.front import DensityModel, model, of_words

__all__ = ["DensityModel", "model", "of_words"]
