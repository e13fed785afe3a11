"""``densvec substitutes``."""

from densvec import KeyedDensities
from densvec.answers.words import parse_marked
from densvec.cli import main
from tests.cli.cases import SENTENCE, answer


def test_substitutes(model, capsys):
    [found] = answer(capsys, "substitutes", model, SENTENCE, "--candidates", "owl", "apple")
    wv = KeyedDensities.load(model)
    tokens = parse_marked(SENTENCE)[1]
    expected = wv.substitutes("kiwi", tokens, ["owl", "apple"], position=2)
    assert [item["word"] for item in found["substitutes"]] == [word for word, _ in expected]
    assert main(["substitutes", model, SENTENCE, "-n", "3"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3
