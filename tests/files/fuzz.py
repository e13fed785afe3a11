"""Mutate files and load them: nothing may crash, hang, over-allocate or raise but the declared errors.

``python -m tests.files.fuzz --seconds 600`` looks for new trouble; the suite runs 5,000 fixed cases.
A failure prints the number of its case: ``--first N --cases 1`` repeats it.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import json
import logging
import math
import os
import random
import struct
import sys
import tempfile
import time
import traceback
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from densvec import BayesianSkipGram, KeyedDensities, SkipGram, Word2Gauss
from densvec.files import persistence
from densvec.files.persistence import CHECKSUMS, DensvecFileError
from densvec.files.safetensors import DTYPES
from densvec.training.backend import UnstableTrainingError

MEMORY = 256 << 20  # bytes a case may have on top of what the process has after its first load
PATIENCE = 20  # seconds a case may take
NUMBERS = [
    0,
    1,
    -1,
    2,
    3,
    255,
    2**31,
    2**32,
    2**53,
    2**63 - 1,
    2**63,
    2**64,
    10**30,
    0.5,
    -0.0,
    1e308,
    1e-320,
]
VALUES = [
    *NUMBERS,
    None,
    True,
    False,
    "",
    "x",
    "\0",
    "\ud800",
    "NaN",
    [],
    {},
    [[]],
    [1, 2],
    {"a": 1},
    {"$float": "nan"},
]
FLOATS = [np.nan, np.inf, -np.inf, 3.4e38, -3.4e38, 1e-45, 0.0, -0.0, 1e30, -100.0, 100.0]


# Bytes, by one who knows nothing of the format. Every change must be found.


def flip_bits(content, rng):
    damaged = bytearray(content)
    for _ in range(rng.choice([1, 1, 1, 2, 8, 64])):
        damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
    return bytes(damaged)


def flip_header_bits(content, rng):
    damaged = bytearray(content)
    for _ in range(rng.choice([1, 1, 2])):
        damaged[rng.randrange(min(8 + header_size(content), len(content)))] ^= 1 << rng.randrange(8)
    return bytes(damaged)


def truncate(content, rng):
    return content[: rng.randrange(len(content))]


def insert(content, rng):
    place = rng.randrange(len(content) + 1)
    return content[:place] + rng.randbytes(rng.choice([1, 1, 4, 8, 64, 5000])) + content[place:]


def remove(content, rng):
    start = rng.randrange(len(content))
    return content[:start] + content[start + rng.choice([1, 1, 4, 8, 64, 500]) :]


def overwrite(content, rng):
    start, size = rng.randrange(len(content)), rng.choice([1, 4, 8, 64, 512])
    return (
        content[:start]
        + rng.choice([bytes(size), b"\xff" * size, rng.randbytes(size)])
        + content[start + size :]
    )[: len(content)]


def move(content, rng):
    a, b, size = rng.randrange(len(content)), rng.randrange(len(content)), rng.choice([4, 64, 512])
    piece = content[a : a + size]
    return (content[:b] + piece + content[b + len(piece) :])[: len(content)]


def nonsense(content, rng):
    return rng.choice(
        [b"", b"{", rng.randbytes(200), struct.pack("<Q", 2) + b"{}", struct.pack("<Q", 2**63) + content]
    )


# The header, by an enemy who knows the format and puts the checksums right.


def header_size(content):
    return int.from_bytes(content[:8], "little")


def take_apart(content):
    size = header_size(content)
    return json.loads(content[8 : 8 + size]), content[8 + size :]


def put_together(header, data):
    """Serialise the header and give it its right checksum, which follows the tensors'."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    text += b" " * (-(8 + len(text)) % 64)
    start = len(text).to_bytes(8, "little") + text
    return start + data[:-4] + struct.pack("<I", zlib.crc32(start))


def mend_tensors(header, data):
    """Return the data with the right checksum for every tensor."""
    places = sorted(
        e["data_offsets"] for name, e in header.items() if name not in ("__metadata__", CHECKSUMS)
    )
    sums = [zlib.crc32(data[start:stop]) for start, stop in places]
    return data[: -4 * len(sums) - 4] + struct.pack(f"<{len(sums)}I", *sums) + data[-4:]


def change_json(value, rng, depth=0):
    """Change one thing somewhere in a JSON document."""
    if isinstance(value, dict) and value and (depth == 0 or rng.random() < 0.8):
        key = rng.choice(list(value))
        kind = rng.random()
        changed = dict(value)
        if kind < 0.1:
            del changed[key]
        elif kind < 0.15:
            changed[rng.choice(["", "x", *value])] = changed.pop(key)
        else:
            changed[key] = change_json(value[key], rng, depth + 1)
        return changed
    if isinstance(value, list) and value and rng.random() < 0.8:
        changed = list(value)
        place = rng.randrange(len(value))
        kind = rng.random()
        if kind < 0.1:
            del changed[place]
        elif kind < 0.2:
            changed.insert(place, rng.choice(VALUES))
        else:
            changed[place] = change_json(value[place], rng, depth + 1)
        return changed
    if isinstance(value, (int, float)) and not isinstance(value, bool) and rng.random() < 0.6:
        return rng.choice([value + 1, value - 1, value * 2, -value, *NUMBERS])
    return rng.choice(VALUES)


def change_header(content, rng):
    header, data = take_apart(content)
    for _ in range(rng.choice([1, 1, 2, 3])):
        header = change_json(header, rng)
    return put_together(header, data)


def change_document(content, rng):
    header, data = take_apart(content)
    document = json.loads(header["__metadata__"]["densvec"])
    for _ in range(rng.choice([1, 1, 2, 3])):
        document = change_json(document, rng)
    header["__metadata__"]["densvec"] = json.dumps(document)
    return put_together(header, data)


def monstrous_header(content, rng):
    header, data = take_apart(content)
    text = json.dumps(header).encode()
    return put_together(
        rng.choice(
            [
                b'{"a":' + b"[" * 50_000 + b"]" * 50_000 + b"}",
                b'{"a":' + b'{"a":' * 50_000 + b"1" + b"}" * 50_001,
                text[:-1] + b',"x":' + b"9" * 10_000 + b"}",
                text[:-1] + b',"means":' + text + b"}",
                text.replace(b"means", b"\\u006deans", 1),
                text.replace(b'"shape"', b'"shape":[1],"shape"', 1),
                text + b" " * 100_000,
                text + b"\0",
                text.replace(b"[", b"[ \n\t", 3),
                b"{" + b",".join(b'"%d":0' % n for n in range(20_000)) + b"}",
            ]
        ),
        data,
    )


# The tensors, by the same enemy.


def change_numbers(content, rng):
    header, data = take_apart(content)
    name = rng.choice(
        [n for n, e in header.items() if n not in ("__metadata__", CHECKSUMS) and e["shape"] != [0]]
    )
    start, stop = header[name]["data_offsets"]
    if start == stop:
        return content
    changed = np.frombuffer(bytearray(data[start:stop]), DTYPES[header[name]["dtype"]])
    for _ in range(rng.choice([1, 1, 5])):
        place = rng.randrange(len(changed))
        if changed.dtype.kind == "f":
            with np.errstate(over="ignore"):
                changed[place] = rng.choice(FLOATS)
        else:
            changed[place] = np.array(rng.getrandbits(64) >> rng.choice([0, 32, 48, 56, 62]), "u8").astype(
                changed.dtype
            )
    data = data[:start] + changed.tobytes() + data[stop:]
    return put_together(header, mend_tensors(header, data))


def change_tensors(content, rng):
    """Drop, rename, retype, reshape or resize a tensor, with everything else in order."""
    with tempfile.NamedTemporaryFile(suffix=".dv") as file:
        file.write(content)
        file.flush()
        tensors, header = persistence.read(file.name)
        name = rng.choice(list(tensors))
        tensor = tensors[name]
        kind = rng.randrange(8)
        if kind == 0:
            del tensors[name]
        elif kind == 1:
            tensors[rng.choice(["x", "encoder.x", "training.x", "attributes.x", *tensors])] = tensors.pop(
                name
            )
        elif kind == 2:
            with np.errstate(all="ignore"):
                tensors[name] = tensor.astype(rng.choice(["f2", "f4", "f8", "i4", "i8", "u1", "?"]))
        elif kind == 3:
            tensors[name] = tensor.reshape(
                rng.choice([(-1,), (1, *tensor.shape), (*tensor.shape, 1), tensor.shape[::-1]])
            )
        elif kind == 4:
            tensors[name] = tensor[: rng.randrange(len(tensor) + 1)] if tensor.ndim else tensor[None]
        elif kind == 5:
            tensors[name] = np.concatenate([tensor, tensor[:1]]) if tensor.ndim else tensor[None]
        elif kind == 6:
            tensors[name] = tensors[rng.choice(list(tensors))]
        else:
            tensors[name] = np.zeros(rng.choice([(), (0,), (0, 0), (1, 1), (3, 0), (2, 2, 2)]), tensor.dtype)
        try:
            with np.errstate(all="ignore"):
                persistence.write(file.name, tensors, header)
        except ValueError:
            return content
        with open(file.name, "rb") as again:
            return again.read()


BLIND = [flip_bits, flip_header_bits, truncate, insert, remove, overwrite, move, nonsense]
CUNNING = [change_header, change_document, monstrous_header, change_numbers, change_tensors]


# What is loaded, and what is done with it when it loads.

SENTENCES = [["the", "cat", "sat", "é"], ["the", "dog", "sat", "\0"], ["New York", "\U0001f600", "the"]] * 4


@dataclass
class Target:
    """A whole file, what is done with mutants of it, and what is expected of them."""

    path: str
    use: Callable[[str, str | None], None]
    cunning: bool = True  # whether the mutations that know safetensors make sense
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
        **persistence.pack_words(["the", "cat", "New York", "é\0", "\U0001f600", ""]),
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
            persistence.unpack_vocabulary(tensors)
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
        wv.infer(wv.index_to_key[:3], word)


def words_target(directory, ending=""):
    """KeyedDensities."""
    path = os.path.join(directory, "words.dv" + ending)
    make_model().wv.save(path)

    def use(path, mmap):
        wv = KeyedDensities.load(path, mmap=None if ending else mmap)
        use_words(wv)
        if not ending:
            wv.save(path)

    return Target(path, use, cunning=not ending)


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

    return Target(path, use, cunning=False, checked=False, error=ValueError)


def binary_word2vec_target(directory):
    """The same, binary."""
    return word2vec_target(directory, binary=True)


def bsg_target(directory):
    """The two text files of the original BSG, of which the variances are damaged."""
    means, variances = (os.path.join(directory, name) for name in ("mu.vectors", "sigma.vectors"))
    words = ["the", "cat", "sat"]
    with open(means, "w") as file:
        file.writelines(f"{word} 0.5 -1.25 3e-5\n" for word in words)
    with open(variances, "w") as file:
        file.writelines(f"{word} 0.75\n" for word in words)

    def use(path, mmap):
        use_words(KeyedDensities.load_bsg_format(means, path))

    return Target(variances, use, cunning=False, checked=False, error=ValueError)


TARGETS = [
    words_target,
    model_target,
    layer_target,
    baseline_target,
    skipgram_target,
    compressed_target,
    word2vec_target,
    binary_word2vec_target,
    bsg_target,
]
SHARES = [5, 5, 3, 2, 2, 1, 1, 1, 1]  # how many of 21 cases each gets


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
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, help="go on for so long")
    parser.add_argument("--cases", type=int, help="or for this many cases")
    parser.add_argument("--first", type=int, help="number of the first case; random by default")
    options = parser.parse_args(arguments)
    first = random.SystemRandom().randrange(10**9) if options.first is None else options.first
    seconds = 10.0 if options.seconds is None and options.cases is None else options.seconds
    end = math.inf if seconds is None else time.monotonic() + seconds
    last = math.inf if options.cases is None else first + options.cases
    logging.disable()
    outcomes, failures, case = Counter(), 0, first
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as directory:
        targets = [make(directory) for make in TARGETS]
        limit_memory()
        while time.monotonic() < end and case < last:
            rng = random.Random(case)
            [target] = rng.choices(targets, SHARES)
            mutate = rng.choice(BLIND + CUNNING if target.cunning else BLIND)
            mmap = rng.choice([None, "r"])
            faulthandler.dump_traceback_later(PATIENCE, exit=True)
            try:
                mutant = mutate(target.original, rng)
                outcome = target.check(mutant, mutate in BLIND, mmap)
            except Exception:
                failures += 1
                outcome = "FAILED"
                print(f"case {case}: {target.name}, {mutate.__name__}, mmap={mmap}", file=sys.stderr)
                traceback.print_exc()
            faulthandler.cancel_dump_traceback_later()
            outcomes[target.name, mutate.__name__, outcome] += 1
            case += 1
    for (name, mutation, outcome), count in sorted(outcomes.items()):
        print(f"{name:14} {mutation:18} {outcome:8} {count:7,}")
    print(f"{case - first:,} files from case {first}, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
