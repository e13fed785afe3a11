"""Several ranks in one process, to see which table's merging costs what.

``python -m benchmarks.merging CORPUS --data EVAL [--ranks 8] [--exchange-words 40000] [--common means]`` trains copies
of a model's tables in turn, each on its own pieces of the text, exchanges their changes by the code that ranks of
torchrun exchange them by, and prints a row of a table. Tables named by ``--common`` are not merged: all ranks train the
same one, and with ``--common all`` one model, on their texts in turns. ``--held-out TEXT`` adds the loss on another
text.
"""

import argparse
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch

from benchmarks.distributed import FIGURES
from densvec import BayesianSkipGram
from densvec.distributed.bands import first_band
from densvec.distributed.exchange import Exchange, Report, Shared
from densvec.distributed.group import Group
from densvec.distributed.intervals import adds_weights, chunk_words, default_words, inputs_every, rows_every
from densvec.distributed.training import ALONE, ENCODER_POWER, MOST_ADDED, MOST_ALONE, shared_arrays
from densvec.evaluation import evaluate_all
from densvec.native import _bsg
from densvec.text.pieces import deal, pieces_of
from densvec.training.backend import StepResult
from densvec.training.tables import bayesian_company


class Table:
    """Where simulated ranks lay down what they send each other."""

    def __init__(self, size):
        self.laid = [None] * size
        self.barrier = threading.Barrier(size)


class Simulated(Group):
    """One of several ranks that are threads of this process."""

    def __init__(self, rank, table):
        super().__init__(None, rank, len(table.laid))
        self._table = table

    def _all(self, tensor):
        self._table.laid[self.rank] = tensor
        self._table.barrier.wait()
        found = list(self._table.laid)
        self._table.barrier.wait()
        return found

    def wire(self, device):
        """Return the device that tensors are on when they are exchanged."""
        return device

    def broadcast(self, tensor):
        """Overwrite a tensor by that of rank 0."""
        tensor.copy_(self._all(tensor.clone())[0])

    def gather(self, document):
        """Return the documents of all ranks."""
        return self._all(document)

    def gather_tensor(self, tensor):
        """Return the tensors of all ranks."""
        self._count(tensor, self.size - 1)
        return torch.stack(self._all(tensor.clone()))

    def exchange(self, sent):
        """Return what all ranks sent here."""
        self._count(sent[0], self.size - 1)
        return torch.stack([each[self.rank] for each in self._all(sent.clone())])


class Rank:
    """A copy of the tables, and what trains it."""

    def __init__(self, model, common, group, adds, options, first=None):
        self.backend = model._make_backend()
        encoder, objective = model.wv.encoder, self.backend.objective

        # Every backend lays the densities out anew, so what is common is that of the first one.
        theirs = self.backend if first is None else first.backend

        def own(arrays):
            return {name: a if kind(name) in common else a.copy() for name, a in arrays.items()}

        self.backend._tables, self.backend._state = own(theirs._tables), own(theirs._state)
        self.backend._kernel = _bsg.Kernel(
            self.backend._tables,
            self.backend._state,
            margin=objective.margin,
            kl_weight=objective.kl_weight,
            nearness=objective.nearness,
            residual=encoder.residual,
            reading=encoder.reading,
            company=bayesian_company(model.wv),
        )
        whole = shared_arrays(self.backend, model.layout(), adds)
        names = {id_of(array): name for name, array in self.backend.arrays().items()}

        def merged(tensor):
            return kind(names[id_of(tensor.numpy())]) not in common

        self.shared = Shared(
            [(table, rule) for table, rule in whole.rows if merged(table)],
            list(filter(merged, whole.means)),
            list(filter(merged, whole.momentum)),
            [(table, rule) for table, rule in whole.inputs if merged(table)],
            list(filter(merged, whole.weights)),
            list(filter(merged, whole.moments)),
            None if "means" in common else whole.travelled,
        )
        self._group, self._options = group, options
        self.exchange = None

    def join(self):
        """Begin to exchange; all ranks do so together."""
        self.exchange = Exchange(self._group, self.shared, **self._options)
        self.exchange.weights.gain = min(self._group.size, MOST_ADDED)


def id_of(array):
    """Return what an array is known by."""
    return array.__array_interface__["data"][0]


#: What ``--common`` can name: tables, or all of the network's weights or of their moments.
KINDS = ("means", "log_variances", "typical_word", "embeddings", "embedding_squares", "weights", "moments")


def kind(name):
    """Return what a table is, as ``--common`` names it."""
    if name in KINDS:
        return name
    return "moments" if name.startswith("adam") else "weights"


def train(model, args):
    """Train a model on simulated ranks; return the bytes that one of them sent for each of its words."""
    table = Table(args.ranks)
    adds = adds_weights(args.exchange_words, args.ranks)
    options = {
        "first_band": args.first_band or first_band(args.exchange_words, args.ranks),
        "inputs_every": inputs_every(args.exchange_words),
        "rows_every": args.rows_every,
    }
    model._optimiser_state = model._make_backend().state()
    groups = [Simulated(rank, table) for rank in range(args.ranks)]
    common = frozenset(KINDS if "all" in args.common else args.common)
    ranks = [Rank(model, common, groups[0], adds, options)]
    ranks += [Rank(model, common, group, adds, options, ranks[0]) for group in groups[1:]]
    apart = args.ranks > 1 and bool(ranks[0].shared.all())
    if apart:
        with ThreadPoolExecutor(args.ranks) as threads:
            list(threads.map(Rank.join, ranks))
    pieces = pieces_of(args.corpus)
    sizes = [piece.size for piece in pieces]
    open_feed, trained = model._feeds(), 0
    total_words = model.corpus_total_words * model.epochs
    alone = min(ALONE, int(MOST_ALONE * total_words)) if args.alone is None else args.alone
    # once rank 0 is no longer alone; weights in common are those of one process
    apart_weights = "weights" not in common
    factor = args.ranks**ENCODER_POWER if apart_weights and not adds else 1.0
    added = min(args.ranks, MOST_ADDED) if apart_weights and adds else 1
    for epoch in range(model.epochs):
        # as ranks do: those that wait for rank 0 get as much less of the first epoch
        ahead = sum(sizes) * alone // model.corpus_total_words if epoch == 0 and args.ranks > 1 else 0
        hands = deal(sizes, args.ranks, ahead=ahead)
        feeds = [chunks(open_feed, pieces, hand, epoch) for hand in hands]
        going = set(range(args.ranks))
        while going:
            beginning = trained == 0 and alone > 0 and args.ranks > 1
            for number in [0] if beginning else sorted(going):
                words = 0
                while (
                    words < (alone if beginning else args.exchange_words // args.rows_every)
                    and number in going
                ):
                    chunk = next(feeds[number], None)
                    if chunk is None:
                        going.discard(number)
                        break
                    done = min(1.0, trained / total_words)
                    ranks[number].backend.step(chunk, model.alpha + (model.min_alpha - model.alpha) * done)
                    words += chunk.words
                    trained += chunk.words
            for rank in ranks:
                rank.backend.encoder_factor = factor
                rank.backend.encoder_ranks = added
            if apart and beginning:
                together(ranks, Exchange.follow)
            elif apart:
                meet(ranks, last=not going)
    # every backend lays the model's tables out anew: those of the ranks are no longer there
    for name, array in model._make_backend().arrays().items():
        array[...] = np.asarray(ranks[0].backend.arrays()[name])
    return groups[0].bytes_sent / (trained / args.ranks)


def meet(ranks, last):
    """Take the outcome of the last round on all ranks, and start the next; the last one of an epoch is a full one."""
    for rank in ranks:
        if rank.exchange.under_way:
            rank.exchange.take()
    if not last:
        for rank in ranks:
            rank.exchange.start(Report([]))
        return
    together(ranks, Exchange.full)


def together(ranks, act):
    """Let all ranks do something at once."""
    with ThreadPoolExecutor(len(ranks)) as threads:
        list(threads.map(lambda rank: act(rank.exchange, Report([]), None), ranks))


def chunks(open_feed, pieces, hand, epoch):
    """Yield the chunks of some pieces."""
    for number in hand:
        yield from open_feed(epoch, 0, pieces[number], number)


def main() -> None:
    """Train and evaluate."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus")
    parser.add_argument("--data", required=True, help="the benchmarks, as `densvec evaluate` takes them")
    parser.add_argument("--held-out", help="another text, to measure the loss on")
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument(
        "--exchange-words", type=int, help="of a rank, between exchanges (default: densvec's own)"
    )
    parser.add_argument("--alone", type=int, help="words that rank 0 begins with (default: densvec's own)")
    parser.add_argument("--first-band", type=int, help="rows that are exchanged in every round")
    parser.add_argument(
        "--common",
        nargs="*",
        default=[],
        choices=(*KINDS, "all"),
        help="tables that all ranks have in common",
    )
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    args.exchange_words = args.exchange_words or default_words(args.ranks)
    torch.set_num_threads(1)
    model = BayesianSkipGram(workers=1, epochs=args.epochs, seed=args.seed, show_progress=False)
    args.rows_every = rows_every(args.exchange_words) if adds_weights(args.exchange_words, args.ranks) else 1
    model.batch_words = chunk_words(args.exchange_words // args.rows_every, model.batch_words)
    model.build_vocab(corpus_file=args.corpus)
    per_word = train(model, args)
    report = evaluate_all(model, args.data, resamples=0)
    figures = {name: estimate.value for name, estimate in report.figures().items()}
    cells = [f"{figures.get(name, float('nan')):.3f}" for name in FIGURES]
    if args.held_out:
        model._corpus = (None, args.held_out)
        backend = model._make_backend()
        losses = sum((backend.measure(chunk) for chunk in model._feeds()(0, 0)), StepResult())
        cells.append(f"{losses.per_centre()[0]:.2f}")
    print(
        "| ranks | words between exchanges | in common | sum of 12 | BIG5 | GAP SemEval | CoInCo | BBDS | BLESS | "
        "loss | bytes |"
    )
    common = ", ".join(args.common) or "–"
    print(f"| {args.ranks} | {args.exchange_words:,} | {common} | {' | '.join(cells)} | {per_word:.0f} |")


if __name__ == "__main__":
    main()
