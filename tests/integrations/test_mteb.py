"""Models as mteb evaluates them, on a small task that is made here."""

import numpy as np
import pytest

mteb = pytest.importorskip("mteb")
datasets = pytest.importorskip("datasets")

from mteb.abstasks import AbsTaskSTS
from mteb.abstasks.task_metadata import TaskMetadata
from scipy.stats import spearmanr

import densvec
from densvec.integrations.mteb import MtebEncoder

PAIRS = [
    ("a violin sonata in three movements", "the orchestra played a symphony", 4.0),
    ("a new tax law passed", "parliament voted on the budget", 4.5),
    ("a violin sonata in three movements", "a new tax law passed", 0.0),
    ("the dog barks", "parliament voted on the budget", 0.5),
    ("the dog barks", "a cat meows", 3.0),
]


class Pairs(AbsTaskSTS):
    metadata = TaskMetadata(
        name="DensvecPairs",
        description="Sentences that are alike or not.",
        reference=None,
        dataset={"path": "made/here", "revision": "1"},
        type="STS",
        category="t2t",
        modalities=["text"],
        eval_splits=["test"],
        eval_langs=["eng-Latn"],
        main_score="cosine_spearman",
        date=None,
        domains=None,
        task_subtypes=None,
        license=None,
        annotations_creators=None,
        dialect=None,
        sample_creation=None,
        bibtex_citation="",
    )
    min_score, max_score = 0, 5

    def load_data(self, *args, **kwargs):
        columns = dict(zip(("sentence1", "sentence2", "score"), zip(*PAIRS, strict=True), strict=True))
        self.dataset = datasets.DatasetDict({"test": datasets.Dataset.from_dict(columns)})
        self.data_loaded = True


def test_the_benchmark_measures_the_similarity_of_texts(tmp_path):
    english = densvec.load("english")
    model = MtebEncoder(english, "densvec/english", "1")
    cache = mteb.ResultCache(tmp_path)
    [result] = mteb.evaluate(model, Pairs(), cache=cache, show_progress_bar=False).task_results
    [scores] = result.scores["test"]
    expected = spearmanr(
        english.text_similarities([pair[:2] for pair in PAIRS]), [pair[2] for pair in PAIRS]
    )[0]
    for name in ("spearman", "cosine_spearman", "main_score"):
        assert scores[name] == pytest.approx(expected)
    assert expected > 0.5
    assert list(tmp_path.glob("**/densvec__english/1/DensvecPairs.json"))


def test_similarities():
    english = densvec.load("english").restrict(2000)
    model = MtebEncoder(english)
    vectors = model.encode([{"text": ["the king"]}, {"text": ["a river", "water"]}])
    np.testing.assert_allclose(np.diag(model.similarity(vectors, vectors)), np.ones(3), rtol=1e-5)
    pairs = model.similarity_pairwise(vectors[:2], vectors[1:])
    np.testing.assert_allclose(pairs, np.diag(model.similarity(vectors[:2], vectors[1:])), rtol=1e-5)
