"""The front that all models share: gensim's Word2Vec, over densities."""

from __future__ import annotations

import functools
import logging
import warnings
from collections.abc import Callable, Iterable
from typing import Any, Concatenate, ParamSpec, TypeVar

from densvec.model.documentation import fill_in_parameters
from densvec.model.parameters import names_checked
from densvec.model.saving import Saving
from densvec.model.training import Training
from densvec.model.vocabulary import VocabularyBuilding, check_sources
from densvec.types import CorpusFile, Sentences, TrimRule

logger = logging.getLogger(__name__)

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T", bound=type[Any])


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


def model(cls: T) -> T:
    """Complete the dataclass of a model: errors for unknown names, and the documentation of inherited parameters."""
    return fill_in_parameters(names_checked(cls))


class DensityModel(VocabularyBuilding, Training, Saving):
    """A model that is constructed, trained, queried and saved like gensim's Word2Vec.

    Its parts are in files of their own: `state` (attributes, and what a subclass defines), `parameters`, `vocabulary`,
    `training` and `saving`. A subclass is a dataclass whose fields are its own parameters, decorated with `model`, and
    says what its tables are and what trains them.
    """

    def __post_init__(
        self,
        sentences: Sentences | None,
        corpus_file: CorpusFile | None,
        hashfxn: Callable[[str], int],
        trim_rule: TrimRule | None,
        callbacks: Iterable[Any],
        distributed: bool | None,
    ) -> None:
        """With the parameters set, make a model of them; with a corpus, train on it."""
        self._begin(hashfxn, distributed)
        self._constructor_callbacks = tuple(callbacks)
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
