from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from densvec.text._text cimport HashKey, TextReader, Word

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


cdef int new_table(WordTable *table) except -1


cdef class WordIndex:
    cdef WordTable table
    cdef readonly dict mapping


cdef class WordCounter:
    cdef WordTable table
    cdef readonly int64_t words, examples, min_reduce
    cdef public bint stop                   # set by another thread to make count() return early

    cdef int count_text(self, TextReader reader, size_t most, trim_rule, progress) except -1
