"""One diagonal density against all of a table, in one pass over it: the kernel's loops, and no array as large as the table."""

from libc.stdlib cimport free, malloc

from densvec.native._vector cimport best_instruction_set, float_loops_for, precisions, score_diagonal


def kl_scores(const float[::1] mean, const float[::1] variance, const float[:, ::1] means, const float[:, ::1] log_variances,
              float[::1] scores):  # OUT: scores
    """Set each row's score to KL[q ‖ row] but for what is q's alone: 1/2 sum((v_q + (mean_q - mean)^2) / v + log v).

    Holds no GIL: threads may score different rows at once.
    """
    cdef Py_ssize_t rows = means.shape[0], size = means.shape[1], i
    if not rows or not size:
        scores[:] = 0
        return
    if mean.shape[0] != size or variance.shape[0] != size or log_variances.shape[0] != rows or log_variances.shape[1] != size:
        raise ValueError("the arrays do not fit each other: (D,), (D,), (V, D), (V, D)")
    if scores.shape[0] != rows:
        raise ValueError(f"{rows} rows need as many scores, not {scores.shape[0]}")
    cdef const void* loops = float_loops_for(best_instruction_set())
    cdef float* inverse = <float*> malloc(size * sizeof(float))
    if inverse == NULL:
        raise MemoryError
    with nogil:
        for i in range(rows):
            precisions(loops, inverse, &log_variances[i, 0], <int> size)
            scores[i] = score_diagonal(loops, &means[i, 0], &log_variances[i, 0], inverse, &mean[0], &variance[0], <int> size)
    free(inverse)
