"""``densvec learn``: a new word from a few sentences, or from its spelling."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from densvec.cli.errors import UsageError
from densvec.cli.output import columns, print_json, scored
from densvec.cli.words import add_model, add_topn, lines_or, load, number, text_of

__all__ = ["DESCRIPTION", "EPILOG", "HELP", "configure", "run"]

HELP = "a new word from a few sentences, or from its spelling"
DESCRIPTION = """\
Give a word that the model does not know a density, and print the words nearest to it: from sentences in which it
occurs, or, without any, from its spelling. With -o the model is saved with the new word in it."""
EPILOG = """\
examples:
  densvec learn model.dv wug "a wug is a small bird" "the wug nests in trees"
  densvec learn model.dv wug - -o larger.dv < sentences.txt
  densvec learn model.dv unbirdlike  # from its spelling"""


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> None:
    """Add the arguments."""
    add_model(parser)
    parser.add_argument("word", metavar="WORD", help="the new word")
    parser.add_argument(
        "sentences", metavar="SENTENCE", nargs="*", help="sentences with the word in them; - reads lines"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="save the densities with the new word in this file"
    )
    add_topn(parser)


def run(args: argparse.Namespace) -> None:
    """Learn the word and print its neighbours."""
    wv = load(args.model)
    word = text_of(args.word)
    if args.sentences:
        from densvec import pretrained

        wv = pretrained.load(args.model, mmap=None)  # writable, unlike a mapped one
        density = wv.learn(word, list(lines_or(args.sentences)))
    else:
        if args.output is not None:
            raise UsageError("spelling alone does not add a word to a model: give sentences, or leave out -o")
        if wv.subwords is None:
            wv = wv.with_subwords()
        density = wv.density_from_spelling(word)
    found = [(other, score) for other, score in wv.most_similar(density, topn=args.topn + 1) if other != word]
    found = found[: args.topn]
    if args.output is not None:
        wv.save(args.output)
    if args.json:
        variance = float(density.variance.mean())
        print_json({"word": word, "variance": variance, "nearest": scored(found)})
    else:
        print(columns([(other, number(score)) for other, score in found], right=[1]))
