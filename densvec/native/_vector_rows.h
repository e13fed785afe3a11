/* Many rows of a table against one vector, given by their addresses: compared with it, and pulled towards it.
 *
 * Included by _vector_loops.h, for each instruction set. Explicit vectors: the compiler would add up the
 * lanes of each sum one by one, and take the numbers beyond the last whole vector singly.
 */
#undef PULLED
#if BITS == 512
#define PULLED 8 /* vectors of a row that are pulled at once: 16 of 32 registers */
#else
#define PULLED 5 /* 10 of 16 */
#endif

/* Compare four rows with x: the products of each and x, or the squares of their differences, summed.
 * whole: whether the rows and x can be read for whole vectors */
INLINE TARGET static FOUR LOOP(compare_four)(REAL *const *rows, const REAL *restrict x, int n,
                                             const int squared, const int whole) {
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
        VECTOR to = whole ? LOAD(x + d) : LOAD_PART(x + d, n - d);
        for (int k = 0; k < 4; k++) {
            VECTOR row = whole ? LOAD(rows[k] + d) : LOAD_PART(rows[k] + d, n - d);
            VECTOR diff = row - to, product = squared ? diff * diff : row * to;
            sum[k] += whole ? FIRST_LANES(product, n - d) : product;
        }
    }
    return SUM_FOUR(sum);
}

/* Compare rows with x, four at a time so that their sums overlap. rows: (count,) addresses.  ahead: (coming,)
 * those of rows that are needed soon, asked for a few at a time, so that they need not wait for each other.
 * sums: room for whole blocks of LANES; what is written there beyond `count` means nothing */
INLINE TARGET static void LOOP(products)(REAL *restrict sums, REAL *const *rows, const REAL *restrict x,
                                         int count, REAL *const *ahead, int coming, int n, const int squared,
                                         const int whole) {
    FOUR fours[LANES / 4];
    REAL *four[4];
    int asked = 0;
    memset(fours, 0, sizeof fours);
    for (int k = 0; k < count; k += 4) {
        for (int last = asked + 4; asked < coming && asked < last; asked++)
            prefetch_row(ahead[asked], n * sizeof(REAL));
        if (k + 4 <= count) {
            fours[k % LANES / 4] = LOOP(compare_four)(rows + k, x, n, squared, whole);
        } else {
            for (int j = 0; j < 4; j++) four[j] = rows[k + j < count ? k + j : k];
            fours[k % LANES / 4] = LOOP(compare_four)(four, x, n, squared, whole);
        }
        if (k % LANES == LANES - 4 || k + 4 >= count) STORE_FOURS(sums + k / LANES * LANES, fours);
    }
    for (; asked < coming; asked++) prefetch_row(ahead[asked], n * sizeof(REAL));
}

/* scores = rows @ x               scores: room for whole blocks of LANES, as above */
TARGET static void LOOP(dots)(REAL *restrict scores, REAL *const *rows, const REAL *restrict x, int count,
                              int n) {
    LOOP(products)(scores, rows, x, count, 0, 0, n, 0, 0);
}

/* distances = ((rows - x)**2).sum(1)            distances: room for whole blocks of LANES, as above
 * whole: whether the rows and x go on for whole vectors */
TARGET static void LOOP(distances)(REAL *restrict distances, REAL *const *rows, const REAL *restrict x,
                                   int count, REAL *const *ahead, int coming, int n, int whole) {
    if (whole)
        LOOP(products)(distances, rows, x, count, ahead, coming, n, 1, 1);
    else
        LOOP(products)(distances, rows, x, count, ahead, coming, n, 1, 0);
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

/* Some columns of pull_rows, `columns` vectors, of the last of which `part` numbers are meant unless it is 0:
 * they and the posterior's gradient stay in registers over all rows. */
INLINE TARGET static void LOOP(pull_columns)(REAL *const *into, REAL *restrict d_mean, REAL *const *rows,
                                             const REAL *restrict mean, const REAL *restrict gains,
                                             const REAL *restrict steps, const int *restrict which, int count,
                                             int at, int part, const int whole, const int columns) {
    VECTOR x[PULLED], sum[PULLED];
    for (int j = 0; j < columns; j++) {
        int some = part && j == columns - 1;
        x[j] = some ? LOAD_PART(mean + at + j * WIDTH, part) : LOAD(mean + at + j * WIDTH);
        sum[j] = some ? LOAD_PART(d_mean + at + j * WIDTH, part) : LOAD(d_mean + at + j * WIDTH);
    }
    for (int i = 0; i < count; i++) {
        int k = which[i];
        VECTOR gain = EACH(gains[k]), step = EACH(steps[k]);
        const REAL *from = rows[k] + at;
        REAL *to = into[k] + at;
        for (int j = 0; j < columns; j++) {
            int some = part && j == columns - 1, masked = some && !whole;
            VECTOR row = masked ? LOAD_PART(from + j * WIDTH, part) : LOAD(from + j * WIDTH), diff = x[j] - row;
            if (some && whole) diff = FIRST_LANES(diff, part);
            VECTOR before = into == rows ? row : masked ? LOAD_PART(to + j * WIDTH, part) : LOAD(to + j * WIDTH);
            sum[j] += gain * diff;
            if (masked)
                STORE_PART(to + j * WIDTH, before + step * diff, part);
            else
                STORE(to + j * WIDTH, before + step * diff);
        }
    }
    for (int j = 0; j < columns; j++) {
        if (part && j == columns - 1)
            STORE_PART(d_mean + at + j * WIDTH, sum[j], part);
        else
            STORE(d_mean + at + j * WIDTH, sum[j]);
    }
}

/* What `pull_rows` does. */
INLINE TARGET static void LOOP(pull_all)(REAL *const *into, REAL *restrict d_mean, REAL *const *rows,
                                         const REAL *restrict mean, const REAL *restrict gains,
                                         const REAL *restrict steps, const int *restrict which, int count,
                                         int n, const int whole) {
    for (int at = 0; at < n; at += PULLED * WIDTH) {
        int left = n - at, columns = left < PULLED * WIDTH ? (left + WIDTH - 1) / WIDTH : PULLED;
        int part = left < PULLED * WIDTH ? left % WIDTH : 0;
#define COLUMNS_OF(number)                                                                                   \
    case number:                                                                                             \
        LOOP(pull_columns)(into, d_mean, rows, mean, gains, steps, which, count, at, part, whole, number);   \
        break;
        switch (columns) { /* each a block whose size the compiler knows */
            COLUMNS_OF(1)
            COLUMNS_OF(2)
            COLUMNS_OF(3)
            COLUMNS_OF(4)
            COLUMNS_OF(5)
#if PULLED == 8
            COLUMNS_OF(6)
            COLUMNS_OF(7)
            COLUMNS_OF(8)
#endif
        }
#undef COLUMNS_OF
    }
}

/* Pull those rows that `which` lists, (count,), each by its gain and step; one may be there twice.
 * into, rows: addresses.   whole: whether rows can be read and written for whole vectors */
TARGET static void LOOP(pull_rows)(REAL *const *into, REAL *restrict d_mean, REAL *const *rows,
                                   const REAL *restrict mean, const REAL *restrict gains,
                                   const REAL *restrict steps, const int *restrict which, int count, int n,
                                   int whole) {
    if (into == rows && whole) /* training: the compiler need not load a row twice */
        LOOP(pull_all)(rows, d_mean, rows, mean, gains, steps, which, count, n, 1);
    else
        LOOP(pull_all)(into, d_mean, rows, mean, gains, steps, which, count, n, 0);
}
