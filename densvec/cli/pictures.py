"""``densvec plot``, and the pictures that other commands draw beside their answers."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from densvec.answers.messages import UsageError
from densvec.cli.arguments import MODEL, Argument, option
from densvec.cli.commands import Command, Result, known, load, marked_word, text_of

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities


def picture(what: str) -> Argument:
    """Return the option for the file of a picture."""
    return option("--plot", f"draw {what}: .png, .svg, .pdf, ... (needs matplotlib)", metavar="FILE")


def drawing(path: str | None, dpi: int = 150) -> Callable[..., None]:
    """Return what draws a picture into a file: the name of a function of `densvec.plot`, and what that takes.

    Without a path it draws nothing. That matplotlib is missing is said before anything is computed.
    """
    if path is not None:
        try:
            import matplotlib
        except ImportError as error:
            raise ImportError('pictures need matplotlib: run  pip install "densvec[plot]"') from error
        matplotlib.use("agg")

    def draw(name: str, *drawn: Any, **options: Any) -> None:
        if path is not None:
            from densvec import plot
            from densvec.files.streams import open_for_writing

            figure = getattr(plot, name)(*drawn, **options).figure
            kind = os.path.splitext(path)[1].removeprefix(".").lower() or "png"
            with open_for_writing(path) as file:  # which appears when it is whole
                figure.savefig(file, format=kind, dpi=dpi, bbox_inches="tight")

    return draw


def _plot(args: argparse.Namespace) -> Result:
    draw, wv = drawing(args.output, args.dpi), load(args.model)
    items, labels = list(map(text_of, args.items)), args.label
    marked = [marked_word(wv, item) for item in items] if any("[[" in item for item in items) else []
    words = list(dict.fromkeys(word for word, _, _ in marked))
    if len(words) > 1:
        raise UsageError(f"mark the same word in all sentences: got {', '.join(words)}")
    if labels and items:
        raise UsageError("--label goes with the picture of generality, for which no words are given")
    if marked:
        contexts = {" ".join(each[1]): _window(wv, each) for each in marked}
        draw("plot_contexts", wv, words[0], contexts, radii=args.radii)
    elif items:
        draw("plot_words", wv, known(wv, items), radii=args.radii)
    else:
        draw("plot_generality", wv, words=None if labels is None else known(wv, labels))
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
  densvec plot model.dv -o generality.svg --label violin instrument music""",
    [
        MODEL,
        Argument("items", metavar="WORD|SENTENCE", nargs="*", help="words, or sentences with a [[word]]"),
        Argument("-o", "--output", metavar="FILE", required=True, help="the picture: .png, .svg, .pdf, ..."),
        option(
            "--label",
            "without words: label these in the picture of generality and frequency",
            nargs="+",
            action="extend",
            metavar="WORD",
        ),
        option(
            "--radii",
            "draw circles true to size, or exaggerate their differences (default: auto, only if they hardly differ)",
            "auto",
            choices=["auto", "true", "scaled"],
        ),
        option("--dpi", "dots per inch", 150),
    ],
    _plot,
)
