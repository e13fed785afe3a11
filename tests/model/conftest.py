"""Where a model is saved, and one that was trained to the end."""

import pytest

from densvec import BayesianSkipGram
from tests.model.saved import SENTENCES, SETTINGS


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.dv"


@pytest.fixture(scope="module")
def trained():
    return BayesianSkipGram(SENTENCES, **SETTINGS)
