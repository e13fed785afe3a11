/* Changes of rows as they are sent: the upper half of a float (bfloat16), rounded to nearest, ties to even.
 *
 * The loops are plain: they wait for memory, and a compiler vectorises them for its baseline.
 */
#ifndef DENSVEC_CHANGES_H
#define DENSVEC_CHANGES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(_MSC_VER) && !defined(__clang__)
#define restrict __restrict
#endif

static inline float unpacked(uint16_t half) {
    uint32_t bits = (uint32_t)half << 16;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint16_t packed(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? 0x7fc0 : rounded); /* not a number stays so */
}

/* into = table - base */
static void take_change(uint16_t *restrict into, const float *restrict table, const float *restrict base,
                        ptrdiff_t n) {
#pragma omp simd
    for (ptrdiff_t d = 0; d < n; d++) into[d] = packed(table[d] - base[d]);
}

/* base += change; table += change - own */
static void add_change(float *restrict table, float *restrict base, const uint16_t *restrict change,
                       const uint16_t *restrict own, ptrdiff_t n) {
#pragma omp simd
    for (ptrdiff_t d = 0; d < n; d++) {
        float moved = unpacked(change[d]);
        base[d] += moved;
        table[d] += moved - unpacked(own[d]);
    }
}

/* base += change; table = base */
static void settle_change(float *restrict table, float *restrict base, const uint16_t *restrict change,
                          ptrdiff_t n) {
#pragma omp simd
    for (ptrdiff_t d = 0; d < n; d++) table[d] = base[d] += unpacked(change[d]);
}

static void unpack_row(float *restrict into, const uint16_t *restrict row, ptrdiff_t n) {
#pragma omp simd
    for (ptrdiff_t d = 0; d < n; d++) into[d] = unpacked(row[d]);
}

static void pack_row(uint16_t *restrict into, const float *restrict row, ptrdiff_t n) {
#pragma omp simd
    for (ptrdiff_t d = 0; d < n; d++) into[d] = packed(row[d]);
}

/* into = (1 - a.b / 2|a|^2) a + (1 - a.b / 2|b|^2) b; into may be a */
static void adasum_pair(float *into, const float *a, const float *b, ptrdiff_t n) {
    float common = 0, first = 0, second = 0;
#pragma omp simd reduction(+ : common, first, second)
    for (ptrdiff_t d = 0; d < n; d++) {
        common += a[d] * b[d];
        first += a[d] * a[d];
        second += b[d] * b[d];
    }
    /* A row that a rank did not change is orthogonal to everything. */
    float of_a = 1 - common / 2 / (first > 1e-30f ? first : 1e-30f);
    float of_b = 1 - common / 2 / (second > 1e-30f ? second : 1e-30f);
#pragma omp simd
    for (ptrdiff_t d = 0; d < n; d++) into[d] = of_a * a[d] + of_b * b[d];
}

static void scale_row(float *row, float by, ptrdiff_t n) {
#pragma omp simd
    for (ptrdiff_t d = 0; d < n; d++) row[d] *= by;
}

static void add_row(float *restrict into, const uint16_t *restrict row, ptrdiff_t n) {
#pragma omp simd
    for (ptrdiff_t d = 0; d < n; d++) into[d] += unpacked(row[d]);
}

static void count_changed(float *restrict into, const uint16_t *restrict row, ptrdiff_t n) {
#pragma omp simd
    for (ptrdiff_t d = 0; d < n; d++) into[d] += (row[d] & 0x7fff) != 0;
}

/* sum / counts, where more than one has changed */
static void divide_row(float *restrict sum, const float *restrict counts, ptrdiff_t n) {
#pragma omp simd
    for (ptrdiff_t d = 0; d < n; d++) sum[d] /= counts[d] > 1 ? counts[d] : 1;
}

#endif
