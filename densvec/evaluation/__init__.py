"""Benchmarks of word embeddings, each figure beside simple baselines from the same means.

Every benchmark is a `Task`. Called with a KeyedDensities and a file it scores the model's own calls, the baselines, and
any other method, and returns `Results`, which print as a table and turn into JSON or a DataFrame. `evaluate_all` runs
all that a directory has.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from densvec.evaluation.figures import Figure, Results
from densvec.evaluation.hypernyms import hypernym_discovery
from densvec.evaluation.in_context import (
    graded_change,
    sense_induction,
    similarity_in_context,
    word_in_context,
)
from densvec.evaluation.pairs import (
    entailment,
    entailment_direction,
    graded_entailment,
    nearest_neighbours,
    sums,
    word_similarity,
)
from densvec.evaluation.reading import BenchmarkFileError
from densvec.evaluation.substitutes import gap, lexical_substitution, ranking_of_candidates
from densvec.evaluation.task import Task
from densvec.evaluation.texts import chimeras, nonces, text_similarity
from densvec.keyed import KeyedDensities
from densvec.statistics.bootstrap import Bootstrap, Estimate
from densvec.types import PathLike

__all__ = [
    "BenchmarkFileError",
    "Bootstrap",
    "Estimate",
    "Figure",
    "Results",
    "Task",
    "chimeras",
    "entailment",
    "entailment_direction",
    "evaluate_all",
    "gap",
    "graded_change",
    "graded_entailment",
    "hypernym_discovery",
    "lexical_substitution",
    "nearest_neighbours",
    "nonces",
    "ranking_of_candidates",
    "sense_induction",
    "similarity_in_context",
    "text_similarity",
    "word_in_context",
    "word_similarity",
]

PLACES: tuple[tuple[str, Task[Any]], ...] = (
    ("word-sim", nearest_neighbours),
    ("context/*.data*", word_in_context),
    ("context/*scws*", similarity_in_context),
    ("lexsub/*_all.preprocessed", lexical_substitution),
    ("lexsub/*_dev.preprocessed", lexical_substitution),
    ("senses/*.txt", sense_induction),
    ("entailment/*.data*", hypernym_discovery),
    ("new_words/*nonce*", nonces),
    ("new_words/*chimera*", chimeras),
    ("texts/*.csv", text_similarity),
    ("shift/*/", graded_change),
    ("lexsub/*_all.preprocessed", ranking_of_candidates),
    ("lexsub/*_dev.preprocessed", ranking_of_candidates),
    ("entailment/*.tsv", entailment),
    ("entailment/*_direction.txt", entailment_direction),
    ("entailment/*hyperlex*", graded_entailment),
    ("word-sim/*.txt", word_similarity),
)
"""Where in the directory files are looked for, and the task of each."""


def evaluate_all(
    wv: KeyedDensities,
    data_dir: PathLike,
    *,
    tasks: Sequence[str] | None = None,
    beside: Mapping[str, KeyedDensities] | None = None,
    bootstrap: Bootstrap | None = None,
    show_progress: bool | None = False,
) -> Results:
    r"""Run every benchmark in a directory: the model's own calls, and simple baselines from the same means.

    Parameters
    ----------
    wv : KeyedDensities
        The model; `KeyedDensities.from_gensim` makes one of gensim's vectors.
    data_dir : str or path
        Contains what is there of word-sim/EN-\*.txt, context/\*.data and scws\*, lexsub/lst_all.preprocessed and
        coinco_dev.preprocessed with their gold, senses/\*.txt with keys, entailment/bbds.tsv, bless.tsv,
        \*_direction.txt, hyperlex.txt and semeval2018\*.data, new_words/nonce.txt and chimeras\*.txt,
        texts/sts\*.csv and shift/dwug\*/.
    tasks : sequence of str, optional
        Only the tasks of these names, such as "word in context"; by default all.
    beside : mapping of str to KeyedDensities, optional
        Other vectors by their names, whose baselines stand beside.
    bootstrap : Bootstrap, optional
        How to make the intervals.
    show_progress : bool or None, optional
        Whether to show a progress bar; None for only in a terminal.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from densvec.evaluation import Bootstrap, evaluate_all
    >>> with tempfile.TemporaryDirectory() as place:
    ...     Path(place, "word-sim").mkdir()
    ...     _ = Path(place, "word-sim", "EN-MC-30.txt").write_text("cat dog 9\ncat car 1\ndog car 2\n")
    ...     results = evaluate_all(wv, place, bootstrap=Bootstrap(0))
    >>> float(results["SUM", "", "cosine"]) == float(results["MC-30", "rho", "cosine"])
    True
    """
    root = Path(os.fspath(data_dir))
    if not root.is_dir():
        raise FileNotFoundError(f"{root}: no such directory of benchmarks")
    names = {task.name for _, task in PLACES}
    for name in tasks or ():
        if name not in names:
            raise ValueError(f"there is no task {name!r}; there are {', '.join(sorted(names))}")
    jobs = [
        (task, path)
        for pattern, task in PLACES
        if tasks is None or task.name in tasks
        for path in sorted(root.glob(pattern))
    ]
    found = Results([])
    for task, path in tqdm(jobs, disable=None if show_progress is None else not show_progress):
        found += task(wv, path, beside=beside, bootstrap=bootstrap)
    if not found:
        raise FileNotFoundError(f"{root}: no benchmark in word-sim/, context/, lexsub/, senses/ and so on")
    return found + sums(found)
