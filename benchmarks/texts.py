"""Find the other half of a paragraph: text_density with its weights, smooth inverse frequency, and plain means.

Every paragraph (a line of the corpus) is cut in the middle; for each first half the nearest second half is looked for
among all. Printed is how often it is the right one. SIF with its first principal component taken away (Arora et al.,
2017) is the baseline; gensim's vectors, as .npz with the arrays `words` and `vectors`, can be given beside.

    python -m benchmarks.texts MODEL CORPUS --paragraphs 1000
"""

from __future__ import annotations

import argparse
import random

import numpy as np

from densvec import KeyedDensities


def halves(
    path: str, known: KeyedDensities, count: int, seed: int, shortest: int = 40
) -> tuple[list[list[str]], list[list[str]]]:
    """Return the two halves of randomly chosen paragraphs, known words only."""
    dice = random.Random(seed)
    kept: list[list[str]] = []
    seen = 0
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            tokens = [token for token in line.split() if token in known.key_to_index]
            if len(tokens) < shortest:
                continue
            seen += 1
            if len(kept) < count:
                kept.append(tokens)
            elif (place := dice.randrange(seen)) < count:
                kept[place] = tokens
    return [t[: len(t) // 2] for t in kept], [t[len(t) // 2 :] for t in kept]


def found(similarities: np.ndarray) -> float:
    """Return how often the diagonal holds the largest number of its row."""
    return float((similarities.argmax(axis=1) == np.arange(len(similarities))).mean())


def sif(
    wv: KeyedDensities, vectors: np.ndarray, sides: tuple[list[list[str]], list[list[str]]], a: float
) -> float:
    """Return the same for smooth inverse frequency, its first principal component taken away."""
    counts = np.asarray(wv.expandos["count"], dtype=np.float64)
    weights = a / (a + counts / counts.sum())
    rows = [[np.array([wv.key_to_index[token] for token in text]) for text in side] for side in sides]
    first, second = (np.array([weights[r] @ vectors[r] / len(r) for r in side]) for side in rows)
    main = np.linalg.svd(np.concatenate([first, second]), full_matrices=False)[2][:1]
    first, second = (
        side / np.linalg.norm(side, axis=1, keepdims=True)
        for side in (first - first @ main.T @ main, second - second @ main.T @ main)
    )
    return found(first @ second.T)


def main() -> None:
    """Cut, look and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("corpus")
    parser.add_argument("--paragraphs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--gensim", help="gensim's vectors of the same text, .npz")
    args = parser.parse_args()
    wv = KeyedDensities.load(args.model)
    first, second = halves(args.corpus, wv, args.paragraphs, args.seed)
    for weights in ("thinning", "sif", "none"):
        for metric in ("cosine", "jeffreys") if weights == "thinning" else ("cosine",):
            right = found(np.asarray(wv.text_similarity(first, second, weights=weights, metric=metric)))
            print(f"text_similarity, weights={weights}, {metric}: {right:.3f}", flush=True)
    right = found(np.asarray(wv.text_similarity(first, second, in_context=True)))
    print(f"text_similarity, in_context=True: {right:.3f}", flush=True)
    tables = {"means": wv.vectors.astype(np.float64)}
    if args.gensim:
        with np.load(args.gensim) as arrays:
            place = {str(word): row for row, word in enumerate(arrays["words"])}
            vectors = arrays["vectors"]
        table = np.zeros((len(wv), vectors.shape[1]))
        for word, row in wv.key_to_index.items():
            if word in place:
                table[row] = vectors[place[word]]
        tables["gensim"] = table
    for name, table in tables.items():
        for a in (1e-3, 1e-4):
            print(f"SIF of {name}, a={a}: {sif(wv, table, (first, second), a):.3f}", flush=True)


if __name__ == "__main__":
    main()
