"""The kernel notebooks run in: the running Python, `src/` on its path, one BLAS thread, no settings of the user.

No kernel has to be installed, and one installed for another environment is not used by mistake.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import subprocess
import sys
import threading
import uuid
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning import LocalProvisioner
from traitlets import default

from judgebook.pipeline.surroundings import PERSONAL, THREADS, impersonal
from judgebook.study import params, store


def prepare(scratch: str, *, draws: bool = False) -> None:
    """Give this process the environment that its next kernel inherits; `scratch` is for Jupyter's own files.

    draws : that kernel needs what is imported for figures; those after it then have that, too.
    """
    _kernels.draws = draws
    path = [str(params.ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    for name in PERSONAL:
        os.environ.pop(name, None)
    os.environ.update(impersonal() | dict.fromkeys(THREADS, "1"))
    folders = ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
    os.environ.update(dict.fromkeys(folders, scratch))
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
            filled = made / "own"
            filled.mkdir()
            fonts.json_dump(fonts.fontManager, filled / f"fontlist-v{fonts.FontManager.__version__}.json")
            with suppress(OSError):  # another worker was faster
                filled.rename(folder)
    return folder


#: file of what a kernel writes to its standard error
LAST_WORDS = "kernel.err"


def last_words(scratch: str) -> str:
    """The last line that a kernel wrote to its standard error; empty where it wrote none."""
    path = Path(scratch) / LAST_WORDS
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else []
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


class Forked:
    """A kernel that another process forked, with as much of the interface of `subprocess.Popen` as is used."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int):
        """Raises ProcessLookupError where it has ended already."""
        self.pid = pid
        self._open = os.pidfd_open(pid)

    def poll(self) -> int | None:
        """None while it runs; how it ended is its parent's to know."""
        return 1 if select.select([self._open], [], [], 0)[0] else None

    def wait(self) -> int:
        select.select([self._open], [], [])
        os.close(self._open)
        return 1

    def send_signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._open, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Kernels:
    """The process that forks the kernels of this one (`warm`); it starts with the first, and ends with this process."""

    def __init__(self) -> None:
        self.draws = False
        self.newest: LocalProvisioner | None = None
        self._lock = threading.Lock()
        self._server: subprocess.Popen[str] | None = None
        self._answers = -1

    def fork(self, argv: list[str], env: dict[str, str], cwd: str, stderr: str) -> Forked:
        """A new kernel; its standard error is added to a file. Raises OSError where there is none."""
        request = json.dumps({"argv": argv, "env": env, "cwd": cwd, "stderr": stderr, "draws": self.draws})
        with self._lock:
            server = self._server
            if server is None or server.poll() is not None:
                server = self._start(env, stderr)
            print(request, file=server.stdin, flush=True)
            answer = os.read(self._answers, 20)
        if not answer:
            raise OSError("no kernel could be forked")
        return Forked(int(answer))

    def _start(self, env: dict[str, str], stderr: str) -> subprocess.Popen[str]:
        self.close()
        self._answers, theirs = os.pipe()
        script = str(Path(__file__).with_name("warm.py"))
        # in a session of its own: what interrupts the run is for its main process; in a folder that outlives notebooks
        options: dict[str, Any] = {"text": True, "env": env, "pass_fds": [theirs], "start_new_session": True}
        try:
            with open(stderr, "ab") as file:
                command = [sys.executable, "-P", script, str(theirs)]
                self._server = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=file, cwd="/", **options)
        finally:
            os.close(theirs)
        return self._server

    def kill(self) -> None:
        """End the kernel that was started last, if it runs; who waits for its answers is told that it died."""
        if self.newest is not None and self.newest.has_process:
            self.newest.process.kill()

    def close(self) -> None:
        """End the process, if there is one."""
        if self._answers >= 0:
            os.close(self._answers)
            self._answers = -1
        if self._server is not None:
            with suppress(OSError):
                self._server.__exit__(None, None, None)
            self._server = None


_kernels = Kernels()
kill = _kernels.kill
atexit.register(_kernels.close)


class Provisioner(LocalProvisioner):  # type: ignore[misc]  # jupyter_client is not read here
    """Forks a kernel that has imported much already, on Linux; elsewhere starts it as any program."""

    async def launch_kernel(self, cmd: list[str], **options: Any) -> KernelConnectionInfo:
        env, cwd = options["env"], options.get("cwd") or os.getcwd()
        arguments = cmd[cmd.index("-f") :]
        try:
            if not hasattr(os, "pidfd_open"):
                raise OSError("not Linux")
            self.process = _kernels.fork(arguments, env, cwd, os.path.abspath(options["stderr"].name))
        except OSError:
            await super().launch_kernel(cmd, **options)
        else:
            self.pid = self.pgid = self.process.pid
        _kernels.newest = self
        return self.connection_info


class Kernel(AsyncKernelManager):  # type: ignore[misc]  # as above
    """Starts `sys.executable`, whatever kernels are installed; its files are removed with those of the notebook."""

    @default("connection_file")  # type: ignore[untyped-decorator]  # nor is traitlets
    def _in_scratch(self) -> str:
        return os.path.join(os.environ["JUPYTER_RUNTIME_DIR"], "kernel.json")

    async def start_kernel(self, **options: Any) -> None:
        """As usual; what the process says where it cannot go on is kept with its files, not printed."""
        with open(os.path.join(os.environ["JUPYTER_RUNTIME_DIR"], LAST_WORDS), "wb") as file:
            self.kernel_id = str(uuid.uuid4())
            self.provisioner = Provisioner(kernel_id=self.kernel_id, kernel_spec=self.kernel_spec, parent=self)
            await super().start_kernel(**{"stderr": file} | options)

    @property
    def kernel_spec(self) -> KernelSpec:
        argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        options = ["--HistoryManager.enabled=False", "--IPKernelApp.log_level=ERROR"]
        return KernelSpec(argv=argv + options, display_name="Python 3", language="python")
