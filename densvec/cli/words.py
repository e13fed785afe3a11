"""Commands about words and texts: similar words, what is a kind of what, new words, which texts are alike."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from densvec import answers
from densvec.answers import Document
from densvec.answers.documents import scored
from densvec.answers.messages import UsageError, say
from densvec.cli.commands import (
    MODEL,
    RARE,
    TABLE,
    TOPN,
    Argument,
    Command,
    Question,
    as_spelt,
    common,
    flag,
    known,
    lines_or,
    load,
    metric,
    option,
    positive,
    questions,
    text_of,
    topn,
)
from densvec.cli.corpus import READING, files_of, is_path, open_corpus
from densvec.cli.pictures import drawing, picture
from densvec.questions.lookup import common_rows, words_of

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities


def _similar(wv: KeyedDensities, args: argparse.Namespace) -> Callable[[list[str]], Document]:
    minus, rows = known(wv, args.minus), common(wv, args)

    def answer(words: list[str]) -> Document:
        return answers.similar(wv, [(known(wv, words), minus)], args.metric, args.topn, rows)[0]

    return answer


SIMILAR = Question(
    "similar",
    "words most like a word",
    """\
Print the words most like a word, or like several words together. By default the means are compared, as gensim
does; --metric compares the whole densities: by KL, a specific word's neighbours include the general words
whose densities contain its own.""",
    """\
examples:
  densvec similar model.dv kiwi
  densvec similar model.dv kiwi --metric kl -n 5
  densvec similar model.dv king woman --minus man  # what is to woman as king is to man
  densvec similar model.dv - -o answers.csv < words.txt  # one word per line""",
    [
        MODEL,
        questions("WORD", "words, taken together; - reads words from standard input and answers one by one"),
        option("--minus", "words to be unlike", [], action="append", metavar="WORD"),
        metric("cosine"),
        RARE,
        TOPN,
        TABLE,
    ],
    _similar,
    echo=lambda words, args: {"words": words, "minus": args.minus, "metric": args.metric},
    together=list,
)


def _hypernyms(wv: KeyedDensities, args: argparse.Namespace) -> Callable[[str], Document]:
    rows = common(wv, args)
    restrict = min(filter(None, (rows, args.restrict)), default=None)
    options = {"restrict_vocab": restrict, "exclude_inflections": not args.inflections}
    return lambda word: answers.hypernyms(wv, known(wv, [word]), args.topn, args.hyponyms, **options)[0]


HYPERNYMS = Question(
    "hypernyms",
    "what a word is a kind of",
    """\
Rank the words that a word may be a kind of, by how near they are, how general and how common; with --hyponyms, those
that may be a kind of it. The scores, from 0 to 1, are those of the pairs and leave out how common a word is; the
score of unrelated words is printed for comparison.""",
    """\
examples:
  densvec hypernyms model.dv violin
  densvec hypernyms model.dv instrument --hyponyms --restrict 20000
  densvec hypernyms model.dv - -o hypernyms.md < words.txt  # one word per line""",
    [
        MODEL,
        questions("WORD", "words; - reads them, one per line"),
        flag("--hyponyms", "look for what is a kind of the word instead"),
        flag("--inflections", "keep other forms of the word itself"),
        option(
            "--restrict", "rank only the N most frequent words (default: all)", type=positive, metavar="N"
        ),
        RARE,
        TOPN,
        TABLE,
    ],
    _hypernyms,
    echo=lambda word, args: {"word": word},
)


def _entails(wv: KeyedDensities, args: argparse.Namespace) -> Callable[[list[str]], Document]:
    def answer(pair: list[str]) -> Document:
        if len(pair) != 2:
            raise UsageError(f"two words are needed, the specific and the general one: got {len(pair)}")
        a, b = known(wv, pair)
        return answers.entails(wv, [(a, b)])[0]

    return answer


ENTAILS = Question(
    "entails",
    "whether one word entails another, as dog entails animal",
    """\
Compare the densities of two words: whether they are related at all, and which is the more general. Two words
are related if they are nearer to each other than 95 in 100 pairs of words; of two related ones, a entails b if
KL[a‖b] is smaller than KL[b‖a]. "hypernymy" combines both in one score from 0 to 1: how far a is a kind of b.""",
    """\
examples:
  densvec entails model.dv dog animal
  densvec entails model.dv dog animal --json
  densvec entails model.dv - -o pairs.csv < pairs.tsv  # two words per line""",
    [MODEL, questions("WORD", "two words; or - to read pairs, one per line"), TABLE],
    _entails,
    echo=lambda pair, args: dict(zip("ab", pair, strict=False)),
    together=lambda words: words[0].split() if len(words) == 1 else words,
    titled=False,
)


def _taxonomy(args: argparse.Namespace) -> Document:
    draw, wv = drawing(args.plot), load(args.model)
    found = answers.taxonomy(wv, as_spelt(wv, lines_or(args.words)))
    draw("plot_taxonomy", found.tree)
    return found


TAXONOMY = Command(
    "taxonomy",
    "words in a tree, each under a more general one",
    """\
Arrange words in a tree, each under the one that it is most likely a kind of: the maximum spanning arborescence over
the score that `densvec hypernyms` ranks by. A word that is a kind of none of the others by more than chance stands at
the top.""",
    """\
examples:
  densvec taxonomy model.dv animal bird owl kakapo fruit apple
  densvec taxonomy model.dv animal bird owl kakapo --plot tree.png
  densvec taxonomy model.dv - -o tree.csv < words.txt  # one word per line""",
    [
        MODEL,
        Argument("words", metavar="WORD", nargs="+", help="words; - reads them, one per line"),
        picture("the tree"),
        TABLE,
    ],
    _taxonomy,
)


def _learn(args: argparse.Namespace) -> Document:
    from densvec import pretrained

    if not args.sentences and args.save is not None:
        raise UsageError("spelling alone does not add a word to a model: give sentences, or leave out --save")
    wv = pretrained.load(args.model, mmap=None) if args.sentences else load(args.model)  # None: writable
    word = "_".join(words_of(wv, text_of(args.word))) or args.word
    if word in wv:
        raise UsageError(f"{word!r} is known already: `densvec similar` prints the words nearest to it")
    if args.sentences:
        sentences = list(_sentences_with(word, wv, args))
        if not sentences:
            raise UsageError(f"{word!r} does not occur in {' '.join(args.sentences)}")
        density = wv.learn(word, sentences)
    else:
        density = wv.density_from_spelling(word)
    near = wv.most_similar(density, topn=args.topn + 1, restrict_vocab=common_rows(wv))
    found = scored([(other, score) for other, score in near if other != word][: args.topn], wv)
    if args.save is not None:
        wv.save(args.save)
    return answers.Learnt(word, float(density.variance.mean()), found)


def _sentences_with(word: str, wv: KeyedDensities, args: argparse.Namespace) -> Iterator[str | Sequence[str]]:
    """Yield the sentences that were given, and those of files and folders in which the word stands."""
    for text in lines_or(args.sentences):
        if is_path(text):
            yield from (sentence for sentence in open_corpus(text, wv, args) if word in sentence)
        else:
            yield text


LEARN = Command(
    "learn",
    "a new word from a few sentences, or from its spelling",
    """\
Give a word that the model does not know a density, and print the words nearest to it: from sentences in which it
occurs, or, without any, from its spelling. With --save the model is saved with the new word in it.""",
    """\
examples:
  densvec learn model.dv wug "a wug is a small bird" "the wug nests in trees"
  densvec learn model.dv wug - --save larger.dv < sentences.txt
  densvec learn model.dv wug books/  # from the sentences of a text that the word stands in
  densvec learn model.dv unbirdlike  # from its spelling""",
    [
        MODEL,
        Argument("word", metavar="WORD", help="the new word"),
        Argument(
            "sentences",
            metavar="SENTENCE",
            nargs="*",
            help="sentences with the word in them, or files and folders of text; - reads lines",
        ),
        option("--save", "save the densities with the new word in this file", metavar="MODEL"),
        TOPN,
        TABLE,
        *READING,
    ],
    _learn,
)


def _texts(args: argparse.Namespace) -> Document:
    wv, names, words = load(args.model), list[str](), list[Sequence[str]]()
    for text in lines_or(args.texts):
        for name in files_of(text, wv, args) if is_path(text) else [text]:
            found = words_of(wv, name)
            if is_path(name):
                found = [word for sentence in open_corpus(name, wv, args) for word in sentence]
            if any(word in wv for word in found) or name == text:
                names.append(name)
                words.append(found)
            else:
                say(f"densvec texts: left out: {name} has no word that the model knows")
    return answers.texts(wv, names, words, weights=args.weights, metric=args.metric, topn=args.topn)


TEXTS = Command(
    "texts",
    "how similar texts are",
    """\
Take the first text as the question and rank the others by how similar they are to it. A text is the density of its
words, combined by precision; frequent words count little. A text may be a file; each file of a folder is a text.""",
    """\
examples:
  densvec texts model.dv emma.txt books/ -o alike.csv
  densvec texts model.dv "an owl in the barn" "birds of the night" "apples and plums"
  densvec texts model.dv - -n 5 --json < texts.txt  # one per line, the question first""",
    [
        MODEL,
        Argument(
            "texts",
            metavar="TEXT",
            nargs="+",
            help="the question, then the texts, or files and folders of them; - reads lines",
        ),
        option("--weights", "how much words count", "sif", choices=["sif", "none"]),
        metric("cosine"),
        topn("texts to print", None),
        TABLE,
        *READING,
    ],
    _texts,
)
