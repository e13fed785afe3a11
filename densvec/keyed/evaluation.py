"""gensim's two measures of quality: human similarity judgements and analogies.

For confidence intervals and what densities can do see :mod:`densvec.evaluation`.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from densvec.files.streams import open_stream
from densvec.types import PathLike

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities

logger = logging.getLogger(__name__)

Section = dict[str, Any]


def evaluate_word_pairs(
    wv: KeyedDensities,
    pairs: PathLike,
    delimiter: str = "\t",
    encoding: str = "utf8",
    restrict_vocab: int = 300000,
    case_insensitive: bool = True,
    dummy4unknown: bool = False,
) -> tuple[Any, Any, float]:
    r"""Correlate cosines with human judgements of similarity.

    Parameters
    ----------
    pairs : str or PathLike
        A file with a pair of words and a number on each line; lines that start with ``#`` are comments.
    delimiter : str, optional
        What separates the three.
    encoding : str, optional
        Encoding of the file.
    restrict_vocab : int, optional
        Only the first words count as known.
    case_insensitive : bool, optional
        Whether to compare words in upper case.
    dummy4unknown : bool, optional
        Whether pairs with unknown words count with similarity 0 instead of being left out.

    Returns
    -------
    pearson, spearman : tuple of (float, float)
        Correlation and p-value.
    oov_ratio : float
        Percentage of the pairs that have an unknown word.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "pairs.tsv")
    >>> with open(path, "w") as file:
    ...     _ = file.write("dog\tcat\t9\ndog\tanimal\t8\ndog\tcar\t1\ndog\tunicorn\t3\n")
    >>> pearson, spearman, oov_ratio = wv.evaluate_word_pairs(path)
    >>> round(float(spearman[0]), 2), oov_ratio
    (0.5, 25.0)
    """
    from scipy import stats

    rows = _known_rows(wv, restrict_vocab, case_insensitive)
    judged: list[float] = []
    predicted: list[float] = []
    unknown = 0
    for number, line in enumerate(_lines(pairs, encoding)):
        if not line or line.startswith("#"):
            continue
        try:
            first, second, rating = (
                part.upper() if case_insensitive else part for part in line.split(delimiter)
            )
            judgement = float(rating)
        except ValueError:
            logger.info("skipped line %d of %s: %r", number, pairs, line)
            continue
        known = first in rows and second in rows
        unknown += not known
        if known or dummy4unknown:
            predicted.append(float(wv.similarity(rows[first], rows[second])) if known else 0.0)
            judged.append(judgement)
    if not judged:
        raise ValueError(f"{os.fspath(pairs)} has no pair of known words separated by {delimiter!r}")
    pearson, spearman = stats.pearsonr(judged, predicted), stats.spearmanr(judged, predicted)
    oov_ratio = float(unknown) / (len(judged) + (0 if dummy4unknown else unknown)) * 100
    wv.log_evaluate_word_pairs(pearson, spearman, oov_ratio, pairs)
    return pearson, spearman, oov_ratio


def evaluate_word_analogies(
    wv: KeyedDensities,
    analogies: PathLike,
    restrict_vocab: int = 300000,
    case_insensitive: bool = True,
    dummy4unknown: bool = False,
    similarity_function: str = "most_similar",
) -> tuple[float, list[Section]]:
    r"""Measure how many analogies "a is to b as c is to d" are completed correctly.

    Parameters
    ----------
    analogies : str or PathLike
        A file with four words on each line, in sections that start with ``: name``.
    restrict_vocab, case_insensitive : optional
        As in :meth:`evaluate_word_pairs`.
    dummy4unknown : bool, optional
        Whether analogies with unknown words count as wrong instead of being left out.
    similarity_function : str, optional
        The method that searches: ``"most_similar"`` or ``"most_similar_cosmul"``.

    Returns
    -------
    score : float
        Share of correct answers.
    sections : list of dict
        For each section, and last for all together, its name under ``"section"`` and the analogies under
        ``"correct"`` and ``"incorrect"``.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "analogies.txt")
    >>> with open(path, "w") as file:
    ...     _ = file.write(": animals\ncar cat car animal\n")
    >>> wv.evaluate_word_analogies(path)[0]
    1.0
    """
    rows = _known_rows(wv, restrict_vocab, case_insensitive)
    search = getattr(wv, similarity_function)
    sections: list[Section] = []
    for number, line in enumerate(_lines(analogies, "utf8")):
        if line.startswith(": "):
            sections.append({"section": line.removeprefix(": ").strip(), "correct": [], "incorrect": []})
            continue
        words = tuple((line.upper() if case_insensitive else line).split())
        if len(words) != 4:
            if line:
                logger.info("skipped line %d of %s: %r", number, analogies, line)
            continue
        if not sections:
            raise ValueError(
                f"{os.fspath(analogies)}: line {number + 1}: no section (': name') has begun yet"
            )
        if all(word in rows for word in words):
            guess = _complete(wv, words[:3], rows, search, restrict_vocab, case_insensitive)
            sections[-1]["correct" if guess == words[3] else "incorrect"].append(words)
        elif dummy4unknown:
            sections[-1]["incorrect"].append(words)
    total: Section = {"section": "Total accuracy"}
    for kind in ("correct", "incorrect"):
        total[kind] = [words for section in sections for words in section[kind]]
    for section in sections:
        _log_evaluate_word_analogies(section)
    return _log_evaluate_word_analogies(total), [*sections, total]


def log_evaluate_word_pairs(pearson: Any, spearman: Any, oov: float, pairs: Any) -> None:
    """Log the result of :meth:`evaluate_word_pairs`.

    Examples
    --------
    >>> wv.log_evaluate_word_pairs((0.5, 0.01), (0.6, 0.01), 3.0, "pairs.tsv")
    """
    logger.info("Pearson correlation with %s: %.4f", pairs, pearson[0])
    logger.info("Spearman correlation with %s: %.4f", pairs, spearman[0])
    logger.info("pairs with unknown words: %.1f%%", oov)


def _log_evaluate_word_analogies(section: Section) -> float:
    """Log and return the share of correct answers in a section, 0 if it has none at all."""
    correct, incorrect = len(section["correct"]), len(section["incorrect"])
    if not correct + incorrect:
        return 0.0
    score = correct / (correct + incorrect)
    logger.info("%s: %.1f%% (%d/%d)", section["section"], 100.0 * score, correct, correct + incorrect)
    return score


def _known_rows(wv: KeyedDensities, restrict_vocab: int, upper_case: bool) -> dict[str, int]:
    """Return the rows of the first keys; of several that differ only in case, that of the first."""
    rows: dict[str, int] = {}
    for row, key in enumerate(wv.index_to_key[:restrict_vocab]):
        rows.setdefault(key.upper() if upper_case else key, row)
    return rows


def _complete(
    wv: KeyedDensities,
    words: tuple[str, ...],
    rows: dict[str, int],
    search: Callable[..., Any],
    restrict: int,
    upper_case: bool,
) -> str | None:
    """Return the best answer to an analogy that is none of its three words."""
    a, b, c = (rows[word] for word in words)
    found = search(positive=[b, c], negative=[a], topn=5, restrict_vocab=restrict)
    for key, _ in found:
        guess = key.upper() if upper_case else key
        if guess in rows and guess not in words:
            return str(guess)
    return None


def _lines(path: PathLike, encoding: str) -> Iterator[str]:
    """Yield the lines of a text file, stripped of white space at their ends."""
    with open_stream(path) as file:
        for data in file:
            yield data.decode(encoding).rstrip()
