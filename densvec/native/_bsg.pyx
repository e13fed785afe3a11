"""The Bayesian Skip-gram's training step on the CPU: forward and backward fused, rows updated in place.

A chunk is taken in tiles of `TILE` centres. A tile's encoder is a few matrix products: the layer is linear before the relu, so
each distinct word is projected once and a (centre, context) pair costs one vector addition. Between them, centre after centre, the
divergences are compared and the priors pulled or pushed at once (Hogwild when several workers share the tables). The encoder's
own weights take one Adam step per tile.

The code is written for float and double: training uses float, the gradient check double.
"""

from cython cimport floating
from libc.math cimport INFINITY, isfinite, pow, sqrt
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset
from scipy.linalg.cython_blas cimport dgemm, sgemm

from densvec.native._vector cimport (
    adam, add_scaled, best_instruction_set, cover_diagonal, distances, dot, exponential, plan_moves, pull_diagonal,
    pull_diagonal_gradient, precisions as invert, pull_gradient, pull_rows, relu_sum, relu_sum_back, score_diagonal,
)
from densvec.native._windows cimport (
    Windows, address, find_windows, hinge_of, list_targets, loops_for, negative_count, negatives_of, prefetch,
)

import numpy as np

from densvec.encoder import LOG_VARIANCE_BOUNDS
from densvec.training.settings import (
    ADAGRAD_EPSILON, ADAM_BETAS, ADAM_EPSILON, LOG_VARIANCE_STEP, PRIOR_LOG_VARIANCE_BOUNDS, SHRINKAGE, TYPICAL_MEMORY,
)

cdef enum:
    TILE = 256      # centres between two steps of the encoder's weights
    BLOCK = 16      # numbers in a vector: rows of the scratch arrays are padded to whole blocks, with zeros
    WEIGHTS = 6     # arrays of encoder weights

cdef enum:          # which is which
    CONTEXT_LAYER, CENTRE_LAYER, MEAN_HEAD, MEAN_BIAS, VARIANCE_HEAD, VARIANCE_BIAS

WEIGHT_NAMES = ("context_layer", "centre_layer", "mean_head", "mean_bias", "variance_head", "variance_bias")

cdef double POSTERIOR_LOW = LOG_VARIANCE_BOUNDS[0]
cdef double POSTERIOR_HIGH = LOG_VARIANCE_BOUNDS[1]
cdef double PRIOR_BOUND = PRIOR_LOG_VARIANCE_BOUNDS[1]
cdef double ADAGRAD_FLOOR = ADAGRAD_EPSILON
cdef double ADAM_FLOOR = ADAM_EPSILON
cdef double MEMORY = TYPICAL_MEMORY
cdef double SHRINK = SHRINKAGE
cdef double STEP = LOG_VARIANCE_STEP

assert ADAM_BETAS == (0.9, 0.999), "_vector_loops.h has these constants"
assert LOG_VARIANCE_STEP == 1.0 and PRIOR_LOG_VARIANCE_BOUNDS[0] == -PRIOR_LOG_VARIANCE_BOUNDS[1]


cdef struct Tables:              # what is trained: arrays borrowed from wv and from the optimiser
    int size                     # D, of the densities
    int spread                   # numbers in a log-variance: 1 (spherical) or D (diagonal)
    int inputs                   # E, of the encoder's embeddings
    int hidden                   # H
    int units                    # H in whole blocks: the row of a layer
    int outputs                  # D + spread in whole blocks: the row of the heads
    bint residual                # whether a posterior is its prior, shifted by the encoder
    void* means                  # (V, D)
    void* log_variances          # (V, spread)
    void* embeddings             # (V, E)
    void* squares                # (V,) Adagrad's sums for the embeddings
    void* typical                # (2,) stretch and log-variance of the typical word
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
    double log_variance          # by the divergence from the prior
    double contrast              # of log-variances by the hinge
    double coverage              # of log-variances by their stretch
    double embedding
    double encoder

cdef struct Totals:
    double hinge
    double kl
    long long centres

cdef struct Scratch:             # TMP, one per worker
    void* layers                 # (E, 2, units) the layers of contexts and of centres, side by side
    void* heads                  # (units, outputs) those of means and of log-variances
    int* slots                   # (tile + halo,) which of the tile's distinct words stands at each position
    int* words                   # (distinct,) their ids
    int* table                   # hash table of words to slots, at most 4 places per position; -1: free
    void* inputs                 # (distinct, E); their gradients replace them on the way back
    void* projected              # (distinct, 2, units) each word as a context, then as a centre
    void* hidden                 # (tile, units); its gradient replaces it
    void* posteriors             # (tile, outputs) mean, then log-variance
    void* variance               # (spread,) of one centre's posterior
    void* steepness              # (spread,) of its hinge
    void* d_layers
    void* d_heads
    void* d_projected
    void* d_posteriors
    void* d_weights[WEIGHTS]
    int* rows                    # word ids that one centre is compared with: positives, negatives, the centre itself
    void** addresses             # (rows,) of their means
    void* row_log_variances      # (rows,) spherical only
    void* precisions             # (rows,) or (rows, D): 1 / variance
    void* distances              # (rows,) squared, spherical only, as the next three
    void* gains
    void* steps
    void* moves
    void* weights                # (rows,) of the positives
    void* scores                 # (rows,) KL[q || row] up to q's entropy
    void* shares                 # (rows,) derivative of the loss by the score


cdef inline void gemm(char a_op, char b_op, int m, int n, int k, const floating* a, int a_row, const floating* b, int b_row,
                      floating beta, floating* c, int c_row) noexcept nogil:
    """c = op(a) op(b) + beta c in row-major order, with the lengths of their rows; 'T' transposes."""
    # BLAS is column-major: it sees our arrays transposed, so ask it for cᵀ = op(b)ᵀ op(a)ᵀ.
    cdef floating alpha = 1
    if floating is float:
        sgemm(&b_op, &a_op, &n, &m, &k, &alpha, <float*> b, &b_row, <float*> a, &a_row, &beta, c, &c_row)
    else:
        dgemm(&b_op, &a_op, &n, &m, &k, &alpha, <double*> b, &b_row, <double*> a, &a_row, &beta, c, &c_row)


cdef inline void copy_columns(floating* into, int into_row, const floating* columns, int columns_row, int rows,
                              int width) noexcept nogil:
    """into[:, :width] = columns[:, :width]"""
    cdef int i
    for i in range(rows):
        memcpy(into + i * into_row, columns + i * columns_row, width * sizeof(floating))


cdef int find_distinct(const int* tokens, int count, Scratch* scratch) noexcept nogil:  # OUT: scratch.slots, .words
    """List the distinct words of the tokens, and where each token's word is in the list; return how many they are."""
    cdef int i, slot, distinct = 0
    cdef unsigned int mask = 1, place
    while mask < 2 * <unsigned int> count:
        mask = 2 * mask + 1
    memset(scratch.table, -1, (mask + 1) * sizeof(int))
    for i in range(count):
        place = (<unsigned int> tokens[i] * 2654435769u >> 7) & mask
        slot = scratch.table[place]
        while slot >= 0 and scratch.words[slot] != tokens[i]:
            place = (place + 1) & mask
            slot = scratch.table[place]
        if slot < 0:
            slot = scratch.table[place] = distinct
            scratch.words[slot] = tokens[i]
            distinct += 1
        scratch.slots[i] = slot
    return distinct


cdef void encode(const void* loops, Tables* tables, Windows* text, Scratch* scratch, int first, int last, int low, int distinct,
                 floating* kind) noexcept nogil:
    """Infer the posteriors of the centres first..last-1; low is the first position that their windows reach."""
    cdef int E = tables.inputs, H = tables.hidden, D = tables.size, spread = tables.spread
    cdef int units = tables.units, outputs = tables.outputs, tile = last - first, i
    cdef floating* layers = <floating*> scratch.layers
    cdef floating* heads = <floating*> scratch.heads
    cdef floating* inputs = <floating*> scratch.inputs
    cdef floating* projected = <floating*> scratch.projected
    cdef floating* hidden = <floating*> scratch.hidden
    cdef floating* posteriors = <floating*> scratch.posteriors

    copy_columns(layers, 2 * units, <floating*> tables.weights[CONTEXT_LAYER], H, E, H)
    copy_columns(layers + units, 2 * units, <floating*> tables.weights[CENTRE_LAYER], H, E, H)
    copy_columns(heads, outputs, <floating*> tables.weights[MEAN_HEAD], D, H, D)
    copy_columns(heads + D, outputs, <floating*> tables.weights[VARIANCE_HEAD], spread, H, spread)

    # projected = embeddings[words] @ layers
    for i in range(distinct):
        memcpy(inputs + i * E, (<floating*> tables.embeddings) + <size_t> scratch.words[i] * E, E * sizeof(floating))
    gemm(c'N', c'N', distinct, 2 * units, E, inputs, E, layers, 2 * units, 0, projected, 2 * units)

    # hidden[i] = relu(contexts[window of i] + centres[i]).sum(0)
    for i in range(first, last):
        relu_sum(loops, hidden + (i - first) * units, projected, projected + scratch.slots[i - low] * 2 * units + units,
                 scratch.slots + text.left[i] - low, text.right[i] - text.left[i] + 1, i - text.left[i], 2 * units, units)

    # posteriors = hidden @ heads + biases
    for i in range(tile):
        memcpy(posteriors + i * outputs, tables.weights[MEAN_BIAS], D * sizeof(floating))
        memcpy(posteriors + i * outputs + D, tables.weights[VARIANCE_BIAS], spread * sizeof(floating))
    gemm(c'N', c'N', tile, outputs, H, hidden, units, heads, outputs, 1, posteriors, outputs)


cdef void complete_posterior(const void* loops, Tables* tables, Scratch* scratch, int centre, size_t word,
                             floating* kind) noexcept nogil:
    """Add the prior to a residual posterior, and find its variance. Its hinge moves the prior's mean, but not its log-variance.

    Only when the centre's turn comes: a word that the tile has often moves at each of its occurrences.
    """
    cdef int D = tables.size, spread = tables.spread, d
    cdef floating* mean = (<floating*> scratch.posteriors) + centre * tables.outputs
    cdef floating* log_variance = mean + D
    cdef floating* variance = <floating*> scratch.variance
    cdef floating low = POSTERIOR_LOW, high = POSTERIOR_HIGH
    if tables.residual:
        add_scaled(loops, mean, <floating> 1, (<floating*> tables.means) + word * D, D)
        add_scaled(loops, log_variance, <floating> 1, (<floating*> tables.log_variances) + word * spread, spread)
    for d in range(spread):
        variance[d] = min(max(log_variance[d], low), high)
    exponential(loops, variance, variance, spread)


cdef void score_rows(const void* loops, Tables* tables, Scratch* scratch, int centre, int count, floating* scores) noexcept nogil:
    """Score the rows of a centre: 1/2 sum((v_q + (mean_q - mean_p)^2) / v_p + log v_p), KL up to what is q's alone."""
    cdef int D = tables.size, k
    cdef size_t row
    cdef floating* mean = (<floating*> scratch.posteriors) + centre * tables.outputs
    cdef floating* variance = <floating*> scratch.variance
    cdef floating* means = <floating*> tables.means
    cdef floating* log_variances = <floating*> tables.log_variances
    cdef floating** addresses = <floating**> scratch.addresses
    cdef floating* row_log_variances = <floating*> scratch.row_log_variances
    cdef floating* precisions = <floating*> scratch.precisions
    cdef floating* squared = <floating*> scratch.distances
    if tables.spread == 1:
        for k in range(count):
            row = scratch.rows[k]
            addresses[k] = means + row * D
            row_log_variances[k] = log_variances[row]
            precisions[k] = -log_variances[row]
        distances(loops, squared, addresses, mean, count, D)
        exponential(loops, precisions, precisions, count)
        for k in range(count):
            scores[k] = ((D * variance[0] + squared[k]) * precisions[k] + D * row_log_variances[k]) / 2
    else:
        for k in range(count):
            row = scratch.rows[k]
            invert(loops, precisions + k * D, log_variances + row * D, D)
            scores[k] = score_diagonal(loops, means + row * D, log_variances + row * D, precisions + k * D, mean, variance, D)


cdef void move_rows(const void* loops, Tables* tables, double mean_rate, double log_variance_rate, Scratch* scratch, int centre,
                    int first, int last, const floating* shares) noexcept nogil:
    """Pull the rows first..last-1 to the posterior by their shares, or push them away; sum the posterior's own gradient."""
    cdef int D = tables.size, k, active = 0
    cdef size_t row
    cdef floating* mean = (<floating*> scratch.posteriors) + centre * tables.outputs
    cdef floating* variance = <floating*> scratch.variance
    cdef floating* d_mean = (<floating*> scratch.d_posteriors) + centre * tables.outputs
    cdef floating* d_log_variance = d_mean + D
    cdef floating* means = <floating*> tables.means
    cdef floating* log_variances = <floating*> tables.log_variances
    cdef floating** addresses = <floating**> scratch.addresses
    cdef floating* precisions = <floating*> scratch.precisions
    cdef floating* gains = <floating*> scratch.gains
    cdef floating* steps = <floating*> scratch.steps
    cdef floating* moves = <floating*> scratch.moves
    cdef floating bound = PRIOR_BOUND, pulled = 0

    if tables.spread > 1:
        for k in range(first, last):
            if shares[k] != 0:
                row = scratch.rows[k]
                pull_diagonal(loops, means + row * D, log_variances + row * D, d_mean, d_log_variance, precisions + k * D,
                              mean, variance, shares[k], <floating> mean_rate, <floating> log_variance_rate, bound, D)
        return
    plan_moves(loops, gains + first, steps + first, moves + first, shares + first, precisions + first,
               (<floating*> scratch.distances) + first, variance[0], <floating> mean_rate, <floating> log_variance_rate,
               <floating> D, last - first)
    for k in range(first, last):
        if shares[k] != 0:
            row = scratch.rows[k]
            log_variances[row] = min(max(log_variances[row] + moves[k], -bound), bound)
            pulled += gains[k]
            addresses[active] = means + row * D
            gains[active] = gains[k]
            steps[active] = steps[k]
            active += 1
    d_log_variance[0] += pulled * D * variance[0] / 2
    pull_rows(loops, addresses, d_mean, mean, gains, steps, active, D)


cdef void sum_gradients(const void* loops, Tables* tables, Gradients* gradients, Scratch* scratch, int centre, int count,
                        const floating* shares) noexcept nogil:
    """Sum the gradients of the posterior and of its rows, and move nothing."""
    cdef int D = tables.size, k
    cdef size_t row
    cdef floating* mean = (<floating*> scratch.posteriors) + centre * tables.outputs
    cdef floating* variance = <floating*> scratch.variance
    cdef floating* d_mean = (<floating*> scratch.d_posteriors) + centre * tables.outputs
    cdef floating* d_log_variance = d_mean + D
    cdef floating* means = <floating*> tables.means
    cdef floating* d_means = <floating*> gradients.means
    cdef floating* d_log_variances = <floating*> gradients.log_variances
    cdef floating* precisions = <floating*> scratch.precisions
    cdef floating* squared = <floating*> scratch.distances
    for k in range(count):
        row = scratch.rows[k]
        if tables.spread == 1:
            pull_gradient(loops, d_means + row * D, d_mean, means + row * D, mean, shares[k] * precisions[k], D)
            d_log_variance[0] += shares[k] * precisions[k] * D * variance[0] / 2
            d_log_variances[row] += shares[k] * D * (1 - (variance[0] + squared[k] / D) * precisions[k]) / 2
        else:
            pull_diagonal_gradient(loops, d_means + row * D, d_log_variances + row * D, d_mean, d_log_variance,
                                   means + row * D, precisions + k * D, mean, variance, shares[k], D)
    if tables.residual:
        add_scaled(loops, d_means + <size_t> scratch.rows[count - 1] * D, <floating> 1, d_mean, D)


cdef void move_centre(const void* loops, Tables* tables, double rate, Scratch* scratch, int centre, int count,
                      const floating* shares) noexcept nogil:
    """Let a residual posterior take its prior's mean along: descend the hinge, whose gradient d_posteriors has at this moment.

    (The divergence from the prior does not change when both move.)
    """
    cdef int D = tables.size, spread = tables.spread, k, d
    cdef floating* precisions = <floating*> scratch.precisions
    cdef floating* steepness = <floating*> scratch.steepness
    cdef floating* mean = (<floating*> tables.means) + <size_t> scratch.rows[count] * D
    cdef floating* d_mean = (<floating*> scratch.d_posteriors) + centre * tables.outputs
    memset(steepness, 0, spread * sizeof(floating))
    if spread == 1:
        for k in range(count):
            steepness[0] += (shares[k] if shares[k] > 0 else -shares[k]) * precisions[k]
        add_scaled(loops, mean, <floating> (-rate / (1 + rate * steepness[0])), d_mean, D)
        return
    for k in range(count):
        if shares[k] != 0:
            add_scaled(loops, steepness, shares[k] if shares[k] > 0 else -shares[k], precisions + k * D, D)
    for d in range(D):
        mean[d] -= <floating> (rate / (1 + rate * steepness[d])) * d_mean[d]


cdef void cover(const void* loops, Tables* tables, double rate, Scratch* scratch, int centre, int positives,
                floating* sums) noexcept nogil:  # OUT: sums
    """Widen the positives that are stretched more than is typical, narrow the others; add up stretches and log-variances."""
    cdef int D = tables.size, k
    cdef size_t row
    cdef double stretch, log_variance, move
    cdef floating* typical = <floating*> tables.typical
    cdef floating* mean = (<floating*> scratch.posteriors) + centre * tables.outputs
    cdef floating* variance = <floating*> scratch.variance
    cdef floating* precisions = <floating*> scratch.precisions
    cdef floating* squared = <floating*> scratch.distances
    cdef floating* log_variances = <floating*> tables.log_variances
    for k in range(positives):
        row = scratch.rows[k]
        if tables.spread == 1:
            stretch = (variance[0] + squared[k] / D) * precisions[k]
            log_variance = log_variances[row]
            move = rate * (stretch - typical[0] + SHRINK * (typical[1] - log_variance))
            log_variances[row] = <floating> min(max(log_variance + min(max(move, -STEP), STEP), -PRIOR_BOUND), PRIOR_BOUND)
            sums[0] += <floating> stretch
            sums[1] += <floating> log_variance
        else:
            cover_diagonal(loops, sums, log_variances + row * D, (<floating*> tables.means) + row * D, precisions + k * D,
                           mean, variance, typical, <floating> rate, <floating> SHRINK, <floating> PRIOR_BOUND, D)


cdef void compare(const void* loops, Tables* tables, Gradients* gradients, Rates* rates, Windows* text, Scratch* scratch, int first,
                  int last, double margin, double kl_weight, Totals* totals, floating* kind) noexcept nogil:
    """Take the centres first..last-1 one by one: loss, gradient of the posterior, update of the priors."""
    cdef int D = tables.size, spread = tables.spread, outputs = tables.outputs
    cdef int i, c, d, positives, count
    cdef size_t row_bytes = D * sizeof(floating)
    cdef long long pairs = 0
    cdef double hinge, kl, weight
    cdef floating* typical = <floating*> tables.typical
    cdef floating sums[2]
    cdef floating* scores = <floating*> scratch.scores
    cdef floating* shares = <floating*> scratch.shares
    cdef floating* log_variance
    cdef floating* d_log_variance
    memset(scratch.d_posteriors, 0, (last - first) * outputs * sizeof(floating))
    memset(sums, 0, sizeof(sums))
    for i in range(first, last):
        c = i - first
        positives = text.right[i] - text.left[i]
        if positives == 0:
            continue
        if i + 1 < last:
            prefetch(tables.means, negatives_of(text, i + 1), negative_count(text, i + 1), row_bytes)
            prefetch(tables.means, text.tokens + text.right[i + 1], 1, row_bytes)
        count = list_targets(text, i, scratch.rows) + 1
        scratch.rows[count - 1] = text.tokens[i]
        complete_posterior(loops, tables, scratch, c, text.tokens[i], kind)
        score_rows(loops, tables, scratch, c, count, scores)
        hinge = hinge_of(loops, text, i, margin, scores, <floating*> scratch.weights, shares)
        shares[count - 1] = kl_weight

        # KL[q || prior] = score - 1/2 sum(1 + log v_q)
        log_variance = (<floating*> scratch.posteriors) + c * outputs + D
        kl = scores[count - 1]
        for d in range(spread):
            kl -= (1 + min(max(<double> log_variance[d], POSTERIOR_LOW), POSTERIOR_HIGH)) / 2 * (D // spread)
        if not isfinite(hinge + kl):  # never let a diverging run write into the tables; the loop stops on this loss
            totals.hinge = INFINITY
            continue
        totals.hinge += hinge
        totals.kl += kl
        totals.centres += 1
        if gradients != NULL:
            sum_gradients(loops, tables, gradients, scratch, c, count, shares)
        else:
            move_rows(loops, tables, rates.mean, rates.contrast, scratch, c, 0, count - 1, shares)
            if tables.residual:
                move_centre(loops, tables, rates.mean, scratch, c, count - 1, shares)
            move_rows(loops, tables, 0 if tables.residual else rates.mean, rates.log_variance, scratch, c, count - 1, count, shares)
            cover(loops, tables, rates.coverage, scratch, c, positives, sums)
            pairs += positives

        d_log_variance = (<floating*> scratch.d_posteriors) + c * outputs + D
        for d in range(spread):
            d_log_variance[d] -= <floating> (kl_weight * (D // spread) / 2)
            if log_variance[d] <= POSTERIOR_LOW or log_variance[d] >= POSTERIOR_HIGH:
                d_log_variance[d] = 0
    if pairs:  # none where only gradients are summed
        weight = (last - first) / (last - first + MEMORY)
        typical[0] += <floating> (weight * (sums[0] / pairs - typical[0]))
        typical[1] += <floating> (weight * (sums[1] / pairs - typical[1]))


cdef void propagate(const void* loops, Tables* tables, Windows* text, Scratch* scratch, int first, int last, int low, int distinct,
                    floating* kind) noexcept nogil:
    """Carry the posteriors' gradients back through the encoder, to the weights and the inputs."""
    cdef int E = tables.inputs, H = tables.hidden, D = tables.size, spread = tables.spread
    cdef int units = tables.units, outputs = tables.outputs, tile = last - first, i, centre
    cdef floating* layers = <floating*> scratch.layers
    cdef floating* heads = <floating*> scratch.heads
    cdef floating* inputs = <floating*> scratch.inputs
    cdef floating* projected = <floating*> scratch.projected
    cdef floating* hidden = <floating*> scratch.hidden
    cdef floating* d_layers = <floating*> scratch.d_layers
    cdef floating* d_heads = <floating*> scratch.d_heads
    cdef floating* d_projected = <floating*> scratch.d_projected
    cdef floating* d_posteriors = <floating*> scratch.d_posteriors
    cdef floating* d_mean_bias = <floating*> scratch.d_weights[MEAN_BIAS]
    cdef floating* d_variance_bias = <floating*> scratch.d_weights[VARIANCE_BIAS]

    # The heads; hidden becomes its gradient
    gemm(c'T', c'N', H, outputs, tile, hidden, units, d_posteriors, outputs, 0, d_heads, outputs)
    memset(d_mean_bias, 0, D * sizeof(floating))
    memset(d_variance_bias, 0, spread * sizeof(floating))
    for i in range(tile):
        add_scaled(loops, d_mean_bias, <floating> 1, d_posteriors + i * outputs, D)
        add_scaled(loops, d_variance_bias, <floating> 1, d_posteriors + i * outputs + D, spread)
    gemm(c'N', c'T', tile, units, outputs, d_posteriors, outputs, heads, outputs, 0, hidden, units)

    # The relus
    memset(d_projected, 0, distinct * 2 * units * sizeof(floating))
    for i in range(first, last):
        centre = scratch.slots[i - low] * 2 * units + units
        relu_sum_back(loops, d_projected, d_projected + centre, projected, projected + centre, hidden + (i - first) * units,
                      scratch.slots + text.left[i] - low, text.right[i] - text.left[i] + 1, i - text.left[i], 2 * units, units)

    # The layers; inputs become their gradients
    gemm(c'T', c'N', E, 2 * units, distinct, inputs, E, d_projected, 2 * units, 0, d_layers, 2 * units)
    gemm(c'N', c'T', distinct, E, 2 * units, d_projected, 2 * units, layers, 2 * units, 0, inputs, E)

    copy_columns(<floating*> scratch.d_weights[CONTEXT_LAYER], H, d_layers, 2 * units, E, H)
    copy_columns(<floating*> scratch.d_weights[CENTRE_LAYER], H, d_layers + units, 2 * units, E, H)
    copy_columns(<floating*> scratch.d_weights[MEAN_HEAD], D, d_heads, outputs, H, D)
    copy_columns(<floating*> scratch.d_weights[VARIANCE_HEAD], spread, d_heads + D, outputs, H, spread)


cdef void update_encoder(const void* loops, Tables* tables, Gradients* gradients, Rates* rates, Scratch* scratch, int centres,
                         int distinct, floating* kind) noexcept nogil:
    """Row-wise Adagrad for the embeddings, Adam for the weights; or only sum their gradients."""
    cdef int E = tables.inputs, i, w
    cdef size_t row
    cdef double correction
    cdef floating square, rate
    cdef floating* d_inputs = <floating*> scratch.inputs
    cdef floating* squares = <floating*> tables.squares
    cdef floating* embeddings = <floating*> tables.embeddings
    if gradients != NULL:
        for i in range(distinct):
            add_scaled(loops, (<floating*> gradients.embeddings) + <size_t> scratch.words[i] * E, <floating> 1,
                       d_inputs + i * E, E)
        for w in range(WEIGHTS):
            add_scaled(loops, <floating*> gradients.weights[w], <floating> 1, <floating*> scratch.d_weights[w], tables.lengths[w])
        return

    for i in range(distinct):
        row = scratch.words[i]
        square = dot(loops, d_inputs + i * E, d_inputs + i * E, E)
        if not isfinite(square):
            continue
        squares[row] += square / E
        rate = rates.embedding / sqrt(squares[row] + ADAGRAD_FLOOR)
        add_scaled(loops, embeddings + row * E, -rate, d_inputs + i * E, E)

    tables.steps[0] += 1
    correction = sqrt(1 - pow(0.999, <double> tables.steps[0])) / (1 - pow(0.9, <double> tables.steps[0]))
    for w in range(WEIGHTS):
        adam(loops, <floating*> tables.weights[w], <floating*> tables.first[w], <floating*> tables.second[w],
             <floating*> scratch.d_weights[w], <floating> (1.0 / max(1, centres)), <floating> (rates.encoder * correction),
             <floating> ADAM_FLOOR, tables.lengths[w])


cdef void run(const void* loops, Tables* tables, Gradients* gradients, Rates* rates, Windows* text, Scratch* scratch, double margin,
              double kl_weight, Totals* totals, floating* kind) noexcept nogil:
    """Train on a chunk, or sum its gradients; `kind` only tells the number type."""
    cdef int first = 0, last, low, high, distinct, i
    while first < text.n:
        last = min(first + <int> TILE, text.n)
        low = first
        high = last
        for i in range(first, last):
            low = min(low, text.left[i])
            high = max(high, text.right[i] + 1)
        distinct = find_distinct(text.tokens + low, high - low, scratch)
        encode(loops, tables, text, scratch, first, last, low, distinct, kind)
        compare(loops, tables, gradients, rates, text, scratch, first, last, margin, kl_weight, totals, kind)
        propagate(loops, tables, text, scratch, first, last, low, distinct, kind)
        update_encoder(loops, tables, gradients, rates, scratch, last - first, distinct, kind)
        first = last


cdef int whole_blocks(int n) noexcept:
    """Return n, rounded up to whole blocks."""
    return (n + BLOCK - 1) // BLOCK * BLOCK


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
        cdef int E = tables.inputs, spread = tables.spread, units = tables.units, outputs = tables.outputs, w
        cdef bint full = True
        if halo <= self.halo and rows <= self.rows:
            return s
        self.release()
        self.halo = self.rows = -1
        s.layers = calloc(E * 2 * units, number)
        s.heads = calloc(units * outputs, number)
        s.slots = <int*> calloc(halo, sizeof(int))
        s.words = <int*> calloc(halo, sizeof(int))
        s.table = <int*> calloc(4 * <size_t> halo, sizeof(int))
        s.inputs = calloc(halo * E, number)
        s.projected = calloc(halo * 2 * units, number)
        s.hidden = calloc(TILE * units, number)
        s.posteriors = calloc(TILE * outputs, number)
        s.variance = calloc(spread, number)
        s.steepness = calloc(spread, number)
        s.d_layers = calloc(E * 2 * units, number)
        s.d_heads = calloc(units * outputs, number)
        s.d_projected = calloc(halo * 2 * units, number)
        s.d_posteriors = calloc(TILE * outputs, number)
        for w in range(WEIGHTS):
            s.d_weights[w] = calloc(tables.lengths[w], number)
        s.rows = <int*> calloc(rows, sizeof(int))
        s.addresses = <void**> calloc(rows, sizeof(void*))
        s.row_log_variances = calloc(rows, number)
        s.precisions = calloc(<size_t> rows * spread, number)
        s.distances = calloc(rows, number)
        s.gains = calloc(rows, number)
        s.steps = calloc(rows, number)
        s.moves = calloc(rows, number)
        s.weights = calloc(rows, number)
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
    cdef double margin, kl_weight, nearness
    cdef readonly str instruction_set

    def __init__(self, dict arrays, dict state, *, double margin, double kl_weight, double nearness=0, bint residual=False,
                 int workers=1, str instruction_set=None):
        self.arrays = {**arrays, **state}  # keeps them alive
        self.margin = margin
        self.kl_weight = kl_weight
        self.nearness = nearness
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
        t.units, t.outputs = whole_blocks(hidden), whole_blocks(size + spread)
        t.means = address(arrays["means"], "means", dtype, (words, size))
        t.log_variances = address(arrays["log_variances"], "log_variances", dtype, (words, spread))
        t.embeddings = address(arrays["embeddings"], "embeddings", dtype, (words, inputs))
        t.squares = address(state["embedding_squares"], "embedding_squares", dtype, (words,))
        t.typical = address(state["typical_word"], "typical_word", dtype, (2,))
        t.steps = <long long*> address(state["adam_steps"], "adam_steps", np.dtype(np.int64), (1,))
        for w, name in enumerate(WEIGHT_NAMES):
            t.weights[w] = address(arrays[name], name, dtype, shapes[name])
            t.first[w] = address(state["adam_first." + name], "adam_first." + name, dtype, shapes[name])
            t.second[w] = address(state["adam_second." + name], "adam_second." + name, dtype, shapes[name])
            t.lengths[w] = arrays[name].size

    def step(self, chunk, *, double mean, double log_variance, double contrast, double coverage,
             double embedding, double encoder, int worker=0):
        """Train on a chunk at these rates; return the sums of hinge and KL, and the number of centres."""
        cdef Rates rates = Rates(mean, log_variance, contrast, coverage, embedding, encoder)
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
        cdef Rates none = Rates(0, 0, 0, 0, 0, 0)
        if not len(chunk.tokens) or not len(chunk.negatives):
            return 0.0, 0.0, 0
        cdef Windows text
        kept = find_windows(chunk, &text, self.nearness)  # noqa: F841, what `text` points into
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
