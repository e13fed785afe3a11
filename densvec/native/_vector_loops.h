/* The kernels' vector loops, written once and compiled for every instruction set.
 *
 * The includer, _vector.h, defines REAL, SUFFIX and TARGET. `omp simd` lets the compiler reorder the sums of
 * these loops alone, so no -ffast-math is needed for the rest. Rows are n numbers long and never overlap,
 * except where a loop moves rows: then `into` is where the changes go, the row itself or its gradient.
 */

#define JOIN_(name, suffix) name##_##suffix
#define JOIN(name, suffix) JOIN_(name, suffix)
#define LOOP(name) JOIN(name, SUFFIX)

/* Declared as the list has them: a loop defined otherwise does not compile. */
#define PROTOTYPE(RESULT, name, arguments) TARGET static RESULT LOOP(name) arguments;
FOR_EACH_LOOP(PROTOTYPE)
#undef PROTOTYPE

/* (a * b).sum() */
TARGET static REAL LOOP(dot)(const REAL *restrict a, const REAL *restrict b, int n) {
    REAL sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int d = 0; d < n; d++) sum += a[d] * b[d];
    return sum;
}

/* y += scale * x */
TARGET static void LOOP(add_scaled)(REAL *restrict y, REAL scale, const REAL *restrict x, int n) {
#pragma omp simd
    for (int d = 0; d < n; d++) y[d] += scale * x[d];
}

/* One block of columns of relu_sum: its sum stays in registers over the whole window. */
INLINE TARGET static void LOOP(relu_sum_block)(REAL *restrict hidden, const REAL *restrict contexts,
                                               const REAL *restrict centre, const int *restrict slots,
                                               const REAL *restrict weights, int count, int skip,
                                               int stride) {
    REAL sum[LANES] = {0};
    for (int j = 0; j < count; j++) {
        const REAL *context = contexts + (size_t)slots[j] * stride;
        REAL weight = weights[j];
        if (j == skip) continue;
#pragma omp simd
        for (int d = 0; d < LANES; d++) {
            REAL pre = context[d] + centre[d];
            sum[d] += weight * (pre > 0 ? pre : 0);
        }
    }
    memcpy(hidden, sum, sizeof sum);
}

/* hidden = (weights * relu(contexts[slots] + centre)).sum(0), but for slots[skip]
 * contexts: (any, n), rows `stride` apart.  slots, weights: (count,)  n: a multiple of LANES */
TARGET static void LOOP(relu_sum)(REAL *restrict hidden, const REAL *restrict contexts,
                                  const REAL *restrict centre, const int *restrict slots,
                                  const REAL *restrict weights, int count, int skip, int stride, int n) {
    for (int d = 0; d < n; d += LANES)
        LOOP(relu_sum_block)(hidden + d, contexts + d, centre + d, slots, weights, count, skip, stride);
}

/* One block of columns of relu_sum_back. */
INLINE TARGET static void LOOP(relu_sum_back_block)(REAL *restrict d_contexts, REAL *restrict d_centre,
                                                    const REAL *restrict contexts,
                                                    const REAL *restrict centre,
                                                    const REAL *restrict d_hidden, const int *restrict slots,
                                                    const REAL *restrict weights, int count, int skip,
                                                    int stride) {
    REAL gain[LANES], sum[LANES];
    memcpy(gain, d_hidden, sizeof gain); /* a load under a condition would be a branch */
    memcpy(sum, d_centre, sizeof sum);
    for (int j = 0; j < count; j++) {
        const REAL *context = contexts + (size_t)slots[j] * stride;
        REAL *restrict d_context = d_contexts + (size_t)slots[j] * stride;
        REAL weight = weights[j];
        if (j == skip) continue;
#pragma omp simd
        for (int d = 0; d < LANES; d++) {
            REAL on = weight * (context[d] + centre[d] > 0 ? gain[d] : 0);
            d_context[d] += on;
            sum[d] += on;
        }
    }
    memcpy(d_centre, sum, sizeof sum);
}

/* The same as relu_sum, backwards: wherever a unit was on, d_contexts[slots[j]] and d_centre gain
 * weights[j] * d_hidden.
 * d_contexts, d_centre: INOUT */
TARGET static void LOOP(relu_sum_back)(REAL *restrict d_contexts, REAL *restrict d_centre,
                                       const REAL *restrict contexts, const REAL *restrict centre,
                                       const REAL *restrict d_hidden, const int *restrict slots,
                                       const REAL *restrict weights, int count, int skip, int stride, int n) {
    for (int d = 0; d < n; d += LANES)
        LOOP(relu_sum_back_block)(d_contexts + d, d_centre + d, contexts + d, centre + d, d_hidden + d, slots,
                                  weights, count, skip, stride);
}

/* d_mean += gain * (mean - row);  into += step * (mean - row) */
TARGET static void LOOP(pull)(REAL *into, REAL *restrict d_mean, const REAL *row, const REAL *restrict mean,
                              REAL gain, REAL step, int n) {
#pragma omp simd
    for (int d = 0; d < n; d++) {
        REAL diff = mean[d] - row[d];
        d_mean[d] += gain * diff;
        into[d] += step * diff;
    }
}

/* The same for many rows, four at a time; a row may be there twice.          into, rows: (count,) addresses
 */
TARGET static void LOOP(pull_rows)(REAL *const *into, REAL *restrict d_mean, REAL *const *rows,
                                   const REAL *restrict mean, const REAL *restrict gains,
                                   const REAL *restrict steps, int count, int n) {
    int k = 0;
    for (; k + 4 <= count; k += 4) {
        const REAL *row0 = rows[k], *row1 = rows[k + 1], *row2 = rows[k + 2], *row3 = rows[k + 3];
        REAL *into0 = into[k], *into1 = into[k + 1], *into2 = into[k + 2], *into3 = into[k + 3];
        REAL gain0 = gains[k], gain1 = gains[k + 1], gain2 = gains[k + 2], gain3 = gains[k + 3];
        REAL step0 = steps[k], step1 = steps[k + 1], step2 = steps[k + 2], step3 = steps[k + 3];
#pragma omp simd
        for (int d = 0; d < n; d++) {
            REAL diff0 = mean[d] - row0[d];
            into0[d] += step0 * diff0;
            REAL diff1 = mean[d] - row1[d];
            into1[d] += step1 * diff1;
            REAL diff2 = mean[d] - row2[d];
            into2[d] += step2 * diff2;
            REAL diff3 = mean[d] - row3[d];
            into3[d] += step3 * diff3;
            d_mean[d] += (gain0 * diff0 + gain1 * diff1) + (gain2 * diff2 + gain3 * diff3);
        }
    }
    for (; k < count; k++) LOOP(pull)(into[k], d_mean, rows[k], mean, gains[k], steps[k], n);
}

/* A step, or as much of it as is allowed: single outliers must not make a log-variance jump. */
INLINE TARGET static REAL LOOP(short_step)(REAL step, REAL longest) {
    return step > longest ? longest : step < -longest ? -longest : step;
}

/* How a spherical posterior moves the rows it is compared with, each by its share in the loss.
 * gains: the slopes of its mean
 * steps: how far a row's mean goes (implicit: the more a rate would overshoot, the more it is damped)
 * moves: how far a row's log-variance goes (natural gradient: the Fisher information is size / 2) */
TARGET static void LOOP(plan_moves)(REAL *restrict gains, REAL *restrict steps, REAL *restrict moves,
                                    const REAL *restrict shares, const REAL *restrict precisions,
                                    const REAL *restrict distances, REAL variance, const Descent *rule,
                                    REAL size, int count) {
    const Descent by = *rule;
#pragma omp simd
    for (int k = 0; k < count; k++) {
        REAL gain = shares[k] * precisions[k];
        REAL strength = gain < 0 ? -gain : gain;
        REAL move = by.log_variance_rate * shares[k] * ((variance + distances[k] / size) * precisions[k] - 1);
        gains[k] = gain;
        steps[k] = by.mean_rate * gain / (1 + by.damping * strength);
        moves[k] = LOOP(short_step)(move, by.longest_step);
    }
}

/* The exponents that `exponential` takes as they are; others count as the nearest of them. */
INLINE TARGET static REAL LOOP(exponent)(REAL x) {
    REAL above = x < -LARGEST_EXPONENT ? -LARGEST_EXPONENT : x; /* what is not a number stays so */
    return above > LARGEST_EXPONENT ? LARGEST_EXPONENT : above;
}

/* exp(x) = 2**k * p(r) with x = k log 2 + r, p of degree 6 (float: one unit in the last place or two) */
INLINE TARGET static REAL LOOP(power)(REAL x) {
#if DENSVEC_DOUBLE
    return exp(LOOP(exponent)(x));
#else
    /* 1.5 * 2**23 has no room for a fraction: adding it rounds, and leaves k in the low bits of the sum */
    union {
        float value;
        uint32_t bits;
    } sum, two_to_k;
    x = LOOP(exponent)(x);
    sum.value = x * 1.44269504088896341f + 12582912.0f;
    float k = sum.value - 12582912.0f;
    float r = x - k * 0.693359375f;
    r += k * 2.12194440e-4f;
    float p = 1.0f / 720.0f;
    p = p * r + 1.0f / 120.0f;
    p = p * r + 1.0f / 24.0f;
    p = p * r + 1.0f / 6.0f;
    p = p * r + 0.5f;
    p = p * r + 1.0f;
    p = p * r + 1.0f;
    two_to_k.bits = (sum.bits + 127) << 23;
    return p * two_to_k.value;
#endif
}

/* out = exp(x), also in place */
TARGET static void LOOP(exponential)(REAL *out, const REAL *x, int n) {
#pragma omp simd
    for (int d = 0; d < n; d++) out[d] = LOOP(power)(x[d]);
}

/* out = exp(-log_variance), also in place */
TARGET static void LOOP(precisions)(REAL *out, const REAL *log_variance, int n) {
#pragma omp simd
    for (int d = 0; d < n; d++) out[d] = LOOP(power)(-log_variance[d]);
}

/* KL[q || row] + q's entropy's share, that is 1/2 sum((v_q + (mean - row)**2) / v_row + log v_row), diagonal.
 * precision: 1 / v_row, TMP of the caller. */
TARGET static REAL LOOP(score_diagonal)(const REAL *restrict row, const REAL *restrict log_variance,
                                        const REAL *restrict precision, const REAL *restrict mean,
                                        const REAL *restrict variance, int n) {
    REAL sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int d = 0; d < n; d++) {
        REAL diff = mean[d] - row[d];
        sum += (variance[d] + diff * diff) * precision[d] + log_variance[d];
    }
    return sum / 2;
}

/* Diagonal `pull`, with weight the row's share in the loss: gradients of the posterior, then the row's
 * changes. log_variance += log_variance_rate * weight * ((v_q + (mean - row)**2) / v_row - 1), a natural
 * gradient */
TARGET static void LOOP(pull_diagonal)(REAL *into, REAL *into_log_variance, REAL *restrict d_mean,
                                       REAL *restrict d_log_variance, const REAL *row,
                                       const REAL *restrict precision, const REAL *restrict mean,
                                       const REAL *restrict variance, REAL weight, const Descent *rule,
                                       int n) {
    const Descent by = *rule;
    REAL strength = weight < 0 ? -weight : weight;
#pragma omp simd
    for (int d = 0; d < n; d++) {
        REAL diff = mean[d] - row[d];
        REAL gain = weight * precision[d];
        d_mean[d] += gain * diff;
        d_log_variance[d] += gain * variance[d] / 2;
        into[d] += by.mean_rate * gain * diff / (1 + by.damping * strength * precision[d]);
        REAL step = by.log_variance_rate * weight * ((variance[d] + diff * diff) * precision[d] - 1);
        REAL moved = into_log_variance[d] + LOOP(short_step)(step, by.longest_step);
        into_log_variance[d] = moved > by.high ? by.high : moved < by.low ? by.low : moved;
    }
}

/* Cover a posterior: widen the log-variances that it stretches more than is typical, narrow the others, and
 * draw all of them a little (shrink) to the typical log-variance. A row's stretch is the posterior's second
 * moment about the row in units of the row's variance, (v_q + (mean - row)**2) / v_row. typical: stretch and
 * log-variance;  sums: += those of this row, means over its dimensions */
TARGET static void LOOP(cover_diagonal)(REAL *restrict sums, REAL *restrict log_variance,
                                        const REAL *restrict row, const REAL *restrict precision,
                                        const REAL *restrict mean, const REAL *restrict variance,
                                        const REAL *restrict typical, REAL shrink, const Descent *rule,
                                        int n) {
    const Descent by = *rule;
    REAL stretches = 0, log_variances = 0;
#pragma omp simd reduction(+ : stretches, log_variances)
    for (int d = 0; d < n; d++) {
        REAL diff = mean[d] - row[d];
        REAL stretch = (variance[d] + diff * diff) * precision[d];
        REAL step = by.log_variance_rate * (stretch - typical[0] + shrink * (typical[1] - log_variance[d]));
        REAL moved = log_variance[d] + LOOP(short_step)(step, by.longest_step);
        stretches += stretch;
        log_variances += log_variance[d];
        log_variance[d] = moved > by.high ? by.high : moved < by.low ? by.low : moved;
    }
    sums[0] += stretches / n;
    sums[1] += log_variances / n;
}

/* Copy up to LANES numbers and fill the rest. */
INLINE TARGET static void LOOP(padded)(REAL *restrict block, const REAL *restrict values, int count,
                                       REAL fill) {
    for (int d = 0; d < LANES; d++) block[d] = d < count ? values[d] : fill;
}

/* The hinge of positives against the same negatives:
 * (weights[:, None] * relu(margin + positives[:, None] - negatives)).sum()
 * pulls, pushes: the weights of the active pairs, summed for each positive and for each negative, OUT */
TARGET static REAL LOOP(hinge)(REAL *restrict pulls, REAL *restrict pushes, const REAL *restrict positives,
                               const REAL *restrict negatives, const REAL *restrict weights, REAL margin,
                               int count, int n) {
    REAL block[LANES], active[LANES], sums[LANES] = {0}, sum = 0;
    for (int k = 0; k < n; k += LANES) {
        int width = n - k < LANES ? n - k : LANES;
        LOOP(padded)(block, negatives + k, width, (REAL)INFINITY);
        for (int d = 0; d < LANES; d++) active[d] = 0;
        for (int j = 0; j < count; j++) {
            REAL bar = positives[j] + margin, weight = weights[j];
/* two loops: in one, the compiler makes a branch of the condition and no vector code */
#pragma omp simd
            for (int d = 0; d < LANES; d++) sums[d] += bar - block[d] > 0 ? weight * (bar - block[d]) : 0;
#pragma omp simd
            for (int d = 0; d < LANES; d++) active[d] += bar - block[d] > 0 ? weight : 0;
        }
        for (int d = 0; d < width; d++) pushes[k + d] = active[d];
    }
    for (int j = 0; j < count; j += LANES) {
        int width = count - j < LANES ? count - j : LANES;
        LOOP(padded)(block, positives + j, width, (REAL)-INFINITY);
        for (int d = 0; d < LANES; d++) active[d] = 0;
        for (int k = 0; k < n; k++) {
            REAL bar = negatives[k] - margin;
#pragma omp simd
            for (int d = 0; d < LANES; d++) active[d] += block[d] - bar > 0 ? 1 : 0;
        }
        for (int d = 0; d < width; d++) pulls[j + d] = weights[j + d] * active[d];
    }
    for (int d = 0; d < LANES; d++) sum += sums[d];
    return sum;
}

/* One step of Adam on n weights, whose gradient is scale * gradient. weights, first, second: INOUT */
TARGET static void LOOP(adam)(REAL *restrict weights, REAL *restrict first, REAL *restrict second,
                              const REAL *restrict gradient, REAL scale, const Adam *rule, int n) {
    const Adam by = *rule;
#pragma omp simd
    for (int d = 0; d < n; d++) {
        REAL g = scale * gradient[d];
        first[d] += by.first_weight * (g - first[d]);
        second[d] += by.second_weight * (g * g - second[d]);
        weights[d] -= by.rate * first[d] / (SQUARE_ROOT(second[d]) + by.epsilon);
    }
}

/* One product of `products`: of a row and x, or of their difference with itself. */
#define PRODUCT(row) (squared ? ((row)[d] - x[d]) * ((row)[d] - x[d]) : (row)[d] * x[d])

/* Compare rows with x, four at a time so that their sums overlap.                  rows: (count,) addresses
 */
INLINE TARGET static void LOOP(products)(REAL *restrict sums, REAL *const *rows, const REAL *restrict x,
                                         int count, int n, const int squared) {
    int k = 0;
    for (; k + 4 <= count; k += 4) {
        const REAL *row0 = rows[k], *row1 = rows[k + 1], *row2 = rows[k + 2], *row3 = rows[k + 3];
        REAL sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
#pragma omp simd reduction(+ : sum0, sum1, sum2, sum3)
        for (int d = 0; d < n; d++) {
            sum0 += PRODUCT(row0);
            sum1 += PRODUCT(row1);
            sum2 += PRODUCT(row2);
            sum3 += PRODUCT(row3);
        }
        sums[k] = sum0, sums[k + 1] = sum1, sums[k + 2] = sum2, sums[k + 3] = sum3;
    }
    for (; k < count; k++) {
        const REAL *row = rows[k];
        REAL sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int d = 0; d < n; d++) sum += PRODUCT(row);
        sums[k] = sum;
    }
}
#undef PRODUCT

/* scores = rows @ x */
TARGET static void LOOP(dots)(REAL *restrict scores, REAL *const *rows, const REAL *restrict x, int count,
                              int n) {
    LOOP(products)(scores, rows, x, count, n, 0);
}

/* distances = ((rows - x)**2).sum(1) */
TARGET static void LOOP(distances)(REAL *restrict distances, REAL *const *rows, const REAL *restrict x,
                                   int count, int n) {
    LOOP(products)(distances, rows, x, count, n, 1);
}

/* What `exchange` does. */
INLINE TARGET static void LOOP(exchange_rows)(REAL *const *into, REAL *restrict change, REAL *const *rows,
                                              const REAL *restrict gains, const REAL *restrict x, int count,
                                              int n) {
    int k = 0;
    for (; k + 2 <= count; k += 2) {
        const REAL *row0 = rows[k], *row1 = rows[k + 1];
        REAL *into0 = into[k], *into1 = into[k + 1], gain0 = gains[k], gain1 = gains[k + 1];
#pragma omp simd
        for (int d = 0; d < n; d++) {
            REAL a = row0[d];
            into0[d] += gain0 * x[d];
            REAL b = row1[d];
            into1[d] += gain1 * x[d];
            change[d] += gain0 * a + gain1 * b;
        }
    }
    for (; k < count; k++) {
        const REAL *row = rows[k];
        REAL *into0 = into[k], gain = gains[k];
#pragma omp simd
        for (int d = 0; d < n; d++) {
            change[d] += gain * row[d];
            into0[d] += gain * x[d];
        }
    }
}

/* change += gains @ rows;  into += outer(gains, x)       into, rows: (count,) addresses, one of them perhaps
 * twice */
TARGET static void LOOP(exchange)(REAL *const *into, REAL *restrict change, REAL *const *rows,
                                  const REAL *restrict gains, const REAL *restrict x, int count, int n) {
    if (into == rows) /* training: the compiler need not load a row twice */
        LOOP(exchange_rows)(rows, change, rows, gains, x, count, n);
    else
        LOOP(exchange_rows)(into, change, rows, gains, x, count, n);
}

/* out = (a - b)**2 */
TARGET static void LOOP(squares)(REAL *restrict out, const REAL *restrict a, const REAL *restrict b, int n) {
#pragma omp simd
    for (int d = 0; d < n; d++) out[d] = (a[d] - b[d]) * (a[d] - b[d]);
}

/* log(x), x > 0 and normal: x = 2**k * m, m from 1/sqrt(2) to sqrt(2), log m = 2 atanh((m - 1) / (m + 1)) */
INLINE TARGET static REAL LOOP(logarithm)(REAL x) {
#if DENSVEC_DOUBLE
    return log(x);
#else
    union {
        float value;
        int32_t bits;
    } number = {.value = x};
    int32_t k = (number.bits - 0x3f3504f3) >> 23; /* 0x3f3504f3: sqrt(1/2) */
    number.bits -= k * (1 << 23);
    float z = (number.value - 1) / (number.value + 1), z2 = z * z;
    return k * 0.693147180559945f +
           z * (2 + z2 * (2 / 3.0f + z2 * (2 / 5.0f + z2 * (2 / 7.0f + z2 * (2 / 9.0f)))));
#endif
}

/* The cost, minus the energy, of each dimension of two Gaussians a and b; and their sum:
 * KL[a || b] = ((v_a + square) / v_b + log v_b - log v_a - 1) / 2, or
 * minus their log expected likelihood, but for a constant, (square / (v_a + v_b) + log(v_a + v_b)) / 2 */
TARGET static REAL LOOP(costs)(REAL *restrict costs, const REAL *restrict squares, const REAL *log_variance_a,
                               const REAL *variance_a, const REAL *log_variance_b, const REAL *variance_b,
                               int likelihood, int n) {
    REAL sum = 0;
    if (likelihood) {
#pragma omp simd reduction(+ : sum)
        for (int d = 0; d < n; d++) {
            REAL variance = variance_a[d] + variance_b[d];
            costs[d] = (squares[d] / variance + LOOP(logarithm)(variance)) / 2;
            sum += costs[d];
        }
    } else {
#pragma omp simd reduction(+ : sum)
        for (int d = 0; d < n; d++) {
            costs[d] =
                ((variance_a[d] + squares[d]) / variance_b[d] + log_variance_b[d] - log_variance_a[d] - 1) /
                2;
            sum += costs[d];
        }
    }
    return sum;
}

/* The same, differentiated and times weight: gain * (mean_a - mean_b) is the slope in mean_a, d_a and d_b
 * those in the log-variances. */
TARGET static void LOOP(slopes)(REAL *restrict gain, REAL *restrict d_a, REAL *restrict d_b,
                                const REAL *restrict squares, const REAL *variance_a, const REAL *variance_b,
                                REAL weight, int likelihood, int n) {
    if (likelihood) {
#pragma omp simd
        for (int d = 0; d < n; d++) {
            REAL precision = 1 / (variance_a[d] + variance_b[d]);
            REAL slope = weight * precision * (1 - squares[d] * precision) / 2;
            gain[d] = weight * precision;
            d_a[d] = slope * variance_a[d];
            d_b[d] = slope * variance_b[d];
        }
    } else {
#pragma omp simd
        for (int d = 0; d < n; d++) {
            REAL precision = 1 / variance_b[d];
            gain[d] = weight * precision;
            d_a[d] = weight * (variance_a[d] * precision - 1) / 2;
            d_b[d] = weight * (1 - (variance_a[d] + squares[d]) * precision) / 2;
        }
    }
}

/* `pull` with a gain for each dimension and an implicit step: at no rate does a row move beyond the mean.
 * curvature += |gain|                                                         into, d_mean, curvature: INOUT
 */
TARGET static void LOOP(pull_each)(REAL *into, REAL *restrict d_mean, REAL *restrict curvature,
                                   const REAL *row, const REAL *restrict mean, const REAL *restrict gain,
                                   const Descent *rule, int n) {
    const Descent by = *rule;
#pragma omp simd
    for (int d = 0; d < n; d++) {
        REAL pull = gain[d] * (mean[d] - row[d]);
        REAL strength = gain[d] < 0 ? -gain[d] : gain[d];
        d_mean[d] += pull;
        curvature[d] += strength;
        into[d] += by.mean_rate * pull / (1 + by.damping * strength);
    }
}

/* log_variance -= rate * slope, by a step that is not too long, and never out of bounds   log_variance: INOUT
 */
TARGET static void LOOP(descend)(REAL *restrict log_variance, const REAL *restrict slope, REAL rate,
                                 const Descent *rule, int n) {
    const Descent by = *rule;
#pragma omp simd
    for (int d = 0; d < n; d++) {
        REAL moved = log_variance[d] - LOOP(short_step)(rate * slope[d], by.longest_step);
        log_variance[d] = moved > by.high ? by.high : moved < by.low ? by.low : moved;
    }
}

/* The loops of this instruction set. */
#define MEMBER(RESULT, name, arguments) .name = LOOP(name),
static const Loops LOOP(loops) = {FOR_EACH_LOOP(MEMBER)};
#undef MEMBER

#undef LOOP
#undef JOIN
#undef JOIN_
