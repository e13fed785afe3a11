"""Training on several ranks of one machine: quality, speed and bytes.

``python -m benchmarks.distributed quality CORPUS --data EVAL [--ranks 1 2 4] [--epochs N]`` trains models of 1, 2 and 4
ranks, one worker each, and evaluates them. ``... speed CORPUS [--ranks 2 4 8]`` compares one process with one and with
two threads, and ranks of one thread each, in turns. ``... link CORPUS --megabits 1000`` trains two ranks in network
namespaces of their own over a link of that rate (Linux, as root; needs ``ip`` and ``tc``), beside the same two ranks
over loopback. Ranks are started by torchrun.
"""

import argparse
import json
import logging
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager

#: Figures of `evaluate_all`: benchmark, measure and method.
FIGURES = (
    ("SUM", "", "cosine"),
    ("BIG5", "", "cosine"),
    ("lst_all", "GAP", "wv.substitutes"),
    ("coinco_dev", "GAP", "wv.substitutes"),
    ("bbds_direction", "accuracy", "wv.direction"),
    ("bless_direction", "accuracy", "wv.direction"),
)
TASKS = ("word similarity", "candidates", "direction of entailment")

LAUNCHER = [sys.executable, "-m", "torch.distributed.run"]


def rank_command(corpus, out, **options):
    """Return the arguments of python with which one rank trains."""
    command = ["-m", "benchmarks.distributed", "rank", str(corpus), "--out", str(out)]
    for name, value in options.items():
        if value is not None:
            command += [f"--{name.replace('_', '-')}", str(value)]
    return command


def start(command):
    """Start a process whose output is read."""
    environment = {"OMP_NUM_THREADS": "1", **os.environ}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def result(process):
    """Wait for a process, and return what rank 0 said in it; None if it said nothing."""
    output, _ = process.communicate()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    return next((json.loads(line) for line in output.splitlines() if line.startswith("{")), None)


def between(args):
    """Say how many words a rank trains between exchanges."""
    words = f"{args.exchange_words:,}" if args.exchange_words else "densvec's own number of"
    return f"{words} words of a rank between exchanges"


def train(corpus, ranks, out, **options):
    """Train a model on some ranks in processes of their own; return what rank 0 says of it."""
    launcher = [*LAUNCHER, "--standalone", f"--nproc-per-node={ranks}"] if ranks > 1 else [sys.executable]
    return result(start([*launcher, *rank_command(corpus, out, **options)]))


def be_rank(args):
    """Train on this rank; rank 0 prints what came of it."""
    from densvec import BayesianSkipGram, distributed

    logging.disable(logging.WARNING)
    several = distributed.init(exchange_words=args.exchange_words)
    model = BayesianSkipGram(
        workers=args.workers,
        vector_size=args.vector_size,
        epochs=args.epochs,
        seed=args.seed,
        show_progress=False,
    )
    model.build_vocab(corpus_file=args.corpus)
    started = time.process_time()
    model.train()
    computing = time.process_time() - started
    if not distributed.is_main():
        return
    if args.out != "-":
        model.save(args.out)
    words = sum(entry.words for entry in model.loss_history)
    document = {
        "vocabulary": len(model.wv),
        "loss": model.loss_history[-1].loss,
        "words_per_second": words / sum(entry.seconds for entry in model.loss_history),
        "words_per_second_of_a_core": words / distributed.world_size() / computing,
    }
    if several:
        from densvec.distributed.group import connect

        group = connect()
        document |= {
            "rounds": group.rounds,
            "bytes_per_round": group.bytes_sent / group.rounds,
            "bytes_per_word": group.bytes_sent / (words / group.size),
            "waiting": group.seconds_waited / sum(entry.seconds for entry in model.loss_history),
        }
    print(json.dumps(document), flush=True)


def quality(args) -> None:
    """Print the quality of models of different numbers of ranks."""
    from densvec import BayesianSkipGram
    from densvec.evaluation import Bootstrap, evaluate_all

    print(f"{args.corpus}, {args.epochs} epochs, {between(args)}\n")
    print(
        "| ranks | sum of 12 | BIG5 | GAP SemEval | CoInCo | direction BBDS | BLESS | loss | words per second | "
        "per second of a core | MB sent per round | bytes per word |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for ranks in args.ranks:
            path = os.path.join(args.out or folder, f"ranks{ranks}.dv")
            options = {"epochs": args.epochs, "exchange_words": args.exchange_words, "seed": args.seed}
            told = train(args.corpus, ranks, path, **options)
            model = BayesianSkipGram.load(path)
            results = evaluate_all(model, args.data, tasks=TASKS, bootstrap=Bootstrap(0))
            figures = {(each.benchmark, each.measure, each.method): float(each.value) for each in results}
            shown = [figures.get(key, float("nan")) for key in FIGURES]
            cells = " | ".join(f"{value:.3f}" for value in [*shown, told["loss"]])
            sent = (
                f"{told['bytes_per_round'] / 1e6:.1f} | {told['bytes_per_word']:.0f}"
                if ranks > 1
                else "– | –"
            )
            speeds = f"{told['words_per_second']:,.0f} | {told['words_per_second_of_a_core']:,.0f}"
            print(f"| {ranks} | {cells} | {speeds} | {sent} |", flush=True)


def speed(args) -> None:
    """Print words per second of one process with one and two threads, and of several ranks, in turns."""
    contenders = {
        "1 process, 1 worker": {"ranks": 1, "workers": 1},
        "1 process, 2 workers": {"ranks": 1, "workers": 2},
    }
    for ranks in args.ranks:
        if ranks > 1:
            contenders[f"{ranks} ranks, 1 worker each"] = {"ranks": ranks, "workers": 1}
    rounds = []
    for _ in range(args.repeats):
        rounds.append(
            {
                name: train(
                    args.corpus, out="-", epochs=args.epochs, exchange_words=args.exchange_words, **options
                )
                for name, options in contenders.items()
            }
        )
    first, second, *_ = contenders
    print(f"| | words per second | to {first} | to {second} | waiting for the exchange |")
    print("|---|---|---|---|---|")
    for name in contenders:
        speeds = [each[name]["words_per_second"] for each in rounds]
        waiting = rounds[-1][name].get("waiting")
        ratios = " | ".join(
            _each([own / each[other]["words_per_second"] for own, each in zip(speeds, rounds, strict=True)])
            for other in (first, second)
        )
        print(
            f"| {name} | {statistics.median(speeds):,.0f} | {ratios} | {'–' if waiting is None else f'{waiting:.0%}'} |"
        )


def _each(ratios):
    """Return the ratios of all rounds as text, their median first."""
    shown = f"{statistics.median(ratios):.2f}"
    return shown if len(ratios) == 1 else f"{shown} ({', '.join(f'{ratio:.2f}' for ratio in ratios)})"


#: Two network namespaces, each with one end of a link.
ENDS = {"densvec-0": "10.97.0.1", "densvec-1": "10.97.0.2"}


@contextmanager
def slow_link(megabits):
    """Make two network namespaces that are joined by a link of some rate in each direction."""

    def call(command):
        subprocess.run(command.split(), check=True)

    first, second = ENDS
    try:
        for name in ENDS:
            call(f"ip netns add {name}")
        call(f"ip link add link0 netns {first} type veth peer name link1 netns {second}")
        for number, (name, address) in enumerate(ENDS.items()):
            inside = f"ip netns exec {name}"
            call(f"{inside} ip address add {address}/24 dev link{number}")
            call(f"{inside} ip link set lo up")
            call(f"{inside} ip link set link{number} up")
            call(
                f"{inside} tc qdisc add dev link{number} root tbf rate {megabits}mbit burst 1mb latency 50ms"
            )
        yield
    finally:
        for name in ENDS:
            subprocess.run(["ip", "netns", "delete", name], check=False)


def link(args) -> None:
    """Print the speed of two ranks over a slow link and over loopback, in turns."""
    options = {"epochs": args.epochs, "exchange_words": args.exchange_words, "workers": args.workers}
    near, far = [], []
    for _ in range(args.repeats):
        near.append(train(args.corpus, 2, "-", **options))
        with slow_link(args.megabits):
            host = next(iter(ENDS.values()))
            processes = [
                start(
                    [
                        *("ip", "netns", "exec", name, "env", f"GLOO_SOCKET_IFNAME=link{number}"),
                        *(*LAUNCHER, "--nnodes=2", f"--node-rank={number}", f"--master-addr={host}"),
                        *("--master-port=29400", *rank_command(args.corpus, "-", **options)),
                    ]
                )
                for number, name in enumerate(ENDS)
            ]
            far.append(next(told for told in map(result, processes) if told is not None))
    print(f"2 ranks, {args.workers} worker each, {between(args)}\n")
    print("| | words per second | of loopback | waiting for the exchange | MB sent per round |")
    print("|---|---|---|---|---|")
    ratios = sorted(a["words_per_second"] / b["words_per_second"] for a, b in zip(far, near, strict=True))
    for name, told, ratio in (
        ("loopback", near, 1.0),
        (f"{args.megabits} Mbit/s", far, ratios[len(ratios) // 2]),
    ):
        middle = sorted(told, key=lambda each: each["words_per_second"])[len(told) // 2]
        print(
            f"| {name} | {middle['words_per_second']:,.0f} | {ratio:.2f} | {middle['waiting']:.0%} | "
            f"{middle['bytes_per_round'] / 1e6:.1f} |"
        )


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("quality", "speed", "link", "rank"))
    parser.add_argument("corpus")
    parser.add_argument("--data", help="the benchmarks, as `densvec evaluate` takes them")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument(
        "--exchange-words", type=int, help="of a rank, between exchanges (default: densvec's own)"
    )
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--vector-size", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--megabits", type=int, default=1000, help="per second, of the link")
    parser.add_argument("--out", help="where to keep the models")
    args = parser.parse_args()
    {"quality": quality, "speed": speed, "link": link, "rank": be_rank}[args.what](args)


if __name__ == "__main__":
    main()
