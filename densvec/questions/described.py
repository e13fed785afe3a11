"""The occurrences of words in a table of texts, described by what stands around them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from densvec.gaussian import Gaussian
from densvec.questions.in_context import averages, context_reading
from densvec.questions.inference import keep_of, posteriors_of, reading_of
from densvec.questions.lookup import kept_shares, whitened
from densvec.reading import Reading
from densvec.statistics.design import Design, as_column
from densvec.text.tables import Texts
from densvec.types import Floats, Integers

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities

_SAMPLE = 1e-3
"""The threshold for thinning the words of a context: word2vec's."""

_AT_ONCE = 1 << 20
"""The most words of sentences that are read together."""


class Described:
    """The texts, the covariates and the model that all words share."""

    def __init__(self, wv: KeyedDensities, texts: Texts, targets: Sequence[str], formula: str) -> None:
        self.wv, self.texts, self.targets = wv, texts, targets
        self.columns = {name: as_column(values) for name, values in texts.columns.items()}
        self.design = Design(formula, self.columns)
        self.matrix = self.design.matrix(self.columns)
        self.model_rows = np.array(
            [wv.key_to_index.get(word, -1) for word in texts.words] or [-1], dtype=np.int64
        )

    def rows_of(self, places: Integers) -> Integers:
        """Return the rows of the table that occurrences are in."""
        return self.texts.rows[self.texts.sentences(places)]

    def known_forms(self, target: int) -> list[str]:
        """Return the forms of a target that the model knows."""
        numbers = self.texts.of_target[target]
        return [self.texts.words[number] for number in numbers if self.model_rows[number] >= 0]

    def _read(
        self, places: Integers, reading: Reading, keep: Floats
    ) -> Iterator[tuple[Integers, tuple[Integers, Integers, Floats]]]:
        """Yield what is read around occurrences: their own rows, those of words, where each begins, and weights."""
        texts = self.texts
        step = max(1, _AT_ONCE // int(np.diff(texts.ends).max(initial=1)))
        for first in range(0, len(places), step):
            some = places[first : first + step]
            distinct, owners = np.unique(texts.sentences(some), return_inverse=True)
            starts, lengths = texts.ends[distinct], texts.ends[distinct + 1] - texts.ends[distinct]
            begins = np.concatenate([[0], np.cumsum(lengths)])
            whole = np.arange(begins[-1]) + np.repeat(starts - begins[:-1], lengths)
            rows = self.model_rows[texts.numbers[whole]]
            kept = np.where(rows >= 0, keep[np.maximum(rows, 0)], 0.0)
            centres = some - starts[owners] + begins[owners]
            spans = reading.spans(centres, begins[owners], begins[owners + 1], kept)
            used = spans.weights > 0
            offsets = np.concatenate([[0], np.cumsum(used)])[spans.offsets]
            yield rows[centres], (rows[spans.places[used]], offsets, spans.weights[used])

    def described(self, places: Integers) -> Floats:
        """Return what the contexts of occurrences say, (n, D): 0 where no word of a context is known.

        Directions of weighted averages of the means of the words around, in a space where words vary more evenly.
        """
        wv = self.wv
        parts = [
            whitened(wv, averages(wv, *read)).astype(np.float32)
            for _, read in self._read(places, context_reading(wv), kept_shares(wv, _SAMPLE))
        ]
        return np.concatenate([np.zeros((0, wv.vector_size), dtype=np.float32), *parts])

    def posteriors(self, places: Integers, target: int) -> Gaussian:
        """Return the posteriors of occurrences; those of forms that the model does not know are of one that it does."""
        forms = self.known_forms(target)
        if not forms:
            raise KeyError(f"the model knows no form of {self.targets[target]!r}, so that it has no density")
        keep = keep_of(self.wv, np.arange(len(self.wv)))
        batches = [
            posteriors_of(self.wv, np.where(own >= 0, own, self.wv.get_index(forms[0])), *read)
            for own, read in self._read(places, reading_of(self.wv), keep)
        ]
        means, variances = (
            np.concatenate([getattr(each, name) for each in batches]) for name in ("mean", "variance")
        )
        return Gaussian(means, variances)
