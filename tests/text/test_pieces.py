"""Pieces: whatever their size, they are the corpus; however they are dealt, each goes to one."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from densvec._corpus import Sampler
from densvec.corpora import LineSentence
from densvec.text.feed import Feed
from densvec.text.pieces import chunk_number, deal, piece_of, pieces_of
from densvec.text.source import corpus_paths
from densvec.text.vocabulary import count_words, select


def sentences_of(piece):
    reader = piece.reader()
    found = []
    while (block := reader.next_block(1000)) is not None:
        found += block.sentences()
    return found


@given(
    lines=st.lists(st.text("ab \r", max_size=30), max_size=30),
    piece_bytes=st.integers(1, 200),
    last=st.sampled_from(["", "\n"]),
)
def test_pieces_are_the_lines_of_the_file(tmp_path_factory, lines, piece_bytes, last):
    path = tmp_path_factory.getbasetemp() / "pieces.txt"
    path.write_bytes("\n".join(lines).encode() + last.encode())
    pieces = pieces_of(path, piece_bytes)
    assert [s for piece in pieces for s in sentences_of(piece)] == list(LineSentence(path))
    assert sum(piece.size for piece in pieces) == path.stat().st_size


@given(
    sizes=st.lists(st.integers(0, 100), max_size=40),
    hands=st.integers(1, 7),
    left=st.sets(st.integers(0, 39)),
)
def test_every_piece_is_dealt_once_and_no_hand_has_much_more(sizes, hands, left):
    numbers = sorted(n for n in left if n < len(sizes))
    dealt = deal(sizes, hands, numbers)
    assert sorted(n for hand in dealt for n in hand) == numbers
    loads = [sum(max(1, sizes[n]) for n in hand) for hand in dealt]
    assert max(loads) - min(loads) <= max((max(1, sizes[n]) for n in numbers), default=0)


@given(
    sizes=st.lists(st.integers(0, 100), min_size=1, max_size=40),
    hands=st.integers(2, 7),
    ahead=st.integers(1, 500),
)
def test_a_hand_that_is_ahead_has_the_first_pieces_and_ends_with_the_others(sizes, hands, ahead):
    sizes = [max(1, size) for size in sizes]
    dealt = deal(sizes, hands, ahead=ahead)
    assert sorted(n for hand in dealt for n in hand) == list(range(len(sizes)))
    alone = next((n for n in range(len(sizes)) if sum(sizes[:n]) >= ahead), len(sizes))
    assert dealt[0][:alone] == list(range(alone))
    loads = [sum(sizes[n] for n in hand) for hand in dealt]
    loads[0] -= ahead
    if min(loads) >= 0:  # else all went to the first hand, or there was too little for the others
        assert max(loads) - min(loads) <= max(sizes)


@given(st.integers(0, 1 << 30), st.integers(0, (1 << 24) - 1))
def test_a_chunk_knows_its_piece(piece, chunk):
    assert piece_of(chunk_number(piece, chunk)) == (piece, chunk)


class TestCorpusFiles:
    """A list, a directory and a pattern are read as their files one after the other."""

    @pytest.fixture
    def directory(self, tmp_path):
        (tmp_path / "b.txt").write_text("b a c\nc d\n", encoding="utf-8")
        (tmp_path / "a.txt").write_text("a b b\n", encoding="utf-8")  # without c and d
        with gzip.open(tmp_path / "c.txt.gz", "wt", encoding="utf-8") as file:
            file.write("d d e")
        return tmp_path

    ALL = "abbbaccddde"

    @pytest.mark.parametrize("workers", [1, 4])
    @pytest.mark.parametrize("form", ["directory", "pattern", "list"])
    def test_all_forms_count_alike(self, directory, form, workers):
        forms = {
            "directory": directory,
            "pattern": str(directory / "*.txt*"),
            "list": [directory / "[ab].txt", str(directory / "c.txt.gz")],
        }
        raw = count_words(corpus_file=forms[form], workers=workers)
        assert raw.counts == {word: self.ALL.count(word) for word in dict.fromkeys(self.ALL)}
        assert list(raw.counts) == list(dict.fromkeys(self.ALL))
        assert raw.sentence_count == 4
        words = list(raw.counts)
        sampler = Sampler([1.0] * len(words), [1.0] * len(words), window=2, seed=1)
        index = {word: i for i, word in enumerate(words)}
        with Feed(corpus_file=forms[form], index=index, sampler=sampler) as feed:
            assert [words[i] for chunk in feed for i in chunk.tokens] == list(self.ALL)

    def test_plain_files_are_counted_in_parallel(self, directory, monkeypatch):
        monkeypatch.setattr("densvec.text.vocabulary.LEAST_BYTES", 1)
        for order in (["a.txt", "b.txt"], ["b.txt", "a.txt"]):
            paths = [directory / name for name in order]
            alone, together = (select(count_words(corpus_file=paths, workers=n), min_count=1) for n in (1, 5))
            assert alone.words == together.words
            assert alone.counts.tolist() == together.counts.tolist()

    def test_a_file_whose_name_looks_like_a_pattern_is_that_file(self, tmp_path):
        odd = tmp_path / "odd[1].txt"
        odd.write_text("x", encoding="utf-8")
        (tmp_path / "odd1.txt").write_text("y", encoding="utf-8")
        assert corpus_paths(odd) == [str(odd)]

    def test_nothing_to_read_is_said(self, tmp_path):
        with pytest.raises(FileNotFoundError, match="matches no file"):
            corpus_paths(str(tmp_path / "*.txt"))
        with pytest.raises(ValueError, match="directory without files"):
            corpus_paths(tmp_path)
        with pytest.raises(ValueError, match="empty list"):
            corpus_paths([])
        with pytest.raises(TypeError, match="a path"):
            corpus_paths([3])
