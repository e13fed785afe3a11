"""``densvec import``, with gensim writing and reading the files."""

import numpy as np
import pytest
from gensim.models import FastText, KeyedVectors
from gensim.models.fasttext import save_facebook_model

from densvec import KeyedDensities
from densvec.cli import main
from tests.cli.cases import answer

WORDS = ["dog", "café", "日本"]


@pytest.fixture
def vectors():
    keyed = KeyedVectors(5)
    keyed.add_vectors(WORDS, np.random.default_rng(0).normal(size=(3, 5)).astype(np.float32))
    return keyed


@pytest.mark.parametrize(
    ("form", "options"),
    [
        ("word2vec", {}),
        ("word2vec-binary", {"binary": True}),
        ("glove", {"write_header": False}),
    ],
)
def test_formats_are_found_out(vectors, tmp_path, capsys, form, options):
    vectors.save_word2vec_format(tmp_path / "vectors", **options)
    [found] = answer(capsys, "import", tmp_path / "vectors", "-o", tmp_path / "model.dv")
    assert found["format"] == form
    wv = KeyedDensities.load(tmp_path / "model.dv")
    assert wv.index_to_key == WORDS
    assert np.allclose(wv.vectors, vectors.vectors, atol=1e-6)
    assert main(["import", str(tmp_path / "vectors"), "-o", str(tmp_path / "model.dv")]) == 2
    [found] = answer(
        capsys, "import", tmp_path / "vectors", "-o", tmp_path / "model.dv", "--overwrite", "--limit", 2
    )
    assert found["words"] == 2


@pytest.mark.parametrize("bucket", [0, 100])
def test_fasttext(tmp_path, capsys, bucket):
    text = [["the", "café", "日本", "dogs"], ["dog", "and", "dogs"]] * 10
    model = FastText(text, vector_size=6, min_count=1, epochs=1, bucket=bucket, workers=1, min_n=1, max_n=4)
    save_facebook_model(model, str(tmp_path / "model.bin"))
    [found] = answer(capsys, "import", tmp_path / "model.bin", "-o", tmp_path / "model.dv")
    assert found["format"] == "fasttext"
    wv = KeyedDensities.load(tmp_path / "model.dv")
    assert set(wv.index_to_key) == set(model.wv.index_to_key)
    for word in model.wv.index_to_key:
        assert np.allclose(wv[word], model.wv[word], atol=1e-6), word
        assert wv.get_vecattr(word, "count") == model.wv.get_vecattr(word, "count")
    whole = (tmp_path / "model.bin").read_bytes()
    for size in range(4, len(whole) - 200, 37):  # the output matrix at the end is not needed
        (tmp_path / "short.bin").write_bytes(whole[:size])
        assert main(["import", str(tmp_path / "short.bin"), "-o", str(tmp_path / "x.dv")]) == 1
        error = capsys.readouterr().err
        assert "truncated" in error
        assert "short.bin" in error
    (tmp_path / "least.bin").write_bytes(
        whole[:44] + (-(1 << 31)).to_bytes(4, "little", signed=True) + whole[48:]
    )
    [found] = answer(capsys, "import", tmp_path / "least.bin", "-o", tmp_path / "least.dv")
    assert found["words"] == len(wv)


def test_glove_and_back(vectors, tmp_path, capsys):
    vectors.save_word2vec_format(tmp_path / "theirs", write_header=False)
    answer(capsys, "import", tmp_path / "theirs", "-o", tmp_path / "model.dv")
    assert (
        main(["export", str(tmp_path / "model.dv"), "--format", "glove", "-o", str(tmp_path / "ours")]) == 0
    )
    assert (tmp_path / "ours").read_text() == (tmp_path / "theirs").read_text()


def test_export_and_back(model, tmp_path):
    means, variances = str(tmp_path / "means.txt"), str(tmp_path / "variances.txt")
    assert main(["export", model, "--format", "word2vec", "-o", means, "--variances", variances]) == 0
    assert main(["import", means, "-o", str(tmp_path / "back.dv"), "--variances", variances]) == 0
    ours, theirs = KeyedDensities.load(model), KeyedDensities.load(tmp_path / "back.dv")
    assert ours.kl_divergence("kiwi", "owl") == pytest.approx(theirs.kl_divergence("kiwi", "owl"), rel=1e-4)


def test_what_is_no_vectors(tmp_path, capsys):
    (tmp_path / "text.txt").write_text("It was a dark night.\n")
    assert main(["import", str(tmp_path / "text.txt"), "-o", str(tmp_path / "x.dv")]) == 1
    assert "any of the formats" in capsys.readouterr().err
