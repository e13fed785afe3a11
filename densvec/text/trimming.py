"""Which words a vocabulary keeps: a least count, and the user's own rule."""

from __future__ import annotations

from collections.abc import Hashable

from densvec.types import TrimRule

__all__ = ["RULE_DEFAULT", "RULE_DISCARD", "RULE_KEEP", "keeps"]

#: What a trim rule answers: let `min_count` decide, drop the word, or keep it whatever its count.
RULE_DEFAULT, RULE_DISCARD, RULE_KEEP = 0, 1, 2


def keeps(word: Hashable, count: int, min_count: int, trim_rule: TrimRule | None = None) -> bool:
    """Return whether a word stays in the vocabulary.

    Examples
    --------
    >>> keeps("kiwi", 3, 5)
    False
    >>> keeps("kiwi", 3, 5, lambda word, count, min_count: RULE_KEEP)
    True
    """
    rule = RULE_DEFAULT if trim_rule is None else trim_rule(word, count, min_count)
    return rule == RULE_KEEP or (rule != RULE_DISCARD and count >= min_count)
