"""What a terminal shows: words of strangers are never obeyed."""

import io
import sys

import pytest

from densvec.cli.output import Terminal, prepare_streams, visible


class Screen(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("kiwi\tcafé 日本\n", "kiwi\tcafé 日本\n"),
        ("\x1b]0;title\x07\x1b[2J", "\\x1b]0;title\\x07\\x1b[2J"),
        ("a\rb\x08\x7f\x9b31m\u202eabc", "a\\rb\\x08\\x7f\\x9b31m\\u202eabc"),
    ],
)
def test_what_a_terminal_would_obey_is_written_out(text, shown):
    assert visible(text) == shown


def test_terminals_are_guarded_and_pipes_are_not(monkeypatch):
    screen, errors, pipe = Screen(), Screen(), io.StringIO()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setattr(sys, "stderr", errors)
    prepare_streams()
    prepare_streams()
    print("\x1b[31mred")
    sys.stdout.writelines(["\x07"])
    print("\x1b[31m\r\x1b[Aprogress", file=sys.stderr)
    assert isinstance(sys.stdout, Terminal)
    assert screen.getvalue() == "\\x1b[31mred\n\\x07"
    assert errors.getvalue() == "\\x1b[31m\r\x1b[Aprogress\n"
    monkeypatch.setattr(sys, "stdout", pipe)
    prepare_streams()
    print("\x1b[31mred")
    assert pipe.getvalue() == "\x1b[31mred\n"
