"""Training on several ranks that was stopped: whoever goes on, nothing is trained twice or left out."""

import pytest

from densvec import BayesianSkipGram
from densvec.training.settings import Rates
from tests.distributed.cases import QUICK, Trouble, everything, fail, interrupt, start
from tests.distributed.ranks import run_ranks


def interrupted(corpus, path, exchange_words=2000, chunks=45):
    """Stop in the second epoch because of one rank; rank 0 saves, as `densvec train` does."""
    start(exchange_words)
    from densvec import distributed

    model = BayesianSkipGram(**QUICK)
    model.build_vocab(corpus_file=corpus)
    try:
        model.train(callbacks=[Trouble(1, chunks, interrupt)])
    except KeyboardInterrupt:
        if distributed.is_main():
            model.save(path)
    return everything(model)[:2]


def go_on(path):
    start()
    from densvec import distributed

    model = distributed.load(BayesianSkipGram, path)
    return everything(model.train())


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_any_number_of_ranks_goes_on_where_others_were_interrupted(corpus, stopped, ranks):
    results = run_ranks(go_on, ranks, stopped)
    assert all(result == results[0] for result in results)
    words = sum(len(line.split()) for line in corpus.open(encoding="utf-8"))
    assert [entry[4] for entry in results[0][1]] == [words, words]  # nothing twice, nothing left out


@pytest.fixture(scope="module")
def stopped(corpus, tmp_path_factory):
    path = tmp_path_factory.mktemp("stopped") / "model.dv"
    results = run_ranks(interrupted, 3, corpus, path)
    assert all(result == results[0] for result in results)
    assert len(results[0][1]) == 1, "it was to stop in the second epoch"
    run = BayesianSkipGram.load(path)._run
    assert run.position.pieces is not None
    assert run.tally.words > 0
    return path


def test_what_was_begun_in_small_chunks_is_finished_in_them(corpus, tmp_path):
    path = tmp_path / "model.dv"
    results = run_ranks(interrupted, 3, corpus, path, 200, 100)
    assert all(result == results[0] for result in results)
    run = BayesianSkipGram.load(path)._run
    assert run.position.pieces["chunk_words"] == 200  # and 500 otherwise
    assert run.position.pieces["ledger"]["begun"]
    words = sum(len(line.split()) for line in corpus.open(encoding="utf-8"))
    for ranks in (1, 2):
        result, *others = run_ranks(go_on, ranks, path)
        assert all(other == result for other in others)
        assert [entry[4] for entry in result[1]] == [words, words]


def test_a_file_that_does_not_say_how_large_chunks_were_can_go_on(corpus, stopped, tmp_path):
    model = BayesianSkipGram.load(stopped)
    assert model._run.position.pieces.pop("chunk_words") == 500
    model.save(tmp_path / "earlier.dv")
    results = run_ranks(go_on, 2, tmp_path / "earlier.dv")
    words = sum(len(line.split()) for line in corpus.open(encoding="utf-8"))
    assert [[entry[4] for entry in result[1]] for result in results] == [[words, words]] * 2


@pytest.mark.parametrize("chunk_words", [0, -1, "many", 1.5, 1 << 40])
def test_chunks_of_an_impossible_size_cannot_be_loaded(stopped, tmp_path, chunk_words):
    model = BayesianSkipGram.load(stopped)
    model._run.position.pieces["chunk_words"] = chunk_words
    with pytest.raises(ValueError, match="could not be loaded: the header's chunk_words is"):
        model.save(tmp_path / "wrong.dv")


def rates_of_the_rest(path, saved):
    """Go on, and save in the middle; return the encoder's rates of this rank, by epoch."""
    start()
    from densvec import distributed
    from densvec.distributed.loop import RankLoop

    rates, count = {}, RankLoop._count

    def watched(self, chunks, result, at_rest):
        rates.setdefault(self.run.epoch, set()).add(self.backend.rates.encoder)
        count(self, chunks, result, at_rest)

    RankLoop._count = watched
    model = distributed.load(BayesianSkipGram, path)
    model.train(callbacks=[Trouble(0, 5, lambda model: model.save(saved))])
    return rates


def begin_alone(corpus, path, chunks):
    """Let one process train some chunks of the first epoch, and save what it has."""
    model = BayesianSkipGram(**QUICK)
    model.build_vocab(corpus_file=corpus)
    with pytest.raises(KeyboardInterrupt):
        model.train(callbacks=[Trouble(0, chunks, interrupt)])
    model.save(path)


def test_the_encoder_learns_as_ever_while_rank_0_finishes_an_epoch_alone(corpus, tmp_path):
    begin_alone(corpus, tmp_path / "model.dv", 5)
    first, second = run_ranks(rates_of_the_rest, 2, tmp_path / "model.dv", tmp_path / "saved.dv")
    alone, together = {Rates().encoder}, {2**0.5 * Rates().encoder}
    assert first == {0: alone, 1: together}
    assert second == {1: together}
    saved = BayesianSkipGram.load(tmp_path / "saved.dv")._run
    assert saved.position.pieces is None  # it can still be finished by one
    assert saved.tally.chunks >= 10


def test_what_one_process_began_several_finish(corpus, tmp_path):
    begin_alone(corpus, tmp_path / "model.dv", 20)
    first, second = run_ranks(go_on, 2, tmp_path / "model.dv")
    assert first == second
    words = sum(len(line.split()) for line in corpus.open(encoding="utf-8"))
    assert [entry[4] for entry in first[1]] == [words, words]


def checkpointed(corpus, path):
    start()

    def save(model):
        model.save(path)

    trouble = Trouble(0, 25, save)
    return everything(BayesianSkipGram(corpus_file=corpus, callbacks=[trouble], **QUICK))


def test_a_model_saved_by_rank_0_in_the_middle_can_go_on(corpus, tmp_path):
    path = tmp_path / "middle.dv"
    first, second = run_ranks(checkpointed, 2, corpus, path)
    assert first == second
    words = sum(len(line.split()) for line in corpus.open(encoding="utf-8"))
    assert [entry[4] for entry in first[1]] == [words, words]
    run = BayesianSkipGram.load(path)._run
    assert not run.finished
    assert 0 < run.tally.words < words
    (result,) = run_ranks(go_on, 1, path)
    assert [entry[4] for entry in result[1]] == [words, words]


def test_a_corpus_that_changed_in_the_middle_of_an_epoch_is_noticed(corpus, stopped, tmp_path):
    copy = tmp_path / "copy.txt"
    copy.write_text(corpus.read_text(encoding="utf-8")[: 1 << 16], encoding="utf-8")
    model = BayesianSkipGram.load(stopped)
    with pytest.raises(ValueError, match="not the one that training was interrupted on"):
        model.train(corpus_file=copy, resume=True)
    copy.write_text(corpus.read_text(encoding="utf-8").replace("kiwi", "owls"), encoding="utf-8")
    model = BayesianSkipGram.load(stopped)
    with pytest.raises(ValueError, match="with other words"):
        model.train(corpus_file=copy, resume=True)


def go_on_into_trouble(path, saved, act):
    """Stop while rank 0 finishes alone what one process began; it saves what it can."""
    start()
    from densvec import distributed

    model = distributed.load(BayesianSkipGram, path)
    try:
        model.train(callbacks=[Trouble(0, 3, act)])
    except KeyboardInterrupt:
        if distributed.is_main():
            model.save(saved)
    return everything(model)


@pytest.mark.parametrize("ranks", [1, 2])
def test_an_interrupt_while_rank_0_is_alone_loses_nothing(corpus, tmp_path, ranks):
    begun, saved = tmp_path / "begun.dv", tmp_path / "saved.dv"
    begin_alone(corpus, begun, 5)
    first, second = run_ranks(go_on_into_trouble, 2, begun, saved, interrupt)
    assert first[0] == second[0]  # the one that waited has what the other had learnt
    results = run_ranks(go_on, ranks, saved)
    assert all(result == results[0] for result in results)
    words = sum(len(line.split()) for line in corpus.open(encoding="utf-8"))
    assert [entry[4] for entry in results[0][1]] == [words] * 2


def test_an_error_while_rank_0_is_alone_reaches_those_that_wait(corpus, tmp_path):
    begin_alone(corpus, tmp_path / "begun.dv", 5)
    first, second = run_ranks(go_on_into_trouble, 2, tmp_path / "begun.dv", tmp_path / "none.dv", fail)
    assert first == ("OSError", "the disk is gone")
    assert second[0] == "RankError"
    assert "rank 0 failed: OSError: the disk is gone" in second[1]
