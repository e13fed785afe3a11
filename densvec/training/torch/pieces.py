"""How large the pieces are in which torch trains: centres of an update, and words that are sent together."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from densvec.training.torch.options import Options

if TYPE_CHECKING:
    from densvec.tables import Tables

__all__ = ["FIRST_CENTRES", "MOST_CENTRES", "Pieces"]

#: Centres of an update at the start of training, and the most of one later. Words go as far in an update as in many
#: small ones only while that is not far. The learning rate falls, so updates may grow as it does: larger ones are
#: faster.
FIRST_CENTRES, MOST_CENTRES = 2000, 6400

#: How much more text is gathered than the largest updates need for windows that do not meet: the further apart their
#: centres are, the less these have to do with each other.
SPREAD = 2.5

#: Centres of an update on a CPU, if the text is too short for more.
LEAST_CENTRES = 512

#: Updates in an epoch, at least, of a text that is not too short for it: in many fewer, directions are not learnt.
UPDATES = 128


class Pieces(NamedTuple):
    """The most centres of the first updates and of the last, and the words gathered from chunks; 0 takes each alone."""

    first: int
    most: int
    words: int

    @classmethod
    def of(cls, wv: Tables, device: str, options: Options) -> Pieces:
        """Return what the options say, or what suits the device and the text that the words were counted in.

        A device that is there for this is never sent less. A CPU gains by many centres, too: they share words. But it
        trains little text as well.
        """
        raw, kept = _words_of_text(wv)
        most = MOST_CENTRES
        if device == "cpu":
            most = min(max(round(kept / UPDATES), LEAST_CENTRES), MOST_CENTRES)
        if options.batch_centres:
            first = most = options.batch_centres
        else:
            first = min(FIRST_CENTRES, most)
        words = 0
        if most > LEAST_CENTRES or device != "cpu":
            assert wv.encoder is not None
            apart = SPREAD * (2 * wv.encoder.reading.window + 2)
            words = round(apart * most * (raw / kept if kept else 1))
        return cls(first, most, options.batch_words or words)

    def centres(self, progress: float) -> int:
        """Return the most centres of an update when so much of the training is done, 0 to 1.

        Examples
        --------
        >>> pieces = Pieces(first=2000, most=6400, words=0)
        >>> [pieces.centres(progress) for progress in (0.0, 0.5, 0.6, 0.9, 1.0)]
        [2000, 4000, 5000, 6400, 6400]
        """
        left = max(1.0 - progress, self.first / self.most)
        return round(self.first / left)


def _words_of_text(wv: Tables) -> tuple[float, float]:
    """Return how many words the text has, and how many of them are kept on average; 0 where they were not counted."""
    if "count" not in wv.expandos:
        return 0, 0
    counts = np.asarray(wv.expandos["count"], dtype=np.float64)
    return float(counts.sum()), float((counts * wv.expandos.get("keep", 1.0)).sum())
