"""The text that ranks train on."""

import pytest

from densvec.datasets import toy_language


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "toy.txt"
    path.write_text("".join(" ".join(s) + "\n" for s in toy_language(5000)), encoding="utf-8")
    return path
