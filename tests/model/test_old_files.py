"""Files written by densvec before its parameters and tables had one place each are read as ever."""

from pathlib import Path

import numpy as np
import pytest

from densvec import BayesianSkipGram, KeyedDensities, SkipGram, Word2Gauss
from densvec.training.native import options
from tests.model.cases import SENTENCES

FOLDER = Path(__file__).parent / "old_files"

#: The first mean after one more epoch, as the code that wrote the file trained it; but the Bayesian Skip-gram's
#: with the company that words keep, which has counted since.
FURTHER = {
    "BayesianSkipGram": [-0.0032319598831236362, -0.026248803362250328],
    "SkipGram": [-0.013315555639564991, 0.2509474456310272],
    "Word2Gauss": [-0.016019633039832115, -0.015737002715468407],
}


@pytest.mark.parametrize("cls", [BayesianSkipGram, SkipGram, Word2Gauss])
def test_a_model_of_then_is_read_saved_and_trained_on(cls, tmp_path, monkeypatch):
    monkeypatch.setattr(options, "bfloat16", False)  # which has come since, on some processors
    model = cls.load(FOLDER / f"{cls.__name__}.dv")
    assert (model.vector_size, model.min_count, model.epochs_trained) == (2, 2, 2)
    assert model.comment == "written by the code before issue 13"
    assert model.raw_vocab["system"] == model.wv.get_vecattr("system", "count") == 4
    assert len(KeyedDensities.load(FOLDER / f"{cls.__name__}.dv")) == len(model.wv) == 12
    model.save(tmp_path / "model.dv")
    for each in (model, cls.load(tmp_path / "model.dv", mmap="r")):
        each.train(SENTENCES, total_examples=9, epochs=1)
        np.testing.assert_allclose(each.wv.vectors[0], FURTHER[cls.__name__], rtol=1e-5)
