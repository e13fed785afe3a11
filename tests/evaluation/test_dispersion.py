import numpy as np
import pytest

from conftest import example_densities
from densvec.evaluation import Bootstrap, entropy_in_context, explained_dispersion

NONE = Bootstrap(0)
TEXT = [["dog", "cat", "animal"]] * 40


@pytest.fixture
def wv():
    wv = example_densities()
    wv.window = 1
    return wv


def test_ratio_by_hand(wv):
    # Around "cat", prior mean (1, 2). From "dog" the posterior's mean is (1, 1), and "animal" at (1, 1) is at 0
    # instead of 1; from "animal" it is (.5, 1.5), and "dog" at (2, 1) is at 2.5 instead of 2.
    result = explained_dispersion(wv, TEXT, context_words=[1], windows=1, sample=0, bootstrap=NONE)
    assert float(result.ratio[1]) == pytest.approx(0) or float(result.ratio[1]) == pytest.approx(1.25)
    assert result.windows == 1
    many = explained_dispersion(wv, TEXT * 100, context_words=[1], windows=4000, sample=0, bootstrap=NONE)
    assert float(many.ratio[1]) == pytest.approx(2.5 / 3, abs=0.03)


def test_a_posterior_that_is_the_prior_explains_nothing(wv):
    wv.encoder.mean_head[:] = 0
    wv.encoder.residual = True
    result = explained_dispersion(wv, TEXT, context_words=[1], sample=0)
    assert float(result.ratio[1]) == pytest.approx(1)
    assert result.ratio[1].low == pytest.approx(1)


def test_windows_are_drawn_by_seed(wv):
    text = [["dog", "cat", "animal", "car", "dog", "animal", "cat"]] * 30
    figures = [
        float(
            explained_dispersion(
                wv, text, context_words=[1], windows=40, sample=0, seed=seed, bootstrap=NONE
            ).ratio[1]
        )
        for seed in (0, 0, 1)
    ]
    assert figures[0] == figures[1] != figures[2]


def test_text_without_a_full_window_has_no_figure(wv):
    wv.window = 5
    result = explained_dispersion(wv, TEXT, sample=0)
    assert result.windows == 0
    assert np.isnan(float(result.ratio[1]))
    assert "–" in str(result)
    entropy = entropy_in_context(wv, TEXT, sample=0)
    assert (entropy.windows, entropy.occurrences) == (0, 0)
    assert np.isnan(float(entropy.narrowed))


def test_what_it_needs(wv):
    with pytest.raises(ValueError, match="context_words has 2: with window=1 it must be between 1 and 1"):
        explained_dispersion(wv, TEXT, context_words=[1, 2])
    wv.encoder = None
    for function in (explained_dispersion, entropy_in_context):
        with pytest.raises(ValueError, match="needs a model with an encoder"):
            function(wv, TEXT)
