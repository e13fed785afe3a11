"""Counting: against a ten-line reference and gensim, for any text, however it is read."""

import bz2
import gzip
import lzma
import os
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from gensim.models import Word2Vec
from hypothesis import given, settings
from hypothesis import strategies as st

from densvec.corpora import LineSentence
from densvec.text.thinning import keep_probabilities
from densvec.text.vocabulary import RULE_DEFAULT, RULE_DISCARD, RULE_KEEP, count_words, grow, select

ODD = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)
SPACED = st.lists(
    st.sampled_from(
        [
            "a",
            "b",
            "ab",
            "é",
            "日本",
            " ",
            "\t",
            "\u3000",
            "\xa0",
            "\u2028",
            "\x1c",
            "\x85",
            "\r",
            "\n",
            "\0",
            "",
        ]
    )
).map("".join)


def reference(text, longest=10_000):
    """Count as Python splits: by '\\n' into lines, by white space into tokens."""
    counts, sentences = Counter(), 0
    for line in text.split("\n"):
        tokens = line.split()
        counts.update(tokens)
        sentences += -(-len(tokens) // longest)
    return counts, sentences


@settings(max_examples=150, deadline=None)
@given(text=st.one_of(ODD, SPACED, st.lists(ODD).map("\n".join)), workers=st.integers(1, 3))
def test_a_file_counts_as_python_splits(tmp_path_factory, text, workers):
    path = tmp_path_factory.mktemp("text") / "odd.txt"
    path.write_bytes(text.encode())
    counts, sentences = reference(text.removeprefix("\ufeff"))
    raw = count_words(corpus_file=path, workers=workers)
    assert raw.counts == dict(counts)
    assert raw.total_words == sum(counts.values())
    assert raw.sentence_count == sentences
    assert list(raw.counts) == list(counts), "in order of first appearance"


@settings(max_examples=50, deadline=None)
@given(sentences=st.lists(st.lists(st.text(min_size=1, max_size=3), max_size=6), max_size=6))
def test_token_lists_count_as_they_are(sentences):
    raw = count_words(sentences)
    assert raw.counts == dict(Counter(word for sentence in sentences for word in sentence))
    assert raw.total_words == sum(map(len, sentences))
    assert raw.sentence_count == len(sentences)


@pytest.fixture(scope="module")
def zipfian(tmp_path_factory):
    rng = np.random.default_rng(1)
    path = tmp_path_factory.mktemp("zipf") / "zipf.txt"
    lines = rng.zipf(1.3, size=(4000, 12)) % 5000
    path.write_text("".join(" ".join(f"w{i}" for i in line) + "\n" for line in lines.tolist()))
    return path


@pytest.mark.parametrize("options", [{}, {"min_count": 1}, {"min_count": 20}, {"max_final_vocab": 50}])
def test_words_and_counts_are_gensims(zipfian, options):
    theirs = Word2Vec(**{"min_count": 5, **options})
    theirs.build_vocab(corpus_file=str(zipfian))
    for workers in (1, 2, 4):
        ours = select(count_words(corpus_file=zipfian, workers=workers), **{"min_count": 5, **options})
        assert dict(zip(ours.words, ours.counts.tolist(), strict=True)) == {
            word: theirs.wv.get_vecattr(word, "count") for word in theirs.wv.key_to_index
        }
        assert (np.diff(ours.counts) <= 0).all(), "by descending count"


def test_ties_are_in_order_of_first_appearance():
    vocabulary = select(count_words([["d", "b", "c", "a", "c"]]), min_count=1)
    assert vocabulary.words == ["c", "d", "b", "a"]


def test_pruning_keeps_the_vocabulary_small_and_the_frequent_words_right(zipfian):
    raw = count_words(corpus_file=zipfian, max_vocab_size=200)
    exact = count_words(corpus_file=zipfian)
    assert len(raw.counts) <= 200
    frequent = sorted(exact.counts, key=exact.counts.__getitem__, reverse=True)[:10]
    assert all(raw.counts[word] == exact.counts[word] for word in frequent)


def test_a_trim_rule_has_the_last_word():
    rules = {"keep": RULE_KEEP, "drop": RULE_DISCARD}

    def rule(word, count, min_count):
        return rules.get(word, RULE_DEFAULT)

    raw = count_words([["keep"] + ["drop"] * 9 + ["other"] * 5 + ["rare"]])
    assert select(raw, min_count=5, trim_rule=rule).words == ["other", "keep"]


def test_growing_adds_to_all_counts():
    first = select(count_words([["a"] * 50 + ["b"] * 10]), min_count=5)
    grown = grow(first, count_words([["b"] * 30 + ["c"] * 7 + ["d"]]), min_count=5)
    counts = dict(zip(grown.words, grown.counts.tolist(), strict=True))
    assert counts == {"a": 50, "b": 40, "c": 7}
    assert grown.words[:2] == first.words, "old words keep their rows"
    np.testing.assert_allclose(
        keep_probabilities(grown.counts, 1e-2), keep_probabilities(np.array([50, 40, 7]), 1e-2)
    )


@pytest.mark.parametrize(
    ("sentences", "options", "hint"),
    [([], {}, "empty|no words|no sentences"), ([["a", "b"]], {"min_count": 5}, "min_count=5")],
)
def test_an_empty_vocabulary_says_why(sentences, options, hint):
    with pytest.raises(RuntimeError, match=hint):
        select(count_words(sentences), **{"min_count": 1, **options})


@pytest.mark.parametrize(("suffix", "opener"), [(".gz", gzip.open), (".bz2", bz2.open), (".xz", lzma.open)])
def test_compressed_files_count_the_same(tmp_path, zipfian, suffix, opener):
    path = tmp_path / f"zipf.txt{suffix}"
    with opener(path, "wb") as file:
        file.write(zipfian.read_bytes())
    assert count_words(corpus_file=path).counts == count_words(corpus_file=zipfian).counts
    assert list(LineSentence(path)) == list(LineSentence(zipfian))


@pytest.mark.parametrize(
    ("errors", "words"), [("replace", {"caf\ufffd": 1, "ok": 1}), ("ignore", {"caf": 1, "ok": 1})]
)
def test_bytes_that_are_not_utf_8_follow_the_choice(tmp_path, errors, words):
    path = tmp_path / "latin.txt"
    path.write_bytes(b"caf\xe9 ok\n")
    assert count_words(LineSentence(path, errors=errors)).counts == words
    with pytest.raises(UnicodeDecodeError):
        count_words(LineSentence(path, errors="strict"))


@pytest.mark.parametrize(
    ("content", "counts"),
    [
        (b"", {}),
        (b"\n\n\n", {}),
        (b"a b", {"a": 1, "b": 1}),
        (b"a\r\nb\r\n", {"a": 1, "b": 1}),
        (b"\xef\xbb\xbfa b\n", {"a": 1, "b": 1}),
        (b"a\0b c\n", {"a\0b": 1, "c": 1}),
    ],
)
def test_odd_files(tmp_path, content, counts):
    path = tmp_path / "odd.txt"
    path.write_bytes(content)
    assert count_words(corpus_file=path).counts == counts


def test_a_very_long_line_is_cut_into_sentences(tmp_path):
    path = tmp_path / "long.txt"
    path.write_bytes(b"tick tock " * 2_000_000)  # 20 MB and no newline
    raw = count_words(corpus_file=path)
    assert raw.counts == {"tick": 2_000_000, "tock": 2_000_000}
    assert raw.sentence_count == 400


def test_counts_do_not_depend_on_the_hash_seed(zipfian):
    script = (
        "from densvec.text.vocabulary import count_words, select; "
        f"print(select(count_words(corpus_file={str(zipfian)!r}), min_count=5).words[:99])"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
