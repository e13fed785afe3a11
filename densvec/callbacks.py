"""Hooks into training, compatible with gensim's."""

from __future__ import annotations

import logging
import os
import time
import warnings
from collections.abc import Iterable
from typing import Any

from densvec.files.packing import dump_json
from densvec.files.streams import check_target

__all__ = ["Callback", "CallbackAny2Vec", "Checkpoint", "call"]

logger = logging.getLogger(__name__)


class Callback:
    """What training calls, in the thread that called ``train()``; override what you need.

    A callback need not derive from this class: any object with some of these methods will do, and one written
    for gensim works unchanged. During a hook the tables in ``model.wv`` are up to date and ``model.save()``
    writes a file from which training resumes at exactly that point.

    Examples
    --------
    >>> from densvec import BayesianSkipGram
    >>> from densvec.callbacks import Callback
    >>> class Watch(Callback):
    ...     def on_epoch_end(self, model):
    ...         print("epoch", model.loss_history[-1].epoch)
    >>> sentences = [["hello", "densities"], ["goodbye", "points"]] * 10
    >>> model = BayesianSkipGram(sentences, vector_size=4, epochs=2, workers=1, callbacks=[Watch()])
    epoch 1
    epoch 2
    """

    def on_train_begin(self, model: Any) -> None:
        """Do something before the first epoch."""

    def on_train_end(self, model: Any) -> None:
        """Do something after the last epoch; not called when training was stopped before it."""

    def on_epoch_begin(self, model: Any) -> None:
        """Do something before an epoch, or before what is left of one when training resumes."""

    def on_epoch_end(self, model: Any) -> None:
        """Do something after an epoch, whose losses are ``model.loss_history[-1]``."""

    def on_batch_end(self, model: Any) -> None:
        """Do something after a chunk; other workers go on in the meantime, except while the model is saved."""


#: The name that gensim gives to the same class.
CallbackAny2Vec = Callback


class Checkpoint(Callback):
    """Save the model after a number of epochs, and after a number of minutes within them.

    There is one file, replaced only when its successor is whole. ``load(path).train()`` goes on from where it
    was saved. A save that the system refuses (a full disk, say) is a warning: training goes on, the older
    file stays.

    Parameters
    ----------
    path : str or PathLike
        Where to save.
    every_epochs : int or None
        Save at the end of every `every_epochs`-th epoch, and when training ends.
    every_minutes : float, optional
        Save also when this many minutes have passed since the last save, at the end of a chunk.

    Examples
    --------
    >>> checkpoint = Checkpoint("model.dv", every_epochs=2, every_minutes=30)
    >>> checkpoint
    Checkpoint('model.dv', every_epochs=2, every_minutes=30)
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        every_epochs: int | None = 1,
        every_minutes: float | None = None,
    ) -> None:
        if every_epochs is not None and every_epochs < 1:
            raise ValueError(f"every_epochs={every_epochs}: use a whole number from 1, or None")
        if every_minutes is not None and not every_minutes >= 0:
            raise ValueError(f"every_minutes={every_minutes}: use a number of minutes, or None")
        self.path = path
        self.every_epochs = every_epochs
        self.every_minutes = every_minutes
        self._epochs = 0
        self._saved_at = time.monotonic()

    def __repr__(self) -> str:
        return (
            f"Checkpoint({os.fspath(self.path)!r}, every_epochs={self.every_epochs}, "
            f"every_minutes={self.every_minutes})"
        )

    def on_train_begin(self, model: Any) -> None:
        """Start counting epochs and minutes; if saving cannot work, say so now rather than after the first epoch."""
        check_target(self.path)
        header = getattr(model, "_header", None)
        if header is not None:  # what JSON cannot hold, such as a comment that is an object
            dump_json(header())
        self._epochs = 0
        self._saved_at = time.monotonic()

    def on_train_end(self, model: Any) -> None:
        """Save the finished model, unless that was done at the end of the last epoch."""
        if self._epochs and self.every_epochs is not None and self._epochs % self.every_epochs:
            self.save(model)

    def on_epoch_end(self, model: Any) -> None:
        """Save if this epoch is due."""
        self._epochs += 1
        if self.every_epochs is not None and self._epochs % self.every_epochs == 0:
            self.save(model)

    def on_batch_end(self, model: Any) -> None:
        """Save if enough minutes have passed."""
        if self.every_minutes is not None and time.monotonic() - self._saved_at >= 60 * self.every_minutes:
            self.save(model)

    def save(self, model: Any) -> None:
        """Save now; if several processes train one model, the first saves it."""
        if not getattr(model, "_is_main", lambda: True)():
            return
        try:
            model.save(self.path)
        except OSError as error:
            warnings.warn(f"the checkpoint was not saved: {error}", RuntimeWarning, stacklevel=2)
            logger.warning("the checkpoint was not saved: %s", error)
        self._saved_at = time.monotonic()


def call(callbacks: Iterable[Any], hook: str, model: Any) -> None:
    """Call one hook of all callbacks that have it."""
    for callback in callbacks:
        method = getattr(callback, hook, None)
        if method is not None:
            method(model)
