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
from densvec.evaluation import Bootstrap, evaluate_all

PACKAGE = Path(__file__).resolve().parents[1]
WIKIPEDIA = "English Wikipedia (lower-cased, `[a-z0-9]+('[a-z]+)?`, one paragraph on each line)"

# What the card states of `densvec evaluate`: benchmark, measure and method, and what they are called there.
FIGURES = {
    ("word-sim", "MRR", "cosine"): "neighbours by cosine, mean reciprocal rank of a partner among all words",
    ("word-sim", "MRR", "kl"): "the same by KL",
    ("SUM", "", "cosine"): "word similarity, sum of the 12 rank correlations",
    ("BIG5", "", "cosine"): "of these, the five largest sets",
    ("wic_train", "accuracy", "wv.similarity_in_context"): "word in context (WiC), accuracy",
    ("wic_train", "accuracy", "average"): "the same by the average of the context",
    ("scws_dev", "rho", "wv.similarity_in_context"): "similarity in context (SCWS, half), rank correlation",
    ("scws_dev", "rho", "word"): "the same without context",
    ("lst_all", "P@1", "wv.substitutes"): "substitutes among all words (SemEval-2007), first answer right",
    ("lst_all", "P@1", "cosine"): "the same by cosine without context",
    ("lst_all", "GAP", "wv.substitutes"): "the same among given candidates, GAP",
    ("lst_all", "GAP", "cosine"): "the same by cosine without context",
    ("semeval2018_1A_training", "MAP", "wv.hypernyms"): "hypernyms among all words (SemEval-2018), MAP",
    ("semeval2018_1A_training", "MAP", "cosine + .05 log f"): "the same by cosine and frequency",
    ("nonce", "MRR", "wv.learn"): "new words from a definition, mean reciprocal rank",
    ("nonce", "MRR", "average"): "the same by the average of the definition",
    ("stsb_dev", "Pearson", "wv.text_similarity"): "similarity of sentences (STS-B), Pearson's correlation",
    ("stsb_dev", "Pearson", "SIF"): "the same by smooth inverse frequency",
    ("bbds", "F1", "wv.hypernymy"): "entailment (BBDS), best F1",
    ("bless", "F1", "wv.hypernymy"): "entailment (BLESS), best F1",
    ("bbds_direction", "accuracy", "wv.direction"): "direction of entailment (BBDS)",
    ("bbds_direction", "accuracy", "frequency"): "the same by frequency",
    ("bless_direction", "accuracy", "wv.direction"): "direction of entailment (BLESS)",
    ("bless_direction", "accuracy", "frequency"): "the same by frequency",
    ("hyperlex", "rho", "wv.hypernymy"): "graded entailment (HyperLex), rank correlation",
}


def train(corpus: str, model: str, options: list[str]) -> BayesianSkipGram:
    """Train, or go on with training, and return the full model."""
    if densvec(["train", corpus, "-o", model, "--resume", *options]):
        sys.exit(1)
    return BayesianSkipGram.load(model, mmap="r")


def table(small: str, large: str, data: str) -> str:
    """Return the figures in Markdown: of the small file, and of the same words in float32."""
    both = [evaluate_all(KeyedDensities.load(path), data, bootstrap=Bootstrap(0)) for path in (small, large)]
    own, full = (
        {(each.benchmark, each.measure, each.method): float(each.value) for each in results}
        for results in both
    )
    measured = {key: text for key, text in FIGURES.items() if key in own}
    lines = ["| `densvec evaluate` | as packaged | the same words in float32 |", "|---|---|---|"]
    lines += [f"| {text} | {own[key]:.3f} | {full[key]:.3f} |" for key, text in measured.items()]
    if measured:
        worst, where = max((abs(own[key] - full[key]), text) for key, text in measured.items())
        lines += ["", f"The two columns differ by {worst:.4f} at most ({where})."]
    similar = [each for each in both[0] if each.task == "word similarity" and each.items]
    if similar:
        known, pairs = sum(each.known for each in similar), sum(each.items for each in similar)
        lines.append(
            f"Of the {pairs:,} pairs of word similarity, {known:,} have both words here; others are left out."
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
    parser.add_argument("--data", help="the benchmarks, as `densvec evaluate` takes them")
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
