"""Text vectors for mteb 2, the Massive Text Embedding Benchmark (``pip install mteb``).

What it measures is :meth:`KeyedDensities.encode <densvec.KeyedDensities.encode>`, a static model: neither variances nor
contexts count in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from mteb.models.abs_encoder import AbsEncoder
from mteb.models.model_meta import ModelMeta, ScoringFunction

from densvec.types import Floats

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities

__all__ = ["MtebEncoder"]


class MtebEncoder(AbsEncoder):  # type: ignore[misc,unused-ignore]
    """Words as what mteb calls an encoder: ``mteb.evaluate(MtebEncoder(wv), tasks)``.

    Parameters
    ----------
    words : KeyedDensities
        The words that texts are made of.
    name, revision : str, optional
        What the results are filed under, ``"user/model"``, and which version of it.

    Examples
    --------
    >>> MtebEncoder(wv).encode([{"text": ["a dog", "a cat"]}]).shape
    (2, 2)
    """

    def __init__(
        self, words: KeyedDensities, name: str = "densvec/unnamed", revision: str | None = None
    ) -> None:
        self.model = words
        facts = {"name": name, "revision": revision, "similarity_fn_name": ScoringFunction.COSINE}
        self.mteb_model_meta = ModelMeta.create_empty(facts)

    def encode(self, inputs: Iterable[Mapping[str, Any]], **options: Any) -> Floats:
        """Return the vectors of the texts of all batches; prompts are for other models."""
        texts = (text for batch in inputs for text in batch["text"])
        vectors: Floats = self.model.encode(texts, show_progress=options.get("show_progress_bar", False))
        return vectors
