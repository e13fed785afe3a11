"""Commands that ask a model: about words, about a word in its sentence, about texts."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from densvec.answers import words as answers
from densvec.answers.corpus import Places
from densvec.answers.documents import Document, scored
from densvec.answers.messages import UsageError, known_and_unknown, say
from densvec.cli.arguments import (
    MODEL,
    RARE,
    TABLE,
    TOPN,
    Argument,
    flag,
    metric,
    option,
    positive,
    questions,
    topn,
)
from densvec.cli.commands import (
    Command,
    Question,
    as_spelt,
    common,
    known,
    lines_or,
    load,
    marked_word,
    text_of,
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
        option("--restrict", "rank only the N most frequent words (default: all)", type=positive),
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
  densvec learn model.dv wug books/ --save larger.dv  # from the sentences of a text that the word stands in
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


SENTENCES = questions("SENTENCE", "a sentence with one [[word]] marked; - reads lines")


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
    if not index.is_complete:
        say(
            f"densvec where: {args.index} is not complete: `densvec index` with the arguments of before goes on"
        )

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
        word_or_any = None if args.any_word else word
        return Places(args.metric, index.where(posterior, word_or_any, args.topn, metric=args.metric))

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
        metric("kl", answers.METRICS[1:]),
        topn("occurrences to print"),
        TABLE,
    ],
    _where,
    echo=_echo,
    titled=False,
)
