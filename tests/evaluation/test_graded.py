"""Graded entailment: against scipy, and files that are not what they should be."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from densvec import KeyedDensities
from densvec.evaluation import BenchmarkFileError, Bootstrap, graded_entailment


def test_agrees_with_scipy(tmp_path):
    rng = np.random.default_rng(1)
    wv = KeyedDensities(4, covariance="spherical")
    keys = [f"w{i}" for i in range(20)]
    wv.add_vectors(keys, rng.normal(size=(20, 4)), log_variances=rng.normal(size=(20, 1)))
    pairs = [(keys[i], keys[i + 1], float(rng.random())) for i in range(19)]
    lines = [f"{a} {b} N hyp-1 {score:.3f} 0 0" for a, b, score in pairs]
    path = tmp_path / "hyperlex.txt"
    path.write_text("\n".join(["WORD1 WORD2 POS TYPE AVG_SCORE", *lines, "w1 unicorn N hyp-1 3.0"]))
    result = graded_entailment(wv, path, bootstrap=Bootstrap(0))
    assert (result.known, result.pairs) == (19, 20)
    scores = wv.hypernymy([a for a, _, _ in pairs], [b for _, b, _ in pairs])
    expected = spearmanr(scores, [round(score, 3) for _, _, score in pairs])[0]
    assert float(result.rho["hypernymy"]) == pytest.approx(expected)
    assert set(result.rho) == {"hypernymy", "kl", "cosine"}


def test_a_bad_line_is_named(tmp_path):
    path = tmp_path / "hyperlex.txt"
    path.write_text("dog animal N hyp-1 much\n")
    with pytest.raises(BenchmarkFileError, match="expected 'word1 word2"):
        graded_entailment(KeyedDensities(2), path)
