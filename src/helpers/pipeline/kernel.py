"""The kernel notebooks run in: the running Python, `src/` on its path, one BLAS thread, no user settings.

No kernel has to be installed, and one installed for another environment is not used by mistake.
"""

from __future__ import annotations

import os
import sys

from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager

from helpers.pipeline.threads import THREADS
from helpers.study import params


def environment(scratch: str) -> dict[str, str]:
    """What a kernel's environment adds to that of the run; `scratch` is for Jupyter's own files."""
    path = [str(params.ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        **dict.fromkeys(THREADS, "1"),
        "PYTHONPATH": os.pathsep.join(path),
        "PYTHONHASHSEED": "0",
        "IPYTHONDIR": scratch,
        "JUPYTER_RUNTIME_DIR": scratch,
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    }


class Kernel(AsyncKernelManager):
    """Starts `sys.executable`, whatever kernels are installed."""

    @property
    def kernel_spec(self) -> KernelSpec:
        argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        options = ["--HistoryManager.enabled=False", "--IPKernelApp.log_level=ERROR"]
        return KernelSpec(argv=argv + options, display_name="Python 3", language="python")
