"""The program itself: its parser, its exit codes, and what happens on errors, signals and closed pipes."""

from __future__ import annotations

import argparse
import contextlib
import difflib
import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from densvec._version import __version__
from densvec.answers.documents import Document
from densvec.answers.messages import UsageError, route_messages, say, sentence
from densvec.cli import files, info, pictures, serve, texts, train, words
from densvec.cli.arguments import Argument, flag
from densvec.cli.commands import INTERRUPTED, Command, Interrupted, Question, load
from densvec.cli.output import Output, prepare_streams, print_json, put

COMMANDS: dict[str, Command] = {
    command.name: command
    for command in (
        train.TRAIN,
        info.INFO,
        words.SIMILAR,
        words.INFER,
        words.SUBSTITUTES,
        words.ENTAILS,
        words.HYPERNYMS,
        words.TAXONOMY,
        texts.SENSES,
        texts.COMPARE,
        texts.REGRESS,
        words.LEARN,
        texts.PHRASES,
        words.TEXTS,
        texts.EVALUATE,
        files.EXPORT,
        files.IMPORT,
        files.COMPRESS,
        texts.INDEX,
        words.WHERE,
        pictures.PLOT,
        serve.SERVE,
        serve.EXPLORE,
    )
}

_DESCRIPTION = """\
Words as probability densities: train the Bayesian Skip-gram on your own text, then ask what a word means
in a sentence, what could replace it there, and which of two words is more general."""

_EXAMPLES = """\
examples, from text to meaning:
  densvec train corpus.txt -o model.dv
  densvec similar model.dv kiwi --metric kl
  densvec infer model.dv "the flightless [[kiwi]] digs in the forest"
  densvec entails model.dv dog animal -o answers.csv

`densvec COMMAND --help` explains each command with examples of its own. Exit codes: 0 done, 1 an error (one
sentence on standard error), 2 wrong usage, 130 interrupted with Ctrl-C."""

_GENERAL = [
    flag(name, text, short=short, group="general options", default=argparse.SUPPRESS, action=action)
    for short, name, action, text in (
        (("-h",), "--help", "help", "show this help and exit"),
        ((), "--json", "store_true", "print JSON, for scripts"),
        ((), "--debug", "store_true", "print the log, and the traceback of an error"),
    )
]


class Parser(argparse.ArgumentParser):
    """A parser that says in one sentence what is wrong with the arguments, and what may have been meant."""

    def __init__(self, *, examples: str = "", **settings: Any) -> None:
        formatter = argparse.RawDescriptionHelpFormatter
        super().__init__(
            epilog=examples, formatter_class=formatter, add_help=False, allow_abbrev=False, **settings
        )

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


def build_parser(arguments: Sequence[str] | None = None) -> Parser:
    """Return the parser; given arguments, only the command that they name is complete: it saves time."""
    parser = Parser(prog="densvec", description=_DESCRIPTION, examples=_EXAMPLES)
    _add(parser, _GENERAL)
    parser.add_argument("--version", action="version", version=f"densvec {__version__}")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    chosen = None if arguments is None else _chosen(arguments)
    for name, command in COMMANDS.items():
        subparser = subparsers.add_parser(
            name, help=command.help, description=command.description, examples=command.examples
        )
        if chosen in (None, name):
            _add(subparser, [*command.arguments, *_GENERAL])
            subparser.usage = _usage(name, command.arguments)
    return parser


def _add(parser: Parser, arguments: Sequence[Argument]) -> None:
    groups: dict[str, argparse._ActionsContainer] = {"": parser}
    for each in arguments:
        if each.group not in groups:
            groups[each.group] = parser.add_argument_group(each.group)
        groups[each.group].add_argument(*each.flags, **each.settings)


def _usage(name: str, arguments: Sequence[Argument]) -> str:
    """Return the usage of a command: what it needs, the options in one word."""
    shown = []
    for each in arguments:
        is_option = each.flags[0].startswith("-")
        if is_option and not each.settings.get("required"):
            continue
        value = each.settings.get("metavar") or each.flags[-1].strip("-").upper()
        many = " ..." * (each.settings.get("nargs") in ("*", "+"))
        shown.append(f"{f'{each.flags[0]} ' * is_option}{value}{many}")
    return f"densvec {name} [options] {' '.join(shown)}"


def _chosen(arguments: Sequence[str]) -> str:
    """Return the name of the command, empty if there is none."""
    return next((item for item in arguments if item in COMMANDS), "")


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
    try:
        name = f"densvec {_chosen(arguments)}".strip()
        code = _guarded(lambda: _run(arguments), name, "--debug" in arguments)
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
    command = COMMANDS[args.command]
    with (
        contextlib.ExitStack() as args.at_end,
        warnings.catch_warnings(),
    ):  # restores what route_messages changes
        route_messages(verbose=args.debug)
        if isinstance(command, Question):
            return _ask(command, args)
        if getattr(args, "table", None) is not None:
            Output(args.json, args.table)  # a name that cannot be written is known before the work is done
        _report(command.run(args), args)
        return 0


def _report(found: Any, args: argparse.Namespace) -> None:
    """Print what a command found."""
    if isinstance(found, Document):
        output = Output(args.json, getattr(args, "table", None))
        output.write(found)
        output.close()
        unknown = getattr(found, "unknown", [])
        if unknown and not args.json:
            say(f"densvec {args.command}: unknown words left out: {' '.join(each.word for each in unknown)}")
    elif found is not None:
        document, text = found
        if args.json:
            print_json(document)
        else:
            put(text)


def _ask(command: Question, args: argparse.Namespace) -> int:
    """Answer questions one after another; return 1 if none could be answered."""
    output = Output(args.json, getattr(args, "table", None))
    answer = command.run(load(args.model), args)
    is_one, questions = command.is_one(args), command.asked(args)
    titled = not is_one if command.titled is None else command.titled
    asked = unanswered = 0
    for title, question in questions:
        asked += 1
        echo = command.echo(question, args)
        try:
            document = answer(question)
        except (KeyError, UsageError) as error:
            if is_one:
                raise
            unanswered += 1
            output.unanswered(error, echo, title)
        else:
            output.write(document, echo, title if titled else "")
    output.close()
    if unanswered:
        say(f"densvec: {unanswered:,} of {asked:,} could not be answered")
    return int(0 < asked == unanswered)


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


def _abandon_output() -> None:
    """Point standard output at nothing, so that Python does not complain when it flushes it at the end."""
    with open(os.devnull, "w") as nothing:
        os.dup2(nothing.fileno(), sys.stdout.fileno())
