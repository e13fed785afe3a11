"""The front that models share with gensim's Word2Vec: vocabulary, training calls, validation, files."""

import copy
import inspect
import logging
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from gensim.models import Word2Vec

from densvec.bsg import BayesianSkipGram
from densvec.callbacks import Callback, Checkpoint
from densvec.datasets import toy_language
from densvec.persistence import DensvecFileError
from densvec.training.settings import DivergenceError

SENTENCES = [
    ["human", "interface", "computer"],
    ["survey", "user", "computer", "system", "response", "time"],
    ["eps", "user", "interface", "system"],
    ["system", "human", "system", "eps"],
    ["user", "response", "time"],
    ["trees"],
    ["graph", "trees"],
    ["graph", "minors", "trees"],
    ["graph", "minors", "survey"],
]
MORE = [
    ["computer", "artificial", "intelligence"],
    ["artificial", "trees"],
    ["human", "intelligence"],
    ["artificial", "graph"],
    ["intelligence"],
]
#: Chunks of at least 10 words, of which the corpus has 3, so that there is something within an epoch.
SMALL = {"vector_size": 8, "min_count": 1, "sample": 0, "workers": 1, "batch_words": 10, "epochs": 5}


def make(sentences=None, **changes):
    return BayesianSkipGram(sentences, **{**SMALL, **changes})


def arrays_of(model):
    assert model.wv.encoder is not None
    return {"means": model.wv.vectors, "log_variances": model.wv.log_variances, **model.wv.encoder.arrays()}


def assert_same_bits(one, other):
    first, second = arrays_of(one), arrays_of(other)
    for name, array in first.items():
        np.testing.assert_array_equal(array, second[name], err_msg=name)


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
        "score",
    ],
)
def test_methods_take_gensims_arguments(method):
    theirs = inspect.signature(getattr(Word2Vec, method)).parameters
    ours = inspect.signature(getattr(BayesianSkipGram, method)).parameters
    names = [name for name, p in theirs.items() if p.kind is not inspect.Parameter.VAR_KEYWORD]
    assert list(ours)[: len(names)] == names
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
        "score": (built, lambda model: model.score(SENTENCES)),
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
        with pytest.raises(Exception) as caught:
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


# Vocabulary


@pytest.mark.parametrize("corpus", ["list", "file"])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"min_count": 2},
        {"max_final_vocab": 5},
        {"sorted_vocab": 0},
        {"min_count": 2, "max_final_vocab": 7},
    ],
)
def test_vocabulary_is_gensims(corpus, changes, tmp_path):
    given = {**SMALL, **changes}
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(" ".join(sentence) for sentence in SENTENCES))
    corpora = {"corpus_iterable": SENTENCES} if corpus == "list" else {"corpus_file": str(path)}
    models = []
    for cls in (Word2Vec, BayesianSkipGram):
        model = cls(**given)
        model.build_vocab(**corpora, keep_raw_vocab=True)
        models.append(model)
    theirs, ours = models
    counts = {word: theirs.wv.get_vecattr(word, "count") for word in theirs.wv.index_to_key}
    assert {word: ours.wv.get_vecattr(word, "count") for word in ours.wv.index_to_key} == counts
    assert dict(ours.raw_vocab) == dict(theirs.raw_vocab)
    for name in ("corpus_count", "corpus_total_words", "effective_min_count"):
        assert getattr(ours, name) == getattr(theirs, name), name


def test_raw_vocab_is_dropped_unless_kept():
    model = make()
    model.build_vocab(SENTENCES)
    assert not model.raw_vocab


def test_trim_rule_chooses_words():
    from densvec.vocabulary import RULE_DEFAULT, RULE_DISCARD, RULE_KEEP

    def rule(word, count, least):
        return {"minors": RULE_KEEP, "system": RULE_DISCARD}.get(word, RULE_DEFAULT)

    model = make(min_count=3)
    model.build_vocab(SENTENCES, trim_rule=rule)
    assert set(model.wv.index_to_key) == {"user", "trees", "graph", "minors"}


def test_vocabulary_from_frequencies_is_gensims():
    frequencies = {"graph": 3, "trees": 9, "rare": 1}
    theirs, ours = Word2Vec(min_count=2), BayesianSkipGram(min_count=2, vector_size=4)
    for model in (theirs, ours):
        model.build_vocab_from_freq(frequencies, corpus_count=9)
    assert ours.wv.index_to_key == theirs.wv.index_to_key == ["trees", "graph"]
    assert ours.corpus_count == theirs.corpus_count == 9
    ours.train(SENTENCES, total_words=28, epochs=2)
    assert ours.wv.vectors.shape == (2, 4)
    with pytest.raises(RuntimeError, match="resume=True"):
        BayesianSkipGram(min_count=2).build_vocab_from_freq(frequencies) or _trained_without_corpus()


def _trained_without_corpus():
    model = BayesianSkipGram(min_count=1)
    model.build_vocab_from_freq({"a": 2, "b": 2})
    model.train()


def test_prepare_vocab_reports_gensims_figures():
    theirs, ours = Word2Vec(min_count=1, sample=0.05), make(sample=0.05)
    for model in (theirs, ours):
        assert model.scan_vocab(SENTENCES) == (29, 9)
    assert ours.prepare_vocab(min_count=2, dry_run=True) == theirs.prepare_vocab(min_count=2, dry_run=True)
    assert len(ours.wv) == 0
    assert ours.prepare_vocab(min_count=3) == theirs.prepare_vocab(min_count=3)
    assert ours.min_count == theirs.min_count == 3
    with pytest.raises(RuntimeError, match="prepare_weights"):
        ours.train()
    ours.prepare_weights()
    assert ours.wv.vectors.shape == (4, 8)


def test_estimate_memory_is_the_size_of_the_arrays():
    model = make(toy_language(300), vector_size=30, hidden_size=20)
    report = model.estimate_memory()
    arrays = arrays_of(model)
    assert report["means"] == arrays["means"].nbytes
    assert report["log_variances"] == arrays["log_variances"].nbytes
    assert report["embeddings"] == arrays["embeddings"].nbytes
    weights = sum(array.nbytes for name, array in arrays.items() if name not in report)
    assert report["encoder"] == weights
    assert report["total"] == sum(report.values()) - report["total"]
    assert model.estimate_memory(vocab_size=1000)["means"] == 1000 * 30 * 4


def test_reset_from_takes_the_vocabulary_and_starts_anew():
    first = make(SENTENCES)
    second = make(vector_size=5)
    second.reset_from(first)
    assert second.wv.index_to_key == first.wv.index_to_key
    assert second.corpus_count == first.corpus_count
    assert second.wv.vectors.shape == (12, 5)
    np.testing.assert_array_equal(second.wv.expandos["count"], first.wv.expandos["count"])
    assert len(second.train().loss_history) == 5
    assert len(first.wv) == 12


def test_building_the_vocabulary_again_starts_anew():
    model = make(SENTENCES)
    model.build_vocab(MORE)
    assert set(model.wv.index_to_key) == {word for sentence in MORE for word in sentence}
    assert model.loss_history == []
    assert len(model.train().loss_history) == 5


# train()


def test_training_without_arguments_completes_the_epochs_and_then_does_nothing():
    model = make()
    model.build_vocab(SENTENCES)
    assert model.train() is model
    assert [entry.epoch for entry in model.loss_history] == [1, 2, 3, 4, 5]
    assert_same_bits(model, make(SENTENCES))
    before = copy.deepcopy(model)
    assert model.train() is model
    assert len(model.loss_history) == 5
    assert_same_bits(model, before)


def test_raising_epochs_lets_train_go_on():
    model = make(SENTENCES, epochs=2)
    model.epochs = 4
    assert len(model.train().loss_history) == 4


def test_gensims_call_trains_more_and_never_repeats_its_samples():
    model = make(SENTENCES, epochs=2)
    before = copy.deepcopy(model)
    assert model.train(SENTENCES, total_examples=model.corpus_count, epochs=3) is model
    assert [entry.epoch for entry in model.loss_history] == [1, 2, 3, 4, 5]
    assert model.train_count == 2
    assert model.total_train_time > before.total_train_time
    assert not np.array_equal(model.wv.vectors, before.wv.vectors)


def test_training_from_a_file_equals_training_from_lists(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(" ".join(sentence) for sentence in SENTENCES))
    assert_same_bits(make(SENTENCES), make(corpus_file=path))


class StopAfter(Callback):
    """Ctrl-C after so many epochs or chunks."""

    def __init__(self, epochs=None, chunks=None):
        self.epochs, self.chunks = epochs, chunks

    def on_epoch_end(self, model):
        if self.epochs is not None:
            self.epochs -= 1
            if not self.epochs:
                raise KeyboardInterrupt

    def on_batch_end(self, model):
        if self.chunks is not None:
            self.chunks -= 1
            if not self.chunks:
                raise KeyboardInterrupt


@pytest.mark.parametrize("backend", ["native", "torch"])
@pytest.mark.parametrize("stop", [{"epochs": 2}, {"chunks": 7}])
@pytest.mark.parametrize("through_file", [False, True])
def test_an_interrupted_run_ends_bit_for_bit_as_an_uninterrupted_one(backend, stop, through_file, tmp_path):
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n".join(" ".join(sentence) for sentence in SENTENCES))
    whole = make(corpus_file=corpus, backend=backend)
    parts = make(backend=backend)
    parts.build_vocab(corpus_file=corpus)
    with pytest.raises(KeyboardInterrupt):
        parts.train(callbacks=[StopAfter(**stop)])
    assert len(parts.loss_history) == 2
    assert np.isfinite(parts.infer_posterior("user", ["system"]).mean).all()
    if through_file:
        parts.save(tmp_path / "model.dv")
        parts = BayesianSkipGram.load(tmp_path / "model.dv", mmap="r" if backend == "native" else None)
    parts.train()
    assert_same_bits(whole, parts)
    assert [entry[:5] for entry in parts.loss_history] == [entry[:5] for entry in whole.loss_history]
    assert parts.train().epochs_trained == 5


def test_an_interrupted_run_of_a_loaded_model_can_be_given_its_corpus(tmp_path):
    whole = make(SENTENCES)
    parts = make()
    parts.build_vocab(SENTENCES)
    with pytest.raises(KeyboardInterrupt):
        parts.train(callbacks=[StopAfter(epochs=2)])
    parts.save(tmp_path / "model.dv")
    loaded = BayesianSkipGram.load(tmp_path / "model.dv")
    with pytest.raises(RuntimeError, match="resume=True"):
        loaded.train()
    assert_same_bits(whole, loaded.train(SENTENCES, resume=True))


def test_an_interrupted_gensim_call_is_resumed_too():
    whole, parts = make(SENTENCES, epochs=1), make(SENTENCES, epochs=1)
    whole.train(SENTENCES, total_examples=9, epochs=3)
    with pytest.raises(KeyboardInterrupt):
        parts.train(SENTENCES, total_examples=9, epochs=3, callbacks=[StopAfter(chunks=5)])
    assert_same_bits(whole, parts.train())


def test_ctrl_c_in_a_terminal_stops_several_workers_cleanly(tmp_path):
    script = """
import os, signal, threading
from densvec.bsg import BayesianSkipGram
from densvec.datasets import toy_language
model = BayesianSkipGram(vector_size=16, epochs=10_000, workers=3, batch_words=500)
model.build_vocab(list(toy_language(500)))
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job may have inherited to ignore it
threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    model.train()
except KeyboardInterrupt:
    print("interrupted", threading.active_count(), model._run.tally.chunks >= 0, len(model.loss_history) < 10_000)
    model.save("model.dv")
    model.epochs = model._run.epochs = len(model.loss_history) + 1
    print("resumed", len(model.train().loss_history) == model.epochs)
"""
    found = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.getcwd()},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert found.stdout.splitlines() == ["interrupted 1 True True", "resumed True"], found.stderr


def test_losses_are_right_and_per_word():
    """At rate 0 nothing is learnt, so that every epoch's loss is that of the start: Eq. 7, by the oracle."""
    from densvec.training.settings import Objective
    from tests.backend_cases import eq7

    model = make(alpha=0.0, min_alpha=0.0)
    model.build_vocab(SENTENCES)
    chunks = list(model._feeds()(0, 0))
    expected = [eq7(chunk, model.wv, Objective()) for chunk in chunks]
    model.train()
    centres = sum(centres for *_, centres, _ in expected)
    first = model.loss_history[0]
    assert first.loss == pytest.approx(sum(loss for loss, *_ in expected) / centres, rel=1e-5)
    assert first.hinge == pytest.approx(sum(hinge for _, hinge, *_ in expected) / centres, rel=1e-5)
    assert first.kl == pytest.approx(sum(kl for _, _, kl, *_ in expected) / centres, rel=1e-5, abs=1e-6)
    assert model.get_latest_training_loss() == model.loss_history[-1].loss
    assert make().get_latest_training_loss() == 0.0


def test_a_diverging_run_stops_and_leaves_finite_densities():
    model = make(alpha=1e6, min_alpha=1e6, epochs=50)
    model.build_vocab(SENTENCES)
    with pytest.raises(DivergenceError, match="Lower alpha"):
        model.train()
    for name, array in arrays_of(model).items():
        assert np.isfinite(array).all(), name


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


# Files


def test_a_model_comes_back_from_its_file_as_it_was(tmp_path):
    model = make(
        SENTENCES, comment="a test", covariance="diagonal", hidden_size=5, margin=2.0, ns_exponent=0.5
    )
    model.wv.set_vecattr("user", "note", 7)
    model.build_vocab(MORE, update=True, keep_raw_vocab=True)
    model.add_lifecycle_event("reviewed", by="Ada")
    path = tmp_path / "model.dv"
    model.save(path)
    for mmap in (None, "r"):
        loaded = BayesianSkipGram.load(path, mmap=mmap)
        assert_same_bits(model, loaded)
        header, again = model._header(), loaded._header()
        assert again.pop("provenance") is not None
        header.pop("provenance")
        assert again == header
        assert loaded.raw_vocab == model.raw_vocab
        assert loaded.wv.index_to_key == model.wv.index_to_key
    loaded.save(tmp_path / "again.dv")
    assert (tmp_path / "again.dv").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("built", [False, True])
def test_a_model_that_was_not_trained_can_be_saved(built, tmp_path):
    model = make()
    if built:
        model.build_vocab(SENTENCES)
    model.save(tmp_path / "model.dv")
    loaded = BayesianSkipGram.load(tmp_path / "model.dv")
    assert len(loaded.wv) == (12 if built else 0)
    if not built:
        loaded.build_vocab(SENTENCES)
        loaded.train()
    else:
        loaded.train(SENTENCES, resume=True)
    assert_same_bits(loaded, make(SENTENCES))


def test_densities_can_be_loaded_from_a_models_file(tmp_path):
    from densvec.keyed import KeyedDensities

    model = make(SENTENCES, window=3)
    model.save(tmp_path / "model.dv")
    wv = KeyedDensities.load(tmp_path / "model.dv")
    np.testing.assert_array_equal(wv.vectors, model.wv.vectors)
    assert wv.window == 3
    assert wv.infer(["system"], "user") == model.infer_posterior("user", ["system"])


def test_a_file_that_is_no_model_is_refused_by_name(tmp_path):
    model = make(SENTENCES)
    model.wv.save(tmp_path / "words.dv")
    with pytest.raises(DensvecFileError, match=r"words\.dv.*KeyedDensities"):
        BayesianSkipGram.load(tmp_path / "words.dv")
    (tmp_path / "text.dv").write_text("hello")
    with pytest.raises(DensvecFileError, match=r"text\.dv"):
        BayesianSkipGram.load(tmp_path / "text.dv")


def test_a_mapped_model_is_trained_without_touching_its_file(tmp_path):
    model = make(SENTENCES)
    path = tmp_path / "model.dv"
    model.save(path)
    before = path.read_bytes()
    mapped = BayesianSkipGram.load(path, mmap="r")
    mapped.train(SENTENCES, total_examples=9, epochs=1)
    assert path.read_bytes() == before
    model.train(SENTENCES, total_examples=9, epochs=1)
    assert_same_bits(mapped, model)


# Reproducibility


def test_the_same_seed_gives_the_same_bits_in_any_process(tmp_path):
    script = """
import sys, zlib
from densvec.bsg import BayesianSkipGram
from densvec.datasets import toy_language
model = BayesianSkipGram(toy_language(200), vector_size=8, workers=1, seed=int(sys.argv[1]), min_count=2)
print(zlib.crc32(model.wv.vectors.tobytes()), zlib.crc32(model.wv.encoder.mean_head.tobytes()))
"""
    sums = []
    for seed, hash_seed in ((3, "0"), (3, "12345"), (4, "0")):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.getcwd()}
        command = [sys.executable, "-c", script, str(seed)]
        sums.append(
            subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
        )
    assert sums[0] == sums[1]
    assert sums[0] != sums[2]


def test_several_workers_learn_about_the_same():
    models = [make(toy_language(1000), workers=workers, batch_words=500, sample=0.01) for workers in (1, 4)]
    one, four = (model.loss_history[-1] for model in models)
    assert four.words == one.words
    assert four.loss == pytest.approx(one.loss, rel=0.05)


# Online learning


def test_updating_the_vocabulary_keeps_old_words_and_adds_new_ones():
    model = make(SENTENCES)
    before, old = copy.deepcopy(arrays_of(model)), list(model.wv.index_to_key)
    model.build_vocab(MORE, update=True)
    assert model.wv.index_to_key[: len(old)] == old
    assert set(model.wv.index_to_key[len(old) :]) == {"artificial", "intelligence"}
    after = copy.deepcopy(arrays_of(model))
    for name in ("means", "log_variances", "embeddings"):
        np.testing.assert_array_equal(after[name][: len(old)], before[name])
        assert len(after[name]) == len(old) + 2
    assert model.wv.get_vecattr("computer", "count") == 3
    assert model.wv.get_vecattr("intelligence", "count") == 3
    assert (model.corpus_count, model.corpus_total_words) == (5, 10)
    # A new word is about as wide as the others, and not where another word is.
    new = after["log_variances"][len(old) :]
    assert new.min() >= before["log_variances"].min()
    assert new.max() <= before["log_variances"].max()
    assert not np.array_equal(after["means"][-1], after["means"][-2])
    model.train(MORE, total_examples=model.corpus_count, epochs=model.epochs)
    assert np.isfinite(model.wv.vectors).all()
    assert not np.array_equal(model.wv.vectors[-1], after["means"][-1])


def test_updating_through_a_file_equals_updating_at_once(tmp_path):
    model = make(SENTENCES)
    model.save(tmp_path / "model.dv")
    models = [model, BayesianSkipGram.load(tmp_path / "model.dv", mmap="r")]
    for each in models:
        each.build_vocab(MORE, update=True)
        each.train(MORE, total_examples=each.corpus_count, epochs=2)
    assert_same_bits(*models)


def test_new_words_are_learnt():
    """Half of the language first; then the rest, with a word that was never seen."""
    sentences = list(toy_language(3000))
    early = [[word for word in sentence if word not in ("owl", "hoots")] for sentence in sentences[:1500]]
    model = BayesianSkipGram(early, vector_size=16, sample=0.01, epochs=10, workers=1)
    assert "owl" not in model.wv
    model.build_vocab(sentences[1500:], update=True)
    model.train(sentences[1500:], total_examples=model.corpus_count, epochs=10)
    neighbours = [word for word, _ in model.wv.most_similar("owl", topn=10)]
    assert set(neighbours) & {"hoots", "barn", "silent", "wise", "swoops", "midnight", "bird", "feathered"}


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
