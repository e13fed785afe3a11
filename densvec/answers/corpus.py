"""Answers from texts: the senses of a word, where else it means the same, which words changed between two models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from densvec.answers.documents import Document, Scored, Unknown, scored
from densvec.answers.tables import Table, columns

if TYPE_CHECKING:
    from densvec.evaluation.figures import Results
    from densvec.gaussian import Gaussian
    from densvec.questions.comparison import Shift
    from densvec.questions.senses import Senses
    from densvec.search.occurrences import Occurrences

__all__ = [
    "Comparison",
    "Example",
    "Moved",
    "Place",
    "Places",
    "SenseOf",
    "SensesOf",
    "compare",
    "senses",
    "where",
]


@dataclass
class Example(Document):
    """A word in a sentence, as it is and as a line of a concordance."""

    tokens: list[str]
    position: int
    line: str


@dataclass
class SenseOf(Document):
    """One sense of a word."""

    share: float
    nearest: list[Scored]
    examples: list[Example]


@dataclass
class SensesOf(Document):
    """The senses of a word in a corpus, the most frequent first."""

    word: str
    occurrences: int
    senses: list[SenseOf]
    note: str | None = None

    def table(self) -> Table:
        """Return a row for each example."""
        rows = [
            (self.word, number, sense.share, [each.word for each in sense.nearest], " ".join(example.tokens))
            for number, sense in enumerate(self.senses, 1)
            for example in sense.examples
        ]
        return Table(("word", "sense", "share", "nearest", "example"), rows)

    def __str__(self) -> str:
        parts = []
        for number, sense in enumerate(self.senses, 1):
            words = " ".join(each.word for each in sense.nearest)
            head = f"{self.word} {number}  {100 * sense.share:.0f} %  {words}"
            parts.append("\n".join([head, *(f"  {example.line}" for example in sense.examples)]))
        return "\n\n".join([*parts, *([self.note] if self.note else [])])


def senses(found: Senses) -> SensesOf:
    """Return the senses of a word as a document."""
    parts = [
        SenseOf(
            sense.share,
            scored(sense.nearest),
            [Example(list(each.tokens), each.position, each.line()) for each in sense.examples],
        )
        for sense in found
    ]
    return SensesOf(found.word, len(found.occurrences), parts, found.note)


@dataclass
class Place(Document):
    """An occurrence and how near its meaning is."""

    word: str
    score: float
    position: int
    tokens: list[str]


@dataclass
class Places(Document):
    """Occurrences of a word, those whose meaning is nearest first."""

    metric: str
    occurrences: list[Place]

    def table(self) -> Table:
        """Return the scores and the sentences."""
        return Table(("score", "occurrence"), [(each.score, _marked(each)) for each in self.occurrences])

    def __str__(self) -> str:
        return super().__str__() if self.occurrences else "no occurrences"


def _marked(place: Place) -> str:
    marked = [f"[[{token}]]" if i == place.position else token for i, token in enumerate(place.tokens)]
    return " ".join(marked)


def where(index: Occurrences, posterior: Gaussian, word: str | None, topn: int, metric: str) -> Places:
    """Return the occurrences of a word, or of any, whose posteriors are nearest to one."""
    found = index.where(posterior, word, topn, metric=metric)
    return Places(
        metric, [Place(each.word, float(each.score), each.position, list(each.tokens)) for each in found]
    )


@dataclass
class Moved(Document):
    """How far a word has moved between two models."""

    word: str
    shift: float
    score: float
    p_value: float
    generality_change: float
    nearest: list[list[str]]


@dataclass
class Comparison(Document):
    """Words that moved between two models."""

    words: list[Moved]
    unknown: list[Unknown]

    def parts(self) -> Sequence[Document]:
        """Return the words, each a document of its own."""
        return [*self.words, *self.unknown]

    def table(self) -> Table:
        """Return a row for each word."""
        names = (
            "word",
            "shift",
            "score",
            "p_value",
            "generality_change",
            "nearest_in_first",
            "nearest_in_second",
        )
        rows = [
            (each.word, each.shift, each.score, each.p_value, each.generality_change, *each.nearest)
            for each in self.words
        ]
        return Table(names, rows)

    def __str__(self) -> str:
        rows = [["word", "shift", "p", "generality", "nearest in the first", "in the second"]]
        rows += [
            [
                each.word,
                f"{each.shift:.2f}",
                f"{each.p_value:.1e}",
                f"{each.generality_change:+.2f}",
                *(" ".join(side[:4]) for side in each.nearest),
            ]
            for each in self.words
        ]
        return "\n".join(map(str, [columns(rows, right=[1, 2, 3]), *self.unknown]))


def compare(shifts: Sequence[Shift], unknown: Sequence[Unknown] = ()) -> Comparison:
    """Return how far words have moved as a document, and which of those asked for are unknown."""
    moved = [Moved(**{**vars(shift), "nearest": list(shift.nearest)}) for shift in shifts]
    return Comparison(moved, list(unknown))


@dataclass
class Evaluation(Document):
    """The figures of benchmarks."""

    results: Results
    markdown: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return all figures."""
        return self.results.to_dict()

    def table(self) -> Table:
        """Return a row for each figure, with its 95 % confidence interval."""
        names = ("task", "benchmark", "measure", "method", "value", "low", "high", "known", "items")
        return Table(names, [[row.get(name) for name in names] for row in self.to_dict()["figures"]])

    def __str__(self) -> str:
        return self.results.to_markdown() if self.markdown else str(self.results)
