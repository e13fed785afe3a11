"""KeyedDensities: words and their densities, gensim's KeyedVectors and more.

Three modules are the foundation of the others: `keys` (words and their rows), `tables` (the arrays) and `lookup`
(what an item of a question stands for). On them stands one module for each kind of question, none built on another:
`growth` (attributes, new keys), `densities` (what only densities can answer), `hypernymy` (what is a kind of what;
`taxonomy`), `similarity` (of named keys), `search` (most similar keys), `inference` (words in context),
`in_context` (comparing words in context), `substitution` (words that could replace one), `prediction` (the words
that a context suggests), `senses`, `contrast` (a word in two corpora), `learning` (new words from sentences),
`subwords` (new words from their spelling), `texts`, `evaluation` (gensim's two measures), `saving` (and exchange),
`ecosystem` (other packages), `retired` (names that gensim 4 removed).
"""

from densvec.keyed.ecosystem import Ecosystem
from densvec.keyed.evaluation import Evaluation
from densvec.keyed.growth import Growth
from densvec.keyed.retired import Retired
from densvec.keyed.saving import Files
from densvec.keyed.search import Search
from densvec.keyed.similarity import Similarity
from densvec.questions.contrast import Contrast
from densvec.questions.densities import Densities
from densvec.questions.hypernymy import Hypernymy
from densvec.questions.in_context import InContext
from densvec.questions.inference import Inference
from densvec.questions.learning import Learning
from densvec.questions.prediction import Prediction
from densvec.questions.senses import SensesOfWords
from densvec.questions.substitution import Substitution
from densvec.questions.subwords import Subwords
from densvec.questions.texts import Texts

__all__ = ["KeyedDensities"]


class KeyedDensities(
    Growth,
    Densities,
    Hypernymy,
    Similarity,
    Search,
    Inference,
    InContext,
    Substitution,
    Prediction,
    SensesOfWords,
    Contrast,
    Learning,
    Subwords,
    Texts,
    Evaluation,
    Files,
    Ecosystem,
    Retired,
):
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
