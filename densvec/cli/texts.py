"""``densvec texts``: how similar texts are, as densities."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from densvec.cli.errors import UsageError
from densvec.cli.output import columns, print_json
from densvec.cli.words import add_lower, add_metric, add_model, lines_or, load, number

__all__ = ["DESCRIPTION", "EPILOG", "HELP", "configure", "run"]

HELP = "how similar texts are"
DESCRIPTION = """\
Take the first text as the question and rank the others by how similar they are to it. A text is the density of its
words, combined by precision; frequent words count little."""
EPILOG = """\
examples:
  densvec texts model.dv "an owl in the barn" "birds of the night" "apples and plums"
  densvec texts model.dv - --json < texts.txt  # one per line, the question first"""


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> None:
    """Add the arguments."""
    add_model(parser)
    parser.add_argument(
        "texts", metavar="TEXT", nargs="+", help="the question, then the texts; - reads lines"
    )
    parser.add_argument(
        "--weights", choices=["thinning", "sif", "none"], default="thinning", help="how much words count"
    )
    add_metric(parser, "cosine")
    add_lower(parser)


def run(args: argparse.Namespace) -> None:
    """Print the texts, the most similar first."""
    texts = [text.lower() if args.lower else text for text in lines_or(args.texts)]
    if len(texts) < 2:
        raise UsageError("at least two texts are needed, the question and one to compare it with")
    wv = load(args.model)
    densities = wv.text_density([text.split() for text in texts], weights=args.weights)
    scores = wv.text_similarity(densities[0], densities[1:], metric=args.metric)[0]
    order = np.argsort(-scores, kind="stable")
    if args.json:
        found = [{"text": texts[1 + i], "score": float(scores[i])} for i in order]
        print_json({"text": texts[0], "similar": found})
    else:
        print(columns([(number(scores[i]), texts[1 + i]) for i in order], right=[0]))
