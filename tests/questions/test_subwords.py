"""Densities from spelling: a language whose meanings are in its n-grams, files, and what stays as it was."""

import numpy as np
import pytest

from densvec import KeyedDensities
from densvec.questions.spelling_model import SpellingModel


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


def test_batches_say_what_single_words_say(wv):
    spelling = wv.with_subwords()
    words = ["bambem", "unknownish", "bamxyz", ""]
    batch = spelling.density_from_spelling(words)
    for i, word in enumerate(words):
        alone = spelling.density_from_spelling(word)
        np.testing.assert_allclose(batch.mean[i], alone.mean, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(batch.variance[i], alone.variance, rtol=1e-5)


def test_guesses_leave_out_what_the_word_itself_holds(wv):
    """A known word's own mean may be anything: its spelling says the same."""
    changed = wv.vectors_for_all(wv.index_to_key)
    spelling = changed.with_subwords()
    before = spelling.density_from_spelling("bambem")
    spelling.vectors[spelling.get_index("bambem")] = 100.0
    np.testing.assert_array_equal(spelling.density_from_spelling("bambem").mean, before.mean)


@pytest.fixture(scope="module")
def noisy(wv):
    """The same language; half of the words are rare, and their means are mostly noise."""
    rng = np.random.default_rng(3)
    counts = np.where(np.arange(len(wv)) % 2, 100_000, 5)
    noise = rng.normal(size=wv.vectors.shape) * np.where(counts == 5, 2.0, 0.0)[:, None]
    made = KeyedDensities(12, covariance="spherical")
    means = (wv.vectors + noise).astype(np.float32)
    made.add_vectors(wv.index_to_key, means, log_variances=np.zeros((len(wv), 1), dtype=np.float32))
    for word, count in zip(made.index_to_key, counts, strict=True):
        made.set_vecattr(word, "count", int(count))
    return made.with_subwords()


class TestKnownWordsWithTheirSpelling:
    def test_rare_words_come_nearer_to_the_truth(self, wv, noisy):
        rare = noisy.index_to_key[::2]

        def nearness(means):
            norms = np.linalg.norm(means, axis=1) * np.linalg.norm(wv[rare], axis=1)
            return float(((means * wv[rare]).sum(axis=1) / norms).mean())

        assert nearness(noisy.density_with_spelling(rare).mean) > nearness(noisy[rare]) + 0.05

    def test_frequent_words_stay(self, noisy):
        frequent = noisy.index_to_key[1::2]
        combined = noisy.density_with_spelling(frequent)
        np.testing.assert_allclose(combined.mean, noisy[frequent], atol=0.05)
        np.testing.assert_allclose(combined.variance, noisy.get_variance(frequent), rtol=0.01)

    def test_unknown_words_have_their_spelling_alone(self, noisy):
        assert noisy.density_with_spelling("bambemix") == noisy.density_from_spelling("bambemix")

    def test_the_table_stays_as_it_is(self, noisy):
        before = noisy.vectors.copy()
        noisy.density_with_spelling(noisy.index_to_key[:10])
        np.testing.assert_array_equal(noisy.vectors, before)

    def test_without_counts_known_words_stay(self, wv):
        combined = wv.with_subwords().density_with_spelling(["bambem"])
        np.testing.assert_allclose(combined.mean, wv[["bambem"]], rtol=1e-5)
        np.testing.assert_allclose(combined.variance, 1.0, rtol=1e-5)


def test_words_added_later_count_too(wv):
    spelling = wv.vectors_for_all(wv.index_to_key).with_subwords()
    before = spelling.density_from_spelling("bambembamb")
    spelling.add_vectors(["bambembam"], np.full((1, 12), 9.0, dtype=np.float32))
    assert spelling.density_from_spelling("bambembamb").mean.sum() > before.mean.sum() + 1


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
    with pytest.raises(ValueError, match="lower min_words"):
        wv.with_subwords(min_words=10_000)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("weights", np.ones(3, dtype=np.float32), "expected one more"),
        ("centre", np.ones(5, dtype=np.float32), "12 dimensions need 13 or 24"),
        ("lengths", np.array([4, 2]), "shortest <= longest"),
        ("trust", np.array([1.0, 1.0, -1.0, 0.0]), "cannot have been fitted"),
    ],
)
def test_damaged_arrays_are_refused(wv, name, value, message):
    arrays = wv.with_subwords().subwords.arrays()
    assert SpellingModel.restored(arrays, 12) is not None
    with pytest.raises(ValueError, match=message):
        SpellingModel.restored(arrays | {f"subwords.{name}": value}, 12)


def test_the_arrays_of_an_earlier_version_are_left_out():
    old = {"subwords.embeddings": np.ones((4, 13), dtype=np.float16)}
    assert SpellingModel.restored(old, 12) is None
