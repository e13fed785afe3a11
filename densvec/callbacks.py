"""Hooks into training, compatible with gensim's."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from densvec.files.checkpoint import Checkpoint

__all__ = ["Callback", "CallbackAny2Vec", "Checkpoint", "call"]


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


def call(callbacks: Iterable[Any], hook: str, model: Any) -> None:
    """Call one hook of all callbacks that have it."""
    for callback in callbacks:
        method = getattr(callback, hook, None)
        if method is not None:
            method(model)
