/* Matrix products of the sizes that a tile's encoder has: a few hundred rows, too few for the copies that
 * BLAS makes of both sides to pay.
 *
 * A block of the result, ROWS rows and at most COLUMNS vectors wide, stays in registers while the inner index
 * runs. Included by _vector_loops.h, for each instruction set.
 */
#undef ROWS
#undef COLUMNS
#if BITS == 512
#define ROWS 6 /* 24 of 32 registers */
#define COLUMNS 4
#else
#define ROWS 6 /* 12 of 16 */
#define COLUMNS 2
#endif

#if defined(__clang__)
#define UNROLLED _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__)
#define UNROLLED _Pragma("GCC unroll 8")
#else
#define UNROLLED
#endif

/* One block of `product`: `rows` rows and `columns` vectors, of the last of which `part` numbers are written
 * unless it is 0. With `half` these are in half a vector behind the others, which many processors multiply in half
 * the time. Rows beyond the last are the last again. */
INLINE TARGET static void LOOP(product_block)(const Product *by, REAL *c, const REAL *a, const REAL *b,
                                              const REAL *start, int rows, int part, const int columns,
                                              const int half) {
    VECTOR sum[ROWS][COLUMNS], right[COLUMNS];
#if BITS == 512
    __m256 end[ROWS], right_end;
#endif
    size_t a_at[ROWS];
    UNROLLED
    for (int r = 0; r < ROWS; r++) {
        int row = r < rows ? r : rows - 1;
        a_at[r] = row * by->a_row;
        UNROLLED
        for (int j = 0; j < columns; j++)
            sum[r][j] = LOAD(start ? start + row * by->start_row + j * WIDTH : ZEROS);
#if BITS == 512
        if (half) end[r] = _mm256_loadu_ps(start ? start + row * by->start_row + columns * WIDTH : ZEROS);
#endif
    }
    for (int k = 0; k < by->inner; k++, a += by->a_column, b += by->b_row) {
        UNROLLED
        for (int j = 0; j < columns; j++) right[j] = LOAD(b + j * WIDTH);
#if BITS == 512
        if (half) right_end = _mm256_loadu_ps(b + columns * WIDTH);
#endif
        UNROLLED
        for (int r = 0; r < ROWS; r++) {
            VECTOR left = EACH(a[a_at[r]]);
            UNROLLED
            for (int j = 0; j < columns; j++) sum[r][j] += left * right[j];
#if BITS == 512
            if (half) end[r] += _mm512_castps512_ps256(left) * right_end;
#endif
        }
    }
    UNROLLED
    for (int r = 0; r < ROWS; r++) {
        if (r >= rows) break;
        UNROLLED
        for (int j = 0; j < columns; j++) {
            REAL *to = c + r * by->c_row + j * WIDTH;
            if (part && !half && j == columns - 1)
                STORE_PART(to, sum[r][j], part);
            else
                STORE(to, sum[r][j]);
        }
#if BITS == 512
        if (half) LOOP(store_eight)(c + r * by->c_row + columns * WIDTH, end[r], part);
#endif
    }
}

/* c = start + a @ b; see Product.   c: (m, n).  a: (m, inner).  b: (inner, n).  start: (m, n)
 * The rows of b and of start can be read for whole vectors. */
TARGET static void LOOP(product)(REAL *restrict c, const REAL *restrict a, const REAL *restrict b, int m,
                                 int n, const Product *by) {
    const Product rule = *by;
    for (int j = 0; j < n; j += COLUMNS * WIDTH) {
        int left = n - j, columns = left < COLUMNS * WIDTH ? (left + WIDTH - 1) / WIDTH : COLUMNS;
        int part = left < COLUMNS * WIDTH ? left % WIDTH : 0, half = COLUMNS == 4 && 0 < part && part <= WIDTH / 2;
        for (int i = 0; i < m; i += ROWS) {
            REAL *to = c + i * rule.c_row + j;
            const REAL *from = a + i * rule.a_row;
            const REAL *start = rule.start ? rule.start + i * rule.start_row + j : rule.start;
            int rows = m - i < ROWS ? m - i : ROWS;
            switch (half ? -columns : columns) { /* each a block whose size the compiler knows */
            case 1: LOOP(product_block)(&rule, to, from, b + j, start, rows, part, 1, 0); break;
            case 2: LOOP(product_block)(&rule, to, from, b + j, start, rows, part, 2, 0); break;
#if COLUMNS == 4
            case 3: LOOP(product_block)(&rule, to, from, b + j, start, rows, part, 3, 0); break;
            case 4: LOOP(product_block)(&rule, to, from, b + j, start, rows, part, 4, 0); break;
            case -1: LOOP(product_block)(&rule, to, from, b + j, start, rows, part, 0, 1); break;
            case -2: LOOP(product_block)(&rule, to, from, b + j, start, rows, part, 1, 1); break;
            case -3: LOOP(product_block)(&rule, to, from, b + j, start, rows, part, 2, 1); break;
            case -4: LOOP(product_block)(&rule, to, from, b + j, start, rows, part, 3, 1); break;
#endif
            }
        }
    }
}
#undef UNROLLED

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
