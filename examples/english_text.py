#!/usr/bin/env python
"""Make one clean text of several large ones, as examples/train_english.py reads it: a sentence per line, lower-cased.

    python examples/english_text.py wikipedia.txt gutenberg.txt:0.05 -o english.txt

Each input has a paragraph per line, with capitals and punctuation; `:0.05` takes a twentieth of it, in pieces. What is
taken out: markup, headings, tables and lists, paragraphs that stand there twice, and all but a few of those that robots
wrote by filling in names and numbers. Pieces of the inputs take turns, so that the learning rate falls over all of them
alike. Pairs of words that belong together (*new york*) become one word in every other sentence, so that they are
learnt as a phrase and as two words. Beside the text, FILE.words has for each word how often it occurs and how often it
is written like a name.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from densvec.corpora import RawText
from densvec.phrases import Phrases

PIECE = 1 << 20  # characters of a piece
ALIKE = 10  # paragraphs kept of those that differ in names and numbers only

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

MARKUP = re.compile(
    r"\{\{|\}\}|\[\[|\]\]|\||rft[._]|</?\w+|/>|\w=\"|#if|may (?:also )?refer to|may stand for"
)
LEAVE = re.compile(r"https?://\S+|www\.\S+|\[ ?\[?update\]?\]?|formula_\d+|\(\s*[;,]?\s*\)|\[\d+\]")
WORD = re.compile(r"[^\W\d_]+")
FILLED = re.compile(r"\b[A-Z]\w*|\d+")


def is_prose(paragraph: str) -> bool:
    """Return whether a paragraph is made of sentences: no heading, list, table or formula."""
    words = WORD.findall(paragraph)
    if len(words) < 6 or sum(map(len, words)) < 0.6 * len(paragraph):
        return False
    return sum(word.lower() in SMALL for word in words) >= 0.15 * len(words)


def clean(lines: Iterable[str]) -> Iterator[str]:
    """Yield the paragraphs that are prose, each one once."""
    seen: set[bytes] = set()
    alike: Counter[int] = Counter()
    for line in lines:
        paragraph = " ".join(LEAVE.sub(" ", line).split())
        if MARKUP.search(paragraph) or not is_prose(paragraph):
            continue
        key = hashlib.blake2b(paragraph.lower().encode(), digest_size=8).digest()
        pattern = hash(FILLED.sub("", paragraph[:200]))
        alike[pattern] += 1
        if key not in seen and alike[pattern] <= ALIKE:
            seen.add(key)
            yield paragraph


def pieces(path: str, share: float, rng: random.Random) -> Iterator[list[str]]:
    """Yield runs of clean paragraphs, `share` of all."""
    with open(path, encoding="utf-8", errors="replace") as file:
        run: list[str] = []
        size = 0
        for paragraph in clean(file):
            run.append(paragraph)
            size += len(paragraph)
            if size >= PIECE:
                if rng.random() < share:
                    yield run
                run, size = [], 0
        if run and rng.random() < share:
            yield run


def mixed(inputs: list[tuple[str, float]], seed: int) -> Iterator[str]:
    """Yield the paragraphs of all inputs, whose pieces take turns such that all of them end together."""
    rng = random.Random(seed)
    left = {i: Path(path).stat().st_size * share for i, (path, share) in enumerate(inputs)}
    sources = {i: pieces(path, share, rng) for i, (path, share) in enumerate(inputs)}
    while sources:
        [i] = rng.choices(list(sources), [max(1.0, left[i]) for i in sources])
        piece = next(sources[i], None)
        if piece is None:
            del sources[i]
            continue
        left[i] -= sum(map(len, piece))
        yield from piece


def find_phrases(text: Path, part: int, count: int, threshold: float) -> Phrases:
    """Return the pairs of words that belong together in one of `part` sentences."""
    sentences = (
        [word.lower() for word in sentence]
        for i, sentence in enumerate(RawText(text, lower=False, wrapped=False))
        if i % part == 0
    )
    found = Phrases(sentences, min_count=max(1, count // part), threshold=threshold)
    found.scores = {
        pair: score
        for pair, score in found.scores.items()
        if not any(word in SMALL or len(word) < 2 or "'" in word for word in pair)
    }
    return found


def main() -> None:
    """Clean, mix, find phrases, write."""
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
    capitals: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(dir=Path(args.output).resolve().parent) as folder:
        raw = Path(folder) / "raw.txt"
        with raw.open("w", encoding="utf-8") as target:
            for paragraph in mixed(inputs, args.seed):
                target.write(paragraph + "\n")
        phrases = find_phrases(raw, 4, args.phrase_count, args.threshold)
        print(f"{len(phrases):,} phrases", flush=True)
        with open(args.output, "w", encoding="utf-8") as target:
            for i, written in enumerate(RawText(raw, lower=False, wrapped=False)):
                words = [word.lower() for word in written]
                capitals.update(low for low, word in zip(words[1:], written[1:], strict=True) if low != word)
                counts.update(words[1:])
                if i % 2:
                    words = phrases[words]
                target.write(" ".join(words) + "\n")
    with open(args.output + ".words", "w", encoding="utf-8") as target:
        for word, count in counts.most_common():
            if count >= 5:
                target.write(f"{word}\t{count}\t{capitals[word]}\n")
    digest = hashlib.sha256(Path(args.output).read_bytes()).hexdigest()
    print(f"{args.output}: {sum(counts.values()):,} words, sha256 {digest}")


if __name__ == "__main__":
    main()
