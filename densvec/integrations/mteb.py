"""Text vectors for mteb, the Massive Text Embedding Benchmark: ``mteb.evaluate(MtebEncoder(wv), tasks)``.

What mteb measures is :meth:`KeyedDensities.encode <densvec.KeyedDensities.encode>`, a static model: neither variances
nor contexts count in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from densvec.checks import needs
from densvec.types import Floats

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities

__all__ = ["MtebEncoder"]


class MtebEncoder:
    """Words as what mteb 2 calls an encoder (``pip install mteb``).

    Parameters
    ----------
    words : KeyedDensities
        The words that texts are made of.
    name : str, optional
        What the results are filed under, ``"organisation/model"``.
    revision : str, optional
        Which version of it.
    weights
        As in :meth:`KeyedDensities.encode <densvec.KeyedDensities.encode>`.

    Examples
    --------
    >>> MtebEncoder(wv).encode([{"text": ["a dog", "a cat"]}]).shape
    (2, 2)
    """

    def __init__(
        self,
        words: KeyedDensities,
        name: str = "densvec/unnamed",
        revision: str | None = None,
        *,
        weights: str | Sequence[float] = "sif",
    ) -> None:
        self.words, self.weights, library = words, weights, needs("mteb.models.model_meta")
        facts = {
            "name": name,
            "revision": revision,
            "n_parameters": words.vectors.size,
            "embed_dim": words.vector_size,
            "similarity_fn_name": library.ScoringFunction.COSINE,
        }
        self.mteb_model_meta = library.ModelMeta.create_empty(facts)

    def encode(self, inputs: Iterable[Mapping[str, Any]], **options: Any) -> Floats:
        """Return the vectors of the texts of all batches; prompts are for other models."""
        texts = (text for batch in inputs for text in batch["text"])
        shown = options.get("show_progress_bar", False)
        vectors: Floats = self.words.encode(texts, weights=self.weights, show_progress=shown)
        return vectors

    def similarity(self, embeddings1: Any, embeddings2: Any) -> Floats:
        """Return the cosine of each vector of one list with each of the other."""
        cosines: Floats = np.asarray(embeddings1) @ np.asarray(embeddings2).T
        return cosines

    def similarity_pairwise(self, embeddings1: Any, embeddings2: Any) -> Floats:
        """Return the cosines of vectors pair by pair."""
        cosines: Floats = np.einsum("...i,...i->...", np.asarray(embeddings1), np.asarray(embeddings2))
        return cosines
