"""``densvec plot``, and the pictures that other commands draw beside their answers."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from densvec.answers import parse_marked
from densvec.answers.messages import UsageError, check_known
from densvec.cli.commands import LOWER, MODEL, Argument, Command, Result, load, positive, text_of

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities

__all__ = ["PLOT", "picture", "prepare_matplotlib", "save_picture"]


def picture(what: str) -> Argument:
    """Return the option for the file of a picture."""
    return Argument("--plot", metavar="FILE", help=f"draw {what}: .png, .svg, .pdf, ... (needs matplotlib)")


def prepare_matplotlib() -> None:
    """Let matplotlib draw without a screen, or say how to install it."""
    try:
        import matplotlib
    except ImportError as error:
        raise ImportError('pictures need matplotlib: run  pip install "densvec[plot]"') from error
    matplotlib.use("agg")


def save_picture(axes: Any, path: str, dpi: int = 150) -> None:
    """Write the figure that axes are in; the file appears when it is whole."""
    from densvec.files.streams import open_for_writing

    kind = os.path.splitext(path)[1].removeprefix(".").lower() or "png"
    with open_for_writing(path) as file:
        axes.figure.savefig(file, format=kind, dpi=dpi, bbox_inches="tight")


def _plot(args: argparse.Namespace) -> Result:
    items = [text_of(item) for item in args.items]
    are_marked = any("[[" in item for item in items)
    marked = [parse_marked(item, lower=args.lower) for item in items] if are_marked else []
    words = list(dict.fromkeys(word for word, _, _ in marked))
    if len(words) > 1:
        raise UsageError(f"mark the same word in all sentences: got {', '.join(words)}")
    if args.entropy and len(marked) != 1:
        raise UsageError(f"--entropy needs one sentence with a marked [[word]]: got {len(marked)}")
    labels = None if args.label is None else [text_of(word) for word in args.label]
    if labels and items:
        raise UsageError("--label goes with the picture of generality, for which no words are given")
    wv = load(args.model)
    check_known(wv, words or items or labels or [])
    prepare_matplotlib()
    from densvec.plot import plot_contexts, plot_entropy, plot_generality, plot_words

    if args.entropy:
        axes = plot_entropy(wv, words[0], _window(wv, marked[0]))
    elif marked:
        contexts = {" ".join(each[1]): _window(wv, each) for each in marked}
        axes = plot_contexts(wv, words[0], contexts, radii=args.radii)
    elif items:
        axes = plot_words(wv, items, radii=args.radii)
    else:
        axes = plot_generality(wv, words=labels)
    save_picture(axes, args.output, args.dpi)
    return {"written": [args.output]}, f"wrote {args.output}"


def _window(wv: KeyedDensities, marked: tuple[str, Sequence[str], int]) -> list[str]:
    """Return the words around the marked one that `wv.infer` looks at in a sentence."""
    _, tokens, position = marked
    before = [token for token in tokens[:position] if token in wv.key_to_index]
    after = [token for token in tokens[position + 1 :] if token in wv.key_to_index]
    return before[max(len(before) - wv.window, 0) :] + after[: wv.window]


PLOT = Command(
    "plot",
    "draw densities",
    """\
Draw a picture of densities. What you give decides which:
  words                    their priors as ellipses, in a plane fitted to them
  sentences with a [[word]] marked
                           the word's prior and its posterior in each sentence
  nothing                  the generality of all words against their frequency
Needs matplotlib: pip install "densvec[plot]".""",
    """\
examples:
  densvec plot model.dv dog cat animal kiwi -o words.png
  densvec plot model.dv "a ripe [[kiwi]] tastes sweet" "a [[kiwi]] digs a burrow" -o kiwi.png
  densvec plot model.dv "a ripe fuzzy [[kiwi]] tastes sweet" --entropy -o entropy.png
  densvec plot model.dv -o generality.svg --label violin instrument music""",
    [
        MODEL,
        Argument("items", metavar="WORD|SENTENCE", nargs="*", help="words, or sentences with a [[word]]"),
        Argument("-o", "--output", metavar="FILE", required=True, help="the picture: .png, .svg, .pdf, ..."),
        Argument("--entropy", action="store_true", help="for one sentence: the entropy as its context grows"),
        Argument(
            "--label",
            metavar="WORD",
            nargs="+",
            action="extend",
            help="without words: label these in the picture of generality and frequency",
        ),
        Argument(
            "--radii",
            choices=["auto", "true", "scaled"],
            default="auto",
            help="draw circles true to size, or exaggerate their differences (default: auto, only if they hardly "
            "differ)",
        ),
        Argument("--dpi", type=positive, default=150, metavar="N", help="dots per inch (default: 150)"),
        LOWER,
    ],
    _plot,
)
