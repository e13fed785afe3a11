"""Divergences of pairs that entail and of others."""

import matplotlib as mpl
import pytest

mpl.use("agg")
from densvec import plot


def test_histograms_hold_every_known_pair_once(diagonal):
    words = diagonal.index_to_key
    pairs = [(words[i], words[i + 1]) for i in range(20)] + [("unknown", words[0])]
    others = [(words[i], words[i + 30]) for i in range(30)]
    ax = plot.plot_entailment(diagonal, pairs, others)
    for patch in ax.patches:
        assert patch.get_data().values.sum() == pytest.approx(1)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "a entails b (20)",
        "other pairs (30)",
    ]
    with pytest.raises(ValueError, match="other pairs"):
        plot.plot_entailment(diagonal, pairs, [("unknown", "words")])
