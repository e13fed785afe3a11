"""``densvec evaluate``: the benchmarks of the paper, and of words in context."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from densvec.cli.errors import UsageError
from densvec.cli.output import print_json
from densvec.cli.words import add_model, load

__all__ = ["DESCRIPTION", "EPILOG", "HELP", "configure", "run"]

HELP = "run the paper's benchmarks, and those of words in context"
DESCRIPTION = """\
Run every benchmark in a directory: word similarity (word-sim/), lexical substitution (lexsub/),
entailment and its direction (entailment/), words in context (context/); and, on any text, those that need no
benchmark: merged words, entropy in context, explained dispersion. Print the figures with 95 % confidence
intervals by bootstrap."""
EPILOG = """\
examples:
  densvec evaluate model.dv --data data/eval
  densvec evaluate model.dv --data data/eval --resamples 0 --json  # no intervals, under a second
  densvec evaluate model.dv --corpus text.txt                      # what needs only text

The directory's layout: word-sim/EN-MEN-TR-3k.txt and others, lexsub/lst_all.preprocessed with lst_all.gold and
lst.gold.candidates, and others named in the same way, entailment/bless.tsv, bbds.tsv, bless_direction.txt,
bbds_direction.txt, hyperlex.txt, and in context/ files in the formats of SCWS, CoSimLex (.tsv with a header) and WiC
(dev.data.txt, dev.gold.txt). What is missing is left out."""


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> None:
    """Add the arguments."""
    add_model(parser)
    parser.add_argument("--data", metavar="DIR", help="the directory of benchmarks")
    parser.add_argument("--corpus", metavar="FILE", help="a text, one sentence per line")
    parser.add_argument(
        "--metrics",
        metavar="NAME,...",
        default="cosine",
        help="how to compare words in context: cosine, kl, reverse_kl, jeffreys, expected_likelihood, "
        "wasserstein (default: cosine)",
    )
    parser.add_argument(
        "--sample",
        type=float,
        metavar="NUMBER",
        help="how frequent words were thinned in training (default: as the model says, or 1e-4)",
    )
    parser.add_argument("--resamples", type=int, metavar="N", help="resamples of the bootstrap, 0 for none")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of all draws (default: 0)")
    parser.add_argument("--markdown", action="store_true", help="print a table in Markdown")


def run(args: argparse.Namespace) -> None:
    """Print the figures."""
    from densvec.evaluation import evaluate_all

    if args.data is None and args.corpus is None:
        raise UsageError("give --data, a directory of benchmarks, or --corpus, a text, or both")
    options = {} if args.resamples is None else {"resamples": args.resamples}
    report = evaluate_all(
        load(args.model),
        args.data,
        seed=args.seed,
        corpus=args.corpus,
        metrics=args.metrics.split(","),
        sample=args.sample,
        **options,
    )
    if args.json:
        print_json(report.to_dict())
    else:
        print(report.to_markdown() if args.markdown else report)
