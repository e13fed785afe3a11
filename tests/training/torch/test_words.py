"""Distinct words and sums by them, against the dense matrix of uses."""

import numpy as np
import pytest
import torch

from densvec.training.torch import words as words_module
from densvec.training.torch.words import FEW, MANY, distinct


@pytest.fixture(params=["bags", "no bags"])
def uses(request, monkeypatch):
    """Uses of words on a device that adds up bags, and on one that does not."""
    if request.param == "no bags":
        monkeypatch.setattr(words_module, "BAGS", set())
    return torch.from_numpy(np.random.default_rng(3).integers(0, 40, (12, 7)).astype(np.int32) * 5)


def matrix(words, weights):
    """The weights of uses as a dense matrix of rows and words."""
    dense = torch.zeros(len(words.numbers), len(words.ids), dtype=torch.float64)
    for row, numbers in enumerate(words.numbers):
        for use, number in enumerate(numbers):
            dense[row, number] += weights[row, use]
    return dense


def test_words_are_distinct_and_ascending(uses):
    words = distinct(uses, len(np.unique(uses)))
    np.testing.assert_array_equal(words.ids, np.unique(uses))
    np.testing.assert_array_equal(words.ids[words.numbers], uses)
    counts = np.diff([*words.starts, uses.numel()])
    np.testing.assert_array_equal(counts, np.unique(uses, return_counts=True)[1])


@pytest.mark.parametrize("count", [1, FEW - 1, FEW, 20_000, MANY - 1, MANY, MANY + 1])
def test_uses_of_a_word_keep_their_order_however_many_there_are(count):
    uses = torch.from_numpy(np.random.default_rng(count).integers(0, 700, (count, 1)).astype(np.int32))
    words = distinct(uses, len(np.unique(uses)))
    np.testing.assert_array_equal(words.order, np.argsort(uses[:, 0], kind="stable"))
    np.testing.assert_array_equal(words.ids, np.unique(uses))


@pytest.mark.parametrize("gradients", [False, True])
def test_products_and_sums_are_those_of_the_matrix(uses, gradients):
    words = distinct(uses, len(np.unique(uses)))
    generator = torch.Generator().manual_seed(1)

    def draw(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    of_rows, of_words, weights = draw(12, 5), draw(len(words.ids), 5), draw(12, 7)
    dense = matrix(words, weights)
    with torch.set_grad_enabled(gradients):
        products = words.products(of_rows, of_words)
        torch.testing.assert_close(products, (of_rows[:, None] * of_words[words.numbers]).sum(2))
        torch.testing.assert_close(words.sums_by_row(of_words, weights), dense @ of_words)
        torch.testing.assert_close(words.sums_by_word(of_rows, weights), dense.T @ of_rows)
        torch.testing.assert_close(words.sums_by_word(of_rows), matrix(words, torch.ones(12, 7)).T @ of_rows)
        by_use = words.sums_by_word(weights.view(-1, 1))
        torch.testing.assert_close(by_use[:, 0], dense.sum(0))
