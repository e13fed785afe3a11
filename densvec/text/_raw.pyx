"""Raw text as tokenised text: words in lower case, separated by spaces, one sentence per line."""

cimport cython
from libc.stdint cimport uint8_t, uint32_t
from libc.stdlib cimport calloc
from libc.string cimport memcpy

import unicodedata

cdef extern from "Python.h":
    int PyUnicode_KIND(str text)
    void *PyUnicode_DATA(str text)
    uint32_t PyUnicode_READ(int kind, const void *data, Py_ssize_t place)
    str PyUnicode_FromKindAndData(int kind, const void *data, Py_ssize_t size)
    enum: PyUnicode_4BYTE_KIND

# What a character can be. A joiner only stands inside words; a mark modifies the letter before it.
cdef enum:
    LETTER = 1
    MARK = 2
    DIGIT = 4
    LOWERCASE = 8
    SPACE = 16
    SENTENCE_END = 32
    JOINER = 64

SENTENCE_ENDS = ".!?\u2026\u203d\u061f\u06d4\u0964\u0965\u3002\uff01\uff1f\uff0e"
JOINERS = "'\u2019-\u2010\u2011_\u00b7"
JOINING_MARKS = "\u200c\u200d"      # between letters of one word, as in Persian and Sinhala
ABBREVIATIONS = frozenset(
    "mr mrs ms dr st prof vs no vol fig jr sr gen col sgt capt lt rev hon ca cf approx".split()
)

cdef Py_ssize_t LONGEST_WORD = 1000     # characters; anything longer is not a word, and is cut


def character_kind(character):
    """Return what a character is to the tokeniser, as the sum of its kinds.

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


cdef struct Page:                       # what is known about 256 characters
    uint8_t kind[256]
    uint32_t lower[256]


cdef extern from *:
    """
    #ifdef Py_GIL_DISABLED
    #define LOOK_UP(place) _Py_atomic_load_ptr_acquire(place)
    #define PUBLISH(place, page) _Py_atomic_store_ptr_release(place, page)
    #else
    #define LOOK_UP(place) (*(place))
    #define PUBLISH(place, page) (*(place) = (page))
    #endif
    """
    Page *LOOK_UP(void *place)
    void PUBLISH(void *place, Page *page)


# Filled when first needed and never changed after that. Two threads may fill the same one; either will do.
cdef Page *_pages[0x1100]


cdef const Page *filled_page(int number) except NULL:
    """Return what is known about 256 characters, the first time that one of them is met."""
    cdef Page *page = <Page *>calloc(1, sizeof(Page))
    cdef int i
    if page == NULL:
        raise MemoryError
    for i in range(256):
        character = chr(256 * number + i)
        page.kind[i] = character_kind(character)
        page.lower[i] = ord(character.lower()[0])       # U+0130, alone, would become two characters
    PUBLISH(&_pages[number], page)
    return page


@cython.final
cdef class Tokeniser:
    """Finds the words and sentences of raw text that comes in pieces.

    Parameters
    ----------
    lower : bool
        Whether to put words in lower case.
    keep_numbers : bool
        Whether words without a letter are kept.
    line_ends : bool
        Whether every line end ends a sentence; otherwise only blank lines do, besides full stops.

    Examples
    --------
    >>> tokeniser = Tokeniser()
    >>> tokeniser.feed("Don’t stop. It's well-kno")
    "don't stop\\nit's"
    >>> tokeniser.feed("wn, the café of 1999!", final=True)
    ' well-known the café of'
    """

    cdef bint lower, keep_numbers, line_ends
    cdef object memory                  # owns what `out` points to
    cdef uint32_t *out
    cdef Py_ssize_t size
    # The word that has begun at out[word], behind its separator at out[before]; it may still be discarded.
    cdef bint in_word, has_letter
    cdef int letters
    cdef uint32_t joiner                 # seen after a character of the word, not written yet
    cdef uint32_t last                   # the last character of the word, as it was read
    cdef Py_ssize_t before, word
    # Between words: what ended a sentence, whether white space came after it, line ends since the last word.
    cdef bint mark, spaced, lines, due, any

    def __init__(self, *, lower=True, keep_numbers=False, line_ends=False):
        self.lower = lower
        self.keep_numbers = keep_numbers
        self.line_ends = line_ends

    def feed(self, str text not None, bint final=False):
        """Return the words of some more text that are complete; the `final` piece completes the last."""
        cdef Py_ssize_t i = 0, n = len(text), ready
        cdef int kind = PyUnicode_KIND(text)
        cdef const void *data = PyUnicode_DATA(text)
        # A character that is read becomes two at most, the other one a separator or a joiner.
        memory = bytearray((self.size + 2 * n + 1) * sizeof(uint32_t))
        cdef char *out = memory
        if self.size:
            memcpy(out, self.out, self.size * sizeof(uint32_t))
        self.memory, self.out = memory, <uint32_t *>out
        while i < n:
            i += self.take(PyUnicode_READ(kind, data, i))
        if final:
            self.end_word()
        ready = self.before if self.in_word else self.size
        result = PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, self.out, ready)
        self.out += ready
        self.size -= ready
        self.before -= ready
        self.word -= ready
        return result

    cdef inline bint take(self, uint32_t c) except -1:
        """Take a character; return False if it only ended a word, and is to be taken once more."""
        cdef const Page *page = LOOK_UP(&_pages[c >> 8])
        if page == NULL:
            page = filled_page(c >> 8)
        if c == 0xAD:                   # a soft hyphen counts as nothing
            return True
        cdef int kind = page.kind[c & 255]
        cdef bint is_point = c == 46 or c == 44
        if not self.in_word:
            if kind & (LETTER | DIGIT):
                self.begin_word(kind)
                self.write_letter(c, kind, page)
            else:
                self.between_words(c, kind)
        elif kind & (LETTER | DIGIT | MARK):
            if self.joiner:
                if (self.joiner == 46 or self.joiner == 44) and not kind & DIGIT:
                    self.end_word()     # "1990.The": no decimal point after all
                    return False
                self.write(self.joiner)
                self.joiner = 0
            self.write_letter(c, kind, page)
            if self.size - self.word > LONGEST_WORD:
                self.end_word()
        elif kind & JOINER and not self.joiner:
            self.joiner = 39 if c == 0x2019 else 45 if c == 0x2010 or c == 0x2011 else c
        elif is_point and not self.joiner and not self.has_letter:      # 3.14 and 1,000 are numbers
            self.joiner = c
        else:
            self.leave_word(c, kind)
        return True

    cdef inline void write(self, uint32_t c) noexcept:
        self.out[self.size] = c
        self.size += 1

    cdef inline void write_letter(self, uint32_t c, int kind, const Page *page) noexcept:
        """Write a character of the current word."""
        if kind & LETTER:
            self.has_letter = True
            self.letters += 1
        self.write(page.lower[c & 255] if self.lower else c)
        self.last = c

    cdef inline void begin_word(self, int kind) noexcept:
        self.before = self.size
        if self.mark and self.spaced and not kind & LOWERCASE:
            self.due = True
        if self.any:
            self.write(10 if self.due else 32)
        self.word = self.size
        self.in_word = True
        self.has_letter = False
        self.letters = self.joiner = 0

    cdef void end_word(self) noexcept:
        """End the current word, if there is one: keep it or discard it."""
        if not self.in_word:
            return
        self.in_word = self.mark = self.spaced = self.lines = False
        if not self.has_letter and not self.keep_numbers:
            self.size = self.before
            return
        # A capital sigma at the end of a word of several letters becomes the small one that stands there.
        if self.lower and self.last == 0x3A3 and self.letters > 1:
            self.out[self.size - 1] = 0x3C2
        self.any = True
        self.due = False

    cdef int leave_word(self, uint32_t c, int kind) except -1:
        """End the current word before a character that is not part of it."""
        cdef bint decimal = self.joiner == 46
        cdef bint stop = c == 46 and not self.joiner and self.is_abbreviation()
        self.end_word()
        if decimal:
            self.between_words(46, SENTENCE_END)
        if not stop:
            self.between_words(c, kind)
        return 0

    cdef bint is_abbreviation(self) except -1:
        """Whether a full stop is likely to be part of the current word: an initial, or an abbreviation."""
        cdef Py_ssize_t length = self.size - self.word
        if self.letters == 1 or length > 6:
            return self.letters == 1
        word = PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, self.out + self.word, length)
        return word.lower() in ABBREVIATIONS

    cdef inline void between_words(self, uint32_t c, int kind) noexcept:
        """Note what a character between words says about where sentences end."""
        if kind & SENTENCE_END:
            self.mark = True
            self.spaced = c >= 0x3000   # the full stops of Chinese and Japanese need no space after them
        elif kind & SPACE:
            self.spaced = True
            if c == 10 and (self.lines or self.line_ends):
                self.due = True
            if c == 10:
                self.lines = True       # further ones make no difference


def tokenised(text, lower=True, keep_numbers=False):
    """Return the words of a short text.

    Examples
    --------
    >>> tokenised("Don’t stop, Mr. Kiwi!")
    ["don't", 'stop', 'mr', 'kiwi']
    """
    return Tokeniser(lower=lower, keep_numbers=keep_numbers).feed(text, True).split()
