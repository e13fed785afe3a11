"""``densvec plot``: pictures."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from densvec.cli.errors import UsageError
from densvec.cli.output import print_json
from densvec.cli.pictures import prepare_matplotlib, save_picture
from densvec.cli.words import (
    Marked,
    add_lower,
    add_model,
    check_known,
    load,
    parse_marked,
    positive,
    text_of,
)

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities

__all__ = ["DESCRIPTION", "EPILOG", "HELP", "configure", "run"]

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
  densvec plot model.dv "a ripe fuzzy [[kiwi]] tastes sweet" --entropy -o entropy.png
  densvec plot model.dv -o generality.svg
  densvec plot model.dv -o generality.svg --label violin instrument music"""


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> None:
    """Add the arguments."""
    add_model(parser)
    parser.add_argument(
        "items", metavar="WORD|SENTENCE", nargs="*", help="words, or sentences with a [[word]]"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", required=True, help="the picture: .png, .svg, .pdf, ..."
    )
    parser.add_argument(
        "--entropy", action="store_true", help="for one sentence: the entropy as its context grows"
    )
    parser.add_argument(
        "--label",
        metavar="WORD",
        nargs="+",
        action="extend",
        help="without words: label these in the picture of generality and frequency",
    )
    parser.add_argument(
        "--radii",
        choices=["auto", "true", "scaled"],
        default="auto",
        help="draw circles true to size, or exaggerate their differences (default: auto, only if they hardly differ)",
    )
    parser.add_argument("--dpi", type=positive, default=150, metavar="N", help="dots per inch (default: 150)")
    add_lower(parser)


def run(args: argparse.Namespace) -> None:
    """Draw the picture and name its file."""
    items = list(map(text_of, args.items))
    marked = [parse_marked(item, lower=args.lower) for item in items] if _are_marked(items) else []
    words = list(dict.fromkeys(sentence.word for sentence in marked))
    if len(words) > 1:
        raise UsageError(f"mark the same word in all sentences: got {', '.join(words)}")
    if args.entropy and len(marked) != 1:
        raise UsageError(f"--entropy needs one sentence with a marked [[word]]: got {len(marked)}")
    labels = None if args.label is None else list(map(text_of, args.label))
    if labels and items:
        raise UsageError("--label goes with the picture of generality, for which no words are given")
    wv = load(args.model)
    check_known(wv, words or items or labels or [])
    prepare_matplotlib()
    save_picture(_draw(wv, items, marked, args.entropy, labels, args.radii), args.output, args.dpi)
    if args.json:
        print_json({"written": [args.output]})
    else:
        print(f"wrote {args.output}")


def _are_marked(items: Sequence[str]) -> bool:
    return any("[[" in item for item in items)


def _draw(
    wv: KeyedDensities,
    items: Sequence[str],
    marked: Sequence[Marked],
    entropy: bool,
    labels: Sequence[str] | None,
    radii: str,
) -> Any:
    from densvec.plot import plot_contexts, plot_entropy, plot_generality, plot_words

    if entropy:
        return plot_entropy(wv, marked[0].word, _window(wv, marked[0]))
    if marked:
        contexts = {" ".join(sentence.tokens): _window(wv, sentence) for sentence in marked}
        return plot_contexts(wv, marked[0].word, contexts, radii=radii)
    return plot_words(wv, list(items), radii=radii) if items else plot_generality(wv, words=labels)


def _window(wv: KeyedDensities, marked: Marked) -> list[str]:
    """Return the words around the marked one that `wv.infer` looks at in a sentence."""
    before = [token for token in marked.tokens[: marked.position] if token in wv.key_to_index]
    after = [token for token in marked.tokens[marked.position + 1 :] if token in wv.key_to_index]
    return before[max(len(before) - wv.window, 0) :] + after[: wv.window]
