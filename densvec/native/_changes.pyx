"""What ranks change of a table's rows: taken, combined and added in one pass each, as halves that are sent.

A message has a row for each row exchanged, and in it the columns of all tables side by side. The numbers of a
table's row lie together, but its rows may lie further apart than they are long. Nothing here holds the GIL:
training goes on meanwhile.
"""

from libc.math cimport expm1f
from libc.stdint cimport uint16_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

cdef extern from "_changes.h" nogil:
    void take_change(uint16_t* into, const float* table, const float* base, Py_ssize_t n)
    void add_change(float* table, float* base, const uint16_t* change, const uint16_t* own, Py_ssize_t n)
    void settle_change(float* table, float* base, const uint16_t* change, Py_ssize_t n)
    void unpack_row(float* into, const uint16_t* row, Py_ssize_t n)
    void pack_row(uint16_t* into, const float* row, Py_ssize_t n)
    void adasum_pair(float* into, const float* a, const float* b, Py_ssize_t n)
    void scale_row(float* row, float by, Py_ssize_t n)
    void add_row(float* into, const uint16_t* row, Py_ssize_t n)
    void count_changed(float* into, const uint16_t* row, Py_ssize_t n)
    void divide_row(float* sum, const float* counts, Py_ssize_t n)


def take(const float[:, :] table, const float[:, :] base, uint16_t[:, ::1] into, Py_ssize_t column):
    """Write table - base into the columns of a message from `column` on."""
    cdef Py_ssize_t i, n = table.shape[1]
    check(table, base, into.shape, column)
    with nogil:
        for i in range(table.shape[0]):
            take_change(&into[i, column], &table[i, 0], &base[i, 0], n)


def add(float[:, :] table, float[:, :] base, const uint16_t[:, ::1] change, const uint16_t[:, ::1] own,
        Py_ssize_t column):
    """Add the change of all to the base, and to the table what it has more than this rank's own."""
    cdef Py_ssize_t i, n = table.shape[1]
    check(table, base, change.shape, column)
    check(table, base, own.shape, column)
    with nogil:
        for i in range(table.shape[0]):
            add_change(&table[i, 0], &base[i, 0], &change[i, column], &own[i, column], n)


def settle(float[:, :] table, float[:, :] base, const uint16_t[:, ::1] change, Py_ssize_t column):
    """Add the change of all to the base, and make the table equal to it."""
    cdef Py_ssize_t i, n = table.shape[1]
    check(table, base, change.shape, column)
    with nogil:
        for i in range(table.shape[0]):
            settle_change(&table[i, 0], &base[i, 0], &change[i, column], n)


def combine(const uint16_t[:, :, :] changes, uint16_t[:, ::1] into, Py_ssize_t column, Py_ssize_t width,
            str rule):
    """Combine changes of all ranks, (ranks, rows, columns), in some columns.

    By "adasum", "mean", "sum", or "one_after_another", which reads how far ranks went from the last column;
    see `densvec.distributed.rows`. The changes of different ranks may lie apart.
    """
    cdef Py_ssize_t ranks = changes.shape[0], rows = changes.shape[1], i, k
    cdef bint tree = rule == "adasum", mean = rule == "mean", in_turn = rule == "one_after_another"
    if rule not in ("adasum", "mean", "sum", "one_after_another"):
        raise ValueError(f"rule={rule!r} is unknown: use 'adasum', 'mean', 'sum' or 'one_after_another'")
    if (into.shape[0] != rows or into.shape[1] != changes.shape[2] or width < 1 or column < 0
            or column + width > into.shape[1] or not ranks):
        raise ValueError("the arrays do not fit each other: (ranks, rows, columns), (rows, columns)")
    if changes.strides[2] != sizeof(uint16_t):
        raise ValueError("the numbers of a row do not lie together")
    # the changes of all ranks; otherwise their sum, and how many of them there are
    cdef float* parts = <float*> malloc((ranks if tree else 2) * width * sizeof(float))
    if parts == NULL:
        raise MemoryError
    counts = parts + width
    with nogil:
        for i in range(rows):
            if tree:
                for k in range(ranks):
                    unpack_row(parts + k * width, &changes[k, i, column], width)
                combine_tree(parts, ranks, width)
            else:
                unpack_row(parts, &changes[0, i, column], width)
                for k in range(1, ranks):
                    add_row(parts, &changes[k, i, column], width)
            if mean:
                memset(counts, 0, width * sizeof(float))
                for k in range(ranks):
                    count_changed(counts, &changes[k, i, column], width)
                divide_row(parts, counts, width)
            if in_turn:
                scale_row(parts, part_together(changes, i), width)
            pack_row(&into[i, column], parts, width)
    free(parts)


cdef float part_together(const uint16_t[:, :, :] changes, Py_ssize_t row) noexcept nogil:
    """Return how far ranks get one after another, as a part of how far they get alone, all added up."""
    cdef float apart = 0, together = 0, travelled, way
    cdef Py_ssize_t k
    for k in range(changes.shape[0]):
        unpack_row(&travelled, &changes[k, row, changes.shape[2] - 1], 1)
        way = -expm1f(-travelled)
        apart += way
        together += way * (1 - together)  # of what the ranks before have left
    return together / apart if apart > 0 else 1


cdef void combine_tree(float* parts, Py_ssize_t count, Py_ssize_t n) noexcept nogil:  # INOUT: parts
    """Combine parts in pairs, then the results with one that is left over, and so on, into the first part."""
    cdef Py_ssize_t k
    while count > 1:
        for k in range(count // 2):
            adasum_pair(parts + k * n, parts + 2 * k * n, parts + (2 * k + 1) * n, n)
        if count % 2:
            memcpy(parts + count // 2 * n, parts + (count - 1) * n, n * sizeof(float))
        count = (count + 1) // 2


cdef int check(const float[:, :] table, const float[:, :] base, const Py_ssize_t* message,
               Py_ssize_t column) except -1:
    cdef Py_ssize_t rows = table.shape[0], width = table.shape[1]
    if base.shape[0] != rows or base.shape[1] != width or message[0] != rows or column < 0 \
            or column + width > message[1]:
        raise ValueError("the arrays do not fit each other: (rows, width), (rows, width), (rows, columns)")
    if width > 1 and (table.strides[1] != sizeof(float) or base.strides[1] != sizeof(float)):
        raise ValueError("the numbers of a row do not lie together")
    return 0
