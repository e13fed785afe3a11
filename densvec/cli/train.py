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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from densvec.answers.messages import UsageError, say
from densvec.checks import counted
from densvec.cli.commands import INTERRUPTED, TERMINATED, Argument, Command, Interrupted, Result
from densvec.cli.corpus import READING, Reading, Source, open_source
from densvec.cli.options import constructor_options, differing
from densvec.files.fingerprint import difference, fingerprint
from densvec.files.streams import check_target, is_remote, local_path
from densvec.text.source import recorded_paths
from densvec.training.profile import profile

__all__ = ["CHANGEABLE", "LEFT_OUT", "MODELS", "TRAIN", "Terminated", "model_class"]

MODELS = {
    "bsg": ("densvec.bsg", "BayesianSkipGram"),
    "skipgram": ("densvec.skipgram", "SkipGram"),
    "word2gauss": ("densvec.word2gauss", "Word2Gauss"),
}

#: Parameters without an option: the corpus, Python objects, and those that only gensim uses.
LEFT_OUT = frozenset(
    {
        "sentences",
        "corpus_file",
        "sg",
        "hs",
        "cbow_mean",
        "hashfxn",
        "null_word",
        "trim_rule",
        "compute_loss",
        "callbacks",
        "show_progress",
        "distributed",
    }
)

#: Parameters that may change when training goes on.
CHANGEABLE = frozenset({"workers", "epochs", "backend", "device"})

#: Parameters that `--help` shows; `--help-all` shows all.
USUAL = frozenset(
    {
        "vector_size",
        "alpha",
        "window",
        "min_count",
        "sample",
        "seed",
        "workers",
        "negative",
        "epochs",
        "covariance",
        "backend",
        "device",
    }
)

#: Words of a corpus below which twenty epochs make a clearly better model than five, see docs/recipe.md.
LITTLE_TEXT = 5_000_000


class Terminated(KeyboardInterrupt):
    """SIGTERM, with which schedulers announce the end of a job: treated as Ctrl-C."""


def _constructor(rest: Sequence[str] | None) -> tuple[list[Argument], dict[str, Any]]:
    """Return the options of the chosen model's constructor; of all models if nothing says which."""
    options: list[Argument] = []
    for chosen in MODELS if rest is None else [_chosen_model(rest)]:
        model = model_class(chosen)
        known = {option.settings["dest"] for option in options}
        group = f"options of the model ({chosen}, {model.__name__})"
        options += constructor_options(model, group, LEFT_OUT | known, USUAL)
    return options, {"parameters": [option.settings["dest"] for option in options]}


def model_class(name: str) -> Any:
    """Import a class of models by its name on the command line."""
    module, cls = MODELS[name]
    return getattr(importlib.import_module(module), cls)


def _chosen_model(arguments: Sequence[str]) -> str:
    finder = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    finder.add_argument("--model", nargs="?", default="bsg")
    chosen = finder.parse_known_args(list(arguments))[0].model
    return chosen if chosen in MODELS else "bsg"


def _run(args: argparse.Namespace) -> Result:
    given = {name: getattr(args, name) for name in args.parameters if name in args}
    ranks = Ranks(args)
    header = ranks.of_main(lambda: _target(args.output))
    args.resume = args.resume or (ranks.restarted and header is not None)
    if header is not None and not (args.resume or args.overwrite):
        what = "holds unfinished training" if _unfinished(header) else "is there already"
        raise UsageError(f"{args.output} {what}: --resume goes on with it, --overwrite starts again")
    with _termination(once=ranks.several):
        if args.resume and header is not None:
            model = _load(args, header, given)
        else:
            if args.resume and not args.quiet:
                say(f"densvec train: there is no {args.output} yet: starting it")
            model = model_class(args.model or "bsg")(**given)
        model.show_progress = False if args.quiet else args.progress
        corpus = (args.corpus[0] if len(args.corpus) == 1 else args.corpus) or _recorded_text(header)
        if not corpus:
            raise UsageError("give the CORPUS to train on")
        if ranks.several and corpus == "-":
            raise UsageError("processes cannot share standard input: give files as the CORPUS")
        new = not len(model.wv)
        passes = model.epochs + (1 if new and args.vocabulary is None else 0)
        before = _text_before(header) if args.resume else None
        if before is not None:
            _check_text(before, corpus, args)
        reading = Reading.of(args, before)
        with open_source(corpus, passes, args.quiet, reading) as (source, reading):
            if before is None:
                mark = fingerprint(recorded_paths(corpus))
                model.add_lifecycle_event(
                    "text", log_level=False, path=corpus, fingerprint=mark, **asdict(reading)
                )
            profile.reset()
            profile.enabled = args.profile
            try:
                _train(model, source, corpus, args, ranks)
            finally:
                profile.enabled = False
    if not ranks.is_main:
        return None
    if args.profile:
        say(str(profile))
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
        checkpoint = Checkpoint(args.output, every_epochs=1, every_minutes=args.checkpoint_minutes)
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
    if args.vocabulary is not None:
        from densvec.files.word2vec import read_counts

        counts = read_counts(args.vocabulary)
        model.build_vocab_from_freq(counts)
        model.corpus_total_words = sum(counts.values())
        name = args.vocabulary
    else:
        if not args.quiet:
            say(f"densvec train: counting the words of {name}")
        model.build_vocab(**source)
    if not args.quiet:
        say(
            f"densvec train: {len(model.wv):,} words occur {model.effective_min_count} times or more in "
            f"{name}, which has {model.corpus_total_words:,} in all"
        )
        if model.corpus_total_words < LITTLE_TEXT and "epochs" not in args:
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
                f"--{parameter.replace('_', '-')} cannot change when training goes on: {args.output} has "
                f"{getattr(model, parameter)}, not {given[parameter]}"
            )
        setattr(model, parameter, given[parameter])
    return model


def _text_before(header: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return which text a model was trained on and how it was read, as far as its file says so."""
    header = header or {}
    for event in header.get("lifecycle_events") or []:
        if isinstance(event, dict) and event.get("event") == "text":
            return event
    path = header.get("corpus_file")
    mark = header.get("corpus_fingerprint")
    return None if path is None else {"path": path, "tokenize": "none", "fingerprint": mark}


def _recorded_text(header: Mapping[str, Any] | None) -> str | list[str] | None:
    """Return the text that a model was trained on; its file may name any path, so the text must be as recorded."""
    before = _text_before(header) or {}
    path, mark = before.get("path"), before.get("fingerprint")
    if not isinstance(path, (str, list)) or path == "-":
        return None
    why = difference(recorded_paths(path), mark if isinstance(mark, dict) else None)
    if why is not None:
        raise UsageError(f"the previous text, {path}, {why}: give the CORPUS to go on with")
    return path


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
    """Return the header of the file at the output's place, if there is one; fail now if it cannot be written later."""
    check_target(path)
    return _existing(path)


def _existing(path: str) -> dict[str, Any] | None:
    """Return the header of the file at the output's place, which must be a densvec file to be replaced."""
    from densvec.files.persistence import DensvecFileError, faults_of, read
    from densvec.files.schema import check_summary

    if is_remote(path) or not os.path.lexists(local_path(path)):
        return None
    try:
        header = read(path, only=())[1]
        with faults_of(path):
            check_summary(header)
        return header
    except DensvecFileError as error:
        raise ValueError(f"{error}; choose another name for the model, or remove that file") from error


def _unfinished(header: dict[str, Any]) -> bool:
    run = header.get("run")
    return run is not None and bool(run["epoch"] < run["epochs"])


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
  densvec train book.txt -o model.dv --keep-numbers --encoding cp1252
  densvec train corpus.txt -o model.dv --resume  # after Ctrl-C, or with --epochs to train longer
  zcat wiki.gz | densvec train - -o model.dv  # kept in a temporary file: every epoch reads it
  densvec train corpus.txt -o w2g.dv --model word2gauss --help-all  # the options of another model
  torchrun --nproc-per-node 4 -m densvec train 'shards/*.txt.gz' -o model.dv  # four processes""",
    [
        Argument("corpus", metavar="CORPUS", nargs="*", help="the text; may be omitted with --resume"),
        Argument("-o", "--output", metavar="MODEL", required=True, help="where to save the model"),
        Argument(
            "--model",
            choices=MODELS,
            help="what to train (default: bsg, the Bayesian Skip-gram)",
        ),
        Argument(
            "--resume",
            action="store_true",
            help="go on with MODEL where it stopped; start it if there is none",
        ),
        Argument(
            "--other-text",
            action="store_true",
            rare=True,
            help="with --resume, go on with a different text",
        ),
        Argument("--overwrite", action="store_true", help="replace MODEL if it exists"),
        Argument(
            "--vocabulary",
            metavar="FILE",
            rare=True,
            help="a file of words and counts, `word count` per line, instead of counting; with --epochs 1 the text is "
            "then read only once, so standard input need not be stored",
        ),
        Argument(
            "--checkpoint-minutes",
            type=float,
            default=15.0,
            metavar="N",
            rare=True,
            help="also save every N minutes (default: 15)",
        ),
        Argument(
            "--exchange-words",
            type=int,
            metavar="N",
            rare=True,
            help="under torchrun: words that each process trains between two exchanges (default: 100000 with two of "
            "them, up to 400000 with much text, 6250 with four, 5000 with more, for each worker)",
        ),
        Argument(
            "--profile",
            action="store_true",
            rare=True,
            help="print at the end what host and device did for each batch",
        ),
        Argument("-q", "--quiet", action="store_true", help="print only errors and the result"),
        Argument("-v", "--verbose", action="store_true", rare=True, help="print the log"),
        Argument(
            "--progress",
            action=argparse.BooleanOptionalAction,
            rare=True,
            help="draw a progress bar (default: in a terminal)",
        ),
        *READING,
    ],
    _run,
    further=_constructor,
)
