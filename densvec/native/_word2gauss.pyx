"""Word2Gauss on the CPU: every word one Gaussian, pulled towards the words around it and away from others.

For a centre w, a word c of its window and a negative n, the loss is

    max(0, margin - E(w, c) + E(w, n))

with the energy E(w, c) = -KL[c || w], or -KL[w || c], or the log expected likelihood
log N(0; mean_w - mean_c, v_w + v_c). All pairs of a centre take one step together: first its positives and
negatives move, then the centre itself.

A check of the gradients runs the same step: into other arrays, at rates below 0, without damping and bounds.
"""

from libc.math cimport INFINITY, fabs, isfinite, sqrt
from libc.string cimport memcpy, memset

from densvec.native._loops cimport Loops
from densvec.native._vector cimport LANES, REAL, Descent
from densvec.native._windows cimport (
    Windows, address, begin, checked_rate, find_windows, hinge_of, list_targets, loops_for, negative_count,
    negatives_of, number_type, positive_count, prefetch,
)

import numpy as np

cdef enum:
    KL, REVERSE_KL, LIKELIHOOD

ENERGIES = ("kl", "reverse_kl", "expected_likelihood")

cdef double LONGEST_STEP = 1     # of a log-variance

cdef struct Tables:
    REAL* means                  # (V, D)
    REAL* log_variances          # (V, spread)

cdef struct Scratch:             # TMP; a target is a word that the centre is compared with
    int* targets                 # positives, then negatives
    REAL** rows                  # (targets,) their means, spherical only
    REAL* costs                  # (targets,) minus the energy
    REAL* shares                 # (targets,) derivative of the loss by the cost
    REAL* weights                # (targets,) of the positives
    REAL* variances              # (targets, spread)
    REAL* squares                # (targets, spread) squared distances; spherical: mean over the dimensions
    REAL* gains                  # (targets,) or (D,): slopes of the costs in the means,
    REAL* d_row                  # in the targets' log-variances
    REAL* d_centre               # and in the centre's
    REAL* mean                   # (D,) of the centre
    REAL* log_variance           # (spread,) of the centre, spherical: once for each target
    REAL* variance               # the same
    REAL* d_mean                 # (D,) gradient of the centre's mean
    REAL* curvature              # (D,) or (1,)
    REAL* d_log_variance         # (spread,)

cdef struct Totals:
    double hinge
    long long centres

cdef struct Step:                # everything that a step needs
    const Loops* loops
    int size                     # D
    int spread                   # numbers in a log-variance: 1 (spherical) or D (diagonal)
    int energy
    double margin
    Tables tables                # what is compared
    Tables into                  # what changes: the same, or gradients
    Descent descent              # how
    double longest               # that a mean may be
    bint measures                # only the loss, and changes nothing
    Windows windows
    Scratch scratch
    Totals totals


cdef inline REAL find_costs(Step* step, REAL* costs, const REAL* squares, const REAL* log_variance,
                            const REAL* variance, int n) noexcept nogil:
    """Set the cost, minus the energy, of n dimensions of the centre and a target, and return their sum."""
    loops, s = step.loops, &step.scratch
    if step.energy == KL:
        return loops.costs(costs, squares, log_variance, variance, s.log_variance, s.variance, False, n)
    return loops.costs(costs, squares, s.log_variance, s.variance, log_variance, variance,
                       step.energy == LIKELIHOOD, n)


cdef inline void find_slopes(Step* step, const REAL* squares, const REAL* variance, REAL weight,
                             int n) noexcept nogil:
    """Set the slopes of the costs of n dimensions: gains, d_row and d_centre."""
    loops, s = step.loops, &step.scratch
    if step.energy == KL:
        loops.slopes(s.gains, s.d_row, s.d_centre, squares, variance, s.variance, weight, False, n)
    else:
        loops.slopes(s.gains, s.d_centre, s.d_row, squares, s.variance, variance, weight,
                     step.energy == LIKELIHOOD, n)


cdef void compare(Step* step, size_t centre, int count) noexcept nogil:
    """Fill mean, log_variance, variance, squares, variances and costs."""
    cdef int D = step.size, k
    cdef size_t row, begins
    loops, s = step.loops, &step.scratch
    means, log_variances, costs, each = step.tables.means, step.tables.log_variances, s.costs, s.gains
    memcpy(s.mean, means + centre * D, D * sizeof(REAL))
    if step.spread == 1:
        for k in range(count):
            row = s.targets[k]
            s.rows[k] = means + row * D
            each[k] = log_variances[row]
            s.log_variance[k] = log_variances[centre]
        loops.distances(s.squares, s.rows, s.mean, count, NULL, 0, D, False)
        for k in range(count):
            s.squares[k] /= D
        loops.exponential(s.variances, each, count)
        loops.exponential(s.variance, s.log_variance, count)
        find_costs(step, costs, s.squares, each, s.variances, count)
        for k in range(count):
            costs[k] *= D
    else:
        memcpy(s.log_variance, log_variances + centre * D, D * sizeof(REAL))
        loops.exponential(s.variance, s.log_variance, D)
        for k in range(count):
            row = s.targets[k]
            begins = <size_t> k * D
            loops.squares(s.squares + begins, s.mean, means + row * D, D)
            loops.exponential(s.variances + begins, log_variances + row * D, D)
            costs[k] = find_costs(step, each, s.squares + begins, log_variances + row * D,
                                  s.variances + begins, D)


cdef inline void shorten(Step* step, REAL* mean) noexcept nogil:
    """Shorten a mean that is longer than it may be."""
    cdef double square = step.loops.dot(mean, mean, step.size)
    cdef REAL scale
    cdef int d
    if square > step.longest * step.longest:
        scale = step.longest / sqrt(square)
        for d in range(step.size):
            mean[d] *= scale


cdef void move(Step* step, size_t centre, int count) noexcept nogil:
    """Pull the targets to the centre by their shares, or push them away; then move the centre."""
    cdef int D = step.size, spread = step.spread, k, d
    cdef size_t row, begins
    cdef REAL rate = step.descent.mean_rate, damping = step.descent.damping, share, gain
    cdef REAL log_variance_rate = step.descent.log_variance_rate
    loops, s, descent = step.loops, &step.scratch, &step.descent
    means, into, into_log_variances = step.tables.means, step.into.means, step.into.log_variances
    memset(s.d_mean, 0, D * sizeof(REAL))
    memset(s.curvature, 0, spread * sizeof(REAL))
    memset(s.d_log_variance, 0, spread * sizeof(REAL))
    if spread == 1:
        find_slopes(step, s.squares, s.variances, 1, count)
    for k in range(count):
        share = s.shares[k]
        if share == 0:
            continue
        row = s.targets[k]
        if spread == 1:
            gain = share * s.gains[k]
            s.d_log_variance[0] += share * s.d_centre[k]
            s.curvature[0] += <REAL> fabs(gain)
            loops.pull(into + row * D, s.d_mean, means + row * D, s.mean, gain,
                       rate * gain / (1 + damping * <REAL> fabs(gain)), D)
            loops.descend(into_log_variances + row, s.d_row + k, log_variance_rate * share, descent, 1)
        else:
            begins = <size_t> k * D
            find_slopes(step, s.squares + begins, s.variances + begins, share, D)
            loops.add_scaled(s.d_log_variance, 1, s.d_centre, D)
            loops.pull_each(into + row * D, s.d_mean, s.curvature, means + row * D, s.mean, s.gains, descent,
                            D)
            loops.descend(into_log_variances + row * D, s.d_row, log_variance_rate, descent, D)
        if share < 0 or spread > 1:  # a sphere pulled to another stays between them
            shorten(step, into + row * D)

    # mean -= rate / (1 + damping * curvature) * d_mean
    if spread == 1:
        loops.add_scaled(into + centre * D, -rate / (1 + damping * s.curvature[0]), s.d_mean, D)
    else:
        for d in range(D):
            into[centre * D + d] -= rate * s.d_mean[d] / (1 + damping * s.curvature[d])
    shorten(step, into + centre * D)
    loops.descend(into_log_variances + centre * spread, s.d_log_variance, log_variance_rate, descent, spread)


cdef void run(Step* step) noexcept nogil:
    """Take the step for each centre of a chunk."""
    cdef int i, count, positives
    cdef double hinge
    windows, s = &step.windows, &step.scratch
    for i in range(windows.n):
        if i + 1 < windows.n:
            negatives, count = negatives_of(windows, i + 1), negative_count(windows, i + 1)
            prefetch(step.tables.means, negatives, count, step.size)
            prefetch(step.tables.log_variances, negatives, count, step.spread)
        if positive_count(windows, i) == 0:
            continue
        count = list_targets(windows, i, s.targets)
        compare(step, windows.tokens[i], count)
        positives = positive_count(windows, i)
        hinge = hinge_of(step.loops, windows, i, step.margin, s.costs, s.costs + positives, s.weights,
                         s.shares, s.shares + positives, False)
        step.totals.centres += 1
        if not isfinite(hinge):  # a diverging run must not write into the tables; this loss stops it
            step.totals.hinge = INFINITY
            continue
        step.totals.hinge += hinge
        if not step.measures:
            move(step, windows.tokens[i], count)


cdef class Kernel:
    """The step bound to the arrays it trains: `means`, (V, D), and `log_variances`, (V, 1) or (V, D)."""

    cdef Step bound              # what all steps have in common
    cdef double low, high, longest
    cdef dict arrays

    def __init__(self, dict arrays, *, double margin, str energy, double low, double high, double longest,
                 str instruction_set=None):
        self.arrays = arrays  # keeps them alive
        size, spread = arrays["means"].shape[1], arrays["log_variances"].shape[1]
        if spread not in (1, size):
            raise ValueError(f"log_variances has {spread} columns; it needs 1 or {size}")
        self.bound.loops = loops_for(instruction_set)
        self.bound.size, self.bound.spread = size, spread
        self.bound.margin, self.bound.energy = margin, ENERGIES.index(energy)
        self.bound.tables = self._tables(arrays)
        self.low, self.high, self.longest = low, high, longest

    cdef Tables _tables(self, dict arrays) except *:
        words, size, spread = len(self.arrays["means"]), self.bound.size, self.bound.spread
        return Tables(
            means=address(arrays["means"], "means", (words, size)),
            log_variances=address(arrays["log_variances"], "log_variances", (words, spread)),
        )

    def step(self, chunk, *, double mean, double log_variance, int worker=0):
        """Train on a chunk at these rates; return the sum of the hinge and the number of centres."""
        cdef double rate = checked_rate(mean)
        # Natural gradient: the Fisher information of a log-variance is D / 2, or 1/2 in each dimension.
        cdef double log_variance_rate = 2 * checked_rate(log_variance)
        cdef Descent descent = Descent(rate, rate, log_variance_rate, LONGEST_STEP, self.low, self.high)
        return self._run(chunk, self.bound.tables, descent, self.longest)

    def gradients(self, chunk, dict into):
        """Add a chunk's gradients to the arrays of `into`, named and shaped as the kernel's own."""
        cdef double dimensions = self.bound.size // self.bound.spread  # that share a log-variance
        cdef Descent descent = Descent(-1, 0, -dimensions, INFINITY, -INFINITY, INFINITY)
        return self._run(chunk, self._tables(into), descent, INFINITY)

    def measure(self, chunk, int worker=0):
        """Return the sum of the hinge over a chunk and the number of centres; change nothing."""
        return self._run(chunk, self.bound.tables, Descent(0, 0, 0, 0, 0, 0), 0, True)

    cdef tuple _run(self, chunk, Tables into, Descent descent, double longest, bint measures=False):
        cdef Step step = self.bound
        _memory = find_windows(chunk, &step.windows, self.arrays["means"])  # what the windows point into
        if step.windows.widest == 0 or step.windows.per == 0:
            return 0.0, 0
        count, dtype = step.windows.most_targets + LANES, number_type()  # the loops go on for whole blocks
        targets, rows = np.empty(count, np.int32), np.empty(count, np.uintp)
        per_target, per_spread = np.empty((3, count), dtype), np.empty((2, count, step.spread), dtype)
        others = np.empty((9, max(count, step.size)), dtype)
        step.scratch = Scratch(
            targets=<int*> begin(targets),
            rows=<REAL**> begin(rows),
            costs=<REAL*> begin(per_target[0]),
            shares=<REAL*> begin(per_target[1]),
            weights=<REAL*> begin(per_target[2]),
            variances=<REAL*> begin(per_spread[0]),
            squares=<REAL*> begin(per_spread[1]),
            gains=<REAL*> begin(others[0]),
            d_row=<REAL*> begin(others[1]),
            d_centre=<REAL*> begin(others[2]),
            mean=<REAL*> begin(others[3]),
            log_variance=<REAL*> begin(others[4]),
            variance=<REAL*> begin(others[5]),
            d_mean=<REAL*> begin(others[6]),
            curvature=<REAL*> begin(others[7]),
            d_log_variance=<REAL*> begin(others[8]),
        )
        step.into, step.descent, step.longest, step.totals = into, descent, longest, Totals(0, 0)
        step.measures = measures
        with nogil:
            run(&step)
        return step.totals.hinge, step.totals.centres
