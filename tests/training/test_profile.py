"""What `densvec train --profile` prints."""

from densvec import BayesianSkipGram
from densvec.datasets import toy_language
from densvec.training.profile import STAGES, profile


def test_all_stages_of_the_host_are_timed():
    profile.reset()
    profile.enabled = True
    try:
        BayesianSkipGram(
            toy_language(100),
            vector_size=4,
            sample=0.01,
            epochs=1,
            backend="torch",
            device="cpu",
            batch_words=300,
        )
    finally:
        profile.enabled = False
    assert profile.batches > 1
    assert all(profile.seconds[stage] > 0 for stage in ("sample", "prepare", "wait", "call", "finish"))
    assert STAGES["call"] in str(profile)
    profile.reset()
    assert str(profile) == "nothing was trained"
