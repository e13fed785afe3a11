"""``densvec similar``: the words most like some words."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from densvec.cli.output import columns, print_json, scored
from densvec.cli.words import (
    Batch,
    add_metric,
    add_model,
    add_topn,
    check_known,
    lines_or,
    load,
    number,
    text_of,
)

__all__ = ["DESCRIPTION", "EPILOG", "HELP", "configure", "run"]

HELP = "words most like a word"
DESCRIPTION = """\
Print the words most like a word, or like several words together. By default the means are compared, as gensim
does; --metric compares the whole densities: by KL, a specific word's neighbours include the general words
whose densities contain its own."""
EPILOG = """\
examples:
  densvec similar model.dv kiwi
  densvec similar model.dv kiwi --metric kl -n 5
  densvec similar model.dv king woman --minus man  # what is to woman as king is to man
  cut -f1 words.tsv | densvec similar model.dv - --json  # one line of JSON for each word of the input"""


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> None:
    """Add the arguments."""
    add_model(parser)
    parser.add_argument(
        "words", metavar="WORD", nargs="+", help="words, taken together; - reads words and answers one by one"
    )
    parser.add_argument("--minus", metavar="WORD", action="append", default=[], help="words to be unlike")
    add_metric(parser, "cosine")
    add_topn(parser)


def run(args: argparse.Namespace) -> int:
    """Print the most similar words."""
    wv = load(args.model)
    minus = list(map(text_of, args.minus))
    each = args.words == ["-"]
    check_known(wv, minus)
    batch = Batch(args.words if each else ["one"], args.json)
    for words in ([word] for word in lines_or(args.words)) if each else [list(map(text_of, args.words))]:
        document = {"words": words, "minus": minus, "metric": args.metric}
        with batch.answering(words[0], document):
            check_known(wv, words)
            found = wv.most_similar(words, minus, topn=args.topn, metric=args.metric)
            if args.json:
                print_json({**document, "similar": scored(found)})
                continue
            if each:
                print(words[0])
            rows = [(word, number(score)) for word, score in found]
            print(columns(rows, right=[1], indent="  " if each else ""), flush=True)
    return batch.exit_code()
