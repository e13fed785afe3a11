"""The senses of words in a corpus, found in the background: reading a corpus takes longer than a request may."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from densvec.answers import corpus as answers
from densvec.answers.documents import Document
from densvec.answers.messages import check_known
from densvec.serve.faults import BusyError
from densvec.serve.models import Model
from densvec.types import Corpus

_KEPT = 128
"""Words whose senses are kept, those found last."""

_WAITING = 8
"""Words that may wait for their turn: the corpus is read for one after the other."""

_OCCURRENCES = 500


@dataclass
class Reading(Document):
    """The corpus is being read for a word."""

    word: str
    state: str = "reading"


@dataclass
class FoundSenses(answers.SensesOf):
    """The senses of a word in the service's corpus."""

    state: str = "found"


class SenseFinder:
    """Finds senses in the corpus that the service was started with; no request names a file."""

    def __init__(self, corpus: Corpus | None) -> None:
        self._corpus = corpus
        self._found: dict[tuple[Model, str], Future[FoundSenses]] = {}  # a model loaded again is another
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="densvec-senses")

    @property
    def has_corpus(self) -> bool:
        """Whether there is a corpus to look into."""
        return self._corpus is not None

    def ask(self, model: Model, word: str) -> FoundSenses | Reading:
        """Return the senses of a word, or that they are being looked for: ask again in a second."""
        if self._corpus is None:
            raise KeyError("there is no corpus here to find senses in: start the service with --corpus FILE")
        check_known(model.wv, [word])
        found = self._found.get((model, word))
        if found is None:
            if sum(not other.done() for other in self._found.values()) >= _WAITING:
                raise BusyError("the senses of other words are being looked for: try again in a minute")
            found = self._found[model, word] = self._reader.submit(self._find, model, word)
            while len(self._found) > _KEPT:
                del self._found[next(iter(self._found))]
        return found.result() if found.done() else Reading(word)

    def _find(self, model: Model, word: str) -> FoundSenses:
        assert self._corpus is not None
        try:
            found = model.wv.senses(word, self._corpus, _OCCURRENCES, show_progress=False)
        except ValueError:  # it does not occur there, which is an answer too
            return FoundSenses(word, 0, [])
        return FoundSenses(**vars(answers.senses(found)))
