"""Every answer of the service is what its schema says: no field more, none less."""

import time

import pytest
from fastapi.testclient import TestClient
from pydantic import TypeAdapter

from conftest import example_densities
from densvec.serve import app

MARKED = {"sentence": "the shy [[kiwi]] digs and sniffs unheardof"}

POSTED = {
    "similar": [{"positive": "kiwi"}, {"positive": ["kiwi", "dog"], "negative": "fruit", "metric": "kl"}],
    "infer": [MARKED, {**MARKED, "topn": 2}, {"word": "kiwi", "context": "digs burrow"}],
    "substitutes": [MARKED, {**MARKED, "candidates": ["owl", "unheardof"]}],
    "entails": [{"a": "dog", "b": "animal"}],
    "hypernyms": [{"word": "dog"}],
    "hyponyms": [{"word": "animal"}],
    "tokens": [{"text": "The shy kiwi-bird, unheardof."}],
    "context": [{"tokens": ["shy", "kiwi", "digs", "unheardof"], "position": 1, "off": [0]}],
    "compare": [{"a": "dog", "b": "animal"}, {"a": "a ripe [[kiwi]]", "b": "dog"}],
    "map": [{"top": 9}, {"around": "kiwi"}, {"words": ["kiwi"]}],
}
READ = ["word?word=kiwi", "words?prefix=k", "model"]


def assert_as_described(client, path, answer):
    """The answer has all fields of the route's schema, and no others."""
    [route] = [each for each in _routes(client.app) if each.path == path]
    assert route.response_model is not None
    TypeAdapter(route.response_model).validate_json(answer.content, strict=True)


def _routes(application):
    for route in application.routes:
        router = getattr(route, "original_router", None)
        yield from router.routes if router is not None else [route]


@pytest.mark.parametrize("path", POSTED)
def test_answers_to_questions(path, client):
    batches = path in ("similar", "infer", "substitutes", "entails", "hypernyms", "hyponyms")
    for question in [*POSTED[path], *([POSTED[path]] if batches else [])]:
        answer = client.post(f"/v1/{path}", json=question)
        assert answer.status_code == 200, answer.text
        assert_as_described(client, f"/v1/{path}", answer)


@pytest.mark.parametrize("path", READ)
def test_answers_to_addresses(path, client):
    assert_as_described(client, f"/v1/{path.partition('?')[0]}", client.get(f"/v1/{path}"))


def test_senses(wv):
    with TestClient(app(wv, corpus=[["a", "shy", "kiwi", "digs"]] * 20)) as client:
        while (answer := client.get("/v1/senses?word=kiwi")).status_code == 202:
            assert answer.json() == {"word": "kiwi", "state": "reading"}
            time.sleep(0.05)
        assert_as_described(client, "/v1/senses", answer)


def test_a_model_of_means_only_leaves_fields_out():
    wv = example_densities()
    wv.encoder = wv.log_variances = None
    client = TestClient(app(wv))
    assert_as_described(client, "/v1/word", client.get("/v1/word?word=dog"))
    assert_as_described(client, "/v1/map", client.post("/v1/map", json={"words": ["dog", "cat", "car"]}))


def test_every_route_is_described(client):
    described = client.get("/openapi.json").json()
    for path, methods in described["paths"].items():
        for operation in methods.values():
            schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
            assert path == "/health" or "$ref" in str(schema), path
    known = {f"/v1/{name}" for name in [*POSTED, *(path.partition("?")[0] for path in READ), "senses"]}
    assert known == set(described["paths"]) - {"/health"}


def test_a_field_too_many_is_noticed(client):
    answer = client.post("/v1/entails", json={"a": "dog", "b": "animal"})
    answer._content = answer.content[:-1] + b',"more":1}'
    with pytest.raises(ValueError, match="more"):
        assert_as_described(client, "/v1/entails", answer)
