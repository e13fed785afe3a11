"""Pictures that a command draws in addition to what it prints."""

from __future__ import annotations

import argparse
from typing import Any

__all__ = ["add_picture", "prepare_matplotlib", "save_picture"]


def add_picture(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the option for the file of a picture."""
    parser.add_argument(
        "--plot", metavar="FILE", help=f"draw {what}: .png, .svg, .pdf, ... (needs matplotlib)"
    )


def prepare_matplotlib() -> None:
    """Let matplotlib draw without a screen, or say how to install it."""
    try:
        import matplotlib
    except ImportError as error:
        raise ImportError('pictures need matplotlib: run  pip install "densvec[plot]"') from error
    matplotlib.use("agg")


def save_picture(axes: Any, path: str, dpi: int = 150) -> None:
    """Write the figure that axes are in."""
    axes.figure.savefig(path, dpi=dpi, bbox_inches="tight")
