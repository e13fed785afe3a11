"""The front that all models share: gensim's Word2Vec, over densities."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterable
from typing import Any

from densvec.model.files import Saving
from densvec.model.state import Corpus, CorpusFile, TrimRule
from densvec.model.vocabulary import VocabularyBuilding, check_sources

__all__ = ["DensityModel"]

logger = logging.getLogger(__name__)


class DensityModel(VocabularyBuilding, Saving):
    """A model that is constructed, trained, asked and saved as gensim's Word2Vec is.

    Its parts are in files of their own: `model_state` (attributes, and what a subclass defines),
    `model_vocabulary`, `model_training` and `model_files`. A subclass writes the constructor with its own
    parameters, and says what its tables are and what trains them.
    """

    def __init__(
        self,
        sentences: Corpus | None = None,
        corpus_file: CorpusFile | None = None,
        *,
        trim_rule: TrimRule | None = None,
        callbacks: Iterable[Any] = (),
        **parameters: Any,
    ) -> None:
        super().__init__(**parameters)
        self._constructor_callbacks = tuple(callbacks)
        self.add_lifecycle_event("created", params=str(self))
        if sentences is None and corpus_file is None:
            if trim_rule is not None:
                logger.warning(
                    "trim_rule is used by build_vocab only and is not stored: without sentences it is ignored"
                )
            return
        check_sources(sentences, corpus_file, passes=self.epochs + 1)
        self.build_vocab(sentences, corpus_file, trim_rule=trim_rule)
        if not self.epochs:
            raise ValueError(
                "epochs=0: give how many epochs to train, or build the vocabulary without sentences"
            )
        self.train()

    def init_sims(self, replace: bool = False) -> None:
        """Warn, as gensim 4 does, that this is not needed; ``replace`` scales the means to unit length."""
        warnings.warn(
            "init_sims() is not needed any more: norms are computed when they are asked for",
            DeprecationWarning,
            stacklevel=2,
        )
        if replace:
            self.wv.unit_normalize_all()
        else:
            self.wv.fill_norms()

    def score(
        self,
        sentences: Corpus,
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
