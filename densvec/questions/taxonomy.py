"""A tree of words, each under the one that it is most likely a kind of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from densvec.types import Floats


@dataclass(frozen=True)
class Taxonomy:
    """Words in a tree.

    Attributes
    ----------
    words : tuple of str
    parents : tuple of (str or None)
        The word that each word stands under; None at the top.
    scores : tuple of (float or None)
        How far each word is a kind of its parent.

    Examples
    --------
    >>> tree = Taxonomy(("dog", "animal"), ("animal", None), (0.8, None))
    >>> print(tree)
    animal
      dog
    >>> tree.children("animal"), tree.path("dog")
    (['dog'], ['dog', 'animal'])
    """

    words: tuple[str, ...]
    parents: tuple[str | None, ...]
    scores: tuple[float | None, ...]

    @property
    def roots(self) -> list[str]:
        """The words at the top."""
        return self.children(None)

    def parent(self, word: str) -> str | None:
        """Return what a word stands under; None at the top."""
        return self.parents[self.words.index(word)]

    def children(self, word: str | None) -> list[str]:
        """Return the words directly under a word; for None, those at the top."""
        return [child for child, parent in zip(self.words, self.parents, strict=True) if parent == word]

    def path(self, word: str) -> list[str]:
        """Return a word and all words above it, up to the top."""
        path: list[str] = []
        above: str | None = word
        while above is not None:
            path.append(above)
            above = self.parent(above)
        return path

    def walk(self) -> Iterator[tuple[int, str]]:
        """Yield depth and word, from top to bottom, in the order of the words."""
        waiting = [(0, word) for word in reversed(self.roots)]
        while waiting:
            depth, word = waiting.pop()
            yield depth, word
            waiting += [(depth + 1, child) for child in reversed(self.children(word))]

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as nested dictionaries, for JSON."""

        def below(word: str) -> dict[str, Any]:
            score = self.scores[self.words.index(word)]
            node: dict[str, Any] = {"word": word}
            if score is not None:
                node["score"] = score
            return {**node, "children": [below(child) for child in self.children(word)]}

        return {"roots": [below(word) for word in self.roots]}

    def __str__(self) -> str:
        return "\n".join(f"{'  ' * depth}{word}" for depth, word in self.walk())


def build_taxonomy(words: Sequence[str], scores: Floats, generality: Floats, chance: float) -> Taxonomy:
    """Return the tree of words, given how far each (row) is a kind of each other (column).

    The best pairs come first: a word is put under another if it has no place yet and does not stand above it. A word
    for which no score exceeds `chance` stands at the top. Siblings come in alphabetical order, words at the top with
    the more general ones first.

    Examples
    --------
    >>> scores = np.array([[0.0, 0.9, 0.8], [0.7, 0.0, 0.6], [0.1, 0.1, 0.0]])
    >>> print(build_taxonomy(["owl", "bird", "animal"], scores, np.array([1.0, 2.0, 3.0]), 0.2))
    animal
      bird
        owl
    """
    above: dict[int, int] = {}

    def line(word: int) -> list[int]:
        return [word, *line(above[word])] if word in above else [word]

    children, parents = np.nonzero(scores > chance)
    for i in np.argsort(-scores[children, parents], kind="stable"):
        child, parent = int(children[i]), int(parents[i])
        if child not in above and child not in line(parent):
            above[child] = parent
    order = sorted(range(len(words)), key=lambda i: (0.0 if i in above else -generality[i], words[i]))
    return Taxonomy(
        tuple(words[i] for i in order),
        tuple(words[above[i]] if i in above else None for i in order),
        tuple(float(scores[i, above[i]]) if i in above else None for i in order),
    )
