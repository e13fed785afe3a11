#!/usr/bin/env python
"""Words as densities in a minute: the English model, then a training: a word in two contexts, general words, pictures.

    python examples/demo.py                 trains on a small generated language, in which a kiwi is a bird and a fruit
    python examples/demo.py corpus.txt      trains on your own text, raw or tokenised, and finds words of several senses

`make demo` and `make demo CORPUS=corpus.txt` do the same, and install what is needed. Pictures go to demo/.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import densvec
from densvec import BayesianSkipGram, Gaussian, KeyedDensities
from densvec.corpora import LineSentence, RawText
from densvec.datasets import toy_language
from densvec.text.raw import looks_raw

Occurrence = tuple[list[str], int]  # a sentence, and the position of a word in it

# The generated language has few, short sentences, so words are thinned less than in real text and rates are higher.
TOY_SETTINGS = {"vector_size": 20, "sample": 0.01, "alpha": 0.05, "epochs": 20}


def main(arguments: Sequence[str] | None = None) -> None:
    """Show the generated language, or the user's own text."""
    parser = argparse.ArgumentParser(description="Train on text and show its words as densities.")
    parser.add_argument(
        "corpus", nargs="?", help="text, one sentence per line; by default a generated language"
    )
    parser.add_argument(
        "--sentences", type=int, default=10_000, help="sentences to generate (default: 10000)"
    )
    parser.add_argument("--out", type=Path, default=Path("demo"), help="where pictures go (default: demo)")
    args = parser.parse_args(arguments)
    args.out.mkdir(parents=True, exist_ok=True)
    if args.corpus:
        show_own_text(args.corpus, args.out)
    else:
        show_english(args.out)
        show_toy_language(args.sentences, args.out)


ENGLISH = {
    "bank": ("the bank raised its interest rates on loans", "they walked along the bank of the river"),
    "star": ("the star of the film won an award for her role", "the light of a distant star"),
    "plant": ("the plant produces electricity from coal", "the plant has yellow flowers and green leaves"),
}


def show_english(out: Path) -> None:
    """Show the model that comes with densvec: nothing is trained."""
    heading('The English model: densvec.load("english")')
    started = time.perf_counter()
    wv = densvec.load("english")
    print(f"{wv} in {time.perf_counter() - started:.2f} s")
    for word, sentences in ENGLISH.items():
        print(f"\n  {word}")
        for sentence in sentences:
            options = {"topn": 6, "exclude_context": True, "exclude_inflections": True}
            found = [other for other, _ in wv.substitutes(word, sentence, **options)]
            print(f"    {sentence:50} {', '.join(found)}")
    print(
        "\n  what a violin may be a kind of: " + ", ".join(word for word, _ in wv.hypernyms("violin", topn=5))
    )
    print(
        f"  general words are wide: instrument {wv.generality('instrument'):.1f}, violin {wv.generality('violin'):.1f}"
    )
    places = [(sentence.split(), sentence.split().index("bank")) for sentence in ENGLISH["bank"]]
    draw(wv, "bank", places, out / "bank.png")


def show_toy_language(sentences: int, out: Path) -> None:
    """Train on the generated language and show what it is known to contain."""
    corpus = toy_language(sentences)
    heading(f"Training on {sentences:,} generated sentences")
    print("such as:", "; ".join(" ".join(sentence) for sentence in itertools.islice(corpus, 3)))
    wv = train(BayesianSkipGram(**TOY_SETTINGS, workers=1), corpus).wv

    fruit, bird = (
        next(o for o in corpus.occurrences("kiwi", 50) if o.sense == sense and len(o.tokens) > 7)
        for sense in ("fruit", "bird")
    )
    places = [(o.tokens, o.position) for o in (fruit, bird)]
    things = list(dict.fromkeys(itertools.chain.from_iterable(corpus.hypernyms)))  # no verbs, no adjectives
    show_contexts(wv, "kiwi", places, wv.index_to_key, substitutes=things)
    show_hypernyms(wv, corpus)
    draw(wv, "kiwi", places, out / "kiwi.png")


def show_hypernyms(wv: KeyedDensities, corpus: object) -> None:
    """Print chains of increasingly general words with their variances, and how many pairs are in order."""
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
    """Train on a file and show the words in it whose meaning depends most on the context."""
    heading(f"Training on {path}")
    raw = looks_raw(RawText(path).sample())
    if raw:
        print("the text is not tokenised: its words are taken in lower case, sentence by sentence")
    corpus = RawText(path) if raw else LineSentence(path)
    wv = train(BayesianSkipGram(), corpus).wv
    found = content_words(wv, occurrences(corpus, wv))
    heading("The widest and the narrowest of the frequent words")
    order = sorted(found, key=wv.generality)
    print("  wide:  ", ", ".join(order[:-11:-1]))
    print("  narrow:", ", ".join(order[:10]))
    for i, (word, groups) in enumerate(most_divided(wv, found)):
        pair = [typical(wv, word, group) for group in groups]
        show_contexts(wv, word, pair, names=found)
        show_difference(wv, word, groups, names=found)
        if i == 0:
            draw(wv, word, pair, out / f"{word}.png", names=found)


def train(model: BayesianSkipGram, corpus: Iterable[list[str]]) -> BayesianSkipGram:
    """Train with a progress bar and report the result."""
    started = time.perf_counter()
    model.build_vocab(corpus)
    if model.vector_size == 100 and model.corpus_total_words < 5_000_000:
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


@dataclass
class Found:
    """Where a word occurs: some sentences with its position in them, how often in all, and in how many places."""

    examples: list[Occurrence] = field(default_factory=list)
    count: int = 0
    blocks: int = 0
    last_block: int = -1


def occurrences(
    corpus: Iterable[list[str]], wv: KeyedDensities, most: int = 3000, keep: int = 60
) -> dict[str, Found]:
    """Return where the frequent words of a text occur, in its first 10 million words at most."""
    frequent = [word for word in wv.index_to_key[: most + 100] if word.isalpha() and len(word) > 2]
    found = {word: Found() for word in frequent[min(100, len(frequent) // 20) :]}
    words = 0
    for sentence in corpus:
        for position, token in enumerate(sentence):
            place = found.get(token)
            if place is None:
                continue
            place.count += 1
            if place.last_block != words // 2000:
                place.last_block = words // 2000
                place.blocks += 1
                if len(place.examples) < keep and len(sentence) > 6:
                    place.examples.append((sentence, position))
        words += len(sentence)
        if words > 10_000_000:
            break
    total = words // 2000 + 1
    for (
        place
    ) in found.values():  # how much more the word is concentrated in places than if it occurred at random
        place.blocks /= total * -np.expm1(-place.count / total) or 1
    return found


def content_words(wv: KeyedDensities, found: dict[str, Found]) -> dict[str, list[Occurrence]]:
    """Return the words that are concentrated in parts of the text; function words are spread all over it."""
    order = sorted((word for word in found if len(found[word].examples) >= 5), key=lambda w: found[w].blocks)
    return {word: found[word].examples for word in order[: max(20, len(order) // 2)]}


def most_divided(
    wv: KeyedDensities, found: dict[str, list[Occurrence]], n: int = 3
) -> list[tuple[str, list[list[Occurrence]]]]:
    """Return the words whose posteriors fall into two groups far more clearly than by chance, and the groups."""
    rng = np.random.default_rng(0)
    scored = []
    enough = min(20, max(map(len, found.values()), default=0))
    frequent = sorted((word for word in found if len(found[word]) >= enough), key=wv.get_index)[:500]
    for word in frequent:
        places = found[word]
        means = wv.infer_posteriors([(word, *place) for place in places]).mean.astype(np.float64)
        means -= means.mean(axis=0)
        parts = np.linalg.svd(means, full_matrices=False)
        points = parts[0][:, :8] * parts[1][:8]  # the eight directions in which they differ most
        left, unity = divided(points)
        if min(left.sum(), (~left).sum()) < max(2, len(places) // 6):
            continue  # a few odd occurrences are not a sense
        # Chance: points of a single cloud with the same extent in every direction can be divided too.
        chance = [divided(rng.normal(size=points.shape) * points.std(axis=0))[1] for _ in range(10)]
        scored.append(((np.mean(chance) - unity) / np.std(chance), word, left))
    best = sorted(scored, key=lambda item: -item[0])[:n]
    return [
        (word, [[found[word][i] for i in np.flatnonzero(side)] for side in (left, ~left)])
        for _, word, left in best
    ]


def divided(points: np.ndarray) -> tuple[np.ndarray, float]:
    """Divide points into two groups (2-means); return who is in the first, and how much of their spread is left."""
    left = points[:, 0] > 0
    for _ in range(5):
        if left.all() or not left.any():
            break
        centres = points[left].mean(axis=0), points[~left].mean(axis=0)
        away = [np.square(points - centre).sum(axis=1) for centre in centres]
        left = away[0] < away[1]
    within = sum(
        np.square(group - group.mean(axis=0)).sum() for group in (points[left], points[~left]) if len(group)
    )
    return left, float(within / np.square(points - points.mean(axis=0)).sum())


def typical(wv: KeyedDensities, word: str, group: list[Occurrence]) -> Occurrence:
    """Return the occurrence whose posterior is nearest to the middle of its group."""
    means = wv.infer_posteriors([(word, *place) for place in group]).mean
    return group[int(np.square(means - means.mean(axis=0)).sum(axis=1).argmin())]


def show_difference(
    wv: KeyedDensities, word: str, groups: list[list[Occurrence]], names: Collection[str], topn: int = 8
) -> None:
    """Print the words that are near one group of occurrences and not the other."""
    keys = [name for name in names if name in wv and name != word]
    middles = [wv.infer_posteriors([(word, *place) for place in group]).mean.mean(axis=0) for group in groups]
    units = [wv.vectors[[wv.get_index(key) for key in keys]] @ (m / np.linalg.norm(m)) for m in middles]
    lengths = np.linalg.norm(wv.vectors[[wv.get_index(key) for key in keys]], axis=1)
    cosines = [unit / lengths for unit in units]
    print("  what differs between the two groups:")
    for group, own, other in zip(groups, cosines, cosines[::-1], strict=True):
        order = np.argsort(other - 2 * own, kind="stable")[
            :topn
        ]  # near this group, and nearer than to the other
        print(f"      {len(group):3} occurrences   {', '.join(keys[i] for i in order)}")


def show_contexts(
    wv: KeyedDensities,
    word: str,
    places: Sequence[Occurrence],
    names: Collection[str],
    substitutes: Collection[str] | None = None,
) -> None:
    """Print a word out of context and in contexts: its entropy, the nearest words, and what could replace it."""
    heading(f'"{word}" out of context and in {len(places)} contexts')
    densities = {"(no context)": wv.density(word)}
    for sentence, position in places:
        densities[excerpt(sentence, position, wv.window)] = wv.infer(sentence, word=word, position=position)
    for text, density in densities.items():
        print(f"  {text}")
        print(f"      entropy      {float(density.entropy()):.1f} nats")
        print(f"      nearest      {', '.join(nearest(wv, word, density, names))}")
        if substitutes is not None:
            print(f"      substitutes  {', '.join(nearest(wv, word, density, substitutes, 3))}")


def nearest(
    wv: KeyedDensities, word: str, density: Gaussian, names: Collection[str], topn: int = 6
) -> list[str]:
    """Return those of the names whose priors are nearest to a density, by KL."""
    keys = [name for name in names if name in wv and name != word]
    order = np.argsort(density.kl(wv.density(keys)), kind="stable")
    return [keys[i] for i in order[:topn]]


def excerpt(sentence: Sequence[str], position: int, window: int) -> str:
    """Return the part of a sentence around a word, with the word marked."""
    start, stop = max(0, position - window), position + window + 1
    words = [f"[{token}]" if i == position else token for i, token in enumerate(sentence)]
    return " ".join(["…"] * (start > 0) + words[start:stop] + ["…"] * (stop < len(sentence)))


def draw(
    wv: KeyedDensities,
    word: str,
    places: Sequence[Occurrence],
    path: Path,
    names: Collection[str] | None = None,
) -> None:
    """Draw the word's prior and posteriors."""
    try:
        import matplotlib
    except ImportError:
        print('no picture: it needs matplotlib, pip install "densvec[plot]"', file=sys.stderr)
        return
    matplotlib.use("agg")
    from densvec.plot import plot_contexts

    contexts = {excerpt(sentence, position, wv.window): (sentence, position) for sentence, position in places}
    ax = plot_contexts(wv, word, contexts, landmarks=names)
    ax.figure.savefig(path, dpi=110)
    print(f"\nwrote {path}")


def heading(text: str) -> None:
    """Print a heading."""
    print(f"\n{text}\n{'-' * len(text)}")


if __name__ == "__main__":
    main()
