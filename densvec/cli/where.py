"""``densvec where``: other occurrences of a word with the same meaning."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from densvec.cli.output import columns, print_json
from densvec.cli.words import (
    METRICS,
    Batch,
    add_lower,
    add_model,
    add_topn,
    check_known,
    lines_or,
    load,
    number,
    parse_marked,
    report_skipped,
    skipped,
)

__all__ = ["DESCRIPTION", "EPILOG", "HELP", "configure", "run"]

HELP = "where else a word is used as it is here"
DESCRIPTION = """\
Search an index made by `densvec index` for the occurrences of the marked word whose meaning is nearest to the one
in the given sentence; with --any-word, for occurrences of any word."""
EPILOG = """\
examples:
  densvec where model.dv occurrences "she sat on the [[bank]] of the river"
  densvec where model.dv occurrences "a ripe [[kiwi]] tastes sweet" --any-word -n 20 --json"""


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> None:
    """Add the arguments."""
    add_model(parser)
    parser.add_argument("index", metavar="DIR", help="a folder made by `densvec index` with the same model")
    parser.add_argument(
        "sentences", metavar="SENTENCE", nargs="+", help="a sentence with one [[word]] marked; - reads lines"
    )
    parser.add_argument("--any-word", action="store_true", help="search the occurrences of all words")
    parser.add_argument(
        "--metric",
        choices=[metric for metric in METRICS if metric != "cosine"],
        default="kl",
        help="how to compare posteriors; scores are minus distances (default: kl)",
    )
    add_topn(parser)
    add_lower(parser)


def run(args: argparse.Namespace) -> int:
    """Print the occurrences nearest to each marked word."""
    from densvec.search.occurrences import Occurrences

    wv = load(args.model)
    index = Occurrences(args.index, wv)
    batch = Batch(args.sentences, args.json)
    for i, text in enumerate(lines_or(args.sentences)):
        with batch.answering(text, {"sentence": text}):
            marked = parse_marked(text, lower=args.lower)
            check_known(wv, [marked.word])
            posterior = wv.infer(marked.tokens, marked.word, marked.position)
            word = None if args.any_word else marked.word
            found = index.where(posterior, word, args.topn, metric=args.metric)
            if args.json:
                places = [
                    {
                        "word": place.word,
                        "score": place.score,
                        "position": place.position,
                        "tokens": place.tokens,
                    }
                    for place in found
                ]
                print_json({"sentence": text, "metric": args.metric, "occurrences": places})
                continue
            report_skipped(wv, skipped(wv, marked), marked)
            lines = [(number(place.score), place.text) for place in found]
            print(
                ("\n" if i else "") + (columns(lines, right=[0]) if lines else "no occurrences"), flush=True
            )
    return batch.exit_code()
