/* Matrix products of the sizes that a tile's encoder has: a few hundred rows, too few for the copies that
 * BLAS makes of both sides to pay.
 *
 * A block of the result, ROWS rows and at most COLUMNS vectors wide, stays in registers while the inner index
 * runs. Included by _vector_loops.h, for each instruction set, and by _vector_bfloat16.h. The includer defines
 * what is multiplied: FACTOR, FACTORS, a vector of them, and LOAD_FACTORS, EACH_FACTOR and ADD_PRODUCT; and the names
 * PRODUCT and PRODUCT_BLOCK. This file undefines them.
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
 * unless it is 0. Rows beyond the last are the last again. */
INLINE TARGET static void PRODUCT_BLOCK(const Product *by, REAL *c, const FACTOR *a, const FACTOR *b,
                                        const REAL *start, int rows, int part, const int columns) {
    VECTOR sum[ROWS][COLUMNS];
    FACTORS right[COLUMNS];
    size_t a_at[ROWS];
    UNROLLED
    for (int r = 0; r < ROWS; r++) {
        int row = r < rows ? r : rows - 1;
        a_at[r] = row * by->a_row;
        UNROLLED
        for (int j = 0; j < columns; j++)
            sum[r][j] = LOAD(start ? start + row * by->start_row + j * WIDTH : ZEROS);
    }
    for (int k = 0; k < by->inner; k++, a += by->a_column, b += by->b_row) {
        UNROLLED
        for (int j = 0; j < columns; j++) right[j] = LOAD_FACTORS(b + j * WIDTH);
        UNROLLED
        for (int r = 0; r < ROWS; r++) {
            FACTORS left = EACH_FACTOR(a[a_at[r]]);
            UNROLLED
            for (int j = 0; j < columns; j++) sum[r][j] = ADD_PRODUCT(sum[r][j], left, right[j]);
        }
    }
    UNROLLED
    for (int r = 0; r < ROWS; r++) {
        if (r >= rows) break;
        UNROLLED
        for (int j = 0; j < columns; j++) {
            REAL *to = c + r * by->c_row + j * WIDTH;
            if (part && j == columns - 1)
                STORE_PART(to, sum[r][j], part);
            else
                STORE(to, sum[r][j]);
        }
    }
}

/* c = start + a @ b; see Product.   c: (m, n).  a: (m, inner).  b: (inner, n).  start: (m, n)
 * The rows of b and of start can be read for whole vectors. */
TARGET static void PRODUCT(REAL *restrict c, const FACTOR *restrict a, const FACTOR *restrict b, int m, int n,
                           const Product *by) {
    const Product rule = *by;
    for (int j = 0; j < n; j += COLUMNS * WIDTH) {
        int left = n - j, columns = left < COLUMNS * WIDTH ? (left + WIDTH - 1) / WIDTH : COLUMNS;
        int part = left < COLUMNS * WIDTH ? left % WIDTH : 0;
        for (int i = 0; i < m; i += ROWS) {
            REAL *to = c + i * rule.c_row + j;
            const FACTOR *from = a + i * rule.a_row;
            const REAL *start = rule.start ? rule.start + i * rule.start_row + j : rule.start;
            int rows = m - i < ROWS ? m - i : ROWS;
            switch (columns) { /* each a block whose size the compiler knows */
            case 1: PRODUCT_BLOCK(&rule, to, from, b + j, start, rows, part, 1); break;
            case 2: PRODUCT_BLOCK(&rule, to, from, b + j, start, rows, part, 2); break;
#if COLUMNS == 4
            case 3: PRODUCT_BLOCK(&rule, to, from, b + j, start, rows, part, 3); break;
            case 4: PRODUCT_BLOCK(&rule, to, from, b + j, start, rows, part, 4); break;
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
