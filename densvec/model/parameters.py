"""The parameters that all models share: their names, types, defaults, checks, and what they mean.

A model has its parameters as attributes. They are declared once, as fields of a dataclass: `SharedParameters`, which
the model's class extends by its own. The constructor, the list that is saved with a model, the checks and the texts of
the documentation follow from the fields.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import math
import numbers
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, InitVar, asdict, dataclass, field, fields
from typing import Any, TypeVar

import numpy as np

from densvec._corpus import MAX_NEGATIVE, MAX_WINDOW
from densvec.checks import check_number, check_pairing, check_whole
from densvec.text._text import MAX_BLOCK_WORDS
from densvec.types import CorpusFile, Sentences, TrimRule

#: How a parameter is checked: called with its name and a value, returns the value to keep.
Check = Callable[[str, Any], Any]

T = TypeVar("T", bound=type[Any])


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


# Kinds of fields


def parameter(default: Any, check: Check) -> Any:
    """Declare a parameter with its default and its check."""
    return field(default=default, metadata={"check": check})


def whole(default: int | None, least: int, most: int | None = None) -> Any:
    """Declare a whole number; None is allowed if it is the default."""

    def check(name: str, value: Any) -> int | None:
        return None if value is None and default is None else check_whole(name, value, least, most)

    return parameter(default, check)


def number(default: float) -> Any:
    """Declare a finite number of at least 0."""
    return parameter(default, check_number)


def choice(default: str, check: Callable[[Any], Any]) -> Any:
    """Declare one of a few names, which `check` knows."""
    return parameter(default, lambda name, value: check(value))


def ns_exponent(default: float | str) -> Any:
    """Declare a finite number, "auto" or "subsampled"."""
    return parameter(default, _exponent)


def rates_of(kind: type[Any]) -> Any:
    """Declare learning rates: a dataclass of them, or some of its fields as a mapping; kept as a dictionary."""
    return parameter(
        None, lambda name, value: asdict(value if isinstance(value, kind) else kind(**(value or {})))
    )


def anything(default: Any) -> Any:
    """Declare a parameter that is kept as given."""
    return parameter(default, lambda name, value: _plain(value))


# Checks of particular parameters


def _plain(value: Any) -> Any:
    """Return a NumPy number as a Python one, which JSON can hold."""
    return value.item() if isinstance(value, np.generic) else value


def _workers(name: str, value: Any) -> int:
    return available_cores() if value is None else check_whole(name, value, 1)


def _sample(name: str, value: Any) -> float | str:
    if isinstance(value, str):
        if value != "auto":
            raise ValueError(f"{name}={value!r} is unknown: use a number or 'auto'")
        return value
    number: float = check_number(name, value)
    return number


def _exponent(name: str, value: Any) -> Any:
    if isinstance(value, str):
        if value not in ("auto", "subsampled"):
            raise ValueError(f"{name}={value!r} is unknown: use a number, 'auto' or 'subsampled'")
        return value
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not math.isfinite(value):
        raise ValueError(f"{name}={value!r} is not a finite number, nor 'auto' or 'subsampled'")
    return _plain(value)


def _only(accepted: bool, why: str) -> Check:
    """Return the check of a gensim switch that only has one meaningful setting here."""

    def check(name: str, value: Any) -> Any:
        if bool(value) is not accepted:
            raise ValueError(f"{name}={int(not accepted)} {why}")
        return _plain(value)

    return check


_SG = "asks for CBOW, which predicts a word from its summed context: densvec's models are skip-grams, sg=1"
_HS = (
    "asks for hierarchical softmax: densvec's models contrast words with negatives and have no softmax; "
    "leave hs=0"
)
_NULL_WORD = "asks for a padding word: densvec's windows are not padded; leave null_word=0"


@dataclass(init=False, repr=False, eq=False)
class SharedParameters:
    """The parameters of every model: gensim's parameters, in gensim's order, and a few of our own.

    A model that extends them says only what differs: another default, or another text.

    Parameters
    ----------
    sentences : iterable of token lists, optional
        The corpus, iterable more than once: a list, `densvec.corpora.LineSentence`, …
    corpus_file : path or list of paths, optional
        A file with one sentence per line, in place of ``sentences``: the fastest way to train. A directory stands for
        its files, a pattern such as ``"texts/*.gz"`` for those that match it, and a list for all of its members.
    trim_rule : callable, optional
        ``trim_rule(word, count, min_count)`` says which words to keep, see `build_vocab`. Not stored.
    callbacks : iterable
        Objects with hooks, see `densvec.callbacks`; ``train()`` uses them too.
    distributed : bool, optional
        Whether to train together with the other processes that torchrun started; by default if there are any. See
        `densvec.distributed`.
    vector_size : int
        Dimensions of the densities.
    alpha : float
        Learning rate at the start. The rates of the tables are multiples of it, see ``rates``.
    window : int
        Context words on either side of a centre word.
    min_count : int
        Ignore words that occur fewer times.
    max_vocab_size : int, optional
        Bound the memory of counting by dropping rare words on the way.
    sample : float or "auto"
        Threshold above which frequent words are thinned; "auto" picks one that suits the size of the text,
        `densvec.text.thinning.auto_sample`.
    seed : int
        Seed of everything random. With ``workers=1`` the same seed and corpus give the same bits; several
        workers write to the same tables without waiting for each other.
    workers : int, optional
        Number of threads; by default one for each core that the process may use.
    min_alpha : float
        Learning rate at the end; it falls linearly with the words read.
    sg, hs, null_word, cbow_mean, hashfxn, compute_loss
        Accepted for compatibility with gensim. ``sg=0`` (CBOW), ``hs=1`` and ``null_word=1`` have no meaning
        here and are errors; the others have no effect. Losses are always computed.
    ns_exponent : float, "auto" or "subsampled"
        Negatives are drawn by counts to this power. "subsampled" draws them as words occur in the thinned text, and
        "auto" by these counts to the power .75: rare words more often, since they crowd lists of neighbours otherwise.
    epochs : int
        Passes over the corpus.
    sorted_vocab : {0, 1}
        Order words by descending count.
    batch_words : int
        Words of a chunk, the unit of work and of randomness.
    comment : str, optional
        Any remark; saved with the model, and otherwise unused.
    max_final_vocab : int, optional
        Keep at most this many words, by raising ``min_count``.
    shrink_windows : bool
        Draw each window's size from 1 to ``window``, as word2vec does.
    covariance : {"spherical", "diagonal"}
        One variance for each density, or one for each of its dimensions.
    backend : {"auto", "native"}
        What trains: the native kernel.
    device : str, optional
        None or "cpu".
    show_progress : bool, optional
        Draw a progress bar; by default only in terminals and notebooks.
    """

    sentences: InitVar[Sentences | None] = None
    corpus_file: InitVar[CorpusFile | None] = None
    vector_size: int = whole(100, least=1)
    alpha: float = number(0.025)
    window: int = whole(5, least=1, most=MAX_WINDOW)
    min_count: int = whole(5, least=0)
    max_vocab_size: int | None = whole(None, least=0)
    sample: float | str = parameter("auto", _sample)  # "auto" until there is a vocabulary
    seed: int = whole(1, least=0)
    workers: int | None = parameter(None, _workers)
    min_alpha: float = number(0.0001)
    sg: int = parameter(1, _only(True, _SG))
    hs: int = parameter(0, _only(False, _HS))
    negative: int = whole(20, least=1, most=MAX_NEGATIVE)
    ns_exponent: float | str = ns_exponent("auto")
    cbow_mean: int = anything(1)
    hashfxn: InitVar[Callable[[str], int]] = hash
    epochs: int = whole(5, least=0)
    null_word: int = parameter(0, _only(False, _NULL_WORD))
    trim_rule: InitVar[TrimRule | None] = None
    sorted_vocab: int = anything(1)
    batch_words: int = whole(10_000, least=1, most=MAX_BLOCK_WORDS)
    compute_loss: bool = anything(False)
    callbacks: InitVar[Iterable[Any]] = ()
    comment: str | None = anything(None)
    max_final_vocab: int | None = whole(None, least=1)
    shrink_windows: bool = anything(False)
    _: KW_ONLY
    backend: str = anything("auto")
    device: str | None = anything(None)
    show_progress: bool | None = anything(None)
    pairing: str = choice("shared", check_pairing)
    distributed: InitVar[bool | None] = None

    @classmethod
    @functools.cache
    def parameter_names(cls) -> tuple[str, ...]:
        """Return the names of all parameters, which are what a file's header holds."""
        return tuple(each.name for each in fields(cls))

    @classmethod
    def check_parameter(cls, name: str, value: Any) -> Any:
        """Return a parameter's value as the model keeps it; TypeError or ValueError if it cannot be that.

        Examples
        --------
        >>> SharedParameters.check_parameter("window", 4.0)
        4
        >>> SharedParameters.check_parameter("sg", 0)
        Traceback (most recent call last):
        ValueError: sg=0 asks for CBOW, which predicts a word from its summed context: densvec's models ...
        """
        return cls.__dataclass_fields__[name].metadata["check"](name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute; a parameter is checked whenever it is set."""
        is_parameter = name in self.parameter_names()
        super().__setattr__(name, self.check_parameter(name, value) if is_parameter else value)

    def _check_together(self) -> None:
        """Check parameters that depend on each other, and fill in those that follow from others."""


#: Names that gensim's constructor had before its version 4, and what they are called since.
RENAMED = {"size": "vector_size", "iter": "epochs", "sentence": "sentences"}


def names_checked(cls: T) -> T:
    """Let a constructor answer a keyword that it does not know with the name that was probably meant.

    Examples
    --------
    >>> from densvec import BayesianSkipGram
    >>> BayesianSkipGram(size=300)
    Traceback (most recent call last):
    TypeError: BayesianSkipGram() has no parameter 'size': since gensim 4 it is called 'vector_size'
    >>> BayesianSkipGram(vectorsize=300)
    Traceback (most recent call last):
    TypeError: BayesianSkipGram() has no parameter 'vectorsize': did you mean 'vector_size'?
    """
    init, signature = cls.__init__, inspect.signature(cls.__init__)
    known = [name for name in signature.parameters if name != "self"]

    @functools.wraps(init)
    def checked(self: Any, /, *args: Any, **kwargs: Any) -> None:
        for name in kwargs:
            if name not in known:
                raise TypeError(f"{type(self).__name__}() has no parameter {name!r}: {_meant(name, known)}")
        init(self, *args, **kwargs)

    shown = [  # "InitVar[int]" is how a dataclass says that it takes an int without keeping it
        each.replace(annotation=re.sub(r"InitVar\[(.*)\]", r"\1", str(each.annotation)))
        for each in signature.parameters.values()
    ]
    checked.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]
    cls.__init__ = checked
    return cls


def _meant(name: str, known: list[str]) -> str:
    if name in RENAMED:
        return f"since gensim 4 it is called {RENAMED[name]!r}"
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.7)
    return f"did you mean {close[0]!r}?" if close else f"it has {', '.join(known)}"
