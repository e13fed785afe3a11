"""Mistakes of new users, and the hints that they get."""

import pickle

import numpy as np
import pandas as pd
import pytest

from densvec import BayesianSkipGram, DensvecFileError, KeyedDensities
from densvec.cli import main
from densvec.datasets import toy_language


@pytest.fixture(scope="module")
def model():
    return BayesianSkipGram(toy_language(300), vector_size=5, sample=0, epochs=1, workers=1)


class TestModels:
    def test_words_are_in_wv(self, model):
        with pytest.raises(TypeError, match=r"model.wv\['war'\]"):
            model["war"]
        with pytest.raises(TypeError, match=r"'war' in model\.wv"):
            assert "war" in model

    @pytest.mark.parametrize("name", ["syn1neg", "syn1", "vectors_lockf"])
    def test_what_gensim_has(self, model, name):
        with pytest.raises(AttributeError, match=r": use "):
            getattr(model, name)
        with pytest.raises(AttributeError, match=r": use "):
            getattr(model.wv, name)
        assert not hasattr(model, name)

    def test_a_file_is_no_list_of_sentences(self, tmp_path):
        for wrong in ("wiki.txt", tmp_path / "wiki.txt"):
            with pytest.raises(TypeError, match=r"corpus_file='.*wiki.txt'"):
                BayesianSkipGram(wrong)

    def test_a_column_of_sentences_trains(self):
        sentences = pd.Series([["a", "b"]] * 50, index=range(7, 57))
        model = BayesianSkipGram(sentences, vector_size=2, min_count=1, epochs=1, workers=1)
        assert model.corpus_total_words == 100

    def test_hierarchical_softmax_comes_first(self):
        with pytest.raises(ValueError, match=r"^hs=1"):
            BayesianSkipGram(hs=1, negative=0)

    def test_repr(self, model):
        assert repr(BayesianSkipGram()).startswith("<BayesianSkipGram: no vocabulary yet, vector_size=100")
        assert "1 of 1 epochs" in repr(model)


class TestKeys:
    def test_near_spellings_are_named(self, model):
        for ask in (model.wv.get_vector, model.wv.most_similar, model.wv.density, model.wv.__getitem__):
            with pytest.raises(KeyError, match="did you mean 'kiwi'"):
                ask("kiwii")

    def test_the_error_can_be_sent(self, model):
        with pytest.raises(KeyError) as caught:
            model.wv["kiwii"]
        again = pickle.loads(pickle.dumps(caught.value))
        assert isinstance(again, KeyError)
        assert "did you mean 'kiwi'" in again.args[0]

    def test_several_words_are_refused(self, model):
        several = ["the silent owl", "the wise owl"]
        for words in (several, pd.Series(several)):
            with pytest.raises(TypeError, match=r"one word is expected.*one after the other"):
                model.wv.hypernyms(words)
            with pytest.raises(TypeError, match="a word is expected first, and its sentence second"):
                model.wv.substitutes(words, "owl")
            with pytest.raises(TypeError, match="several sentences are given"):
                model.wv.substitutes("owl", words)
            assert len(model.wv.infer(words, word="owl")) == 2

    def test_positions_of_known_tokens(self, model):
        tokens = ["xyzzy", "kiwi", "is", "plugh", "ripe"]
        known = [i for i, token in enumerate(tokens) if token in model.wv]
        found, positions = model.wv.infer(tokens, skip_unknown=True, return_positions=True)
        assert positions.tolist() == known
        assert len(found) == len(known)
        [(again, places)] = model.wv.infer_sentences([tokens], skip_unknown=True, return_positions=True)
        assert np.array_equal(again.mean, found.mean)
        assert places.tolist() == known
        with pytest.raises(ValueError, match="whole sentences"):
            model.wv.infer(tokens, word="kiwi", return_positions=True)


class TestFiles:
    def test_text_is_no_model(self, tmp_path, capsys):
        (tmp_path / "book.txt").write_text("It was a dark and stormy night.\n")
        with pytest.raises(DensvecFileError, match="it looks like plain text: `densvec train`"):
            KeyedDensities.load(tmp_path / "book.txt")
        assert main(["info", str(tmp_path / "book.txt")]) == 1
        assert "looks like plain text" in capsys.readouterr().err

    def test_vectors_are_no_model(self, model, tmp_path):
        model.wv.save_word2vec_format(tmp_path / "vectors.txt")
        with pytest.raises(DensvecFileError, match="densvec import"):
            KeyedDensities.load(tmp_path / "vectors.txt")

    def test_text_vectors_are_not_binary(self, model, tmp_path):
        model.wv.save_word2vec_format(tmp_path / "vectors.txt")
        with pytest.raises(ValueError, match="this is a text file"):
            KeyedDensities.load_word2vec_format(tmp_path / "vectors.txt", binary=True)
        model.wv.save_word2vec_format(tmp_path / "vectors.bin", binary=True)
        assert len(KeyedDensities.load_word2vec_format(tmp_path / "vectors.bin", binary=True)) == len(
            model.wv
        )
