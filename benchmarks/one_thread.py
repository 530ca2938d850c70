"""One thread for linear algebra and other libraries, which read this when they are imported: import it before NumPy.

CPU seconds of several threads say little of how long a user waits, and on a shared machine they vary. The project's
packages are found as well.
"""

import os
import sys
from pathlib import Path

N = 1
NAMES = (
    *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"),
    *("RAYON_NUM_THREADS", "POLARS_MAX_THREADS"),
)
os.environ |= dict.fromkeys(NAMES, str(N))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))
