"""`lab`: the project in Jupyter Lab, its kernels with `src/` on their path, so that notebooks import `helpers`."""

from __future__ import annotations

import os

from jupyterlab.labapp import LabApp

from helpers.study import params


def lab(*, browser: bool = True, port: int | None = None, allow_root: bool = False) -> int:
    """Run Jupyter Lab until it is stopped; returns the exit code."""
    path = [str(params.ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(path)
    options = [f"--ServerApp.root_dir={params.ROOT}", "--LabApp.default_url=/lab/tree/notebooks"]
    options += [] if browser else ["--no-browser"]
    options += [f"--port={port}"] if port else []
    options += ["--allow-root"] if allow_root else []
    LabApp.launch_instance(options)
    return 0
