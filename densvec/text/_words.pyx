"""Tables of words: counting and encoding text, and corpora that are Python iterables of token lists."""

from cpython cimport array
from cpython.dict cimport PyDict_GetItemWithError
from cpython.long cimport PyLong_AsLongLong
from cpython.object cimport PyObject
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

from densvec.text._text cimport (
    MOST_WORDS,
    TEXT_ENDS,
    TEXT_LINE_ENDS,
    TEXT_WORD,
    HashKey,
    TextBlock,
    TextReader,
    Token,
    Word,
    check_block_words,
    hash_word,
    next_token,
)

import array
import logging
import os
import sys

import numpy as np

from densvec._corpus import Block
from densvec.text.thinning import keeps

cdef extern from "_wordtable.h" nogil:
    ctypedef struct WordEntry:
        uint64_t low, high, hash
        size_t offset, length
        int64_t value
    ctypedef struct WordTable:
        HashKey key
        WordEntry *entries
        size_t size
        uint8_t *arena
    int wordtable_init(WordTable *t)
    void wordtable_free(WordTable *t)
    enum: WORD_BATCH
    void PREFETCH(const void *address)
    WordEntry *wordtable_find(const WordTable *t, const Word *word)
    WordEntry *wordtable_add(WordTable *t, const Word *word)
    int wordtable_count(WordTable *t, const Word *words, int n)
    void wordtable_values(const WordTable *t, const Word *words, int n, int32_t *values)
    size_t wordtable_longest_search(const WordTable *t)
    void wordtable_prune(WordTable *t, const uint8_t *keep)

cdef extern from "Python.h":
    bint PyUnicode_Check(PyObject *o)
    bint PyUnicode_IS_ASCII(PyObject *o)
    void *PyUnicode_DATA(PyObject *o)
    Py_ssize_t PyUnicode_GET_LENGTH(PyObject *o)
    PyObject **PySequence_Fast_ITEMS(PyObject *o)

logger = logging.getLogger(__name__)

cdef Py_ssize_t AHEAD = 16      # tokens fetched from memory ahead of their use: each is a separate object


cdef int new_table(WordTable *table) except -1:
    """Make an empty table, with a key of its own."""
    cdef bytes key = os.urandom(sizeof(HashKey))
    memcpy(&table.key, <const char *>key, sizeof(HashKey))
    table.key.high |= 1     # the factor of short words: never 0
    if wordtable_init(table):
        raise MemoryError
    return 0


cdef bint HAS_GIL = getattr(sys, "_is_gil_enabled", lambda: True)()


cdef object as_tokens(object sentence):
    """The sentence itself if it is a tuple, or a list that no thread can change now, else its tokens."""
    if type(sentence) is tuple or (HAS_GIL and type(sentence) is list):
        return sentence
    return tuple(sentence)


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

    cdef WordTable table
    cdef readonly dict mapping

    def __cinit__(self):
        new_table(&self.table)

    def __dealloc__(self):
        wordtable_free(&self.table)

    def __init__(self, words):
        if isinstance(words, WordIndex):
            words = words.mapping
        self.mapping = dict(words) if hasattr(words, "keys") else {word: i for i, word in enumerate(words)}
        cdef WordEntry *entry
        cdef Word key
        cdef int64_t value
        for word, number in self.mapping.items():
            if not 0 <= number <= 2147483647:
                raise ValueError(f"the id of {word!r} must lie in 0..2**31-1, not {number}")
            if isinstance(word, str):
                value = number
                _text = encoded(word, &self.table.key, &key)  # what the key points into
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
        return Block(id_array[:known], bound_array, number=text.number, words=text.words,
                     words_before=text.words_before, examples=text.examples)


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
        cdef array.array ids = array.array("i"), bounds = array.array("i", [0])
        cdef int64_t words = 0, examples = 0
        cdef Py_ssize_t stop
        check_block_words(chunk_words)
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
                array.resize_smart(bounds, len(bounds) + 1)
                bounds.data.as_ints[len(bounds) - 1] = <int>len(ids)
            self.offset = stop
            if stop == self.length:
                self.pending = None
        if not examples and not words:
            return None
        block = Block(np.array(ids), np.array(bounds), number=self.number, words=words,
                      words_before=self.words, examples=examples)
        self.number += 1
        self.words += words
        return block

    cdef int encode(self, tokens, Py_ssize_t start, Py_ssize_t stop, array.array ids) except -1:
        """Append the ids of the known words of tokens[start:stop]."""
        cdef PyObject **items = PySequence_Fast_ITEMS(<PyObject *>tokens)
        cdef Word[WORD_BATCH] batch
        cdef int32_t[WORD_BATCH] values
        cdef Py_ssize_t i, k, n = len(ids)
        cdef int waiting = 0
        array.resize_smart(ids, n + stop - start)
        cdef int32_t *out = <int32_t *>ids.data.as_ints
        for i in range(start, stop):
            if i + AHEAD < stop:
                PREFETCH(items[i + AHEAD])
            if is_ascii(items[i]):
                ascii_word(items[i], &self.index.table.key, &batch[waiting])
                waiting += 1
            if waiting == WORD_BATCH or i == stop - 1 or not is_ascii(items[i]):
                wordtable_values(&self.index.table, batch, waiting, values)
                for k in range(waiting):
                    out[n] = values[k]
                    n += values[k] >= 0
                waiting = 0
            if not is_ascii(items[i]):
                if type(tokens) is list:
                    tokens = unchanging(tokens, stop)
                    items = PySequence_Fast_ITEMS(<PyObject *>tokens)
                found = PyDict_GetItemWithError(self.index.mapping, <object>items[i])
                if found != NULL:
                    out[n] = <int32_t>PyLong_AsLongLong(<object>found)
                    n += 1
        array.resize_smart(ids, n)
        return 0


cdef class WordCounter:
    """Counts the words of a text, or of token lists, in order of first appearance.

    With `max_vocab_size`, whenever a sentence leaves more distinct words than that, words counted fewer than
    `min_reduce` times are dropped and `min_reduce` rises by one, as in gensim: memory is bounded while counts
    of rare words become too small. The tokens of lists may be anything that can be a key of a dict; strings
    are counted without asking a dict.
    """

    cdef WordTable table
    cdef dict others            # tokens that are not strings: [count, number of strings in the table before]
    cdef readonly int64_t words, examples, min_reduce
    cdef public bint stop       # set by another thread to make count() return early

    def __cinit__(self):
        new_table(&self.table)
        self.others = {}
        self.min_reduce = 1

    def __dealloc__(self):
        wordtable_free(&self.table)

    def __len__(self):
        return self.table.size + len(self.others)

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

    def count_sentences(self, sentences, *, max_vocab_size=None, trim_rule=None, progress=None,
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
        values, least = self.values(), self.min_reduce
        stays = values >= least
        if trim_rule is not None:
            stays = np.array([keeps(self.word(i), n, least, trim_rule) for i, n in enumerate(values)], bool)
        before = np.concatenate([[0], np.cumsum(stays)])
        self.others = {
            token: [count, int(before[number])]
            for token, (count, number) in self.others.items()
            if keeps(token, count, least, trim_rule)
        }
        cdef const uint8_t[::1] keep = stays.view(np.uint8)
        if len(stays) != <Py_ssize_t>self.table.size:
            raise RuntimeError("trim_rule counted words while it was asked which to keep")
        if len(stays):
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

    def longest_search(self):
        """Return the most places of the table that a search passes before it finds a word."""
        return wordtable_longest_search(&self.table)

    cdef object values(self):
        """The counts of the strings."""
        result = np.empty(self.table.size, np.int64)
        cdef int64_t[::1] values = result       # OUT
        cdef size_t i
        for i in range(self.table.size):
            values[i] = self.table.entries[i].value
        return result

    def frequencies(self):
        """Return the counts alone, in the same order."""
        others = np.array(list(self.others.values()), np.int64).reshape(-1, 2)
        return np.insert(self.values(), others[:, 1], others[:, 0])

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
