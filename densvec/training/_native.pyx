"""The Bayesian Skip-gram's training step on the CPU: forward and backward fused, rows updated in place.

A chunk is taken in tiles of `TILE` centres. A tile's encoder is a few matrix products: the layer is linear before the relu, so
each position is projected once and a (centre, context) pair costs one vector addition. Between them, centre after centre, the
divergences are compared and the priors pulled or pushed at once (Hogwild when several workers share the tables). The encoder's
own weights take one Adam step per tile.

The code is written for float and double: training uses float, the gradient check double.
"""

from cython cimport floating
from libc.math cimport INFINITY, exp, fabs, isfinite, pow, sqrt
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset
from scipy.linalg.cython_blas cimport dgemm, sgemm

from densvec.training._vector cimport (
    adam, add_scaled, best_instruction_set, dot, exponential, prefetch_row, pull, pull_diagonal, pull_diagonal_gradient,
    pull_gradient, relu_sum, relu_sum_back, score_diagonal, squared_distance,
)
from densvec.training._windows cimport (
    Windows, address, find_windows, hinge_of, list_targets, loops_for, negative_count, negatives_of,
)

import numpy as np

from densvec.encoder import LOG_VARIANCE_BOUNDS
from densvec.training.settings import (
    ADAGRAD_EPSILON, ADAM_BETAS, ADAM_EPSILON, LOG_VARIANCE_STEP, PRIOR_LOG_VARIANCE_BOUNDS,
)

cdef enum:
    TILE = 256      # centres between two steps of the encoder's weights
    WEIGHTS = 6     # arrays of encoder weights

cdef enum:          # which is which
    CONTEXT_LAYER, CENTRE_LAYER, MEAN_HEAD, MEAN_BIAS, VARIANCE_HEAD, VARIANCE_BIAS

WEIGHT_NAMES = ("context_layer", "centre_layer", "mean_head", "mean_bias", "variance_head", "variance_bias")

cdef double POSTERIOR_LOW = LOG_VARIANCE_BOUNDS[0]
cdef double POSTERIOR_HIGH = LOG_VARIANCE_BOUNDS[1]
cdef double PRIOR_BOUND = PRIOR_LOG_VARIANCE_BOUNDS[1]
cdef double LARGEST_STEP = LOG_VARIANCE_STEP
cdef double ADAGRAD_FLOOR = ADAGRAD_EPSILON
cdef double ADAM_FLOOR = ADAM_EPSILON

assert ADAM_BETAS == (0.9, 0.999), "_vector_loops.h has these constants"
assert LOG_VARIANCE_STEP == 1.0 and PRIOR_LOG_VARIANCE_BOUNDS[0] == -PRIOR_LOG_VARIANCE_BOUNDS[1]


cdef struct Tables:              # what is trained: arrays borrowed from wv and from the optimiser
    int size                     # D, of the densities
    int spread                   # numbers in a log-variance: 1 (spherical) or D (diagonal)
    int inputs                   # E, of the encoder's embeddings
    int hidden                   # H
    bint residual                # whether a posterior's mean is its prior's mean, shifted by the encoder
    void* means                  # (V, D)
    void* log_variances          # (V, spread)
    void* embeddings             # (V, E)
    void* squares                # (V,) Adagrad's sums for the embeddings
    void* weights[WEIGHTS]
    void* first[WEIGHTS]         # Adam's moments
    void* second[WEIGHTS]
    int lengths[WEIGHTS]
    long long* steps             # Adam's

cdef struct Gradients:           # where gradients go instead, when nothing is to be trained
    void* means
    void* log_variances
    void* embeddings
    void* weights[WEIGHTS]

cdef struct Rates:
    double mean
    double log_variance
    double embedding
    double encoder

cdef struct Totals:
    double hinge
    double kl
    long long centres

cdef struct Scratch:             # TMP, one per worker; on the way back a gradient replaces what it is the gradient of
    void* inputs                 # (tile + halo, E)
    void* contexts               # (tile + halo, H)
    void* centres                # (tile, H)
    void* hidden                 # (tile, H)
    void* means                  # (tile, D)
    void* log_variances          # (tile, spread)
    void* variances              # (tile, spread)
    void* d_contexts             # (tile + halo, H)
    void* d_means                # (tile, D)
    void* d_log_variances        # (tile, spread)
    void* d_centre               # (H,)
    void* d_weights[WEIGHTS]
    int* rows                    # word ids that one centre is compared with: positives, negatives, the centre itself
    void* row_log_variances      # (rows,) spherical only
    void* precisions             # (rows,) or (rows, D): 1 / variance
    void* distances              # (rows,) squared, spherical only
    void* scores                 # (rows,) KL[q || row] up to q's entropy
    void* shares                 # (rows,) derivative of the loss by the score


cdef inline void gemm(char a_op, char b_op, int m, int n, int k, const floating* a, const floating* b, floating beta,
                      floating* c) noexcept nogil:
    """c = op(a) op(b) + beta c in row-major order; 'T' transposes."""
    # BLAS is column-major: it sees our arrays transposed, so ask it for cᵀ = op(b)ᵀ op(a)ᵀ.
    cdef floating alpha = 1
    cdef int lda = k if a_op == c'N' else m
    cdef int ldb = n if b_op == c'N' else k
    if floating is float:
        sgemm(&b_op, &a_op, &n, &m, &k, &alpha, <float*> b, &ldb, <float*> a, &lda, &beta, c, &n)
    else:
        dgemm(&b_op, &a_op, &n, &m, &k, &alpha, <double*> b, &ldb, <double*> a, &lda, &beta, c, &n)


cdef void encode(const void* loops, Tables* tables, Windows* text, Scratch* scratch, int first, int last, int low, int high,
                 floating* kind) noexcept nogil:
    """Infer the posteriors of the centres first..last-1; low..high-1 are the positions that their windows reach."""
    cdef int E = tables.inputs, H = tables.hidden, D = tables.size, spread = tables.spread
    cdef int i, d
    cdef floating* inputs = <floating*> scratch.inputs
    cdef floating* contexts = <floating*> scratch.contexts
    cdef floating* centres = <floating*> scratch.centres
    cdef floating* hidden = <floating*> scratch.hidden
    cdef floating* means = <floating*> scratch.means
    cdef floating* log_variances = <floating*> scratch.log_variances
    cdef floating* variances = <floating*> scratch.variances
    cdef floating low_bound = POSTERIOR_LOW, high_bound = POSTERIOR_HIGH

    # inputs = embeddings[tokens]; contexts = inputs @ context_layer; centres = inputs @ centre_layer
    for i in range(low, high):
        memcpy(inputs + (i - low) * E, (<floating*> tables.embeddings) + <size_t> text.tokens[i] * E, E * sizeof(floating))
    gemm(c'N', c'N', high - low, H, E, inputs, <floating*> tables.weights[CONTEXT_LAYER], 0, contexts)
    gemm(c'N', c'N', last - first, H, E, inputs + (first - low) * E, <floating*> tables.weights[CENTRE_LAYER], 0, centres)

    # hidden[i] = relu(contexts[window of i] + centres[i]).sum(0)
    for i in range(first, last):
        relu_sum(loops, hidden + (i - first) * H, contexts + (text.left[i] - low) * H, centres + (i - first) * H,
                 text.right[i] - text.left[i] + 1, i - text.left[i], H)

    # means = hidden @ mean_head + mean_bias; log_variances = hidden @ variance_head + variance_bias
    for i in range(last - first):
        memcpy(means + i * D, tables.weights[MEAN_BIAS], D * sizeof(floating))
        memcpy(log_variances + i * spread, tables.weights[VARIANCE_BIAS], spread * sizeof(floating))
    gemm(c'N', c'N', last - first, D, H, hidden, <floating*> tables.weights[MEAN_HEAD], 1, means)
    gemm(c'N', c'N', last - first, spread, H, hidden, <floating*> tables.weights[VARIANCE_HEAD], 1, log_variances)
    for d in range((last - first) * spread):
        variances[d] = min(max(log_variances[d], low_bound), high_bound)
    exponential(loops, variances, variances, (last - first) * spread)


cdef void score_rows(const void* loops, Tables* tables, Scratch* scratch, int centre, int count, const int* next,
                     int nexts, floating* scores) noexcept nogil:
    """Score the rows of a centre: 1/2 sum((v_q + (mean_q - mean_p)^2) / v_p + log v_p), KL up to what is q's alone.

    `next` are words soon to be scored: their rows are fetched from memory meanwhile.
    """
    cdef int D = tables.size, k, d
    cdef size_t row
    cdef floating* mean = (<floating*> scratch.means) + centre * D
    cdef floating* variance = (<floating*> scratch.variances) + centre * tables.spread
    cdef floating* means = <floating*> tables.means
    cdef floating* log_variances = <floating*> tables.log_variances
    cdef floating* row_log_variances = <floating*> scratch.row_log_variances
    cdef floating* precisions = <floating*> scratch.precisions
    cdef floating* distances = <floating*> scratch.distances
    if tables.spread == 1:
        for k in range(count):
            if k < nexts:
                prefetch_row(means + <size_t> next[k] * D, D * sizeof(floating))
            row = scratch.rows[k]
            row_log_variances[k] = log_variances[row]
            precisions[k] = -log_variances[row]
            distances[k] = squared_distance(loops, mean, means + row * D, D)
        exponential(loops, precisions, precisions, count)
        for k in range(count):
            scores[k] = ((D * variance[0] + distances[k]) * precisions[k] + D * row_log_variances[k]) / 2
    else:
        for k in range(count):
            row = scratch.rows[k]
            for d in range(D):
                precisions[k * D + d] = -log_variances[row * D + d]
            exponential(loops, precisions + k * D, precisions + k * D, D)
            scores[k] = score_diagonal(loops, means + row * D, log_variances + row * D, precisions + k * D, mean, variance, D)


cdef void move_rows(const void* loops, Tables* tables, Gradients* gradients, double mean_rate_, double log_variance_rate_,
                    Scratch* scratch, int centre, int first, int last, const floating* shares) noexcept nogil:
    """Pull the rows first..last-1 to the posterior by their shares, or push them away; sum the posterior's own gradient."""
    cdef int D = tables.size, k
    cdef size_t row
    cdef floating share, gain, strength, ratio, step
    cdef floating* mean = (<floating*> scratch.means) + centre * D
    cdef floating* variance = (<floating*> scratch.variances) + centre * tables.spread
    cdef floating* d_mean = (<floating*> scratch.d_means) + centre * D
    cdef floating* d_log_variance = (<floating*> scratch.d_log_variances) + centre * tables.spread
    cdef floating* means = <floating*> tables.means
    cdef floating* log_variances = <floating*> tables.log_variances
    cdef floating* precisions = <floating*> scratch.precisions
    cdef floating* distances = <floating*> scratch.distances
    cdef floating mean_rate = mean_rate_, log_variance_rate = log_variance_rate_
    cdef floating bound = PRIOR_BOUND, largest = LARGEST_STEP

    for k in range(first, last):
        share = shares[k]
        if share == 0:
            continue
        row = scratch.rows[k]
        if tables.spread == 1:
            gain = share * precisions[k]
            d_log_variance[0] += gain * D * variance[0] / 2
            ratio = (variance[0] + distances[k] / D) * precisions[k]
            if gradients != NULL:
                pull_gradient(loops, (<floating*> gradients.means) + row * D, d_mean, means + row * D, mean, gain, D)
                (<floating*> gradients.log_variances)[row] += share * D * (1 - ratio) / 2
            else:
                # An implicit step: the further the rate would overshoot, the more it is held back.
                strength = mean_rate * <floating> fabs(gain)
                pull(loops, means + row * D, d_mean, mean, gain, mean_rate * gain / (1 + strength), D)
                # Natural gradient: the Fisher information of a log-variance is D / 2.
                step = log_variance_rate * share * (ratio - 1)
                step = min(max(step, -largest), largest)
                log_variances[row] = min(max(log_variances[row] + step, -bound), bound)
        elif gradients != NULL:
            pull_diagonal_gradient(loops, (<floating*> gradients.means) + row * D, (<floating*> gradients.log_variances) + row * D,
                                   d_mean, d_log_variance, means + row * D, precisions + k * D, mean, variance, share, D)
        else:
            pull_diagonal(loops, means + row * D, log_variances + row * D, d_mean, d_log_variance, precisions + k * D,
                          mean, variance, share, mean_rate, log_variance_rate, bound, D)


cdef void move_centre(const void* loops, Tables* tables, double rate, Scratch* scratch, int centre, int count,
                      const floating* shares) noexcept nogil:
    """Let a residual posterior take its prior's mean along: descend the hinge, whose gradient d_means has at this moment.

    (The divergence from the prior does not change when both move.)
    """
    cdef int D = tables.size, spread = tables.spread, k, d
    cdef double steepness = 0
    cdef floating* precisions = <floating*> scratch.precisions
    for k in range(count):
        for d in range(spread):
            steepness += fabs(shares[k]) * precisions[k * spread + d]
    add_scaled(loops, (<floating*> tables.means) + <size_t> scratch.rows[count] * D,
               <floating> (-rate / (1 + rate * steepness / spread)), (<floating*> scratch.d_means) + centre * D, D)


cdef void compare(const void* loops, Tables* tables, Gradients* gradients, Rates* rates, Windows* text, Scratch* scratch, int first,
                  int last, double margin, double kl_weight, Totals* totals, floating* kind) noexcept nogil:
    """Take the centres first..last-1 one by one: loss, gradient of the posterior, update of the priors."""
    cdef int D = tables.size, spread = tables.spread
    cdef int i, c, d, positives, count, coming
    cdef double hinge, kl
    cdef floating* scores = <floating*> scratch.scores
    cdef floating* shares = <floating*> scratch.shares
    cdef floating* log_variance
    cdef floating* d_log_variance
    memset(scratch.d_means, 0, (last - first) * D * sizeof(floating))
    memset(scratch.d_log_variances, 0, (last - first) * spread * sizeof(floating))
    for i in range(first, last):
        c = i - first
        positives = text.right[i] - text.left[i]
        if positives == 0:
            continue
        count = list_targets(text, i, scratch.rows) + 1
        scratch.rows[count - 1] = text.tokens[i]
        if tables.residual:  # only now: a word that the tile has often moves at each of its occurrences
            add_scaled(loops, (<floating*> scratch.means) + c * D, <floating> 1,
                       (<floating*> tables.means) + <size_t> text.tokens[i] * D, D)
        coming = min(i + 1, last - 1)
        score_rows(loops, tables, scratch, c, count, negatives_of(text, coming), negative_count(text, coming), scores)
        hinge = hinge_of(loops, text, positives, count - 1, margin, scores, shares)
        shares[count - 1] = kl_weight

        # KL[q || prior] = score - 1/2 sum(1 + log v_q)
        log_variance = (<floating*> scratch.log_variances) + c * spread
        kl = scores[count - 1]
        for d in range(spread):
            kl -= (1 + min(max(<double> log_variance[d], POSTERIOR_LOW), POSTERIOR_HIGH)) / 2 * (D // spread)
        if not isfinite(hinge + kl):  # never let a diverging run write into the tables; the loop stops on this loss
            totals.hinge = INFINITY
            continue
        totals.hinge += hinge
        totals.kl += kl
        totals.centres += 1
        move_rows(loops, tables, gradients, rates.mean, rates.log_variance, scratch, c, 0, count - 1, shares)
        if tables.residual and gradients == NULL:
            move_centre(loops, tables, rates.mean, scratch, c, count - 1, shares)
        move_rows(loops, tables, gradients, 0 if tables.residual else rates.mean, rates.log_variance, scratch, c, count - 1, count,
                  shares)
        if tables.residual and gradients != NULL:
            add_scaled(loops, (<floating*> gradients.means) + <size_t> text.tokens[i] * D, <floating> 1,
                       (<floating*> scratch.d_means) + c * D, D)

        d_log_variance = (<floating*> scratch.d_log_variances) + c * spread
        for d in range(spread):
            d_log_variance[d] -= <floating> (kl_weight * (D // spread) / 2)
            if log_variance[d] <= POSTERIOR_LOW or log_variance[d] >= POSTERIOR_HIGH:
                d_log_variance[d] = 0


cdef void propagate(const void* loops, Tables* tables, Windows* text, Scratch* scratch, int first, int last, int low, int high,
                    floating* kind) noexcept nogil:
    """Carry the posteriors' gradients back through the encoder, to the weights and the inputs."""
    cdef int E = tables.inputs, H = tables.hidden, D = tables.size, spread = tables.spread
    cdef int i, tile = last - first
    cdef floating* inputs = <floating*> scratch.inputs
    cdef floating* contexts = <floating*> scratch.contexts
    cdef floating* centres = <floating*> scratch.centres
    cdef floating* hidden = <floating*> scratch.hidden
    cdef floating* d_means = <floating*> scratch.d_means
    cdef floating* d_log_variances = <floating*> scratch.d_log_variances
    cdef floating* d_contexts = <floating*> scratch.d_contexts
    cdef floating* d_mean_bias = <floating*> scratch.d_weights[MEAN_BIAS]
    cdef floating* d_variance_bias = <floating*> scratch.d_weights[VARIANCE_BIAS]

    # The heads; hidden becomes its gradient
    gemm(c'T', c'N', H, D, tile, hidden, d_means, 0, <floating*> scratch.d_weights[MEAN_HEAD])
    gemm(c'T', c'N', H, spread, tile, hidden, d_log_variances, 0, <floating*> scratch.d_weights[VARIANCE_HEAD])
    memset(d_mean_bias, 0, D * sizeof(floating))
    memset(d_variance_bias, 0, spread * sizeof(floating))
    for i in range(tile):
        add_scaled(loops, d_mean_bias, <floating> 1, d_means + i * D, D)
        add_scaled(loops, d_variance_bias, <floating> 1, d_log_variances + i * spread, spread)
    gemm(c'N', c'T', tile, H, D, d_means, <floating*> tables.weights[MEAN_HEAD], 0, hidden)
    gemm(c'N', c'T', tile, H, spread, d_log_variances, <floating*> tables.weights[VARIANCE_HEAD], 1, hidden)

    # The relus; centres become their gradients
    memset(d_contexts, 0, (high - low) * H * sizeof(floating))
    for i in range(first, last):
        relu_sum_back(loops, d_contexts + (text.left[i] - low) * H, contexts + (text.left[i] - low) * H,
                      centres + (i - first) * H, hidden + (i - first) * H, <floating*> scratch.d_centre,
                      text.right[i] - text.left[i] + 1, i - text.left[i], H)

    # The first layer; inputs become their gradients
    gemm(c'T', c'N', E, H, high - low, inputs, d_contexts, 0, <floating*> scratch.d_weights[CONTEXT_LAYER])
    gemm(c'T', c'N', E, H, tile, inputs + (first - low) * E, centres, 0, <floating*> scratch.d_weights[CENTRE_LAYER])
    gemm(c'N', c'T', high - low, E, H, d_contexts, <floating*> tables.weights[CONTEXT_LAYER], 0, inputs)
    gemm(c'N', c'T', tile, E, H, centres, <floating*> tables.weights[CENTRE_LAYER], 1, inputs + (first - low) * E)


cdef void update_encoder(const void* loops, Tables* tables, Gradients* gradients, Rates* rates, Windows* text, Scratch* scratch,
                         int centres, int low, int high, floating* kind) noexcept nogil:
    """Row-wise Adagrad for the embeddings, Adam for the weights; or only sum their gradients."""
    cdef int E = tables.inputs, i, w
    cdef size_t row
    cdef double correction
    cdef floating square, rate
    cdef floating* d_inputs = <floating*> scratch.inputs
    cdef floating* squares = <floating*> tables.squares
    cdef floating* embeddings = <floating*> tables.embeddings
    if gradients != NULL:
        for i in range(low, high):
            add_scaled(loops, (<floating*> gradients.embeddings) + <size_t> text.tokens[i] * E, <floating> 1,
                       d_inputs + (i - low) * E, E)
        for w in range(WEIGHTS):
            add_scaled(loops, <floating*> gradients.weights[w], <floating> 1, <floating*> scratch.d_weights[w], tables.lengths[w])
        return

    for i in range(low, high):
        row = text.tokens[i]
        square = dot(loops, d_inputs + (i - low) * E, d_inputs + (i - low) * E, E)
        if not isfinite(square):
            continue
        squares[row] += square / E
        rate = rates.embedding / sqrt(squares[row] + ADAGRAD_FLOOR)
        add_scaled(loops, embeddings + row * E, -rate, d_inputs + (i - low) * E, E)

    tables.steps[0] += 1
    correction = sqrt(1 - pow(0.999, <double> tables.steps[0])) / (1 - pow(0.9, <double> tables.steps[0]))
    for w in range(WEIGHTS):
        adam(loops, <floating*> tables.weights[w], <floating*> tables.first[w], <floating*> tables.second[w],
             <floating*> scratch.d_weights[w], <floating> (1.0 / max(1, centres)), <floating> (rates.encoder * correction),
             <floating> ADAM_FLOOR, tables.lengths[w])


cdef void run(const void* loops, Tables* tables, Gradients* gradients, Rates* rates, Windows* text, Scratch* scratch, double margin,
              double kl_weight, Totals* totals, floating* kind) noexcept nogil:
    """Train on a chunk, or sum its gradients; `kind` only tells the number type."""
    cdef int first = 0, last, low, high, i
    while first < text.n:
        last = min(first + <int> TILE, text.n)
        low = first
        high = last
        for i in range(first, last):
            low = min(low, text.left[i])
            high = max(high, text.right[i] + 1)
        encode(loops, tables, text, scratch, first, last, low, high, kind)
        compare(loops, tables, gradients, rates, text, scratch, first, last, margin, kl_weight, totals, kind)
        propagate(loops, tables, text, scratch, first, last, low, high, kind)
        update_encoder(loops, tables, gradients, rates, text, scratch, last - first, low, high, kind)
        first = last


cdef class Workspace:
    """The scratch memory of one worker; it grows to the largest chunk seen."""

    cdef Scratch scratch
    cdef int halo, rows

    def __cinit__(self):
        self.halo = self.rows = -1
        memset(&self.scratch, 0, sizeof(Scratch))

    def __dealloc__(self):
        self.release()

    cdef void release(self) noexcept:
        cdef void** pointers = <void**> &self.scratch
        cdef size_t i
        for i in range(sizeof(Scratch) // sizeof(void*)):
            free(pointers[i])
            pointers[i] = NULL

    cdef Scratch* reserve(self, Tables* tables, int halo, int rows, size_t number) except NULL:
        """Make room for tiles of `halo` positions and centres of `rows` rows, of numbers of that many bytes."""
        cdef Scratch* s = &self.scratch
        cdef int E = tables.inputs, H = tables.hidden, D = tables.size, spread = tables.spread, w
        cdef bint full = True
        if halo <= self.halo and rows <= self.rows:
            return s
        self.release()
        self.halo = self.rows = -1
        s.inputs = calloc(halo * E, number)
        s.contexts = calloc(halo * H, number)
        s.centres = calloc(TILE * H, number)
        s.hidden = calloc(TILE * H, number)
        s.means = calloc(TILE * D, number)
        s.log_variances = calloc(TILE * spread, number)
        s.variances = calloc(TILE * spread, number)
        s.d_contexts = calloc(halo * H, number)
        s.d_means = calloc(TILE * D, number)
        s.d_log_variances = calloc(TILE * spread, number)
        s.d_centre = calloc(H, number)
        for w in range(WEIGHTS):
            s.d_weights[w] = calloc(tables.lengths[w], number)
        s.rows = <int*> calloc(rows, sizeof(int))
        s.row_log_variances = calloc(rows, number)
        s.precisions = calloc(<size_t> rows * spread, number)
        s.distances = calloc(rows, number)
        s.scores = calloc(rows, number)
        s.shares = calloc(rows, number)
        cdef void** pointers = <void**> s
        cdef size_t i
        for i in range(sizeof(Scratch) // sizeof(void*)):
            full = full and pointers[i] != NULL
        if not full:
            self.release()
            raise MemoryError("no memory for the training kernel's scratch arrays")
        self.halo = halo
        self.rows = rows
        return s


cdef class Kernel:
    """The step bound to the arrays it trains; `arrays` maps the names of the settings to NumPy arrays, all of one dtype."""

    cdef Tables tables
    cdef dict arrays
    cdef object dtype
    cdef list workspaces
    cdef const void* loops
    cdef double margin, kl_weight
    cdef readonly str instruction_set

    def __init__(self, dict arrays, dict state, *, double margin, double kl_weight, bint residual=False, int workers=1,
                 str instruction_set=None):
        self.arrays = {**arrays, **state}  # keeps them alive
        self.margin = margin
        self.kl_weight = kl_weight
        self.workspaces = [Workspace() for _ in range(workers)]
        dtype = self.dtype = arrays["means"].dtype
        self.instruction_set = instruction_set or best_instruction_set().decode()
        self.loops = loops_for(dtype, instruction_set)

        words, size = arrays["means"].shape
        inputs, hidden = arrays["context_layer"].shape
        spread = arrays["log_variances"].shape[1]
        if spread not in (1, size):
            raise ValueError(f"log_variances has {spread} columns; it needs 1 or {size}")
        shapes = {
            "context_layer": (inputs, hidden), "centre_layer": (inputs, hidden), "mean_head": (hidden, size),
            "mean_bias": (size,), "variance_head": (hidden, spread), "variance_bias": (spread,),
        }
        cdef Tables* t = &self.tables
        t.size, t.spread, t.inputs, t.hidden, t.residual = size, spread, inputs, hidden, residual
        t.means = address(arrays["means"], "means", dtype, (words, size))
        t.log_variances = address(arrays["log_variances"], "log_variances", dtype, (words, spread))
        t.embeddings = address(arrays["embeddings"], "embeddings", dtype, (words, inputs))
        t.squares = address(state["embedding_squares"], "embedding_squares", dtype, (words,))
        t.steps = <long long*> address(state["adam_steps"], "adam_steps", np.dtype(np.int64), (1,))
        for w, name in enumerate(WEIGHT_NAMES):
            t.weights[w] = address(arrays[name], name, dtype, shapes[name])
            t.first[w] = address(state["adam_first." + name], "adam_first." + name, dtype, shapes[name])
            t.second[w] = address(state["adam_second." + name], "adam_second." + name, dtype, shapes[name])
            t.lengths[w] = arrays[name].size

    def step(self, chunk, *, double mean, double log_variance, double embedding, double encoder, int worker=0):
        """Train on a chunk at these rates; return the sums of hinge and KL, and the number of centres."""
        cdef Rates rates = Rates(mean, log_variance, embedding, encoder)
        return self._run(chunk, &rates, NULL, worker)

    def gradients(self, chunk, dict into):
        """Add a chunk's gradients to the arrays of `into`, which has the names and shapes of the kernel's arrays."""
        cdef Gradients gradients
        shape = {name: self.arrays[name].shape for name in into}
        gradients.means = address(into["means"], "means", self.dtype, shape["means"])
        gradients.log_variances = address(into["log_variances"], "log_variances", self.dtype, shape["log_variances"])
        gradients.embeddings = address(into["embeddings"], "embeddings", self.dtype, shape["embeddings"])
        for w, name in enumerate(WEIGHT_NAMES):
            gradients.weights[w] = address(into[name], name, self.dtype, shape[name])
        return self._run(chunk, NULL, &gradients, 0)

    cdef tuple _run(self, chunk, Rates* rates, Gradients* gradients, int worker):
        cdef Totals totals = Totals(0, 0, 0)
        cdef Rates none = Rates(0, 0, 0, 0)
        if not len(chunk.tokens) or not len(chunk.negatives):
            return 0.0, 0.0, 0
        cdef Windows text
        kept = find_windows(chunk, &text)  # noqa: F841, what `text` points into
        cdef int negatives = text.per if text.shared else text.per * text.widest
        cdef int halo = min(text.n, <int> TILE + 2 * text.widest)
        cdef Workspace workspace = self.workspaces[worker]
        cdef Scratch* scratch = workspace.reserve(&self.tables, halo, text.widest + negatives + 1, self.dtype.itemsize)
        cdef bint single = self.dtype == np.float32
        if rates == NULL:
            rates = &none
        with nogil:
            if single:
                run(self.loops, &self.tables, gradients, rates, &text, scratch, self.margin, self.kl_weight, &totals, <float*> NULL)
            else:
                run(self.loops, &self.tables, gradients, rates, &text, scratch, self.margin, self.kl_weight, &totals, <double*> NULL)
        return totals.hinge, totals.kl, totals.centres
