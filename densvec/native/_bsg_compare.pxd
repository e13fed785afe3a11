"""Comparing centres with their words: the loss, the gradient of a posterior, the changes of the priors.

Centre after centre, divergences are compared and the priors pulled or pushed at once.
"""

from libc.math cimport INFINITY, fabs
from libc.string cimport memcpy, memset

from densvec.native._bsg_encoder cimport complete_posterior
from densvec.native._bsg_step cimport Step
from densvec.native._vector cimport REAL, Descent, prefetch_row
from densvec.native._windows cimport hinge_of, list_targets, negative_count, negatives_of, positive_count


cdef inline int list_coming(Step* step, int i) noexcept nogil:  # OUT: scratch.coming
    """List the means that centre i needs and the centre before it does not; return how many they are."""
    cdef int D = step.size, spread = step.spread, count, k
    cdef size_t row
    s, windows = step.scratch, &step.windows
    means, log_variances = step.tables.means, step.tables.log_variances
    negatives, coming = negatives_of(windows, i), s.coming
    count = negative_count(windows, i)
    for k in range(count + 1):
        row = negatives[k] if k < count else windows.tokens[windows.right[i]]
        coming[k] = means + row * D
        prefetch_row(log_variances + row * spread, spread * sizeof(REAL))
    return count + 1


cdef inline void score_rows(Step* step, int count, int coming) noexcept nogil:
    """Score the rows of a centre by KL[q || p] up to what is q's alone; ask for those of the next centre.

        score = 1/2 sum((v_q + (mean_q - mean_p)^2) / v_p + log v_p)
    """
    cdef int D = step.size, k
    cdef size_t row
    loops, q, s = step.loops, &step.q, step.scratch
    means, log_variances = step.tables.means, step.tables.log_variances
    rows, addresses, row_log_variances = s.rows, s.addresses, s.row_log_variances
    if step.spread == 1:
        for k in range(count):
            row = rows[k]
            addresses[k] = means + row * D
            row_log_variances[k] = log_variances[row]
        loops.distances(s.distances, s.addresses, q.mean, count, s.coming, coming, D)
        loops.score_spherical(s.scores, s.precisions, s.distances, s.row_log_variances, q.variance[0], D,
                              count)
    else:
        for k in range(coming):
            prefetch_row(s.coming[k], D * sizeof(REAL))
        for k in range(count):
            row = rows[k]
            precision = s.precisions + <size_t> k * D
            loops.precisions(precision, log_variances + row * D, D)
            s.scores[k] = loops.score_diagonal(means + row * D, log_variances + row * D, precision, q.mean,
                                               q.variance, D)


cdef inline double kl_from_prior(Step* step, double score) noexcept nogil:
    """Return KL[q || prior] = score - 1/2 sum(1 + log v_q)."""
    cdef int d
    for d in range(step.spread):
        score -= ((1 + min(max(<double> step.q.log_variance[d], step.low), step.high)) / 2
                  * (step.size // step.spread))
    return score


cdef inline void travel(Step* step, int first, int last) noexcept nogil:
    """Note how far the means of the rows first..last-1 are drawn: each step as a share of the way to q."""
    cdef int k
    cdef REAL way
    rows, steps, travelled = step.scratch.rows, step.scratch.steps, step.optimiser.travelled
    for k in range(first, last):
        way = steps[k]
        travelled[rows[k]] += way if way > 0 else -way


cdef inline void move_rows(Step* step, int first, int last, const Descent* descent) noexcept nogil:
    """Pull the rows first..last-1 to q by their shares, or push them away; sum the gradient of q.

        d_mean         += share / v_p * (mean_q - mean_p)
        d_log_variance += share / v_p * v_q / 2
    """
    cdef int D = step.size, k, active = 0
    cdef size_t row
    cdef REAL low = descent.low, high = descent.high
    cdef REAL sums[2]
    loops, q, s, into = step.loops, &step.q, step.scratch, &step.into
    # Local names: what a loop writes might otherwise be a pointer of the scratch, to the compiler.
    shares, rows, addresses, changed = s.shares, s.rows, s.addresses, s.addresses
    gains, steps, moves, log_variances = s.gains, s.steps, s.moves, into.log_variances
    if step.spread > 1:
        for k in range(first, last):
            if shares[k] != 0:
                row = rows[k]
                loops.pull_diagonal(
                    into.means + row * D, into.log_variances + row * D, q.d_mean, q.d_log_variance,
                    step.tables.means + row * D, s.precisions + <size_t> k * D, q.mean, q.variance, shares[k],
                    descent, D,
                )
        return
    loops.plan_moves(sums, gains + first, steps + first, moves + first, shares + first, s.precisions + first,
                     s.distances + first, q.variance[0], descent, D, last - first)
    if not step.trains:
        changed = s.into
        for k in range(first, last):
            changed[k] = into.means + <size_t> rows[k] * D
    if step.optimiser.travelled != NULL:
        travel(step, first, last)
    for k in range(first, last):
        row = rows[k]
        log_variances[row] = min(max(log_variances[row] + moves[k], low), high)
    for k in range(first, last):
        addresses[active] = addresses[k]
        changed[active] = changed[k]
        gains[active] = gains[k]
        steps[active] = steps[k]
        active += shares[k] != 0  # what has no share is overwritten: a branch on it could not be predicted
    s.steepness[0] = sums[1]
    q.d_log_variance[0] += sums[0] * D * q.variance[0] / 2
    loops.pull_rows(changed, q.d_mean, addresses, q.mean, gains, steps, active, D)


cdef inline void move_prior(Step* step, int k) noexcept nogil:
    """The same for one spherical row alone, the centre's own."""
    cdef int D = step.size
    cdef size_t row = step.scratch.rows[k]
    cdef const Descent* by = &step.rates.prior
    s, q, into = step.scratch, &step.q, &step.into
    cdef REAL share = s.shares[k], precision = s.precisions[k], gain = share * precision
    cdef REAL strength = gain if gain > 0 else -gain
    cdef REAL move = by.log_variance_rate * share * ((q.variance[0] + s.distances[k] / D) * precision - 1)
    move = min(max(move, -by.longest_step), by.longest_step)
    into.log_variances[row] = min(max(into.log_variances[row] + move, by.low), by.high)
    q.d_log_variance[0] += gain * D * q.variance[0] / 2
    s.steps[k] = by.mean_rate * gain / (1 + by.damping * strength)
    if step.optimiser.travelled != NULL:
        travel(step, k, k + 1)
    step.loops.pull(into.means + row * D, q.d_mean, step.tables.means + row * D, q.mean, gain, s.steps[k], D)


cdef inline void move_centre(Step* step, int count) noexcept nogil:
    """Let a residual posterior take its prior's mean along: descend the hinge; d_mean has its gradient.

        mean -= rate / (1 + damping * steepness) * d_mean,   steepness = sum over its rows of |share| / v_row

    (The divergence from the prior does not change when both move.)
    """
    cdef int D = step.size, spread = step.spread, k, d
    cdef double rate = step.rates.mean, damping = step.rates.damping
    cdef REAL strength
    travelled = step.optimiser.travelled
    loops, s, d_mean, steepness = step.loops, step.scratch, step.q.d_mean, step.scratch.steepness
    shares, precisions = s.shares, s.precisions
    mean = step.into.means + <size_t> s.rows[count] * D
    if spread == 1:  # move_rows has summed it up
        if travelled != NULL:
            travelled[s.rows[count]] += <REAL> (rate * steepness[0] / (1 + damping * steepness[0]))
        loops.add_scaled(mean, <REAL> (-rate / (1 + damping * steepness[0])), d_mean, D)
        return
    memset(steepness, 0, spread * sizeof(REAL))
    for k in range(count):
        if shares[k] != 0:
            strength = shares[k] if shares[k] > 0 else -shares[k]
            loops.add_scaled(steepness, strength, precisions + <size_t> k * D, D)
    for d in range(D):
        mean[d] -= <REAL> (rate / (1 + damping * steepness[d])) * d_mean[d]


cdef inline void cover(Step* step, int positives, int centre, REAL* sums) noexcept nogil:  # INOUT: sums
    """Cover: widen the positives that are stretched more than is expected, narrow the others.

    A word's stretch by a posterior is (v_q + (mean_q - mean)^2) / v. The typical word has the stretch and the
    log-variance that words had on average lately; `sums` adds both up. Less is expected in the company of a
    frequent centre, and more in that of a rare one:

        log_variance += rate * (stretch - expected + shrink * (typical log-variance - log_variance))
        expected      = typical stretch * (1 - company of the centre)

    Covering is not part of the loss: see `densvec.training.settings.Rates`.
    """
    cdef int D = step.size, k
    cdef size_t row
    cdef REAL rate = step.rates.coverage, shrink = step.limits.shrink, longest = step.limits.longest_step
    cdef REAL low = step.limits.prior_low, high = step.limits.prior_high
    cdef REAL stretch, log_variance, move, stretches = 0, widths = 0, portion = <REAL> 1 / D
    cdef Descent descent = Descent(0, 0, rate, longest, low, high)
    q, s, typical, log_variances = &step.q, step.scratch, step.typical, step.tables.log_variances
    rows, precisions, distances = s.rows, s.precisions, s.distances
    cdef REAL variance = q.variance[0], expected = typical[0] * (1 - step.company[rows[centre]])
    cdef REAL base = expected - shrink * typical[1]
    for k in range(positives):
        row = rows[k]
        if step.spread == 1:
            stretch = (variance + distances[k] * portion) * precisions[k]
            log_variance = log_variances[row]
            move = rate * (stretch - base - shrink * log_variance)
            move = min(max(move, -longest), longest)
            log_variances[row] = min(max(log_variance + move, low), high)
            stretches += stretch
            widths += log_variance
        else:
            step.loops.cover_diagonal(sums, log_variances + row * D, step.tables.means + row * D,
                                      precisions + <size_t> k * D, q.mean, q.variance, expected, typical[1],
                                      shrink, &descent, D)
    sums[0] += stretches
    sums[1] += widths


cdef inline void score_narrowing(Step* step, int i) noexcept nogil:  # INOUT: scratch.narrowing
    """Replace what centre i's posterior narrows its prior by with the slope of its score by its column.

    The words just outside the window, which the posterior has not read, lie at squared distances x from its
    mean and x_w from its prior's. With r the ratio of its variance to the prior's, the score is

        (x_w log r + x / r) / mean of x_w
    """
    cdef int D = step.size, left = step.windows.left[i], right = step.windows.right[i], beyond = 0, k, d
    cdef REAL squares[2]
    cdef double x, x_w, total = 0
    loops, windows, s, means, mean = step.loops, &step.windows, step.scratch, step.tables.means, step.q.mean
    narrowing = s.narrowing + <size_t> (i - step.tile.first) * step.spread
    slope = s.narrowing_slope + <size_t> (i - step.tile.first) * step.spread
    prior = means + <size_t> windows.tokens[i] * D
    if i % step.limits.scored == 0 and windows.left[left] < left:  # which is not where the sentence begins
        s.addresses[beyond] = means + <size_t> windows.tokens[left - 1] * D
        beyond += 1
    if i % step.limits.scored == 0 and windows.right[right] > right:
        s.addresses[beyond] = means + <size_t> windows.tokens[right + 1] * D
        beyond += 1
    if beyond:
        loops.distances(squares, s.addresses, prior, beyond, NULL, 0, D)
        for k in range(beyond):
            total += squares[k]
    if not 0 < total < INFINITY:
        memset(narrowing, 0, step.spread * sizeof(REAL))
    elif step.spread == 1:
        x = 0
        loops.distances(squares, s.addresses, mean, beyond, NULL, 0, D)
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
    cdef int i, d, k, positives, count, coming
    cdef long long pairs = 0
    cdef double hinge, kl, weight
    cdef REAL sums[2]
    cdef Descent contrast
    windows, q, s, totals = &step.windows, &step.q, step.scratch, &step.totals
    typical = step.optimiser.typical
    step.typical[0], step.typical[1] = typical[0], typical[1]
    memset(s.d_posteriors, 0, (last - first) * step.outputs * sizeof(REAL))
    memset(sums, 0, sizeof(sums))
    for i in range(first, last):
        positives = positive_count(windows, i)
        if positives == 0:
            continue
        coming = list_coming(step, i + 1) if i + 1 < last else 0
        count = list_targets(windows, i, s.rows)
        s.rows[count] = windows.tokens[i]
        complete_posterior(step, i)
        if step.narrows:
            score_narrowing(step, i)
        score_rows(step, count + 1, coming // 2)
        for k in range(coming // 2, coming):  # the others: at once they would be too many
            prefetch_row(s.coming[k], D * sizeof(REAL))
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
        contrast.damping *= <REAL> max(1.0, (count - positives) / step.limits.most_pushes)
        move_rows(step, 0, count, &contrast)
        if step.residual:
            move_centre(step, count)
        if step.narrows:  # its variance follows its prior's: only its shift says how wide that must be
            for d in range(spread):
                s.prior_variance[d] = 1 / s.precisions[<size_t> count * spread + d]
            q.variance = s.prior_variance
        if spread == 1:
            move_prior(step, count)
        else:
            move_rows(step, count, count + 1, &step.rates.prior)
        q.variance = s.variance
        if step.trains:
            cover(step, positives, count, sums)
            pairs += positives

        if step.narrows:  # the score alone teaches it how far
            memcpy(q.d_log_variance, s.narrowing + <size_t> (i - first) * spread, spread * sizeof(REAL))
            continue
        # d KL / d log v_q = v_q / v_p / 2, which move_rows has added, - 1/2; no slope at log v_q's bounds
        for d in range(spread):
            q.d_log_variance[d] -= <REAL> (step.kl_weight * (D // spread) / 2)
            if q.log_variance[d] <= step.low or q.log_variance[d] >= step.high:
                q.d_log_variance[d] = 0
    if pairs and fabs(sums[0]) + fabs(sums[1]) < step.limits.largest_loss * pairs:
        weight = (last - first) / (last - first + step.limits.memory)
        typical[0] += <REAL> (weight * (sums[0] / pairs - typical[0]))
        typical[1] += <REAL> (weight * (sums[1] / pairs - typical[1]))
