"""The senses of words in a corpus, found in the background: reading a corpus takes longer than a request may."""

from __future__ import annotations

import threading
from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from densvec import answers
from densvec.serve.errors import BusyError, NotFoundError
from densvec.serve.models import Model
from densvec.types import Corpus

__all__ = ["FoundSenses", "Reading", "SenseFinder"]

_KEPT = 128
"""Words whose senses are kept, those asked for last."""

_WAITING = 8
"""Words that may wait for their turn: the corpus is read for one after the other."""

_OCCURRENCES = 500


@dataclass
class Reading(answers.Document):
    """The corpus is being read for a word."""

    word: str
    state: str = "reading"


@dataclass
class FoundSenses(answers.SensesOf):
    """The senses of a word in the service's corpus."""

    state: str = "found"


class SenseFinder:
    """Finds senses in the corpus that the service was started with; no request names a file.

    Examples
    --------
    >>> finder = SenseFinder([["the", "dog", "and", "the", "cat"], ["a", "dog", "in", "a", "car"]])
    >>> from densvec.serve.models import Models
    >>> model = Models(wv).get()
    >>> _ = finder.ask(model, "dog")  # that it is reading, mostly
    >>> finder.wait()
    >>> finder.ask(model, "dog").occurrences
    2
    """

    def __init__(self, corpus: Corpus | None) -> None:
        self._corpus = corpus
        self._found: OrderedDict[tuple[str, str, str], Future[FoundSenses]] = OrderedDict()
        self._lock = threading.Lock()
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="densvec-senses")

    @property
    def has_corpus(self) -> bool:
        """Whether there is a corpus to look into."""
        return self._corpus is not None

    def ask(self, model: Model, word: str) -> FoundSenses | Reading:
        """Return the senses of a word, or that they are being looked for: ask again in a second."""
        if self._corpus is None:
            raise NotFoundError(
                "there is no corpus here to find senses in: start the service with --corpus FILE"
            )
        model.check_known([word])
        asked = model.name, model.loaded, word  # a model that is loaded again finds other senses
        with self._lock:
            found = self._found.get(asked)
            if found is None:
                if sum(not other.done() for other in self._found.values()) >= _WAITING:
                    raise BusyError("the senses of other words are being looked for: try again in a minute")
                found = self._found[asked] = self._reader.submit(self._find, model, word)
                while len(self._found) > _KEPT:
                    self._found.popitem(last=False)
            self._found.move_to_end(asked)
        return found.result() if found.done() else Reading(word)

    def wait(self) -> None:
        """Return when nothing is being looked for any more."""
        for found in list(self._found.values()):
            found.exception()

    def _find(self, model: Model, word: str) -> FoundSenses:
        assert self._corpus is not None
        try:
            found = model.wv.senses(word, self._corpus, _OCCURRENCES, show_progress=False)
        except ValueError:  # it does not occur there, which is an answer too
            return FoundSenses(word, 0, [])
        return FoundSenses(**vars(answers.senses(found)))
