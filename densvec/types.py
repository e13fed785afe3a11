"""Types that many modules name."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import IO, Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
Floats: TypeAlias = npt.NDArray[np.floating[Any]]
Integers: TypeAlias = npt.NDArray[np.integer[Any]]
Indices: TypeAlias = npt.NDArray[np.intp]
Booleans: TypeAlias = npt.NDArray[np.bool_]

#: A key: a word, or the number of its row.
Key: TypeAlias = "str | int | np.integer[Any]"

#: Several keys, whose answers are an array.
Many: TypeAlias = "list[Any] | tuple[Any, ...] | range"

#: The words that a search is limited to, or a mask over the rows.
Among: TypeAlias = "Iterable[Key] | Booleans"

#: What a search finds: words and their scores, best first.
Found: TypeAlias = "list[tuple[str, float]]"

#: A local path, or a URI where the function says so.
PathLike: TypeAlias = "str | os.PathLike[str]"

#: A path, local or remote, or an open file that supports seek(0).
Source: TypeAlias = "str | os.PathLike[str] | IO[bytes] | IO[str]"

#: Token lists. Training reads them once for the vocabulary and once in each epoch.
Sentences: TypeAlias = Iterable[Any]

#: Text files: a file, a directory, a pattern like "texts/*.gz", a URI, or a list of these.
CorpusFile: TypeAlias = "str | os.PathLike[str] | Sequence[str | os.PathLike[str]]"

#: A text to look something up in: files or token lists. `densvec.text.concordance.sentences_of` reads it.
Corpus: TypeAlias = "str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | Iterable[Sequence[str]]"

#: Called with a word, its count and the least count; answers one of the rules of `densvec.text.thinning`.
TrimRule: TypeAlias = Callable[[Any, int, int], int]
