"""Files are little-endian by definition, whatever the machine and the arrays are."""

import numpy as np
import pytest

from conftest import example_densities
from densvec import KeyedDensities
from densvec.files import persistence

KINDS = ["f2", "f4", "f8", "i2", "i4", "i8", "u2", "u4", "u8"]


@pytest.mark.parametrize("kind", KINDS)
def test_swapped_arrays_are_written_as_the_same_bytes(kind, tmp_path):
    array = np.arange(1, 13).astype("<" + kind).reshape(3, 4)
    provenance = {"created": "2026-01-01T00:00:00+00:00"}
    for name, order in (("little", "<"), ("big", ">")):
        tensors = {"array": array.astype(order + kind)}
        persistence.write(tmp_path / name, tensors, {"class": "test", "provenance": provenance})
    little, big = ((tmp_path / name).read_bytes() for name in ("little", "big"))
    assert little == big
    assert array.tobytes() in little
    found = persistence.read(tmp_path / "big")[0]["array"]
    np.testing.assert_array_equal(found, array)
    assert found.dtype.newbyteorder("=") == array.dtype.newbyteorder("=")


def test_swapped_tables_are_saved_as_the_same_words(tmp_path):
    wv = example_densities()
    wv.save(tmp_path / "little.dv")
    swapped = example_densities()
    swapped.vectors = swapped.vectors.astype(">f4")
    swapped.log_variances = swapped.log_variances.astype(">f4")
    swapped.save(tmp_path / "big.dv")
    one, other = (persistence.read(tmp_path / name)[0] for name in ("little.dv", "big.dv"))
    assert one.keys() == other.keys()
    for name in one:
        assert one[name].tobytes() == other[name].tobytes()
    again = KeyedDensities.load(tmp_path / "big.dv")
    assert again.kl_divergence("dog", "cat") == wv.kl_divergence("dog", "cat")
