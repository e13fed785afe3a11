"""Running numbered random cases, for a time or for a number of them: what the fuzzers of files and of text share."""

from __future__ import annotations

import argparse
import faulthandler
import logging
import math
import random
import sys
import time
import traceback
from collections.abc import Callable, Sequence


def run(
    arguments: Sequence[str] | None,
    description: str,
    check: Callable[[random.Random], None],
    things: str,
    patience: float,
) -> int:
    """Check one case after another, each from its own random numbers; return 1 if any fails, as a program does.

    A case that takes longer than `patience` seconds ends the process, and shows where it was.
    """
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--seconds", type=float, help="go on for this long")
    parser.add_argument("--cases", type=int, help="or for this many cases")
    parser.add_argument("--first", type=int, help="number of the first case; random by default")
    options = parser.parse_args(arguments)
    first = random.SystemRandom().randrange(10**9) if options.first is None else options.first
    seconds = 10.0 if options.seconds is None and options.cases is None else options.seconds
    end = math.inf if seconds is None else time.monotonic() + seconds
    last = math.inf if options.cases is None else first + options.cases
    logging.disable()
    failures, case = 0, first
    try:
        while time.monotonic() < end and case < last:
            faulthandler.dump_traceback_later(patience, exit=True)
            try:
                check(random.Random(case))
            except Exception:
                failures += 1
                print(f"case {case}", file=sys.stderr)
                traceback.print_exc()
            faulthandler.cancel_dump_traceback_later()
            case += 1
    finally:
        logging.disable(logging.NOTSET)
    print(f"{case - first:,} {things} from case {first}, {failures} failures")
    return 1 if failures else 0
