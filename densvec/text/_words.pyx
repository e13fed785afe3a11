"""Tables of words: counting and encoding text without a Python string per token."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
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


cdef object values_of(const WordTable *table):
    """Return the values of a table's words, in the order of the words."""
    result = np.empty(table.size, np.int64)
    cdef int64_t[::1] values = result                                                           # OUT
    cdef size_t i
    for i in range(table.size):
        values[i] = table.entries[i].value
    return result


cdef object values_of_words(const WordTable *table, words):
    """Return the values of some words, 0 for those that are not in a table."""
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
            hash_word(&key, &table.key)
            entry = wordtable_find(table, &key)
        result.append(0 if entry == NULL else entry.value)
    return np.array(result, np.int64)


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
        return values_of(&self.table)

    def counts_of(self, words):
        """Return how often each of some words occurs, 0 for those that do not."""
        return values_of_words(&self.table, words)


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
