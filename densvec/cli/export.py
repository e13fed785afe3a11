"""``densvec export``: files for other programs."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from densvec.cli.errors import UsageError
from densvec.cli.output import print_json
from densvec.cli.targets import check_targets
from densvec.cli.words import add_model, load

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities

__all__ = ["DESCRIPTION", "EPILOG", "FORMATS", "HELP", "configure", "run"]

HELP = "write files for other programs"
DESCRIPTION = """\
Write the densities of a model for other programs:
  word2vec         word2vec's text format, the means; --variances writes a second file like it
  word2vec-binary  word2vec's binary format
  tsv              a directory for the TensorFlow embedding projector: vectors.tsv, metadata.tsv
  gensim           a gensim KeyedVectors, for KeyedVectors.load (needs gensim)
  bsg              a directory like those of the original BSG release: mu.vectors, sigma.vectors (the variances)
  densvec          densities and encoder without the training state, to distribute"""
EPILOG = """\
examples:
  densvec export model.dv --format word2vec -o vectors.txt --variances variances.txt
  densvec export model.dv --format word2vec | head  # to standard output
  densvec export model.dv --format tsv -o projector/  # drop both files on projector.tensorflow.org
  densvec export model.dv --format densvec -o ship.dv"""


FILES_OF_FOLDERS = {"tsv": ("vectors.tsv", "metadata.tsv"), "bsg": ("mu.vectors", "sigma.vectors")}


def _word2vec(wv: KeyedDensities, path: str, variances: str | None) -> list[str]:
    wv.save_word2vec_format(path, variances=variances)
    return [path] if variances is None else [path, variances]


def _word2vec_binary(wv: KeyedDensities, path: str, variances: str | None) -> list[str]:
    wv.save_word2vec_format(path, binary=True, variances=variances)
    return [path] if variances is None else [path, variances]


def _tsv(wv: KeyedDensities, path: str, variances: str | None) -> list[str]:
    from densvec.files.exchange import save_projector

    return list(save_projector(wv, path))


def _gensim(wv: KeyedDensities, path: str, variances: str | None) -> list[str]:
    wv.to_gensim().save(path)
    return [path]


def _bsg(wv: KeyedDensities, path: str, variances: str | None) -> list[str]:
    from densvec.files.exchange import save_bsg

    os.makedirs(path, exist_ok=True)
    names = [os.path.join(path, name) for name in FILES_OF_FOLDERS["bsg"]]
    save_bsg(wv, *names)
    return names


def _densvec(wv: KeyedDensities, path: str, variances: str | None) -> list[str]:
    wv.save(path)
    return [path]


FORMATS: dict[str, Callable[[KeyedDensities, str, str | None], list[str]]] = {
    "word2vec": _word2vec,
    "word2vec-binary": _word2vec_binary,
    "tsv": _tsv,
    "gensim": _gensim,
    "bsg": _bsg,
    "densvec": _densvec,
}


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> None:
    """Add the arguments."""
    add_model(parser)
    parser.add_argument("--format", choices=FORMATS, required=True, help="what to write")
    parser.add_argument(
        "-o",
        "--output",
        metavar="PATH",
        default="-",
        help="where to write (default: -, standard output, for word2vec)",
    )
    parser.add_argument("--variances", metavar="FILE", help="with word2vec: write the variances here")
    parser.add_argument("--overwrite", action="store_true", help="replace existing files")


def _targets(kind: str, output: str, variances: str | None) -> list[str]:
    """Return the files that will be written."""
    if kind in FILES_OF_FOLDERS:
        return [os.path.join(output, name) for name in FILES_OF_FOLDERS[kind]]
    return [path for path in (output, variances) if path not in (None, "-")]


def run(args: argparse.Namespace) -> None:
    """Write the files and name them."""
    flat = args.format.startswith("word2vec")
    if args.variances is not None and not flat:
        raise UsageError(f"--variances goes with --format word2vec, not with {args.format}")
    if args.output == "-":
        if not flat:
            raise UsageError(f"--format {args.format} needs a place to write to: give -o PATH")
        if args.json:
            raise UsageError("--json needs -o PATH: standard output is taken by the vectors")
    from densvec import pretrained

    check_targets(
        _targets(args.format, args.output, args.variances),
        read=[pretrained.find(args.model)],
        overwrite=args.overwrite,
        in_new_folder=args.format in FILES_OF_FOLDERS,
    )
    wv = load(args.model)
    write = FORMATS[args.format]
    if args.output != "-":
        written = write(wv, args.output, args.variances)
        if args.json:
            print_json({"format": args.format, "words": len(wv), "written": written})
        else:
            print(f"wrote {len(wv):,} words to {' and '.join(written)}")
        return
    with tempfile.TemporaryDirectory(prefix="densvec-") as directory:  # the writers need a path
        path = os.path.join(directory, "vectors")
        write(wv, path, args.variances)
        with open(path, "rb") as file:
            if sys.stdout.isatty():  # which shows words, but must not obey them
                for line in file:
                    sys.stdout.write(line.decode("utf-8", "backslashreplace"))
            else:
                shutil.copyfileobj(file, sys.stdout.buffer, 1 << 20)
        sys.stdout.buffer.flush()
