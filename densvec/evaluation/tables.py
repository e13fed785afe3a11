"""The paper's tables, from the reports of several models and seeds, with the paper's figures beside ours."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from densvec.evaluation import paper
from densvec.evaluation.lexicon import Lexicon, kl_divergence
from densvec.evaluation.rankers import Targets, posteriors
from densvec.evaluation.results import Result, Row
from densvec.evaluation.suite import Report
from densvec.statistics.bootstrap import Estimate, difference

__all__ = [
    "EXAMPLES",
    "PaperTable",
    "Reports",
    "Seeds",
    "differences_table",
    "direction_table",
    "entailment_table",
    "generality_table",
    "measures",
    "pairs_table",
    "posteriors_table",
    "similarity_table",
    "substitution_table",
]

Reports = Mapping[str, Sequence[Report]]  # by the model's label, one report for each seed

_SIMILARITY = tuple(figure for figure in paper.FIGURES["BSG"] if figure.startswith("rho "))
_RANKERS = {
    "encoder": "encoder",
    "add": "add, context from input vectors",
    "mult": "mult, context from input vectors",
    "add_output": "add, context from output vectors",
    "mult_output": "mult, context from output vectors",
    "out_of_context": "out of context, cosine",
    "prior": "out of context, KL of the priors",
    "random": "random order",
}
_MEASURES = {"kl": "KL", "cosine": "cosine", "variance": "variance", "frequency": "frequency"}

EXAMPLES: tuple[tuple[str, str], ...] = (
    ("bank", "he sat on the grassy bank of the river and watched the water"),
    ("bank", "the central bank raised its interest rate on loans and deposits"),
    ("plant", "the power plant burns coal to make electricity for the city"),
    ("plant", "the leaves of the plant are eaten by insects in summer"),
    ("star", "the film made her a star of american cinema"),
    ("star", "the planet orbits a star that is smaller than the sun"),
    ("cell", "the prisoner was locked in a cell for three days"),
    ("cell", "the membrane of the cell surrounds its nucleus and proteins"),
    ("bass", "he played bass guitar and sang in the band"),
    ("bass", "fishermen catch bass and trout in the lake"),
)
"""Words in two senses each, for the table of posteriors."""


@dataclass(frozen=True)
class Seeds:
    """One figure over several training seeds.

    Examples
    --------
    >>> print(Seeds((0.70, 0.72)), Seeds((0.7,)))
    0.710 ± 0.014 0.700
    """

    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Mean over the seeds."""
        return float(np.mean(self.values))

    @property
    def deviation(self) -> float | None:
        """Sample standard deviation over the seeds; None for a single one."""
        return float(np.std(self.values, ddof=1)) if len(self.values) > 1 else None

    def __str__(self) -> str:
        if math.isnan(self.mean):
            return "–"
        return f"{self.mean:.3f}" if self.deviation is None else f"{self.mean:.3f} ± {self.deviation:.3f}"

    def to_dict(self) -> dict[str, Any]:
        """Mean, deviation and the single values."""
        return {"mean": self.mean, "deviation": self.deviation, "values": list(self.values)}


@dataclass(frozen=True)
class PaperTable(Result):
    """A titled table."""

    title: str
    lines: tuple[Row, ...]
    note: str = ""

    def rows(self) -> list[Row]:
        """The lines as given."""
        return list(self.lines)

    def __str__(self) -> str:
        return "\n".join(filter(None, [self.title, super().__str__(), self.note]))

    def to_markdown(self) -> str:
        """Heading, table and note."""
        return "\n\n".join(filter(None, [f"## {self.title}", super().to_markdown(), self.note]))

    def to_dict(self) -> dict[str, Any]:
        """Title, rows and note."""
        return {"title": self.title, **super().to_dict(), "note": self.note}


def measures(report: Report) -> dict[str, Estimate]:
    """Every figure of a report by name: the headline figures, and each correlation as "rho <benchmark>"."""
    single = () if report.similarity is None else report.similarity.benchmarks
    return {**{f"rho {each.name}": each.spearman for each in single}, **report.figures()}


def _beside_the_paper(title: str, lines: Mapping[str, str], reports: Reports, note: str = "") -> PaperTable:
    """Table with a line for each named figure and, for each model, our figure and the paper's."""
    found = {label: [measures(report) for report in each] for label, each in reports.items()}
    rows: list[Row] = []
    for name, figure in lines.items():
        row: Row = {"": name}
        for label, seeds in found.items():
            values = tuple(seed[figure].value for seed in seeds if figure in seed)
            row[label] = Seeds(values) if values else None
            if label in paper.FIGURES:
                row[f"{label}, paper"] = paper.FIGURES[label].get(figure)
        if any(isinstance(value, Seeds) for value in row.values()):
            rows.append(row)
    empty = {name for row in rows for name in row} - {
        name for row in rows for name, value in row.items() if value is not None
    }
    return PaperTable(
        title, tuple({name: row[name] for name in row if name not in empty} for row in rows), note
    )


def similarity_table(reports: Reports) -> PaperTable:
    """Table 1: Spearman's ρ on each benchmark, and the sums."""
    ours = (each for seeds in reports.values() for report in seeds for each in measures(report))
    singles = dict.fromkeys([*_SIMILARITY, *(figure for figure in ours if figure.startswith("rho "))])
    lines = {figure.removeprefix("rho "): figure for figure in singles} | {
        "sum of all": "SUM",
        "BIG5": "BIG5",
    }
    note = "BIG5 = MEN + MTurk-771 + RW + SimLex + WS-353-ALL, the five large sets."
    return _beside_the_paper("Table 1. Word similarity (Spearman's ρ)", lines, reports, note)


def substitution_table(reports: Reports) -> PaperTable:
    """Table 2: GAP of every ranker on the whole of SemEval-2007 task 10, and on its trial part."""
    lines = {text: f"GAP lst_all {ranker}" for ranker, text in _RANKERS.items()}
    lines |= {f"trial part: {text}": f"GAP lst_trial {ranker}" for ranker, text in _RANKERS.items()}
    return _beside_the_paper("Table 2. Lexical substitution (GAP)", lines, reports)


def entailment_table(reports: Reports) -> PaperTable:
    """Table 3: best F1 by KL and by cosine, and the average precision."""
    lines = {
        f"{benchmark.upper()}, {score} by {_MEASURES[measure]}": f"{key} {benchmark} {measure}"
        for key, score in (("F1", "best F1"), ("AP", "average precision"))
        for benchmark in ("bbds", "bless")
        for measure in ("kl", "cosine")
    }
    return _beside_the_paper("Table 3. Lexical entailment", lines, reports)


def direction_table(reports: Reports) -> PaperTable:
    """Table 4: share of entailing pairs whose direction is right."""
    lines = {
        f"{benchmark.upper()}, by {_MEASURES[measure]}": f"direction {benchmark} {measure}"
        for benchmark in ("bbds", "bless")
        for measure in ("kl", "variance", "frequency")
    }
    return _beside_the_paper("Table 4. Direction of entailment (accuracy)", lines, reports)


def generality_table(reports: Reports) -> PaperTable:
    """Figure 6 in one number: Pearson's correlation of the log-determinant with log-frequency."""
    return _beside_the_paper(
        "Figure 6 in one number. Generality against frequency",
        {"Pearson's correlation of log-determinant and log-frequency": "generality~frequency"},
        reports,
    )


def pairs_table(models: Mapping[str, Lexicon]) -> PaperTable:
    """Table 5: KL[dog‖·] and cosine of a few pairs, for every model with densities."""
    dense = {label: lexicon for label, lexicon in models.items() if lexicon.log_variances is not None}
    rows: list[Row] = []
    for (first, second), (kl, cosine) in paper.PAIRS.items() if dense else ():
        row: Row = {"pair": f"{first}–{second}"}
        for label, lexicon in dense.items():
            a, b = lexicon.indices([first]), lexicon.indices([second])
            known = a[0] >= 0 and b[0] >= 0
            row[f"{label} KL"] = float(lexicon.kl(a, b)[0]) if known else None
            row[f"{label} cosine"] = float(lexicon.cosine(a, b)[0]) if known else None
        rows.append({**row, "BSG KL, paper": kl, "BSG cosine, paper": cosine})
    return PaperTable("Table 5. KL[dog‖·] and cosine", tuple(rows))


def posteriors_table(
    lexicon: Lexicon,
    examples: Sequence[tuple[str, str]] = EXAMPLES,
    *,
    topn: int = 6,
    window: int = 5,
    restrict_vocab: int = 20_000,
) -> PaperTable:
    """Table 6: the words whose priors are nearest, by KL, to the posterior of a word in a sentence.

    Parameters
    ----------
    lexicon : Lexicon
        Of a model with an encoder.
    examples : sequence of (word, sentence)
        The word must stand in the sentence; examples with an unknown word are left out.
    topn : int
        How many words to show.
    window : int
        Words of context on each side.
    restrict_vocab : int
        Show only words among this many of the first (most frequent): the rarest have unreliable densities.
    """
    title = "Table 6. Nearest words, by KL from the posterior in context"
    lv = lexicon.log_variances
    if lexicon.encoder is None or lv is None:
        return PaperTable(title, ())
    words = list(lexicon.key_to_index)
    rows: list[Row] = []
    for word, sentence in examples:
        tokens = sentence.split()
        place, centre = tokens.index(word), lexicon.index(word)
        if centre < 0:
            continue
        around = lexicon.indices(
            tokens[max(0, place - window) : place] + tokens[place + 1 : place + 1 + window]
        )
        context = around[around >= 0].tolist()
        sides = (lexicon.indices(side) for side in (tokens[:place], tokens[place + 1 :]))
        before, after = (side[side >= 0].tolist() for side in sides)
        mean, log_variance = posteriors(lexicon, Targets.build([centre], [context], [[]], [(before, after)]))
        prior = lexicon.means[[centre]], lv[[centre]]
        marked = " ".join([*tokens[:place], f"**{word}**", *tokens[place + 1 :]])
        rows.append(
            {
                "word in context": marked,
                "nearest to the posterior": ", ".join(
                    _nearest(lexicon, words, mean, log_variance, centre, topn, restrict_vocab)
                ),
                "nearest to the prior": ", ".join(
                    _nearest(lexicon, words, *prior, centre, topn, restrict_vocab)
                ),
            }
        )
    return PaperTable(title, tuple(rows))


def _nearest(
    lexicon: Lexicon, words: Sequence[str], mean: Any, log_variance: Any, but: int, topn: int, limit: int
) -> list[str]:
    """Words whose priors are nearest to one density, without one of them."""
    assert lexicon.log_variances is not None
    divergence = kl_divergence(mean, log_variance, lexicon.means[:limit], lexicon.log_variances[:limit])
    return [words[row] for row in np.argsort(divergence)[: topn + 1] if row != but][:topn]


_HEADLINES: dict[str, tuple[str, ...]] = {
    "BIG5": ("BIG5",),
    "SUM": ("SUM",),
    "GAP": tuple(f"GAP lst_all {ranker}" for ranker in _RANKERS if ranker != "random"),
    "F1 BBDS": ("F1 bbds kl", "F1 bbds cosine"),
    "F1 BLESS": ("F1 bless kl", "F1 bless cosine"),
    "direction BBDS": ("direction bbds kl", "direction bbds frequency"),
    "direction BLESS": ("direction bless kl", "direction bless frequency"),
}


def differences_table(reports: Reports, model: str) -> PaperTable:
    """One model against each of the others.

    The difference is that of the means over seeds, with its paired bootstrap interval. The model is
    judged by its own measure (encoder, KL), a rival by the best that it has; in the direction of entailment with
    KL, or with the frequency of words if it has no densities.
    """
    mine = _means(reports[model])
    rows: list[Row] = []
    for label in (each for each in reports if each != model):
        theirs = _means(reports[label])
        for headline, figures in _HEADLINES.items():
            own = next((figure for figure in figures if figure in mine), None)
            rivals = [figure for figure in figures if figure in theirs]
            if own is None or not rivals:
                continue
            if not headline.startswith("direction"):
                rivals.sort(key={figure: -theirs[figure].value for figure in rivals}.__getitem__)
            rival = rivals[0]
            rows.append(
                {
                    "figure": headline,
                    "against": label if rival == own else f"{label} ({rival.split()[-1]})",
                    model: mine[own].value,
                    "rival": theirs[rival].value,
                    "difference": difference(mine[own], theirs[rival]),
                }
            )
    note = (
        "Intervals (95 %) come from drawing the benchmarks' items again; a difference whose interval contains 0 "
        "is not evidence. They do not include the noise between training seeds."
    )
    return PaperTable(f"{model} against the others", tuple(rows), note)


def _means(reports: Sequence[Report]) -> dict[str, Estimate]:
    """Every figure, averaged over the seeds."""
    seeds = [measures(report) for report in reports]
    shared = [figure for figure in seeds[0] if all(figure in seed for seed in seeds)]
    return {figure: Estimate.mean([seed[figure] for seed in seeds]) for figure in shared}
