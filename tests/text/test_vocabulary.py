"""Choosing words and the probabilities that follow: gensim is the oracle, except where it is wrong."""

import logging
from collections import Counter

import numpy as np
import pytest
from gensim import utils as gensim_utils
from gensim.models import Word2Vec
from hypothesis import given, settings
from hypothesis import strategies as st

from densvec.corpora import LineSentence
from densvec.text import vocabulary
from densvec.text._text import LONGEST_WORD
from densvec.text.thinning import keep_probabilities
from densvec.text.vocabulary import (
    RULE_DEFAULT,
    RULE_DISCARD,
    RULE_KEEP,
    RawVocabulary,
    count_words,
    grow,
    select,
)

SENTENCES = st.lists(st.lists(st.text("abcé", min_size=1, max_size=3), max_size=12), max_size=25)


def as_dict(chosen):
    return dict(zip(chosen.words, chosen.counts.tolist(), strict=True))


def gensim_vocabulary(model):
    return {word: model.wv.get_vecattr(word, "count") for word in model.wv.key_to_index}


def test_rules_have_gensims_values():
    assert (RULE_DEFAULT, RULE_DISCARD, RULE_KEEP) == (
        gensim_utils.RULE_DEFAULT,
        gensim_utils.RULE_DISCARD,
        gensim_utils.RULE_KEEP,
    )


@settings(max_examples=100, deadline=None)
@given(sentences=SENTENCES, most=st.integers(1, 8), strict=st.booleans())
def test_pruning_while_scanning_is_gensims(tmp_path_factory, sentences, most, strict):
    """The same words go at the same moment: counts, total and min_reduce agree, for token lists and for a file."""
    rule = (
        (lambda word, count, least: RULE_KEEP if word.startswith("a") else RULE_DEFAULT) if strict else None
    )
    sentences = [sentence for sentence in sentences if sentence]  # a file has no empty sentences
    theirs = Word2Vec(min_count=1, max_vocab_size=most)
    words, lines = theirs.scan_vocab(sentences, trim_rule=rule)
    path = tmp_path_factory.mktemp("pruned") / "corpus.txt"
    path.write_text("".join(" ".join(s) + "\n" for s in sentences), encoding="utf-8")
    for source in ({"sentences": sentences}, {"corpus_file": path}):
        raw = count_words(**source, max_vocab_size=most, trim_rule=rule, workers=2)
        assert raw.counts == dict(theirs.raw_vocab)
        assert raw.frequencies.tolist() == list(raw.counts.values())
        assert len(raw) == len(raw.counts)
        if sentences:
            assert (raw.total_words, raw.sentence_count) == (words, lines)


@settings(max_examples=100, deadline=None)
@given(
    sentences=SENTENCES,
    min_count=st.integers(1, 5),
    max_final_vocab=st.one_of(st.none(), st.integers(1, 10)),
    sample=st.sampled_from([0, 1e-3, 0.1, 1, 3]),
    ruled=st.booleans(),
)
def test_choice_and_report_are_gensims(sentences, min_count, max_final_vocab, sample, ruled):
    def rule(word, count, least):
        return {"a": RULE_KEEP, "b": RULE_DISCARD}.get(word, RULE_DEFAULT)

    rule = rule if ruled else None
    theirs = Word2Vec(min_count=min_count, max_final_vocab=max_final_vocab, sample=sample, vector_size=1)
    theirs.scan_vocab(sentences or [[]])
    report = theirs.prepare_vocab(update=False, keep_raw_vocab=True, trim_rule=rule)
    ours = select(
        count_words(sentences),
        min_count=min_count,
        max_final_vocab=max_final_vocab,
        trim_rule=rule,
        allow_empty=True,
    )
    assert as_dict(ours) == gensim_vocabulary(theirs)
    if max_final_vocab is None or sentences:
        assert ours.effective_min_count == theirs.effective_min_count
    mine = ours.report(sample)
    assert {**report, "downsample_total": 0} == {**mine, "downsample_total": 0}
    assert abs(report["downsample_total"] - mine["downsample_total"]) <= 1


def test_order_is_by_count_then_first_appearance():
    raw = count_words([["d", "b", "c", "a", "c", "b"]])
    assert select(raw, min_count=1).words == ["b", "c", "d", "a"]
    assert select(raw, min_count=1, sorted_vocab=False).words == ["d", "b", "c", "a"]
    assert select(raw, min_count=1).index == {"b": 0, "c": 1, "d": 2, "a": 3}


def test_a_trim_rule_is_asked_once_per_word():
    asked = Counter()

    def rule(word, count, min_count):
        asked[word, count, min_count] += 1
        return RULE_DEFAULT

    select(count_words([["a", "a", "b"]]), min_count=2, trim_rule=rule)
    assert asked == {("a", 2, 2): 1, ("b", 1, 2): 1}


class TestGrow:
    def test_counts_and_subsampling_are_those_of_both_corpora(self):
        first, second = [["a"] * 500 + ["b"] * 50 + ["c"] * 3], [["a"] * 5 + ["d"] * 50 + ["e"] * 2]
        grown = grow(select(count_words(first), min_count=1), count_words(second), min_count=5)
        together = select(count_words(first + second), min_count=3)
        assert as_dict(grown) == as_dict(together) == {"a": 505, "b": 50, "c": 3, "d": 50}
        keep = dict(zip(grown.words, keep_probabilities(grown.counts, 1e-3), strict=True))
        expected = dict(zip(together.words, keep_probabilities(together.counts, 1e-3), strict=True))
        assert keep == pytest.approx(expected)

    @settings(max_examples=50, deadline=None)
    @given(first=SENTENCES, second=SENTENCES, min_count=st.integers(1, 3))
    def test_ids_stay_and_counts_add(self, first, second, min_count):
        known = select(count_words(first), min_count=min_count, allow_empty=True)
        grown = grow((known.words, known.counts), count_words(second), min_count=min_count)
        assert grown.words[: len(known)] == known.words
        assert len(set(grown.words)) == len(grown)
        old, new = count_words(first).counts, count_words(second).counts
        for word, count in as_dict(grown).items():
            assert count == (old[word] if word in known.index else 0) + new.get(word, 0)
        assert {word for word in new if new[word] >= min_count} <= set(grown.words)

    def test_figures_are_about_the_new_corpus(self):
        known = select(count_words([["a"] * 3]), min_count=1)
        grown = grow(known, count_words([["a", "b", "b", "c"]]), min_count=2)
        assert (grown.retained_words, grown.retained_total) == (2, 3)
        assert (grown.dropped_words, grown.dropped_total) == (1, 1)


class TestFromFrequencies:
    def test_is_gensims(self):
        table = {"a": 3, "b": 7, "c": 1}
        model = Word2Vec(min_count=2)
        model.build_vocab_from_freq(table, corpus_count=11)
        raw = RawVocabulary.from_frequencies(table, 11)
        assert as_dict(select(raw, min_count=2)) == gensim_vocabulary(model)
        assert (raw.total_words, raw.sentence_count) == (11, 11)

    @pytest.mark.parametrize("count", [1.5, -1, "7"])
    def test_counts_are_whole_numbers(self, count):
        with pytest.raises(ValueError, match="'a'"):
            RawVocabulary.from_frequencies({"a": count})


@pytest.mark.parametrize(
    ("sentences", "options", "message"),
    [
        ([], {}, "no words"),
        ([[], []], {}, r"no words \(2 sentences"),
        ([["a", "b", "b"]], {"min_count": 5}, "min_count=5 .* 2 distinct words, .* occurs 2 times; lower"),
        ([["a", "b"]], {"min_count": 1, "max_final_vocab": 1}, "max_final_vocab=1 .* raise"),
        ([["a", "b"]], {"min_count": 1, "trim_rule": lambda *_: RULE_DISCARD}, "trim_rule"),
    ],
)
def test_an_empty_vocabulary_says_why_and_what_to_do(sentences, options, message):
    with pytest.raises(RuntimeError, match=message):
        select(count_words(sentences), **options)


def test_tokens_may_be_anything_hashable():
    sentences = [["a", 7, "é", 7, ("x", 1)], ["a", 7.0, b"a"], [None, "é", np.str_("a")]]
    raw = count_words(sentences)
    expected = Counter(token for sentence in sentences for token in sentence)
    assert raw.counts == expected
    assert list(raw.counts) == list(expected)
    assert select(raw, min_count=2).words == ["a", 7, "é"]
    assert count_words(sentences, max_vocab_size=2).counts.keys() <= expected.keys()
    with pytest.raises(TypeError, match="unhashable"):
        count_words([["a", ["nested"]]])


def test_lone_surrogates_and_long_words_survive():
    words = ["\udc80", "a\ud800", "x" * 100, "é" * 50, ""]
    assert list(count_words([words]).counts) == words


def test_a_string_in_place_of_a_token_list_is_warned_of(caplog):
    with caplog.at_level(logging.WARNING, "densvec"):
        raw = count_words(["abc", "de"])
    assert raw.counts == dict.fromkeys("abcde", 1)
    (record,) = caplog.records
    assert "list of words" in record.getMessage()


def test_progress_is_logged_as_gensim_logs_it(caplog):
    with caplog.at_level(logging.INFO, "densvec"):
        count_words([["a", "b"]] * 25, progress_per=10)
    messages = [record.getMessage() for record in caplog.records]
    assert sum(message.startswith("PROGRESS") for message in messages) == 3
    assert "collected 2 word types from a corpus of 50 raw words and 25 sentences" in messages


class TestParallel:
    @pytest.fixture
    def path(self, tmp_path):
        rng = np.random.default_rng(3)
        path = tmp_path / "corpus.txt"
        lines = [" ".join(f"w{i}" for i in rng.integers(0, 300, rng.integers(0, 20))) for _ in range(3000)]
        path.write_text("\n".join(lines))
        return path

    @pytest.mark.parametrize("workers", [2, 3, 7, 64])
    def test_threads_count_what_one_counts(self, path, workers, monkeypatch):
        monkeypatch.setattr(vocabulary, "LEAST_BYTES", 1000)
        one = count_words(corpus_file=path)
        many = count_words(LineSentence(path), workers=workers)
        assert list(many.counts.items()) == list(one.counts.items())
        assert (many.total_words, many.sentence_count) == (one.total_words, one.sentence_count)

    def test_an_error_in_a_thread_is_raised(self, path, monkeypatch):
        monkeypatch.setattr(vocabulary, "LEAST_BYTES", 1000)
        path.write_bytes(path.read_bytes() + b"x" * (LONGEST_WORD + (1 << 21)))
        with pytest.raises(ValueError, match="no white space"):
            count_words(corpus_file=path, workers=3)

    def test_invalid_bytes_are_logged_once(self, path, monkeypatch, caplog):
        monkeypatch.setattr(vocabulary, "LEAST_BYTES", 1000)
        path.write_bytes(b"\xff\n" + path.read_bytes() + b"\n\xff\n")
        with caplog.at_level(logging.WARNING, "densvec"):
            count_words(corpus_file=path, workers=3)
        (record,) = caplog.records
        assert "2 byte sequences" in record.getMessage()


def test_what_trim_rules_answer_is_where_build_vocab_says():
    assert {vocabulary.RULE_DEFAULT, vocabulary.RULE_DISCARD, vocabulary.RULE_KEEP} == {0, 1, 2}


@pytest.mark.parametrize("source", ["lists", "file", "mapping"])
def test_counts_of_some_words_are_those_of_the_table(source, tmp_path):
    words = ["kiwi", "日本語", "an-extraordinarily-long-word", "kiwi", "bird"]
    path = tmp_path / "corpus.txt"
    path.write_text(" ".join(words), encoding="utf-8")
    counts = {"kiwi": 2, "日本語": 1, "an-extraordinarily-long-word": 1, "bird": 1}
    raw = {
        "lists": lambda: count_words([[*words, 7]]),
        "file": lambda: count_words(corpus_file=path),
        "mapping": lambda: RawVocabulary.from_frequencies(counts),
    }[source]()
    asked = ["bird", "unknown", "日本語", "kiwi", "an-extraordinarily-long-word", 7]
    assert raw.counts_of(asked).tolist() == [1, 0, 1, 2, 1, int(source == "lists")]
    assert raw.frequencies.tolist() == list(raw.counts.values())


def test_a_bound_below_zero_is_an_error():
    with pytest.raises(ValueError, match="max_vocab_size=-5 is below 0"):
        count_words([["a"]], max_vocab_size=-5)
