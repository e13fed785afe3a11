"""Saving and loading models."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping
from typing import IO, Any, TypeVar

import numpy as np

from densvec.files import packing, persistence
from densvec.files.schema import field, leave_out, recorded_files, require_class, tensor
from densvec.keyed import KeyedDensities
from densvec.keyed.saving import header_of, restored, tensors_of
from densvec.model.state import COUNTERS, ModelState
from densvec.text._text import MAX_BLOCK_WORDS
from densvec.training.layout import STATE
from densvec.training.run import EpochLoss, Run
from densvec.types import Array

logger = logging.getLogger(__name__)

M = TypeVar("M", bound="Saving")

_RAW = "raw_"  # tensors of the words that were counted, rare ones included
_NEEDED = ("wv", "means", "log_variances", "encoder", "context_vectors", "count", "vocabulary.counts")


class Saving(ModelState):
    """One file for everything: the densities, the encoder, and all that training needs to go on."""

    def save(
        self,
        fname: str | os.PathLike[str] | IO[bytes],
        separately: Any = None,
        sep_limit: int = 10 * 1024**2,
        ignore: Iterable[str] = frozenset(),
        pickle_protocol: int | None = None,
    ) -> None:
        """Save the model, so that `load` restores it and ``train()`` goes on where it stopped.

        The file is written whole or not at all. It may be called from a callback, during training. Saving a
        loaded model again gives the same bytes.

        Parameters
        ----------
        fname : str, PathLike or binary file
            A path, or what smart_open can write.
        separately, sep_limit, pickle_protocol : optional
            Accepted as in gensim, without effect: there is one file, and no pickle in it.
        ignore : iterable of str, optional
            What to leave out: ``"training"`` (the optimiser's state; without it, training can go on, but not
            exactly), ``"raw_vocabulary"``, or attributes of words. Unknown names are ignored.

        Examples
        --------
        >>> import os, tempfile
        >>> from densvec import BayesianSkipGram
        >>> model = BayesianSkipGram([["a", "b", "c"]] * 9, vector_size=4, min_count=1, workers=1)
        >>> path = os.path.join(tempfile.mkdtemp(), "model.dv")
        >>> model.save(path)
        >>> BayesianSkipGram.load(path).wv.index_to_key
        ['a', 'b', 'c']
        """
        if len(self.wv.vectors) != len(self.wv):
            raise RuntimeError("the model has words but no weights yet: call prepare_weights before saving")
        with self._paused():
            if self._loop is None:
                self._fit_tables()
            tensors, header = leave_out(self._tensors(), ignore, needed=_NEEDED), self._header()
            persistence.check_loadable(self._restore, header, tensors)
            self._provenance = persistence.write(fname, tensors, header)
        logger.info("saved %s to %s", self, fname)

    @classmethod
    def load(
        cls: type[M],
        fname: str | os.PathLike[str] | IO[bytes],
        mmap: str | None = None,
        *,
        max_bytes: int | None = None,
    ) -> M:
        """Load a model that `save` wrote.

        Parameters
        ----------
        fname : str, PathLike or binary file
            The file.
        mmap : {None, "r", "c"}
            Map the tables into memory instead of reading them: ``"r"`` read-only and shared between
            processes, ``"c"`` private changes. A mapped model copies its tables when it is trained. A mapped
            file must not be truncated in place, see `KeyedDensities.load`.
        max_bytes : int, optional
            How large the tables may be, checked before anything is unpacked; by default twenty times the size of
            a compressed file, or 64 MiB if that is more.

        Raises
        ------
        DensvecFileError
            If the file is damaged, foreign, or of another class.

        Examples
        --------
        >>> import os, tempfile
        >>> from densvec import BayesianSkipGram
        >>> sentences = [["a", "b", "c"]] * 9
        >>> path = os.path.join(tempfile.mkdtemp(), "model.dv")
        >>> BayesianSkipGram(sentences, vector_size=4, min_count=1, workers=1, epochs=2).save(path)
        >>> model = BayesianSkipGram.load(path, mmap="r")
        >>> model.epochs_trained, model.wv.means.flags.writeable
        (2, False)
        """
        tensors, header = persistence.read(fname, mmap=mmap, max_bytes=max_bytes)
        with persistence.faults_of(fname):
            model = cls._restore(header, tensors)
        logger.info("loaded %s from %s", model, fname)
        return model

    def _header(self) -> dict[str, Any]:
        """Return all that is not an array, as a JSON document."""
        corpus_file, corpus_fingerprint = self._recorded or (None, None)
        words = header_of(self.wv)
        return {
            "class": type(self).__name__,
            "parameters": {name: getattr(self, name) for name in self.parameter_names()},
            "counters": {name: getattr(self, name) for name in (*COUNTERS, "epochs_trained")},
            "loss_history": [entry._asdict() for entry in self.loss_history],
            "lifecycle_events": self.lifecycle_events,
            "run": None if self._run is None else self._run.header(),
            "corpus_file": corpus_file,
            "corpus_fingerprint": corpus_fingerprint,
            **{name: words[name] for name in ("attributes", "reading", "text")},
            "auto_sample": self._auto_sample,
            "provenance": self._provenance,
        }

    def _tensors(self) -> dict[str, Array]:
        """Return all arrays by the names that they have in a file."""
        tensors = {**tensors_of(self.wv), **self._arrays()}
        if len(self._raw):
            for name, array in packing.pack_words(list(self.raw_vocab)).items():
                tensors[_RAW + name] = array
            tensors[_RAW + "vocabulary.counts"] = np.fromiter(self.raw_vocab.values(), np.int64)
        return tensors

    @classmethod
    def _restore(cls: type[M], header: Mapping[str, Any], tensors: Mapping[str, Array]) -> M:
        """Return the model of a header and its tensors; ValueError if they do not belong together."""
        _require_model(header, cls.__name__)
        model = cls.__new__(cls)  # without the corpus and the log entry of a new one
        parameters = field(header, "parameters", dict)
        for name in cls.parameter_names():
            if name not in parameters:
                raise ValueError(f"the header's parameters lack {name!r}")
            setattr(model, name, parameters[name])
        model._begin()
        counters = field(header, "counters", dict)
        for name in COUNTERS:
            setattr(model, name, field(counters, name, type(getattr(model, name)), minimum=0))
        field(counters, "epochs_trained", int, minimum=0)  # for readers of the header; the run has them too
        losses = [_restore_loss(entry) for entry in field(header, "loss_history", list)]
        model.lifecycle_events = _optional(header, "lifecycle_events", list)
        run = _optional(header, "run", dict)
        model._run = None if run is None else _restore_run(run, losses)
        mark = _optional(header, "corpus_fingerprint", dict)
        corpus_file = recorded_files(header)
        model._recorded = None if corpus_file is None else (corpus_file, mark)
        model._provenance = header.get("provenance")
        model._restore_tensors(header, tensors)
        if "auto_sample" in header:
            model._auto_sample = field(header, "auto_sample", bool)
        return model

    def _restore_tensors(self, header: Mapping[str, Any], tensors: Mapping[str, Array]) -> None:
        """Fill the model from a file's tensors, each of the shape that its parameters ask for."""
        asked = self.wv
        self.wv = wv = restored(KeyedDensities, header, tensors)
        wv.lifecycle_events = asked.lifecycle_events
        if (wv.vector_size, wv.covariance) != (asked.vector_size, asked.covariance):
            raise ValueError(
                f"the tables are {wv.covariance} of size {wv.vector_size}, the parameters say "
                f"{asked.covariance} of size {asked.vector_size}"
            )
        if len(wv) and (tensor(tensors, "vocabulary.counts", "i", (len(wv),)) < 0).any():
            raise ValueError("tensor vocabulary.counts holds negative numbers")
        if len(wv):
            self.layout().check(tensors, len(wv))
        state = {name.removeprefix(STATE): a for name, a in tensors.items() if name.startswith(STATE)}
        self._optimiser_state = state or None
        self._state_words = list(wv.index_to_key)
        if _RAW + "vocabulary.bytes" in tensors:
            raw = {name.removeprefix(_RAW): a for name, a in tensors.items() if name.startswith(_RAW)}
            words = packing.unpack_words(raw)
            counts = tensor(raw, "vocabulary.counts", "i", (len(words),))
            if (counts < 0).any():
                raise ValueError("tensor raw_vocabulary.counts holds negative numbers")
            self.raw_vocab = dict(zip(words, counts.tolist(), strict=True))


def _require_model(header: Mapping[str, Any], name: str) -> None:
    if header.get("class") == "KeyedDensities":
        raise ValueError(
            f"the file holds KeyedDensities, not a {name}: words and densities, as wv.save writes them, "
            f"without the parameters and the training state of a {name}. Open it with KeyedDensities.load"
        )
    require_class(header, {name}, name)


def _optional(header: Mapping[str, Any], name: str, kind: type) -> Any:
    return None if header.get(name) is None else field(header, name, kind)


def _restore_loss(entry: Any) -> EpochLoss:
    if not isinstance(entry, dict):
        raise ValueError(f"the header's loss_history has {str(entry)[:80]!r} among its entries")
    whole, positive = ("epoch", "words"), ("epoch", "words", "words_per_second", "seconds")
    fields: dict[str, Any] = {
        name: field(entry, name, int if name in whole else float, minimum=0 if name in positive else None)
        for name in EpochLoss._fields
        if name != "running_loss" or name in entry  # older files have none
    }
    return EpochLoss(**fields)


def _restore_run(run: dict[str, Any], losses: list[EpochLoss]) -> Run:
    """Check a position in training, and return it."""
    field(run, "epochs", int, minimum=1)
    tally = field(run, "tally", dict)
    places = [(run, ("epoch", "first_epoch")), (tally, ("chunks", "words", "kept", "examples"))]
    for document, names in places:
        for name in names:
            field(document, name, int, minimum=0)
    field({"number of the epoch": run["first_epoch"] + run["epoch"]}, "number of the epoch", int)
    for name in ("start_alpha", "end_alpha"):
        field(run, name, float, minimum=0)
    for name in ("total_words", "total_examples"):
        if _optional(run, name, int) is not None:
            field(run, name, int, minimum=0)
    field(tally, "seconds", float, minimum=0)
    for part in ("result", "at_rest"):
        if part == "result" or part in tally:  # older files have no losses at rest
            sums = field(tally, part, dict)
            field(sums, "centres", int, minimum=0)
            for name in ("loss", "hinge", "kl"):
                field(sums, name, float)
    if run["epoch"] > run["epochs"]:
        raise ValueError(f"the header's run has had {run['epoch']} of its {run['epochs']} epochs")
    if "own" in run:
        field(run, "own", bool)
    if _optional(run, "shared", dict) is not None:
        _check_shared(run["shared"])
    return Run.from_header(run, losses)


def _check_shared(shared: dict[str, Any]) -> None:
    """Check the record of what several processes have trained of an epoch."""
    ledger = field(shared, "ledger", dict)
    numbers = [*field(ledger, "done", list), *field(ledger, "begun", dict).values()]
    if not all(type(number) is int and number >= 0 for number in numbers):
        raise ValueError(f"the header's counts of the pieces of an epoch are wrong: {str(numbers)[:80]}")
    if not all(piece.isascii() and piece.isdigit() for piece in ledger["begun"]):
        raise ValueError(
            f"the header's numbers of the pieces of an epoch are wrong: {str(list(ledger['begun']))[:80]}"
        )
    corpus = field(shared, "corpus", dict)
    for name in ("shares",) if "shares" in corpus else ("pieces", "bytes"):
        field(corpus, name, int, minimum=0)
    if _optional(shared, "chunk_words", int) is not None:  # older files have none
        words = field(shared, "chunk_words", int, minimum=1)
        if words > MAX_BLOCK_WORDS:
            raise ValueError(f"the header's chunk_words is {words:,}, it must be at most {MAX_BLOCK_WORDS:,}")
