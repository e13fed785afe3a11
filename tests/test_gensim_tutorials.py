"""gensim's Word2Vec, as its documentation teaches it, with only the import changed."""

import tempfile

import numpy as np
import pytest
from gensim.models.callbacks import CallbackAny2Vec
from gensim.test.utils import common_texts, datapath
from gensim.utils import simple_preprocess

from densvec import BayesianSkipGram as Word2Vec
from densvec import KeyedDensities as KeyedVectors

# A tiny corpus would be thinned away by the default `sample`, which suits real text.
TINY = {"sample": 0, "workers": 1}


class MyCorpus:
    """An iterable over gensim's packaged newspaper texts."""

    def __iter__(self):
        with open(datapath("lee_background.cor"), encoding="utf-8") as file:
            for line in file:
                yield simple_preprocess(line)


@pytest.fixture(scope="module")
def lee():
    return Word2Vec(sentences=MyCorpus(), vector_size=30, sample=1e-3, workers=1)


def test_usage_examples(tmp_path):
    model = Word2Vec(sentences=common_texts, vector_size=100, window=5, min_count=1, **TINY)
    path = str(tmp_path / "word2vec.model")
    model.save(path)
    model = Word2Vec.load(path)
    model.train([["hello", "world"]], total_examples=1, epochs=1)
    vector = model.wv["computer"]
    assert vector.shape == (100,)
    sims = model.wv.most_similar("computer", topn=10)
    assert len(sims) == 10
    assert all(-1 <= score <= 1 for _, score in sims)


def test_word_vectors_alone_are_saved_and_mapped(tmp_path):
    model = Word2Vec(sentences=common_texts, vector_size=10, min_count=1, **TINY)
    path = str(tmp_path / "word2vec.wordvectors")
    model.wv.save(path)
    wv = KeyedVectors.load(path, mmap="r")
    np.testing.assert_array_equal(wv["computer"], model.wv["computer"])
    with pytest.raises(ValueError, match="read-only"):
        wv.vectors[0] = 0


def test_word2vec_formats_go_both_ways(tmp_path):
    model = Word2Vec(sentences=common_texts, vector_size=10, min_count=1, **TINY)
    for binary in (False, True):
        path = str(tmp_path / f"vectors.{binary}")
        model.wv.save_word2vec_format(path, binary=binary)
        loaded = KeyedVectors.load_word2vec_format(path, binary=binary)
        assert loaded.index_to_key == model.wv.index_to_key
        np.testing.assert_allclose(loaded.vectors, model.wv.vectors, rtol=1e-5)


def test_training_your_own_model(lee):
    assert lee.wv["king"].shape == (30,)
    for index, word in enumerate(lee.wv.index_to_key):
        if index == 10:
            break
        assert lee.wv.get_index(word) == index
    with pytest.raises(KeyError):
        lee.wv["cameroon"]


def test_storing_and_loading(lee):
    with tempfile.NamedTemporaryFile(prefix="gensim-model-", delete=False) as tmp:
        lee.save(tmp.name)
        new_model = Word2Vec.load(tmp.name)
    np.testing.assert_array_equal(new_model.wv.vectors, lee.wv.vectors)
    assert new_model.wv.index_to_key == lee.wv.index_to_key


def test_training_parameters():
    assert len(Word2Vec(MyCorpus(), min_count=10, epochs=1, workers=1).wv) < len(
        Word2Vec(MyCorpus(), min_count=5, epochs=1, workers=1).wv
    )
    assert Word2Vec(MyCorpus(), vector_size=200, epochs=1, workers=1).wv.vectors.shape[1] == 200
    Word2Vec(MyCorpus(), workers=4, epochs=1)


def test_evaluating(lee):
    score, sections = lee.wv.evaluate_word_analogies(datapath("questions-words.txt"))
    assert 0 <= score <= 1
    assert sections[-1]["section"] == "Total accuracy"
    pearson, spearman, oov_ratio = lee.wv.evaluate_word_pairs(datapath("wordsim353.tsv"))
    assert 0 <= oov_ratio <= 100
    assert -1 <= pearson[0] <= 1
    assert -1 <= spearman[0] <= 1


def test_online_training(lee):
    with tempfile.NamedTemporaryFile(delete=False) as file:
        lee.save(file.name)
        model = Word2Vec.load(file.name)
    more = [
        ["Advanced", "users", "can", "load", "a", "model", "and", "continue", "training", "it"],
        ["with", "more", "sentences"],
    ]
    before = model.wv["australia"].copy()
    model.build_vocab(more * 5, update=True)
    assert "Advanced" in model.wv
    np.testing.assert_array_equal(model.wv["australia"], before)
    model.train(more * 5, total_examples=model.corpus_count, epochs=model.epochs)
    assert np.isfinite(model.wv.vectors).all()


def test_training_loss():
    model = Word2Vec(MyCorpus(), min_count=1, compute_loss=True, hs=0, sg=1, seed=42, epochs=2, workers=1)
    assert model.get_latest_training_loss() > 0


def test_a_corpus_file(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text("".join(" ".join(tokens) + "\n" for tokens in MyCorpus()), encoding="utf-8")
    model = Word2Vec(corpus_file=str(path), vector_size=10, epochs=1, workers=2)
    other = Word2Vec(MyCorpus(), vector_size=10, epochs=1, workers=2)
    assert model.wv.key_to_index == other.wv.key_to_index
    again = Word2Vec(vector_size=10, workers=2)
    again.build_vocab(corpus_file=str(path))
    again.train(corpus_file=str(path), total_words=again.corpus_total_words, epochs=1)
    assert again.train_count == 1


class EpochLogger(CallbackAny2Vec):
    """gensim's own base class, and its own example."""

    def __init__(self):
        self.epoch = 0
        self.events = []

    def on_train_begin(self, model):
        self.events.append("train begins")

    def on_epoch_begin(self, model):
        self.events.append(f"epoch {self.epoch} begins")

    def on_epoch_end(self, model):
        self.events.append(f"epoch {self.epoch} ends")
        self.epoch += 1

    def on_train_end(self, model):
        self.events.append("train ends")


def test_a_callback_written_for_gensim_works_unchanged():
    logger = EpochLogger()
    Word2Vec(common_texts, min_count=1, vector_size=20, epochs=2, callbacks=[logger], **TINY)
    assert logger.events == [
        "train begins",
        "epoch 0 begins",
        "epoch 0 ends",
        "epoch 1 begins",
        "epoch 1 ends",
        "train ends",
    ]


class EpochSaver(CallbackAny2Vec):
    """gensim's example of a callback that saves the model after each epoch."""

    def __init__(self, folder):
        self.folder = folder
        self.paths = []

    def on_epoch_end(self, model):
        self.paths.append(self.folder / f"epoch{len(self.paths)}.model")
        model.save(str(self.paths[-1]))


def test_a_callback_that_saves_every_epoch(tmp_path):
    saver = EpochSaver(tmp_path)
    Word2Vec(common_texts, min_count=1, vector_size=5, callbacks=[saver], **TINY)
    assert [len(Word2Vec.load(str(path)).loss_history) for path in saver.paths] == [1, 2, 3, 4, 5]


def test_callbacks_with_the_import_changed():
    from densvec.callbacks import CallbackAny2Vec

    class Counter(CallbackAny2Vec):
        epochs = 0

        def on_epoch_begin(self, model):
            self.epochs += 1

    counter = Counter()
    Word2Vec(common_texts, min_count=1, epochs=3, callbacks=[counter], **TINY)
    assert counter.epochs == 3


def test_building_the_vocabulary_by_hand():
    model = Word2Vec(min_count=1, **TINY)
    model.build_vocab(common_texts)
    assert model.train(common_texts, total_examples=model.corpus_count, epochs=model.epochs) is model
    model = Word2Vec()
    model.build_vocab_from_freq({"Word1": 15, "Word2": 20})
    assert model.wv.index_to_key == ["Word2", "Word1"]


def test_corpora_of_every_kind_give_the_same_model(tmp_path):
    from densvec.corpora import LineSentence, PathLineSentences

    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(" ".join(text) for text in common_texts))
    vectors = [
        Word2Vec(sentences, vector_size=5, min_count=1, **TINY).wv.vectors
        for sentences in (common_texts, LineSentence(path), PathLineSentences(tmp_path))
    ]
    np.testing.assert_array_equal(vectors[0], vectors[1])
    np.testing.assert_array_equal(vectors[0], vectors[2])


def test_names_that_gensim_4_removed_are_not_here_either():
    model = Word2Vec(common_texts, min_count=1, vector_size=5, **TINY)
    for wrong in (lambda: model.wv.vocab, lambda: model.most_similar("graph"), lambda: model.iter):
        with pytest.raises(AttributeError):
            wrong()
    with pytest.raises(TypeError):
        Word2Vec(common_texts, size=100, iter=5)
