#!/usr/bin/env python
"""Make the models that densvec.load("english") and densvec.load("english-md") open, and their card.

    python examples/english_text.py wikipedia.txt gutenberg.txt:0.05 -o text.txt
    python examples/train_english.py text.txt --data data/eval --epochs 4 --min-count 10

Train on all words of a text that examples/english_text.py made; keep the most useful ones in the large and the small
model; measure; write the card; store the tables as 8-bit rows. Options that are not listed below are those of `densvec
train`. The full model is kept (--model), and saved after every epoch: started again, the script goes on where it
stopped. Without --data the card has no figures.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import hashlib
import os
import re
import shlex
import sys
from pathlib import Path

import bias
import numpy as np

from densvec import BayesianSkipGram, KeyedDensities, __version__
from densvec.cli import main as densvec
from densvec.evaluation import Bootstrap, Results, evaluate_all
from densvec.questions.kinds import Kinds
from densvec.text.text_reading import TextReading

PACKAGE = Path(__file__).resolve().parents[1]
READING = TextReading("simple", lower=True)  # how examples/english_text.py finds words
WATTS = 30  # what two busy cores are taken to need

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
    ("stsb_dev", "Pearson", "wv.text_similarities"): "similarity of sentences (STS-B), Pearson's correlation",
    ("stsb_dev", "Pearson", "SIF"): "the same by smooth inverse frequency",
    ("bbds", "F1", "wv.hypernymy"): "entailment (BBDS), best F1",
    ("bless", "F1", "wv.hypernymy"): "entailment (BLESS), best F1",
    ("bbds_direction", "accuracy", "wv.direction"): "direction of entailment (BBDS)",
    ("bbds_direction", "accuracy", "frequency"): "the same by frequency",
    ("bless_direction", "accuracy", "wv.direction"): "direction of entailment (BLESS)",
    ("bless_direction", "accuracy", "frequency"): "the same by frequency",
    ("hyperlex", "rho", "wv.hypernymy"): "graded entailment (HyperLex), rank correlation",
}

#: Figures of other vectors as published, for all pairs of each set: name, words of text, and Spearman's rho.
PUBLISHED = """\
| GloVe, 300 dimensions (Pennington et al. 2014, table 3) | 6,000 | .658 | .778 | .727 | .381 | – | – |
| GloVe, 300 dimensions (the same table) | 42,000 | .759 | .829 | .836 | .478 | – | – |
| word2vec, CBOW, 300 dimensions (the same table) | 100,000 | .684 | .754 | .796 | .455 | – | – |
| word2vec, skip-gram, 300 dimensions (the same table) | 6,000 | .628 | .697 | .652 | .372 | – | – |
| fastText, 300 dimensions (Bojanowski et al. 2017, table 1: Wikipedia of 2017) | – | .71 | – | – | .47 | – | – |
| Bayesian Skip-gram, 100 dimensions (Bražinskas et al. 2018, table 1) | 3,000 | .72 | .70 | .71 | .43 | .35 | .73 |"""

#: What `python -m benchmarks.equal_text` printed for the first 260 MB of the text.
EQUAL = """\
Trained on the same 42 million words of this text, 4 epochs, 100 dimensions, one run each
(`python -m benchmarks.equal_text TEXT DATA`): what densvec answers itself, and the simplest answer from the vectors of
each.

| | densvec | its means | gensim's Word2Vec | gensim's FastText |
|---|---|---|---|---|
| word similarity, sum of the 12 rank correlations | – | **7.157** | 6.809 | 6.887 |
| of these, the five largest sets | – | **2.655** | 2.572 | 2.585 |
| neighbours, mean reciprocal rank of a partner: KL, cosine | **.075** | .056 | .066 | .039 |
| word in context (WiC), accuracy: average of the context | .578 | .566 | **.609** | .570 |
| similarity in context (SCWS, half): word + average | .677 | .677 | **.683** | .654 |
| substitutes among all words, first answer right (SemEval-2007): cosine | **.127** | .059 | .110 | .035 |
| the same (CoInCo, half) | **.174** | .064 | .115 | .049 |
| substitutes among given candidates, GAP: cosine | **.427** | .396 | .397 | .395 |
| hypernyms, MAP: cosine and frequency | **.040** | .028 | .028 | .028 |
| new words from a definition, mean reciprocal rank: average | **.037** | .026 | .008 | .022 |
| similarity of sentences (STS-B), Pearson: smooth inverse frequency | .695 | **.701** | .682 | .678 |"""

#: Sets of the first table.
SETS = ("WS-353-ALL", "RG-65", "MC-30", "RW-STANFORD", "SIMLEX-999", "MEN-TR-3k")

#: Words with 's that are more than a word and its ending.
CONTRACTIONS = frozenset(
    ["it's", "that's", "he's", "she's", "what's", "let's", "there's", "who's", "here's", "one's"]
)
PLAIN = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*(?:_[^\W\d_]+)?")


def train(corpus: str, model: str, options: list[str]) -> BayesianSkipGram:
    """Train, or go on with training, and return the full model."""
    if densvec(["train", corpus, "-o", model, "--resume", *options]):
        sys.exit(1)
    return BayesianSkipGram.load(model, mmap="r")


def name_share(corpus: str) -> dict[str, float]:
    """Return for each word how often it is written with a capital, as the text's list of words has it."""
    shares = {}
    path = Path(corpus + ".words")
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            word, count, capitals = line.split("\t")
            shares[word] = int(capitals) / int(count)
    return shares


def useful(wv: KeyedDensities, shares: dict[str, float], words: int) -> list[str]:
    """Return the most frequent words, where a name counts for a quarter, without debris.

    Debris is what has digits, a single letter, and a word with 's, which a text has for every noun. A word that is too
    rare to say how it is written counts as a name.
    """

    def is_name(word: str) -> bool:
        return bool(shares) and all(shares.get(part, 1.0) > 0.7 for part in word.split("_"))

    def is_debris(word: str) -> bool:
        if not PLAIN.fullmatch(word) or (len(word) == 1 and word not in ("a", "i")):
            return True
        return word.endswith("'s") and word not in CONTRACTIONS

    counts = wv.expandos["count"]
    weights = {
        word: float(counts[i]) * (0.25 if is_name(word) else 1.0)
        for i, word in enumerate(wv.index_to_key)
        if not is_debris(word)
    }
    return sorted(weights, key=lambda word: -weights[word])[:words]


def reduced(wv: KeyedDensities, size: int) -> KeyedDensities:
    """Give the encoder embeddings of fewer numbers: the principal components of what they are multiplied to.

    A rotation spreads what they say evenly over the numbers, since all of them are stored in eight bits.
    """
    encoder = wv.encoder
    if encoder.embeddings.shape[1] <= size:
        return wv
    hidden = encoder.context_layer.shape[1]
    layers = np.concatenate([encoder.context_layer, encoder.centre_layer], axis=1)
    products = np.asarray(encoder.embeddings) @ layers
    weights = np.sqrt(wv.expandos["count"] / wv.expandos["count"].sum())
    components = np.linalg.svd(products * weights[:, None], full_matrices=False)[2][:size]
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(size, size)))[0]
    axes = (rotation @ components).astype(np.float32)
    wv.encoder = dataclasses.replace(
        encoder,
        embeddings=products @ axes.T,
        context_layer=axes[:, :hidden].copy(),
        centre_layer=axes[:, hidden:].copy(),
    )
    return wv


def shortened(wv: KeyedDensities, columns: int) -> KeyedDensities:
    """Leave out what a small file can do without: less of what stands beside words, and rare statements of kinds.

    What the text says once is kept of words of which it says nothing twice.
    """
    kinds = wv.kinds
    twice = kinds.counts >= 2
    kept = twice | ~np.isin(kinds.specific, kinds.specific[twice])
    wv.kinds = Kinds.of(kinds.specific[kept], kinds.general[kept], kinds.counts[kept])
    axes, codes = wv.beside.axes[:, :columns], np.ascontiguousarray(wv.beside.codes[:, :columns])
    wv.beside = dataclasses.replace(wv.beside, axes=axes, codes=codes)
    return wv


def measure(path: str, data: str, resamples: int) -> Results:
    """Run all benchmarks."""
    return evaluate_all(KeyedDensities.load(path), data, bootstrap=Bootstrap(resamples))


def table(results: dict[str, Results]) -> str:
    """Return the figures in Markdown, a column for each model."""
    columns = [
        {(each.benchmark, each.measure, each.method): each.value for each in found}
        for found in results.values()
    ]
    lines = ["| `densvec evaluate` | " + " | ".join(results) + " |", "|---" * (1 + len(results)) + "|"]
    for key, text in FIGURES.items():
        if key in columns[0]:
            lines.append(f"| {text} | " + " | ".join(f"{each[key]:.3f}" for each in columns) + " |")
    for name, found in results.items():
        similar = [each for each in found if each.task == "word similarity" and each.items]
        if similar:
            known, pairs = sum(each.known for each in similar), sum(each.items for each in similar)
            lines.append(
                f"\n`{name}` has both words of {known:,} of the {pairs:,} pairs of word similarity;"
                " others are left out."
            )
    return "\n".join(lines)


def beside(results: dict[str, Results], millions: float) -> str:
    """Return word similarity beside published figures."""
    head = "| ρ | million words of text | WS-353 | RG-65 | MC-30 | RW | SimLex | MEN |\n" + "|---" * 8 + "|"
    own = []
    for name, found in results.items():
        rho = {each.benchmark: each for each in found if each.task == "word similarity"}
        cells = [f"{float(rho[each].value):.3f} ({rho[each].known})" if each in rho else "–" for each in SETS]
        own.append(f"| **{name}** (pairs known) | {millions:,.0f} | " + " | ".join(cells) + " |")
    return "\n".join([head, *own, PUBLISHED, "", EQUAL])


def sha256(path: str) -> str:
    """Return the SHA-256 of a file."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def card(model: BayesianSkipGram, wv: KeyedDensities, args: argparse.Namespace, parts: list[str]) -> str:
    """Return the model card."""
    names = ("vector_size", "window", "min_count", "sample", "negative", "ns_exponent", "alpha", "seed")
    settings = ", ".join(f"{name} {getattr(model, name)}" for name in names)
    covered = wv.expandos["count"].sum() / model.corpus_total_words
    seconds = model.total_train_time
    command = shlex.join(["python", "examples/train_english.py", "TEXT", *args.options])
    phrases = sum("_" in word for word in wv.index_to_key)
    sections = "\n\n".join(parts)
    return f"""\
# {args.title}

{len(wv):,} words, {phrases:,} of them phrases such as *new_york*, as Gaussian densities in {wv.vector_size} dimensions
with {wv.covariance} variances, and the encoder that infers what a word means in its context.

- **Model:** Bayesian Skip-gram (Bražinskas, Havrylov & Titov 2018), trained by densvec {__version__}.
- **Text:** {args.text}: {model.corpus_total_words:,} words in sentences,
  SHA-256 `{sha256(args.corpus)}`.
- **Words:** as `--tokenize simple` finds them, in lower case, without numbers; phrases in every other sentence.
  Training knew {len(model.wv):,}; kept are the most frequent, where names count for a quarter, without possessives.
  They cover {covered:.1%} of the text.
- **Date:** {datetime.date.today().isoformat()}.
- **Settings:** epochs {model.epochs_trained}, {settings}; all else by default. Tables are stored as {args.dtype}.
- **Time:** {seconds / 60:.0f} minutes of two cores of a shared machine, about {seconds / 3600 * WATTS:.0f} Wh
  (at {WATTS} W).
- **Licence:** {args.licence}. densvec itself is under the MIT licence.
- **Made by:** `examples/english_text.py`, then `{command}`

{sections}

## What it is not good for

- Names and facts: it knows how words are used in its text, not what is true.
- Words beyond these; numbers, punctuation and capitals, which it was not given.
- Spoken, old or specialist language: train on your own text instead (`densvec train`).
- Decisions about people, or anything where fairness matters: see the associations above.
- The best possible meaning in context: a transformer gives that, at many times the size.
"""


def main() -> None:
    """Train, cut, measure, describe, store."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", help="the text, which examples/english_text.py made")
    parser.add_argument(
        "--model", default="english-full.dv", help="where the full model is kept (default: %(default)s)"
    )
    parser.add_argument(
        "-o",
        "--output",
        default=str(PACKAGE / "densvec" / "pretrained" / "english.dv"),
        help="the small model",
    )
    parser.add_argument("--large", default="english-md.dv", help="the large model (default: %(default)s)")
    parser.add_argument(
        "--card", default=str(PACKAGE / "docs" / "english.md"), help="where the card is also written"
    )
    parser.add_argument(
        "--words", type=int, default=50_000, help="words of the small model (default: %(default)s)"
    )
    parser.add_argument(
        "--large-words", type=int, default=200_000, help="words of the large model (default: %(default)s)"
    )
    parser.add_argument(
        "--dtype", default="int8", choices=["int8", "float16", "float32"], help="default: %(default)s"
    )
    parser.add_argument("--data", help="the benchmarks, as `densvec evaluate` takes them")
    parser.add_argument("--resamples", type=int, default=200, help="of the bootstrap (default: %(default)s)")
    parser.add_argument("--title", default="English", help="the first line of the card")
    parser.add_argument("--text", default="English Wikipedia", help="what the card says about the text")
    parser.add_argument(
        "--licence", default="CC BY-SA 4.0, as that of the text", help="what the card says about the licence"
    )
    args, args.options = parser.parse_known_args()
    model = train(args.corpus, args.model, args.options)
    shares = name_share(args.corpus)
    small, large = (model.wv.restrict(useful(model.wv, shares, n)) for n in (args.words, args.large_words))
    for wv in (small, large):
        wv.lifecycle_events = []  # they name paths of this machine
        wv.text_reading = READING
    small, large = shortened(reduced(small, 48), columns=24), reduced(large, 64)
    small.save(args.output, dtype=args.dtype)
    large.card = card(model, large, args, [])
    large.save(args.large, dtype=args.dtype)
    parts = [larger(args.large, large)]
    if args.data is not None:
        names = {Path(path).stem: path for path in (args.output, args.large)}
        found = {
            name: measure(path, args.data, 0 if path == args.large else args.resamples)
            for name, path in names.items()
        }
        for name, results in found.items():
            print(f"\n{name}\n{results}")
        parts.append("## Figures\n\nWith 95 % intervals over the items of each set.\n\n" + table(found))
        parts.append(OTHERS + beside(found, model.corpus_total_words / 1e6))
        parts.append(BIASES + bias.table(small))
    small.card = card(model, small, args, parts)
    small.save(args.output, dtype=args.dtype)
    Path(args.card).write_text(small.card, encoding="utf-8")
    print(f"{args.output}: {len(small):,} words, {os.path.getsize(args.output):,} bytes; card: {args.card}")
    print(
        f"{args.large}: {len(large):,} words, {os.path.getsize(args.large):,} bytes, sha256 {sha256(args.large)}"
    )


def larger(path: str, wv: KeyedDensities) -> str:
    """Return what the card says about the larger model, which a release uploads."""
    name = Path(path).stem
    return f"""\
## The larger model

`densvec.load("{name}")` has {len(wv):,} words and phrases of the same training. It is no part of the package: it is
downloaded once, checked, and found offline afterwards. DENSVEC_MODELS names a folder or a server to take it from
instead; without a network, put it into `~/.cache/densvec`.

| a release uploads | bytes | SHA-256 |
|---|---|---|
| `{name}.dv` | {os.path.getsize(path):,} | `{sha256(path)}` |

`densvec/pretrained/download.py` has the same size and hash, and the address."""


OTHERS = """\
## Beside other vectors

As published, over all pairs of each set: other words, other text and 300 dimensions, so that only large differences
say something.

"""
BIASES = """\
## Associations with groups of people

`python examples/bias.py english`: effects between -2 and 2, as in WEAT. A model of text has the stereotypes of its
text, these and others.

"""


if __name__ == "__main__":
    main()
