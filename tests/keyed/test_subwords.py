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
    return words, rest.with_subwords()


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
    assert 0.5 < added / error < 2.0


def test_what_spelling_says_less_of_is_wider(wv):
    spelling = wv.with_subwords()
    known, strange = spelling.density_from_spelling(["bambem", "xyzzyqwfp"])
    assert strange.variance[0] > known.variance[0]


def test_unknown_words_stay_unknown(wv):
    spelling = wv.with_subwords()
    with pytest.raises(KeyError):
        spelling["unknownish"]
    assert "unknownish" not in spelling
    assert spelling.vectors is wv.vectors
    with pytest.raises(ValueError, match="with_subwords"):
        wv.density_from_spelling("unknownish")


def test_stored_in_the_same_file(wv, tmp_path):
    spelling = wv.with_subwords()
    spelling.save(tmp_path / "spelling.dv")
    for mmap in (None, "r"):
        again = KeyedDensities.load(tmp_path / "spelling.dv", mmap=mmap)
        assert again.density_from_spelling("unknownish") == spelling.density_from_spelling("unknownish")
    wv.save(tmp_path / "plain.dv")
    assert KeyedDensities.load(tmp_path / "plain.dv").subwords is None


def test_settings_are_checked(wv):
    with pytest.raises(ValueError, match="min_n=5 and max_n=3"):
        wv.with_subwords(5, 3)
    with pytest.raises(ValueError, match="min_words=0"):
        wv.with_subwords(min_words=0)
    with pytest.raises(ValueError, match="two are too few"):
        wv.vectors_for_all(["bambem"]).with_subwords()
