"""The feeds of all ranks together give every chunk of the corpus once, whatever was trained before."""

import pytest

from densvec._corpus import Sampler
from densvec.distributed.group import Group
from densvec.distributed.pieces import Ledger, PiecesFeed, agree_on_text, merged
from densvec.text.feed import Feed
from densvec.text.pieces import deal, piece_of, pieces_of

INDEX = {"a": 0, "b": 1, "c": 2}


@pytest.fixture
def corpus(tmp_path):
    for i in range(3):
        (tmp_path / f"{i}.txt").write_text("a b c\n" * (40 * i + 1) + "b a\n" * 30, encoding="utf-8")
    return pieces_of(tmp_path, piece_bytes=150)


def feed_of(corpus, hand, ledger):
    sampler = Sampler([1.0] * 3, [1.0] * 3, window=2, seed=1)

    def open_piece(piece, first):
        return Feed(
            corpus_file=corpus[piece].path,
            index=INDEX,
            sampler=sampler,
            chunk_words=20,
            start=first,
            reader=corpus[piece].reader(),
        )

    return PiecesFeed(hand, open_piece, ledger)


def train(corpus, hand, ledger, most=None):
    """Take chunks from a feed and tell the ledger, as training does."""
    taken = []
    feed = feed_of(corpus, hand, ledger)
    while most is None or len(taken) < most:
        chunk = next(feed, None)
        if chunk is None:
            break
        taken.append((chunk.number, chunk.tokens.tolist(), chunk.negatives.tolist()))
        ledger.trained(piece_of(chunk.number)[0])
    feed.close()
    assert feed.take() is None
    return taken


@pytest.mark.parametrize("ranks", [1, 2, 3, 50])
def test_chunks_do_not_depend_on_the_number_of_ranks(corpus, ranks):
    alone = train(corpus, range(len(corpus)), Ledger())
    hands = deal([piece.size for piece in corpus], ranks)
    ledgers = [Ledger() for _ in hands]
    together = [
        chunk for hand, ledger in zip(hands, ledgers, strict=True) for chunk in train(corpus, hand, ledger)
    ]
    assert sorted(together) == sorted(alone)
    assert len({number for number, *_ in alone}) == len(alone)
    whole = merged([ledger.document() for ledger in ledgers])
    assert whole == {"done": list(range(len(corpus))), "begun": {}}


@pytest.mark.parametrize(("before", "after"), [(3, 1), (1, 3), (2, 5), (3, 3)])
def test_what_is_left_is_trained_by_any_number_of_ranks(corpus, before, after):
    alone = train(corpus, range(len(corpus)), Ledger())
    sizes = [piece.size for piece in corpus]
    ledgers, first = [Ledger() for _ in range(before)], []
    for hand, ledger, most in zip(deal(sizes, before), ledgers, (5, 2, 0), strict=False):
        first += train(corpus, hand, ledger, most)
    document = merged([ledger.document() for ledger in ledgers])
    left = [n for n in range(len(corpus)) if n not in set(document["done"])]
    second = []
    for hand in deal(sizes, after, left):
        begun = {p: c for p, c in document["begun"].items() if int(p) in hand}
        second += train(corpus, hand, Ledger({"done": document["done"], "begun": begun}))
    assert sorted(first + second) == sorted(alone)


def test_a_checksum_is_that_of_all_pieces_whoever_reads_them(corpus):
    agreed = agree_on_text(Group.alone(), corpus, 1)
    assert agreed == agree_on_text(Group.alone(), corpus, 3)
    assert agreed["pieces"] == len(corpus)
    with open(corpus[-1].path, "r+b") as file:
        file.seek(-4, 2)
        file.write(b"b b\n")
    changed = agree_on_text(Group.alone(), corpus, 1)
    assert changed["bytes"] == agreed["bytes"]
    assert changed["checksum"] != agreed["checksum"]
