"""Print all benchmark tables: ``python -m benchmarks [CORPUS]``; by default on generated text."""

import sys

from benchmarks import corpus, files, keyed, torch_speed, train_speed


def main() -> None:
    """Run the benchmarks one after another."""
    path = sys.argv[1] if len(sys.argv) > 1 else None
    for name, run in {
        "Reading, counting and sampling": lambda: corpus.main(path),
        "Training speed": lambda: train_speed.main(path),
        "The torch backend against the naive step": torch_speed.main,
        "Queries and inference": keyed.main,
        "Files": files.main,
    }.items():
        print(f"\n## {name}\n", flush=True)
        run()


if __name__ == "__main__":
    main()
