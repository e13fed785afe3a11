"""``densvec entails``: which of two words is more general."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from densvec.cli.errors import UsageError
from densvec.cli.output import columns, print_json
from densvec.cli.words import add_model, check_known, lines_or, load, text_of

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities

__all__ = ["DESCRIPTION", "EPILOG", "HELP", "compare", "configure", "readable", "run"]

HELP = "whether one word entails another: a dog is an animal"
DESCRIPTION = """\
Compare the densities of two words. KL[a‖b] is small if b covers a; if it is smaller than KL[b‖a], then a
entails b rather than the other way round. Whether the words have anything to do with each other is for you to
judge, by the cosine and by the size of the smaller KL."""
EPILOG = """\
examples:
  densvec entails model.dv dog animal
  densvec entails model.dv dog animal --json
  densvec entails model.dv - --json < pairs.tsv  # two words on each line"""


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> None:
    """Add the arguments."""
    add_model(parser)
    parser.add_argument(
        "words", metavar="WORD", nargs="+", help="two words; or - to read pairs, one on each line"
    )


def run(args: argparse.Namespace) -> None:
    """Print how each pair compares."""
    pairs = _pairs(args.words)
    first = next(pairs, None)  # report wrong usage before loading the model
    wv = load(args.model)
    while first is not None:
        document = compare(wv, *first)
        if args.json:
            print_json(document)
        else:
            print(readable(document), flush=True)
        first = next(pairs, None)
        if first is not None and not args.json:
            print()


def compare(wv: KeyedDensities, a: str, b: str) -> dict[str, Any]:
    """Return how the densities of two words compare."""
    check_known(wv, [a, b])
    forward, backward = wv.kl_divergence(a, b), wv.kl_divergence(b, a)
    return {
        "a": a,
        "b": b,
        "kl": forward,
        "reverse_kl": backward,
        "direction": backward - forward,
        "entails": forward < backward,
        "cosine": float(wv.similarity(a, b)),
        "generality": {a: wv.generality(a), b: wv.generality(b)},
    }


def readable(document: dict[str, Any]) -> str:
    """Return the comparison as people read it."""
    a, b = document["a"], document["b"]
    rows = [
        (f"KL[{a}‖{b}]", f"{document['kl']:.3f}"),
        (f"KL[{b}‖{a}]", f"{document['reverse_kl']:.3f}"),
        ("cosine", f"{document['cosine']:.3f}"),
        *((f"generality of {word}", f"{value:.3f}") for word, value in document["generality"].items()),
    ]
    specific, general = (a, b) if document["entails"] else (b, a)
    verdict = f"{specific} entails {general}, rather than the other way round"
    if not document["direction"]:
        verdict = f"neither of {a} and {b} is more general"
    return f"{verdict}\n{columns(rows, right=[1], indent='  ')}"


def _pairs(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    if list(words) != ["-"]:
        if len(words) != 2:
            raise UsageError(f"two words are needed, the specific and the general one: got {len(words)}")
        yield text_of(words[0]), text_of(words[1])
        return
    for line in lines_or(words):
        pair = line.split()
        if len(pair) != 2:
            raise UsageError(f"two words are needed on each line of the input: got {line!r}")
        yield pair[0], pair[1]
