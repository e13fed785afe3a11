"""The index of occurrences: complete, resumable, and it tells the senses of a word apart."""

import itertools

import numpy as np
import pytest

from densvec import BayesianSkipGram, DensvecFileError
from densvec.cli import main
from densvec.datasets import toy_language
from densvec.search.occurrences import Occurrences, content_words, index_occurrences

SENTENCES = list(toy_language(3000, seed=1))


@pytest.fixture(scope="module")
def wv():
    return BayesianSkipGram(SENTENCES, vector_size=20, alpha=0.05, epochs=10, workers=1, seed=3).wv


@pytest.fixture(scope="module")
def kiwis(wv, tmp_path_factory):
    return index_occurrences(wv, SENTENCES, tmp_path_factory.mktemp("kiwis"), words=["kiwi"], part_size=50)


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_every_occurrence_is_there(wv, kiwis):
    expected = [(" ".join(s), i) for s in SENTENCES for i, token in enumerate(s) if token == "kiwi"]
    places, _ = kiwis.densities()
    found = [kiwis.occurrence(place) for place in places]
    assert [(" ".join(place.tokens), place.position) for place in found] == expected
    assert len(kiwis) == kiwis.count("kiwi") == len(expected) > 50
    assert len(list(Occurrences(kiwis.folder, wv).densities("kiwi")[0])) == len(expected)


def test_posteriors_are_those_of_infer(wv, kiwis):
    places, posteriors = kiwis.densities()
    for i in range(0, len(places), 37):
        place = kiwis.occurrence(places[i])
        exact = wv.infer(place.tokens, word="kiwi", position=place.position)
        np.testing.assert_allclose(posteriors.mean[i], exact.mean, rtol=1e-3, atol=1e-3)
        np.testing.assert_allclose(posteriors.variance[i], exact.variance, rtol=2e-3)


def test_an_occurrence_finds_itself(wv, kiwis):
    places, _ = kiwis.densities()
    place = kiwis.occurrence(places[len(places) // 2])
    found = kiwis.where(wv.infer(place.tokens, word="kiwi", position=place.position), "kiwi", topn=3)
    assert found[0].tokens == place.tokens
    assert f"[[{place.word}]]" in found[0].text
    assert [p.score for p in found] == sorted((p.score for p in found), reverse=True)


def test_it_tells_senses_apart(wv, kiwis):
    """Occurrences nearest to a kiwi among birds stand among words of birds, those near a fruit among words of fruit."""
    bird = kiwis.where(wv.infer("flightless shy digs forest burrow", word="kiwi"), "kiwi", topn=20)
    fruit = kiwis.where(wv.infer("ripe sweet juicy tastes peel", word="kiwi"), "kiwi", topn=20)

    def words(found):
        return set(itertools.chain.from_iterable(place.tokens for place in found))

    signs_of_bird, signs_of_fruit = {"flightless", "burrow", "digs"}, {"ripe", "juicy", "tastes"}
    assert not {tuple(p.tokens) for p in bird} & {tuple(p.tokens) for p in fruit}
    assert len(words(bird) & signs_of_bird) > len(words(bird) & signs_of_fruit)
    assert len(words(fruit) & signs_of_fruit) > len(words(fruit) & signs_of_bird)


def test_an_interrupted_index_is_continued(wv, tmp_path):
    def broken():
        yield from SENTENCES[:2500]
        raise KeyboardInterrupt

    whole, resumed = tmp_path / "whole", tmp_path / "resumed"
    index_occurrences(wv, SENTENCES, whole, words=["kiwi", "dog"], part_size=50)
    with pytest.raises(KeyboardInterrupt):
        index_occurrences(wv, broken(), resumed, words=["kiwi", "dog"], part_size=50)
    begun = Occurrences(resumed, wv)
    assert "not complete" in repr(begun)
    assert len(begun) > 0
    index_occurrences(wv, SENTENCES, resumed, words=["kiwi", "dog"], part_size=50)
    one, other = Occurrences(whole, wv), Occurrences(resumed, wv)
    assert other.is_complete
    assert one.densities()[0] == other.densities()[0]
    assert one.densities()[1] == other.densities()[1]
    before = files(resumed)
    index_occurrences(wv, SENTENCES, resumed, words=["kiwi", "dog"], part_size=50)  # nothing is left to do
    assert files(resumed) == before


def test_other_arguments_do_not_continue_it(wv, tmp_path):
    index_occurrences(wv, SENTENCES[:100], tmp_path, words=["kiwi"])
    with pytest.raises(ValueError, match=r"other settings \(words\)"):
        index_occurrences(wv, SENTENCES[:100], tmp_path, words=["dog"])
    with pytest.raises(ValueError, match=r"other settings \(dtype\)"):
        index_occurrences(wv, SENTENCES[:100], tmp_path, words=["kiwi"], dtype="float32")


def test_another_corpus_does_not_continue_it(wv, tmp_path):
    index_occurrences(wv, SENTENCES[:200], tmp_path, words=["kiwi"], part_size=20)
    before = files(tmp_path)
    for other in (SENTENCES[1:201], SENTENCES[:50], [SENTENCES[0] + SENTENCES[1], *SENTENCES[2:]]):
        with pytest.raises(ValueError, match="another corpus"):
            index_occurrences(wv, other, tmp_path, words=["kiwi"], part_size=20)
        assert files(tmp_path) == before
    longer = index_occurrences(wv, SENTENCES[:400], tmp_path, words=["kiwi"], part_size=20)
    assert len(longer) == sum(tokens.count("kiwi") for tokens in SENTENCES[:400])


def test_another_model_is_refused(wv, kiwis):
    other = BayesianSkipGram(SENTENCES[:300], vector_size=12, min_count=1, epochs=1, workers=1).wv
    with pytest.raises(ValueError, match="another model"):
        Occurrences(kiwis.folder, other)


def test_content_words_leave_out_the_most_frequent(wv):
    words = content_words(wv, max_share=0.01)
    total = wv.expandos["count"].sum()
    assert set(words) == {key for key in wv.index_to_key if wv.get_vecattr(key, "count") <= 0.01 * total}


def test_damage_is_named(wv, tmp_path):
    with pytest.raises(FileNotFoundError, match="not an index of occurrences"):
        Occurrences(tmp_path, wv)
    with pytest.raises(KeyError, match="unicorn"):
        index_occurrences(wv, SENTENCES, tmp_path, words=["unicorn"])
    index_occurrences(wv, SENTENCES, tmp_path, words=["kiwi"], part_size=50)
    (tmp_path / "occurrences-00000.dv").unlink()
    with pytest.raises(DensvecFileError, match="missing"):
        Occurrences(tmp_path, wv)
    for part in tmp_path.glob("*.dv"):
        part.unlink()
    for again in (
        lambda: Occurrences(tmp_path, wv),
        lambda: index_occurrences(wv, SENTENCES, tmp_path, ["kiwi"]),
    ):
        with pytest.raises(DensvecFileError, match="missing"):
            again()
    for text in ("{", 100_000 * "["):
        (tmp_path / "occurrences.json").write_text(text)
        with pytest.raises(DensvecFileError, match="not JSON"):
            Occurrences(tmp_path, wv)


def test_occurrences_in_a_search_engine(wv, kiwis):
    pytest.importorskip("faiss")
    from densvec.search import FaissIndex

    places, posteriors = kiwis.densities()
    index = FaissIndex(posteriors, keys=places, factory="Flat")
    query = wv.infer("flightless shy digs forest burrow", word="kiwi")
    exact = [(place.tokens, pytest.approx(place.score)) for place in kiwis.where(query, topn=5)]
    assert [
        (kiwis.occurrence(key).tokens, score) for key, score in index.most_similar(query, topn=5)
    ] == exact


def test_the_commands(wv, tmp_path, capsys):
    model, corpus, folder = (str(tmp_path / name) for name in ("model.dv", "corpus.txt", "index"))
    wv.save(model)
    with open(corpus, "w", encoding="utf-8") as file:
        file.writelines(" ".join(tokens) + "\n" for tokens in SENTENCES)
    assert main(["index", model, corpus, "-o", folder, "--words", "kiwi", "-q"]) == 0
    assert "occurrences of 1 word" in capsys.readouterr().out
    assert main(["where", model, folder, "a ripe [[kiwi]] tastes sweet", "-n", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert all("[[kiwi]]" in line for line in lines)
    assert main(["where", model, folder, "a ripe [[kiwi]] tastes sweet", "--any-word", "--json"]) == 0
    assert '"occurrences": [{"word": "kiwi"' in capsys.readouterr().out
    assert main(["index", model, corpus, "-o", folder, "--words", "dog"]) == 1
    assert "other settings (words)" in capsys.readouterr().err
    assert main(["index", model, corpus, "-o", folder, "--max-share", "0"]) == 2
