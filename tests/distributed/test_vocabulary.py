"""The vocabulary that ranks count together is that of one process, word by word."""

import random

import pytest

from densvec import BayesianSkipGram
from densvec.text.vocabulary import RULE_DEFAULT, RULE_DISCARD, RULE_KEEP
from tests.distributed.ranks import run_ranks


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Three files with many rare words, ties, words of several bytes and invalid ones."""
    directory = tmp_path_factory.mktemp("corpus")
    draw = random.Random(1)
    for i in range(3):
        lines = [
            " ".join(f"wört{int(draw.paretovariate(0.6)) % 3000}" for _ in range(draw.randrange(30)))
            for _ in range(2500)
        ]
        (directory / f"{i}.txt").write_bytes("\n".join(lines).encode() + b"\nbad \xff byte")
    return directory


def rule(word, count, min_count):
    if word.endswith("7"):
        return RULE_DISCARD
    return RULE_KEEP if word.endswith("11") else RULE_DEFAULT


CASES = {
    "plain": {},
    "unsorted": {"sorted_vocab": 0},
    "at most 100": {"max_final_vocab": 100},
    "by a rule": {"trim_rule": rule},
}


def build(corpus, parts, case):
    """Return the vocabulary of all files, or of two after one other, as everything that is told of it."""
    options = dict(CASES[case])
    trim_rule = options.pop("trim_rule", None)
    model = BayesianSkipGram(min_count=3, workers=2, vector_size=4, **options)
    for update, part in enumerate(parts):
        model.build_vocab(
            corpus_file=[corpus / name for name in part],
            update=bool(update),
            trim_rule=trim_rule,
            keep_raw_vocab=True,
        )
    report = model.prepare_vocab(update=len(parts) > 1, dry_run=True, trim_rule=trim_rule)
    return (
        model.wv.index_to_key,
        model.wv.expandos["count"].tolist(),
        list(model.raw_vocab.items()),
        (model.corpus_count, model.corpus_total_words, model.effective_min_count, model.sample),
        report,
    )


def build_all(corpus):
    files = ["0.txt", "1.txt", "2.txt"]
    found = {case: build(corpus, [files], case) for case in CASES}
    found["update"] = build(corpus, [files[:1], files[1:]], "plain")
    return found


@pytest.mark.parametrize("ranks", [2, 3])
def test_equals_that_of_one_process(corpus, ranks):
    alone = build_all(corpus)
    assert len(alone["plain"][0]) > 500
    for rank, together in enumerate(run_ranks(build_all, ranks, corpus)):
        assert isinstance(together, dict), together
        for case in alone:
            assert together[case] == alone[case], (rank, case)


def bounded(corpus):
    model = BayesianSkipGram(min_count=3, workers=1, vector_size=4, max_vocab_size=800)
    model.build_vocab(corpus_file=corpus)
    return model.wv.index_to_key, model.corpus_total_words


def test_a_bound_holds_on_each_rank_and_frequent_words_stay(corpus):
    alone = BayesianSkipGram(min_count=3, workers=1, vector_size=4)
    alone.build_vocab(corpus_file=corpus)
    first, second = run_ranks(bounded, 2, corpus)
    assert first == second
    assert first[1] == alone.corpus_total_words
    assert set(alone.wv.index_to_key[:50]) <= set(first[0])


def count_shares(shares):
    from densvec import distributed

    model = BayesianSkipGram(min_count=1, workers=1, vector_size=4)
    model.build_vocab(shares[distributed.rank()])
    return model.wv.index_to_key, model.wv.expandos["count"].tolist()


def test_shares_of_token_lists_are_counted_together():
    shares = [[["b", "a"], ["c"]], [["a", "d"], ["c", "e"]]]
    alone = BayesianSkipGram(min_count=1, workers=1, vector_size=4)
    alone.build_vocab([*shares[0], *shares[1]])
    expected = (alone.wv.index_to_key, alone.wv.expandos["count"].tolist())
    assert run_ranks(count_shares, 2, shares) == [expected, expected]


def test_equal_shares_are_refused():
    shares = [[["a", "b"]], [["c"]], [["a", "b"]]]
    for name, text in run_ranks(count_shares, 3, shares):
        assert name == "ValueError"
        assert "ranks 0 and 2 were given the same sentences" in text


def no_string(words):
    model = BayesianSkipGram(min_count=1, workers=1, vector_size=4)
    from densvec import distributed

    model.build_vocab([[distributed.rank(), "b"]])


def test_words_that_are_no_strings_are_refused():
    (name, text), (other, told) = run_ranks(no_string, 2, None)
    assert (name, other) == ("TypeError", "TypeError")
    assert "strings" in text
    assert "strings" in told


def unreadable(corpus):
    from densvec import distributed

    files = [corpus / "0.txt", corpus / ("1.txt" if distributed.rank() == 0 else "gone.txt")]
    BayesianSkipGram(corpus_file=files, workers=1, vector_size=4, epochs=1)


def test_a_file_that_one_rank_cannot_read_stops_all_with_its_sentence(corpus):
    (name, text), (other, told) = run_ranks(unreadable, 2, corpus)
    assert (name, other) == ("RankError", "TypeError")
    assert "rank 1 failed" in text
    assert "gone.txt" in text
    assert "gone.txt" in told
