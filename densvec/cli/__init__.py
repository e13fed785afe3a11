"""The command line, ``densvec``: one small module for each command, imported when it is needed."""

from densvec.cli.program import main

__all__ = ["main"]
