"""The kernel notebooks run in: the running Python, `src/` on its path, one BLAS thread, no settings of the user.

No kernel has to be installed, and one installed for another environment is not used by mistake.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from traitlets import default

from helpers.pipeline.surroundings import PERSONAL, impersonal
from helpers.stats.seats import THREADS
from helpers.study import params, store


def prepare(scratch: str) -> None:
    """Give this process the environment that its next kernel inherits; `scratch` is for Jupyter's own files."""
    path = [str(params.ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    for name in PERSONAL:
        os.environ.pop(name, None)
    os.environ.update(impersonal() | dict.fromkeys(THREADS, "1"))
    own = ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
    os.environ.update(dict.fromkeys(own, scratch))
    os.environ["JUPYTER_NO_CONFIG"] = "1"
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(os.pathsep.join(path).split(os.pathsep)))
    os.environ["PYTHONHASHSEED"] = "0"
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    os.environ["MPLCONFIGDIR"] = str(_fonts())


def _fonts() -> Path:
    """A folder for Matplotlib that holds its list of fonts and nothing else.

    A kernel that had to make the list would say so in the notebook, and need half a minute where fonts are many.
    """
    folder = store.processed(f".matplotlib-{version('matplotlib')}")
    if not folder.is_dir():
        from matplotlib import font_manager as fonts

        with store.scratch(folder.parent) as made:
            own = made / "own"
            own.mkdir()
            fonts.json_dump(fonts.fontManager, own / f"fontlist-v{fonts.FontManager.__version__}.json")
            with suppress(OSError):  # another worker was faster
                own.rename(folder)
    return folder


#: file of what a kernel writes to its standard error
LAST_WORDS = "kernel.err"


def last_words(scratch: str) -> str:
    """The last line that a kernel wrote to its standard error; empty where it wrote none."""
    path = Path(scratch) / LAST_WORDS
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else []
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


class Kernel(AsyncKernelManager):
    """Starts `sys.executable`, whatever kernels are installed; its files are removed with those of the notebook."""

    @default("connection_file")
    def _in_scratch(self) -> str:
        return os.path.join(os.environ["JUPYTER_RUNTIME_DIR"], "kernel.json")

    async def start_kernel(self, **options: Any) -> None:
        """As usual; what the process says where it cannot go on is kept with its files, not printed."""
        with open(os.path.join(os.environ["JUPYTER_RUNTIME_DIR"], LAST_WORDS), "wb") as file:
            await super().start_kernel(**{"stderr": file} | options)

    @property
    def kernel_spec(self) -> KernelSpec:
        argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        options = ["--HistoryManager.enabled=False", "--IPKernelApp.log_level=ERROR"]
        return KernelSpec(argv=argv + options, display_name="Python 3", language="python")
