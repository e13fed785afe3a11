"""When a checkpoint saves, and that a disk that refuses does not end the training."""

import pytest

from densvec import BayesianSkipGram, callbacks
from densvec.callbacks import Checkpoint


class Model:
    def __init__(self, error=None):
        self.saves = []
        self.error = error
        self.moment = 0

    def save(self, path):
        if self.error:
            raise self.error
        self.saves.append((path, self.moment))


def train(callback, model, epochs, batches=4, minute=lambda minutes: None, minutes=1):
    callback.on_train_begin(model)
    for _ in range(epochs):
        callback.on_epoch_begin(model)
        for _ in range(batches):
            model.moment += 1
            minute(minutes)
            callback.on_batch_end(model)
        callback.on_epoch_end(model)
    callback.on_train_end(model)


@pytest.mark.parametrize(
    ("every", "moments"), [(1, [4, 8, 12, 16, 20]), (2, [8, 16, 20]), (5, [20]), (9, [20]), (None, [])]
)
def test_every_so_many_epochs_and_at_the_end(every, moments):
    model = Model()
    train(Checkpoint("m", every_epochs=every), model, 5)
    assert model.saves == [("m", moment) for moment in moments]


def test_every_so_many_minutes(monkeypatch):
    clock = [0.0]

    def pass_minutes(minutes):
        clock[0] += 60 * minutes

    monkeypatch.setattr(callbacks.time, "monotonic", lambda: clock[0])
    model = Model()
    train(Checkpoint("m", every_epochs=None, every_minutes=3), model, 2, batches=5, minute=pass_minutes)
    assert [moment for _, moment in model.saves] == [3, 6, 9]
    model = Model()
    train(Checkpoint("m", every_epochs=1, every_minutes=3), model, 2, batches=5, minute=pass_minutes)
    assert [moment for _, moment in model.saves] == [3, 5, 8, 10]


def test_a_refused_save_is_a_warning():
    with pytest.warns(RuntimeWarning, match="No space left"):
        train(Checkpoint("m"), Model(OSError(28, "No space left on device")), 1)


def test_a_model_that_cannot_be_saved_is_an_error():
    with pytest.raises(ValueError, match="NaN"):
        train(Checkpoint("m"), Model(ValueError("means hold NaN")), 1)


def test_a_directory_that_is_not_there_is_an_error_before_training(tmp_path):
    model = Model()
    with pytest.raises(FileNotFoundError, match="no such directory"):
        train(Checkpoint(tmp_path / "missing" / "m"), model, 1)
    assert model.moment == 0


def test_a_remote_checkpoint_is_saved_like_any_other(monkeypatch):
    monkeypatch.setattr("smart_open.transport.get_transport", lambda scheme: None)
    model = Model()
    train(Checkpoint("s3://bucket/m"), model, 1)
    assert model.saves == [("s3://bucket/m", 4)]


@pytest.mark.parametrize(
    ("path", "error", "why"),
    [
        ("m.dv.zip", ValueError, "cannot compress m.dv.zip"),
        ("https://example.org/m.dv", ValueError, "can only be read"),
        ("carrier-pigeon://m.dv", ValueError, "carrier-pigeon:// is unknown"),
        ("s3://bucket/m", ImportError, r"pip install 'smart_open\[s3\]'"),
        (".", IsADirectoryError, "give the name of a file"),
    ],
)
def test_what_could_not_be_saved_is_an_error_before_training(path, error, why, monkeypatch):
    def without(scheme):
        raise ImportError if scheme == "s3" else NotImplementedError

    monkeypatch.setattr("smart_open.transport.get_transport", without)
    model = Model()
    with pytest.raises(error, match=why):
        train(Checkpoint(path), model, 1)
    assert model.moment == 0


def test_a_comment_that_no_file_can_hold_is_an_error_before_training(tmp_path):
    model = BayesianSkipGram(vector_size=3, min_count=1, workers=1, comment=object())
    model.build_vocab([["a", "b"]] * 9)
    with pytest.raises(TypeError, match=r"comment|JSON"):
        model.train(callbacks=[Checkpoint(tmp_path / "m.dv")])
    assert not model.loss_history


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="every_epochs=0"):
        Checkpoint("m", every_epochs=0)
    with pytest.raises(ValueError, match="every_minutes=-1"):
        Checkpoint("m", every_minutes=-1)
