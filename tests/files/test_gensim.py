"""Files of gensim, read without gensim: what gensim itself wrote, and what somebody wrote to do harm.

The files in ``gensim_3`` were written by gensim 3.8.3, with Python 3.7 and 2.7, and ``truth.json`` by the same scripts.
"""

import functools
import gzip
import itertools
import json
import os
import pickle
import struct
import subprocess
import sys
import tracemalloc
from pathlib import Path

import gensim
import numpy as np
import pytest
from gensim.models import Doc2Vec, FastText, KeyedVectors, Phrases, Word2Vec
from gensim.models.doc2vec import TaggedDocument

from densvec import BayesianSkipGram, DensvecFileError, KeyedDensities
from densvec.cli import main
from densvec.files import pickles

OLD = Path(__file__).parent / "gensim_3"
TEXT = [["the", "café", "日本", "dogs"], ["dog", "and", "dogs"], ["New York", "the"]] * 10
SIZE = {"vector_size": 6, "min_count": 1, "epochs": 1, "workers": 1}


@functools.cache
def make(kind):
    if kind is FastText:
        return FastText(TEXT, **SIZE, bucket=100, min_n=1, max_n=4)
    if kind is Doc2Vec:
        return Doc2Vec([TaggedDocument(words, [i]) for i, words in enumerate(TEXT)], **SIZE)
    return Word2Vec(TEXT, **SIZE, hs=1)


def check_same(wv, keyed):
    assert wv.index_to_key == keyed.index_to_key
    assert np.allclose(wv.vectors, keyed.vectors, atol=1e-6)
    assert wv.expandos["count"].tolist() == keyed.expandos["count"].tolist()


@pytest.mark.parametrize("kind", [Word2Vec, FastText, Doc2Vec])
@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("sep_limit", [0, 10 << 20])
def test_what_gensim_saves(tmp_path, kind, protocol, sep_limit):
    model = make(kind)
    model.save(str(tmp_path / "old.model"), sep_limit=sep_limit, pickle_protocol=protocol)
    model.wv.save(str(tmp_path / "old.kv"), sep_limit=sep_limit, pickle_protocol=protocol)
    for name, mmap in itertools.product(("old.model", "old.kv"), (None, "r", "c")):
        wv = KeyedDensities.load(tmp_path / name, mmap=mmap)
        check_same(wv, model.wv)
        assert wv.most_similar("dog", topn=1)[0][0] == model.wv.most_similar("dog", topn=1)[0][0]
        is_mapped = bool(mmap) and not sep_limit and kind is not FastText
        assert wv.vectors.flags.writeable == (mmap != "r" or not is_mapped)
        assert wv.vectors.flags.owndata != is_mapped


@pytest.mark.parametrize("ending", [".gz", ".bz2"])
@pytest.mark.parametrize("sep_limit", [0, 10 << 20])
def test_compressed(tmp_path, ending, sep_limit):
    path = tmp_path / f"old.kv{ending}"
    make(FastText).wv.save(str(path), sep_limit=sep_limit)
    check_same(KeyedDensities.load(path), make(FastText).wv)
    with pytest.raises(DensvecFileError, match="give max_bytes if you trust it"):
        KeyedDensities.load(path, max_bytes=500)


@pytest.mark.parametrize("name", ["words.kv", "fasttext.kv", "python2.model"])
@pytest.mark.parametrize("mmap", [None, "r"])
def test_gensim_3(name, mmap):
    truth = json.loads((OLD / "truth.json").read_text(encoding="utf-8"))[name]
    wv = KeyedDensities.load(OLD / name, mmap=mmap)
    assert wv.index_to_key == truth["words"]
    assert wv.expandos["count"].tolist() == truth["counts"]
    assert np.array_equal(wv.vectors, np.array(truth["vectors"], np.float32))
    for word, vector in truth["oov"].items():
        assert np.allclose(wv[word], vector, atol=1e-6)


THEIRS = Path(gensim.__file__).parent / "test" / "test_data"  # which gensim installs with itself
VERSIONS = ["0.13.4", "1.0.1", "2.3.0", "3.0.0", "3.1.0", "3.2.0", "3.3.0", "3.4.0"]


@pytest.mark.skipif(not THEIRS.is_dir(), reason="this gensim has no test data")
@pytest.mark.parametrize(
    "name", [*(f"old_w2v_models/w2v_{version}.mdl" for version in VERSIONS), "word2vec_old_sep"]
)
def test_gensims_own_old_models(name):
    check_same(KeyedDensities.load(THEIRS / name), Word2Vec.load(str(THEIRS / name)).wv)


@pytest.mark.skipif(not THEIRS.is_dir(), reason="this gensim has no test data")
@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("old_w2v_models/w2v_0.12.0.mdl", (3, 4)),
        ("word2vec_pre_kv_sep_py2", (9, 2)),
        ("word2vec_pre_kv_py3_4", (9, 2)),
        ("doc2vec_old_sep", (3955, 100)),
        ("w2v-lee-v0.12.0", (806, 100)),
    ],
)
def test_models_that_gensim_no_longer_opens(name, shape):
    wv = KeyedDensities.load(THEIRS / name)
    assert wv.vectors.shape == shape
    assert (wv.expandos["count"] > 0).all()


@pytest.mark.skipif(not THEIRS.is_dir(), reason="this gensim has no test data")
def test_ngrams_with_other_hashes_are_left_out():
    wv = KeyedDensities.load(THEIRS / "ft_kv_3.6.0.model.gz")
    assert len(wv) == 12
    assert wv.ngrams is None


def test_it_is_read_without_gensim(tmp_path):
    make(Word2Vec).save(str(tmp_path / "old.model"))
    code = (
        "import sys; sys.modules['gensim'] = None\n"
        f"from densvec import KeyedDensities; print(KeyedDensities.load({str(tmp_path / 'old.model')!r}))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert f"{len(make(Word2Vec).wv)} keys" in found.stdout


def test_no_words(tmp_path):
    KeyedVectors(3).save(str(tmp_path / "old.kv"))
    wv = KeyedDensities.load(tmp_path / "old.kv")
    assert (len(wv), wv.vector_size) == (0, 3)
    with pytest.raises(DensvecFileError, match=r"gensim's own files: KeyedDensities.load\(path\)"):
        BayesianSkipGram.load(tmp_path / "old.kv")


def test_vectors_that_no_model_can_use(tmp_path):
    keyed = KeyedVectors(2)
    keyed.add_vectors(["a", "b"], np.array([[1, np.nan], [1, 1]], np.float32))
    keyed.save(str(tmp_path / "old.kv"))
    with pytest.raises(DensvecFileError, match=r"old\.kv: the vectors hold NaN"):
        KeyedDensities.load(tmp_path / "old.kv")


def test_attributes(tmp_path):
    keyed = KeyedVectors(3)
    keyed.add_vectors(["a", "b"], np.eye(3, dtype=np.float32)[:2])
    keyed.set_vecattr("a", "weight", 1.5)
    keyed.set_vecattr("b", "label", "x")
    keyed.save(str(tmp_path / "old.kv"))
    wv = KeyedDensities.load(tmp_path / "old.kv")
    assert wv.get_vecattr("a", "weight") == 1.5
    assert wv.get_vecattr("b", "label") == "x"
    assert "code" not in KeyedDensities.load(_saved(make(Word2Vec), tmp_path)).expandos  # of hs=1: arrays


def test_callbacks_of_a_script_do_not_matter(tmp_path):
    model = Word2Vec(TEXT, **SIZE)
    model.callbacks = [type("Watch", (), {"__module__": "__main__"})]
    sys.modules["__main__"].Watch = model.callbacks[0]
    try:
        model.save(str(tmp_path / "old.model"))
    finally:
        del sys.modules["__main__"].Watch
    check_same(KeyedDensities.load(tmp_path / "old.model"), model.wv)


def _saved(model, folder):
    model.save(str(folder / "saved"))
    return folder / "saved"


def test_what_lies_beside_it(tmp_path):
    make(Word2Vec).save(str(tmp_path / "old.model"), sep_limit=0)
    beside = tmp_path / "old.model.wv.vectors.npy"
    whole = beside.read_bytes()
    for damaged in (whole[:-1], whole + b"\0", b"", whole.replace(b"'<f4'", b"'|O8'"), b"x" + whole[1:]):
        beside.write_bytes(damaged)
        with pytest.raises(DensvecFileError, match=r"old\.model"):
            KeyedDensities.load(tmp_path / "old.model")
    beside.unlink()
    with pytest.raises(FileNotFoundError, match=r"must lie beside it.*old.model.wv.vectors.npy"):
        KeyedDensities.load(tmp_path / "old.model")


def test_a_pickle_without_words(tmp_path):
    Phrases(TEXT).save(str(tmp_path / "phrases"))
    with pytest.raises(DensvecFileError, match=r"gensim\.models\.phrases\.Phrases, which has no words"):
        KeyedDensities.load(tmp_path / "phrases")


def test_import(tmp_path, capsys):
    make(FastText).save(str(tmp_path / "old.model"))
    assert main(["import", str(tmp_path / "old.model"), "-o", str(tmp_path / "new.dv")]) == 0
    assert "from gensim" in capsys.readouterr().out
    new = KeyedDensities.load(tmp_path / "new.dv")
    check_same(new, make(FastText).wv)
    assert np.allclose(new["unheard"], make(FastText).wv["unheard"], atol=1e-6)
    assert main(["similar", str(tmp_path / "old.model"), "dog"]) == 0


# Somebody wrote a file to do harm.


class Call:
    """Pickled as the call of a function."""

    def __init__(self, function, *arguments):
        self.call = (function, arguments)

    def __reduce__(self):
        return self.call


def with_attribute(value, protocol=4):
    """Return the pickle of vectors that are whole, with something in an attribute of theirs."""
    keyed = KeyedVectors(2)
    keyed.add_vectors(["a"], np.ones((1, 2), np.float32))
    keyed.extra = value
    return pickle.dumps(keyed, protocol)


def refusal(path, data):
    path.write_bytes(data)
    with pytest.raises(DensvecFileError, match=r"old\.kv: ") as refused:
        KeyedDensities.load(path)
    return str(refused.value)


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize(
    ("function", "argument"), [(os.system, "touch {}"), (eval, "open({!r}, 'w')"), (exec, "open({!r}, 'w')")]
)
def test_nothing_is_run(tmp_path, protocol, function, argument):
    marker = tmp_path / "marker"
    data = with_attribute(Call(function, argument.format(str(marker))), protocol)
    pickle.loads(data)
    assert marker.exists(), "it does harm"
    marker.unlink()
    assert f"{function.__name__}', which no such file needs: nothing was run" in refusal(
        tmp_path / "old.kv", data
    )
    assert not marker.exists()


ACTING = "REDUCE BUILD INST OBJ NEWOBJ NEWOBJ_EX EXT1 EXT2 EXT4 PERSID BINPERSID NEXT_BUFFER READONLY_BUFFER"


def test_no_operation_of_python_that_acts_is_left():
    for name in ACTING.split():
        code = getattr(pickle, name)[0]
        assert pickles._Unpickler.dispatch.get(code) is not pickle._Unpickler.dispatch[code]
    assert pickles._Unpickler.find_class is not pickle._Unpickler.find_class


def text(value):
    return b"\x8c" + bytes([len(value)]) + value.encode()


def named(module, name):
    return text(module) + text(name) + b"\x93"


OBJECT = named("gensim.models.keyedvectors", "KeyedVectors") + b")\x81"


@pytest.mark.parametrize(
    ("operations", "message"),
    [
        (named("builtins", "getattr") + named("os", "system"), "builtins.getattr"),
        (named("gensim.utils", "os.system"), "gensim.utils.os.system"),
        (named("gensim", "utils.os.system"), "gensim.utils.os.system"),
        (named("numpy.core.multiarray", "fromfile"), "fromfile"),
        (named("numpy.testing._private.utils", "runstring"), "runstring"),
        (named("copyreg", "add_extension"), "add_extension"),
        (b"cos\nsystem\n" + text("true") + b"\x85R", "os.system"),
        (b"(" + text("true") + b"ios\nsystem\n", "damaged"),  # INST
        (b"(" + named("gensim.m", "x") + b"o", "damaged"),  # OBJ
        (b"Pname\n", "damaged"),  # a persistent id
        (b"\x82\x01", "damaged"),  # EXT1
        (OBJECT + b")R", "neither a class nor a function"),
        (text("os.system") + text("true") + b"\x85R", "neither a class nor a function"),
        (named("gensim.m", "x") + text("a") + b"R", "neither a class nor a function"),
        (named("gensim.m", "x") + b"}b", "a state to what can have none"),
        (b"]}b", "a state to what can have none"),
        (OBJECT + b"}b}b", "a state to what can have none"),
        (b"}" + b"]K\x01s", "neither words nor numbers"),
        (b"}K\x01a", "adds items to a dict"),
        (OBJECT + b"0", "damaged"),  # POP
        (b"h\x07", "damaged"),
        (b"a", "damaged"),
        (b"R", "damaged"),
        (b"e", "damaged"),
        (b"", "damaged"),
        (OBJECT, "lacks"),
        (b"K\x01", "lacks"),
    ],
)
def test_operations_that_no_file_of_gensim_has(tmp_path, operations, message):
    frame = struct.pack("<Q", len(operations) + 1)
    assert message in refusal(tmp_path / "old.kv", b"\x80\x04\x95" + frame + operations + b".")


BOMBS = {
    "a memo's number": b"Nr" + struct.pack("<I", 1 << 31),
    "a promised length": b"\x8e" + struct.pack("<Q", 1 << 40),
    "another": b"\x96" + struct.pack("<Q", 1 << 40),
    "a frame": b"\x95" + struct.pack("<Q", 1 << 40),
    "a hash without end": b"})" + b"".join(b"q%ch%c\x86" % (i, i) for i in range(100)) + b"Ns",
    "a deep hash": b"})" + b"\x85" * 500_000 + b"Ns",
    "a deep list": b"]" * 200_000 + b"a" * 199_999,
    "many dictionaries": b"}" * 1_000_000,
    "many marks": b"(" * 1_000_000,
    "many memos": b"N" + b"\x94" * 1_000_000,
    "a long number": b"\x8b" + struct.pack("<I", 1 << 30),
}


@pytest.mark.parametrize("name", BOMBS)
def test_little_memory(tmp_path, name):
    data = b"\x80\x02c" + b"gensim.m\nx\n" + BOMBS[name] + b"."
    tracemalloc.start()
    try:
        refusal(tmp_path / "old.kv", data)
        assert tracemalloc.get_traced_memory()[1] < (8 << 20) + 50 * len(data)
    finally:
        tracemalloc.stop()


def test_shapes_that_are_not_there(tmp_path):
    data = with_attribute(None, 2)
    assert b"K\x01K\x02\x86" in data
    for shape in (
        b"J\xff\xff\xff\x7fK\x02\x86",
        b"K\x01J\xff\xff\xff\x7f\x86",
        b"K\x01J\xff\xff\xff\xff\x86",
    ):
        refusal(tmp_path / "old.kv", data.replace(b"K\x01K\x02\x86", shape))
    make(Word2Vec).wv.save(str(tmp_path / "old.kv"), sep_limit=0)
    beside = tmp_path / "old.kv.vectors.npy"
    rows = len(make(Word2Vec).wv)
    beside.write_bytes(
        beside.read_bytes().replace(b"(%d, 6), }            " % rows, b"(%d, 6), }" % (rows * 10**12))
    )
    refusal(tmp_path / "old.kv", (tmp_path / "old.kv").read_bytes())


def test_a_small_file_that_unpacks_to_a_large_one(tmp_path):
    path = tmp_path / "old.kv.gz"
    path.write_bytes(gzip.compress(b"\x80\x02cgensim.m\nx\n" + bytes(100 << 20)))
    with pytest.raises(DensvecFileError, match="unpacks to more than 67,108,864 bytes"):
        KeyedDensities.load(path)
