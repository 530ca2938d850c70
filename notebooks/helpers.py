"""Lets notebooks find `src/` in whatever Jupyter they were opened, or says what to do where they cannot run.

Python looks beside a notebook first. What is imported are the packages in `src`: this module only shows the way.
"""

import importlib
import sys
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


class KernelError(ImportError):
    """The notebook runs where it cannot; the message says where it can."""


def _in_one_line(shell, kind, error, trace, tb_offset=None):
    shell._showtraceback(kind, error, [str(error)])


NEEDED = ("pandas", "pyarrow", "pydantic", "scipy", "matplotlib", "evalica", "krippendorff", "pingouin")
missing = [name for name in NEEDED if find_spec(name) is None]
if sys.version_info < (3, 11) or missing:
    why = "lacks " + ", ".join(missing) if missing else "is Python " + sys.version.split()[0] + ", older than 3.11"
    notebook = sys.modules.get("IPython")  # there where this is a notebook
    if shell := notebook and notebook.get_ipython():
        shell.set_custom_exc((KernelError,), _in_one_line)
    raise KernelError(
        "This notebook runs in a kernel that " + why + " (" + sys.executable + "). "
        "Choose the kernel `judgebook` (menu Kernel, Change Kernel), which "
        "`python run_all.py lab` installs in the project's environment; without the menu, close Jupyter and start that."
    )
sys.path.insert(0, str(ROOT / "src"))
for name in ("helpers", "judgebook"):
    sys.modules.pop(name, None)
for name in ("helpers", "judgebook"):
    importlib.import_module(name)
