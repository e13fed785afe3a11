"""What notebooks show."""

import numpy as np
import pytest

import densvec
from densvec import BayesianSkipGram, Gaussian, KeyedDensities
from densvec.datasets import toy_language


@pytest.fixture(scope="module")
def model():
    return BayesianSkipGram(toy_language(400), vector_size=5, sample=0.01, epochs=1, workers=1)


def test_models(model):
    shown = model._repr_html_()
    assert shown.startswith("<table>")
    assert "1 of 1" in shown
    assert f"{len(model.wv):,}" in shown
    assert "no vocabulary yet" in BayesianSkipGram()._repr_html_()


def test_words(model):
    shown = model.wv._repr_html_()
    assert "spherical" in shown
    assert "windows of" in shown
    assert "English" in densvec.load("english")._repr_html_()
    assert "none" in KeyedDensities(3)._repr_html_()


def test_words_are_escaped():
    wv = KeyedDensities.from_arrays(["<script>", "b"], np.eye(2))
    assert "<script>" not in wv._repr_html_()


def test_densities(model):
    one = model.wv.density("kiwi")._repr_html_()
    assert "entropy" in one
    assert one.count("<tr>") == 2
    many = Gaussian(np.zeros((3, 4, 2)), np.ones((3, 4, 1)))._repr_html_()
    assert many.count("<tr>") == 7  # a header, five of twelve, and that there are more


def test_senses(model):
    corpus = list(toy_language(400))
    senses = model.wv.senses("kiwi", corpus)
    assert senses._repr_html_().count("<tr>") == 1 + len(senses)
