"""Saving and loading models."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

from densvec import persistence
from densvec.keyed import KeyedDensities
from densvec.model_state import COUNTERS, SHARED_PARAMETERS
from densvec.model_training import Training
from densvec.schema import field, require_class, tensor
from densvec.training.run import EpochLoss, Run
from densvec.training.settings import Array

__all__ = ["Saving"]

logger = logging.getLogger(__name__)

M = TypeVar("M", bound="Saving")

_STATE, _RAW = "training.", "raw_"  # what the names of the optimiser's and of raw_vocab's tensors begin with


class Saving(Training):
    """One file for everything: the densities, the encoder, and all that training needs to go on."""

    def save(self, fname: str | os.PathLike[str]) -> None:
        """Save the model, so that `load` gives it back and ``train()`` goes on where it was.

        The file is written whole or not at all. A callback may save a model that is being trained: the
        workers pause meanwhile.

        Parameters
        ----------
        fname : str or PathLike
            Where to: a path, or what smart_open can write.

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
        with self._paused():
            persistence.write(fname, self._tensors(), self._header())
        logger.info("saved %s to %s", self, os.fspath(fname))

    @classmethod
    def load(cls: type[M], fname: str | os.PathLike[str], mmap: str | None = None) -> M:
        """Load a model that `save` wrote.

        Parameters
        ----------
        fname : str or PathLike
            The file.
        mmap : {None, "r", "c"}
            Map the tables into memory instead of reading them: ``"r"`` read-only and shared between
            processes, ``"c"`` private changes. A mapped model copies its tables when it is trained.

        Raises
        ------
        DensvecFileError
            If the file is damaged, foreign, or of another class.
        """
        tensors, header = persistence.read(fname, mmap=mmap)
        with persistence.faults_of(fname):
            model = cls._restore(header, tensors)
        logger.info("loaded %s from %s", model, os.fspath(fname))
        return model

    def _header(self) -> dict[str, Any]:
        """Return all that is not an array, as a JSON document."""
        corpus_file = self._corpus[1]
        return {
            **self.wv._header(),
            "class": type(self).__name__,
            "parameters": {name: getattr(self, name) for name in self._parameter_names()},
            "counters": {name: getattr(self, name) for name in COUNTERS},
            "loss_history": [entry._asdict() for entry in self.loss_history],
            "lifecycle_events": self.lifecycle_events,
            "run": None if self._run is None else self._run.header(),
            "corpus_file": None if corpus_file is None else os.fspath(corpus_file),
            "provenance": self._provenance,
        }

    def _tensors(self) -> dict[str, Array]:
        """Return all arrays by the names that they have in a file."""
        tensors: dict[str, Array] = dict(self.wv._tensors())
        for name, array in (self._optimiser_state or {}).items():
            tensors[_STATE + name] = array
        if self.raw_vocab:
            for name, array in persistence.pack_words(list(self.raw_vocab)).items():
                tensors[_RAW + name] = array
            tensors[f"{_RAW}vocabulary.counts"] = np.fromiter(self.raw_vocab.values(), np.int64)
        return tensors

    @classmethod
    def _restore(cls: type[M], header: Mapping[str, Any], tensors: Mapping[str, Array]) -> M:
        """Return the model of a header and its tensors; ValueError if they do not belong together."""
        require_class(header, {cls.__name__}, cls.__name__)
        parameters = field(header, "parameters", dict)
        model = cls(**{name: parameters[name] for name in cls._parameter_names()})
        model._check_wv(KeyedDensities._restore(header, tensors))
        counters = field(header, "counters", dict)
        for name in COUNTERS:
            setattr(model, name, field(counters, name, type(getattr(model, name)), minimum=0))
        model.loss_history = [EpochLoss(**entry) for entry in field(header, "loss_history", list)]
        model.lifecycle_events = header["lifecycle_events"]
        model._run = None if header["run"] is None else Run.from_header(field(header, "run", dict))
        model._corpus = (None, header["corpus_file"])
        model._provenance = header["provenance"]
        model._optimiser_state = _named(tensors, _STATE) or None
        if raw := _named(tensors, _RAW):
            counts = tensor(raw, "vocabulary.counts", "i", (None,))
            model.raw_vocab = dict(zip(persistence.unpack_words(raw), counts.tolist(), strict=True))
        return model

    @classmethod
    def _parameter_names(cls) -> tuple[str, ...]:
        return (*SHARED_PARAMETERS, *cls.own_parameters)

    def _check_wv(self, wv: KeyedDensities) -> None:
        """Take over densities that fit the model's parameters."""
        expected = self.wv
        if wv.vector_size != self.vector_size or wv.covariance != expected.covariance:
            raise ValueError(
                f"the tables have {wv.vector_size} dimensions and are {wv.covariance}, but the parameters "
                f"say {self.vector_size} and {expected.covariance}"
            )
        self.wv = wv


def _named(tensors: Mapping[str, Array], start: str) -> dict[str, Array]:
    """Return the tensors whose names begin so, without that beginning."""
    return {name.removeprefix(start): array for name, array in tensors.items() if name.startswith(start)}
