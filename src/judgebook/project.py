"""Where the project's own files are, the folder somebody works in, and the command they typed.

In a checkout (or an editable installation) both folders are the checkout. An installed package carries notebooks, YAMLs
of public studies, embedded judgements and printed numbers itself (`setup.py` copies them into the wheel); those who use
it work in any folder, whose `params/` has their own YAMLs.
"""

from __future__ import annotations

import os
import tomllib
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

#: the package `judgebook`
PACKAGE = Path(__file__).resolve().parent
#: where an installed package has the rest of the project
CARRIED = PACKAGE / "carried"
INSTALLED = CARRIED.is_dir()
#: folder of notebooks/, params/, data/embedded/, data/published/ and docs/
ROOT = CARRIED if INSTALLED else PACKAGE.parents[1]
#: entry points: packages that add questions and extras to this one, in folders as its own have
PACKAGES = "judgebook.packages"
_FOLDER, _COMMAND = "COMPENDIUM_FOLDER", "COMPENDIUM_COMMAND"
_SCRIPT = "run_all.py"


@cache
def packages() -> dict[str, Path]:
    """Name -> folder, of this package and of those that add to it: entry points of the group `judgebook.packages`. A
    checkout need not be installed, its pyproject.toml names them, too; one whose folder is not there is left out."""
    names = {point.value for point in entry_points(group=PACKAGES)}
    if not INSTALLED:
        declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
        names |= {*declared.get(PACKAGES, {}).values()}
    specs = {name: find_spec(name) for name in sorted(names)}
    found = {name: spec.submodule_search_locations for name, spec in specs.items() if spec is not None}
    out = {"judgebook": PACKAGE} | {name: Path(folders[0]) for name, folders in found.items() if folders}
    return out


def has_package(name: str) -> bool:
    """Whether that package adds to this one here."""
    return name in packages()


def folder() -> Path:
    """The folder that somebody works in: what is made goes below it; `params/` has their YAMLs, `notebooks/` their own
    notebooks."""
    if not INSTALLED:
        return ROOT
    here = Path.cwd()
    # Jupyter starts a notebook in its own folder
    around = here.parent if here.name == "notebooks" and (here.parent / "params").is_dir() else here
    return Path(os.environ.get(_FOLDER) or around)


def command() -> str:
    """How the command line is called: as the user did; else as it can be called here."""
    return os.environ.get(_COMMAND) or ("judgebook" if INSTALLED else f"python {_SCRIPT}")


def program() -> str:
    """What messages begin with: `run_all.py` or `judgebook`."""
    return command().rpartition(" ")[2]


def called(script: str) -> None:
    """Remember folder and command for the processes of this run, some of which work in other folders.

    script : `sys.argv[0]`
    """
    os.environ.pop(_FOLDER, None)
    os.environ[_FOLDER] = str(folder())
    name = Path(script).name
    os.environ[_COMMAND] = {_SCRIPT: f"python {_SCRIPT}", "__main__.py": "python -m judgebook"}.get(name, "judgebook")


def in_words(text: str) -> str:
    """A message that names the command as it was typed."""
    return text.replace(f"python {_SCRIPT}", command())


def made_by(study: str, *options: str) -> str:
    """The commands that run a study, in the order in which they are needed: public data that the project does not carry
    are fetched first. study : its name, or the path of its YAML.
    """
    run = f"`{' '.join([command(), '--study', study, *options])}`"
    registry = (PACKAGE / "sources" / "registry.yaml").read_text(encoding="utf-8")
    public = any(line == f"{study}:" for line in registry.splitlines())
    carried = (ROOT / "data" / "embedded" / study).is_dir()
    return f"`{command()} fetch {study}`, then {run}" if public and not carried else run


def yaml_folders() -> list[Path]:
    """Folders of YAMLs of studies, in the order they are searched."""
    return list(dict.fromkeys([folder() / "params", ROOT / "params"]))
