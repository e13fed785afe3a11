"""``densvec taxonomy``: words in a tree, each under what it is most likely a kind of."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from densvec.cli.errors import sentence
from densvec.cli.output import print_json, say
from densvec.cli.pictures import add_picture, prepare_matplotlib, save_picture
from densvec.cli.words import add_model, known_candidates, lines_or, load, unknown_word_in

__all__ = ["DESCRIPTION", "EPILOG", "HELP", "configure", "run"]

HELP = "words in a tree, each under a more general one"
DESCRIPTION = """\
Arrange words in a tree, each under the one that it is most likely a kind of: the maximum spanning arborescence over the
score that `densvec hypernyms` ranks by. A word that is a kind of none of the others by more than chance stands at the
top."""
EPILOG = """\
examples:
  densvec taxonomy model.dv animal bird owl kakapo fruit apple
  densvec taxonomy model.dv animal bird owl kakapo --plot tree.png
  densvec taxonomy model.dv - --json < words.txt  # one word per line"""


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> None:
    """Add the arguments."""
    add_model(parser)
    parser.add_argument("words", metavar="WORD", nargs="+", help="words; - reads them, one per line")
    add_picture(parser, "the tree")


def run(args: argparse.Namespace) -> None:
    """Print the tree of the words that are known, and those that are not."""
    if args.plot is not None:
        prepare_matplotlib()
    wv = load(args.model)
    words, unknown = known_candidates(wv, list(lines_or(args.words)))
    tree = wv.taxonomy(words)
    if args.plot is not None:
        from densvec.plot import plot_taxonomy

        save_picture(plot_taxonomy(tree), args.plot)
    if args.json:
        errors = [{"word": word, "error": sentence(unknown_word_in(wv, word))} for word in unknown]
        print_json({**tree.to_dict(), **({"unknown": errors} if errors else {})})
        return
    print(tree)
    for word in unknown:
        print(f"{word}\n  unknown: {sentence(unknown_word_in(wv, word))}")
    if unknown:
        say(f"densvec: {len(unknown):,} of {len(words) + len(unknown):,} words are unknown")
