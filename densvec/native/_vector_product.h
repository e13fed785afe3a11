/* Matrix products of the sizes that a tile's encoder has: a few hundred rows, too few for the copies that
 * BLAS makes of both sides to pay.
 *
 * A block of the result, ROWS rows and at most COLUMNS vectors wide, stays in registers while the inner index
 * runs. Included by _vector_loops.h, for each instruction set, and by _vector_bfloat16.h. The includer defines
 * what is multiplied: FACTOR, FACTORS, a vector of them, and LOAD_FACTORS, EACH_FACTOR and ADD_PRODUCT; for halves of
 * vectors HALF_FACTORS, LOAD_HALF, LOW_HALF and ADD_HALF; and the names PRODUCT and PRODUCT_BLOCK. This file undefines
 * them.
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
INLINE TARGET static void PRODUCT_BLOCK(const Product *by, REAL *c, const FACTOR *a, const FACTOR *b,
                                        const REAL *start, int rows, int part, const int columns,
                                        const int half) {
    VECTOR sum[ROWS][COLUMNS];
    FACTORS right[COLUMNS];
#if BITS == 512
    __m256 end[ROWS];
    HALF_FACTORS right_end;
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
        for (int j = 0; j < columns; j++) right[j] = LOAD_FACTORS(b + j * WIDTH);
#if BITS == 512
        if (half) right_end = LOAD_HALF(b + columns * WIDTH);
#endif
        UNROLLED
        for (int r = 0; r < ROWS; r++) {
            FACTORS left = EACH_FACTOR(a[a_at[r]]);
            UNROLLED
            for (int j = 0; j < columns; j++) sum[r][j] = ADD_PRODUCT(sum[r][j], left, right[j]);
#if BITS == 512
            if (half) end[r] = ADD_HALF(end[r], LOW_HALF(left), right_end);
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
TARGET static void PRODUCT(REAL *restrict c, const FACTOR *restrict a, const FACTOR *restrict b, int m, int n,
                           const Product *by) {
    const Product rule = *by;
    for (int j = 0; j < n; j += COLUMNS * WIDTH) {
        int left = n - j, columns = left < COLUMNS * WIDTH ? (left + WIDTH - 1) / WIDTH : COLUMNS;
        int part = left < COLUMNS * WIDTH ? left % WIDTH : 0, half = COLUMNS == 4 && 0 < part && part <= WIDTH / 2;
        for (int i = 0; i < m; i += ROWS) {
            REAL *to = c + i * rule.c_row + j;
            const FACTOR *from = a + i * rule.a_row;
            const REAL *start = rule.start ? rule.start + i * rule.start_row + j : rule.start;
            int rows = m - i < ROWS ? m - i : ROWS;
            switch (half ? -columns : columns) { /* each a block whose size the compiler knows */
            case 1: PRODUCT_BLOCK(&rule, to, from, b + j, start, rows, part, 1, 0); break;
            case 2: PRODUCT_BLOCK(&rule, to, from, b + j, start, rows, part, 2, 0); break;
#if COLUMNS == 4
            case 3: PRODUCT_BLOCK(&rule, to, from, b + j, start, rows, part, 3, 0); break;
            case 4: PRODUCT_BLOCK(&rule, to, from, b + j, start, rows, part, 4, 0); break;
            case -1: PRODUCT_BLOCK(&rule, to, from, b + j, start, rows, part, 0, 1); break;
            case -2: PRODUCT_BLOCK(&rule, to, from, b + j, start, rows, part, 1, 1); break;
            case -3: PRODUCT_BLOCK(&rule, to, from, b + j, start, rows, part, 2, 1); break;
            case -4: PRODUCT_BLOCK(&rule, to, from, b + j, start, rows, part, 3, 1); break;
#endif
            }
        }
    }
}
#undef UNROLLED
#undef PRODUCT
#undef PRODUCT_BLOCK
#undef FACTOR
#undef FACTORS
#undef LOAD_FACTORS
#undef EACH_FACTOR
#undef ADD_PRODUCT
#undef HALF_FACTORS
#undef LOAD_HALF
#undef LOW_HALF
#undef ADD_HALF
