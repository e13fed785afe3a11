import numpy as np
import pytest
from scipy.stats import kstest

import densvec
from densvec import BayesianSkipGram
from densvec.datasets import toy_language
from densvec.questions import regression
from densvec.questions.lookup import whitened


@pytest.fixture(scope="module")
def language():
    return list(toy_language(6000))


@pytest.fixture(scope="module")
def wv(language):
    return BayesianSkipGram(language, vector_size=20, sample=0.01, alpha=0.05, epochs=8, workers=1, seed=1).wv


def sentences_with(language, word):
    return [sentence for sentence in language if word in sentence]


def as_table(sentences, **columns):
    return {"text": [" ".join(sentence) for sentence in sentences], **columns}


def planted(language, share, seed=0, count=160):
    """Owls, of which a share of what the right says are apples."""
    rng = np.random.default_rng(seed)
    owls, apples = (sentences_with(language, word) for word in ("owl", "apple"))
    party = rng.permutation(np.repeat(["left", "right"], count // 2))
    chosen = []
    for side in party:
        source = apples if side == "right" and rng.random() < share else owls
        sentence = source[rng.integers(len(source))]
        chosen.append(["owl" if source is apples and token == "apple" else token for token in sentence])
    return as_table(chosen, party=party.tolist(), year=rng.integers(1990, 2000, count).tolist())


def regress(wv, table, formula="party + year", word="owl", **options):
    return densvec.regress(wv, word, table, text="text", formula=formula, show_progress=False, **options)


def test_vectors_are_least_squares_of_what_contexts_say(language, wv):
    table = planted(language, 0.5)
    found = regress(wv, table)
    pairs = [("owl", text.split(), text.split().index("owl")) for text in table["text"]]
    design = np.column_stack([np.ones(160), np.array(table["party"]) == "right", table["year"]]).astype(float)
    assert found.names == ["Intercept", "party[T.right]", "year"]
    if all(text.split().count("owl") == 1 for text in table["text"]):
        oracle = np.linalg.lstsq(design, whitened(wv, wv.context_means(pairs)), rcond=None)[0]
        np.testing.assert_allclose(found.vectors[1], oracle[1], atol=1e-5)
        np.testing.assert_allclose(found.vectors[2], oracle[2], atol=1e-5)


def embedding_regression(wv, table, window=6):
    """Rodriguez, Spirling and Stewart (2023): averages of context vectors, least squares, norms, permutations."""
    points = []
    for text in table["text"]:
        tokens = text.split()
        place = tokens.index("owl")
        around = tokens[max(0, place - window) : place] + tokens[place + 1 : place + 1 + window]
        points.append(wv[[token for token in around if token in wv]].mean(axis=0))
    design = np.column_stack([np.ones(len(points)), np.array(table["party"]) == "right", table["year"]])
    rng, norms = np.random.default_rng(0), []
    for i in range(200):
        rows = rng.permutation(len(design)) if i else slice(None)
        coefficients = np.linalg.lstsq(design[rows].astype(float), np.array(points), rcond=None)[0]
        norms.append(np.linalg.norm(coefficients[1:], axis=1))
    return (np.array(norms) >= norms[0]).mean(axis=0)


def test_it_agrees_with_the_published_estimator(language, wv):
    for share, seed in ((0.0, 1), (0.6, 2)):
        table = planted(language, share, seed)
        found, published = regress(wv, table), embedding_regression(wv, table)
        for coefficient, p_value in zip(found, published, strict=True):
            assert (coefficient.p_value < 0.02) == (p_value < 0.02)


def test_norms_grow_with_the_share_that_is_replaced(language, wv):
    norms = [regress(wv, planted(language, share, count=600))["party[T.right]"] for share in (0, 0.3, 0.6, 1)]
    assert norms[0].low == 0
    assert norms[0].p_value > 0.05
    whole = norms[-1].norm
    for share, each in zip((0.3, 0.6), norms[1:], strict=False):
        assert each.low <= share * whole <= each.high
        assert each.p_value < 0.001


def test_p_values_are_uniform_where_nothing_is_planted(language, wv):
    found = [
        regress(wv, planted(language, 0, seed, 60), draws=99, seed=seed)["party[T.right]"].p_value
        for seed in range(60)
    ]
    assert kstest(found, "uniform").pvalue > 0.01


def test_what_the_difference_is(language, wv):
    found = regress(wv, planted(language, 1.0))
    more, less = found.telling("party[T.right]", 12)
    near_apples = {word for word, _ in wv.most_similar("apple", topn=12)}
    assert len({word for word, _ in more} & near_apples) > len({word for word, _ in less} & near_apples)
    right, left = found.density(party="right"), found.density(party="left")
    apple, owl = wv.density("apple"), wv.density("owl")
    assert right.kl(apple) - right.kl(owl) < left.kl(apple) - left.kl(owl)
    assert found.nearest(5, party="right") != found.nearest(5, party="left")
    ratios = found.cosine_ratios({"party": "right"}, {"party": "left"})
    assert [ratio for _, ratio in ratios] == sorted((ratio for _, ratio in ratios), reverse=True)
    of_right, of_left = found.examples("party[T.right]", 2)
    assert len(of_right) == len(of_left) == 2
    assert all(each.word == "owl" for each in of_right + of_left)


def test_fitted_densities_of_groups_are_those_of_their_posteriors(language, wv):
    from densvec.questions.senses import density_of_all

    table = planted(language, 0.5)
    found = regress(wv, table, "party")
    pairs = [
        ("owl", text.split(), text.split().index("owl"))
        for text, party in zip(table["text"], table["party"], strict=True)
        if party == "right"
    ]
    oracle, density = density_of_all(wv.infer_posteriors(pairs)), found.density(party="right")
    np.testing.assert_allclose(density.mean, oracle.mean, atol=1e-3)
    np.testing.assert_allclose(density.variance, oracle.variance, rtol=1e-3)


def test_many_words_have_q_values_and_reasons(language, wv):
    rng = np.random.default_rng(3)
    party = rng.permutation(np.repeat(["left", "right"], 1500))
    owls = [
        ["owl" if token == "apple" and side == "right" else token for token in sentence]
        for sentence, side in zip(language, party, strict=False)
    ]
    words = ["owl", "plum", "kakapo", "kiwi", "unicorn", "owl|kakapo"]
    found = regress(wv, as_table(owls[:3000], party=party.tolist()), "party", words)
    assert found[0].word == "owl"
    assert found["owl"][0].q_value < 0.01
    assert found["owl"][0].q_value >= found["owl"][0].p_value
    assert found["plum"][0].q_value > 0.01
    assert "does not occur" in found.skipped["unicorn"]
    with pytest.raises(KeyError, match="does not occur"):
        found["unicorn"]
    assert found["owl|kakapo"][0].count == found["owl"][0].count + found["kakapo"][0].count
    assert len(found) == 5


def test_documents_are_clusters(language, wv):
    """A text that is said thirty times says no more than once."""
    table = planted(language, 0.3, count=60)
    repeated = {name: [value for value in column for _ in range(30)] for name, column in table.items()}
    repeated["speech"] = [i for i in range(60) for _ in range(30)]
    once, clustered = regress(wv, table, "party"), regress(wv, repeated, "party", cluster="speech")
    assert clustered[0].p_value == pytest.approx(once[0].p_value, abs=0.03)
    assert clustered[0].norm == pytest.approx(once[0].norm, rel=0.01, abs=0.01)


def test_a_path_finds_when_a_word_changed(language, wv):
    rng = np.random.default_rng(4)
    owls, apples = (sentences_with(language, word) for word in ("owl", "apple"))
    years = np.repeat(np.arange(1990, 2000), 40)
    chosen = []
    for year in years:
        source = apples if year >= 1996 else owls
        sentence = source[rng.integers(len(source))]
        chosen.append(["owl" if source is apples and token == "apple" else token for token in sentence])
    path = regress(wv, as_table(chosen, year=years), "year").path("year", draws=199)
    assert path.change_value == 1996
    assert path.change < 0.01
    assert path.trend < 0.01
    assert path.counts == [40] * 10
    assert path.positions[:6].max() < path.positions[6:].min()
    assert (path.low <= path.positions).all()
    assert (path.positions <= path.high).all()
    axis = regress(wv, as_table(chosen, year=years), "year").path(
        "year", 5, axis=("kakapo", "plum"), draws=99
    )
    assert axis.high[0] < axis.low[-1]
    same = regress(wv, as_table(chosen, year=rng.permutation(years)), "year").path("year", draws=199)
    assert same.change > 0.02
    assert same.trend > 0.02


def test_an_interruption_keeps_the_words_that_are_done(language, wv, monkeypatch):
    whole, calls = regression._one, []

    def interrupted(*arguments):
        calls.append(arguments)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return whole(*arguments)

    monkeypatch.setattr(regression, "_one", interrupted)
    found = regress(wv, planted(language, 0.5), "party", ["owl", "feathers", "night"])
    assert list(found.words) == ["owl"]


def test_what_is_wrong_is_said(language, wv):
    table = planted(language, 0.2)
    table |= {
        "side": ["R" if party == "right" else "L" for party in table["party"]],
        "few": ["a"] * 157 + ["b"] * 3,
        "one": ["x"] * 160,
    }
    for message, formula, options in (
        ("side\\[T.R\\] says the same as party\\[T.right\\]", "party + side", {}),
        ("few\\[T.b\\] is 1 at 3 occurrences of 'owl' only, and at least 5", "few", {}),
        ("year_ is not|no column of the table, which has text, party", "year_", {}),
        ("'unicorn' does not occur", "party", {"word": "unicorn"}),
        ("too few", "party", {"word": "owl", "min_count": 200}),
        ("no column 'speaker'", "party", {"cluster": "speaker"}),
        ("party\\[T.right\\] has a value that a single cluster", "party", {"cluster": "side"}),
    ):
        with pytest.raises(ValueError, match=message):
            regress(wv, table, formula, **options)
    with pytest.raises(ValueError, match="'one' is not in the formula"):
        regress(wv, table, "party").fitted(one="x")
    with pytest.raises(KeyError, match=r"there is no 'party': there are party\[T.right\]"):
        regress(wv, table, "party").telling("party")


def test_results_are_tables(language, wv):
    found = regress(wv, planted(language, 0.5))
    frame = found.to_dataframe()
    assert frame.columns.tolist()[:3] == ["word", "name", "norm"]
    assert len(frame) == 2
    assert "party[T.right]" in str(found)
    assert "party[T.right]" in found._repr_html_()
