"""Saving is all or nothing: errors, full disks and SIGKILL leave the old file or the new, never a part."""

import os
import pathlib
import stat
import subprocess
import sys
import textwrap

import pytest

from densvec.files.atomic import atomic_write

posix_only = pytest.mark.skipif(os.name != "posix", reason="POSIX file semantics")


def save(path, content):
    with atomic_write(path) as file:
        file.write(content)


def run(script, *arguments):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=pathlib.Path(__file__).parents[2],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )


def test_creates_and_replaces(tmp_path):
    path = tmp_path / "model"
    save(path, b"one")
    assert path.read_bytes() == b"one"
    save(str(path), b"two")
    assert path.read_bytes() == b"two"
    assert os.listdir(tmp_path) == ["model"]


def test_relative_paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save("model", b"one")
    assert os.listdir() == ["model"]


@pytest.mark.parametrize("error", [ValueError("no"), OSError(28, "No space left"), KeyboardInterrupt()])
def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path, error):
    path = tmp_path / "model"
    save(path, b"old")
    with pytest.raises(type(error)), atomic_write(path) as file:  # noqa: PT012
        file.write(b"new")
        raise error
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["model"]


def test_a_system_error_keeps_its_class_and_names_the_file(tmp_path):
    path = tmp_path / "missing" / "model"
    with pytest.raises(FileNotFoundError, match="Could not save") as caught:
        save(path, b"")
    assert caught.value.filename == str(path)


def test_a_directory_is_not_replaced(tmp_path):
    with pytest.raises(IsADirectoryError):
        save(tmp_path, b"")


@posix_only
def test_permissions_are_kept_and_new_files_obey_the_umask(tmp_path):
    path = tmp_path / "model"
    old = os.umask(0o027)
    try:
        save(path, b"one")
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o604)
    save(path, b"two")
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


@posix_only
def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "model", tmp_path / "latest"
    target.write_bytes(b"old")
    link.symlink_to(target)
    save(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert os.listdir(tmp_path / "real") == ["model"]


@posix_only
def test_a_link_to_nothing_yet_creates_its_target(tmp_path):
    link = tmp_path / "latest"
    link.symlink_to(tmp_path / "model")
    save(link, b"new")
    assert (tmp_path / "model").read_bytes() == b"new"


@posix_only
def test_a_device_is_written_not_replaced():
    save("/dev/null", b"gone")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


@posix_only
def test_names_of_the_greatest_length(tmp_path):
    path = tmp_path / ("é" * 127)
    save(path, b"one")
    assert path.read_bytes() == b"one"


@posix_only
def test_who_holds_the_old_file_open_keeps_it(tmp_path):
    path = tmp_path / "model"
    save(path, b"old")
    with open(path, "rb") as reader:
        save(path, b"new")
        assert reader.read() == b"old"


@posix_only
def test_leftovers_of_a_killed_process_are_removed_by_the_next_save(tmp_path):
    path = tmp_path / "model"
    (tmp_path / ".model.0123abcd.tmp").write_bytes(b"half")
    (tmp_path / ".model2.0123abcd.tmp").write_bytes(b"someone else's")
    (tmp_path / ".model.notes.tmp").write_bytes(b"the user's own")
    save(path, b"new")
    assert sorted(os.listdir(tmp_path)) == [".model.notes.tmp", ".model2.0123abcd.tmp", "model"]


@posix_only
def test_a_save_in_progress_is_not_taken_for_a_leftover(tmp_path):
    path = tmp_path / "model"
    with atomic_write(path) as slow:
        slow.write(b"slow")
        save(path, b"quick")
        assert path.read_bytes() == b"quick"
    assert path.read_bytes() == b"slow"
    assert os.listdir(tmp_path) == ["model"]


@posix_only
def test_a_full_disk_leaves_the_old_file_whole(tmp_path):
    """A file-size limit stands in for the full disk: the write fails half way, with a number and a name."""
    script = """
        import os, resource, sys
        import numpy as np
        from densvec.files import persistence
        path = sys.argv[1]
        persistence.write(path, {"means": np.ones((10, 10), np.float32)}, {"save": 1})
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        try:
            persistence.write(path, {"means": np.ones((1000, 1000), np.float32)}, {"save": 2})
        except OSError as error:
            print(error)
        tensors, header = persistence.read(path)
        assert header["save"] == 1 and tensors["means"].shape == (10, 10)
        assert os.listdir(os.path.dirname(path)) == ["model.dv"]
    """
    result = run(script, tmp_path / "model.dv")
    assert result.returncode == 0, result.stderr
    assert "Could not save" in result.stdout
    assert "File too large" in result.stdout
    assert "model.dv" in result.stdout


@posix_only
def test_sigkill_at_50_random_moments(tmp_path):
    """The file always loads, and is the last save that was completed (or the one that had just become so)."""
    script = """
        import mmap, os, random, signal, sys, time
        import numpy as np
        from densvec.files import persistence
        path = sys.argv[1]
        shared = mmap.mmap(-1, 16)  # the numbers of the last save begun and the last one ended
        progress = np.frombuffer(shared, np.int64)
        tables = {"means": np.empty((2000, 100), "f4"), "log_variances": np.empty((2000, 1), "f4")}

        def save(number):
            for table in tables.values():
                table[...] = number
            progress[0] = number
            persistence.write(path, tables, {"number": number})
            progress[1] = number

        save(1)
        generator = random.Random(5)
        leftovers = 0
        for kill in range(50):
            child = os.fork()
            if child == 0:
                while True:
                    save(int(progress[1]) + 1)
            time.sleep(generator.uniform(0, 0.03))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            tensors, header = persistence.read(path)
            assert progress[1] <= header["number"] <= progress[0], (progress, header["number"])
            for table in tensors.values():
                assert (table == header["number"]).all()
            leftovers += len(os.listdir(os.path.dirname(path))) - 1
            progress[1] = header["number"]
        assert leftovers, "no kill landed in a save: the test shows nothing"
        save(int(progress[1]) + 1)
        assert os.listdir(os.path.dirname(path)) == [os.path.basename(path)]
        print(int(progress[1]), "saves,", leftovers, "killed in the middle")
    """
    result = run(script, tmp_path / "model.dv")
    print(result.stdout)
    assert result.returncode == 0, result.stderr
