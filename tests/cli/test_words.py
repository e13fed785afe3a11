"""Words as users type them: marked, misspelt, unknown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from densvec.answers.words import parse_marked
from densvec.cli import main
from densvec.text.spelling import spellings
from tests.cli.cases import assert_one_sentence, densvec_process

WORDS = st.text("abcdefghij", min_size=5, max_size=12)


class TestWords:
    @given(st.lists(WORDS, min_size=1, max_size=20, unique=True), st.data())
    def test_one_slip_inside_a_word_is_forgiven(self, vocabulary, data):
        word = data.draw(st.sampled_from(vocabulary))
        place = data.draw(st.integers(1, len(word) - 2))
        slip = word[:place] + data.draw(st.sampled_from(["", "x"])) + word[place + 1 :]
        assert word in spellings(slip, vocabulary, count=len(vocabulary))

    @given(st.lists(WORDS), WORDS, st.lists(WORDS))
    def test_marks(self, before, word, after):
        marked = parse_marked(" ".join([*before, f"[[{word}]]", *after]))
        assert marked == (word, [*before, word, *after], len(before))


def test_unknown_word_suggests_spellings(model):
    done = densvec_process("similar", model, "kiwii")
    assert "'kiwii' is not among the" in assert_one_sentence(done)
    assert "did you mean 'kiwi'" in done.stderr.decode()


@pytest.mark.parametrize(
    "arguments",
    [
        ["infer", "a ripe [[kiwy]] here"],
        ["substitutes", "a ripe [[kiwy]] here"],
        ["entails", "kiwy", "bird"],
        ["similar", "owl", "--minus", "kiwy"],
    ],
)
def test_every_command_suggests(arguments, model, capsys):
    name, *rest = arguments
    assert main([name, model, *rest]) == 1
    assert "did you mean 'kiwi'" in capsys.readouterr().err
