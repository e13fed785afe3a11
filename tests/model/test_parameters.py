"""Parameters: one declaration of each, checked in one place, and answers to wrong names."""

import inspect

import numpy as np
import pytest

from densvec import BayesianSkipGram, SkipGram, Word2Gauss

MODELS = [BayesianSkipGram, SkipGram, Word2Gauss]

pytestmark = pytest.mark.parametrize("cls", MODELS)


def test_what_is_kept_and_what_is_not(cls):
    signature = inspect.signature(cls).parameters
    others = set(signature) - set(cls.parameter_names())
    assert others == {"sentences", "corpus_file", "hashfxn", "trim_rule", "callbacks", "distributed"}
    assert not any("InitVar" in str(each) for each in signature.values())


def test_every_parameter_is_documented_in_the_order_of_the_signature(cls):
    lines = inspect.cleandoc(cls.__doc__).splitlines()
    section = lines[lines.index("Parameters") + 2 :]
    ends = [i - 1 for i, line in enumerate(section) if line.startswith("---")]  # the next section's title
    section = section[: ends[0]] if ends else section
    heads = [i for i, line in enumerate(section) if line and not line.startswith(" ")]
    assert all(section[i + 1].startswith("    ") for i in heads)
    names = [name.strip(" *") for i in heads for name in section[i].partition(" : ")[0].split(",")]
    signature = list(inspect.signature(cls).parameters)
    assert set(names) == set(signature)
    alone = [
        signature.index(line.partition(" : ")[0])
        for line in map(section.__getitem__, heads)
        if "," not in line
    ]
    assert alone == sorted(alone)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("size", "vector_size"), ("iter", "epochs"), ("vectorsize", "vector_size"), ("windw", "window")],
)
def test_wrong_names_are_told_the_right_one(cls, wrong, right):
    with pytest.raises(TypeError, match=f"{cls.__name__}.*{wrong!r}.*{right!r}"):
        cls(**{wrong: 3})


def test_names_like_no_other_are_told_all(cls):
    with pytest.raises(TypeError, match=r"'zebra'.*vector_size.*window"):
        cls(zebra=3)


def test_whole_numbers_may_be_floats_or_numpys(cls, tmp_path):
    model = cls(
        vector_size=8.0, window=np.int32(3), epochs=np.float64(2), seed=np.uint8(4), alpha=np.float32(0.5)
    )
    kept = {name: getattr(model, name) for name in ("vector_size", "window", "epochs", "seed", "alpha")}
    assert kept == {"vector_size": 8, "window": 3, "epochs": 2, "seed": 4, "alpha": 0.5}
    assert [type(value) for value in kept.values()] == [int, int, int, int, float]
    model.build_vocab([["a", "b"]] * 9)
    model.save(tmp_path / "model.dv")
    assert cls.load(tmp_path / "model.dv").vector_size == 8


@pytest.mark.parametrize(
    ("name", "value"), [("vector_size", 1.5), ("window", True), ("epochs", "5"), ("alpha", None)]
)
def test_what_is_no_number_is_refused_by_name(cls, name, value):
    with pytest.raises(TypeError, match=f"{name}="):
        cls(**{name: value})


def test_attributes_can_be_checked_as_the_constructor_does(cls):
    assert cls.check_parameter("epochs", 3.0) == 3
    with pytest.raises(ValueError, match="window=0"):
        cls.check_parameter("window", 0)
