"""A small trained model, its file, and a client of a service that answers from it."""

import pytest

pytest.importorskip("fastapi", reason='the service needs FastAPI: pip install "densvec[serve]"')

from fastapi.testclient import TestClient

from densvec import BayesianSkipGram
from densvec.datasets import toy_language
from densvec.serve import app


@pytest.fixture(scope="session")
def wv():
    corpus = toy_language(2000)
    return BayesianSkipGram(corpus, vector_size=12, sample=0.01, alpha=0.03, epochs=3, workers=1, seed=3).wv


@pytest.fixture(scope="session")
def model_file(wv, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "toy.dv"
    wv.save(path)
    return path


@pytest.fixture(scope="session")
def client(wv):
    with TestClient(app(wv), raise_server_exceptions=False) as made:
        yield made
