"""Skip-gram with negative sampling on the CPU: each centre's vector predicts the words around it.

For a centre w and a word c of its window, with K negatives n_k, the loss of the pair is

    -log sigmoid(x_w . y_c) - sum_k log sigmoid(-x_w . y_n_k)

with x the word vectors and y the context vectors. The pairs of a centre take one step of plain SGD together. Negatives that
they share count once per pair.

The code is written for float and double: training uses float, the gradient check double.
"""

from cython cimport floating
from libc.math cimport INFINITY, log
from libc.string cimport memcpy, memset

from densvec.native._vector cimport add_scaled, dot, dots, exchange, exponential
from densvec.native._windows cimport (
    Windows, address, begin, find_windows, list_targets, loops_for, negative_count, negatives_of, prefetch,
)

import numpy as np

cdef double LARGEST_SCORE = 80.0     # what `exponential` takes; the sigmoid is flat long before
cdef double LARGEST_SQUARE = 1e30    # a vector whose squared length passes this has diverged


cdef struct Tables:
    int size                     # D
    void* vectors                # (V, D)
    void* contexts               # (V, D)

cdef struct Gradients:           # where gradients go instead, when nothing is to be trained
    void* vectors
    void* contexts

cdef struct Scratch:             # TMP
    int* targets                 # words predicted at once: positives, then negatives
    void** rows                  # their context vectors
    void* scores                 # one per target
    void* gains                  # one per target
    void* change                 # (D,) of the centre's vector

cdef struct Totals:
    double loss
    long long centres


cdef inline double log_sum(const floating* odds, int count) noexcept nogil:
    """Return log(1 + odds).sum() with as few logarithms as fit into a double."""
    cdef double product = 1, sum = 0
    cdef int k
    for k in range(count):
        product *= 1 + odds[k]
        if product > 1e200:
            sum += log(product)
            product = 1
    return sum + log(product)


cdef double predict(const void* loops, Tables* tables, Gradients* gradients, Scratch* scratch, size_t centre, int positives,
                    int count, floating weight, floating rate) noexcept nogil:
    """Predict the targets from the centre and take a step; return the loss, in which each negative has that weight.

    A diverging run is never let overflow: it returns an infinite loss, on which the loop stops.
    """
    cdef int D = tables.size, k
    cdef floating* vector = (<floating*> tables.vectors) + centre * D
    cdef floating** rows = <floating**> scratch.rows
    cdef floating* odds = <floating*> scratch.scores
    cdef floating* gains = <floating*> scratch.gains
    cdef floating* change = <floating*> scratch.change
    cdef floating largest = LARGEST_SCORE
    if not dot(loops, vector, vector, D) < min(LARGEST_SQUARE, LARGEST_SQUARE / (<double> rate * rate)):
        return INFINITY

    # odds = exp(-contexts[positives] @ vector), exp(contexts[negatives] @ vector): of being wrong
    for k in range(count):
        rows[k] = (<floating*> tables.contexts) + <size_t> scratch.targets[k] * D
    dots(loops, odds, rows, vector, count, D)
    for k in range(positives):
        odds[k] = -odds[k]
    for k in range(count):
        odds[k] = min(max(odds[k], -largest), largest)
    exponential(loops, odds, odds, count)

    # gains = -rate * d loss / d score
    for k in range(count):
        gains[k] = (rate if k < positives else -rate * weight) * (odds[k] / (1 + odds[k]))
    if gradients == NULL:
        memset(change, 0, D * sizeof(floating))
        exchange(loops, rows, change, gains, vector, count, D)
        add_scaled(loops, vector, <floating> 1, change, D)
    else:
        for k in range(count):
            add_scaled(loops, (<floating*> gradients.contexts) + <size_t> scratch.targets[k] * D, -gains[k], vector, D)
            add_scaled(loops, (<floating*> gradients.vectors) + centre * D, -gains[k], rows[k], D)
    return log_sum(odds, positives) + weight * log_sum(odds + positives, count - positives)


cdef void run(const void* loops, Tables* tables, Gradients* gradients, Windows* windows, Scratch* scratch, double alpha,
              Totals* totals, floating* kind) noexcept nogil:
    """Train on a chunk, or sum its gradients; `kind` only tells the number type."""
    cdef int D = tables.size, i, j, positives, count
    cdef const int* negatives
    cdef size_t bytes = D * sizeof(floating)
    cdef size_t centre
    for i in range(windows.n):
        centre = windows.tokens[i]
        if i + 1 < windows.n:
            prefetch(tables.vectors, windows.tokens + i + 1, 1, bytes)
        positives = windows.right[i] - windows.left[i]
        if positives == 0:
            continue
        negatives = negatives_of(windows, i)
        totals.centres += 1
        if i + 1 < windows.n:
            prefetch(tables.contexts, negatives_of(windows, i + 1), negative_count(windows, i + 1), bytes)
        if windows.shared:
            count = list_targets(windows, i, scratch.targets)
            totals.loss += predict(loops, tables, gradients, scratch, centre, positives, count, <floating> positives, <floating> alpha)
            continue
        for j in range(windows.left[i], windows.right[i] + 1):  # pair after pair, each from where the last has left the centre
            if j != i:
                scratch.targets[0] = windows.tokens[j]
                memcpy(scratch.targets + 1, negatives, windows.per * sizeof(int))
                negatives += windows.per
                totals.loss += predict(loops, tables, gradients, scratch, centre, 1, 1 + windows.per, <floating> 1, <floating> alpha)


cdef class Kernel:
    """The step bound to the arrays it trains: `means` and `context_vectors`, (V, D), of one dtype."""

    cdef Tables tables
    cdef dict arrays
    cdef object dtype
    cdef const void* loops

    def __init__(self, dict arrays, *, str instruction_set=None):
        self.arrays = arrays  # keeps them alive
        self.dtype = arrays["means"].dtype
        self.loops = loops_for(self.dtype, instruction_set)
        shape = arrays["means"].shape
        self.tables.size = shape[1]
        self.tables.vectors = address(arrays["means"], "means", self.dtype, shape)
        self.tables.contexts = address(arrays["context_vectors"], "context_vectors", self.dtype, shape)

    def step(self, chunk, double alpha):
        """Train on a chunk; return the summed loss and the number of centres."""
        return self._run(chunk, NULL, alpha)

    def gradients(self, chunk, dict into):
        """Add a chunk's gradients to the arrays of `into`, which has the names and shapes of the kernel's arrays."""
        cdef Gradients gradients
        shape = self.arrays["means"].shape
        gradients.vectors = address(into["means"], "means", self.dtype, shape)
        gradients.contexts = address(into["context_vectors"], "context_vectors", self.dtype, shape)
        return self._run(chunk, &gradients, 1.0)

    cdef tuple _run(self, chunk, Gradients* gradients, double alpha):
        cdef Windows windows
        cdef Scratch scratch
        cdef Totals totals = Totals(0, 0)
        memory = find_windows(chunk, &windows)
        if windows.widest == 0 or windows.per == 0:
            return 0.0, 0
        count = windows.widest + windows.per * (1 if windows.shared else windows.widest)
        targets, rows = np.empty(count, np.int32), np.empty(count, np.uintp)
        numbers = np.empty((2, count), self.dtype)
        change = np.empty(self.tables.size, self.dtype)
        scratch.targets = <int*> begin(targets)
        scratch.rows = <void**> begin(rows)
        scratch.scores = <void*> begin(numbers[0])
        scratch.gains = <void*> begin(numbers[1])
        scratch.change = <void*> begin(change)
        cdef bint single = self.dtype == np.float32
        with nogil:
            if single:
                run(self.loops, &self.tables, gradients, &windows, &scratch, alpha, &totals, <float*> NULL)
            else:
                run(self.loops, &self.tables, gradients, &windows, &scratch, alpha, &totals, <double*> NULL)
        return totals.loss, totals.centres
