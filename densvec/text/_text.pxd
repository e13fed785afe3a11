from libc.stdint cimport int64_t, uint8_t, uint64_t

cdef extern from "_tokens.h" nogil:
    enum: TOKEN_PADDING
    ctypedef struct Word:
        const uint8_t *start
        size_t length
        uint64_t low, high, hash
    ctypedef enum Token:
        TEXT_ENDS
        TEXT_WORD
        TEXT_LINE_ENDS
    ctypedef struct HashKey:
        uint64_t low, high
    Token next_token(const uint8_t **p, const uint8_t *end, bint newlines, bint complete, const HashKey *key,
                     Word *word)
    void hash_word(Word *word, const HashKey *key)


cdef int64_t MOST_WORDS

cdef int check_block_words(int64_t chunk_words) except -1


cdef class TextBlock:
    cdef uint8_t *data                      # followed by TOKEN_PADDING bytes
    cdef Py_ssize_t size
    cdef bint newlines
    cdef int64_t max_sentence_length
    cdef readonly int64_t number, words, words_before, examples


cdef class TextReader:
    cdef object sources, file, name
    cdef str errors
    cdef object buffer                      # bytearray that owns the memory of `data`
    cdef uint8_t *data
    cdef Py_ssize_t capacity, step          # bytes of the buffer, and of what is read at once
    # data[start:position] is the scanned part of the current block, data[position:valid] comes next,
    # data[valid:stop] is the beginning of a UTF-8 sequence that is not complete yet.
    cdef Py_ssize_t start, position, valid, stop
    cdef bint newlines, busy
    cdef int64_t max_sentence_length, limit, lines_left, number, offset, bytes_read
    cdef readonly int64_t words, replaced

    cdef int begin(self) except -1
    cdef TextBlock read_block(self, int64_t chunk_words)
    cdef bint fill(self) except -1
    cdef int make_room(self) except -1
    cdef int resize(self, Py_ssize_t capacity) except -1
    cdef Py_ssize_t read(self, Py_ssize_t start) except -1
    cdef bint clip_lines(self, Py_ssize_t *n) noexcept
    cdef int validate(self, bint final) except -1
    cdef int repair(self, bint final) except -1
    cdef int squeeze(self) noexcept
