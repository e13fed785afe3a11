"""The torch backend: the same step as the native kernel's, in torch, on any device."""

from densvec.training.torch.options import Options, options

__all__ = ["Options", "options"]
