#!/usr/bin/env python
"""Make a small model for shipping from a large text, as the one that densvec.load("english") opens was made.

Train on all words, keep the most frequent ones, measure, write the card, and store the tables as 8-bit rows.

    python examples/train_english.py wiki.txt --data data/eval --epochs 10 --vector-size 100 --workers 4

Options that are not listed below are those of `densvec train`. The full model is kept (--model), and saved after every
epoch: started again, the script goes on where it stopped. Without --data the card has no figures.
"""

from __future__ import annotations

import argparse
import datetime
import os
import shlex
import sys
import tempfile
from pathlib import Path

from densvec import BayesianSkipGram, KeyedDensities, __version__
from densvec.cli import main as densvec
from densvec.evaluation import evaluate_all

PACKAGE = Path(__file__).resolve().parents[1]
WIKIPEDIA = "English Wikipedia (lower-cased, `[a-z0-9]+('[a-z]+)?`, one paragraph on each line)"

# What the card states of `densvec evaluate`, and what it is called there.
FIGURES = {
    "SUM": "word similarity, sum of the 12 rank correlations",
    "BIG5": "of these, the five largest sets",
    "GAP lst_all encoder": "lexical substitution (SemEval-2007), GAP",
    "GAP lst_all out_of_context": "the same without context",
    "rho in context scws_dev encoder cosine": "similarity in context (SCWS, development half), rank correlation",
    "rho in context scws_dev out_of_context cosine": "the same without context",
    "F1 bbds hypernymy": "entailment (BBDS), best F1",
    "F1 bless hypernymy": "entailment (BLESS), best F1",
    "direction bbds kl": "direction of entailment (BBDS)",
    "direction bbds frequency": "the same by frequency",
    "direction bless kl": "direction of entailment (BLESS)",
    "direction bless frequency": "the same by frequency",
    "rho hyperlex hypernymy": "graded entailment (HyperLex), rank correlation",
}


def train(corpus: str, model: str, options: list[str]) -> BayesianSkipGram:
    """Train, or go on with training, and return the full model."""
    if densvec(["train", corpus, "-o", model, "--resume", *options]):
        sys.exit(1)
    return BayesianSkipGram.load(model, mmap="r")


def table(small: str, large: str, data: str) -> str:
    """Return the figures in Markdown: of the small file, and of the same words in float32."""
    reports = [evaluate_all(KeyedDensities.load(path), data, resamples=0) for path in (small, large)]
    own, full = ({name: float(value) for name, value in report.figures().items()} for report in reports)
    measured = {name: text for name, text in FIGURES.items() if name in own}
    lines = ["| `densvec evaluate` | as packaged | the same words in float32 |", "|---|---|---|"]
    lines += [f"| {text} | {own[name]:.3f} | {full[name]:.3f} |" for name, text in measured.items()]
    if measured:
        worst, where = max((abs(own[name] - full[name]), text) for name, text in measured.items())
        lines += ["", f"The two columns differ by {worst:.4f} at most ({where})."]
    if reports[0].similarity is not None:
        known, pairs = (
            sum(getattr(each, n) for each in reports[0].similarity.benchmarks) for n in ("known", "pairs")
        )
        lines[-1] += (
            f"\nOf the {pairs:,} pairs of word similarity, {known:,} have both words here; others are left out."
        )
    return "\n".join(lines)


def card(model: BayesianSkipGram, wv: KeyedDensities, args: argparse.Namespace, figures: str) -> str:
    """Return the model card."""
    names = ("vector_size", "window", "min_count", "sample", "negative", "alpha", "seed")
    settings = ", ".join(f"{name} {getattr(model, name):g}" for name in names)
    covered = wv.expandos["count"].sum() / model.corpus_total_words
    return f"""\
# {args.title}

{len(wv):,} words as Gaussian densities in {wv.vector_size} dimensions with {wv.covariance} variances, and the encoder
that infers what a word means in its context. `densvec.load("{Path(args.output).stem}")` opens it.

- **Model:** Bayesian Skip-gram (Bražinskas, Havrylov & Titov 2018), trained by densvec {__version__}.
- **Text:** {args.text}: {model.corpus_total_words:,} words. The {len(wv):,} words kept are its most
  frequent ones and cover {covered:.1%} of it; training knew {len(model.wv):,}.
- **Date:** {datetime.date.today().isoformat()}.
- **Settings:** epochs {model.epochs_trained}, {settings}; all else by default. Tables are stored as {args.dtype}.
- **Licence:** {args.licence}. densvec itself is under the MIT licence.
- **Made by:** `{shlex.join(["python", "examples/train_english.py", "CORPUS", *args.options])}`

## Figures

{figures}

## What it is not good for

- Names and facts: it knows how words are used in its text, not what is true.
- Words beyond these {len(wv):,}; punctuation and capitals, which the text did not have. Lower-case what you ask.
- Other kinds of language, spoken or specialist: train on your own text instead (`densvec train`).
- Anything where fairness matters: it has learnt the associations of its text, stereotypes included.
- The best possible meaning in context: a transformer gives that, at many times the size.
"""


def main() -> None:
    """Train, cut, measure, describe, store."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", help="the text, tokenised, one sentence or paragraph per line")
    parser.add_argument(
        "--model", default="english-full.dv", help="where the full model is kept (default: %(default)s)"
    )
    parser.add_argument(
        "-o",
        "--output",
        default=str(PACKAGE / "densvec" / "pretrained" / "english.dv"),
        help="the small model",
    )
    parser.add_argument(
        "--card", default=str(PACKAGE / "docs" / "english.md"), help="where the card is also written"
    )
    parser.add_argument("--words", type=int, default=30_000, help="words to keep (default: %(default)s)")
    parser.add_argument(
        "--dtype", default="int8", choices=["int8", "float16", "float32"], help="default: %(default)s"
    )
    parser.add_argument("--data", help="the benchmarks, as `densvec evaluate --data` takes them")
    parser.add_argument("--title", default="English, small", help="the first line of the card")
    parser.add_argument("--text", default=WIKIPEDIA, help="what the card says about the text")
    parser.add_argument(
        "--licence", default="CC BY-SA 4.0, as that of the text", help="what the card says about the licence"
    )
    args, args.options = parser.parse_known_args()
    model = train(args.corpus, args.model, args.options)
    wv = model.wv.restrict(args.words)
    figures = "Not measured."
    if args.data is not None:
        with tempfile.TemporaryDirectory() as folder:
            small, large = (os.path.join(folder, name) for name in ("small.dv", "large.dv"))
            wv.save(small, dtype=args.dtype)
            wv.save(large, dtype="float32")
            figures = table(small, large, args.data)
    wv.lifecycle_events = []  # they name paths of this machine
    wv.card = card(model, wv, args, figures)
    wv.save(args.output, dtype=args.dtype)
    Path(args.card).write_text(wv.card, encoding="utf-8")
    print(
        f"{args.output}: {len(wv):,} words, {os.path.getsize(args.output):,} bytes; its card is in {args.card}"
    )


if __name__ == "__main__":
    main()
