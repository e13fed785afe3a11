"""Whatever a request holds, the answer is a status of the 400s and a sentence, never a fault of ours."""

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

POSTED = (
    "similar",
    "infer",
    "substitutes",
    "entails",
    "hypernyms",
    "hyponyms",
    "tokens",
    "context",
    "compare",
    "map",
)
READ = ("/v1/word", "/v1/words", "/v1/model", "/health", "/", "/docs", "/openapi.json", "/static/app.js")
NAMES = [
    "positive",
    "negative",
    "metric",
    "topn",
    "word",
    "context",
    "position",
    "sentence",
    "candidates",
    "exclude_inflections",
    "a",
    "b",
    "tokens",
    "off",
    "words",
    "around",
    "top",
    "skip",
    "text",
    "model",
]

numbers = st.integers(-(2**70), 2**70) | st.floats() | st.sampled_from([0, 1, -1, 10**9])
WORDS = ["kiwi", "kiwii", "[[kiwi]]", "[[", "the shy [[kiwi]] digs", "cosine", "kl"]
texts = st.text(max_size=20) | st.sampled_from(WORDS)
leaves = st.none() | st.booleans() | numbers | texts
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=3)
)
questions = st.dictionaries(st.sampled_from(NAMES), values, max_size=5)
bodies = st.one_of(
    st.binary(max_size=60),
    st.builds(lambda value: json.dumps(value).encode(), questions | st.lists(questions, max_size=3) | values),
    st.builds(lambda depth: b"[" * depth, st.integers(1, 100_000)),
    st.builds(lambda depth: b'{"a":' * depth, st.integers(1, 50_000)),
    st.just(b'{"positive": "\\ud800"}'),
    st.just(b'{"positive": "kiwi", "topn": ' + b"9" * 5000 + b"}"),
)
kinds = st.sampled_from(
    ["application/json", "text/plain", "application/json; charset=utf-16", "", "multipart/form-data"]
)
paths = st.sampled_from([f"/v1/{name}" for name in POSTED]) | st.sampled_from(READ)
strange_paths = st.builds(
    lambda text: "/" + text.lstrip("/").replace("?", "").replace("#", ""),
    st.sampled_from(["..", "../../etc/passwd", "static/../routes.py", "static/%2e%2e/routes.py", "v1", "v1/similar/",
                     "static/", "static/nothing.js", "%00", "static/app.js/"]) | st.text("az./%0", max_size=12),
)  # fmt: skip


def assert_told(response):
    assert response.status_code < 500, response.text
    if response.status_code >= 400:
        error = response.json()["error"]
        assert isinstance(error, str)
        assert len(error) > 10
        assert "Traceback" not in error


@settings(max_examples=1400, suppress_health_check=list(HealthCheck))
@given(
    paths, bodies, kinds, st.sampled_from(["POST", "POST", "POST", "POST", "PUT", "GET", "DELETE", "OPTIONS"])
)
def test_bodies(client, path, body, kind, method):
    assert_told(client.request(method, path, content=body, headers={"content-type": kind}))


@settings(max_examples=400, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(["/v1/word", "/v1/words", "/v1/model", "/v1/similar"]),
    st.dictionaries(
        st.sampled_from(["word", "prefix", "topn", "model", "x"]), texts | numbers.map(str), max_size=4
    ),
)
def test_queries(client, path, query):
    assert_told(
        client.get(path, params={name: value.encode("utf-8", "replace") for name, value in query.items()})
    )


@settings(max_examples=200, suppress_health_check=list(HealthCheck))
@given(strange_paths, st.sampled_from(["GET", "HEAD", "POST"]))
def test_paths(client, path, method):
    response = client.request(method, path)
    assert response.status_code < 500
    assert b"APIRouter" not in response.content  # no source of ours
    assert b"root:" not in response.content
