"""Run the code of the documentation, page by page, as a reader would.

A page is Markdown. Its ``python`` blocks run in one namespace, its ``console`` blocks in a shell, in the order of the
page, in a directory of their own. A ``text`` block right after a ``python`` block, and what follows a command in a
``console`` block, is what they print; where a page shows no output, any will do. ``<!-- not run: reason -->`` before
a block excuses it.

    python -m tests.doc_pages               run all pages and say where the printed output is out of date
    python -m tests.doc_pages --write       write what is printed now into the pages, and renew their pictures
    python -m tests.doc_pages --fill        the same, and also where no output is shown yet
    python -m tests.doc_pages README.md     only these
"""

from __future__ import annotations

import argparse
import contextlib
import io
import logging
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FIRST = "docs/tutorial.md"
"""The page whose model and corpus the others use."""

RUN = {"densvec", "head", "ls"}
NOT_RUN = {
    "docker",
    "git",
    "make",
    "pip",
    "python",
    "cd",
}  # they build or install; each has a test or a workflow of its own

# What a page assumes: a file of the reader's own.
PRELUDES = {
    "README.md": "import shutil; shutil.copy('toy.txt', 'corpus.txt')",
    "docs/file_format.md": "from conftest import example_densities; path = 'cat.dv'; example_densities().save(path)",
}


@dataclass
class Block:
    """A fenced block: its language, its lines, and where they start in the page (from 0)."""

    language: str
    lines: list[str]
    start: int
    excuse: str | None = None
    output: Block | None = None

    @property
    def code(self) -> str:
        """The text of the block."""
        return "\n".join(self.lines) + "\n"


@dataclass
class Outcome:
    """What a page printed where, and the lines that it promised (None if it shows none)."""

    prints: list[tuple[int, list[str], list[str] | None]] = field(default_factory=list)

    def add(self, start: int, printed: str, promised: list[str] | None) -> None:
        """Note what was printed."""
        lines = [line.rstrip() for line in printed.rstrip().splitlines()]
        self.prints.append((start, lines, None if promised is None else [line.rstrip() for line in promised]))

    def stale(self) -> list[str]:
        """Return what to say about output that is no longer like what the page promises."""
        return [
            f"line {start + 1} promises\n{_indented(promised)}\nbut this is printed:\n{_indented(printed)}"
            for start, printed, promised in self.prints
            if promised is not None and not alike(printed, promised)
        ]


def pages() -> list[str]:
    """Return the pages, that whose files the others use first."""
    found = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
        if not {"_build", "paper"}.intersection(path.parts)
    ]
    return sorted(found, key=lambda page: page != FIRST)


def blocks(text: str) -> list[Block]:
    """Return the fenced blocks of a page, the output of a block attached to it.

    >>> page = "```python\\nprint(1)\\n```\\n\\n```text\\n1\\n```\\n"
    >>> [(block.language, block.output.lines) for block in blocks(page)]
    [('python', ['1'])]
    """
    found: list[Block] = []
    lines = text.splitlines()
    excuse, previous, i = None, None, 0
    while i < len(lines):
        line = lines[i]
        fence = re.fullmatch(r"\s*(`{3,}|~{3,})\s*\{?([\w-]*)\}?.*", line)
        if fence:
            end = i + 1
            while end < len(lines) and lines[end].strip() != fence[1]:
                end += 1
            block = Block(fence[2], lines[i + 1 : end], i + 1, excuse)
            if block.language == "text" and previous is not None:
                previous.output = block
            else:
                found.append(block)
            previous = block if block.language == "python" else None
            excuse, i = None, end + 1
            continue
        comment = re.fullmatch(r"\s*<!-- not run: (.+) -->\s*", line)
        if comment:
            excuse = comment[1]
        elif line.strip():
            excuse, previous = None, None
        i += 1
    return found


def run_page(page: str, directory: Path) -> Outcome:
    """Run a page's blocks in a directory; what fails raises, with the page's name and line."""
    outcome = Outcome()
    names: dict[str, Any] = {"__name__": "__main__"}
    with _working_in(directory):
        exec(PRELUDES.get(page, ""), names)
        for block in blocks((ROOT / page).read_text(encoding="utf-8")):
            if block.excuse is not None:
                continue
            if block.language == "python":
                printed = _run_python(page, block, names)
                if block.output is not None:
                    outcome.add(block.output.start, printed, block.output.lines)
                elif printed.strip():
                    outcome.add(block.start + len(block.lines), printed, None)
            elif block.language == "console":
                _run_console(page, block, outcome)
    return outcome


def _run_python(page: str, block: Block, names: dict[str, Any]) -> str:
    out = io.StringIO()
    # The line numbers of a traceback are those of the page.
    code = compile("\n" * block.start + block.code, str(ROOT / page), "exec")
    with contextlib.redirect_stdout(out), warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        exec(code, names)
    return out.getvalue()


def _run_console(page: str, block: Block, outcome: Outcome) -> None:
    for start, command, promised in _commands(block):
        program = command.split()[0]
        if command.startswith("python -m densvec."):
            command, program = command.replace("python", shlex.quote(sys.executable), 1), "densvec"
        if program in NOT_RUN:
            continue
        if program not in RUN:
            raise ValueError(
                f"{page}, line {start}: {program!r} is not known to be safe to run: mark it as not run"
            )
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            env=_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{page}, line {start}: {command!r} failed:\n{done.stdout}")
        outcome.add(start, done.stdout, promised or None)


def _commands(block: Block) -> Iterator[tuple[int, str, list[str]]]:
    """Return (first line of the output, command, output promised) of each command of a console block."""
    i = 0
    while i < len(block.lines):
        if not block.lines[i].startswith("$ "):
            raise ValueError(f"line {block.start + i + 1}: a console block starts with a command: '$ ...'")
        command = block.lines[i][2:]
        while command.endswith("\\"):
            i += 1
            command = command[:-1] + block.lines[i].strip()
        first = i = i + 1
        while i < len(block.lines) and not block.lines[i].startswith("$ "):
            i += 1
        yield block.start + first, command.split("  # ")[0], block.lines[first:i]


def _environment() -> dict[str, str]:
    """Return an environment in which `densvec` is this checkout's, run by this Python."""
    shim = Path(tempfile.gettempdir()) / f"densvec-shim-{os.getpid()}"
    if not shim.exists():
        shim.mkdir(exist_ok=True)
        script = shim / "densvec"
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m densvec "$@"\n')
        script.chmod(0o755)
    return {
        **os.environ,
        "PATH": f"{shim}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "MPLBACKEND": "agg",
        "COLUMNS": "100",
        "PYTHONIOENCODING": "utf-8",
    }


@contextlib.contextmanager
def _working_in(directory: Path) -> Iterator[None]:
    before = os.getcwd()
    logger = logging.getLogger()  # a page may show how to set it up
    handlers, level = logger.handlers[:], logger.level
    os.chdir(directory)
    os.environ.setdefault("MPLBACKEND", "agg")
    try:
        yield
    finally:
        os.chdir(before)
        for handler in logger.handlers:
            if handler not in handlers:
                handler.close()
        logger.handlers[:], logger.level = handlers, level


def alike(printed: Sequence[str], promised: Sequence[str]) -> bool:
    """Return whether two outputs say the same: as many lines, and at least two thirds of their words.

    Figures are not compared: they differ from one kind of processor to the next.

    >>> alike(["dog 0.31, cat 0.22"], ["dog 0.30, cat 0.22"]), alike(["dog"], ["dog", "cat"])
    (True, False)
    """
    if len(printed) != len(promised):
        return False
    ours, theirs = (re.findall(r"[^\W\d_]+", " ".join(lines)) for lines in (printed, promised))
    shared = sum(min(ours.count(word), theirs.count(word)) for word in set(ours))
    return 3 * shared >= 2 * max(len(ours), len(theirs))


def _indented(lines: Sequence[str]) -> str:
    return "\n".join(f"    {line}" for line in lines)


def write(page: str, outcome: Outcome, fill: bool = False) -> bool:
    """Put what was printed into a page; return whether that changed it."""
    path = ROOT / page
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    for start, printed, promised in reversed(outcome.prints):
        if promised is not None:
            lines[start : start + len(promised)] = printed
        elif fill and lines[start].startswith("```") and not lines[start - 1].startswith("$ "):
            lines[start + 1 : start + 1] = [
                "",
                "```text",
                *printed,
                "```",
            ]  # below the fence of a python block
        elif fill:
            lines[start:start] = printed
    changed = "\n".join(lines) + "\n"
    path.write_text(changed, encoding="utf-8")
    return changed != text


def copy_pictures(page: str, directory: Path) -> None:
    """Take the pictures that a page shows and has just drawn."""
    for name in re.findall(r"images/([\w-]+\.png)", (ROOT / page).read_text(encoding="utf-8")):
        if (directory / name).exists():
            shutil.copy(directory / name, ROOT / "docs" / "images" / name)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run pages; complain about output that is out of date, or rewrite it."""
    parser = argparse.ArgumentParser(description="Run the code of the documentation.")
    parser.add_argument("pages", nargs="*", help="such as docs/tutorial.md (default: all)")
    parser.add_argument("--write", action="store_true", help="write what is printed now into the pages")
    parser.add_argument("--fill", action="store_true", help="write also where no output is shown yet")
    args = parser.parse_args(arguments)
    stale = 0
    with tempfile.TemporaryDirectory() as place:
        first = Path(place) / "first"
        first.mkdir()
        chosen = args.pages or pages()
        for page in [FIRST, *(page for page in chosen if page != FIRST)]:
            directory = first
            if page != FIRST:
                directory = Path(place) / page.replace("/", "-")
                shutil.copytree(first, directory)
            outcome = run_page(page, directory)
            if page not in chosen:
                continue
            messages = outcome.stale()
            if args.write or args.fill:
                print(f"{page}: {'rewritten' if write(page, outcome, args.fill) else 'unchanged'}")
                copy_pictures(page, directory)
            else:
                print(f"{page}: {'as printed' if not messages else 'out of date'}", *messages, sep="\n")
                stale += len(messages)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
