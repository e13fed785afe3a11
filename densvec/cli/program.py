"""The program itself: its parser, its exit codes, and what happens on errors, signals and closed pipes."""

from __future__ import annotations

import argparse
import difflib
import importlib
import logging
import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from typing import NoReturn, Protocol, cast

from densvec._version import __version__
from densvec.cli.errors import INTERRUPTED, Interrupted, UsageError, sentence
from densvec.cli.output import prepare_streams, say

__all__ = ["COMMANDS", "DESCRIPTION", "EPILOG", "Command", "Parser", "build_parser", "command", "main"]

COMMANDS = (
    "train",
    "info",
    "similar",
    "infer",
    "substitutes",
    "entails",
    "hypernyms",
    "taxonomy",
    "senses",
    "compare",
    "learn",
    "phrases",
    "texts",
    "evaluate",
    "export",
    "import",
    "compress",
    "index",
    "where",
    "plot",
    "serve",
    "explore",
    "completion",
)

DESCRIPTION = """\
Words as probability densities: train the Bayesian Skip-gram on your own text, then ask what a word means
in a sentence, what could replace it there, and which of two words is more general."""

EPILOG = """\
examples, from text to meaning:
  densvec train corpus.txt -o model.dv
  densvec similar model.dv kiwi --metric kl
  densvec infer model.dv "the flightless [[kiwi]] digs in the forest"
  densvec entails model.dv dog animal

A corpus is text with one sentence per line and spaces between words. `densvec COMMAND --help` explains each
command with examples of its own. Exit codes: 0 done, 1 an error (one sentence on standard error), 2 wrong
usage, 130 interrupted with Ctrl-C."""


class Command(Protocol):
    """What a command's module contains."""

    HELP: str  # one line for the list of commands
    DESCRIPTION: str
    EPILOG: str  # examples

    def configure(self, parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> None:
        """Add the command's arguments: those that matter for what follows its name; for None, all."""
        ...

    def run(self, args: argparse.Namespace) -> int | None:
        """Do the work; return the exit code, None being 0."""
        ...


class Parser(argparse.ArgumentParser):
    """A parser that says in one sentence what is wrong with the arguments, and what may have been meant."""

    def error(self, message: str) -> NoReturn:
        """Print the message to standard error and exit with the code for wrong usage."""
        wrong, known = "", self._options()
        if message.startswith("unrecognized arguments: "):
            wrong = message.split()[2].partition("=")[0]
        elif "invalid choice: " in message:
            wrong, *known = re.findall("'([^']*)'", message)
        meant = difflib.get_close_matches(wrong, known, n=1)
        hint = f"Did you mean {meant[0]}? " if meant else ""
        say(f"{self.prog}: error: {message}. {hint}`{self.prog} --help` shows the usage")
        raise SystemExit(2)

    def _options(self) -> list[str]:
        """Return the names of all options, those of the commands too."""
        names = [name for action in self._actions for name in action.option_strings]
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                names += [name for parser in action.choices.values() for name in parser._options()]
        return names


def command(name: str) -> Command:
    """Import the module of a command."""
    module = {"import": "importing"}.get(name, name)  # a module cannot be called import
    return cast("Command", importlib.import_module(f"densvec.cli.{module}"))


def build_parser(arguments: Sequence[str] | None = None) -> Parser:
    """Return the parser; given arguments, only the command that they name is complete: it saves imports."""
    common = Parser(add_help=False)
    general = common.add_argument_group("general options")
    general.add_argument("-h", "--help", action="help", help="show this help and exit")
    general.add_argument(
        "--json", action="store_true", default=argparse.SUPPRESS, help="print JSON, for scripts"
    )
    general.add_argument(
        "--debug", action="store_true", default=argparse.SUPPRESS, help="show the traceback of an error"
    )
    parser = Parser(
        prog="densvec",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        parents=[common],
        add_help=False,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"densvec {__version__}")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    chosen = None if arguments is None else next((item for item in arguments if item in COMMANDS), "")
    for name in COMMANDS:
        module = command(name)
        subparser = subparsers.add_parser(
            name,
            help=module.HELP,
            description=module.DESCRIPTION,
            epilog=module.EPILOG,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            parents=[common],
            add_help=False,
            allow_abbrev=False,
        )
        if chosen is None or chosen == name:
            rest = None if arguments is None else arguments[arguments.index(name) + 1 :]
            module.configure(subparser, rest)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; those of the process by default.

    Examples
    --------
    >>> main(["--version"])
    densvec ...
    0
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    prepare_streams()
    name = next((item for item in arguments if item in COMMANDS), "")
    try:
        code = _guarded(lambda: _run(arguments), f"densvec {name}".strip(), "--debug" in arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:  # the reader of our output has closed the pipe
        _abandon_output()
        return 0
    except OSError as error:  # the output's disk is full, say
        _abandon_output()
        say(f"densvec: error: the output could not be written: {error.strerror}")
        return 1
    return code


def _run(arguments: Sequence[str]) -> int:
    try:
        args = build_parser(arguments).parse_args(arguments)
    except SystemExit as end:  # argparse has said why
        return end.code if isinstance(end.code, int) else 0
    args.json = getattr(args, "json", False)
    args.debug = getattr(args, "debug", False)
    with warnings.catch_warnings():  # restores what _route_messages changes
        _route_messages(getattr(args, "verbose", False))
        return command(args.command).run(args) or 0


def _guarded(run: Callable[[], int], name: str, debug: bool) -> int:
    """Turn exceptions into a sentence on standard error and an exit code."""
    try:
        return run()
    except BrokenPipeError:
        raise
    except Interrupted as stop:
        say(f"{name}: {stop}")
        return stop.code
    except KeyboardInterrupt:
        say(f"{name}: interrupted")
        return INTERRUPTED
    except Exception as error:
        if debug:
            traceback.print_exc()
        say(f"{name}: error: {sentence(error)}")
        return 2 if isinstance(error, UsageError) else 1


def _route_messages(verbose: bool) -> None:
    """Let warnings and the log of the library read like messages of the program."""
    logging.basicConfig(
        level=logging.INFO if verbose else logging.WARNING, format="densvec: %(message)s", stream=sys.stderr
    )

    def show(message: Warning | str, *_: object, **__: object) -> None:
        say(f"densvec: warning: {message}")

    warnings.showwarning = show


def _abandon_output() -> None:
    """Point standard output at nothing, so that Python does not complain when it flushes it at the end."""
    with open(os.devnull, "w") as nothing:
        os.dup2(nothing.fileno(), sys.stdout.fileno())
