"""Training on several ranks: they end with one model, which has learnt what one process learns."""

import contextlib

import numpy as np
import pytest

from densvec import BayesianSkipGram, SkipGram, Word2Gauss
from densvec.datasets import toy_language
from densvec.training.backend import UnstableTrainingError
from tests.distributed.cases import MODEL, QUICK, Trouble, everything, fail, interrupt, start
from tests.distributed.ranks import run_ranks


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
