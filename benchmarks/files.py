"""Files against gensim's: time to save, load and map, size, and the memory of processes that map one model.

``python -m benchmarks.files [--words V] [--size D] [--repeats N]``. The rivals take turns, so that a noisy
machine disturbs both alike; figures are medians, with the best in brackets. Pages that processes
share are counted once in PSS.
"""

import argparse
import gc
import multiprocessing
import os
import re
import statistics
import tempfile
import time

import numpy as np

PROCESSES = 4


def words_like_a_corpus(count):
    """Return distinct words, frequent ones shorter, some of them not ASCII."""
    letters = np.array(list("eatoinshrdlucmfwypvbgkjqxzéüñ日本"))
    rng = np.random.default_rng(0)
    words = {}
    while len(words) < count:
        length = min(3 + int(np.log1p(len(words)) / 2) + int(rng.integers(0, 5)), 14)
        words["".join(letters[rng.integers(0, len(letters), length)])] = None
    return list(words)


def make_densities(words, size):
    """Return KeyedDensities of random numbers, with everything that inference needs."""
    from densvec import KeyedDensities
    from densvec.encoder import Encoder

    rng = np.random.default_rng(1)

    def table(*shape):
        return rng.standard_normal(shape, dtype=np.float32)

    encoder = Encoder(
        embeddings=table(len(words), size),
        context_layer=table(size, size),
        centre_layer=table(size, size),
        mean_head=table(size, size),
        mean_bias=table(size),
        variance_head=table(size, 1),
        variance_bias=table(1),
    )
    means, log_variances = table(len(words), size), table(len(words), 1)
    return KeyedDensities.from_arrays(list(words), means, log_variances=log_variances, encoder=encoder)


def make_gensim(words, size):
    """Return gensim's KeyedVectors of the same size, and a Word2Vec, which holds two tables as ours does."""
    from gensim.models import KeyedVectors, Word2Vec

    vectors = np.random.default_rng(1).standard_normal((len(words), size), dtype=np.float32)
    kv = KeyedVectors(size)
    kv.index_to_key, kv.key_to_index = list(words), {word: row for row, word in enumerate(words)}
    kv.vectors, kv.expandos["count"] = vectors, np.arange(len(words), 0, -1)
    model = Word2Vec(vector_size=size, min_count=1)
    model.wv, model.syn1neg = kv, vectors + 1
    return kv, model


def time_in_turns(actions, repeats):
    """Return the seconds, by the clock and of the CPU, of every action in each of the rounds."""
    seconds = {name: [] for name in actions}
    for _ in range(repeats):
        for name, action in actions.items():
            gc.collect()
            start, cpu = time.perf_counter(), time.process_time()
            result = action()
            seconds[name].append((time.perf_counter() - start, time.process_time() - cpu))
            del result
    return seconds


def size_of(path):
    """Return the bytes of a model: its file and its companions."""
    folder, name = os.path.split(path)
    return sum(
        os.path.getsize(os.path.join(folder, other)) for other in os.listdir(folder) if other.startswith(name)
    )


def _map_and_report(load, path, barrier, results):
    """Load, read every table once, and report this process's memory when all others have done so too."""
    held, tables = load(path)
    total = sum(float(table.sum()) for table in tables)
    barrier.wait()
    with open("/proc/self/smaps_rollup") as file:
        fields = dict(re.findall(r"^(\w+): +(\d+) kB", file.read(), re.M))
    barrier.wait()
    results.put(int(fields["Pss"]) / 1024)
    del held, total


def load_densvec(path):
    """Map ours."""
    from densvec import KeyedDensities

    wv = KeyedDensities.load(path, mmap="r")
    return wv, [wv.means, wv.log_variances, wv.encoder.embeddings]


def copy_densvec(path):
    """Load ours without mapping."""
    from densvec import KeyedDensities

    wv = KeyedDensities.load(path)
    return wv, [wv.means, wv.log_variances, wv.encoder.embeddings]


def load_gensim(path):
    """Map gensim's Word2Vec."""
    from gensim.models import Word2Vec

    model = Word2Vec.load(path, mmap="r")
    return model, [model.wv.vectors, model.syn1neg]


def import_gensim(path):
    """Import gensim and load nothing: what a process takes anyway."""
    import gensim.models

    return gensim.models, []


def import_densvec(path):
    """The same of ours."""
    import densvec.keyed

    return densvec.keyed, []


def memory(load, path):
    """Return the memory (PSS), in MB, of several processes that load one file at the same time."""
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(PROCESSES), context.Queue()
    processes = [
        context.Process(target=_map_and_report, args=(load, path, barrier, results)) for _ in range(PROCESSES)
    ]
    for process in processes:
        process.start()
    figures = [results.get(timeout=300) for _ in processes]
    for process in processes:
        process.join()
    return sum(figures)


def print_times(seconds, rivals):
    """Print a row per action and its ratios to the rival's, formed within each round."""
    print("| action | seconds (best) | CPU seconds (best) | ratio to the rival: seconds, CPU |")
    print("|---|---|---|---|")
    for name, values in seconds.items():
        clock, cpu = zip(*values, strict=True)
        ratio = ""
        if name in rivals:
            ratio = ", ".join(
                f"{statistics.median(a / b for a, b in zip(own, other, strict=True)):.2f}"
                for own, other in zip((clock, cpu), zip(*seconds[rivals[name]], strict=True), strict=True)
            )
        print(f"| {name} | {show(clock)} | {show(cpu)} | {ratio} |")


def show(values):
    """Return the median and the best."""
    return f"{statistics.median(values):.3f} ({min(values):.3f})"


def main(arguments=()):
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--words", type=int, default=280_000)
    parser.add_argument("--size", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args(arguments)

    from gensim.models import KeyedVectors, Word2Vec

    from densvec import KeyedDensities
    from densvec.files.persistence import verify

    words = words_like_a_corpus(options.words)
    wv = make_densities(words, options.size)
    kv, word2vec = make_gensim(words, options.size)
    print(f"V={options.words:,}, D={options.size}; densvec's wv has two tables, as gensim's Word2Vec has\n")
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs, theirs_kv = (
            os.path.join(folder, name) for name in ("ours.dv", "word2vec", "vectors.kv")
        )
        saving = {
            "gensim Word2Vec.save": lambda: word2vec.save(theirs),
            "gensim KeyedVectors.save": lambda: kv.save(theirs_kv),
            "densvec wv.save (to the disk)": lambda: wv.save(ours),
        }
        seconds = time_in_turns(saving, max(3, options.repeats // 2))
        loading = {
            "gensim Word2Vec.load": lambda: Word2Vec.load(theirs),
            "gensim KeyedVectors.load": lambda: KeyedVectors.load(theirs_kv),
            "densvec KeyedDensities.load": lambda: KeyedDensities.load(ours),
            'gensim Word2Vec.load, mmap="r"': lambda: Word2Vec.load(theirs, mmap="r"),
            'gensim KeyedVectors.load, mmap="r"': lambda: KeyedVectors.load(theirs_kv, mmap="r"),
            'densvec KeyedDensities.load, "r"': lambda: KeyedDensities.load(ours, mmap="r"),
            "densvec persistence.verify": lambda: verify(ours),
        }
        seconds.update(time_in_turns(loading, options.repeats))
        print_times(
            seconds,
            {
                "densvec wv.save (to the disk)": "gensim Word2Vec.save",
                "densvec KeyedDensities.load": "gensim Word2Vec.load",
                'densvec KeyedDensities.load, "r"': 'gensim KeyedVectors.load, mmap="r"',
            },
        )
        print("\n| file(s) | MB |\n|---|---|")
        for name, path in {
            "gensim Word2Vec": theirs,
            "gensim KeyedVectors": theirs_kv,
            "densvec wv": ours,
        }.items():
            files = sum(other.startswith(os.path.basename(path)) for other in os.listdir(folder))
            print(f"| {name}, {files} file{'s' if files > 1 else ''} | {size_of(path) / 1e6:.1f} |")
        if not os.path.exists("/proc/self/smaps_rollup"):
            return
        print(
            f"\n| {PROCESSES} processes that read all tables | PSS, MB | beyond the imports |\n|---|---|---|"
        )
        bases = {load: memory(load, ours) for load in (import_gensim, import_densvec)}
        for name, load, path, base in [
            ('gensim Word2Vec, mmap="r"', load_gensim, theirs, import_gensim),
            ('densvec wv, mmap="r"', load_densvec, ours, import_densvec),
            ("densvec wv, loaded without mmap", copy_densvec, ours, import_densvec),
        ]:
            pss = memory(load, path)
            print(f"| {name} | {pss:.0f} | {pss - bases[base]:.0f} |")


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
