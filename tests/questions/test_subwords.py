"""Densities from spelling: a language whose meanings are in its n-grams, files, and what stays as it was."""

import numpy as np
import pytest

from densvec import KeyedDensities


@pytest.fixture(scope="module")
def wv():
    """Words of two syllables, each of which adds its own part to the meaning."""
    rng = np.random.default_rng(1)
    syllables = [a + b + c for a in "bdgkl" for b in "aeiou" for c in "mnrst"]
    parts = {syllable: rng.normal(size=12) for syllable in syllables}
    words = [f"{a}{b}" for a in syllables[:40] for b in syllables[:40]]
    means = (
        np.array([parts[word[:3]] + parts[word[3:]] for word in words]) + rng.normal(size=(1600, 12)) * 0.1
    )
    made = KeyedDensities(12, covariance="spherical")
    made.add_vectors(words, means.astype(np.float32), log_variances=np.zeros((1600, 1), dtype=np.float32))
    return made


def held_out(wv, count=160):
    words = [wv.index_to_key[i] for i in np.random.default_rng(2).permutation(len(wv))[:count]]
    rest = wv.vectors_for_all([word for word in wv.index_to_key if word not in set(words)])
    return words, rest


def test_words_held_out_are_near_what_their_spelling_says(wv):
    words, rest = held_out(wv)
    guessed = rest.density_from_spelling(words)
    true = wv[words]
    cosines = (
        (guessed.mean * true).sum(1) / np.linalg.norm(guessed.mean, axis=1) / np.linalg.norm(true, axis=1)
    )
    assert cosines.mean() > 0.9


def test_variance_covers_the_error(wv):
    words, rest = held_out(wv)
    guessed = rest.density_from_spelling(words)
    error = ((guessed.mean - wv[words]) ** 2).mean()
    added = (guessed.variance - 1.0).mean()  # the words' own variance is 1
    assert added > error


def test_what_spelling_says_less_of_is_wider(wv):
    known, strange = wv.density_from_spelling(["bambem", "xyzzyqwfp"])
    assert strange.variance[0] > known.variance[0]


def test_batches_say_what_single_words_say(wv):
    words = ["bambem", "unknownish", "bamxyz", ""]
    batch = wv.density_from_spelling(words)
    for i, word in enumerate(words):
        alone = wv.density_from_spelling(word)
        np.testing.assert_allclose(batch.mean[i], alone.mean, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(batch.variance[i], alone.variance, rtol=1e-5)


def test_guesses_leave_out_what_the_word_itself_holds(wv):
    """A known word's own mean may be anything: its spelling says nearly the same, but for the mean of all words."""
    changed = wv.vectors_for_all(wv.index_to_key)
    before = changed.density_from_spelling("bambem").mean
    changed["bambem"] = np.full(12, 100.0)
    after = changed.density_from_spelling("bambem").mean
    np.testing.assert_allclose(after, before, atol=0.01 * np.abs(before).max())


def test_words_added_later_count_too(wv):
    more = wv.vectors_for_all(wv.index_to_key)
    before = more.density_from_spelling("bambembamb")
    more.add_vectors(["bambembam"], np.full((1, 12), 9.0, dtype=np.float32))
    assert more.density_from_spelling("bambembamb").mean.sum() > before.mean.sum() + 1


def test_unknown_words_stay_unknown(wv):
    wv.density_from_spelling("unknownish")
    with pytest.raises(KeyError):
        wv["unknownish"]
    assert "unknownish" not in wv
    with pytest.raises(ValueError, match="no known words"):
        KeyedDensities(12, covariance="spherical").density_from_spelling("unknownish")
