"""The engines that the tests ask, each as a class of index: skipped where the engine is not installed."""

import pytest

from densvec import search


def faiss_engine():
    pytest.importorskip("faiss", reason="faiss-cpu is not installed")
    return search.FaissIndex


def usearch_engine():
    pytest.importorskip("usearch", reason="usearch is not installed")
    return search.UsearchIndex


ENGINES = {"faiss": faiss_engine, "usearch": usearch_engine}
