"""What all commands share: help, pipes, terminals, wrong usage."""

import inspect
import itertools
import json
import os
import shlex
import subprocess
import sys

import pytest

from densvec import BayesianSkipGram
from densvec.cli import main
from densvec.cli.program import COMMANDS, build_parser
from densvec.cli.train import PARAMETERS
from tests.cli.cases import SENTENCE, assert_one_sentence, command, densvec_process, environment


class TestHelp:
    @pytest.mark.parametrize("name", COMMANDS)
    def test_teaches_by_examples(self, name, capsys):
        assert main([name, "--help"]) == 0
        text = capsys.readouterr().out
        assert "examples:" in text
        assert f"densvec {name} " in text

    def test_lists_commands_without_importing_what_they_need(self):
        script = (
            "import sys; from densvec.cli import main; main(['--help']);"
            "print([m for m in ('torch', 'matplotlib', 'pandas', 'gensim', 'scipy.stats', 'smart_open', 'tqdm')"
            " if m in sys.modules])"
        )
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, env=environment(), check=True
        )
        text = done.stdout.decode()
        assert all(f"\n    {name}" in text for name in COMMANDS)
        assert text.endswith("[]\n")

    @pytest.mark.parametrize("option", PARAMETERS, ids=lambda option: option.settings["dest"])
    def test_the_defaults_of_training_are_those_of_the_library(self, option):
        default = inspect.signature(BayesianSkipGram).parameters[option.settings["dest"]].default
        assert default is None or f"(default: {default}" in option.settings["help"]

    def test_help_of_training_is_a_page(self, capsys):
        assert main(["train", "--help"]) == 0
        assert len(capsys.readouterr().out.splitlines()) < 75

    def test_every_example_parses(self, capsys):
        for name in COMMANDS:
            main([name, "--help"])
            for line in capsys.readouterr().out.splitlines():
                if line.startswith(f"  densvec {name} ") and "--help" not in line:
                    words = _shell_words(line)
                    build_parser(words).parse_args(words)


def _shell_words(line):
    """Return the arguments of a command line, without pipes and redirections."""
    return list(itertools.takewhile(lambda word: word not in "|<>>", shlex.split(line, comments=True)[1:]))


class TestPipesAndTerminals:
    @pytest.mark.parametrize("arguments", [["export", "--format", "word2vec"], ["infer", "-"]])
    def test_closed_pipe_is_a_quiet_end(self, arguments, model, tmp_path):
        name, *rest = arguments
        sentences = tmp_path / "sentences.txt"
        sentences.write_text(f"{SENTENCE}\n" * 2000)
        with sentences.open("rb") as file:
            process = subprocess.Popen(
                command(name, model, *rest),
                stdin=file,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment(),
            )
            assert process.stdout.readline()
            process.stdout.close()
            assert process.stderr.read() == b""
            assert process.wait(timeout=60) == 0

    @pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
    def test_full_disk(self, model):
        with open("/dev/full", "wb") as full:
            done = subprocess.run(
                command("info", model), stdout=full, stderr=subprocess.PIPE, env=environment(), check=False
            )
        assert done.returncode == 1
        assert done.stderr.decode().count("\n") == 1
        assert b"No space left" in done.stderr

    def test_terminal_without_unicode(self, foreign_words):
        env = environment(LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
        del env["PYTHONIOENCODING"]
        done = densvec_process("similar", foreign_words, "café", env=env)
        assert done.returncode == 0, done.stderr
        assert {line.split()[0] for line in done.stdout.decode("ascii").splitlines()} == {
            r"\u65e5\u672c",
            r"na\xefve",
            r"\u2615",
            "tea",
        }
        done = densvec_process("similar", foreign_words, "café", "--json", env=env)
        assert {item["word"] for item in json.loads(done.stdout)["similar"]} == {"日本", "naïve", "☕", "tea"}
        done = densvec_process("similar", foreign_words, "cafés", env=env)
        assert r"did you mean 'caf\xe9'" in assert_one_sentence(done)

    def test_wrong_usage(self, model):
        done = densvec_process("similar", model)
        assert done.returncode == 2
        assert done.stderr.decode().splitlines() == [
            "densvec similar: error: the following arguments are required: WORD. "
            "`densvec similar --help` shows the usage"
        ]
        assert main(["nonsense"]) == 2
        assert main(["similar", model, "kiwi", "--topn", "0"]) == 2

    @pytest.mark.parametrize(
        ("arguments", "meant"),
        [
            (["trian"], "train"),
            (["train", "corpus.txt", "-o", "m", "--epoks=3"], "--epochs"),
            (["train", "corpus.txt", "-o", "m", "--model", "bgs"], "bsg"),
            (["similar", "m", "kiwi", "--qqqq"], None),
        ],
    )
    def test_a_mistyped_name_is_answered_with_the_nearest(self, arguments, meant, capsys):
        assert main(arguments) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert (f"Did you mean {meant}?" in said) if meant else ("Did you mean" not in said)
