"""Starts kernels that need not import what all need: this process imports it once, and forks.

Run as a script, by the worker process whose kernels these are (`kernel.Kernels`): a line of JSON asks for a kernel, its
process id is the answer. Linux only; nothing of this project is imported here, since kernels must load it themselves.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import signal
import sys
from contextlib import suppress
from typing import IO, Any

#: imported before the first kernel
FIRST = (
    *("ipykernel.debugger", "ipykernel.kernelapp", "ipykernel.zmqshell", "jinja2", "joblib"),
    *("numpy", "pandas", "pyarrow.parquet", "pydantic.main", "pydantic.root_model", "pydantic.types", "yaml"),
)
#: imported before the first that draws. Matplotlib's backend is not among them: it shows figures only where it is
#: imported in a kernel
DRAWING = ("fontTools.subset", "matplotlib.pyplot", "scipy.stats", "scipy.optimize", "seaborn")
#: new objects between two garbage collections, in kernels and workers: with Python's 700, they took a tenth of the time
#: of a worker, and freed next to nothing
SEARCH = 20_000


def serve(requests: IO[str], answers: int) -> dict[str, Any]:
    """Fork a kernel for each line of `requests`; returns, with the request, in the new process only.

    At the end of the requests, which is the end of the process that makes them, this process ends; its kernels see that
    their parent has changed, and end, too.
    """
    signal.signal(signal.SIGCHLD, _reap)
    gc.set_threshold(SEARCH)
    _import(FIRST)
    for line in iter(requests.readline, ""):
        request = json.loads(line)
        if request["draws"]:
            _import(DRAWING)
        gc.freeze()  # what is never looked at again stays shared
        parent = os.getpid()
        pid = os.fork()
        if not pid:
            os.close(answers)
            return request | {"parent": parent}
        os.write(answers, f"{pid}\n".encode())
    raise SystemExit(0)


def _reap(*_: object) -> None:
    """Ask after the kernels that have ended: none stays as a zombie, and their time counts as that of this process."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _import(names: tuple[str, ...]) -> None:
    for name in names:
        with suppress(ImportError):  # said by the notebook that needs it
            importlib.import_module(name)


def become(request: dict[str, Any]) -> None:
    """Be the kernel that was asked for: its environment, folder, arguments and standard error."""
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["cwd"])
    for path, number in ((os.devnull, 0), (request["stderr"], 2)):
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        os.dup2(file, number)
        os.close(file)
    from ipykernel.kernelapp import IPKernelApp

    sys.argv = ["ipykernel_launcher.py", *request["argv"]]
    IPKernelApp.launch_instance([*request["argv"], f"--IPKernelApp.parent_handle={request['parent']}"])


if __name__ == "__main__":
    become(serve(sys.stdin, int(sys.argv[1])))
