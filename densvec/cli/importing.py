"""``densvec import``: vectors of other programs as a model file."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from densvec.cli.errors import UsageError
from densvec.cli.output import print_json

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities

__all__ = ["DESCRIPTION", "EPILOG", "HELP", "configure", "run"]

HELP = "turn vectors of word2vec, GloVe or fastText into a model file"
DESCRIPTION = """\
Read vectors made by another program, and write them as a file that every command takes. Such vectors have no
encoder, and no variances unless you give them: neighbours and analogies work, questions about contexts and
densities do not."""
EPILOG = """\
formats, detected unless you name one:
  word2vec         text with a header of two numbers; also fastText's .vec
  word2vec-binary  such as GoogleNews-vectors-negative300.bin
  glove            text without a header
  fasttext         a .bin model of fastText; its vectors of words, n-grams included

examples:
  densvec import glove.6B.100d.txt -o glove.dv
  densvec import GoogleNews-vectors-negative300.bin.gz -o news.dv --limit 200000
  densvec import means.txt -o model.dv --variances variances.txt  # from densvec export"""

FORMATS = ("auto", "word2vec", "word2vec-binary", "glove", "fasttext")


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> None:
    """Add the arguments."""
    parser.add_argument("vectors", metavar="FILE", help="the vectors; text may be compressed")
    parser.add_argument("-o", "--output", metavar="MODEL", required=True, help="where to write")
    parser.add_argument("--format", choices=FORMATS, default="auto", help="what FILE is (default: auto)")
    parser.add_argument("--variances", metavar="FILE", help="variances in the same format")
    parser.add_argument("--limit", type=int, metavar="N", help="read only the first N vectors")
    parser.add_argument("--dtype", choices=["float32", "float16", "int8"], help="how to store them")
    parser.add_argument("--overwrite", action="store_true", help="replace MODEL if it exists")


def run(args: argparse.Namespace) -> None:
    """Read the vectors and write the model."""
    if os.path.exists(args.output) and not args.overwrite:
        raise UsageError(f"{args.output} already exists: --overwrite replaces it")
    form = _guessed(args.vectors) if args.format == "auto" else args.format
    wv = _read(args, form)
    wv.save(args.output, dtype=args.dtype)
    if args.json:
        document = {"written": args.output, "format": form, "words": len(wv), "vector_size": wv.vector_size}
        print_json(document)
    else:
        print(f"{args.output}: {len(wv):,} words in {wv.vector_size} dimensions, from {form}")


def _read(args: argparse.Namespace, form: str) -> KeyedDensities:
    from densvec.keyed import KeyedDensities

    if form == "fasttext":
        from densvec.files.fasttext import read_fasttext

        if args.variances is not None:
            raise UsageError("--variances goes with the formats of word2vec and GloVe")
        words, vectors, counts = read_fasttext(args.vectors)
        wv = KeyedDensities.from_arrays(words, vectors, attributes={"count": counts})
        return wv if args.limit is None else wv.restrict(words[: args.limit])
    return KeyedDensities.load_word2vec_format(
        args.vectors,
        binary=form == "word2vec-binary",
        no_header=form == "glove",
        limit=args.limit,
        variances=args.variances,
    )


def _guessed(path: str) -> str:
    """Return the format of a file, by how it begins."""
    from densvec.files.fasttext import is_fasttext
    from densvec.files.streams import open_binary

    with open_binary(path) as file:
        start = file.read(1 << 16)
    if is_fasttext(start):
        return "fasttext"
    header, _, rest = start.partition(b"\n")
    fields = header.split()
    if len(fields) != 2 or not all(field.isdigit() for field in fields):
        if len(fields) > 2 and _are_numbers(fields[1:]):
            return "glove"
        raise ValueError(
            f"{path}: this does not look like vectors in any of the formats {', '.join(FORMATS[1:])}"
        )
    first = rest.partition(b"\n")[0].split()
    is_text = _are_numbers(first[-int(fields[1]) :]) and len(first) > int(fields[1])
    return "word2vec" if is_text or not rest else "word2vec-binary"


def _are_numbers(fields: Sequence[bytes]) -> bool:
    try:
        return bool([float(field) for field in fields])
    except ValueError:
        return False
