"""The front that models share with gensim's Word2Vec: constructor, mistakes, callbacks, life."""

import inspect
import logging
import subprocess
import sys
import threading

import numpy as np
import pytest
from gensim.models import Word2Vec

from densvec import BayesianSkipGram
from densvec.callbacks import Callback, Checkpoint
from densvec.datasets import toy_language
from tests.model.cases import SENTENCES, StopAfter, assert_same_bits, make

# The constructor


def test_constructor_is_gensims_followed_by_keywords_of_our_own():
    theirs = inspect.signature(Word2Vec.__init__).parameters
    ours = inspect.signature(BayesianSkipGram.__init__).parameters
    assert list(ours)[: len(theirs)] == list(theirs)
    different = {name for name in theirs if ours[name].default != theirs[name].default}
    assert different == {"sample", "workers", "sg", "negative", "ns_exponent", "shrink_windows"}
    own = list(ours)[len(theirs) :]
    assert all(ours[name].kind is inspect.Parameter.KEYWORD_ONLY for name in own)
    assert {"hidden_size", "margin", "pairing", "covariance", "backend", "device", "show_progress"} <= set(
        own
    )


@pytest.mark.parametrize(
    "method",
    [
        "build_vocab",
        "build_vocab_from_freq",
        "scan_vocab",
        "prepare_vocab",
        "prepare_weights",
        "init_weights",
        "update_weights",
        "estimate_memory",
        "train",
        "reset_from",
        "predict_output_word",
        "get_latest_training_loss",
        "add_lifecycle_event",
        "init_sims",
    ],
)
def test_methods_take_gensims_arguments(method):
    theirs = inspect.signature(getattr(Word2Vec, method)).parameters
    ours = inspect.signature(getattr(BayesianSkipGram, method)).parameters
    _, *names = [name for name, p in theirs.items() if p.kind is not inspect.Parameter.VAR_KEYWORD]
    assert list(ours)[1 : 1 + len(names)] == names
    for name in names:
        assert ours[name].default == theirs[name].default, name


def test_model_has_gensims_attributes():
    theirs, ours = Word2Vec(SENTENCES, min_count=1), make(SENTENCES)
    not_ours = {"random", "cum_table", "syn1neg", "load", "running_training_loss"}
    for name in vars(theirs).keys() - not_ours:
        assert hasattr(ours, name), name
    for name in ("corpus_count", "corpus_total_words", "train_count", "effective_min_count", "epochs"):
        assert getattr(ours, name) == getattr(theirs, name), name


@pytest.mark.parametrize(
    "parameters",
    [
        {"sg": 0},
        {"hs": 1},
        {"null_word": 1},
        {"negative": 0},
        {"window": 0},
        {"vector_size": 0},
        {"vector_size": -3},
        {"workers": 0},
        {"epochs": -1},
        {"alpha": float("nan")},
        {"alpha": -0.1},
        {"sample": -1.0},
        {"ns_exponent": "unigram"},
        {"ns_exponent": float("inf")},
        {"pairing": "both"},
        {"covariance": "full"},
        {"margin": -1.0},
        {"hidden_size": 0},
        {"backend": "jax"},
        {"backend": "native", "device": "cuda"},
        {"batch_words": 0},
        {"rates": {"mean": -1.0}},
    ],
)
def test_parameters_without_meaning_are_refused_by_name(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        BayesianSkipGram(**parameters)


@pytest.mark.parametrize(
    "parameters", [{"vector_size": 1.5}, {"window": "5"}, {"workers": True}, {"alpha": "x"}]
)
def test_parameters_of_the_wrong_type_are_refused_by_name(parameters):
    with pytest.raises(TypeError, match=next(iter(parameters))):
        BayesianSkipGram(**parameters)


def test_removed_names_say_where_they_went():
    model = make()
    for name, new in {"most_similar": "wv.most_similar", "size": "vector_size", "iter": "epochs"}.items():
        with pytest.raises(AttributeError, match=new):
            getattr(model, name)
    with pytest.raises(AttributeError, match="nonsense"):
        _ = model.nonsense


def test_str_is_like_gensims():
    assert str(make(SENTENCES)) == "BayesianSkipGram<vocab=12, vector_size=8, alpha=0.025>"


# The same mistakes, the same errors


def wrong_calls():
    built = {"build": lambda model: model.build_vocab(SENTENCES)}
    return {
        "two corpora": (None, lambda cls: cls(SENTENCES, corpus_file="x")),
        "no such file": (None, lambda cls: cls(corpus_file="/no/such/file")),
        "no iterable": (None, lambda cls: cls(3)),
        "generator": (None, lambda cls: cls(sentence for sentence in SENTENCES)),
        "empty corpus": (None, lambda cls: cls([])),
        "min_count too high": (None, lambda cls: cls(SENTENCES, min_count=1000)),
        "no epochs": (None, lambda cls: cls(SENTENCES, min_count=1, epochs=0)),
        "unknown parameter": (None, lambda cls: cls(SENTENCES, size=3)),
        "no vocabulary": ({}, lambda model: model.train(SENTENCES, total_examples=9, epochs=1)),
        "no corpus to count": ({}, lambda model: model.build_vocab()),
        "nothing to update": ({}, lambda model: model.build_vocab(SENTENCES, update=True)),
        "no totals": (built, lambda model: model.train(SENTENCES, epochs=1)),
        "no epochs given": (built, lambda model: model.train(SENTENCES, total_examples=9)),
        "epochs=0": (built, lambda model: model.train(SENTENCES, total_examples=9, epochs=0)),
        "epochs=-1": (built, lambda model: model.train(SENTENCES, total_examples=9, epochs=-1)),
        "no corpus to train on": (built, lambda model: model.train(total_examples=9, epochs=1)),
        "one-shot corpus": (built, lambda m: m.train((s for s in SENTENCES), total_examples=9, epochs=2)),
        "unknown argument": (built, lambda m: m.train(SENTENCES, total_examples=9, epochs=1, speed=11)),
        "subscript": (built, lambda model: model["human"]),
    }


@pytest.mark.parametrize("case", wrong_calls())
def test_mistakes_raise_what_gensim_raises(case):
    before, call = wrong_calls()[case]

    def raised(cls):
        subject = cls
        if before is not None:
            subject = cls(min_count=1)
            for step in before.values():
                step(subject)
        with pytest.raises(Exception) as caught:  # noqa: PT011 - gensim decides which
            call(subject)
        return caught.type

    assert raised(BayesianSkipGram) is raised(Word2Vec)


def test_a_vocabulary_that_is_empty_says_why():
    with pytest.raises(RuntimeError, match=r"min_count=50 leaves no words.*lower min_count"):
        make(SENTENCES, min_count=50)


def test_trim_rule_without_a_corpus_is_warned_of(caplog):
    BayesianSkipGram(trim_rule=lambda word, count, least: 1)
    assert "trim_rule" in caplog.text


def test_a_higher_alpha_than_before_is_warned_of(caplog):
    model = make(SENTENCES)
    model.train(SENTENCES, total_examples=9, epochs=1, start_alpha=0.02, end_alpha=0.01)
    assert "alpha" in caplog.text
    assert (model.alpha, model.min_alpha) == (0.02, 0.01)


# Callbacks


class Recorder(Callback):
    def __init__(self):
        self.calls = []

    def on_train_begin(self, model):
        self.calls.append(("train begin", len(model.loss_history)))

    def on_epoch_begin(self, model):
        self.calls.append(("epoch begin", len(model.loss_history)))

    def on_epoch_end(self, model):
        assert threading.current_thread() is threading.main_thread()
        self.calls.append(("epoch end", len(model.loss_history)))

    def on_train_end(self, model):
        self.calls.append(("train end", len(model.loss_history)))


def test_callbacks_are_called_in_order():
    recorder = Recorder()
    make(SENTENCES, epochs=2, callbacks=[recorder])
    assert recorder.calls == [
        ("train begin", 0),
        ("epoch begin", 0),
        ("epoch end", 1),
        ("epoch begin", 1),
        ("epoch end", 2),
        ("train end", 2),
    ]


def test_callbacks_need_no_base_class_and_not_every_hook():
    class Ends:
        ended = 0

        def on_epoch_end(self, model):
            self.ended += 1

    callback = Ends()
    make(SENTENCES, callbacks=(callback,))
    assert callback.ended == 5


@pytest.mark.parametrize("workers", [1, 3])
def test_a_checkpoint_within_an_epoch_is_consistent_and_resumes(workers, tmp_path):
    path, corpus = tmp_path / "model.dv", tmp_path / "corpus.txt"
    toy_language(1000).write(corpus)
    positions = []

    class Watch(Callback):
        def on_batch_end(self, model):
            if not positions:
                model.save(path)
                loaded = BayesianSkipGram.load(path)
                positions.append((loaded._run.epoch, loaded._run.tally.chunks))
                assert np.isfinite(loaded.wv.vectors).all()

    whole = make(corpus_file=corpus, workers=workers, epochs=2, batch_words=300, callbacks=[Watch()])
    assert (0, 0) < positions[0] < (1, 0)
    resumed = BayesianSkipGram.load(path).train()
    assert [entry.words for entry in resumed.loss_history] == [entry.words for entry in whole.loss_history]
    if workers == 1:
        assert_same_bits(whole, resumed)


def test_checkpoint_callback_saves_a_model_that_goes_on(tmp_path):
    path, corpus = tmp_path / "model.dv", tmp_path / "corpus.txt"
    corpus.write_text("\n".join(" ".join(sentence) for sentence in SENTENCES))
    model = make()
    model.build_vocab(corpus_file=corpus)
    with pytest.raises(KeyboardInterrupt):
        model.train(callbacks=[Checkpoint(path), StopAfter(epochs=3)])
    assert_same_bits(BayesianSkipGram.load(path).train(), make(corpus_file=corpus))


# Life


def test_lifecycle_events_are_recorded(caplog):
    with caplog.at_level(logging.INFO):
        model = make(SENTENCES)
        model.add_lifecycle_event("reviewed", by="Ada")
    assert [event["event"] for event in model.lifecycle_events] == [
        "created",
        "build_vocab",
        "train",
        "reviewed",
    ]
    assert "reviewed" in caplog.text
    model.lifecycle_events = None
    model.add_lifecycle_event("unrecorded")
    assert model.lifecycle_events is None


def test_init_sims_is_deprecated_as_in_gensim():
    model = make(SENTENCES)
    with pytest.warns(DeprecationWarning, match="init_sims"):
        model.init_sims(replace=True)
    np.testing.assert_allclose(np.linalg.norm(model.wv.vectors, axis=1), 1.0, rtol=1e-6)


def test_importing_the_model_does_not_import_heavy_packages():
    heavy = ["torch", "matplotlib", "scipy.stats", "pandas", "gensim"]
    script = f"import sys, densvec.bsg; print([name for name in {heavy} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
