"""What training must recover: the senses and hypernyms of a generated language whose truth is known."""

import random
from collections import Counter

import numpy as np
import pytest

from densvec import BayesianSkipGram
from densvec.datasets import toy_language


@pytest.fixture(scope="module")
def language():
    return toy_language(20_000)


@pytest.fixture(scope="module", params=range(1, 9))
def wv(language, request):
    return BayesianSkipGram(language, vector_size=20, alpha=0.05, epochs=10, workers=1, seed=request.param).wv


def share_of_senses_found(language, wv):
    """The share of occurrences whose posterior is nearer to the words of the right sense."""
    right = []
    for word, senses in language.senses.items():
        for occurrence in language.occurrences(word, 40):
            posterior = wv.infer(occurrence.tokens, position=occurrence.position)
            distance = {sense: posterior.kl(wv.density(words)).mean() for sense, words in senses.items()}
            right.append(min(distance, key=distance.get) == occurrence.sense)
    return np.mean(right)


def test_posteriors_are_nearer_to_the_words_of_the_right_sense(language, wv):
    assert share_of_senses_found(language, wv) >= 0.95


def test_workers_that_outnumber_the_cores_learn_what_one_does(language):
    """Eight workers write the same rows without locks, and hold chunks while they wait for a core.

    No two such runs are alike: on a busy machine .956 of the senses were found where one worker found .997.
    """
    settings = {"vector_size": 20, "alpha": 0.05, "epochs": 10, "seed": 1, "batch_words": 1000}
    one, eight = (BayesianSkipGram(language, workers=workers, **settings).wv for workers in (1, 8))
    assert share_of_senses_found(language, one) >= 0.95
    assert share_of_senses_found(language, eight) >= 0.9
    for wv in (one, eight):
        ordered = [wv.generality(narrow) < wv.generality(wide) for narrow, wide in language.hypernyms]
        assert np.mean(ordered) >= 0.9


def test_prior_variances_order_hypernyms(language, wv):
    ordered = [wv.generality(hyponym) < wv.generality(hypernym) for hyponym, hypernym in language.hypernyms]
    assert np.mean(ordered) >= 0.9
    entailed = [wv.direction(hyponym, hypernym) > 0 for hyponym, hypernym in language.hypernyms]
    assert np.mean(entailed) >= 0.9


def entropies_of(wv, language, contexts_of):
    """Mean entropies of the posteriors of all polysemous words, ten times for each sense, by context."""
    rng, entropies = random.Random(1), []
    for word, senses in language.senses.items():
        for telling in senses.values():
            for _ in range(10):
                contexts = contexts_of(rng, telling)
                entropies.append(wv.infer_posteriors([(word, context) for context in contexts]).entropy())
    return np.mean(entropies, axis=0)


def test_a_posterior_is_the_surer_the_more_its_context_says(language, wv):
    """Of windows of one size, those with more telling words give posteriors of less entropy, on average."""
    function_words = [word for word, _ in Counter(w for s in language for w in s).most_common(3)]

    def contexts_of(rng, telling):
        return [rng.sample(telling, k) + rng.choices(function_words, k=6 - k) for k in (0, 2, 4, 6)]

    assert (np.diff(entropies_of(wv, language, contexts_of)) < 0).all()


def test_a_posterior_is_the_surer_the_more_telling_words_there_are(language, wv):
    """From no context at all, the prior, every further telling word takes entropy away, on average."""

    def contexts_of(rng, telling):
        words = rng.sample(telling, 6)
        return [words[:k] for k in (0, 1, 2, 4, 6)]

    assert (np.diff(entropies_of(wv, language, contexts_of)) < 0).all()
