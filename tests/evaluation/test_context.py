from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr

from conftest import example_densities
from densvec.evaluation import BenchmarkFileError, Bootstrap, contextual_change, contextual_similarity
from densvec.evaluation.context import read_rated_changes, read_rated_pairs

NONE = Bootstrap(0)


def scws(*lines):
    return "".join(
        f"{i}\t{a}\tn\t{b}\tn\t{x}\t{y}\t{r}\t1.0\t2.0\n" for i, (a, b, x, y, r) in enumerate(lines)
    )


LINES = [
    ("dog", "cat", "An <b> animal dog </b> .", "an Animal , the <b> cat </b> !", 7.0),
    ("dog", "car", "a <b> dog </b> is an animal", "no animal is a <b> car </b>", 1.0),
    ("Cat", "animal", "a dog , a <b> Cat </b>", "this <b> animal </b> is a cat", 9.0),
    ("dog", "unicorn", "a <b> dog </b>", "a <b> unicorn </b>", 5.0),
]


def test_scws_is_read_as_written(tmp_path):
    path = tmp_path / "scws.txt"
    path.write_text(scws(*LINES))
    pairs = read_rated_pairs(path)
    assert pairs[0].first.tokens == ("an", "animal", "dog")
    assert pairs[0].first.position == 2  # of several marked words the one that is listed
    assert pairs[0].second.tokens == ("an", "animal", "the", "cat")
    assert (pairs[2].first.lemma, pairs[2].rating) == ("Cat", 9.0)


def test_similarities_in_context_by_hand(tmp_path):
    path = tmp_path / "scws_dev.txt"
    path.write_text(scws(*LINES))
    wv = example_densities()
    result = contextual_similarity(wv, path, metrics=["cosine", "kl"], sample=0, bootstrap=NONE)
    assert (result.name, result.known, result.pairs, result.coverage) == ("scws_dev", 3, 4, 0.75)
    # Posterior means: dog (3, 1) and cat (1, 3) beside "animal", cosine .6; the car's is 0; cat (2, 2) beside
    # "dog", animal (1, 3) beside "cat", cosine .89. So the order is that of the ratings.
    assert float(result.spearman["encoder", "cosine"]) == pytest.approx(1)
    # Priors: dog-cat .8, dog-car -.89, cat-animal .95.
    assert float(result.spearman["out_of_context", "cosine"]) == pytest.approx(1)
    in_context = [wv.infer(a, position=i).kl(wv.infer(b, position=j)) for a, i, b, j in (
        ("an animal dog", 2, "an animal the cat", 3),
        ("a dog is an animal", 1, "no animal is a car", 4),
        ("a dog a cat", 3, "this animal is a cat", 1),
    )]  # fmt: skip
    expected = spearmanr([7, 1, 9], [-float(kl) for kl in in_context])[0]
    assert float(result.spearman["encoder", "kl"]) == pytest.approx(expected)
    assert ("average", "kl") not in result.spearman


def test_context_parts_what_the_word_alone_does_not(tmp_path):
    # "bank" between money and river: alone it is as like the one as the other.
    wv = SimpleNamespace(
        key_to_index={"bank": 0, "money": 1, "river": 2, "loan": 3, "water": 4},
        vectors=np.array([[1.0, 1], [1, 0], [0, 1], [1, 0.1], [0.1, 1]]),
    )
    path = tmp_path / "scws.txt"
    path.write_text(
        scws(
            ("bank", "loan", "money <b> bank </b> money", "the <b> loan </b>", 9),
            ("bank", "loan", "river <b> bank </b> water", "the <b> loan </b>", 2),
            ("bank", "water", "river <b> bank </b> water", "the <b> water </b>", 8),
            ("bank", "water", "money <b> bank </b> loan", "the <b> water </b>", 1),
        )
    )
    result = contextual_similarity(wv, path, bootstrap=NONE)
    assert list(result.spearman) == [("average", "cosine"), ("out_of_context", "cosine")]
    assert float(result.spearman["average", "cosine"]) > 0.7
    # Alone, "bank" is as like "loan" as "water", so nothing is told apart.
    assert not float(result.spearman["out_of_context", "cosine"]) > 0.5


def test_intervals_hold_the_figure_and_pair_two_readings(tmp_path):
    rng = np.random.default_rng(0)
    words = ["animal", "dog", "cat", "car"]
    lines = []
    for _ in range(60):
        a, b, c, d = rng.choice(words, 4)
        lines.append((a, b, f"<b> {a} </b> {c}", f"{d} <b> {b} </b>", rng.normal()))
    path = tmp_path / "scws.txt"
    path.write_text(scws(*lines))
    result = contextual_similarity(example_densities(), path, sample=0, bootstrap=Bootstrap(200))
    rho = result.spearman["encoder", "cosine"]
    assert rho.low < rho.value < rho.high
    assert rho.minus(result.spearman["out_of_context", "cosine"]).low is not None
    assert {row["reading"] for row in result.rows()} == {"encoder", "average", "out_of_context"}


def test_an_unknown_metric_is_refused(tmp_path):
    with pytest.raises(ValueError, match="metric='cos' is unknown"):
        contextual_similarity(example_densities(), tmp_path / "absent", metrics=["cos"])


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("1\tdog\tn\tcat\tn\t<b>dog</b>\t<b>cat</b>\n", "line 1: expected id, word.*found 7 fields"),
        ("1\tdog\tn\tcat\tn\ta dog\t<b>cat</b>\t3\n", "line 1: no word of the text 'a dog' is marked"),
        ("1\tdog\tn\tcat\tn\t<b>dog</b>\t<b>cat</b>\tmuch\n", "line 1: the rating 'much' is not a number"),
        ("1\tdog\tn\tcat\tn\t<b>dog</b>\t<b>cat</b>\tinf\n", "line 1: the rating 'inf' is not finite"),
        ("\n", "no pairs"),
    ],
)
def test_a_malformed_file_is_named(tmp_path, text, complaint):
    path = tmp_path / "pairs.txt"
    path.write_text(text)
    with pytest.raises(BenchmarkFileError, match=f"pairs.txt.*{complaint}"):
        read_rated_pairs(path)


def marked(text):
    return " ".join(f"<strong>{word[1:]}</strong>" if word[0] == "*" else word for word in text.split())


CHANGES = [
    # No two cosines are equal but for rounding, which would decide about ties.
    ("dog", "cat", "car *dog *cat car", "animal *dog *cat animal", 5.0, 2.0),
    ("dog", "animal", "cat *dog is no *animal", "cat *dog cat *animal cat", 3.0, 4.5),
    ("cat", "car", "dog *car *cats dog", "cat *cat *car car", 1.0, 0.5),
]


def cosimlex(path, *, inflected=False, gold=None):
    head = ["word1", "word2", "context1", "context2"]
    head += [] if gold else ["sim1", "sim2", "stdev1", "stdev2"]
    head += ["word1_context1", "word2_context1", "word1_context2", "word2_context2"] if inflected else []
    lines = ["\t".join(head)]
    for a, b, x, y, first, second in CHANGES:
        fields = [a, b, marked(x), marked(y)]
        fields += [] if gold else [str(first), str(second), "1", "1"]
        forms = [a + "s" if f"*{a}s" in x else a, b, a, b]
        lines.append("\t".join(fields + (forms if inflected else [])))
    path.write_text("\n".join(lines) + "\n")
    if gold:
        rated = [f"{first}\t{second}\t{second - first}" for *_, first, second in CHANGES]
        gold.write_text("\n".join(["sim_context1\tsim_context2\tchange", *rated]))


@pytest.mark.parametrize("inflected", [False, True])
def test_cosimlex_is_read_as_written(tmp_path, inflected):
    cosimlex(tmp_path / "cosimlex_en.tsv", inflected=inflected)
    changes = read_rated_changes(tmp_path / "cosimlex_en.tsv")
    (cat, car), _ = changes[2].words
    assert (cat.tokens[cat.position], cat.lemma) == ("cats", "cat")
    assert car.tokens[car.position] == "car"
    assert changes[1].ratings == (3.0, 4.5)


def test_changes_are_correlated_as_the_task_does(tmp_path):
    cosimlex(tmp_path / "cosimlex_en.tsv")
    wv = example_densities()
    result = contextual_change(wv, tmp_path / "cosimlex_en.tsv", sample=0, bootstrap=NONE)
    told = []
    for a, b, *texts in CHANGES:
        for text in texts[:2]:
            tokens = text.replace("*", "").split()
            places = [[token.startswith(word) for token in text.split()] for word in ("*" + a, "*" + b)]
            first, second = (wv.infer_posteriors([(word, tokens, place.index(True))]).mean[0]
                             for word, place in zip((a, b), places, strict=True))  # fmt: skip
            norms = np.linalg.norm(first) * np.linalg.norm(second)
            told.append(first @ second / norms if norms else 0.0)
    rated = [rating for *_, x, y in CHANGES for rating in (x, y)]
    d, e = np.diff(np.reshape(told, (-1, 2)))[:, 0], np.diff(np.reshape(rated, (-1, 2)))[:, 0]
    score = result.scores["encoder", "cosine"]
    assert float(score.change) == pytest.approx(d @ e / np.sqrt(d @ d * (e @ e)), rel=1e-6)
    rho, r = spearmanr(told, rated)[0], pearsonr(told, rated)[0]
    assert float(score.spearman) == pytest.approx(rho)
    assert float(score.pearson) == pytest.approx(r, rel=1e-6)
    assert min(rho, r) > 0
    assert float(score.harmonic_mean) == pytest.approx(2 * rho * r / (rho + r), rel=1e-6)
    assert np.isnan(float(result.scores["out_of_context", "cosine"].change))
    assert "harmonic mean" in str(result)


def test_ratings_may_be_in_a_file_of_their_own(tmp_path):
    together, apart, gold = tmp_path / "together.tsv", tmp_path / "data_en.tsv", tmp_path / "gold_en.tsv"
    cosimlex(together)
    cosimlex(apart, gold=gold)
    first = contextual_change(example_densities(), together, sample=0, bootstrap=NONE)
    second = contextual_change(example_densities(), apart, gold, sample=0, bootstrap=NONE)
    assert first.scores["encoder", "cosine"] == second.scores["encoder", "cosine"]
    with pytest.raises(BenchmarkFileError, match=r"no value for the column 'sim_context1'; there are word1"):
        read_rated_changes(apart)
    gold.write_text("sim_context1\tsim_context2\n1\t2\n")
    with pytest.raises(BenchmarkFileError, match=r"has 3 pairs and .* ratings of 1"):
        read_rated_changes(apart, gold)


def test_an_empty_file_is_named(tmp_path):
    (tmp_path / "empty.tsv").write_text("")
    with pytest.raises(BenchmarkFileError, match=r"empty\.tsv: the file is empty"):
        read_rated_changes(tmp_path / "empty.tsv")
    (tmp_path / "empty.tsv").write_text("word1\tword2\n")
    with pytest.raises(BenchmarkFileError, match="no pairs"):
        read_rated_changes(tmp_path / "empty.tsv")
