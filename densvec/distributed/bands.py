"""Which rows are exchanged in which round.

Words are numbered by frequency, so that rows which change about equally often lie together. Row r changes about in
proportion to 1/r (Zipf): the first rows are exchanged in every round, and of every further band, each twice as long as
the one before and changing half as often, one part, in turn. A round then costs the same for each band, and only grows
with the logarithm of the vocabulary.
"""

from __future__ import annotations

__all__ = ["first_band", "slices"]

#: Rows that are exchanged in every round, and of every further band: the least, with as few words of all ranks between
#: two rounds, and the most.
LEAST, LEAST_WORDS, MOST = 512, 75_000, 8192


def first_band(words: int, ranks: int) -> int:
    """Return how many rows to exchange in every round if each rank trains so many words between two of them.

    A row learns from each of its occurrences, and has learnt most of what it can after a few. So a round that
    comes early need only have the rows of frequent words, at the same cost for each word of text; while more ranks
    meet a word more often, and must tell each other sooner.

    Examples
    --------
    >>> [first_band(words, 2) for words in (10_000, 100_000, 150_000, 300_000, 1_000_000)]
    [512, 1024, 2048, 4096, 8192]
    >>> [first_band(5000, ranks) for ranks in (8, 32, 64)]
    [512, 1024, 2048]
    """
    band = LEAST
    while band < MOST and 2 * band * LEAST_WORDS <= LEAST * words * ranks:
        band *= 2
    return band


def slices(rows: int, number: int, first: int) -> list[tuple[int, int]]:
    """Return the rows of a round as slices (start, stop), in order.

    Parameters
    ----------
    rows : int
        Rows of the tables.
    number : int
        Number of the round.
    first : int
        Rows of the first band.

    Examples
    --------
    >>> [slices(70, number, first=10) for number in (0, 1)]
    [[(0, 10), (10, 20), (20, 30), (40, 48)], [(0, 10), (10, 20), (30, 40), (48, 56)]]
    """
    chosen = [(0, min(first, rows))]
    start, turns = first, 1
    while start < rows:
        stop = min(2 * start, rows)
        part = -(-(stop - start) // turns)
        begin = start + number % turns * part
        if begin < stop:
            chosen.append((begin, min(begin + part, stop)))
        start, turns = stop, 2 * turns
    return chosen
