"""The arborescence against every possible tree; the tree of words."""

import itertools

import numpy as np
import pytest

from densvec import KeyedDensities
from densvec.questions.taxonomy import maximum_arborescence


def every_tree(count, root):
    """Yield the parents of every spanning tree away from a root."""
    others = [node for node in range(count) if node != root]
    for choice in itertools.product(range(count), repeat=len(others)):
        parents = np.full(count, -1)
        parents[others] = choice
        if all(reaches(parents, node, root) for node in others):
            yield parents


def reaches(parents, node, root):
    for _ in range(len(parents)):
        if node == root:
            return True
        node = parents[node]
    return node == root


@pytest.mark.parametrize("seed", range(40))
def test_no_tree_is_better(seed):
    rng = np.random.default_rng(seed)
    count, root = 5, int(rng.integers(5))
    weights = rng.normal(size=(count, count))
    others = [node for node in range(count) if node != root]

    def total(parents):
        return sum(weights[parents[node], node] for node in others)

    found = maximum_arborescence(weights, root)
    assert found[root] == -1
    assert all(reaches(found, node, root) for node in others)
    assert total(found) == pytest.approx(max(map(total, every_tree(count, root))))


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
