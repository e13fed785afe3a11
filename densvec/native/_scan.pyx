"""One diagonal density against all rows of a table, in one pass: no array as large as the table is made."""

from libc.limits cimport INT_MAX
from libc.math cimport INFINITY, fabs, log
from libc.stdlib cimport free, malloc

from densvec.native._vector cimport REAL, best_instruction_set, loops_of

cdef enum:
    STRETCH = 32  # dimensions after which a row that is too far away is left


def kl_scores(const REAL[::1] mean, const REAL[::1] variance, const REAL[:, ::1] means,
              const REAL[:, ::1] log_variances, REAL[::1] scores,  # OUT: scores
              double limit=INFINITY):
    """Set each row's score to KL[q ‖ row] but for what is q's alone.

    That is 1/2 sum((v_q + (mean_q - mean)^2) / v + log v), in which a dimension adds at least 1/2 (1 + log v_q),
    whatever the row. So a row is left, with the score infinity, as soon as that is enough to bring it above `limit`.
    Holds no GIL: threads may score different rows at once.
    """
    cdef Py_ssize_t rows = means.shape[0], size = means.shape[1], i, d
    if not rows or not size:
        scores[:] = 0
        return
    if (mean.shape[0] != size or variance.shape[0] != size
            or log_variances.shape[0] != rows or log_variances.shape[1] != size):
        raise ValueError("the arrays do not fit each other: (D,), (D,), (V, D), (V, D)")
    if size > INT_MAX:
        raise ValueError(f"{size} dimensions are too many: the loops count up to {INT_MAX}")
    if scores.shape[0] != rows:
        raise ValueError(f"{rows} rows need as many scores, not {scores.shape[0]}")
    loops = loops_of(best_instruction_set())
    cdef int stretch = <int> min(size, STRETCH if limit < INFINITY else size), count
    cdef REAL* precision = <REAL*> malloc(stretch * sizeof(REAL))
    cdef double* least = <double*> malloc((size + 1) * sizeof(double))  # that the dimensions from d on add
    cdef double score
    if precision == NULL or least == NULL:
        free(precision)
        free(least)
        raise MemoryError
    with nogil:
        least[size] = 0
        for d in range(size - 1, -1, -1):
            least[d] = least[d + 1] + (1 + log(variance[d])) / 2
        limit += 1e-5 * (fabs(limit) + fabs(least[0]) + size)  # more than rounding adds to a score
        for i in range(rows):
            score = 0
            d = 0
            while d < size:
                count = <int> min(stretch, size - d)
                loops.precisions(precision, &log_variances[i, d], count)
                score += loops.score_diagonal(
                    &means[i, d], &log_variances[i, d], precision, &mean[d], &variance[d], count
                )
                d += count
                if score + least[d] > limit:
                    score = INFINITY
                    break
            scores[i] = <REAL> score
    free(precision)
    free(least)
