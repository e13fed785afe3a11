"""Mutate files and load them: nothing may crash, hang, over-allocate or raise but the declared errors.

``python -m tests.files.fuzz --seconds 600`` looks for new trouble; the suite runs 5,000 fixed cases.
A failure prints the number of its case: ``--first N --cases 1`` repeats it.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from densvec import BayesianSkipGram, KeyedDensities, SkipGram, Word2Gauss
from densvec.files import packing, persistence
from densvec.files.persistence import DensvecFileError
from densvec.training.backend import UnstableTrainingError
from tests import fuzzing
from tests.files.mutations import BLIND, CUNNING, change_pickle

MEMORY = 256 << 20  # bytes a case may have on top of what the process has after its first load
PATIENCE = 20  # seconds a case may take

# What is loaded, and what is done with it when it loads.

SENTENCES = [["the", "cat", "sat", "é"], ["the", "dog", "sat", "\0"], ["New York", "\U0001f600", "the"]] * 4


@dataclass
class Target:
    """A whole file, what is done with mutants of it, and what is expected of them."""

    path: str
    use: Callable[[str, str | None], None]
    cunning: list = field(default_factory=lambda: CUNNING)  # the mutations that know the format
    checked: bool = True  # whether every damaged byte must be found
    error: type[ValueError] = DensvecFileError

    def __post_init__(self):
        self.name = os.path.basename(self.path)
        self.use(self.path, None)
        with open(self.path, "rb") as file:
            self.original = file.read()

    def check(self, mutant, blind, mmap):
        """Load one mutated file; return what happened, or raise what must not."""
        with open(self.path, "wb") as file:
            file.write(mutant)
        try:
            self.use(self.path, mmap)
        except self.error as error:
            if self.name not in str(error):
                raise AssertionError(f"the error does not name the file: {error}") from error
            return "refused"
        if self.checked and blind and mutant != self.original:
            raise AssertionError("a damaged file was loaded as if nothing had happened")
        return "loaded"


def layer_target(directory):
    """The file layer alone."""
    path = os.path.join(directory, "layer.dv")
    tensors = {
        **packing.pack_words(["the", "cat", "New York", "é\0", "\U0001f600", ""]),
        "vocabulary.counts": np.arange(6),
        "means": np.random.default_rng(1).standard_normal((6, 5)).astype(np.float32),
        "empty": np.zeros((0, 3), np.float32),
        "flags": np.array([True, False]),
        "attributes.score": np.array([np.nan, 1.0]),
    }
    header = {"class": "X", "parameters": {"window": 5, "alpha": 0.025, "rates": [1, 2]}}
    persistence.write(path, tensors, header)

    def use(path, mmap):
        tensors, header = persistence.read(path, mmap=mmap)
        with persistence.faults_of(path):
            packing.unpack_vocabulary(tensors)
        with np.errstate(all="ignore"):
            for tensor in tensors.values():
                tensor.sum()
        persistence.write(path, tensors, header)

    return Target(path, use)


def make_model(town="New York"):
    """Return a small trained model, with all that a file can hold."""
    sentences = [
        ["the", "cat", "sat", "é"],
        ["the", "dog", "sat", "\0"],
        [town, "\U0001f600", "the"],
    ] * 4
    model = BayesianSkipGram(vector_size=3, hidden_size=2, min_count=1, workers=1, batch_words=10, sample=0)
    model.build_vocab(sentences)
    model.train(sentences, total_examples=model.corpus_count, epochs=2)
    model.wv.expandos["score"] = np.linspace(0, 1, len(model.wv))
    model.wv.expandos["name"] = np.array(["x"] * len(model.wv), dtype=object)
    return model


def use_words(wv):
    """Ask loaded words everything that touches their arrays."""
    if not len(wv) or not wv.vector_size:
        return
    word = wv.index_to_key[0]
    with np.errstate(all="ignore"), contextlib.suppress(ValueError):  # say, an infinite variance
        wv.most_similar(word, topn=2)
        wv.most_similar(word, topn=2, metric="kl")
        wv.generality(word)
        wv.infer(wv.index_to_key[:3], word=word)


def words_target(directory, ending=""):
    """KeyedDensities."""
    path = os.path.join(directory, "words.dv" + ending)
    make_model().wv.save(path)

    def use(path, mmap):
        wv = KeyedDensities.load(path, mmap=None if ending else mmap)
        use_words(wv)
        if not ending:
            wv.save(path)

    return Target(path, use, cunning=[] if ending else CUNNING)


def compressed_target(directory):
    """KeyedDensities in a compressed file, which is read as a stream."""
    target = words_target(directory, ending=".gz")
    target.checked = False  # gzip's header has bits without meaning
    return target


def use_model(cls, path, mmap):
    """Save a loaded model again and train it further: the training kernel must be safe from it as well."""
    model = cls.load(path, mmap=mmap)
    model.save(path)
    KeyedDensities.load(path)
    model.workers, model.backend, model.device, model.show_progress = 1, "native", None, False
    model.window, model.negative, model.batch_words = 2, 2, 10
    if len(model.wv):
        with np.errstate(all="ignore"), contextlib.suppress(UnstableTrainingError, ValueError):
            model.train([model.wv.index_to_key] * 3, total_examples=3, epochs=1)


def model_target(directory):
    """BayesianSkipGram."""
    path = os.path.join(directory, "model.dv")
    make_model().save(path)
    return Target(path, lambda path, mmap: use_model(BayesianSkipGram, path, mmap))


def baseline_target(directory, cls=Word2Gauss):
    """The paper's other models."""
    path = os.path.join(directory, f"{cls.__name__}.dv")
    model = cls(vector_size=3, min_count=1, workers=1, batch_words=10, sample=0)
    model.build_vocab(SENTENCES)
    model.train(SENTENCES, total_examples=model.corpus_count, epochs=1)
    model.save(path)
    return Target(path, lambda path, mmap: use_model(cls, path, mmap))


def skipgram_target(directory):
    """The same of SkipGram."""
    return baseline_target(directory, SkipGram)


def word2vec_target(directory, binary=False):
    """Means in the word2vec format; without checksums damage may go unnoticed, but no more."""
    path = os.path.join(directory, "vectors.bin" if binary else "vectors.txt")
    make_model("York").wv.save_word2vec_format(path, binary=binary)

    def use(path, mmap):
        use_words(KeyedDensities.load_word2vec_format(path, binary=binary))

    return Target(path, use, cunning=[], checked=False, error=ValueError)


def binary_word2vec_target(directory):
    """The same, binary."""
    return word2vec_target(directory, binary=True)


def gensim_target(directory, kind="Word2Vec", sep_limit=1 << 20, **options):
    """A model of gensim, with its arrays in its pickle."""
    cls = getattr(importlib.import_module("gensim.models"), kind)
    path = os.path.join(directory, f"{cls.__name__}.model")
    model = cls(SENTENCES, vector_size=3, min_count=1, epochs=1, workers=1, **options)
    model.save(path, sep_limit=sep_limit)
    return Target(
        path,
        lambda path, mmap: use_words(KeyedDensities.load(path, mmap=mmap)),
        [change_pickle] * 8,
        checked=False,
    )


def fasttext_target(directory):
    """A model of gensim's FastText, with its arrays beside it."""
    return gensim_target(directory, "FastText", 0, bucket=50)


TARGETS = [
    words_target,
    model_target,
    layer_target,
    baseline_target,
    skipgram_target,
    compressed_target,
    word2vec_target,
    binary_word2vec_target,
]
SHARES = [5, 5, 3, 2, 2, 1, 1, 1]  # how many of 20 cases each gets
if importlib.util.find_spec("gensim") is not None:
    TARGETS += [gensim_target, fasttext_target]
    SHARES += [2, 2]


def limit_memory():
    """Let no case take much more memory than the process has now."""
    try:
        import resource

        with open("/proc/self/statm") as file:
            size = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, size + MEMORY))
    except (ImportError, OSError):
        pass


def main(arguments=None):
    outcomes = Counter()
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as directory:
        targets = [make(directory) for make in TARGETS]
        limit_memory()

        def check(rng):
            [target] = rng.choices(targets, SHARES)
            mutate = rng.choice(BLIND + target.cunning)
            mmap = rng.choice([None, "r"])
            outcome = "FAILED"
            try:
                mutant = mutate(target.original, rng)
                outcome = target.check(mutant, mutate in BLIND, mmap)
            except Exception:
                print(f"{target.name}, {mutate.__name__}, mmap={mmap}", file=sys.stderr)
                raise
            finally:
                outcomes[target.name, mutate.__name__, outcome] += 1

        failed = fuzzing.run(arguments, __doc__, check, "files", PATIENCE)
    for (name, mutation, outcome), count in sorted(outcomes.items()):
        print(f"{name:14} {mutation:18} {outcome:8} {count:7,}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
