"""How many words ranks train between two exchanges, in chunks of what size, and what they exchange in each."""

from __future__ import annotations

import math

__all__ = ["adds_weights", "chunk_words", "default_words", "inputs_every", "rows_every"]

#: Words between two exchanges for each worker of a rank, unless set: two ranks with little text and with much, and many
#: ranks at least. Fewer keep quality, more save time.
LITTLE_OF_TWO, MUCH_OF_TWO, LEAST_WORDS = 100_000, 400_000, 5000

#: Text is much if it leaves so many exchanges in the whole training; with less of it, their number is kept to that.
ROUNDS = 100

#: With more ranks than this, so many words lie between two exchanges of the encoder's weights alone: added up, they are
#: as good as those of one process, but only if that is done this often.
FEW_RANKS, WORDS_OF_WEIGHTS = 4, 625

#: With so many words between two exchanges, every fourth is enough for what only the encoder reads.
MANY_WORDS = 100_000


def default_words(ranks: int, workers: int = 1, text: float = math.inf) -> int:
    """Return how many words a rank trains between two exchanges: fewer, the more ranks there are.

    Parameters
    ----------
    ranks, workers : int
        How many ranks there are, and how many workers each has.
    text : float
        The words that a rank trains in all.

    Examples
    --------
    >>> [default_words(ranks) for ranks in (2, 3, 4, 8)]
    [400000, 35116, 6250, 5000]
    >>> [default_words(2, workers, text=20e6) for workers in (1, 4)]
    [200000, 400000]
    """
    little = max(LEAST_WORDS, 16 * LITTLE_OF_TWO // ranks**4) * workers
    much = max(LEAST_WORDS, 64 * MUCH_OF_TWO // ranks**6) * workers
    return int(min(much, max(little, text / ROUNDS)))


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


def adds_weights(words: int, ranks: int) -> bool:
    """Return whether ranks add up their changes of the encoder's weights, if rows are exchanged every so many words.

    They do that many times between two exchanges of rows. Who exchanges rows seldom has many workers or a slow network:
    then weights are averaged, together with the rows.

    Examples
    --------
    >>> [adds_weights(5000, ranks) for ranks in (4, 5, 8)]
    [False, True, True]
    >>> adds_weights(10_000, 8)
    False
    """
    return ranks > FEW_RANKS and words <= LEAST_WORDS


def rows_every(words: int) -> int:
    """Return of how many rounds one exchanges rows, every so many words, if weights are added up in all of them.

    Examples
    --------
    >>> [rows_every(words) for words in (500, 2500, 5000)]
    [1, 4, 8]
    """
    return -(-words // WORDS_OF_WEIGHTS)
