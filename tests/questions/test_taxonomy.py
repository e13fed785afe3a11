"""The tree of words."""

import numpy as np
import pytest

from densvec import KeyedDensities
from densvec.questions.taxonomy import build_taxonomy


@pytest.mark.parametrize("seed", range(20))
def test_any_scores_make_a_tree_of_the_best_pairs(seed):
    rng = np.random.default_rng(seed)
    words, scores = list("abcdefgh"), rng.random((8, 8))
    tree = build_taxonomy(words, scores, rng.random(8), 0.3)
    assert sorted(word for _, word in tree.walk()) == words
    others = np.where(np.eye(8, dtype=bool), -1, scores)
    child, parent = np.unravel_index(others.argmax(), others.shape)
    assert tree.parent(words[child]) == words[parent]
    assert all(score is None or score > 0.3 for score in tree.scores)


def test_words_stand_under_what_they_are_kinds_of():
    rng = np.random.default_rng(1)
    wv = KeyedDensities(20, covariance="spherical")
    centres = rng.normal(size=(2, 20))
    keys, means, logs = [], [], []
    for name, centre in zip(("bird", "fruit"), centres, strict=True):
        keys.append(name), means.append(centre), logs.append([1.0])
        for i in range(5):
            keys.append(f"{name}{i}"), means.append(centre + 0.3 * rng.normal(size=20)), logs.append([0.0])
    wv.add_vectors(keys, np.array(means), log_variances=logs)
    tree = wv.taxonomy(keys)
    assert sorted(tree.roots) == ["bird", "fruit"]
    assert all(tree.parent(f"bird{i}") == "bird" for i in range(5))
    assert tree.path("fruit3") == ["fruit3", "fruit"]
    assert str(tree).splitlines()[1].startswith("  ")
    assert {node["word"] for node in tree.to_dict()["roots"]} == {"bird", "fruit"}
    with pytest.raises(ValueError, match="at least one word"):
        wv.taxonomy([])
    with pytest.raises(KeyError, match="unicorn"):
        wv.taxonomy(["bird", "unicorn"])
