"""One diagonal density against all rows of a table, in one pass: no array as large as the table is made."""

from libc.limits cimport INT_MAX
from libc.stdlib cimport free, malloc

from densvec.native._vector cimport REAL, best_instruction_set, loops_of


def kl_scores(const REAL[::1] mean, const REAL[::1] variance, const REAL[:, ::1] means,
              const REAL[:, ::1] log_variances, REAL[::1] scores):  # OUT: scores
    """Set each row's score to KL[q ‖ row] but for what is q's alone.

    That is 1/2 sum((v_q + (mean_q - mean)^2) / v + log v).
    Holds no GIL: threads may score different rows at once.
    """
    cdef Py_ssize_t rows = means.shape[0], size = means.shape[1], i
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
    cdef REAL* precision = <REAL*> malloc(size * sizeof(REAL))
    if precision == NULL:
        raise MemoryError
    with nogil:
        for i in range(rows):
            loops.precisions(precision, &log_variances[i, 0], <int> size)
            scores[i] = loops.score_diagonal(
                &means[i, 0], &log_variances[i, 0], precision, &mean[0], &variance[0], <int> size
            )
    free(precision)
