"""Files that are damaged, disks that are full: one sentence that names the file, and what was there stays."""

import contextlib
import gzip
import os
import subprocess
import sys

import pytest

from densvec.cli import main
from tests.cli.cases import QUICK, command, environment

resource = pytest.importorskip("resource", reason="this system has no limits of files")

WRITES = {
    "train": ("train", "CORPUS", *QUICK, "--quiet", "--overwrite", "-o", "out.dv"),
    "compress": ("compress", "MODEL", "--overwrite", "-o", "out.dv"),
    "import": ("import", "VECTORS", "--overwrite", "-o", "out.dv"),
    "phrases": ("phrases", "CORPUS", "--quiet", "--overwrite", "-o", "out.txt"),
    "answers": ("similar", "MODEL", "kiwi", "dog", "-n", "200", "-o", "out.csv"),
    "plot": ("plot", "MODEL", "kiwi", "dog", "-o", "out.png"),
    **{
        name: ("export", "MODEL", "--format", name, "--overwrite", "-o", "out")
        for name in ("word2vec", "word2vec-binary", "gensim")
    },
}
"""Every command that writes a file, and what it writes."""


@contextlib.contextmanager
def full_disk(room):
    """Let no file grow beyond some bytes, which fails where writing to a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture
def place(tmp_path, model, corpus, monkeypatch):
    monkeypatch.chdir(tmp_path)
    vectors = tmp_path / "vectors.txt"
    assert main(["export", model, "--format", "word2vec", "-o", str(vectors)]) == 0
    return {"MODEL": model, "CORPUS": str(corpus), "VECTORS": str(vectors)}


@pytest.mark.parametrize("name", WRITES)
def test_a_full_disk_leaves_the_old_file(name, place, capsys):
    if name == "plot":
        pytest.importorskip("matplotlib")
    if name == "gensim":
        pytest.importorskip("gensim")
    arguments = [place.get(each, each) for each in WRITES[name]]
    target = arguments[-1]
    assert main(arguments) == 0
    with open(target, "rb") as file:
        whole = file.read()
    before = set(os.listdir())
    capsys.readouterr()
    for room in (0, len(whole) // 2):
        with full_disk(room):
            assert main(arguments) == 1
        error = capsys.readouterr().err.splitlines()[-1]
        assert target in error
        assert "File too large" in error
        with open(target, "rb") as file:
            assert file.read() == whole
        assert set(os.listdir()) == before


def test_text_kept_from_standard_input_needs_a_disk_that_is_named(place, tmp_path):
    with open(place["CORPUS"], "rb") as text:
        done = subprocess.run(
            command("train", "-", "-o", "out.dv", *QUICK),
            stdin=text,
            capture_output=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)),
            env=environment(TMPDIR=str(tmp_path)),
            cwd=tmp_path,
            check=False,
        )
    assert done.returncode == 1
    assert f"{tmp_path}/densvec-" in done.stderr.decode()


@pytest.mark.parametrize("of", ["VECTORS", "VARIANCES"])
def test_import_never_replaces_what_it_reads(of, place, tmp_path, capsys):
    variances = str(tmp_path / "variances.txt")
    options = ["--variances", variances, "--overwrite"]
    assert main(["export", place["MODEL"], "--format", "word2vec", "-o", place["VECTORS"], *options]) == 0
    target = place["VECTORS"] if of == "VECTORS" else variances
    assert main(["import", place["VECTORS"], "-o", target, *options]) == 2
    assert "is being read" in capsys.readouterr().err


def test_phrases_never_replace_their_text(place, capsys):
    assert main(["phrases", place["CORPUS"], "-o", place["CORPUS"], "--overwrite"]) == 2
    assert "is being read" in capsys.readouterr().err


READS = {
    "train": ("train", "FILE", "-o", "out.dv"),
    "senses": ("senses", "MODEL", "FILE", "kiwi"),
    "index": ("index", "MODEL", "FILE", "-o", "index"),
    "phrases": ("phrases", "FILE", "-o", "out.txt"),
    "import": ("import", "FILE", "-o", "out.dv"),
}


def refused(capsys, place, name, file):
    """The command fails with a sentence that names the file and blames nobody else."""
    places = {**place, "FILE": str(file)}
    assert main([places.get(each, each) for each in READS[name]]) == 1
    error = capsys.readouterr().err.splitlines()[-1]
    assert os.path.basename(file) in error
    assert "fault of densvec" not in error
    return error


@pytest.mark.parametrize("name", READS)
def test_damaged_input_is_named(name, place, tmp_path, capsys):
    with open(place["VECTORS" if name == "import" else "CORPUS"], "rb") as file:
        content = file.read()
    cut = tmp_path / "cut.txt.gz"
    cut.write_bytes(gzip.compress(content)[:-100])
    assert "cannot be decompressed" in refused(capsys, place, name, cut)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs a file that cannot be read")
@pytest.mark.parametrize("name", READS)
def test_input_that_cannot_be_read_is_named(name, place, capsys):
    assert "Input/output error" in refused(capsys, place, name, "/proc/self/mem")


def test_text_of_another_encoding_is_named(place, capsys):
    assert main(["train", place["CORPUS"], "-o", "out.dv", "--encoding", "utf-16"]) == 1
    assert "toy.txt: UTF-16 stream does not start with BOM" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["train", "senses", "index", "phrases"])
def test_a_file_of_zeros_is_refused(name, place, tmp_path, capsys):
    path = tmp_path / "zeros.txt"
    with open(path, "wb") as file:
        file.truncate(100 << 20)
    assert "is not text, but binary" in refused(capsys, place, name, path)


def test_words_that_no_encoding_holds_are_written_as_escapes(place, tmp_path, capsys):
    from densvec import KeyedDensities

    wv = KeyedDensities.load(place["MODEL"])
    wv.add_vectors(["bad\ud800"], wv[["kiwi"]])
    wv.save(tmp_path / "odd.dv")
    for name in ("answers.csv", "answers.json"):
        assert main(["similar", str(tmp_path / "odd.dv"), "kiwi", "-o", str(tmp_path / name)]) == 0
        assert r"bad\ud800" in (tmp_path / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "arguments", ['similar "$MODEL" kiwi', 'info "$MODEL"', 'export "$MODEL" --format word2vec']
)
def test_a_closed_or_full_standard_output_is_an_error(arguments, place):
    for where, why in [
        (">&-", b"standard output is closed"),
        (">/dev/full", b"standard output: No space left"),
    ]:
        line = f'"{sys.executable}" -m densvec {arguments} {where}'
        env = environment(MODEL=place["MODEL"])
        done = subprocess.run(line, shell=True, capture_output=True, env=env, check=False)
        assert done.returncode == 1
        assert why in done.stderr
