"""Training speed beside gensim's, how it grows, what memory it takes, and what limits it.

``python -m benchmarks.train_speed [CORPUS] [--words N] [--repeats N]``. The contenders take turns in one process,
so that a noisy machine disturbs all of them alike; figures are medians, and the ratios are formed within each
round.
"""

import argparse
import itertools
import logging
import multiprocessing
import statistics
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from densvec import BayesianSkipGram
from densvec.corpora import LineSentence
from densvec.datasets import toy_language
from densvec.text.thinning import keep_probabilities

SETTINGS = {"vector_size": 100, "window": 5, "min_count": 5, "sample": 1e-4, "epochs": 1, "seed": 1}


def densvec_model(source, *, workers, **options):
    """Return an untrained BayesianSkipGram and the number of words it will read in an epoch."""
    model = BayesianSkipGram(**{**SETTINGS, "show_progress": False, "workers": workers, **options})
    model.build_vocab(**source)
    return model


def gensim_model(source, *, workers, **options):
    """Return an untrained gensim skip-gram with five negatives."""
    from gensim.models import Word2Vec

    model = Word2Vec(**{**SETTINGS, "sg": 1, "negative": 5, "workers": workers, **options})
    model.build_vocab(**source)
    return model


def words_per_second(model, source, clock=time.perf_counter):
    """Train one epoch; return words per second of the training alone."""
    start = clock()
    model.train(
        **source,
        total_examples=model.corpus_count,
        total_words=model.corpus_total_words,
        epochs=1,
    )
    return model.corpus_total_words / (clock() - start)


def contest(path, repeats):
    """Print words/s of all contenders, taking turns."""
    file, iterable = {"corpus_file": str(path)}, {"corpus_iterable": LineSentence(str(path))}
    print("| workers | fed by | gensim SG | densvec | ratio (each round) | densvec, shrunk windows | torch |")
    print("|---|---|---|---|---|---|---|")
    for workers, (feed, source) in itertools.product((1, 2), (("file", file), ("iterable", iterable))):
        rounds = []
        for _ in range(repeats):
            gensim = words_per_second(gensim_model(source, workers=workers), source)
            native = words_per_second(densvec_model(source, workers=workers), source)
            shrunk = words_per_second(densvec_model(source, workers=workers, shrink_windows=True), source)
            rounds.append((gensim, native, shrunk))
        torch = "–"
        if feed == "file":
            torch = thousands(
                words_per_second(densvec_model(source, workers=workers, backend="torch"), source)
            )
        gensim, native, shrunk = (statistics.median(column) for column in zip(*rounds, strict=True))
        ratios = sorted(ours / theirs for theirs, ours, _ in rounds)
        print(
            f"| {workers} | {feed} | {thousands(gensim)} | {thousands(native)} | {statistics.median(ratios):.2f} "
            f"({ratios[0]:.2f}–{ratios[-1]:.2f}) | {thousands(shrunk)} | {torch} |",
            flush=True,
        )


def defaults(corpus, rounds=3):
    """Print words/s of a whole text at the defaults of both, how they thin frequent words included."""
    from gensim.models import Word2Vec

    source = {"corpus_file": str(corpus)}
    print("\n| workers | all defaults: gensim SG | densvec | ratio (each round) |\n|---|---|---|---|")
    for workers in (1, 2):
        speeds = []
        for _ in range(rounds):
            models = (
                Word2Vec(sg=1, epochs=1, workers=workers),
                BayesianSkipGram(epochs=1, workers=workers, show_progress=False),
            )
            for model in models:
                model.build_vocab(**source)
            speeds.append([words_per_second(model, source) for model in models])
        gensim, native = (statistics.median(column) for column in zip(*speeds, strict=True))
        ratios = sorted(ours / theirs for theirs, ours in speeds)
        print(
            f"| {workers} | {thousands(gensim)} | {thousands(native)} | {statistics.median(ratios):.2f} "
            f"({ratios[0]:.2f}–{ratios[-1]:.2f}) |",
            flush=True,
        )


def by_cpu(path, rounds=3):
    """Print the ratio to gensim by time of the CPU, one worker: other programs disturb it less."""
    source, ratios = {"corpus_file": str(path)}, []
    for _ in range(rounds):
        gensim, native = (
            words_per_second(contender(source, workers=1), source, time.process_time)
            for contender in (gensim_model, densvec_model)
        )
        ratios.append(native / gensim)
    ratios.sort()
    print(
        f"\none worker, by time of the CPU: {statistics.median(ratios):.2f} times gensim "
        f"({ratios[0]:.2f}–{ratios[-1]:.2f})",
        flush=True,
    )


def scaling(path, rounds=5):
    """Print how much faster two workers are than one."""
    source, ratios = {"corpus_file": str(path)}, []
    for _ in range(rounds):
        one, two = (words_per_second(densvec_model(source, workers=n), source) for n in (1, 2))
        ratios.append(two / one)
    ratios.sort()
    print(
        f"\ntwo workers: {statistics.median(ratios):.2f} times one ({ratios[0]:.2f}–{ratios[-1]:.2f})",
        flush=True,
    )


def growth(words=1_000_000):
    """Print words/s against vocabulary, dimensions, window, negatives and workers, on Zipfian text.

    Subsampling keeps more of a text with more words; what it keeps is what the kernel works on. What is done once
    before training, such as copying tables to which a run that diverges goes back, is not counted.
    """
    print("\n| setting | words/s | kept words/s |\n|---|---|---|")
    base = {"workers": 1}
    cases = [("vocabulary", {"vocabulary": v}) for v in (10_000, 20_000, 100_000, 280_000, 1_000_000)]
    cases += [("vector_size", {"vector_size": d}) for d in (50, 100, 200, 300, 600)]
    cases += [("window", {"window": w}) for w in (2, 5, 10)]
    cases += [("negative", {"negative": k}) for k in (1, 5, 10, 20)]
    cases += [("workers", {"workers": w}) for w in (1, 2)]
    with tempfile.TemporaryDirectory() as folder:
        for _, case in cases:
            options = {**base, **case}
            vocabulary = options.pop("vocabulary", 50_000)
            path = Path(folder, f"{vocabulary}.txt")
            counts = zipf_counts(vocabulary)
            if not path.exists():
                write_zipfian(path, counts, words)
            model = BayesianSkipGram(**{**SETTINGS, "min_count": 1, "show_progress": False, **options})
            model.build_vocab_from_freq({f"w{i}": int(n) for i, n in enumerate(counts)})
            model.corpus_count, model.corpus_total_words = words // 20, words
            words_per_second(model, {"corpus_file": str(path)})
            speed = model.loss_history[-1].words_per_second
            kept = np.average(keep_probabilities(counts, model.sample), weights=counts)
            setting = ", ".join(f"{name}={value:,}" for name, value in case.items())
            print(f"| {setting} | {thousands(speed)} | {thousands(speed * kept)} |", flush=True)


def vocabularies(corpus, text, sizes=(20_000, 280_000), rounds=3):
    """Print words/s on one real text with the most frequent words of its corpus, few or many, taking turns.

    Words that are not in the vocabulary are skipped: the smaller one has fewer words to train.
    """
    models, counts, total = {}, Counter(), 0
    for sentence in LineSentence(str(text)):
        counts.update(sentence)
        total += len(sentence)
    for size in sizes:
        options = {"min_count": 1, "max_final_vocab": size, "show_progress": False, "workers": 1}
        model = BayesianSkipGram(**{**SETTINGS, **options})
        model.build_vocab(corpus_file=str(corpus))
        model.corpus_total_words = total
        models[size] = model
    speeds = {size: [] for size in sizes}
    for _ in range(rounds):
        for size, model in models.items():
            speeds[size].append(words_per_second(model, {"corpus_file": str(text)}))
    print("\n| vocabulary, real text | known | words/s | known words/s |\n|---|---|---|---|")
    for size, model in models.items():
        known = sum(n for word, n in counts.items() if word in model.wv.key_to_index) / total
        speed = statistics.median(speeds[size])
        print(
            f"| {len(model.wv):,} | {known:.1%} | {thousands(speed)} | {thousands(speed * known)} |",
            flush=True,
        )


def zipf_counts(vocabulary):
    """Counts in the manner of natural language: the word of rank r occurs 1/(r + 2.7) as often as the first."""
    return np.maximum(1, 20 * vocabulary / (np.arange(vocabulary) + 2.7)).astype(np.int64)


def write_zipfian(path, counts, words):
    """Write lines of twenty independent words."""
    rng = np.random.default_rng(1)
    ids = rng.choice(len(counts), size=(words // 20, 20), p=counts / counts.sum())
    with open(path, "w") as file:
        file.writelines(" ".join(f"w{i}" for i in row) + "\n" for row in ids.tolist())


def memory(path):
    """Print the peak memory of a process that counts and trains, for both libraries."""
    print("\n| peak memory of a training process | MiB |\n|---|---|")
    for name in ("gensim", "densvec"):
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            base, peak = pool.apply(_peak_memory, (name, str(path)))
        print(f"| {name} | {peak:.0f} ({peak - base:.0f} above its imports) |", flush=True)


def _peak_memory(name, path):
    source = {"corpus_file": path}
    if name == "gensim":
        import gensim.models  # noqa: F401
    base = peak_mebibytes()
    model = (gensim_model if name == "gensim" else densvec_model)(source, workers=2)
    words_per_second(model, source)
    return base, peak_mebibytes()


def peak_mebibytes():
    """The most memory that this process has had (Linux; getrusage would count its parent's too)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def roofline(path):
    """Say how much of the time of one centre its matrix products and its scattered rows take by themselves.

    The kernel asks for rows ahead, so that much of their time passes during other work.
    """
    source = {"corpus_file": str(path)}
    model = densvec_model(source, workers=1)
    start = time.perf_counter()
    model.train(**source, total_examples=model.corpus_count, total_words=model.corpus_total_words, epochs=1)
    seconds = time.perf_counter() - start
    counts = model.wv.expandos["count"]
    centres = (counts * keep_probabilities(counts, model.sample)).sum()
    size, hidden, tile = model.vector_size, model.hidden_size, 256
    gflops = product_speed()
    with model._feeds()(0, 0) as feed:
        tokens = next(feed).tokens
    tiles = np.split(tokens, range(tile, len(tokens), tile))
    distinct = sum(len(np.unique(words)) for words in tiles) / len(tokens)
    # Two projections of each distinct word and the heads of each centre, and two products for each on the way back.
    flops = 3 * 2 * hidden * (2 * size * distinct + size + 1)
    rows = 1 + model.negative  # of the priors; a context's row was a centre's a moment ago
    per_row = row_time(model.wv.vectors)
    micro = 1e6 * seconds / centres
    gemm, scatter = flops / gflops / 1e3, 1e6 * rows * per_row
    print("\n| of one centre | µs | share |\n|---|---|---|")
    print(f"| all of training | {micro:.2f} | 100 % |")
    print(
        f"| matrix products: {flops / 1e3:.0f} kflop at the {gflops:.0f} Gflop/s of large ones here "
        f"| {gemm:.2f} | {gemm / micro:.0%} |"
    )
    print(
        f"| {rows} random rows of {4 * size} bytes, read and written, none asked for ahead "
        f"| {scatter:.2f} | {scatter / micro:.0%} |"
    )


def product_speed(m=4096, inner=256, n=256):
    """Gflop/s of a matrix product by BLAS, on one thread; a kernel that rounds to bfloat16 can pass it."""
    a, b = (np.ones(shape, np.float32) for shape in ((m, inner), (inner, n)))
    with threadpool_limits(1, "blas"):
        best = min(_timed(lambda: a @ b) for _ in range(20))
    return 2 * m * inner * n / best / 1e9


def row_time(table):
    """Seconds to read a random row of a table and write it back."""
    rows = np.random.default_rng(1).integers(0, len(table), 200_000)
    copy = table.copy()

    def touch():
        for block in np.array_split(rows, 200):
            copy[block] = copy[block]

    return min(_timed(touch) for _ in range(5)) / len(rows)


def _timed(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def thousands(value):
    """Write 123456 as 123k."""
    return f"{value / 1000:.0f}k"


def head_of(path, folder, words):
    """Write the first lines of a corpus, or of a generated one, until they hold that many words."""
    target, total = Path(folder, "head.txt"), 0
    sentences = LineSentence(path) if path else itertools.cycle(toy_language(n_sentences=50_000))
    with open(target, "w", encoding="utf-8") as file:
        for sentence in sentences:
            file.write(" ".join(sentence) + "\n")
            total += len(sentence)
            if total >= words:
                break
    return target


def main(path=None, words=3_000_000, repeats=3) -> None:
    """Print all tables for the first `words` words of a corpus."""
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as folder:
        text = head_of(path, folder, words)
        contest(text, repeats)
        by_cpu(text, repeats)
        scaling(text)
        memory(text)
        roofline(text)
        if path:
            vocabularies(path, text)
            defaults(path, repeats)
    growth()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", nargs="?")
    parser.add_argument("--words", type=int, default=3_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    main(arguments.corpus, arguments.words, arguments.repeats)
