"""Run the studies of this project: `python run_all.py --help`."""

import importlib.util
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
NEEDED = ("evalica", "fontTools", "ipykernel", "IPython", "jinja2", "joblib", "jupyter_client", "krippendorff")
NEEDED += ("markupsafe", "matplotlib", "mistune", "nbclient", "nbconvert", "nbformat", "narwhals", "nh3", "numpy")
NEEDED += ("pandas", "papermill", "PIL", "pingouin", "pooch", "psutil", "pyarrow", "pydantic", "pygments")
NEEDED += ("requests", "scipy", "seaborn", "statsmodels", "threadpoolctl", "traitlets", "yaml")
INSTALL = """\
python3 -m venv .venv
. .venv/bin/activate          (PowerShell: .venv\\Scripts\\Activate.ps1)
pip install --require-hashes -r requirements.lock
python run_all.py
"""


def ready() -> bool:
    """Whether this Python can run the project; if not, says what is wrong and how to mend it."""
    if sys.version_info < (3, 11):  # noqa: UP036 an older Python is what this is for
        print(f"run_all.py: Python 3.11 or newer is needed, this is {sys.version.split()[0]}", file=sys.stderr)
        return False
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        print(f"run_all.py: not installed: {', '.join(missing)}. In the project's folder:\n", file=sys.stderr)
        print(INSTALL, file=sys.stderr, end="")
        return False
    return True


if __name__ == "__main__":
    if not ready():
        sys.exit(2)
    sys.path.insert(0, str(ROOT / "src"))
    from judgebook.__main__ import main

    sys.exit(main())
