/* Many rows of a table against one vector, given by their addresses: compared with it, and pulled towards it.
 *
 * Included by _vector_loops.h, for each instruction set. Explicit vectors: the compiler would add up the
 * lanes of each sum one by one, and take the numbers beyond the last whole vector singly.
 */

/* Compare four rows with x: the products of each and x, or the squares of their differences, summed. */
INLINE TARGET static void LOOP(compare_four)(REAL *restrict sums, REAL *const *rows, const REAL *restrict x,
                                             int n, const int squared) {
    VECTOR zero = EACH(0), sum[4] = {zero, zero, zero, zero};
    int d = 0;
    for (; d + WIDTH <= n; d += WIDTH) {
        VECTOR to = LOAD(x + d);
        for (int k = 0; k < 4; k++) {
            VECTOR row = LOAD(rows[k] + d), diff = row - to;
            sum[k] += squared ? diff * diff : row * to;
        }
    }
    if (d < n) {
        VECTOR to = LOAD_PART(x + d, n - d);
        for (int k = 0; k < 4; k++) {
            VECTOR row = LOAD_PART(rows[k] + d, n - d), diff = row - to;
            sum[k] += squared ? diff * diff : row * to;
        }
    }
    SUM_LANES(sums, sum);
}

/* Compare rows with x, four at a time so that their sums overlap. rows: (count,) addresses.  ahead: (coming,)
 * those of rows that are needed soon, asked for a few at a time, so that they need not wait for each other */
INLINE TARGET static void LOOP(products)(REAL *restrict sums, REAL *const *rows, const REAL *restrict x,
                                         int count, REAL *const *ahead, int coming, int n,
                                         const int squared) {
    int k = 0, asked = 0;
    for (; k + 4 <= count; k += 4) {
        for (int last = asked + 4; asked < coming && asked < last; asked++)
            prefetch_row(ahead[asked], n * sizeof(REAL));
        LOOP(compare_four)(sums + k, rows + k, x, n, squared);
    }
    for (; asked < coming; asked++) prefetch_row(ahead[asked], n * sizeof(REAL));
    if (k < count) {
        REAL *four[4], rest[4];
        for (int j = 0; j < 4; j++) four[j] = rows[k + j < count ? k + j : k];
        LOOP(compare_four)(rest, four, x, n, squared);
        for (int j = 0; k + j < count; j++) sums[k + j] = rest[j];
    }
}

/* scores = rows @ x */
TARGET static void LOOP(dots)(REAL *restrict scores, REAL *const *rows, const REAL *restrict x, int count,
                              int n) {
    LOOP(products)(scores, rows, x, count, 0, 0, n, 0);
}

/* distances = ((rows - x)**2).sum(1) */
TARGET static void LOOP(distances)(REAL *restrict distances, REAL *const *rows, const REAL *restrict x,
                                   int count, REAL *const *ahead, int coming, int n) {
    LOOP(products)(distances, rows, x, count, ahead, coming, n, 1);
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

/* Pull up to four rows: how many, the compiler knows. */
INLINE TARGET static void LOOP(pull_some)(REAL *const *into, REAL *restrict d_mean, REAL *const *rows,
                                          const REAL *restrict mean, const REAL *restrict gains,
                                          const REAL *restrict steps, int n, const int count) {
    VECTOR gain[4], step[4];
    const REAL *from[4];
    REAL *to[4];
    int d = 0;
    for (int k = 0; k < count; k++) {
        gain[k] = EACH(gains[k]), step[k] = EACH(steps[k]);
        from[k] = rows[k], to[k] = into[k];
    }
#define PULL(read, write)                                                                                    \
    VECTOR x = read(mean), sum = read(d_mean);                                                               \
    for (int k = 0; k < count; k++) {                                                                        \
        VECTOR row = read(from[k]), diff = x - row;                                                          \
        sum += gain[k] * diff;                                                                               \
        write(to[k], (into == rows ? row : read(to[k])) + step[k] * diff);                                   \
    }                                                                                                        \
    write(d_mean, sum);
#define READ(row) LOAD((row) + d)
#define WRITE(row, v) STORE((row) + d, v)
#define READ_PART(row) LOAD_PART((row) + d, n - d)
#define WRITE_PART(row, v) STORE_PART((row) + d, v, n - d)
    for (; d + WIDTH <= n; d += WIDTH) {
        PULL(READ, WRITE)
    }
    if (d < n) {
        PULL(READ_PART, WRITE_PART)
    }
#undef PULL
#undef READ
#undef WRITE
#undef READ_PART
#undef WRITE_PART
}

/* What `pull_rows` does. */
INLINE TARGET static void LOOP(pull_all)(REAL *const *into, REAL *restrict d_mean, REAL *const *rows,
                                         const REAL *restrict mean, const REAL *restrict gains,
                                         const REAL *restrict steps, int count, int n) {
    int k = 0;
    for (; k + 4 <= count; k += 4)
        LOOP(pull_some)(into + k, d_mean, rows + k, mean, gains + k, steps + k, n, 4);
    into += k, rows += k, gains += k, steps += k;
    switch (count - k) {
    case 1: LOOP(pull_some)(into, d_mean, rows, mean, gains, steps, n, 1); break;
    case 2: LOOP(pull_some)(into, d_mean, rows, mean, gains, steps, n, 2); break;
    case 3: LOOP(pull_some)(into, d_mean, rows, mean, gains, steps, n, 3); break;
    }
}

/* The same for many rows, four at a time; a row may be there twice.          into, rows: (count,) addresses
 */
TARGET static void LOOP(pull_rows)(REAL *const *into, REAL *restrict d_mean, REAL *const *rows,
                                   const REAL *restrict mean, const REAL *restrict gains,
                                   const REAL *restrict steps, int count, int n) {
    if (into == rows) /* training: the compiler need not load a row twice */
        LOOP(pull_all)(rows, d_mean, rows, mean, gains, steps, count, n);
    else
        LOOP(pull_all)(into, d_mean, rows, mean, gains, steps, count, n);
}
