"""Tables of words: counting and encoding text without a Python string per token."""

from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy

from densvec.text._text cimport (
    TEXT_ENDS,
    TEXT_LINE_ENDS,
    TEXT_WORD,
    HashKey,
    TextBlock,
    TextReader,
    Token,
    Word,
    hash_word,
    next_token,
)

import os

import numpy as np

from densvec._corpus import Block
from densvec.text.thinning import keeps


cdef int new_table(WordTable *table) except -1:
    """Make an empty table, with a key of its own."""
    cdef bytes key = os.urandom(sizeof(HashKey))
    memcpy(&table.key, <const char *>key, sizeof(HashKey))
    table.key.high |= 1     # the factor of short words: never 0
    if wordtable_init(table):
        raise MemoryError
    return 0


cdef class WordIndex:
    """Word ids for text in UTF-8: looks a word up without making a Python string of it.

    Parameters
    ----------
    words : mapping from word to id, or iterable of words
        An iterable numbers its words from 0. Keys that are no strings cannot occur in text and are left out.

    Examples
    --------
    >>> len(WordIndex(["a", "b"]))
    2
    >>> WordIndex({"a": 4}).mapping
    {'a': 4}
    """

    def __cinit__(self):
        new_table(&self.table)

    def __dealloc__(self):
        wordtable_free(&self.table)

    def __init__(self, words):
        if isinstance(words, WordIndex):
            words = words.mapping
        self.mapping = dict(words) if hasattr(words, "keys") else {word: i for i, word in enumerate(words)}
        cdef bytes text
        cdef WordEntry *entry
        cdef Word key
        cdef int64_t value
        for word, number in self.mapping.items():
            if not 0 <= number <= 2147483647:
                raise ValueError(f"the id of {word!r} must lie in 0..2**31-1, not {number}")
            if isinstance(word, str):
                value = number
                text = str.encode(word, "utf-8", "surrogatepass")
                key.start = text
                key.length = len(text)
                hash_word(&key, &self.table.key)
                entry = wordtable_add(&self.table, &key)
                if entry == NULL:
                    raise MemoryError
                entry.value = value

    def __len__(self):
        return len(self.mapping)

    def encode(self, TextBlock text not None):
        """Return the Block of a TextBlock: the ids of its known words. No GIL while it works."""
        id_array, bound_array = np.empty(text.words, np.int32), np.empty(text.examples + 1, np.int32)
        cdef int32_t[::1] ids = id_array, bounds = bound_array      # OUT
        cdef const uint8_t *p = text.data
        cdef const uint8_t *end = p + text.size
        cdef Word[WORD_BATCH] batch
        cdef Token token
        cdef Py_ssize_t n = 0, s = 0, i, known = 0
        cdef int64_t length = 0
        cdef int waiting = 0
        with nogil:
            # First the ids of all words, -1 for unknown ones, with the sentence bounds among all words ...
            bounds[0] = 0
            while True:
                token = next_token(&p, end, text.newlines, True, &self.table.key, &batch[waiting])
                if token == TEXT_WORD:
                    length += 1
                    waiting += 1
                if waiting == WORD_BATCH or token == TEXT_ENDS:
                    if n + waiting > text.words:
                        break
                    wordtable_values(&self.table, batch, waiting, &ids[0] + n)
                    n += waiting
                    waiting = 0
                if length and (token != TEXT_WORD or length == text.max_sentence_length):
                    if s == text.examples:
                        break
                    length = 0
                    s += 1
                    bounds[s] = <int32_t>(n + waiting)
                if token == TEXT_ENDS:
                    break
        if n != text.words or s != text.examples:
            raise RuntimeError(
                f"block {text.number} holds other words than were counted in it: please report this"
            )
        with nogil:
            # ... then without the unknown ones.
            i = 0
            for s in range(text.examples):
                n = bounds[s + 1]
                while i < n:
                    ids[known] = ids[i]
                    known += ids[i] >= 0
                    i += 1
                bounds[s + 1] = <int32_t>known
        return Block.trusted(
            id_array[:known], bound_array, text.number, text.words, text.words_before, text.examples
        )


cdef class WordCounter:
    """Counts the words of a text, in order of first appearance.

    With `max_vocab_size`, whenever a sentence leaves more distinct words than that, words counted fewer than
    `min_reduce` times are dropped and `min_reduce` rises by one, as in gensim: memory is bounded while counts
    of rare words become too small.
    """

    def __cinit__(self):
        new_table(&self.table)
        self.min_reduce = 1

    def __dealloc__(self):
        wordtable_free(&self.table)

    def __len__(self):
        return self.table.size

    def count(self, TextReader reader not None, *, max_vocab_size=None, trim_rule=None, progress=None):
        """Count all that the reader has yet to read; call `progress` with the counter after every buffer."""
        reader.begin()
        try:
            self.count_text(reader, max_vocab_size or 0, trim_rule, progress)
        finally:
            reader.busy = False

    cdef int count_text(self, TextReader reader, size_t most, trim_rule, progress) except -1:
        cdef Word[WORD_BATCH] batch
        cdef const uint8_t *p
        cdef const uint8_t *end
        cdef Token token
        cdef int64_t length = 0
        cdef int waiting = 0, failed = 0
        cdef bint sentence_ends, crowded = False
        while not self.stop:
            p, end = reader.data + reader.position, reader.data + reader.valid
            with nogil:
                while not failed:
                    token = next_token(&p, end, reader.newlines, False, &self.table.key, &batch[waiting])
                    if token == TEXT_WORD:
                        waiting += 1
                        length += 1
                    sentence_ends = length and (
                        token == TEXT_LINE_ENDS or length == reader.max_sentence_length
                    )
                    # With a bound on the vocabulary, its size must be known at the end of every sentence.
                    if waiting == WORD_BATCH or token == TEXT_ENDS or (sentence_ends and most):
                        failed = wordtable_count(&self.table, batch, waiting)
                        self.words += waiting
                        waiting = 0
                    if sentence_ends:
                        self.examples += 1
                        length = 0
                        crowded = most and self.table.size > most
                    if crowded or token == TEXT_ENDS:
                        break
            reader.start = reader.position = p - reader.data
            if failed:
                raise MemoryError(f"no memory for more than {self.table.size} words: set max_vocab_size")
            if crowded:
                crowded = False
                self.prune(trim_rule)
                continue
            if progress is not None:
                progress(self)
            if not reader.fill():
                break
        if length:
            self.examples += 1
            if most and self.table.size > most:
                self.prune(trim_rule)
        return 0

    def prune(self, trim_rule=None):
        """Drop words counted fewer than `min_reduce` times, or as `trim_rule` says; raise `min_reduce`."""
        keep_array = np.empty(self.table.size, np.uint8)
        cdef uint8_t[::1] keep = keep_array
        cdef size_t i
        if self.table.size == 0:
            return
        for i in range(self.table.size):
            keep[i] = self.table.entries[i].value >= self.min_reduce
        if trim_rule is not None:
            for i, (word, count) in enumerate(self.counts().items()):
                keep[i] = keeps(word, count, self.min_reduce, trim_rule)
        if len(keep_array) != <Py_ssize_t>self.table.size:
            raise RuntimeError("trim_rule counted words while it was asked which to keep")
        wordtable_prune(&self.table, &keep[0])
        self.min_reduce += 1

    def merge(self, WordCounter other not None):
        """Add what `other` counted in the text that follows."""
        cdef size_t i
        cdef const WordEntry *theirs
        cdef WordEntry *ours
        cdef Word word
        cdef bint memory_short = False
        with nogil:
            for i in range(other.table.size):
                theirs = other.table.entries + i
                word.start = other.table.arena + theirs.offset
                word.length = theirs.length
                hash_word(&word, &self.table.key)
                ours = wordtable_add(&self.table, &word)
                if ours == NULL:
                    memory_short = True
                    break
                ours.value += theirs.value
        if memory_short:
            raise MemoryError(f"no memory for more than {self.table.size} words: set max_vocab_size")
        self.words += other.words
        self.examples += other.examples

    def counts(self, int64_t min_count=0):
        """Return {word: count} in order of first appearance, if they occur at least `min_count` times."""
        cdef dict result = {}
        cdef const WordEntry *entry
        cdef const char *text
        cdef size_t i
        for i in range(self.table.size):
            entry = self.table.entries + i
            if entry.value >= min_count:
                text = <const char *>self.table.arena + entry.offset
                result[PyUnicode_DecodeUTF8(text, entry.length, "surrogatepass")] = entry.value
        return result

    def longest_search(self):
        """Return the most places of the table that a search passes before it finds a word."""
        return wordtable_longest_search(&self.table)

    def frequencies(self):
        """Return the counts alone, in the same order."""
        result = np.empty(self.table.size, np.int64)
        cdef int64_t[::1] values = result                                                       # OUT
        cdef size_t i
        for i in range(self.table.size):
            values[i] = self.table.entries[i].value
        return result

    def counts_of(self, words):
        """Return how often each of some words occurs, 0 for those that do not."""
        cdef bytes text
        cdef Word key
        cdef WordEntry *entry
        result = []
        for word in words:
            entry = NULL
            if isinstance(word, str):
                text = str.encode(word, "utf-8", "surrogatepass")  # a subclass may return anything
                key.start = text
                key.length = len(text)
                hash_word(&key, &self.table.key)
                entry = wordtable_find(&self.table, &key)
            result.append(0 if entry == NULL else entry.value)
        return np.array(result, np.int64)
