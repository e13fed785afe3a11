from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from densvec.evaluation import BenchmarkFileError, Bootstrap, word_similarities, word_similarity
from densvec.evaluation.similarity import _spearman, read_similarity

NONE = Bootstrap(0)


def around_the_circle(**degrees):
    """Words at given angles: the cosine of two follows from the angle between them."""
    angles = np.deg2rad(list(degrees.values()))
    return SimpleNamespace(
        key_to_index={word: row for row, word in enumerate(degrees)},
        vectors=np.stack([np.cos(angles), np.sin(angles)], axis=1) * np.arange(1, len(degrees) + 1)[:, None],
    )


def test_similarity_by_hand(tmp_path):
    wv = around_the_circle(a=0, b=10, c=30, d=90)
    path = tmp_path / "EN-HAND-4.txt"
    # Falling cosine: a-b (10), b-c (20), a-c (30), b-d (80). Ranks of the scores: 4, 2, 3, 1.
    # Σd² = 2, ρ = 1 − 6·2/(4·15).
    path.write_text("A\tb\t9\nb c 5\na c 7\nb\td\t1\na unicorn 3\n")
    result = word_similarity(wv, path, bootstrap=NONE)
    assert result.name == "HAND-4"
    assert float(result.spearman) == pytest.approx(0.8)
    assert (result.known, result.pairs, result.coverage) == (4, 5, 0.8)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=3, max_size=30))
def test_spearman_agrees_with_scipy_also_with_ties(pairs):
    x, y = np.array(pairs, dtype=float).T
    if len(set(x)) == 1 or len(set(y)) == 1:
        return
    ours = _spearman(x, y)(np.ones((1, len(x)), dtype=np.float32))
    assert ours[0, 0] == pytest.approx(spearmanr(x, y)[0], abs=1e-12)


@given(st.data())
def test_a_weighted_item_counts_as_so_many_items(data):
    size = data.draw(st.integers(3, 12))
    values = st.lists(st.integers(0, 5).map(float), min_size=size, max_size=size)
    x, y = np.array(data.draw(values)), np.array(data.draw(values))
    weights = np.array(data.draw(st.lists(st.integers(0, 3), min_size=size, max_size=size)))
    many_x, many_y = np.repeat(x, weights), np.repeat(y, weights)
    if len(set(many_x)) < 2 or len(set(many_y)) < 2:
        return
    ours = _spearman(x, y)(weights[None].astype(np.float32))
    assert ours[0, 0] == pytest.approx(spearmanr(many_x, many_y)[0], abs=1e-12)


def test_the_order_of_the_lines_does_not_matter(tmp_path):
    rng = np.random.default_rng(0)
    wv = SimpleNamespace(key_to_index={f"w{i}": i for i in range(20)}, vectors=rng.normal(size=(20, 3)))
    lines = [f"w{a} w{b} {score}" for a, b, score in rng.integers(20, size=(40, 3))]
    figures = []
    for order in (lines, lines[::-1], sorted(lines)):
        (tmp_path / "pairs.txt").write_text("\n".join(order))
        figures.append(float(word_similarity(wv, tmp_path / "pairs.txt", bootstrap=NONE).spearman))
    assert figures == pytest.approx([figures[0]] * 3)


def test_a_constant_score_has_no_correlation(tmp_path):
    (tmp_path / "pairs.txt").write_text("a b 1\na c 1\n")
    result = word_similarity(around_the_circle(a=0, b=10, c=20), tmp_path / "pairs.txt")
    assert np.isnan(float(result.spearman))
    assert "–" in str(result)
    assert '"value": null' in result.to_json()


def test_nothing_known_is_no_error(tmp_path):
    (tmp_path / "pairs.txt").write_text("x y 1\nx z 2\n")
    result = word_similarity(around_the_circle(a=0), tmp_path / "pairs.txt")
    assert (result.known, result.coverage) == (0, 0)
    assert np.isnan(float(result.spearman))


def test_a_directory_gives_the_sum_and_the_five_large_sets(tmp_path):
    for name in ("MEN-TR-3k", "MTurk-771", "RW-STANFORD", "SIMLEX-999", "WS-353-ALL"):
        (tmp_path / f"EN-{name}.txt").write_text("a b 3\na c 2\na d 1\n")
    (tmp_path / "EN-MC-30.txt").write_text("a b 1\na c 2\na d 3\n")
    (tmp_path / "LICENSE").write_text("not a benchmark")
    table = word_similarities(around_the_circle(a=0, b=10, c=30, d=90), tmp_path)
    assert float(table.total) == pytest.approx(4)
    assert float(table.big5) == pytest.approx(5)
    assert float(table["MC-30"].spearman) == pytest.approx(-1)
    assert [row["benchmark"] for row in table.rows()][-2:] == ["SUM", "BIG5"]
    with pytest.raises(KeyError, match="no benchmark 'XYZ'"):
        table["XYZ"]


def test_without_all_five_there_is_no_big5(tmp_path):
    (tmp_path / "EN-MC-30.txt").write_text("a b 1\na c 2\n")
    assert word_similarities(around_the_circle(a=0, b=10, c=30), tmp_path).big5 is None


def test_a_directory_without_pairs_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no \.txt files"):
        word_similarities(around_the_circle(a=0), tmp_path)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a b 1\na b\n", "line 2: expected 'word1 word2 score', found 2 fields"),
        ("a b 1 2\n", "line 1: .* found 4 fields"),
        ("a b\tmuch\n", "line 1: the score 'much' is not a number"),
        ("a b nan\n", "line 1: .* not finite"),
        ("# only a comment\n", "no pairs"),
    ],
)
def test_a_malformed_file_is_named(tmp_path, text, complaint):
    path = tmp_path / "pairs.txt"
    path.write_text(text)
    with pytest.raises(BenchmarkFileError, match=f"pairs.txt.*{complaint}"):
        read_similarity(path)


def test_gensim_agrees(tmp_path):
    from gensim.models import KeyedVectors

    rng = np.random.default_rng(3)
    wv = KeyedVectors(5)
    wv.add_vectors([f"w{i}" for i in range(15)], rng.normal(size=(15, 5)).astype(np.float32))
    path = tmp_path / "pairs.tsv"
    pairs = [(a, b) for a in range(15) for b in range(a)]  # each once: equal cosines would hang on rounding
    path.write_text("".join(f"w{a}\tw{b}\t{rng.integers(10)}\n" for a, b in pairs))
    oracle = wv.evaluate_word_pairs(path)[1][0]
    assert float(word_similarity(wv, path, bootstrap=NONE).spearman) == pytest.approx(oracle, abs=1e-6)
