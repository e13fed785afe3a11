"""gensim's own tests of KeyedVectors, run on KeyedDensities from the installed gensim."""

import unittest

import gensim.models
import pytest
from gensim.test import test_keyedvectors

from densvec.keyed import KeyedDensities

TESTS = unittest.defaultTestLoader.getTestCaseNames(test_keyedvectors.TestKeyedVectors)


@pytest.mark.parametrize("name", TESTS)
def test_gensim_suite(name, monkeypatch):
    monkeypatch.setattr(test_keyedvectors, "KeyedVectors", KeyedDensities)
    monkeypatch.setattr(gensim.models, "KeyedVectors", KeyedDensities)
    result = unittest.TestResult()
    test_keyedvectors.TestKeyedVectors(name).run(result)
    problems = [text for _, text in [*result.failures, *result.errors]]
    assert not problems, problems[0]
    assert result.testsRun == 1
    assert not result.skipped


def test_suite_is_the_whole_one():
    assert len(TESTS) >= 29
