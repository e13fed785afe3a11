"""KeyedDensities: words and their densities, gensim's KeyedVectors and more.

The class itself holds the words and their tables. What can be asked of them are functions of
:mod:`densvec.questions`, bound as methods; `search` and `similarities` are gensim's questions, `growth` changes which
words there are, `saving` is the model file; :mod:`densvec.integrations` exchanges words with other programs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from densvec import questions
from densvec._corpus import MAX_WINDOW
from densvec.checks import check_covariance, check_whole
from densvec.encoder import Encoder
from densvec.files.compact import CompactRows, Rows
from densvec.files.lifecycle import Lifecycle
from densvec.gaussian import Gaussian
from densvec.integrations import arrow, exchange, hub, onnx
from densvec.keyed import evaluation, growth, retired, saving, search, similarities
from densvec.questions.hypernymy import HypernymyScale
from densvec.questions.lookup import (
    KEY_TYPES,
    filled_norms,
    known_log_variances,
    refuse_bytes,
    row_or_rows,
    rows_of,
)
from densvec.reading import Reading
from densvec.tables import ENCODER, Derived
from densvec.text.spelling import UnknownKeyError
from densvec.types import Floats

if TYPE_CHECKING:
    from typing_extensions import Self

    from densvec.questions.spelling_model import SpellingModel

__all__ = ["KeyedDensities"]

_LOCKED = frozenset(
    {
        "_vectors",
        "_log_variances",
        "encoder",
        "context_vectors",
        "index_to_key",
        "key_to_index",
        "vector_size",
    }
)
"""What must stay the same object while a model is trained."""


class KeyedDensities(Lifecycle):
    """Words and their densities: gensim's ``KeyedVectors`` over the means, and what only densities know.

    Parameters
    ----------
    vector_size : int
        Number of dimensions D.
    count : int, optional
        How many keys to make room for; `add_vector` fills the room.
    dtype : dtype, optional
        Type of the tables.
    mapfile_path : str, optional
        Unused, as in gensim.
    covariance : {None, "spherical", "diagonal"}, optional
        The shape of the variances; None for means only.
    encoder : Encoder, optional
        The network that infers posteriors.
    window : int, optional
        How many tokens on each side are a word's context when it is inferred in a sentence.

    Attributes
    ----------
    vectors, means : numpy.ndarray, shape (V, D)
        The means, under gensim's name and their own.
    log_variances : numpy.ndarray, shape (V, 1) or (V, D), or None
    encoder : Encoder or None
    context_vectors : numpy.ndarray, shape (V, D), or None
        What a skip-gram has besides its vectors: what stands for a word when it is the context of another.
    window : int
    card : str or None
        What people should know about it, in Markdown: text, date, figures, licence. Saved and loaded with the rest.
    key_to_index : dict
        Row of each key.
    index_to_key : list
        Key of each row.
    expandos : dict
        Attributes of the keys, such as their ``"count"``, one array each.

    Examples
    --------
    >>> import numpy as np
    >>> from densvec import KeyedDensities
    >>> wv = KeyedDensities(2, covariance="spherical")
    >>> means, log_variances = [[1, 1], [2, 1], [-3, 0]], np.log([[4], [1], [1]])
    >>> wv.add_vectors(["animal", "dog", "car"], means, log_variances=log_variances)
    >>> wv
    KeyedDensities<vector_size=2, 3 keys, spherical>
    >>> wv["dog"]
    array([2., 1.], dtype=float32)
    >>> wv.density("dog")
    Gaussian(mean=[2., 1.], variance=[1.])
    >>> wv.most_similar("dog", metric="kl", topn=1)
    [('animal', -0.7612...)]
    >>> wv.direction("dog", "animal") > 0  # a dog is an animal
    True
    """

    index_to_key: list[str]
    key_to_index: dict[str, int]
    vector_size: int
    expandos: dict[str, npt.NDArray[Any]]
    encoder: Encoder | None
    context_vectors: Floats | None
    window: int
    subwords: SpellingModel | None
    card: str | None
    _vectors: Rows
    _log_variances: Rows | None
    _derived: Derived

    def __init__(
        self,
        vector_size: int,
        count: int = 0,
        dtype: npt.DTypeLike = np.float32,
        mapfile_path: str | None = None,
        *,
        covariance: str | None = None,
        encoder: Encoder | None = None,
        window: int = 5,
    ) -> None:
        check_covariance(covariance, optional=True)
        width = {"spherical": 1, "diagonal": vector_size}.get(str(covariance))
        self.vector_size = vector_size
        self.index_to_key = [None] * count  # type: ignore[list-item]  # free slots, which add_vector fills
        self.key_to_index = {}
        self.next_index = 0
        self.expandos = {}
        self.mapfile_path = mapfile_path
        self.lifecycle_events: list[dict[str, Any]] | None = []
        self.encoder = encoder
        self.window = check_whole("window", window, 1, MAX_WINDOW)
        self.context_vectors = None
        self.subwords = None
        self.card = None
        self.vectors = np.zeros((count, vector_size), dtype=dtype)
        self.log_variances = None if width is None else np.zeros((count, width), dtype=dtype)

    @classmethod
    def from_arrays(
        cls,
        keys: Sequence[str],
        means: Rows,
        *,
        log_variances: Rows | None = None,
        encoder: Encoder | None = None,
        context_vectors: Floats | None = None,
        attributes: Mapping[str, npt.NDArray[Any]] | None = None,
        window: int = 5,
        index: dict[str, int] | None = None,
    ) -> Self:
        """Return an object made of the given arrays, which are used as they are, not copied.

        Parameters
        ----------
        keys : sequence of str
            The words, one for each row.
        means : numpy.ndarray, shape (V, D)
            Their means.
        log_variances : numpy.ndarray, shape (V, 1) or (V, D), optional
            Their log-variances; without them only means are known.
        encoder : Encoder, optional
            The network that infers posteriors, with V embeddings.
        context_vectors : numpy.ndarray, shape (V, D), optional
            What stands for a word when it is the context of another.
        attributes : mapping of str to numpy.ndarray, optional
            Attributes of the words, such as ``"count"``. Without any, counts reflect the order of the rows.
        window : int, optional
            How many tokens on each side are a word's context in a sentence.
        index : dict, optional
            The row of each word, if it is known already.

        Raises
        ------
        ValueError
            If a table does not have one row for each word, or words repeat.

        Examples
        --------
        >>> means = np.array([[2.0, 1.0], [1.0, 2.0]])
        >>> type(wv).from_arrays(["dog", "cat"], means, log_variances=np.zeros((2, 1)))
        KeyedDensities<vector_size=2, 2 keys, spherical>
        """
        if means.ndim != 2:
            raise ValueError(f"means have shape {means.shape}: they must be (words, dimensions)")
        count, size = means.shape
        made = cls(size, dtype=means.dtype, encoder=encoder, window=window)
        made._set_keys(list(keys), index)
        widths = {"means": (size,), "log_variances": (1, size), "context_vectors": (size,)}
        tables = {"means": means, "log_variances": log_variances, "context_vectors": context_vectors}
        for name, table in tables.items():
            if table is None:
                continue
            if table.ndim != 2 or len(table) != len(made):
                raise ValueError(f"{name} has shape {table.shape}: {len(made)} words need a row each")
            if table.shape[1] not in widths[name]:
                wanted = " or ".join(map(str, widths[name]))
                raise ValueError(f"{name} has {table.shape[1]} columns, not {wanted}")
        if encoder is not None and (len(encoder.embeddings), encoder.dimension) != (count, size):
            raise ValueError(
                f"the encoder has {len(encoder.embeddings)} words and {encoder.dimension} dimensions, but the "
                f"means have {count} and {size}"
            )
        made.vectors, made.log_variances, made.context_vectors = means, log_variances, context_vectors
        given = {"count": np.arange(count, 0, -1, dtype=np.int64)} if attributes is None else dict(attributes)
        for name, values in given.items():
            if len(values) != count:
                raise ValueError(f"attribute {name!r} has {len(values)} values for {count} words")
        made.expandos = given
        return made

    # Keys

    def __len__(self) -> int:
        return len(self.index_to_key)

    def __contains__(self, key: object) -> bool:
        return self.has_index_for(key)

    def has_index_for(self, key: Any) -> bool:
        """Return whether `key` is known.

        Parameters
        ----------
        key : str or int
            A word, or the number of a row.

        Examples
        --------
        >>> wv.has_index_for("dog"), wv.has_index_for("unicorn"), "dog" in wv
        (True, False, True)
        """
        return self.get_index(key, -1) >= 0

    def get_index(self, key: Any, default: int | None = None) -> int:
        """Return the row of `key`.

        Parameters
        ----------
        key : str or int
            A word, or the number of a row.
        default : int, optional
            What to return for an unknown key.

        Raises
        ------
        KeyError
            If the key is unknown and there is no default.

        Examples
        --------
        >>> wv.get_index("dog"), wv.get_index("unicorn", -1)
        (1, -1)
        """
        index = self.key_to_index.get(key, -1)
        if index >= 0:
            return index
        if isinstance(key, bool):
            raise TypeError(f"{key} is neither a word nor the number of a row; {str(key)!r} would be a word")
        if isinstance(key, (int, np.integer)) and 0 <= key < len(self.index_to_key):
            return key  # type: ignore[return-value]  # a row number stands for itself
        if default is not None:
            return default
        refuse_bytes(key)
        raise UnknownKeyError(key, self.key_to_index)

    def density(self, key_or_keys: Any) -> Gaussian:
        """Return the prior density of a key, or those of a list of keys as a batch.

        Training or writing into the tables afterwards does not change it.

        Examples
        --------
        >>> wv.density("dog")
        Gaussian(mean=[2., 1.], variance=[1.])
        >>> wv.density(["dog", "cat"])
        <2 spherical Gaussians in 2 dimensions>
        """
        log_variances = known_log_variances(self)
        rows = row_or_rows(self, key_or_keys)
        return Gaussian(self.vectors[rows].copy(), np.exp(log_variances[rows]))

    # Training works directly on the tables of ``wv``. Replacing them, or the keys, would leave it training arrays
    # that nobody sees; reading them, or writing into them, does no harm.

    _provenance: dict[str, Any] | None = None  # when and by what this was first saved
    _in_training: int = 0  # the id of the object while it is trained: a copy of it is free

    def _lock(self, locked: bool) -> None:
        """Refuse other keys and tables from now on, or allow them again."""
        self._in_training = id(self) if locked else 0

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _LOCKED and self._in_training == id(self):
            raise RuntimeError(
                "words and tables cannot be added, removed or replaced while the model is trained: do it before "
                "train() or after it, or change a copy (copy.deepcopy(wv))"
            )
        super().__setattr__(name, value)

    def _set_keys(self, keys: Sequence[str], index: dict[str, int] | None = None) -> None:
        """Make these the keys, one for each row that the tables have or will have."""
        self.index_to_key = keys if isinstance(keys, list) else list(keys)
        self.key_to_index = {key: i for i, key in enumerate(self.index_to_key)} if index is None else index
        if len(self.key_to_index) != len(self.index_to_key):
            repeated = next(key for i, key in enumerate(keys) if self.key_to_index[key] != i)
            raise ValueError(f"the key {repeated!r} occurs more than once")
        self.next_index = len(self.index_to_key)

    def _tables(self) -> dict[str, npt.NDArray[Any]]:
        """Return all tables, by the names that they have in a file."""
        tables: dict[str, npt.NDArray[Any] | None] = {
            "means": self.vectors,
            "log_variances": self.log_variances,
            "context_vectors": self.context_vectors,
        }
        if self.encoder is not None:
            tables |= {ENCODER + name: array for name, array in self.encoder.arrays().items()}
        return {name: table for name, table in tables.items() if table is not None}

    def _set_tables(
        self,
        tables: Mapping[str, npt.NDArray[Any]],
        residual: bool | None = None,
        reading: Reading | None = None,
    ) -> None:
        """Replace all tables by those of these names.

        `residual` says how a new encoder's output is meant, `reading` how it reads; by default as the one before.
        """
        self.vectors = tables["means"]
        self.log_variances = tables.get("log_variances")
        self.context_vectors = tables.get("context_vectors")
        weights: dict[str, Any] = {
            name.removeprefix(ENCODER): table for name, table in tables.items() if name.startswith(ENCODER)
        }
        if residual is None:
            residual = self.encoder is not None and self.encoder.residual
        if reading is None:
            reading = Reading(self.window) if self.encoder is None else self.encoder.reading
        self.encoder = Encoder(**weights, residual=residual, reading=reading) if weights else None

    # Tables. Assigning one forgets what was derived from it; whoever writes into one calls
    # fill_norms(force=True). A compact one is expanded when it is first asked for; only the encoder's stays as it is.

    @property
    def vectors(self) -> Floats:
        """The means, one row per key, under gensim's name.

        Examples
        --------
        >>> wv.vectors is wv.means
        True
        """
        if isinstance(self._vectors, CompactRows):
            self._vectors = self._vectors[:]
        return self._vectors

    @vectors.setter
    def vectors(self, vectors: Rows) -> None:
        self._vectors = vectors
        self._forget_derived()

    @property
    def means(self) -> Floats:
        """The prior means, one row per key.

        Examples
        --------
        >>> wv.means[wv.get_index("dog")]
        array([2., 1.], dtype=float32)
        """
        return self.vectors

    @means.setter
    def means(self, means: Floats) -> None:
        self.vectors = means

    @property
    def log_variances(self) -> Floats | None:
        """Logarithms of the prior variances, (V, 1) or (V, D); None when only means are known.

        Examples
        --------
        >>> wv.log_variances.shape
        (4, 1)
        """
        if isinstance(self._log_variances, CompactRows):
            self._log_variances = self._log_variances[:]
        return self._log_variances

    @log_variances.setter
    def log_variances(self, log_variances: Rows | None) -> None:
        self._log_variances = log_variances
        self._forget_derived()

    @property
    def covariance(self) -> str | None:
        """``"spherical"`` or ``"diagonal"``; None when only means are known.

        Examples
        --------
        >>> wv.covariance
        'spherical'
        """
        if self.log_variances is None:
            return None
        return "spherical" if self.log_variances.shape[1] == 1 else "diagonal"

    @property
    def norms(self) -> Floats | None:
        """Length of every mean; None until it is first needed.

        Setting None forgets everything that was derived from the tables.

        Examples
        --------
        >>> wv.fill_norms()
        >>> wv.norms.round(2)
        array([1.41, 2.24, 2.24, 3.  ], dtype=float32)
        """
        return self._derived.norms

    @norms.setter
    def norms(self, norms: Floats | None) -> None:
        self._derived = Derived(norms=norms)

    def _forget_derived(self) -> None:
        """Drop what was computed from the tables."""
        self._derived = Derived()

    def fill_norms(self, force: bool = False) -> None:
        """Compute the norms of the means, unless they are known.

        Parameters
        ----------
        force : bool, optional
            Compute them again and forget everything else derived from the tables. Needed after writing into
            `vectors` or `log_variances` (assigning a new array is noticed).

        Examples
        --------
        >>> wv.fill_norms()
        """
        if force:
            self._forget_derived()
        filled_norms(self)

    def get_normed_vectors(self) -> Floats:
        """Return a copy of all means, each scaled to unit length.

        Returns
        -------
        numpy.ndarray, shape (V, D)

        Examples
        --------
        >>> wv.get_normed_vectors()[wv.get_index("car")]
        array([-1.,  0.], dtype=float32)
        """
        with np.errstate(invalid="ignore"):
            return self.vectors / filled_norms(self)[:, None]

    def unit_normalize_all(self) -> None:
        """Scale every mean to unit length, in place, and its density with it.

        Further training makes no sense after this.

        Examples
        --------
        >>> unit = wv.vectors_for_all(["dog", "car"])
        >>> unit.unit_normalize_all()
        >>> unit["car"], unit.get_variance("car").round(3)
        (array([-1.,  0.], dtype=float32), array([0.111], dtype=float32))
        """
        norms = filled_norms(self)
        scale = np.where(norms > 0, norms, 1)
        self.vectors /= scale[:, None]
        if self.log_variances is not None:
            self.log_variances -= 2.0 * np.log(scale)[:, None]
        self._forget_derived()

    def __getitem__(self, key_or_keys: Any) -> Floats:
        """Return the mean of a key, or the means of a list of keys as rows.

        Examples
        --------
        >>> wv["dog"]
        array([2., 1.], dtype=float32)
        >>> wv[["dog", "cat"]].shape
        (2, 2)
        """
        if isinstance(key_or_keys, KEY_TYPES):
            return self.get_vector(key_or_keys)
        rows = rows_of(self, key_or_keys)
        if not rows:
            raise ValueError("no keys given: name at least one")
        return self.vectors[rows]

    def get_vector(self, key: Any, norm: bool = False) -> Floats:
        """Return the mean of `key`, read-only.

        Parameters
        ----------
        key : str or int
            A word, or the number of a row.
        norm : bool, optional
            Scale it to unit length.

        Examples
        --------
        >>> wv.get_vector("car"), wv.get_vector("car", norm=True)
        (array([-3.,  0.], dtype=float32), array([-1.,  0.], dtype=float32))
        """
        index = self.get_index(key)
        if norm:
            with np.errstate(invalid="ignore", divide="ignore"):
                vector: Floats = self.vectors[index] / filled_norms(self)[index]
        else:
            vector = self.vectors[index].view()
        vector.setflags(write=False)
        return vector

    @property
    def variances(self) -> Floats:
        """The prior variances, (V, 1) spherical or (V, D) diagonal.

        Examples
        --------
        >>> wv.variances[:, 0].round(2)
        array([4., 1., 1., 1.], dtype=float32)
        """
        variances: Floats = np.exp(known_log_variances(self))
        return variances

    @property
    def hypernymy_scale(self) -> HypernymyScale:
        """How much the words of this model differ in nearness and generality.

        Examples
        --------
        >>> wv.hypernymy_scale.generality_spread > 0
        True
        """
        return questions.hypernymy.scale_of(self)

    def __setitem__(self, keys: Any, weights: npt.ArrayLike) -> None:
        """Set the mean of a key, or the means of a list of keys; unknown keys are added.

        Examples
        --------
        >>> animals = wv.vectors_for_all(["dog", "cat"])
        >>> animals["dog"] = [5.0, 0.0]
        >>> animals["dog"]
        array([5., 0.], dtype=float32)
        """
        self.add_vectors(keys, weights, replace=True)

    # What can be asked of the words

    similarity = similarities.similarity
    distance = similarities.distance
    distances = similarities.distances
    n_similarity = similarities.n_similarity
    rank_by_centrality = similarities.rank_by_centrality
    doesnt_match = similarities.doesnt_match
    wmdistance = similarities.wmdistance
    cosine_similarities = staticmethod(similarities.cosine_similarities)
    closer_than = similarities.closer_than
    rank = similarities.rank
    most_similar_to_given = similarities.most_similar_to_given
    get_mean_vector = similarities.get_mean_vector

    most_similar = search.most_similar
    most_similar_batch = search.most_similar_batch
    similar_by_key = search.similar_by_key
    similar_by_word = search.similar_by_word
    similar_by_vector = search.similar_by_vector
    similar_by_density = search.similar_by_density
    most_similar_cosmul = search.most_similar_cosmul
    relative_cosine_similarity = search.relative_cosine_similarity

    get_variance = questions.densities.get_variance
    kl_divergence = questions.densities.kl_divergence
    generality = questions.densities.generality
    entailment = questions.densities.entailment
    direction = questions.densities.direction

    hypernymy = questions.hypernymy.hypernymy
    hypernyms = questions.hypernymy.hypernyms
    hyponyms = questions.hypernymy.hyponyms
    taxonomy = questions.hypernymy.taxonomy

    infer = questions.inference.infer
    infer_posteriors = questions.inference.infer_posteriors
    infer_sentences = questions.inference.infer_sentences
    read_around = questions.inference.read_around
    similarity_in_context = questions.in_context.similarity_in_context
    similarities_in_context = questions.in_context.similarities_in_context
    substitutes = questions.substitution.substitutes
    predict_output_word = questions.prediction.predict_output_word
    senses = questions.senses.senses
    compare = questions.contrast.compare
    text_density = questions.texts.text_density
    text_similarity = questions.texts.text_similarity

    learn = questions.learning.learn
    infer_new = questions.learning.infer_new
    with_subwords = questions.subwords.with_subwords
    density_from_spelling = questions.subwords.density_from_spelling
    density_with_spelling = questions.subwords.density_with_spelling

    evaluate_word_pairs = evaluation.evaluate_word_pairs
    evaluate_word_analogies = evaluation.evaluate_word_analogies
    log_evaluate_word_pairs = staticmethod(evaluation.log_evaluate_word_pairs)

    # Which words there are, and their attributes

    allocate_vecattrs = growth.allocate_vecattrs
    set_vecattr = growth.set_vecattr
    get_vecattr = growth.get_vecattr
    resize_vectors = growth.resize_vectors
    add_vector = growth.add_vector
    add_vectors = growth.add_vectors
    sort_by_descending_frequency = growth.sort_by_descending_frequency
    vectors_for_all = growth.vectors_for_all
    restrict = growth.restrict

    # Files and other packages

    save = saving.save
    load = classmethod(saving.load)
    load_word2vec_format = classmethod(exchange.load_word2vec_format)
    save_word2vec_format = exchange.save_word2vec_format
    intersect_word2vec_format = exchange.intersect_word2vec_format
    load_bsg_format = classmethod(exchange.load_bsg_format)
    save_bsg_format = exchange.save_bsg_format
    to_gensim = exchange.to_gensim
    from_gensim = classmethod(exchange.from_gensim)
    save_projector = exchange.save_projector
    to_dataframe = exchange.to_dataframe
    _tensors = saving.tensors_of
    _header = saving.header_of
    _restore = classmethod(saving.restored)

    to_spacy = exchange.to_spacy
    save_pretrained = hub.save_pretrained
    from_pretrained = classmethod(hub.from_pretrained)
    to_arrow = arrow.to_arrow
    from_arrow = classmethod(arrow.from_arrow)
    save_parquet = arrow.save_parquet
    load_parquet = classmethod(arrow.load_parquet)
    export_onnx = onnx.export_onnx

    # What code written for older versions of gensim calls

    init_sims = retired.init_sims
    word_vec = retired.word_vec
    words_closer_than = retired.words_closer_than
    similarity_unseen_docs = retired.similarity_unseen_docs

    def __getattr__(self, name: str) -> NoReturn:
        raise retired.missing(self, name)

    def __repr__(self) -> str:
        parts = [f"vector_size={self.vector_size}", f"{len(self)} keys", self.covariance or "means only"]
        if self.encoder is not None:
            parts.append("encoder")
        return f"{type(self).__name__}<{', '.join(parts)}>"

    def _repr_html_(self) -> str:
        from densvec.keyed.html import facts

        title = next((line.lstrip("# ") for line in (self.card or "").splitlines() if line.strip()), None)
        return facts(
            type(self).__name__,
            [
                ("model", title),
                (
                    "words",
                    f"{len(self):,}: {', '.join(map(str, self.index_to_key[:5]))}, …"
                    if len(self)
                    else "none",
                ),
                ("dimensions", self.vector_size),
                ("variances", self.covariance or "none (means only)"),
                ("encoder", f"yes, windows of {self.window} words" if self.encoder is not None else "no"),
                ("attributes", ", ".join(self.expandos)),
            ],
        )
