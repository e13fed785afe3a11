"""Words as probability densities."""

from densvec._version import __version__

__all__ = ["__version__"]
