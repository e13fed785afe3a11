"""``densvec senses``: the senses of a word in a corpus."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from densvec.cli.errors import UsageError
from densvec.cli.output import print_json, scored
from densvec.cli.pictures import add_picture, prepare_matplotlib, save_picture
from densvec.cli.words import Batch, add_model, check_known, lines_or, load, positive

if TYPE_CHECKING:
    from densvec.questions.senses import Senses

__all__ = ["DESCRIPTION", "EPILOG", "HELP", "configure", "run"]

HELP = "the senses of a word in a corpus"
DESCRIPTION = """\
Find the occurrences of a word in a corpus and cluster them by what stands around them. A word has several senses,
up to three, if it is less near to others than words of like frequency are, and if several senses explain its
occurrences better. Each sense is printed with its share, the words that distinguish it from the others, and
typical occurrences."""
EPILOG = """\
examples:
  densvec senses model.dv corpus.txt bank
  densvec senses model.dv corpus.txt plant --number 2
  densvec senses model.dv corpus.txt bank --plot bank.png
  densvec senses model.dv corpus.txt bank star --max-occurrences 5000 --json"""


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> None:
    """Add the arguments."""
    add_model(parser)
    parser.add_argument("corpus", metavar="CORPUS", help="text with one sentence per line")
    parser.add_argument("words", metavar="WORD", nargs="+", help="words; - reads them, one per line")
    parser.add_argument(
        "--max-occurrences",
        type=positive,
        default=1000,
        metavar="N",
        help="occurrences to sample (default: 1000)",
    )
    parser.add_argument(
        "--number",
        type=positive,
        metavar="N",
        help="how many senses to find (default: as many as there seem)",
    )
    parser.add_argument(
        "--max-senses", type=positive, default=3, metavar="N", help="the most senses to find (default: 3)"
    )
    parser.add_argument(
        "-n", "--topn", type=positive, default=8, metavar="N", help="words per sense (default: 8)"
    )
    parser.add_argument(
        "--examples", type=positive, default=3, metavar="N", help="lines per sense (default: 3)"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the sample (default: 0)")
    add_picture(parser, "the occurrences of the word, coloured by sense")


def run(args: argparse.Namespace) -> int:
    """Print the senses of each word."""
    if args.plot is not None:
        if len(args.words) > 1:
            raise UsageError(f"--plot draws one word: got {len(args.words)}")
        prepare_matplotlib()
    wv = load(args.model)
    batch = Batch(args.words, args.json)
    for i, word in enumerate(lines_or(args.words)):
        with batch.answering(word, {"word": word}):
            check_known(wv, [word])
            senses = wv.senses(
                word,
                args.corpus,
                args.max_occurrences,
                number=args.number,
                max_senses=args.max_senses,
                topn=args.topn,
                examples=args.examples,
                seed=args.seed,
                show_progress=False if args.json else None,
            )
            if args.plot is not None:
                from densvec.plot import plot_senses

                save_picture(plot_senses(senses), args.plot)
            if args.json:
                print_json(_document(senses))
            else:
                print(("\n" if i else "") + str(senses), flush=True)
    return batch.exit_code()


def _document(senses: Senses) -> dict[str, Any]:
    """Return the senses of a word as a JSON document."""
    found = [
        {
            "share": sense.share,
            "nearest": scored(sense.nearest),
            "examples": [{"tokens": list(each.tokens), "position": each.position} for each in sense.examples],
        }
        for sense in senses
    ]
    return {"word": senses.word, "occurrences": len(senses.occurrences), "senses": found}
