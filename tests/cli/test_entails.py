"""``densvec entails``."""

import pytest

from densvec import KeyedDensities
from densvec.cli import main
from tests.cli.cases import answer


def test_entails(model, capsys):
    wv = KeyedDensities.load(model)
    [found] = answer(capsys, "entails", model, "kakapo", "bird")
    assert found["kl"] == pytest.approx(wv.kl_divergence("kakapo", "bird"))
    assert found["direction"] == pytest.approx(wv.direction("kakapo", "bird"))
    assert found["entails"] == (wv.direction("kakapo", "bird") > 0)
    assert main(["entails", model, "kakapo", "bird"]) == 0
    winner = "kakapo entails bird" if found["entails"] else "bird entails kakapo"
    assert capsys.readouterr().out.startswith(winner)
