"""What the service counts for Prometheus, and what it logs."""

import json
import logging
import signal

import pytest
from fastapi.testclient import TestClient

from conftest import example_densities
from densvec.serve import app
from tests.serve.running import Service

parser = pytest.importorskip("prometheus_client.parser", reason='metrics need "densvec[serve]"')


def samples(text):
    """Return the value of every sample by its name, route and other label, read by Prometheus's own parser."""
    families = parser.text_string_to_metric_families(text)
    return {
        (sample.name, sample.labels.pop("route"), *sample.labels.values()): sample.value
        for family in families
        for sample in family.samples
    }


def test_nothing_is_counted_or_logged_unless_asked_for(caplog):
    caplog.set_level(logging.INFO, "densvec.serve.access")
    client = TestClient(app(example_densities()))
    assert client.get("/metrics").status_code == 404
    assert not caplog.records


def test_requests_are_counted_by_route_and_status():
    client = TestClient(app(example_densities(), metrics=True), raise_server_exceptions=False)
    for word in ("dog", "cat", "unicorn"):
        client.post("/v1/similar", json={"positive": word})
    client.get("/v1/words?prefix=d")
    client.get("/nothing/of/the/kind")
    client.post("/v1/similar", content="{" * 2_000_000)
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=")
    found = samples(answer.text)
    assert found["densvec_requests_total", "/v1/similar", "200"] == 2
    assert found["densvec_requests_total", "/v1/similar", "404"] == 1
    assert found["densvec_requests_total", "/v1/similar", "413"] == 1
    assert found["densvec_requests_total", "/v1/words", "200"] == 1
    assert found["densvec_requests_total", "other", "404"] == 1
    assert found["densvec_request_seconds_count", "/v1/similar"] == 4
    assert found["densvec_request_seconds_bucket", "/v1/similar", "+Inf"] == 4
    assert found["densvec_request_seconds_sum", "/v1/similar"] > 0
    assert "unicorn" not in answer.text


def test_an_application_that_is_mounted_counts_its_own_routes():
    from fastapi import FastAPI

    mine = FastAPI()
    mine.mount("/words", app(example_densities(), metrics=True))
    client = TestClient(mine)
    client.get("/words/v1/model")
    assert samples(client.get("/words/metrics").text)["densvec_requests_total", "/v1/model", "200"] == 1


def test_counts_need_the_token():
    client = TestClient(app(example_densities(), metrics=True, token="secret"))
    assert client.get("/metrics").status_code == 401
    assert client.get("/metrics", headers={"authorization": "Bearer secret"}).status_code == 200


def test_the_log_says_what_became_of_a_request_but_not_what_was_asked(caplog):
    caplog.set_level(logging.INFO, "densvec.serve.access")
    client = TestClient(app(example_densities(), access_log=True))
    answer = client.get("/v1/words?prefix=secret")
    client.head("/health")
    client.post("/v1/similar", json={"positive": "secret"})
    client.get("/forged%0a%22line%22")
    lines = [record.getMessage() for record in caplog.records]
    assert not any("secret" in line or "\n" in line for line in lines)
    first, head, similar, forged = map(json.loads, lines)
    assert first.keys() == {"time", "client", "method", "path", "status", "bytes", "ms"}
    assert (first["method"], first["path"], first["status"]) == ("GET", "/v1/words", 200)
    assert first["bytes"] == len(answer.content)
    assert (head["method"], head["bytes"]) == ("HEAD", 0)
    assert (similar["method"], similar["status"]) == ("POST", 404)
    assert forged["path"] == '/forged\n"line"'


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="several workers are for Unix")
def test_workers_add_up_their_counts(model_file):
    with Service(model_file, "--workers", 2, "--metrics", "--access-log") as service:
        for _ in range(40):  # each on a connection of its own, so that both workers get some
            service.ask("/v1/model")
        connection = service.connect()
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        connection.close()
        assert samples(text)["densvec_requests_total", "/v1/model", "200"] == 40
        service.signal(signal.SIGTERM)
        assert service.process.wait(60) == 0
    lines = [json.loads(line) for line in service.errors if line.startswith("{")]
    assert [line["path"] for line in lines] == ["/v1/model"] * 40 + ["/metrics"]
