"""Copies what a run needs beside the code into the wheel, as `judgebook/carried`; all else is in pyproject.toml."""

import shutil
import subprocess
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).resolve().parent
#: what `judgebook.project.ROOT` holds where the package is installed
CARRIED = ("notebooks", "params", "data/embedded", "data/published", "data/atlas", "docs", "src/helpers")
CARRIED += ("requirements.lock", "codemeta.json", "pyproject.toml")
#: shows notebooks in a checkout where the package is
LEFT_OUT = {"notebooks/helpers.py"}


def carried() -> list[str]:
    """Paths of the files to copy: those in version control, so that nobody's own studies get into a wheel."""
    if (HERE / ".git").exists():
        listed = subprocess.run(["git", "ls-files", "-z", *CARRIED], cwd=HERE, capture_output=True, check=True)
        names = listed.stdout.decode().split("\0")
    else:  # unpacked from an archive, which holds nothing else
        paths = [HERE / name for name in CARRIED]
        names = [p.relative_to(HERE).as_posix() for path in paths for p in [path, *path.rglob("*")]]
    return sorted(name for name in names if (HERE / name).is_file() and name not in LEFT_OUT)


class BuildWithProject(build_py):
    def run(self) -> None:
        if self.editable_mode:
            return super().run()
        built = Path(self.build_lib) / "judgebook"
        for package in (built, built.with_name("compendium")):  # of an earlier build, with modules that are gone
            shutil.rmtree(package, ignore_errors=True)
        super().run()
        for name in carried():
            target = built / "carried" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(HERE / name, target)

    def get_source_files(self) -> list[str]:
        """What an archive of the sources must hold."""
        return [*super().get_source_files(), *carried()]


setup(cmdclass={"build_py": BuildWithProject})
