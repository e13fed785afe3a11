"""Raw text as tokenised text: words in lower case, separated by spaces, one sentence per line."""

from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.stdlib cimport calloc
from libc.string cimport memmove

import io
import unicodedata

from densvec.files.streams import read_into


cdef extern from "_raw.h" nogil:
    enum: LETTER, MARK, DIGIT, LOWERCASE, SPACE, SENTENCE_END, JOINER, RAW_PAGES
    ctypedef struct RawPage:
        uint8_t kind[256]
        uint32_t lower[256]
    ctypedef struct RawState:
        const RawPage *pages[RAW_PAGES]
        int lower, keep_numbers, line_ends, in_word
        size_t before, word
    int tokenise_raw(RawState *state, const uint8_t **p, const uint8_t *end, uint8_t *out, size_t *size,
                     bint complete, int64_t *invalid)


SENTENCE_ENDS = ".!?\u2026\u203d\u061f\u06d4\u0964\u0965\u3002\uff01\uff1f\uff0e"
JOINERS = "'\u2019-\u2010\u2011_\u00b7"
JOINING_MARKS = "\u200c\u200d"      # between letters of one word, as in Persian and Sinhala


def character_kind(character):
    """Return what a character is to the tokeniser, as the sum of the kinds of _raw.h.

    Examples
    --------
    >>> character_kind("a") == character_kind("é"), character_kind("A") == character_kind("日")
    (True, True)
    """
    category = unicodedata.category(character)
    if character in JOINERS:
        return JOINER
    if character in SENTENCE_ENDS:
        return SENTENCE_END
    if character in JOINING_MARKS or category[0] == "M":
        return MARK
    if category[0] == "L":
        return LETTER | (LOWERCASE if character.islower() else 0)
    if category[0] == "N":
        return DIGIT
    return SPACE if character.isspace() else 0


# Filled when first needed and never changed after that: any number of tokenisers read them.
cdef RawPage *_pages[RAW_PAGES]


cdef const RawPage *filled_page(int number) except NULL:
    """Return what is known about 256 characters."""
    cdef RawPage *page = _pages[number]
    cdef int i
    if page == NULL:
        page = <RawPage *>calloc(1, sizeof(RawPage))
        if page == NULL:
            raise MemoryError
        for i in range(256):
            character = chr(256 * number + i)
            page.kind[i] = character_kind(character)
            page.lower[i] = ord(character.lower()[0])     # U+0130, alone, would become two characters
        _pages[number] = page
    return page


cdef class Tokenised:
    """A file of raw text, read as a file of tokenised text in UTF-8.

    Parameters
    ----------
    file : binary file
        Raw text in UTF-8; closed with this object.
    lower : bool
        Whether to put words in lower case.
    keep_numbers : bool
        Whether words without a letter are kept.
    line_ends : bool
        Whether every line end ends a sentence; otherwise only blank lines do, besides full stops.
    count_invalid : callable
        Called with the number of byte sequences that were not UTF-8, when the text ends.
    buffer_size : int
        Bytes to read at once.

    Examples
    --------
    >>> import io
    >>> file = Tokenised(io.BytesIO("Don’t stop. It's well-known, the café of 1999!".encode()))
    >>> part = bytearray(100)
    >>> print(part[: file.readinto(part)].decode())
    don't stop
    it's well-known the café of
    """

    cdef RawState state
    cdef object file, source, output, count_invalid
    cdef Py_ssize_t rest                # bytes at the front of `source` that are not tokenised yet
    cdef size_t first, size             # output[first:size] is to be delivered; after `ready` it may change
    cdef int64_t invalid
    cdef bint ended

    def __init__(self, file, *, lower=True, keep_numbers=False, line_ends=False, count_invalid=None,
                 buffer_size=1 << 18):
        self.file = file
        self.state.lower = lower
        self.state.keep_numbers = keep_numbers
        self.state.line_ends = line_ends
        self.count_invalid = count_invalid
        self.source = bytearray(max(16, buffer_size) + 16)      # 16: what _tokens.h may read beyond the end
        self.output = bytearray(2 * len(self.source) + 8192)

    def close(self):
        """Close the file."""
        self.file.close()

    def readinto(self, view):
        """Fill a buffer with tokenised text; return how many bytes there are, 0 at the end."""
        cdef size_t n
        target = memoryview(view).cast("B")
        while not self.ended and self.ready() == self.first:
            self.advance()
        n = min(<size_t>len(target), self.ready() - self.first)
        target[:n] = memoryview(self.output)[self.first: self.first + n]
        self.first += n
        return n

    cdef size_t ready(self):
        """How far the output is final: the current word may still be discarded."""
        return self.state.before if self.state.in_word else self.size

    cdef int advance(self) except -1:
        """Read and tokenise some more."""
        cdef uint8_t *source = self.source
        cdef uint8_t *out = self.output
        cdef const uint8_t *p = source
        cdef const uint8_t *end
        cdef int page = 0
        cdef Py_ssize_t n = self.fill()
        # Everything final has been delivered; the rest moves to the front.
        self.size -= self.first
        memmove(out, out + self.first, self.size)
        if self.state.in_word:
            self.state.before -= self.first
            self.state.word -= self.first
        self.first = 0
        end = source + self.rest + n
        while page >= 0:
            with nogil:
                page = tokenise_raw(&self.state, &p, end, out, &self.size, n == 0, &self.invalid)
            if page >= 0:
                self.state.pages[page] = filled_page(page)
        self.rest = end - p
        memmove(source, p, self.rest)
        if n == 0:
            self.ended = True
            if self.count_invalid is not None:
                self.count_invalid(self.invalid)
        return 0

    cdef Py_ssize_t fill(self) except -1:
        """Read bytes after those that are left; return how many, 0 at the end."""
        return read_into(self.file, memoryview(self.source)[self.rest: len(self.source) - 16])


def tokenised(text, lower=True, keep_numbers=False):
    """Return the words of a short text.

    Examples
    --------
    >>> tokenised("Don’t stop, Mr. Kiwi!")
    ["don't", 'stop', 'mr', 'kiwi']
    """
    data = text.encode("utf-8", "surrogatepass")
    file = Tokenised(io.BytesIO(data), lower=lower, keep_numbers=keep_numbers, buffer_size=len(data))
    found, part = bytearray(), bytearray(len(data) + 64)
    while n := file.readinto(part):
        found += part[:n]
    return found.decode("utf-8", "surrogatepass").split()
