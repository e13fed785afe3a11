"""``densvec infer``: what a word means in a sentence."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from densvec.cli.output import columns, print_json, scored
from densvec.cli.words import (
    Batch,
    Marked,
    add_lower,
    add_metric,
    add_model,
    add_topn,
    check_known,
    lines_or,
    load,
    parse_marked,
    report_skipped,
    skipped,
)

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities

__all__ = ["DESCRIPTION", "EPILOG", "HELP", "configure", "meaning", "readable", "run"]

HELP = "what a word means in a sentence"
DESCRIPTION = """\
Infer the posterior density of a marked word: what it means in that sentence. Print the words nearest to the
prior (the word out of context) and to the posterior, the words that could replace it, and the entropy of both
densities: if the entropy falls, the context was informative."""
EPILOG = """\
examples:
  densvec infer model.dv "the flightless [[kiwi]] digs in the forest"
  densvec infer model.dv "a ripe [[kiwi]] tastes sweet" "a [[kiwi]] digs a burrow" --json
  densvec infer model.dv - < sentences.txt  # one marked sentence per line

The words of the sentence are separated by spaces, as those of the corpus were; only those within the model's
window on either side of the marked word count, and unknown ones are left out."""


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> None:
    """Add the arguments."""
    add_model(parser)
    parser.add_argument(
        "sentences", metavar="SENTENCE", nargs="+", help="a sentence with one [[word]] marked; - reads lines"
    )
    add_metric(parser, "kl")
    add_topn(parser)
    add_lower(parser)


def run(args: argparse.Namespace) -> int:
    """Print what each marked word means."""
    wv = load(args.model)
    batch = Batch(args.sentences, args.json)
    for i, text in enumerate(lines_or(args.sentences)):
        with batch.answering(text, {"sentence": text}):
            marked = parse_marked(text, lower=args.lower)
            check_known(wv, [marked.word])
            document = meaning(wv, marked, args.metric, args.topn)
            if args.json:
                print_json(document)
                continue
            report_skipped(wv, document["unknown"], marked)
            print(("\n" if i else "") + readable(document), flush=True)
    return batch.exit_code()


def meaning(wv: KeyedDensities, marked: Marked, metric: str, topn: int) -> dict[str, Any]:
    """Return everything about one marked word, as a JSON document."""
    prior = wv.density(marked.word)
    posterior = wv.infer(marked.tokens, marked.word, marked.position)
    before, after = float(prior.entropy()), float(posterior.entropy())
    return {
        "sentence": marked.text,
        "word": marked.word,
        "position": marked.position,
        "unknown": skipped(wv, marked),
        "entropy": {"prior": before, "posterior": after},
        "kl": float(posterior.kl(prior)),
        "mean": posterior.mean.tolist(),
        "variance": posterior.variance.tolist(),
        "metric": metric,
        "nearest_to_prior": scored(wv.most_similar(marked.word, topn=topn, metric=metric)),
        "nearest_to_posterior": scored(wv.most_similar(posterior, topn=topn, metric=metric)),
        "substitutes": scored(
            wv.substitutes(
                marked.word,
                marked.tokens,
                topn=topn,
                exclude_inflections=True,
                position=marked.position,
                exclude_context=True,
            )
        ),
    }


def readable(document: dict[str, Any]) -> str:
    """Return the document as people read it."""
    before, after = document["entropy"]["prior"], document["entropy"]["posterior"]
    rows = [(f"prior, by {document['metric']}", "", "posterior (in context)", "", "substitutes", "")]
    lists = (document["nearest_to_prior"], document["nearest_to_posterior"], document["substitutes"])
    blank = {"word": "", "score": None}
    for line in zip_longest(*lists, fillvalue=blank):
        cells = [
            (str(item["word"]), "" if item["score"] is None else f"{item['score']:.3f}") for item in line
        ]
        rows.append(cells[0] + cells[1] + cells[2])
    return (
        f"{document['sentence']}\n"
        f"entropy of {document['word']}: {before:.2f} before, {after:.2f} in context "
        f"({after - before:+.2f} nats); KL[posterior‖prior] = {document['kl']:.2f}\n\n"
        + columns(rows, right=[1, 3, 5], indent="  ")
    )
