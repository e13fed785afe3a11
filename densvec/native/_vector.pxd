"""The vector loops of _vector.h, as Cython calls them: ``loops.dot(a, b, n)``."""

cdef extern from "_vector.h" nogil:
    ctypedef float REAL          # double where the module is compiled with DENSVEC_DOUBLE

    enum:
        LANES

    ctypedef struct Descent:
        REAL mean_rate
        REAL damping
        REAL log_variance_rate
        REAL longest_step
        REAL low
        REAL high

    ctypedef struct Adam:
        REAL first_weight
        REAL second_weight
        REAL rate
        REAL epsilon

    ctypedef struct Product:
        size_t c_row
        size_t a_row
        size_t a_column
        size_t b_row
        int inner
        const REAL* start
        size_t start_row

    ctypedef struct Loops:
        int bits
        REAL (*dot)(const REAL* a, const REAL* b, int n) noexcept nogil
        void (*dots)(REAL* scores, REAL* const* rows, const REAL* x, int count, int n) noexcept nogil
        void (*distances)(REAL* distances, REAL* const* rows, const REAL* x, int count, REAL* const* ahead,
                          int coming, int n, bint whole) noexcept nogil
        void (*squares)(REAL* out, const REAL* a, const REAL* b, int n) noexcept nogil
        void (*add_scaled)(REAL* y, REAL scale, const REAL* x, int n) noexcept nogil
        void (*exponential)(REAL* out, const REAL* x, int n) noexcept nogil
        void (*narrow)(REAL* narrowing, REAL* slopes, REAL* logs, REAL most, int n) noexcept nogil
        void (*precisions)(REAL* out, const REAL* log_variance, int n) noexcept nogil
        void (*product)(REAL* c, const REAL* a, const REAL* b, int m, int n, const Product* by) noexcept nogil
        void (*transpose)(REAL* into, size_t into_row, const REAL* matrix, size_t matrix_row, int rows,
                          int columns) noexcept nogil
        REAL (*hinge)(REAL* pulls, REAL* pushes, const REAL* positives, const REAL* negatives,
                      const REAL* weights, REAL margin, int count, int n, bint whole) noexcept nogil
        void (*relu_sum)(REAL* hidden, const REAL* contexts, const REAL* centre, const int* slots,
                         const REAL* weights, int count, int skip, int stride, int n) noexcept nogil
        void (*relu_sum_back)(REAL* d_contexts, REAL* d_centre, const REAL* contexts, const REAL* centre,
                              const REAL* d_hidden, const int* slots, const REAL* weights, int count,
                              int skip, int stride, int n) noexcept nogil
        void (*pull)(REAL* into, REAL* d_mean, const REAL* row, const REAL* mean, REAL gain, REAL step,
                     int n) noexcept nogil
        void (*pull_rows)(REAL* const* into, REAL* d_mean, REAL* const* rows, const REAL* mean,
                          const REAL* gains, const REAL* steps, const int* which, int count, int n,
                          bint whole) noexcept nogil
        void (*pull_each)(REAL* into, REAL* d_mean, REAL* curvature, const REAL* row, const REAL* mean,
                          const REAL* gain, const Descent* rule, int n) noexcept nogil
        void (*plan_moves)(REAL* sums, REAL* gains, REAL* steps, REAL* moves, const REAL* shares,
                           const REAL* precisions, const REAL* distances, REAL variance,
                           const Descent* rule, REAL size, int count) noexcept nogil
        void (*cover_spherical)(REAL* sums, REAL* moves, const REAL* log_variances, const REAL* precisions,
                                const REAL* distances, REAL variance, REAL expected, REAL typical,
                                REAL shrink, const Descent* rule, REAL size, int count) noexcept nogil
        void (*score_spherical)(REAL* scores, REAL* precisions, const REAL* distances,
                                const REAL* log_variances, REAL variance, REAL size, int count) noexcept nogil
        REAL (*score_diagonal)(const REAL* row, const REAL* log_variance, const REAL* precision,
                               const REAL* mean, const REAL* variance, int n) noexcept nogil
        void (*pull_diagonal)(REAL* into, REAL* into_log_variance, REAL* d_mean, REAL* d_log_variance,
                              const REAL* row, const REAL* precision, const REAL* mean,
                              const REAL* variance, REAL weight, const Descent* rule, int n) noexcept nogil
        void (*cover_diagonal)(REAL* sums, REAL* log_variance, const REAL* row, const REAL* precision,
                               const REAL* mean, const REAL* variance, REAL expected, REAL typical,
                               REAL shrink, const Descent* rule, int n) noexcept nogil
        void (*adam)(REAL* weights, REAL* first, REAL* second, const REAL* gradient, REAL scale,
                     const Adam* rule, int n) noexcept nogil
        void (*exchange)(REAL* const* into, REAL* change, REAL* const* rows, const REAL* gains,
                         const REAL* x, int count, int n) noexcept nogil
        REAL (*costs)(REAL* costs, const REAL* squares, const REAL* log_variance_a, const REAL* variance_a,
                      const REAL* log_variance_b, const REAL* variance_b, int likelihood,
                      int n) noexcept nogil
        void (*slopes)(REAL* gain, REAL* d_a, REAL* d_b, const REAL* squares, const REAL* variance_a,
                       const REAL* variance_b, REAL weight, int likelihood, int n) noexcept nogil
        void (*descend)(REAL* log_variance, const REAL* slope, REAL rate, const Descent* rule,
                        int n) noexcept nogil

    ctypedef void (*RoundedProduct)(REAL* c, const REAL* a, const REAL* b, int m, int n, const Product* by,
                                    unsigned int* left, unsigned int* right) noexcept nogil

    RoundedProduct rounded_product()
    const char* best_instruction_set()
    const Loops* loops_of(const char* instruction_set)
    void prefetch_row(const void* row, size_t bytes)
