"""``densvec entails``: which of two words is more general."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from densvec.cli.errors import UsageError
from densvec.cli.output import columns, print_json
from densvec.cli.words import Batch, add_model, check_known, lines_or, load, text_of

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities

__all__ = ["DESCRIPTION", "EPILOG", "HELP", "compare", "configure", "readable", "run"]

HELP = "whether one word entails another, as dog entails animal"
DESCRIPTION = """\
Compare the densities of two words: whether they are related at all, and which is the more general. Two words
are related if they are nearer to each other than 95 in 100 pairs of words; of two related ones, a entails b if
KL[a‖b] is smaller than KL[b‖a]. "hypernymy" combines both in one score from 0 to 1: how far a is a kind of b."""
EPILOG = """\
examples:
  densvec entails model.dv dog animal
  densvec entails model.dv dog animal --json
  densvec entails model.dv - --json < pairs.tsv  # two words per line"""


RELATED = 0.95
"""Two words are called related if they are nearer to each other than this share of all pairs."""


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> None:
    """Add the arguments."""
    add_model(parser)
    parser.add_argument(
        "words", metavar="WORD", nargs="+", help="two words; or - to read pairs, one per line"
    )


def run(args: argparse.Namespace) -> int:
    """Print how each pair compares."""
    many = list(args.words) == ["-"]
    if not many and len(args.words) != 2:
        raise UsageError(f"two words are needed, the specific and the general one: got {len(args.words)}")
    wv = load(args.model)
    batch = Batch(["-"] if many else ["a pair"], args.json)
    for i, line in enumerate(lines_or(args.words) if many else [" ".join(map(text_of, args.words))]):
        if i and not args.json:
            print()
        pair = line.split() if many else list(map(text_of, args.words))
        with batch.answering(line, dict(zip("ab", pair, strict=False))):
            if len(pair) != 2:
                raise UsageError(f"two words are needed on each line of the input: got {line!r}")
            document = compare(wv, *pair)
            if args.json:
                print_json(document)
            else:
                print(readable(document), flush=True)
    return batch.exit_code()


def compare(wv: KeyedDensities, a: str, b: str) -> dict[str, Any]:
    """Return how the densities of two words compare."""
    check_known(wv, [a, b])
    forward, backward = wv.kl_divergence(a, b), wv.kl_divergence(b, a)
    cosine = float(wv.similarity(a, b))
    nearer = float(wv.hypernymy_scale.relatedness(cosine))
    return {
        "a": a,
        "b": b,
        "related": nearer >= RELATED,
        "nearer_than": nearer,
        "hypernymy": wv.hypernymy(a, b),
        "reverse_hypernymy": wv.hypernymy(b, a),
        "kl": forward,
        "reverse_kl": backward,
        "direction": backward - forward,
        "entails": nearer >= RELATED and forward < backward,
        "cosine": cosine,
        "generality": {a: wv.generality(a), b: wv.generality(b)},
    }


def readable(document: dict[str, Any]) -> str:
    """Return the comparison as people read it."""
    a, b = document["a"], document["b"]
    rows = [
        (f"{a} a kind of {b}", f"{document['hypernymy']:.3f}"),
        (f"{b} a kind of {a}", f"{document['reverse_hypernymy']:.3f}"),
        (f"KL[{a}‖{b}]", f"{document['kl']:.3f}"),
        (f"KL[{b}‖{a}]", f"{document['reverse_kl']:.3f}"),
        ("cosine", f"{document['cosine']:.3f}"),
        *((f"generality of {word}", f"{value:.3f}") for word, value in document["generality"].items()),
    ]
    if not document["related"]:
        share = f"nearer to each other than {100 * document['nearer_than']:.0f} % of all pairs of words"
        verdict = f"{a} and {b} are not related: they are {share}"
    elif not document["direction"]:
        verdict = f"{a} and {b} are related, and neither is more general"
    else:
        specific, general = (a, b) if document["entails"] else (b, a)
        verdict = f"{a} and {b} are related: {specific} entails {general}, rather than the other way round"
    return f"{verdict}\n{columns(rows, right=[1], indent='  ')}"
