"""``densvec substitutes``: what could replace a word in a sentence."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from densvec.cli.output import columns, print_json, say, scored
from densvec.cli.words import (
    Batch,
    add_lower,
    add_model,
    add_topn,
    check_known,
    known_candidates,
    lines_or,
    load,
    number,
    parse_marked,
    report_skipped,
    skipped,
    text_of,
)

__all__ = ["DESCRIPTION", "EPILOG", "HELP", "configure", "run"]

HELP = "what could replace a word in a sentence"
DESCRIPTION = """\
Rank the words that could replace a marked word in its sentence, by log p(substitute) - KL[posterior of the word ‖
prior of the substitute]. The posterior's mean is first moved further from the prior's, --emphasis times as far as
the context has moved it. Other forms of the word (plurals, -ing, -ed) and the other words of the sentence are left
out unless you ask for them."""
EPILOG = """\
examples:
  densvec substitutes model.dv "a ripe [[kiwi]] tastes sweet"
  densvec substitutes model.dv "a ripe [[kiwi]] tastes sweet" --candidates apple owl plum
  densvec substitutes model.dv - --json < sentences.txt  # one marked sentence per line"""


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> None:
    """Add the arguments."""
    add_model(parser)
    parser.add_argument(
        "sentences", metavar="SENTENCE", nargs="+", help="a sentence with one [[word]] marked; - reads lines"
    )
    parser.add_argument("--candidates", metavar="WORD", nargs="+", help="rank only these words")
    parser.add_argument("--inflections", action="store_true", help="keep other forms of the word itself")
    parser.add_argument("--context", action="store_true", help="keep the other words of the sentence")
    parser.add_argument(
        "--emphasis",
        metavar="TIMES",
        type=float,
        help="how much the context weighs; 1 uses the posterior as it is",
    )
    parser.add_argument(
        "--frequency",
        metavar="TIMES",
        type=float,
        help="how much it counts that a word is frequent; 0 ranks by the divergence alone",
    )
    add_topn(parser)
    add_lower(parser)


def run(args: argparse.Namespace) -> int:
    """Print the substitutes of each marked word."""
    wv = load(args.model)
    candidates: list[str] | None = None
    unknown_candidates: list[str] = []
    if args.candidates is not None:
        candidates, unknown_candidates = known_candidates(wv, list(map(text_of, args.candidates)))
    if unknown_candidates and not args.json:
        say(f"densvec: unknown candidates left out: {' '.join(unknown_candidates)}")
    batch = Batch(args.sentences, args.json)
    for i, text in enumerate(lines_or(args.sentences)):
        with batch.answering(text, {"sentence": text}):
            marked = parse_marked(text, lower=args.lower)
            check_known(wv, [marked.word])
            found = wv.substitutes(
                marked.word,
                marked.tokens,
                candidates,
                args.topn,
                exclude_inflections=not args.inflections,
                position=marked.position,
                emphasis=args.emphasis,
                frequency=args.frequency,
                exclude_context=not args.context and candidates is None,
            )
            unknown = skipped(wv, marked)
            if args.json:
                document = {
                    "sentence": text,
                    "word": marked.word,
                    "position": marked.position,
                    "unknown": unknown,
                    "unknown_candidates": unknown_candidates,
                }
                print_json({**document, "substitutes": scored(found)})
                continue
            report_skipped(wv, unknown, marked)
            if args.sentences == ["-"] or len(args.sentences) > 1:
                print(("\n" if i else "") + text)
            print(columns([(word, number(score)) for word, score in found], right=[1]), flush=True)
    return batch.exit_code()
