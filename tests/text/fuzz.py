"""Read, count, encode and sample generated text: the same words as Python finds, and nothing else may happen.

``python -m tests.text.fuzz --seconds 600`` looks for new trouble; the suite runs a few hundred fixed cases.
A failure prints the number of its case: ``--first N --cases 1`` repeats it.
"""

from __future__ import annotations

import io
import itertools
import sys

import numpy as np

from densvec._corpus import Sampler
from densvec.native._skipgram import Kernel
from densvec.text._raw import Tokeniser
from densvec.text._text import TextReader
from densvec.text._words import SentenceReader, WordCounter, WordIndex
from tests import fuzzing
from tests.text.test_raw import in_pieces

PATIENCE = 60  # seconds a case may take
HANDLERS = ["replace", "ignore", "backslashreplace", "surrogateescape"]
PIECES = [
    *(
        b" ",
        b"\n",
        b"\t",
        b"\r\n",
        b"\x1c",
        b"\x00",
        b"\x7f",
        b"\xef\xbb\xbf",
        b"\xef\xbf\xbd",
        b"'",
        b"-",
        b". ",
        b",",
    ),
    *("\x85\xa0\u1680\u2000\u200a\u2028\u202f\u205f\u3000".encode()[i : i + 3] for i in range(0, 24, 2)),
    *(
        c.encode("utf-8", "surrogatepass")
        for c in "é\u0130\u03a3\u023a日\u200b\u180e\U0001f600\ud800\udfff\xad\u0964"
    ),
    *(b"\xc0\x80", b"\xe2\x82", b"\xf0\x9f\x92", b"\xf4\x90\x80\x80", b"\xed\xa0\x80", b"\xff", b"\x80\x80"),
]


class Dribble(io.RawIOBase):
    """A file that gives as many bytes at a time as it likes."""

    def __init__(self, data, rng):
        self.data, self.rng, self.at = data, rng, 0
        self.most = rng.choice([1, 3, 17, 1000, 1 << 20])

    def readinto(self, view):
        n = min(len(view), self.rng.randint(1, self.most), len(self.data) - self.at)
        view[:n] = self.data[self.at : self.at + n]
        self.at += n
        return n


def generated(rng):
    """Return some bytes: text, what looks like it, and what does not."""
    vocabulary = [
        bytes(rng.choices(range(33, 127), k=rng.choice([1, 2, 7, 8, 9, 15, 16, 17, 24, 31, 33, 200])))
        for _ in range(rng.randint(1, 40))
    ]
    parts = []
    for _ in range(rng.choice([0, 1, 10, 100, 1000])):
        kind = rng.random()
        if kind < 0.45:
            parts += [rng.choice(vocabulary), rng.choice([b" ", b" ", b"\n"])]
        elif kind < 0.9:
            parts.append(rng.choice(PIECES) * rng.choice([1, 1, 1, 2, 50]))
        else:
            parts.append(rng.randbytes(rng.randint(1, 12)))
    return b"".join(parts)


def reference(text, longest, newlines):
    """Return the sentences of a text, as Python splits it."""
    sentences = []
    for line in text.split("\n") if newlines else [text]:
        tokens = line.split()
        sentences += [tokens[i : i + longest] for i in range(0, len(tokens), longest)]
    return sentences


def blocks_of(reader, chunk_words):
    return list(iter(lambda: reader.next_block(chunk_words), None))


def require(condition, law):
    if not condition:
        raise AssertionError(law)


def check(rng):
    """Check one generated text."""
    data, errors = generated(rng), rng.choice(HANDLERS)
    longest, newlines, chunk_words = (
        rng.choice([1, 3, 10_000]),
        rng.random() < 0.8,
        rng.choice([1, 5, 500, 10**9]),
    )
    options = {"errors": errors, "max_sentence_length": longest, "newlines": newlines}

    def reader():
        size = rng.choice([16, 64, 1 << 12, 1 << 20])
        return TextReader([("text", lambda: Dribble(data, rng))], buffer_size=size, **options)

    expected = reference(data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors), longest, newlines)
    blocks = blocks_of(reader(), chunk_words)
    require([s for block in blocks for s in block.sentences()] == expected, "sentences are those of Python")
    counts = {}
    for word in itertools.chain.from_iterable(expected):
        counts[word] = counts.get(word, 0) + 1
    counter, others = WordCounter(), WordCounter()
    counter.count(reader())
    others.count_sentences(expected)
    for found in (counter, others):
        require(list(found.counts().items()) == list(counts.items()), "counts, in order of appearance")
        require((found.words, found.examples) == (sum(counts.values()), len(expected)), "numbers of words")
        found.prune()
        found.prune()
        require(found.counts() == {word: n for word, n in counts.items() if n > 1}, "rare words are dropped")
    known = {word: i for i, word in enumerate(rng.sample(list(counts), len(counts) // 2))}
    index = WordIndex(known)
    encoded = [index.encode(block) for block in blocks]
    sentences = SentenceReader([*expected], index, max_sentence_length=longest)
    for one, other in zip(encoded, blocks_of(sentences, chunk_words), strict=True):
        require(one.ids.tolist() == other.ids.tolist(), "text and token lists are encoded alike")
        require((one.words, one.number) == (other.words, other.number), "and in blocks alike")
    ids = [known[word] for word in itertools.chain.from_iterable(expected) if word in known]
    require([i for block in encoded for i in block.ids.tolist()] == ids, "ids are those of the words")
    if len(known) > 1:
        train(encoded, len(known), rng)
    check_raw(data, rng)


def train(blocks, words, rng):
    """Sample chunks and train on them."""
    sampler = Sampler(
        np.linspace(1.0, rng.random(), words),
        np.linspace(1.0, 5.0, words),
        window=rng.choice([1, 5, 1_000_000]),
        negative=rng.choice([0, 1, 7]),
        pairing=rng.choice(["shared", "paired"]),
        shrink_windows=rng.random() < 0.5,
    )
    tables = {name: np.full((words, 3), 0.1, np.float32) for name in ("means", "context_vectors")}
    kernel = Kernel(tables)
    for block in blocks:
        if len(block.ids) < 300:  # or windows as wide as the text take their time
            require(np.isfinite(kernel.step(sampler.sample(block, 0), 0.01)[0]), "the loss is finite")


def check_raw(data, rng):
    """Tokenise the same bytes as raw text, in pieces of any size."""
    options = {name: rng.random() < 0.5 for name in ("lower", "keep_numbers", "line_ends")}
    text = data.decode("utf-8", "replace")
    whole = Tokeniser(**options).feed(text, final=True)
    pieces = in_pieces(text, rng.choice([1, 16, 100, 1 << 18]), **options)
    require(whole == pieces, "raw text is tokenised alike in pieces of any size")
    lines = whole.split("\n")
    require(not whole or all(token for line in lines for token in line.split(" ")), "no token is empty")


def main(arguments=None):
    return fuzzing.run(arguments, __doc__, check, "texts", PATIENCE)


if __name__ == "__main__":
    sys.exit(main())
