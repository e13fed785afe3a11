"""Options of the command line made from a constructor, so that they never lag behind the library.

The signature gives names, types and defaults, the docstring the help and the choices.
"""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from densvec.cli.commands import Argument

__all__ = ["Parameter", "constructor_options", "described", "differing"]

_CHOICES = re.compile(r"^\{(.*)\}")


@dataclass(frozen=True)
class Parameter:
    """A parameter as a docstring describes it."""

    kind: str
    text: str

    @property
    def choices(self) -> list[str] | None:
        """The values of ``{"a", "b"}``, if the type is written so."""
        match = _CHOICES.match(self.kind)
        return [item.strip().strip("\"'") for item in match[1].split(",")] if match else None


def described(docstring: str | None) -> dict[str, Parameter]:
    """Return the parameters of a numpydoc docstring.

    Examples
    --------
    >>> found = described('''Do it.
    ...
    ...     Parameters
    ...     ----------
    ...     mode : {"fast", "slow"}
    ...         How to do it;
    ...         fast by default.
    ...     ''')
    >>> found["mode"].text, found["mode"].choices
    ('How to do it; fast by default.', ['fast', 'slow'])
    """
    lines = inspect.cleandoc(docstring or "").splitlines()
    found: dict[str, Parameter] = {}
    if "Parameters" not in lines:
        return found
    names: list[str] = []
    kind, text = "", ""
    body = lines[lines.index("Parameters") + 2 :]
    for line, following in zip(body, [*body[1:], ""], strict=True):
        if following.startswith("---"):
            break  # the next section's title
        if line and not line[0].isspace():
            head, _, kind = line.partition(" : ")
            names, text = [name.strip().lstrip("*") for name in head.split(",")], ""
        else:
            text = f"{text} {line.strip()}".strip()
        for name in names:
            found[name] = Parameter(kind, text)
    return found


def constructor_options(
    cls: type, group: str, leave_out: Collection[str], usual: Collection[str]
) -> list[Argument]:
    """Return an option for each parameter of a constructor; options that are not given are not passed on.

    Parameters
    ----------
    cls : type
        Its signature gives names, types and defaults, its docstring the help and the choices.
    group : str
        The title under which the help shows them.
    leave_out : collection of str
        Parameters that get no option.
    usual : collection of str
        Those that ``--help`` shows, with the first sentence of their description; ``--help-all`` shows the others.
    """
    texts = described(cls.__doc__)
    options = []
    for parameter in inspect.signature(cls).parameters.values():
        if parameter.name in leave_out or parameter.kind is parameter.VAR_KEYWORD:
            continue
        about = texts.get(parameter.name, Parameter("", ""))
        options.append(
            Argument(
                f"--{parameter.name.replace('_', '-')}",
                dest=parameter.name,
                default=argparse.SUPPRESS,
                group=group,
                rare=parameter.name not in usual,
                help=_help(about.text, parameter.default),
                brief=_help(re.split(r"[.;] ", about.text)[0], parameter.default),
                **_reading(parameter, about),
            )
        )
    return options


def _help(text: str, default: Any) -> str:
    text = text.replace("``", "").replace("`", "").replace("%", "%%")
    text = f"{text[:1].lower()}{text[1:]}".removesuffix(".")
    shown = (
        ""
        if default is None
        else f" (default: {default:g})"
        if isinstance(default, float)
        else f" (default: {default})"
    )
    return text + shown


def _reading(parameter: inspect.Parameter, about: Parameter) -> dict[str, Any]:
    """Return how argparse reads the values of a parameter."""
    default, annotation = parameter.default, str(parameter.annotation)
    if isinstance(default, bool):
        return {"action": argparse.BooleanOptionalAction}
    if "Mapping" in annotation:
        return {"type": _mapping, "metavar": "NAME=NUMBER,..."}
    if about.choices and isinstance(default, int):
        return {"type": int, "choices": [int(choice) for choice in about.choices]}
    if about.choices:
        return {"choices": about.choices}
    if "float" in annotation and "str" in annotation:
        return {"type": _number_or_text, "metavar": "NUMBER|NAME"}
    if "float" in annotation:
        return {"type": float, "metavar": "NUMBER"}
    if "int" in annotation:
        return {"type": int, "metavar": "N"}
    return {"metavar": "TEXT"}


def _number_or_text(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _mapping(text: str) -> dict[str, float]:
    """Return what "mean=4,encoder=0.01" says."""
    pairs = [item.partition("=") for item in text.split(",")]
    try:
        return {name.strip(): float(value) for name, _, value in pairs}
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=NUMBER,NAME=NUMBER") from None


def differing(given: Mapping[str, Any], current: Any) -> list[str]:
    """Return the names of the parameters that are given a value other than an object's own."""
    found = []
    for name, value in given.items():
        own = getattr(current, name, None)
        if isinstance(value, dict) and isinstance(own, dict):
            own = {key: own.get(key) for key in value}
        if own != value:
            found.append(name)
    return found
