/* Matrix products of numbers that are rounded to bfloat16, the upper half of a float: one instruction multiplies two
 * pairs of them and adds both products to a float, so that products take half the time.
 *
 * Pairs lie along the inner index: packed copies of both sides have them together. Included by _vector_loops.h, for
 * processors with AVX-512 alone; its products are those of _vector_product.h.
 */
#undef TARGET
#define TARGET BFLOAT16_TARGET

/* Two vectors rounded, lane by lane together: a in the lower halves, b in the upper ones. */
INLINE TARGET static __m512i LOOP(pair)(__m512 a, __m512 b) {
    __m512i low = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(a));
    return _mm512_or_si512(low, _mm512_slli_epi32(_mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(b)), 16));
}

/* The lanes of a vector that are left of `n` numbers, all of them if there are more. */
INLINE TARGET static __mmask16 LOOP(lanes_left)(int n) {
    return n < WIDTH ? (__mmask16)((1u << (n > 0 ? n : 0)) - 1) : (__mmask16)0xffff;
}

/* Pack the rows of a matrix two by two: into[i] has pairs of row 2 i and row 2 i + 1, or zeros behind the last.
 * matrix: (rows, columns), rows `row` apart.  into: (half of rows, columns), rows in whole vectors */
TARGET static void LOOP(pack_rows)(uint32_t *restrict into, size_t into_row, const float *restrict matrix,
                                   size_t row, int rows, int columns) {
    for (int i = 0; i < rows; i += 2, into += into_row, matrix += 2 * row)
        for (int j = 0; j < columns; j += WIDTH) {
            __mmask16 some = LOOP(lanes_left)(columns - j);
            __m512 a = _mm512_maskz_loadu_ps(some, matrix + j);
            __m512 b = _mm512_maskz_loadu_ps(i + 1 < rows ? some : (__mmask16)0, matrix + row + j);
            _mm512_storeu_si512(into + j, LOOP(pair)(a, b));
        }
}

/* Pack each row of a matrix: pairs of its columns 2 j and 2 j + 1, zeros behind the last.
 * matrix: (rows, columns), rows `row` apart.  into: (rows, half of columns), rows in whole vectors */
TARGET static void LOOP(pack_columns)(uint32_t *restrict into, size_t into_row, const float *restrict matrix,
                                      size_t row, int rows, int columns) {
    for (int i = 0; i < rows; i++, into += into_row, matrix += row)
        for (int j = 0; j < columns; j += 2 * WIDTH) {
            __m512 a = _mm512_maskz_loadu_ps(LOOP(lanes_left)(columns - j), matrix + j);
            __m512 b = _mm512_maskz_loadu_ps(LOOP(lanes_left)(columns - j - WIDTH), matrix + j + WIDTH);
            _mm512_storeu_si512(into + j / 2, (__m512i)_mm512_cvtne2ps_pbh(b, a));
        }
}

#define PRODUCT LOOP(product_of_pairs)
#define PRODUCT_BLOCK LOOP(product_of_pairs_block)
#define FACTOR uint32_t /* two bfloat16s */
#define FACTORS __m512i
#define LOAD_FACTORS(from) _mm512_loadu_si512(from)
#define EACH_FACTOR(x) _mm512_set1_epi32((int)(x))
#define ADD_PRODUCT(sum, left, right) _mm512_dpbf16_ps(sum, (__m512bh)(left), (__m512bh)(right))
#include "_vector_product.h"

/* `product` of rounded numbers.   left, right: TMP, room for the packed copies: each index in whole vectors */
TARGET static void LOOP(rounded_product)(float *restrict c, const float *restrict a, const float *restrict b, int m,
                                         int n, const Product *by, uint32_t *restrict left, uint32_t *restrict right) {
    Product packed = *by;
    packed.inner = (by->inner + 1) / 2;
    packed.b_row = (n + WIDTH - 1) / WIDTH * WIDTH;
    LOOP(pack_rows)(right, packed.b_row, b, by->b_row, by->inner, n);
    if (by->a_column == 1) {
        packed.a_row = (packed.inner + WIDTH - 1) / WIDTH * WIDTH;
        LOOP(pack_columns)(left, packed.a_row, a, by->a_row, m, by->inner);
    } else {
        packed.a_column = (m + WIDTH - 1) / WIDTH * WIDTH;
        LOOP(pack_rows)(left, packed.a_column, a, by->a_column, by->inner, m);
    }
    LOOP(product_of_pairs)(c, left, right, m, n, &packed);
}
