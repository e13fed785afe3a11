"""``densvec phrases``: collocations joined into one word."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Sequence
from typing import Any

from densvec.cli.corpus import Reading, add_reading, open_source, sentences_of
from densvec.cli.errors import UsageError
from densvec.cli.output import columns, print_json
from densvec.cli.words import positive

__all__ = ["DESCRIPTION", "EPILOG", "HELP", "configure", "run"]

HELP = "join words that belong together: new york becomes new_york"
DESCRIPTION = """\
Find pairs of neighbouring words that occur together far more often than by chance, by normalised pointwise mutual
information, and write the text with these pairs joined, one sentence on each line: a corpus for `densvec train`.
The text is read twice."""
EPILOG = """\
examples:
  densvec phrases corpus.txt -o joined.txt
  densvec phrases book.txt -o joined.txt.gz --threshold 0.3 --min-count 10
  densvec phrases corpus.txt -o joined.txt --rounds 2  # also new_york_city"""


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> None:
    """Add the arguments."""
    parser.add_argument("corpus", metavar="CORPUS", help="the text, as `densvec train` takes it")
    parser.add_argument(
        "-o", "--output", metavar="FILE", required=True, help="where to write; may end in .gz"
    )
    parser.add_argument(
        "--min-count", type=positive, default=5, metavar="N", help="rarer pairs are not joined (default: 5)"
    )
    parser.add_argument(
        "--threshold",
        type=float,
        default=0.5,
        metavar="NUMBER",
        help="the score that pairs must exceed: 0 is chance, 1 means never apart (default: 0.5)",
    )
    parser.add_argument(
        "--rounds", type=positive, default=1, metavar="N", help="how often to join (default: 1)"
    )
    parser.add_argument(
        "-n", "--topn", type=positive, default=20, metavar="N", help="phrases to print (default: 20)"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace FILE if it exists")
    parser.add_argument("-q", "--quiet", action="store_true", help="print only errors and the result")
    add_reading(parser)


def run(args: argparse.Namespace) -> None:
    """Write the joined text and print the best phrases."""
    from densvec.files.streams import open_for_writing
    from densvec.phrases import Phrases

    if os.path.exists(args.output) and not args.overwrite:
        raise UsageError(f"{args.output} already exists: --overwrite replaces it")
    found: dict[str, float] = {}
    with open_source(args.corpus, args.rounds + 1, args.quiet, Reading.of(args)) as (source, _):
        sentences: Iterable[Any] = sentences_of(source)
        for _ in range(args.rounds):
            phrases = Phrases(sentences, args.min_count, args.threshold)
            found |= {phrases.delimiter.join(pair): score for pair, score in phrases.scores.items()}
            sentences = phrases.joined(sentences)
        with open_for_writing(args.output) as file:
            for sentence in sentences:
                file.write(" ".join(sentence).encode("utf-8", "surrogatepass") + b"\n")
    best = sorted(found.items(), key=lambda item: -item[1])[: args.topn]
    if args.json:
        listed = [{"phrase": phrase, "score": score} for phrase, score in best]
        print_json({"written": args.output, "phrases": len(found), "best": listed})
        return
    print(columns([(phrase, f"{score:.3f}") for phrase, score in best], right=[1]))
    print(f"{args.output}: {len(found):,} phrases joined")
