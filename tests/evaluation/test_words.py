"""Tasks about single words: neighbours, senses, hypernyms, new words, change; and texts."""

import numpy as np
import pytest

from conftest import example_densities
from densvec import BayesianSkipGram, KeyedDensities
from densvec.datasets import toy_language
from densvec.evaluation import (
    BenchmarkFileError,
    chimeras,
    graded_change,
    hypernym_discovery,
    nearest_neighbours,
    nonces,
    sense_induction,
    text_similarity,
)
from densvec.evaluation.baselines import Means
from densvec.evaluation.hypernyms import read_hypernyms
from densvec.evaluation.in_context import read_sense_induction
from densvec.text.concordance import Occurrence
from tests.evaluation.cases import NONE, around_the_circle, vectors, write


@pytest.fixture(scope="module")
def wv():
    return BayesianSkipGram(toy_language(2000), vector_size=16, sample=0.01, epochs=5, workers=1, seed=1).wv


def test_neighbours_are_sought_among_all_words(tmp_path):
    # The best-rated fifth is a-b. From a (0°), b (10°) is the second after d (5°); from b the third, after d and c.
    write(tmp_path / "EN-SIMLEX-999.txt", "a b 9\na c 2\nb c 3\nc d 1\nb d 2\n")
    results = nearest_neighbours(around_the_circle(a=0, b=10, c=13, d=5), tmp_path, bootstrap=NONE)
    assert float(results[tmp_path.name, "MRR", "cosine"]) == pytest.approx((1 / 2 + 1 / 3) / 2)
    assert not nearest_neighbours(around_the_circle(a=0), write(tmp_path / "none" / "x", "").parent)


def test_hypernyms_are_sought_among_all_words(tmp_path):
    data = write(tmp_path / "1A.data", "dog\tConcept\ncat\tConcept\nbig dog\tConcept\n")
    write(tmp_path / "1A.gold", "animal\tdomestic animal\ncar\tanimal\nanimal\n")
    answers = {"given": lambda queries: [["car", "animal"], ["car", "animal"]][: len(queries)]}
    results = hypernym_discovery(example_densities(), data, methods=answers, bootstrap=NONE)
    assert float(results["1A", "MAP", "given"]) == pytest.approx((1 / 2 + 1) / 2)
    assert float(results["1A", "MRR", "given"]) == pytest.approx((1 / 2 + 1) / 2)
    assert {each.method for each in results} == {"wv.hypernyms", "cosine", "cosine + .05 log f", "given"}
    write(tmp_path / "1A.gold", "animal\n")
    with pytest.raises(BenchmarkFileError, match=r"has 3 lines, and .* 1 answers"):
        hypernym_discovery(example_densities(), data)


def test_senses_are_compared_with_the_truth(wv, tmp_path):
    occurrences = list(toy_language(2000).occurrences("kiwi", 40))
    lines = [
        "\t".join(" ".join(side) for side in (o.tokens[: o.position], o.tokens[o.position + 1 :]))
        for o in occurrences
    ]
    path = write(tmp_path / "semeval.txt", "\n".join([f"kiwi.n {len(lines)}", *lines]))
    key = [f"kiwi.n kiwi.n.{i} {each.sense.replace(' ', '_')}" for i, each in enumerate(occurrences, 1)]
    write(tmp_path / "semeval.key", "\n".join(key))
    (word,) = read_sense_induction(path)
    assert all(use.word == "kiwi" for use in word.occurrences)
    truth = {"truth": lambda words: [each.senses for each in words]}
    results = sense_induction(wv, path, methods=truth, bootstrap=NONE)
    for measure in ("ARI", "V", "paired F"):
        assert float(results["semeval", measure, "truth"]) == pytest.approx(1)
        assert float(results["semeval", measure, "2-means of averages"]) > 0.3
    assert float(results["semeval", "ARI", "one sense"]) == 0
    assert float(results["semeval", "number of senses", "one sense"]) == 1
    assert -1 <= float(results["semeval", "ARI", "wv.senses"]) <= 1
    write(tmp_path / "semeval.key", key[0])
    with pytest.raises(BenchmarkFileError, match=r"line 3: the key has no sense for kiwi\.n\.2"):
        read_sense_induction(path)


def test_a_word_is_looked_for_where_its_definition_puts_it(tmp_path):
    path = write(
        tmp_path / "nonce.txt",
        "# comment\ndog\ta ___ is like a cat\nunicorn\ta ___ is no cat\ncar\t___ ___\n",
    )
    results = nonces(
        example_densities(), path, methods={"first": lambda items: [1.0] * len(items)}, bootstrap=NONE
    )
    # From "cat" alone, the nearest words are cat, animal, dog, car.
    assert float(results["nonce", "MRR", "average"]) == pytest.approx(1 / 3)
    assert float(results["nonce", "median rank", "average"]) == 3
    assert float(results["nonce", "MRR", "first"]) == 1


def test_chimeras_are_compared_with_their_probes(tmp_path):
    path = write(tmp_path / "chimeras_l2.txt", "1\tthe ___ is a cat , a ___ dog\tdog,car,unicorn\t5,1,3\n")
    results = chimeras(example_densities(), path, bootstrap=NONE)
    assert {each.method: float(each.value) for each in results} == pytest.approx(
        {"wv.learn": 1, "average": 1}
    )
    write(path, "1\tthe ___\tdog,car\t5\n")
    with pytest.raises(BenchmarkFileError, match="line 1: there are 2 probes and 1 ratings"):
        chimeras(example_densities(), path)


def test_texts_are_compared_in_pairs(tmp_path):
    lines = ['"a dog , a cat","the cat",4.5', "dog cat,car,0.5", "animal,dog,3.5", "unicorn,dog,1"]
    results = text_similarity(
        example_densities(), write(tmp_path / "sts.csv", "\n".join(lines)), bootstrap=NONE
    )
    assert {(each.known, each.items) for each in results} == {(3, 4)}
    for method in ("wv.text_similarities", "average", "thinned average"):
        assert float(results["sts", "Spearman", method]) > 0.4
    with pytest.raises(BenchmarkFileError, match="line 1: expected two sentences and a rating, found 2"):
        text_similarity(example_densities(), write(tmp_path / "sts.csv", "dog,3"))


def test_change_is_how_far_uses_differ(tmp_path):
    words = {"bank": (1, 1), "chair": (1, -1), "money": (1, 0), "river": (0, 1), "seat": (1, -0.9)}
    header = "grouping\tcontext_tokenized\tindexes_target_token_tokenized\n"
    uses = {"bank_nn": ["river", "money"], "chair_nn": ["seat", "seat"], "unicorn_nn": ["seat", "river"]}
    for name, contexts in uses.items():
        lines = [f"{time}\tThe {context} Banks\t2\n" for time, context in enumerate(contexts, 1)] * 3
        write(tmp_path / "dwug_en" / f"{name}.csv", header + "".join(lines))
    changes = "lemma\tchange_graded\nbank_nn\t0.8\nchair_nn\t0.1\nunicorn_nn\t0.9\n"
    write(tmp_path / "dwug_en" / "change.tsv", changes)
    results = graded_change(vectors(words), tmp_path / "dwug_en", bootstrap=NONE)
    assert {(each.known, each.items) for each in results} == {(2, 3)}
    for method in ("average", "mean distance"):
        assert float(results["dwug_en", "Spearman", method]) == pytest.approx(1)
    write(tmp_path / "dwug_en" / "bank_nn.csv", header + "3\tThe bank\t1\n")
    with pytest.raises(BenchmarkFileError, match=r"bank_nn\.csv, line 2: expected grouping 1 or 2"):
        graded_change(vectors(words), tmp_path / "dwug_en")


def test_averages_read_the_words_around(wv):
    means = Means(vectors({"a": (1, 0), "b": (0, 1), "c": (1, 1)}, [1, 1, 1]))
    use = Occurrence(["a", "unknown", "c", "b", "b"], 2)
    around = means.around([use])[0]
    assert around == pytest.approx((means.units[0] + 2 * means.units[1]) / 3)
    near = means.around([use], reach=1)[0]  # the first word on each side, and nothing beyond
    assert near == pytest.approx((means.units[0] + means.units[1]) / 2, abs=1e-6)
    assert not means.around([Occurrence(["a"], 0)]).any()
    assert np.all(Means(wv).keep <= 1)


def test_vectors_without_counts_have_those_of_the_model(wv, tmp_path):
    wv.save_word2vec_format(tmp_path / "vectors.txt")
    read = KeyedDensities.load_word2vec_format(tmp_path / "vectors.txt")
    assert Means(read).keep.min() == 1
    assert np.array_equal(Means(read, like=wv).keep, Means(wv).keep)
    assert Means(wv, like=read).counts.sum() == wv.expandos["count"].sum()


def test_answers_are_found_in_a_folder_whose_name_looks_like_a_file(tmp_path):
    folder = tmp_path / "semeval.data"
    folder.mkdir()
    write(folder / "1A.gold", "animal\n")
    assert read_hypernyms(write(folder / "1A.data", "dog\tConcept\n"))[0].hypernyms == {"animal"}
