"""`lab`: the project in Jupyter Lab, its kernels with `src/` on their path, so that notebooks import `judgebook`."""

from __future__ import annotations

import os
import shutil
import sys

from ipykernel.kernelspec import install
from jupyterlab.labapp import LabApp

from judgebook import project

#: the kernel as Jupyter lists it; `notebooks/helpers.py` names it to those who are in another
KERNEL, TITLE = "human-evaluation-compendium", "Human evaluation compendium"


def lab(*, browser: bool = True, port: int | None = None, allow_root: bool = False) -> int:
    """Run Jupyter Lab until it is stopped; returns the exit code."""
    home = project.folder()
    if not (home / "notebooks").is_dir():  # the installed ones are not to be edited
        shutil.copytree(project.ROOT / "notebooks", home / "notebooks")
    path = [str(project.ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(path)
    register(path[0])
    options = [f"--ServerApp.root_dir={home}", "--LabApp.default_url=/lab/tree/notebooks"]
    options += [] if browser else ["--no-browser"]
    options += [f"--port={port}"] if port else []
    options += ["--allow-root"] if allow_root else []
    LabApp.launch_instance(options)
    return 0


def register(source: str) -> None:
    """Give the running environment a kernel with `source` on its path, for this and any other Jupyter that looks there.

    An environment that cannot be written to does without: kernels started by `lab` have the path anyway.
    """
    try:
        install(prefix=sys.prefix, kernel_name=KERNEL, display_name=TITLE, env={"PYTHONPATH": source})
    except OSError as error:
        print(f"lab: no kernel of its own was installed ({error}); the kernel `Python 3` will do", file=sys.stderr)
