"""The models that a service answers from: found by name, described, and replaced while it runs."""

from __future__ import annotations

import bisect
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import cached_property

import numpy as np

from densvec import pretrained
from densvec.answers.documents import Document
from densvec.answers.messages import sentence
from densvec.answers.words import METRICS
from densvec.keyed import KeyedDensities
from densvec.types import Floats, Integers

logger = logging.getLogger(__name__)


@dataclass
class Words(Document):
    """Words that begin alike."""

    prefix: str
    words: list[str]


@dataclass
class ModelFacts(Document):
    """What a model contains, and what else the service has."""

    name: str
    words: int
    vector_size: int
    covariance: str | None
    encoder: bool
    window: int
    counts: bool
    metrics: list[str]
    loaded: str
    models: list[str]
    corpus: bool


@dataclass(frozen=True, eq=False)
class Model:
    """One model as it was loaded; a file that is loaded again makes a new one."""

    name: str
    wv: KeyedDensities
    path: str | None
    loaded: str  # when, in ISO 8601

    @classmethod
    def of(cls, name: str, wv: KeyedDensities, path: str | None = None) -> Model:
        """Return a model, warmed up so that its first answer is as fast as all others."""
        model = cls(name, wv, path, datetime.now(timezone.utc).isoformat(timespec="seconds"))
        if len(wv):
            for metric in model.metrics:
                wv.most_similar(wv.index_to_key[0], topn=1, metric=metric)
            model.words_from("", 1)
            if wv.log_variances is not None:
                wv.hypernyms(wv.index_to_key[0], topn=1)
        return model

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that words can be compared by: cosine alone if there are no variances."""
        return METRICS if self.wv.log_variances is not None else METRICS[:1]

    def words_from(self, prefix: str, topn: int) -> Words:
        """Return words that begin with a prefix, whatever its case, the most frequent first."""
        folded, rows = self._by_spelling
        wanted = prefix.casefold()
        first, last = (bisect.bisect_left(folded, end) for end in (wanted, wanted + "\U0010ffff"))
        found = np.sort(rows[first:last])[:topn]
        return Words(prefix, [str(self.wv.index_to_key[row]) for row in found])

    def facts(self, models: list[str], corpus: bool) -> ModelFacts:
        """Return what there is to know about the model."""
        wv = self.wv
        return ModelFacts(
            name=self.name,
            words=len(wv),
            vector_size=wv.vector_size,
            covariance=wv.covariance,
            encoder=wv.encoder is not None,
            window=wv.window,
            counts="count" in wv.expandos,
            metrics=list(self.metrics),
            loaded=self.loaded,
            models=models,
            corpus=corpus,
        )

    @cached_property
    def generalities(self) -> Floats:
        """The generality of every word, in ascending order."""
        return np.sort(self.wv.generality(range(len(self.wv))))

    @cached_property
    def _by_spelling(self) -> tuple[list[str], Integers]:
        """All words case-folded and sorted, and the row of each."""
        pairs = sorted((str(key).casefold(), row) for row, key in enumerate(self.wv.index_to_key))
        return [folded for folded, _ in pairs], np.array([row for _, row in pairs], dtype=np.int64)


class Models:
    """Models by name; requests that name none are answered from the first.

    Parameters
    ----------
    models : KeyedDensities or mapping of str to KeyedDensities
        One, or several with their names.
    paths : mapping of str to str, optional
        The files they come from, for :meth:`reload`.

    Examples
    --------
    >>> models = Models({"small": wv, "large": wv})
    >>> models.names
    ['small', 'large']
    >>> models.get().name
    'small'
    """

    def __init__(
        self, models: KeyedDensities | Mapping[str, KeyedDensities], paths: Mapping[str, str] | None = None
    ) -> None:
        named = models if isinstance(models, Mapping) else {"default": models}
        if not named:
            raise ValueError("there is no model to answer from: give at least one")
        paths = paths or {}
        self._models = {name: Model.of(name, wv, paths.get(name)) for name, wv in named.items()}

    @classmethod
    def from_files(cls, paths: Mapping[str, str]) -> Models:
        """Map the files into memory, which all processes on the machine then share."""
        return cls({name: pretrained.load(path) for name, path in paths.items()}, paths)

    @property
    def names(self) -> list[str]:
        """The names, the default one first."""
        return list(self._models)

    def get(self, name: str | None = None) -> Model:
        """Return the current model; a request keeps the one it got even if it is replaced meanwhile."""
        if name is None:
            return next(iter(self._models.values()))
        if name not in self._models:
            known = ", ".join(map(repr, self._models))
            raise KeyError(f"there is no model {name!r} here: there is {known}")
        return self._models[name]

    def reload(self) -> None:
        """Load every file again. One that cannot be loaded is logged, and its model stays as it is."""
        for name, model in list(self._models.items()):
            if model.path is None:
                continue
            try:
                self._models[name] = Model.of(name, pretrained.load(model.path), model.path)
            except Exception as error:  # whatever is wrong with the new file, the old model answers
                logger.error("%s was not loaded again, the old one answers: %s", name, sentence(error))
            else:
                logger.warning("%s was loaded again from %s", name, model.path)
