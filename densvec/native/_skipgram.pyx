"""Skip-gram with negative sampling on the CPU: each centre's vector predicts the words around it.

For a centre w and a word c of its window, with K negatives n_k, the loss of the pair is

    -log sigmoid(x_w . y_c) - sum_k log sigmoid(-x_w . y_n_k)

with x the word vectors and y the context vectors. The pairs of a centre take one step of plain SGD together.
Negatives that they share count once per pair.

A check of the gradients runs the same step, into other arrays and at rate -1.
"""

from libc.math cimport INFINITY, isfinite, log
from libc.string cimport memcpy, memset

from densvec.native._loops cimport Loops
from densvec.native._vector cimport LANES, REAL
from densvec.native._windows cimport (
    Windows, address, begin, checked_rate, find_windows, list_targets, loops_for, negative_count,
    negatives_of, number_type, positive_count, prefetch,
)

import numpy as np

cdef double LARGEST_SQUARE = 1e16    # a vector whose squared length passes this has diverged

cdef struct Tables:
    REAL* vectors                # (V, D)
    REAL* contexts               # (V, D)

cdef struct Scratch:             # TMP; a target is a word to predict
    int* targets                 # predicted at once: positives, then negatives
    REAL** rows                  # their context vectors
    REAL** into                  # where those change, if elsewhere
    REAL* odds                   # one per target
    REAL* gains                  # one per target
    REAL* change                 # (D,) of the centre's vector

cdef struct Totals:
    double loss
    long long centres

cdef struct Step:                # everything that a step needs
    const Loops* loops
    int size                     # D
    Tables tables                # what predicts
    Tables into                  # what changes: the same, or gradients
    REAL rate
    bint measures                # only the loss, and changes nothing
    Windows windows
    Scratch scratch
    Totals totals


cdef inline double log_sum(const REAL* odds, int count) noexcept nogil:
    """Return log(1 + odds).sum() with as few logarithms as fit into a double."""
    cdef double product = 1, sum = 0
    cdef int k
    for k in range(count):
        product *= 1 + odds[k]
        if product > 1e200:
            sum += log(product)
            product = 1
    return sum + log(product)


cdef double predict(Step* step, size_t centre, int positives, int count, REAL weight) noexcept nogil:
    """Predict the targets from the centre and take a step; return the loss, with that weight for negatives.

    A diverging run must not overflow: it returns an infinite loss, on which the loop stops.
    """
    cdef int D = step.size, k
    cdef REAL rate = step.rate
    cdef size_t target
    loops = step.loops
    vector = step.tables.vectors + centre * D
    rows = step.scratch.rows
    into = rows if step.into.contexts == step.tables.contexts else step.scratch.into
    odds, gains, change = step.scratch.odds, step.scratch.gains, step.scratch.change
    if not loops.dot(vector, vector, D) < min(LARGEST_SQUARE, LARGEST_SQUARE / (<double> rate * rate)):
        return INFINITY

    # odds = exp(-contexts[positives] @ vector), exp(contexts[negatives] @ vector): of being wrong
    for k in range(count):
        target = step.scratch.targets[k]
        into[k] = step.into.contexts + target * D
        rows[k] = step.tables.contexts + target * D
    loops.dots(odds, rows, vector, count, D)
    if not isfinite(loops.dot(odds, odds, count)):
        return INFINITY
    for k in range(positives):
        odds[k] = -odds[k]
    loops.exponential(odds, odds, count)

    # gains = -rate * d loss / d score
    if not step.measures:
        for k in range(count):
            gains[k] = (rate if k < positives else -rate * weight) * (odds[k] / (1 + odds[k]))
        memset(change, 0, D * sizeof(REAL))
        loops.exchange(into, change, rows, gains, vector, count, D)
        loops.add_scaled(step.into.vectors + centre * D, 1, change, D)
    return log_sum(odds, positives) + weight * log_sum(odds + positives, count - positives)


cdef void run(Step* step) noexcept nogil:
    """Take the step for each centre of a chunk."""
    cdef int D = step.size, i, j, positives, count
    cdef const int* negatives
    cdef size_t centre
    windows = &step.windows
    targets = step.scratch.targets
    for i in range(windows.n):
        centre = windows.tokens[i]
        if i + 1 < windows.n:
            prefetch(step.tables.vectors, windows.tokens + i + 1, 1, D)
        positives = positive_count(windows, i)
        if positives == 0:
            continue
        negatives = negatives_of(windows, i)
        step.totals.centres += 1
        if i + 1 < windows.n:
            prefetch(step.tables.contexts, negatives_of(windows, i + 1), negative_count(windows, i + 1), D)
        if windows.shared:
            count = list_targets(windows, i, targets)
            step.totals.loss += predict(step, centre, positives, count, positives)
            continue
        for j in range(windows.left[i], windows.right[i] + 1):
            if j != i:  # each pair starts where the last one left the centre
                targets[0] = windows.tokens[j]
                memcpy(targets + 1, negatives, windows.per * sizeof(int))
                negatives += windows.per
                step.totals.loss += predict(step, centre, 1, 1 + windows.per, 1)


cdef class Kernel:
    """The step bound to the arrays it trains: `means` and `context_vectors`, (V, D), of one dtype."""

    cdef Step bound              # what all steps have in common
    cdef dict arrays

    def __init__(self, dict arrays, *, str instruction_set=None):
        self.arrays = arrays  # keeps them alive
        self.bound.loops = loops_for(instruction_set)
        self.bound.size = arrays["means"].shape[1]
        self.bound.tables = self._tables(arrays)

    cdef Tables _tables(self, dict arrays) except *:
        shape = self.arrays["means"].shape
        return Tables(
            vectors=address(arrays["means"], "means", shape),
            contexts=address(arrays["context_vectors"], "context_vectors", shape),
        )

    def step(self, chunk, double alpha, int worker=0):
        """Train on a chunk, as any worker; return the summed loss and the number of centres."""
        return self._run(chunk, self.bound.tables, checked_rate(alpha))

    def gradients(self, chunk, dict into):
        """Add a chunk's gradients to the arrays of `into`, named and shaped as the kernel's own."""
        return self._run(chunk, self._tables(into), -1)

    def measure(self, chunk, int worker=0):
        """Return the summed loss of a chunk and the number of centres; change nothing."""
        return self._run(chunk, self.bound.tables, 1, True)

    cdef tuple _run(self, chunk, Tables into, double rate, bint measures=False):
        cdef Step step = self.bound
        _memory = find_windows(chunk, &step.windows, self.arrays["means"])  # what the windows point into
        if step.windows.widest == 0 or step.windows.per == 0:
            return 0.0, 0
        count = step.windows.most_targets
        targets, addresses = np.empty(count, np.int32), np.empty((2, count), np.uintp)
        numbers, change = np.empty((2, count + LANES), number_type()), np.empty(step.size, number_type())
        step.scratch = Scratch(
            targets=<int*> begin(targets),
            rows=<REAL**> begin(addresses[0]),
            into=<REAL**> begin(addresses[1]),
            odds=<REAL*> begin(numbers[0]),
            gains=<REAL*> begin(numbers[1]),
            change=<REAL*> begin(change),
        )
        step.into, step.rate, step.totals, step.measures = into, rate, Totals(0, 0), measures
        with nogil:
            run(&step)
        return step.totals.loss, step.totals.centres
