"""Densities in spaCy: vectors for its vocabulary, and posteriors of the tokens of a document.

``pip install 'densvec[spacy]'``, then

    nlp = spacy.blank("en")
    to_spacy(wv, nlp)
    nlp("the shy kiwi digs")[2]._.density  # what kiwi means there
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc, Span, Token
from spacy.vectors import Vectors

from densvec.gaussian import Gaussian

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities

COMPONENT = "densvec"


class DensityComponent:
    """A component of a spaCy pipeline that infers the posterior of every known token, in its sentence.

    It sets ``doc._.densities``, a list with a Gaussian for each token, or None for an unknown word;
    ``token._.density`` and ``span._.densities`` look there. Sentences are those that the pipeline has found, else the
    whole document is one.

    Parameters
    ----------
    wv : KeyedDensities
        Words and their encoder; without an encoder, a token's density is the prior of its word.
    lowercase : bool, optional
        Whether words are looked up in lower case.
    """

    def __init__(self, wv: KeyedDensities | None = None, *, lowercase: bool = False) -> None:
        self.wv, self.lowercase = wv, lowercase
        if not Token.has_extension("density"):
            Token.set_extension("density", getter=_token_density)
        if not Span.has_extension("densities"):
            Span.set_extension("densities", getter=_span_densities)
        if not Doc.has_extension("densities"):
            Doc.set_extension("densities", default=None)

    def __call__(self, doc: Doc) -> Doc:
        """Infer the densities of a document."""
        if self.wv is None:
            raise ValueError("the component has no densities yet: to_spacy(wv, nlp) adds it with them")
        sentences = list(doc.sents) if doc.has_annotation("SENT_START") else [doc[:]]
        densities: list[Gaussian | None] = [None] * len(doc)
        texts = [[self._word(token) for token in sentence] for sentence in sentences]
        places = [
            [token.i for token, word in zip(sentence, words, strict=True) if word in self.wv.key_to_index]
            for sentence, words in zip(sentences, texts, strict=True)
        ]
        for where, found in zip(places, self._infer(texts), strict=True):
            for i, density in zip(where, found, strict=True):
                densities[i] = density
        doc._.densities = densities
        return doc

    def to_disk(self, path: str | os.PathLike[str], *, exclude: Any = ()) -> None:
        """Save the densities with the pipeline."""
        os.makedirs(path, exist_ok=True)
        if self.wv is not None:
            self.wv.save(os.path.join(path, "words.dv"))

    def from_disk(self, path: str | os.PathLike[str], *, exclude: Any = ()) -> DensityComponent:
        """Load the densities of a saved pipeline."""
        from densvec.keyed import KeyedDensities

        self.wv = KeyedDensities.load(os.path.join(path, "words.dv"))
        return self

    def _word(self, token: Token) -> str:
        return str(token.text.lower() if self.lowercase else token.text)

    def _infer(self, texts: list[list[str]]) -> list[Gaussian]:
        assert self.wv is not None
        if self.wv.encoder is not None:
            return self.wv.infer_sentences(texts, skip_unknown=True)
        known = [[word for word in words if word in self.wv.key_to_index] for words in texts]
        empty = Gaussian(np.empty((0, self.wv.vector_size)), np.empty((0, 1)))
        return [self.wv.density(words) if words else empty for words in known]


@Language.factory(  # type: ignore[untyped-decorator,unused-ignore]
    COMPONENT, default_config={"lowercase": False}, assigns=["doc._.densities", "token._.density"]
)
def make_component(nlp: Language, name: str, lowercase: bool) -> DensityComponent:
    """Make the component without densities; `to_spacy` or a saved pipeline gives it some."""
    return DensityComponent(lowercase=lowercase)


def to_spacy(
    wv: KeyedDensities, nlp: Language, *, component: bool = True, lowercase: bool = False
) -> Language:
    """Fill the vocabulary of a pipeline with the means, and add the component that infers posteriors.

    Parameters
    ----------
    nlp : spacy.Language
        The pipeline; it is changed, and returned.
    component : bool, optional
        Whether to add the component that sets ``token._.density`` and ``doc._.densities``.
    lowercase : bool, optional
        Whether the component looks words up in lower case.

    Examples
    --------
    >>> import spacy
    >>> nlp = to_spacy(wv, spacy.blank("en"))
    >>> doc = nlp("the dog and the cat")
    >>> doc[1].vector, doc[1]._.density == wv.infer("the dog and the cat", position=1)
    (array([2., 1.], dtype=float32), True)
    """
    strings = [nlp.vocab.strings.add(str(key)) for key in wv.index_to_key]
    data = np.ascontiguousarray(wv.vectors, dtype=np.float32).copy()
    nlp.vocab.vectors = Vectors(strings=nlp.vocab.strings, data=data, keys=strings, name="densvec")
    if component:
        if COMPONENT in nlp.pipe_names:
            nlp.remove_pipe(COMPONENT)
        added = nlp.add_pipe(COMPONENT, last=True, config={"lowercase": lowercase})
        added.wv = wv
    return nlp


def _token_density(token: Token) -> Gaussian | None:
    densities = token.doc._.densities
    found: Gaussian | None = None if densities is None else densities[token.i]
    return found


def _span_densities(span: Span) -> list[Gaussian | None] | None:
    densities = span.doc._.densities
    return None if densities is None else densities[span.start : span.end]
