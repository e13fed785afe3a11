"""Folders for sentence-transformers: its vectors are ours, and the tokeniser of ``tokenizer.json`` finds our words."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from safetensors.numpy import load_file

import densvec
from conftest import example_densities
from densvec.questions.lookup import words_of
from densvec.text.text_reading import TextReading

tokenizers = pytest.importorskip("tokenizers")

from densvec.integrations.sentence_transformers import tokenizer_of

TEXTS = [
    "The river’s bank was flooded in 1999.",
    "A loan from the BANK",
    "zzzqqq",
    "",
    "music, well-known music",
]
READINGS = [
    TextReading(how, lower, numbers)
    for how in ("simple", "none", "regex:[A-Za-zé]+|[0-9]")
    for lower in (False, True)
    for numbers in ((False, True) if how == "simple" else (False,))
]


@pytest.fixture(scope="module")
def english():
    return densvec.load("english").restrict(5000)


@pytest.fixture(scope="module")
def folder(english, tmp_path_factory):
    folder = tmp_path_factory.mktemp("english")
    english.save_pretrained(folder)
    english.save_sentence_transformer(folder)
    return folder


def words_by_tokenizers(text, reading, tokenizer):
    """Return the words that tokenizers finds; those without a letter are unknown to models without numbers."""
    text = tokenizer.normalizer.normalize_str(text)
    words = [word for word, _ in tokenizer.pre_tokenizer.pre_tokenize_str(text)]
    if reading.tokenize == "simple" and not reading.keep_numbers:
        words = [word for word in words if any(map(str.isalpha, word))]
    return words


@pytest.mark.parametrize("reading", READINGS, ids=str)
class TestTokenizer:
    def pair(self, reading):
        wv = example_densities()
        wv.text_reading = reading
        return wv, tokenizer_of(wv)

    def test_real_text_has_the_same_words(self, reading):
        wv, tokenizer = self.pair(reading)
        for page in Path(__file__).parents[2].glob("docs/**/*.md"):
            text = page.read_text(encoding="utf-8")
            assert words_by_tokenizers(text, reading, tokenizer) == words_of(wv, text), page

    @given(text=st.text("aB1.,'’-\u2010_· ςéÉ\u0301\u200d2!?ß日ﬁǅ\u00ad\n\x1c\x85\u3000%5xİ", max_size=20))
    @example("Don’t stop at 3.14, 1990.The 5-year-old’s 1,000,5kg x--y İstanbul co\u00adop")
    @example("ΟΔΥΣΣΕΥΣ ΣΟΦΌΣ’ Σ")
    def test_any_text_has_the_same_words(self, reading, text):
        wv, tokenizer = self.pair(reading)
        assert words_by_tokenizers(text, reading, tokenizer) == words_of(wv, text)


def test_a_token_is_the_row_of_its_word():
    wv = example_densities()
    wv.text_reading = TextReading("simple", lower=True)
    assert tokenizer_of(wv).encode("The DOG, a cat").ids == [4, 1, 4, 2]


def test_words_that_our_tokeniser_drops_are_unknown():
    wv = example_densities()
    wv.add_vectors(["1999"], [[5, 5]], log_variances=np.zeros((1, 1)))
    for keep_numbers, row in ((True, 4), (False, 5)):
        wv.text_reading = TextReading("simple", keep_numbers=keep_numbers)
        assert tokenizer_of(wv).encode("1999").ids == [row]


def test_the_files_say_all(english, folder):
    """An embedding bag by hand, as any program may do it."""
    modules = json.loads((folder / "modules.json").read_text())
    assert [module["type"].split(".")[-1] for module in modules] == ["StaticEmbedding", "Normalize"]
    place = folder / modules[0]["path"]
    table = load_file(place / "model.safetensors")["embedding.weight"]
    tokenizer = tokenizers.Tokenizer.from_file(str(place / "tokenizer.json"))
    for text, expected in zip(TEXTS, english.encode(TEXTS), strict=True):
        total = table[tokenizer.encode(text).ids].sum(axis=0)
        np.testing.assert_allclose(total / max(np.linalg.norm(total), 1e-9), expected, atol=1e-5)


def test_sentence_transformers_encodes_as_we_do(english, folder):
    library = pytest.importorskip("sentence_transformers")
    model = library.SentenceTransformer(str(folder), device="cpu")
    np.testing.assert_allclose(model.encode(TEXTS), english.encode(TEXTS), atol=1e-5)
    similarities = model.similarity(model.encode(TEXTS[:2]), model.encode(TEXTS[:2])).numpy()
    np.testing.assert_allclose(similarities, english.text_similarity(TEXTS[:2], TEXTS[:2]), atol=1e-5)
    assert len(densvec.load(folder)) == len(english)  # one folder for both
