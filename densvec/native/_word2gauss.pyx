"""Word2Gauss on the CPU: every word one Gaussian, pulled towards the words around it and away from others.

For a centre w, a word c of its window and a negative n, the loss is

    max(0, margin - E(w, c) + E(w, n))

with the energy E(w, c) = -KL[c || w], or -KL[w || c], or the log expected likelihood log N(0; mean_w - mean_c, v_w + v_c).
All pairs of a centre take one step together: first its positives and negatives move, then the centre itself.

The code is written for float and double: training uses float, the gradient check double.
"""

from cython cimport floating
from libc.math cimport INFINITY, fabs, isfinite, sqrt
from libc.string cimport memcpy, memset

from densvec.native._vector cimport (
    add_scaled, descend, distances, dot, energies, exponential, pull, pull_each, pull_each_gradient, pull_gradient, slopes,
    squares,
)
from densvec.native._windows cimport (
    Windows, address, begin, find_windows, hinge_of, list_targets, loops_for, negative_count, negatives_of, prefetch,
)

import numpy as np

cdef enum:
    KL, REVERSE_KL, LIKELIHOOD

ENERGIES = ("kl", "reverse_kl", "expected_likelihood")

cdef double LARGEST_RATE = 1e6   # steps are bounded: beyond this a rate changes nothing but may overflow


cdef struct Tables:
    int size                     # D
    int spread                   # numbers in a log-variance: 1 (spherical) or D (diagonal)
    void* means                  # (V, D)
    void* log_variances          # (V, spread)

cdef struct Gradients:           # where gradients go instead, when nothing is to be trained
    void* means
    void* log_variances

cdef struct Settings:
    double margin
    int energy
    double low                   # bounds of the log-variances
    double high
    double longest               # of the means
    double mean_rate
    double log_variance_rate

cdef struct Scratch:             # TMP; a target is a word that the centre is compared with
    int* targets                 # positives, then negatives
    void** rows                  # (targets,) their means, spherical only
    void* costs                  # (targets,) minus the energy
    void* shares                 # (targets,) derivative of the loss by the cost
    void* weights                # (targets,) of the positives
    void* variances              # (targets, spread)
    void* squares                # (targets, spread) squared distances; spherical: their mean over the dimensions
    void* gains                  # (targets,) or (D,): slopes of the costs in the means,
    void* d_row                  # in the targets' log-variances
    void* d_centre               # and in the centre's
    void* mean                   # (D,) of the centre
    void* log_variance           # (spread,) of the centre, spherical: as often as there are targets
    void* variance               # the same
    void* d_mean                 # (D,) gradient of the centre's mean
    void* curvature              # (D,) or (1,)
    void* d_log_variance         # (spread,)

cdef struct Totals:
    double hinge
    long long centres


cdef inline floating weigh(const void* loops, int energy, floating* costs, const floating* squares,
                           const floating* log_variance, const floating* variance, const floating* centre_log_variance,
                           const floating* centre_variance, int n) noexcept nogil:
    """Set minus the energy of n dimensions and return its sum."""
    if energy == KL:
        return energies(loops, costs, squares, log_variance, variance, centre_log_variance, centre_variance, False, n)
    else:
        return energies(loops, costs, squares, centre_log_variance, centre_variance, log_variance, variance,
                        energy == LIKELIHOOD, n)


cdef inline void differentiate(const void* loops, int energy, floating* gains, floating* d_row, floating* d_centre,
                               const floating* squares, const floating* variance, const floating* centre_variance,
                               floating weight, int n) noexcept nogil:
    """Set the slopes of minus the energy of n dimensions."""
    if energy == KL:
        slopes(loops, gains, d_row, d_centre, squares, variance, centre_variance, weight, False, n)
    else:
        slopes(loops, gains, d_centre, d_row, squares, centre_variance, variance, weight, energy == LIKELIHOOD, n)


cdef void compare(const void* loops, Tables* tables, Settings* settings, Scratch* scratch, size_t centre, int count,
                  floating* costs) noexcept nogil:
    """Fill mean, log_variance, variance, squares, variances and costs."""
    cdef int D = tables.size, k
    cdef size_t row
    cdef floating* means = <floating*> tables.means
    cdef floating* log_variances = <floating*> tables.log_variances
    cdef floating* mean = <floating*> scratch.mean
    cdef floating* log_variance = <floating*> scratch.log_variance
    cdef floating* variance = <floating*> scratch.variance
    cdef floating* variances = <floating*> scratch.variances
    cdef floating* gaps = <floating*> scratch.squares
    cdef floating* each = <floating*> scratch.gains
    cdef floating** rows = <floating**> scratch.rows
    memcpy(mean, means + centre * D, D * sizeof(floating))
    if tables.spread == 1:
        for k in range(count):
            row = scratch.targets[k]
            rows[k] = means + row * D
            each[k] = log_variances[row]
            log_variance[k] = log_variances[centre]
        distances(loops, gaps, rows, mean, count, D)
        for k in range(count):
            gaps[k] /= D
        exponential(loops, variances, each, count)
        exponential(loops, variance, log_variance, count)
        weigh(loops, settings.energy, costs, gaps, each, variances, log_variance, variance, count)
        for k in range(count):
            costs[k] *= D
    else:
        memcpy(log_variance, log_variances + centre * D, D * sizeof(floating))
        exponential(loops, variance, log_variance, D)
        for k in range(count):
            row = scratch.targets[k]
            squares(loops, gaps + k * D, mean, means + row * D, D)
            exponential(loops, variances + k * D, log_variances + row * D, D)
            costs[k] = weigh(loops, settings.energy, each, gaps + k * D, log_variances + row * D, variances + k * D,
                             log_variance, variance, D)


cdef inline void hold(const void* loops, floating* row, double longest, int D) noexcept nogil:
    """Shorten a mean that is longer than it may be."""
    cdef double square = dot(loops, row, row, D)
    cdef floating scale
    cdef int d
    if square > longest * longest:
        scale = longest / sqrt(square)
        for d in range(D):
            row[d] *= scale


cdef void move(const void* loops, Tables* tables, Gradients* gradients, Settings* settings, Scratch* scratch, size_t centre,
               int count, const floating* shares) noexcept nogil:
    """Pull the targets to the centre by their shares, or push them away; then move the centre."""
    cdef int D = tables.size, spread = tables.spread, k, d
    cdef size_t row
    cdef floating* means = <floating*> tables.means
    cdef floating* log_variances = <floating*> tables.log_variances
    cdef floating* mean = <floating*> scratch.mean
    cdef floating* variance = <floating*> scratch.variance
    cdef floating* variances = <floating*> scratch.variances
    cdef floating* gaps = <floating*> scratch.squares
    cdef floating* gains = <floating*> scratch.gains
    cdef floating* d_row = <floating*> scratch.d_row
    cdef floating* d_centre = <floating*> scratch.d_centre
    cdef floating* d_mean = <floating*> scratch.d_mean
    cdef floating* curvature = <floating*> scratch.curvature
    cdef floating* d_log_variance = <floating*> scratch.d_log_variance
    cdef floating mean_rate = settings.mean_rate, low = settings.low, high = settings.high, share, gain
    # Natural gradient: the Fisher information of a log-variance is D / 2, or 1/2 in each dimension.
    cdef floating log_variance_rate = 2 * settings.log_variance_rate
    memset(d_mean, 0, D * sizeof(floating))
    memset(curvature, 0, spread * sizeof(floating))
    memset(d_log_variance, 0, spread * sizeof(floating))
    if spread == 1:
        differentiate(loops, settings.energy, gains, d_row, d_centre, gaps, variances, variance, <floating> 1, count)
    for k in range(count):
        share = shares[k]
        if share == 0:
            continue
        row = scratch.targets[k]
        if spread == 1:
            gain = share * gains[k]
            d_log_variance[0] += share * d_centre[k]
            curvature[0] += <floating> fabs(gain)
            if gradients != NULL:
                pull_gradient(loops, (<floating*> gradients.means) + row * D, d_mean, means + row * D, mean, gain, D)
                (<floating*> gradients.log_variances)[row] += share * D * d_row[k]
                continue
            pull(loops, means + row * D, d_mean, mean, gain, mean_rate * gain / (1 + mean_rate * <floating> fabs(gain)), D)
            descend(loops, log_variances + row, d_row + k, log_variance_rate * share, low, high, 1)
        else:
            differentiate(loops, settings.energy, gains, d_row, d_centre, gaps + k * D, variances + k * D, variance,
                          share, D)
            add_scaled(loops, d_log_variance, <floating> 1, d_centre, D)
            if gradients != NULL:
                pull_each_gradient(loops, (<floating*> gradients.means) + row * D, d_mean, means + row * D, mean, gains, D)
                add_scaled(loops, (<floating*> gradients.log_variances) + row * D, <floating> 1, d_row, D)
                continue
            pull_each(loops, means + row * D, d_mean, curvature, mean, gains, mean_rate, D)
            descend(loops, log_variances + row * D, d_row, log_variance_rate, low, high, D)
        if share < 0 or spread > 1:  # a sphere pulled to another stays between them
            hold(loops, means + row * D, settings.longest, D)

    if gradients != NULL:
        add_scaled(loops, (<floating*> gradients.means) + centre * D, <floating> 1, d_mean, D)
        add_scaled(loops, (<floating*> gradients.log_variances) + centre * spread, <floating> (D // spread), d_log_variance, spread)
        return
    if spread == 1:
        add_scaled(loops, means + centre * D, -mean_rate / (1 + mean_rate * curvature[0]), d_mean, D)
    else:
        for d in range(D):
            means[centre * D + d] -= mean_rate * d_mean[d] / (1 + mean_rate * curvature[d])
    hold(loops, means + centre * D, settings.longest, D)
    descend(loops, log_variances + centre * spread, d_log_variance, log_variance_rate, low, high, spread)


cdef void run(const void* loops, Tables* tables, Gradients* gradients, Settings* settings, Windows* windows, Scratch* scratch,
              Totals* totals, floating* kind) noexcept nogil:
    """Train on a chunk, or sum its gradients; `kind` only tells the number type."""
    cdef int D = tables.size, i, positives, count
    cdef double hinge
    cdef floating* costs = <floating*> scratch.costs
    cdef floating* shares = <floating*> scratch.shares
    for i in range(windows.n):
        if i + 1 < windows.n:
            prefetch(tables.means, negatives_of(windows, i + 1), negative_count(windows, i + 1), D * sizeof(floating))
            prefetch(tables.log_variances, negatives_of(windows, i + 1), negative_count(windows, i + 1),
                     tables.spread * sizeof(floating))
        positives = windows.right[i] - windows.left[i]
        if positives == 0:
            continue
        count = list_targets(windows, i, scratch.targets)
        compare(loops, tables, settings, scratch, windows.tokens[i], count, costs)
        hinge = hinge_of(loops, windows, i, settings.margin, costs, <floating*> scratch.weights, shares)
        totals.centres += 1
        if not isfinite(hinge):  # never let a diverging run write into the tables; the loop stops on this loss
            totals.hinge = INFINITY
            continue
        totals.hinge += hinge
        move(loops, tables, gradients, settings, scratch, windows.tokens[i], count, shares)


cdef class Kernel:
    """The step bound to the arrays it trains: `means`, (V, D), and `log_variances`, (V, 1) or (V, D), of one dtype."""

    cdef Tables tables
    cdef Settings settings
    cdef dict arrays
    cdef object dtype
    cdef const void* loops

    def __init__(self, dict arrays, *, double margin, str energy, double low, double high, double longest,
                 str instruction_set=None):
        self.arrays = arrays  # keeps them alive
        self.dtype = arrays["means"].dtype
        self.loops = loops_for(self.dtype, instruction_set)
        self.settings = Settings(margin, ENERGIES.index(energy), low, high, longest, 0, 0)
        words, size = arrays["means"].shape
        spread = arrays["log_variances"].shape[1]
        if spread not in (1, size):
            raise ValueError(f"log_variances has {spread} columns; it needs 1 or {size}")
        self.tables.size, self.tables.spread = size, spread
        self.tables.means = address(arrays["means"], "means", self.dtype, (words, size))
        self.tables.log_variances = address(arrays["log_variances"], "log_variances", self.dtype, (words, spread))

    def step(self, chunk, *, double mean, double log_variance):
        """Train on a chunk at these rates; return the sum of the hinge and the number of centres."""
        cdef Settings settings = self.settings
        settings.mean_rate = min(mean, LARGEST_RATE)
        settings.log_variance_rate = min(log_variance, LARGEST_RATE)
        return self._run(chunk, NULL, &settings)

    def gradients(self, chunk, dict into):
        """Add a chunk's gradients to the arrays of `into`, which has the names and shapes of the kernel's arrays."""
        cdef Gradients gradients
        gradients.means = address(into["means"], "means", self.dtype, self.arrays["means"].shape)
        gradients.log_variances = address(into["log_variances"], "log_variances", self.dtype, self.arrays["log_variances"].shape)
        return self._run(chunk, &gradients, &self.settings)

    cdef tuple _run(self, chunk, Gradients* gradients, Settings* settings):
        cdef Windows windows
        cdef Scratch scratch
        cdef Totals totals = Totals(0, 0)
        memory = find_windows(chunk, &windows)
        if windows.widest == 0 or windows.per == 0:
            return 0.0, 0
        count = windows.widest + windows.per * (1 if windows.shared else windows.widest)
        size, spread = self.tables.size, self.tables.spread
        targets, rows = np.empty(count, np.int32), np.empty(count, np.uintp)
        per_target, per_spread = np.empty((3, count), self.dtype), np.empty((2, count, spread), self.dtype)
        others = np.empty((9, max(count, size)), self.dtype)
        scratch.targets, scratch.rows = <int*> begin(targets), <void**> begin(rows)
        scratch.costs, scratch.shares = <void*> begin(per_target[0]), <void*> begin(per_target[1])
        scratch.weights = <void*> begin(per_target[2])
        scratch.variances, scratch.squares = <void*> begin(per_spread[0]), <void*> begin(per_spread[1])
        cdef void** pointers = &scratch.gains  # and those that follow it
        for i in range(9):
            pointers[i] = <void*> begin(others[i])
        cdef bint single = self.dtype == np.float32
        with nogil:
            if single:
                run(self.loops, &self.tables, gradients, settings, &windows, &scratch, &totals, <float*> NULL)
            else:
                run(self.loops, &self.tables, gradients, settings, &windows, &scratch, &totals, <double*> NULL)
        return totals.hinge, totals.centres
