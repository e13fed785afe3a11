"""Chunks prepared ahead."""

from densvec.training.prefetch import Prefetched
from tests.training.counting import open_feed


def test_prefetching_keeps_the_order_and_prepares_everything():
    with open_feed(0, 5) as feed:
        source = Prefetched(feed, lambda chunk: -chunk.number)
        found = [(chunk.number, prepared) for chunk, prepared in source]
        source.close()
    assert found == [(number, -number) for number in range(5, 25)]
