"""How many threads numerical libraries use: one, because with more the last digits of matrix products vary."""

#: environment variables that set the number of threads
THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
