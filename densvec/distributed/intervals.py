"""How many words ranks train between two exchanges, in chunks of what size, and what they exchange in each."""

from __future__ import annotations

__all__ = ["chunk_words", "default_words", "inputs_every"]

#: Words between two exchanges for each worker of a rank, unless set: with two ranks, and with many. Fewer keep quality,
#: more save time.
WORDS_OF_TWO, LEAST_WORDS = 100_000, 5000

#: With so many words between two exchanges, every fourth is enough for what only the encoder reads.
MANY_WORDS = 100_000


def default_words(ranks: int) -> int:
    """Return how many words each worker of a rank trains between two exchanges: fewer, the more ranks there are.

    Examples
    --------
    >>> [default_words(ranks) for ranks in (2, 3, 4, 8)]
    [100000, 19753, 6250, 5000]
    """
    return max(LEAST_WORDS, 16 * WORDS_OF_TWO // ranks**4)


def chunk_words(words: int, most: int) -> int:
    """Return how large chunks are, of which whole ones have so many words: ranks meet between two chunks.

    Examples
    --------
    >>> [chunk_words(words, 10_000) for words in (2500, 12_500, 100_000)]
    [2500, 6250, 10000]
    """
    count = max(1, -(-words // most))
    return max(1, -(-words // count))


def inputs_every(words: int) -> int:
    """Return of how many rounds one exchanges what only the encoder reads, if so many words lie between two.

    Examples
    --------
    >>> [inputs_every(words) for words in (5000, 100_000)]
    [1, 4]
    """
    return 4 if words >= MANY_WORDS else 1
