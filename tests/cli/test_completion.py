"""``densvec completion``."""

import shutil
import subprocess

import pytest

from densvec.cli import main
from densvec.cli.program import COMMANDS


class TestCompletion:
    @pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
    @pytest.mark.parametrize(
        ("typed", "offered"),
        [
            (["simi"], "similar"),
            (["similar", "model.dv", "kiwi", "--metric", "rev"], "reverse_kl"),
            (["train", "--vector-s"], "--vector-size"),
            (["train", ""], ""),  # left to the completion of file names
            (["completion", "z"], "zsh"),
        ],
    )
    def test_bash(self, typed, offered, capsys):
        main(["completion", "bash"])
        words = " ".join(f"'{word}'" for word in ["densvec", *typed])
        script = f'COMP_WORDS=({words}); COMP_CWORD={len(typed)}; _densvec; echo "${{COMPREPLY[@]}}"'
        done = subprocess.run(
            ["bash", "-c", f"{capsys.readouterr().out}\n{script}"], capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == offered

    @pytest.mark.parametrize("shell", ["zsh", "fish"])
    def test_other_shells_know_every_command(self, shell, capsys):
        assert main(["completion", shell]) == 0
        script = capsys.readouterr().out
        assert all(name in script for name in [*COMMANDS, "vector-size", "max-norm", "reverse_kl"])
        if shutil.which(shell):
            subprocess.run([shell, "-n"], input=script, text=True, check=True)
