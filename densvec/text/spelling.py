"""What the spelling of words says: which are like an unknown one, and which are forms of one word."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

_ENDINGS = ("'s", "'", "s", "es", "ed", "d", "ing", "er", "r", "est", "st", "ly")
_CONSONANTS = frozenset("bcdfghjklmnpqrstvwxz")


class UnknownKeyError(KeyError):
    """A key that is unknown; its message suggests known ones with a similar spelling.

    Finding these takes a while in a large vocabulary, and many programs catch the error and go on, so they are only
    looked for when the message is read.

    Examples
    --------
    >>> str(UnknownKeyError("kiwwi", {"kiwi": 0}))
    "Key 'kiwwi' not present; did you mean 'kiwi'?"
    """

    def __init__(self, key: Any, known: Mapping[Any, Any] | None = None, place: str = "") -> None:
        super().__init__(f"Key '{key}' not present{place}")
        self.key = key
        self._known = known

    def __reduce__(self) -> tuple[Any, ...]:
        return KeyError, (str(self),)  # without the vocabulary

    def __str__(self) -> str:
        message = str(self.args[0])
        if isinstance(self.key, str) and self._known:
            near = spellings(self.key, (word for word in self._known if isinstance(word, str)))
            if near:
                message += f"; did you mean {' or '.join(map(repr, near))}?"
        return message


def spellings(word: str, vocabulary: Iterable[str], count: int = 3) -> list[str]:
    """Return the words of a vocabulary that are spelt most like `word`, best first.

    Only words of about the same length that begin or end alike are compared, whatever their case, so that a
    vocabulary of 280,000 words takes about a tenth of a second.

    Examples
    --------
    >>> spellings("kiwii", ["kiwi", "kilo", "the", "wiki"])
    ['kiwi']
    >>> spellings("Kiwi", ["the", "kiwi"])
    ['kiwi']
    """
    wanted = word.casefold()
    if not wanted:
        return []
    spare = 1 if len(wanted) < 5 else 2
    shortest, longest = len(wanted) - spare, len(wanted) + spare
    first, last = wanted[0], wanted[-1]
    matcher = difflib.SequenceMatcher(autojunk=False)
    matcher.set_seq2(wanted)
    found: list[tuple[float, int, str]] = []
    for rank, known in enumerate(vocabulary):
        if not shortest <= len(known) <= longest:
            continue
        folded = known.casefold()
        if not folded or (folded[0] != first and folded[-1] != last):
            continue
        matcher.set_seq1(folded)
        if (
            matcher.quick_ratio() >= 0.7
            and (ratio := max(matcher.ratio(), _ends_alike(folded, wanted))) >= 0.7
        ):
            found.append((-ratio, rank, known))  # of equal spellings, the more frequent word first
    return [known for _, _, known in sorted(found)[:count]]


def _ends_alike(a: str, b: str) -> float:
    """Return which share of two words is a common beginning or end (SequenceMatcher says .6 for 'axaaa', 'aaaaa')."""
    shared = _shared_beginning(a, b) + _shared_beginning(a[::-1], b[::-1])
    return 2 * min(shared, len(a), len(b)) / (len(a) + len(b))


def _shared_beginning(a: str, b: str) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def is_inflection(a: str, b: str) -> bool:
    """Return whether one of two English words is a regular form of the other or of the same stem.

    Only the spelling decides; there is no dictionary.

    Examples
    --------
    >>> is_inflection("stop", "stopped"), is_inflection("tries", "trying"), is_inflection("cat", "car")
    (True, True, False)
    """
    a, b = a.lower(), b.lower()
    return a == b or not stems(a).isdisjoint(stems(b))


def stems(word: str) -> set[str]:
    """Return what a word may be a regular form of, itself included.

    Examples
    --------
    >>> sorted(stems("stopped"))
    ['stop', 'stopp', 'stoppe', 'stopped']
    """
    found = {word}
    for ending in _ENDINGS:
        stem = word.removesuffix(ending)
        if stem == word or len(stem) < 3:
            continue
        if ending in ("d", "r", "st") and stem[-1] != "e":
            continue  # baked, larger, largest; not star
        found.add(stem)
        if ending in ("ed", "ing", "er", "est", "es"):
            found.add(stem + "e")  # baked, baking
            if stem[-1] == stem[-2] and stem[-1] in _CONSONANTS:
                found.add(stem[:-1])  # stopped
        if stem[-1] == "i":
            found.add(stem[:-1] + "y")  # tried, happier, happily
    return found


def singulars(word: str) -> list[str]:
    """Return what an English word may be the plural of, likelier ones first.

    Examples
    --------
    >>> singulars("berries"), singulars("foxes"), singulars("women"), singulars("grass")
    (['berry', 'berrie'], ['foxe', 'fox'], ['woman'], [])
    """
    if word.endswith("men"):
        return [word[:-3] + "man"]
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return []
    shorter = {"ies": word[:-3] + "y", "ves": word[:-3] + "f"}.get(word[-3:])
    return [
        *([shorter] if shorter else []),
        word[:-1],
        *([word[:-2]] if word.endswith("es") and not shorter else []),
    ]
