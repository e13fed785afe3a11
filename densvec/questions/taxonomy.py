"""A tree of words, each under a more general one: the maximum spanning arborescence of their scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from densvec.types import Floats, Integers


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

    A word whose place at the top, which scores `chance`, makes the whole tree better stands there. Siblings
    come in alphabetical order, words at the top with the more general ones first.
    """
    count = len(words)
    weights = np.full(
        (count + 1, count + 1), -np.inf
    )  # from parent (row) to child (column), the last is the top
    with np.errstate(divide="ignore"):
        weights[:count, :count] = np.log(scores).T
        weights[count, :count] = np.log(chance)
    parents = maximum_arborescence(weights, count)
    above = [None if parents[i] == count else int(parents[i]) for i in range(count)]
    order = sorted(range(count), key=lambda i: (-generality[i] if above[i] is None else 0.0, words[i]))
    return Taxonomy(
        tuple(words[i] for i in order),
        tuple(None if (parent := above[i]) is None else words[parent] for i in order),
        tuple(None if (parent := above[i]) is None else float(scores[i, parent]) for i in order),
    )


def maximum_arborescence(weights: Floats, root: int) -> Integers:
    """Return each node's parent in the spanning tree away from `root` of the largest total weight.

    Chu and Liu's and Edmonds' algorithm: every node takes its best parent; a cycle of these is shrunk to one
    node, whose edges from outside weigh what they gain over the edge that they replace, and the smaller problem
    is solved in the same way.

    Parameters
    ----------
    weights : numpy.ndarray, shape (n, n)
        Of the edge from row to column; −inf where there is none.
    root : int

    Returns
    -------
    numpy.ndarray of int, shape (n,)
        The root's parent is −1.

    Examples
    --------
    >>> weights = np.array([[0.0, 1.0, 5.0], [0.0, 0.0, 9.0], [0.0, 8.0, 0.0]])
    >>> maximum_arborescence(weights, 0)  # 1 and 2 prefer each other: 0 -> 2 -> 1 is the best way out
    array([-1,  2,  0])
    """
    weights = np.array(weights, dtype=np.float64)
    np.fill_diagonal(weights, -np.inf)
    weights[:, root] = -np.inf
    parents: Integers = weights.argmax(axis=0)
    parents[root] = -1
    cycle = _cycle(parents)
    if cycle is None:
        return parents
    count = len(weights)
    inside = np.zeros(count, dtype=bool)
    inside[cycle] = True
    outside = np.flatnonzero(~inside)
    kept = weights[parents[cycle], cycle]  # the weights of the cycle's own edges
    # The smaller problem: the nodes outside, then the cycle as the last one.
    smaller = np.full((len(outside) + 1, len(outside) + 1), -np.inf)
    smaller[:-1, :-1] = weights[np.ix_(outside, outside)]
    gains = weights[np.ix_(outside, cycle)] - kept
    entries = gains.argmax(axis=1)
    smaller[:-1, -1] = gains.max(axis=1)
    exits = weights[np.ix_(cycle, outside)].argmax(axis=0)
    smaller[-1, :-1] = weights[np.ix_(cycle, outside)].max(axis=0)
    solved = maximum_arborescence(smaller, int(np.flatnonzero(outside == root)[0]))
    result: Integers = parents.copy()
    for place, node in enumerate(outside):
        parent = solved[place]
        if parent >= 0:
            result[node] = cycle[exits[place]] if parent == len(outside) else outside[parent]
    entering = solved[-1]
    result[cycle[entries[entering]]] = outside[entering]
    return result


def _cycle(parents: Integers) -> Integers | None:
    """Return the nodes of a cycle, or None if following the parents always ends at the root."""
    state = np.zeros(len(parents), dtype=np.int64)  # 0 not seen; otherwise the number of the walk that saw it
    for start in range(len(parents)):
        node = start
        while node >= 0 and state[node] == 0:
            state[node] = start + 1
            node = int(parents[node])
        if node >= 0 and state[node] == start + 1:
            cycle = [node]
            while (node := int(parents[node])) != cycle[0]:
                cycle.append(node)
            return np.array(cycle)
    return None
