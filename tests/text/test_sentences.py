"""Token lists whose tokens run code of their own while they are counted and encoded."""

import pytest

from densvec.text._words import SentenceReader, WordCounter, WordIndex


class Hostile:
    """A token that changes its sentence when it is looked up."""

    def __init__(self, sentence, change):
        self.sentence, self.change = sentence, change

    def __hash__(self):
        self.change(self.sentence)
        return hash("hostile")


class HostileString(str):
    """A string that changes its sentence when it is encoded or looked up."""

    def encode(self, *_):
        SENTENCE.clear()
        return 17

    def __hash__(self):
        SENTENCE.clear()
        return super().__hash__()


SENTENCE = []


def clear(sentence):
    sentence.clear()
    sentence.extend(range(1000))
    sentence.clear()


def grow(sentence):
    sentence.extend(map(str, range(1000)))


def read(sentence, longest=10_000):
    reader = SentenceReader([sentence], WordIndex(["a", "é"]), max_sentence_length=longest)
    return [block.ids.tolist() for block in iter(lambda: reader.next_block(1000), None)]


@pytest.mark.parametrize("change", [clear, grow])
def test_a_token_may_change_its_sentence_while_it_is_encoded(change):
    sentence = ["a", "a"]
    sentence += [Hostile(sentence, change), "a", "é", "b"] * 30
    assert read(sentence) == [[0, 0, *[0, 1] * 30]]


@pytest.mark.parametrize("change", [clear, grow])
def test_a_token_may_change_its_sentence_while_it_is_counted(change):
    sentence = ["a", "a"]
    sentence += [Hostile(sentence, change), "a", "é"] * 30
    counter = WordCounter()
    counter.count_sentences([sentence])
    counts = counter.counts()
    assert (counter.words, counts["a"], counts["é"], len(counts)) == (92, 32, 30, 3)


def test_pieces_of_a_sentence_that_changes_are_those_it_had_at_first():
    sentence = []
    sentence += ["a", Hostile(sentence, clear), "a", "a"] * 3
    assert read(sentence, longest=3) == [[0] * 9]


def test_strings_of_a_class_of_their_own_are_strings():
    SENTENCE[:] = ["a", HostileString("é"), "a", "a"]
    counter = WordCounter()
    counter.count_sentences([SENTENCE])
    assert counter.counts() == {"a": 3, "é": 1}
    SENTENCE[:] = ["a", HostileString("é"), "a"] * 20
    assert read(SENTENCE) == [[0, 1, 0] * 20]


@pytest.mark.parametrize("chunk_words", [0, -1, 2**31])
def test_blocks_are_no_larger_than_their_positions_can_count(chunk_words):
    with pytest.raises(ValueError, match=str(chunk_words)):
        SentenceReader([["a"]], WordIndex(["a"])).next_block(chunk_words)
