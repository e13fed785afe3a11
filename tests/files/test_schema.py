"""What a file must hold is said in one error that names the part."""

import numpy as np
import pytest

from densvec.files.schema import field, require_class, tensor


def test_fields_have_types_and_bounds():
    header = {"window": 5, "alpha": 1, "rate": 0.5, "words": ["a"], "trained": True}
    assert field(header, "window", int) == 5
    assert isinstance(field(header, "alpha", float), float)
    assert field(header, "words", list) == ["a"]
    assert field(header, "trained", bool) is True
    for name, kind, fault in [
        ("missing", int, "no 'missing'"),
        ("rate", int, "not an int"),
        ("trained", int, "not an int"),
        ("trained", float, "not a float"),
        ("words", dict, "not a dict"),
    ]:
        with pytest.raises(ValueError, match=fault):
            field(header, name, kind)
    with pytest.raises(ValueError, match="at least 6"):
        field(header, "window", int, minimum=6)
    with pytest.raises(ValueError, match="at least 0"):
        field({"x": float("nan")}, "x", float, minimum=0)


def test_tensors_have_kinds_and_shapes():
    tensors = {"means": np.zeros((3, 2), np.float32)}
    assert tensor(tensors, "means", "f", (3, None)) is tensors["means"]
    for name, kind, shape in [
        ("means", "i", (3, 2)),
        ("means", "f", (3, 2, 1)),
        ("means", "f", (2, 2)),
        ("x", "f", ()),
    ]:
        with pytest.raises(ValueError, match=name):
            tensor(tensors, name, kind, shape)


def test_both_classes_are_named():
    require_class({"class": "SkipGram"}, {"SkipGram"}, "SkipGram")
    with pytest.raises(ValueError, match="holds a Word2Gauss, not a SkipGram"):
        require_class({"class": "Word2Gauss"}, {"SkipGram"}, "SkipGram")
    with pytest.raises(ValueError, match="no 'class'"):
        require_class({}, {"SkipGram"}, "SkipGram")
