"""Comparing centres with their words: the loss, the gradient of a posterior, the changes of the priors.

Centre after centre, divergences are compared and the priors pulled or pushed at once.
"""

from libc.math cimport INFINITY, fabs
from libc.string cimport memcpy, memset

from densvec.native._bsg_encoder cimport complete_posterior
from densvec.native._bsg_step cimport Step
from densvec.native._vector cimport LANES, REAL, Descent, prefetch_row
from densvec.native._windows cimport hinge_of, negative_count, negatives_of, positive_count


cdef inline int list_coming(Step* step, int i) noexcept nogil:  # OUT: scratch.coming
    """List the means that centre i needs and the centre before it does not; return how many they are."""
    cdef int k, count = negative_count(&step.windows, i)
    cdef size_t mean_row = step.tables.mean_row
    windows, tables, coming = &step.windows, &step.tables, step.scratch.coming
    negatives, means = negatives_of(windows, i), tables.means
    for k in range(count):
        coming[k] = means + negatives[k] * mean_row
    coming[count] = means + windows.tokens[windows.right[i]] * mean_row
    if not step.side_by_side:
        for k in range(count):
            prefetch_row(tables.log_variances + negatives[k] * tables.log_variance_row,
                         step.spread * sizeof(REAL))
    return count + 1


cdef inline void list_rows(Step* step, int i) noexcept nogil:  # OUT: step.rows, scratch.rows
    """List the words that centre i is compared with: negatives, in a new block positives, itself.

    The loops take whole blocks: one that had both kinds would wait for what was written of either.
    """
    cdef int before, after
    s, windows, rows = step.scratch, &step.windows, &step.rows
    before, after = i - windows.left[i], windows.right[i] - i
    rows.negatives = negative_count(windows, i)
    rows.first = (rows.negatives + LANES - 1) // LANES * LANES
    rows.centre = rows.first + before + after
    memcpy(s.rows, negatives_of(windows, i), rows.negatives * sizeof(int))
    memcpy(s.rows + rows.first, windows.tokens + windows.left[i], before * sizeof(int))
    memcpy(s.rows + rows.first + before, windows.tokens + i + 1, after * sizeof(int))
    s.rows[rows.centre] = windows.tokens[i]


cdef inline void score_rows(Step* step, int first, int last, int coming) noexcept nogil:
    """Score the rows first..last-1 by KL[q || p] up to what is q's alone; ask for some of the next centre's.

    What spherical rows need for it are their squared distances from q: see `compare`.

        score = 1/2 sum((v_q + (mean_q - mean_p)^2) / v_p + log v_p)
    """
    cdef int D = step.size, k
    cdef size_t row, mean_row = step.tables.mean_row, log_variance_row = step.tables.log_variance_row
    loops, q, s = step.loops, &step.q, step.scratch
    means, log_variances = step.tables.means, step.tables.log_variances
    rows, addresses, row_log_variances = s.rows, s.addresses, s.row_log_variances
    if step.spread == 1:
        for k in range(first, last):
            row = rows[k]
            addresses[k] = means + row * mean_row
            row_log_variances[k] = log_variances[row * log_variance_row]
        loops.distances(s.distances + first, s.addresses + first, q.mean, last - first, s.coming, coming, D,
                        step.whole)
    else:
        for k in range(coming):
            prefetch_row(s.coming[k], D * sizeof(REAL))
        for k in range(first, last):
            row = rows[k]
            precision = s.precisions + <size_t> k * D
            log_variance = log_variances + row * log_variance_row
            loops.precisions(precision, log_variance, D)
            s.scores[k] = loops.score_diagonal(means + row * mean_row, log_variance, precision, q.mean,
                                               q.variance, D)


cdef inline double kl_from_prior(Step* step, double score) noexcept nogil:
    """Return KL[q || prior] = score - 1/2 sum(1 + log v_q)."""
    cdef int d
    for d in range(step.spread):
        score -= ((1 + min(max(<double> step.q.log_variance[d], step.low), step.high)) / 2
                  * (step.size // step.spread))
    return score


cdef inline void move_diagonal(Step* step, int first, int last, const Descent* descent) noexcept nogil:
    """Pull the rows first..last-1 to q by their shares, or push them away; sum the gradient of q.

        d_mean         += share / v_p * (mean_q - mean_p)
        d_log_variance += share / v_p * v_q / 2
    """
    cdef int D = step.size, k
    cdef size_t row
    q, s, into, tables = &step.q, step.scratch, &step.into, &step.tables
    for k in range(first, last):
        if s.shares[k] != 0:
            row = s.rows[k]
            step.loops.pull_diagonal(
                into.means + row * into.mean_row, into.log_variances + row * into.log_variance_row, q.d_mean,
                q.d_log_variance, tables.means + row * tables.mean_row, s.precisions + <size_t> k * D, q.mean,
                q.variance, s.shares[k], descent, D,
            )


cdef inline int list_active(Step* step, int first, int last, int active) noexcept nogil:
    """Add to the active ones those of the rows first..last-1 that have a share; return how many there are."""
    # OUT: scratch.active
    cdef int k
    listed, shares = step.scratch.active, step.scratch.shares
    for k in range(first, last):
        listed[active] = k
        active += shares[k] != 0  # what has none is overwritten: a branch on it could not be predicted
    return active


cdef inline void move_log_variances(Step* step, int first, int last, REAL low, REAL high) noexcept nogil:
    cdef int k
    cdef size_t row, log_variance_row = step.into.log_variance_row
    # Local names: what a loop writes might otherwise be a pointer of the scratch, to the compiler.
    rows, moves, log_variances = step.scratch.rows, step.scratch.moves, step.into.log_variances
    for k in range(first, last):
        row = rows[k] * log_variance_row
        log_variances[row] = min(max(log_variances[row] + moves[k], low), high)


cdef inline void cover(Step* step, REAL* sums) noexcept nogil:  # INOUT: sums
    """Cover: widen the positives that are stretched more than is expected, narrow the others.

    A word's stretch by a posterior is (v_q + (mean_q - mean)^2) / v. The typical word has the stretch and the
    log-variance that words had on average lately; `sums` adds both up. Less is expected in the company of a
    frequent centre, and more in that of a rare one:

        log_variance += rate * (stretch - expected + shrink * (typical log-variance - log_variance))
        expected      = typical stretch * (1 - company of the centre)

    Covering is not part of the loss: see `densvec.training.settings.Rates`.
    """
    cdef int D = step.size, first = step.rows.first, last = step.rows.centre, k
    cdef size_t row
    cdef REAL shrink = step.limits.shrink
    cdef Descent descent = Descent(0, 0, step.rates.coverage, step.limits.longest_step,
                                   step.limits.prior_low, step.limits.prior_high)
    q, s, typical, tables = &step.q, step.scratch, step.typical, &step.tables
    cdef REAL expected = typical[0] * (1 - step.company[s.rows[last]])
    if step.spread == 1:
        step.loops.cover_spherical(sums, s.moves + first, s.row_log_variances + first, s.precisions + first,
                                   s.distances + first, q.variance[0], expected, typical[1], shrink, &descent,
                                   D, last - first)
        return
    for k in range(first, last):
        row = s.rows[k]
        step.loops.cover_diagonal(sums, tables.log_variances + row * tables.log_variance_row,
                                  tables.means + row * tables.mean_row, s.precisions + <size_t> k * D, q.mean,
                                  q.variance, expected, typical[1], shrink, &descent, D)


cdef inline void move_spherical(Step* step, const Descent* descent, REAL* covered) noexcept nogil:
    """Do as `move_diagonal` for all spherical rows but the centre's own, and cover; see `cover`."""
    cdef int D = step.size, k, active
    cdef int negatives = step.rows.negatives, first = step.rows.first, last = step.rows.centre
    cdef REAL sums[2]
    loops, q, s, into = step.loops, &step.q, step.scratch, &step.into
    rows, changed = s.rows, s.addresses
    loops.plan_moves(sums, s.gains, s.steps, s.moves, s.shares, s.precisions, s.distances, q.variance[0],
                     descent, D, last)
    s.steepness[0] = sums[1]
    q.d_log_variance[0] += sums[0] * D * q.variance[0] / 2
    active = list_active(step, 0, negatives, list_active(step, first, last, 0))
    if step.trains:
        cover(step, covered)
    else:
        changed = s.into
        for k in range(last):
            changed[k] = into.means + rows[k] * into.mean_row
    loops.pull_rows(changed, q.d_mean, s.addresses, q.mean, s.gains, s.steps, s.active, active, D, step.whole)
    # After the means: a row whose end was just written singly could not be read as a vector at once.
    move_log_variances(step, first, last, descent.low, descent.high)
    move_log_variances(step, 0, negatives, descent.low, descent.high)


cdef inline void move_prior(Step* step) noexcept nogil:
    """The same for one spherical row alone, the centre's own."""
    cdef int D = step.size, k = step.rows.centre
    cdef size_t row = step.scratch.rows[k]
    cdef const Descent* by = &step.rates.prior
    s, q, into = step.scratch, &step.q, &step.into
    cdef REAL share = s.shares[k], precision = s.precisions[k], gain = share * precision
    cdef REAL strength = gain if gain > 0 else -gain
    cdef REAL move = by.log_variance_rate * share * ((q.variance[0] + s.distances[k] / D) * precision - 1)
    move = min(max(move, -by.longest_step), by.longest_step)
    log_variance = into.log_variances + row * into.log_variance_row
    log_variance[0] = min(max(log_variance[0] + move, by.low), by.high)
    q.d_log_variance[0] += gain * D * q.variance[0] / 2
    step.loops.pull(into.means + row * into.mean_row, q.d_mean,
                    step.tables.means + row * step.tables.mean_row, q.mean, gain,
                    by.mean_rate * gain / (1 + by.damping * strength), D)


cdef inline void move_centre(Step* step) noexcept nogil:
    """Let a residual posterior take its prior's mean along: descend the hinge; d_mean has its gradient.

        mean -= rate / (1 + damping * steepness) * d_mean,   steepness = sum over its rows of |share| / v_row

    (The divergence from the prior does not change when both move.)
    """
    cdef int D = step.size, spread = step.spread, k, d, centre = step.rows.centre
    cdef double rate = step.rates.mean, damping = step.rates.damping
    cdef REAL strength
    loops, s, d_mean, steepness = step.loops, step.scratch, step.q.d_mean, step.scratch.steepness
    shares, precisions = s.shares, s.precisions
    mean = step.into.means + s.rows[centre] * step.into.mean_row
    if spread == 1:  # move_spherical has summed it up
        loops.add_scaled(mean, <REAL> (-rate / (1 + damping * steepness[0])), d_mean, D)
        return
    memset(steepness, 0, spread * sizeof(REAL))
    for k in range(centre):
        if step.rows.negatives <= k < step.rows.first:
            continue
        if shares[k] != 0:
            strength = shares[k] if shares[k] > 0 else -shares[k]
            loops.add_scaled(steepness, strength, precisions + <size_t> k * D, D)
    for d in range(D):
        mean[d] -= <REAL> (rate / (1 + damping * steepness[d])) * d_mean[d]


cdef inline void score_narrowing(Step* step, int i) noexcept nogil:  # INOUT: scratch.narrowing
    """Replace what centre i's posterior narrows its prior by with the slope of its score by its column.

    The words just outside the window, which the posterior has not read, lie at squared distances x from its
    mean and x_w from its prior's. With r the ratio of its variance to the prior's, the score is

        (x_w log r + x / r) / mean of x_w
    """
    cdef int D = step.size, left = step.windows.left[i], right = step.windows.right[i], beyond = 0, k, d
    cdef size_t mean_row = step.tables.mean_row
    cdef REAL squares[LANES]
    cdef double x, x_w, total = 0
    loops, windows, s, means, mean = step.loops, &step.windows, step.scratch, step.tables.means, step.q.mean
    narrowing = s.narrowing + <size_t> (i - step.tile.first) * step.spread
    slope = s.narrowing_slope + <size_t> (i - step.tile.first) * step.spread
    prior = means + windows.tokens[i] * mean_row
    if i % step.limits.scored == 0 and windows.left[left] < left:  # which is not where the sentence begins
        s.addresses[beyond] = means + windows.tokens[left - 1] * mean_row
        beyond += 1
    if i % step.limits.scored == 0 and windows.right[right] > right:
        s.addresses[beyond] = means + windows.tokens[right + 1] * mean_row
        beyond += 1
    if beyond:
        loops.distances(squares, s.addresses, prior, beyond, NULL, 0, D, step.whole)
        for k in range(beyond):
            total += squares[k]
    if not 0 < total < INFINITY:
        memset(narrowing, 0, step.spread * sizeof(REAL))
    elif step.spread == 1:
        x = 0
        loops.distances(squares, s.addresses, mean, beyond, NULL, 0, D, step.whole)
        for k in range(beyond):
            x += squares[k]
        narrowing[0] = <REAL> (x / total - 1 / narrowing[0]) * slope[0]
    else:
        for d in range(D):
            x = x_w = 0
            for k in range(beyond):
                x += (s.addresses[k][d] - mean[d]) * (s.addresses[k][d] - mean[d])
                x_w += (s.addresses[k][d] - prior[d]) * (s.addresses[k][d] - prior[d])
            narrowing[d] = <REAL> ((x - x_w / narrowing[d]) * D / total) * slope[d]


cdef inline void compare(Step* step) noexcept nogil:
    """Take a tile's centres one by one: loss, gradient of the posterior, changes of the priors."""
    cdef int D = step.size, spread = step.spread, first = step.tile.first, last = step.tile.last
    cdef int i, d, k, positives, coming, centre
    cdef long long pairs = 0
    cdef double hinge, kl, weight
    cdef REAL sums[2]
    cdef Descent contrast
    windows, q, s, totals, rows = &step.windows, &step.q, step.scratch, &step.totals, &step.rows
    typical = step.optimiser.typical
    step.typical[0], step.typical[1] = typical[0], typical[1]
    memset(s.d_posteriors, 0, (last - first) * step.outputs * sizeof(REAL))
    memset(sums, 0, sizeof(sums))
    for i in range(first, last):
        positives = positive_count(windows, i)
        if positives == 0:
            continue
        coming = list_coming(step, i + 1) if i + 1 < last else 0
        list_rows(step, i)
        centre = rows.centre
        complete_posterior(step, i)
        if step.narrows:
            score_narrowing(step, i)
        score_rows(step, 0, rows.negatives, coming // 2)
        score_rows(step, rows.first, centre + 1, 0)
        if spread == 1:
            step.loops.score_spherical(s.scores, s.precisions, s.distances, s.row_log_variances,
                                       q.variance[0], D, centre + 1)
        for k in range(coming // 2, coming):  # the others: at once they would be too many
            prefetch_row(s.coming[k], D * sizeof(REAL))
        hinge = hinge_of(step.loops, windows, i, step.margin, s.scores + rows.first, s.scores, s.weights,
                         s.shares + rows.first, s.shares, True)
        if not windows.shared:  # else the hinge has filled up the block of the last negatives
            memset(s.shares + rows.negatives, 0, (rows.first - rows.negatives) * sizeof(REAL))
        s.shares[centre] = step.kl_weight
        kl = kl_from_prior(step, s.scores[centre])
        totals.centres += 1
        if not fabs(hinge + kl) < step.largest_loss:  # a diverging run writes nothing; this loss stops it
            totals.hinge = INFINITY
            continue
        totals.hinge += hinge
        totals.kl += kl
        if step.measures:
            continue

        contrast = step.rates.contrast
        contrast.damping *= <REAL> max(1.0, rows.negatives / step.limits.most_pushes)
        if spread == 1:
            move_spherical(step, &contrast, sums)
        else:
            move_diagonal(step, rows.first, centre, &contrast)
            move_diagonal(step, 0, rows.negatives, &contrast)
        if step.residual:
            move_centre(step)
        if step.narrows:  # its variance follows its prior's: only its shift says how wide that must be
            for d in range(spread):
                s.prior_variance[d] = 1 / s.precisions[<size_t> centre * spread + d]
            q.variance = s.prior_variance
        if spread == 1:
            move_prior(step)
        else:
            move_diagonal(step, centre, centre + 1, &step.rates.prior)
        q.variance = s.variance
        if step.trains:
            if spread > 1:
                cover(step, sums)
            pairs += positives

        if step.narrows:  # the score alone teaches it how far
            memcpy(q.d_log_variance, s.narrowing + <size_t> (i - first) * spread, spread * sizeof(REAL))
            continue
        # d KL / d log v_q = v_q / v_p / 2, which its moves have added, - 1/2; no slope at log v_q's bounds
        for d in range(spread):
            q.d_log_variance[d] -= <REAL> (step.kl_weight * (D // spread) / 2)
            if q.log_variance[d] <= step.low or q.log_variance[d] >= step.high:
                q.d_log_variance[d] = 0
    if pairs and fabs(sums[0]) + fabs(sums[1]) < step.limits.largest_loss * pairs:
        weight = (last - first) / (last - first + step.limits.memory)
        typical[0] += <REAL> (weight * (sums[0] / pairs - typical[0]))
        typical[1] += <REAL> (weight * (sums[1] / pairs - typical[1]))
