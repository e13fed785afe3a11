"""Counted words divided among owners and merged by them, without making Python strings."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

from densvec.text._text cimport Word, hash_word
from densvec.text._words cimport (
    WordCounter,
    WordEntry,
    WordTable,
    new_table,
    values_of,
    values_of_words,
    wordtable_add,
    wordtable_free,
)

import numpy as np


cdef inline uint64_t stable_hash(const uint8_t *text, size_t length) noexcept nogil:
    """FNV-1a: the same in every process, unlike the hashes of the word tables."""
    cdef uint64_t h = 0xCBF29CE484222325
    cdef size_t i
    for i in range(length):
        h = (h ^ text[i]) * <uint64_t>0x100000001B3
    return h ^ (h >> 32)


cdef class OwnedWords:
    """The words that one process owns, with the counts of all processes and where each appears first.

    Examples
    --------
    >>> owned = OwnedWords()
    >>> owned.add(b"kiwibird", np.array([4, 4]), np.array([3, 1]), np.array([7, 8]))
    >>> owned.add(b"kiwi", np.array([4]), np.array([2]), np.array([1]))
    >>> text, lengths, counts, firsts = owned.at_least(2)
    >>> text, counts.tolist(), firsts.tolist()
    (b'kiwi', [5], [1])
    """

    cdef WordTable table
    cdef object firsts

    def __cinit__(self):
        new_table(&self.table)
        self.firsts = np.empty(1024, np.int64)

    def __dealloc__(self):
        wordtable_free(&self.table)

    def __len__(self):
        return self.table.size

    def add(self, bytes text not None, lengths, counts, firsts):
        """Add words, concatenated in UTF-8, with their lengths, counts and first positions."""
        cdef const int64_t[::1] length = np.ascontiguousarray(lengths, np.int64)
        cdef const int64_t[::1] count = np.ascontiguousarray(counts, np.int64)
        cdef const int64_t[::1] first = np.ascontiguousarray(firsts, np.int64)
        cdef Py_ssize_t n = length.shape[0], k
        fits = n == count.shape[0] and n == first.shape[0] and np.sum(lengths) == len(text)
        if not fits or np.any(np.less(lengths, 0)):
            raise ValueError(f"{n} lengths do not describe {count.shape[0]} words in {len(text)} bytes")
        if self.table.size + n > <size_t>len(self.firsts):
            grown = np.empty(2 * (self.table.size + n), np.int64)
            grown[: self.table.size] = self.firsts[: self.table.size]
            self.firsts = grown
        cdef int64_t[::1] place = self.firsts                                                    # INOUT
        cdef const uint8_t *p = text
        cdef size_t before, i
        cdef Word word
        cdef WordEntry *entry
        cdef bint memory_short = False
        with nogil:
            for k in range(n):
                word.start = p
                word.length = length[k]
                hash_word(&word, &self.table.key)
                before = self.table.size
                entry = wordtable_add(&self.table, &word)
                if entry == NULL:
                    memory_short = True
                    break
                i = entry - self.table.entries
                if self.table.size > before or first[k] < place[i]:
                    place[i] = first[k]
                entry.value += count[k]
                p += length[k]
        if memory_short:
            raise MemoryError(f"no memory for more than {self.table.size} words: set max_vocab_size")

    def at_least(self, int64_t min_count):
        """Return the words that occur at least this often, in the form that `add` takes."""
        values = self.frequencies()
        chosen = np.flatnonzero(values >= min_count)
        cdef const int64_t[::1] index = np.ascontiguousarray(chosen, np.int64)
        length_array = np.empty(len(chosen), np.int64)
        cdef int64_t[::1] lengths = length_array                                                # OUT
        cdef Py_ssize_t k
        for k in range(index.shape[0]):
            lengths[k] = <int64_t>self.table.entries[index[k]].length
        cdef bytes text = PyBytes_FromStringAndSize(NULL, int(length_array.sum()))
        cdef char *out = PyBytes_AS_STRING(text)
        cdef const WordEntry *entry
        with nogil:
            for k in range(index.shape[0]):
                entry = self.table.entries + index[k]
                memcpy(out, self.table.arena + entry.offset, entry.length)
                out += entry.length
        return text, length_array, values[chosen], self.firsts[chosen]

    def frequencies(self):
        """Return the counts alone."""
        return values_of(&self.table)

    def counts_of(self, words):
        """Return how often each of some words occurs, 0 for those that are not owned here."""
        return values_of_words(&self.table, words)


def shares(counter, int owners):
    """Return the words of a counter, or of `OwnedWords`, by owner, which follows from the word alone.

    For each owner: the words in UTF-8 one behind the other, their lengths, their counts, and their places in
    the order of first appearance.
    """
    cdef const WordTable *table
    if isinstance(counter, OwnedWords):
        table = &(<OwnedWords>counter).table
    else:
        table = &(<WordCounter?>counter).table
    cdef size_t n = table.size, i
    owner_array = np.empty(n, np.int64)
    word_counts, byte_counts = np.zeros(owners, np.int64), np.zeros(owners, np.int64)
    cdef int64_t[::1] owner = owner_array, words_of = word_counts, bytes_of = byte_counts       # OUT
    cdef const WordEntry *entry
    cdef int64_t o
    with nogil:
        for i in range(n):
            entry = table.entries + i
            o = <int64_t>(stable_hash(table.arena + entry.offset, entry.length) % <uint64_t>owners)
            owner[i] = o
            words_of[o] += 1
            bytes_of[o] += <int64_t>entry.length
    result = []
    cdef int64_t[::1] lengths, counts, places
    cdef bytes text
    cdef char *out
    cdef int64_t k
    for o in range(owners):
        length_array, count_array, place_array = (np.empty(words_of[o], np.int64) for _ in range(3))
        lengths, counts, places = length_array, count_array, place_array
        text = PyBytes_FromStringAndSize(NULL, bytes_of[o])
        out = PyBytes_AS_STRING(text)
        k = 0
        with nogil:
            for i in range(n):
                if owner[i] != o:
                    continue
                entry = table.entries + i
                memcpy(out, table.arena + entry.offset, entry.length)
                out += entry.length
                lengths[k], counts[k], places[k] = <int64_t>entry.length, entry.value, <int64_t>i
                k += 1
        result.append((text, length_array, count_array, place_array))
    return result
