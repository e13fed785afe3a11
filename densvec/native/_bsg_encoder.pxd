"""The encoder of the Bayesian Skip-gram: posteriors of a tile's centres, and their gradients carried back.

A tile's encoder is a few matrix products: the layer is linear before the relu, so each distinct word is
projected once and a (centre, context) pair costs one vector addition.
"""

from libc.math cimport fabs, isinf
from libc.string cimport memcpy, memset
from scipy.linalg.cython_blas cimport dgemm, sgemm

from densvec.native._bsg_step cimport (
    CENTRE_LAYER, CONTEXT_LAYER, MEAN_BIAS, MEAN_HEAD, VARIANCE_BIAS, VARIANCE_HEAD, Scratch, Step,
)
from densvec.native._vector cimport REAL, Product, prefetch_row
from densvec.native._windows cimport Windows, positive_count, same_window


cdef enum:
    AHEAD = 16      # rows of embeddings that are asked for before they are needed


cdef inline void multiply(Step* step, bint transposed, int m, int n, int k, REAL* a, int a_row, REAL* b,
                          int b_row, REAL* c, int c_row, const REAL* start=NULL) noexcept nogil:
    """c = a @ b, given the lengths of their rows, plus the row `start`; a may be transposed: (k, m).

    Rows of b, and start, go on for whole vectors.
    """
    cdef REAL alpha = 1, beta = start != NULL
    cdef char b_op = c'N', a_op = c'T' if transposed else c'N'
    cdef size_t down = 1 if transposed else a_row, along = a_row if transposed else 1
    cdef Product by = Product(c_row, down, along, b_row, k, start, 0)
    cdef int i
    if step.rounded != NULL:
        step.rounded(c, a, b, m, n, &by, step.scratch.left, step.scratch.right)
        return
    if step.loops.bits:
        step.loops.product(c, a, b, m, n, &by)
        return
    if start != NULL:
        for i in range(m):
            memcpy(c + <size_t> i * c_row, start, n * sizeof(REAL))
    # BLAS is column-major: it sees our arrays transposed, so ask it for cᵀ = bᵀ aᵀ.
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
        if i + AHEAD < distinct:
            prefetch_row(tables.embeddings + <size_t> s.words[i + AHEAD] * E, E * sizeof(REAL))
        memcpy(s.inputs + <size_t> i * E, tables.embeddings + <size_t> s.words[i] * E, E * sizeof(REAL))
    multiply(step, False, distinct, 2 * units, E, s.inputs, E, s.layers, 2 * units, s.projected,
             2 * units)

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
    memcpy(s.biases, weights[MEAN_BIAS], D * sizeof(REAL))
    if not step.narrows:
        memcpy(s.biases + D, weights[VARIANCE_BIAS], spread * sizeof(REAL))
    multiply(step, False, last - first, D + spread, H, s.hidden, units, s.heads, outputs, s.posteriors,
             outputs, s.biases)
    if step.narrows:
        narrow_posteriors(step)


cdef inline void narrow_posteriors(Step* step) noexcept nogil:
    """Say how much a tile's posteriors narrow their priors: log-variances are from the priors' from here on.

        log_variance   = -log(narrowing),  narrowing = 1 + x / (1 + x / most),  x = its column / scale
    """
    cdef int tile = step.tile.last - step.tile.first, spread = step.spread, i, d
    cdef REAL scale
    s = step.scratch
    columns, told, slopes, logs = s.posteriors + step.size, s.narrowing, s.narrowing_slope, s.narrowed
    for i in range(tile):
        for d in range(spread):
            told[i * spread + d] = columns[i * step.outputs + d] / s.scales[i]
    step.loops.narrow(told, slopes, logs, <REAL> step.most_narrowing, tile * spread)
    for i in range(tile):
        scale = 1 / s.scales[i]
        for d in range(spread):
            columns[i * step.outputs + d] = logs[i * spread + d]
            slopes[i * spread + d] *= scale


cdef inline void complete_posterior(Step* step, int i) noexcept nogil:
    """Set step.q to the posterior of centre i.

        log_variance  += log-variance of the prior,  mean += mean of the prior     if it is residual
        variance       = exp(log_variance, within bounds)

    Only when the centre's turn comes: a word that the tile has often moves at each of its occurrences. The
    hinge of a residual posterior moves the prior's mean, but not its log-variance.
    """
    cdef int D = step.size, spread = step.spread, d
    cdef size_t word = step.windows.tokens[i], begins = (i - step.tile.first) * step.outputs
    cdef REAL low = step.low, high = step.high
    loops, q, s, tables = step.loops, &step.q, step.scratch, &step.tables
    q.mean, q.log_variance, q.variance = s.posteriors + begins, s.posteriors + begins + D, s.variance
    q.d_mean, q.d_log_variance = s.d_posteriors + begins, s.d_posteriors + begins + D
    if step.residual:
        loops.add_scaled(q.mean, 1, tables.means + word * tables.mean_row, D)
        for d in range(spread):
            q.log_variance[d] += tables.log_variances[word * tables.log_variance_row + d]
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
    cdef int tile = last - first, d
    loops, s, windows, d_weights = step.loops, step.scratch, &step.windows, step.scratch.d_weights

    # The heads; hidden becomes its gradient
    multiply(step, True, H, D + spread, tile, s.hidden, units, s.d_posteriors, outputs, s.d_heads, outputs)
    memset(d_weights[MEAN_BIAS], 0, D * sizeof(REAL))
    memset(d_weights[VARIANCE_BIAS], 0, spread * sizeof(REAL))
    for i in range(tile):
        loops.add_scaled(d_weights[MEAN_BIAS], 1, s.d_posteriors + i * outputs, D)
        for d in range(spread):
            d_weights[VARIANCE_BIAS][d] += s.d_posteriors[i * outputs + D + d]
    if step.narrows:  # the score is the variance head's alone, which has no bias then
        memset(d_weights[VARIANCE_BIAS], 0, spread * sizeof(REAL))
        for i in range(tile):
            memset(s.d_posteriors + i * outputs + D, 0, spread * sizeof(REAL))
    loops.transpose(s.turned, units, s.heads, outputs, H, D + spread)
    multiply(step, False, tile, units, D + spread, s.d_posteriors, outputs, s.turned, units, s.hidden, units)

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
    multiply(step, True, E, 2 * units, distinct, s.inputs, E, s.d_projected, 2 * units, s.d_layers,
             2 * units)
    loops.transpose(s.turned, step.embeds, s.layers, 2 * units, E, 2 * units)
    multiply(step, False, distinct, E, 2 * units, s.d_projected, 2 * units, s.turned, step.embeds, s.inputs,
             E)

    copy_columns(d_weights[CONTEXT_LAYER], H, s.d_layers, 2 * units, E, H)
    copy_columns(d_weights[CENTRE_LAYER], H, s.d_layers + units, 2 * units, E, H)
    copy_columns(d_weights[MEAN_HEAD], D, s.d_heads, outputs, H, D)
    copy_columns(d_weights[VARIANCE_HEAD], spread, s.d_heads + D, outputs, H, spread)
    if step.narrows:  # by its absolute values
        for i in range(H * spread):
            if step.tables.weights[VARIANCE_HEAD][i] < 0:
                d_weights[VARIANCE_HEAD][i] *= -1
