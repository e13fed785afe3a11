"""Densities to draw, and figures closed after each test."""

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("agg")
import matplotlib.pyplot as plt

from conftest import example_densities
from densvec import KeyedDensities
from densvec.encoder import Encoder


@pytest.fixture
def wv():
    return example_densities()


@pytest.fixture
def diagonal():
    """Many words in ten dimensions, with an encoder and diagonal variances."""
    rng = np.random.default_rng(1)
    words = [f"word{i}" for i in range(60)]
    wv = KeyedDensities(10, covariance="diagonal")
    wv.add_vectors(
        words,
        rng.normal(size=(60, 10)),
        extras={"count": np.geomspace(10_000, 5, 60).astype(np.int64)},
        log_variances=rng.normal(size=(60, 10)),
    )
    shapes = [(60, 4), (4, 6), (4, 6), (6, 10), (10,), (6, 10), (10,)]
    wv.encoder = Encoder(*(rng.normal(size=shape).astype(np.float32) for shape in shapes))
    return wv


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")
