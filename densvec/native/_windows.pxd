"""A chunk as the kernels see it: where each window begins and ends, and which words a centre is compared with."""

from cython cimport floating
from libc.string cimport memcpy

from densvec.native._vector cimport best_instruction_set, contrast, double_loops, float_loops_for, prefetch_row

import numpy as np

cdef struct Windows:
    int n                        # positions
    int widest                   # most positives of a centre
    const int* tokens
    const int* negatives         # (n, per) or (pairs, per)
    int per                      # negatives per centre or per pair
    bint shared                  # per centre
    double nearness              # how much more near positives count
    const int* radii
    int* left                    # first and last position of each window, and the first pair of each centre
    int* right
    int* pair


cdef inline size_t begin(object array):
    """Return where an array's data begin."""
    return array.ctypes.data


cdef inline object find_windows(object chunk, Windows* windows, double nearness=0):  # OUT: windows
    """Describe a chunk; return the memory that must outlive the description."""
    memory = np.empty((3, len(chunk.tokens)), np.int32)
    windows.n = <int> len(chunk.tokens)
    windows.tokens = <const int*> begin(chunk.tokens)
    windows.negatives = <const int*> begin(chunk.negatives)
    windows.per = chunk.negatives.shape[1]
    windows.shared = chunk.pairing == "shared"
    windows.nearness = nearness
    windows.left = <int*> begin(memory)
    windows.right = windows.left + windows.n
    windows.pair = windows.right + windows.n
    windows.widest = 0
    cdef const int* sentences = <const int*> begin(chunk.sentences)
    cdef const int* radii = <const int*> begin(chunk.radii)
    windows.radii = radii
    cdef int count = <int> len(chunk.sentences) - 1, s, i, pair = 0, first, last
    with nogil:
        for s in range(count):
            first = sentences[s]
            last = sentences[s + 1] - 1
            for i in range(first, last + 1):
                windows.left[i] = max(first, i - radii[i])
                windows.right[i] = min(last, i + radii[i])
                windows.pair[i] = pair
                pair += windows.right[i] - windows.left[i]
                windows.widest = max(windows.widest, windows.right[i] - windows.left[i])
    return memory, chunk


cdef inline const int* negatives_of(Windows* windows, int i) noexcept nogil:
    """Return the negatives that centre i is contrasted with."""
    return windows.negatives + <size_t> (i if windows.shared else windows.pair[i]) * windows.per


cdef inline int negative_count(Windows* windows, int i) noexcept nogil:
    """Return how many they are."""
    return windows.per if windows.shared else windows.per * (windows.right[i] - windows.left[i])


cdef inline int list_targets(Windows* windows, int i, int* rows) noexcept nogil:  # OUT: rows
    """List the words that centre i is compared with: its positives, then their negatives; return how many."""
    cdef int before = i - windows.left[i], after = windows.right[i] - i, negatives = negative_count(windows, i)
    memcpy(rows, windows.tokens + windows.left[i], before * sizeof(int))
    memcpy(rows + before, windows.tokens + i + 1, after * sizeof(int))
    memcpy(rows + before + after, negatives_of(windows, i), negatives * sizeof(int))
    return before + after + negatives


cdef inline double hinge_of(const void* loops, Windows* windows, int i, double margin, const floating* scores,
                            floating* weights, floating* shares) noexcept nogil:  # OUT: shares.  TMP: weights
    """Return the hinge of centre i, with `scores` of its targets; set each target's share in it, negatives' below 0."""
    cdef int positives = windows.right[i] - windows.left[i], per = windows.per, j
    cdef double sum = 0
    weigh_positives(windows, i, weights)
    if windows.shared:
        sum = contrast(loops, shares, shares + positives, scores, scores + positives, weights, <floating> margin, positives, per)
    else:
        for j in range(positives):
            sum += contrast(loops, shares + j, shares + positives + j * per, scores + j, scores + positives + j * per,
                            weights + j, <floating> margin, 1, per)
    for j in range(positives, positives + negative_count(windows, i)):
        shares[j] = -shares[j]
    return sum


cdef inline void weigh_positives(Windows* windows, int i, floating* weights) noexcept nogil:  # OUT: weights
    """Say how much each positive of centre i counts, an equal share of it for each of its negatives."""
    cdef int left = windows.left[i], right = windows.right[i], j
    cdef double nearest = (1 + windows.nearness) / windows.per
    cdef double slope = 2 * windows.nearness / ((windows.radii[i] + 1) * windows.per)
    for j in range(left, i):
        weights[j - left] = nearest - slope * (i - j)
    for j in range(i + 1, right + 1):
        weights[j - left - 1] = nearest - slope * (j - i)


cdef inline void prefetch(const void* table, const int* words, int count, size_t bytes) noexcept nogil:
    """Ask for the rows of words that are soon needed."""
    cdef int k
    for k in range(count):
        prefetch_row(<const char*> table + words[k] * bytes, bytes)


cdef inline void* address(object array, str name, object dtype, tuple shape) except NULL:
    """Return where an array begins; the kernel must be able to write it as it is."""
    if array.dtype != dtype or array.shape != shape or not array.flags.c_contiguous or not array.flags.writeable:
        raise ValueError(f"{name} is {array.dtype}{array.shape}; the kernel needs a writeable C-contiguous {dtype}{shape}")
    return <void*> begin(array)


cdef inline const void* loops_for(object dtype, str instruction_set) except NULL:
    """Return the vector loops of a number type, the best this processor has unless an instruction set is named."""
    best = best_instruction_set().decode()
    known = ("plain", "avx2", "avx512")
    if instruction_set is not None and known.index(instruction_set) > known.index(best):
        raise ValueError(f"this processor has no {instruction_set}: the best is {best}")
    if dtype == np.float64:
        return <const void*> double_loops()
    if dtype != np.float32:
        raise ValueError(f"the tables are {dtype}: the kernel trains float32 and float64")
    name = (instruction_set or best).encode()
    return <const void*> float_loops_for(name)
