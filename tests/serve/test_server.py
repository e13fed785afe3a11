"""The service as a process: signals, replaced files, several workers, wrong usage."""

import contextlib
import gc
import json
import os
import shutil
import signal
import socket
import sys
import threading
import time
import weakref
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from conftest import example_densities
from densvec.cli import main
from densvec.serve.models import Models
from densvec.serve.server import _set_aside, listen, url_of
from tests.serve.running import Clients, Service, memory_of

WORDS = ["kiwi", "dog", "animal", "fruit", "digs", "the", "shy"]
unix = pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="this system has no SIGHUP")


def until(condition, seconds=60):
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)


@unix
def test_files_are_replaced_under_load_without_a_failed_request(model_file, wv, tmp_path):
    path, smaller = tmp_path / "served.dv", tmp_path / "smaller.dv"
    shutil.copy(model_file, path)
    # Another model of the same words, so that every question can be answered by both.
    other = type(wv).load(model_file)
    other.add_vectors(["brandnew"], other[["kiwi"]])
    other.save(smaller)
    with Service(path) as service, Clients(service, 8, WORDS) as clients:
        assert service.ask("/v1/model")["words"] == len(wv)
        for times, (file, words) in enumerate([(smaller, len(wv) + 1), (model_file, len(wv))], 1):
            shutil.copy(file, tmp_path / "new.dv")
            os.replace(tmp_path / "new.dv", path)
            service.signal(signal.SIGHUP)
            until(lambda times=times: service.reloads() == times)
            assert service.ask("/v1/model")["words"] == words
            time.sleep(0.3)
    assert clients.failures == []
    assert clients.answered > 16


@unix
def test_a_damaged_file_is_not_taken(model_file, tmp_path):
    path = tmp_path / "served.dv"
    shutil.copy(model_file, path)
    with Service(path) as service:
        before = service.ask("/v1/model")
        (tmp_path / "bad.dv").write_bytes(path.read_bytes()[:-100])
        os.replace(tmp_path / "bad.dv", path)
        service.signal(signal.SIGHUP)
        until(lambda: any("the old one answers" in line for line in service.errors))
        assert service.ask("/v1/model") == before
        assert service.ask("/v1/similar", {"positive": "kiwi"})["similar"]


def test_a_request_in_flight_is_answered_before_the_end(model_file):
    questions = [{"context": WORDS, "position": i % 7, "topn": 50} for i in range(256)]
    body = json.dumps(questions).encode()
    with Service(model_file) as service:
        service.ask("/health")
        with contextlib.closing(socket.create_connection(service.host.split(":"), timeout=60)) as sock:
            head = (
                f"POST /v1/substitutes HTTP/1.1\r\nhost: {service.host}\r\ncontent-type: application/json\r\n"
            )
            sock.sendall(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
            time.sleep(0.05)
            service.signal(signal.SIGTERM)
            answer = b""
            while part := sock.recv(1 << 16):
                answer += part
        assert answer.startswith(b"HTTP/1.1 200")
        assert len(json.loads(answer.split(b"\r\n\r\n", 1)[1])) == 256
        assert service.process.wait(60) == 0
    assert service.errors == []


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at /proc")
def test_workers_share_the_file_and_are_replaced_when_they_die(model_file):
    with Service(model_file, "--workers", 2) as service:
        pids = _children(service.process.pid)
        assert len(pids) == 2
        for pid in pids:
            assert str(model_file) in Path(f"/proc/{pid}/maps").read_text()
            assert memory_of(pid) > 0
        os.kill(pids[0], signal.SIGKILL)
        until(lambda: any(f"[{pids[0]}] died" in line for line in service.errors))
        until(lambda: len(_children(service.process.pid)) == 2)
        assert service.ask("/v1/similar", {"positive": "kiwi"})["similar"]
        service.signal(signal.SIGHUP)
        service.signal(signal.SIGTERM)
        assert service.process.wait(60) == 0
    for pid in pids:
        assert not os.path.exists(f"/proc/{pid}") or "Z" in Path(f"/proc/{pid}/stat").read_text().split()[2]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at /proc")
def test_a_worker_that_cannot_load_its_model_says_so_once(model_file, tmp_path):
    path = tmp_path / "served.dv"
    shutil.copy(model_file, path)
    with Service(path, "--workers", 2) as service:
        (tmp_path / "bad.dv").write_bytes(path.read_bytes()[:-100])
        os.replace(tmp_path / "bad.dv", path)
        os.kill(_children(service.process.pid)[0], signal.SIGKILL)
        assert service.process.wait(60) == 1
    assert not any("Traceback" in line for line in service.errors)
    assert sum("served.dv" in line for line in service.errors) == 1
    with pytest.raises(RuntimeError, match=r"served\.dv") as caught:
        Service(path, "--workers", 2)
    assert "Traceback" not in str(caught.value)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux shares connections out")
def test_workers_share_the_connections(model_file, capsys):
    with Service(model_file, "--workers", 2) as service, contextlib.ExitStack() as stack:
        for _ in range(64):
            connection = stack.enter_context(contextlib.closing(service.connect()))
            service.ask("/health", connection=connection)
        held = [_connections(pid, urlsplit(service.url).port) for pid in _children(service.process.pid)]
        assert sum(held) == 64
        assert min(held) >= 8  # by chance in one of ten million cases
        # That workers share a port does not mean that another service may join them.
        assert "another --port" in fails(capsys, 1, "serve", model_file, "--port", urlsplit(service.url).port)


def _connections(pid, port):
    """Return how many connections to a port a process has accepted."""
    links = [os.readlink(link) for link in Path(f"/proc/{pid}/fd").iterdir() if link.is_symlink()]
    table = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    established = {
        f"socket:[{row[9]}]" for row in table if row[1].endswith(f":{port:04X}") and row[3] == "01"
    }
    return len(established.intersection(links))


def _children(pid):
    """Return the workers: the processes of multiprocessing that run our code, not its resource tracker."""
    found = []
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        with contextlib.suppress(OSError):
            if "spawn_main" in Path(f"/proc/{child}/cmdline").read_text():
                found.append(int(child))
    return found


def test_models_are_set_aside_but_replaced_ones_are_let_go(model_file):
    models = Models.from_files({"toy": str(model_file)})
    first = weakref.ref(models.get().wv)
    try:
        _set_aside()
        assert gc.get_freeze_count() > 0
        models.reload()
        _set_aside()
        assert first() is None
    finally:
        gc.unfreeze()


def test_two_models_and_a_token(model_file, tmp_path):
    example_densities().save(tmp_path / "tiny.dv")
    with Service(model_file, f"small={tmp_path / 'tiny.dv'}", "--token", "secret") as service:
        with pytest.raises(RuntimeError, match="401"):
            service.ask("/v1/model")
        connection = service.connect()
        connection.request("GET", "/v1/model?model=small", headers={"authorization": "Bearer secret"})
        assert json.loads(connection.getresponse().read())["models"] == ["toy", "small"]
        connection.close()


def fails(capsys, code, *arguments):
    """The command fails with a sentence on standard error."""
    assert main([*map(str, arguments)]) == code
    return capsys.readouterr().err


def test_wrong_usage_is_told(capsys, model_file, tmp_path, monkeypatch):
    monkeypatch.delenv("DENSVEC_TOKEN", raising=False)
    assert "--token" in fails(capsys, 2, "serve", model_file, "--host", "0.0.0.0")
    assert "two models" in fails(capsys, 2, "serve", model_file, model_file)
    assert "there is no file" in fails(capsys, 1, "serve", tmp_path / "none.dv", "--port", "0")
    assert "is not a port" in fails(capsys, 2, "serve", model_file, "--port", "99999")
    with contextlib.closing(listen("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"127.0.0.1:{port}" in url_of(taken)
        assert "another --port" in fails(capsys, 1, "serve", model_file, "--port", port)


def test_explore_needs_a_model_if_there_is_no_english_one(capsys, monkeypatch):
    import densvec

    monkeypatch.delattr(densvec, "load", raising=False)
    if hasattr(densvec, "load"):
        pytest.skip("this version has an English model")
    assert "give a model" in fails(capsys, 2, "explore")


def test_explore_opens_the_page_it_names(monkeypatch, capsys, model_file):
    from densvec.serve import server

    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr(server, "run", lambda settings, sock, ready: (ready(), sock.close()))
    assert main(["explore", str(model_file), "--token", "x"]) == 0
    assert opened == [capsys.readouterr().out.split()[0]]
    assert opened[0].startswith("http://127.0.0.1:")
    assert opened[0].endswith("/#token=x")


def test_reload_keeps_what_has_no_file():
    models = Models(example_densities())
    before = models.get()
    models.reload()
    assert models.get() is before
    with pytest.raises(ValueError, match="at least one"):
        Models({})


def test_models_can_be_read_while_they_are_replaced(model_file):
    models = Models.from_files({"toy": str(model_file)})
    stop, wrong = threading.Event(), []

    def read():
        while not stop.is_set():
            model = models.get("toy")
            if model.wv.most_similar("kiwi", topn=1)[0][0] not in model.wv:
                wrong.append(model)

    thread = threading.Thread(target=read)
    thread.start()
    for _ in range(5):
        models.reload()
    stop.set()
    thread.join()
    assert not wrong
