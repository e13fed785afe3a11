"""Where a text says that something is a kind of something else: "animals such as dogs", "dogs and other animals"."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from densvec._corpus import Block
from densvec.text.spelling import singulars
from densvec.types import Integers

_FUNCTION_WORDS = """
a an the this that these those some any each every both all such no not other another one two three first second
he she it they we you i him her them us me his its their our your my who whom whose which what there here
of in on at to for with by from into onto over under between among against during before after since until through
throughout about above below across along around behind beyond near within without upon per via than as like up down
out off and or but nor so yet if because while when where though although whether how why then again now however also
is are was were be been being am has have had do does did can could may might must shall should will would
often usually generally commonly sometimes typically only just even very more most less
including especially particularly notably called known used found made based located born developed produced
"""
"""English words that end a noun and what stands before it: articles, pronouns, prepositions, verbs."""

_KINDS = (
    "kind type form sort class variety species genus breed style branch member group family piece example"
)
"""Of "a kind of animal", the last word says what it is."""

_STOP, _SUCH, _AS, _JOIN, _OTHER, _NAMELY, _IS, _ARTICLE, _KIND, _OF, _PLURAL = (1 << i for i in range(11))
_ROLES: Mapping[int, str] = {
    _STOP: _FUNCTION_WORDS,
    _SUCH: "such",
    _AS: "as",
    _JOIN: "and or",
    _OTHER: "other",
    _NAMELY: "including especially particularly notably",
    _IS: "is was are were",
    _ARTICLE: "a an",
    _KIND: _KINDS,
    _OF: "of",
}

_LONGEST = 4
"""Words of a noun with what stands before it, such as "large domestic animal"."""

_RARER = 10
"""A word that is as many times rarer than another is not its singular: specie, of species."""

_PAIRS_AT_ONCE = 1 << 20
"""Pairs that are kept before equal ones are counted together, which bounds the memory."""


class PatternCounter:
    """How often a text says in so many words that one thing is a kind of another.

    The patterns are Hearst's (1992), "B such as A", "B including A" and "A and other B", and "A is a B", in English.
    They need no punctuation: a noun ends where a function word follows. Plurals count as singulars.

    Parameters
    ----------
    words : sequence of str
        The vocabulary.
    counts : numpy.ndarray of int
        How often each of its words occurs.

    Examples
    --------
    >>> words = ["dog", "dogs", "animals", "animal", "such", "as", "is", "a", "cats"]
    >>> counter = PatternCounter(words, np.ones(9))
    >>> counter.add(Block([2, 4, 5, 1, 0, 6, 7, 3], [0, 4, 8]))  # animals such as dogs / dog is a animal
    >>> counter.pairs()  # dog, animal, twice
    (array([0]), array([3]), array([2]))
    """

    def __init__(self, words: Sequence[str], counts: Integers) -> None:
        index = {word: row for row, word in enumerate(words)}
        self._singular = np.array([singular_row(word, row, index, counts) for word, row in index.items()])
        self._roles = np.zeros(len(words) + 1, dtype=np.uint16)
        self._roles[-1] = _STOP  # the end of a sentence
        for role, members in _ROLES.items():
            self._roles[[index[word] for word in members.split() if word in index]] |= role
        self._roles[[row for row, word in enumerate(words) if str(word).endswith("s")]] |= _PLURAL
        self._found: list[Integers] = []
        self._pairs = np.zeros((2, 0), dtype=np.int64)
        self._lock = threading.Lock()

    def add(self, block: Block) -> None:
        """Look for patterns in a block of a corpus; several threads may call this."""
        words, roles = self._laid_out(block)
        following = np.append(roles[1:], roles[-1:])
        such = np.flatnonzero((roles & _SUCH > 0) & (following & _AS > 0))
        namely = np.flatnonzero(roles & _NAMELY > 0)
        namely = namely[roles[namely - 1] & _PLURAL > 0]
        below = np.flatnonzero(
            ((roles & _JOIN > 0) & (following & _OTHER > 0))
            | ((roles & _IS > 0) & (following & _ARTICLE > 0))
        )
        found = [
            *_listed(roles, such - 1, such + 2),
            *_listed(roles, namely - 1, namely + 1),
            _headed(roles, below - 1, below + 2),
        ]
        pairs = self._singular[words[np.concatenate(found, axis=1)]]
        with self._lock:
            self._found.append(pairs[:, pairs[0] != pairs[1]])
            if sum(each.shape[1] for each in self._found) > _PAIRS_AT_ONCE:
                self._count()

    def pairs(self) -> tuple[Integers, Integers, Integers]:
        """Return the rows of the specific and of the general word of each pair, in order, and how often it is said."""
        self._count()
        keys, counts = self._pairs
        specific, general = np.divmod(keys, len(self._singular))
        return specific, general, counts

    def _count(self) -> None:
        """Count equal pairs together."""
        found = np.concatenate([np.zeros((2, 0), dtype=np.int64), *self._found], axis=1)
        keys = np.concatenate([self._pairs[0], found[0] * len(self._singular) + found[1]])
        weights = np.concatenate([self._pairs[1], np.ones(found.shape[1], dtype=np.int64)])
        keys, places = np.unique(keys, return_inverse=True)
        self._pairs = np.array([keys, np.bincount(places, weights, len(keys)).astype(np.int64)])
        self._found = []

    def _laid_out(self, block: Block) -> tuple[Integers, npt.NDArray[np.uint16]]:
        """Return the words of a block and their roles, with an end after each sentence and enough room around."""
        lengths = np.diff(block.sentences)
        places = np.arange(len(block.ids)) + np.repeat(np.arange(len(lengths)), lengths) + 1
        words = np.full(len(block.ids) + len(lengths) + 2 * _LONGEST + 4, len(self._roles) - 1)
        words[places] = block.ids
        return words, self._roles[words]


def _ends(roles: npt.NDArray[np.uint16], starts: Integers) -> Integers:
    """Return where nouns that begin at places end: at the next function word, if it is not too far."""
    ends: Integers = starts.copy()
    for _ in range(_LONGEST):
        ends += roles[ends] & _STOP == 0
    return ends


def _listed(roles: npt.NDArray[np.uint16], general: Integers, starts: Integers) -> list[Integers]:
    """Return the places of pairs, (2, n): what is listed from places on, and the general words.

    Without commas, words in a row may be a list or one noun; the first and the last are taken.
    """
    found = []
    for _ in range(2):
        ends = _ends(roles, starts)
        some = (ends > starts) & (roles[general] & _STOP == 0)
        general, starts, ends = general[some], starts[some], ends[some]
        whole = roles[ends] & _STOP > 0
        several = whole & (ends > starts + 1)
        found += [np.array([starts, general]), np.array([ends[several] - 1, general[several]])]
        more = whole & (roles[ends] & _JOIN > 0)  # and, or
        general, starts = general[more], ends[more] + 1
    return found


def _headed(roles: npt.NDArray[np.uint16], specific: Integers, starts: Integers) -> Integers:
    """Return the places of pairs, (2, n): specific words, and the last word of the noun that begins at each place."""
    ends = _ends(roles, starts)
    kind = (roles[ends - 1] & _KIND > 0) & (roles[ends] & _OF > 0) & (ends > starts)
    starts = np.where(kind, ends + 1, starts)
    ends = np.where(kind, _ends(roles, starts), ends)
    good = (ends > starts) & (roles[ends] & _STOP > 0) & (roles[specific] & _STOP == 0)
    return np.array([specific[good], ends[good] - 1])


def singular_row(word: str, row: int, index: Mapping[str, int], counts: Integers) -> int:
    """Return the row of a word's singular, if that is known and not much rarer; otherwise its own.

    Examples
    --------
    >>> index, counts = {"dogs": 0, "dog": 1, "species": 2, "specie": 3}, np.array([5, 5, 500, 1])
    >>> [singular_row(word, row, index, counts) for word, row in index.items()]
    [1, 1, 2, 3]
    """
    for form in singulars(str(word)):
        other = index.get(form, -1)
        if other >= 0 and _RARER * counts[other] >= counts[row]:
            return other
    return row
