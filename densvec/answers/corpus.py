"""Answers from texts: the senses of a word, where else it means the same, which words changed between two models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from densvec.answers.documents import Document, Scored, Table, Unknown, columns, scored

if TYPE_CHECKING:
    from densvec.evaluation.figures import Results
    from densvec.questions.comparison import ModelComparison, Shift
    from densvec.questions.paths import Path
    from densvec.questions.regression import Coefficient, Regression
    from densvec.questions.senses import Senses
    from densvec.search.occurrences import Found
    from densvec.text.concordance import Occurrence


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
            (
                self.word,
                number,
                sense.share,
                self.occurrences,
                [each.word for each in sense.nearest],
                " ".join(example.tokens),
            )
            for number, sense in enumerate(self.senses, 1)
            for example in sense.examples
        ]
        return Table(("word", "sense", "share", "occurrences", "nearest", "example"), rows)

    def __str__(self) -> str:
        parts = []
        for number, sense in enumerate(self.senses, 1):
            words = " ".join(each.word for each in sense.nearest)
            head = f"{self.word} {number}  {100 * sense.share:.0f} % of {self.occurrences:,}  {words}"
            parts.append("\n".join([head, *(f"  {example.line}" for example in sense.examples)]))
        return "\n\n".join([*parts, *([self.note] if self.note else [])])


def senses(found: Senses) -> SensesOf:
    """Return the senses of a word as a document."""
    parts = [
        SenseOf(
            sense.share,
            scored(sense.nearest),
            _examples(sense.examples),
        )
        for sense in found
    ]
    return SensesOf(found.word, len(found.occurrences), parts, found.note)


@dataclass
class Places(Document):
    """Occurrences of a word, those whose meaning is nearest first."""

    metric: str
    occurrences: list[Found]

    def to_dict(self) -> dict[str, Any]:
        """Return the occurrences with their words, scores and sentences."""
        names = ("word", "score", "position", "tokens")
        found = [{name: getattr(each, name) for name in names} for each in self.occurrences]
        return {"metric": self.metric, "occurrences": found}

    def table(self) -> Table:
        """Return the scores and the sentences."""
        return Table(("score", "occurrence"), [(each.score, each.text) for each in self.occurrences])

    def __str__(self) -> str:
        return super().__str__() if self.occurrences else "no occurrences"


@dataclass
class Moved(Document):
    """How far a word has moved between two models, with lines from both texts."""

    shift: Shift
    examples: list[list[Example]] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields of the shift, and the examples if there are any."""
        nearest = [[{"word": word, "count": count} for word, count in side] for side in self.shift.nearest]
        found = {**vars(self.shift), "counts": list(self.shift.counts), "nearest": nearest}
        return found if self.examples is None else {**found, "examples": self.examples}


@dataclass
class Comparison(Document):
    """Words that moved between two models."""

    words: list[Moved]
    unknown: list[Unknown]
    compared: int
    moved: int

    def parts(self) -> Sequence[Document]:
        """Return the words, each a document of its own."""
        return [*self.words, *self.unknown]

    def table(self) -> Table:
        """Return a row for each word."""
        names = ("word", "count_in_first", "count_in_second", "shift", "score", "p_value", "q_value")
        more = ("generality_change", "nearest_in_first", "nearest_in_second")
        lines = ("example_in_first", "example_in_second") if any(each.examples for each in self.words) else ()
        rows = []
        for each, sides in ((one.shift, one.examples or ()) for one in self.words):
            row = [each.word, *each.counts, each.shift, each.score, each.p_value, each.q_value]
            row += [each.generality_change, *([word for word, _ in side] for side in each.nearest)]
            rows.append(row + [" ".join(side[0].tokens) if side else "" for side in sides if lines])
        return Table([*names, *more, *lines], rows)

    def __str__(self) -> str:
        rows = [["word", "times", "shift", "q", "p", "generality", "nearest in the first", "in the second"]]
        for each in (one.shift for one in self.words):
            times, change = (
                " / ".join(f"{count:,}" for count in each.counts),
                f"{each.generality_change:+.1f}",
            )
            near = [" ".join(f"{word} ({count:,})" for word, count in side[:4]) for side in each.nearest]
            figures = [f"{each.shift:.2f}", f"{each.q_value:.1g}", f"{each.p_value:.1g}"]
            rows.append([each.word, times, *figures, change, *near])
        parts = [self.summary(), columns(rows, right=[1, 2, 3, 4, 5])]
        for one in self.words:
            for name, side in zip(("first", "second"), one.examples or (), strict=False):
                parts += [f"\n{one.shift.word}, {name}"] * bool(side) + [
                    f"  {example.line}" for example in side
                ]
        return "\n".join(map(str, [*parts, *self.unknown]))

    def summary(self) -> str:
        """Return how many words have moved, and against what that is judged."""
        moved = f"{self.moved:,}" if self.moved else "none"
        return (
            f"{moved} of {self.compared:,} words moved more than words of like frequency, generality and "
            "neighbourhood do (q < 0.05; p: by chance, of one word; q: corrected for looking at all)"
        )


def compare(
    comparison: ModelComparison,
    shifts: Sequence[Shift],
    unknown: Sequence[Unknown] = (),
    examples: Mapping[str, Sequence[Sequence[Occurrence]]] | None = None,
) -> Comparison:
    """Return how far words have moved as a document, and which of those asked for are unknown."""
    moved = [
        Moved(shift, None if examples is None else [_examples(side) for side in examples[shift.word]])
        for shift in shifts
    ]
    return Comparison(moved, list(unknown), comparison.compared, comparison.moved)


def _examples(found: Sequence[Occurrence]) -> list[Example]:
    return [Example(list(each.tokens), each.position, each.line()) for each in found]


@dataclass
class Effect(Document):
    """How far a covariate moves the meaning of a word, and words and lines that show where to."""

    coefficient: Coefficient
    more: list[str]
    less: list[str]
    examples: list[list[Example]]

    def to_dict(self) -> dict[str, Any]:
        """Return the figures, the words and the lines."""
        return {**vars(self.coefficient), "more": self.more, "less": self.less, "examples": self.examples}


@dataclass
class Effects(Document):
    """How far covariates move the meanings of words."""

    effects: list[Effect]
    unknown: list[Unknown]

    def parts(self) -> Sequence[Document]:
        """Return the effects, each a document of its own."""
        return [*self.effects, *self.unknown]

    def table(self) -> Table:
        """Return a row for each effect."""
        rows = [[*vars(each.coefficient).values(), each.more, each.less] for each in self.effects]
        names = list(vars(self.effects[0].coefficient)) if self.effects else ()
        return Table([*names, "more", "less"], rows)

    def __str__(self) -> str:
        rows = [["word", "covariate", "times", "norm", "95 %", "p", "q", "with more of it", "with less"]]
        parts = []
        for each in self.effects:
            one = each.coefficient
            figures = [f"{one.norm:.3f}", f"{one.low:.3f} to {one.high:.3f}", f"{one.p_value:.2g}"]
            words = [" ".join(side[:5]) for side in (each.more, each.less)]
            rows.append([one.word, one.name, f"{one.count:,}", *figures, f"{one.q_value:.2g}", *words])
            for more, side in zip(("more", "less"), each.examples, strict=False):
                lines = [f"  {example.line}" for example in side]
                parts += [f"\n{one.word} with {more} of {one.name}", *lines] if lines else []
        return "\n".join(map(str, [columns(rows, right=[2, 3, 5, 6]), *parts, *self.unknown]))


def regress(found: Mapping[str, Regression], skipped: Mapping[str, str], topn: int, examples: int) -> Effects:
    """Return regressions of words as a document, the most certain effects first."""
    effects = []
    for regression in found.values():
        for each in regression:
            more, less = regression.telling(each.name, topn)
            lines = [_examples(side) for side in regression.examples(each.name, examples)] if examples else []
            effects.append(
                Effect(each, [str(word) for word, _ in more], [str(word) for word, _ in less], lines)
            )
    effects.sort(key=lambda each: (each.coefficient.p_value, -each.coefficient.norm))
    return Effects(effects, [Unknown(word, error) for word, error in skipped.items()])


@dataclass
class Walk(Document):
    """How the meaning of a word changes along a covariate."""

    path: Path

    def to_dict(self) -> dict[str, Any]:
        """Return the fields of the path."""
        return dict(vars(self.path))

    def table(self) -> Table:
        """Return a row for each value."""
        path, names = self.path, ("value", "count", "position", "low", "high")
        figures = (each.tolist() for each in (path.positions, path.low, path.high))
        return Table(names, list(zip(path.values, path.counts, *figures, strict=True))).beside(
            {"word": path.word}
        )

    def __str__(self) -> str:
        path, rows = self.path, []
        for _, value, count, position, low, high in self.table().rows:
            rows.append((f"{value:g}", f"{count:,}", f"{position:.3f}", f"{low:.3f} to {high:.3f}"))
        tests = f"trend p = {path.trend:.2g}; change at {path.change_value:g} p = {path.change:.2g}"
        return f"{path.word}: {tests}\n{columns(rows, right=[0, 1, 2], indent='  ')}"


@dataclass
class Walks(Document):
    """How the meanings of words change along a covariate."""

    walks: list[Walk]
    unknown: list[Unknown]

    def parts(self) -> Sequence[Document]:
        """Return what is known of each word, each a document of its own."""
        return [*self.walks, *self.unknown]

    def table(self) -> Table:
        """Return a row for each value and word."""
        tables = [each.table() for each in self.walks]
        return Table(tables[0].names, [row for each in tables for row in each.rows])

    def __str__(self) -> str:
        return "\n".join(map(str, self.parts()))


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
