"""``densvec completion``: scripts for shells, made from the parser."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module

__all__ = ["DESCRIPTION", "EPILOG", "HELP", "SHELLS", "Command", "Option", "configure", "described", "run"]

HELP = "print a script for your shell's completion"
DESCRIPTION = """\
Print a script that lets your shell complete commands, options, their values and file names."""
EPILOG = """\
examples:
  densvec completion bash >> ~/.bashrc
  densvec completion zsh > "${fpath[1]}/_densvec"
  densvec completion fish > ~/.config/fish/completions/densvec.fish"""


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> None:
    """Add the argument."""
    parser.add_argument("shell", choices=SHELLS, help="the shell")


def run(args: argparse.Namespace) -> None:
    """Print the script."""
    build_parser = import_module("densvec.cli.program").build_parser  # which imports this module
    print(SHELLS[args.shell](list(described(build_parser()))))


@dataclass(frozen=True)
class Option:
    """An option as completion sees it."""

    flags: tuple[str, ...]
    text: str
    choices: tuple[str, ...]
    takes_value: bool


@dataclass(frozen=True)
class Command:
    """A command as completion sees it."""

    name: str
    text: str
    options: tuple[Option, ...]
    choices: tuple[str, ...]  # of its arguments


def described(parser: argparse.ArgumentParser) -> Iterator[Command]:
    """Yield the commands of a parser."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            texts = {choice.dest: choice.help or "" for choice in action._choices_actions}
            for name, subparser in action.choices.items():
                yield _command(name, texts.get(name, ""), subparser)


def _command(name: str, text: str, parser: argparse.ArgumentParser) -> Command:
    options: list[Option] = []
    choices: list[str] = []
    for action in parser._actions:
        own = tuple(map(str, action.choices or ()))
        if action.option_strings:
            flags = tuple(action.option_strings)
            options.append(Option(flags, _short(action.help), own, action.nargs != 0))
        else:
            choices.extend(own)
    return Command(name, text, tuple(options), tuple(choices))


def _short(text: str | None) -> str:
    """Return the first clause of a help text, without characters that are special to a shell."""
    first = (text or "").split(". ")[0].split(" (default")[0].replace("%%", "%").replace("'", "’")
    return "".join(char for char in first if char not in '"`[]\\:$')[:72]


def _bash(commands: list[Command]) -> str:
    cases, values = [], []
    for command in commands:
        flags = [flag for option in command.options for flag in option.flags]
        cases.append(f"        {command.name}:-*) words='{' '.join(flags)}' ;;")
        cases.append(f"        {command.name}:*) words='{' '.join(command.choices)}' ;;")
        values += [
            f"        {command.name}:{flag}) words='{' '.join(option.choices)}'; found=1 ;;"
            for option in command.options
            if option.choices
            for flag in option.flags
        ]
        values += [
            f"        {command.name}:{flag}) return ;;"
            for option in command.options
            if option.takes_value and not option.choices
            for flag in option.flags
        ]
    newline = "\n"
    names = " ".join([*(command.name for command in commands), "--help", "--version"])
    return f"""\
# bash completion of densvec
_densvec() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}" words= found=
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W '{names}' -- "$current"))
        return
    fi
    case "${{COMP_WORDS[1]}}:$previous" in
{newline.join(values)}
    esac
    [ -n "$found" ] || case "${{COMP_WORDS[1]}}:$current" in
{newline.join(cases)}
    esac
    COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -o bashdefault -F _densvec densvec"""


def _zsh(commands: list[Command]) -> str:
    names = "\n".join(f"    '{command.name}:{_short(command.text)}'" for command in commands)
    cases = []
    for command in commands:
        specs = []
        for option in command.options:
            value = f":value:({' '.join(option.choices)})" if option.choices else ":value:_files"
            for flag in option.flags:
                specs.append(f"'{flag}[{option.text}]{value if option.takes_value else ''}'")
        rest = f"'*:argument:({' '.join(command.choices)})'" if command.choices else "'*:file:_files'"
        cases.append(f"    {command.name}) _arguments {' '.join([*specs, rest])} ;;")
    newline = "\n"
    return f"""\
#compdef densvec
local -a commands
commands=(
{names}
)
if (( CURRENT == 2 )); then
  _describe command commands
else
  shift words
  (( CURRENT-- ))
  case $words[1] in
{newline.join(cases)}
  esac
fi"""


def _fish(commands: list[Command]) -> str:
    lines = ["# fish completion of densvec"]
    for command in commands:
        lines.append(
            f"complete -c densvec -n __fish_use_subcommand -f -a {command.name} -d '{_short(command.text)}'"
        )
    for command in commands:
        condition = f"complete -c densvec -n '__fish_seen_subcommand_from {command.name}'"
        for option in command.options:
            flags = " ".join(
                f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in option.flags
            )
            value = (
                f" -x -a '{' '.join(option.choices)}'"
                if option.choices
                else " -r"
                if option.takes_value
                else ""
            )
            lines.append(f"{condition} {flags}{value} -d '{option.text}'")
        if command.choices:
            lines.append(f"{condition} -f -a '{' '.join(command.choices)}'")
    return "\n".join(lines)


SHELLS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
