"""The command line, ``densvec``: commands as data, and one program that runs them."""

from densvec.cli.program import main

__all__ = ["main"]
