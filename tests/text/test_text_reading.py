"""A model says how its text was read, and other text is read so."""

import pytest

from densvec import BayesianSkipGram, KeyedDensities, load
from densvec.corpora import LineSentence, RawText
from densvec.text.text_reading import TextReading

BOOK = "She sat on the Bank of the river,\nand he went to the Bank. Nobody came, they say.\n" * 40
OPTIONS = {"vector_size": 4, "epochs": 1, "workers": 1, "sample": 0.1, "min_count": 5}


@pytest.fixture
def book(tmp_path):
    (tmp_path / "book.txt").write_text(BOOK)
    return tmp_path / "book.txt"


@pytest.fixture
def model(book):
    return BayesianSkipGram(RawText(book), **OPTIONS)


def test_it_is_kept_in_every_file(model, tmp_path):
    expected = TextReading("simple", lower=True)
    assert model.wv.text_reading == expected
    model.save(tmp_path / "model.dv")
    model.wv.save(tmp_path / "words.dv", dtype="int8")
    assert BayesianSkipGram.load(tmp_path / "model.dv").wv.text_reading == expected
    for name in ("model.dv", "words.dv"):
        assert KeyedDensities.load(tmp_path / name).text_reading == expected
    assert model.wv.restrict(5).text_reading == expected


def test_what_is_not_known_is_not_said(book):
    assert BayesianSkipGram([["a", "b"]] * 20, **OPTIONS).wv.text_reading is None
    for corpus in ({"corpus_file": str(book)}, {"sentences": LineSentence(book)}):
        assert BayesianSkipGram(**corpus, **OPTIONS).wv.text_reading == TextReading()
    assert BayesianSkipGram(RawText(book, tokenize=str.split), **OPTIONS).wv.text_reading is None


def test_strings_are_read_as_the_text_was(model):
    wv, tokens = model.wv, ["she", "sat", "on", "the", "bank", "of", "the", "river"]
    expected = wv.infer(tokens, word="bank", position=4)
    assert wv.infer("She sat on the [[Bank]] of the River.") == expected
    assert wv.infer("She sat on the Bank of the River.", position=4) == expected
    assert wv.infer("(She) sat on the Bank -- of the River.", position=4) == expected
    assert wv.infer_posteriors([("bank", "She sat on the Bank of the River.", 4)])[0] == expected
    assert wv.text_density("The BANK, they say.") == wv.text_density(["the", "bank", "they", "say"])
    words = wv.substitutes("bank", "She sat on the [[Bank]].", topn=3, exclude_context=True)
    assert not {"she", "sat", "on", "the"} & {word for word, _ in words}
    wv.learn("shore", ["She sat on the Shore, of the river."])
    assert "shore" in wv


def test_files_are_read_as_the_text_was(model, book):
    assert model.wv.senses("bank", str(book), examples=1)[0].examples[0].tokens[-1] in (
        "river",
        "bank",
        "went",
    )
    found = model.wv.senses("bank", book.parent)
    assert len(found.occurrences) == 80
    assert all(not token.endswith((",", ".")) for each in found.occurrences for token in each.tokens)
    assert model.wv.compare("bank", book, book.parent, permutations=9).counts == (80, 80)


def test_a_model_of_tokens_reads_raw_text_too(book):
    wv = BayesianSkipGram(list(RawText(book)), **OPTIONS).wv
    assert len(wv.senses("bank", book).occurrences) == 80


def test_english_says_it():
    english = load("english")
    assert english.infer("Walked along the Bank.") == english.infer(["walked", "along", "the", "bank"])


@pytest.mark.parametrize("damaged", ["simple", {"tokenize": "x"}, {"tokenize": "regex:("}, {"lower": 1}])
def test_damaged_descriptions_are_refused(damaged):
    with pytest.raises(ValueError, match="header"):
        TextReading.from_header(damaged)
