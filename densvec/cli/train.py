"""``densvec train``: from text to densities."""

from __future__ import annotations

import argparse
import contextlib
import errno
import importlib
import json
import math
import os
import shlex
import signal
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from typing import Any

from densvec.answers.messages import UsageError, say
from densvec.checks import counted
from densvec.cli.arguments import QUIET, Argument, flag, option
from densvec.cli.commands import INTERRUPTED, TERMINATED, Command, Interrupted, Result
from densvec.cli.corpus import READING, Source, open_source, reading_of, recorded_text, text_before
from densvec.files.fingerprint import fingerprint
from densvec.files.streams import check_target, is_remote, local_path
from densvec.text.source import recorded_paths
from densvec.text.text_reading import TextReading

MODELS = {
    "bsg": ("densvec.bsg", "BayesianSkipGram"),
    "skipgram": ("densvec.skipgram", "SkipGram"),
    "word2gauss": ("densvec.word2gauss", "Word2Gauss"),
}

#: Parameters that may change when training goes on.
CHANGEABLE = frozenset({"workers", "epochs", "backend", "device"})

#: The model is saved after every epoch, and in long ones this often.
CHECKPOINT_MINUTES = 15.0

#: Words of a corpus below which twenty epochs make a clearly better model than five, see docs/recipe.md.
LITTLE_TEXT = 5_000_000


class Terminated(KeyboardInterrupt):
    """SIGTERM, with which schedulers announce the end of a job: treated as Ctrl-C."""


def model_class(name: str) -> Any:
    """Import a class of models by its name on the command line."""
    module, cls = MODELS[name]
    return getattr(importlib.import_module(module), cls)


def _parameter(text: str) -> tuple[str, Any]:
    """Return the name and the value that "name=value" says: a number, true, false, JSON, or a text."""
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=VALUE")
    try:
        return name.replace("-", "_"), json.loads(value.lower() if value in ("True", "False") else value)
    except ValueError:
        return name.replace("-", "_"), value


def _number_or_text(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def differing(given: Mapping[str, Any], current: Any) -> list[str]:
    """Return the names of the parameters that are given a value other than an object's own."""
    found = []
    for name, value in given.items():
        own = getattr(current, name, None)
        if isinstance(value, dict) and isinstance(own, dict):
            own = {key: own.get(key) for key in value}
        if own != value:
            found.append(name)
    return found


def _run(args: argparse.Namespace) -> Result:
    given = {each.settings["dest"]: getattr(args, each.settings["dest"], None) for each in PARAMETERS}
    given = {name: value for name, value in given.items() if value is not None} | dict(args.set)
    ranks = Ranks(args)
    header = ranks.of_main(lambda: _target(args.output))
    args.resume = args.resume or (ranks.restarted and header is not None)
    if header is not None and not (args.resume or args.overwrite):
        run = header.get("run")
        what = "holds unfinished training" if run and run["epoch"] < run["epochs"] else "is there already"
        raise UsageError(f"{args.output} {what}: --resume goes on with it, --overwrite starts again")
    with _termination(once=ranks.several):
        if args.resume and header is not None:
            model = _load(args, header, given)
        else:
            if args.resume and not args.quiet:
                say(f"densvec train: there is no {args.output} yet: starting it")
            model = model_class(args.model or "bsg")(**given)
        model.show_progress = False if args.quiet else None
        corpus = (args.corpus[0] if len(args.corpus) == 1 else args.corpus) or recorded_text(header)
        if not corpus:
            raise UsageError("give the CORPUS to train on")
        if ranks.several and corpus == "-":
            raise UsageError("processes cannot share standard input: give files as the CORPUS")
        new = not len(model.wv)
        passes = model.epochs + new
        before = text_before(header) if args.resume else None
        if before is not None:
            _check_text(before, corpus, args)
        reading = reading_of(args, None if before is None else _reading_before(before))
        source, reading = open_source(corpus, passes, reading, args)
        if before is None:
            mark = fingerprint(recorded_paths(corpus))
            model.add_lifecycle_event(
                "text", log_level=False, path=corpus, fingerprint=mark, **reading.header()
            )
        _train(model, source, corpus, args, ranks)
    if not ranks.is_main:
        return None
    return _summary(model, args.output)


def _train(
    model: Any, source: Source, corpus: str | list[str], args: argparse.Namespace, ranks: Ranks
) -> None:
    """Build the vocabulary if there is none, complete the model's epochs, and save it."""
    from densvec.callbacks import Checkpoint

    try:
        if not len(model.wv):
            _build_vocabulary(model, source, corpus, args)
            if ranks.several and ranks.is_main:
                model.save(args.output)  # what a restart goes on from
        checkpoint = Checkpoint(args.output, every_epochs=1, every_minutes=CHECKPOINT_MINUTES)
        trained, new = model.train_count, not len(model.loss_history)
        model.train(**source, resume=True, callbacks=[checkpoint] if ranks.is_main else [])
    except KeyboardInterrupt as stop:
        code = TERMINATED if isinstance(stop, Terminated) else INTERRUPTED
        if not ranks.is_main:
            raise SystemExit(code) from stop
        if not len(model.wv):
            raise Interrupted("interrupted while counting words: there was nothing to save", code) from stop
        model.save(args.output)
        texts = [corpus] if isinstance(corpus, str) else corpus
        again = shlex.join(["densvec", "train", *texts, "-o", args.output, "--resume"])
        raise Interrupted(
            f"interrupted in epoch {len(model.loss_history) + 1} of {model.epochs}; the training so far is "
            f"saved in {args.output}. To go on: {again}",
            code,
        ) from stop
    if model.train_count != trained or new:  # a new model is saved even if --epochs 0 trains nothing
        model.save(args.output)
    elif not args.quiet:
        say(
            f"densvec train: nothing to do: {args.output} has had its {len(model.loss_history)} epochs; "
            "raise --epochs to go on"
        )


def _build_vocabulary(model: Any, source: Source, corpus: str | list[str], args: argparse.Namespace) -> None:
    name = corpus if isinstance(corpus, str) else f"{len(corpus)} files"
    if corpus == "-":
        name = "standard input"
    if not args.quiet:
        say(f"densvec train: counting the words of {name}")
    model.build_vocab(**source)
    if not args.quiet:
        say(
            f"densvec train: {len(model.wv):,} words occur {model.effective_min_count} times or more in "
            f"{name}, which has {model.corpus_total_words:,} in all"
        )
        if model.corpus_total_words < LITTLE_TEXT and args.epochs is None:
            say(
                f"densvec train: that is little text, which gains from more than {model.epochs} epochs: --epochs 20"
            )


def _load(args: argparse.Namespace, header: dict[str, Any], given: dict[str, Any]) -> Any:
    """Load the model to resume, and check that nothing else is asked for."""
    names = {cls: name for name, (_, cls) in MODELS.items()}
    name = names.get(str(header.get("class")))
    if name is None:
        raise ValueError(
            f"{args.output} holds {header.get('class')}, without a training state: it cannot be resumed"
        )
    if args.model not in (None, name):
        raise UsageError(f"{args.output} is a {name} model: it cannot be resumed as {args.model}")
    from densvec import distributed

    model = distributed.load(model_class(name), args.output)
    for parameter in differing(given, model):
        if parameter not in CHANGEABLE:
            raise UsageError(
                f"{parameter} cannot change when training goes on: {args.output} has "
                f"{getattr(model, parameter, None)}, not {given[parameter]}"
            )
        setattr(model, parameter, given[parameter])
    return model


def _reading_before(text: Mapping[str, Any]) -> TextReading:
    """Return how a text was read, from what a model's file says about it; what is None is by default."""
    names = [each.name for each in fields(TextReading)]
    known = {name: text[name] for name in names if text.get(name) is not None}
    return TextReading.from_header(known) or TextReading()


def _check_text(before: Mapping[str, Any], corpus: str | list[str], args: argparse.Namespace) -> None:
    """Refuse to go on with a different text, unless told to."""
    old, mark = before.get("path"), before.get("fingerprint")
    same_place = _absolute(old) == _absolute(corpus)
    if args.other_text or "-" in (old, corpus):
        return
    if fingerprint(recorded_paths(corpus)) == mark if mark else same_place:
        return
    if not same_place and isinstance(corpus, str) and not os.path.exists(corpus):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), corpus)
    problem = (
        f"{corpus} has changed since {args.output} was trained on it"
        if same_place
        else f"{args.output} was trained on {old}, and {corpus} is another text: give {old} to go on as before"
    )
    raise UsageError(f"{problem}; --other-text goes on with this one, another -o starts afresh")


def _absolute(corpus: Any) -> list[str]:
    """Return the absolute paths of a corpus."""
    return [os.path.abspath(str(path)) for path in (corpus if isinstance(corpus, list) else [corpus])]


def _target(path: str) -> dict[str, Any] | None:
    """Return the header of the densvec file at the output's place, if there is one; fail if it cannot be replaced."""
    from densvec.files.persistence import DensvecFileError, faults_of, read
    from densvec.files.schema import check_summary

    check_target(path)
    if is_remote(path) or not os.path.lexists(local_path(path)):
        return None
    try:
        header = read(path, only=())[1]
        with faults_of(path):
            check_summary(header)
        return header
    except DensvecFileError as error:
        raise ValueError(f"{error}; choose another name for the model, or remove that file") from error


class Ranks:
    """The processes that torchrun started, if it did; all but the first are silent."""

    def __init__(self, args: argparse.Namespace) -> None:
        from densvec import distributed

        self.several = distributed.init(exchange_words=args.exchange_words)
        self.is_main = distributed.is_main()
        self.restarted = self.several and int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")) > 0
        args.quiet = args.quiet or not self.is_main

    def of_main(self, find: Callable[[], Any]) -> Any:
        """Return what the first process finds, which may be the only one that sees the file."""
        if not self.several:
            return find()
        from densvec.distributed.group import connect

        group = connect()
        found = group.together(lambda: find() if self.is_main else None)
        return json.loads(group.broadcast_bytes(json.dumps(found).encode() if self.is_main else None))


@contextlib.contextmanager
def _termination(once: bool) -> Iterator[None]:
    """Raise Terminated when SIGTERM arrives; with ``once``, let no second signal disturb what the first began."""
    stopping = False

    def handle(number: int, frame: Any) -> None:
        nonlocal stopping
        if stopping and once:
            return
        stopping = True
        raise Terminated if number == signal.SIGTERM else KeyboardInterrupt

    before = {number: signal.signal(number, handle) for number in (signal.SIGTERM, *([signal.SIGINT] * once))}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _summary(model: Any, path: str) -> tuple[dict[str, Any], str]:
    """Return what was trained, for scripts and for people."""
    history = [entry._asdict() for entry in model.loss_history]
    document = {
        "model": path,
        "class": type(model).__name__,
        "words": len(model.wv),
        "vector_size": model.vector_size,
        "corpus_words": model.corpus_total_words,
        "epochs": len(history),
        "seconds": model.total_train_time,
        "loss_history": history,
    }
    loss = f", loss {history[-1]['loss']:.4f}" if history else ""
    if history and math.isnan(history[-1]["loss"]):
        loss = ", nothing learnt: thinning left no two words of a sentence together, so raise --sample"
    return document, (
        f"{path}: {document['class']} of {document['words']:,} words in {model.vector_size} "
        f"dimensions, {counted(len(history), 'epoch')} in {model.total_train_time:.1f} s{loss}"
    )


def _model_option(name: str, text: str, **settings: Any) -> Argument:
    """Return the option for a parameter of the model; one that is not given is left to the constructor."""
    dest = name.removeprefix("--").replace("-", "_")
    return option(name, text, dest=dest, group="options of the model", **settings)


PARAMETERS = [
    _model_option("--vector-size", "dimensions of the densities (default: 100)", type=int),
    _model_option("--window", "context words on either side of a word (default: 5)", type=int),
    _model_option("--min-count", "ignore words that occur fewer times (default: 5)", type=int),
    _model_option("--epochs", "passes over the corpus (default: 5)", type=int),
    _model_option(
        "--sample",
        "threshold above which frequent words are thinned (default: auto)",
        type=_number_or_text,
        metavar="NUMBER",
    ),
    _model_option(
        "--negative", "negatives drawn for each word (default: 20; skipgram 5, word2gauss 30)", type=int
    ),
    _model_option("--alpha", "learning rate at the start (default: 0.025)", type=float),
    _model_option(
        "--covariance",
        "one variance for each density, or one for each dimension (default: spherical)",
        choices=("spherical", "diagonal"),
    ),
    _model_option("--seed", "seed of everything random (default: 1)", type=int),
    _model_option("--workers", "threads (default: one for each core)", type=int),
    _model_option(
        "--backend",
        "what trains: the native kernel, or torch (default: auto)",
        choices=("auto", "native", "torch"),
    ),
    _model_option("--device", "where torch trains: cpu, cuda, mps"),
]
"""Parameters of models that have an option; --set sets the others."""


TRAIN = Command(
    "train",
    "train a model on text",
    """\
Train densities on a corpus: text files, plain or compressed (.gz, .bz2, .xz), a directory of such files, a pattern
in quotes, or - for standard input. Ordinary text is split into sentences and lower-cased words; tokenised text, with
one sentence per line and spaces between words, is left as it is. The model is saved after every epoch and on Ctrl-C;
--resume goes on where training stopped.""",
    """\
examples:
  densvec train corpus.txt -o model.dv
  densvec train corpus.txt -o model.dv --resume  # after Ctrl-C, or with --epochs to train longer
  zcat wiki.gz | densvec train - -o model.dv  # kept in a temporary file: every epoch reads it""",
    [
        Argument("corpus", metavar="CORPUS", nargs="*", help="the text; may be omitted with --resume"),
        Argument("-o", "--output", metavar="MODEL", required=True, help="where to save the model"),
        option("--model", "what to train (default: bsg, the Bayesian Skip-gram)", choices=tuple(MODELS)),
        flag("--resume", "go on with MODEL where it stopped; start it if there is none"),
        flag("--other-text", "with --resume, go on with a different text"),
        flag("--overwrite", "replace MODEL if it exists"),
        option(
            "--exchange-words",
            "under torchrun: words that each process trains between two exchanges",
            type=int,
        ),
        QUIET,
        *READING,
        *PARAMETERS,
        _model_option(
            "--set",
            "any other parameter of the model's class, such as kl_weight=1; may be repeated",
            default=[],
            action="append",
            type=_parameter,
            metavar="NAME=VALUE",
        ),
    ],
    _run,
)
