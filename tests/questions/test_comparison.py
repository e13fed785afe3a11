"""Meaning between corpora: a rotated model has not moved, words swapped on purpose have."""

import numpy as np
import pytest

from densvec import BayesianSkipGram, KeyedDensities, compare
from densvec.datasets import toy_language
from densvec.distances.vectors import unit_rows
from densvec.questions.comparison import _nearness, align

CHANGED = {f"w{i}" for i in range(5, 300, 40)}


@pytest.fixture(scope="module")
def moved():
    """Return two models of the same words, noisy, turned and scaled, in the second of which some words moved."""
    return noisy(random_densities(), 1), noisy(random_densities(), 2, CHANGED)


def noisy(wv, seed, changed=()):
    """Return densities with the noise of another training, larger for rare words, in a space turned and scaled."""
    rng = np.random.default_rng(seed)
    size = wv.vector_size
    noise = rng.normal(size=wv.vectors.shape) * (0.1 + 0.1 * rng.random((len(wv), 1)))
    noise *= np.sqrt(200 / wv.expandos["count"])[:, None]
    means = wv.vectors + noise
    for word in sorted(changed):  # a set has another order in each process
        means[wv.get_index(word)] = rng.normal(size=size)
    turn = np.linalg.qr(rng.normal(size=(size, size)))[0]
    return KeyedDensities.from_arrays(
        list(wv.index_to_key),
        (2 * means @ turn).astype(np.float32),
        log_variances=wv.log_variances + np.float32(2 * np.log(2)),
        attributes=wv.expandos,
    )


def random_densities(seed=1, count=300, covariance="spherical"):
    rng = np.random.default_rng(seed)
    wv = KeyedDensities(8, covariance=covariance)
    width = 1 if covariance == "spherical" else 8
    wv.add_vectors(
        [f"w{i}" for i in range(count)],
        rng.normal(size=(count, 8)),
        log_variances=rng.normal(size=(count, width)) * 0.1,
    )
    wv.expandos["count"] = np.arange(count + 100, 100, -1)
    return wv


def test_a_turned_and_scaled_model_has_not_moved():
    wv = random_densities()
    rng = np.random.default_rng(2)
    turn = np.linalg.qr(rng.normal(size=(8, 8)))[0]
    other = KeyedDensities.from_arrays(
        wv.index_to_key,
        (3 * wv.vectors @ turn).astype(np.float32),
        log_variances=wv.log_variances + np.float32(2 * np.log(3)),
        attributes=wv.expandos,
    )
    rotation, scale = align(wv, other, wv.index_to_key)
    assert rotation == pytest.approx(turn.T, abs=1e-4)
    assert scale == pytest.approx(1 / 3, rel=1e-4)
    assert compare(wv, other).shifts.max() < 1e-3


def test_words_that_moved_are_found(moved):
    comparison = compare(*moved)
    top = {shift.word for shift in comparison.most_shifted(len(CHANGED))}
    assert top == CHANGED
    assert all(comparison[word].p_value < 0.01 for word in CHANGED)
    assert all(comparison[word].q_value < 0.05 for word in CHANGED)
    assert f"{comparison.moved} of them moved" in repr(comparison)
    assert len(comparison["w5"].nearest[0]) == 8
    names, places = comparison.path("w5")
    assert names[:2] == ["w5 1", "w5 2"]
    assert places.shape == (len(names), 8)


def test_words_asked_for_are_judged_among_all(moved):
    whole, some = compare(*moved), compare(*moved, words=["w5", "w6", "unknown"])
    assert some.words == ["w5", "w6"]
    assert some.scores == pytest.approx([whole["w5"].score, whole["w6"].score])
    assert some["w5"].nearest == whole["w5"].nearest
    with pytest.raises(KeyError):
        some["w7"]


def test_a_word_far_from_all_others_must_move_further():
    """In the first model two words lie equally far from where the second has them, one of them among others."""
    rng = np.random.default_rng(1)
    first = rng.normal(size=(400, 20)).astype(np.float32)
    first[2:60] = first[0] + 0.3 * rng.normal(size=(58, 20))  # neighbours of w0, none of w1
    second = first.copy()
    for row in (0, 1):
        across = rng.normal(size=20)
        across -= across @ first[row] / (first[row] @ first[row]) * first[row]
        second[row] = first[row] + across * np.linalg.norm(first[row]) / np.linalg.norm(across)
    names = [f"w{i}" for i in range(400)]
    logs = np.zeros((400, 1), dtype=np.float32)
    a, b = (KeyedDensities.from_arrays(names, table, log_variances=logs) for table in (first, second))
    comparison = compare(a, b, min_count=1)
    assert comparison["w0"].score > comparison["w1"].score > 3


def test_a_word_that_leaves_its_neighbours_is_not_excused():
    """A word that moves away loses its neighbours by that; how near they were before is what counts."""
    rng = np.random.default_rng(1)
    centres = rng.normal(size=(30, 20))
    first = np.repeat(centres, 20, axis=0) + 0.3 * rng.normal(size=(600, 20))
    second = first.copy()
    second[0] = rng.normal(size=20)
    second += 0.1 * rng.normal(size=second.shape)
    before, after = (
        _nearness(unit_rows(first), unit_rows(first)),
        _nearness(unit_rows(first), unit_rows(second)),
    )
    alone = _nearness(unit_rows(second), unit_rows(second))
    assert alone[0] < before[0] - 0.1
    assert after[0] == pytest.approx(before[0], abs=0.05)


@pytest.mark.parametrize("backwards", [False, True])
def test_a_second_meaning_is_told_from_a_movement_without_aim(backwards):
    """Halfway to another word is a second meaning, gained or lost; as far in any direction is noise."""
    wv = random_densities(count=2000)
    a, b = noisy(wv, 3), noisy(wv, 4)
    rng = np.random.default_rng(7)
    for row in range(0, 100, 2):
        gap = (b.vectors[row + 1000] - b.vectors[row]) / 2
        across = rng.normal(size=gap.shape)
        b.vectors[row] += gap
        b.vectors[row + 1] += across * np.linalg.norm(gap) / np.linalg.norm(across)
    b.fill_norms(force=True)
    comparison = compare(b, a) if backwards else compare(a, b)
    aimed, aimless = (np.array([comparison[f"w{row + i}"].score for row in range(0, 100, 2)]) for i in (0, 1))
    assert np.median(aimed) > np.median(aimless)


def test_false_alarms_are_at_the_nominal_rate():
    wv = random_densities(count=2000)
    comparison = compare(noisy(wv, 3), noisy(wv, 4))
    assert 0.02 < np.mean(comparison.p_values < 0.05) < 0.08
    assert np.mean(comparison.p_values < 0.01) < 0.03
    assert comparison.moved < 0.02 * len(wv)


def test_noise_changes_nobodys_generality():
    """However noisy the means, and however long, most words are as general as before; those that are not are seen."""
    wv = random_densities(count=2000)
    a, b = noisy(wv, 3), noisy(wv, 4)
    b.vectors *= 3.0
    b.fill_norms(force=True)
    b.log_variances[7] += 0.5
    comparison = compare(a, b)
    changes = np.array([comparison[word].generality_change for word in comparison.words])
    assert abs(np.median(changes)) < 1e-6
    others = np.delete(changes, comparison.words.index("w7"))
    assert np.abs(others).max() < 1e-3
    assert comparison["w7"].generality_change == pytest.approx(8 * 0.5, abs=1e-3)


def test_two_halves_of_a_text_have_no_differences():
    sentences = list(toy_language(6000))
    options = {"vector_size": 20, "sample": 0.01, "alpha": 0.05, "epochs": 5, "workers": 1}
    halves = [BayesianSkipGram(sentences[i::2], seed=i + 1, **options).wv for i in (0, 1)]
    comparison = compare(*halves)
    changes = [comparison[word].generality_change for word in comparison.words]
    assert abs(np.mean(changes)) < 1.5
    assert comparison.moved <= 0.02 * len(comparison)
    assert comparison["owl"].counts == tuple(wv.expandos["count"][wv.get_index("owl")] for wv in halves)


def test_neighbours_that_are_too_rare_are_left_out():
    wv = random_densities()
    wv.expandos["count"] = np.concatenate([np.full(200, 100), np.full(100, 5)])
    shift = compare(wv, wv, min_count=20)["w5"]
    assert all(count >= 20 for side in shift.nearest for _, count in side)


def test_examples_are_typical():
    language = toy_language(6000)
    sentences = list(language)
    wv = BayesianSkipGram(sentences, vector_size=20, sample=0.01, alpha=0.05, epochs=10, workers=1, seed=1).wv
    kiwis = {"bird": [], "fruit": []}
    for each in language.annotated():
        if each.word == "kiwi":
            kiwis[each.sense].append(each.tokens)
    texts = (kiwis["bird"] + kiwis["fruit"][:20], kiwis["fruit"] + kiwis["bird"][:20])
    found = compare(wv, wv).examples(["kiwi", "owl"], texts, 5)
    assert found["owl"] == ([], [])
    birds, fruit = (set(language.senses["kiwi"][sense]) for sense in ("bird", "fruit"))
    assert all(birds & set(each.tokens) for each in found["kiwi"][0])
    assert all(fruit & set(each.tokens) for each in found["kiwi"][1])


def test_one_word_in_two_corpora():
    sentences = list(toy_language(8000))
    wv = BayesianSkipGram(sentences, vector_size=20, sample=0.01, alpha=0.05, epochs=10, workers=1, seed=1).wv
    with_owl = [sentence for sentence in sentences if "owl" in sentence]
    swapped = [["owl" if token == "apple" else token for token in s] for s in sentences if "apple" in s]
    assert wv.compare("owl", with_owl[::2], swapped, permutations=99).p_value == pytest.approx(0.01)
    assert wv.compare("owl", with_owl[::2], with_owl[1::2], permutations=99).p_value > 0.01
    plural = [["owls" if token == "owl" and i % 2 else token for token in s] for i, s in enumerate(with_owl)]
    whole = wv.compare("owl", with_owl[::2], with_owl[1::2], permutations=9)
    for corpora in (
        (plural[::2], plural[1::2]),
        [
            [(s, s.index("owls" if "owls" in s else "owl")) for s in part]
            for part in (plural[::2], plural[1::2])
        ],
    ):
        same = wv.compare("owl", *corpora, forms=["owls"], permutations=9)
        assert same.counts == whole.counts
        assert same.shift == pytest.approx(whole.shift, rel=1e-4)
    with pytest.raises(ValueError, match="occurs 0 times in the second corpus"):
        wv.compare("owl", with_owl, [])
    with pytest.raises(KeyError):
        wv.compare("unicorn", with_owl, with_owl)


def test_errors_say_what_to_do():
    wv = random_densities()
    with pytest.raises(ValueError, match="8 and 2 dimensions"):
        compare(wv, KeyedDensities(2, covariance="spherical"))
    with pytest.raises(ValueError, match="lower min_count"):
        compare(wv, wv, min_count=10_000)
    with pytest.raises(KeyError, match="unicorn"):
        compare(wv, wv)["unicorn"]
    diagonal = random_densities(covariance="diagonal")
    assert compare(diagonal, diagonal).shifts.max() < 1e-6
