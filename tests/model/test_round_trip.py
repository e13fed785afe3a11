"""Whatever sequence of public calls succeeded: save, then load, gives an equal model."""

import contextlib
import json
import math
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from densvec import BayesianSkipGram, KeyedDensities, SkipGram, Word2Gauss
from densvec.datasets import toy_language
from densvec.model.state import COUNTERS
from densvec.training.backend import UnstableTrainingError

SENTENCES = list(toy_language(60))
OTHERS = [["entirely", "new", "words"], ["new", "words", "again"]] * 3


def make(kind=BayesianSkipGram, **changes):
    return kind(**{"vector_size": 4, "min_count": 2, "sample": 0.01, "workers": 1, "epochs": 2, **changes})


def described(model):
    """All that a file keeps, apart from arrays, as JSON would have it."""
    document = {
        "parameters": {name: getattr(model, name) for name in model.parameter_names()},
        "counters": {name: getattr(model, name) for name in COUNTERS},
        "auto": model._auto_sample,
        "epochs": model.epochs_trained,
        "losses": [tuple(entry) for entry in model.loss_history],
        "run": None if model._run is None else model._run.header(),
        "raw": model.raw_vocab,
        "words": model.wv.index_to_key,
        "rows": model.wv.key_to_index,
        "window": model.wv.window,
        "events": model.lifecycle_events,
        "reading": None if model.wv.encoder is None else model.wv.encoder.reading.header(),
        "objects": {
            name: list(values) for name, values in model.wv.expandos.items() if values.dtype == object
        },
    }
    return json.loads(json.dumps(document, default=lambda number: number.item()))


def assert_equal(model, again):
    assert repr(described(again)) == repr(described(model))  # repr: NaN is equal to itself
    arrays, others = (
        {**one._arrays(), **{"attribute " + k: v for k, v in one.wv.expandos.items() if v.dtype != object}}
        for one in (model, again)
    )
    assert arrays.keys() == others.keys()
    for name, array in arrays.items():
        assert others[name].dtype == array.dtype, name
        np.testing.assert_array_equal(others[name], array, err_msg=name)


def check_round_trip(model, path):
    model.save(path)
    assert_equal(model, type(model).load(path))


TRAINED = {
    "total_examples as a float": lambda m: m.train(SENTENCES, total_examples=60.0, epochs=1),
    "total_examples of NumPy": lambda m: m.train(SENTENCES, total_examples=np.int32(60), epochs=np.int64(1)),
    "epochs as a float": lambda m: m.train(SENTENCES, total_examples=60, epochs=2.0),
    "total_words as a float": lambda m: m.train(SENTENCES, total_words=1e6, epochs=1),
    "rates of NumPy": lambda m: m.train(
        SENTENCES, total_words=1e6, epochs=1, start_alpha=np.float32(0.01), end_alpha=np.float64(0.001)
    ),
    "a new word": lambda m: m.wv.__setitem__("new", np.ones(4)),
    "add_vectors": lambda m: m.wv.add_vectors(["new", "newer"], np.ones((2, 4))),
    "resize_vectors": lambda m: (
        m.wv.index_to_key.append("new"),
        m.wv.key_to_index.__setitem__("new", len(m.wv.index_to_key) - 1),
        m.wv.resize_vectors(),
    ),
    "sorted words": lambda m: (m.wv.expandos.__setitem__("count", m.wv.expandos["count"][::-1].copy()),
                               m.wv.sort_by_descending_frequency()),
    "float64": lambda m: setattr(m.wv, "vectors", m.wv.vectors.astype(np.float64)),
    "min_count as a float": lambda m: m.build_vocab(SENTENCES, min_count=2.0),
    "epochs attribute": lambda m: setattr(m, "epochs", 3.0),
    "alpha attribute": lambda m: setattr(m, "alpha", np.float32(0.05)),
    "corpus_count as a float": lambda m: m.build_vocab_from_freq({"a": 5, "b": np.int64(9)}, corpus_count=1e3),
    "sample of NumPy": lambda m: m.build_vocab(SENTENCES, sample=np.float32(0.5)),
    "sample auto": lambda m: m.build_vocab(SENTENCES, sample="auto"),
    "update": lambda m: m.build_vocab(OTHERS, update=True),
    "window attribute": lambda m: setattr(m, "window", np.int64(3)),
    "raw_vocab attribute": lambda m: setattr(m, "raw_vocab", {"a": 2.0}),
    "an attribute of words": lambda m: m.wv.set_vecattr(m.wv.index_to_key[0], "sound", "woof"),
    "keep_raw_vocab": lambda m: m.build_vocab(SENTENCES, keep_raw_vocab=True),
}  # fmt: skip


@pytest.mark.parametrize("kind", [BayesianSkipGram, SkipGram, Word2Gauss])
@pytest.mark.parametrize("change", TRAINED)
def test_a_changed_model_is_saved_loaded_and_trained_on(kind, change, tmp_path):
    model = make(kind, epochs=1)
    model.build_vocab(SENTENCES)
    model.train()
    TRAINED[change](model)
    check_round_trip(model, tmp_path / "model.dv")
    model.train(SENTENCES, total_examples=60, epochs=1)
    check_round_trip(model, tmp_path / "model.dv")


REFUSED = {
    "end_alpha": lambda m: m.train(SENTENCES, total_examples=60, epochs=1, end_alpha=-1e-9),
    "start_alpha": lambda m: m.train(start_alpha=math.nan),
    "infinite start_alpha": lambda m: m.train(start_alpha=math.inf),
    "total_examples": lambda m: m.train(SENTENCES, total_examples=60.5, epochs=1),
    "text as total_words": lambda m: m.train(SENTENCES, total_words="many", epochs=1),
    "epochs": lambda m: m.train(SENTENCES, total_examples=60, epochs=1.5),
    "too many words": lambda m: m.train(SENTENCES, total_words=10**30, epochs=1),
    "min_count": lambda m: m.build_vocab(SENTENCES, min_count=2.5),
    "sample": lambda m: m.build_vocab(SENTENCES, sample=-1),
    "corpus_count": lambda m: m.build_vocab_from_freq({"a": 5}, corpus_count=-1),
    "workers attribute": lambda m: setattr(m, "workers", 0),
    "epochs attribute": lambda m: setattr(m, "epochs", 2.5),
    "alpha attribute": lambda m: setattr(m, "alpha", math.nan),
    "vector_size attribute": lambda m: setattr(m, "vector_size", 5),
    "sg attribute": lambda m: setattr(m, "sg", 0),
    "raw_vocab attribute": lambda m: setattr(m, "raw_vocab", {"a": 2.5}),
}


@pytest.mark.parametrize("change", REFUSED)
def test_what_could_not_be_loaded_is_refused_and_changes_nothing(change, tmp_path):
    model = make(epochs=1)
    model.build_vocab(SENTENCES)
    model.train()
    before = described(model)
    with pytest.raises((ValueError, TypeError)):
        REFUSED[change](model)
    after = described(model)
    assert {name for name in before if repr(before[name]) != repr(after[name])} <= {"counters", "raw"}
    check_round_trip(model, tmp_path / "model.dv")


SPOILT = {
    "means": lambda m: setattr(m.wv, "vectors", m.wv.vectors[:, :3]),
    "fewer rows": lambda m: setattr(m.wv, "log_variances", m.wv.log_variances[:3]),
    "nan": lambda m: m.wv.vectors.__setitem__(0, np.nan),
    "no counts": lambda m: m.wv.expandos.pop("count"),
    "negative counts": lambda m: m.wv.expandos["count"].__setitem__(0, -5),
    "too few counts": lambda m: m.wv.expandos.__setitem__("count", np.ones(2, np.int64)),
    "no encoder": lambda m: setattr(m.wv, "encoder", None),
    "a counter": lambda m: setattr(m, "corpus_count", 1.5),
    "no time": lambda m: setattr(m, "total_train_time", "long"),
}


@pytest.mark.parametrize("spoil", SPOILT)
def test_a_file_is_not_replaced_by_one_that_could_not_be_loaded(spoil, tmp_path):
    path = tmp_path / "model.dv"
    model = make(epochs=1)
    model.build_vocab(SENTENCES)
    model.train().save(path)
    bytes_before = path.read_bytes()
    SPOILT[spoil](model)
    with pytest.raises((ValueError, RuntimeError)):
        model.save(path)
    assert path.read_bytes() == bytes_before


def test_densities_that_could_not_be_loaded_are_not_saved(tmp_path):
    wv = KeyedDensities(2, covariance="spherical")
    wv.add_vectors(["a", "b"], np.ones((2, 2)))
    wv.save(tmp_path / "words.dv")
    wv.expandos["count"] = np.ones(5)
    with pytest.raises(ValueError, match="could not be loaded"):
        wv.save(tmp_path / "words.dv")
    assert KeyedDensities.load(tmp_path / "words.dv").index_to_key == ["a", "b"]


@pytest.mark.parametrize("kind", [BayesianSkipGram, SkipGram, Word2Gauss])
def test_words_that_were_added_by_hand_are_trained(kind):
    model = make(kind, epochs=1)
    model.build_vocab(SENTENCES)
    model.train()
    known = model.wv.index_to_key[3]
    if kind is BayesianSkipGram:
        squares = model._arrays()["training.embedding_squares"][3]
    model.wv.add_vectors(["entirely"], np.ones((1, 4)), extras={"count": [5]})
    model.wv.expandos["count"] = model.wv.expandos["count"][::-1].copy()
    model.wv.sort_by_descending_frequency()
    model._fit_tables()
    if kind is BayesianSkipGram:  # the optimiser's state goes with its word
        assert model._arrays()["training.embedding_squares"][model.wv.get_index(known)] == squares
    before = model.wv["entirely"].copy()
    model.train([["entirely", *sentence] for sentence in SENTENCES], total_examples=60, epochs=2)
    assert (model.wv["entirely"] != before).any()


# Any sequence of calls

numbers = st.sampled_from(
    [0, 1, 2, 2.0, 3, np.int64(2), np.float32(1), 0.5, -1, 1e6, math.nan, math.inf, None, "2"]
)
rates = st.sampled_from([0.0, 0.01, 0.025, np.float32(0.05), 1, 5.0, -0.1, math.nan, 1e300, "x"])
texts = st.sampled_from(["sentences", "others", "empty", "file"])
PARAMETERS = (
    "epochs", "workers", "alpha", "min_alpha", "window", "negative", "min_count", "sample", "seed", "batch_words",
    "vector_size", "max_final_vocab", "max_vocab_size", "sorted_vocab", "shrink_windows", "comment", "ns_exponent",
)  # fmt: skip
EXPECTED = (ValueError, TypeError, RuntimeError, KeyError, OverflowError, UnstableTrainingError)


class Calls(RuleBasedStateMachine):
    """A model to which anything may be done by public calls; after each it is saved, loaded and compared."""

    words = Bundle("words")

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name, "model.dv")
        self.file = Path(self.folder.name, "text.txt")
        self.file.write_text("\\n".join(map(" ".join, SENTENCES)))
        self.model = None

    def teardown(self):
        self.folder.cleanup()

    def text(self, name):
        if name == "file":
            return {"corpus_file": str(self.file)}
        return {"corpus_iterable": {"sentences": SENTENCES, "others": OTHERS, "empty": []}[name]}

    def attempt(self, call):
        """Call it; what it refuses by an error that says so is no fault."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with contextlib.suppress(*EXPECTED):
                call()

    @initialize(
        kind=st.sampled_from([BayesianSkipGram, SkipGram, Word2Gauss]),
        covariance=st.sampled_from(["spherical", "diagonal"]),
        sample=st.sampled_from(["auto", 0.01]),
    )
    def create(self, kind, covariance, sample):
        shape = {} if kind is SkipGram else {"covariance": covariance}
        self.model = make(kind, sample=sample, batch_words=100, negative=3, **shape)

    @rule(
        text=texts,
        update=st.booleans(),
        keep=st.booleans(),
        min_count=numbers,
        sample=rates | st.just("auto"),
    )
    def build(self, text, update, keep, min_count, sample):
        changes = (
            {} if isinstance(sample, str) and sample == "x" else {"min_count": min_count, "sample": sample}
        )
        self.attempt(
            lambda: self.model.build_vocab(**self.text(text), update=update, keep_raw_vocab=keep, **changes)
        )

    @rule(count=numbers, corpus_count=numbers, update=st.booleans())
    def build_from_counts(self, count, corpus_count, update):
        counts = {"the": 9, "rare": 1, "other": count}
        self.attempt(lambda: self.model.build_vocab_from_freq(counts, True, corpus_count, update=update))

    @rule(text=texts)
    def scan(self, text):
        self.attempt(lambda: self.model.scan_vocab(**self.text(text)))

    @rule()
    def train(self):
        self.attempt(self.model.train)

    @rule(text=texts, examples=numbers, words=numbers, epochs=numbers, start=rates, end=rates)
    def train_on(self, text, examples, words, epochs, start, end):
        if isinstance(epochs, float) and epochs == 1e6:
            epochs = 3  # there is no end to it
        self.attempt(
            lambda: self.model.train(
                **self.text(text), total_examples=examples, total_words=words, epochs=epochs,
                start_alpha=start, end_alpha=end,
            )
        )  # fmt: skip

    @rule(name=st.sampled_from(PARAMETERS), value=numbers | rates)
    def set_parameter(self, name, value):
        if name in ("vector_size", "epochs", "window", "negative", "workers") and value == 1e6:
            value = 7
        self.attempt(lambda: setattr(self.model, name, value))

    @rule(word=st.sampled_from(["the", "new", "newest"]), value=st.floats(width=32), width=st.integers(3, 5))
    def set_word(self, word, value, width):
        self.attempt(lambda: self.model.wv.__setitem__(word, np.full(width, value)))

    @rule(
        words=st.lists(st.sampled_from(["the", "x", "y", "z"]), max_size=3),
        replace=st.booleans(),
        extra=numbers,
    )
    def add_words(self, words, replace, extra):
        extras = {} if extra is None else {"count": [extra] * len(words)}
        means = np.ones((len(words), self.model.wv.vector_size))
        self.attempt(lambda: self.model.wv.add_vectors(words, means, extras=extras, replace=replace))

    @rule()
    def sort_words(self):
        self.attempt(self.model.wv.sort_by_descending_frequency)

    @rule(dtype=st.sampled_from([np.float16, np.float32, np.float64]), columns=st.integers(2, 5))
    def replace_table(self, dtype, columns):
        self.attempt(
            lambda: setattr(self.model.wv, "vectors", self.model.wv.vectors[:, :columns].astype(dtype))
        )

    @rule(value=st.sampled_from([1, 2.5, "text", None, True]))
    def set_attribute(self, value):
        if len(self.model.wv):
            self.attempt(lambda: self.model.wv.set_vecattr(self.model.wv.index_to_key[0], "mark", value))

    @rule(other=st.booleans())
    def reset(self, other):
        donor = make()
        if other:
            donor.build_vocab(OTHERS)
        self.attempt(lambda: self.model.reset_from(donor))

    @rule()
    def load(self):
        if self.path.exists():
            self.model = type(self.model).load(self.path)

    @invariant()
    def what_is_saved_can_be_loaded(self):
        if self.model is None:
            return
        before = self.path.read_bytes() if self.path.exists() else None
        try:
            self.model.save(self.path)
        except (ValueError, RuntimeError):  # it says so, and leaves the older file alone
            assert (self.path.read_bytes() if self.path.exists() else None) == before
        else:
            assert_equal(self.model, type(self.model).load(self.path))


TestCalls = Calls.TestCase
TestCalls.settings = settings(
    max_examples=40, stateful_step_count=12, deadline=None, suppress_health_check=list(HealthCheck)
)
