"""Counting and encoding corpora that are Python iterables of token lists."""

from cpython.dict cimport PyDict_GetItemWithError
from cpython.long cimport PyLong_AsLongLong
from cpython.object cimport PyObject
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free, realloc

from densvec.text._text cimport MOST_WORDS, HashKey, Word, check_block_words, hash_word
from densvec.text._words cimport (
    PREFETCH,
    WORD_BATCH,
    WordEntry,
    WordIndex,
    WordTable,
    new_table,
    wordtable_count,
    wordtable_find,
    wordtable_free,
    wordtable_prune,
    wordtable_values,
)

import logging

import numpy as np

from densvec._corpus import Block
from densvec.text.thinning import keeps

cdef extern from "Python.h":
    bint PyUnicode_Check(PyObject *o)
    bint PyUnicode_IS_ASCII(PyObject *o)
    void *PyUnicode_DATA(PyObject *o)
    Py_ssize_t PyUnicode_GET_LENGTH(PyObject *o)
    PyObject **PySequence_Fast_ITEMS(PyObject *o)

logger = logging.getLogger(__name__)

cdef Py_ssize_t AHEAD = 16      # tokens fetched from memory ahead of their use: each is a separate object


cdef object as_tokens(object sentence):
    """The sentence itself if it is a list or tuple, else a list of its tokens."""
    return sentence if type(sentence) is list or type(sentence) is tuple else list(sentence)


def warn_of_string(sentence):
    """Warn about a sentence that is one string: its characters would be taken for words."""
    if isinstance(sentence, str):
        logger.warning(
            "Each sentence of the corpus should be a list of words, but the first one is a plain %s: its "
            "characters "
            "are taken for words. Split it first: sentence.split()", type(sentence),
        )


cdef inline bint is_ascii(PyObject *token) noexcept:
    return PyUnicode_Check(token) and PyUnicode_IS_ASCII(token)


cdef inline void ascii_word(PyObject *token, const HashKey *key, Word *word) noexcept:
    """The word that an ASCII string is; its bytes are those of the string."""
    word.start = <const uint8_t *>PyUnicode_DATA(token)
    word.length = PyUnicode_GET_LENGTH(token)
    hash_word(word, key)


cdef bytes encoded(token, const HashKey *key, Word *word):
    """The UTF-8 bytes of a string and the word they are; the word lives as long as the bytes."""
    cdef bytes text = str.encode(token, "utf-8", "surrogatepass")
    word.start = text
    word.length = len(text)
    hash_word(word, key)
    return text


cdef tuple unchanging(tokens, Py_ssize_t length):
    """The tokens as a tuple, taken before any of them can run code of its own that changes the list."""
    result = tuple(tokens)
    if len(result) < length:
        raise RuntimeError("a sentence of the corpus became shorter while it was read")
    return result


cdef class IntVector:
    """A growing array of 32-bit integers."""

    cdef int32_t *data
    cdef Py_ssize_t size, capacity

    def __dealloc__(self):
        free(self.data)

    cdef int reserve(self, Py_ssize_t more) except -1:
        """Make room for `more` numbers after the last."""
        cdef Py_ssize_t capacity = self.size + more
        if capacity > self.capacity:
            capacity = max(capacity, 2 * self.capacity + 1024)
            data = <int32_t *>realloc(self.data, capacity * sizeof(int32_t))
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
    index : WordIndex
        Ids of the known words, which may be other things than strings.
    max_sentence_length : int
        Tokens of the longest sentence.
    """

    cdef object iterator
    cdef WordIndex index
    cdef object pending         # token list of which only the first `offset` of `length` tokens are encoded
    cdef Py_ssize_t offset, length, max_sentence_length
    cdef int64_t number
    cdef readonly int64_t words

    def __init__(self, sentences, WordIndex index not None, *, max_sentence_length=10000):
        if max_sentence_length < 1:
            raise ValueError(f"max_sentence_length must be at least 1, not {max_sentence_length}")
        self.iterator = iter(sentences)
        self.index = index
        self.max_sentence_length = min(max_sentence_length, MOST_WORDS)

    def next_block(self, int64_t chunk_words):
        """Return the next Block, of at least `chunk_words` words unless the corpus ends; None at the end."""
        cdef IntVector ids = IntVector(), bounds = IntVector()
        cdef int64_t words = 0, examples = 0
        cdef Py_ssize_t stop
        check_block_words(chunk_words)
        bounds.reserve(1)
        bounds.data[0] = 0
        bounds.size = 1
        while words < chunk_words:
            if self.pending is None:
                sentence = next(self.iterator, self)
                if sentence is self:
                    break
                if self.number == 0 and examples == 0:
                    warn_of_string(sentence)
                self.pending, self.offset = as_tokens(sentence), 0
                self.length = len(self.pending)
                if self.length > self.max_sentence_length:
                    self.pending = tuple(self.pending)  # read in pieces, between which it must not change
                examples += 1
            stop = min(self.length, self.offset + self.max_sentence_length)
            if stop > self.offset:
                self.encode(self.pending, self.offset, stop, ids)
                words += stop - self.offset
                bounds.reserve(1)
                bounds.data[bounds.size] = <int32_t>ids.size
                bounds.size += 1
            self.offset = stop
            if stop == self.length:
                self.pending = None
        if not examples and not words:
            return None
        block = Block.trusted(ids.array(), bounds.array(), self.number, words, self.words, examples)
        self.number += 1
        self.words += words
        return block

    cdef int encode(self, tokens, Py_ssize_t start, Py_ssize_t stop, IntVector ids) except -1:
        """Append the ids of the known words of tokens[start:stop]."""
        cdef PyObject **items = PySequence_Fast_ITEMS(<PyObject *>tokens)
        cdef Word[WORD_BATCH] batch
        cdef int32_t[WORD_BATCH] values
        cdef Py_ssize_t i, k
        cdef int waiting = 0
        ids.reserve(stop - start)
        for i in range(start, stop):
            if i + AHEAD < stop:
                PREFETCH(items[i + AHEAD])
            if is_ascii(items[i]):
                ascii_word(items[i], &self.index.table.key, &batch[waiting])
                waiting += 1
            if waiting == WORD_BATCH or i == stop - 1 or not is_ascii(items[i]):
                wordtable_values(&self.index.table, batch, waiting, values)
                for k in range(waiting):
                    ids.data[ids.size] = values[k]
                    ids.size += values[k] >= 0
                waiting = 0
            if not is_ascii(items[i]):
                if type(tokens) is list:
                    tokens = unchanging(tokens, stop)
                    items = PySequence_Fast_ITEMS(<PyObject *>tokens)
                found = PyDict_GetItemWithError(self.index.mapping, <object>items[i])
                if found != NULL:
                    ids.data[ids.size] = <int32_t>PyLong_AsLongLong(<object>found)
                    ids.size += 1
        return 0


cdef class SentenceCounter:
    """Counts the words of token lists, in order of first appearance; see WordCounter for `max_vocab_size`.

    Tokens may be anything that can be a key of a dict; strings are counted without asking a dict.
    """

    cdef WordTable table
    cdef dict others            # tokens that are not strings: [count, number of strings in the table before]
    cdef readonly int64_t words, examples, min_reduce

    def __cinit__(self):
        new_table(&self.table)
        self.others = {}
        self.min_reduce = 1

    def __dealloc__(self):
        wordtable_free(&self.table)

    def __len__(self):
        return self.table.size + len(self.others)

    def count(self, sentences, *, max_vocab_size=None, trim_rule=None, progress=None,
              int64_t progress_per=10000):
        """Count all sentences; `progress` is called with the counter before every `progress_per` of them."""
        cdef Py_ssize_t most = max_vocab_size or 0
        for sentence in sentences:
            if self.examples == 0:
                warn_of_string(sentence)
            if progress is not None and self.examples % progress_per == 0:
                progress(self)
            self.add(as_tokens(sentence))
            self.examples += 1
            if most and len(self) > most:
                self.prune(trim_rule)

    cdef int add(self, tokens) except -1:
        """Count the tokens of one sentence."""
        cdef PyObject **items = PySequence_Fast_ITEMS(<PyObject *>tokens)
        cdef Word[WORD_BATCH] batch
        cdef Py_ssize_t i, n = len(tokens)
        cdef int waiting = 0
        for i in range(n):
            if i + AHEAD < n:
                PREFETCH(items[i + AHEAD])
            if is_ascii(items[i]):
                ascii_word(items[i], &self.table.key, &batch[waiting])
                waiting += 1
            if waiting == WORD_BATCH or i == n - 1 or not is_ascii(items[i]):
                self.add_words(batch, waiting)
                waiting = 0
            if not is_ascii(items[i]):
                if type(tokens) is list:
                    tokens = unchanging(tokens, n)
                    items = PySequence_Fast_ITEMS(<PyObject *>tokens)
                self.add_other(<object>items[i])
        self.words += n
        return 0

    cdef int add_words(self, const Word *words, int n) except -1:
        if wordtable_count(&self.table, words, n):
            raise MemoryError(f"no memory for more than {self.table.size} words: set max_vocab_size")
        return 0

    cdef int add_other(self, token) except -1:
        """Count a token that is not an ASCII string."""
        cdef Word word
        if isinstance(token, str):
            _text = encoded(token, &self.table.key, &word)  # what the word points into
            self.add_words(&word, 1)
        elif token in self.others:
            self.others[token][0] += 1
        else:
            self.others[token] = [1, self.table.size]
        return 0

    def prune(self, trim_rule=None):
        """Drop words counted fewer than `min_reduce` times, or as `trim_rule` says; raise `min_reduce`."""
        counts = self.counts().items()
        kept = {word for word, count in counts if keeps(word, count, self.min_reduce, trim_rule)}
        stays = np.array([self.word(i) in kept for i in range(self.table.size)], np.uint8)
        before = np.concatenate([[0], np.cumsum(stays)])
        self.others = {
            token: [count, int(before[number])]
            for token, (count, number) in self.others.items()
            if token in kept
        }
        cdef const uint8_t[::1] keep = stays
        if len(stays) != <Py_ssize_t>self.table.size:
            raise RuntimeError("trim_rule counted words while it was asked which to keep")
        if len(stays):
            wordtable_prune(&self.table, &keep[0])
        self.min_reduce += 1

    cdef object word(self, size_t number):
        entry = self.table.entries + number
        cdef const char *start = <const char *>self.table.arena + entry.offset
        return PyUnicode_DecodeUTF8(start, entry.length, "surrogatepass")

    def counts(self, int64_t min_count=0):
        """Return {word: count} in order of first appearance, if they occur at least `min_count` times."""
        cdef dict result = {}
        cdef size_t i = 0
        for token, (count, number) in [*self.others.items(), (None, (0, self.table.size))]:
            while i < number:
                if self.table.entries[i].value >= min_count:
                    result[self.word(i)] = self.table.entries[i].value
                i += 1
            if count and count >= min_count:
                result[token] = count
        return result

    def frequencies(self):
        """Return the counts alone, in the same order."""
        result = np.empty(len(self), np.int64)
        cdef int64_t[::1] values = result       # OUT
        cdef size_t i = 0, n = 0
        for count, number in [*self.others.values(), (0, self.table.size)]:
            while i < number:
                values[n] = self.table.entries[i].value
                i += 1
                n += 1
            if count:
                values[n] = count
                n += 1
        return result

    def counts_of(self, words):
        """Return how often each of some words occurs, 0 for those that do not."""
        cdef Word word
        cdef WordEntry *entry
        result = []
        for token in words:
            if isinstance(token, str):
                _text = encoded(token, &self.table.key, &word)  # what the word points into
                entry = wordtable_find(&self.table, &word)
                result.append(0 if entry == NULL else entry.value)
            else:
                result.append(self.others.get(token, (0,))[0])
        return np.array(result, np.int64)
