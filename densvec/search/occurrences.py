"""Every occurrence of words in a corpus, with its posterior, to find where else a word is used as it is here.

An index is a folder. ``occurrences.json`` says what was asked for; each ``occurrences-00000.dv`` has some sentences
of the corpus and the posteriors of the words in them, and is written whole or not at all. So an index that was
interrupted is continued after its last file, and one that is still being built can already be queried.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from densvec.distances.pairwise import pairwise
from densvec.distances.ranking import best
from densvec.files import packing, persistence
from densvec.files.atomic import atomic_write
from densvec.gaussian import Gaussian
from densvec.questions.lookup import text_reading_of
from densvec.text.concordance import Occurrence, sentences_of
from densvec.types import Corpus, Integers

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities

_PLAN = "occurrences.json"
_PART = re.compile(r"occurrences-(\d{5,})\.dv")

_SENTENCES_AT_ONCE = 2048
"""Sentences whose posteriors are inferred together."""


@dataclass(frozen=True)
class Found(Occurrence):
    """An occurrence that was found."""

    score: float  # minus the distance from what was asked


def content_words(wv: KeyedDensities, max_share: float = 1e-3) -> list[str]:
    """Return all words except the most frequent: those that make up at most `max_share` of all tokens.

    Examples
    --------
    >>> content_words(wv, max_share=0.3)
    ['dog', 'cat', 'car']
    """
    counts = wv.expandos.get("count")
    if counts is None or not len(counts):
        return list(wv.index_to_key)
    allowed = counts <= max_share * counts.sum(dtype=np.float64)
    return [key for key, wanted in zip(wv.index_to_key, allowed, strict=True) if wanted]


def index_occurrences(
    wv: KeyedDensities,
    sentences: Corpus,
    folder: str | os.PathLike[str],
    words: Collection[str] | None = None,
    *,
    dtype: str = "float16",
    part_size: int = 1 << 17,
    report: Callable[[int, int], None] | None = None,
) -> Occurrences:
    """Infer the posterior of every occurrence of some words in a corpus, and write them to a folder.

    Called again with the same arguments after an interruption, it goes on where it stopped; with another corpus it
    is refused. A corpus that has grown at its end is continued.

    Parameters
    ----------
    wv : KeyedDensities
        Words and their encoder.
    sentences : path, list of paths, or iterable of token lists
        The corpus, as :func:`densvec.text.concordance.sentences_of` reads it, in the same order every time.
    folder : str or PathLike
        Where to write; created if necessary.
    words : collection of str, optional
        The words whose occurrences are wanted; those of :func:`content_words` by default.
    dtype : {"float16", "float32"}, optional
        How means and log-variances are kept; half precision needs half the space.
    part_size : int, optional
        The least number of occurrences in a file; an interruption loses at most that many.
    report : callable, optional
        Called with the numbers of sentences and occurrences so far, after each file.

    Examples
    --------
    >>> import tempfile
    >>> sentences = [["the", "dog", "and", "the", "cat"], ["a", "dog", "car"]]
    >>> found = index_occurrences(wv, sentences, tempfile.mkdtemp(), words=["dog"])
    >>> [place.text for place in found.where(wv.infer(["cat"], word="dog"), word="dog")]
    ['the [[dog]] and the cat', 'a [[dog]] car']
    """
    if dtype not in ("float16", "float32"):
        raise ValueError(f"dtype={dtype!r}: use 'float16' or 'float32'")
    chosen = content_words(wv) if words is None else list(dict.fromkeys(words))
    unknown = [word for word in chosen if word not in wv.key_to_index]
    if unknown:
        raise KeyError(f"unknown words cannot be indexed: {', '.join(unknown[:5])}")
    if not chosen:
        raise ValueError("no words to index: give some, or raise max_share")
    folder = os.fspath(folder)
    os.makedirs(folder, exist_ok=True)
    plan = {"format": "densvec occurrences", "version": 1, "model": _fingerprint(wv), "dtype": dtype}
    plan |= {"words": _checksum(chosen), "window": wv.window}
    _start_or_continue(folder, plan)
    headers = [persistence.read(path, only=())[1] for path in _parts(folder)]
    done = headers[-1]["sentences_so_far"] if headers else 0
    occurrences = sum(header["occurrences"] for header in headers)
    rest, read = iter(sentences_of(sentences, text_reading=text_reading_of(wv))), 0
    for tokens in itertools.islice(rest, done):
        read = _checksum([*tokens, ""], read)
    if headers and headers[-1].get("corpus") != read:
        raise ValueError(f"{folder} contains an index of another corpus: choose another folder")
    for number, part in enumerate(_gathered(wv, rest, set(chosen), part_size, read), start=len(headers)):
        done, occurrences = done + part.read, occurrences + len(part.places)
        header = {"class": "Occurrences", "sentences_so_far": done, "occurrences": len(part.places)}
        header["corpus"] = part.checksum
        tensors = {**packing.pack_words(part.sentences), **part.arrays(dtype)}
        persistence.write(os.path.join(folder, f"occurrences-{number:05}.dv"), tensors, header)
        headers.append(header)
        if report is not None:
            report(done, occurrences)
    _write_plan(folder, {**plan, "complete": True, "parts": len(headers)})
    return Occurrences(folder, wv)


class Occurrences:
    """An index that :func:`index_occurrences` made.

    Parameters
    ----------
    folder : str or PathLike
        Where it is.
    wv : KeyedDensities
        The words with which it was made.
    """

    def __init__(self, folder: str | os.PathLike[str], wv: KeyedDensities) -> None:
        self.folder, self.wv = os.fspath(folder), wv
        plan = _read_plan(self.folder)
        if plan is None:
            raise FileNotFoundError(f"{self.folder} is not an index of occurrences: it has no {_PLAN}")
        if plan.get("model") != _fingerprint(wv):
            raise ValueError(f"{self.folder} was made with another model: its posteriors are not comparable")
        self.is_complete = bool(plan.get("complete"))
        paths = _parts(self.folder)
        if len(paths) < plan.get("parts", 0):
            raise _missing(self.folder)
        self._parts = [persistence.read(path, mmap="r") for path in paths]

    def __len__(self) -> int:
        return sum(header["occurrences"] for _, header in self._parts)

    def __repr__(self) -> str:
        state = "" if self.is_complete else ", not complete"
        return f"Occurrences<{len(self):,} in {self.sentence_count:,} sentences{state}>"

    @property
    def sentence_count(self) -> int:
        """How many sentences of the corpus were read."""
        return self._parts[-1][1]["sentences_so_far"] if self._parts else 0

    def where(
        self, density: Gaussian, word: str | None = None, topn: int = 10, *, metric: str = "kl"
    ) -> list[Found]:
        """Find the occurrences whose posteriors are nearest to a density, such as the posterior of another one.

        Parameters
        ----------
        density : Gaussian
            What to look for: ``wv.infer(sentence, position=i)``.
        word : str, optional
            Look only among the occurrences of this word.
        topn : int, optional
            How many to return.
        metric : str, optional
            ``"kl"`` (KL[density‖posterior]), or another of :func:`densvec.distances.pairwise.pairwise`.
        """
        found: list[tuple[float, int, int]] = []
        for number, (rows, posteriors) in self._selected(word):
            scores = 0.0 - pairwise(density, posteriors, metric)[0]
            for i in best(scores, topn):
                found.append((float(scores[i]), number, int(rows[i])))
        found.sort(key=lambda place: (-place[0], place[1], place[2]))
        return [self._occurrence(*place) for place in found[:topn]]

    def count(self, word: str) -> int:
        """Return how many occurrences of a word there are."""
        row = self.wv.get_index(word)
        return sum(int(np.count_nonzero(tensors["words"] == row)) for tensors, _ in self._parts)

    def densities(self, word: str | None = None) -> tuple[list[tuple[int, int]], Gaussian]:
        """Return places and posteriors of all occurrences, or of those of one word, to put into a search engine.

        :meth:`occurrence` says what is at a place.
        """
        places, batches = [], []
        for number, (rows, posteriors) in self._selected(word):
            places += [(number, int(row)) for row in rows]
            batches.append(posteriors)
        if not batches:
            raise ValueError("there are no occurrences" + (f" of {word!r}" if word else ""))
        means = np.concatenate([batch.mean for batch in batches])
        return places, Gaussian(means, np.concatenate([batch.variance for batch in batches]))

    def occurrence(self, place: tuple[int, int], score: float = 0.0) -> Found:
        """Return the occurrence at one of the places that :meth:`densities` returns."""
        return self._occurrence(score, *place)

    def _selected(self, word: str | None) -> Iterator[tuple[int, tuple[Integers, Gaussian]]]:
        """Yield, for each file, the rows wanted and their posteriors."""
        wanted = None if word is None else self.wv.get_index(word)
        for number, (tensors, _) in enumerate(self._parts):
            words = tensors["words"]
            rows = np.arange(len(words)) if wanted is None else np.flatnonzero(words == wanted)
            if len(rows):
                means, log_variances = (
                    tensors[name][rows].astype(np.float32) for name in ("means", "log_variances")
                )
                yield number, (rows, Gaussian(means, np.exp(log_variances)))

    def _occurrence(self, score: float, number: int, row: int) -> Found:
        tensors, _ = self._parts[number]
        sentence = int(tensors["sentence"][row])
        ends = tensors["vocabulary.offsets"]
        data = tensors["vocabulary.bytes"][int(ends[sentence]) : int(ends[sentence + 1]) - 1]
        tokens = bytes(data).decode("utf-8", "surrogatepass").split(" ")
        return Found(tokens, int(tensors["position"][row]), score)


class _Part:
    """Sentences and the occurrences in them, until there are enough for a file."""

    def __init__(self, checksum: int) -> None:
        self.read = 0  # sentences of the corpus, those without any occurrence too
        self.checksum = checksum  # of all sentences so far, those of earlier parts too
        self.sentences: list[str] = []
        self.places: list[tuple[int, int, int]] = []  # the word's row, the sentence, the position in it
        self.posteriors: list[Gaussian] = []

    def add(self, wv: KeyedDensities, sentences: list[list[str]], chosen: set[str]) -> None:
        """Infer the occurrences in some sentences."""
        self.read += len(sentences)
        for tokens in sentences:
            self.checksum = _checksum([*tokens, ""], self.checksum)
        wanted = [tokens for tokens in sentences if not chosen.isdisjoint(tokens)]
        for tokens, posteriors in zip(wanted, wv.infer_sentences(wanted, skip_unknown=True), strict=True):
            known = [i for i, token in enumerate(tokens) if token in wv.key_to_index]  # which have posteriors
            rows = [row for row, i in enumerate(known) if tokens[i] in chosen]
            for i in (known[row] for row in rows):
                self.places.append((wv.key_to_index[tokens[i]], len(self.sentences), i))
            self.sentences.append(" ".join(tokens))
            self.posteriors.append(posteriors if len(rows) == len(posteriors) else posteriors[rows])

    def arrays(self, dtype: str) -> dict[str, npt.NDArray[Any]]:
        """Return what a file contains besides the sentences."""
        means = np.concatenate([batch.mean for batch in self.posteriors])
        variances = np.concatenate([batch.variance for batch in self.posteriors])
        return {
            **dict(
                zip(("words", "sentence", "position"), np.array(self.places, dtype=np.int32).T, strict=True)
            ),
            "means": means.astype(dtype),
            "log_variances": np.log(variances).astype(dtype),
        }


def _gathered(
    wv: KeyedDensities, sentences: Iterable[Sequence[str]], chosen: set[str], part_size: int, checksum: int
) -> Iterator[_Part]:
    part, iterator = _Part(checksum), iter(sentences)
    while batch := [list(tokens) for tokens in itertools.islice(iterator, _SENTENCES_AT_ONCE)]:
        part.add(wv, batch, chosen)
        if len(part.places) >= part_size:
            yield part
            part = _Part(part.checksum)
    if part.places:
        yield part


def _start_or_continue(folder: str, plan: dict[str, Any]) -> None:
    old = _read_plan(folder)
    if old is None:
        _write_plan(folder, plan)
        return
    if old.get("complete") and len(_parts(folder)) < old.get("parts", 0):
        raise _missing(folder)
    names = {"model": "model", "words": "words", "dtype": "dtype", "window": "window"}
    other = [name for key, name in names.items() if old.get(key) != plan[key]]
    if other:
        raise ValueError(
            f"{folder} contains an index made with other settings ({' and '.join(other)}): use the same, or choose "
            "another folder"
        )


def _read_plan(folder: str) -> dict[str, Any] | None:
    path = os.path.join(folder, _PLAN)
    try:
        with open(path, encoding="utf-8") as file:
            plan = json.load(file)
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError) as error:
        raise persistence.DensvecFileError(f"{path} is not JSON: {error}") from error
    if not isinstance(plan, dict) or plan.get("format") != "densvec occurrences":
        raise persistence.DensvecFileError(f"{path} does not describe an index of occurrences")
    return plan


def _write_plan(folder: str, plan: dict[str, Any]) -> None:
    with atomic_write(os.path.join(folder, _PLAN)) as file:
        file.write((json.dumps(plan, indent=1) + "\n").encode())


def _parts(folder: str) -> list[str]:
    numbers = sorted(int(match[1]) for name in os.listdir(folder) if (match := _PART.fullmatch(name)))
    if numbers != list(range(len(numbers))):
        raise _missing(folder)
    return [os.path.join(folder, f"occurrences-{number:05}.dv") for number in numbers]


def _missing(folder: str) -> persistence.DensvecFileError:
    return persistence.DensvecFileError(f"{folder}: one of the files occurrences-*.dv is missing")


def _fingerprint(wv: KeyedDensities) -> str:
    """Return what tells one model from another: a checksum of the words and of what infers posteriors."""
    if wv.encoder is None:
        raise ValueError("there is no encoder here, so nothing can be inferred from context")
    total = _checksum(wv.index_to_key)
    for array in (wv.vectors[:1000], wv.encoder.mean_head, wv.encoder.embeddings[:1000]):
        total = zlib.crc32(array.tobytes(), total)
    return f"{total:08x}"


def _checksum(words: Iterable[str], total: int = 0) -> int:
    for word in words:
        total = zlib.crc32(str(word).encode("utf-8", "surrogatepass") + b"\n", total)
    return total
