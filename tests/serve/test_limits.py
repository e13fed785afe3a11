"""The guard: tokens, hosts, other sites, sizes, times, and the headers that keep browsers strict."""

import asyncio
import time

import pytest
from fastapi.testclient import TestClient

from conftest import example_densities
from densvec.serve import Limits, app
from densvec.serve.limits import Guard


def client_of(**options):
    return TestClient(app(example_densities(), **options), raise_server_exceptions=False)


def refused(response, status):
    assert response.status_code == status
    return response.json()["error"]


@pytest.mark.parametrize("path", ["/", "/v1/model", "/nothing", "/static/app.js", "/docs"])
def test_every_answer_tells_the_browser_to_be_strict(client, path):
    headers = client.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy  # no other host
    assert headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in headers


def test_a_token_is_needed_for_data_and_not_for_the_page():
    client = client_of(token="sécret")
    for path in ("/v1/model", "/v1/words", "/openapi.json"):
        assert "token" in refused(client.get(path), 401)
        assert "token" in refused(client.get(path, headers={"authorization": "Bearer wrong"}), 401)
    for scheme in ("Bearer", "bearer", "BEARER"):
        good = {"authorization": f"{scheme} sécret".encode()}
        assert client.get("/v1/model", headers=good).status_code == 200
    for path in ("/", "/static/app.js", "/health"):
        assert client.get(path).status_code == 200


def test_other_hosts_are_turned_away():
    client = client_of(hosts=["127.0.0.1", "localhost", "[::1]"])
    for host in ("127.0.0.1", "127.0.0.1:8000", "LOCALHOST:80", "[::1]:8000"):
        assert client.get("/health", headers={"host": host}).status_code == 200
    for host in (
        "evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", "", "[::1]evil.example",
        "127.0.0.1:80:evil", "127.0.0.1:", "[::1",
    ):  # fmt: skip
        assert "host" in refused(client.get("/v1/model", headers={"host": host}), 421)


def test_other_sites_may_ask_only_if_allowed():
    asked = {"origin": "https://a.example", "access-control-request-method": "POST"}
    refused_one = client_of().options("/v1/similar", headers=asked)
    assert "access-control-allow-origin" not in refused_one.headers
    client = client_of(allow_origins=["https://a.example"], token="x")
    allowed = client.options("/v1/similar", headers=asked)
    assert allowed.headers["access-control-allow-origin"] == "https://a.example"
    other = client.options("/v1/similar", headers={**asked, "origin": "https://b.example"})
    assert "access-control-allow-origin" not in other.headers


def test_sizes():
    client = client_of(limits=Limits(body=200, batch=3, text=30, topn=5))
    assert "200 bytes" in refused(client.post("/v1/similar", json={"positive": "x" * 300}), 413)
    parts = iter([b" " * 150, b" " * 150])  # without a length in the headers
    assert "200 bytes" in refused(client.post("/v1/similar", content=parts), 413)
    assert "at most 3" in refused(client.post("/v1/similar", json=[{"positive": "dog"}] * 4), 422)
    assert "at most 3" in refused(client.post("/v1/similar", json={"positive": ["dog"] * 4, "topn": 1}), 422)
    assert "topn=6" in refused(client.post("/v1/similar", json={"positive": "dog", "topn": 6}), 422)
    long = {"sentence": "[[dog]] " + "cat " * 20}
    for path in ("infer", "substitutes"):
        assert "characters" in refused(client.post(f"/v1/{path}", json={**long, "topn": 1}), 422)
    assert "characters" in refused(client.post("/v1/tokens", json={"text": "cat " * 20}), 422)
    assert "characters" in refused(client.post("/v1/compare", json={"a": "cat " * 20, "b": "dog"}), 422)
    assert "characters" in refused(
        client.post("/v1/context", json={"tokens": ["cat"] * 20, "position": 0}), 422
    )


def test_long_words_are_not_repeated_whole(client):
    word = "x" * 900_000
    answers = [
        client.post("/v1/similar", json={"positive": word}),
        client.post("/v1/similar", json={"positive": "kiwi", "metric": word}),
        client.get(f"/{word[:10_000]}"),
        client.get("/v1/words", params={"model": word[:10_000]}),
    ]
    for answer in answers:
        assert answer.status_code in (404, 422)
        assert len(answer.content) < 1000


def test_headers_have_a_limit(client):
    headers = {f"x-{i}": "y" * 1000 for i in range(70)}
    assert "65,536 bytes" in refused(client.get("/health", headers=headers), 431)


def test_what_answers_to_get_answers_to_head(client):
    for path in ("/", "/health", "/v1/model", "/static/app.js"):
        whole, head = client.get(path), client.head(path)
        assert (head.status_code, head.content) == (200, b"")
        assert head.headers == whole.headers


def test_a_map_has_its_own_limit(client):
    assert "600 words" in refused(client.post("/v1/map", json={"words": ["kiwi"] * 601}), 422)
    assert len(client.post("/v1/map", json={"top": 10**9, "skip": 10**9}).json()["words"]) == 0


class Recorder:
    """Takes what an application sends."""

    def __init__(self):
        self.messages = []

    async def __call__(self, message):
        self.messages.append(message)

    @property
    def status(self):
        return self.messages[0]["status"]


SCOPE = {"type": "http", "path": "/v1/model", "method": "POST", "headers": []}


def test_an_answer_that_takes_too_long_is_given_up():
    async def slow(scope, receive, send):
        await asyncio.sleep(60)

    async def receive():
        return {"type": "http.request", "body": b""}

    sent = Recorder()
    started = time.monotonic()
    asyncio.run(Guard(slow, Limits(seconds=0.05))(SCOPE, receive, sent))
    assert sent.status == 503
    assert b"took longer than 0.05 seconds" in sent.messages[1]["body"]
    assert time.monotonic() - started < 30


def test_a_request_that_never_ends_is_given_up():
    async def trickle():
        await asyncio.sleep(0.01)
        return {"type": "http.request", "body": b"x", "more_body": True}

    async def never(scope, receive, send):
        raise AssertionError

    sent = Recorder()
    asyncio.run(Guard(never, Limits(seconds=0.1))(SCOPE, trickle, sent))
    assert sent.status == 408


def test_the_body_is_handed_on_as_it_came():
    parts = [b'{"a"', b": 1}"]

    async def receive():
        return {"type": "http.request", "body": parts.pop(0), "more_body": bool(parts)}

    async def read(scope, receive, send):
        message = await receive()
        assert message == {"type": "http.request", "body": b'{"a": 1}', "more_body": False}
        await send({"type": "http.response.start", "status": 200})

    sent = Recorder()
    asyncio.run(Guard(read, Limits())(SCOPE, receive, sent))
    assert sent.status == 200


def test_faults_of_ours_are_one_sentence_and_logged(caplog):
    wv = example_densities()
    client = TestClient(app(wv), raise_server_exceptions=False)
    wv.get_vecattr = _broken
    answer = client.get("/v1/word", params={"word": "dog"})
    assert "not the fault of the request" in refused(answer, 500)
    assert "disk" not in answer.text
    assert "disk" in caplog.text


def _broken(*_):
    raise OSError("disk on fire")
