"""Which of the faults in `mutants.yaml` the tests notice: `python tests/evidence/mutants.py [ID …]`.

Each fault is planted in a copy of the project; the tests of `make test` and `make verify` run that can load the module,
those of its folder first, until one fails. A fault that nothing notices makes the exit code 1.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

from evidence.pieces import ROOT, Sources, git

MUTANTS = Path(__file__).with_name("mutants.yaml")


def tests_of(module: Path, files: list[str], sources: Sources) -> list[str]:
    """Those of `files` that can load a module, the ones in the folder that is named like its own first."""
    folder = module.parent.relative_to(ROOT / "src" / "judgebook").as_posix()
    with sources.cache.moment():
        able = [f for f in files if module in sources.files(f)]
    return sorted(able, key=lambda f: (not f.startswith(f"tests/{folder}/"), f"/{folder.split('/')[-1]}" not in f))


def noticed(mutant: dict[str, str], folder: Path, tests: list[str]) -> str:
    """The test that fails; an empty string where none does."""
    path = folder / "src" / "judgebook" / mutant["module"]
    text = path.read_text("utf-8")
    if text.count(mutant["old"]) != 1:
        raise SystemExit(f"{mutant['id']}: expected its text once in {mutant['module']}")
    path.write_text(text.replace(mutant["old"], mutant["new"]), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-x", "-n", "2", "--dist", "loadfile", "--no-loadscope-reorder"]
    done = subprocess.run(
        [*command, "-m", "not evidence", *tests], cwd=folder, capture_output=True, text=True, check=False
    )
    path.write_text(text, encoding="utf-8")
    failed = [line.split()[1] for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return failed[0] if failed else ""


def main(wanted: list[str]) -> int:
    sources, survived = Sources(), 0
    files = [p.relative_to(ROOT).as_posix() for p in sorted((ROOT / "tests").rglob("test_*.py"))]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "project"
        for name in git("ls-files").splitlines():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
        (Path(place) / "shared").symlink_to(ROOT.parent / "shared")  # where tests look for public data
        for mutant in yaml.safe_load(MUTANTS.read_text("utf-8")):
            if wanted and mutant["id"] not in wanted:
                continue
            tests = tests_of(ROOT / "src" / "judgebook" / mutant["module"], files, sources)
            # what is nearest first: most faults are noticed there, and each session takes seconds to start
            found = next(filter(None, (noticed(mutant, folder, t) for t in (tests[:8], tests[8:]) if t)), "")
            survived += not found
            print(f"{mutant['id']} ({mutant['module']}): {found or 'NOT NOTICED'}", flush=True)
    return int(survived > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
