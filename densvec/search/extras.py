"""Optional packages."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["needs"]


def needs(module: str, extra: str) -> Any:
    """Import a module, or say how to install it.

    Examples
    --------
    >>> needs("no_such_engine", "search")
    Traceback (most recent call last):
    ImportError: no_such_engine is not installed: pip install 'densvec[search]'
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not module.startswith(error.name):
            raise  # the module is installed, but something that it needs is not
        raise ImportError(f"{module} is not installed: pip install 'densvec[{extra}]'") from None
