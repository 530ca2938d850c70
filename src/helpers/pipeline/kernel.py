"""The kernel notebooks run in: this very Python, with `src/` on its path, one BLAS thread, nobody's settings.

No kernel need be installed, and one installed for another environment is not picked up by mistake.
"""

from __future__ import annotations

import os
import sys
from queue import Empty
from typing import Any

from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from traitlets import Type

from helpers import params
from helpers.pipeline.worker import THREADS


def environment(scratch: str) -> dict[str, str]:
    """What a kernel's environment adds to that of the run; `scratch` is where Jupyter may keep its own files."""
    path = [str(params.ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        **dict.fromkeys(THREADS, "1"),
        "PYTHONPATH": os.pathsep.join(path),
        "PYTHONHASHSEED": "0",
        "IPYTHONDIR": scratch,
        "JUPYTER_RUNTIME_DIR": scratch,
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    }


class PromptClient(AsyncKernelClient):
    """Ready as soon as the kernel has answered on both channels.

    The parent then waits 0.2 s more, to be rid of messages that nbclient ignores anyway: they belong to no cell.
    """

    async def _async_wait_for_ready(self, timeout: float | None = None) -> None:
        for _ in range(int(timeout or 60)):
            self.kernel_info()
            try:
                reply = await self.shell_channel.get_msg(timeout=1)
                await self.iopub_channel.get_msg(timeout=1)
            except Empty:
                if not await self._async_is_alive():
                    raise RuntimeError("the kernel died while it started") from None
                continue
            if reply["msg_type"] == "kernel_info_reply":
                self._handle_kernel_info_reply(reply)
                return
        raise RuntimeError(f"the kernel did not answer within {timeout} s")

    wait_for_ready = _async_wait_for_ready


class Kernel(AsyncKernelManager):
    """Starts `sys.executable`, whatever kernels are installed."""

    client_factory = Type(klass=PromptClient, default_value=PromptClient)

    @property
    def kernel_spec(self) -> KernelSpec:
        argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        options = ["--HistoryManager.enabled=False", "--IPKernelApp.log_level=ERROR"]
        return KernelSpec(argv=argv + options, display_name="Python 3", language="python")

    async def _async_wait(self, pollinterval: float = 0.1) -> Any:
        return await super()._async_wait(pollinterval=min(pollinterval, 0.01))
