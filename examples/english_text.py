#!/usr/bin/env python
"""Make one clean text of several large ones, for examples/train_english.py.

    python examples/english_text.py wikipedia.txt gutenberg.txt:0.05 -o text.txt

Each input has a paragraph per line, with capitals and punctuation; `:0.05` takes so large a share of it, in pieces.
What is taken out: markup, headings, tables and lists, paragraphs that stand there twice, and all but a few of those
that robots wrote by filling in names and numbers. Pieces of the inputs take turns, so that the learning rate falls
over all of them alike. Pairs of words that belong together (*New_York*) become one word in every other paragraph, so
that they are learnt as a phrase and as two words. Beside the text, FILE.words has for each word how often it occurs in
a part of the text, and how often it is written like a name there.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from densvec.phrases import Phrases

PIECE = 1 << 20  # bytes of a piece
ALIKE = 10  # paragraphs kept of those that differ in names and numbers only
PART = 16  # words and pairs are counted in one of so many paragraphs

#: Words that sentences are built with: no text without them, and no phrase with them.
_SMALL = """
a an the this that these those some any no each every all both such same other another many much more most few less
of in on at by for with from to into onto upon about against between among through during before after above below
under over out off up down near than as like per via within without since until while and or but nor so yet if then
because though although whether when where why how who whom whose which what there here i you he she it we they me
him her us them my your his its our their mine yours hers ours theirs himself herself itself themselves myself is am
are was were be been being have has had having do does did done doing will would shall should can could may might
must not also only just very too well even still again ever never once often always however therefore thus one two
three four five six seven eight nine ten hundred thousand million billion first second third several
january february march april june july august september october november december mr mrs ms dr st
"""
SMALL = frozenset(_SMALL.split())

ODD = re.compile(r"[\[|}<=#]|://|www\.|formula_|codice_|\( ")
MARKUP = re.compile(r"\{\{|\}\}|\[\[|\]\]|\||rft[._]|</?\w+|/>|\w=\"|#if")
LEAVE = re.compile(
    r"https?://\S+|www\.\S+|\[ ?\[?update\]?\]?|(?:formula|codice)_\d+|\(\s*[;,]?\s*\)|\[\d+\]"
)
ENDS = ".,;:!?()\"'“”‘’"  # noqa: RUF001 - as they are written


def clean(lines: Iterable[str]) -> Iterator[list[str]]:
    """Yield the paragraphs that are prose, each one once, as lists of words with their punctuation."""
    seen: set[int] = set()
    alike: Counter[int] = Counter()
    for line in lines:
        if ODD.search(line):
            line = LEAVE.sub(" ", line)
            if MARKUP.search(line):
                continue
        words = line.split()
        if len(words) < 6 or sum(map(SMALL.__contains__, words)) < 0.15 * len(words) or " refer to:" in line:
            continue
        key, pattern = hash(line), hash(" ".join(filter(str.islower, words[:30])))
        alike[pattern] += 1
        if key not in seen and alike[pattern] <= ALIKE:
            seen.add(key)
            yield words


def lines_of(path: str, share: float, rng: random.Random) -> Iterator[str]:
    """Yield the lines of a share of a file's pieces."""
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        for start in range(0, size, PIECE):
            if rng.random() < share:
                file.seek(max(0, start - 1))
                if start:
                    file.readline()  # the line that began before this piece belongs to the one before
                while file.tell() < start + PIECE and (line := file.readline()):
                    yield line.decode("utf-8", "replace")


def mixed(inputs: list[tuple[str, float]], seed: int) -> Iterator[list[str]]:
    """Yield the paragraphs of all inputs, which take turns such that all of them end together."""
    rng = random.Random(seed)
    left = {i: os.path.getsize(path) * share for i, (path, share) in enumerate(inputs)}
    sources = {i: clean(lines_of(path, share, random.Random(seed))) for i, (path, share) in enumerate(inputs)}
    while sources:
        [i] = rng.choices(list(sources), [max(1.0, left[i]) for i in sources])
        size = 0
        for words in sources[i]:
            yield words
            size += sum(map(len, words)) + len(words)
            if size >= PIECE:
                break
        else:
            del sources[i]
        left[i] -= size


class Sample:
    """What is counted in a part of the text: words, how often they are written like names, and phrases."""

    def __init__(self, paragraphs: Iterable[list[str]], count: int, threshold: float) -> None:
        self.counts: Counter[str] = Counter()
        self.capitals: Counter[str] = Counter()
        found = Phrases(map(self._counted, paragraphs), min_count=max(1, count // PART), threshold=threshold)
        self.phrases = {
            pair
            for pair in found.scores
            if not any(word in SMALL or len(word) < 2 or not word.isalpha() for word in pair)
        }
        self.firsts = {form for first, _ in self.phrases for form in (first, first.capitalize())}

    def _counted(self, words: list[str]) -> list[str]:
        written = [word.strip(ENDS) for word in words]
        low = [word.lower() for word in written]
        self.counts.update(low)
        begins = [True, *(word[-1] in ".!?:" for word in words[:-1])]
        self.capitals.update(
            a for a, b, begin in zip(low, written, begins, strict=True) if a != b and not begin
        )
        return low

    def joined(self, words: list[str]) -> list[str]:
        """Return a paragraph with its phrases joined."""
        if self.firsts.isdisjoint(words):
            return words
        joined: list[str] = []
        for word in words:
            before = joined[-1] if joined else ""
            if before in self.firsts and (before.lower(), word.rstrip(ENDS).lower()) in self.phrases:
                joined[-1] = f"{before}_{word}"
            else:
                joined.append(word)
        return joined


def main() -> None:
    """Count, clean, mix, join, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("input", nargs="+", help="a text, or FILE:SHARE for a share of it")
    parser.add_argument("-o", "--output", required=True, help="the text")
    parser.add_argument(
        "--seed", type=int, default=1, help="seed of the shares and of the turns (default: 1)"
    )
    parser.add_argument(
        "--phrase-count", type=int, default=200, help="rarer pairs are no phrases (default: 200)"
    )
    parser.add_argument("--threshold", type=float, default=0.5, help="see densvec.phrases (default: .5)")
    args = parser.parse_args()
    inputs = []
    for name in args.input:
        path, colon, share = name.rpartition(":")
        inputs.append((path, float(share)) if colon else (name, 1.0))
    clean_text = Path(args.output + ".clean")
    sampled: list[list[str]] = []
    with clean_text.open("w", encoding="utf-8") as target:
        for i, words in enumerate(mixed(inputs, args.seed)):
            target.write(" ".join(words) + "\n")
            if i % PART == 0:
                sampled.append(words)
    sample = Sample(sampled, args.phrase_count, args.threshold)
    del sampled
    digest, total = hashlib.sha256(), 0
    with clean_text.open(encoding="utf-8") as source, open(args.output, "wb") as target:
        for i, line in enumerate(source):
            words = line.split()
            total += len(words)
            data = (" ".join(sample.joined(words)) + "\n").encode() if i % 2 else line.encode()
            digest.update(data)
            target.write(data)
    clean_text.unlink()
    with open(args.output + ".words", "w", encoding="utf-8") as target:
        for word, count in sample.counts.most_common():
            if count >= 3:
                target.write(f"{word}\t{count}\t{sample.capitals[word]}\n")
    print(f"{args.output}: {total:,} words, {len(sample.phrases):,} phrases, sha256 {digest.hexdigest()}")


if __name__ == "__main__":
    main()
