"""What an encoder reads of a context, and that training and inference read the same."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from densvec import BayesianSkipGram, KeyedDensities
from densvec.datasets import toy_language
from densvec.reading import Reading

KEEPS = st.lists(st.one_of(st.just(1.0), st.floats(0.01, 1.0)), min_size=1, max_size=30)


def read_by_hand(reading, keep, centre, start, stop):
    """The words around a position and their weights, one after the other."""
    found = {}
    for side in (range(centre - 1, start - 1, -1), range(centre + 1, stop)):
        between = 0.0
        for place in side:
            if between >= reading.window - 1e-6:
                break
            found[place] = keep[place] * (
                1 + reading.nearness * (1 - 2 * (1 + between) / (reading.window + 1))
            )
            between += keep[place]
    return found


@given(keep=KEEPS, window=st.integers(1, 6), nearness=st.floats(0, 1), data=st.data())
def test_spans_are_what_a_reader_finds_word_by_word(keep, window, nearness, data):
    reading, keep = Reading(window, nearness, thinned=True), np.array(keep)
    start = data.draw(st.integers(0, len(keep) - 1))
    stop = data.draw(st.integers(start + 1, len(keep)))
    centres = np.arange(start, stop)
    spans = reading.spans(centres, np.full(len(centres), start), np.full(len(centres), stop), keep)
    for i, centre in enumerate(centres):
        mine = slice(spans.offsets[i], spans.offsets[i + 1])
        found = dict(zip(spans.places[mine].tolist(), spans.weights[mine].tolist(), strict=True))
        assert found == pytest.approx(read_by_hand(reading, keep, centre, start, stop))


@given(keep=KEEPS, window=st.integers(1, 6), nearness=st.floats(0, 1), data=st.data())
def test_around_several_centres_each_word_counts_from_the_nearest(keep, window, nearness, data):
    reading, keep = Reading(window, nearness, thinned=True), np.array(keep)
    asked = np.array(data.draw(st.lists(st.booleans(), min_size=len(keep), max_size=len(keep))))
    owners = np.sort(data.draw(st.lists(st.integers(0, 2), min_size=len(keep), max_size=len(keep))))
    expected = {}
    for centre in np.flatnonzero(asked):
        start, stop = (
            np.searchsorted(owners, owners[centre], "left"),
            np.searchsorted(owners, owners[centre], "right"),
        )
        for place, weight in read_by_hand(reading, keep, int(centre), int(start), int(stop)).items():
            if not asked[place]:
                expected[place] = max(weight, expected.get(place, 0.0))
    places, weights = reading.around(asked, owners, keep)
    assert places.tolist() == sorted(expected)
    assert dict(zip(places.tolist(), weights.tolist(), strict=True)) == pytest.approx(expected)


def test_text_that_is_not_thinned_is_read_as_the_kernel_reads_it():
    reading = Reading(window=3, nearness=1.0, saturation=5.0)
    spans = reading.spans(np.array([4]), np.array([0]), np.array([9]), np.ones(9))
    assert spans.places.tolist() == [1, 2, 3, 5, 6, 7]
    assert spans.weights == pytest.approx([0.5, 1.0, 1.5, 1.5, 1.0, 0.5])
    assert reading.scale(spans.weights.sum()) == pytest.approx(1.0)


@given(st.floats(0, 1e6), st.floats(0, 1e6))
def test_a_sum_grows_with_its_words_but_only_so_far(one, other):
    reading = Reading(window=5, saturation=5.0)
    fewer, more = sorted([one, other])
    assert reading.scale(fewer) * fewer <= reading.scale(more) * more + 1e-9
    assert reading.scale(more) * more < 15.0


@pytest.mark.parametrize(
    "wrong",
    [
        {"window": 0},
        {"nearness": 1.5},
        {"saturation": 0.0},
        {"saturation": float("nan")},
        {"emphasis": 0.5},
        {"emphasis": float("nan")},
        {"frequency": -1.0},
        {"frequency": float("inf")},
    ],
)
def test_what_cannot_be_read_by_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Reading(**wrong)


@pytest.mark.parametrize("reading", [Reading(), Reading.of_thinned_text(4, 0.5)])
def test_a_header_gives_the_reading_back(reading):
    assert Reading.from_header(reading.header()) == reading


@pytest.fixture(scope="module")
def model():
    return BayesianSkipGram(toy_language(5000), vector_size=20, alpha=0.05, epochs=10, workers=1)


def test_old_and_paper_models_read_plainly_new_ones_do_not(model, tmp_path):
    assert model.wv.encoder.reading == Reading.of_thinned_text(5, 1.0)
    plain = BayesianSkipGram(toy_language(50), vector_size=4, residual=False, epochs=1, workers=1, window=3)
    assert plain.wv.encoder.reading == Reading(3)
    for each in (model, plain):
        each.save(tmp_path / "model.dv")
        each.wv.save(tmp_path / "words.dv")
        assert BayesianSkipGram.load(tmp_path / "model.dv").wv.encoder.reading == each.wv.encoder.reading
        loaded = KeyedDensities.load(tmp_path / "words.dv")
        assert loaded.encoder.reading == each.wv.encoder.reading
        np.testing.assert_array_equal(loaded.expandos["keep"], each.wv.expandos["keep"])


def test_headers_from_before_emphasis_have_none():
    header = Reading.of_thinned_text(5, 1.0).header()
    del header["emphasis"]
    assert Reading.from_header(header).emphasis == 1


def test_headers_from_before_frequency_rank_by_the_divergence_alone():
    header = Reading.of_thinned_text(5, 1.0).header()
    del header["frequency"]
    assert Reading.from_header(header).frequency == 0


def test_inference_reads_a_sentence_as_the_reading_says(model):
    wv = model.wv
    words = ["the", "ripe", "fuzzy", "kiwi", "softens", "in", "the", "smoothie"]
    sentence = [word for word in words if word in wv]
    rows = np.array([wv.get_index(word) for word in sentence])
    keep = wv.expandos["keep"][rows].astype(float)
    assert keep.min() < 1  # something is thinned
    assert sentence[3] == "kiwi"
    weights = read_by_hand(wv.encoder.reading, keep, 3, 0, len(sentence))
    places = sorted(weights)
    read, counted = wv.read_around(["unheard", *sentence], 4)
    assert read.tolist() == [place + 1 for place in places]
    np.testing.assert_allclose(counted, [weights[place] for place in places], rtol=1e-6)
    priors = wv.vectors[rows[[3]]], wv.log_variances[rows[[3]]]
    (mean,), (log_variance,) = wv.encoder.posteriors(
        rows[[3]], rows[places], [0, len(places)], priors, np.array([weights[place] for place in places])
    )
    posteriors = [
        wv.infer(sentence, word="kiwi", position=3),
        wv.infer(sentence, word="kiwi"),  # the word is in it: a sentence
        wv.infer(" ".join(sentence))[3],
        wv.infer_sentences([sentence, sentence])[1][3],
        model.infer_posteriors([("kiwi", sentence), ("owl", "forest")])[0],
    ]
    for posterior in posteriors:
        np.testing.assert_allclose(posterior.mean, mean, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(posterior.variance, np.exp(log_variance), rtol=1e-4)


def test_a_bag_of_words_has_no_order(model):
    one = model.wv.infer("ripe fuzzy smoothie", word="kiwi")
    other = model.wv.infer("smoothie ripe fuzzy", word="kiwi")
    np.testing.assert_allclose(one.mean, other.mean, rtol=1e-5, atol=1e-6)


def test_several_occurrences_are_all_read_and_each_word_once(model):
    wv = model.wv
    text = ["ripe", "kiwi", "softens", "near", "the", "forest", "where", "the", "flightless", "kiwi", "digs"]
    both = wv.infer(text, word="kiwi")
    single = [wv.infer(text, word="kiwi", position=place) for place in (1, 9)]
    assert all(not np.allclose(both.mean, each.mean) for each in single)
    twice = wv.infer("kiwi ripe kiwi", word="kiwi")  # in reach of both, equally near
    np.testing.assert_allclose(twice.mean, wv.infer("ripe kiwi", word="kiwi").mean, rtol=1e-4, atol=1e-5)


def test_a_paragraph_settles(model):
    wv = model.wv
    words = [w for sentence in toy_language(400, seed=3) for w in sentence if w != "kiwi" and w in wv][:1000]
    prior = wv.density("kiwi")
    shifts, entropies = [], []
    for count in (1, 3, 10, 30, 100, 300, 1000):
        posterior = wv.infer(words[:count], word="kiwi")
        shifts.append(float(posterior.kl(prior)))
        entropies.append(float(posterior.entropy()))
    assert max(shifts) < 3 * max(shifts[:3])
    assert abs(shifts[-1] - shifts[-2]) < 0.2 * max(shifts)
    assert abs(entropies[-1] - entropies[-2]) < 0.2 * (prior.entropy() - min(entropies))
    nearest = [{w for w, _ in wv.substitutes("kiwi", words[:count], topn=5)} for count in (500, 1000)]
    assert len(nearest[0] & nearest[1]) >= 3


@given(data=st.data())
def test_every_word_that_is_read_narrows_a_posterior_further_but_not_without_end(model, data):
    wv = model.wv
    word, *context = data.draw(
        st.lists(st.sampled_from(wv.index_to_key), min_size=2, max_size=12, unique=True)
    )
    fewer, more = (float(wv.infer(words, word=word).variance[0]) for words in (context[:-1], context))
    assert more <= fewer
    if wv.infer(context, word=word) != wv.infer(context[:-1], word=word):
        endless = float(wv.infer(context * 200, word=word).variance[0])
        assert 2 / 3 * wv.density(word).variance[0] < endless <= more


@pytest.mark.parametrize("seed", range(1, 9))
def test_the_more_telling_words_the_surer_on_every_seed(seed):
    model = BayesianSkipGram(toy_language(3000), vector_size=20, alpha=0.05, epochs=5, workers=1, seed=seed)
    wv = model.wv
    prior = wv.density("kiwi").entropy()
    for telling in ("ripe fuzzy softens smoothie juicy", "flightless shy digs forest burrow"):
        words = [word for word in telling.split() if word in wv]
        entropies = [
            float(wv.infer(words[:count], word="kiwi").entropy()) for count in range(1, len(words) + 1)
        ]
        assert entropies[0] < prior
        assert all(later < earlier for earlier, later in itertools.pairwise(entropies))


def test_what_is_not_a_word_is_refused(model):
    with pytest.raises(KeyError):
        model.wv.infer("ripe fuzzy", word="unheardof")
    with pytest.raises(KeyError):
        model.infer_posterior("the ripe fuzzy kiwi", "kiwi")
    with pytest.raises(TypeError, match="not a word"):
        model.wv.infer("kiwi", word=["ripe", "fuzzy"])


def test_similarity_in_context_compares_contexts_and_by_divergence_posteriors(model):
    wv = model.wv
    bird, fruit = "the flightless shy kiwi digs", "the ripe fuzzy kiwi softens"
    own = wv.similarity_in_context("kiwi", bird, "kiwi", bird)
    across = wv.similarity_in_context("kiwi", bird, "kiwi", fruit)
    assert own == pytest.approx(1.0)
    assert across < own
    one, other = wv.infer(bird, word="kiwi"), wv.infer(fruit, word="kiwi")
    for metric in ("kl", "jeffreys", "wasserstein", "expected_likelihood"):
        expected = float(wv.similarity(one, other, metric=metric))
        assert wv.similarity_in_context("kiwi", bird, "kiwi", fruit, metric=metric) == pytest.approx(
            expected, rel=1e-5
        )
    batch = wv.similarities_in_context([("kiwi", bird, "kiwi", fruit), (("kiwi", bird, 3), ("kiwi", bird))])
    assert batch == pytest.approx([across, own])
