"""``densvec compress``: a model in a quarter of the space."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

from densvec.cli.output import print_json, size_of
from densvec.cli.targets import check_targets
from densvec.cli.words import add_model, load, positive

__all__ = ["DESCRIPTION", "EPILOG", "HELP", "configure", "run"]

HELP = "make a model's file smaller"
DESCRIPTION = """\
Write the densities and the encoder of a model to a file of half or a quarter of the size, without what only
training needs, and, if you like, with only the most frequent words. Every command also takes the small file."""
EPILOG = """\
examples:
  densvec compress model.dv -o small.dv
  densvec compress model.dv -o small.dv --words 30000 --card card.md
  densvec compress model.dv -o half.dv --dtype float16"""


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> None:
    """Add the arguments."""
    from densvec.files.compact import TYPES

    add_model(parser)
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="where to write")
    parser.add_argument(
        "--dtype",
        choices=TYPES,
        default="int8",
        help="how numbers are stored: int8 with a scale for each row (the default), or as 16 or 32-bit floats",
    )
    parser.add_argument("--words", type=positive, metavar="N", help="keep only the N most frequent words")
    parser.add_argument(
        "--card", metavar="FILE", help="Markdown that says what the model is, kept in the file"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace FILE if it exists")


def run(args: argparse.Namespace) -> None:
    """Write the file and say how large it is."""
    from densvec import pretrained

    source = pretrained.find(args.model)
    check_targets([args.output], read=[source], overwrite=args.overwrite)
    wv = load(source)
    if args.words is not None:
        wv = wv.restrict(args.words)
    if args.card is not None:
        with open(args.card, encoding="utf-8") as file:
            wv.card = file.read()
    wv.save(args.output, dtype=args.dtype)
    if not os.path.isfile(source) or not os.path.isfile(args.output):  # remote: its size is unknown here
        before = after = None
    else:
        before, after = os.path.getsize(source), os.path.getsize(args.output)
    if args.json:
        document = {"model": args.model, "written": args.output, "dtype": args.dtype, "words": len(wv)}
        print_json({**document, "bytes_before": before, "bytes": after})
        return
    sizes = "" if before is None or after is None else f", {size_of(after)} instead of {size_of(before)}"
    print(f"{args.output}: {len(wv):,} words as {args.dtype}{sizes}")
