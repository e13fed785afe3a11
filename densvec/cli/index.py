"""``densvec index``: every occurrence of words in a corpus, with what they mean there."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import Any

from densvec.cli.corpus import open_source, sentences_of
from densvec.cli.errors import UsageError
from densvec.cli.output import print_json, say
from densvec.cli.words import add_model, check_known, load

__all__ = ["DESCRIPTION", "EPILOG", "HELP", "configure", "run"]

HELP = "index every occurrence of words in a corpus"
DESCRIPTION = """\
Infer what words mean at each of their occurrences in a corpus, and keep that in a folder for `densvec where`,
which answers: where else is a word used as it is here? The same command continues an interrupted index."""
EPILOG = """\
examples:
  densvec index model.dv corpus.txt -o occurrences  # all words but the most frequent ones
  densvec index model.dv corpus.txt -o banks --words bank banks plant
  zcat corpus.txt.gz | densvec index model.dv - -o occurrences --json

An occurrence takes two bytes for each dimension, and the sentences themselves are kept once."""


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> None:
    """Add the arguments."""
    add_model(parser)
    parser.add_argument("corpus", metavar="CORPUS", help="text, one sentence per line; - is standard input")
    parser.add_argument("-o", "--output", metavar="DIR", required=True, help="the folder to write")
    parser.add_argument("--words", metavar="WORD", nargs="+", help="index only these words")
    parser.add_argument(
        "--max-share",
        metavar="P",
        type=float,
        default=1e-3,
        help="without --words, leave out words that make up more than this share of the text (default: .001)",
    )
    parser.add_argument(
        "--precision",
        choices=("float16", "float32"),
        default="float16",
        help="type of the stored numbers (default: float16)",
    )
    parser.add_argument("--lower", action="store_true", help="lower-case the corpus")
    parser.add_argument("-q", "--quiet", action="store_true", help="print no progress")


def run(args: argparse.Namespace) -> None:
    """Build the index, or go on building it."""
    from densvec.search.occurrences import content_words, index_occurrences

    wv = load(args.model)
    if args.words:
        check_known(wv, args.words)
    words = args.words or content_words(wv, args.max_share)
    if not words:
        raise UsageError(f"--max-share {args.max_share} leaves no words: raise it, or give --words")

    def report(sentences: int, occurrences: int) -> None:
        say(f"densvec index: {occurrences:,} occurrences in {sentences:,} sentences")

    with open_source(args.corpus, passes=1, quiet=True) as (source, _):
        sentences = _sentences(source, args.lower)
        found = index_occurrences(
            wv, sentences, args.output, words, dtype=args.precision, report=None if args.quiet else report
        )
    if args.json:
        print_json({"index": args.output, "occurrences": len(found), "sentences": found.sentence_count})
    else:
        print(f"{args.output}: {len(found):,} occurrences of {len(words):,} word{'s' * (len(words) != 1)}")


def _sentences(source: dict[str, Any], lower: bool) -> Iterable[list[str]]:
    for tokens in sentences_of(source):
        yield [token.lower() for token in tokens] if lower else tokens
