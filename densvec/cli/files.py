"""Commands that write models and vectors: export and import, for other programs, and compress."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable
from typing import TYPE_CHECKING

from densvec.answers.messages import UsageError
from densvec.cli.arguments import MODEL, OVERWRITE, Argument, option, positive
from densvec.cli.commands import Command, Result, load
from densvec.cli.output import check_output, size_of
from densvec.files.streams import (
    check_target,
    faults_named,
    is_remote,
    local_path,
    open_for_writing,
    open_stream,
)

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities


def check_targets(targets: Iterable[str], *, read: Iterable[str] = (), overwrite: bool) -> None:
    """Refuse targets that cannot be written, are being read, repeat, or exist and may not be replaced."""
    sources = {_place(path): path for path in read}
    seen: set[str] = set()
    for target in targets:
        check_target(target)
        place = _place(target)
        if place in sources:
            raise UsageError(f"{target} is being read: choose another name to write to")
        if place in seen:
            raise UsageError(f"{target} is named twice: two files cannot be written to one place")
        seen.add(place)
        if not overwrite and not is_remote(target) and os.path.lexists(local_path(target)):
            raise UsageError(f"{target} already exists: --overwrite replaces it")


def _place(path: str) -> str:
    return path if is_remote(path) else os.path.realpath(local_path(path))


_WRITTEN = ("word2vec", "word2vec-binary", "glove", "gensim")


def _write(wv: KeyedDensities, kind: str, path: str, variances: str | None) -> None:
    """Write densities in a format."""
    if kind == "gensim":
        with open_for_writing(path) as file:  # all in one file, which appears when it is whole
            wv.to_gensim().save(file)
    else:
        wv.save_word2vec_format(
            path, binary=kind == "word2vec-binary", write_header=kind != "glove", variances=variances
        )


def _export(args: argparse.Namespace) -> Result:
    from densvec import pretrained

    if args.variances is not None and args.format == "gensim":
        raise UsageError("--variances goes with --format word2vec or glove, not with gensim")
    if args.output == "-" and args.format == "gensim":
        raise UsageError("--format gensim needs a place to write to: give -o PATH")
    if args.output == "-":
        check_output()
    if args.output == "-" and args.json:
        raise UsageError("--json needs -o PATH: standard output is taken by the vectors")
    written = [path for path in (args.output, args.variances) if path not in (None, "-")]
    source = pretrained.find(args.model)
    check_targets(written, read=[source], overwrite=args.overwrite)
    wv = load(source)
    if args.output != "-":
        _write(wv, args.format, args.output, args.variances)
        document = {"format": args.format, "words": len(wv), "written": written}
        return document, f"wrote {len(wv):,} words to {' and '.join(written)}"
    with tempfile.TemporaryDirectory(prefix="densvec-") as directory:  # the writers need a path
        path = os.path.join(directory, "vectors")
        _write(wv, args.format, path, args.variances)
        with faults_named("standard output"), open(path, "rb") as file:
            if sys.stdout.isatty():  # which shows words, but must not obey them
                for line in file:
                    sys.stdout.write(line.decode("utf-8", "backslashreplace"))
            else:
                shutil.copyfileobj(file, sys.stdout.buffer, 1 << 20)
            sys.stdout.buffer.flush()
    return None


EXPORT = Command(
    "export",
    "write files for other programs",
    """\
Write the densities of a model for other programs:
  word2vec         word2vec's text format, the means; --variances writes a second file like it
  word2vec-binary  word2vec's binary format
  glove            GloVe's text format, which is word2vec's without the first line
  gensim           a gensim KeyedVectors, for KeyedVectors.load (needs gensim)
For densities and encoder without the training state, see `densvec compress`.""",
    """\
examples:
  densvec export model.dv --format word2vec -o vectors.txt --variances variances.txt
  densvec export model.dv --format word2vec | head  # to standard output""",
    [
        MODEL,
        option("--format", "what to write", choices=_WRITTEN, required=True),
        option(
            "--output",
            "where to write (default: -, standard output, for word2vec and glove)",
            "-",
            short=("-o",),
            metavar="PATH",
        ),
        option("--variances", "with word2vec and glove: write the variances here", metavar="FILE"),
        OVERWRITE,
    ],
    _export,
)


_READ = ("auto", "word2vec", "word2vec-binary", "glove", "fasttext", "gensim")


def _import(args: argparse.Namespace) -> Result:
    read = [path for path in (args.vectors, args.variances) if path is not None]
    check_targets([args.output], read=read, overwrite=args.overwrite)
    form = _guessed(args.vectors) if args.format == "auto" else args.format
    wv = _read(args.vectors, form, args.limit, args.variances)
    wv.save(args.output, dtype=args.dtype)
    document = {"written": args.output, "format": form, "words": len(wv), "vector_size": wv.vector_size}
    return document, f"{args.output}: {len(wv):,} words in {wv.vector_size} dimensions, from {form}"


def _read(path: str, form: str, limit: int | None = None, variances: str | None = None) -> KeyedDensities:
    from densvec.keyed import KeyedDensities

    if form in ("fasttext", "gensim"):
        if variances is not None:
            raise UsageError("--variances goes with the formats of word2vec and GloVe")
        wv = KeyedDensities.load(path)
        return wv if limit is None else wv.restrict(wv.index_to_key[:limit])
    return KeyedDensities.load_word2vec_format(
        path, binary=form == "word2vec-binary", no_header=form == "glove", limit=limit, variances=variances
    )


def read_any(path: str) -> KeyedDensities:
    """Open a model, or vectors in a format that `densvec import` detects."""
    from densvec.files.persistence import DensvecFileError

    try:
        return load(path)
    except DensvecFileError as error:
        try:
            form = _guessed(path)
        except (OSError, ValueError):
            raise error from None
        return _read(path, form)


def _guessed(path: str) -> str:
    """Return the format of a file, by how it begins."""
    from densvec.files.fasttext import is_fasttext
    from densvec.files.gensim import is_gensim
    from densvec.files.word2vec import is_number

    with open_stream(path) as file:
        start = file.read(1 << 16)
    if is_fasttext(start):
        return "fasttext"
    if is_gensim(start):
        return "gensim"
    header, _, rest = start.partition(b"\n")
    fields = header.split()
    if len(fields) != 2 or not all(field.isdigit() for field in fields):
        if len(fields) > 2 and all(map(is_number, fields[-2:])):
            return "glove"
        raise ValueError(
            f"{path}: this does not look like vectors in any of the formats {', '.join(_READ[1:])}"
        )
    first, size = rest.partition(b"\n")[0].split(), int(fields[1])
    is_text = len(first) > size > 0 and all(map(is_number, first[-size:]))
    return "word2vec" if is_text or not rest else "word2vec-binary"


IMPORT = Command(
    "import",
    "turn vectors of gensim, word2vec, GloVe or fastText into a model file",
    """\
Read vectors made by another program, and write them as a file that every command takes. Such vectors have no
encoder, and no variances unless you give them: neighbours and analogies work, questions about contexts and
densities do not.""",
    """\
formats, detected unless you name one:
  word2vec         text with a header of two numbers; also fastText's .vec
  word2vec-binary  such as GoogleNews-vectors-negative300.bin
  glove            text without a header
  fasttext         a .bin model of fastText, with its n-grams
  gensim           what gensim 3.8 to 4.4 saved, model or KeyedVectors, read without gensim; nothing in it is run

examples:
  densvec import glove.6B.100d.txt -o glove.dv
  densvec import GoogleNews-vectors-negative300.bin.gz -o news.dv --limit 200000
  densvec import old.model -o words.dv  # of gensim
  densvec import means.txt -o model.dv --variances variances.txt  # from densvec export""",
    [
        Argument("vectors", metavar="FILE", help="the vectors; text may be compressed"),
        Argument("-o", "--output", metavar="MODEL", required=True, help="where to write"),
        option("--format", "what FILE is", "auto", choices=_READ),
        option("--variances", "variances in the same format", metavar="FILE"),
        option("--limit", "read only the first N vectors", type=int),
        option("--dtype", "how to store them", choices=["float32", "float16", "int8"]),
        OVERWRITE,
    ],
    _import,
)


def _compress(args: argparse.Namespace) -> Result:
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
    document = {"model": args.model, "written": args.output, "dtype": args.dtype, "words": len(wv)}
    text = f"{args.output}: {len(wv):,} words as {args.dtype}"
    if not os.path.isfile(source) or not os.path.isfile(args.output):  # remote: its size is unknown here
        return {**document, "bytes_before": None, "bytes": None}, text
    before, after = os.path.getsize(source), os.path.getsize(args.output)
    sizes = f"{size_of(after)} instead of {size_of(before)}"
    return {**document, "bytes_before": before, "bytes": after}, f"{text}, {sizes}"


COMPRESS = Command(
    "compress",
    "make a model's file smaller",
    """\
Write the densities and the encoder of a model to a file of half or a quarter of the size, without what only
training needs, and, if you like, with only the most frequent words. Every command also takes the small file.""",
    """\
examples:
  densvec compress model.dv -o small.dv
  densvec compress model.dv -o small.dv --words 30000 --card card.md
  densvec compress model.dv -o ship.dv --dtype float32  # as it is, to distribute""",
    [
        MODEL,
        Argument("-o", "--output", metavar="FILE", required=True, help="where to write"),
        option(
            "--dtype",
            "how numbers are stored: int8 with a scale for each row, or as 16 or 32-bit floats",
            "int8",
            choices=["int8", "float16", "float32"],
        ),
        option("--words", "keep only the N most frequent words", type=positive),
        option("--card", "Markdown that says what the model is, kept in the file", metavar="FILE"),
        OVERWRITE,
    ],
    _compress,
)
