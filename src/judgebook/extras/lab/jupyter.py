"""`lab`: the project in Jupyter Lab, its kernels with `src/` on their path, so that notebooks import `judgebook`."""

from __future__ import annotations

import os
import shutil
import sys

from ipykernel.kernelspec import RESOURCES, get_kernel_dict, install
from jupyter_client.kernelspec import NATIVE_KERNEL_NAME, KernelSpec, KernelSpecManager
from jupyterlab.labapp import LabApp

from judgebook import project

#: the kernel as Jupyter lists it; `notebooks/helpers.py` names it to those who are in another
KERNEL, TITLE = "judgebook", "judgebook"


def lab(*, browser: bool = True, port: int | None = None, allow_root: bool = False) -> int:
    """Run Jupyter Lab until it is stopped; returns the exit code."""
    home = project.folder()
    if not (home / "notebooks").is_dir():  # the installed ones are not to be edited
        shutil.copytree(project.ROOT / "notebooks", home / "notebooks")
    path = [str(project.ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(path)
    register(path[0])
    options = [f"--ServerApp.root_dir={home}", "--LabApp.default_url=/lab/tree/notebooks"]
    options += [f"--ServerApp.kernel_spec_manager_class={Kernels.__module__}.{Kernels.__name__}"]
    options += [] if browser else ["--no-browser"]
    options += [f"--port={port}"] if port else []
    options += ["--allow-root"] if allow_root else []
    LabApp.launch_instance(options)
    return 0


class Kernels(KernelSpecManager):  # type: ignore[misc]  # jupyter_client is not read here
    """The kernels of this Jupyter: the one that notebooks name, `python3`, runs in this environment and is listed as
    the project's. The one that `register` installs would be the same, once more.
    """

    def find_kernel_specs(self) -> dict[str, str]:
        return {name: folder for name, folder in super().find_kernel_specs().items() if name != KERNEL}

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        if kernel_name in (NATIVE_KERNEL_NAME, KERNEL):  # a user's own `python3` may be of another environment
            return KernelSpec(resource_dir=RESOURCES, **{**get_kernel_dict(), "display_name": TITLE})
        return super().get_kernel_spec(kernel_name)


def register(source: str) -> None:
    """Give the running environment a kernel with `source` on its path, for this and any other Jupyter that looks there.

    An environment that cannot be written to does without: kernels started by `lab` have the path anyway.
    """
    try:
        install(prefix=sys.prefix, kernel_name=KERNEL, display_name=TITLE, env={"PYTHONPATH": source})
    except OSError as error:
        print(f"lab: no kernel of its own was installed ({error}); the kernel `Python 3` will do", file=sys.stderr)
