"""Text files read in bounded memory, as blocks of whole sentences in valid UTF-8."""

from cpython.exc cimport PyErr_CheckSignals
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memchr, memcpy, memmove

import codecs

from densvec.files.streams import read_into

MAX_SENTENCE_LENGTH = 10000
LONGEST_WORD = 1 << 24                      # bytes: what has longer ones is no text and would fill the memory

# A block ends with the sentence that fills it, and its positions are 32-bit numbers.
cdef int64_t MOST_WORDS = 1000000000
MAX_BLOCK_WORDS = MOST_WORDS

cdef HashKey NO_KEY = HashKey(0, 0)         # for words that no table asks for


cdef int check_block_words(int64_t chunk_words) except -1:
    """Refuse blocks of more words than their positions can count."""
    if not 1 <= chunk_words <= MOST_WORDS:
        raise ValueError(f"a block must have between 1 and {MOST_WORDS} words, not {chunk_words}")
    return 0


cdef class TextBlock:
    """The text of some whole sentences, as valid UTF-8."""

    def __dealloc__(self):
        free(self.data)

    @property
    def text(self):
        """The text as a string; sentences end with lines, if these matter, or at max_sentence_length."""
        return PyUnicode_DecodeUTF8(<const char *>self.data, self.size, "surrogatepass")

    def sentences(self):
        """Return the sentences as lists of strings."""
        cdef str text = self.text
        cdef list tokens, result = []
        cdef Py_ssize_t i, n = min(self.max_sentence_length, len(text) + 1)
        for line in text.split("\n") if self.newlines else [text]:
            tokens = line.split()
            if len(tokens) <= n:
                if tokens:
                    result.append(tokens)
            else:
                for i in range(0, len(tokens), n):
                    result.append(tokens[i: i + n])
        return result


cdef class TextReader:
    """Reads text, one source after another, in blocks of whole sentences. Not thread-safe.

    A sentence is a line or, where a line is longer, a piece of `max_sentence_length` words of it. Lines
    without words are no sentences. Memory is bounded by the words of a block, whatever the length of lines
    and of runs of whitespace.

    Parameters
    ----------
    sources : iterable of (name, open)
        ``open()`` returns a binary file with readinto() or read(); the reader closes it.
    errors : str
        What to do with bytes that are not UTF-8: a name known to :func:`codecs.lookup_error`.
    max_sentence_length : int
        Words of the longest sentence.
    newlines : bool
        Whether the end of a line ends a sentence.
    limit : int, optional
        Number of lines to read from each source.
    offset : int
        Byte of the file at which a source starts; at 0, a byte order mark is dropped.
    buffer_size : int
        Bytes to read at once.
    """

    def __init__(self, sources, *, errors="replace", max_sentence_length=MAX_SENTENCE_LENGTH, newlines=True,
                 limit=None, offset=0, buffer_size=1 << 20):
        if max_sentence_length < 1:
            raise ValueError(f"max_sentence_length must be at least 1, not {max_sentence_length}")
        codecs.lookup_error(errors)     # now, rather than at the first wrong byte
        self.errors = errors
        self.sources = iter(sources)
        self.max_sentence_length = min(max_sentence_length, MOST_WORDS)
        self.newlines = newlines
        self.limit = -1 if limit is None else max(0, limit)
        self.offset = offset
        self.step = max(16, buffer_size)
        self.resize(self.step)

    def close(self):
        """Close the open source, if any, and forget the others."""
        self.sources = iter(())
        if self.file is not None:
            file, self.file = self.file, None
            file.close()

    def next_block(self, int64_t chunk_words):
        """Return the next TextBlock, of `chunk_words` words or more unless the text ends; None at the end."""
        check_block_words(chunk_words)
        self.begin()
        try:
            return self.read_block(chunk_words)
        finally:
            self.busy = False

    cdef int begin(self) except -1:
        """Begin to use the buffer, which only one caller at a time can do."""
        if self.busy:
            raise RuntimeError("the text is already being read, by another thread or from within its file")
        self.busy = True
        return 0

    cdef TextBlock read_block(self, int64_t chunk_words):
        cdef int64_t words = 0, examples = 0, length = 0
        cdef Word word
        cdef const uint8_t *p
        cdef const uint8_t *end
        cdef Token token
        cdef bint full = False
        cdef Py_ssize_t scanned, squeezed = 0
        while not full:
            p, end = self.data + self.position, self.data + self.valid
            with nogil:
                while not full:
                    token = next_token(&p, end, self.newlines, False, &NO_KEY, &word)
                    if token == TEXT_ENDS:
                        break
                    if token == TEXT_WORD:
                        words += 1
                        length += 1
                    if length and (token == TEXT_LINE_ENDS or length == self.max_sentence_length):
                        examples += 1
                        length = 0
                        full = words >= chunk_words
            self.position = p - self.data
            if not full:
                scanned = self.position - self.start
                if 2 * scanned > self.capacity and scanned > 2 * squeezed:  # not again for every byte read
                    self.squeeze()
                    squeezed = self.position - self.start
                if not self.fill():
                    break
        if not words:
            return None
        cdef TextBlock block = TextBlock.__new__(TextBlock)
        block.size = self.position - self.start
        block.data = <uint8_t *>malloc(block.size + TOKEN_PADDING)
        if not block.data:
            raise MemoryError(f"no memory for a block of {block.size} bytes")
        memcpy(block.data, self.data + self.start, block.size)
        block.newlines = self.newlines
        block.max_sentence_length = self.max_sentence_length
        block.number = self.number
        block.words = words
        block.words_before = self.words
        block.examples = examples + (length > 0)
        self.number += 1
        self.words += words
        self.start = self.position
        return block

    cdef bint fill(self) except -1:
        """Read more after `valid`; False when there is nothing left to read."""
        cdef bint first = self.file is None
        PyErr_CheckSignals()
        if self.valid - self.position > LONGEST_WORD:
            raise ValueError(f"{self.name}: no white space within {LONGEST_WORD:,} bytes; is this text?")
        if first:
            for self.name, opener in self.sources:
                self.file = opener()
                self.lines_left = self.limit
                self.bytes_read = self.offset
                break
            else:
                return False
        self.make_room()
        cdef Py_ssize_t n = self.read(self.stop), more = n
        while first and more and n < 3:             # too short to tell whether it is a byte order mark
            more = self.read(self.stop + n)
            n += more
        self.bytes_read += n
        if first and self.offset == 0 and n >= 3 and self.data[self.stop: self.stop + 3] == b"\xef\xbb\xbf":
            n -= 3
            memmove(self.data + self.stop, self.data + self.stop + 3, n)
        cdef bint final = more == 0
        if self.lines_left >= 0 and self.clip_lines(&n):
            final = True
        self.stop += n
        self.validate(final)
        if final:
            # The last line ends here even if the file does not say so; make_room() left a byte for it.
            self.data[self.stop] = 10
            self.stop += 1
            self.valid = self.stop
            file, self.file = self.file, None
            file.close()
        return True

    cdef int make_room(self) except -1:
        """Move the text to the front of the buffer; enlarge the buffer if it is nearly full."""
        if self.start:
            memmove(self.data, self.data + self.start, self.stop - self.start)
            self.position -= self.start
            self.valid -= self.start
            self.stop -= self.start
            self.start = 0
        if 4 * (self.capacity - self.stop) < self.capacity:
            self.resize(2 * self.capacity)
        return 0

    cdef int resize(self, Py_ssize_t capacity) except -1:
        """Give the buffer another size; its text stays."""
        buffer = bytearray(capacity + TOKEN_PADDING)
        cdef uint8_t *data = buffer
        if self.stop:
            memcpy(data, self.data, self.stop)
        self.buffer = buffer
        self.data = data
        self.capacity = capacity
        return 0

    cdef Py_ssize_t read(self, Py_ssize_t start) except -1:
        """Read bytes to data[start:], at most up to the buffer's last byte; return how many, 0 at the end."""
        cdef Py_ssize_t most
        # Read as much again as is there already, in case a word or a block is long, but not as much as
        # there is room for: repaired text is longer, and the room grows with it.
        most = max(self.step, self.stop - self.start)
        view = memoryview(self.buffer)[start: min(self.capacity - 1, start + most)]
        return read_into(self.file, view, self.name)

    cdef bint clip_lines(self, Py_ssize_t *n) noexcept:
        """Cut the n bytes after `stop` at the end of the last line wanted; return whether it was there."""
        cdef const uint8_t *p = self.data + self.stop
        cdef const uint8_t *end = p + n[0]
        while self.lines_left > 0:
            p = <const uint8_t *>memchr(p, 10, end - p)
            if p == NULL:
                return False
            p += 1
            self.lines_left -= 1
        n[0] = p - self.data - self.stop
        return True

    cdef int validate(self, bint final) except -1:
        """Move `valid` as far as the text is UTF-8, and repair what is not."""
        try:
            _, read = codecs.utf_8_decode(memoryview(self.buffer)[self.valid: self.stop], "strict", final)
        except UnicodeDecodeError:
            self.repair(final)
        else:
            self.valid += read
        return 0

    cdef int repair(self, bint final) except -1:
        """Turn data[valid:stop] into UTF-8 as the error handler says."""
        cdef Py_ssize_t left = self.stop - self.valid, size, read, rest
        cdef bytes text = bytes(memoryview(self.buffer)[self.valid: self.stop])
        try:
            decoded, read = codecs.utf_8_decode(text, self.errors, final)
        except UnicodeDecodeError as error:
            if self.errors == "strict":
                offset = self.bytes_read - left + error.start
                remedy = "errors='replace' or 'ignore' reads on"
                error.reason = f"not UTF-8 at byte {offset} of {self.name}; {remedy}"
            raise
        found = text[:read]
        self.replaced += found.decode("utf-8", "replace").count("\ufffd") - found.count("\ufffd".encode())
        text = decoded.encode("utf-8", "surrogatepass")
        size, rest = len(text), left - read
        while self.valid + size + rest + 1 > self.capacity:
            self.resize(2 * self.capacity)
        memmove(self.data + self.valid + size, self.data + self.stop - rest, rest)
        memcpy(self.data + self.valid, <const char *>text, size)
        self.valid += size
        self.stop = self.valid + rest
        return 0

    cdef int squeeze(self) noexcept:
        """Leave one byte of each run of whitespace in the scanned text: only words count towards a block."""
        cdef const uint8_t *p = self.data + self.start
        cdef const uint8_t *end = self.data + self.position
        cdef uint8_t *out = self.data + self.start
        cdef uint8_t separator = 0          # to be written once the whitespace it stands for has been read
        cdef Word word
        cdef Token token
        cdef Py_ssize_t saved
        with nogil:
            while True:
                token = next_token(&p, end, True, True, &NO_KEY, &word)
                if separator and token != TEXT_LINE_ENDS:
                    out[0] = separator
                    out += 1
                    separator = 0
                if token == TEXT_ENDS:
                    break
                if token == TEXT_WORD:
                    memmove(out, word.start, word.length)
                    out += word.length
                    separator = 32
                elif separator:
                    separator = 10
        saved = end - out
        memmove(out, end, self.stop - self.position)
        self.position -= saved
        self.valid -= saved
        self.stop -= saved
        return 0
