"""Text vectors for sentence-transformers, as a ``StaticEmbedding`` (``pip install 'densvec[hub]'``).

This is a static model: variances and encoder are not in it, a word has the same vector in every context, and the order
of words is lost.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from densvec.checks import needs
from densvec.files.atomic import atomic_write
from densvec.files.safetensors import build_header
from densvec.questions.lookup import variation_of
from densvec.questions.texts import word_weights
from densvec.text.text_reading import REGEX, TextReading
from densvec.types import PathLike

if TYPE_CHECKING:
    from collections.abc import Sequence

    from densvec.keyed import KeyedDensities

__all__ = ["save_sentence_transformer", "tokenizer_of"]

_UNKNOWN = "[unknown word]"  # with blanks, so that no word is called so
_JOINER = r"['\x{2019}\x{2010}\x{2011}\-_\x{B7}]"
_MARK = r"\p{M}\x{200C}\x{200D}"
_ANY, _NO_LETTER = rf"[\p{{L}}\p{{N}}{_MARK}]", rf"[\p{{N}}{_MARK}]"
_LETTERS = rf"\p{{L}}{_ANY}*(?:{_JOINER}{_ANY}+)*"
_DIGITS = rf"\p{{N}}{_NO_LETTER}*(?:(?:[.,]\p{{N}}|{_JOINER}{_NO_LETTER}){_NO_LETTER}*)*"
_SIMPLE = f"{_DIGITS}(?:{_JOINER}?{_LETTERS})?|{_LETTERS}"
"""A word of _raw.pyx: letters, marks and numbers with joiners between them; points and commas before any letter."""


def save_sentence_transformer(
    wv: KeyedDensities, folder: PathLike, *, weights: str | Sequence[float] = "sif"
) -> None:
    """Write a folder that ``SentenceTransformer(folder)`` opens; its vectors of texts are those of :meth:`encode`.

    It is a static model: what a word means in its context is lost. The folder may be that of :meth:`save_pretrained`.

    Parameters
    ----------
    folder : str or PathLike
        Where to write; created if necessary.
    weights
        As in :meth:`encode`.

    Examples
    --------
    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> wv.save_sentence_transformer(folder)
    >>> sorted(os.listdir(folder))
    ['0_StaticEmbedding', 'modules.json']
    """
    tokenizer = tokenizer_of(wv)
    centre, sizes, axes = variation_of(wv)
    rows = np.zeros((len(wv) + 1, wv.vector_size), dtype="<f4")  # the last is that of unknown words
    rows[:-1] = word_weights(wv, weights)[:, None] * ((wv.vectors - centre) @ axes / np.sqrt(sizes))
    modules = [
        {"idx": i, "name": str(i), "path": f"{i}_{kind}", "type": f"sentence_transformers.models.{kind}"}
        for i, kind in enumerate(("StaticEmbedding", "Normalize"))
    ]
    table = build_header({"embedding.weight": rows}, {}, "")[0] + rows.tobytes()
    files = {
        "modules.json": json.dumps(modules, indent=2).encode(),
        "0_StaticEmbedding/tokenizer.json": tokenizer.to_str().encode(),
        "0_StaticEmbedding/model.safetensors": table,
    }
    for name, content in files.items():
        path = Path(os.fspath(folder), name)
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as file:
            file.write(content)


def tokenizer_of(wv: KeyedDensities) -> Any:
    r"""Return a ``tokenizers.Tokenizer`` that finds the words of a text as the model does; a token's id is its row.

    It differs in words of more than 1,000 characters, which densvec cuts; in characters that only one of the two tables
    of Unicode has yet; in the form of a final Σ that is not right behind a letter; and, with ``"regex:…"``, in what
    Python and Oniguruma understand differently: there, ``\w`` has combining marks, too.
    """
    library = needs("tokenizers", "hub")
    reading, replace, regex = wv.text_reading or TextReading(), library.normalizers.Replace, library.Regex
    simple, words = reading.tokenize in ("auto", "simple"), dict(wv.key_to_index)
    steps, pattern = [], _SIMPLE if simple else r"[^\s\x1C-\x1F]+"
    if simple:
        steps = [replace("\u00ad", ""), replace("’", "'"), replace(regex(r"[\x{2010}\x{2011}]"), "-")]
        if not reading.keep_numbers:
            words = {word: row for word, row in words.items() if any(map(str.isalpha, word))}
    elif reading.tokenize.startswith(REGEX):
        pattern = reading.tokenize.removeprefix(REGEX)
    if reading.lower:
        last = replace(regex(rf"(?<=\p{{L}}|\p{{L}}\p{{M}})Σ(?!{_JOINER}?{_ANY})"), "ς")
        steps += [replace("İ", "i")] * simple + [last, library.normalizers.Lowercase()]
    model = library.models.WordLevel({**words, _UNKNOWN: len(wv)}, unk_token=_UNKNOWN)
    tokenizer = library.Tokenizer(model)
    tokenizer.normalizer = library.normalizers.Sequence(steps)
    tokenizer.pre_tokenizer = library.pre_tokenizers.Split(regex(pattern), "removed", invert=True)
    return tokenizer
