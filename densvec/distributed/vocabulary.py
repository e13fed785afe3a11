"""The vocabulary of a corpus that several ranks count together: each counts a part of it, and all add them up."""

from __future__ import annotations

import hashlib
import itertools
import json
import logging
from collections.abc import Iterator
from typing import Any

from densvec.distributed.group import Group
from densvec.text.pieces import neighbours, pieces_of
from densvec.text.vocabulary import RawVocabulary, count_pieces, count_words
from densvec.types import CorpusFile, Sentences, TrimRule

logger = logging.getLogger(__name__)

#: Sentences of a rank's share by which it is compared with those of the others.
COMPARED = 1000


def count_together(
    group: Group,
    sentences: Sentences | None = None,
    corpus_file: CorpusFile | None = None,
    *,
    progress_per: int = 10_000,
    max_vocab_size: int | None = None,
    trim_rule: TrimRule | None = None,
    workers: int = 1,
) -> RawVocabulary:
    """Count the words of a corpus on all ranks; the arguments are those of `count_words`.

    ``sentences`` are this rank's share of the corpus; a corpus file is the same for all ranks, which divide it. In
    the order of the ranks, the words are then in order of first appearance, as one process finds them.
    """
    bounds: dict[str, Any] = {"max_vocab_size": max_vocab_size, "trim_rule": trim_rule}
    if corpus_file is not None:
        pieces = group.together(lambda: pieces_of(corpus_file))
        group.check_same("corpus", {"pieces": len(pieces), "bytes": sum(piece.size for piece in pieces)})
        own = neighbours(pieces, group.size)[group.rank]
        counter = group.together(lambda: count_pieces(own, workers, **bounds))
        counted = RawVocabulary(counter, counter.words, counter.examples, counter.min_reduce)
    else:
        assert sentences is not None
        check_shares(group, sentences)
        counted = group.together(
            lambda: _of_strings(count_words(sentences, progress_per=progress_per, **bounds))
        )
    raw = _added_up(group, counted)
    if group.is_main:
        logger.info(
            "collected %i word types from a corpus of %i raw words and %i sentences, on %i ranks",
            len(raw),
            raw.total_words,
            raw.sentence_count,
            group.size,
        )
    return raw


def check_shares(group: Group, sentences: Sentences) -> None:
    """Raise ValueError on all ranks if two of them were given the same sentences."""
    digest = None
    if not isinstance(sentences, Iterator):  # reading from one would take sentences away
        head = list(itertools.islice(iter(sentences), COMPARED))
        if head:
            digest = hashlib.sha256(repr(head).encode("utf-8", "surrogatepass")).hexdigest()
    digests = group.gather(digest)
    for rank, other in enumerate(digests):
        if other is not None and other in digests[:rank]:
            raise ValueError(
                f"ranks {digests.index(other)} and {rank} were given the same sentences. Each rank trains its own "
                "share: give sentences[densvec.distributed.rank()::densvec.distributed.world_size()], or a "
                "corpus_file, which ranks divide among themselves; distributed=False trains a model on each rank alone"
            )


def _of_strings(raw: RawVocabulary) -> RawVocabulary:
    """Return counts that can be sent; TypeError if a word is no string."""
    for word in raw.counts:
        if not isinstance(word, str):
            raise TypeError(
                f"ranks can only divide words that are strings; {word!r} is a {type(word).__name__}"
            )
    return raw


def _added_up(group: Group, own: RawVocabulary) -> RawVocabulary:
    """Return the sum of what all ranks have counted."""
    counts: dict[str, int] = {}
    for rank in range(group.size):  # one after the other: together they could fill the memory
        sent = json.dumps(own.counts).encode() if rank == group.rank else None
        for word, count in json.loads(group.broadcast_bytes(sent, rank)).items():
            counts[word] = counts.get(word, 0) + count
    totals = group.gather([own.total_words, own.sentence_count, own.min_reduce])
    words, sentences, reduced = zip(*totals, strict=True)
    return RawVocabulary(counts, sum(words), sum(sentences), max(reduced))
