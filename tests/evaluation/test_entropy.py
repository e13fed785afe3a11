import numpy as np
import pytest

from conftest import example_densities
from densvec.evaluation import Bootstrap, entropy_in_context

NONE = Bootstrap(0)


@pytest.fixture
def wv():
    wv = example_densities()
    wv.window = 1
    return wv


def test_changes_by_hand(wv):
    # Around "cat", log-variance 0, two dimensions: from "dog" h = (2, 2), from "animal" (1, 3), and each takes a
    # tenth of the sum, .4, off the log-variance, so .4 nats off the entropy, and both together .8.
    result = entropy_in_context(wv, [["dog", "cat", "animal"]] * 50, sample=0, bootstrap=NONE)
    assert [round(float(change), 6) for change in result.change.values()] == [-0.4, -0.8]
    assert float(result.narrowed) == 1
    assert result.falls
    assert (result.occurrences, result.windows) == (50, 50)


def test_a_rising_entropy_is_told(wv):
    wv.encoder.variance_head[:] = 0.1
    result = entropy_in_context(wv, [["dog", "cat", "animal"]] * 50, sample=0, bootstrap=NONE)
    assert float(result.narrowed) == 0
    assert not result.falls


def test_only_content_words_with_full_windows_count(wv):
    # "animal" is thinned to less than half, and does not fill a window by itself.
    text = [["dog", "cat", "car"], ["animal", "cat", "car"], ["dog", "animal", "car"], ["cat", "car"]] * 5
    result = entropy_in_context(wv, text, sample=0.02, bootstrap=NONE)
    sure = entropy_in_context(wv, [["dog", "cat", "car"]] * 5, sample=0, bootstrap=NONE)
    assert sure.occurrences == 5
    assert result.occurrences <= 5


def test_the_running_text_is_read_as_infer_reads_it(wv):
    text = [["dog", "car", "cat", "animal", "dog", "car", "cat"]] * 3
    result = entropy_in_context(wv, text, sample=0, bootstrap=NONE)
    expected = [
        wv.infer(sentence, position=place).entropy() < wv.density(sentence[place]).entropy()
        for sentence in text
        for place in range(1, len(sentence) - 1)
    ]
    assert result.occurrences == len(expected)
    assert float(result.narrowed) == pytest.approx(np.mean(expected))


def test_a_generator_cannot_be_read_twice(wv):
    with pytest.raises(TypeError, match="reads the corpus twice"):
        entropy_in_context(wv, iter([["dog", "cat", "animal"]]))


def test_a_file_is_a_corpus(wv, tmp_path):
    (tmp_path / "text.txt").write_text("dog cat animal\n" * 50)
    from_file = entropy_in_context(wv, tmp_path / "text.txt", sample=0, bootstrap=NONE)
    assert from_file == entropy_in_context(wv, [["dog", "cat", "animal"]] * 50, sample=0, bootstrap=NONE)
