"""Raw text: words and sentences, and what a text looks like."""

import io
import logging
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from densvec import BayesianSkipGram
from densvec.corpora import LineSentence, RawText
from densvec.text._raw import JOINERS, JOINING_MARKS, Tokeniser, tokenised
from densvec.text.raw import looks_raw, looks_unspaced, looks_wrapped
from densvec.text.source import text_reader


def in_pieces(text, size, **options):
    """What a tokeniser makes of a text that comes in pieces."""
    tokeniser = Tokeniser(**options)
    pieces = [text[i : i + size] for i in range(0, len(text), size)]
    return "".join([*map(tokeniser.feed, pieces), tokeniser.feed("", final=True)])


def sentences(text, **options):
    return list(RawText(io.BytesIO(text.encode()), **options))


def expected_tokens(text):
    """Words by a regular expression: letters, marks and digits with a letter, joiners inside."""
    text = text.replace("\u00ad", "")

    def kind(character):
        category = unicodedata.category(character)[0]
        if character in JOINERS:
            return "j"
        if character in JOINING_MARKS or category == "M":
            return "m"
        return {"L": "l", "N": "d"}.get(category, "x")

    kinds = "".join(map(kind, text))
    found = []
    for match in re.finditer(r"[ld](?:j?[ldm])*", kinds):
        word = text[match.start() : match.end()]
        if "l" in match[0]:
            found.append("".join({"’": "'", "\u2010": "-", "\u2011": "-"}.get(c, c.lower()[0]) for c in word))
    return found


letters = st.text(
    alphabet=st.characters(categories=["Lu", "Ll", "Lo", "Mn", "Nd", "Zs"], exclude_characters="Σ.,")
    | st.sampled_from("aB'’-_ \n!?\u00ad")
)


class TestWords:
    @given(letters)
    def test_against_a_regular_expression(self, text):
        assert tokenised(text) == expected_tokens(text)

    @given(letters | st.text(), st.integers(1, 40))
    def test_pieces_make_no_difference(self, text, size):
        assert in_pieces(text, size) == Tokeniser().feed(text, final=True)

    @given(st.binary())
    def test_any_bytes_give_text(self, data):
        list(RawText(io.BytesIO(data), encoding="utf-8"))

    def test_apostrophes_and_hyphens_inside_words(self):
        found = tokenised("Don’t 'quote' the dogs' well-known rock'n'roll -- or a__b, _c_")
        assert found == ["don't", "quote", "the", "dogs", "well-known", "rock'n'roll", "or", "a", "b", "c"]

    def test_numbers(self):
        text = "In 1999, 3.14 and 1,000 were b2b, covid-19 2.5x."
        assert tokenised(text) == ["in", "and", "were", "b2b", "covid-19", "2.5x"]
        kept = tokenised(text, keep_numbers=True)
        assert kept == ["in", "1999", "3.14", "and", "1,000", "were", "b2b", "covid-19", "2.5x"]

    def test_scripts(self):
        text = "ΟΔΟΣ İstanbul Straße e\u0301te\u0301 हिन्दी می\u200cرفتم Мир soft\u00adhyphen"
        assert tokenised(text) == [
            *("οδος", "istanbul", "straße", "e\u0301te\u0301", "हिन्दी", "می\u200cرفتم", "мир", "softhyphen")
        ]

    def test_capitals_may_stay(self):
        assert tokenised("Mr. McDonald", lower=False) == ["Mr", "McDonald"]

    def test_a_word_without_end_is_cut(self):
        assert sum(map(len, tokenised("x" * 100_000))) == 100_000


class TestSentences:
    def test_where_they_end(self):
        text = 'Mr. J. Smith left. "Stop!" he cried. In 1990. Why? 3.5 of them... No'
        assert [" ".join(each) for each in sentences(text)] == [
            *("mr j smith left", "stop he cried", "in", "why", "of them", "no")
        ]

    def test_blank_lines_and_line_ends(self):
        text = "Chapter one\n\nIt was a dark\nand stormy night"
        assert len(sentences(text, wrapped=True)) == 2
        assert len(sentences(text, wrapped=False)) == 3

    def test_chinese_full_stops(self):
        assert len(sentences("日本。中国。")) == 2

    def test_the_text_decides_about_line_ends(self):
        wrapped = "It was a dark and\nstormy night; the rain\nfell in torrents. And\nso on it went\n"
        assert looks_wrapped(wrapped)
        assert sentences(wrapped)[0][-1] == "torrents"


class TestRawText:
    def test_training_reads_it_in_native_code(self, tmp_path):
        (tmp_path / "book.txt").write_text("The Kiwi, a bird, isn't ripe. The Kiwi is a fruit!\n" * 40)
        corpus = RawText(tmp_path / "book.txt")
        assert text_reader(corpus) is not None
        options = {"vector_size": 4, "epochs": 1, "workers": 1, "sample": 0, "seed": 1}
        model = BayesianSkipGram(corpus, **options)
        assert set(model.wv.index_to_key) == {"the", "kiwi", "a", "bird", "isn't", "ripe", "is", "fruit"}
        again = BayesianSkipGram(list(corpus), **options)
        assert (model.wv.vectors == again.wv.vectors).all()

    def test_directories_lists_and_compression(self, tmp_path):
        import gzip

        (tmp_path / "b.txt").write_text("Second file.")
        with gzip.open(tmp_path / "a.txt.gz", "wt") as file:
            file.write("First file.")
        expected = [["first", "file"], ["second", "file"]]
        assert list(RawText(tmp_path)) == expected
        assert list(RawText([tmp_path / "a.txt.gz", tmp_path / "b.txt"])) == expected

    @pytest.mark.parametrize("tokenize", ["simple", "none", r"regex:\w+", str.split])
    def test_encodings(self, tokenize):
        text = "Le café crème\n" * 3000
        source = io.BytesIO(text.encode("cp1252"))
        assert list(RawText(source, tokenize=tokenize, encoding="cp1252"))[2999] == ["le", "café", "crème"]

    @pytest.mark.parametrize("head", ["", "<html><body>", "*** START OF THE PROJECT GUTENBERG EBOOK"])
    def test_what_is_not_utf_8_is_said_once_of_each_file(self, tmp_path, caplog, head):
        text = f"{head}\n".encode() + "Un café crème.\n\n".encode() * 5
        (tmp_path / "a.txt").write_bytes(text + b"Une m\xe8re.")
        (tmp_path / "b.txt").write_bytes(text)
        with caplog.at_level(logging.WARNING):
            for _ in range(2):
                found = list(RawText(tmp_path))
        assert ["un", "café", "crème"] in found
        assert ["une", "m", "re"] in found
        [record] = caplog.records
        assert "a.txt: 1 byte sequences were not UTF-8" in record.getMessage()

    @pytest.mark.parametrize("tokenize", ["simple", "auto", str.split])
    def test_a_file_of_windows_among_others(self, tmp_path, caplog, tokenize):
        (tmp_path / "a.txt").write_bytes("Un café, messieurs.\n".encode("cp1252"))
        (tmp_path / "b.txt").write_bytes("Un café, messieurs.\n".encode())
        with caplog.at_level(logging.WARNING):
            first, second = RawText(tmp_path, tokenize=tokenize)
        assert first == second
        assert "café" in first or "café," in first
        assert "a.txt is not UTF-8, and read as cp1252" in caplog.text
        assert "b.txt" not in caplog.text
        with pytest.raises(UnicodeDecodeError):
            list(RawText(io.BytesIO(b"caf\xe9"), errors="strict"))

    def test_a_replacement_character_is_no_fault(self, caplog):
        text = "the \ufffd sign"
        with caplog.at_level(logging.WARNING):
            assert list(RawText(io.BytesIO(text.encode()))) == [["the", "sign"]]
        assert not caplog.records

    def test_functions_and_expressions(self):
        assert sentences("A-b C\nD", tokenize=r"regex:[a-z]") == [["a", "b", "c"], ["d"]]
        assert sentences("A-b C\nD", tokenize=lambda line: line.split("-"), lower=False) == [
            ["A", "b_C"],
            ["D"],
        ]
        assert sentences("A b.\n", tokenize="none", lower=False) == [["A", "b."]]
        with pytest.raises(ValueError, match="tokenize='nltk': use 'simple'"):
            RawText("x.txt", tokenize="nltk")


class TestLooks:
    def test_raw_or_not(self):
        assert looks_raw("It was Israel. Then came Australia, and so on.")
        assert not looks_raw("it was israel then came australia and so on")
        assert not looks_raw("It was Israel . Then came Australia , and so on .")
        assert not looks_raw("")

    def test_scripts_without_blanks(self):
        assert looks_unspaced("吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。")
        assert looks_unspaced("ภาษาไทยเป็นภาษาที่มีระดับเสียงของคำแน่นอน")
        assert not looks_unspaced("한국어는 띄어쓰기를 한다 그래서 괜찮다")


def test_line_sentences_name_the_remedy(caplog):
    with caplog.at_level(logging.WARNING):
        list(LineSentence(io.BytesIO("un café\n".encode("latin-1"))))
    assert "cp1252" in caplog.text


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_of_an_open_file_is_no_text(caplog, encoding):
    assert list(RawText(io.BytesIO("The cat.".encode(encoding)))) == [["the", "cat"]]
    assert not caplog.messages
