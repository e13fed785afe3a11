"""The command line as a process, and as a function."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import densvec
from densvec.cli import main

ROOT = Path(densvec.__file__).parent.parent


QUICK = shlex.split("--vector-size 12 --sample 0.01 --alpha 0.03 --epochs 3 --workers 1 --seed 3")


SENTENCE = "flightless shy [[kiwi]] digs forest burrow"


def command(*arguments):
    return [sys.executable, "-m", "densvec", *map(str, arguments)]


def environment(**more):
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONIOENCODING": "utf-8", **more}


def densvec_process(*arguments, env=None, **options):
    return subprocess.run(
        command(*arguments),
        capture_output=True,
        env=env or environment(),
        timeout=120,
        check=False,
        **options,
    )


def assert_one_sentence(done, code=1):
    """The process failed with one line on standard error and nothing else."""
    error = done.stderr.decode()
    assert done.returncode == code
    assert done.stdout == b""
    assert "Traceback" not in error
    assert error.startswith("densvec ")
    assert error.count("\n") == 1
    return error


def answer(capsys, *arguments):
    """Run a command in this process and return the documents that it prints."""
    capsys.readouterr()
    assert main([*map(str, arguments), "--json"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]
