"""The feed: whole epochs, any source, errors that arrive, and threads that end."""

import gzip
import logging
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from densvec._corpus import Sampler
from densvec.corpora import LineSentence, PathLineSentences, Text8Corpus
from densvec.text._words import WordIndex
from densvec.text.feed import Ahead, Feed

WORDS = list("abcdefgh")
INDEX = {word: i for i, word in enumerate(WORDS)}
SENTENCES = st.lists(
    st.lists(st.sampled_from([*WORDS, "unknown", "é"]), min_size=1, max_size=12), max_size=20
)


def sampler(**options):
    return Sampler(
        np.ones(len(WORDS)),
        np.ones(len(WORDS)),
        **{"window": 3, "negative": 2, "pairing": "paired", "seed": 5, **options},
    )


def as_lists(chunks):
    """Everything in the chunks, comparable."""
    return [
        (
            c.tokens.tolist(),
            c.sentences.tolist(),
            c.radii.tolist(),
            c.negatives.tolist(),
            c.number,
            c.epoch,
            c.words,
            c.words_before,
            c.examples,
            c.pairs,
        )
        for c in chunks
    ]


def feed_threads():
    return [thread for thread in threading.enumerate() if thread.name == "densvec-feed"]


@settings(max_examples=60, deadline=None)
@given(
    sentences=SENTENCES,
    chunk_words=st.integers(1, 30),
    longest=st.integers(1, 8),
    epoch=st.integers(0, 3),
    start=st.integers(0, 4),
)
def test_all_sources_of_one_text_give_the_same_chunks(
    tmp_path_factory, sentences, chunk_words, longest, epoch, start
):
    directory = tmp_path_factory.mktemp("sources")
    text = "".join(" ".join(sentence) + "\n" for sentence in sentences).encode()
    (directory / "plain").mkdir()
    (directory / "plain" / "corpus.txt").write_bytes(text)
    (directory / "corpus.txt.gz").write_bytes(gzip.compress(text))
    path = directory / "plain" / "corpus.txt"
    options = {
        "index": WordIndex(INDEX),
        "sampler": sampler(),
        "epoch": epoch,
        "chunk_words": chunk_words,
        "max_sentence_length": longest,
        "start": start,
    }
    expected = as_lists(Feed(corpus_file=path, **options))
    pieces = list(LineSentence(path, longest))
    for source in (
        {"corpus_file": directory / "corpus.txt.gz"},
        {"sentences": pieces},
        {"sentences": tuple(map(tuple, pieces))},
        {"sentences": LineSentence(path, longest)},
        {"sentences": PathLineSentences(path.parent, longest)},
    ):
        assert as_lists(Feed(**source, **options)) == expected
    # Token lists longer than a sentence may be are cut like lines, but each is one example.
    whole = as_lists(Feed(sentences, **options))
    assert [c[:8] for c in whole] == [c[:8] for c in expected]
    if start == 0:
        assert sum(c[8] for c in whole) == len(sentences)


def test_text8_is_fed_as_it_is_iterated(tmp_path):
    path = tmp_path / "text8"
    path.write_text("a b c\nd e f g h a\nb c d e f")
    options = {"index": INDEX, "sampler": sampler(), "chunk_words": 4}
    corpus = Text8Corpus(path, 3)
    assert as_lists(Feed(corpus, **options)) == as_lists(Feed(list(corpus), **options))


def test_start_skips_chunks_of_token_lists_too():
    sentences = [["a", "b", "c"]] * 20
    options = {"index": INDEX, "sampler": sampler(), "chunk_words": 6}
    assert as_lists(Feed(sentences, start=4, **options)) == as_lists(Feed(sentences, **options))[4:]
    assert as_lists(Feed(sentences, start=99, **options)) == []


def test_tokens_that_are_no_strings_are_looked_up():
    index = {7: 0, ("x", 1): 1, "é": 2, "a": 3}
    feed = Feed([[7, "a", "é", ("x", 1), 8, "zz", np.str_("a")]], index=index, sampler=sampler())
    assert next(feed).tokens.tolist() == [0, 3, 2, 1, 3]


@pytest.mark.parametrize("sentences", [[], [[]], [["unknown"]]])
def test_nothing_to_train_on(sentences, tmp_path):
    chunks = list(Feed(sentences, index=INDEX, sampler=sampler()))
    assert all(len(chunk.tokens) == 0 and chunk.pairs == 0 for chunk in chunks)
    assert sum(chunk.examples for chunk in chunks) == len(sentences)
    (tmp_path / "empty").write_text("\n\n")
    assert list(Feed(corpus_file=tmp_path / "empty", index=INDEX, sampler=sampler())) == []


def test_an_exhausted_feed_stays_exhausted():
    for source in ({"sentences": [["a", "b"]]}, {"sentences": []}):
        feed = Feed(**source, index=INDEX, sampler=sampler())
        list(feed)
        with pytest.raises(StopIteration):
            next(feed)


def test_arguments_are_checked(tmp_path):
    options = {"index": INDEX, "sampler": sampler()}
    with pytest.raises(TypeError, match="either"):
        Feed(**options)
    with pytest.raises(TypeError, match="path"):
        Feed(corpus_file=5, **options)
    with pytest.raises(ValueError, match="chunk_words"):
        Feed([["a"]], chunk_words=0, **options)
    with pytest.raises(ValueError, match="max_sentence_length"):
        list(Feed([["a"]], max_sentence_length=0, **options))
    with pytest.raises(FileNotFoundError):
        next(Feed(corpus_file=tmp_path / "missing", **options))
    with pytest.raises(ValueError, match="8"):
        next(Feed([["beyond"]], index={"beyond": 8}, sampler=sampler()))


class TestErrors:
    @pytest.mark.parametrize("error", [OSError("disk"), KeyboardInterrupt(), ValueError("bad line")])
    def test_of_the_corpus_reach_every_caller(self, error):
        class Broken:
            def __iter__(self):
                yield ["a", "b"]
                raise error

        feed = Feed(Broken(), index=INDEX, sampler=sampler(), chunk_words=1)
        assert next(feed).tokens.tolist() == [0, 1]
        for _ in range(3):
            with pytest.raises(type(error)):
                next(feed)
        feed.close()

    def test_of_a_file_reach_every_caller(self, tmp_path):
        path = tmp_path / "latin.txt"
        path.write_bytes(b"a b\n" * 10 + b"\xff\n")
        feed = Feed(LineSentence(path, errors="strict"), index=INDEX, sampler=sampler())
        for _ in range(2):
            with pytest.raises(UnicodeDecodeError):
                next(feed)

    def test_invalid_bytes_are_logged_in_the_first_epoch_only(self, tmp_path, caplog):
        path = tmp_path / "latin.txt"
        path.write_bytes(b"a \xff b\n")
        with caplog.at_level(logging.WARNING, "densvec"):
            for epoch in range(3):
                list(Feed(corpus_file=path, index=INDEX, sampler=sampler(), epoch=epoch))
        assert len(caplog.records) == 1


class TestClosing:
    def test_ends_the_thread_that_waits_for_room(self):
        def endless():
            while True:
                yield ["a", "b"]

        with Feed(endless(), index=INDEX, sampler=sampler(), chunk_words=10, prefetch=2) as feed:
            next(feed)
            assert feed_threads()
        assert not feed_threads()
        with pytest.raises(StopIteration):
            next(feed)

    def test_a_dropped_feed_ends_its_thread(self):
        def endless():
            while True:
                yield ["a", "b"]

        feed = Feed(endless(), index=INDEX, sampler=sampler(), chunk_words=10)
        next(feed)
        del feed
        assert not feed_threads()

    def test_does_not_wait_for_a_corpus_that_hangs(self, monkeypatch, caplog):
        from densvec.text import feed as module

        monkeypatch.setattr(module.Ahead, "PATIENCE", 0.1)
        release = threading.Event()

        def hanging():
            yield ["a", "b"]
            release.wait(30)

        feed = Feed(hanging(), index=INDEX, sampler=sampler(), chunk_words=1)
        next(feed)
        start = time.monotonic()
        feed.close()
        assert time.monotonic() - start < 10
        assert "abandoned" in caplog.text
        release.set()

    def test_wakes_a_worker_that_waits(self):
        release = threading.Event()

        def hanging():
            yield ["a"]
            release.wait(30)

        feed = Feed(hanging(), index=INDEX, sampler=sampler(), chunk_words=1)
        next(feed)
        worker = threading.Thread(target=lambda: list(feed))
        worker.start()
        threading.Timer(0.1, release.set).start()
        feed.close()
        worker.join(10)
        assert not worker.is_alive()

    def test_of_a_file_and_of_an_unused_feed(self, tmp_path):
        path = tmp_path / "corpus.txt"
        path.write_text("a b\n" * 1000)
        for source in ({"corpus_file": path}, {"sentences": [["a"]]}):
            feed = Feed(**source, index=INDEX, sampler=sampler(), chunk_words=10)
            feed.close()
            feed.close()
            with pytest.raises(StopIteration):
                next(feed)


def test_one_thread_iterates_the_corpus():
    """Database cursors and the like must be used by the thread that made them."""
    seen = set()

    class Corpus:
        def __iter__(self):
            seen.add(threading.get_ident())
            for _ in range(200):
                seen.add(threading.get_ident())
                yield ["a", "b", "c"]

    with Feed(Corpus(), index=INDEX, sampler=sampler(), chunk_words=5) as feed:
        workers = [threading.Thread(target=lambda: list(feed)) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    assert len(seen) == 1


def test_memory_does_not_grow_with_the_corpus():
    """A feed that nobody takes from holds a few blocks, not the corpus."""
    taken = 0

    def counting():
        nonlocal taken
        for _ in range(100_000):
            taken += 1
            yield ["a", "b"]

    with Feed(counting(), index=INDEX, sampler=sampler(), chunk_words=10, prefetch=3) as feed:
        next(feed)
        time.sleep(0.2)
        assert taken <= 5 * 6


def names() -> list[str]:
    return [thread.name for thread in threading.enumerate()]


def test_items_come_in_order_and_from_one_other_thread():
    threads = []

    def items():
        for number in range(20):
            threads.append(threading.get_ident())
            yield number

    ahead = Ahead(items, depth=3, name="test-order")
    assert list(iter(ahead.take, None)) == list(range(20))
    assert len(set(threads)) == 1
    assert threads[0] != threading.get_ident()


def test_it_reads_no_further_than_its_depth():
    read = []
    waits = threading.Event()

    def items():
        for number in range(100):
            read.append(number)
            if number == 3:
                waits.set()
            yield number

    ahead = Ahead(items, depth=2, name="test-depth")
    assert ahead.take() == 0
    waits.wait(10)  # items 1 and 2 are ready, 3 is read and waits for room
    assert read == [0, 1, 2, 3]
    assert ahead.close()


def test_an_error_comes_after_the_items_before_it():
    def items():
        yield 1
        raise OSError("the disk is gone")

    ahead = Ahead(items, depth=5, name="test-error")
    assert ahead.take() == 1
    with pytest.raises(OSError, match="the disk is gone"):
        ahead.take()


def test_closing_ends_the_thread_and_wakes_who_waits():
    release = threading.Event()

    def items():
        yield 1
        release.wait(10)

    ahead = Ahead(items, depth=1, name="test-close")
    assert ahead.take() == 1
    found: list[object] = []
    waiting = threading.Thread(target=lambda: found.append(ahead.take()))
    waiting.start()
    threading.Timer(0.05, release.set).start()
    assert ahead.close()
    waiting.join(10)
    assert found == [None]
    assert "test-close" not in names()
    assert ahead.take() is None
