"""Commands about a word in its sentence: what it means there, what could replace it, where else it is used so."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from densvec import answers
from densvec.answers import METRICS, Document
from densvec.answers.messages import UsageError, known_and_unknown, say, spelt
from densvec.cli.commands import (
    MODEL,
    TABLE,
    TOPN,
    Argument,
    Question,
    as_spelt,
    flag,
    known,
    metric,
    option,
    questions,
    topn,
)
from densvec.questions.lookup import words_of

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities

SENTENCES = questions("SENTENCE", "a sentence with one [[word]] marked; - reads lines")


def marked_word(wv: KeyedDensities, text: str) -> tuple[str, list[str], int]:
    """Return the marked word, its sentence and its place, as the model spells them; the word must be known."""
    word, tokens, position = answers.parse_marked(text, partial(words_of, wv))
    return known(wv, [word])[0], [spelt(wv, token) for token in tokens], position


def _report_unknown(unknown: Sequence[str], tokens: Sequence[str], args: argparse.Namespace) -> None:
    """Say which words of a context were left out; JSON says it itself."""
    if unknown and not args.json:
        nothing_left = len(unknown) == len(set(tokens)) - 1
        more = " (that is the whole context, so what follows is the prior)" if nothing_left else ""
        say(f"densvec: unknown words left out: {' '.join(unknown)}{more}")


def _echo(text: str, args: argparse.Namespace) -> dict[str, Any]:
    return {"sentence": text}


def _infer(wv: KeyedDensities, args: argparse.Namespace) -> Callable[[str], Document]:
    def answer(text: str) -> Document:
        marked = marked_word(wv, text)
        [found] = answers.infer(wv, [marked], args.metric, args.topn)
        _report_unknown(found.unknown, marked[1], args)
        return found

    return answer


INFER = Question(
    "infer",
    "what a word means in a sentence",
    """\
Infer the posterior density of a marked word: what it means in that sentence. Print the words nearest to the
prior (the word out of context) and to the posterior, the words that could replace it, and the entropy of both
densities: if the entropy falls, the context was informative.""",
    """\
examples:
  densvec infer model.dv "the flightless [[kiwi]] digs in the forest"
  densvec infer model.dv "a ripe [[kiwi]] tastes sweet" "a [[kiwi]] digs a burrow" --json
  densvec infer model.dv - -o answers.csv < sentences.txt  # one marked sentence per line

The words of the sentence are separated by spaces, as those of the corpus were; only those within the model's
window on either side of the marked word count, and unknown ones are left out.""",
    [MODEL, SENTENCES, metric("kl"), TOPN, TABLE],
    _infer,
    echo=_echo,
    titled=True,
)


def _substitutes(wv: KeyedDensities, args: argparse.Namespace) -> Callable[[str], Document]:
    candidates: list[str] | None = None
    unknown: list[str] = []
    if args.candidates is not None:
        candidates, unknown = known_and_unknown(wv, as_spelt(wv, args.candidates))
    if unknown and not args.json:
        say(f"densvec: unknown candidates left out: {' '.join(unknown)}")

    def answer(text: str) -> Document:
        marked = marked_word(wv, text)
        leave_out = (not args.inflections, not args.context)
        [found] = answers.substitutes(wv, [marked], candidates, args.topn, *leave_out)
        found.unknown_candidates = unknown
        _report_unknown(found.unknown, marked[1], args)
        return found

    return answer


SUBSTITUTES = Question(
    "substitutes",
    "what could replace a word in a sentence",
    """\
Rank the words that could replace a marked word in its sentence: usual words that mean what the word means here, and
that stand between such words. Other forms of the word (plurals, -ing, -ed) and the other words of the sentence are left
out unless you ask for them.""",
    """\
examples:
  densvec substitutes model.dv "a ripe [[kiwi]] tastes sweet"
  densvec substitutes model.dv "a ripe [[kiwi]] tastes sweet" --candidates apple owl plum
  densvec substitutes model.dv - -o answers.csv < sentences.txt  # one marked sentence per line""",
    [
        MODEL,
        SENTENCES,
        option("--candidates", "rank only these words", nargs="+", metavar="WORD"),
        flag("--inflections", "keep other forms of the word itself"),
        flag("--context", "keep the other words of the sentence"),
        TOPN,
        TABLE,
    ],
    _substitutes,
    echo=_echo,
)


def _where(wv: KeyedDensities, args: argparse.Namespace) -> Callable[[str], Document]:
    from densvec.search.occurrences import Occurrences

    index = Occurrences(args.index, wv)

    def answer(text: str) -> Document:
        word, tokens, position = marked_word(wv, text)
        posterior = wv.infer(tokens, word=word, position=position)
        unknown = dict.fromkeys(token for token in tokens if token not in wv.key_to_index)
        _report_unknown(list(unknown), tokens, args)
        if not args.any_word and not index.count(word):
            raise UsageError(
                f"{args.index} has no occurrences of {word}: `densvec index` leaves the most frequent words out unless "
                f"they are named, as in --words {word}"
            )
        return answers.where(index, posterior, None if args.any_word else word, args.topn, args.metric)

    return answer


WHERE = Question(
    "where",
    "where else a word is used as it is here",
    """\
Search an index made by `densvec index` for the occurrences of the marked word whose meaning is nearest to the one
in the given sentence; with --any-word, for occurrences of any word.""",
    """\
examples:
  densvec where model.dv occurrences "she sat on the [[bank]] of the river"
  densvec where model.dv occurrences "a ripe [[kiwi]] tastes sweet" --any-word -n 20 -o places.csv""",
    [
        MODEL,
        Argument("index", metavar="DIR", help="a folder made by `densvec index` with the same model"),
        SENTENCES,
        flag("--any-word", "search the occurrences of all words"),
        metric("kl", METRICS[1:]),
        topn("occurrences to print"),
        TABLE,
    ],
    _where,
    echo=_echo,
    titled=False,
)
