"""The front that all models share: gensim's Word2Vec, over densities."""

from __future__ import annotations

import functools
import logging
import warnings
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

from densvec.model.documentation import fill_in_parameters
from densvec.model.saving import Saving
from densvec.model.state import Sentences
from densvec.model.training import Training
from densvec.model.vocabulary import VocabularyBuilding, check_sources

__all__ = ["DensityModel", "of_words"]

logger = logging.getLogger(__name__)

P = ParamSpec("P")
R = TypeVar("R")


def of_words(question: Callable[Concatenate[Any, P], R], **options: str) -> Callable[Concatenate[Any, P], R]:
    """Return a method of a model that asks a question of its words.

    Parameters
    ----------
    question : callable
        A function of :mod:`densvec.questions`, bound as a method of `KeyedDensities`.
    **options
        Arguments of it that are by default what the model has as the attribute named.
    """

    @functools.wraps(question)
    def method(model: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        for option, attribute in options.items():
            kwargs.setdefault(option, getattr(model, attribute))
        return question(model.wv, *args, **kwargs)

    return method


class DensityModel(VocabularyBuilding, Training, Saving):
    """A model that is constructed, trained, queried and saved like gensim's Word2Vec.

    Its parts are in files of their own: `state` (attributes, and what a subclass defines), `parameters`,
    `layout`, `vocabulary`, `training` and `saving`. A subclass inherits from a dataclass with its own parameters
    too, writes the constructor with all of them, and says what its tables are and what trains them.

    Parameters
    ----------
    sentences : iterable of token lists, optional
        The corpus, iterable more than once: a list, `densvec.corpora.LineSentence`, …
    corpus_file : path or list of paths, optional
        A file with one sentence per line, in place of ``sentences``: the fastest way to train. A directory stands for
        its files, a pattern such as ``"texts/*.gz"`` for those that match it, and a list for all of its members.
    trim_rule : callable, optional
        ``trim_rule(word, count, min_count)`` says which words to keep, see `build_vocab`. Not stored.
    callbacks : iterable
        Objects with hooks, see `densvec.callbacks`; ``train()`` uses them too.
    distributed : bool, optional
        Whether to train together with the other processes that torchrun started; by default if there are any. See
        `densvec.distributed`.
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        fill_in_parameters(cls)

    def __init__(self, values: dict[str, Any]) -> None:
        """Take the arguments of a subclass's constructor, by name; with a corpus, train on it."""
        super().__init__(values)
        sentences, corpus_file = values.get("sentences"), values.get("corpus_file")
        trim_rule = values.get("trim_rule")
        self._constructor_callbacks = tuple(values.get("callbacks", ()))
        self.add_lifecycle_event("created", params=str(self))
        if sentences is None and corpus_file is None:
            if trim_rule is not None:
                logger.warning(
                    "trim_rule is only used by build_vocab and is not stored: without sentences it is ignored"
                )
            return
        self._on_all_ranks(lambda: check_sources(sentences, corpus_file, passes=self.epochs + 1))
        self.build_vocab(sentences, corpus_file, trim_rule=trim_rule)
        if not self.epochs:
            raise ValueError(
                "epochs=0: give how many epochs to train, or build the vocabulary without sentences"
            )
        self.train()

    def init_sims(self, replace: bool = False) -> None:
        """Warn, as gensim 4 does, that this is not needed; ``replace`` scales the means to unit length."""
        warnings.warn(
            "init_sims() is no longer needed: norms are computed when they are first used",
            DeprecationWarning,
            stacklevel=2,
        )
        if replace:
            self.wv.unit_normalize_all()
        else:
            self.wv.fill_norms()

    def score(
        self,
        sentences: Sentences,
        total_sentences: int = 1_000_000,
        chunksize: int = 100,
        queue_factor: int = 2,
        report_delay: float = 1,
    ) -> None:
        """Raise RuntimeError: only a model with hierarchical softmax gives a sentence a probability."""
        raise RuntimeError(
            "score() needs hierarchical softmax (hs=1), which densvec's models do not have: they contrast "
            "words with negatives. To compare how words fit a context, use wv.infer or predict_output_word"
        )
