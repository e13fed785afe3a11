/* Whole vectors of the instruction set that _vector_loops.h is compiled for, where it must say which
 * registers it uses: `VECTOR` of `WIDTH` numbers, which the operators + - * take as they take single ones.
 *
 * The includer, _vector_loops.h, defines LOOP; _vector.h TARGET and BITS, the bits of a vector: 512, 256, or
 * 0 for the compiler's baseline. Compilers without vector types take single numbers, WIDTH 1.
 */
#undef VECTOR
#undef WIDTH

#if BITS == 512
#define VECTOR __m512
#define WIDTH 16
#elif BITS == 256
#define VECTOR __m256
#define WIDTH 8
#elif defined(__GNUC__) || defined(__clang__)
#define VECTOR LOOP(vector)
#define WIDTH (16 / (int)sizeof(REAL))
typedef REAL VECTOR __attribute__((vector_size(16)));
#if DENSVEC_DOUBLE
typedef int64_t LOOP(bits) __attribute__((vector_size(16)));
#else
typedef int32_t LOOP(bits) __attribute__((vector_size(16)));
#endif
#else
#define VECTOR REAL
#define WIDTH 1
#endif

#define LOAD LOOP(load)
#define STORE LOOP(store)
#define EACH LOOP(each)
#define LOAD_PART LOOP(load_part)
#define STORE_PART LOOP(store_part)
#define WHERE_POSITIVE LOOP(where_positive)
#define BOUNDED LOOP(bounded)
#define ABSOLUTE LOOP(absolute)
#define FIRST_LANES LOOP(first_lanes)
#define FOUR LOOP(four)
#define SUM_FOUR LOOP(sum_four)
#define STORE_FOURS LOOP(store_fours)

INLINE TARGET static VECTOR LOAD(const REAL *from) {
    VECTOR v;
    memcpy(&v, from, sizeof v);
    return v;
}

INLINE TARGET static void STORE(REAL *to, VECTOR v) { memcpy(to, &v, sizeof v); }

/* A vector of the same number. */
INLINE TARGET static VECTOR EACH(REAL x) {
#if BITS == 512
    return _mm512_set1_ps(x);
#elif BITS == 256
    return _mm256_set1_ps(x);
#else
    REAL same[WIDTH];
    for (int d = 0; d < WIDTH; d++) same[d] = x;
    return LOAD(same);
#endif
}

#if BITS
/* The first `count` of eight numbers, and zeros, by the narrowest vector that has them: a masked one that goes on
 * beyond the end of a row waits for the cache line there, which nobody asked for. */
INLINE TARGET static __m256 LOOP(load_eight)(const REAL *from, int count) {
    __m128i four = _mm_loadu_si128((const __m128i *)(PART_MASKS + 8 - (count < 4 ? count : 4)));
    if (count == 4) return _mm256_insertf128_ps(_mm256_setzero_ps(), _mm_loadu_ps(from), 0);
    if (count < 4) return _mm256_insertf128_ps(_mm256_setzero_ps(), _mm_maskload_ps(from, four), 0);
    return _mm256_maskload_ps(from, _mm256_loadu_si256((const __m256i *)(PART_MASKS + 8 - count)));
}

INLINE TARGET static void LOOP(store_eight)(REAL *to, __m256 v, int count) {
    __m128i four = _mm_loadu_si128((const __m128i *)(PART_MASKS + 8 - (count < 4 ? count : 4)));
    if (count == 4)
        _mm_storeu_ps(to, _mm256_castps256_ps128(v));
    else if (count < 4)
        _mm_maskstore_ps(to, four, _mm256_castps256_ps128(v));
    else
        _mm256_maskstore_ps(to, _mm256_loadu_si256((const __m256i *)(PART_MASKS + 8 - count)), v);
}
#endif

/* The first `count` numbers, fewer than WIDTH, and zeros; only they are read or written. */
INLINE TARGET static VECTOR LOAD_PART(const REAL *from, int count) {
#if BITS == 512
    if (count <= 8) return _mm512_insertf32x8(_mm512_setzero_ps(), LOOP(load_eight)(from, count), 0);
    __m256 low = _mm256_loadu_ps(from), high = LOOP(load_eight)(from + 8, count - 8);
    return _mm512_insertf32x8(_mm512_insertf32x8(_mm512_setzero_ps(), low, 0), high, 1);
#elif BITS == 256
    return LOOP(load_eight)(from, count);
#else
    REAL part[WIDTH] = {0};
    for (int d = 0; d < count; d++) part[d] = from[d];
    return LOAD(part);
#endif
}

INLINE TARGET static void STORE_PART(REAL *to, VECTOR v, int count) {
#if BITS == 512
    LOOP(store_eight)(to, _mm512_castps512_ps256(v), count < 8 ? count : 8);
    if (count > 8) LOOP(store_eight)(to + 8, _mm512_extractf32x8_ps(v, 1), count - 8);
#elif BITS == 256
    LOOP(store_eight)(to, v, count);
#else
    REAL part[WIDTH];
    STORE(part, v);
    for (int d = 0; d < count; d++) to[d] = part[d];
#endif
}

/* value where x > 0, and 0 elsewhere */
INLINE TARGET static VECTOR WHERE_POSITIVE(VECTOR x, VECTOR value) {
#if BITS == 512
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_GT_OQ), value);
#elif BITS == 256
    return _mm256_and_ps(_mm256_cmp_ps(x, _mm256_setzero_ps(), _CMP_GT_OQ), value);
#elif defined(__GNUC__) || defined(__clang__)
    return (VECTOR)((LOOP(bits))(x > EACH(0)) & (LOOP(bits))value);
#else
    return x > 0 ? value : 0;
#endif
}

INLINE TARGET static VECTOR ABSOLUTE(VECTOR v) {
    return WHERE_POSITIVE(v, v) - WHERE_POSITIVE(EACH(0) - v, v);
}

/* The numbers themselves, or the bound that they pass. */
INLINE TARGET static VECTOR BOUNDED(VECTOR v, REAL low, REAL high) {
#if BITS == 512
    return _mm512_max_ps(EACH(low), _mm512_min_ps(EACH(high), v));
#elif BITS == 256
    return _mm256_max_ps(EACH(low), _mm256_min_ps(EACH(high), v));
#else
    REAL lanes[WIDTH];
    STORE(lanes, v);
    for (int d = 0; d < WIDTH; d++) lanes[d] = lanes[d] > high ? high : lanes[d] < low ? low : lanes[d];
    return LOAD(lanes);
#endif
}

/* The first `count` lanes, and zeros. */
INLINE TARGET static VECTOR FIRST_LANES(VECTOR v, int count) {
#if BITS == 512
    return _mm512_maskz_mov_ps((__mmask16)((1u << count) - 1), v);
#elif BITS == 256
    return _mm256_and_ps(v, _mm256_loadu_ps((const float *)(PART_MASKS + 8 - count)));
#else
    REAL lanes[WIDTH];
    STORE(lanes, v);
    for (int d = count; d < WIDTH; d++) lanes[d] = 0;
    return LOAD(lanes);
#endif
}

#if BITS
typedef __m128 FOUR;
#else
typedef struct {
    REAL numbers[4];
} FOUR;
#endif

/* The sums of the lanes of each of four vectors. */
INLINE TARGET static FOUR SUM_FOUR(const VECTOR *v) {
#if BITS == 512
    __m256 half[4];
    for (int k = 0; k < 4; k++)
        half[k] = _mm256_add_ps(_mm512_castps512_ps256(v[k]), _mm512_extractf32x8_ps(v[k], 1));
#elif BITS == 256
    const __m256 *half = v;
#endif
#if BITS
    __m256 pairs = _mm256_hadd_ps(_mm256_hadd_ps(half[0], half[1]), _mm256_hadd_ps(half[2], half[3]));
    return _mm_add_ps(_mm256_castps256_ps128(pairs), _mm256_extractf128_ps(pairs, 1));
#else
    FOUR sums;
    for (int k = 0; k < 4; k++) {
        REAL lanes[WIDTH], sum = 0;
        STORE(lanes, v[k]);
        for (int d = 0; d < WIDTH; d++) sum += lanes[d];
        sums.numbers[k] = sum;
    }
    return sums;
#endif
}

/* LANES numbers, in whole vectors: what is read as such would wait for smaller stores to reach the cache. */
INLINE TARGET static void STORE_FOURS(REAL *to, const FOUR *fours) {
#if BITS == 512
    __m512 low = _mm512_insertf32x4(_mm512_castps128_ps512(fours[0]), fours[1], 1);
    STORE(to, _mm512_insertf32x4(_mm512_insertf32x4(low, fours[2], 2), fours[3], 3));
#elif BITS == 256
    STORE(to, _mm256_insertf128_ps(_mm256_castps128_ps256(fours[0]), fours[1], 1));
    STORE(to + 8, _mm256_insertf128_ps(_mm256_castps128_ps256(fours[2]), fours[3], 1));
#else
    memcpy(to, fours, LANES * sizeof(REAL));
#endif
}
