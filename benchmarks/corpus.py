"""Counting, reading and sampling against gensim: ``python -m benchmarks.corpus [CORPUS]``; generates text by default.

Times are the best of three, taken in turn with gensim's in one run; "CPU" is what a busy machine does not change much.
"""

import io
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from functools import partial
from itertools import islice
from pathlib import Path

from gensim.models import Word2Vec
from gensim.models.word2vec import LineSentence as GensimLineSentence

from densvec._corpus import Sampler
from densvec.corpora import LineSentence
from densvec.datasets import toy_language
from densvec.text._raw import Tokeniser
from densvec.text._text import TextReader
from densvec.text._words import WordIndex
from densvec.text.feed import Feed
from densvec.text.thinning import keep_probabilities, noise_weights
from densvec.text.vocabulary import Vocabulary, count_words, select

REPEATS = 3
LISTED = 60_000  # sentences held in memory as token lists

PEAK = """
import sys
from densvec import BayesianSkipGram
from densvec.text.vocabulary import count_words

def kilobytes(field):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(field))

with open("/proc/self/clear_refs", "w") as file:
    file.write("5")  # start the high-water mark anew: importing went above what is in use now
before = kilobytes("VmHWM")
if sys.argv[3] == "count":
    words = len(count_words(corpus_file=sys.argv[1], workers=int(sys.argv[2])))
else:
    model = BayesianSkipGram(vector_size=4, workers=int(sys.argv[2]))
    model.build_vocab(corpus_file=sys.argv[1])
    words = len(model.wv)
print(words, before, kilobytes("VmHWM"))
"""


def race(words: int, runs: dict[str, Callable[[], object]]) -> dict[str, object]:
    """Time every run in turn and print a table; speeds are relative to the last one, the rival."""
    wall, cpu = dict.fromkeys(runs, float("inf")), dict.fromkeys(runs, float("inf"))
    results: dict[str, object] = {}
    for _ in range(REPEATS):
        for name, run in runs.items():
            wall_start, cpu_start = time.perf_counter(), time.process_time()
            results[name] = run()
            wall[name] = min(wall[name], time.perf_counter() - wall_start)
            cpu[name] = min(cpu[name], time.process_time() - cpu_start)
    rival = list(runs)[-1]
    print("| | seconds | CPU seconds | million words/s | times as fast | by CPU |\n|---|---|---|---|---|---|")
    for name in runs:
        print(
            f"| {name} | {wall[name]:.2f} | {cpu[name]:.2f} | {words / wall[name] / 1e6:.2f} "
            f"| {wall[rival] / wall[name]:.1f} | {cpu[rival] / cpu[name]:.1f} |"
        )
    print(flush=True)
    return results


def gensim_counts(**corpus: object) -> dict[str, int]:
    """Return gensim's vocabulary of a corpus."""
    model = Word2Vec(min_count=5, vector_size=1)
    model.build_vocab(**corpus)
    return {word: model.wv.get_vecattr(word, "count") for word in model.wv.key_to_index}


def as_dict(vocabulary: Vocabulary) -> dict[str, int]:
    """Return {word: count}."""
    return dict(zip(vocabulary.words, vocabulary.counts.tolist(), strict=True))


def exhaust(feed: Iterable[object], workers: int) -> None:
    """Take all chunks of a feed with this many threads."""

    def work() -> None:
        for _ in feed:
            pass

    threads = [threading.Thread(target=work) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def counting(path: Path) -> Vocabulary:
    """Count a file and token lists."""
    raw = count_words(corpus_file=path)
    print(f"Counting a file of {raw.total_words:,} words, {len(raw):,} of them distinct; min_count=5:\n")
    results = race(
        raw.total_words,
        {
            "densvec, 1 thread": lambda: select(count_words(corpus_file=path)),
            "densvec, 2 threads": lambda: select(count_words(corpus_file=path, workers=2)),
            "gensim, build_vocab(corpus_file)": lambda: gensim_counts(corpus_file=str(path)),
        },
    )
    ours, two, theirs = results.values()
    assert isinstance(ours, Vocabulary)
    assert isinstance(two, Vocabulary)
    same = as_dict(ours) == theirs and ours.words == two.words
    print(f"Same words and counts as gensim, same order with 2 threads: {same}\n")

    sentences = list(islice(LineSentence(path), LISTED))
    words = sum(map(len, sentences))
    print(f"Counting {len(sentences):,} token lists of {words:,} words:\n")
    race(
        words,
        {
            "densvec": lambda: select(count_words(sentences)),
            "gensim, build_vocab(sentences)": lambda: gensim_counts(corpus_iterable=sentences),
        },
    )
    print("Iterating over a LineSentence:\n")
    race(
        words,
        {
            "densvec": lambda: sum(1 for _ in LineSentence(path, limit=LISTED)),
            "gensim": lambda: sum(1 for _ in GensimLineSentence(str(path), limit=LISTED)),
        },
    )
    return ours


def chunks(path: Path, vocabulary: Vocabulary) -> None:
    """Read a file into chunks."""
    index, raw = WordIndex(vocabulary.index), count_words(corpus_file=path)
    print("From the file into chunks, window=5, negative=1; words are those of the file:\n")
    print("| pairing | sample | windows | threads | million words/s | million words per CPU second |")
    print("|---|---|---|---|---|---|")
    for pairing in ("paired", "shared"):
        for sample, shrink, workers in (
            (0.0, False, 1),
            (1e-3, False, 1),
            (1e-4, False, 1),
            (1e-3, True, 1),
            (1e-3, False, 2),
        ):
            sampler = Sampler(
                keep_probabilities(vocabulary.counts, sample),
                noise_weights(vocabulary.counts),
                window=5,
                shrink_windows=shrink,
                negative=1,
                pairing=pairing,
            )
            wall_start, cpu_start = time.perf_counter(), time.process_time()
            exhaust(Feed(corpus_file=path, index=index, sampler=sampler), workers)
            wall, cpu = time.perf_counter() - wall_start, time.process_time() - cpu_start
            print(
                f"| {pairing} | {sample:g} | {'shrunk' if shrink else 'full'} | {workers} "
                f"| {raw.total_words / wall / 1e6:.1f} | {raw.total_words / cpu / 1e6:.1f} |",
                flush=True,
            )
    print()


def raw_text(path: Path) -> None:
    """Time the tokeniser of raw text on this text, with capitals and commas put in."""
    data = path.read_bytes()[: 1 << 25].replace(b" the ", b", The ")
    words = len(data.split())
    started = time.process_time()
    Tokeniser().feed(data.decode("utf-8", "replace"), final=True)
    speed = words / (time.process_time() - started) / 1e6
    print(f"Tokenising {words:,} words of raw text: {speed:.1f} million words per CPU second\n")


def encodings(path: Path) -> None:
    """Time the reading of text in UTF-8 and in encodings that are not, in which every letter, or some, are replaced."""
    text = path.read_bytes()[: 1 << 24].decode("utf-8", "ignore")
    some = text.translate({ord("e"): "é", ord("u"): "ü"})
    every = text.translate({ord("a") + i: chr(0x430 + i) for i in range(26)})
    print("| text | million characters per CPU second |\n|---|---:|")
    for name, data in {
        "ASCII": text.encode("ascii", "replace"),
        "some letters beyond ASCII, UTF-8": some.encode(),
        "the same in Latin-1": some.encode("latin-1", "replace"),
        "all letters beyond ASCII, UTF-8": every.encode(),
        "the same in Windows-1251": every.encode("cp1251", "replace"),
    }.items():
        best = float("inf")
        for _ in range(REPEATS):
            started = time.process_time()
            reader = TextReader([("text", partial(io.BytesIO, data))])
            while reader.next_block(100_000) is not None:
                pass
            best = min(best, time.process_time() - started)
        print(f"| {name} | {len(text) / best / 1e6:.0f} |", flush=True)
    print()


def memory(path: Path, directory: Path) -> None:
    """Show that the peak memory of counting depends on the vocabulary, not on the length of the file."""
    with open(path, "rb") as file:
        text = file.read(10_000_000).rpartition(b"\n")[0] + b"\n"
    if not Path("/proc/self/clear_refs").exists():
        print("Peak memory is measured on Linux only.")
        return
    print("Peak memory of counting the same text once, 4 and 16 times over, on top of the interpreter's:\n")
    print("| file, MB | threads | distinct words | MB |\n|---|---|---|---|")
    for workers in (1, 2):
        for times in (1, 4, 16):
            repeated = directory / "repeated.txt"
            with open(repeated, "wb") as file:
                for _ in range(times):
                    file.write(text)
            distinct, megabytes = peak_memory(repeated, workers, "count")
            size = repeated.stat().st_size / 1e6
            print(f"| {size:.0f} | {workers} | {distinct:,} | {megabytes:.1f} |", flush=True)
    print()


def peak_memory(path: Path, workers: int, what: str) -> tuple[int, float]:
    """Return how many words a process of its own has counted ("count") or chosen ("build"), and its megabytes."""
    command = [sys.executable, "-c", PEAK, str(path), str(workers), what]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    words, before, peak = map(int, output)
    return words, (peak - before) / 1024


def rare_words(directory: Path) -> None:
    """Show what words cost that a vocabulary does not keep: 5 million distinct ones, of which 2% occur often."""
    if not Path("/proc/self/clear_refs").exists():
        return
    path, distinct, frequent = directory / "rare.txt", 5_000_000, 100_000
    with open(path, "w") as file:
        for start in range(0, distinct, 10):
            line = " ".join(f"word{i:07d}" for i in range(start, start + 10)) + "\n"
            file.write(line * (6 if start < frequent else 1))
    print(f"Peak memory of build_vocab for {distinct:,} distinct words, on top of the interpreter's:\n")
    print("| threads | words kept | MB |\n|---|---|---|")
    for workers in (1, 2):
        kept, megabytes = peak_memory(path, workers, "build")
        print(f"| {workers} | {kept:,} | {megabytes:.0f} |", flush=True)
    print()


def main(corpus_path: str | None = None) -> None:
    """Print all tables, for a corpus or for generated text."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        path = Path(corpus_path) if corpus_path else directory / "toy.txt"
        if not corpus_path:
            toy_language(200_000).write(path)
        chunks(path, counting(path))
        raw_text(path)
        encodings(path)
        memory(path, directory)
        rare_words(directory)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
