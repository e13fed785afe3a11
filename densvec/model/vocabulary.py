"""Building a model's vocabulary, by gensim's methods."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from densvec.checks import check_whole
from densvec.files.schema import LARGEST
from densvec.model.state import ModelState, alone
from densvec.tables import set_keys
from densvec.text.source import as_files, check_corpus, corpus_paths, reading_of
from densvec.text.thinning import auto_sample, keep_probabilities
from densvec.text.vocabulary import RawVocabulary, Vocabulary, count_words, grow, select
from densvec.training import signals
from densvec.types import CorpusFile, Sentences, TrimRule

logger = logging.getLogger(__name__)

#: Bytes that a word takes in the vocabulary: its string, and its entries in the list and the dictionary.
WORD_BYTES = 200


def check_sources(sentences: Sentences | None, corpus_file: CorpusFile | None, passes: int = 1) -> None:
    """Raise TypeError unless there is exactly one corpus, which can be read this many times."""
    check_corpus(sentences, corpus_file, passes)
    for path in () if corpus_file is None else corpus_paths(corpus_file):
        if "://" not in path and not os.path.isfile(path):
            raise TypeError(
                f"corpus_file={path!r} is not a file: give the path of a text file, a directory of them, a pattern "
                "such as 'texts/*.txt', or a list of these"
            )


class VocabularyBuilding(ModelState):
    """The methods that count words and choose those that the model will know."""

    @alone
    def build_vocab(
        self,
        corpus_iterable: Sentences | None = None,
        corpus_file: CorpusFile | None = None,
        update: bool = False,
        progress_per: int = 10_000,
        keep_raw_vocab: bool = False,
        trim_rule: TrimRule | None = None,
        **kwargs: Any,
    ) -> None:
        """Build the vocabulary from a corpus, or, with ``update``, extend it.

        Parameters
        ----------
        corpus_iterable : iterable of token lists, optional
            The corpus; or
        corpus_file : path or list of paths, optional
            a file with one sentence per line, a directory of them, a pattern such as ``"texts/*.gz"``, or a list.
        update : bool
            Add the words of the corpus to those that the model knows. Known words keep their densities and
            their rows; new ones start from the average word; the counts are those of all corpora together.
        progress_per : int
            Log progress about once every this many sentences.
        keep_raw_vocab : bool
            Keep the counts of all words in ``raw_vocab``.
        trim_rule : callable, optional
            Called as ``trim_rule(word, count, min_count)``; answers which words to keep by one of
            ``densvec.text.vocabulary.RULE_KEEP``, ``RULE_DISCARD`` and ``RULE_DEFAULT``. Not stored.
        **kwargs
            ``min_count`` and ``sample``, passed on to `prepare_vocab`.

        Examples
        --------
        >>> from densvec import BayesianSkipGram
        >>> model = BayesianSkipGram(min_count=1)
        >>> model.build_vocab([["a", "b"], ["b", "c"]])
        >>> model.build_vocab([["c", "d"]], update=True)
        >>> model.wv.index_to_key
        ['b', 'a', 'c', 'd']
        """
        if update:
            self._check_update()
        self.scan_vocab(corpus_iterable, corpus_file, progress_per=progress_per, trim_rule=trim_rule)
        self._corpus = (corpus_iterable, corpus_file)
        report = self.prepare_vocab(
            update=update, keep_raw_vocab=keep_raw_vocab, trim_rule=trim_rule, **kwargs
        )
        report["memory"] = self.estimate_memory(vocab_size=len(self.wv.index_to_key))["total"]
        self.prepare_weights(update=update)
        if not update:
            self.wv.text_reading = reading_of(corpus_iterable, corpus_file)
        self._count_beside(corpus_iterable, corpus_file)
        self.add_lifecycle_event("build_vocab", update=update, trim_rule=str(trim_rule), **report)

    @alone
    def build_vocab_from_freq(
        self,
        word_freq: Mapping[str, int],
        keep_raw_vocab: bool = False,
        corpus_count: int | None = None,
        trim_rule: TrimRule | None = None,
        update: bool = False,
    ) -> None:
        """Build the vocabulary from a table of counts.

        Parameters
        ----------
        word_freq : mapping of str to int
            How often each word occurs.
        keep_raw_vocab : bool
            Keep the table in ``raw_vocab``.
        corpus_count : int, optional
            Sentences of the corpus that the counts come from.
        trim_rule, update
            As in `build_vocab`.

        Examples
        --------
        >>> from densvec import BayesianSkipGram
        >>> model = BayesianSkipGram()
        >>> model.build_vocab_from_freq({"word1": 15, "word2": 20, "rare": 1})
        >>> model.wv.index_to_key
        ['word2', 'word1']
        """
        if update:
            self._check_update()
        if corpus_count is not None:
            corpus_count = check_whole("corpus_count", corpus_count, least=0, most=LARGEST)
        self._set_raw(RawVocabulary.from_frequencies(word_freq, corpus_count))
        self.corpus_total_words = 0  # the corpus was not read: train() must be given its size
        self._corpus = (None, None)
        report = self.prepare_vocab(update=update, keep_raw_vocab=keep_raw_vocab, trim_rule=trim_rule)
        report["memory"] = self.estimate_memory(vocab_size=len(self.wv.index_to_key))["total"]
        self.prepare_weights(update=update)
        self.add_lifecycle_event("build_vocab_from_freq", update=update, trim_rule=str(trim_rule), **report)

    @alone
    def scan_vocab(
        self,
        corpus_iterable: Sentences | None = None,
        corpus_file: CorpusFile | None = None,
        progress_per: int = 10_000,
        workers: int | None = None,
        trim_rule: TrimRule | None = None,
    ) -> tuple[int, int]:
        """Count the words of a corpus into ``raw_vocab``; return the numbers of its words and sentences.

        Examples
        --------
        >>> from densvec import BayesianSkipGram
        >>> BayesianSkipGram().scan_vocab([["a", "b"], ["b", "c"]])
        (4, 2)
        """
        ranks = self._ranks()
        options: dict[str, Any] = {
            "progress_per": progress_per,
            "max_vocab_size": self.max_vocab_size,
            "trim_rule": trim_rule,
            "workers": check_whole("workers", workers, least=1) if workers else self.workers,
        }
        if ranks is None:
            check_sources(corpus_iterable, corpus_file)
            with signals.undeferred():
                raw = count_words(corpus_iterable, corpus_file, **options)
        else:
            from densvec.distributed.vocabulary import count_together

            self._on_all_ranks(lambda: check_sources(corpus_iterable, corpus_file))
            with signals.undeferred():
                raw = count_together(ranks, *as_files(corpus_iterable, corpus_file), **options)
        self._set_raw(raw)
        return raw.total_words, raw.sentence_count

    @alone
    def prepare_vocab(
        self,
        update: bool = False,
        keep_raw_vocab: bool = False,
        trim_rule: TrimRule | None = None,
        min_count: int | None = None,
        sample: float | None = None,
        dry_run: bool = False,
    ) -> dict[str, int]:
        """Choose the words to know from ``raw_vocab``; return figures about them.

        Parameters
        ----------
        update : bool
            Add to the words that are known.
        keep_raw_vocab : bool
            Keep ``raw_vocab`` afterwards.
        trim_rule : callable, optional
            As in `build_vocab`.
        min_count, sample : optional
            Use these in place of the model's; unless ``dry_run``, they become the model's.
        dry_run : bool
            Only compute the figures: to find a good ``min_count`` without scanning the corpus again.

        Returns
        -------
        dict
            ``drop_unique``, ``retain_total``, ``downsample_unique``, ``downsample_total`` and
            ``num_retained_words``, as in gensim.

        Examples
        --------
        >>> from densvec import BayesianSkipGram
        >>> model = BayesianSkipGram(sample=0)
        >>> _ = model.scan_vocab([["a", "b"], ["b", "c"]])
        >>> model.prepare_vocab(min_count=2, dry_run=True)["num_retained_words"]
        1
        """
        if update:
            self._check_update()
        min_count = self.min_count if min_count is None else self.check_parameter("min_count", min_count)
        sample = None if sample is None else self.check_parameter("sample", sample)
        if sample == "auto":
            self._auto_sample, sample = True, None
        vocabulary = self._choose(update, min_count, trim_rule, allow_empty=dry_run)
        given, sample = sample, self._chosen_sample(vocabulary) if sample is None else sample
        if not dry_run:
            self.min_count = min_count
            self._keep_sample(sample, self._auto_sample and given is None)
            self.effective_min_count = vocabulary.effective_min_count
            self._set_vocabulary(vocabulary, update)
            if not keep_raw_vocab:
                self.raw_vocab = {}
        return vocabulary.report(sample)

    @alone
    def prepare_weights(self, update: bool = False) -> None:
        """Give every word its rows in the tables: fresh ones, or, with ``update``, only the new words."""
        if update:
            self.update_weights()
        else:
            self.init_weights()

    @alone
    def init_weights(self) -> None:
        """Reset all tables to the start of training, forgetting what was trained."""
        self._set_arrays(self.layout().start(len(self.wv.index_to_key), np.random.default_rng(self.seed)))
        self._run = None
        self.min_alpha_yet_reached = float(self.alpha)

    @alone
    def update_weights(self) -> None:
        """Give new words their rows; those of known words stay as they are."""
        known = len(self.wv.vectors)
        if not known:
            raise RuntimeError(
                "there are no weights to update yet: build the vocabulary with update=False first"
            )
        added = len(self.wv.index_to_key) - known
        # The seed depends on how many are known, so that a second update does not repeat the first's draws.
        rng = np.random.default_rng([self.seed, known])
        self._set_arrays(self.layout().grown(self._arrays(), added, rng))
        if self.wv.beside is not None:
            self.wv.beside = self.wv.beside.with_rows_appended(added)
        self._state_words = list(self.wv.index_to_key)

    def estimate_memory(
        self, vocab_size: int | None = None, report: dict[str, int] | None = None
    ) -> dict[str, int]:
        """Return the bytes that the model takes, table by table and in total, while it is trained.

        Parameters
        ----------
        vocab_size : int, optional
            Number of words; by default those that the model knows.
        report : dict, optional
            A dictionary to add the figures to.

        Examples
        --------
        >>> from densvec import BayesianSkipGram
        >>> BayesianSkipGram(vector_size=100).estimate_memory(vocab_size=1000)["means"]
        400000
        """
        words = vocab_size or len(self.wv.index_to_key)
        report = {} if report is None else report
        report["vocab"] = words * WORD_BYTES
        report.update(self.layout().bytes(words))
        report["total"] = sum(size for name, size in report.items() if name != "total")
        logger.info(
            "estimated required memory for %i words and %i dimensions: %i bytes",
            words,
            self.vector_size,
            report["total"],
        )
        return report

    @alone
    def reset_from(self, other_model: VocabularyBuilding) -> None:
        """Copy the vocabulary of another model, and start with fresh tables.

        Examples
        --------
        >>> from densvec import BayesianSkipGram
        >>> first = BayesianSkipGram(min_count=1)
        >>> first.build_vocab([["a", "b"]])
        >>> second = BayesianSkipGram(vector_size=50)
        >>> second.reset_from(first)
        >>> second.wv.vectors.shape
        (2, 50)
        """
        theirs = other_model.wv
        vocabulary = Vocabulary(list(theirs.index_to_key), theirs.expandos["count"].copy())
        self._set_vocabulary(vocabulary, update=False)
        self.wv.beside, self.wv.kinds = theirs.beside, theirs.kinds
        self._raw = other_model._raw.copy()
        self.corpus_count = other_model.corpus_count
        self.corpus_total_words = other_model.corpus_total_words
        self._corpus, self._recorded = other_model._corpus, other_model._recorded
        self.init_weights()

    def _count_beside(self, sentences: Sentences | None, corpus_file: CorpusFile | None) -> None:
        """Count which words stand beside others, if the corpus can be read once more."""
        if isinstance(sentences, Iterator):
            logger.info("the corpus can be read only once: which words stand beside others is not counted")
            return
        ranks = self._ranks()
        with signals.undeferred():
            self.wv.count_beside(sentences, corpus_file, workers=self._threads, group=ranks)

    def _check_update(self) -> None:
        """Raise an error if new words could not be given rows, before anything has changed."""
        if not len(self.wv.index_to_key):
            raise RuntimeError(
                "a vocabulary can only be updated once there is one: call build_vocab without update first"
            )
        known = len(self.wv.vectors)
        if known:
            self.layout().check(self._arrays(), known)

    def _set_raw(self, raw: RawVocabulary) -> None:
        self._raw = raw
        self.corpus_count = raw.sentence_count
        self.corpus_total_words = raw.total_words

    def _choose(
        self, update: bool, min_count: int, trim_rule: TrimRule | None, allow_empty: bool
    ) -> Vocabulary:
        rules: dict[str, Any] = {
            "min_count": min_count,
            "max_final_vocab": self.max_final_vocab,
            "trim_rule": trim_rule,
            "sorted_vocab": bool(self.sorted_vocab),
        }
        if update:
            return grow((self.wv.index_to_key, self.wv.expandos["count"]), self._raw, **rules)
        return select(self._raw, **rules, allow_empty=allow_empty)

    def _set_vocabulary(self, vocabulary: Vocabulary, update: bool) -> None:
        if not update:
            self.wv = self._new_keyed()
        set_keys(self.wv, vocabulary.words, dict(vocabulary.index))
        self.wv.expandos["count"] = vocabulary.counts
        self._keep_sample(self._chosen_sample(vocabulary), self._auto_sample)
        keep = keep_probabilities(vocabulary.counts, float(self.sample))
        self.wv.expandos["keep"] = keep.astype(np.float32)  # contexts are read with it
        self.wv.allocate_vecattrs()  # other attributes have no value for new words yet

    def _keep_sample(self, sample: float, auto: bool) -> None:
        """Set the threshold for thinning; if it was chosen to suit the text, another text may need another."""
        self.sample = sample
        self._auto_sample = auto

    def _chosen_sample(self, vocabulary: Vocabulary) -> float:
        """Return the threshold for thinning: the one given, or, with "auto", the one that suits the text."""
        if not self._auto_sample:
            return float(self.sample)
        sample = auto_sample(int(vocabulary.counts.sum()))
        logger.info("sample=%.3g suits a text of %i known words", sample, vocabulary.counts.sum())
        return sample
