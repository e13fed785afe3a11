"""Interrupts, stalled corpora, saves from anywhere, and a fork: nothing hangs, nothing is lost.

Each case runs in a process of its own, which a deadline ends if it hangs.
"""

import os
import subprocess
import sys
import textwrap

import pytest

HEAD = """
import faulthandler, os, signal, sys, threading, time
import numpy as np
from densvec import BayesianSkipGram, Word2Gauss
from densvec.callbacks import Callback
from densvec.corpora import LineSentence
from densvec.datasets import toy_language
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job may have inherited to ignore it
faulthandler.dump_traceback_later(50, exit=True)
SENTENCES = list(toy_language(300))

def make(sentences=None, **changes):
    parameters = dict(vector_size=4, min_count=2, sample=0.01, workers=2, epochs=3, batch_words=200)
    model = BayesianSkipGram(**{**parameters, **changes})
    model.build_vocab(SENTENCES)
    model._corpus = (SENTENCES if sentences is None else sentences, None)
    return model

class Stalling:
    "Hands out some sentences, and then waits for ever."
    def __init__(self, before=100):
        self.before, self.stalled = before, threading.Event()
    def __iter__(self):
        yield from SENTENCES[:self.before]
        self.stalled.set()
        time.sleep(1000)

class StallingFile:
    "The same as a text file."
    def __init__(self):
        self.text = "\\n".join(map(" ".join, SENTENCES[:200])).encode()
        self.stalled = threading.Event()
    def read(self, size=-1):
        if self.text:
            part, self.text = self.text[:4000], self.text[4000:]
            return part
        self.stalled.set()
        time.sleep(1000)
    def seek(self, *_): pass
    def close(self): pass

def train_quietly(model):
    try:
        model.train()
    except BaseException as error:
        print(type(error).__name__)
"""


def run(script, tmp_path, *arguments):
    found = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", HEAD + textwrap.dedent(script), *arguments],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.getcwd()},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert found.returncode == 0, found.stderr[-3000:]
    return found.stdout.split()


@pytest.mark.parametrize("arguments", [["--workers=1"], ["--workers=2"], ["--workers=1", "--backend=torch"]])
def test_runs_that_are_interrupted_anywhere_end_as_those_that_are_not(arguments):
    if "--backend=torch" in arguments:
        pytest.importorskip("torch")
    command = [sys.executable, "-m", "tests.model.interrupts", "--count=40", *arguments]
    found = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert found.returncode == 0, found.stdout + found.stderr


@pytest.mark.parametrize("backend", ["native", "torch"])
@pytest.mark.parametrize("stalling", ["Stalling()", "LineSentence(file)"])
def test_one_interrupt_ends_training_on_a_corpus_that_stalls(stalling, backend, tmp_path):
    script = f"""
    file = StallingFile()
    corpus = {stalling}
    model = make(corpus, backend={backend!r})
    def strike():
        getattr(corpus, "stalled", file.stalled).wait()
        time.sleep(0.3)
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=strike, daemon=True).start()
    try:
        model.train()
    except KeyboardInterrupt:
        print("interrupted")
    chunks = model._run.tally.chunks
    model.save("model.dv")
    whole, again = make(backend={backend!r}, workers=1), BayesianSkipGram.load("model.dv")
    print(chunks > 0, again.train(SENTENCES).epochs_trained, len(again.loss_history))
    print(again.loss_history[0].words == whole.train().loss_history[0].words)
    """
    assert run(script, tmp_path) == ["interrupted", "True", "3", "3", "True"]


def test_an_interrupt_is_heard_whenever_it_comes(tmp_path):
    """Also when it comes just as the loop ends waiting and looks for signals."""
    script = """
    from densvec.training import loop
    loop.ATTENTION = 0.002
    heard = []
    def handle(number, frame):
        heard.append(number)
        if len(heard) == 300:
            raise KeyboardInterrupt
    signal.signal(signal.SIGINT, handle)
    corpus = Stalling()
    def strike():
        corpus.stalled.wait()
        while len(heard) < 300:
            time.sleep(0.001)
            os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=strike, daemon=True).start()
    try:
        make(corpus).train()
    except KeyboardInterrupt:
        print("interrupted")
    """
    assert run(script, tmp_path) == ["interrupted"]


@pytest.mark.parametrize("backend", ["native", "torch"])
def test_a_save_from_another_thread_does_not_wait_for_a_corpus_that_stalls(backend, tmp_path):
    script = f"""
    corpus = Stalling()
    model = make(corpus, backend={backend!r})
    threading.Thread(target=train_quietly, args=(model,), daemon=True).start()
    corpus.stalled.wait()
    time.sleep(0.2)
    model.save("model.dv")
    print(BayesianSkipGram.load("model.dv")._run.tally.chunks > 0, flush=True)
    os._exit(0)  # the thread still waits for its corpus, and torch may abort where an interpreter ends under it
    """
    assert run(script, tmp_path) == ["True"]


@pytest.mark.parametrize("workers", [1, 3])
def test_the_corpus_itself_may_save_the_model(workers, tmp_path):
    script = f"""
    class Saving:
        def __iter__(self):
            for i, sentence in enumerate(SENTENCES):
                if i % 100 == 50:
                    model.save("model.dv")
                yield sentence
    model = make(Saving(), workers={workers})
    model.train()
    again = BayesianSkipGram.load("model.dv").train(SENTENCES)
    print(model.epochs_trained, again.epochs_trained)
    if {workers} == 1:
        print(all(np.array_equal(a, again._arrays()[name]) for name, a in model._arrays().items()))
    else:
        print([e.words for e in again.loss_history] == [e.words for e in model.loss_history])
    """
    assert run(script, tmp_path) == ["3", "3", "True"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_child_that_is_forked_during_training_can_ask_and_is_told_where_to_save(tmp_path):
    script = """
    import warnings
    warnings.simplefilter("ignore", DeprecationWarning)
    class Fork(Callback):
        chunks = 0
        def on_batch_end(self, model):
            self.chunks += 1
            if self.chunks != 5:
                return
            if (child := os.fork()) == 0:
                model.wv.most_similar("dog")
                try:
                    model.save("child.dv")
                except RuntimeError as error:
                    os._exit(7 if "forked" in str(error) else 1)
                os._exit(2)
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    model = make()
    model.train(callbacks=[Fork()])
    print(model.epochs_trained)
    """
    assert run(script, tmp_path) == ["7", "3"]


@pytest.mark.skipif(not hasattr(signal := __import__("signal"), "SIGALRM"), reason="a timer of POSIX")
def test_an_interrupted_callback_is_interrupted_at_once(tmp_path):
    script = """
    class Slow(Callback):
        def on_epoch_end(self, model):
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            time.sleep(1000)
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    model = make()
    try:
        model.train(callbacks=[Slow()])
    except KeyboardInterrupt:
        print(len(model.loss_history), model.train().epochs_trained)
    """
    assert run(script, tmp_path) == ["1", "3"]


def test_a_handler_that_does_not_raise_does_not_stop_training(tmp_path):
    script = """
    heard = []
    signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    class Strike(Callback):
        def on_epoch_begin(self, model):
            os.kill(os.getpid(), signal.SIGINT)
    print(make().train(callbacks=[Strike()]).epochs_trained, len(heard))
    """
    assert run(script, tmp_path) == ["3", "3"]
