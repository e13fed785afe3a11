"""What a user sees of a training run: a progress bar and lines in the log."""

from __future__ import annotations

import logging
import sys
import time
from typing import Any

from densvec.training.run import EpochLoss, Run, Tally

logger = logging.getLogger("densvec.training")


def should_show(show: bool | None) -> bool:
    """Return whether to draw a bar: as asked or, for None, when a person is likely to see it."""
    if show is not None:
        return show
    if sys.stderr is not None and sys.stderr.isatty():
        return True
    return _in_notebook()


def _in_notebook() -> bool:
    kernel = sys.modules.get("ipykernel.zmqshell")
    interactive = sys.modules.get("IPython")
    if kernel is None or interactive is None:
        return False
    return isinstance(interactive.get_ipython(), kernel.ZMQInteractiveShell)


class Progress:
    """Draws the bar and logs; one for all epochs of a run.

    Parameters
    ----------
    run
        The run to report on.
    show
        Whether to draw a bar; None decides by where the output goes.
    report_delay
        Seconds between two lines of the log.
    silent
        Whether another process reports: nothing is drawn or logged.
    """

    def __init__(
        self, run: Run, show: bool | None = None, report_delay: float = 1.0, *, silent: bool = False
    ) -> None:
        self._run = run
        self._silent = silent
        self._report_delay = report_delay
        self._due = time.monotonic() + report_delay
        self._bar = _bar(run) if should_show(show) and not silent else None

    def chunk(self, tally: Tally, seconds: float) -> None:
        """Report a trained chunk; ``tally`` and ``seconds`` are those of the current epoch."""
        run = self._run
        if self._silent:
            return
        if self._bar is not None:
            loss, _, _ = tally.per_centre()
            self._bar.set_postfix_str(f"error per word {loss:.2f}, to fall", refresh=False)
            done = run.epoch * run.total_words + tally.words if run.total_words else self._bar.n + tally.words
            self._bar.update(max(0, done - self._bar.n))
        if time.monotonic() >= self._due:
            self._due = time.monotonic() + self._report_delay
            loss, _, _ = tally.per_centre()
            logger.info(
                "EPOCH %i - PROGRESS: at %.2f%% of the run, %.0f words/s, loss %.4f",
                run.number + 1,
                100 * run.progress(tally.words, tally.examples),
                tally.words / seconds if seconds else 0.0,
                loss,
            )

    def epoch(self, loss: EpochLoss, tally: Tally) -> None:
        """Report a complete epoch: what was trained, and where it differs from what was announced."""
        run = self._run
        if self._silent:
            return
        if self._bar is not None:
            self._bar.set_description(_description(run))
        logger.info(
            "EPOCH %i: training on %i raw words (%i effective words) took %.1fs, %.0f words/s, "
            "loss %.4f (hinge %.4f, kl %.4f) per word",
            loss.epoch,
            loss.words,
            tally.kept,
            loss.seconds,
            loss.words_per_second,
            loss.loss,
            loss.hinge,
            loss.kl,
        )
        for what, found, expected in (
            ("example", tally.examples, run.total_examples),
            ("raw word", tally.words, run.total_words),
        ):
            if expected and found != expected:
                logger.warning(
                    "EPOCH %i: supplied %s count (%i) did not equal expected count (%i)",
                    loss.epoch,
                    what,
                    found,
                    expected,
                )

    def close(self) -> None:
        """Close the bar, leaving it on the screen."""
        if self._bar is not None:
            self._bar.close()


def _description(run: Run) -> str:
    return f"epoch {min(run.epoch + 1, run.epochs)}/{run.epochs}"


def _bar(run: Run) -> Any:
    from tqdm.auto import tqdm

    total = run.epochs * run.total_words if run.total_words else None
    done = run.epoch * run.total_words + run.tally.words if run.total_words else 0
    return tqdm(
        total=total, initial=done, desc=_description(run), unit=" words", unit_scale=True, dynamic_ncols=True
    )
