"""The loops of _vector.h for both number types: `loops` is a Loops_float or a Loops_double, as the arrays are."""

from cython cimport floating

cdef extern from "_vector.h" nogil:
    ctypedef struct Loops_float:
        float (*dot)(const float*, const float*, int) noexcept nogil
        void (*add_scaled)(float*, float, const float*, int) noexcept nogil
        void (*relu_sum)(float*, const float*, const float*, const int*, int, int, int, int) noexcept nogil
        void (*relu_sum_back)(float*, float*, const float*, const float*, const float*, const int*, int, int, int, int) noexcept nogil
        void (*pull)(float*, float*, const float*, float, float, int) noexcept nogil
        void (*pull_rows)(float* const*, float*, const float*, const float*, const float*, int, int) noexcept nogil
        void (*plan_moves)(float*, float*, float*, const float*, const float*, const float*, float, float, float, float, int) noexcept nogil
        void (*pull_gradient)(float*, float*, const float*, const float*, float, int) noexcept nogil
        void (*exponential)(float*, const float*, int) noexcept nogil
        void (*precisions)(float*, const float*, int) noexcept nogil
        float (*score_diagonal)(const float*, const float*, const float*, const float*, const float*, int) noexcept nogil
        void (*pull_diagonal)(float*, float*, float*, float*, const float*, const float*, const float*, float, float, float, float, int) noexcept nogil
        void (*cover_diagonal)(float*, float*, const float*, const float*, const float*, const float*, const float*, float, float, float, int) noexcept nogil
        void (*pull_diagonal_gradient)(float*, float*, float*, float*, const float*, const float*, const float*, const float*, float, int) noexcept nogil
        float (*contrast)(float*, float*, const float*, const float*, const float*, float, int, int) noexcept nogil
        void (*adam)(float*, float*, float*, const float*, float, float, float, int) noexcept nogil
        void (*dots)(float*, float* const*, const float*, int, int) noexcept nogil
        void (*distances)(float*, float* const*, const float*, int, int) noexcept nogil
        void (*exchange)(float* const*, float*, const float*, const float*, int, int) noexcept nogil
        void (*squares)(float*, const float*, const float*, int) noexcept nogil
        float (*energies)(float*, const float*, const float*, const float*, const float*, const float*, int, int) noexcept nogil
        void (*slopes)(float*, float*, float*, const float*, const float*, const float*, float, int, int) noexcept nogil
        void (*pull_each)(float*, float*, float*, const float*, const float*, float, int) noexcept nogil
        void (*pull_each_gradient)(float*, float*, const float*, const float*, const float*, int) noexcept nogil
        void (*descend)(float*, const float*, float, float, float, int) noexcept nogil

    ctypedef struct Loops_double:
        double (*dot)(const double*, const double*, int) noexcept nogil
        void (*add_scaled)(double*, double, const double*, int) noexcept nogil
        void (*relu_sum)(double*, const double*, const double*, const int*, int, int, int, int) noexcept nogil
        void (*relu_sum_back)(double*, double*, const double*, const double*, const double*, const int*, int, int, int, int) noexcept nogil
        void (*pull)(double*, double*, const double*, double, double, int) noexcept nogil
        void (*pull_rows)(double* const*, double*, const double*, const double*, const double*, int, int) noexcept nogil
        void (*plan_moves)(double*, double*, double*, const double*, const double*, const double*, double, double, double, double, int) noexcept nogil
        void (*pull_gradient)(double*, double*, const double*, const double*, double, int) noexcept nogil
        void (*exponential)(double*, const double*, int) noexcept nogil
        void (*precisions)(double*, const double*, int) noexcept nogil
        double (*score_diagonal)(const double*, const double*, const double*, const double*, const double*, int) noexcept nogil
        void (*pull_diagonal)(double*, double*, double*, double*, const double*, const double*, const double*, double, double, double, double, int) noexcept nogil
        void (*cover_diagonal)(double*, double*, const double*, const double*, const double*, const double*, const double*, double, double, double, int) noexcept nogil
        void (*pull_diagonal_gradient)(double*, double*, double*, double*, const double*, const double*, const double*, const double*, double, int) noexcept nogil
        double (*contrast)(double*, double*, const double*, const double*, const double*, double, int, int) noexcept nogil
        void (*adam)(double*, double*, double*, const double*, double, double, double, int) noexcept nogil
        void (*dots)(double*, double* const*, const double*, int, int) noexcept nogil
        void (*distances)(double*, double* const*, const double*, int, int) noexcept nogil
        void (*exchange)(double* const*, double*, const double*, const double*, int, int) noexcept nogil
        void (*squares)(double*, const double*, const double*, int) noexcept nogil
        double (*energies)(double*, const double*, const double*, const double*, const double*, const double*, int, int) noexcept nogil
        void (*slopes)(double*, double*, double*, const double*, const double*, const double*, double, int, int) noexcept nogil
        void (*pull_each)(double*, double*, double*, const double*, const double*, double, int) noexcept nogil
        void (*pull_each_gradient)(double*, double*, const double*, const double*, const double*, int) noexcept nogil
        void (*descend)(double*, const double*, double, double, double, int) noexcept nogil

    const char* best_instruction_set()
    const Loops_float* float_loops_for(const char* instruction_set)
    const Loops_double* double_loops()
    void prefetch_row(const void* row, size_t bytes)


cdef inline floating dot(const void* loops, const floating* a, const floating* b, int n) noexcept nogil:
    if floating is float:
        return (<const Loops_float*> loops).dot(a, b, n)
    else:
        return (<const Loops_double*> loops).dot(a, b, n)


cdef inline void add_scaled(const void* loops, floating* y, floating scale, const floating* x, int n) noexcept nogil:
    if floating is float:
        (<const Loops_float*> loops).add_scaled(y, scale, x, n)
    else:
        (<const Loops_double*> loops).add_scaled(y, scale, x, n)


cdef inline void relu_sum(const void* loops, floating* hidden, const floating* contexts, const floating* centre,
                          const int* slots, int count, int skip, int stride, int n) noexcept nogil:
    if floating is float:
        (<const Loops_float*> loops).relu_sum(hidden, contexts, centre, slots, count, skip, stride, n)
    else:
        (<const Loops_double*> loops).relu_sum(hidden, contexts, centre, slots, count, skip, stride, n)


cdef inline void relu_sum_back(const void* loops, floating* d_contexts, floating* d_centre, const floating* contexts,
                               const floating* centre, const floating* d_hidden, const int* slots, int count, int skip,
                               int stride, int n) noexcept nogil:
    if floating is float:
        (<const Loops_float*> loops).relu_sum_back(d_contexts, d_centre, contexts, centre, d_hidden, slots, count, skip,
                                                stride, n)
    else:
        (<const Loops_double*> loops).relu_sum_back(d_contexts, d_centre, contexts, centre, d_hidden, slots, count, skip,
                                                 stride, n)


cdef inline void pull(const void* loops, floating* row, floating* d_mean, const floating* mean, floating gain,
                      floating step, int n) noexcept nogil:
    if floating is float:
        (<const Loops_float*> loops).pull(row, d_mean, mean, gain, step, n)
    else:
        (<const Loops_double*> loops).pull(row, d_mean, mean, gain, step, n)


cdef inline void pull_rows(const void* loops, floating** rows, floating* d_mean, const floating* mean,
                           const floating* gains, const floating* steps, int count, int n) noexcept nogil:
    if floating is float:
        (<const Loops_float*> loops).pull_rows(rows, d_mean, mean, gains, steps, count, n)
    else:
        (<const Loops_double*> loops).pull_rows(rows, d_mean, mean, gains, steps, count, n)


cdef inline void plan_moves(const void* loops, floating* gains, floating* steps, floating* moves, const floating* shares,
                            const floating* precisions, const floating* distances, floating variance, floating mean_rate,
                            floating log_variance_rate, floating size, int count) noexcept nogil:
    if floating is float:
        (<const Loops_float*> loops).plan_moves(gains, steps, moves, shares, precisions, distances, variance, mean_rate,
                                                log_variance_rate, size, count)
    else:
        (<const Loops_double*> loops).plan_moves(gains, steps, moves, shares, precisions, distances, variance, mean_rate,
                                                 log_variance_rate, size, count)


cdef inline void pull_gradient(const void* loops, floating* d_row, floating* d_mean, const floating* row,
                               const floating* mean, floating gain, int n) noexcept nogil:
    if floating is float:
        (<const Loops_float*> loops).pull_gradient(d_row, d_mean, row, mean, gain, n)
    else:
        (<const Loops_double*> loops).pull_gradient(d_row, d_mean, row, mean, gain, n)


cdef inline void exponential(const void* loops, floating* out, const floating* x, int n) noexcept nogil:
    if floating is float:
        (<const Loops_float*> loops).exponential(out, x, n)
    else:
        (<const Loops_double*> loops).exponential(out, x, n)


cdef inline void precisions(const void* loops, floating* out, const floating* log_variance, int n) noexcept nogil:
    if floating is float:
        (<const Loops_float*> loops).precisions(out, log_variance, n)
    else:
        (<const Loops_double*> loops).precisions(out, log_variance, n)


cdef inline floating score_diagonal(const void* loops, const floating* row, const floating* log_variance,
                                    const floating* precision, const floating* mean, const floating* variance,
                                    int n) noexcept nogil:
    if floating is float:
        return (<const Loops_float*> loops).score_diagonal(row, log_variance, precision, mean, variance, n)
    else:
        return (<const Loops_double*> loops).score_diagonal(row, log_variance, precision, mean, variance, n)


cdef inline void pull_diagonal(const void* loops, floating* row, floating* log_variance, floating* d_mean,
                               floating* d_log_variance, const floating* precision, const floating* mean,
                               const floating* variance, floating weight, floating mean_rate,
                               floating log_variance_rate, floating bound, int n) noexcept nogil:
    if floating is float:
        (<const Loops_float*> loops).pull_diagonal(row, log_variance, d_mean, d_log_variance, precision, mean, variance,
                                                   weight, mean_rate, log_variance_rate, bound, n)
    else:
        (<const Loops_double*> loops).pull_diagonal(row, log_variance, d_mean, d_log_variance, precision, mean, variance,
                                                    weight, mean_rate, log_variance_rate, bound, n)


cdef inline void cover_diagonal(const void* loops, floating* sums, floating* log_variance, const floating* row,
                                const floating* precision, const floating* mean, const floating* variance,
                                const floating* typical, floating rate, floating shrink, floating bound,
                                int n) noexcept nogil:
    if floating is float:
        (<const Loops_float*> loops).cover_diagonal(sums, log_variance, row, precision, mean, variance, typical, rate, shrink,
                                                    bound, n)
    else:
        (<const Loops_double*> loops).cover_diagonal(sums, log_variance, row, precision, mean, variance, typical, rate, shrink,
                                                     bound, n)


cdef inline void pull_diagonal_gradient(const void* loops, floating* d_row, floating* d_row_log_variance,
                                        floating* d_mean, floating* d_log_variance, const floating* row,
                                        const floating* precision, const floating* mean, const floating* variance,
                                        floating weight, int n) noexcept nogil:
    if floating is float:
        (<const Loops_float*> loops).pull_diagonal_gradient(d_row, d_row_log_variance, d_mean, d_log_variance, row,
                                                            precision, mean, variance, weight, n)
    else:
        (<const Loops_double*> loops).pull_diagonal_gradient(d_row, d_row_log_variance, d_mean, d_log_variance, row,
                                                             precision, mean, variance, weight, n)


cdef inline floating contrast(const void* loops, floating* pulls, floating* pushes, const floating* positives,
                              const floating* negatives, const floating* weights, floating margin, int count,
                              int n) noexcept nogil:
    if floating is float:
        return (<const Loops_float*> loops).contrast(pulls, pushes, positives, negatives, weights, margin, count, n)
    else:
        return (<const Loops_double*> loops).contrast(pulls, pushes, positives, negatives, weights, margin, count, n)


cdef inline void adam(const void* loops, floating* weights, floating* first, floating* second, const floating* gradient,
                      floating scale, floating rate, floating epsilon, int n) noexcept nogil:
    if floating is float:
        (<const Loops_float*> loops).adam(weights, first, second, gradient, scale, rate, epsilon, n)
    else:
        (<const Loops_double*> loops).adam(weights, first, second, gradient, scale, rate, epsilon, n)


cdef inline void dots(const void* loops, floating* scores, floating** rows, const floating* x, int count, int n) noexcept nogil:
    if floating is float:
        (<const Loops_float*> loops).dots(scores, rows, x, count, n)
    else:
        (<const Loops_double*> loops).dots(scores, rows, x, count, n)


cdef inline void distances(const void* loops, floating* sums, floating** rows, const floating* x, int count,
                           int n) noexcept nogil:
    if floating is float:
        (<const Loops_float*> loops).distances(sums, rows, x, count, n)
    else:
        (<const Loops_double*> loops).distances(sums, rows, x, count, n)


cdef inline void exchange(const void* loops, floating** rows, floating* change, const floating* gains, const floating* x,
                          int count, int n) noexcept nogil:
    if floating is float:
        (<const Loops_float*> loops).exchange(rows, change, gains, x, count, n)
    else:
        (<const Loops_double*> loops).exchange(rows, change, gains, x, count, n)


cdef inline void squares(const void* loops, floating* out, const floating* a, const floating* b, int n) noexcept nogil:
    if floating is float:
        (<const Loops_float*> loops).squares(out, a, b, n)
    else:
        (<const Loops_double*> loops).squares(out, a, b, n)


cdef inline floating energies(const void* loops, floating* costs, const floating* squares, const floating* log_variance_a,
                              const floating* variance_a, const floating* log_variance_b, const floating* variance_b,
                              int likelihood, int n) noexcept nogil:
    if floating is float:
        return (<const Loops_float*> loops).energies(costs, squares, log_variance_a, variance_a, log_variance_b, variance_b,
                                                   likelihood, n)
    else:
        return (<const Loops_double*> loops).energies(costs, squares, log_variance_a, variance_a, log_variance_b, variance_b,
                                                   likelihood, n)


cdef inline void slopes(const void* loops, floating* gain, floating* d_a, floating* d_b, const floating* squares,
                        const floating* variance_a, const floating* variance_b, floating weight, int likelihood,
                        int n) noexcept nogil:
    if floating is float:
        (<const Loops_float*> loops).slopes(gain, d_a, d_b, squares, variance_a, variance_b, weight, likelihood, n)
    else:
        (<const Loops_double*> loops).slopes(gain, d_a, d_b, squares, variance_a, variance_b, weight, likelihood, n)


cdef inline void pull_each(const void* loops, floating* row, floating* d_mean, floating* curvature, const floating* mean,
                           const floating* gain, floating rate, int n) noexcept nogil:
    if floating is float:
        (<const Loops_float*> loops).pull_each(row, d_mean, curvature, mean, gain, rate, n)
    else:
        (<const Loops_double*> loops).pull_each(row, d_mean, curvature, mean, gain, rate, n)


cdef inline void pull_each_gradient(const void* loops, floating* d_row, floating* d_mean, const floating* row,
                                    const floating* mean, const floating* gain, int n) noexcept nogil:
    if floating is float:
        (<const Loops_float*> loops).pull_each_gradient(d_row, d_mean, row, mean, gain, n)
    else:
        (<const Loops_double*> loops).pull_each_gradient(d_row, d_mean, row, mean, gain, n)


cdef inline void descend(const void* loops, floating* x, const floating* slope, floating rate, floating low, floating high,
                         int n) noexcept nogil:
    if floating is float:
        (<const Loops_float*> loops).descend(x, slope, rate, low, high, n)
    else:
        (<const Loops_double*> loops).descend(x, slope, rate, low, high, n)
