/* The kernels' vector loops, written once and compiled for every instruction set.
 *
 * The includer, _vector.h, defines REAL, SUFFIX and TARGET. `omp simd` lets the compiler reorder the sums of
 * these loops alone, so no -ffast-math is needed for the rest. Rows are n numbers long and never overlap,
 * except where a loop moves rows: then `into` is where the changes go, the row itself or its gradient.
 */

#define JOIN_(name, suffix) name##_##suffix
#define JOIN(name, suffix) JOIN_(name, suffix)
#define LOOP(name) JOIN(name, SUFFIX)

#include "_vector_width.h"

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

/* Some columns of relu_sum, `blocks` vectors: their sums stay in registers over the whole window. */
INLINE TARGET static void LOOP(relu_sum_block)(REAL *restrict hidden, const REAL *restrict contexts,
                                               const REAL *restrict centre, const int *restrict slots,
                                               const REAL *restrict weights, int count, int skip, int stride,
                                               const int blocks) {
    VECTOR zero = EACH(0), sum[4] = {zero, zero, zero, zero};
    for (int j = 0; j < count; j++) {
        const REAL *context = contexts + (size_t)slots[j] * stride;
        VECTOR weight = EACH(weights[j]);
        if (j == skip) continue;
        for (int b = 0; b < blocks; b++) {
            VECTOR pre = LOAD(context + b * WIDTH) + LOAD(centre + b * WIDTH);
            sum[b] += weight * WHERE_POSITIVE(pre, pre);
        }
    }
    for (int b = 0; b < blocks; b++) STORE(hidden + b * WIDTH, sum[b]);
}

/* hidden = (weights * relu(contexts[slots] + centre)).sum(0), but for slots[skip]
 * contexts: (any, n), rows `stride` apart.  slots, weights: (count,)  n: a multiple of LANES */
TARGET static void LOOP(relu_sum)(REAL *restrict hidden, const REAL *restrict contexts,
                                  const REAL *restrict centre, const int *restrict slots,
                                  const REAL *restrict weights, int count, int skip, int stride, int n) {
    int d = 0;
    for (; d + 4 * WIDTH <= n; d += 4 * WIDTH)
        LOOP(relu_sum_block)(hidden + d, contexts + d, centre + d, slots, weights, count, skip, stride, 4);
    for (; d < n; d += WIDTH)
        LOOP(relu_sum_block)(hidden + d, contexts + d, centre + d, slots, weights, count, skip, stride, 1);
}

/* Some columns of relu_sum_back. */
INLINE TARGET static void LOOP(relu_sum_back_block)(REAL *restrict d_contexts, REAL *restrict d_centre,
                                                    const REAL *restrict contexts,
                                                    const REAL *restrict centre,
                                                    const REAL *restrict d_hidden, const int *restrict slots,
                                                    const REAL *restrict weights, int count, int skip,
                                                    int stride, const int blocks) {
    VECTOR zero = EACH(0), sum[4] = {zero, zero, zero, zero};
    for (int j = 0; j < count; j++) {
        size_t row = (size_t)slots[j] * stride;
        VECTOR weight = EACH(weights[j]);
        if (j == skip) continue;
        for (int b = 0; b < blocks; b++) {
            int at = b * WIDTH;
            VECTOR pre = LOAD(contexts + row + at) + LOAD(centre + at);
            VECTOR on = WHERE_POSITIVE(pre, weight * LOAD(d_hidden + at));
            STORE(d_contexts + row + at, LOAD(d_contexts + row + at) + on);
            sum[b] += on;
        }
    }
    for (int b = 0; b < blocks; b++) STORE(d_centre + b * WIDTH, LOAD(d_centre + b * WIDTH) + sum[b]);
}

/* The same as relu_sum, backwards: wherever a unit was on, d_contexts[slots[j]] and d_centre gain
 * weights[j] * d_hidden.
 * d_contexts, d_centre: INOUT */
TARGET static void LOOP(relu_sum_back)(REAL *restrict d_contexts, REAL *restrict d_centre,
                                       const REAL *restrict contexts, const REAL *restrict centre,
                                       const REAL *restrict d_hidden, const int *restrict slots,
                                       const REAL *restrict weights, int count, int skip, int stride, int n) {
    int d = 0;
    for (; d + 4 * WIDTH <= n; d += 4 * WIDTH)
        LOOP(relu_sum_back_block)(d_contexts + d, d_centre + d, contexts + d, centre + d, d_hidden + d, slots,
                                  weights, count, skip, stride, 4);
    for (; d < n; d += WIDTH)
        LOOP(relu_sum_back_block)(d_contexts + d, d_centre + d, contexts + d, centre + d, d_hidden + d, slots,
                                  weights, count, skip, stride, 1);
}

/* A step, or as much of it as is allowed: single outliers must not make a log-variance jump. */
INLINE TARGET static REAL LOOP(short_step)(REAL step, REAL longest) {
    return step > longest ? longest : step < -longest ? -longest : step;
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

/* How a spherical posterior moves the rows it is compared with, each by its share in the loss.
 * gains: the slopes of its mean;  sums: of these, and of their absolute values
 * steps: how far a row's mean goes (implicit: the more a rate would overshoot, the more it is damped)
 * moves: how far a row's log-variance goes (natural gradient: the Fisher information is size / 2)
 * All arrays have room for whole blocks of LANES; what is written there beyond `count` means nothing. */
TARGET static void LOOP(plan_moves)(REAL *restrict sums, REAL *restrict gains, REAL *restrict steps,
                                    REAL *restrict moves, const REAL *restrict shares,
                                    const REAL *restrict precisions, const REAL *restrict distances,
                                    REAL variance, const Descent *rule, REAL size, int count) {
    const Descent by = *rule;
    VECTOR zero = EACH(0), one = EACH(1), portion = EACH(1 / size), sum[4] = {zero, zero, zero, zero};
    for (int k = 0; k < count; k += WIDTH) {
        VECTOR share = LOAD(shares + k), precision = LOAD(precisions + k), gain = share * precision;
        VECTOR stretch = (EACH(variance) + LOAD(distances + k) * portion) * precision;
        VECTOR move = EACH(by.log_variance_rate) * share * (stretch - one), strength = ABSOLUTE(gain);
        STORE(gains + k, gain);
        STORE(steps + k, EACH(by.mean_rate) * gain / (one + EACH(by.damping) * strength));
        STORE(moves + k, BOUNDED(move, -by.longest_step, by.longest_step));
        sum[0] += count - k < WIDTH ? FIRST_LANES(gain, count - k) : gain;
        sum[1] += count - k < WIDTH ? FIRST_LANES(strength, count - k) : strength;
    }
    FOUR all = SUM_FOUR(sum);
    memcpy(sums, &all, 2 * sizeof(REAL));
}

/* Add to the moves of spherical log-variances what covers a posterior; see `cover_diagonal`.
 * moves: INOUT.  sums: += stretches, and log-variances after the moves that were planned
 * All arrays have room for whole blocks of LANES, as above */
TARGET static void LOOP(cover_spherical)(REAL *restrict sums, REAL *restrict moves,
                                         const REAL *restrict log_variances, const REAL *restrict precisions,
                                         const REAL *restrict distances, REAL variance, REAL expected,
                                         REAL typical, REAL shrink, const Descent *rule, REAL size, int count) {
    const Descent by = *rule;
    VECTOR zero = EACH(0), portion = EACH(1 / size), sum[4] = {zero, zero, zero, zero};
    VECTOR base = EACH(expected - shrink * typical);
    for (int k = 0; k < count; k += WIDTH) {
        VECTOR stretch = (EACH(variance) + LOAD(distances + k) * portion) * LOAD(precisions + k);
        VECTOR width = BOUNDED(LOAD(log_variances + k) + LOAD(moves + k), by.low, by.high);
        VECTOR move = EACH(by.log_variance_rate) * (stretch - base - EACH(shrink) * width);
        STORE(moves + k, LOAD(moves + k) + BOUNDED(move, -by.longest_step, by.longest_step));
        sum[0] += count - k < WIDTH ? FIRST_LANES(stretch, count - k) : stretch;
        sum[1] += count - k < WIDTH ? FIRST_LANES(width, count - k) : width;
    }
    REAL both[4];
    FOUR all = SUM_FOUR(sum);
    memcpy(both, &all, sizeof both);
    sums[0] += both[0], sums[1] += both[1];
}

/* The same for a vector. */
INLINE TARGET static VECTOR LOOP(powers)(VECTOR x) {
#if BITS
    VECTOR magic = EACH(12582912.0f), v = BOUNDED(x, -LARGEST_EXPONENT, LARGEST_EXPONENT);
    VECTOR sum = v * EACH(1.44269504088896341f) + magic, k = sum - magic;
    VECTOR r = v - k * EACH(0.693359375f) + k * EACH(2.12194440e-4f), p = EACH(1.0f / 720.0f);
    p = p * r + EACH(1.0f / 120.0f);
    p = p * r + EACH(1.0f / 24.0f);
    p = p * r + EACH(1.0f / 6.0f);
    p = p * r + EACH(0.5f);
    p = p * r + EACH(1.0f);
    p = p * r + EACH(1.0f);
#if BITS == 512
    __m512i bits = _mm512_add_epi32(_mm512_castps_si512(sum), _mm512_set1_epi32(127));
    return p * _mm512_castsi512_ps(_mm512_slli_epi32(bits, 23));
#else
    __m256i bits = _mm256_add_epi32(_mm256_castps_si256(sum), _mm256_set1_epi32(127));
    return p * _mm256_castsi256_ps(_mm256_slli_epi32(bits, 23));
#endif
#else
    REAL lanes[WIDTH];
    STORE(lanes, x);
    for (int d = 0; d < WIDTH; d++) lanes[d] = LOOP(power)(lanes[d]);
    return LOAD(lanes);
#endif
}

/* The scores of `score_diagonal` for spherical rows, of which the squared distances from the posterior's mean
 * are known; precisions: OUT. All arrays have room for whole blocks of LANES, as above. */
TARGET static void LOOP(score_spherical)(REAL *restrict scores, REAL *restrict precisions,
                                         const REAL *restrict distances, const REAL *restrict log_variances,
                                         REAL variance, REAL size, int count) {
    VECTOR half = EACH((REAL)0.5), width = EACH(size), spread = EACH(size * variance);
    for (int k = 0; k < count; k += WIDTH) {
        VECTOR log_variance = LOAD(log_variances + k), precision = LOOP(powers)(EACH(0) - log_variance);
        STORE(precisions + k, precision);
        STORE(scores + k, ((spread + LOAD(distances + k)) * precision + width * log_variance) * half);
    }
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

/* Cover a posterior: widen the log-variances that it stretches more than expected, narrow the others, and
 * draw all of them a little (shrink) to the typical one. A row's stretch is the posterior's second
 * moment about the row in units of the row's variance, (v_q + (mean - row)**2) / v_row.
 * sums: += stretch and log-variance of this row, means over its dimensions */
TARGET static void LOOP(cover_diagonal)(REAL *restrict sums, REAL *restrict log_variance,
                                        const REAL *restrict row, const REAL *restrict precision,
                                        const REAL *restrict mean, const REAL *restrict variance,
                                        REAL expected, REAL typical, REAL shrink, const Descent *rule,
                                        int n) {
    const Descent by = *rule;
    REAL stretches = 0, log_variances = 0;
#pragma omp simd reduction(+ : stretches, log_variances)
    for (int d = 0; d < n; d++) {
        REAL diff = mean[d] - row[d];
        REAL stretch = (variance[d] + diff * diff) * precision[d];
        REAL step = by.log_variance_rate * (stretch - expected + shrink * (typical - log_variance[d]));
        REAL moved = log_variance[d] + LOOP(short_step)(step, by.longest_step);
        stretches += stretch;
        log_variances += log_variance[d];
        log_variance[d] = moved > by.high ? by.high : moved < by.low ? by.low : moved;
    }
    sums[0] += stretches / n;
    sums[1] += log_variances / n;
}

/* A vector of the first `count` of some numbers, which have room for whole vectors; the lanes beyond are beyond
 * all bounds, on the side of `sign`. */
INLINE TARGET static VECTOR LOOP(load_bounded)(const REAL *from, int count, REAL sign) {
    if (count >= WIDTH) return LOAD(from);
    return FIRST_LANES(LOAD(from), count) + EACH(sign) * LOAD(BEYOND + LANES - count);
}

INLINE TARGET static void LOOP(store_some)(REAL *to, VECTOR v, int count) {
    if (count >= WIDTH)
        STORE(to, v);
    else
        STORE_PART(to, v, count);
}

/* The hinge of positives against the same negatives:
 * (weights[:, None] * relu(margin + positives[:, None] - negatives)).sum()
 * pulls, pushes: its slopes, the weights of the active pairs, summed for each positive, and minus those for
 * each negative, OUT.     Scores and weights have room for whole vectors.   whole: pulls and pushes have, too */
TARGET static REAL LOOP(hinge)(REAL *restrict pulls, REAL *restrict pushes, const REAL *restrict positives,
                               const REAL *restrict negatives, const REAL *restrict weights, REAL margin,
                               int count, int n, int whole) {
    VECTOR zero = EACH(0), one = EACH(1), sum[4] = {zero, zero, zero, zero};
    for (int k = 0; k < n; k += WIDTH) {
        VECTOR bar = EACH(margin) - LOOP(load_bounded)(negatives + k, n - k, 1), active = zero, all = zero;
        for (int j = 0; j < count; j++) {
            VECTOR excess = bar + EACH(positives[j]), weight = EACH(weights[j]);
            all += WHERE_POSITIVE(excess, weight * excess);
            active += WHERE_POSITIVE(excess, weight);
        }
        sum[0] += all;
        LOOP(store_some)(pushes + k, zero - active, whole ? WIDTH : n - k);
    }
    for (int j = 0; j < count; j += WIDTH) {
        VECTOR bar = LOOP(load_bounded)(positives + j, count - j, -1) + EACH(margin), active[4];
        int k = 0;
        for (int i = 0; i < 4; i++) active[i] = zero; /* four sums need not wait for each other */
        for (; k + 4 <= n; k += 4)
            for (int i = 0; i < 4; i++) active[i] += WHERE_POSITIVE(bar - EACH(negatives[k + i]), one);
        for (; k < n; k++) active[0] += WHERE_POSITIVE(bar - EACH(negatives[k]), one);
        active[0] += active[1] + (active[2] + active[3]);
        LOOP(store_some)(pulls + j, LOAD(weights + j) * active[0], whole ? WIDTH : count - j);
    }
    REAL sums[4];
    FOUR four = SUM_FOUR(sum);
    memcpy(sums, &four, sizeof sums);
    return sums[0];
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

/* narrowing = 1 + x / (1 + x / most), where x is what it was; its slopes by x; logs = -log(narrowing)
 * x >= 0.  narrowing: INOUT.  slopes, logs: OUT */
TARGET static void LOOP(narrow)(REAL *restrict narrowing, REAL *restrict slopes, REAL *restrict logs, REAL most,
                                int n) {
#pragma omp simd
    for (int d = 0; d < n; d++) {
        REAL slowed = 1 + narrowing[d] / most, ratio = 1 + narrowing[d] / slowed;
        narrowing[d] = ratio;
        slopes[d] = 1 / (slowed * slowed);
        logs[d] = -LOOP(logarithm)(ratio);
    }
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

/* into = matrix.T                 matrix: (rows, columns).  Rows are into_row, matrix_row apart */
TARGET static void LOOP(transpose)(REAL *restrict into, size_t into_row, const REAL *restrict matrix,
                                   size_t matrix_row, int rows, int columns) {
    int i = 0;
#if BITS
    for (; i + 4 <= rows; i += 4) {
        const REAL *from = matrix + i * matrix_row;
        int j = 0;
        for (; j + 4 <= columns; j += 4) {
            __m128 a = _mm_loadu_ps(from + j), b = _mm_loadu_ps(from + matrix_row + j);
            __m128 c = _mm_loadu_ps(from + 2 * matrix_row + j), d = _mm_loadu_ps(from + 3 * matrix_row + j);
            REAL *to = into + j * into_row + i;
            _MM_TRANSPOSE4_PS(a, b, c, d);
            _mm_storeu_ps(to, a);
            _mm_storeu_ps(to + into_row, b);
            _mm_storeu_ps(to + 2 * into_row, c);
            _mm_storeu_ps(to + 3 * into_row, d);
        }
        for (; j < columns; j++)
            for (int r = 0; r < 4; r++) into[j * into_row + i + r] = from[r * matrix_row + j];
    }
#endif
    for (; i < rows; i++)
        for (int j = 0; j < columns; j++) into[j * into_row + i] = matrix[i * matrix_row + j];
}

#define PRODUCT LOOP(product)
#define PRODUCT_BLOCK LOOP(product_block)
#define FACTOR REAL
#define FACTORS VECTOR
#define LOAD_FACTORS LOAD
#define EACH_FACTOR EACH
#define ADD_PRODUCT(sum, left, right) ((sum) + (left) * (right))
#include "_vector_product.h"
#include "_vector_rows.h"
#if BITS == 512 && defined(BFLOAT16_TARGET)
#include "_vector_bfloat16.h"
#endif

/* The loops of this instruction set. */
#define MEMBER(RESULT, name, arguments) .name = LOOP(name),
static const Loops LOOP(loops) = {FOR_EACH_LOOP(MEMBER).bits = BITS};
#undef MEMBER

#undef LOOP
#undef JOIN
#undef JOIN_
