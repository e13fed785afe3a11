#!/usr/bin/env python
"""Make the paper's tables again, on your own text: Tables 1-6 and Figures 5-6, as Markdown, JSON and PNG.

    python examples/paper_tables.py --corpus wiki17m.txt --data eval --models bsg,gensim --epochs 5 --seeds 3

Trained models are kept in the output directory and used again when corpus and settings are the same.
"""

from __future__ import annotations

import argparse
import hashlib
import inspect
import json
import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from densvec.distances.vectors import unit_rows
from densvec.evaluation import (
    Bootstrap,
    Estimate,
    Results,
    entailment,
    entailment_direction,
    evaluate_all,
    ranking_of_candidates,
    word_similarity,
)
from densvec.evaluation.figures import format_table
from densvec.evaluation.substitutes import Instance
from densvec.keyed import KeyedDensities
from densvec.statistics.bootstrap import difference, from_draws

Settings = dict[str, Any]
Key = tuple[str, str, str]  # benchmark, measure, method
Row = dict[str, Any]

WINDOW = 5
"""Words on each side of a target that addition and multiplication read, as Melamud et al. (2015) did."""


@dataclass(frozen=True)
class Kind:
    """One of the models compared: its name in the paper, how to train and save it, how to read it back."""

    label: str
    train: Callable[[str, Settings, Path], None]
    load: Callable[[Path], Any]
    defaults: Callable[
        [], str
    ]  # what it is trained with unless told otherwise: another default, another model
    suffix: str = ".densvec"


def _densvec(class_name: str, label: str, **fixed: Any) -> Kind:
    def train(corpus: str, settings: Settings, path: Path) -> None:
        import densvec

        model = getattr(densvec, class_name)(corpus_file=corpus, **settings, **fixed)
        model.save(str(path))

    def load(path: Path) -> Any:
        import densvec

        return getattr(densvec, class_name).load(str(path)).wv

    def defaults() -> str:
        import densvec
        from densvec.training.settings import Rates

        return f"{densvec.__version__} {Rates()} {inspect.signature(getattr(densvec, class_name))} {fixed}"

    return Kind(label, train, load, defaults)


def _train_gensim(corpus: str, settings: Settings, path: Path) -> None:
    """Train gensim's skip-gram and keep its arrays (not its pickle)."""
    from gensim.models import Word2Vec
    from gensim.models.callbacks import CallbackAny2Vec

    class Progress(CallbackAny2Vec):
        def on_train_begin(self, model: Any) -> None:
            self.bar = tqdm(total=model.epochs, desc="gensim", unit="epoch")

        def on_epoch_end(self, model: Any) -> None:
            self.bar.update()

        def on_train_end(self, model: Any) -> None:
            self.bar.close()

    model = Word2Vec(corpus_file=corpus, sg=1, negative=5, callbacks=[Progress()], **settings)
    with open(path, "wb") as file:
        np.savez(
            file,
            vectors=model.wv.vectors,
            context_vectors=model.syn1neg,
            counts=model.wv.expandos["count"],
            words=np.array("\n".join(model.wv.index_to_key)),
        )


def _load_gensim(path: Path) -> KeyedDensities:
    with np.load(path) as arrays:
        return KeyedDensities.from_arrays(
            str(arrays["words"]).split("\n"),
            arrays["vectors"],
            context_vectors=arrays["context_vectors"],
            attributes={"count": arrays["counts"]},
        )


def _gensim_defaults() -> str:
    import gensim
    from gensim.models import Word2Vec

    return f"{gensim.__version__} {inspect.signature(Word2Vec)}"


#: The paper's exact model, as far as parameters can express it; its rates are ours, without what the paper lacks.
PAPER: Settings = {
    "pairing": "paired",
    "negative": 1,
    "residual": False,
    "nearness": 0.0,
    "margin": 5.0,
    "kl_weight": 1.0,
    "hidden_size": 100,
    "rates": {"contrast": 3.0, "coverage": 0.0},
}

KINDS: dict[str, Kind] = {
    "bsg": _densvec("BayesianSkipGram", "BSG"),
    "bsg-paper": _densvec("BayesianSkipGram", "BSG, the paper's settings", **PAPER),
    "w2g-s": _densvec("Word2Gauss", "W2G(S)", covariance="spherical"),
    "w2g-d": _densvec("Word2Gauss", "W2G(D)", covariance="diagonal"),
    "sg": _densvec("SkipGram", "SG"),
    "gensim": Kind("SG (gensim)", _train_gensim, _load_gensim, _gensim_defaults, ".npz"),
}


@dataclass(frozen=True)
class Run:
    """A trained model of one seed: its words, its figures, and how long training took, if that is known."""

    wv: KeyedDensities
    results: Results
    seconds: float | None


def plain_corpus(path: str, cache: Path) -> str:
    """Path of the corpus as a plain text file: models read it from several places at once."""
    if Path(path).suffix not in {".gz", ".bz2", ".xz", ".zst"}:
        return path
    from smart_open import open as smart_open

    plain = cache / Path(path).stem
    if not plain.exists() or plain.stat().st_mtime < os.path.getmtime(path):
        print(f"unpacking {path}")
        partial = plain.with_name(plain.name + ".part")
        with smart_open(path, "rb") as packed, open(partial, "wb") as unpacked:
            shutil.copyfileobj(packed, unpacked, 1 << 20)
        partial.replace(plain)
    return str(plain)


def fingerprint(corpus: str, name: str, settings: Settings) -> str:
    """Short name of what a model is trained on and how; the number of workers does not matter."""
    settings = {key: value for key, value in settings.items() if key not in {"workers", "seed"}}
    size = os.path.getsize(corpus)
    with open(corpus, "rb") as file:
        sample = [file.read(1 << 20)]
        file.seek(max(0, size - (1 << 20)))
        sample.append(file.read())
    described = json.dumps([name, KINDS[name].defaults(), size, settings], sort_keys=True).encode()
    return hashlib.sha256(described + b"".join(sample)).hexdigest()[:10]


def run(
    name: str, corpus: str, data: str, settings: Settings, cache: Path, bootstrap: Bootstrap, retrain: bool
) -> Run:
    """Train one model unless it is in the cache, and evaluate it."""
    kind = KINDS[name]
    stem = f"{name}-seed{settings['seed']}-{fingerprint(corpus, name, settings)}"
    path = cache / f"{stem}{kind.suffix}"
    note = cache / f"{stem}.json"
    if retrain or not path.exists():
        print(f"{kind.label}, seed {settings['seed']}: training")
        start = time.perf_counter()
        kind.train(corpus, settings, path)
        note.write_text(json.dumps({"settings": settings, "seconds": time.perf_counter() - start}))
    else:
        print(f"{kind.label}, seed {settings['seed']}: from {path}")
    seconds = json.loads(note.read_text())["seconds"] if note.exists() else None
    wv = kind.load(path)
    return Run(wv, measured(wv, data, bootstrap), seconds)


def measured(wv: KeyedDensities, data: str, bootstrap: Bootstrap) -> Results:
    """Return the figures of Tables 1 to 4."""
    names = [word_similarity.name, entailment.name, entailment_direction.name]
    results = evaluate_all(wv, data, tasks=names, bootstrap=bootstrap)
    sentences = Path(data, "lexsub", "lst_all.preprocessed")
    if sentences.exists():
        results += ranking_of_candidates(wv, sentences, methods=rankers(wv), bootstrap=bootstrap)
    return results


def rankers(wv: KeyedDensities) -> dict[str, Callable[[Sequence[Instance]], list[list[str]]]]:
    """Rankers of Table 2 that only need vectors, and the one that needs densities but no context."""
    units = unit_rows(wv.vectors.astype(np.float64))

    def by(scores_of: Callable[[int, list[int], list[str]], Any]) -> Callable[..., list[list[str]]]:
        def ranking(instance: Instance) -> list[str]:
            tokens, place = instance.occurrence.tokens, instance.occurrence.position
            target = next((word for word in (tokens[place], instance.lemma) if word in wv), None)
            known = [word for word in instance.candidates if word in wv]
            if target is None or not known:
                return []
            around = [*tokens[max(0, place - WINDOW) : place], *tokens[place + 1 : place + 1 + WINDOW]]
            context = [wv.key_to_index[word] for word in around if word in wv]
            scores = scores_of(wv.key_to_index[target], context, known)
            return [known[i] for i in np.argsort(-np.asarray(scores), kind="stable")]

        return lambda instances: [ranking(each) for each in instances]

    def add(table: Any) -> Any:
        """Cosine of a candidate with target + mean of the context, all as unit vectors."""

        def scores(target: int, context: list[int], candidates: list[str]) -> Any:
            query = units[target] + (table[context].mean(axis=0) if context else 0)
            return units[[wv.key_to_index[word] for word in candidates]] @ query

        return by(scores)

    def mult(table: Any) -> Any:
        """(cos(s, w) + 1)/2 times the geometric mean over the context of (cos(s, c) + 1)/2, as a logarithm."""

        def scores(target: int, context: list[int], candidates: list[str]) -> Any:
            rows = units[[wv.key_to_index[word] for word in candidates]]
            likeness = np.log(np.maximum((1 + rows @ units[target]) / 2, 1e-12))
            if context:
                likeness += np.log(np.maximum((1 + rows @ table[context].T) / 2, 1e-12)).mean(axis=1)
            return likeness

        return by(scores)

    found = {"add": add(units), "mult": mult(units)}
    if wv.context_vectors is not None:
        outputs = unit_rows(wv.context_vectors.astype(np.float64))
        found |= {"add, output vectors": add(outputs), "mult, output vectors": mult(outputs)}
    if wv.log_variances is not None:
        found["prior"] = by(
            lambda target, context, candidates: wv.entailment(
                [wv.index_to_key[target]] * len(candidates), candidates
            )
        )
    return found


# What Bražinskas, Havrylov & Titov (2018) print, trained on 3 billion tokens (ukWaC and WaCkypedia), 100 dimensions, a
# window of 5 words on each side, a vocabulary of 280,000 words. Of Table 1 the single figures of BSG.
_BSG_SIMILARITY = {
    "MC-30": 0.71,
    "MEN-TR-3k": 0.73,
    "MTurk-287": 0.70,
    "MTurk-771": 0.67,
    "RG-65": 0.70,
    "RW-STANFORD": 0.43,
    "SIMLEX-999": 0.35,
    "VERB-143": 0.32,
    "WS-353-ALL": 0.72,
    "WS-353-REL": 0.68,
    "WS-353-SIM": 0.75,
    "YP-130": 0.50,
}
_LABELS = ("BSG", "W2G(S)", "W2G(D)", "SG")


def _published(*figures: float | None) -> dict[str, float | None]:
    return dict(zip(_LABELS, figures, strict=False))


# Each table's lines: what a line says, which figure it is, and what the paper prints for each model.
TABLES: dict[str, list[tuple[str, Key, Mapping[str, float | None]]]] = {
    "Table 1. Word similarity (Spearman's ρ)": [
        *((name, (name, "rho", "cosine"), _published(rho)) for name, rho in _BSG_SIMILARITY.items()),
        ("sum of all", ("SUM", "", "cosine"), _published(7.26, 7.10, 6.95, 7.15)),
        ("MEN, MTurk-771, RW, SimLex, WS-353", ("BIG5", "", "cosine"), _published(2.90, None, None, 2.84)),
    ],
    "Table 2. Lexical substitution (GAP)": [
        ("encoder", ("lst_all", "GAP", "posterior"), _published(0.461)),
        ("encoder, as wv.substitutes ranks", ("lst_all", "GAP", "wv.substitutes"), {}),
        ("add", ("lst_all", "GAP", "add"), _published(0.437, 0.431, 0.427, 0.426)),
        ("mult", ("lst_all", "GAP", "mult"), _published(0.439, 0.432, 0.427, 0.428)),
        ("add, context from output vectors", ("lst_all", "GAP", "add, output vectors"), {}),
        ("mult, context from output vectors", ("lst_all", "GAP", "mult, output vectors"), {}),
        ("out of context, cosine", ("lst_all", "GAP", "cosine"), {}),
        ("out of context, KL of the priors", ("lst_all", "GAP", "prior"), {}),
        ("random order", ("lst_all", "GAP", "chance"), {}),
    ],
    "Table 3. Lexical entailment": [
        ("BBDS, best F1 by KL", ("bbds", "F1", "wv.entailment"), _published(0.762, 0.770, 0.765)),
        ("BBDS, best F1 by cosine", ("bbds", "F1", "cosine"), _published(0.759, 0.757, 0.749, 0.757)),
        ("BLESS, best F1 by KL", ("bless", "F1", "wv.entailment"), _published(0.200, 0.189, 0.187)),
        ("BLESS, best F1 by cosine", ("bless", "F1", "cosine"), _published(0.208, 0.204, 0.203, 0.203)),
        *(
            (f"{name.upper()}, average precision by {by}", (name, "AP", method), {})
            for name in ("bbds", "bless")
            for by, method in (("KL", "wv.entailment"), ("cosine", "cosine"))
        ),
    ],
    "Table 4. Direction of entailment (accuracy)": [
        ("BBDS, by KL", ("bbds_direction", "accuracy", "wv.direction"), _published(0.7823, 0.7841, 0.7805)),
        ("BBDS, by variance", ("bbds_direction", "accuracy", "wv.generality"), {}),
        ("BBDS, by frequency", ("bbds_direction", "accuracy", "frequency"), _published(*[0.7884] * 4)),
        ("BLESS, by KL", ("bless_direction", "accuracy", "wv.direction"), _published(0.6734, 0.5750, 0.5458)),
        ("BLESS, by variance", ("bless_direction", "accuracy", "wv.generality"), {}),
        ("BLESS, by frequency", ("bless_direction", "accuracy", "frequency"), _published(*[0.5526] * 4)),
    ],
}

# Table 5, BSG: KL[first‖second] and the cosine of the means.
PAIRS = {
    ("dog", "cat"): (15.47, 0.71),
    ("dog", "pet"): (18.52, 0.70),
    ("dog", "hound"): (21.20, 0.64),
    ("dog", "animal"): (27.69, 0.52),
}

# Words in two senses each, for Table 6.
EXAMPLES = (
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

GENERALITY = _published(-0.07, 0.59, 0.91)  # Figure 6 in one number

# By which figures models are compared: the first that a model has is its own measure.
HEADLINES: dict[str, list[Key]] = {
    "BIG5": [("BIG5", "", "cosine")],
    "SUM": [("SUM", "", "cosine")],
    "GAP": [key for _, key, _ in TABLES["Table 2. Lexical substitution (GAP)"] if key[2] != "chance"],
    "F1 BBDS": [("bbds", "F1", "wv.entailment"), ("bbds", "F1", "cosine")],
    "F1 BLESS": [("bless", "F1", "wv.entailment"), ("bless", "F1", "cosine")],
    "direction BBDS": [("bbds_direction", "accuracy", name) for name in ("wv.direction", "frequency")],
    "direction BLESS": [("bless_direction", "accuracy", name) for name in ("wv.direction", "frequency")],
}


def over_seeds(values: Sequence[float]) -> str:
    """Return the mean over seeds, and the sample standard deviation if there are several."""
    mean = f"{np.mean(values):.3f}"
    return mean if len(values) < 2 else f"{mean} ± {np.std(values, ddof=1):.3f}"


def beside_the_paper(
    lines: Sequence[tuple[str, Any, Mapping[str, float | None]]], runs: Mapping[str, Any]
) -> list[Row]:
    """Return a row for each line: for each model our values over its seeds, and the paper's."""
    rows: list[Row] = []
    for text, key, published in lines:
        row: Row = {"": text}
        for label, seeds in runs.items():
            values = [each[key] for each in seeds if key in each]
            row[label] = over_seeds(values) if values else None
            if label in _LABELS:
                row[f"{label}, paper"] = published.get(label)
        if any(row[label] is not None for label in runs):
            rows.append(row)
    filled = {name for row in rows for name, value in row.items() if value is not None}
    return [{name: value for name, value in row.items() if name in filled} for row in rows]


def make_tables(runs: dict[str, list[Run]]) -> dict[str, list[Row]]:
    """All tables by title, from the runs of each model (by label, one run for each seed)."""
    found = {
        label: [{_key(figure): figure.value for figure in each.results} for each in seeds]
        for label, seeds in runs.items()
    }
    numbers = {
        label: [{key: value.value for key, value in each.items()} for each in seeds]
        for label, seeds in found.items()
    }
    made = {title: beside_the_paper(lines, numbers) for title, lines in TABLES.items()}
    dense = {label: seeds for label, seeds in runs.items() if seeds[0].wv.log_variances is not None}
    made["Table 5. KL[dog‖·] and cosine"] = pairs_table(
        {label: seeds[0].wv for label, seeds in dense.items()}
    )
    for label, seeds in dense.items():
        if seeds[0].wv.encoder is not None:
            made[f"Table 6. Nearest words, by KL from the posterior in context ({label})"] = posteriors_table(
                seeds[0].wv
            )
    correlations = {
        label: [
            {"rho": correlation}
            for each in seeds
            if (correlation := generality_and_frequency(each.wv)) is not None
        ]
        for label, seeds in dense.items()
    }
    made["Figure 6 in one number. Generality against frequency"] = beside_the_paper(
        [("Pearson's correlation of log-determinant and log-frequency", "rho", GENERALITY)], correlations
    )
    if len(runs) > 1:
        leader = next(iter(runs))
        made[f"{leader} against the others"] = differences_table(found, leader)
    made["Training"] = [
        {"model": label, "seed": str(i + 1), "training time, s": each.seconds, "words": str(len(each.wv))}
        for label, seeds in runs.items()
        for i, each in enumerate(seeds)
    ]
    return {title: rows for title, rows in made.items() if rows}


def _key(figure: Any) -> Key:
    return figure.benchmark, figure.measure, figure.method


def pairs_table(models: Mapping[str, KeyedDensities]) -> list[Row]:
    """Table 5: KL[dog‖·] and cosine of a few pairs, for every model with densities."""
    rows: list[Row] = []
    for (first, second), (kl, cosine) in PAIRS.items() if models else ():
        row: Row = {"pair": f"{first}–{second}"}
        for label, wv in models.items():
            known = first in wv and second in wv
            row[f"{label} KL"] = float(wv.kl_divergence(first, second)) if known else None
            row[f"{label} cosine"] = float(wv.similarity(first, second)) if known else None
        rows.append({**row, "BSG KL, paper": kl, "BSG cosine, paper": cosine})
    return rows


def posteriors_table(wv: KeyedDensities, topn: int = 6, frequent: int = 20_000) -> list[Row]:
    """Table 6: the words whose priors are nearest, by KL, to the posterior of a word in a sentence.

    Shown are only the most frequent words: the rarest have unreliable densities.
    """

    def nearest(density: Any, word: str) -> str:
        found = wv.most_similar(density, topn=topn + 1, restrict_vocab=frequent, metric="kl")
        return ", ".join([other for other, _ in found if other != word][:topn])

    rows: list[Row] = []
    for word, sentence in EXAMPLES:
        tokens = sentence.split()
        if word in wv:
            marked = " ".join(f"**{token}**" if token == word else token for token in tokens)
            posterior = wv.infer(tokens, position=tokens.index(word))
            rows.append(
                {
                    "word in context": marked,
                    "nearest to the posterior": nearest(posterior, word),
                    "nearest to the prior": nearest(wv.density(word), word),
                }
            )
    return rows


def generality_and_frequency(wv: KeyedDensities) -> float | None:
    """Pearson's correlation of the log-determinant with log-frequency; None if all words are as general."""
    generality, logs = np.asarray(wv.generality(wv.index_to_key)), np.log(wv.expandos["count"])
    return float(np.corrcoef(generality, logs)[0, 1]) if generality.std() > 0 and logs.std() > 0 else None


def differences_table(found: Mapping[str, Sequence[Mapping[Key, Estimate]]], model: str) -> list[Row]:
    """One model against each of the others.

    The difference is that of the means over seeds, with its paired bootstrap interval. The model is judged by its own
    measure (encoder, KL), a rival by the best that it has; in the direction of entailment with KL, or with the
    frequency of words if it has no densities.
    """
    mine, rows = _means(found[model]), []
    for label in (each for each in found if each != model):
        theirs = _means(found[label])
        for headline, keys in HEADLINES.items():
            own = next((key for key in keys if key in mine), None)
            rivals = [key for key in keys if key in theirs]
            if own is None or not rivals:
                continue
            if not headline.startswith("direction"):
                rivals.sort(key=lambda key: -theirs[key].value)
            rival = rivals[0]
            row: Row = {"figure": headline, "against": label if rival == own else f"{label} ({rival[2]})"}
            gained = difference(mine[own], theirs[rival])
            rows.append({**row, model: mine[own].value, "rival": theirs[rival].value, "difference": gained})
    return rows


def _means(seeds: Sequence[Mapping[Key, Estimate]]) -> dict[Key, Estimate]:
    """Every figure, averaged over the seeds."""
    shared = [key for key in seeds[0] if all(key in seed for seed in seeds)]
    return {key: _mean([seed[key] for seed in seeds]) for key in shared}


def _mean(parts: Sequence[Estimate]) -> Estimate:
    """The mean of estimates over the same items."""
    value = float(np.mean([part.value for part in parts]))
    draws = [part.draws for part in parts if part.draws is not None]
    if len(draws) < len(parts) or len({part.items for part in parts}) > 1:
        return Estimate(value)
    return from_draws(value, np.mean(draws, axis=0), parts[0].level, parts[0].items)


def _plain(estimate: Estimate) -> dict[str, float]:
    """Value and interval as plain numbers."""
    if estimate.low is None or estimate.high is None:
        return {"value": estimate.value}
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high, "level": estimate.level}


def figure_5(models: dict[str, KeyedDensities], data: str, path: Path) -> bool:
    """Histograms of KL[w1‖w2] for pairs that entail and others; False if there is nothing to draw."""
    from matplotlib.figure import Figure

    files = [each for name in ("bbds", "bless") if (each := Path(data, "entailment", f"{name}.tsv")).exists()]
    if not models or not files:
        return False
    figure = Figure(figsize=(4.5 * len(models), 3 * len(files)), layout="constrained")
    axes = figure.subplots(len(files), len(models), squeeze=False)
    for row, file in zip(axes, files, strict=True):
        for ax, (label, wv) in zip(row, models.items(), strict=True):
            pairs = [pair for pair in entailment.read(file) if pair.first in wv and pair.second in wv]
            truth = np.array([pair.rating > 0 for pair in pairs], dtype=bool)
            kl = np.array([float(wv.kl_divergence(pair.first, pair.second)) for pair in pairs])
            bins = np.linspace(0, np.quantile(kl, 0.99) if len(kl) else 1, 50)
            ax.hist(kl[~truth], bins, density=True, alpha=0.6, label="not entailing")
            ax.hist(kl[truth], bins, density=True, alpha=0.6, label="entailing")
            ax.set(title=f"{label}, {file.stem.upper()}", xlabel="KL[w1‖w2]", ylabel="density")
            ax.legend()
    figure.savefig(path, dpi=120)
    return True


def figure_6(models: dict[str, KeyedDensities], path: Path) -> bool:
    """Log-determinant of the covariance against log-frequency, one panel for each model with densities."""
    from matplotlib.figure import Figure

    if not models:
        return False
    figure = Figure(figsize=(4.5 * len(models), 3.5), layout="constrained")
    for ax, (label, wv) in zip(
        figure.subplots(1, len(models), squeeze=False)[0], models.items(), strict=True
    ):
        logs, generality = np.log(wv.expandos["count"]), wv.generality(wv.index_to_key)
        ax.scatter(logs, generality, s=2, alpha=0.3, linewidths=0, rasterized=True)
        pearson = generality_and_frequency(wv) or 0.0
        ax.set(title=f"{label}, Pearson {pearson:.2f}", xlabel="log frequency", ylabel="log-determinant")
    figure.savefig(path, dpi=120)
    return True


NOTES = {
    "against the others": "Half-widths of 95 % intervals come from drawing the benchmarks' items again; a difference "
    "smaller than that is not evidence. They do not include the noise between training seeds."
}


def write(runs: dict[str, list[Run]], data: str, out: Path, described: dict[str, Any]) -> str:
    """Write tables.md, tables.json, figure5.png and figure6.png; return the Markdown."""
    made = make_tables(runs)
    dense = {label: seeds[0].wv for label, seeds in runs.items() if seeds[0].wv.log_variances is not None}
    figures = [
        (5, "KL of entailing and other pairs", figure_5(dense, data, out / "figure5.png")),
        (6, "Log-determinant of the covariance against log-frequency", figure_6(dense, out / "figure6.png")),
    ]
    parts = ["# The tables of Bražinskas, Havrylov & Titov (2018), made again"]
    parts.append("\n".join(f"- {name}: {value}" for name, value in described.items()))
    for title, rows in made.items():
        parts += [f"## {title}", format_table(rows, markdown=True)]
        parts += [note for ending, note in NOTES.items() if title.endswith(ending)]
    parts += [
        f"## Figure {number}. {text}\n\n![{text}](figure{number}.png)"
        for number, text, done in figures
        if done
    ]
    markdown = "\n\n".join(parts) + "\n"
    (out / "tables.md").write_text(markdown, encoding="utf-8")
    results = {label: [each.results.to_dict() for each in seeds] for label, seeds in runs.items()}
    content = {"settings": described, "tables": made, "results": results}
    plain = json.dumps(content, indent=1, ensure_ascii=False, default=_plain)
    (out / "tables.json").write_text(plain, encoding="utf-8")
    return markdown


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--corpus", required=True, help="text file, one sentence or paragraph per line, perhaps compressed"
    )
    parser.add_argument("--data", required=True, help="directory with word-sim/, lexsub/ and entailment/")
    parser.add_argument(
        "--out", type=Path, default=Path("paper_tables"), help="directory for tables, figures and models"
    )
    parser.add_argument(
        "--models",
        default=",".join(KINDS),
        help=f"some of {','.join(KINDS)}; the first is compared with the others",
    )
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument(
        "--seeds",
        type=int,
        default=1,
        help="train each model from this many seeds and give mean and deviation",
    )
    parser.add_argument("--vector-size", type=int, default=100)
    parser.add_argument("--window", type=int, default=5)
    parser.add_argument(
        "--windows",
        choices=["default", "full", "shrunk"],
        default="default",
        help="window policy for all models",
    )
    parser.add_argument("--min-count", type=int, default=5)
    parser.add_argument(
        "--sample",
        type=float,
        help="threshold for thinning; by default 1e-4 as in the paper, and bsg's own for bsg",
    )
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--resamples", type=int, default=1000, help="of the bootstrap; 0: no intervals")
    parser.add_argument("--retrain", action="store_true", help="train again what is in the cache")
    options = parser.parse_args(argv)
    options.models = [name.strip() for name in options.models.split(",") if name.strip()]
    unknown = [name for name in options.models if name not in KINDS]
    if unknown or not options.models:
        parser.error(f"--models: {', '.join(unknown) or 'none'}; choose from {', '.join(KINDS)}")
    if options.seeds < 1:
        parser.error(f"--seeds {options.seeds}: at least one")
    return options


def thinning(name: str, sample: float | None) -> Settings:
    """Return the threshold for thinning: the one given, or the paper's; BSG has a default of its own."""
    if sample is None:
        return {} if name == "bsg" else {"sample": 1e-4}
    return {"sample": sample}


def main(argv: Sequence[str] | None = None) -> None:
    """Train, evaluate, write."""
    options = arguments(argv)
    cache = options.out / "models"
    cache.mkdir(parents=True, exist_ok=True)
    corpus = plain_corpus(options.corpus, cache)
    names = ("vector_size", "window", "min_count", "epochs", "workers")
    settings: Settings = {name: getattr(options, name) for name in names}
    if options.windows != "default":
        settings["shrink_windows"] = options.windows == "shrunk"
    runs: dict[str, list[Run]] = {}
    for name in options.models:
        for seed in range(1, options.seeds + 1):
            done = run(
                name,
                corpus,
                options.data,
                {**settings, **thinning(name, options.sample), "seed": seed},
                cache,
                Bootstrap(options.resamples),
                options.retrain,
            )
            runs.setdefault(KINDS[name].label, []).append(done)
    described = {
        "corpus": Path(options.corpus).name,
        **settings,
        "sample": options.sample or "1e-4; BSG: its own default",
        "seeds": options.seeds,
        "windows": options.windows,
    }
    print(write(runs, options.data, options.out, described))
    print(f"written to {options.out}")


if __name__ == "__main__":
    main()
