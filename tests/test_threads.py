"""Many threads at once: answers are those of one thread, and models that train side by side do not touch each other.

The kernels hold no GIL, so that these tests stress them on any Python; on a free-threaded one they stress all the rest.
"""

import contextlib
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from densvec import BayesianSkipGram
from densvec.datasets import toy_language
from densvec.text._raw import tokenised

SENTENCES = list(toy_language(600, seed=1))
QUICK = {"vector_size": 8, "min_count": 1, "epochs": 2, "workers": 1, "sample": 0.01}


@pytest.fixture(autouse=True)
def _switch_often():
    """Let threads take turns a thousand times more often."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(5e-6)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.parametrize("covariance", ["spherical", "diagonal"])
def test_answers_are_those_of_one_thread(covariance):
    wv = BayesianSkipGram(SENTENCES, seed=2, covariance=covariance, **QUICK).wv

    def ask(i):
        sentence = SENTENCES[i % len(SENTENCES)]
        return (
            wv.infer(sentence),
            wv.most_similar(sentence[0], metric="kl", topn=5),
            wv.most_similar(sentence[-1], metric="jeffreys", topn=5),
            wv.most_similar(sentence[0], topn=5),
        )

    alone = [ask(i) for i in range(60)]
    wv.fill_norms(force=True)
    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(ask, list(range(60)) * 3))
    for i, answer in enumerate(together):
        assert answer == alone[i % 60]


def test_every_question_is_answered_alike_in_many_threads():
    """The first answers fill what later ones share, so here all threads ask at once what nobody has asked before."""
    model = BayesianSkipGram(SENTENCES, seed=2, **QUICK)
    questions = {
        "hypernyms": lambda wv, word: wv.hypernyms(word, topn=5),
        "substitutes": lambda wv, word: wv.substitutes(word, [word, *SENTENCES[0]], topn=5),
        "generality": lambda wv, word: wv.generality(word, adjust="frequency"),
        "batch": lambda wv, word: wv.most_similar_batch([word, "the"], topn=3, metric="wasserstein"),
        "text": lambda wv, word: wv.text_density([word, "the"]).entropy(),
        "spelling": lambda wv, word: wv.density_from_spelling(f"{word}s").entropy(),
        "senses": lambda wv, word: wv.senses(word, SENTENCES, show_progress=False).labels.tolist(),
    }
    words = model.wv.index_to_key[:4]
    for name, question in questions.items():
        alone = [question(model.wv, word) for word in words]
        model.wv.fill_norms(force=True)
        with ThreadPoolExecutor(8) as threads:
            together = list(threads.map(question, [model.wv] * 32, words * 8))
        assert together == alone * 8, name


def test_texts_are_read_side_by_side(tmp_path):
    """Tokenisers share what they know about characters, which each may be the first to need."""
    text = "Καλημέρα, κόσμε! Доброе утро. おはよう。 Здравствуй, мир. नमस्ते दुनिया।"

    def read(_):
        return tokenised(text)

    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(read, range(64)))
    assert together == [tokenised(text)] * 64


def test_a_list_may_change_while_it_is_read():
    """What is learnt from a sentence that another thread changes is undefined, but nothing crashes."""
    sentences = [list(sentence) for sentence in SENTENCES]
    stop = threading.Event()

    def change():
        while not stop.wait(1e-4):
            for sentence in sentences:
                word = sentence.pop() if len(sentence) > 1 else "".join(sentence)
                sentence.extend(["".join([word, "x"])[:-1], word])  # new strings, so that old ones are freed
                del sentence[10:]

    thread = threading.Thread(target=change)
    thread.start()
    try:
        with contextlib.suppress(RuntimeError):  # it may say that a sentence became shorter
            BayesianSkipGram(sentences, seed=1, **QUICK)
    finally:
        stop.set()
        thread.join()


def test_models_that_train_side_by_side_are_the_same_as_one_after_the_other():
    def train(seed):
        return BayesianSkipGram(SENTENCES, seed=seed, **QUICK).wv.vectors

    alone = [train(seed) for seed in range(4)]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(train, range(4)))
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one, other)


def test_asking_while_training_finds_whole_numbers():
    """Tables that are being trained change between two reads, but no answer is torn or crashes."""
    model = BayesianSkipGram(SENTENCES, seed=2, **QUICK)

    def ask(_):
        posterior = model.wv.infer(SENTENCES[3])
        return bool(np.isfinite(posterior.mean).all() and (posterior.variance > 0).all())

    with ThreadPoolExecutor(5) as threads:
        training = threads.submit(model.train, SENTENCES, total_examples=len(SENTENCES), epochs=5)
        answers = list(threads.map(ask, range(100)))
        training.result()
    assert all(answers)
