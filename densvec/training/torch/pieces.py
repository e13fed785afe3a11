"""How large the pieces are in which torch trains: centres of an update, and words that are sent together."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from densvec.training.torch.options import Options

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities

__all__ = ["BATCH_CENTRES", "BATCH_WORDS", "Pieces"]

#: The most centres of an update: more are faster, as long as there are many updates.
BATCH_CENTRES = {"cpu": 6400, "cuda": 3200, "mps": 3200}

#: Centres of an update on a CPU, if the text is too short for more.
LEAST_CENTRES = 512

#: Updates in an epoch, at least, of a text that is not too short for it: in many fewer, directions are not learnt.
UPDATES = 128

#: Words of text that a device with memory of its own is sent at once.
BATCH_WORDS = 100_000


class Pieces(NamedTuple):
    """The most centres of an update, and how many words are gathered from chunks; 0 takes each chunk alone."""

    centres: int
    words: int

    @classmethod
    def of(cls, wv: KeyedDensities, device: str, options: Options) -> Pieces:
        """Return what the options say, or what suits the device and the text that the words were counted in.

        A device that is there for this is never sent less. A CPU gains by many centres, too: they share words. But it
        trains little text as well.
        """
        if device != "cpu":
            centres, words = BATCH_CENTRES.get(device, LEAST_CENTRES), BATCH_WORDS
        else:
            raw, kept = _words_of_text(wv)
            centres, words = min(max(round(kept / UPDATES), LEAST_CENTRES), BATCH_CENTRES["cpu"]), 0
            if centres > LEAST_CENTRES:
                assert wv.encoder is not None
                # No two windows of an update meet: words enough for the stride after the least possible one, and some
                # room for the last chunk, which brings more than are needed.
                words = round((2 * wv.encoder.reading.window + 2) * centres * raw / kept)
        return cls(options.batch_centres or centres, options.batch_words or words)


def _words_of_text(wv: KeyedDensities) -> tuple[float, float]:
    """Return how many words the text has, and how many of them are kept on average; 0 where they were not counted."""
    if "count" not in wv.expandos:
        return 0, 0
    counts = np.asarray(wv.expandos["count"], dtype=np.float64)
    return float(counts.sum()), float((counts * wv.expandos.get("keep", 1.0)).sum())
