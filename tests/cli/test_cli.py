"""The command line, mostly as a real process: what it prints, what it returns, what it survives."""

import inspect
import io
import itertools
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import densvec
from densvec import BayesianSkipGram, KeyedDensities
from densvec.cli import main
from densvec.cli.program import COMMANDS, build_parser
from densvec.cli.train import LEFT_OUT, MODELS, model_class
from densvec.cli.words import parse_marked, spellings
from densvec.datasets import toy_language

ROOT = Path(densvec.__file__).parent.parent
QUICK = shlex.split("--vector-size 12 --sample 0.01 --alpha 0.03 --epochs 3 --workers 1 --seed 3")
SENTENCE = "flightless shy [[kiwi]] digs forest burrow"


def command(*arguments):
    return [sys.executable, "-m", "densvec", *map(str, arguments)]


def environment(**more):
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONIOENCODING": "utf-8", **more}


def densvec_process(*arguments, env=None, **options):
    return subprocess.run(
        command(*arguments),
        capture_output=True,
        env=env or environment(),
        timeout=120,
        check=False,
        **options,
    )


def assert_one_sentence(done, code=1):
    """The process failed with one line on standard error and nothing else."""
    error = done.stderr.decode()
    assert done.returncode == code
    assert done.stdout == b""
    assert "Traceback" not in error
    assert error.startswith("densvec ")
    assert error.count("\n") == 1
    return error


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "toy.txt"
    toy_language(1500).write(path)
    return path


@pytest.fixture(scope="module")
def trained(corpus, tmp_path_factory):
    """A model trained by the command line, and what that printed."""
    path = tmp_path_factory.mktemp("model") / "toy.dv"
    done = densvec_process("train", corpus, "-o", path, *QUICK)
    assert done.returncode == 0, done.stderr.decode()
    return path, done


@pytest.fixture
def model(trained):
    return str(trained[0])


@pytest.fixture(scope="module")
def foreign_words(tmp_path_factory):
    """A model of words that need Unicode."""
    directory = tmp_path_factory.mktemp("unicode")
    (directory / "text.txt").write_text("café 日本 naïve ☕ tea\n" * 30, encoding="utf-8")
    path = str(directory / "model.dv")
    options = ["--vector-size", "4", "--min-count", "1", "--sample", "0", "--epochs", "1", "--quiet"]
    assert main(["train", str(directory / "text.txt"), "-o", path, *options]) == 0
    return path


def answer(capsys, *arguments):
    """Run a command in this process and return the documents that it prints."""
    capsys.readouterr()
    assert main([*map(str, arguments), "--json"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


class TestHelp:
    @pytest.mark.parametrize("name", COMMANDS)
    def test_teaches_by_examples(self, name, capsys):
        assert main([name, "--help"]) == 0
        text = capsys.readouterr().out
        assert "examples:" in text
        assert f"densvec {name} " in text

    def test_lists_commands_without_importing_what_they_need(self):
        script = (
            "import sys; from densvec.cli import main; main(['--help']);"
            "print([m for m in ('torch', 'matplotlib', 'pandas', 'gensim', 'scipy.stats', 'smart_open', 'tqdm')"
            " if m in sys.modules])"
        )
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, env=environment(), check=True
        )
        text = done.stdout.decode()
        assert all(f"\n    {name}" in text for name in COMMANDS)
        assert text.endswith("[]\n")

    def test_no_constructor_option_is_forgotten(self):
        subparsers = next(action for action in build_parser()._actions if action.dest == "command")
        options = {action.dest for action in subparsers.choices["train"]._actions}
        for cls in map(model_class, MODELS):
            assert set(inspect.signature(cls).parameters) - LEFT_OUT <= options

    def test_every_example_parses(self, capsys):
        for name in COMMANDS:
            main([name, "--help"])
            for line in capsys.readouterr().out.splitlines():
                if line.startswith(f"  densvec {name} ") and "--help" not in line:
                    words = _shell_words(line)
                    build_parser(words).parse_args(words)


def _shell_words(line):
    """Return the arguments of a command line, without pipes and redirections."""
    return list(itertools.takewhile(lambda word: word not in "|<>>", shlex.split(line, comments=True)[1:]))


class TestTrain:
    def test_saves_a_model_with_the_given_parameters(self, trained):
        path, done = trained
        model = BayesianSkipGram.load(path)
        assert (model.vector_size, model.sample, model.alpha, model.epochs, model.seed) == (
            12,
            0.01,
            0.03,
            3,
            3,
        )
        assert len(model.loss_history) == 3
        assert done.stdout.decode().startswith(f"{path}: BayesianSkipGram of {len(model.wv):,} words")
        assert b"counting the words" in done.stderr

    def test_equals_the_library(self, trained, corpus):
        same = BayesianSkipGram(
            corpus_file=corpus, vector_size=12, sample=0.01, alpha=0.03, epochs=3, workers=1, seed=3
        )
        np.testing.assert_array_equal(KeyedDensities.load(trained[0]).vectors, same.wv.vectors)

    def test_standard_input_gives_the_same_model(self, trained, corpus, tmp_path):
        path = tmp_path / "model.dv"
        done = densvec_process("train", "-", "-o", path, *QUICK, "--json", input=corpus.read_bytes())
        assert done.returncode == 0, done.stderr.decode()
        assert b"temporary file" in done.stderr
        assert json.loads(done.stdout)["epochs"] == 3
        np.testing.assert_array_equal(
            KeyedDensities.load(path).vectors, KeyedDensities.load(trained[0]).vectors
        )
        assert BayesianSkipGram.load(path)._corpus == (None, None)  # not the temporary file's path

    def test_one_pass_over_standard_input_suffices_with_a_vocabulary(
        self, corpus, tmp_path, monkeypatch, capsys
    ):
        words = corpus.read_text(encoding="utf-8").split()
        counts = tmp_path / "counts.txt"
        counts.write_text("".join(f"{word} {words.count(word)}\n" for word in sorted(set(words))), "utf-8")
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(corpus.open("rb")))
        path = tmp_path / "model.dv"
        options = ["--vocabulary", str(counts), *QUICK, "--epochs", "1"]
        assert main(["train", "-", "-o", str(path), *options]) == 0
        assert "temporary" not in capsys.readouterr().err
        model = BayesianSkipGram.load(path)
        assert model.loss_history[0].words == len(words)
        assert model.corpus_total_words == len(words)

    @pytest.mark.parametrize("name, cls", [("skipgram", "SkipGram"), ("word2gauss", "Word2Gauss")])
    def test_other_models(self, name, cls, corpus, tmp_path, capsys):
        path = str(tmp_path / "model.dv")
        [found] = answer(
            capsys, "train", corpus, "-o", path, "--model", name, "--vector-size", 8, "--epochs", 1, "-q"
        )
        assert found["class"] == cls
        assert main(["similar", path, "kiwi"]) == 0

    def test_directory_and_compressed_file(self, corpus, trained, tmp_path):
        import gzip

        (tmp_path / "texts").mkdir()
        with gzip.open(tmp_path / "texts" / "toy.txt.gz", "wb") as file:
            file.write(corpus.read_bytes())
        for i, place in enumerate([tmp_path / "texts", tmp_path / "texts" / "toy.txt.gz"]):
            path = tmp_path / f"{i}.dv"
            assert main(["train", str(place), "-o", str(path), *QUICK, "--quiet"]) == 0
            np.testing.assert_array_equal(
                KeyedDensities.load(path).vectors, KeyedDensities.load(trained[0]).vectors
            )

    def test_empty_corpus(self, tmp_path):
        (tmp_path / "empty.txt").write_text("")
        done = densvec_process("train", tmp_path / "empty.txt", "-o", tmp_path / "model.dv", "--quiet")
        assert "the corpus has no words" in assert_one_sentence(done)
        assert not (tmp_path / "model.dv").exists()

    def test_bad_paths(self, corpus, tmp_path):
        done = densvec_process("train", tmp_path / "nowhere.txt", "-o", tmp_path / "model.dv")
        assert "nowhere.txt: No such file" in assert_one_sentence(done)
        for place, why in [
            (tmp_path / "no" / "model.dv", "there is no such directory"),
            (corpus, "choose another name"),  # the corpus is not overwritten by its model
        ]:
            before = corpus.read_bytes()
            assert why in assert_one_sentence(densvec_process("train", corpus, "-o", place, "--quiet"))
            assert corpus.read_bytes() == before

    def test_bad_parameters(self, corpus, tmp_path, capsys):
        place = ["-o", str(tmp_path / "model.dv"), "--quiet"]
        assert main(["train", str(corpus), *place, "--window", "0"]) == 1
        assert main(["train", str(corpus), *place, "--min-count", "100000"]) == 1
        assert main(["train", str(corpus), *place, "--window", "wide"]) == 2
        assert main(["train", str(corpus), *place, "--rates", "mean"]) == 2
        assert main(["train", *place]) == 2
        error = capsys.readouterr().err
        assert "window=0 is too small" in error
        assert "lower min_count" in error
        assert "give the CORPUS" in error


def interrupted(corpus, path, signal_number, *options):
    """Train, and send a signal when the first checkpoint is there."""
    process = subprocess.Popen(
        command("train", corpus, "-o", path, *options),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        # a test run in the background may have been told to ignore Ctrl-C, which its children inherit
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    while not path.exists() and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(signal_number)
    output, error = process.communicate(timeout=120)
    assert output == b""
    return process.returncode, error.decode()


@pytest.mark.skipif(os.name == "nt", reason="signals")
class TestInterrupted:
    def test_training_goes_on_as_if_nothing_had_happened(self, corpus, tmp_path, capsys):
        whole, parts = tmp_path / "whole.dv", tmp_path / "parts.dv"
        options = [*QUICK, "--epochs", "25", "--batch-words", "1000"]
        code, error = interrupted(corpus, parts, signal.SIGINT, *options)
        assert code == 130, error
        assert f"To go on: densvec train {corpus} -o {parts} --resume" in error
        assert "Traceback" not in error
        stopped = BayesianSkipGram.load(parts)
        assert 1 <= len(stopped.loss_history) < 25

        # Nothing but --resume goes on with it, and only as it was begun.
        assert main(["train", str(corpus), "-o", str(parts), *options]) == 2
        assert main(["train", "-o", str(parts), "--resume", "--window", "3"]) == 2
        error = capsys.readouterr().err
        assert "--resume goes on with it, --overwrite starts again" in error
        assert "--window cannot change" in error

        again = densvec_process("train", corpus, "-o", parts, "--resume")
        assert again.returncode == 0, again.stderr.decode()
        assert main(["train", str(corpus), "-o", str(whole), *options, "--quiet"]) == 0
        resumed, straight = BayesianSkipGram.load(parts), BayesianSkipGram.load(whole)
        assert [entry.loss for entry in resumed.loss_history] == [
            entry.loss for entry in straight.loss_history
        ]
        np.testing.assert_array_equal(resumed.wv.vectors, straight.wv.vectors)
        np.testing.assert_array_equal(resumed.wv.log_variances, straight.wv.log_variances)

    def test_end_of_a_job_saves_too(self, corpus, tmp_path):
        path = tmp_path / "model.dv"
        code, error = interrupted(corpus, path, signal.SIGTERM, *QUICK, "--epochs", "1000")
        assert code == 143, error
        assert "--resume" in error
        assert BayesianSkipGram.load(path).loss_history


class TestResume:
    def test_only_as_the_model_it_was_begun_as(self, model, capsys):
        assert main(["train", "-o", model, "--resume", "--model", "skipgram"]) == 2
        assert "it cannot go on as skipgram" in capsys.readouterr().err

    def test_starts_a_model_that_is_not_there(self, corpus, tmp_path, capsys):
        path = tmp_path / "model.dv"
        assert main(["train", str(corpus), "-o", str(path), "--resume", *QUICK]) == 0
        assert "starting it" in capsys.readouterr().err
        assert main(["train", "-o", str(path), "--resume"]) == 0
        assert "nothing to do" in capsys.readouterr().err
        assert main(["train", "-o", str(path), "--resume", "--epochs", "4"]) == 0
        assert len(BayesianSkipGram.load(path).loss_history) == 4

    def test_needs_the_state_of_training(self, model, corpus, tmp_path, capsys):
        KeyedDensities.load(model).save(tmp_path / "words.dv")
        assert main(["train", str(corpus), "-o", str(tmp_path / "words.dv"), "--resume"]) == 1
        assert "without the state of training" in capsys.readouterr().err


class TestAsking:
    def test_similar(self, model, capsys):
        wv = KeyedDensities.load(model)
        for metric in ("cosine", "kl"):
            [found] = answer(capsys, "similar", model, "kiwi", "--metric", metric, "-n", 4)
            assert [(item["word"], item["score"]) for item in found["similar"]] == [
                (word, pytest.approx(score)) for word, score in wv.most_similar("kiwi", topn=4, metric=metric)
            ]
        [found] = answer(capsys, "similar", model, "owl", "apple", "--minus", "bird")
        expected = wv.most_similar(["owl", "apple"], ["bird"])
        assert [item["word"] for item in found["similar"]] == [word for word, _ in expected]

    def test_similar_of_many(self, model):
        done = densvec_process("similar", model, "-", "--json", input=b"kiwi\nowl\n\n")
        assert [json.loads(line)["words"] for line in done.stdout.splitlines()] == [["kiwi"], ["owl"]]

    def test_infer(self, model, capsys):
        [found] = answer(capsys, "infer", model, SENTENCE)
        wv = KeyedDensities.load(model)
        posterior = wv.infer(SENTENCE.replace("[[", "").replace("]]", ""), position=2)
        assert found["word"] == "kiwi"
        assert found["entropy"]["prior"] == pytest.approx(float(wv.density("kiwi").entropy()))
        assert found["entropy"]["posterior"] == pytest.approx(float(posterior.entropy()))
        nearest = [word for word, _ in wv.most_similar(posterior, metric="kl")]
        assert [item["word"] for item in found["nearest_to_posterior"]] == nearest
        assert "kiwi" not in [item["word"] for item in found["substitutes"]]

    def test_infer_for_people(self, model, capsys):
        assert main(["infer", model, "The Flightless [[kiwi]] digs", "-n", "2"]) == 0
        output = capsys.readouterr()
        assert output.out.splitlines()[1].startswith("entropy of kiwi: ")
        assert "left out, being unknown: The Flightless; --lower would help" in output.err
        assert main(["infer", model, "The Flightless [[Kiwi]] digs", "-n", "2", "--lower"]) == 0
        assert capsys.readouterr().err == ""

    def test_substitutes(self, model, capsys):
        [found] = answer(capsys, "substitutes", model, SENTENCE, "--candidates", "owl", "apple")
        wv = KeyedDensities.load(model)
        tokens = parse_marked(SENTENCE).tokens
        expected = wv.substitutes("kiwi", tokens, ["owl", "apple"], position=2)
        assert [item["word"] for item in found["substitutes"]] == [word for word, _ in expected]
        assert main(["substitutes", model, SENTENCE, "-n", "3"]) == 0
        assert len(capsys.readouterr().out.splitlines()) == 3

    def test_entails(self, model, capsys):
        wv = KeyedDensities.load(model)
        [found] = answer(capsys, "entails", model, "kakapo", "bird")
        assert found["kl"] == pytest.approx(wv.kl_divergence("kakapo", "bird"))
        assert found["direction"] == pytest.approx(wv.direction("kakapo", "bird"))
        assert found["entails"] == (wv.direction("kakapo", "bird") > 0)
        assert main(["entails", model, "kakapo", "bird"]) == 0
        winner = "kakapo entails bird" if found["entails"] else "bird entails kakapo"
        assert capsys.readouterr().out.startswith(winner)

    def test_unknown_word_suggests_spellings(self, model):
        done = densvec_process("similar", model, "kiwii")
        assert "'kiwii' is not among the" in assert_one_sentence(done)
        assert "did you mean 'kiwi'" in done.stderr.decode()

    @pytest.mark.parametrize(
        "arguments",
        [
            ["infer", "a ripe [[kiwy]] here"],
            ["substitutes", "a ripe [[kiwy]] here"],
            ["entails", "kiwy", "bird"],
            ["similar", "owl", "--minus", "kiwy"],
        ],
    )
    def test_every_command_suggests(self, arguments, model, capsys):
        name, *rest = arguments
        assert main([name, model, *rest]) == 1
        assert "did you mean 'kiwi'" in capsys.readouterr().err

    @pytest.mark.parametrize("sentence", ["no mark", "[[two]] [[marks]]", "an empty [[ ]]"])
    def test_wrong_marks_are_wrong_usage(self, sentence, model, capsys):
        assert main(["infer", model, sentence]) == 2
        assert "double brackets" in capsys.readouterr().err

    def test_bad_path(self, tmp_path):
        done = densvec_process("similar", tmp_path / "nowhere.dv", "kiwi")
        assert "nowhere.dv: No such file" in assert_one_sentence(done)

    def test_debug_shows_the_traceback(self, tmp_path, capsys):
        assert main(["similar", str(tmp_path / "nowhere.dv"), "kiwi", "--debug"]) == 1
        assert "Traceback" in capsys.readouterr().err

    def test_foreign_file(self, corpus, capsys):
        assert main(["similar", str(corpus), "kiwi"]) == 1
        assert capsys.readouterr().err.startswith(f"densvec similar: error: {corpus}: ")


class TestInfo:
    def test_reads_the_header_only(self, model, tmp_path, capsys):
        damaged = tmp_path / "damaged.dv"
        data = bytearray(Path(model).read_bytes())
        data[len(data) // 2] ^= 1
        damaged.write_bytes(data)
        [found] = answer(capsys, "info", damaged)
        assert found["class"] == "BayesianSkipGram"
        assert found["parameters"]["vector_size"] == 12
        assert found["tensors"]["means"]["shape"] == [len(KeyedDensities.load(model)), 12]
        assert main(["info", str(damaged), "--verify"]) == 1
        assert main(["info", model, "--verify"]) == 0

    def test_for_people(self, model, capsys):
        assert main(["info", model]) == 0
        lines = [line.split() for line in capsys.readouterr().out.splitlines()]
        assert ["dimensions", "12"] in lines
        assert ["covariance", "spherical"] in lines

    def test_densities_alone(self, model, tmp_path, capsys):
        KeyedDensities.load(model).save(tmp_path / "words.dv")
        assert main(["info", str(tmp_path / "words.dv")]) == 0
        assert "KeyedDensities" in capsys.readouterr().out


class TestExport:
    def test_word2vec(self, model, tmp_path, capsys):
        wv = KeyedDensities.load(model)
        means, variances = str(tmp_path / "means"), str(tmp_path / "variances")
        for name, binary in [("word2vec", False), ("word2vec-binary", True)]:
            [found] = answer(capsys, "export", model, "--format", name, "-o", means, "--variances", variances)
            assert found["written"] == [means, variances]
            back = KeyedDensities.load_word2vec_format(means, binary=binary, variances=variances)
            np.testing.assert_array_equal(back[wv.index_to_key], wv.vectors)
            np.testing.assert_allclose(back.get_variance(wv.index_to_key), wv.variances, rtol=1e-5)

    def test_gensim(self, model, tmp_path, capsys):
        gensim = pytest.importorskip("gensim.models")
        assert main(["export", model, "--format", "gensim", "-o", str(tmp_path / "kv")]) == 0
        wv = KeyedDensities.load(model)
        np.testing.assert_array_equal(gensim.KeyedVectors.load(str(tmp_path / "kv"))["kiwi"], wv["kiwi"])

    def test_others(self, model, tmp_path, capsys):
        wv = KeyedDensities.load(model)
        place = {name: str(tmp_path / name) for name in ("tsv", "bsg", "densvec")}
        for name, path in place.items():
            assert main(["export", model, "--format", name, "-o", path]) == 0
        assert len(Path(place["tsv"], "vectors.tsv").read_text().splitlines()) == len(wv)
        back = KeyedDensities.load_bsg_format(f"{place['bsg']}/mu.vectors", f"{place['bsg']}/sigma.vectors")
        np.testing.assert_array_equal(back["kiwi"], wv["kiwi"])
        tokens = parse_marked(SENTENCE).tokens
        assert KeyedDensities.load(place["densvec"]).infer(tokens, position=2) == wv.infer(tokens, position=2)

    def test_needs_a_place(self, model, capsys):
        assert main(["export", model, "--format", "tsv"]) == 2
        assert main(["export", model, "--format", "tsv", "-o", "x", "--variances", "y"]) == 2


class TestEvaluate:
    def test_equals_the_library(self, model, tmp_path, capsys):
        from densvec.evaluation import evaluate_all

        (tmp_path / "word-sim").mkdir()
        (tmp_path / "word-sim" / "EN-MC-30.txt").write_text("owl kakapo 9\nowl apple 2\nkakapo apple 1\n")
        [found] = answer(capsys, "evaluate", model, "--data", tmp_path, "--resamples", 0)
        expected = evaluate_all(KeyedDensities.load(model), tmp_path, resamples=0)
        assert found == json.loads(expected.to_json())
        assert main(["evaluate", model, "--data", str(tmp_path), "--resamples", "10", "--markdown"]) == 0
        assert "| SUM" in capsys.readouterr().out

    def test_no_data(self, model, tmp_path, capsys):
        assert main(["evaluate", model, "--data", str(tmp_path / "nowhere")]) == 1
        assert "no such directory of benchmarks" in capsys.readouterr().err


class TestPlot:
    @pytest.mark.parametrize(
        "items",
        [["owl", "kakapo", "bird"], [SENTENCE, "a ripe [[kiwi]] tastes sweet"], [SENTENCE, "--entropy"], []],
    )
    def test_draws(self, items, model, tmp_path, capsys):
        pytest.importorskip("matplotlib")
        pytest.importorskip("densvec.plot")
        [found] = answer(capsys, "plot", model, *items, "-o", tmp_path / "picture.png", "--dpi", 50)
        assert found["written"] == [str(tmp_path / "picture.png")]
        assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")

    def test_one_word_at_a_time(self, model, tmp_path, capsys):
        place = ["-o", str(tmp_path / "picture.png")]
        assert main(["plot", model, SENTENCE, "an [[owl]] hunts", *place]) == 2
        assert main(["plot", model, "owl", "--entropy", *place]) == 2
        assert main(["plot", model, "kiwy", *place]) == 1
        assert "did you mean 'kiwi'" in capsys.readouterr().err


class TestPipesAndTerminals:
    @pytest.mark.parametrize("arguments", [["export", "--format", "word2vec"], ["infer", "-"]])
    def test_closed_pipe_is_a_quiet_end(self, arguments, model, tmp_path):
        name, *rest = arguments
        sentences = tmp_path / "sentences.txt"
        sentences.write_text(f"{SENTENCE}\n" * 2000)
        with sentences.open("rb") as file:
            process = subprocess.Popen(
                command(name, model, *rest),
                stdin=file,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment(),
            )
            assert process.stdout.readline()
            process.stdout.close()
            assert process.stderr.read() == b""
            assert process.wait(timeout=60) == 0

    @pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
    def test_full_disk(self, model):
        with open("/dev/full", "wb") as full:
            done = subprocess.run(
                command("info", model), stdout=full, stderr=subprocess.PIPE, env=environment(), check=False
            )
        assert done.returncode == 1
        assert done.stderr.decode().count("\n") == 1
        assert b"No space left" in done.stderr

    def test_terminal_without_unicode(self, foreign_words):
        env = environment(LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
        del env["PYTHONIOENCODING"]
        done = densvec_process("similar", foreign_words, "café", env=env)
        assert done.returncode == 0, done.stderr
        assert {line.split()[0] for line in done.stdout.decode("ascii").splitlines()} == {
            r"\u65e5\u672c",
            r"na\xefve",
            r"\u2615",
            "tea",
        }
        done = densvec_process("similar", foreign_words, "café", "--json", env=env)
        assert {item["word"] for item in json.loads(done.stdout)["similar"]} == {"日本", "naïve", "☕", "tea"}
        done = densvec_process("similar", foreign_words, "cafés", env=env)
        assert r"did you mean 'caf\xe9'" in assert_one_sentence(done)

    def test_wrong_usage(self, model):
        done = densvec_process("similar", model)
        assert done.returncode == 2
        assert done.stderr.decode().splitlines() == [
            "densvec similar: error: the following arguments are required: WORD. "
            "`densvec similar --help` shows the usage"
        ]
        assert main(["nonsense"]) == 2
        assert main(["similar", model, "kiwi", "--topn", "0"]) == 2

    @pytest.mark.parametrize(
        ("arguments", "meant"),
        [
            (["trian"], "train"),
            (["train", "corpus.txt", "-o", "m", "--epoks=3"], "--epochs"),
            (["train", "corpus.txt", "-o", "m", "--model", "bgs"], "bsg"),
            (["similar", "m", "kiwi", "--qqqq"], None),
        ],
    )
    def test_a_mistyped_name_is_answered_with_the_nearest(self, arguments, meant, capsys):
        assert main(arguments) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert (f"Did you mean {meant}?" in said) if meant else ("Did you mean" not in said)


class TestCompletion:
    @pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
    @pytest.mark.parametrize(
        "typed, offered",
        [
            (["simi"], "similar"),
            (["similar", "model.dv", "kiwi", "--metric", "rev"], "reverse_kl"),
            (["train", "--vector-s"], "--vector-size"),
            (["train", ""], ""),  # left to the completion of file names
            (["completion", "z"], "zsh"),
        ],
    )
    def test_bash(self, typed, offered, capsys):
        main(["completion", "bash"])
        words = " ".join(f"'{word}'" for word in ["densvec", *typed])
        script = f'COMP_WORDS=({words}); COMP_CWORD={len(typed)}; _densvec; echo "${{COMPREPLY[@]}}"'
        done = subprocess.run(
            ["bash", "-c", f"{capsys.readouterr().out}\n{script}"], capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == offered

    @pytest.mark.parametrize("shell", ["zsh", "fish"])
    def test_other_shells_know_every_command(self, shell, capsys):
        assert main(["completion", shell]) == 0
        script = capsys.readouterr().out
        assert all(name in script for name in [*COMMANDS, "vector-size", "max-norm", "reverse_kl"])
        if shutil.which(shell):
            subprocess.run([shell, "-n"], input=script, text=True, check=True)


WORDS = st.text("abcdefghij", min_size=5, max_size=12)


class TestWords:
    @given(st.lists(WORDS, min_size=1, max_size=20, unique=True), st.data())
    def test_one_slip_inside_a_word_is_forgiven(self, vocabulary, data):
        word = data.draw(st.sampled_from(vocabulary))
        place = data.draw(st.integers(1, len(word) - 2))
        slip = word[:place] + data.draw(st.sampled_from(["", "x"])) + word[place + 1 :]
        assert word in spellings(slip, vocabulary, count=len(vocabulary))

    @given(st.lists(WORDS), WORDS, st.lists(WORDS))
    def test_marks(self, before, word, after):
        marked = parse_marked(" ".join([*before, f"[[{word}]]", *after]))
        assert marked.tokens == [*before, word, *after]
        assert marked.word == word
        assert marked.context == before + after
