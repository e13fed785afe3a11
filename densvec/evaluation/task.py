"""A task: items read from a file, methods that answer them, and measures of how good the answers are.

What a package call answers and what a baseline answers are scored by the same code, on the same items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from densvec.evaluation.baselines import Means
from densvec.evaluation.figures import Figure, Results
from densvec.evaluation.reading import benchmark_name
from densvec.keyed import KeyedDensities
from densvec.statistics.bootstrap import Bootstrap
from densvec.statistics.weighted import Statistic
from densvec.types import Array, PathLike

Item = TypeVar("Item")

Method = Callable[[Sequence[Item]], Sequence[Any] | Array]
"""Answers items: one answer for each, None or NaN where there is none (an unknown word)."""


def for_known(keys: Sequence[Any], answer: Callable[[list[int]], Iterable[Any]]) -> list[Any]:
    """Return one answer for each key: `answer` gets the indices of keys that are not None; the others get None.

    Examples
    --------
    >>> for_known(["a", None, "b"], lambda known: [10 * i for i in known])
    [0, None, 20]
    """
    known = [i for i, key in enumerate(keys) if key is not None]
    found = dict(zip(known, answer(known) if known else (), strict=True))
    return [found.get(i) for i in range(len(keys))]


@dataclass(frozen=True)
class Task(Generic[Item]):
    r"""A benchmark's format, protocol and baselines. Call it with words and a file.

    Attributes
    ----------
    name : str
    read : callable
        Reads a file (or a directory) into items.
    baselines : callable
        Simple methods by name, of the means alone.
    score : callable
        Takes the items that were answered, and the answers; returns statistics by the name of the measure.
    calls : callable, optional
        The package's own calls, as methods by name, of the model that the means are those of.
    needs : str, optional
        What the calls need: a model without it has baselines only.

    Examples
    --------
    >>> import tempfile
    >>> from densvec.evaluation.pairs import word_similarity
    >>> from densvec.statistics.bootstrap import Bootstrap
    >>> with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
    ...     _ = file.write("dog cat 9\ndog car 1\ncat animal 7\ndog unicorn 5\n")
    ...     file.flush()
    ...     own = {"length": lambda pairs: [-abs(len(a) - len(b)) for a, b, _ in pairs]}
    ...     results = word_similarity(wv, file.name, methods=own, bootstrap=Bootstrap(0))
    >>> [(figure.method, figure.known, figure.items) for figure in results]
    [('cosine', 3, 4), ('length', 4, 4)]
    """

    name: str
    read: Callable[[PathLike], Sequence[Item]]
    baselines: Callable[[Means], Mapping[str, Method[Item]]]
    score: Callable[[Sequence[Item], Sequence[Any]], Mapping[str, Statistic]]
    calls: Callable[[Means], Mapping[str, Method[Item]]] = lambda means: {}
    needs: str = "encoder"

    def __call__(
        self,
        wv: KeyedDensities | None,
        path: PathLike,
        *,
        methods: Mapping[str, Method[Item]] | None = None,
        beside: Mapping[str, KeyedDensities] | None = None,
        bootstrap: Bootstrap | None = None,
    ) -> Results:
        """Score a model's own calls, the baselines from its means, and any other method.

        What one model answers is scored on the items that all its methods know, so that they can be compared.

        Parameters
        ----------
        wv : KeyedDensities, model, or None
            What to evaluate; None for the other methods alone. `KeyedDensities.from_gensim` makes one of gensim's
            vectors.
        path : str or path
            The benchmark's file; what its format is, the function that reads it says.
        methods : mapping of str to callable, optional
            Methods of your own: a function of the items that returns an answer for each.
        beside : mapping of str to KeyedDensities, optional
            Other vectors, such as gensim's, whose baselines stand beside those of the model.
        bootstrap : Bootstrap, optional
            How to make the intervals; by default 1000 resamples, 95 %.
        """
        groups: list[Mapping[str, Method[Item]]] = []
        wv = None if wv is None else _densities(wv)
        if wv is not None:
            means = Means(wv)
            calls = {} if getattr(wv, self.needs) is None else self.calls(means)
            groups.append({**calls, **self.baselines(means)})
        for label, other in (beside or {}).items():
            baselines = self.baselines(Means(_densities(other), like=wv))
            groups.append({f"{label}: {name}": method for name, method in baselines.items()})
        groups += [{name: method} for name, method in (methods or {}).items()]
        items = self.read(path)
        figures: list[Figure] = []
        for group in groups if items else ():
            answers = {name: method(items) for name, method in group.items()}
            known = [i for i in range(len(items)) if all(_answered(each[i]) for each in answers.values())]
            for name, answer in answers.items():
                measures = self.score([items[i] for i in known], [answer[i] for i in known])
                estimates = (bootstrap or Bootstrap()).estimate(
                    list(measures.values()), np.array(known, dtype=np.intp)
                )
                figures += [
                    Figure(self.name, benchmark_name(path), measure, name, estimate, len(known), len(items))
                    for measure, estimate in zip(measures, estimates, strict=True)
                ]
        return Results(figures)


def _densities(model: Any) -> KeyedDensities:
    """Return the words of a model; TypeError if it has none."""
    wv = getattr(model, "wv", model)
    if not isinstance(wv, KeyedDensities):
        raise TypeError(
            f"cannot evaluate a {type(wv).__name__}: give a KeyedDensities (model.wv); "
            "KeyedDensities.from_gensim makes one of gensim's vectors"
        )
    return wv


def _answered(answer: Any) -> bool:
    return answer is not None and not (isinstance(answer, float | np.floating) and np.isnan(answer))
