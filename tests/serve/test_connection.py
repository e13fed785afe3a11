"""Clients that send too much, too slowly or nothing, and clients that do not read: none keeps others out."""

import contextlib
import json
import os
import select
import socket
import sys
import threading
import time

import pytest
import uvicorn

from densvec.serve import Limits, app
from densvec.serve.connection import Connection
from densvec.serve.server import listen
from tests.serve.running import Service, memory_of

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at /proc")

REQUEST = b"GET /v1/model HTTP/1.1\r\nhost: localhost\r\n"
MEGABYTE = 1 << 20


def few_files():
    import resource

    resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))


@pytest.fixture(scope="module")
def service(model_file):
    with Service(model_file, "--max-seconds", 2, preexec_fn=few_files) as made:
        made.idle = open_files(made)
        made.ask("/v1/similar", {"positive": "kiwi"})
        yield made
        assert not any("Traceback" in line for line in made.errors)


@contextlib.contextmanager
def connected(service, count=1):
    with contextlib.ExitStack() as stack:
        yield [
            stack.enter_context(socket.create_connection(service.host.split(":"), timeout=30))
            for _ in range(count)
        ]


def open_files(service):
    return len(os.listdir(f"/proc/{service.process.pid}/fd"))


def wait_until(true, seconds=60):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def sent_until_closed(sock, data, most, seconds=20):
    """Send the same again and again; return how much was sent before the other side closed."""
    sock.setblocking(False)
    sent, end = 0, time.monotonic() + seconds
    while sent < most and time.monotonic() < end:
        try:
            if select.select([], [sock], [], 0.1)[1]:
                sent += sock.send(data)
        except (ConnectionError, BrokenPipeError):
            return sent
    return most


def closed(sock, seconds=10):
    """Whether the other side closes within some time."""
    sock.settimeout(seconds)
    try:
        while sock.recv(1 << 16):
            pass
    except TimeoutError:
        return False
    except ConnectionError:
        pass
    return True


def test_headers_without_end_are_cut_off(service):
    before = memory_of(service.process.pid)
    with connected(service) as (sock,):
        sock.sendall(REQUEST)
        assert sent_until_closed(sock, b"x-a: " + b"y" * 1000 + b"\r\n", 50 * MEGABYTE) < 10 * MEGABYTE
    assert memory_of(service.process.pid) - before < 10 * MEGABYTE


def test_long_headers_are_refused_with_a_sentence(service):
    with connected(service) as (sock,):
        sock.sendall(REQUEST + b"x-a: " + b"y" * 70_000)
        answer = sock.recv(1 << 16)
    assert answer.startswith(b"HTTP/1.1 431 ")
    assert "65,536 bytes" in json.loads(answer.split(b"\r\n\r\n", 1)[1])["error"]


def test_what_is_not_http_is_refused_with_a_sentence(service):
    with connected(service) as (sock,):
        sock.sendall(b"\x16\x03\x01 hello\r\n\r\n")
        answer = sock.recv(1 << 16)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert "HTTP/1.1" in json.loads(answer.split(b"\r\n\r\n", 1)[1])["error"]


@pytest.mark.parametrize(
    "begin", [b"", b"GET", REQUEST + b"x-a: ", b"POST /v1/similar HTTP/1.1\r\nhost: x\r\n"]
)
def test_clients_that_stay_silent_are_closed(service, begin):
    with connected(service) as (sock,):
        sock.sendall(begin)
        assert closed(sock)


def test_headers_that_arrive_byte_by_byte_are_closed(service):
    with connected(service) as (sock,):
        sock.sendall(REQUEST)
        started = time.monotonic()
        while time.monotonic() < started + 10:
            try:
                sock.send(b"x")
                time.sleep(0.1)
            except ConnectionError:
                break
        assert time.monotonic() < started + 5


def test_clients_between_two_requests_are_closed(service):
    with connected(service) as (sock,):
        sock.sendall(REQUEST + b"\r\n")
        assert sock.recv(1 << 16).startswith(b"HTTP/1.1 200 ")
        assert closed(sock)


@pytest.mark.parametrize(
    "begin", [b"", b"POST /v1/similar HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n"]
)
def test_silent_clients_do_not_keep_others_out(service, begin):
    with connected(service, 600) as clients:
        for sock in clients:
            with contextlib.suppress(ConnectionError):  # closed to let others in
                sock.sendall(begin)
        for _ in range(3):
            connection = service.connect()
            connection.timeout = 5
            assert service.ask("/v1/model", connection=connection)["words"]
            connection.close()


def test_requests_sent_ahead_without_reading_are_bounded(service):
    before = memory_of(service.process.pid)
    request = b"GET /v1/words?topn=1000 HTTP/1.1\r\nhost: localhost\r\n\r\n"
    with connected(service) as (sock,):
        sent = sent_until_closed(sock, request * 1000, 20 * MEGABYTE)
    assert sent < 20 * MEGABYTE
    assert memory_of(service.process.pid) - before < 10 * MEGABYTE
    assert service.ask("/v1/model")["words"]


def test_answers_that_nobody_reads_are_given_up(service):
    body = json.dumps([{"context": ["kiwi", "digs"], "position": 0}] * 256).encode()
    head = b"POST /v1/infer HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    request = head + b"content-length: %d\r\n\r\n" % len(body) + body
    wait_until(lambda: open_files(service) <= service.idle)
    with socket.socket() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        host, port = service.host.split(":")
        sock.connect((host, int(port)))
        sock.sendall(request * 60)  # to be answered by 8 MB, more than the system keeps
        wait_until(lambda: open_files(service) > service.idle)
        wait_until(lambda: open_files(service) <= service.idle)
        received = b""
        with contextlib.suppress(ConnectionError):
            while part := sock.recv(1 << 16):
                received += part
    assert received.startswith(b"HTTP/1.1 200 ")
    assert received.count(b"HTTP/1.1 ") < 60


def unread_of(server):
    return sum(one.transport.get_write_buffer_size() for one in set(server.server_state.connections))


def test_answers_that_are_read_slowly_are_bounded_together(wv):
    sock = listen("127.0.0.1", 0)
    application = app(wv, limits=Limits(seconds=300, unread=8 * MEGABYTE))
    options = {"log_level": "error", "lifespan": "off", "proxy_headers": False}
    server = uvicorn.Server(uvicorn.Config(application, http=Connection, **options))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]}, daemon=True)
    thread.start()
    body = json.dumps([{"positive": "kiwi", "topn": 1000}] * 256).encode()
    head = b"POST /v1/similar HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
    with contextlib.ExitStack() as stack:
        clients = []
        for _ in range(6):  # each is answered by more than the system keeps
            clients.append(stack.enter_context(socket.create_connection(sock.getsockname(), timeout=60)))
            clients[-1].sendall(head + b"content-length: %d\r\n\r\n" % len(body) + body)
        wait_until(
            lambda: server.server_state.total_requests == 6 and len(server.server_state.connections) < 6
        )
        wait_until(lambda: unread_of(server) <= 8 * MEGABYTE)
        assert server.server_state.connections  # those that fit stay
    server.should_exit = True
    thread.join(60)


def test_requests_sent_ahead_are_answered_in_order(service):
    with connected(service) as (sock,):
        sock.sendall(
            b"".join(b"GET /v1/words?topn=%d HTTP/1.1\r\nhost: localhost\r\n\r\n" % i for i in range(1, 9))
        )
        sock.settimeout(10)
        answer = b""
        while answer.count(b"HTTP/1.1 200 ") < 8 or not answer.endswith(b"}"):
            answer += sock.recv(1 << 16)
    documents = [part.split(b"\r\n\r\n", 1)[1] for part in answer.split(b"HTTP/1.1 200 ")[1:]]
    assert [len(json.loads(document)["words"]) for document in documents] == list(range(1, 9))
