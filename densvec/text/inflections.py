"""Whether two English words are forms of one: the rules of regular inflection, without a dictionary."""

from __future__ import annotations

__all__ = ["is_inflection", "stems"]

_ENDINGS = ("'s", "'", "s", "es", "ed", "d", "ing", "er", "r", "est", "st", "ly")
_CONSONANTS = frozenset("bcdfghjklmnpqrstvwxz")


def is_inflection(a: str, b: str) -> bool:
    """Return whether one of two words is, by its spelling, a regular form of the other or of the same stem.

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
