"""Building vocabularies, beside gensim's, and extending them."""

import copy

import numpy as np
import pytest
from gensim.models import Word2Vec

from densvec import BayesianSkipGram
from densvec.datasets import toy_language
from tests.model.cases import MORE, SENTENCES, SMALL, arrays_of, assert_same_bits, make

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
    from densvec.text.vocabulary import RULE_DEFAULT, RULE_DISCARD, RULE_KEEP

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


def test_training_without_arguments_needs_a_corpus():
    model = BayesianSkipGram(min_count=1)
    model.build_vocab_from_freq({"a": 2, "b": 2})
    with pytest.raises(RuntimeError, match="resume=True"):
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


# Raw counts


def test_raw_counts_become_strings_only_when_asked_for(monkeypatch):
    from densvec.text.vocabulary import RawVocabulary

    def ask(self):
        raise AssertionError("nobody asked for all counted words")

    model = make(min_count=2)
    with monkeypatch.context() as patched:
        patched.setattr(RawVocabulary, "counts", property(ask))
        model.build_vocab(SENTENCES, keep_raw_vocab=True)
        model.build_vocab(MORE, update=True, keep_raw_vocab=True)
    assert model.raw_vocab == {
        "computer": 1,
        "artificial": 3,
        "intelligence": 3,
        "trees": 1,
        "human": 1,
        "graph": 1,
    }


def test_raw_counts_can_be_set_and_changed():
    model = make(min_count=2)
    model.raw_vocab = {"graph": 3, "rare": 1}
    model.raw_vocab["trees"] = 2
    model.prepare_vocab()
    assert model.wv.index_to_key == ["graph", "trees"]


def test_an_update_for_which_a_replaced_table_has_no_rows_changes_nothing():
    model = BayesianSkipGram(vector_size=4, min_count=1)
    model.build_vocab(SENTENCES)
    words, counts = list(model.wv.index_to_key), (model.corpus_count, model.corpus_total_words)
    model.wv.vectors = model.wv.vectors[:, :2]
    for update in (
        lambda: model.build_vocab(MORE, update=True),
        lambda: model.build_vocab_from_freq({"entirely": 9, "new": 9}, update=True),
        lambda: model.prepare_vocab(update=True),
    ):
        with pytest.raises(ValueError, match=r"tensor means is float32\[\d+, 2\]"):
            update()
        assert model.wv.index_to_key == words
        assert len(model.wv.vectors) == len(words)
        assert (model.corpus_count, model.corpus_total_words) == counts
