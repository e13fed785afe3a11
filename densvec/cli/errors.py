"""What went wrong, as a sentence."""

from __future__ import annotations

__all__ = ["INTERRUPTED", "TERMINATED", "Interrupted", "UsageError", "sentence"]

INTERRUPTED = 130  # 128 + SIGINT, as shells report it
TERMINATED = 143  # 128 + SIGTERM

_EXPECTED = (OSError, ValueError, KeyError, ImportError, MemoryError, IndexError, RuntimeError, TypeError)


class UsageError(ValueError):
    """The arguments are not what the command needs."""


class Interrupted(Exception):
    """The command was stopped by a signal and has something to say about it."""

    def __init__(self, message: str, code: int = INTERRUPTED) -> None:
        super().__init__(message)
        self.code = code


def sentence(error: Exception) -> str:
    r"""Return what an exception says, in one line.

    Examples
    --------
    >>> sentence(FileNotFoundError(2, "No such file or directory", "model.dv"))
    'model.dv: No such file or directory'
    >>> sentence(KeyError("no such\nword"))
    'no such word'
    """
    if isinstance(error, OSError) and error.strerror:
        text = error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
    elif isinstance(error, KeyError) and type(error).__str__ is KeyError.__str__ and error.args:
        text = str(error.args[0])  # str(KeyError) is the repr of its message
    elif isinstance(error, MemoryError):
        text = str(error) or "there is not enough memory"
    else:
        text = str(error)
    text = " ".join(text.split()) or type(error).__name__
    if not isinstance(error, _EXPECTED):
        text += f" ({type(error).__name__}; this may be a fault of densvec: --debug shows where)"
    return text
