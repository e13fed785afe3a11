"""The models that a service answers from: found by name, described, and replaced while it runs."""

from __future__ import annotations

import bisect
import logging
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import cached_property
from typing import Any

import numpy as np

from densvec import pretrained
from densvec.answers import METRICS
from densvec.answers.messages import sentence, unknown_word
from densvec.files.streams import is_stream
from densvec.keyed import KeyedDensities
from densvec.serve.errors import NotFoundError
from densvec.text.spelling import spellings
from densvec.types import Floats, Integers

__all__ = ["Model", "Models", "open_model"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Model:
    """One model as it was loaded; a file that is loaded again makes a new one."""

    name: str
    wv: KeyedDensities
    path: str | None
    loaded: str  # when, in ISO 8601

    @classmethod
    def of(cls, name: str, wv: KeyedDensities, path: str | None = None) -> Model:
        """Return a model that answers its first question as fast as all others."""
        model = cls(name, wv, path, datetime.now(timezone.utc).isoformat(timespec="seconds"))
        model._warm_up()
        return model

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that words can be compared by: cosine alone if there are no variances."""
        return METRICS if self.wv.log_variances is not None else METRICS[:1]

    def check_known(self, words: Iterable[str]) -> None:
        """Raise KeyError for the first word that is unknown, with the sentence of the command line."""
        for word in words:
            if word not in self.wv.key_to_index:
                near = spellings(word, self._spelt_like(word))
                raise unknown_word(word, len(self.wv), near)

    def words_from(self, prefix: str, topn: int) -> list[str]:
        """Return words that begin with a prefix, whatever its case, the most frequent first."""
        folded, rows = self._by_spelling
        prefix = prefix.casefold()
        first = bisect.bisect_left(folded, prefix)
        last = bisect.bisect_left(folded, prefix + "\U0010ffff")
        found = np.sort(rows[first:last])[:topn]
        return [str(self.wv.index_to_key[row]) for row in found]

    @cached_property
    def generalities(self) -> Floats:
        """The generality of every word, in ascending order."""
        return np.sort(self.wv.generality(range(len(self.wv))))

    def describe(self) -> dict[str, Any]:
        """Return what there is to know about the model, as a JSON document."""
        wv = self.wv
        return {
            "name": self.name,
            "words": len(wv),
            "vector_size": wv.vector_size,
            "covariance": wv.covariance,
            "encoder": wv.encoder is not None,
            "window": wv.window,
            "counts": "count" in wv.expandos,
            "metrics": list(self.metrics),
            "loaded": self.loaded,
        }

    @cached_property
    def _by_spelling(self) -> tuple[list[str], Integers]:
        """All words case-folded and sorted, and the row of each."""
        pairs = sorted((str(key).casefold(), row) for row, key in enumerate(self.wv.index_to_key))
        return [folded for folded, _ in pairs], np.array([row for _, row in pairs], dtype=np.int64)

    @cached_property
    def _by_ends(self) -> dict[tuple[int, str, str], list[int]]:
        """The rows of the words of each length with each first letter and with each last letter."""
        found: dict[tuple[int, str, str], list[int]] = {}
        for row, key in enumerate(self.wv.index_to_key):
            folded = str(key).casefold()
            if folded:
                found.setdefault((len(key), "first", folded[0]), []).append(row)
                found.setdefault((len(key), "last", folded[-1]), []).append(row)
        return found

    def _spelt_like(self, word: str) -> list[str]:
        """Return the words that `spellings` would look at among all, which takes a tenth of its time."""
        folded = word.casefold()
        if not folded:
            return []
        rows: set[int] = set()
        for length in range(len(folded) - 2, len(folded) + 3):
            rows.update(self._by_ends.get((length, "first", folded[0]), ()))
            rows.update(self._by_ends.get((length, "last", folded[-1]), ()))
        return [str(self.wv.index_to_key[row]) for row in sorted(rows)]

    def _warm_up(self) -> None:
        if len(self.wv):
            for metric in self.metrics:
                self.wv.most_similar(self.wv.index_to_key[0], topn=1, metric=metric)
            self.words_from("", 1)
            if self.wv.log_variances is not None:
                self.wv.hypernyms(self.wv.index_to_key[0], topn=1)


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
        return cls({name: open_model(path) for name, path in paths.items()}, paths)

    @property
    def names(self) -> list[str]:
        """The names, the default one first."""
        return list(self._models)

    def get(self, name: str | None = None) -> Model:
        """Return the model as it is now; whoever has it keeps it, even if it is replaced in the meantime."""
        if name is None:
            return next(iter(self._models.values()))
        if name not in self._models:
            raise NotFoundError(
                f"there is no model {name!r} here: there is {', '.join(map(repr, self._models))}"
            )
        return self._models[name]

    def reload(self) -> None:
        """Load every file again. One that cannot be loaded is logged, and its model stays as it is."""
        for name, model in list(self._models.items()):
            if model.path is None:
                continue
            try:
                self._models[name] = Model.of(name, open_model(model.path), model.path)
            except Exception as error:  # whatever is wrong with the new file, the old model answers
                logger.error("%s was not loaded again, the old one answers: %s", name, sentence(error))
            else:
                logger.warning("%s was loaded again from %s", name, model.path)


def open_model(path: str) -> KeyedDensities:
    """Open a file, mapped where that is possible, or a model that densvec knows by name, such as "english"."""
    import densvec

    known = getattr(densvec, "load", None)
    if known is not None and not is_stream(path) and not os.path.exists(path):
        found = known(path)
        return getattr(found, "wv", found)  # type: ignore[no-any-return]
    return pretrained.load(path)
