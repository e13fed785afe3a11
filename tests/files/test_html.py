"""What notebooks show."""

from densvec import BayesianSkipGram
from densvec.datasets import toy_language
from densvec.files.html import table


def test_senses():
    corpus = list(toy_language(400))
    model = BayesianSkipGram(corpus, vector_size=5, sample=0.01, epochs=1, workers=1)
    senses = model.wv.senses("kiwi", corpus)
    assert senses._repr_html_().count("<tr>") == 1 + len(senses)


def test_words_are_escaped():
    assert "<script>" not in table("<script>", ["<script>"], [["<script>"]])
