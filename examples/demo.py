#!/usr/bin/env python
"""Words as densities in a minute: train, look at a word in two contexts, order words by generality, draw.

    python examples/demo.py                 on a small generated language, in which a kiwi is a bird and a fruit
    python examples/demo.py corpus.txt      on your own text, one sentence per line

`make demo` and `make demo CORPUS=corpus.txt` do the same, and install what is needed. Pictures go to demo/.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from densvec import BayesianSkipGram, Gaussian, KeyedDensities
from densvec.corpora import LineSentence
from densvec.datasets import toy_language

# The generated language has few and short sentences: so words are thinned less than in real text, rates are higher.
TOY_SETTINGS = {"vector_size": 20, "sample": 0.01, "alpha": 0.05, "epochs": 20}


def main(arguments: Sequence[str] | None = None) -> None:
    """Show the generated language, or the user's own text."""
    parser = argparse.ArgumentParser(description="Train on text and show its words as densities.")
    parser.add_argument(
        "corpus", nargs="?", help="text, one sentence per line; by default a generated language"
    )
    parser.add_argument(
        "--sentences", type=int, default=20_000, help="sentences to generate (default: 20000)"
    )
    parser.add_argument("--out", type=Path, default=Path("demo"), help="where pictures go (default: demo)")
    args = parser.parse_args(arguments)
    args.out.mkdir(parents=True, exist_ok=True)
    if args.corpus:
        show_own_text(args.corpus, args.out)
    else:
        show_toy_language(args.sentences, args.out)


def show_toy_language(sentences: int, out: Path) -> None:
    """Train on the generated language and show what it is known to contain."""
    corpus = toy_language(sentences)
    heading(f"Training on {sentences:,} generated sentences")
    print("such as:", "; ".join(" ".join(sentence) for sentence in itertools.islice(corpus, 3)))
    wv = train(BayesianSkipGram(**TOY_SETTINGS, workers=1), corpus=corpus).wv

    fruit, bird = (
        next(o for o in corpus.occurrences("kiwi", 50) if o.sense == sense and len(o.sentence) > 7)
        for sense in ("fruit", "bird")
    )
    show_contexts(wv, "kiwi", [(o.sentence, o.position) for o in (fruit, bird)], names_of_things(corpus))
    show_hypernyms(wv, corpus)
    draw(wv, "kiwi", [(o.sentence, o.position) for o in (fruit, bird)], out / "kiwi.png")


def names_of_things(corpus: object) -> list[str]:
    """Return the names of things, which can stand for each other: verbs and adjectives cannot."""
    return list(dict.fromkeys(itertools.chain.from_iterable(corpus.hypernyms)))


def show_hypernyms(wv: KeyedDensities, corpus: object) -> None:
    """Print chains of ever more general words with their variances, and how many pairs are in order."""
    heading("General words have wide densities")
    pairs = [(a, b) for a, b in corpus.hypernyms if a in wv and b in wv]
    above = defaultdict(set)
    for word, more_general in pairs:
        above[word].add(more_general)
    chains = [(a, b, c) for a, b in pairs for c in above[b] if c in above[a]]
    for chain in {c[2]: c for c in reversed(chains)}.values():
        print("  " + "  <  ".join(f"{word} {float(wv.get_variance(word).mean()):.2f}" for word in chain))
    right = np.mean([wv.generality(a) < wv.generality(b) for a, b in pairs])
    print(f"variance puts {right:.0%} of the language's {len(pairs)} pairs of hyponym and hypernym in order")


def show_own_text(path: str, out: Path) -> None:
    """Train on a file and show words of it whose meaning depends most on the context."""
    heading(f"Training on {path}")
    model = BayesianSkipGram(vector_size=100)
    wv = train(model, corpus_file=path).wv
    words = frequent_words(wv)
    heading("The widest and the narrowest of the frequent words")
    order = sorted(words, key=wv.generality)
    print("  wide:  ", ", ".join(order[:-11:-1]))
    print("  narrow:", ", ".join(order[:10]))
    chosen = most_spread(wv, words, occurrences(path, wv, set(words)))
    for i, (word, pair) in enumerate(chosen):
        show_contexts(wv, word, pair)
        if i == 0:
            draw(wv, word, pair, out / f"{word}.png" if word.isalnum() else out / "word.png")


def train(
    model: BayesianSkipGram, corpus: Iterable[list[str]] | None = None, corpus_file: str | None = None
) -> BayesianSkipGram:
    """Train with a progress bar and say how it went."""
    started = time.perf_counter()
    model.build_vocab(corpus, corpus_file)
    if corpus_file and model.corpus_total_words < 5_000_000:
        # Little text: read it more often, and thin its frequent words less.
        model.epochs = min(30, max(5, 5_000_000 // max(model.corpus_total_words, 1)))
        model.sample = 1e-3
    model.train()
    loss = model.loss_history[-1]
    print(
        f"{model.corpus_total_words:,} words, {len(model.wv):,} of them distinct and frequent enough; "
        f"{model.epochs} epochs in {time.perf_counter() - started:.1f} s, loss {loss.loss:.2f}"
    )
    return model


def frequent_words(wv: KeyedDensities, most: int = 1500) -> list[str]:
    """Return frequent words, without the most frequent, which carry grammar, and without numbers and signs."""
    skip = min(100, len(wv) // 20)
    return [word for word in wv.index_to_key[skip : skip + most] if word.isalpha() and len(word) > 2]


Occurrence = tuple[list[str], int]


def occurrences(
    path: str, wv: KeyedDensities, words: set[str], per_word: int = 40
) -> dict[str, list[Occurrence]]:
    """Return sentences of the corpus with each word, up to a number, that give it some context."""
    found: dict[str, list[Occurrence]] = defaultdict(list)
    for sentence in LineSentence(path, limit=200_000):
        if sum(token in wv for token in sentence) < 6:
            continue
        for position, token in enumerate(sentence):
            if token in words and len(found[token]) < per_word:
                found[token].append((sentence, position))
    return {word: places for word, places in found.items() if len(places) >= 4}


def most_spread(
    wv: KeyedDensities, words: Sequence[str], found: dict[str, list[Occurrence]], n: int = 3
) -> list[tuple[str, list[Occurrence]]]:
    """Return the words whose posteriors differ most, each with the two occurrences that differ most."""
    scored = []
    for word in words:
        places = found.get(word, [])
        if not places:
            continue
        posteriors = wv.infer_posteriors([(word, sentence, position) for sentence, position in places])
        apart = posteriors[:, None].jeffreys(posteriors[None, :])  # (occurrences, occurrences)
        first, second = np.unravel_index(np.argmax(apart), apart.shape)
        scored.append((float(np.median(apart)), word, [places[first], places[second]]))
    return [(word, pair) for _, word, pair in sorted(scored, reverse=True)[:n]]


def show_contexts(
    wv: KeyedDensities, word: str, places: Sequence[Occurrence], candidates: Iterable[str] | None = None
) -> None:
    """Print a word out of context and in contexts: entropy, nearest words, substitutes."""
    heading(f'"{word}" out of context and in {len(places)} contexts')
    columns = [("(no context)", wv.density(word))]
    for sentence, position in places:
        columns.append((excerpt(sentence, position, wv.window), wv.infer(sentence, word, position)))
    for text, density in columns:
        substitutes = ranked(wv, word, density, candidates)
        print(f"  {text}")
        print(f"      entropy      {float(density.entropy()):.1f} nats")
        print(f"      nearest      {', '.join(ranked(wv, word, density, None))}")
        if candidates is not None:
            print(f"      substitutes  {', '.join(substitutes)}")


def ranked(
    wv: KeyedDensities, word: str, density: Gaussian, candidates: Iterable[str] | None, topn: int = 6
) -> list[str]:
    """Return the words whose priors are nearest to a density, by KL."""
    allowed = None if candidates is None else set(candidates)
    found = wv.most_similar(density, metric="kl", topn=None if allowed else topn + 1)
    if allowed is not None:
        order = np.argsort(-found, kind="stable")
        return [key for i in order if (key := wv.index_to_key[i]) in allowed and key != word][:topn]
    return [key for key, _ in found if key != word][:topn]


def excerpt(sentence: Sequence[str], position: int, window: int) -> str:
    """Return the part of a sentence around a word, which is marked."""
    start, stop = max(0, position - window), position + window + 1
    words = [f"[{token}]" if i == position else token for i, token in enumerate(sentence)]
    return " ".join(["…"] * (start > 0) + words[start:stop] + ["…"] * (stop < len(sentence)))


def draw(wv: KeyedDensities, word: str, places: Sequence[Occurrence], path: Path) -> None:
    """Draw the word's prior and posteriors."""
    try:
        import matplotlib
    except ImportError:
        print('no picture: it needs matplotlib, pip install "densvec[plot]"', file=sys.stderr)
        return
    matplotlib.use("agg")
    from densvec.plot import plot_contexts

    contexts = {
        excerpt(sentence, position, wv.window): [t for i, t in enumerate(sentence) if i != position]
        for sentence, position in places
    }
    ax = plot_contexts(wv, word, contexts)
    ax.figure.savefig(path, dpi=110)
    print(f"\nwrote {path}")


def heading(text: str) -> None:
    """Print a heading."""
    print(f"\n{text}\n{'-' * len(text)}")


if __name__ == "__main__":
    main()
