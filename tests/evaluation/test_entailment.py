from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from densvec.evaluation import BenchmarkFileError, Bootstrap, direction, entailment
from densvec.evaluation.entailment import _best_threshold, _f1_and_average_precision, read_entailment

NONE = Bootstrap(0)

scored_pairs = st.lists(st.tuples(st.integers(0, 8), st.booleans()), min_size=1, max_size=25).filter(
    lambda pairs: any(truth for _, truth in pairs)
)


def brute_force_f1(values, truth, weights):
    best = 0.0
    for threshold in values:
        chosen = values >= threshold
        hits = (weights * (chosen & truth)).sum()
        if hits:
            precision, recall = hits / (weights * chosen).sum(), hits / (weights * truth).sum()
            best = max(best, 2 * precision * recall / (precision + recall))
    return best


def brute_force_average_precision(values, truth):
    average, before = 0.0, 0.0
    for threshold in sorted(set(values), reverse=True):
        chosen = values >= threshold
        recall = (chosen & truth).sum() / truth.sum()
        average += (recall - before) * (chosen & truth).sum() / chosen.sum()
        before = recall
    return average


@given(scored_pairs)
def test_f1_and_average_precision_agree_with_every_threshold_tried(pairs):
    values, truth = np.array([v for v, _ in pairs], float), np.array([t for _, t in pairs])
    f1, average = _f1_and_average_precision(values, truth)(np.ones((1, len(pairs)), dtype=np.float32))[0]
    assert f1 == pytest.approx(brute_force_f1(values, truth, np.ones(len(pairs))), abs=1e-6)
    assert average == pytest.approx(brute_force_average_precision(values, truth), abs=1e-6)


@given(scored_pairs, st.randoms(use_true_random=False))
def test_a_resample_is_the_figure_of_the_repeated_pairs(pairs, random):
    values, truth = np.array([v for v, _ in pairs], float), np.array([t for _, t in pairs])
    weights = np.array([random.randrange(3) for _ in pairs])
    f1, average = _f1_and_average_precision(values, truth)(weights[None].astype(np.float32))[0]
    many_values, many_truth = np.repeat(values, weights), np.repeat(truth, weights)
    if not many_truth.any():
        assert np.isnan([f1, average]).all()
        return
    assert f1 == pytest.approx(brute_force_f1(values, truth, weights), abs=1e-6)
    assert average == pytest.approx(brute_force_average_precision(many_values, many_truth), abs=1e-6)


@given(scored_pairs)
def test_the_threshold_gives_the_f1_that_is_reported(pairs):
    values, truth = np.array([v for v, _ in pairs], float), np.array([t for _, t in pairs])
    threshold, precision, recall = _best_threshold(values, truth)
    chosen = values >= threshold
    assert precision == pytest.approx((chosen & truth).sum() / chosen.sum())
    assert recall == pytest.approx((chosen & truth).sum() / truth.sum())
    best = brute_force_f1(values, truth, np.ones(len(pairs)))
    assert 2 * precision * recall / (precision + recall) == pytest.approx(best)


def animals():
    """A dog lies inside the animals, a stone far away; animals are the widest and most frequent."""
    words = ["dog", "animal", "stone", "thing"]
    return SimpleNamespace(
        key_to_index={word: row for row, word in enumerate(words)},
        vectors=np.array([[1.0, 0.2], [1.0, 0.0], [-3.0, 1.0], [0.5, 0.5]], dtype=np.float32),
        log_variances=np.array([[-2.0], [0.0], [-2.0], [1.0]], dtype=np.float32),
        expandos={"count": np.array([50, 40, 5, 90])},
    )


def test_entailment_by_hand(tmp_path):
    path = tmp_path / "bbds.tsv"
    path.write_text("dog\tanimal\tTrue\nanimal\tdog\tFalse\nDog\tstone\tFalse\ndog\tunicorn\tTrue\n")
    result = entailment(animals(), path, bootstrap=NONE)
    assert (result.name, result.known, result.pairs, result.positives) == ("bbds", 3, 4, 1)
    # By KL only dog => animal is near; the cosine is the same both ways, so a false pair ties with it.
    assert result.f1("kl") == pytest.approx(1)
    assert result.f1("cosine") == pytest.approx(2 / 3)
    assert float(result.scores["cosine"].average_precision) == pytest.approx(1 / 2)
    score = result.scores["kl"]
    divergence = 0.5 * (2 * np.exp(-2) + 0.04 - 2 + 2 * 2)
    assert (score.threshold, score.precision, score.recall) == pytest.approx((-divergence, 1, 1))


def test_vectors_without_variances_have_only_the_cosine(tmp_path):
    wv = animals()
    del wv.log_variances
    (tmp_path / "bbds.tsv").write_text("dog\tanimal\tTrue\ndog\tstone\tFalse\n")
    assert list(entailment(wv, tmp_path / "bbds.tsv").scores) == ["cosine"]


def test_direction_by_hand(tmp_path):
    path = tmp_path / "bbds_direction.txt"
    path.write_text(
        "word1 word2 word1 => word2\ndog animal True\nstone thing True\nanimal dog False\ndog god True\n"
    )
    result = direction(animals(), path, bootstrap=NONE)
    assert (result.known, result.pairs) == (3, 4)
    shares = {measure: float(share) for measure, share in result.accuracy.items()}
    # dog (50) is more frequent than animal (40): the frequency is wrong about that pair, twice.
    del shares["adjusted"]  # four words are too few for a trend: see the next test
    assert shares == pytest.approx({"kl": 1, "variance": 1, "frequency": 1 / 3})


def test_direction_with_the_trend_of_frequency_taken_away(tmp_path):
    """Every other word is wider than its frequency says; it must be the general one, though it is rarer."""
    counts = np.geomspace(10, 100_000, 40).astype(int)
    wider = np.where(np.arange(40) % 2, -0.2, 0.2)
    wv = SimpleNamespace(
        key_to_index={f"w{row}": row for row in range(40)},
        vectors=np.ones((40, 2), dtype=np.float32),
        log_variances=(np.log(counts) + wider)[:, None].astype(np.float32),
        expandos={"count": counts},
    )
    path = tmp_path / "bbds_direction.txt"
    pairs = [f"w{row + 11} w{row} True" for row in range(0, 28, 2)]
    path.write_text("\n".join(["word1 word2 word1 => word2", *pairs]) + "\n")
    shares = {name: float(share) for name, share in direction(wv, path, bootstrap=NONE).accuracy.items()}
    assert shares == {"kl": 0, "variance": 0, "adjusted": 1, "frequency": 0}


def test_direction_without_variances_or_counts(tmp_path):
    path = tmp_path / "d.txt"
    path.write_text("dog animal True\n")
    wv = animals()
    del wv.log_variances
    assert list(direction(wv, path).accuracy) == ["frequency"]
    del wv.expandos
    assert direction(wv, path).accuracy == {}


def test_equal_words_decide_nothing(tmp_path):
    (tmp_path / "d.txt").write_text("dog dog True\n")
    assert {float(share) for share in direction(animals(), tmp_path / "d.txt").accuracy.values()} == {0.0}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("dog\tanimal\tTrue\ndog\tanimal\n", "line 2: expected 'word1 word2 True|False', found 2 fields"),
        (
            "dog\tanimal\tTrue\ndog\tanimal\tmaybe\n",
            "line 2: expected True or False at the end, found 'maybe'",
        ),
        ("word1\tword2\tlabel\n", "no pairs"),
    ],
)
def test_a_malformed_file_is_named(tmp_path, text, complaint):
    path = tmp_path / "pairs.tsv"
    path.write_text(text)
    with pytest.raises(BenchmarkFileError) as caught:
        read_entailment(path)
    assert "pairs.tsv" in str(caught.value)
    assert complaint in str(caught.value)
