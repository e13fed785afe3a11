"""5,000 mutated files, in a process of its own with little memory; ``make fuzz`` goes on for longer."""

import os
import subprocess
import sys
from pathlib import Path


def test_5000_mutated_files():
    result = subprocess.run(
        [sys.executable, "-m", "tests.files.fuzz", "--first", "0", "--cases", "5000"],
        capture_output=True,
        text=True,
        timeout=600,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    )
    print(result.stdout)
    assert result.returncode == 0, result.stderr[-5000:]
