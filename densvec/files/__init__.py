"""Files: the model file, how it is written and read, and the formats of other programs."""

from densvec.files.persistence import DensvecFileError, read, verify, write

__all__ = ["DensvecFileError", "read", "verify", "write"]
