"""The Bayesian Skip-gram's training step on the CPU: forward and backward fused, rows updated in place.

A chunk is taken in tiles of `TILE` centres. The encoder (_bsg_encoder.pxd) infers the posteriors of a whole
tile. Then, centre after centre, divergences are compared and the priors pulled or pushed at once (Hogwild
when several workers share the tables), and the posteriors' gradients go back through the encoder. Its own
weights take one Adam step per tile.

A check of the gradients runs the same step: into other arrays, at rates below 0, without damping and bounds.
"""

from libc.limits cimport INT_MAX
from libc.math cimport INFINITY, fabs, isfinite, pow, sqrt
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from densvec.native._bsg_encoder cimport complete_posterior, encode, find_distinct, propagate
from densvec.native._bsg_step cimport WEIGHTS, Optimiser, Rates, Scratch, Step, Tables, Tile, Totals
from densvec.native._vector cimport LANES, REAL, Adam, Descent, best_instruction_set
from densvec.native._windows cimport (
    address, begin, checked_rate, find_windows, hinge_of, list_targets, loops_for, negative_count,
    negatives_of, positive_count, prefetch,
)

import numpy as np

from densvec.encoder import LOG_VARIANCE_BOUNDS
from densvec.reading import MOST_NARROWING, Reading
from densvec.training.settings import (
    ADAGRAD_EPSILON, ADAM_BETAS, ADAM_EPSILON, LOG_VARIANCE_STEP, PRIOR_LOG_VARIANCE_BOUNDS, SCORED,
    SHRINKAGE,
    TYPICAL_MEMORY,
)

cdef enum:
    TILE = 256      # centres between two steps of the encoder's weights

# In the order of _bsg_step.pxd
WEIGHT_NAMES = ("context_layer", "centre_layer", "mean_head", "mean_bias", "variance_head", "variance_bias")

cdef double PRIOR_LOW = PRIOR_LOG_VARIANCE_BOUNDS[0]
cdef double PRIOR_HIGH = PRIOR_LOG_VARIANCE_BOUNDS[1]
cdef double LONGEST_STEP = LOG_VARIANCE_STEP
cdef double ADAGRAD_FLOOR = ADAGRAD_EPSILON
cdef double ADAM_FLOOR = ADAM_EPSILON
cdef double BETA_FIRST = ADAM_BETAS[0]
cdef double BETA_SECOND = ADAM_BETAS[1]
cdef double MEMORY = TYPICAL_MEMORY
cdef double SHRINK = SHRINKAGE

# Finite numbers stay finite. A centre whose loss is beyond reason moves nothing. That bounds how far rows are
# from its posterior, and a row is pushed at most twice as far away each time; if a centre has so many
# negatives that pushing one word again and again could still overflow, all of them are damped more.
cdef double LARGEST_LOSS = 1e12  # of a centre, at a margin and a weight of the KL of at most 1
cdef double MOST_PUSHES = 30
cdef int EVERY = SCORED


cdef void score_rows(Step* step, int count) noexcept nogil:
    """Score the rows of a centre by KL[q || p] up to what is q's alone.

        score = 1/2 sum((v_q + (mean_q - mean_p)^2) / v_p + log v_p)
    """
    cdef int D = step.size, k
    cdef size_t row
    loops, q, s = step.loops, &step.q, step.scratch
    means, log_variances = step.tables.means, step.tables.log_variances
    if step.spread == 1:
        for k in range(count):
            row = s.rows[k]
            s.addresses[k] = means + row * D
            s.row_log_variances[k] = log_variances[row]
        loops.distances(s.distances, s.addresses, q.mean, count, D)
        loops.precisions(s.precisions, s.row_log_variances, count)
        for k in range(count):
            s.scores[k] = (D * q.variance[0] + s.distances[k]) * s.precisions[k] + D * s.row_log_variances[k]
            s.scores[k] /= 2
    else:
        for k in range(count):
            row = s.rows[k]
            precision = s.precisions + <size_t> k * D
            loops.precisions(precision, log_variances + row * D, D)
            s.scores[k] = loops.score_diagonal(means + row * D, log_variances + row * D, precision, q.mean,
                                               q.variance, D)


cdef double kl_from_prior(Step* step, double score) noexcept nogil:
    """Return KL[q || prior] = score - 1/2 sum(1 + log v_q)."""
    cdef int d
    for d in range(step.spread):
        score -= ((1 + min(max(<double> step.q.log_variance[d], step.low), step.high)) / 2
                  * (step.size // step.spread))
    return score


cdef void move_rows(Step* step, int first, int last, const Descent* descent) noexcept nogil:
    """Pull the rows first..last-1 to q by their shares, or push them away; sum the gradient of q.

        d_mean         += share / v_p * (mean_q - mean_p)
        d_log_variance += share / v_p * v_q / 2
    """
    cdef int D = step.size, k, active = 0
    cdef size_t row
    cdef REAL low = descent.low, high = descent.high, pulled = 0
    loops, q, s, into = step.loops, &step.q, step.scratch, &step.into
    shares = s.shares
    if step.spread > 1:
        for k in range(first, last):
            if shares[k] != 0:
                row = s.rows[k]
                loops.pull_diagonal(
                    into.means + row * D, into.log_variances + row * D, q.d_mean, q.d_log_variance,
                    step.tables.means + row * D, s.precisions + <size_t> k * D, q.mean, q.variance, shares[k],
                    descent, D,
                )
        return
    loops.plan_moves(s.gains + first, s.steps + first, s.moves + first, shares + first, s.precisions + first,
                     s.distances + first, q.variance[0], descent, D, last - first)
    for k in range(first, last):
        if shares[k] != 0:
            row = s.rows[k]
            into.log_variances[row] = min(max(into.log_variances[row] + s.moves[k], low), high)
            pulled += s.gains[k]
            s.addresses[active] = step.tables.means + row * D
            s.into[active] = into.means + row * D
            s.gains[active] = s.gains[k]
            s.steps[active] = s.steps[k]
            active += 1
    q.d_log_variance[0] += pulled * D * q.variance[0] / 2
    loops.pull_rows(s.into, q.d_mean, s.addresses, q.mean, s.gains, s.steps, active, D)


cdef void move_centre(Step* step, int count) noexcept nogil:
    """Let a residual posterior take its prior's mean along: descend the hinge; d_mean has its gradient.

        mean -= rate / (1 + damping * steepness) * d_mean,   steepness = sum over its rows of |share| / v_row

    (The divergence from the prior does not change when both move.)
    """
    cdef int D = step.size, spread = step.spread, k, d
    cdef double rate = step.rates.mean, damping = step.rates.damping
    cdef REAL strength
    loops, s, d_mean, steepness = step.loops, step.scratch, step.q.d_mean, step.scratch.steepness
    shares, precisions = s.shares, s.precisions
    mean = step.into.means + <size_t> s.rows[count] * D
    memset(steepness, 0, spread * sizeof(REAL))
    if spread == 1:
        for k in range(count):
            strength = shares[k] if shares[k] > 0 else -shares[k]
            steepness[0] += strength * precisions[k]
        loops.add_scaled(mean, <REAL> (-rate / (1 + damping * steepness[0])), d_mean, D)
        return
    for k in range(count):
        if shares[k] != 0:
            strength = shares[k] if shares[k] > 0 else -shares[k]
            loops.add_scaled(steepness, strength, precisions + <size_t> k * D, D)
    for d in range(D):
        mean[d] -= <REAL> (rate / (1 + damping * steepness[d])) * d_mean[d]


cdef void cover(Step* step, int positives, REAL* sums) noexcept nogil:  # INOUT: sums
    """Cover: widen the positives that are stretched more than is typical, narrow the others.

    A word's stretch by a posterior is (v_q + (mean_q - mean)^2) / v. The typical word has the stretch and the
    log-variance that words had on average lately; `sums` adds both up. Covering is not part of the loss: see
    `densvec.training.settings.Rates`.
    """
    cdef int D = step.size, k
    cdef size_t row
    cdef double rate = step.rates.coverage, stretch, log_variance, move
    cdef Descent descent = Descent(0, 0, rate, LONGEST_STEP, PRIOR_LOW, PRIOR_HIGH)
    q, s, typical, log_variances = &step.q, step.scratch, step.optimiser.typical, step.tables.log_variances
    for k in range(positives):
        row = s.rows[k]
        if step.spread == 1:
            stretch = (q.variance[0] + s.distances[k] / D) * s.precisions[k]
            log_variance = log_variances[row]
            move = rate * (stretch - typical[0] + SHRINK * (typical[1] - log_variance))
            move = min(max(move, -LONGEST_STEP), LONGEST_STEP)
            log_variances[row] = <REAL> min(max(log_variance + move, PRIOR_LOW), PRIOR_HIGH)
            sums[0] += <REAL> stretch
            sums[1] += <REAL> log_variance
        else:
            step.loops.cover_diagonal(sums, log_variances + row * D, step.tables.means + row * D,
                                      s.precisions + <size_t> k * D, q.mean, q.variance, typical, SHRINK,
                                      &descent, D)


cdef void score_narrowing(Step* step, int i) noexcept nogil:  # INOUT: scratch.narrowing
    """Replace what centre i's posterior narrows its prior by with the slope of its score by its column.

    The words just outside the window, which the posterior has not read, lie at squared distances x from its
    mean and x_w from its prior's. With r the ratio of its variance to the prior's, the score is

        (x_w log r + x / r) / mean of x_w
    """
    cdef int D = step.size, left = step.windows.left[i], right = step.windows.right[i], beyond = 0, k, d
    cdef REAL squares[2]
    cdef double x, x_w, total = 0
    loops, windows, s, means, mean = step.loops, &step.windows, step.scratch, step.tables.means, step.q.mean
    prior = means + <size_t> windows.tokens[i] * D
    if i % EVERY == 0 and windows.left[left] < left:  # which is not where the sentence begins
        s.addresses[beyond] = means + <size_t> windows.tokens[left - 1] * D
        beyond += 1
    if i % EVERY == 0 and windows.right[right] > right:
        s.addresses[beyond] = means + <size_t> windows.tokens[right + 1] * D
        beyond += 1
    if beyond:
        loops.distances(squares, s.addresses, prior, beyond, D)
        for k in range(beyond):
            total += squares[k]
    if not 0 < total < INFINITY:
        memset(s.narrowing, 0, step.spread * sizeof(REAL))
    elif step.spread == 1:
        x = 0
        loops.distances(squares, s.addresses, mean, beyond, D)
        for k in range(beyond):
            x += squares[k]
        s.narrowing[0] = <REAL> (x / total - 1 / s.narrowing[0]) * s.narrowing_slope[0]
    else:
        for d in range(D):
            x = x_w = 0
            for k in range(beyond):
                x += (s.addresses[k][d] - mean[d]) * (s.addresses[k][d] - mean[d])
                x_w += (s.addresses[k][d] - prior[d]) * (s.addresses[k][d] - prior[d])
            s.narrowing[d] = <REAL> ((x - x_w / s.narrowing[d]) * D / total) * s.narrowing_slope[d]


cdef void compare(Step* step) noexcept nogil:
    """Take a tile's centres one by one: loss, gradient of the posterior, changes of the priors."""
    cdef int D = step.size, spread = step.spread, first = step.tile.first, last = step.tile.last
    cdef int i, d, positives, count
    cdef long long pairs = 0
    cdef double hinge, kl, weight
    cdef REAL sums[2]
    cdef Descent contrast
    windows, q, s, totals = &step.windows, &step.q, step.scratch, &step.totals
    means, typical = step.tables.means, step.optimiser.typical
    memset(s.d_posteriors, 0, (last - first) * step.outputs * sizeof(REAL))
    memset(sums, 0, sizeof(sums))
    for i in range(first, last):
        positives = positive_count(windows, i)
        if positives == 0:
            continue
        if i + 1 < last:
            prefetch(means, negatives_of(windows, i + 1), negative_count(windows, i + 1), D)
            prefetch(means, windows.tokens + windows.right[i + 1], 1, D)
        count = list_targets(windows, i, s.rows)
        s.rows[count] = windows.tokens[i]
        complete_posterior(step, i)
        if step.narrows:
            score_narrowing(step, i)
        score_rows(step, count + 1)
        hinge = hinge_of(step.loops, windows, i, step.margin, s.scores, s.weights, s.shares)
        s.shares[count] = step.kl_weight
        kl = kl_from_prior(step, s.scores[count])
        totals.centres += 1
        if not fabs(hinge + kl) < step.largest_loss:  # a diverging run writes nothing; this loss stops it
            totals.hinge = INFINITY
            continue
        totals.hinge += hinge
        totals.kl += kl
        if step.measures:
            continue

        contrast = step.rates.contrast
        contrast.damping *= <REAL> max(1.0, (count - positives) / MOST_PUSHES)
        move_rows(step, 0, count, &contrast)
        if step.residual:
            move_centre(step, count)
        if step.narrows:  # its variance follows its prior's: only its shift says how wide that must be
            for d in range(spread):
                s.prior_variance[d] = 1 / s.precisions[<size_t> count * spread + d]
            q.variance = s.prior_variance
        move_rows(step, count, count + 1, &step.rates.prior)
        q.variance = s.variance
        if step.trains:
            cover(step, positives, sums)
            pairs += positives

        if step.narrows:  # the score alone teaches it how far
            memcpy(q.d_log_variance, s.narrowing, spread * sizeof(REAL))
            continue
        # d KL / d log v_q = v_q / v_p / 2, which move_rows has added, - 1/2; no slope at log v_q's bounds
        for d in range(spread):
            q.d_log_variance[d] -= <REAL> (step.kl_weight * (D // spread) / 2)
            if q.log_variance[d] <= step.low or q.log_variance[d] >= step.high:
                q.d_log_variance[d] = 0
    if pairs and fabs(sums[0]) + fabs(sums[1]) < LARGEST_LOSS * pairs:
        weight = (last - first) / (last - first + MEMORY)
        typical[0] += <REAL> (weight * (sums[0] / pairs - typical[0]))
        typical[1] += <REAL> (weight * (sums[1] / pairs - typical[1]))


cdef void sum_encoder_gradients(Step* step) noexcept nogil:
    """Add the gradients of a tile's embeddings and of the weights to those of the tiles before."""
    cdef int E = step.inputs, i, w
    s, into = step.scratch, &step.into
    for i in range(step.tile.distinct):
        step.loops.add_scaled(into.embeddings + <size_t> s.words[i] * E, 1, s.inputs + <size_t> i * E, E)
    for w in range(WEIGHTS):
        step.loops.add_scaled(into.weights[w], 1, s.d_weights[w], step.lengths[w])


cdef void update_encoder(Step* step) noexcept nogil:
    """Row-wise Adagrad for the embeddings, Adam for the weights."""
    cdef int E = step.inputs, centres = step.tile.last - step.tile.first, i, w
    cdef size_t row
    cdef double steps, rate
    cdef REAL square, row_rate
    loops, s, optimiser = step.loops, step.scratch, &step.optimiser
    for w in range(WEIGHTS):
        if not isfinite(loops.dot(s.d_weights[w], s.d_weights[w], step.lengths[w])):
            step.totals.hinge = INFINITY  # as above: nothing is written, and this stops it
            return
    for i in range(step.tile.distinct):
        row = s.words[i]
        d_input = s.inputs + <size_t> i * E
        square = optimiser.squares[row] + loops.dot(d_input, d_input, E) / E
        if not isfinite(square):
            step.totals.hinge = INFINITY
            continue
        optimiser.squares[row] = square
        row_rate = step.rates.embedding / sqrt(optimiser.squares[row] + ADAGRAD_FLOOR)
        loops.add_scaled(step.tables.embeddings + row * E, -row_rate, d_input, E)

    optimiser.steps[0] += 1
    steps = optimiser.steps[0]
    rate = step.rates.encoder * (sqrt(1 - pow(BETA_SECOND, steps)) / (1 - pow(BETA_FIRST, steps)))
    cdef Adam adam = Adam(1 - BETA_FIRST, 1 - BETA_SECOND, rate, ADAM_FLOOR)
    for w in range(WEIGHTS):
        loops.adam(step.tables.weights[w], optimiser.first[w], optimiser.second[w], s.d_weights[w],
                   <REAL> (1.0 / centres), &adam, step.lengths[w])


cdef void run(Step* step) noexcept nogil:
    """Take the step for each tile of a chunk."""
    cdef int first = 0, last, low, high, i
    windows = &step.windows
    while first < windows.n:
        last = first + min(<int> TILE, windows.n - first)
        low = first
        high = last
        for i in range(first, last):
            low = min(low, windows.left[i])
            high = max(high, windows.right[i] + 1)
        step.tile = Tile(first, last, low, find_distinct(windows.tokens + low, high - low, step.scratch))
        encode(step)
        compare(step)
        first = last
        if step.measures:
            continue
        propagate(step)
        if step.trains:
            update_encoder(step)
        else:
            sum_encoder_gradients(step)


cdef inline void* room(size_t rows, size_t columns, size_t bytes) noexcept:
    """Return zeroed memory for rows * columns things of that many bytes, or NULL."""
    if columns and rows > (<size_t> -1) // columns:
        return NULL
    return calloc(rows * columns, bytes)  # calloc checks its own product


cdef inline REAL* numbers(size_t rows, size_t columns=1) noexcept:
    return <REAL*> room(rows, columns, sizeof(REAL))


cdef inline int* integers(size_t count) noexcept:
    return <int*> room(count, 1, sizeof(int))


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
        self.halo = self.rows = -1

    cdef bint filled(self) noexcept:
        cdef void** pointers = <void**> &self.scratch
        cdef size_t i
        for i in range(sizeof(Scratch) // sizeof(void*)):
            if pointers[i] == NULL:
                return False
        return True

    cdef Scratch* reserve(self, Step* step, int halo, int rows) except NULL:
        """Make room for tiles whose windows reach `halo` positions, and for centres of `rows` rows."""
        cdef Scratch* s = &self.scratch
        cdef size_t E = step.inputs, spread = step.spread, units = step.units, outputs = step.outputs
        if halo <= self.halo and rows <= self.rows:
            return s
        self.release()
        s.layers, s.d_layers = numbers(E, 2 * units), numbers(E, 2 * units)
        s.heads, s.d_heads = numbers(units, outputs), numbers(units, outputs)
        s.slots, s.words = integers(halo), integers(halo)
        s.places = integers(4 * <size_t> halo)
        s.inputs = numbers(halo, E)
        s.projected, s.d_projected = numbers(halo, 2 * units), numbers(halo, 2 * units)
        s.weightings, s.reads = numbers(TILE, rows), <REAL**> room(TILE, 1, sizeof(REAL*))
        s.scales = numbers(TILE)
        s.hidden = numbers(TILE, units)
        s.posteriors, s.d_posteriors = numbers(TILE, outputs), numbers(TILE, outputs)
        s.variance, s.steepness = numbers(spread), numbers(spread)
        s.prior_variance, s.narrowing, s.narrowing_slope = numbers(spread), numbers(spread), numbers(spread)
        for w in range(WEIGHTS):
            s.d_weights[w] = numbers(step.lengths[w])
        s.rows = integers(rows)
        s.addresses, s.into = <REAL**> room(rows, 1, sizeof(REAL*)), <REAL**> room(rows, 1, sizeof(REAL*))
        s.row_log_variances, s.precisions = numbers(rows), numbers(rows, spread)
        s.distances, s.gains, s.steps, s.moves = numbers(rows), numbers(rows), numbers(rows), numbers(rows)
        s.weights, s.scores, s.shares = numbers(rows), numbers(rows), numbers(rows)
        if not self.filled():
            self.release()
            raise MemoryError("no memory for the training kernel's scratch arrays")
        self.halo, self.rows = halo, rows
        return s


cdef class Kernel:
    """The step bound to the arrays it trains, by name; `state` has the optimiser's. All are of one dtype."""

    cdef Step bound              # what all steps have in common
    cdef double nearness
    cdef dict shapes, arrays
    cdef list workspaces
    cdef readonly str instruction_set

    def __init__(self, dict arrays, dict state, *, double margin, double kl_weight, double nearness=0,
                 bint residual=False, reading=None, int workers=1, str instruction_set=None):
        self.arrays = {**arrays, **state}  # keeps them alive
        self.nearness = nearness
        self.workspaces = [Workspace() for _ in range(workers)]
        self.instruction_set = instruction_set or best_instruction_set().decode()

        words, size = arrays["means"].shape
        inputs, hidden = arrays["context_layer"].shape
        spread = arrays["log_variances"].shape[1]
        if spread not in (1, size):
            raise ValueError(f"log_variances has {spread} columns; it needs 1 or {size}")
        self.shapes = {
            "means": (words, size), "log_variances": (words, spread), "embeddings": (words, inputs),
            "context_layer": (inputs, hidden), "centre_layer": (inputs, hidden), "mean_head": (hidden, size),
            "mean_bias": (size,), "variance_head": (hidden, spread), "variance_bias": (spread,),
        }
        units, outputs = whole_vectors(hidden), whole_vectors(size + spread)
        for rows, columns in ((inputs, 2 * units), (units, outputs)):  # BLAS and the loops count in ints
            if rows * columns > INT_MAX:
                raise ValueError(
                    f"an encoder layer of {rows} x {columns} weights is too large: lower vector_size, "
                    f"embedding_size or hidden_size until it has at most {INT_MAX}"
                )

        cdef Step* step = &self.bound
        step.loops = loops_for(instruction_set)
        step.size, step.spread, step.inputs, step.hidden = size, spread, inputs, hidden
        step.units, step.outputs = units, outputs
        step.margin, step.kl_weight, step.residual = margin, kl_weight, residual
        step.largest_loss = min(1e18, LARGEST_LOSS * max(1.0, margin) * max(1.0, kl_weight))
        reading = reading or Reading()
        step.window, step.nearness, step.saturation = reading.window, reading.nearness, reading.saturation
        step.narrows, step.most_narrowing = reading.narrowing, MOST_NARROWING
        step.low, step.high = LOG_VARIANCE_BOUNDS
        step.tables = self._tables(arrays)
        cdef Optimiser* optimiser = &step.optimiser
        optimiser.squares = address(state["embedding_squares"], "embedding_squares", (words,))
        optimiser.typical = address(state["typical_word"], "typical_word", (2,))
        steps = state["adam_steps"]
        if steps.dtype != np.int64 or steps.shape != (1,) or not steps.flags.writeable:
            raise ValueError(
                f"adam_steps is {steps.dtype}{steps.shape}; the kernel needs a writeable int64(1,)"
            )
        optimiser.steps = <long long*> begin(steps)
        for w, name in enumerate(WEIGHT_NAMES):
            step.lengths[w] = arrays[name].size
            first, second, shape = "adam_first." + name, "adam_second." + name, self.shapes[name]
            optimiser.first[w] = address(state[first], first, shape)
            optimiser.second[w] = address(state[second], second, shape)

    cdef Tables _tables(self, dict arrays) except *:
        cdef Tables tables
        tables.means = address(arrays["means"], "means", self.shapes["means"])
        tables.log_variances = address(arrays["log_variances"], "log_variances", self.shapes["log_variances"])
        tables.embeddings = address(arrays["embeddings"], "embeddings", self.shapes["embeddings"])
        for w, name in enumerate(WEIGHT_NAMES):
            tables.weights[w] = address(arrays[name], name, self.shapes[name])
        return tables

    def step(self, chunk, *, double mean, double log_variance, double contrast, double coverage,
             double embedding, double encoder, int worker=0):
        """Train on a chunk at these rates; return the sums of hinge and KL, and the number of centres."""
        mean, log_variance, contrast = checked_rate(mean), checked_rate(log_variance), checked_rate(contrast)
        coverage, embedding, encoder = checked_rate(coverage), checked_rate(embedding), checked_rate(encoder)
        cdef double prior = 0 if self.bound.residual else mean  # move_centre moves the mean of a residual one
        cdef Rates rates = Rates(
            mean=mean, damping=mean, coverage=coverage, embedding=embedding, encoder=encoder,
            contrast=Descent(mean, mean, contrast, LONGEST_STEP, PRIOR_LOW, PRIOR_HIGH),
            prior=Descent(prior, prior, log_variance, LONGEST_STEP, PRIOR_LOW, PRIOR_HIGH),
        )
        return self._run(chunk, &self.bound.tables, rates, worker, False)

    def gradients(self, chunk, dict into):
        """Add a chunk's gradients to the arrays of `into`, named and shaped as the kernel's own."""
        cdef Tables tables = self._tables(into)
        cdef double prior = 0 if self.bound.residual else -1
        cdef double information = self.bound.size / self.bound.spread / 2.0  # Fisher's, of a log-variance
        cdef Rates rates = Rates(
            mean=-1, damping=0, coverage=0, embedding=0, encoder=0,
            contrast=Descent(-1, 0, -information, INFINITY, -INFINITY, INFINITY),
            prior=Descent(prior, 0, -information, INFINITY, -INFINITY, INFINITY),
        )
        return self._run(chunk, &tables, rates, 0, False)

    def measure(self, chunk, int worker=0):
        """Return the sums of hinge and KL over a chunk, and the number of centres; change nothing."""
        cdef Rates none
        memset(&none, 0, sizeof(Rates))
        return self._run(chunk, &self.bound.tables, none, worker, True)

    cdef tuple _run(self, chunk, Tables* into, Rates rates, int worker, bint measures):
        cdef Step step = self.bound
        if not 0 <= worker < len(self.workspaces):
            raise IndexError(f"worker {worker} of {len(self.workspaces)}")
        if not chunk.tokens.size or not chunk.negatives.size:
            return 0.0, 0.0, 0
        # what the windows point into
        _memory = find_windows(chunk, &step.windows, self.arrays["means"], self.nearness)
        cdef long long halo = min(<long long> step.windows.n, TILE + 2 * <long long> step.windows.widest)
        cdef Workspace workspace = self.workspaces[worker]
        step.scratch = workspace.reserve(&step, <int> halo, step.windows.most_targets + 1)
        step.into, step.trains = into[0], into == &self.bound.tables
        step.rates, step.totals, step.measures = rates, Totals(0, 0, 0), measures
        with nogil:
            run(&step)
        return step.totals.hinge, step.totals.kl, step.totals.centres


cdef object whole_vectors(object n):
    """Return n, rounded up to whole vectors."""
    return (n + LANES - 1) // LANES * LANES
