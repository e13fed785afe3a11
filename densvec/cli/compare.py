"""``densvec compare``: which words have different meanings in two corpora."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from densvec.cli.output import columns, print_json
from densvec.cli.pictures import add_picture, prepare_matplotlib, save_picture
from densvec.cli.words import load, positive, text_of

__all__ = ["DESCRIPTION", "EPILOG", "HELP", "configure", "run"]

HELP = "words whose meaning differs between two corpora"
DESCRIPTION = """\
Bring two models, of two decades or two newspapers, into one space and print the words that have moved most between
them, compared with what is usual for words like them: how far a word has moved, the p-value of that, how its
generality changed, and its nearest words in each."""
EPILOG = """\
examples:
  densvec compare nineties.dv twenties.dv --top 20
  densvec compare nineties.dv twenties.dv --words cell gay web --json
  densvec compare nineties.dv twenties.dv --words cell --plot cell.png"""


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> None:
    """Add the arguments."""
    parser.add_argument("first", metavar="A", help="a model")
    parser.add_argument("second", metavar="B", help="another, with the same number of dimensions")
    parser.add_argument("--top", type=positive, default=20, metavar="N", help="words to print (default: 20)")
    parser.add_argument("--words", metavar="WORD", nargs="+", help="print these words instead")
    parser.add_argument(
        "--min-count",
        type=positive,
        default=20,
        metavar="N",
        help="occurrences that a word must have (default: 20)",
    )
    add_picture(parser, "how the first word printed moved between its neighbours")


def run(args: argparse.Namespace) -> None:
    """Print the words that moved."""
    from densvec.questions.comparison import compare

    if args.plot is not None:
        prepare_matplotlib()
    comparison = compare(load(args.first), load(args.second), min_count=args.min_count)
    shifts = (
        comparison.most_shifted(args.top)
        if args.words is None
        else [comparison[text_of(word)] for word in args.words]
    )
    if args.plot is not None:
        from densvec.plot import plot_shift

        save_picture(plot_shift(comparison, shifts[0].word), args.plot)
    if args.json:
        for shift in shifts:
            print_json({**vars(shift), "nearest": list(shift.nearest)})
        return
    rows = [("word", "shift", "p", "generality", "nearest in the first", "in the second")]
    rows += [
        (
            shift.word,
            f"{shift.shift:.2f}",
            f"{shift.p_value:.1e}",
            f"{shift.generality_change:+.2f}",
            " ".join(shift.nearest[0][:4]),
            " ".join(shift.nearest[1][:4]),
        )
        for shift in shifts
    ]
    print(columns(rows, right=[1, 2, 3]))
