"""One diagonal density against all rows of a table, in one pass: no array as large as the table is made."""

from libc.limits cimport INT_MAX
from libc.stdlib cimport free, malloc

from densvec.native._loops cimport loops_of
from densvec.native._vector cimport REAL, best_instruction_set

cdef enum:
    # Rows whose exponentials are taken at once. Numbers beyond the last whole vector cost as much as vectors,
    # and four rows mostly have none; many rows at once would read nothing while they compute.
    TOGETHER = 4


def kl_scores(const REAL[::1] mean, const REAL[::1] variance, const REAL[:, ::1] means,
              const REAL[:, ::1] log_variances, REAL[::1] scores):  # OUT: scores
    """Set each row's score to KL[q ‖ row] but for what is q's alone.

    That is 1/2 sum((v_q + (mean_q - mean)^2) / v + log v).
    Holds no GIL: threads may score different rows at once.
    """
    cdef Py_ssize_t rows = means.shape[0], size = means.shape[1], i, block, first, count
    if not rows or not size:
        scores[:] = 0
        return
    if (mean.shape[0] != size or variance.shape[0] != size
            or log_variances.shape[0] != rows or log_variances.shape[1] != size):
        raise ValueError("the arrays do not fit each other: (D,), (D,), (V, D), (V, D)")
    if scores.shape[0] != rows:
        raise ValueError(f"{rows} rows need as many scores, not {scores.shape[0]}")
    if size > INT_MAX // TOGETHER:
        raise ValueError(f"{size} dimensions are too many: the loops count up to {INT_MAX // TOGETHER}")
    cdef Py_ssize_t blocks = (rows + TOGETHER - 1) // TOGETHER
    loops = loops_of(best_instruction_set())
    cdef REAL* precisions = <REAL*> malloc(TOGETHER * size * sizeof(REAL))
    if precisions == NULL:
        raise MemoryError
    with nogil:
        for block in range(blocks):
            first = block * TOGETHER
            count = min(TOGETHER, rows - first)
            loops.precisions(precisions, &log_variances[first, 0], <int> (count * size))
            for i in range(count):
                scores[first + i] = loops.score_diagonal(
                    &means[first + i, 0], &log_variances[first + i, 0], precisions + i * size,
                    &mean[0], &variance[0], <int> size
                )
    free(precisions)
