"""Densities in scikit-learn: transformers from texts to features (``pip install 'densvec[sklearn]'``).

`DensityVectorizer` uses existing densities, `BayesianSkipGramTransformer` trains them on the texts that it is fitted
to. Both follow scikit-learn's conventions, and work in pipelines and grid searches.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from densvec.checks import one_of
from densvec.questions.texts import shares

if TYPE_CHECKING:
    from typing_extensions import Self

    from densvec.keyed import KeyedDensities

__all__ = ["BayesianSkipGramTransformer", "DensityVectorizer"]

FEATURES = ("means", "moments", "text_density")

Texts = Iterable["str | Sequence[str]"]


class _TextFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turns texts into features with the densities that `_densities` returns."""

    features: str
    lowercase: bool
    tokenizer: Callable[[str], Sequence[str]] | None

    def _densities(self) -> KeyedDensities:
        raise NotImplementedError

    def transform(self, X: Texts) -> npt.NDArray[np.float32]:
        """Return one row of features for each text.

        Parameters
        ----------
        X : iterable of str, or of lists of tokens
            The texts.

        Returns
        -------
        numpy.ndarray, shape (n_texts, n_features)
        """
        check_is_fitted(self)
        wv, texts, size = self._densities(), self._tokens(X), len(self.get_feature_names_out())
        log_variances = np.zeros((len(wv), 1)) if wv.log_variances is None else wv.log_variances
        sif = self.features == "text_density"
        matrix, used = shares(wv, texts, "sif" if sif and "count" in wv.expandos else "none")
        spread = matrix @ (np.exp(log_variances[used]) if sif else log_variances[used])
        unknown = np.diff(matrix.indptr) == 0
        spread = np.log(spread, where=~unknown[:, None], out=spread) if sif else spread
        spread[unknown] = log_variances.mean(dtype=np.float64)
        rows: npt.NDArray[np.float32] = np.hstack([matrix @ wv.vectors[used], spread]).astype(np.float32)
        return rows[:, :size]

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Return the names of the features: ``mean_0`` and so on, ``log_variance`` or ``log_variance_0`` and so on.

        Texts have no feature names, so `input_features` is not used.
        """
        check_is_fitted(self)
        wv = self._densities()
        names = [f"mean_{i}" for i in range(wv.vector_size)]
        if self.features != "means":
            count = 1 if wv.log_variances is None else wv.log_variances.shape[1]
            names += ["log_variance"] if count == 1 else [f"log_variance_{i}" for i in range(count)]
        return np.array(names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _tokens(self, texts: Texts) -> list[list[str]]:
        """Return the tokens of each text."""
        if isinstance(texts, (str, bytes)):
            raise ValueError("texts are expected as a list of strings: got one string")
        found = []
        for text in texts:
            if isinstance(text, str):
                text = text.lower() if self.lowercase else text
                found.append(list(text.split() if self.tokenizer is None else self.tokenizer(text)))
            elif isinstance(text, (bytes, float, int)) or text is None:
                raise ValueError(f"a text is a string or a list of tokens: got {text!r}")
            else:
                found.append([str(token).lower() if self.lowercase else str(token) for token in text])
        return found


class DensityVectorizer(_TextFeatures):
    """Turn texts into features with densities that were trained before.

    Parameters
    ----------
    densities : KeyedDensities, or str or PathLike
        The words, or a saved model. A copy of the estimator, as grid searches make them, shares the words.
    features : {"means", "moments", "text_density"}, optional
        ``"means"``: the average of the means of the words. ``"moments"``: that, and the average of their
        log-variances. ``"text_density"``: mean and log-variance of the density of the text, in which
        rare words count most: :meth:`KeyedDensities.text_density <densvec.KeyedDensities.text_density>`.
    lowercase : bool, optional
        Whether to lower-case texts.
    tokenizer : callable, optional
        From a text to its tokens; texts are split at white space by default. Lists of tokens need none.

    Examples
    --------
    >>> vectorizer = DensityVectorizer(wv, features="moments")
    >>> vectorizer.fit_transform(["the dog and the cat", "a car"]).round(2)
    array([[ 1.5,  1.5,  0. ],
           [-3. ,  0. ,  0. ]], dtype=float32)
    >>> vectorizer.get_feature_names_out().tolist()
    ['mean_0', 'mean_1', 'log_variance']
    """

    def __init__(
        self,
        densities: KeyedDensities | str | os.PathLike[str],
        *,
        features: str = "means",
        lowercase: bool = False,
        tokenizer: Callable[[str], Sequence[str]] | None = None,
    ) -> None:
        self.densities = densities
        self.features = features
        self.lowercase = lowercase
        self.tokenizer = tokenizer

    def fit(self, X: Texts, y: Any = None) -> Self:
        """Open the densities; the texts are only checked to be texts.

        Parameters
        ----------
        X : iterable of str, or of lists of tokens
            The texts.
        y : any, optional
            Not used.
        """
        one_of("features", self.features, FEATURES)
        self._tokens(X)
        given = self.densities
        if isinstance(given, (str, os.PathLike)):
            from densvec import pretrained

            given = pretrained.load(given, mmap=None)
        self.densities_: KeyedDensities = given
        if self.features != "means" and self.densities_.log_variances is None:
            raise ValueError(
                f"features={self.features!r} needs variances, and there are only means here: use 'means'"
            )
        return self

    def _densities(self) -> KeyedDensities:
        return self.densities_

    def __sklearn_clone__(self) -> Self:
        return type(self)(**self.get_params(deep=False))  # scikit-learn's own would copy all tables

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = True
        return tags


class BayesianSkipGramTransformer(_TextFeatures):
    """Train a Bayesian Skip-gram on texts, and turn texts into features with it.

    Parameters
    ----------
    vector_size, window, min_count, epochs, alpha, sample, negative : optional
        As for :class:`~densvec.BayesianSkipGram`.
    covariance : {"spherical", "diagonal"}, optional
        The shape of the variances.
    features, lowercase, tokenizer : optional
        As for :class:`DensityVectorizer`.
    n_jobs : int, optional
        Threads that train; with one, the same texts and `random_state` give the same features.
    random_state : int, RandomState or None, optional
        Seeds everything random.
    parameters : dict, optional
        Further parameters of the model.

    Attributes
    ----------
    model_ : BayesianSkipGram
        The trained model.

    Examples
    --------
    >>> from densvec.datasets import toy_language
    >>> texts = [" ".join(sentence) for sentence in toy_language(300)]
    >>> transformer = BayesianSkipGramTransformer(vector_size=8, epochs=1, random_state=1)
    >>> transformer.fit(texts).transform(texts[:2]).shape
    (2, 8)
    """

    def __init__(
        self,
        vector_size: int = 100,
        *,
        window: int = 5,
        min_count: int = 5,
        epochs: int = 5,
        alpha: float = 0.025,
        sample: float | str = "auto",
        negative: int = 20,
        covariance: str = "spherical",
        features: str = "means",
        lowercase: bool = False,
        tokenizer: Callable[[str], Sequence[str]] | None = None,
        n_jobs: int = 1,
        random_state: int | np.random.RandomState | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        self.vector_size = vector_size
        self.window = window
        self.min_count = min_count
        self.epochs = epochs
        self.alpha = alpha
        self.sample = sample
        self.negative = negative
        self.covariance = covariance
        self.features = features
        self.lowercase = lowercase
        self.tokenizer = tokenizer
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.parameters = parameters

    def fit(self, X: Texts, y: Any = None) -> Self:
        """Train on texts.

        Parameters
        ----------
        X : iterable of str, or of lists of tokens
            The texts, each a sentence or a document.
        y : any, optional
            Not used.
        """
        from densvec.bsg import BayesianSkipGram

        one_of("features", self.features, FEATURES)
        seed = int(check_random_state(self.random_state).randint(1, 2**31 - 1))
        names = ("vector_size", "window", "min_count", "epochs", "alpha", "sample", "negative", "covariance")
        self.model_ = BayesianSkipGram(
            self._tokens(X),
            seed=seed,
            workers=self.n_jobs,
            **{name: getattr(self, name) for name in names},
            **(self.parameters or {}),
        )
        return self

    def _densities(self) -> KeyedDensities:
        return self.model_.wv

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = self.n_jobs != 1  # threads update the tables concurrently
        return tags
