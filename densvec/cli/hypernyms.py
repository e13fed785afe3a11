"""``densvec hypernyms``: what a word is a kind of, and what is a kind of it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from densvec.cli.output import columns, print_json, scored
from densvec.cli.words import Batch, add_model, add_topn, check_known, lines_or, load, number

__all__ = ["DESCRIPTION", "EPILOG", "HELP", "configure", "run"]

HELP = "what a word is a kind of"
DESCRIPTION = """\
Rank the words that a word may be a kind of, by nearness, generality and how usual they are; with --hyponyms, those that
may be a kind of it. Printed beside them are the scores of the pairs, between 0 and 1, which do not know how usual a
word is; the score of unrelated words is printed for comparison."""
EPILOG = """\
examples:
  densvec hypernyms model.dv violin
  densvec hypernyms model.dv instrument --hyponyms --restrict 20000
  densvec hypernyms model.dv - --json < words.txt  # one word per line"""


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> None:
    """Add the arguments."""
    add_model(parser)
    parser.add_argument("words", metavar="WORD", nargs="+", help="words; - reads them, one per line")
    parser.add_argument("--hyponyms", action="store_true", help="look for what is a kind of the word instead")
    parser.add_argument("--inflections", action="store_true", help="keep other forms of the word itself")
    parser.add_argument(
        "--restrict", type=int, metavar="N", help="rank only the N most frequent words (default: all)"
    )
    add_topn(parser)


def run(args: argparse.Namespace) -> int:
    """Print the hypernyms or hyponyms of each word."""
    wv = load(args.model)
    batch = Batch(args.words, args.json)
    for i, word in enumerate(lines_or(args.words)):
        with batch.answering(word, {"word": word}):
            check_known(wv, [word])
            search = wv.hyponyms if args.hyponyms else wv.hypernyms
            found = search(
                word, args.topn, restrict_vocab=args.restrict, exclude_inflections=not args.inflections
            )
            chance = wv.hypernymy_scale.chance
            if args.json:
                print_json(
                    {
                        "word": word,
                        "chance": chance,
                        "hyponyms" if args.hyponyms else "hypernyms": scored(found),
                    }
                )
                continue
            if args.words == ["-"] or len(args.words) > 1:
                print(("\n" if i else "") + word)
            rows = [(other, number(score)) for other, score in found]
            print(columns([*rows, ("(unrelated words)", number(chance))], right=[1]), flush=True)
    return batch.exit_code()
