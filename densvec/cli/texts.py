"""Commands that read texts: senses, phrases, an index of occurrences, two models compared, evaluation."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from densvec.answers import corpus as answers
from densvec.answers.documents import Document, Unknown, columns, each_known
from densvec.answers.messages import UsageError, say
from densvec.checks import counted
from densvec.cli.arguments import (
    MODEL,
    OVERWRITE,
    QUIET,
    TABLE,
    Argument,
    flag,
    option,
    positive,
    questions,
    topn,
)
from densvec.cli.commands import Command, Question, Result, as_spelt, known, lines_or, load
from densvec.cli.corpus import READING, is_path, open_corpus, open_source, reading_of, recorded_text
from densvec.cli.files import check_targets, read_any
from densvec.cli.pictures import drawing, picture

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities
    from densvec.questions.senses import Senses

_CORPUS = "text, as `densvec train` takes it, read as the model's own was; - is standard input"


def _senses(wv: KeyedDensities, args: argparse.Namespace) -> Callable[[str], Document]:
    if args.plot is not None and len(args.questions) > 1:
        raise UsageError(f"--plot draws one word: got {len(args.questions)}")
    draw = drawing(args.plot)
    files = [each for each in args.questions if is_path(each)]
    args.questions = [each for each in args.questions if each not in files]
    if not args.questions:
        raise UsageError("give words to ask about, after the CORPUS")
    if args.corpus == "-" and args.questions == ["-"]:
        raise UsageError("CORPUS and words cannot both be read from standard input")
    corpus = open_corpus([args.corpus, *files], wv, args)
    name = f"{len(files) + 1:,} files" if files else "standard input" if args.corpus == "-" else args.corpus

    found: dict[str, Senses] = {}

    def answer(word: str) -> Document:
        [word] = known(wv, [word])
        if word not in found:  # the corpus is read once for all words that are named
            words = [word, *(each for each in args.questions if each in wv.key_to_index and each != word)]
            if not args.json:
                say(f"densvec senses: reading {name} for {', '.join(words)}")
            found.update(
                wv.senses(
                    words,
                    corpus,
                    args.max_occurrences,
                    number=args.number,
                    max_senses=args.max_senses,
                    topn=args.topn,
                    examples=args.examples,
                    seed=args.seed,
                    show_progress=False if args.json else None,
                )
            )
        if not found[word]:
            raise ValueError(f"{found[word].note} in {name}: look at its spelling there (case, for example)")
        draw("plot_senses", found[word])
        return answers.senses(found[word])

    return answer


SENSES = Question(
    "senses",
    "the senses of a word in a corpus",
    """\
Find the occurrences of words in a corpus and cluster them by what stands around them, into as many senses as can be
told apart, up to three. Each sense is printed with its share, the words that distinguish it from the others, and
typical occurrences.""",
    """\
examples:
  densvec senses model.dv books/ bank
  densvec senses model.dv corpus.txt bank --plot bank.png
  densvec senses model.dv corpus.txt bank star --max-occurrences 5000 -o senses.csv""",
    [
        MODEL,
        Argument("corpus", metavar="CORPUS", help=_CORPUS),
        questions("WORD", "words; - reads them, one per line"),
        option("--max-occurrences", "occurrences to sample", 1000),
        option("--number", "how many senses to find (default: as many as there seem)", type=positive),
        option("--max-senses", "the most senses to find", 3),
        topn("words per sense", 8),
        option("--examples", "lines per sense", 3),
        option("--seed", "seed of the sample", 0, type=int),
        picture("the occurrences of the word, coloured by sense"),
        TABLE,
        *READING,
    ],
    _senses,
    echo=lambda word, args: {"word": word},
    titled=False,
)


def _compare(args: argparse.Namespace) -> Document:
    from densvec.questions.comparison import compare

    draw, first, second = drawing(args.plot), load(args.first), load(args.second)
    if not args.json:
        say(f"densvec compare: bringing {len(first):,} and {len(second):,} words into one space")
    comparison = compare(first, second, min_count=args.min_count)
    if args.words is None:
        found, unknown = comparison.most_shifted(args.topn), list[Unknown]()
    else:
        found, unknown = each_known(as_spelt(first, args.words), comparison.__getitem__)
        found.sort(key=lambda shift: -shift.score)
    draw("plot_shift", comparison, found[0].word)
    examples = None
    texts = _texts_of(args, (first, second)) if args.examples else None
    if texts is not None and found:
        if not args.json:
            say("densvec compare: looking for typical lines in both texts")
        words = [shift.word for shift in found]
        shown = False if args.json else None
        examples = comparison.examples(words, texts, args.examples, show_progress=shown)
    return answers.compare(comparison, found, unknown, examples)


def _texts_of(args: argparse.Namespace, models: Sequence[KeyedDensities]) -> tuple[Any, Any] | None:
    """Return the texts of two models: those given, or those that their files name, if they are still the same."""
    paths = args.texts or [_text_of(path) for path in (args.first, args.second)]
    if None in paths:
        if not args.json:
            say("densvec compare: --texts A B, the texts of the models, would show typical lines")
        return None
    first, second = (open_corpus(path, wv, args) for path, wv in zip(paths, models, strict=True))
    return first, second


def _text_of(model: str) -> str | list[str] | None:
    """Return the text that a model's file names, if it is there as it was."""
    from densvec import pretrained
    from densvec.files.persistence import read

    with contextlib.suppress(UsageError):
        return recorded_text(read(pretrained.find(model), only=())[1])
    return None


COMPARE = Command(
    "compare",
    "words whose meaning differs between two corpora",
    """\
Bring two models, of two decades or two newspapers, into one space and print the words that have moved most between
them, compared with what is usual for words like them: how often a word occurs in each, how far it has moved, the
q-value of that (p corrected for looking at all words), how its generality changed beside that of most words, its
nearest words in each with how often they occur, and, from the texts, typical lines.""",
    """\
examples:
  densvec compare nineties.dv twenties.dv -n 50 -o moved.csv
  densvec compare nineties.dv twenties.dv --words cell gay web --texts nineties/ twenties/ --examples 3
  densvec compare nineties.dv twenties.dv --words cell --plot cell.png""",
    [
        Argument("first", metavar="A", help="a model"),
        Argument("second", metavar="B", help="another, with the same number of dimensions"),
        topn("words to print", 20),
        option("--words", "print these words instead", nargs="+", metavar="WORD"),
        option("--min-count", "occurrences that a word must have in both, and a neighbour in its own", 20),
        option(
            "--texts",
            "the texts of the two models, for typical lines (default: those they were trained on, if unchanged)",
            nargs=2,
            metavar=("A", "B"),
        ),
        option("--examples", "typical lines for each word and text; 0 for none", 1, type=int),
        picture("how the first word printed moved between its neighbours"),
        TABLE,
        *READING,
    ],
    _compare,
)


def _regress(args: argparse.Namespace) -> Document:
    from densvec.questions.regression import regress

    draw, wv = drawing(args.plot), load(args.model)
    words = list(lines_or(args.words))
    if not args.json:
        say(f"densvec regress: reading {args.table_of_texts} for {counted(len(words), 'word')}")
    options = {
        name: getattr(args, name) for name in ("cluster", "max_occurrences", "min_count", "draws", "seed")
    }
    table, shown = args.table_of_texts, False if args.json else None
    found = regress(wv, words, table, text=args.text, formula=args.on, show_progress=shown, **options)
    unknown = [Unknown(word, error) for word, error in found.skipped.items()]
    if args.path is not None:
        paths = [
            each.path(args.path, args.bins, axis=args.axis, draws=args.draws) for each in found.words.values()
        ]
        draw("plot_path", paths)
        return answers.Walks([answers.Walk(each) for each in paths], unknown)
    draw("plot_norms", found[:40])
    return answers.regress(found.words, found.skipped, args.topn, args.examples)


REGRESS = Command(
    "regress",
    "what a word means to whom: regression on meanings",
    """\
Find words in a table of texts, and regress what stands around them on other columns of it: party, year, gender. For
each covariate it prints how far that moves the meaning (0 if chance explains it), with a 95 % interval, p and q (p
corrected for asking about several words), and the words that are nearer where there is more of it, and where less.
Rows of the same --cluster, such as a speaker, may depend on each other.""",
    """\
examples:
  densvec regress model.dv speeches.csv freedom --text speech --on "party + year" -o freedom.csv --plot freedom.png
  densvec regress model.dv speeches.csv "immigra*|migrant*" --text speech --on "party + C(term)" --cluster speaker
  densvec regress model.dv speeches.csv climate aid --text speech --on year --path year --plot years.png
  densvec regress model.dv speeches.jsonl - --text speech --on party -o words.tex < words.txt  # one per line

Several words or patterns count as one between bars. Columns of numbers count as they are, all others, and C(column), by
levels. Interactions and functions in --on need formulaic: pip install "densvec[formula]".""",
    [
        MODEL,
        Argument(
            "table_of_texts", metavar="TABLE", help="a CSV file, or lines of JSON, with a text in each row"
        ),
        Argument("words", metavar="WORD", nargs="+", help="words or patterns; - reads them, one per line"),
        Argument("--text", metavar="COLUMN", required=True, help="the column of the texts"),
        Argument("--on", metavar="FORMULA", required=True, help='covariates, such as "party + year"'),
        option(
            "--cluster",
            "rows with the same value may depend on each other (default: each its own)",
            metavar="COLUMN",
        ),
        option(
            "--path", "print instead how the meaning changes along this column of numbers", metavar="COLUMN"
        ),
        option("--bins", "bins of the path (default: each value, or 10)", type=positive),
        option("--axis", "for the path: the position between two words", nargs=2, metavar=("A", "B")),
        option("--max-occurrences", "the most occurrences of a word to look at", 100_000),
        option("--min-count", "the fewest occurrences on each side of a covariate of two values", 5),
        option("--draws", "how often chance is tried", 999),
        option("--seed", "seed of the sample and the draws", 0, type=int),
        topn("words for each side", 8),
        option("--examples", "lines for each side", 0, type=int),
        picture("the coefficients with their intervals, or the path"),
        TABLE,
    ],
    _regress,
)


def _index(args: argparse.Namespace) -> Result:
    from densvec.search.occurrences import content_words, index_occurrences

    wv = load(args.model)
    words = known(wv, args.words) if args.words else content_words(wv, args.max_share)
    if not words:
        raise UsageError(f"--max-share {args.max_share} leaves no words: raise it, or give --words")

    def report(sentences: int, occurrences: int) -> None:
        say(f"densvec index: {occurrences:,} occurrences in {sentences:,} sentences")

    shown = None if args.quiet else report
    corpus = open_corpus(args.corpus, wv, args)
    found = index_occurrences(wv, corpus, args.output, words, dtype=args.precision, report=shown)
    document = {"index": args.output, "occurrences": len(found), "sentences": found.sentence_count}
    return document, f"{args.output}: {len(found):,} occurrences of {counted(len(words), 'word')}"


INDEX = Command(
    "index",
    "index every occurrence of words in a corpus",
    """\
Infer what words mean at each of their occurrences in a corpus, and keep that in a folder for `densvec where`,
which answers: where else is a word used as it is here? The same command continues an interrupted index.""",
    """\
examples:
  densvec index model.dv corpus.txt -o occurrences  # all words but the most frequent ones
  densvec index model.dv corpus.txt -o banks --words bank banks plant
  zcat corpus.txt.gz | densvec index model.dv - -o occurrences --json

An occurrence takes two bytes for each dimension, and the sentences themselves are kept once.""",
    [
        MODEL,
        Argument("corpus", metavar="CORPUS", nargs="+", help=_CORPUS),
        Argument("-o", "--output", metavar="DIR", required=True, help="the folder to write"),
        option("--words", "index only these words", nargs="+", metavar="WORD"),
        option(
            "--max-share",
            "without --words, leave out words that make up more than this share of the text",
            1e-3,
            metavar="P",
        ),
        option("--precision", "type of the stored numbers", "float16", choices=("float16", "float32")),
        QUIET,
        *READING,
    ],
    _index,
)


def _phrases(args: argparse.Namespace) -> Result:
    from densvec.files.streams import open_for_writing
    from densvec.phrases import Phrases
    from densvec.text.raw import RawText
    from densvec.text.text_reading import TextReading

    check_targets([args.output], read=args.corpus, overwrite=args.overwrite)
    found: dict[str, float] = {}
    corpus = args.corpus[0] if len(args.corpus) == 1 else args.corpus
    source, _ = open_source(corpus, args.rounds + 1, reading_of(args), args)
    file = source.get("corpus_file")
    sentences: Iterable[Any] = (
        source["corpus_iterable"] if file is None else RawText.like(file, TextReading())
    )
    for _ in range(args.rounds):
        phrases = Phrases(sentences, args.min_count, args.threshold)
        found |= {phrases.delimiter.join(pair): score for pair, score in phrases.scores.items()}
        sentences = phrases.joined(sentences)
    with open_for_writing(args.output) as joined:
        for sentence in sentences:
            joined.write(" ".join(sentence).encode("utf-8", "surrogatepass") + b"\n")
    best = sorted(found.items(), key=lambda item: -item[1])[: args.topn]
    listed = [{"phrase": phrase, "score": score} for phrase, score in best]
    rows = columns([(phrase, f"{score:.3f}") for phrase, score in best], right=[1])
    summary = f"{args.output}: {len(found):,} phrases joined"
    return {"written": args.output, "phrases": len(found), "best": listed}, f"{rows}\n{summary}"


PHRASES = Command(
    "phrases",
    "join words that belong together: new york becomes new_york",
    """\
Find pairs of neighbouring words that occur together far more often than by chance, by normalised pointwise mutual
information, and write the text with these pairs joined, one sentence on each line: a corpus for `densvec train`.
The text is read twice.""",
    """\
examples:
  densvec phrases corpus.txt -o joined.txt
  densvec phrases book.txt -o joined.txt.gz --threshold 0.3 --min-count 10
  densvec phrases corpus.txt -o joined.txt --rounds 2  # also new_york_city""",
    [
        Argument("corpus", metavar="CORPUS", nargs="+", help="the text, as `densvec train` takes it"),
        Argument("-o", "--output", metavar="FILE", required=True, help="where to write; may end in .gz"),
        option("--min-count", "rarer pairs are not joined", 5),
        option("--threshold", "the score that pairs must exceed: 0 is chance, 1 means never apart", 0.5),
        option("--rounds", "how often to join", 1),
        topn("phrases to print", 20),
        OVERWRITE,
        QUIET,
        *READING,
    ],
    _phrases,
)


def _evaluate(args: argparse.Namespace) -> Document:
    from densvec.evaluation import Bootstrap, evaluate_all

    beside = {os.path.basename(path).split(".")[0]: read_any(path) for path in args.beside}
    resamples = {} if args.resamples is None else {"resamples": args.resamples}
    bootstrap = Bootstrap(**resamples, seed=args.seed)
    results = evaluate_all(
        load(args.model),
        args.data,
        tasks=args.task or None,
        beside=beside,
        bootstrap=bootstrap,
        show_progress=None,
    )
    return answers.Evaluation(results, args.markdown)


EVALUATE = Command(
    "evaluate",
    "measure a model on public benchmarks, beside simple baselines",
    """\
Run every benchmark in a directory: neighbours, word in context, substitutes, senses, hypernyms, new words, texts,
change of meaning, entailment, word similarity. Every figure of the model's own calls stands beside simple
baselines from the same means, and beside other vectors, with a 95 % confidence interval by bootstrap.""",
    """\
examples:
  densvec evaluate model.dv data/eval -o figures.csv
  densvec evaluate model.dv data/eval --beside gensim.txt            # vectors in word2vec's format
  densvec evaluate model.dv data/eval --task "word in context" --resamples 0 --json

What is in the directory is looked for by name, as in word-sim/EN-MEN-TR-3k.txt or context/wic_train.data.""",
    [
        MODEL,
        Argument("data", metavar="DIR", help="the directory of benchmarks"),
        option(
            "--beside",
            "vectors that `densvec import` reads; may be repeated",
            [],
            action="append",
            metavar="FILE",
        ),
        option("--task", "only this task; may be repeated", action="append", metavar="NAME"),
        option("--resamples", "resamples of the bootstrap, 0 for none", type=int),
        option("--seed", "seed of the bootstrap", 0, type=int),
        flag("--markdown", "print tables in Markdown"),
        TABLE,
    ],
    _evaluate,
)
