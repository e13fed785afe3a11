"""Every route answers what Python answers."""

import json
import threading
import time

import numpy as np
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from conftest import example_densities
from densvec import Gaussian
from densvec.answers.messages import check_known
from densvec.answers.words import METRICS
from densvec.cli import main
from densvec.cli.program import COMMANDS
from densvec.datasets import toy_language
from densvec.serve import app, routes
from densvec.serve.models import Models
from densvec.serve.senses import SenseFinder

JSON = {"content-type": "application/json"}
SENTENCE = ["the", "shy", "feathered", "kiwi", "sniffs", "and", "digs"]


def ask(client, path, body, status=200):
    response = client.post(f"/v1/{path}", json=body)
    assert response.status_code == status, response.text
    return response.json()


def same(found, expected):
    """The words are the same, in the same order, with the same scores."""
    assert [item["word"] for item in found] == [word for word, _ in expected]
    assert [item["score"] for item in found] == pytest.approx(
        [score for _, score in expected], rel=1e-5, abs=1e-5
    )


@pytest.mark.parametrize("metric", METRICS)
def test_similar(client, wv, metric):
    for word in ("kiwi", "dog", "the"):
        answer = ask(client, "similar", {"positive": word, "metric": metric})
        assert (answer["positive"], answer["negative"], answer["metric"]) == ([word], [], metric)
        same(answer["similar"], wv.most_similar(word, metric=metric))
    answer = ask(
        client, "similar", {"positive": ["kiwi", "dog"], "negative": "fruit", "metric": metric, "topn": 3}
    )
    same(answer["similar"], wv.most_similar(["kiwi", "dog"], "fruit", metric=metric, topn=3))


def test_similar_has_the_defaults_of_python(client, wv):
    same(ask(client, "similar", {"positive": "kiwi"})["similar"], wv.most_similar("kiwi"))
    assert ask(client, "similar", {"positive": "kiwi", "topn": 0})["similar"] == []


def test_infer(client, wv):
    answer = ask(client, "infer", {"context": SENTENCE, "word": "kiwi", "position": 3})
    posterior, prior = wv.infer(SENTENCE, word="kiwi", position=3), wv.density("kiwi")
    assert answer["mean"] == pytest.approx(posterior.mean.tolist(), rel=1e-6)
    assert answer["variance"] == pytest.approx(posterior.variance.tolist(), rel=1e-6)
    assert answer["entropy"] == pytest.approx(
        {"prior": float(prior.entropy()), "posterior": float(posterior.entropy())}
    )
    assert answer["kl"] == pytest.approx(float(posterior.kl(prior)))
    assert "substitutes" not in answer


def test_infer_understands_all_ways_to_name_a_word(client, wv):
    marked = "the shy feathered [[kiwi]] sniffs and digs"
    answers = [
        ask(client, "infer", {"context": SENTENCE, "position": 3}),
        ask(client, "infer", {"context": " ".join(SENTENCE), "position": 3, "word": "kiwi"}),
        ask(client, "infer", {"sentence": marked}),
    ]
    assert answers[0] == answers[1] == answers[2]
    whole = ask(client, "infer", {"context": "digs burrow", "word": "kiwi"})
    assert whole["mean"] == pytest.approx(wv.infer("digs burrow", word="kiwi").mean.tolist(), rel=1e-6)


def test_infer_lists_what_the_command_line_lists(client, wv, model_file, capsys):
    import json

    marked = "the shy feathered [[kiwi]] sniffs and digs unheardof"
    answer = ask(client, "infer", {"sentence": marked, "topn": 4})
    assert main(["infer", str(model_file), marked, "--json", "-n", "4"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert answer["unknown"] == printed["unknown"] == ["unheardof"]
    for name in ("nearest_to_prior", "nearest_to_posterior", "substitutes"):
        same(answer[name], [(item["word"], item["score"]) for item in printed[name]])
    assert answer["kl"] == pytest.approx(printed["kl"])


def test_substitutes(client, wv):
    question = {"word": "kiwi", "context": SENTENCE, "position": 3}
    answer = ask(client, "substitutes", question)
    same(answer["substitutes"], wv.substitutes("kiwi", SENTENCE, position=3))
    answer = ask(client, "substitutes", {**question, "candidates": ["bird", "fruit", "unheardof"], "topn": 2})
    same(answer["substitutes"], wv.substitutes("kiwi", SENTENCE, ["bird", "fruit"], position=3))


def test_entails(client, wv):
    answer = ask(client, "entails", {"a": "dog", "b": "animal"})
    assert answer["direction"] == pytest.approx(wv.direction("dog", "animal"))
    assert answer["kl"] == pytest.approx(wv.kl_divergence("dog", "animal"))
    assert answer["entails"] == (wv.direction("dog", "animal") > 0)
    assert answer["generality"] == pytest.approx({word: wv.generality(word) for word in ("dog", "animal")})


@pytest.mark.parametrize("kind", ["hypernyms", "hyponyms"])
def test_kinds(client, wv, kind):
    answer = ask(client, kind, {"word": "dog", "topn": 5})
    same(answer[kind], getattr(wv, kind)("dog", topn=5))
    assert ask(client, kind, {"word": "dog", "topn": 0})[kind] == []


def test_words(client, wv):
    found = client.get("/v1/words", params={"prefix": "K", "topn": 1000}).json()["words"]
    assert found == [word for word in wv.index_to_key if word.startswith("k")]
    assert client.get("/v1/words", params={"topn": 3}).json()["words"] == wv.index_to_key[:3]
    assert client.get("/v1/words", params={"prefix": "qqq"}).json()["words"] == []


def test_model_and_health(client, wv):
    described = client.get("/v1/model").json()
    assert (described["words"], described["vector_size"], described["window"]) == (len(wv), 12, wv.window)
    assert described["encoder"] is True
    assert client.get("/health").json() == {"status": "ok"}


def test_a_batch_is_answered_like_its_questions_one_by_one(client):
    for path, questions in {
        "similar": [{"positive": word, "topn": n} for n, word in enumerate(["kiwi", "dog", "the"], 1)],
        "infer": [{"context": SENTENCE, "position": i} for i in range(3)],
        "substitutes": [{"context": SENTENCE, "position": i, "topn": 2} for i in range(3)],
        "entails": [{"a": "dog", "b": "animal"}, {"a": "fruit", "b": "kiwi"}],
        "hypernyms": [{"word": "dog"}, {"word": "kiwi", "topn": 1}],
    }.items():
        together = ask(client, path, questions)
        for answer, question in zip(together, questions, strict=True):
            alone = ask(client, path, question)
            assert answer == _nearly(alone)
        assert ask(client, path, []) == []


def _nearly(value):
    if isinstance(value, float):
        return pytest.approx(value, rel=1e-3)
    if isinstance(value, dict):
        return {name: _nearly(item) for name, item in value.items()}
    return [_nearly(item) for item in value] if isinstance(value, list) else value


def test_unknown_words_are_refused_with_the_sentence_of_the_command_line(client, wv):
    for word in ("kiwii", "Kiwi", "qqqqqq", "", "x" * 50):
        with pytest.raises(KeyError) as caught:
            check_known(wv, [word])
        answer = ask(client, "similar", {"positive": word}, status=404)
        assert answer == {"error": caught.value.args[0]}
    answer = ask(client, "similar", [{"positive": "kiwi"}, {"positive": "kiwii"}], status=404)
    assert answer["error"].startswith("question 1: 'kiwii' is not among the ")


def test_wrong_questions_are_refused_with_the_sentence_of_python(client, wv):
    with pytest.raises(IndexError) as caught:
        wv.infer(SENTENCE, position=99)
    answer = ask(client, "infer", {"context": SENTENCE, "position": 99}, status=422)
    assert answer == {"error": str(caught.value)}
    with pytest.raises(ValueError, match="nothing to be similar to") as caught:
        wv.most_similar([], metric="kl")
    assert ask(client, "similar", {"positive": []}, status=422) == {"error": str(caught.value)}


def test_misspelt_names_and_wrong_types_are_told(client):
    assert "topm" in ask(client, "similar", {"positive": "kiwi", "topm": 3}, status=422)["error"]
    assert "topn" in ask(client, "similar", {"positive": "kiwi", "topn": "3"}, status=422)["error"]
    assert "metric" in ask(client, "similar", {"positive": "kiwi", "metric": "euclid"}, status=422)["error"]
    assert "sentence" in ask(client, "infer", {}, status=422)["error"]
    assert "no word is marked" in ask(client, "infer", {"sentence": "a kiwi"}, status=422)["error"]


def test_long_lists_are_read_and_written_while_other_requests_are_answered(client, monkeypatch):
    threads = []

    def noting(function):
        def called(*arguments, **options):
            threads.append(threading.current_thread().name)
            return function(*arguments, **options)

        return called

    monkeypatch.setattr(routes, "words_of", noting(routes.words_of))
    monkeypatch.setattr(routes, "encoded", noting(routes.encoded))
    ask(client, "infer", [{"sentence": "a shy [[kiwi]] digs"}] * 2)
    assert {name.partition("_")[0] for name in threads} == {"densvec-routes"}


def test_models_without_variances_or_encoder():
    wv = example_densities()
    wv.encoder = None
    client = TestClient(app(wv))
    assert "encoder" in ask(client, "infer", {"context": "cat", "word": "dog"}, status=422)["error"]
    wv.log_variances = None
    client = TestClient(app(wv))
    assert ask(client, "similar", {"positive": "dog"})["similar"]
    assert "no variances" in ask(client, "similar", {"positive": "dog", "metric": "kl"}, status=422)["error"]
    assert set(client.get("/v1/word", params={"word": "dog"}).json()["neighbours"]) == {"cosine"}
    assert len(ask(client, "map", {"words": ["dog", "cat", "car"]})["words"]) == 3


def test_several_models(wv):
    client = TestClient(app({"toy": wv, "tiny": example_densities()}))
    assert client.get("/v1/model").json()["models"] == ["toy", "tiny"]
    assert client.get("/v1/model", params={"model": "tiny"}).json()["words"] == 4
    answer = client.post("/v1/similar", params={"model": "tiny"}, json={"positive": "dog", "topn": 1}).json()
    assert answer["similar"][0]["word"] == "animal"
    missing = client.get("/v1/model", params={"model": "huge"})
    assert missing.status_code == 404
    assert missing.json()["error"] == "there is no model 'huge' here: there is 'toy', 'tiny'"


def test_mounted_in_another_application(wv):
    mine = FastAPI()
    mine.mount("/words", app(wv, token="secret"))
    client = TestClient(mine)
    assert client.get("/words/").status_code == 200
    assert client.get("/words/v1/model").status_code == 401
    answer = client.get("/words/v1/model", headers={"authorization": "Bearer secret"})
    assert answer.json()["words"] == len(wv)


def test_the_description_of_the_routes_is_complete(client):
    described = client.get("/openapi.json").json()
    assert {"/v1/similar", "/v1/infer", "/v1/substitutes", "/v1/entails", "/v1/hypernyms", "/v1/words", "/v1/model",
            "/health"} <= set(described["paths"])  # fmt: skip
    assert client.get("/docs").status_code == 200
    assert "serve" in COMMANDS


# What the page asks


def test_tokens_are_found_as_the_model_knows_them(client):
    answer = ask(client, "tokens", {"text": "The Kiwi-bird, 'feathered', digs unheardof."})
    assert [(token["text"], token["key"]) for token in answer["tokens"]] == [
        ("The", "the"),
        ("Kiwi", "kiwi"),
        ("bird", "bird"),
        ("feathered", "feathered"),
        ("digs", "digs"),
        ("unheardof", None),
    ]
    assert [token["start"] for token in answer["tokens"]][:2] == [0, 4]


def test_context_is_what_python_infers(client, wv):
    answer = ask(client, "context", {"tokens": SENTENCE, "position": 3})
    posterior, prior = wv.infer(SENTENCE, word="kiwi", position=3), wv.density("kiwi")
    assert answer["kl"] == pytest.approx(float(posterior.kl(prior)), rel=1e-5)
    assert answer["shift"] == pytest.approx(float(np.linalg.norm(posterior.mean - prior.mean)), rel=1e-5)
    same(answer["nearest_to_posterior"], wv.most_similar(posterior, metric="kl"))
    same(
        answer["substitutes"],
        wv.substitutes("kiwi", SENTENCE, exclude_inflections=True, position=3, exclude_context=True),
    )
    assert sum(item["share"] for item in answer["contributions"]) == pytest.approx(1)


def posterior_without(wv, off):
    """What is inferred when words are left out, and the others count as they did."""
    kept = [(i, weight) for i, weight in zip(*wv.read_around(SENTENCE, 3), strict=True) if i not in off]
    rows = [wv.get_index(SENTENCE[i]) for i, _ in kept]
    priors = wv.vectors[[wv.get_index("kiwi")]], wv.log_variances[[wv.get_index("kiwi")]]
    weights = np.array([weight for _, weight in kept])
    mean, log_variance = wv.encoder.posteriors([wv.get_index("kiwi")], rows, [0, len(rows)], priors, weights)
    return Gaussian(mean[0], np.exp(log_variance[0]))


def test_a_context_word_that_is_switched_off_is_left_out(client, wv):
    off = ask(client, "context", {"tokens": SENTENCE, "position": 3, "off": [2, 4]})
    posterior = posterior_without(wv, [2, 4])
    assert off["kl"] == pytest.approx(float(posterior.kl(wv.density("kiwi"))), rel=1e-5)
    assert [item["position"] for item in off["contributions"]] == [
        i for i in off["window"] if i not in (2, 4)
    ]
    # What leaving out one word changes is what switching it off does.
    on = ask(client, "context", {"tokens": SENTENCE, "position": 3})
    one = next(item for item in on["contributions"] if item["position"] == 2)
    whole = wv.infer(SENTENCE, word="kiwi", position=3)
    part = posterior_without(wv, [2])
    assert one["kl"] == pytest.approx(float(whole.kl(part)), rel=1e-4)
    # The map stays, only the arrow moves.
    assert on["picture"]["words"] == off["picture"]["words"]
    assert on["picture"]["prior"] == off["picture"]["prior"]
    assert on["picture"]["posterior"] != off["picture"]["posterior"]
    nothing = ask(client, "context", {"tokens": SENTENCE, "position": 3, "off": list(range(9))})
    assert nothing["kl"] == pytest.approx(0, abs=1e-6)


def test_the_shift_has_its_full_length_in_the_picture(client):
    answer = ask(client, "context", {"tokens": SENTENCE, "position": 3})
    prior, posterior = answer["picture"]["prior"], answer["picture"]["posterior"]
    length = np.hypot(posterior["x"] - prior["x"], posterior["y"] - prior["y"])
    assert length == pytest.approx(answer["shift"], rel=1e-4)


def test_word_page(client, wv):
    answer = client.get("/v1/word", params={"word": "kiwi", "topn": 5}).json()
    assert answer["count"] == wv.get_vecattr("kiwi", "count")
    assert answer["prior"]["generality"] == pytest.approx(wv.generality("kiwi"))
    below = np.mean(wv.generality(wv.index_to_key) < wv.generality("kiwi"))
    assert answer["prior"]["more_general_than"] == pytest.approx(below)
    for metric in METRICS:
        same(answer["neighbours"][metric], wv.most_similar("kiwi", topn=5, metric=metric))
    assert len(answer["picture"]) == 13
    assert client.get("/v1/word", params={"word": "kiwii"}).status_code == 404


def test_senses_are_found_in_the_background(wv):
    corpus = toy_language(300)
    with TestClient(app(wv, corpus=list(corpus))) as asked:
        assert asked.get("/v1/model").json()["corpus"] is True
        for _ in range(600):
            answer = asked.get("/v1/senses", params={"word": "kiwi"})
            if answer.status_code == 200:
                break
            assert (answer.status_code, answer.json()) == (202, {"word": "kiwi", "state": "reading"})
            time.sleep(0.1)
        found, expected = answer.json(), wv.senses("kiwi", list(corpus), 500)
        assert found["occurrences"] == len(expected.occurrences)
        assert [sense["share"] for sense in found["senses"]] == pytest.approx(
            [each.share for each in expected]
        )
        near = [[each["word"] for each in sense["nearest"]] for sense in found["senses"]]
        assert near == [[word for word, _ in each.nearest] for each in expected]
        examples = [example for sense in found["senses"] for example in sense["examples"]]
        assert all(example["tokens"][example["position"]] == "kiwi" for example in examples)
        assert all("  kiwi  " in f"{example['line']}  " for example in examples)
        assert asked.get("/v1/senses", params={"word": "unheard"}).status_code == 404


def test_a_word_that_does_not_occur_has_no_senses(wv):
    finder = SenseFinder([["a", "ripe", "plum"]])
    model = Models(wv).get()
    while finder.ask(model, "kiwi").state == "reading":
        time.sleep(0.01)
    nothing = {"word": "kiwi", "occurrences": 0, "senses": [], "state": "found"}
    assert finder.ask(model, "kiwi").to_dict() == nothing


def test_without_a_corpus_there_are_no_senses(client):
    assert client.get("/v1/model").json()["corpus"] is False
    answer = client.get("/v1/senses", params={"word": "kiwi"})
    assert answer.status_code == 404
    assert "--corpus" in answer.json()["error"]


def test_compare(client, wv):
    answer = ask(client, "compare", {"a": "the shy [[kiwi]] digs", "b": "a ripe [[kiwi]]."})
    a, b = (
        wv.infer(["the", "shy", "kiwi", "digs"], word="kiwi", position=2),
        wv.infer(["a", "ripe", "kiwi"], word="kiwi", position=2),
    )
    found = {item["metric"]: item for item in answer["similarity"]}
    for metric in METRICS:
        assert found[metric]["in_context"] == pytest.approx(
            float(wv.similarity(a, b, metric=metric)), rel=1e-5
        )
    assert found["cosine"]["out_of_context"] == pytest.approx(1)
    assert answer["in_context"]["direction"] == pytest.approx(wv.direction(a, b), rel=1e-4)
    plain = ask(client, "compare", {"a": "dog", "b": "animal"})
    assert plain["in_context"] is None
    assert plain["out_of_context"]["direction"] == pytest.approx(wv.direction("dog", "animal"))
    assert -1 <= plain["out_of_context"]["lean"] <= 1
    assert plain["out_of_context"]["hypernymy"] == pytest.approx(wv.hypernymy("dog", "animal"), abs=1e-6)


def test_map(client, wv):
    answer = ask(client, "map", {"top": 40, "skip": 5})
    assert [item["word"] for item in answer["words"]] == wv.index_to_key[5:45]
    assert [item["generality"] for item in answer["words"]] == pytest.approx(
        wv.generality(wv.index_to_key[5:45]).tolist()
    )
    around = ask(client, "map", {"around": "kiwi", "top": 9})
    assert [item["word"] for item in around["words"]] == [
        "kiwi",
        *(word for word, _ in wv.most_similar("kiwi", topn=9)),
    ]
    assert ask(client, "map", {"words": ["kiwi"], "top": 0})["words"][0]["word"] == "kiwi"


def test_halves_of_characters_are_answered_in_utf8():
    wv = example_densities()
    wv.add_vectors(["\udcff"], wv[["dog"]])
    client = TestClient(app(wv))
    question = json.dumps({"context": "cat \ud800", "word": "dog"}).encode()
    answer = client.post("/v1/infer", content=question, headers={"content-type": "application/json"})
    assert answer.status_code == 200
    assert json.loads(answer.content.decode("utf-8"))["unknown"] == ["\ud800"]
    page = client.get("/v1/word", params={"word": "dog"})
    assert page.status_code == 200
    assert "\udcff" in [each["word"] for each in page.json()["neighbours"]["cosine"]]


def test_words_that_are_not_text_are_answered_in_utf8(wv):
    odd = example_densities()
    odd.add_vectors(["bad\ud800"], odd[["dog"]])
    client = TestClient(app(odd))
    answers = [
        client.get("/v1/word", params={"word": "dog"}),
        client.post("/v1/similar", json={"positive": "dog"}),
        client.post("/v1/infer", content=b'{"sentence": "[[dog]] bad\\ud800 \\udfff"}', headers=JSON),
        client.post("/v1/similar", content=b'{"positive": "\\ud800"}', headers=JSON),
    ]
    for answer in answers:
        json.loads(answer.content.decode("utf-8"))
        assert answer.status_code in (200, 404, 422)
        assert b"\\ud" in answer.content
