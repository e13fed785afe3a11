"""The Bayesian Skip-gram's training step on the CPU: forward and backward fused, rows updated in place.

A chunk is taken in tiles of `TILE` centres. The encoder (_bsg_encoder.pxd) infers the posteriors of a whole
tile. Then, centre after centre (_bsg_compare.pxd), divergences are compared and the priors pulled or pushed
at once (Hogwild when several workers share the tables), and the posteriors' gradients go back through the
encoder. Its own weights take one Adam step per tile.

A check of the gradients runs the same step: into other arrays, at rates below 0, without damping and bounds.
"""

from libc.limits cimport INT_MAX
from libc.math cimport INFINITY, isfinite, pow, sqrt
from libc.string cimport memset

from densvec.native._bsg_compare cimport compare
from densvec.native._bsg_encoder cimport AHEAD, encode, find_distinct, propagate
from densvec.native._bsg_step cimport WEIGHTS, Limits, Optimiser, Rates, Scratch, Step, Tables, Tile, Totals
from densvec.native._vector cimport (
    LANES, REAL, Adam, Descent, best_instruction_set, prefetch_row, rounded_product,
)
from densvec.native._windows cimport (
    address, begin, checked_rate, find_windows, loops_for, row_address,
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
    CACHE_LINE = 64

# In the order of _bsg_step.pxd
WEIGHT_NAMES = ("context_layer", "centre_layer", "mean_head", "mean_bias", "variance_head", "variance_bias")

cdef double PRIOR_LOW = PRIOR_LOG_VARIANCE_BOUNDS[0]
cdef double PRIOR_HIGH = PRIOR_LOG_VARIANCE_BOUNDS[1]
cdef double LONGEST_STEP = LOG_VARIANCE_STEP
cdef double ADAGRAD_FLOOR = ADAGRAD_EPSILON
cdef double ADAM_FLOOR = ADAM_EPSILON
cdef double BETA_FIRST = ADAM_BETAS[0]
cdef double BETA_SECOND = ADAM_BETAS[1]

# Finite numbers stay finite. A centre whose loss is beyond reason moves nothing. That bounds how far rows are
# from its posterior, and a row is pushed at most twice as far away each time; if a centre has so many
# negatives that pushing one word again and again could still overflow, all of them are damped more.
cdef double LARGEST_LOSS = 1e12  # of a centre, at a margin and a weight of the KL of at most 1
cdef double MOST_PUSHES = 30


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
        if i + AHEAD < step.tile.distinct:
            prefetch_row(step.tables.embeddings + <size_t> s.words[i + AHEAD] * E, E * sizeof(REAL))
            prefetch_row(optimiser.squares + s.words[i + AHEAD], sizeof(REAL))
        row = s.words[i]
        d_input = s.inputs + <size_t> i * E
        square = optimiser.squares[row] + loops.dot(d_input, d_input, E) / E
        if not isfinite(square):
            step.totals.hinge = INFINITY
            continue
        optimiser.squares[row] = square
        row_rate = step.rates.embedding / sqrt(optimiser.squares[row] + ADAGRAD_FLOOR)
        loops.add_scaled(step.tables.embeddings + row * E, -row_rate, d_input, E)

    # A tile of one of several workers stands for one of each: moments forget as fast as one worker's would.
    optimiser.steps[0] += step.at_once
    steps = optimiser.steps[0]
    rate = step.rates.encoder * (sqrt(1 - pow(BETA_SECOND, steps)) / (1 - pow(BETA_FIRST, steps)))
    cdef Adam adam = Adam(1 - pow(BETA_FIRST, step.at_once), 1 - pow(BETA_SECOND, step.at_once), rate,
                          ADAM_FLOOR)
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


cdef class Workspace:
    """What one worker has for itself: its optimiser, and memory that grows to the largest chunk seen."""

    cdef Optimiser optimiser
    cdef Scratch scratch
    cdef list memory             # that the scratch points into
    cdef int halo, rows

    def __cinit__(self):
        self.halo = self.rows = -1

    cdef size_t room(self, object count, size_t size) except 0:
        """Return zeroed memory for things of that size, from a cache line on: no vector lies across two."""
        array = np.zeros(count * size + CACHE_LINE, np.uint8)
        self.memory.append(array)
        return (begin(array) + CACHE_LINE - 1) // CACHE_LINE * CACHE_LINE

    cdef REAL* numbers(self, object rows, object columns=1) except NULL:
        return <REAL*> self.room(rows * columns, sizeof(REAL))

    cdef REAL** addresses(self, object count) except NULL:
        return <REAL**> self.room(count, sizeof(REAL*))

    cdef int* integers(self, object count) except NULL:
        return <int*> self.room(count, sizeof(int))

    cdef Scratch* reserve(self, Step* step, int halo, int rows) except NULL:
        """Make room for tiles whose windows reach `halo` positions, and for centres of `rows` rows."""
        cdef Scratch* s = &self.scratch
        if halo <= self.halo and rows <= self.rows:
            return s
        self.halo = self.rows = -1
        self.memory = []
        E, spread, embeds, units, outputs = step.inputs, step.spread, step.embeds, step.units, step.outputs
        blocks = rows + LANES  # the loops over rows go on for whole blocks
        s.layers, s.d_layers = self.numbers(E, 2 * units), self.numbers(E, 2 * units)
        s.heads, s.d_heads = self.numbers(units, outputs), self.numbers(units, outputs)
        s.biases = self.numbers(outputs)
        s.turned = self.numbers(max(outputs * units, 2 * units * embeds))
        s.left = <unsigned int*> self.integers(halo * max(outputs, units, embeds))
        s.right = <unsigned int*> self.integers(max(halo * 2 * units, embeds * 2 * units,
                                                    halo * outputs, units * outputs))
        s.slots, s.words = self.integers(halo), self.integers(halo)
        s.places = self.integers(4 * <size_t> halo)
        s.inputs = self.numbers(halo, E)
        s.projected, s.d_projected = self.numbers(halo, 2 * units), self.numbers(halo, 2 * units)
        s.weightings, s.reads = self.numbers(TILE, rows), self.addresses(TILE)
        s.scales = self.numbers(TILE)
        s.hidden = self.numbers(TILE, units)
        s.posteriors, s.d_posteriors = self.numbers(TILE, outputs), self.numbers(TILE, outputs)
        s.variance, s.steepness = self.numbers(spread), self.numbers(spread)
        s.prior_variance = self.numbers(spread)
        s.narrowing, s.narrowing_slope = self.numbers(TILE, spread), self.numbers(TILE, spread)
        s.narrowed = self.numbers(TILE, spread)
        for w in range(WEIGHTS):
            s.d_weights[w] = self.numbers(step.lengths[w])
        s.rows, s.active = self.integers(rows), self.integers(rows)
        s.addresses, s.into = self.addresses(rows), self.addresses(rows)
        s.coming = self.addresses(rows)
        s.row_log_variances, s.precisions = self.numbers(blocks), self.numbers(blocks, spread)
        s.distances, s.gains = self.numbers(blocks), self.numbers(blocks)
        s.steps, s.moves = self.numbers(blocks), self.numbers(blocks)
        s.weights, s.scores, s.shares = self.numbers(blocks), self.numbers(blocks), self.numbers(blocks)
        self.halo, self.rows = halo, rows
        return s


cdef class Kernel:
    """The step bound to the arrays it trains, by name; `state` has the optimiser's. All are of one dtype."""

    cdef Step bound              # what all steps have in common
    cdef double nearness
    cdef dict shapes, arrays
    cdef list workspaces
    cdef readonly str instruction_set
    cdef readonly bint bfloat16  # whether matrix products of training are of bfloat16s

    def __init__(self, dict arrays, dict state, *, double margin, double kl_weight, double nearness=0,
                 bint residual=False, reading=None, company=None, int workers=1, str instruction_set=None,
                 bint bfloat16=False):
        words, size = arrays["means"].shape
        if company is None:
            company = np.zeros(words, arrays["means"].dtype)
        self.nearness = nearness
        self.instruction_set = instruction_set or best_instruction_set().decode()

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
        step.rounded = rounded_product() if bfloat16 else NULL
        self.bfloat16 = step.rounded != NULL
        step.size, step.spread, step.inputs, step.hidden = size, spread, inputs, hidden
        step.units, step.outputs, step.embeds = units, outputs, whole_vectors(inputs)
        step.margin, step.kl_weight, step.residual = margin, kl_weight, residual
        step.largest_loss = min(1e18, LARGEST_LOSS * max(1.0, margin) * max(1.0, kl_weight))
        reading = reading or Reading()
        step.window, step.nearness, step.saturation = reading.window, reading.nearness, reading.saturation
        step.narrows, step.most_narrowing = reading.narrowing, MOST_NARROWING
        step.low, step.high = LOG_VARIANCE_BOUNDS
        step.limits = Limits(
            prior_low=PRIOR_LOW, prior_high=PRIOR_HIGH, longest_step=LONGEST_STEP, largest_loss=LARGEST_LOSS,
            most_pushes=MOST_PUSHES, memory=TYPICAL_MEMORY, shrink=SHRINKAGE, scored=SCORED,
        )
        step.tables = self._tables(arrays)
        step.side_by_side = step.tables.log_variances == step.tables.means + step.size
        # rows that begin where vectors do, and go on for whole ones: none is read or written beyond its end
        step.whole = (step.tables.mean_row % LANES == 0 and step.tables.mean_row > size
                      and <size_t> step.tables.means % (LANES * sizeof(REAL)) == 0)
        step.company = address(company, "company", (words,))
        for w, name in enumerate(WEIGHT_NAMES):
            step.lengths[w] = arrays[name].size

        # Workers have moments of their own, which start alike: shared ones would wander between caches with
        # every tile. The first worker's are those of `state`, which a file keeps.
        states = [state] + [_own_moments(state) for _ in range(1, workers)]
        self.workspaces = [self._workspace(own) for own in states]
        self.arrays = {**arrays, "states": states, "company": company}  # keeps them alive

    cdef Workspace _workspace(self, dict state):
        cdef Workspace workspace = Workspace()
        cdef Optimiser* optimiser = &workspace.optimiser
        optimiser.squares = address(state["embedding_squares"], "embedding_squares", self.shapes["means"][:1])
        optimiser.typical = address(state["typical_word"], "typical_word", (2,))
        steps = state["adam_steps"]
        if steps.dtype != np.int64 or steps.shape != (1,) or not steps.flags.writeable:
            raise ValueError(
                f"adam_steps is {steps.dtype}{steps.shape}; the kernel needs a writeable int64(1,)"
            )
        optimiser.steps = <long long*> begin(steps)
        for w, name in enumerate(WEIGHT_NAMES):
            first, second, shape = "adam_first." + name, "adam_second." + name, self.shapes[name]
            optimiser.first[w] = address(state[first], first, shape)
            optimiser.second[w] = address(state[second], second, shape)
        return workspace

    cdef Tables _tables(self, dict arrays) except *:
        cdef Tables tables
        means, log_variances = arrays["means"], arrays["log_variances"]
        tables.means = row_address(means, "means", self.shapes["means"])
        tables.log_variances = row_address(log_variances, "log_variances", self.shapes["log_variances"])
        tables.mean_row = means.strides[0] // sizeof(REAL)
        tables.log_variance_row = log_variances.strides[0] // sizeof(REAL)
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
        if step.windows.most_targets > INT_MAX - 3 * LANES:
            raise ValueError(f"{step.windows.most_targets} words to compare with one centre are too many")
        # itself, and what fills up the block of the last negatives
        step.scratch = workspace.reserve(&step, <int> halo, step.windows.most_targets + 1 + LANES)
        step.optimiser = workspace.optimiser
        step.into, step.trains = into[0], into == &self.bound.tables
        step.at_once = len(self.workspaces)
        if measures or not step.trains:  # what is only looked at is not rounded
            step.rounded = NULL
        step.rates, step.totals, step.measures = rates, Totals(0, 0, 0), measures
        with nogil:
            run(&step)
        return step.totals.hinge, step.totals.kl, step.totals.centres


def _own_moments(dict state):
    """Return an optimiser's arrays with copies of Adam's."""
    return {name: array.copy() if name.startswith("adam_") else array for name, array in state.items()}


cdef object whole_vectors(object n):
    """Return n, rounded up to whole vectors."""
    return (n + LANES - 1) // LANES * LANES
