"""Generated corpora whose truth is known."""

from __future__ import annotations

import itertools
import os
import textwrap
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from random import Random
from typing import TypeVar

from densvec.files.streams import local_path, open_for_writing
from densvec.text.concordance import Occurrence
from densvec.types import PathLike

__all__ = ["AnnotatedOccurrence", "ToyLanguage", "toy_books", "toy_language"]

T = TypeVar("T")

# Kingdoms, their classes, and the things in each class with the adjectives, verbs and nouns that are said of
# them and of nothing else; the nameless entry of a class is said of all its things. A thing that occurs in two
# classes is a word with two senses.
_KINGDOMS = {
    "animal": {
        "bird": {
            "": "feathered singing; flies nests; wings eggs",
            "kakapo": "mossy plump; booms climbs; fern ridge",
            "penguin": "antarctic upright; waddles huddles; ice colony",
            "owl": "silent wise; hoots swoops; barn midnight",
            "sparrow": "brown chirpy; chirps hops; hedge crumbs",
            "kiwi": "flightless shy; digs sniffs; forest burrow",
            "crane": "elegant migrating; dances wades; marsh reeds",
        },
        "fish": {
            "": "scaly slippery; swims dives; fins gills",
            "trout": "speckled brook; darts leaps; stream mayflies",
            "salmon": "pink leaping; spawns returns; waterfall roe",
            "tuna": "oceanic huge; cruises shoals; trawler can",
            "eel": "snaky electric; slithers coils; mud crevice",
            "bass": "largemouth freshwater; bites lurks; lake hook",
        },
        "mammal": {
            "": "furry warm; roams suckles; fur milk",
            "dog": "loyal obedient; barks fetches; leash bone",
            "horse": "saddled swift; gallops neighs; stable hay",
            "elephant": "enormous grey; trumpets tramples; trunk tusks",
            "bat": "winged hanging; squeaks echoes; cave insects",
            "mouse": "tiny timid; gnaws scurries; cheese attic",
            "jaguar": "spotted stealthy; stalks pounces; jungle prey",
        },
    },
    "food": {
        "fruit": {
            "": "sweet juicy; ripens drops; juice peel",
            "apple": "crisp rosy; reddens crunches; orchard cider",
            "mango": "tropical fleshy; perfumes stains; chutney lassi",
            "plum": "purple stewed; bruises darkens; prunes brandy",
            "lemon": "sour yellow; squirts curdles; rind lemonade",
            "kiwi": "ripe fuzzy; softens tempts; smoothie vitamins",
        },
        "vegetable": {
            "": "raw cooked; grows boils; soup garden",
            "carrot": "orange grated; snaps sharpens; rabbit eyesight",
            "potato": "mashed starchy; sprouts fries; chips gravy",
            "onion": "chopped pungent; stings browns; tears layers",
            "cabbage": "pickled leafy; ferments wilts; sauerkraut caterpillar",
        },
        "herb": {
            "": "fragrant dried; seasons flavours; leaves sauce",
            "basil": "green sunny; garnishes scents; pesto tomato",
            "thyme": "woody creeping; infuses carpets; stew honey",
            "parsley": "curly minced; decorates freshens; butter sprig",
            "mint": "cool minty; refreshes cools; tea mojito",
        },
    },
    "artefact": {
        "instrument": {
            "": "musical tuned; plays resounds; music orchestra",
            "violin": "wooden solo; weeps sings; bow sonata",
            "piano": "grand black; tinkles accompanies; keys lid",
            "trumpet": "brass shiny; blares announces; fanfare mouthpiece",
            "flute": "silver breathy; whistles trills; shepherd melody",
            "bass": "deep amplified; thumps grooves; band rhythm",
        },
        "vehicle": {
            "": "fast parked; drives stops; road wheels",
            "truck": "loaded diesel; hauls delivers; cargo depot",
            "tractor": "muddy rural; ploughs tows; field harvest",
            "bus": "crowded public; queues commutes; passengers ticket",
            "bicycle": "light rusty; pedals wobbles; spokes bell",
            "jaguar": "luxury british; accelerates purrs; garage chauffeur",
        },
        "machine": {
            "": "automatic noisy; whirrs hums; engine button",
            "printer": "inky jammed; prints smudges; paper toner",
            "oven": "hot gas; bakes roasts; bread tray",
            "loom": "woven antique; weaves spins; cloth thread",
            "crane": "towering steel; lifts hoists; construction girders",
            "mouse": "wireless optical; clicks scrolls; computer cursor",
        },
        "gear": {
            "": "sporty padded; protects fits; team match",
            "racket": "strung graphite; serves volleys; tennis court",
            "oar": "long wet; rows splashes; boat regatta",
            "glove": "leather tight; punches grips; boxer ring",
            "bat": "willow swinging; strikes bowls; cricket innings",
        },
    },
    "place": {
        "landform": {
            "": "steep eroded; stretches rises; rocks landscape",
            "valley": "lush glacial; shelters widens; meadows vineyards",
            "canyon": "arid red; plunges narrows; desert echo",
            "island": "remote sandy; emerges floats; palms lagoon",
            "dune": "windswept golden; shifts drifts; sand camels",
            "bank": "grassy flooded; slopes erodes; river willows",
        },
        "institution": {
            "": "official old; opens employs; building staff",
            "hospital": "sterile emergency; heals admits; nurses patients",
            "school": "primary strict; teaches examines; pupils homework",
            "tribunal": "legal solemn; judges sentences; lawyer verdict",
            "museum": "marble historic; exhibits restores; paintings statues",
            "bank": "rich central; lends invests; money loans",
            "mint": "royal guarded; stamps engraves; coins gold",
        },
    },
}

# What a sentence looks like: its subject S, adjectives A, verbs V and nouns N that are said of it, and the class
# or kingdom H that it belongs to.
_SENTENCES = [
    sentence.split()
    for sentence in (
        "the A S V the N and the N",
        "the N S V and V the N",
        "the A and A S V and V",
        "the A A S V the N N",
        "the S V the A N and the N",
        "the S a A H V and V the N",
        "the A H the S V and V the N",
    )
]

# How often the words around a subject are those of its class.
_OF_CLASS = 0.08

# How often a subject goes by the name of its class or kingdom instead of its own. General names tend to be
# more frequent, as in any language, but some are rare: frequency alone does not show what is general.
_NAMED_BY_CLASS, _NAMED_BY_KINGDOM = 0.2, 0.08
_RARE_NAMES = {"herb": 0.04, "gear": 0.04, "landform": 0.04, "artefact": 0.02, "place": 0.02}


@dataclass(frozen=True)
class AnnotatedOccurrence(Occurrence):
    """An occurrence, and the sense that the word has there, named by its class."""

    sense: str


@dataclass(frozen=True)
class _Thing:
    """What a sentence can be about."""

    name: str
    of_class: str
    kingdom: str
    weight: float
    words: dict[str, list[str]]  # by their letter in _SENTENCES
    class_words: dict[str, list[str]]


def _words(text: str) -> dict[str, list[str]]:
    """Read "adjectives; verbs; nouns"."""
    return dict(zip("AVN", (part.split() for part in text.split(";")), strict=True))


def _things() -> list[_Thing]:
    groups = [members for classes in _KINGDOMS.values() for members in classes.values()]
    meanings = Counter(name for members in groups for name in members)
    things = []
    for kingdom, classes in _KINGDOMS.items():
        for of_class, members in classes.items():
            weights = iter((1.4, 1.1, 0.8, 0.6))  # some things are talked about more than others
            for name, words in members.items():
                if name:
                    weight = next(weights) if meanings[name] == 1 else 1.2
                    things.append(_Thing(name, of_class, kingdom, weight, _words(words), _words(members[""])))
    return things


class ToyLanguage:
    """A small language with words of two senses and a tree of hypernyms; see :func:`toy_language`."""

    def __init__(self, n_sentences: int, seed: int) -> None:
        self.n_sentences = n_sentences
        self.seed = seed
        self._things = _things()
        self._cumulated = list(accumulate(thing.weight for thing in self._things))

    def __repr__(self) -> str:
        return f"toy_language(n_sentences={self.n_sentences}, seed={self.seed})"

    def __len__(self) -> int:
        return self.n_sentences

    def __iter__(self) -> Iterator[Sequence[str]]:
        return (occurrence.tokens for occurrence in self.annotated())

    def annotated(self) -> Iterator[AnnotatedOccurrence]:
        """Iterate over the sentences, each with the position of its subject and the subject's sense."""
        rng = Random(f"sentences {self.seed}")
        for _ in range(self.n_sentences):
            thing = self._things[bisect_right(self._cumulated, rng.random() * self._cumulated[-1])]
            yield _sentence(rng, thing, _subject(rng, thing))

    @cached_property
    def senses(self) -> dict[str, dict[str, list[str]]]:
        """For each word with two senses, the words that are said of each: ``senses["kiwi"]["fruit"]``."""
        found: dict[str, dict[str, list[str]]] = {}
        for thing in self._things:
            groups = (*thing.words.values(), *thing.class_words.values())
            found.setdefault(thing.name, {})[thing.of_class] = [word for group in groups for word in group]
        return {name: senses for name, senses in found.items() if len(senses) > 1}

    @cached_property
    def hypernyms(self) -> list[tuple[str, str]]:
        """All pairs of a word and a more general one: ("kakapo", "bird"), ("kakapo", "animal"), ("bird", "animal").

        Words with two senses are left out: their contexts are varied for a reason other than generality.
        """
        pairs: dict[tuple[str, str], None] = {}
        for thing in self._things:
            if thing.name not in self.senses:
                pairs[thing.name, thing.of_class] = None
                pairs[thing.name, thing.kingdom] = None
            pairs[thing.of_class, thing.kingdom] = None
        return list(pairs)

    def occurrences(self, word: str, n: int, seed: int = 0) -> list[AnnotatedOccurrence]:
        """Return sentences about a word with two senses that are not part of the corpus.

        Parameters
        ----------
        word : str
            One of the keys of `senses`.
        n : int
            How many sentences; in each, either sense is as likely.
        seed : int
            Another seed gives other sentences.
        """
        if word not in self.senses:
            raise KeyError(f"{word!r} has one sense or is unknown; words with two: {', '.join(self.senses)}")
        rng = Random(f"occurrences {self.seed} {word} {seed}")
        things = [thing for thing in self._things if thing.name == word]
        return [_sentence(rng, _pick(rng, things), word) for _ in range(n)]

    def write(self, path: PathLike) -> None:
        """Write the corpus, one sentence per line; a name such as "toy.txt.gz" compresses it."""
        with open_for_writing(path) as file:
            for sentence in self:
                file.write(" ".join(sentence).encode() + b"\n")


def _subject(rng: Random, thing: _Thing) -> str:
    """Draw the name by which a sentence calls a thing."""
    by_kingdom = _RARE_NAMES.get(thing.kingdom, _NAMED_BY_KINGDOM)
    by_class = _RARE_NAMES.get(thing.of_class, _NAMED_BY_CLASS)
    level = rng.random()
    if level < by_kingdom:
        return thing.kingdom
    return thing.of_class if level < by_kingdom + by_class else thing.name


def _sentence(rng: Random, thing: _Thing, subject: str) -> AnnotatedOccurrence:
    """Draw a sentence about a thing that goes by the name `subject`."""
    form = _pick(rng, _SENTENCES)
    names = {"S": subject, "H": thing.kingdom if subject == thing.of_class else thing.of_class}
    sentence: list[str] = []
    for slot in form:
        if slot in thing.words:
            said = thing.class_words if rng.random() < _OF_CLASS else thing.words
            word = _pick(rng, [word for word in said[slot] if word not in sentence])
        else:
            word = names.get(slot, slot)
        if sentence and sentence[-1] == "a" and word[0] in "aeiou":
            sentence[-1] = "an"
        sentence.append(word)
    return AnnotatedOccurrence(sentence, form.index("S"), thing.of_class)


def _pick(rng: Random, items: list[T]) -> T:
    # Random.random() is the one method whose results Python promises not to change.
    return items[int(rng.random() * len(items))]


def toy_language(n_sentences: int = 20_000, seed: int = 1) -> ToyLanguage:
    """Return a corpus generated from a known truth: what its words mean and which ones are more general.

    A sentence is about one thing, a bird or a fruit or a vehicle, and the words around its subject are those
    said of that thing. Often the subject goes by the name of its class or kingdom: so "bird" occurs in the
    contexts of all birds and "animal" in those of all animals, while "kakapo" keeps to its own. Some names are
    shared by two things of different classes: "kiwi" is a bird and a fruit.

    Parameters
    ----------
    n_sentences : int
        Number of sentences, about eight words each.
    seed : int
        Another seed gives other sentences.

    Returns
    -------
    ToyLanguage
        An iterable of token lists that can be iterated any number of times; sentences are generated on demand.
        The truth is in `senses`, `hypernyms`, `annotated()` and `occurrences()`.

    Examples
    --------
    >>> corpus = toy_language(n_sentences=1000)
    >>> for sentence in list(corpus)[:3]:
    ...     print(*sentence)
    the deep instrument grooves the rhythm and the band
    the migrating elegant crane wades the marsh reeds
    the burrow kiwi sniffs and digs the forest
    >>> sorted(corpus.senses)
    ['bank', 'bass', 'bat', 'crane', 'jaguar', 'kiwi', 'mint', 'mouse']
    >>> corpus.senses["kiwi"]["bird"][:6]
    ['flightless', 'shy', 'digs', 'sniffs', 'forest', 'burrow']
    >>> ("kakapo", "bird") in corpus.hypernyms
    True
    >>> corpus.occurrences("kiwi", 1)[0].sense
    'fruit'
    """
    if n_sentences < 0:
        raise ValueError(f"n_sentences must not be negative, got {n_sentences}")
    return ToyLanguage(n_sentences, seed)


def toy_books(
    folder: PathLike,
    books: int = 5,
    sentences: int = 2000,
    seed: int = 1,
    *,
    changed: Mapping[str, str] | None = None,
) -> None:
    """Write books in the toy language, as people have them: with capitals, full stops, chapters and wrapped lines.

    Parameters
    ----------
    folder : path
        Where to write them; created if necessary.
    books, sentences : int
        How many books, and how many sentences in each.
    seed : int
        Another seed gives other sentences.
    changed : mapping of str to str, optional
        Things that go by another name, so that this name has a meaning that it did not have before.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = Path(tempfile.mkdtemp())
    >>> toy_books(folder, books=2, sentences=20)
    >>> print((folder / "book 1.txt").read_text()[:76])
    Book 1
    <BLANKLINE>
    Chapter 1
    <BLANKLINE>
    The deep instrument grooves the rhythm and the band. The
    """
    os.makedirs(local_path(folder), exist_ok=True)
    corpus = ToyLanguage(books * sentences, seed).annotated()
    for number in range(1, books + 1):
        parts = [f"Book {number}"]
        for i, one in enumerate(itertools.islice(corpus, sentences)):
            if i % 200 == 0:
                parts += [f"Chapter {1 + i // 200}"]
            if i % 10 == 0:
                parts.append("")
            tokens = list(one.tokens)
            tokens[one.position] = (changed or {}).get(one.word, one.word)
            text = " ".join(tokens)
            parts[-1] += f"{text[0].upper()}{text[1:]}. "
        path = os.path.join(local_path(folder), f"book {number}.txt")
        with open_for_writing(path) as file:
            file.write("\n\n".join(textwrap.fill(part, 70) for part in parts).encode() + b"\n")


if __name__ == "__main__":
    import sys

    periods: dict[str, dict[str, str]] = {"early": {}, "late": {"owl": "violin", "violin": "owl"}}
    for period, renamed in periods.items():
        toy_books(os.path.join(sys.argv[1], period), seed=len(period), changed=renamed)
        sys.stdout.write(f"{os.path.join(sys.argv[1], period)}: 5 books\n")
