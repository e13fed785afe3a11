"""What went wrong, as a sentence."""

from __future__ import annotations

from densvec.answers.messages import UsageError, sentence

__all__ = ["INTERRUPTED", "TERMINATED", "Interrupted", "UsageError", "sentence"]

INTERRUPTED = 130  # 128 + SIGINT, as shells report it
TERMINATED = 143  # 128 + SIGTERM


class Interrupted(Exception):
    """The command was stopped by a signal and has something to say about it."""

    def __init__(self, message: str, code: int = INTERRUPTED) -> None:
        super().__init__(message)
        self.code = code
