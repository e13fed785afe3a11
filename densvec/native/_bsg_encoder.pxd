"""The encoder of the Bayesian Skip-gram: posteriors of a tile's centres, and their gradients carried back.

A tile's encoder is a few matrix products: the layer is linear before the relu, so each distinct word is
projected once and a (centre, context) pair costs one vector addition.
"""

from libc.math cimport fabs, isinf, log
from libc.string cimport memcpy, memset
from scipy.linalg.cython_blas cimport dgemm, sgemm

from densvec.native._bsg_step cimport (
    CENTRE_LAYER, CONTEXT_LAYER, MEAN_BIAS, MEAN_HEAD, VARIANCE_BIAS, VARIANCE_HEAD, Scratch, Step,
)
from densvec.native._vector cimport REAL
from densvec.native._windows cimport Windows, positive_count


cdef inline void gemm(char a_op, char b_op, int m, int n, int k, REAL* a, int a_row, REAL* b, int b_row,
                      REAL beta, REAL* c, int c_row) noexcept nogil:
    """c = op(a) op(b) + beta c in row-major order, with the lengths of their rows; 'T' transposes."""
    # BLAS is column-major: it sees our arrays transposed, so ask it for cᵀ = op(b)ᵀ op(a)ᵀ.
    cdef REAL alpha = 1
    if sizeof(REAL) == sizeof(float):
        sgemm(&b_op, &a_op, &n, &m, &k, <float*> &alpha, <float*> b, &b_row, <float*> a, &a_row,
              <float*> &beta, <float*> c, &c_row)
    else:
        dgemm(&b_op, &a_op, &n, &m, &k, <double*> &alpha, <double*> b, &b_row, <double*> a, &a_row,
              <double*> &beta, <double*> c, &c_row)


cdef inline void copy_columns(REAL* into, size_t into_row, const REAL* columns, size_t columns_row, int rows,
                              int width) noexcept nogil:
    """into[:, :width] = columns[:, :width]"""
    cdef int i
    for i in range(rows):
        memcpy(into + i * into_row, columns + i * columns_row, width * sizeof(REAL))


cdef inline int find_distinct(const int* tokens, int count, Scratch* scratch) noexcept nogil:
    """List the distinct words of the tokens, and which of them each token is; return how many there are."""
    cdef int i, slot, distinct = 0
    cdef unsigned int mask = 1, place
    slots, words, places = scratch.slots, scratch.words, scratch.places  # OUT: slots, words
    while mask < 2 * <unsigned int> count:
        mask = 2 * mask + 1
    memset(places, -1, (mask + <size_t> 1) * sizeof(int))
    for i in range(count):
        place = (<unsigned int> tokens[i] * 2654435769u >> 7) & mask
        slot = places[place]
        while slot >= 0 and words[slot] != tokens[i]:
            place = (place + 1) & mask
            slot = places[place]
        if slot < 0:
            slot = places[place] = distinct
            words[slot] = tokens[i]
            distinct += 1
        slots[i] = slot
    return distinct


cdef inline bint same_window(const Windows* windows, int i, int j) noexcept nogil:
    """Whether the windows of two centres reach equally far on either side."""
    return windows.left[i] - i == windows.left[j] - j and windows.right[i] - i == windows.right[j] - j


cdef inline REAL weigh_context(Step* step, int i, REAL* weights) noexcept nogil:  # OUT: weights
    """Say how much each position of centre i's window counts in its sum, and its scale; see `Reading`."""
    cdef int left = step.windows.left[i], count = positive_count(&step.windows, i) + 1, j
    cdef double total = 0, scale, slope = 2 * step.nearness / (step.window + 1)
    for j in range(count):
        weights[j] = <REAL> (1 + step.nearness - slope * (i - left - j if left + j < i else left + j - i))
    weights[i - left] = 0
    if isinf(step.saturation):
        return 1
    for j in range(count):
        total += weights[j]
    scale = (2 * step.window + step.saturation) / (total + step.saturation)
    for j in range(count):
        weights[j] *= <REAL> scale
    return <REAL> scale


cdef inline void encode(Step* step) noexcept nogil:
    """Infer the posteriors of a tile.

    For the centre i with the words j of its window, and x their embeddings:

        hidden_i                   = sum_j weight_ij relu(x_j @ context_layer + x_i @ centre_layer)
        mean_i, log_variance_i     = hidden_i @ heads + biases

    Where posteriors narrow their priors, the column of the log-variance is hidden_i @ abs(variance_head)
    instead.
    """
    cdef int E = step.inputs, H = step.hidden, D = step.size, spread = step.spread, i, d
    cdef size_t units = step.units, outputs = step.outputs
    cdef int first = step.tile.first, last = step.tile.last
    cdef int low = step.tile.low, distinct = step.tile.distinct
    s, windows, tables = step.scratch, &step.windows, &step.tables
    weights = tables.weights

    copy_columns(s.layers, 2 * units, weights[CONTEXT_LAYER], H, E, H)
    copy_columns(s.layers + units, 2 * units, weights[CENTRE_LAYER], H, E, H)
    copy_columns(s.heads, outputs, weights[MEAN_HEAD], D, H, D)
    copy_columns(s.heads + D, outputs, weights[VARIANCE_HEAD], spread, H, spread)
    if step.narrows:
        for i in range(H):
            for d in range(spread):
                s.heads[i * outputs + D + d] = <REAL> fabs(s.heads[i * outputs + D + d])

    # projected = embeddings[words] @ layers
    for i in range(distinct):
        memcpy(s.inputs + <size_t> i * E, tables.embeddings + <size_t> s.words[i] * E, E * sizeof(REAL))
    gemm(c'N', c'N', distinct, 2 * units, E, s.inputs, E, s.layers, 2 * units, 0, s.projected, 2 * units)

    # hidden[i] = (reads[i] * relu(projected[window of i] as contexts + projected[i] as a centre)).sum(0)
    for i in range(first, last):
        if i > first and same_window(windows, i, i - 1):  # as most are
            s.reads[i - first], s.scales[i - first] = s.reads[i - first - 1], s.scales[i - first - 1]
        else:
            s.reads[i - first] = s.weightings + (i - first) * <size_t> (windows.widest + 1)
            s.scales[i - first] = weigh_context(step, i, s.reads[i - first])
        step.loops.relu_sum(
            s.hidden + (i - first) * units, s.projected,
            s.projected + (2 * <size_t> s.slots[i - low] + 1) * units,
            s.slots + windows.left[i] - low, s.reads[i - first], positive_count(windows, i) + 1,
            i - windows.left[i], 2 * units, units,
        )

    # posteriors = hidden @ heads + biases
    for i in range(last - first):
        memcpy(s.posteriors + i * outputs, weights[MEAN_BIAS], D * sizeof(REAL))
        if step.narrows:
            memset(s.posteriors + i * outputs + D, 0, spread * sizeof(REAL))
        else:
            memcpy(s.posteriors + i * outputs + D, weights[VARIANCE_BIAS], spread * sizeof(REAL))
    gemm(c'N', c'N', last - first, outputs, H, s.hidden, units, s.heads, outputs, 1, s.posteriors, outputs)


cdef inline void complete_posterior(Step* step, int i) noexcept nogil:
    """Set step.q to the posterior of centre i.

        log_variance   = -log(1 + x / (1 + x / most)),  x = its column / scale     if it narrows its prior
        log_variance  += log-variance of the prior,  mean += mean of the prior     if it is residual
        variance       = exp(log_variance, within bounds)

    Only when the centre's turn comes: a word that the tile has often moves at each of its occurrences. The
    hinge of a residual posterior moves the prior's mean, but not its log-variance.
    """
    cdef int D = step.size, spread = step.spread, d
    cdef size_t word = step.windows.tokens[i], begins = (i - step.tile.first) * step.outputs
    cdef REAL low = step.low, high = step.high, most = step.most_narrowing, told, slowed
    loops, q, s, tables = step.loops, &step.q, step.scratch, &step.tables
    q.mean, q.log_variance, q.variance = s.posteriors + begins, s.posteriors + begins + D, s.variance
    q.d_mean, q.d_log_variance = s.d_posteriors + begins, s.d_posteriors + begins + D
    if step.narrows:
        for d in range(spread):
            told = q.log_variance[d] / s.scales[i - step.tile.first]
            slowed = 1 + told / most
            s.narrowing[d] = 1 + told / slowed
            s.narrowing_slope[d] = 1 / (slowed * slowed * s.scales[i - step.tile.first])
            q.log_variance[d] = <REAL> -log(s.narrowing[d])
    if step.residual:
        loops.add_scaled(q.mean, 1, tables.means + word * D, D)
        loops.add_scaled(q.log_variance, 1, tables.log_variances + word * spread, spread)
    for d in range(spread):
        q.variance[d] = min(max(q.log_variance[d], low), high)
    loops.exponential(q.variance, q.variance, spread)


cdef inline void propagate(Step* step) noexcept nogil:
    """Carry the posteriors' gradients back through the encoder: the formulas of `encode`, last one first.

        d_heads     = hidden^T @ d_posteriors,  d_biases = d_posteriors.sum(0)
        d_hidden    = d_posteriors @ heads^T
        d_projected = weight * d_hidden wherever the relu of a (centre, context) pair was on, for both of them
        d_layers    = inputs^T @ d_projected,   d_inputs = d_projected @ layers^T
    """
    cdef int E = step.inputs, H = step.hidden, D = step.size, spread = step.spread, i
    cdef size_t units = step.units, outputs = step.outputs, centre
    cdef int first = step.tile.first, last = step.tile.last
    cdef int low = step.tile.low, distinct = step.tile.distinct
    cdef int tile = last - first
    loops, s, windows, d_weights = step.loops, step.scratch, &step.windows, step.scratch.d_weights

    # The heads; hidden becomes its gradient
    gemm(c'T', c'N', H, outputs, tile, s.hidden, units, s.d_posteriors, outputs, 0, s.d_heads, outputs)
    memset(d_weights[MEAN_BIAS], 0, D * sizeof(REAL))
    memset(d_weights[VARIANCE_BIAS], 0, spread * sizeof(REAL))
    for i in range(tile):
        loops.add_scaled(d_weights[MEAN_BIAS], 1, s.d_posteriors + i * outputs, D)
        loops.add_scaled(d_weights[VARIANCE_BIAS], 1, s.d_posteriors + i * outputs + D, spread)
    if step.narrows:  # the score is the variance head's alone, which has no bias then
        memset(d_weights[VARIANCE_BIAS], 0, spread * sizeof(REAL))
        for i in range(tile):
            memset(s.d_posteriors + i * outputs + D, 0, spread * sizeof(REAL))
    gemm(c'N', c'T', tile, units, outputs, s.d_posteriors, outputs, s.heads, outputs, 0, s.hidden, units)

    # The relus
    memset(s.d_projected, 0, distinct * 2 * units * sizeof(REAL))
    for i in range(first, last):
        centre = (2 * <size_t> s.slots[i - low] + 1) * units
        loops.relu_sum_back(
            s.d_projected, s.d_projected + centre, s.projected, s.projected + centre,
            s.hidden + (i - first) * units, s.slots + windows.left[i] - low, s.reads[i - first],
            positive_count(windows, i) + 1, i - windows.left[i], 2 * units, units,
        )

    # The layers; inputs become their gradients
    gemm(c'T', c'N', E, 2 * units, distinct, s.inputs, E, s.d_projected, 2 * units, 0, s.d_layers, 2 * units)
    gemm(c'N', c'T', distinct, E, 2 * units, s.d_projected, 2 * units, s.layers, 2 * units, 0, s.inputs, E)

    copy_columns(d_weights[CONTEXT_LAYER], H, s.d_layers, 2 * units, E, H)
    copy_columns(d_weights[CENTRE_LAYER], H, s.d_layers + units, 2 * units, E, H)
    copy_columns(d_weights[MEAN_HEAD], D, s.d_heads, outputs, H, D)
    copy_columns(d_weights[VARIANCE_HEAD], spread, s.d_heads + D, outputs, H, spread)
    if step.narrows:  # by its absolute values
        for i in range(H * spread):
            if step.tables.weights[VARIANCE_HEAD][i] < 0:
                d_weights[VARIANCE_HEAD][i] *= -1
