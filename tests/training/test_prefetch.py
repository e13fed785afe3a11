"""Chunks prepared ahead."""

from densvec.training.prefetch import Prefetched
from tests.training.counting import open_feed


def test_prefetching_keeps_the_order_and_prepares_everything():
    with open_feed(0, 5) as feed:
        source = Prefetched(feed, lambda chunk: -chunk.number)
        found = [(chunk.number, prepared) for (chunk,), prepared in source]
        source.close()
    assert found == [(number, -number) for number in range(5, 25)]


def test_chunks_are_gathered_until_they_have_enough_words():
    with open_feed(0, 5) as feed:
        source = Prefetched(feed, lambda *chunks: len(chunks), words=3 * 11)
        found = [([chunk.number for chunk in chunks], prepared) for chunks, prepared in source]
        source.close()
    assert [number for numbers, _ in found for number in numbers] == list(range(5, 25))
    assert [prepared for _, prepared in found] == [3] * 6 + [2]
