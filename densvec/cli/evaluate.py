"""``densvec evaluate``: the benchmarks of the paper."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from densvec.cli.output import print_json
from densvec.cli.words import add_model, load

__all__ = ["DESCRIPTION", "EPILOG", "HELP", "configure", "run"]

HELP = "run the paper's benchmarks"
DESCRIPTION = """\
Run every benchmark that a directory holds: word similarity (word-sim/), lexical substitution (lexsub/),
entailment and its direction (entailment/); print the figures with 95 % confidence intervals by bootstrap."""
EPILOG = """\
examples:
  densvec evaluate model.dv --data data/eval
  densvec evaluate model.dv --data data/eval --resamples 0 --json  # no intervals, under a second

The directory's layout: word-sim/EN-MEN-TR-3k.txt and others, lexsub/lst_all.preprocessed with its .gold and
lst.gold.candidates, entailment/bless.tsv, bbds.tsv, bless_direction.txt, bbds_direction.txt. What is missing
is left out."""


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> None:
    """Add the arguments."""
    add_model(parser)
    parser.add_argument("--data", metavar="DIR", required=True, help="the directory of the benchmarks")
    parser.add_argument("--resamples", type=int, metavar="N", help="resamples of the bootstrap, 0 for none")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the bootstrap (default: 0)")
    parser.add_argument("--markdown", action="store_true", help="print a table in Markdown")


def run(args: argparse.Namespace) -> None:
    """Print the figures."""
    from densvec.evaluation import evaluate_all

    options = {} if args.resamples is None else {"resamples": args.resamples}
    report = evaluate_all(load(args.model), args.data, seed=args.seed, **options)
    if args.json:
        print_json(report.to_dict())
    else:
        print(report.to_markdown() if args.markdown else report)
