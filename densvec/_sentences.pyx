"""Counting and encoding corpora that are Python iterables of token lists."""

from cpython.dict cimport PyDict_GetItemWithError
from cpython.long cimport PyLong_AsLongLong
from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, realloc

import logging

import numpy as np

from densvec._corpus import Block
from densvec.trimming import keeps

logger = logging.getLogger(__name__)


cdef object as_tokens(object sentence):
    """The sentence itself if it is a list or tuple, else a list of its tokens."""
    return sentence if type(sentence) is list or type(sentence) is tuple else list(sentence)


def warn_of_string(sentence):
    """Warn of a sentence that is one string: its characters would be taken for words."""
    if isinstance(sentence, str):
        logger.warning(
            "Each sentence of the corpus should be a list of words, but the first one is a plain %s: its characters "
            "are taken for words. Split it first: sentence.split()", type(sentence),
        )


cdef class IntVector:
    """A growing array of 32-bit integers."""

    cdef int32_t *data
    cdef Py_ssize_t size, capacity

    def __dealloc__(self):
        free(self.data)

    cdef inline int push(self, int32_t value) except -1:
        if self.size == self.capacity:
            self.grow()
        self.data[self.size] = value
        self.size += 1
        return 0

    cdef int grow(self) except -1:
        cdef Py_ssize_t capacity = 2 * self.capacity + 1024
        cdef int32_t *data = <int32_t *>realloc(self.data, capacity * sizeof(int32_t))
        if data == NULL:
            raise MemoryError
        self.data, self.capacity = data, capacity
        return 0

    cdef object array(self):
        """A copy as a NumPy array."""
        return np.array(<int32_t[:self.size]>self.data) if self.size else np.empty(0, np.int32)


cdef class SentenceReader:
    """Encodes an iterable of token lists in blocks of whole sentences. Not thread-safe.

    A token list longer than `max_sentence_length` becomes several sentences, yet counts as one example.

    Parameters
    ----------
    sentences : iterable of sequences of tokens
        The corpus; iterated once.
    index : dict
        Ids of the known words.
    max_sentence_length : int
        Tokens of the longest sentence.
    """

    cdef object iterator
    cdef dict index
    cdef object pending         # token list of which only the first `offset` tokens are encoded
    cdef Py_ssize_t offset, max_sentence_length
    cdef int64_t number
    cdef readonly int64_t words

    def __init__(self, sentences, dict index not None, *, max_sentence_length=10000):
        if max_sentence_length < 1:
            raise ValueError(f"max_sentence_length must be at least 1, not {max_sentence_length}")
        self.iterator = iter(sentences)
        self.index = index
        self.max_sentence_length = min(max_sentence_length, 2147483647)

    def next_block(self, int64_t chunk_words):
        """Return the next Block, of at least `chunk_words` words unless the corpus ends, or None at the end."""
        cdef IntVector ids = IntVector(), bounds = IntVector()
        cdef int64_t words = 0, examples = 0
        cdef Py_ssize_t i, stop
        cdef long long number
        cdef PyObject *found
        bounds.push(0)
        while words < chunk_words:
            if self.pending is None:
                sentence = next(self.iterator, self)
                if sentence is self:
                    break
                if self.number == 0 and examples == 0:
                    warn_of_string(sentence)
                self.pending, self.offset = as_tokens(sentence), 0
                examples += 1
            tokens = self.pending
            stop = min(<Py_ssize_t>len(tokens), self.offset + self.max_sentence_length)
            for i in range(self.offset, stop):
                found = PyDict_GetItemWithError(self.index, tokens[i])
                if found != NULL:
                    number = PyLong_AsLongLong(<object>found)
                    if not 0 <= number <= 2147483647:
                        raise ValueError(f"the id of {tokens[i]!r} must lie in 0..2**31-1, not {number}")
                    ids.push(<int32_t>number)
            if stop > self.offset:
                words += stop - self.offset
                bounds.push(<int32_t>ids.size)
            self.offset = stop
            if stop == len(tokens):
                self.pending = None
        if not examples and not words:
            return None
        block = Block.trusted(ids.array(), bounds.array(), self.number, words, self.words, examples)
        self.number += 1
        self.words += words
        return block


cdef class SentenceCounter:
    """Counts the words of token lists, in order of first appearance; see WordCounter for `max_vocab_size`."""

    cdef dict index             # number of each word in `tally`
    cdef int64_t *tally
    cdef Py_ssize_t capacity
    cdef readonly int64_t words, examples, min_reduce

    def __cinit__(self):
        self.index = {}
        self.min_reduce = 1

    def __dealloc__(self):
        free(self.tally)

    def __len__(self):
        return len(self.index)

    def count(self, sentences, *, max_vocab_size=None, trim_rule=None, progress=None, int64_t progress_per=10000):
        """Count all sentences; `progress` is called with the counter before every `progress_per` of them."""
        cdef Py_ssize_t most = max_vocab_size or 0
        for sentence in sentences:
            if self.examples == 0:
                warn_of_string(sentence)
            if progress is not None and self.examples % progress_per == 0:
                progress(self)
            self.add(as_tokens(sentence))
            self.examples += 1
            if most and len(self.index) > most:
                self.prune(trim_rule)

    cdef int add(self, tokens) except -1:
        cdef Py_ssize_t i, number, n = len(tokens)
        cdef PyObject *found
        for i in range(n):
            token = tokens[i]
            # One lookup instead of the two of `counts[token] += 1`, and no new integer object.
            found = PyDict_GetItemWithError(self.index, token)
            if found != NULL:
                self.tally[PyLong_AsLongLong(<object>found)] += 1
            else:
                number = len(self.index)
                if number == self.capacity:
                    self.grow()
                self.tally[number] = 1
                self.index[token] = number
        self.words += n
        return 0

    cdef int grow(self) except -1:
        cdef Py_ssize_t capacity = 2 * self.capacity + 1024
        cdef int64_t *tally = <int64_t *>realloc(self.tally, capacity * sizeof(int64_t))
        if tally == NULL:
            raise MemoryError
        self.tally, self.capacity = tally, capacity
        return 0

    def prune(self, trim_rule=None):
        """Drop the words counted fewer than `min_reduce` times, or as `trim_rule` decides, and raise `min_reduce`."""
        kept = {}
        for word, count in self.counts().items():
            if keeps(word, count, self.min_reduce, trim_rule):
                self.tally[len(kept)] = count
                kept[word] = len(kept)
        self.index = kept
        self.min_reduce += 1

    def counts(self, int64_t min_count=0):
        """Return {word: count} in order of first appearance, without words that occur fewer than `min_count` times."""
        cdef Py_ssize_t number = 0
        cdef dict result = {}
        for word in self.index:
            if self.tally[number] >= min_count:
                result[word] = self.tally[number]
            number += 1
        return result

    def frequencies(self):
        """Return the counts alone, in the same order."""
        return np.array(<int64_t[:len(self.index)]>self.tally) if self.index else np.empty(0, np.int64)
