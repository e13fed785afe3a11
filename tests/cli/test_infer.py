"""``densvec infer``."""

import pytest

from densvec import KeyedDensities
from densvec.cli import main
from tests.cli.cases import SENTENCE, answer


def test_infer(model, capsys):
    [found] = answer(capsys, "infer", model, SENTENCE)
    wv = KeyedDensities.load(model)
    posterior = wv.infer(SENTENCE.replace("[[", "").replace("]]", ""), position=2)
    assert found["word"] == "kiwi"
    assert found["entropy"]["prior"] == pytest.approx(float(wv.density("kiwi").entropy()))
    assert found["entropy"]["posterior"] == pytest.approx(float(posterior.entropy()))
    nearest = [word for word, _ in wv.most_similar(posterior, metric="kl")]
    assert [item["word"] for item in found["nearest_to_posterior"]] == nearest
    assert "kiwi" not in [item["word"] for item in found["substitutes"]]


def test_infer_for_people(model, capsys):
    assert main(["infer", model, "Yonder Flightless [[kiwi]] digs", "-n", "2"]) == 0
    output = capsys.readouterr()
    assert output.out.splitlines()[1].startswith("entropy of kiwi: ")
    assert "unknown words left out: Yonder\n" in output.err
    lower = output.out.splitlines()[1:]
    assert main(["infer", model, "yonder flightless [[Kiwi]] digs", "-n", "2"]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == lower


@pytest.mark.parametrize("sentence", ["no mark", "[[two]] [[marks]]", "an empty [[ ]]"])
def test_wrong_marks_are_wrong_usage(sentence, model, capsys):
    assert main(["infer", model, sentence]) == 2
    assert "double brackets" in capsys.readouterr().err
