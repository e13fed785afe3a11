"""Training on several ranks: they end with one model, which has learnt what one process learns."""

import contextlib

import numpy as np
import pytest

from densvec import BayesianSkipGram, SkipGram, Word2Gauss
from densvec.callbacks import Callback
from densvec.datasets import toy_language
from densvec.training.backend import UnstableTrainingError
from tests.distributed.ranks import run_ranks

MODEL = {
    "vector_size": 20,
    "sample": 1e-2,
    "alpha": 0.05,
    "epochs": 10,
    "workers": 1,
    "batch_words": 500,
}
QUICK = {**MODEL, "epochs": 2, "vector_size": 8}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "toy.txt"
    path.write_text("".join(" ".join(s) + "\n" for s in toy_language(5000)), encoding="utf-8")
    return path


def start(exchange_words=2000):
    """Let ranks exchange often, and cut the small corpus into several pieces."""
    from densvec import distributed
    from densvec.text import pieces

    pieces.LEAST_BYTES = 1 << 13
    distributed.init(exchange_words=exchange_words, timeout=60)


def everything(model):
    """Return all that training gave, as bytes and numbers."""
    arrays = {name: np.asarray(array).tobytes() for name, array in model._arrays().items()}
    history = [(e.epoch, e.loss, e.hinge, e.kl, e.words, e.running_loss) for e in model.loss_history]
    return arrays, history, (model.epochs_trained, model._run.tally.words)


def train(corpus, kind="bsg", **options):
    start()
    kinds = {"bsg": BayesianSkipGram, "skipgram": SkipGram, "word2gauss": Word2Gauss}
    return everything(kinds[kind](corpus_file=corpus, **{**QUICK, **options}))


def train_kinds(corpus):
    return {
        "bsg": train(corpus),
        "again": train(corpus),
        "two workers": train(corpus, workers=2),
        "skipgram": train(corpus, "skipgram"),
        "word2gauss": train(corpus, "word2gauss"),
        "diagonal": train(corpus, covariance="diagonal", alpha=0.02),
        "torch": train(corpus, backend="torch", device="cpu", epochs=1),
    }


def save(corpus, path):
    start()
    from densvec import distributed

    model = BayesianSkipGram(corpus_file=corpus, **MODEL)
    if distributed.is_main():
        model.save(path)
    return everything(model)


@pytest.mark.parametrize("ranks", [2, 3])
def test_ranks_end_with_one_model_that_knows_senses_and_hypernyms(corpus, tmp_path, ranks):
    results = run_ranks(save, ranks, corpus, tmp_path / "model.dv")
    assert all(result == results[0] for result in results)
    model = BayesianSkipGram.load(tmp_path / "model.dv")
    words = sum(len(line.split()) for line in corpus.open(encoding="utf-8"))
    assert [entry.words for entry in model.loss_history] == [words] * 10
    bird = model.infer_posterior("kiwi", "the flightless shy kiwi digs near the forest")
    fruit = model.infer_posterior("kiwi", "the ripe fuzzy kiwi softens near the smoothie")
    owl, apple = model.wv.density("owl"), model.wv.density("apple")
    assert bird.kl(owl) < fruit.kl(owl)
    assert fruit.kl(apple) < bird.kl(apple)
    assert model.wv.generality("animal") > model.wv.generality("kakapo")


def test_every_model_and_backend_ends_equal_on_all_ranks(corpus):
    first, second = run_ranks(train_kinds, 2, corpus)
    assert isinstance(first, dict), first
    for kind in first:
        assert first[kind] == second[kind], kind
        assert all(np.isfinite(entry[1]) for entry in first[kind][1]), kind
    assert first["again"] == first["bsg"]  # one worker on each rank: the same bits


def test_one_rank_is_training_as_ever(corpus):
    alone = {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "1"}
    under_torchrun = run_ranks(train, 1, corpus, environment=alone)
    assert under_torchrun == [everything(BayesianSkipGram(corpus_file=corpus, **QUICK))]


def beginning(corpus, epochs):
    """Return what all ranks had trained before the first step here and when they met, and the tables they met with."""
    start()
    from densvec.distributed.exchange import Exchange
    from densvec.distributed.training import TogetherBackend

    begun, met = [], []
    step, follow = TogetherBackend.step, Exchange.follow

    def watched_step(self, chunk, alpha, worker=0):
        begun.append(self._all.words)
        return step(self, chunk, alpha, worker)

    def watched_follow(self, report, document):
        reports, documents = follow(self, report, document)
        met.append(
            ([each.numbers[1] for each in reports], *(t.numpy().tobytes() for t in self._shared.all()))
        )
        return reports, documents

    TogetherBackend.step, Exchange.follow = watched_step, watched_follow
    model = BayesianSkipGram(corpus_file=corpus, **{**QUICK, "epochs": epochs})
    met_first = len(met)
    model.train(corpus_file=corpus, total_words=model.corpus_total_words, epochs=1)
    return begun[0], met[:met_first], len(met) - met_first, model.corpus_total_words


def encoder_factors(corpus):
    """Return by what this rank multiplies the encoder's rate, in the order of its steps."""
    start()
    from densvec.distributed.training import TogetherBackend

    factors, step = [], TogetherBackend.step

    def watched_step(self, chunk, alpha, worker=0):
        factors.append(self._inner.encoder_factor)
        return step(self, chunk, alpha, worker)

    TogetherBackend.step = watched_step
    BayesianSkipGram(corpus_file=corpus, **{**QUICK, "epochs": 4})
    return factors


def test_the_encoder_learns_faster_on_several_ranks(corpus):
    first, second = run_ranks(encoder_factors, 2, corpus)
    alone = first.count(1.0)
    assert 0 < alone < len(first)
    assert first == [1.0] * alone + [2**0.5] * (len(first) - alone)
    assert second == [2**0.5] * len(second)


def weights_of_many_ranks(corpus, path, stop):
    """Return, for each step, the encoder's pace and what its changes count, the words of a round, and the model."""
    start()
    from densvec import distributed
    from densvec.distributed.training import TogetherBackend

    paces, step = set(), TogetherBackend.step

    def watched_step(self, chunk, alpha, worker=0):
        if not self._alone:
            inner, gain = self._inner, self._exchange.weights.gain
            paces.add((inner.encoder_factor, inner.encoder_ranks, gain, self._round_words))
        return step(self, chunk, alpha, worker)

    TogetherBackend.step = watched_step
    if stop:
        model = BayesianSkipGram(**{**QUICK, "batch_words": 2000})
        model.build_vocab(corpus_file=corpus)
        try:
            model.train(callbacks=[Trouble(0, 3, interrupt)])
        except KeyboardInterrupt:
            if distributed.is_main():
                model.save(path)
    else:
        model = distributed.load(BayesianSkipGram, path)
        model.train()
    return sorted(paces), everything(model)


def test_many_ranks_add_up_the_weights_and_average_them_in_what_fewer_began(corpus, tmp_path):
    path = tmp_path / "begun.dv"
    results = run_ranks(weights_of_many_ranks, 5, corpus, path, True)
    assert all(result[1][0] == results[0][1][0] for result in results)
    results = run_ranks(weights_of_many_ranks, 5, corpus, path, False)
    assert all(result == results[0] for result in results)
    assert results[0][0] == [(1.0, 5, 5, 500)]
    fewer = run_ranks(weights_of_many_ranks, 2, corpus, path, True)
    assert fewer[0][1][0] == fewer[1][1][0]
    results = run_ranks(weights_of_many_ranks, 5, corpus, path, False)
    assert all(result == results[0] for result in results)
    assert results[0][0] == [(1.0, 5, 5, 500), (5**0.5, 1, 1, 500)]


def test_rank_0_begins_alone(corpus):
    results = run_ranks(beginning, 3, corpus, 4)
    words = results[0][3]
    alone = words * 4 // 20
    assert [begun for begun, *_ in results] == [
        0,
        *[results[0][1][0][0][0]] * 2,
    ]  # others when it has trained
    for _, met, later, _ in results:
        assert met == results[0][1]  # once, with the same tables everywhere
        assert len(met) == 1
        assert later == 0  # not again when the model is trained on
        (trained, *waited), *_ = met[0]
        assert alone <= trained < alone + 1000
        assert waited == [0, 0]


def trouble_at_once(corpus, path, act):
    """Stop while rank 0 is alone; it saves what it can."""
    start()
    from densvec import distributed

    model = BayesianSkipGram(**{**QUICK, "epochs": 4})
    model.build_vocab(corpus_file=corpus)
    try:
        model.train(callbacks=[Trouble(0, 3, act)])
    except KeyboardInterrupt:
        if distributed.is_main():
            model.save(path)
    return everything(model)


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_an_interrupt_while_rank_0_is_alone_loses_nothing(corpus, tmp_path, ranks):
    path = tmp_path / "begun.dv"
    first, second = run_ranks(trouble_at_once, 2, corpus, path, interrupt)
    assert first[0] == second[0]  # the one that waited has what the other had learnt
    results = run_ranks(go_on, ranks, path)
    assert all(result == results[0] for result in results)
    words = sum(len(line.split()) for line in corpus.open(encoding="utf-8"))
    assert [entry[4] for entry in results[0][1]] == [words] * 4


def test_an_error_while_rank_0_is_alone_reaches_those_that_wait(corpus, tmp_path):
    first, second = run_ranks(trouble_at_once, 2, corpus, tmp_path / "none.dv", fail)
    assert first == ("OSError", "the disk is gone")
    assert second[0] == "RankError"
    assert "rank 0 failed: OSError: the disk is gone" in second[1]


def opt_out(corpus):
    start()
    return everything(BayesianSkipGram(corpus_file=corpus, distributed=False, **QUICK))


def test_opting_out_trains_on_each_rank_alone(corpus):
    alone = everything(BayesianSkipGram(corpus_file=corpus, **QUICK))
    assert run_ranks(opt_out, 2, corpus) == [alone, alone]


def test_a_process_alone_cannot_insist_on_others():
    with pytest.raises(RuntimeError, match="start the script with torchrun"):
        BayesianSkipGram([["a", "b"]] * 9, min_count=1, distributed=True)


def words_between_exchanges(corpus, exchange_words):
    """Train with as many workers as the rank's number says; return what was agreed on."""
    from densvec import distributed
    from densvec.distributed import training

    distributed.init(exchange_words=exchange_words, timeout=60)
    agreed, backend = [], training.TogetherBackend

    def noted(*args, **words):
        agreed.append((words["exchange_words"], words["chunk_words"]))
        return backend(*args, **words)

    training.TogetherBackend = noted
    BayesianSkipGram(corpus_file=corpus, **{**QUICK, "workers": 1 + distributed.rank(), "epochs": 1})
    return agreed


@pytest.mark.parametrize(
    ("given", "expected"), [(None, (200_000, 500)), (3000, (3000, 500)), (300, (300, 150)), (1, (1, 1))]
)
def test_ranks_exchange_after_so_many_words_of_each_worker_unless_told(corpus, given, expected):
    assert run_ranks(words_between_exchanges, 2, corpus, given) == [[expected]] * 2


def tiny(path):
    start()
    return everything(BayesianSkipGram(corpus_file=path, **{**QUICK, "min_count": 1, "sample": 0}))


def test_a_corpus_smaller_than_the_ranks(tmp_path):
    path = tmp_path / "tiny.txt"
    path.write_text("a b c\nb c d\n", encoding="utf-8")
    results = run_ranks(tiny, 3, path)
    assert all(result == results[0] for result in results)
    assert [entry[4] for entry in results[0][1]] == [6, 6]


def shares(sentences, again):
    start()
    from densvec import distributed

    own = sentences[distributed.rank() :: distributed.world_size()]
    model = BayesianSkipGram(own, **QUICK)
    result = everything(model)
    if again:
        model.train(own, total_examples=model.corpus_count, epochs=1)
        return result, everything(model)
    return result


def test_shares_of_token_lists(corpus):
    sentences = list(toy_language(1500))
    (first, more), (second, also) = run_ranks(shares, 2, sentences, True)
    assert first == second
    assert more == also
    assert [entry[4] for entry in more[1]] == [sum(map(len, sentences))] * 3


def differ(corpus):
    start()
    from densvec import distributed

    BayesianSkipGram(corpus_file=corpus, **{**QUICK, "seed": 1 + distributed.rank()})


def test_ranks_with_different_models_are_told_so(corpus):
    for name, text in run_ranks(differ, 2, corpus):
        assert name == "RankError"
        assert "rank 1 has a different model from rank 0" in text
        assert "seed is 2, not 1" in text


class Trouble(Callback):
    """Do something on one rank after a number of chunks."""

    def __init__(self, rank, chunks, act):
        self.rank, self.chunks, self.act = rank, chunks, act

    def on_batch_end(self, model):
        from densvec import distributed

        if distributed.rank() == self.rank:
            self.chunks -= 1
            if not self.chunks:
                self.act(model)


def fail(model):
    raise OSError("the disk is gone")


def interrupt(model):
    raise KeyboardInterrupt


def broken(corpus):
    start()
    BayesianSkipGram(corpus_file=corpus, callbacks=[Trouble(1, 9, fail)], **QUICK)


def test_an_error_on_one_rank_ends_all_with_its_sentence(corpus):
    results = run_ranks(broken, 3, corpus)
    assert [name for name, _ in results] == ["RankError", "OSError", "RankError"]
    assert all("the disk is gone" in text for _, text in results)
    assert "rank 1 failed" in results[0][1]


def save_after_an_error(corpus, path):
    """Save what an error left behind, as one would after a SIGTERM that comes while it is being raised."""
    start()
    model = BayesianSkipGram(**QUICK)
    model.build_vocab(corpus_file=corpus)
    with contextlib.suppress(OSError, RuntimeError):
        model.train(callbacks=[Trouble(1, 9, fail)])
    sentences = []
    for attempt in (lambda: model.save(path), model.train):
        with pytest.raises(RuntimeError) as caught:
            attempt()
        sentences.append(str(caught.value))
    return sentences


def test_a_rank_that_could_not_agree_with_the_others_is_not_saved(corpus, tmp_path):
    path = tmp_path / "model.dv"
    for sentences in run_ranks(save_after_an_error, 2, corpus, path):
        assert all("load the last checkpoint instead" in sentence for sentence in sentences)
    assert not path.exists()


def diverge(corpus, path):
    start()
    model = BayesianSkipGram(**QUICK)
    model.build_vocab(corpus_file=corpus)
    try:
        model.train(callbacks=[Trouble(0, 45, blow_up)])
    except UnstableTrainingError:
        model.save(path)


def blow_up(model):
    raise UnstableTrainingError("as if")


def test_a_model_that_diverged_on_one_rank_is_the_last_that_all_agreed_on(corpus, tmp_path):
    path = tmp_path / "model.dv"
    run_ranks(diverge, 2, corpus, path)
    model = BayesianSkipGram.load(path)
    assert model._run.shared is None
    assert model._run.tally.words == 0
    words = sum(len(line.split()) for line in corpus.open(encoding="utf-8"))
    assert [entry.words for entry in model.train().loss_history] == [words] * 2


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
    assert run.shared is not None
    assert run.tally.words > 0
    return path


def test_what_was_begun_in_small_chunks_is_finished_in_them(corpus, tmp_path):
    path = tmp_path / "model.dv"
    results = run_ranks(interrupted, 3, corpus, path, 200, 100)
    assert all(result == results[0] for result in results)
    run = BayesianSkipGram.load(path)._run
    assert run.shared["chunk_words"] == 200  # and 500 otherwise
    assert run.shared["ledger"]["begun"]
    words = sum(len(line.split()) for line in corpus.open(encoding="utf-8"))
    for ranks in (1, 2):
        result, *others = run_ranks(go_on, ranks, path)
        assert all(other == result for other in others)
        assert [entry[4] for entry in result[1]] == [words, words]


def test_a_file_that_does_not_say_how_large_chunks_were_can_go_on(corpus, stopped, tmp_path):
    model = BayesianSkipGram.load(stopped)
    assert model._run.shared.pop("chunk_words") == 500
    model.save(tmp_path / "earlier.dv")
    results = run_ranks(go_on, 2, tmp_path / "earlier.dv")
    words = sum(len(line.split()) for line in corpus.open(encoding="utf-8"))
    assert [[entry[4] for entry in result[1]] for result in results] == [[words, words]] * 2


@pytest.mark.parametrize("chunk_words", [0, -1, "many", 1.5, 1 << 40])
def test_chunks_of_an_impossible_size_cannot_be_loaded(stopped, tmp_path, chunk_words):
    model = BayesianSkipGram.load(stopped)
    model._run.shared["chunk_words"] = chunk_words
    with pytest.raises(ValueError, match="could not be loaded: the header's chunk_words is"):
        model.save(tmp_path / "wrong.dv")


def factors_of_the_rest(path, saved):
    """Go on, and save in the middle; return by what this rank multiplied the encoder's rate, by epoch."""
    start()
    from densvec import distributed
    from densvec.distributed.training import TogetherBackend

    factors, step = {}, TogetherBackend.step

    def watched_step(self, chunk, alpha, worker=0):
        factors.setdefault(self._run.epoch, set()).add(self._inner.encoder_factor)
        return step(self, chunk, alpha, worker)

    TogetherBackend.step = watched_step
    model = distributed.load(BayesianSkipGram, path)
    model.train(callbacks=[Trouble(0, 5, lambda model: model.save(saved))])
    return factors


def test_the_encoder_learns_as_ever_while_rank_0_finishes_an_epoch_alone(corpus, tmp_path):
    model = BayesianSkipGram(**QUICK)
    model.build_vocab(corpus_file=corpus)
    with pytest.raises(KeyboardInterrupt):
        model.train(callbacks=[Trouble(0, 5, interrupt)])
    model.save(tmp_path / "model.dv")
    first, second = run_ranks(factors_of_the_rest, 2, tmp_path / "model.dv", tmp_path / "saved.dv")
    assert (tmp_path / "saved.dv").exists()
    assert first == {0: {1.0}, 1: {2**0.5}}
    assert second == {1: {2**0.5}}


def test_what_one_process_began_several_finish(corpus, tmp_path):
    model = BayesianSkipGram(**QUICK)
    model.build_vocab(corpus_file=corpus)
    with pytest.raises(KeyboardInterrupt):
        model.train(callbacks=[Trouble(0, 20, interrupt)])
    model.save(tmp_path / "model.dv")
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
