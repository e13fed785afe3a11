"""Every answer of the service is what its schema says: no field more, none less."""

import time

import pytest
from fastapi.testclient import TestClient
from pydantic import TypeAdapter

from densvec.serve import app

MARKED = {"sentence": "the shy [[kiwi]] digs and sniffs unheardof"}

POSTED = {
    "similar": [{"positive": "kiwi"}, {"positive": ["kiwi", "dog"], "negative": "fruit", "metric": "kl"}],
    "infer": [MARKED, {**MARKED, "topn": 2}, {"word": "kiwi", "context": "digs burrow"}],
    "substitutes": [MARKED, {**MARKED, "candidates": ["owl", "unheardof"]}],
    "entails": [{"a": "dog", "b": "animal"}],
    "hypernyms": [{"word": "dog"}],
    "hyponyms": [{"word": "animal"}],
}
READ = ["words?prefix=k", "model"]
OF_THE_PAGE = ["tokens", "context", "compare", "map", "word"]


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
    for question in [*POSTED[path], POSTED[path]]:
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


def test_every_route_is_described(client):
    described = client.get("/openapi.json").json()
    for path, methods in described["paths"].items():
        for operation in methods.values():
            schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
            views = {"/health", *(f"/v1/{name}" for name in OF_THE_PAGE)}
            assert path in views or "$ref" in str(schema), path
            assert operation["summary"], path
    asked = [*POSTED, *OF_THE_PAGE, *(path.partition("?")[0] for path in READ), "senses"]
    known = {f"/v1/{name}" for name in asked}
    assert known == set(described["paths"]) - {"/health"}


def test_a_field_too_many_is_noticed(client):
    answer = client.post("/v1/entails", json={"a": "dog", "b": "animal"})
    answer._content = answer.content[:-1] + b',"more":1}'
    with pytest.raises(ValueError, match="more"):
        assert_as_described(client, "/v1/entails", answer)
