"""A chunk as the kernels see it: where windows begin and end, and which words a centre is compared with."""

from libc.limits cimport INT_MAX
from libc.string cimport memcpy

from densvec.native._loops cimport Loops, loops_of
from densvec.native._vector cimport REAL, best_instruction_set, prefetch_row

import numpy as np

cdef struct Windows:
    int n                        # positions
    int widest                   # most positives of a centre
    int most_targets             # that a centre can have
    const int* tokens
    const int* negatives         # (n, per) or (pairs, per)
    int per                      # negatives per centre or per pair
    bint shared                  # per centre
    double nearness              # how much more near positives count
    const int* radii
    int* left                    # first and last position of each window
    int* right
    long long* pair              # the first pair of each centre
    int weighed                  # the centre whose positives were weighed last


cdef inline size_t begin(object array):
    """Return where an array's data begin."""
    return array.ctypes.data


cdef inline int check_ids(object ids, size_t words) except -1:
    """Refuse a chunk that names rows which tables of so many words do not have."""
    cdef const int* numbers = <const int*> begin(ids)
    cdef size_t count = ids.size, i
    cdef unsigned int largest = 0  # as large as can be for an id below 0
    with nogil:
        for i in range(count):
            largest = max(largest, <unsigned int> numbers[i])
    if count and largest >= words:
        raise ValueError(
            f"the chunk has ids from {ids.min()} to {ids.max()}, but the tables have {words} words"
        )
    return 0


cdef inline object find_windows(object chunk, Windows* windows, object table, double nearness=0):
    """Describe a chunk of words that a table has; return the memory that must outlive the description."""
    # OUT: windows
    check_ids(chunk.tokens, len(table))
    check_ids(chunk.negatives, len(table))
    ends, pairs = np.empty((2, len(chunk.tokens)), np.int32), np.empty(len(chunk.tokens), np.int64)
    windows.n = <int> len(chunk.tokens)
    windows.tokens = <const int*> begin(chunk.tokens)
    windows.negatives = <const int*> begin(chunk.negatives)
    windows.per = chunk.negatives.shape[1]
    windows.shared = chunk.pairing == "shared"
    windows.nearness = nearness
    windows.radii = <const int*> begin(chunk.radii)
    windows.left = <int*> begin(ends)
    windows.right = windows.left + windows.n
    windows.pair = <long long*> begin(pairs)
    windows.widest = 0
    windows.weighed = -1
    cdef const int* sentences = <const int*> begin(chunk.sentences)
    cdef int count = <int> len(chunk.sentences) - 1, s, i, first, last, positives
    cdef long long pair = 0
    with nogil:
        for s in range(count):
            first = sentences[s]
            last = sentences[s + 1] - 1
            for i in range(first, last + 1):
                windows.left[i] = max(first, i - windows.radii[i])
                windows.right[i] = i + min(last - i, windows.radii[i])
                positives = windows.right[i] - windows.left[i]
                windows.pair[i] = pair
                pair += positives
                windows.widest = max(windows.widest, positives)
    cdef long long pairs_of_one = 1 if windows.shared else windows.widest
    cdef long long targets = windows.widest + windows.per * pairs_of_one
    if targets >= INT_MAX:
        raise ValueError(
            f"{windows.widest} words in a window and {windows.per} negatives make {targets} words to compare "
            f"with one centre: lower window or negative"
        )
    windows.most_targets = <int> targets
    return ends, pairs, chunk


cdef inline int positive_count(Windows* windows, int i) noexcept nogil:
    """Return how many words are in the window of centre i."""
    return windows.right[i] - windows.left[i]


cdef inline int negative_count(Windows* windows, int i) noexcept nogil:
    """Return how many negatives centre i is compared with."""
    return windows.per if windows.shared else windows.per * positive_count(windows, i)


cdef inline const int* negatives_of(Windows* windows, int i) noexcept nogil:
    """Return which they are."""
    return windows.negatives + <size_t> (i if windows.shared else windows.pair[i]) * windows.per


cdef inline int list_targets(Windows* windows, int i, int* targets) noexcept nogil:  # OUT: targets
    """List the words that centre i is compared with: its positives, then their negatives; return how many."""
    cdef int before = i - windows.left[i], after = windows.right[i] - i
    cdef int negatives = negative_count(windows, i)
    memcpy(targets, windows.tokens + windows.left[i], before * sizeof(int))
    memcpy(targets + before, windows.tokens + i + 1, after * sizeof(int))
    memcpy(targets + before + after, negatives_of(windows, i), negatives * sizeof(int))
    return before + after + negatives


cdef inline bint same_window(const Windows* windows, int i, int j) noexcept nogil:
    """Whether the windows of two centres reach equally far on either side."""
    return windows.left[i] - i == windows.left[j] - j and windows.right[i] - i == windows.right[j] - j


cdef inline double hinge_of(const Loops* loops, Windows* windows, int i, double margin, const REAL* positives,
                            const REAL* negatives, REAL* weights, REAL* pulls, REAL* pushes,
                            bint whole) noexcept nogil:  # OUT: pulls, pushes.  TMP: weights
    """Return the hinge of centre i by the scores of its targets; set their shares in it, negatives' below 0.

    A target's share is the derivative of the hinge by the target's score. Scores and weights have room for
    whole blocks of vectors; `whole` says that shares have it, too, with nothing in it.
    """
    cdef int count = positive_count(windows, i), per = windows.per, j
    cdef double sum = 0
    weigh_positives(windows, i, weights)
    if windows.shared:
        return loops.hinge(pulls, pushes, positives, negatives, weights, <REAL> margin, count, per, whole)
    for j in range(count):
        sum += loops.hinge(pulls + j, pushes + <size_t> j * per, positives + j, negatives + <size_t> j * per,
                           weights + j, <REAL> margin, 1, per, False)
    return sum


cdef inline void weigh_positives(Windows* windows, int i, REAL* weights) noexcept nogil:  # OUT: weights
    """Say how much each positive of centre i counts, an equal share of it for each of its negatives."""
    cdef int left = windows.left[i], right = windows.right[i], before = windows.weighed, j
    windows.weighed = i
    if before >= 0 and windows.radii[i] == windows.radii[before] and same_window(windows, i, before):
        return  # the weights are there: most windows are alike
    cdef double nearest = (1 + windows.nearness) / windows.per
    cdef double slope = 2 * windows.nearness / ((windows.radii[i] + 1.0) * windows.per)
    for j in range(left, i):
        weights[j - left] = nearest - slope * (i - j)
    for j in range(i + 1, right + 1):
        weights[j - left - 1] = nearest - slope * (j - i)


cdef inline void prefetch(const REAL* table, const int* words, int count, size_t size) noexcept nogil:
    """Ask for the rows of words that are soon needed, each of `size` numbers."""
    cdef int k
    for k in range(count):
        prefetch_row(table + words[k] * size, size * sizeof(REAL))


cdef enum:
    LARGEST_RATE = 1000000       # steps are damped or bounded: a greater rate would only overflow


cdef inline double checked_rate(double rate) except? -1:
    """Return a learning rate that no step overflows by."""
    if not rate >= 0:
        raise ValueError(f"a learning rate of {rate} is not a number of at least 0")
    return min(rate, <double> LARGEST_RATE)


cdef inline object number_type():
    """Return the dtype of the numbers that this module is compiled for."""
    return np.dtype(np.float32 if sizeof(REAL) == sizeof(float) else np.float64)


cdef inline REAL* address(object array, str name, tuple shape) except NULL:
    """Return where an array begins; the kernel must be able to write it as it is."""
    dtype = number_type()
    if array.dtype != dtype or array.shape != shape or not array.flags.carray:
        raise ValueError(
            f"{name} is {array.dtype}{array.shape}; the kernel needs a writeable C-contiguous {dtype}{shape}"
        )
    return <REAL*> begin(array)


cdef inline REAL* row_address(object array, str name, tuple shape) except NULL:
    """Return where a table begins whose rows are contiguous, but may lie apart."""
    dtype = number_type()
    if (array.dtype != dtype or array.shape != shape or not array.flags.writeable or not array.flags.aligned
            or shape[1] > 1 and array.strides[1] != sizeof(REAL) or array.strides[0] < shape[1] * sizeof(REAL)
            or array.strides[0] % sizeof(REAL)):
        raise ValueError(
            f"{name} is {array.dtype}{array.shape}; the kernel needs a writeable {dtype}{shape} with "
            f"contiguous rows"
        )
    return <REAL*> begin(array)


cdef inline const Loops* loops_for(str instruction_set) except NULL:
    """Return the vector loops, the best this processor has unless an instruction set is named."""
    best = best_instruction_set().decode()
    known = ("plain", "avx2", "avx512")
    if instruction_set is not None and known.index(instruction_set) > known.index(best):
        raise ValueError(f"this processor has no {instruction_set}: the best is {best}")
    name = (instruction_set or best).encode()
    return loops_of(name)
