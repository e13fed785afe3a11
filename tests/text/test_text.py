"""Reading text: the sentences are those of Python's own split, whatever the buffer, the bytes and the line lengths."""

import codecs
import io
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from densvec.text._text import TextReader
from densvec.text._words import WordCounter, WordIndex

SPACES = " \t\n\v\f\r\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2005\u200a\u2028\u2029\u202f\u205f\u3000"
NO_SPACES = "\u200b\u180e\ufeff\u2060\u2027\u202a\x00\x1b\x7f"  # look like whitespace, yet split() keeps them
ALPHABET = st.sampled_from(SPACES + NO_SPACES + "aaabcé日𝔸" + "\n" * 10 + " " * 20)
TEXT = st.text(ALPHABET, max_size=120)
LONG_WORDS = st.lists(st.text("ab", min_size=1, max_size=40), max_size=30).map(" ".join)


class Dribble(io.RawIOBase):
    """A file that gives a few bytes at a time."""

    def __init__(self, data, step):
        self.data, self.step, self.at = data, step, 0

    def readable(self):
        return True

    def readinto(self, view):
        n = min(len(view), self.step, len(self.data) - self.at)
        view[:n] = self.data[self.at : self.at + n]
        self.at += n
        return n


def reader(*texts, step=1 << 20, **options):
    encoded = [text.encode("utf-8") if isinstance(text, str) else text for text in texts]
    return TextReader([(f"text {i}", lambda t=t: Dribble(t, step)) for i, t in enumerate(encoded)], **options)


def blocks(reader, chunk_words=10):
    result = []
    while (block := reader.next_block(chunk_words)) is not None:
        result.append(block)
    return result


def reference(text, longest=10_000, newlines=True):
    """The sentences of a text, as Python splits it."""
    sentences = []
    for line in text.split("\n") if newlines else [text]:
        tokens = line.split()
        sentences += [tokens[i : i + longest] for i in range(0, len(tokens), longest)]
    return sentences


def in_blocks(sentences, chunk_words):
    """The numbers of words in runs of whole sentences, each run as short as it can be."""
    sizes, words = [], 0
    for sentence in sentences:
        words += len(sentence)
        if words >= chunk_words:
            sizes.append(words)
            words = 0
    return sizes + [words] * (words > 0)


@settings(max_examples=300, deadline=None)
@given(
    text=st.one_of(TEXT, LONG_WORDS),
    longest=st.integers(1, 6),
    chunk_words=st.integers(1, 12),
    step=st.integers(1, 40),
    buffer_size=st.sampled_from([16, 40, 1 << 16]),
    newlines=st.booleans(),
)
@example("\u3000" * 50 + "a" + " \n" * 50 + "b", 2, 5, 3, 16, True)
def test_sentences_and_blocks_are_those_of_the_reference(
    text, longest, chunk_words, step, buffer_size, newlines
):
    expected = reference(text.removeprefix("\ufeff"), longest, newlines)
    options = {
        "step": step,
        "max_sentence_length": longest,
        "newlines": newlines,
        "buffer_size": buffer_size,
    }
    found = blocks(reader(text, **options), chunk_words)
    assert [sentence for block in found for sentence in block.sentences()] == expected
    assert [block.words for block in found] == in_blocks(expected, chunk_words)
    assert [block.number for block in found] == list(range(len(found)))
    assert sum(block.examples for block in found) == len(expected)
    # Encoded with every word known, the same words come back.
    words = list(dict.fromkeys(word for sentence in expected for word in sentence))
    index = WordIndex(words)
    decoded = []
    for block in found:
        encoded = index.encode(block)
        bounds = encoded.sentences.tolist()
        decoded += [[words[i] for i in encoded.ids[a:b].tolist()] for a, b in pairwise(bounds)]
    assert decoded == expected
    # And counted, they are the same words in the same order.
    counter = WordCounter()
    counter.count(reader(text, **options))
    assert list(counter.counts()) == words
    assert (counter.words, counter.examples) == (sum(map(len, expected)), len(expected))


@settings(max_examples=300, deadline=None)
@given(
    data=st.lists(
        st.one_of(
            st.binary(max_size=6),
            st.sampled_from(
                [b" ", b"\n", b"ab", b"\xe2\x82", b"\xf0\x9f\x92", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90"]
            ),
        ),
        max_size=20,
    ).map(b"".join),
    errors=st.sampled_from(["replace", "ignore", "backslashreplace", "surrogateescape"]),
    step=st.integers(1, 30),
    buffer_size=st.sampled_from([16, 1 << 16]),
)
def test_bytes_that_are_not_utf8_become_what_python_makes_of_them(data, errors, step, buffer_size):
    if data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
    source = reader(data, step=step, buffer_size=buffer_size, errors=errors)
    found = [sentence for block in blocks(source) for sentence in block.sentences()]
    assert found == reference(data.decode("utf-8", errors))
    if errors == "backslashreplace":  # one escape per byte
        return
    if errors == "replace":
        assert source.replaced == data.decode("utf-8", "replace").count("\ufffd") - data.count(
            b"\xef\xbf\xbd"
        )


def test_strict_names_the_file_and_the_byte():
    source = reader(b"fine\n" * 1000 + b"caf\xe9 \n", errors="strict", buffer_size=64)
    with pytest.raises(UnicodeDecodeError, match="byte 5003 of text 0"):
        blocks(source)


@pytest.mark.parametrize("errors", ["replace", "ignore", "surrogateescape"])
def test_repairing_bytes_needs_no_more_memory_than_reading_them(errors):
    source = reader((b"\xff" * 9 + b" ") * 800_000, errors=errors)
    tracemalloc.start()
    words = sum(block.words for block in iter(lambda: source.next_block(10_000), None))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert words == (0 if errors == "ignore" else 800_000)
    assert peak < 20_000_000


@pytest.mark.parametrize("position", [10**6, -(10**6)])
def test_a_handler_that_points_elsewhere_is_an_error(position):
    codecs.register_error("densvec-test-handler", lambda error: ("?", position))
    with pytest.raises(IndexError, match="out of bounds"):
        blocks(reader(b"abc\xff e", errors="densvec-test-handler"))


@pytest.mark.parametrize("claimed", [10**9, -3])
def test_a_file_that_claims_to_have_read_what_it_was_not_asked_for_is_an_error(claimed):
    class Liar(Dribble):
        def readinto(self, view):
            return claimed

    with pytest.raises(OSError, match=f"liar: asked for .* {claimed}"):
        TextReader([("liar", lambda: Liar(b"", 1))]).next_block(10)


@pytest.mark.parametrize("again", [lambda r: r.next_block(1), lambda r: WordCounter().count(r)])
def test_a_file_cannot_read_the_text_that_it_is_part_of(again):
    class Snake(Dribble):
        def readinto(self, view):
            again(snake)
            return super().readinto(view)

    snake = TextReader([("snake", lambda: Snake(b"tail " * 100, 5))])
    with pytest.raises(RuntimeError, match="already being read"):
        snake.next_block(1)


@pytest.mark.parametrize("chunk_words", [0, -1, 2**31])
def test_blocks_are_no_larger_than_their_positions_can_count(chunk_words):
    with pytest.raises(ValueError, match=str(chunk_words)):
        reader("a b").next_block(chunk_words)


def test_an_unknown_error_handler_is_refused_at_once():
    with pytest.raises(LookupError, match="nonsense"):
        reader("", errors="nonsense")


def test_sources_follow_one_another_without_joining_their_lines():
    source = reader("a b", "\ufeffc\nd", "", "e", max_sentence_length=5)
    assert [s for b in blocks(source) for s in b.sentences()] == [["a", "b"], ["c"], ["d"], ["e"]]


def test_a_byte_order_mark_is_dropped_at_the_start_only():
    assert blocks(reader("\ufeffa\n\ufeffb", step=1))[0].sentences() == [["a"], ["\ufeffb"]]
    assert blocks(reader("\ufeffa", offset=7))[0].sentences() == [["\ufeffa"]]


@pytest.mark.parametrize(("limit", "lines"), [(0, 0), (1, 1), (3, 3), (9, 4), (None, 4)])
@pytest.mark.parametrize("step", [1, 100])
def test_limit_counts_lines_with_and_without_words(limit, lines, step):
    text = "a\n\nb c\nd"
    expected = reference("\n".join(text.split("\n")[:lines]))
    found = [s for b in blocks(reader(text, limit=limit, step=step)) for s in b.sentences()]
    assert found == expected


@pytest.mark.parametrize(
    ("piece", "words"),
    [(b"tick tock ", 2), (b"x" + b" " * 9999, 1), (b"y" + b"\n" * 4999 + b" " * 5000, 1)],
    ids=["one line", "runs of spaces", "empty lines"],
)
def test_memory_is_bounded_by_the_words_of_a_block(piece, words):
    """20 MB without a useful line end pass through the buffer of 1 MiB."""

    class Endless(io.RawIOBase):
        left = 20_000_000 // len(piece)

        def readinto(self, view):
            n = min(self.left, len(view) // len(piece))
            view[: n * len(piece)] = piece * n
            self.left -= n
            return n * len(piece)

    total = 20_000_000 // len(piece) * words
    source = TextReader([("endless", Endless)], max_sentence_length=1000)
    tracemalloc.start()
    seen = 0
    while (block := source.next_block(1000)) is not None:
        seen += block.words
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert seen == total
    assert peak < 8_000_000


def test_a_block_may_come_byte_by_byte():
    """Squeezing what was read at every byte would take hours."""
    (block,) = blocks(reader("ab cd " * 50_000, step=1, buffer_size=16), 10**9)
    assert block.words == 100_000


def test_a_single_giant_word_is_read_whole():
    word = "é" * 3_000_000
    assert blocks(reader(f"a {word} b", buffer_size=1 << 12))[0].sentences() == [["a", word, "b"]]


def test_tables_hold_many_words_of_all_lengths():
    words = [f"{'w' * (i % 40)}{i}" for i in range(60_000)]
    text = "\n".join(words + words[::2])
    counter = WordCounter()
    counter.count(reader(text))
    counts = counter.counts()
    assert list(counts) == words
    assert list(counts.values()) == [2, 1] * 30_000
    assert counter.counts(min_count=2) == dict.fromkeys(words[::2], 2)
    assert counter.frequencies().tolist() == [2, 1] * 30_000
    index = WordIndex({word: i + 5 for i, word in enumerate(words)})
    (block,) = blocks(reader(text), 10**9)
    assert index.encode(block).ids.tolist() == [*range(5, 60_005), *range(5, 60_005, 2)]


def crafted_words(number):
    """Words of sixteen letters that have one place in a table whose hash has no key (the one densvec had)."""
    factor, second = np.uint64(0xD6E8FEB86659FD93), np.uint64(0xA0761D6478BD642F)
    first = np.uint64(16 * 0x9E3779B97F4A7C15 % 2**64)
    inverse, half = np.uint64(pow(0xD6E8FEB86659FD93, -1, 2**64)), np.uint64(32)
    rng = np.random.default_rng(0)
    words = []
    while len(words) < number:
        low = rng.integers(97, 123, (1 << 18, 8), dtype=np.uint8)
        wanted = rng.integers(0, 2**44, len(low), dtype=np.uint64) << np.uint64(20)  # the lowest bits are 0
        mixed = (first ^ low.view(np.uint64)[:, 0]) * factor
        mixed = (mixed ^ (mixed >> half)) * second
        high = ((wanted ^ (wanted >> half)) * inverse ^ mixed)[:, None].view(np.uint8)
        readable = ((high > 32) & (high < 127)).all(axis=1)
        words += [bytes(word).decode() for word in np.hstack([low, high])[readable]]
    return words[:number]


def test_no_text_makes_the_words_of_a_table_crowd():
    words = crafted_words(1000)
    counter = WordCounter()
    counter.count(reader("\n".join(words)))
    assert list(counter.counts()) == words
    assert counter.longest_search() < 100


def test_merged_counters_count_the_texts_together():
    first, second, both = WordCounter(), WordCounter(), WordCounter()
    first.count(reader("b a\na"))
    second.count(reader("c b\nc"))
    both.count(reader("b a\na\nc b\nc"))
    first.merge(second)
    assert list(first.counts().items()) == list(both.counts().items())
    assert (first.words, first.examples) == (both.words, both.examples)


@pytest.mark.parametrize("number", [-1, 2**31])
def test_ids_must_fit(number):
    with pytest.raises(ValueError, match="'a'"):
        WordIndex({"a": number})


def test_an_error_while_reading_comes_through_and_the_source_is_closed():
    class Broken(Dribble):
        def readinto(self, view):
            if self.at:
                raise OSError("unplugged")
            return super().readinto(view)

    opened = []
    source = TextReader([("broken", lambda: opened.append(Broken(b"a b c", 3)) or opened[0])])
    with pytest.raises(OSError, match="unplugged"):
        source.next_block(10)
    source.close()
    assert opened[0].closed
