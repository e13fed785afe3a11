"""Sequences of public calls, for as long as asked: whatever succeeded can be saved and loaded.

python -m tests.model.fuzz --seconds 600
"""

import argparse
import logging
import sys
import time

from hypothesis import HealthCheck, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.model.test_round_trip import Calls

SEQUENCES = 50  # between two looks at the clock


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600)
    options = parser.parse_args(arguments)
    logging.disable(logging.WARNING)
    deadline, sequences = time.monotonic() + options.seconds, 0
    while time.monotonic() < deadline:
        chosen = settings(
            max_examples=SEQUENCES,
            stateful_step_count=25,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        run_state_machine_as_test(seed(sequences)(Calls), settings=chosen)
        sequences += SEQUENCES
    print(f"{sequences} sequences of up to 25 calls")
    return 0


if __name__ == "__main__":
    sys.exit(main())
