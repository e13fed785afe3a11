/* Vector loops for float and double, chosen at run time for the processor at hand.
 *
 * A wheel is built for everyone: the compiler's baseline (SSE2 on x86-64) everywhere, AVX2 and AVX-512 besides where GCC or
 * Clang compile for x86-64. Other compilers and processors take the plain loops, which vectorise for their own baseline.
 */
#ifndef DENSVEC_VECTOR_H
#define DENSVEC_VECTOR_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(_MSC_VER) && !defined(__clang__)
#define restrict __restrict
#define PREFETCH(address) ((void)(address))
#define INLINE __forceinline
#else
#define PREFETCH(address) __builtin_prefetch(address)
#define INLINE __attribute__((always_inline)) inline
#endif

#define DECLARE_LOOPS(REAL, NAME)                                                                                          \
    typedef struct {                                                                                                       \
        REAL (*dot)(const REAL *, const REAL *, int);                                                                      \
        void (*add_scaled)(REAL *, REAL, const REAL *, int);                                                               \
        void (*relu_sum)(REAL *, const REAL *, const REAL *, const int *, int, int, int, int);                             \
        void (*relu_sum_back)(REAL *, REAL *, const REAL *, const REAL *, const REAL *, const int *, int, int, int, int);  \
        void (*pull)(REAL *, REAL *, const REAL *, REAL, REAL, int);                                                       \
        void (*pull_rows)(REAL *const *, REAL *, const REAL *, const REAL *, const REAL *, int, int);                      \
        void (*plan_moves)(REAL *, REAL *, REAL *, const REAL *, const REAL *, const REAL *, REAL, REAL, REAL, REAL, int); \
        void (*pull_gradient)(REAL *, REAL *, const REAL *, const REAL *, REAL, int);                                      \
        void (*exponential)(REAL *, const REAL *, int);                                                                    \
        void (*precisions)(REAL *, const REAL *, int);                                                                     \
        REAL (*score_diagonal)(const REAL *, const REAL *, const REAL *, const REAL *, const REAL *, int);                 \
        void (*pull_diagonal)(REAL *, REAL *, REAL *, REAL *, const REAL *, const REAL *, const REAL *, REAL, REAL, REAL,  \
                              REAL, int);                                                                                  \
        void (*cover_diagonal)(REAL *, REAL *, const REAL *, const REAL *, const REAL *, const REAL *, const REAL *, REAL, \
                               REAL, REAL, int);                                                                           \
        void (*pull_diagonal_gradient)(REAL *, REAL *, REAL *, REAL *, const REAL *, const REAL *, const REAL *,           \
                                       const REAL *, REAL, int);                                                           \
        REAL (*contrast)(REAL *, REAL *, const REAL *, const REAL *, const REAL *, REAL, int, int);                        \
        void (*adam)(REAL *, REAL *, REAL *, const REAL *, REAL, REAL, REAL, int);                                         \
        void (*dots)(REAL *, REAL *const *, const REAL *, int, int);                                                       \
        void (*distances)(REAL *, REAL *const *, const REAL *, int, int);                                                  \
        void (*exchange)(REAL *const *, REAL *, const REAL *, const REAL *, int, int);                                     \
        void (*squares)(REAL *, const REAL *, const REAL *, int);                                                          \
        REAL (*energies)(REAL *, const REAL *, const REAL *, const REAL *, const REAL *, const REAL *, int, int);          \
        void (*slopes)(REAL *, REAL *, REAL *, const REAL *, const REAL *, const REAL *, REAL, int, int);                  \
        void (*pull_each)(REAL *, REAL *, REAL *, const REAL *, const REAL *, REAL, int);                                  \
        void (*pull_each_gradient)(REAL *, REAL *, const REAL *, const REAL *, const REAL *, int);                         \
        void (*descend)(REAL *, const REAL *, REAL, REAL, REAL, int);                                                      \
    } NAME

DECLARE_LOOPS(float, Loops_float);
DECLARE_LOOPS(double, Loops_double);

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define DISPATCH 1
#else
#define DISPATCH 0
#endif

#define REAL float
#define REAL_NAME float
#define SQUARE_ROOT sqrtf
#define EXACT_EXP 0
#define SUFFIX float_plain
#define TARGET
#include "_vector_loops.h"
#undef SUFFIX
#undef TARGET
#if DISPATCH
#define SUFFIX float_avx2
#define TARGET __attribute__((target("avx2,fma")))
#include "_vector_loops.h"
#undef SUFFIX
#undef TARGET
#define SUFFIX float_avx512
#if defined(__clang__)
#define TARGET __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,fma"), min_vector_width(512)))
#else
#define TARGET __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,fma,prefer-vector-width=512")))
#endif
#include "_vector_loops.h"
#undef SUFFIX
#undef TARGET
#endif
#undef REAL
#undef REAL_NAME
#undef SQUARE_ROOT
#undef EXACT_EXP

/* double only checks gradients: the plain loops do. */
#define REAL double
#define REAL_NAME double
#define SQUARE_ROOT sqrt
#define EXACT_EXP 1
#define SUFFIX double_plain
#define TARGET
#include "_vector_loops.h"
#undef SUFFIX
#undef TARGET
#undef REAL
#undef REAL_NAME
#undef SQUARE_ROOT
#undef EXACT_EXP

/* The best instruction set of this processor. */
static inline const char *best_instruction_set(void) {
#if DISPATCH
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw"))
        return "avx512";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "avx2";
#endif
    return "plain";
}

/* The float loops for an instruction set that best_instruction_set() allows. */
static inline const Loops_float *float_loops_for(const char *instruction_set) {
#if DISPATCH
    if (!strcmp(instruction_set, "avx512")) return &loops_float_avx512;
    if (!strcmp(instruction_set, "avx2")) return &loops_float_avx2;
#endif
    return &loops_float_plain;
}

/* Ask for the cache lines of a row that will be needed soon. */
static inline void prefetch_row(const void *row, size_t bytes) {
    for (size_t offset = 0; offset < bytes; offset += 64) PREFETCH((const char *)row + offset);
}

static inline const Loops_double *double_loops(void) { return &loops_double_plain; }

#endif
