"""Files: the one that holds a model, how it is written and read, and those of other programs."""

from densvec.files.persistence import DensvecFileError, read, verify, write

__all__ = ["DensvecFileError", "read", "verify", "write"]
