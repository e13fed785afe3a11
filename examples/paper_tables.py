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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from tqdm import tqdm

from densvec.evaluation import Lexicon, Report, evaluate_all
from densvec.evaluation import tables as paper_tables
from densvec.evaluation.entailment import read_entailment

Settings = dict[str, Any]


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


def _load_gensim(path: Path) -> Any:
    with np.load(path) as arrays:
        words = str(arrays["words"]).split("\n")
        return SimpleNamespace(
            key_to_index={word: row for row, word in enumerate(words)},
            vectors=arrays["vectors"],
            context_vectors=arrays["context_vectors"],
            expandos={"count": arrays["counts"]},
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
    """A trained model of one seed: its words, its report, and how long training took, if that is known."""

    lexicon: Lexicon
    report: Report
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
    name: str, corpus: str, data: str, settings: Settings, cache: Path, resamples: int, retrain: bool
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
    return Run(Lexicon(wv), evaluate_all(wv, data, resamples=resamples), seconds)


def make_tables(runs: dict[str, list[Run]]) -> list[paper_tables.PaperTable]:
    """All tables, from the runs of each model (by label, one run for each seed)."""
    reports = {label: [each.report for each in seeds] for label, seeds in runs.items()}
    first = {label: seeds[0].lexicon for label, seeds in runs.items()}
    made = [
        paper_tables.similarity_table(reports),
        paper_tables.substitution_table(reports),
        paper_tables.entailment_table(reports),
        paper_tables.direction_table(reports),
        paper_tables.pairs_table(first),
        *(
            paper_tables.posteriors_table(lexicon)
            for lexicon in first.values()
            if lexicon.encoder is not None
        ),
        paper_tables.generality_table(reports),
    ]
    leader = next(iter(runs))
    if len(runs) > 1:
        made.append(paper_tables.differences_table(reports, leader))
    seconds = [
        {"model": label, "seed": i + 1, "training time, s": each.seconds, "words": len(each.lexicon)}
        for label, seeds in runs.items()
        for i, each in enumerate(seeds)
    ]
    return [table for table in [*made, paper_tables.PaperTable("Training", tuple(seconds))] if table.rows()]


def figure_5(models: dict[str, Lexicon], data: str, path: Path) -> bool:
    """Histograms of KL[w1‖w2] for pairs that entail and others; False if there is nothing to draw."""
    from matplotlib.figure import Figure

    dense = {label: lexicon for label, lexicon in models.items() if lexicon.log_variances is not None}
    files = [
        file
        for file in (Path(data, "entailment", f"{name}.tsv") for name in ("bbds", "bless"))
        if file.exists()
    ]
    if not dense or not files:
        return False
    figure = Figure(figsize=(4.5 * len(dense), 3 * len(files)), layout="constrained")
    axes = figure.subplots(len(files), len(dense), squeeze=False)
    for row, file in zip(axes, files, strict=True):
        pairs = read_entailment(file)
        truth = np.array([answer for _, _, answer in pairs])
        for ax, (label, lexicon) in zip(row, dense.items(), strict=True):
            first, second = lexicon.indices(a for a, _, _ in pairs), lexicon.indices(b for _, b, _ in pairs)
            known = (first >= 0) & (second >= 0)
            kl, answers = lexicon.kl(first[known], second[known]), truth[known]
            bins = np.linspace(0, np.quantile(kl, 0.99) if len(kl) else 1, 50)
            ax.hist(kl[~answers], bins, density=True, alpha=0.6, label="not entailing")
            ax.hist(kl[answers], bins, density=True, alpha=0.6, label="entailing")
            ax.set(title=f"{label}, {file.stem.upper()}", xlabel="KL[w1‖w2]", ylabel="density")
            ax.legend()
    figure.savefig(path, dpi=120)
    return True


def figure_6(runs: dict[str, list[Run]], path: Path) -> bool:
    """Log-determinant of the covariance against log-frequency, one panel for each model with densities."""
    from matplotlib.figure import Figure

    dense = {label: seeds[0] for label, seeds in runs.items() if seeds[0].report.generality is not None}
    if not dense:
        return False
    figure = Figure(figsize=(4.5 * len(dense), 3.5), layout="constrained")
    for ax, (label, each) in zip(
        figure.subplots(1, len(dense), squeeze=False)[0], dense.items(), strict=True
    ):
        counts, generality = each.lexicon.counts(), each.lexicon.generality()
        ax.scatter(np.log(counts), generality, s=2, alpha=0.3, linewidths=0, rasterized=True)
        pearson = each.report.generality.pearson.value
        ax.set(title=f"{label}, Pearson {pearson:.2f}", xlabel="log frequency", ylabel="log-determinant")
    figure.savefig(path, dpi=120)
    return True


def write(runs: dict[str, list[Run]], data: str, out: Path, described: dict[str, Any]) -> str:
    """Write tables.md, tables.json, figure5.png and figure6.png; return the Markdown."""
    made = make_tables(runs)
    figures = [
        (
            5,
            "KL of entailing and other pairs",
            figure_5({m: s[0].lexicon for m, s in runs.items()}, data, out / "figure5.png"),
        ),
        (6, "Log-determinant of the covariance against log-frequency", figure_6(runs, out / "figure6.png")),
    ]
    settings = "\n".join(f"- {name}: {value}" for name, value in described.items())
    drawn = [
        f"## Figure {number}. {text}\n\n![{text}](figure{number}.png)"
        for number, text, done in figures
        if done
    ]
    head = "# The tables of Bražinskas, Havrylov & Titov (2018), made again\n\n" + settings
    markdown = "\n\n".join([head, *(table.to_markdown() for table in made), *drawn]) + "\n"
    (out / "tables.md").write_text(markdown, encoding="utf-8")
    reports = {label: [each.report.to_dict() for each in seeds] for label, seeds in runs.items()}
    content = {"settings": described, "tables": [table.to_dict() for table in made], "reports": reports}
    (out / "tables.json").write_text(json.dumps(content, indent=1, ensure_ascii=False), encoding="utf-8")
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
                options.resamples,
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
