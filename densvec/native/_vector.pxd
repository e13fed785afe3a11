"""What _vector.h declares, but for the loops themselves, which are in _loops.pxd: ``loops.dot(a, b, n)``."""

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

    ctypedef void (*RoundedProduct)(REAL* c, const REAL* a, const REAL* b, int m, int n, const Product* by,
                                    unsigned int* left, unsigned int* right) noexcept nogil

    RoundedProduct rounded_product()
    const char* best_instruction_set()
    void prefetch_row(const void* row, size_t bytes)
