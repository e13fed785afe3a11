"""How large ellipses are."""

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("agg")

import densvec
from densvec import KeyedDensities, plot
from densvec.plot import COLOURS
from densvec.plot.fonts import families_for


def widths(ax):
    return [patch.width for patch in ax.patches]


@pytest.fixture(scope="module")
def english():
    return densvec.load("english")


def test_words_of_real_text_differ_visibly(english):
    words = ["violin", "instrument"]
    true = widths(plot.plot_words(english, words, radii="true"))
    ax = plot.plot_words(english, words)
    shown = widths(ax)
    assert max(true) / min(true) < 1.1 < 1.3 < max(shown) / min(shown)
    assert any("radii by the rank" in text.get_text() for text in ax.texts)


def test_contexts_of_real_text_differ_visibly(english):
    contexts = ["the bank raised its interest rates", "along the bank of the river"]
    ax = plot.plot_contexts(english, "bank", contexts)
    prior, *posteriors = widths(ax)
    for width, context in zip(posteriors, contexts, strict=True):
        change = english.infer(context, "bank").entropy() - english.density("bank").entropy()
        assert width == pytest.approx(prior * np.exp(change / 2), rel=1e-3)
    labels = {text.get_text() for text in ax.texts}
    assert not labels & {"banks", "river", "interest"}


def test_variances_that_differ_are_drawn_as_they_are():
    wv = KeyedDensities.from_arrays(["a", "b"], np.eye(2), log_variances=np.log([[1.0], [4.0]]))
    assert sorted(widths(plot.plot_words(wv, ["a", "b"]))) == pytest.approx([2, 4])
    with pytest.raises(ValueError, match="radii='big'"):
        plot.plot_words(wv, ["a", "b"], radii="big")


def test_ten_words_have_ten_colours():
    assert len(set(COLOURS)) == len(COLOURS) >= 10


def test_scripts_without_a_font_are_named():
    assert families_for("naïve") == mpl.rcParams["font.family"]
    with pytest.warns(UserWarning, match="install one"):
        families_for("\U0001f999\U000f0000")  # of a private area: no font has it
