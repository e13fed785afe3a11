"""KeyedDensities: words and their densities, gensim's KeyedVectors and more.

The words and their tables are those of :class:`densvec.tables.Tables`. What can be asked of them are functions of
:mod:`densvec.questions`, bound as methods; `search` and `similarities` are gensim's questions, `growth` changes which
words there are, `saving` is the model file; :mod:`densvec.integrations` exchanges words with other programs.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from densvec import questions
from densvec.checks import KEY_TYPES
from densvec.distances.vectors import unit
from densvec.gaussian import Gaussian
from densvec.integrations import arrow, exchange, hub, onnx, sentence_transformers
from densvec.keyed import evaluation, growth, retired, saving, search, similarities
from densvec.questions.hypernymy import HypernymyScale
from densvec.questions.lookup import known_log_variances, row_or_rows, rows_of, vector_from_ngrams
from densvec.tables import Tables, filled_norms, forget_derived
from densvec.types import Floats

__all__ = ["KeyedDensities"]


class KeyedDensities(Tables):
    """Words and their densities: gensim's ``KeyedVectors`` over the means, with questions that need densities.

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
    beside : Beside or None
        Which frequent words stand directly before and after each word; see `densvec.questions.beside`.
    kinds : Kinds or None
        Which words the text says are kinds of which; see `densvec.questions.kinds`.
    ngrams : NGrams or None
        Vectors of character n-grams, if they are from fastText: words that are not known then have a vector, too.
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
    The examples of all methods ask these four words, which there also have an encoder.

    >>> import numpy as np
    >>> from densvec import KeyedDensities
    >>> wv = KeyedDensities(2, covariance="spherical")
    >>> wv.add_vectors(
    ...     ["animal", "dog", "cat", "car"],
    ...     [[1, 1], [2, 1], [1, 2], [-3, 0]],
    ...     extras={"count": np.array([400, 300, 200, 100])},
    ...     log_variances=np.log([[4], [1], [1], [1]]),
    ... )
    >>> wv
    KeyedDensities<vector_size=2, 4 keys, spherical>
    >>> wv["dog"]
    array([2., 1.], dtype=float32)
    >>> wv.density("dog")
    Gaussian(mean=[2., 1.], variance=[1.])
    >>> wv.most_similar("dog", metric="kl", topn=1)
    [('animal', -0.7612...)]
    >>> wv.direction("dog", "animal") > 0  # a dog is an animal
    True
    """

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
            forget_derived(self)
        filled_norms(self)

    def get_normed_vectors(self) -> Floats:
        """Return a copy of all means, (V, D), each scaled to unit length.

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
        forget_derived(self)

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
        if self.ngrams is not None:
            return np.stack([self.get_vector(key) for key in key_or_keys])
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
        spelt = vector_from_ngrams(self, key)
        if spelt is not None:
            return unit(spelt) if norm else spelt
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
    context_mean = questions.in_context.context_mean
    context_means = questions.in_context.context_means
    similarity_in_context = questions.in_context.similarity_in_context
    similarities_in_context = questions.in_context.similarities_in_context
    substitutes = questions.substitution.substitutes
    substitutes_batch = questions.substitution.substitutes_batch
    predict_output_word = questions.prediction.predict_output_word
    count_beside = questions.beside.count_beside
    senses = questions.senses.senses
    compare = questions.contrast.compare
    encode = questions.texts.encode
    text_density = questions.texts.text_density
    text_similarity = questions.texts.text_similarity
    text_similarities = questions.texts.text_similarities

    learn = questions.learning.learn
    unlearn = growth.unlearn
    density_from_spelling = questions.subwords.density_from_spelling

    evaluate_word_pairs = evaluation.evaluate_word_pairs
    evaluate_word_analogies = evaluation.evaluate_word_analogies
    log_evaluate_word_pairs = staticmethod(evaluation.log_evaluate_word_pairs)

    # Adding and removing words, and their attributes

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
    to_gensim = exchange.to_gensim
    from_gensim = classmethod(exchange.from_gensim)
    to_dataframe = exchange.to_dataframe
    _restore = classmethod(saving.restored)

    save_pretrained = hub.save_pretrained
    from_pretrained = classmethod(hub.from_pretrained)
    push_to_hub = hub.push_to_hub
    save_sentence_transformer = sentence_transformers.save_sentence_transformer
    to_arrow = arrow.to_arrow
    from_arrow = classmethod(arrow.from_arrow)
    export_onnx = onnx.export_onnx

    # What code written for older versions of gensim calls

    init_sims = retired.init_sims
    word_vec = retired.word_vec
    words_closer_than = retired.words_closer_than

    def __getattr__(self, name: str) -> NoReturn:
        raise retired.missing(self, name)

    def __repr__(self) -> str:
        parts = [f"vector_size={self.vector_size}", f"{len(self)} keys", self.covariance or "means only"]
        if self.encoder is not None:
            parts.append("encoder")
        return f"{type(self).__name__}<{', '.join(parts)}>"

    def _repr_html_(self) -> str:
        from densvec.files.html import facts

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
