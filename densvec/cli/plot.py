"""``densvec plot``: pictures."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from densvec.cli.errors import UsageError
from densvec.cli.output import print_json
from densvec.cli.words import add_lower, add_model, check_known, load, parse_marked, text_of

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities

HELP = "draw densities"
DESCRIPTION = """\
Draw a picture of densities. What you give decides which:
  words                    their priors as ellipses, in a plane fitted to them
  sentences with a [[word]] marked
                           the word's prior and its posterior in each sentence
  nothing                  the generality of all words against their frequency
Needs matplotlib: pip install "densvec[plot]"."""
EPILOG = """\
examples:
  densvec plot model.dv dog cat animal kiwi -o words.png
  densvec plot model.dv "a ripe [[kiwi]] tastes sweet" "a [[kiwi]] digs a burrow" -o kiwi.png
  densvec plot model.dv -o generality.svg"""


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Add the arguments."""
    add_model(parser)
    parser.add_argument(
        "items", metavar="WORD|SENTENCE", nargs="*", help="words, or sentences with a [[word]]"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", required=True, help="the picture: .png, .svg, .pdf, …"
    )
    parser.add_argument("--dpi", type=int, default=150, help="dots per inch of a .png (default: 150)")
    add_lower(parser)


def run(args: argparse.Namespace) -> None:
    """Draw the picture and name its file."""
    items = list(map(text_of, args.items))
    wv = load(args.model)
    check = _contexts_of(items, args.lower)
    check_known(wv, items if check is None else [check[0]])
    try:
        import matplotlib
    except ImportError as error:
        raise ImportError('plot needs matplotlib: pip install "densvec[plot]"') from error
    matplotlib.use("agg")
    axes = _draw(wv, items, check)
    axes.figure.savefig(args.output, dpi=args.dpi, bbox_inches="tight")
    if args.json:
        print_json({"written": [args.output]})
    else:
        print(f"wrote {args.output}")


def _contexts_of(items: Sequence[str], lower: bool) -> tuple[str, list[str]] | None:
    """Return the word and the contexts of marked sentences, or None if these are words."""
    if not any("[[" in item for item in items):
        return None
    marked = [parse_marked(item, lower=lower) for item in items]
    words = list(dict.fromkeys(sentence.word for sentence in marked))
    if len(words) > 1:
        raise UsageError(f"mark the same word in all sentences: got {', '.join(words)}")
    return words[0], [" ".join(sentence.context) for sentence in marked]


def _draw(wv: KeyedDensities, items: Sequence[str], contexts: tuple[str, list[str]] | None) -> Any:
    from densvec import plot

    if contexts is not None:
        return plot.plot_contexts(wv, *contexts)
    return plot.plot_words(wv, list(items)) if items else plot.plot_generality(wv)
