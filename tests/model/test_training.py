"""Training calls: what they train, stopping and resuming, losses, reproducibility."""

import copy
import os
import subprocess
import sys

import numpy as np
import pytest

from densvec import BayesianSkipGram
from densvec.callbacks import Callback
from densvec.datasets import toy_language
from densvec.training.backend import UnstableTrainingError
from tests.model.cases import SENTENCES, StopAfter, arrays_of, assert_same_bits, make

# Training


def test_training_without_arguments_completes_the_epochs_and_then_does_nothing():
    model = make()
    model.build_vocab(SENTENCES)
    assert model.train() is model
    assert [entry.epoch for entry in model.loss_history] == [1, 2, 3, 4, 5]
    assert_same_bits(model, make(SENTENCES))
    before = copy.deepcopy(model)
    assert model.train() is model
    assert len(model.loss_history) == 5
    assert_same_bits(model, before)


def test_raising_epochs_lets_train_go_on():
    model = make(SENTENCES, epochs=2)
    model.epochs = 4
    assert len(model.train().loss_history) == 4


def test_gensims_call_trains_more_and_never_repeats_its_samples():
    model = make(SENTENCES, epochs=2)
    before = copy.deepcopy(model)
    assert model.train(SENTENCES, total_examples=model.corpus_count, epochs=3) is model
    assert [entry.epoch for entry in model.loss_history] == [1, 2, 3, 4, 5]
    assert model.train_count == 2
    assert model.total_train_time > before.total_train_time
    assert not np.array_equal(model.wv.vectors, before.wv.vectors)


def test_training_from_a_file_equals_training_from_lists(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(" ".join(sentence) for sentence in SENTENCES))
    assert_same_bits(make(SENTENCES), make(corpus_file=path))


@pytest.mark.parametrize("backend", ["native", "torch"])
@pytest.mark.parametrize("stop", [{"epochs": 2}, {"chunks": 7}])
@pytest.mark.parametrize("through_file", [False, True])
def test_an_interrupted_run_ends_bit_for_bit_as_an_uninterrupted_one(backend, stop, through_file, tmp_path):
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n".join(" ".join(sentence) for sentence in SENTENCES))
    whole = make(corpus_file=corpus, backend=backend)
    parts = make(backend=backend)
    parts.build_vocab(corpus_file=corpus)
    with pytest.raises(KeyboardInterrupt):
        parts.train(callbacks=[StopAfter(**stop)])
    assert len(parts.loss_history) == 2
    assert np.isfinite(parts.infer_posterior("user", ["system"]).mean).all()
    if through_file:
        parts.save(tmp_path / "model.dv")
        parts = BayesianSkipGram.load(tmp_path / "model.dv", mmap="r" if backend == "native" else None)
    parts.train()
    assert_same_bits(whole, parts)
    assert [entry[:5] for entry in parts.loss_history] == [entry[:5] for entry in whole.loss_history]
    assert parts.train().epochs_trained == 5


def test_an_interrupted_run_of_a_loaded_model_can_be_given_its_corpus(tmp_path):
    whole = make(SENTENCES)
    parts = make()
    parts.build_vocab(SENTENCES)
    with pytest.raises(KeyboardInterrupt):
        parts.train(callbacks=[StopAfter(epochs=2)])
    parts.save(tmp_path / "model.dv")
    loaded = BayesianSkipGram.load(tmp_path / "model.dv")
    with pytest.raises(RuntimeError, match="resume=True"):
        loaded.train()
    assert_same_bits(whole, loaded.train(SENTENCES, resume=True))


def test_a_resumed_run_takes_the_learning_rate_of_now():
    models = [make(alpha=0.1), make(alpha=0.1)]
    for model, alpha in zip(models, (0.1, 0.001), strict=True):
        model.build_vocab(SENTENCES)
        with pytest.raises(KeyboardInterrupt):
            model.train(callbacks=[StopAfter(epochs=1)])
        before = model.wv.vectors.copy()
        model.alpha = alpha
        model.train()
        model.moved = np.abs(model.wv.vectors - before).max()
    assert models[1].moved < 0.2 * models[0].moved


def test_an_interrupted_gensim_call_is_resumed_too():
    whole, parts = make(SENTENCES, epochs=1), make(SENTENCES, epochs=1)
    whole.train(SENTENCES, total_examples=9, epochs=3)
    with pytest.raises(KeyboardInterrupt):
        parts.train(SENTENCES, total_examples=9, epochs=3, callbacks=[StopAfter(chunks=5)])
    assert_same_bits(whole, parts.train())


def test_ctrl_c_in_a_terminal_stops_several_workers_cleanly(tmp_path):
    script = """
import os, signal, threading, time
from densvec.bsg import BayesianSkipGram
from densvec.callbacks import Callback
from densvec.datasets import toy_language
model = BayesianSkipGram(vector_size=16, epochs=10_000, workers=3, batch_words=500)
model.build_vocab(list(toy_language(500)))
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job may have inherited to ignore it
threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    model.train()
except KeyboardInterrupt:
    def working():
        return sum(thread.name.startswith("densvec") for thread in threading.enumerate())
    deadline = time.monotonic() + 20
    while working() and time.monotonic() < deadline:  # one that had ended its work may not be gone yet
        time.sleep(0.01)
    print("interrupted", working(), model._run.tally.chunks >= 0, len(model.loss_history) < 10_000)
    model.save("model.dv")
    model.epochs = model._run.epochs = len(model.loss_history) + 1
    print("resumed", len(model.train().loss_history) == model.epochs)
"""
    found = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.getcwd()},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert found.stdout.splitlines() == ["interrupted 0 True True", "resumed True"], found.stderr


def test_losses_are_right_and_per_word():
    """At rate 0 nothing is learnt, so that every epoch's loss is that of the start: Eq. 7, by the oracle."""
    pytest.importorskip("torch")  # the oracle
    from densvec.training.loop import MEASURED
    from tests.training.cases import eq7

    model = make(alpha=0.0, min_alpha=0.0)
    model.build_vocab(SENTENCES)
    chunks = list(model._feeds()(0, 0))
    objective = model._objective()
    expected = [eq7(chunk, model.wv, objective) for chunk in chunks]
    model.train()
    first = model.loss_history[0]
    centres = sum(centres for *_, centres, _ in expected)
    assert first.running_loss == pytest.approx(sum(loss for loss, *_ in expected) / centres, rel=1e-5)
    measured = [each for chunk, each in zip(chunks, expected, strict=True) if chunk.number % MEASURED == 0]
    centres = sum(centres for *_, centres, _ in measured)
    assert first.loss == pytest.approx(sum(loss for loss, *_ in measured) / centres, rel=1e-5)
    assert first.hinge == pytest.approx(sum(hinge for _, hinge, *_ in measured) / centres, rel=1e-5)
    assert first.kl == pytest.approx(sum(kl for _, _, kl, *_ in measured) / centres, rel=1e-5, abs=1e-6)
    assert model.get_latest_training_loss() == model.loss_history[-1].loss
    assert make().get_latest_training_loss() == 0.0


def test_a_diverging_run_stops_and_leaves_finite_densities():
    model = make(alpha=1e6, min_alpha=1e6, epochs=50)
    model.build_vocab(SENTENCES)
    with pytest.raises(UnstableTrainingError, match="Lower alpha"):
        model.train()
    for name, array in arrays_of(model).items():
        assert np.isfinite(array).all(), name


def test_a_diverging_run_goes_back_to_its_last_good_epoch():
    class Spoil(Callback):
        def on_epoch_begin(self, model):
            if model.epochs_trained == 2:
                good.update({name: array.copy() for name, array in arrays_of(model).items()})
                model.wv.vectors[:] *= 1e6

    good = {}
    model = make(epochs=5)
    model.build_vocab(SENTENCES)
    with pytest.raises(UnstableTrainingError, match="those after 2 epochs"):
        model.train(callbacks=[Spoil()])
    assert model.epochs_trained == len(model.loss_history) == 2
    for name, array in arrays_of(model).items():
        assert np.array_equal(array, good[name]), name
    assert model.train().epochs_trained == 5


# Reproducibility


def test_the_same_seed_gives_the_same_bits_in_any_process(tmp_path):
    script = """
import sys, zlib
from densvec.bsg import BayesianSkipGram
from densvec.callbacks import Callback
from densvec.datasets import toy_language
model = BayesianSkipGram(toy_language(200), vector_size=8, workers=1, seed=int(sys.argv[1]), min_count=2)
print(zlib.crc32(model.wv.vectors.tobytes()), zlib.crc32(model.wv.encoder.mean_head.tobytes()))
"""
    sums = []
    for seed, hash_seed in ((3, "0"), (3, "12345"), (4, "0")):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.getcwd()}
        command = [sys.executable, "-c", script, str(seed)]
        sums.append(
            subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
        )
    assert sums[0] == sums[1]
    assert sums[0] != sums[2]


def test_several_workers_learn_about_the_same():
    models = [make(toy_language(1000), workers=workers, batch_words=500, sample=0.01) for workers in (1, 4)]
    one, four = (model.loss_history[-1] for model in models)
    assert four.words == one.words
    # Of all chunks, not of the few that were measured at rest: four workers take those in another state.
    assert four.running_loss == pytest.approx(one.running_loss, rel=0.05)


def test_a_checkpoint_says_how_long_training_has_taken(tmp_path):
    from densvec.callbacks import Checkpoint

    path = tmp_path / "model.dv"
    BayesianSkipGram(
        toy_language(500), vector_size=4, epochs=2, workers=1, callbacks=[Checkpoint(path, every_epochs=1)]
    )
    assert BayesianSkipGram.load(path).total_train_time > 0
