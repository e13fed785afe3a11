"""What torch learns in large minibatches, next to the native kernel: ``python -m benchmarks.torch_batches CORPUS``.

Prints the loss of each epoch, with the tables at rest, and, with ``--data``, the figures of some benchmarks. Every
model is trained with one worker.
"""

import argparse
import time

from densvec import BayesianSkipGram
from densvec.evaluation import Bootstrap, evaluate_all
from densvec.training.torch import options

FIGURES = {
    "BIG5": ("BIG5", "", "cosine"),
    "P@1": ("lst_all", "P@1", "wv.substitutes"),
    "GAP": ("lst_all", "GAP", "wv.substitutes"),
    "SCWS": ("scws_dev", "rho", "wv.similarity_in_context"),
    "BBDS": ("bbds_direction", "accuracy", "wv.direction"),
    "BLESS": ("bless_direction", "accuracy", "wv.direction"),
}


def train(corpus, centres, epochs, seed, batch_words=None):
    """Return a model trained by torch in minibatches of at most so many centres, or by the native kernel if None."""
    options.batch_centres = centres
    options.batch_words = batch_words
    backend = {"backend": "native"} if centres is None else {"backend": "torch", "device": "cpu"}
    model = BayesianSkipGram(epochs=epochs, workers=1, seed=seed, show_progress=False, **backend)
    model.build_vocab(corpus_file=corpus)
    model.train()
    return model


def main(corpus, sizes, epochs, seed, batch_words, data=None):
    """Train, and print a table."""
    print(
        f"{'':8}{'loss at rest':>{7 * epochs}}"
        + "".join(f"{name:>8}" for name in FIGURES if data)
        + f"{'seconds':>9}"
    )
    for centres in [None, *sizes]:
        started = time.perf_counter()
        model = train(corpus, centres, epochs, seed, batch_words)
        taken = time.perf_counter() - started
        line = f"{'native' if centres is None else f'{centres:,}':8}"
        line += "".join(f"{epoch.loss:7.1f}" for epoch in model.loss_history)
        if data:
            results = evaluate_all(model.wv, data, bootstrap=Bootstrap(0))
            line += "".join(f"{float(results[figure]):8.3f}" for figure in FIGURES.values())
        print(line + f"{taken:9.0f}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", help="a text file, one sentence per line")
    parser.add_argument(
        "--centres",
        type=int,
        nargs="+",
        default=[512, 2000, 6400],
        help="of a minibatch",
    )
    parser.add_argument(
        "--batch-words",
        type=int,
        default=350_000,
        help="of the text whose centres are dealt out to minibatches",
    )
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", help="a directory of benchmarks, as `densvec evaluate` takes it")
    given = parser.parse_args()
    main(given.corpus, given.centres, given.epochs, given.seed, given.batch_words, given.data)
