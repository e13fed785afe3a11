"""Densities in a blank spaCy pipeline."""

import numpy as np
import pytest

spacy = pytest.importorskip(
    "spacy", reason="spaCy is not installed; it is too large for the test environment"
)

from conftest import example_densities
from densvec.spacy import to_spacy


@pytest.fixture
def wv():
    return example_densities()


@pytest.fixture
def nlp(wv):
    return to_spacy(wv, spacy.blank("en"))


def test_the_vocabulary_has_the_means(wv, nlp):
    doc = nlp("dog cat unicorn")
    np.testing.assert_array_equal(doc[0].vector, wv["dog"])
    assert doc[0].has_vector
    assert not doc[2].has_vector
    assert doc[0].similarity(doc[1]) == pytest.approx(wv.similarity("dog", "cat"))


def test_tokens_have_posteriors_in_their_sentence(wv, nlp):
    doc = nlp("the dog and the cat")
    sentence = [token.text for token in doc]
    assert doc[1]._.density == wv.infer(sentence, position=1)
    assert doc[4]._.density == wv.infer(sentence, position=4)
    assert doc[0]._.density is None  # unknown
    assert len(doc._.densities) == 5
    assert doc[3:5]._.densities == [None, doc[4]._.density]


def test_sentences_bound_the_context(wv):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    to_spacy(wv, nlp)
    doc = nlp("the dog . a cat")
    assert doc[1]._.density == wv.infer(["dog"], position=0)
    assert doc[4]._.density == wv.infer(["cat"], position=0)


def test_lower_case_words_are_found(wv):
    doc = to_spacy(wv, spacy.blank("en"), lowercase=True)("Dog CAT")
    assert doc[0]._.density == wv.infer("dog cat", position=0)


def test_without_an_encoder_there_are_priors(wv):
    wv.encoder = None
    doc = to_spacy(wv, spacy.blank("en"))("a dog in the rain")
    assert doc[1]._.density == wv.density("dog")


def test_only_the_vectors(wv):
    nlp = to_spacy(wv, spacy.blank("en"), component=False)
    assert nlp.pipe_names == []
    assert nlp("dog")[0].has_vector


def test_a_pipeline_is_saved_with_its_densities(wv, nlp, tmp_path):
    nlp.to_disk(tmp_path / "pipeline")
    again = spacy.load(tmp_path / "pipeline")
    assert again("the dog and the cat")[1]._.density == nlp("the dog and the cat")[1]._.density


def test_twice_is_once(wv, nlp):
    to_spacy(wv, nlp)
    assert nlp.pipe_names == ["densvec"]


def test_many_documents(wv, nlp):
    texts = ["the dog and the cat", "", "nothing known"]
    docs = list(nlp.pipe(texts))
    assert [len(doc._.densities) for doc in docs] == [5, 0, 2]


def test_a_component_without_densities_says_so():
    nlp = spacy.blank("en")
    nlp.add_pipe("densvec")
    with pytest.raises(ValueError, match="to_spacy"):
        nlp("dog")
