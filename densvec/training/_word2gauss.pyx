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

from densvec.training._vector cimport (
    descend, dot, energies, exponential, pull, pull_each, pull_each_gradient, pull_gradient, slopes,
    squared_distance, squares,
)
from densvec.training._windows cimport (
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
    void* costs                  # (targets,) minus the energy
    void* shares                 # (targets,) derivative of the loss by the cost
    void* variances              # (targets, spread)
    void* squares                # (targets, spread) squared distances; spherical: their mean over the dimensions
    void* gains                  # (targets,) or (D,): slopes of the costs in the means,
    void* d_row                  # in the targets' log-variances
    void* d_centre               # and in the centre's
    void* mean                   # (D,) of the centre
    void* log_variance           # (spread,) of the centre, spherical: as often as there are targets
    void* variance               # the same
    void* d_mean                 # (D,) minus the gradient of the centre's mean
    void* curvature              # (D,) or (1,)
    void* d_log_variance         # (spread,)

cdef struct Totals:
    double hinge
    long long centres


cdef inline void weigh(const void* loops, int energy, floating* costs, const floating* squares, const floating* log_variance,
                       const floating* variance, const floating* centre_log_variance, const floating* centre_variance,
                       int n) noexcept nogil:
    """Set minus the energy of n dimensions."""
    if energy == KL:
        energies(loops, costs, squares, log_variance, variance, centre_log_variance, centre_variance, False, n)
    else:
        energies(loops, costs, squares, centre_log_variance, centre_variance, log_variance, variance, energy == LIKELIHOOD, n)


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
    cdef int D = tables.size, k, d
    cdef size_t row
    cdef floating* means = <floating*> tables.means
    cdef floating* log_variances = <floating*> tables.log_variances
    cdef floating* mean = <floating*> scratch.mean
    cdef floating* log_variance = <floating*> scratch.log_variance
    cdef floating* variance = <floating*> scratch.variance
    cdef floating* variances = <floating*> scratch.variances
    cdef floating* distances = <floating*> scratch.squares
    cdef floating* each = <floating*> scratch.gains
    memcpy(mean, means + centre * D, D * sizeof(floating))
    if tables.spread == 1:
        for k in range(count):
            row = scratch.targets[k]
            distances[k] = squared_distance(loops, mean, means + row * D, D) / D
            each[k] = log_variances[row]
            log_variance[k] = log_variances[centre]
        exponential(loops, variances, each, count)
        exponential(loops, variance, log_variance, count)
        weigh(loops, settings.energy, costs, distances, each, variances, log_variance, variance, count)
        for k in range(count):
            costs[k] *= D
    else:
        memcpy(log_variance, log_variances + centre * D, D * sizeof(floating))
        exponential(loops, variance, log_variance, D)
        for k in range(count):
            row = scratch.targets[k]
            squares(loops, distances + k * D, mean, means + row * D, D)
            exponential(loops, variances + k * D, log_variances + row * D, D)
            weigh(loops, settings.energy, each, distances + k * D, log_variances + row * D, variances + k * D, log_variance,
                  variance, D)
            costs[k] = 0
            for d in range(D):
                costs[k] += each[d]


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
    cdef floating* distances = <floating*> scratch.squares
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
        differentiate(loops, settings.energy, gains, d_row, d_centre, distances, variances, variance, <floating> 1, count)
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
            differentiate(loops, settings.energy, gains, d_row, d_centre, distances + k * D, variances + k * D, variance,
                          share, D)
            for d in range(D):
                d_log_variance[d] += d_centre[d]
            if gradients != NULL:
                pull_each_gradient(loops, (<floating*> gradients.means) + row * D, d_mean, means + row * D, mean, gains, D)
                for d in range(D):
                    (<floating*> gradients.log_variances)[row * D + d] += d_row[d]
                continue
            pull_each(loops, means + row * D, d_mean, curvature, mean, gains, mean_rate, D)
            descend(loops, log_variances + row * D, d_row, log_variance_rate, low, high, D)
        hold(loops, means + row * D, settings.longest, D)

    if gradients != NULL:
        for d in range(D):
            (<floating*> gradients.means)[centre * D + d] += d_mean[d]
        for d in range(spread):
            (<floating*> gradients.log_variances)[centre * spread + d] += d_log_variance[d] * (D // spread)
        return
    for d in range(D):
        means[centre * D + d] -= mean_rate * d_mean[d] / (1 + mean_rate * curvature[d if spread > 1 else 0])
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
        hinge = hinge_of(loops, windows, positives, count, settings.margin, costs, shares)
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
        targets = np.empty(count, np.int32)
        per_target, per_spread = np.empty((2, count), self.dtype), np.empty((2, count, spread), self.dtype)
        others = np.empty((9, max(count, size)), self.dtype)
        scratch.targets = <int*> begin(targets)
        scratch.costs, scratch.shares = <void*> begin(per_target[0]), <void*> begin(per_target[1])
        scratch.variances, scratch.squares = <void*> begin(per_spread[0]), <void*> begin(per_spread[1])
        scratch.gains, scratch.d_row, scratch.d_centre = <void*> begin(others[0]), <void*> begin(others[1]), <void*> begin(others[2])
        scratch.mean, scratch.variance, scratch.d_mean = <void*> begin(others[3]), <void*> begin(others[4]), <void*> begin(others[5])
        scratch.curvature, scratch.d_log_variance = <void*> begin(others[6]), <void*> begin(others[7])
        scratch.log_variance = <void*> begin(others[8])
        cdef bint single = self.dtype == np.float32
        with nogil:
            if single:
                run(self.loops, &self.tables, gradients, settings, &windows, &scratch, &totals, <float*> NULL)
            else:
                run(self.loops, &self.tables, gradients, settings, &windows, &scratch, &totals, <double*> NULL)
        return totals.hinge, totals.centres
