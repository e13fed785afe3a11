/* Vector loops on rows of numbers, chosen at run time for the processor that runs them.
 *
 * A module's numbers are float, or double if it is compiled with DENSVEC_DOUBLE: training uses float, the
 * check of its gradients double. A wheel is built for everyone: the compiler's baseline (SSE2 on x86-64)
 * everywhere, and also AVX2 and AVX-512 where GCC or Clang compile for x86-64. Other compilers and processors
 * take the plain loops, which vectorise for their own baseline.
 *
 * A loop is defined once, in _vector_loops.h or a file that this includes. setup.py finds the definitions, and writes
 * the list of them, _loops.h, and what Cython is to know of it, _loops.pxd.
 */
#ifndef DENSVEC_VECTOR_H
#define DENSVEC_VECTOR_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#include <immintrin.h>
#endif

#if defined(_MSC_VER) && !defined(__clang__)
#define restrict __restrict
#define PREFETCH(address) ((void)(address))
#define INLINE __forceinline
#else
#define PREFETCH(address) __builtin_prefetch(address, 0, 2)
#define INLINE __attribute__((always_inline)) inline
#endif

#ifndef DENSVEC_DOUBLE
#define DENSVEC_DOUBLE 0
#endif

#if DENSVEC_DOUBLE
typedef double REAL;
#define SQUARE_ROOT sqrt
#else
typedef float REAL;
#define SQUARE_ROOT sqrtf
#endif

enum { LANES = 16 };                     /* numbers in the widest vector, of floats */
static const REAL ZEROS[LANES] = {0};
/* Zeros, then numbers beyond all that is compared. */
#define FAR ((REAL)INFINITY)
static const REAL BEYOND[2 * LANES] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, FAR, FAR, FAR, FAR, FAR, FAR, FAR, FAR,
    FAR, FAR, FAR, FAR, FAR, FAR, FAR, FAR};
static const REAL LARGEST_EXPONENT = 80; /* of `exponential`: well within the range of a float */

/* Ask for the cache lines of a row that will be needed soon. */
static inline void prefetch_row(const void *row, size_t bytes) {
    for (size_t offset = 0; offset < bytes; offset += 64) PREFETCH((const char *)row + offset);
}

/* How rows move down a slope. The same code sums gradients: into other arrays, at rates below 0, with no
 * damping and no limits. */
typedef struct {
    REAL mean_rate;
    REAL damping; /* a mean's rate is divided by 1 + damping * curvature (implicit step); 0: it is not */
    REAL log_variance_rate;
    REAL longest_step; /* of a log-variance at once */
    REAL low;          /* bounds of the log-variances */
    REAL high;
} Descent;

/* One step of Adam: what its moving averages give to the newest gradient, and the rate with its bias
 * corrections. */
typedef struct {
    REAL first_weight;
    REAL second_weight;
    REAL rate;
    REAL epsilon;
} Adam;

/* A product of two matrices: how far apart in memory their rows are, and the left one's columns. */
typedef struct {
    size_t c_row;
    size_t a_row;
    size_t a_column; /* 1; with a_row 1 and this its row, the left one is transposed */
    size_t b_row;
    int inner;         /* columns of the left one, rows of the right one */
    const REAL *start; /* what the product is added to, unless NULL */
    size_t start_row;  /* 0: the same row for all */
} Product;

#include "_loops.h" /* FOR_EACH_LOOP */

#define MEMBER(RESULT, name, arguments) RESULT(*name) arguments;
typedef struct {
    FOR_EACH_LOOP(MEMBER)
    int bits; /* of the vectors that `product` was written for; 0: none, and BLAS is faster */
} Loops;
#undef MEMBER

#define TARGET
#define SUFFIX plain
#define BITS 0
#include "_vector_loops.h"
#undef BITS
#undef SUFFIX
#undef TARGET

/* The check of gradients has time: doubles take the plain loops. */
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__)) && !DENSVEC_DOUBLE
#define DISPATCH 1

/* Eight lanes that are taken, then eight that are not. */
static const int32_t PART_MASKS[16] = {-1, -1, -1, -1, -1, -1, -1, -1};

#define TARGET __attribute__((target("avx2,fma")))
#define SUFFIX avx2
#define BITS 256
#include "_vector_loops.h"
#undef BITS
#undef SUFFIX
#undef TARGET

#define AVX512 "avx512f,avx512vl,avx512dq,avx512bw,fma"
#if defined(__clang__)
#define TARGET __attribute__((target(AVX512), min_vector_width(512)))
#else
#define TARGET __attribute__((target(AVX512 ",prefer-vector-width=512")))
#endif
#if defined(__clang__) && __clang_major__ >= 9
#define BFLOAT16_TARGET __attribute__((target(AVX512 ",avx512bf16"), min_vector_width(512)))
#elif !defined(__clang__) && __GNUC__ >= 11
#define BFLOAT16_TARGET __attribute__((target(AVX512 ",avx512bf16,prefer-vector-width=512")))
#endif
#define SUFFIX avx512
#define BITS 512
#include "_vector_loops.h"
#undef BITS
#undef SUFFIX
#undef TARGET

#else
#define DISPATCH 0
#endif

/* The best instruction set of this processor that the loops are compiled for. */
static inline const char *best_instruction_set(void) {
#if DISPATCH
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
        return "avx512";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "avx2";
#endif
    return "plain";
}

/* A product of rounded numbers: see _vector_bfloat16.h. */
typedef void (*RoundedProduct)(REAL *c, const REAL *a, const REAL *b, int m, int n, const Product *by, uint32_t *left,
                               uint32_t *right);

/* The one of this processor, or NULL. */
static inline RoundedProduct rounded_product(void) {
#if DISPATCH && defined(BFLOAT16_TARGET)
    if (!strcmp(best_instruction_set(), "avx512") && __builtin_cpu_supports("avx512bf16"))
        return rounded_product_avx512;
#endif
    return NULL;
}

/* The loops for an instruction set that best_instruction_set() allows. */
static inline const Loops *loops_of(const char *instruction_set) {
#if DISPATCH
    if (!strcmp(instruction_set, "avx512")) return &loops_avx512;
    if (!strcmp(instruction_set, "avx2")) return &loops_avx2;
#else
    (void)instruction_set;
#endif
    return &loops_plain;
}

#endif
