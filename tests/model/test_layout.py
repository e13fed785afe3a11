"""Layouts: what a model says of its tables is what they are, in memory, in training and in files."""

import numpy as np
import pytest

from densvec import BayesianSkipGram, SkipGram, Word2Gauss
from densvec.files import persistence
from densvec.files.persistence import DensvecFileError
from densvec.training.layout import STATE
from tests.model.cases import MORE, SENTENCES, SMALL

CASES = [
    (BayesianSkipGram, {}),
    (BayesianSkipGram, {"covariance": "diagonal", "backend": "torch"}),
    (SkipGram, {}),
    (Word2Gauss, {"covariance": "diagonal"}),
]


def arrays_in(path):
    tensors, header = persistence.read(path)
    return (
        {
            name: a
            for name, a in tensors.items()
            if not name.startswith(("vocabulary", "raw_", "attributes.", "kinds."))
        },
        tensors,
        header,
    )


@pytest.mark.parametrize(("cls", "own"), CASES)
def test_a_trained_model_has_exactly_the_arrays_of_its_layout(cls, own, tmp_path):
    model = cls(SENTENCES, **SMALL, **own)
    model.build_vocab(MORE, update=True)
    model.save(tmp_path / "model.dv")
    found = arrays_in(tmp_path / "model.dv")[0]
    words = len(model.wv)
    expected = {table.name: (table.full_shape(words), np.dtype(table.dtype)) for table in model.layout()}
    assert {name: (array.shape, array.dtype) for name, array in found.items()} == expected
    report = model.estimate_memory()
    assert report["total"] - report["vocab"] == sum(array.nbytes for array in found.values())


@pytest.mark.parametrize(("cls", "own"), CASES)
def test_every_array_of_a_file_is_checked(cls, own, tmp_path):
    path = tmp_path / "model.dv"
    model = cls(SENTENCES, **SMALL, **own)
    model.save(path)
    found, tensors, header = arrays_in(path)
    for name, array in found.items():
        for wrong in (np.concatenate([array, array]), array.astype(np.float16)):
            persistence.write(path, {**tensors, name: wrong}, header)
            with pytest.raises(DensvecFileError):
                cls.load(path)


def test_a_file_without_the_typical_word_still_loads(tmp_path):
    path = tmp_path / "model.dv"
    BayesianSkipGram(SENTENCES, **SMALL).save(path)
    _, tensors, header = arrays_in(path)
    del tensors[STATE + "typical_word"]
    persistence.write(path, tensors, header)
    model = BayesianSkipGram.load(path)
    assert np.isfinite(model.train(SENTENCES, total_examples=9, epochs=1).wv.vectors).all()
