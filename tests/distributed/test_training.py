"""Training on several ranks: they end with one model, which has learnt what one process learns."""

import contextlib
import re

import numpy as np
import pytest

from densvec import BayesianSkipGram, SkipGram, Word2Gauss
from densvec.datasets import toy_language
from densvec.training.backend import UnstableTrainingError
from densvec.training.settings import Rates
from tests.distributed.cases import MODEL, QUICK, Trouble, everything, fail, start
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


def encoder_rates(corpus):
    """Return the encoder's rates in the steps of this rank, with the words between two of its exchanges."""
    start()
    from densvec.distributed.loop import RankLoop

    seen, count = set(), RankLoop._count

    def watched(self, chunks, result, at_rest):
        seen.add((self.backend.rates.encoder, self._round_words))
        count(self, chunks, result, at_rest)

    RankLoop._count = watched
    BayesianSkipGram(corpus_file=corpus, **{**QUICK, "epochs": 4})
    return seen


@pytest.mark.parametrize("ranks", [2, 5])
def test_the_encoder_learns_faster_on_several_ranks_but_not_while_rank_0_begins(corpus, ranks):
    alone, together = (Rates().encoder, 2000), (ranks**0.5 * Rates().encoder, 2000)
    first, *others = run_ranks(encoder_rates, ranks, corpus)
    assert first == {alone, together}
    assert others == [{together}] * (ranks - 1)


def who_began(corpus, most):
    """Return the tables of this rank at its first chunk with others, and what all have trained until then."""
    start()
    from densvec.distributed import loop

    loop.BEGINNING_WORDS = most
    seen, set_pace = [], loop.RankLoop._set_pace

    def watched(self, alone):
        was_alone = self._alone
        set_pace(self, alone)
        if was_alone and not alone and not seen:
            tables = {name: np.asarray(array).tobytes() for name, array in self.backend.arrays().items()}
            seen.append((self._own.words, self._all.words, self.run.total_words, tables))

    loop.RankLoop._set_pace = watched
    model = BayesianSkipGram(corpus_file=corpus, **QUICK)
    return *seen[0], everything(model)


@pytest.mark.parametrize("most", [1, 2_000_000])
def test_rank_0_begins_alone_and_the_others_go_on_from_its_tables(corpus, most):
    first, *others = run_ranks(who_began, 3, corpus, most)
    own, all_, total, tables, after = first
    assert own == all_ >= min(most, total * QUICK["epochs"] / 20)
    assert all_ < total / 2
    assert others == [(0, all_, total, tables, after)] * 2


@pytest.mark.parametrize("ranks", [2, 5])
def test_rank_0_has_the_first_pieces_and_no_more_than_the_others_besides(corpus, ranks):
    hands = run_ranks(bytes_of_hands, ranks, corpus)
    least, most = min(hands), max(hands)
    assert most - least <= 2 * (1 << 14)


def bytes_of_hands(corpus):
    """Return how many bytes this rank trains together with others in the first epoch."""
    start()
    from densvec.distributed.loop import RankLoop

    dealt, hand = [], RankLoop._hand

    def noted(self, done):
        numbers = hand(self, done)
        size = sum(self._pieces[number].size for number in numbers)
        total = sum(piece.size for piece in self._pieces)
        dealt.append(size - total * QUICK["epochs"] / 20 if self._group.is_main else size)
        return numbers

    RankLoop._hand = noted
    BayesianSkipGram(corpus_file=corpus, **QUICK)
    return dealt[0]


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
    from densvec.distributed.loop import RankLoop

    distributed.init(exchange_words=exchange_words, timeout=60)
    agreed, open_ = [], RankLoop._open

    def noted(self, epoch, start):
        feed = open_(self, epoch, start)
        agreed.append((self._round_words, self._chunk_words))
        return feed

    RankLoop._open = noted
    BayesianSkipGram(corpus_file=corpus, **{**QUICK, "workers": 1 + distributed.rank(), "epochs": 1})
    return agreed


@pytest.mark.parametrize(
    ("given", "expected"), [(None, (100_000, 500)), (3000, (3000, 500)), (300, (300, 150)), (1, (1, 1))]
)
def test_ranks_exchange_after_so_many_words_of_each_worker_unless_told(corpus, given, expected):
    assert run_ranks(words_between_exchanges, 2, corpus, given) == [[expected]] * 2


def train_own_text(paths):
    """Train on a file of this rank's own, with a vocabulary that does not say so."""
    start()
    from densvec import distributed

    model = BayesianSkipGram(**QUICK)
    model.build_vocab_from_freq({"kiwi": 500, "owl": 400, "apple": 300}, corpus_count=9)
    model.train(corpus_file=paths[distributed.rank()], total_words=1200, epochs=1)


def test_ranks_with_other_words_in_the_middle_of_files_of_one_length_are_told_so(tmp_path):
    paths = [tmp_path / name for name in ("first.txt", "second.txt")]
    lines = ["kiwi owl apple\n"] * 20_000  # 300,000 bytes
    for path, middle in zip(paths, ("kiwi owl apple\n", "owl kiwi apple\n"), strict=True):
        path.write_text("".join([*lines[:10_000], middle, *lines[10_001:]]), encoding="utf-8")
    for name, text in run_ranks(train_own_text, 2, paths):
        assert name == "RankError"
        assert re.search(
            r"rank 1 has other text than rank 0 in '.*' between the bytes 145,945 and 154,054", text
        )


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
    assert model._run.position.pieces is None
    assert model._run.tally.words == 0
    words = sum(len(line.split()) for line in corpus.open(encoding="utf-8"))
    assert [entry.words for entry in model.train().loss_history] == [words] * 2
