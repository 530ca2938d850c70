"""The pieces of the long evidence, what each depends on, and the record of how it ended.

A piece is the long tests of one file; the short tests of a numerical folder with the kernels of another processor; or
the fuzzer. Its digest covers what it can load: its own source and the modules of the tests that it imports, the closure
of modules of the project (`pipeline.closure`) with the files beside them, and the locked packages. What runs the
pipeline can load everything.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from judgebook.pipeline import closure
from judgebook.pipeline.cache import Cache, digest

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
RECORD = Path(__file__).with_name("record.json")
#: OpenBLAS picks its kernels by the processor, and the last bits differ
KERNELS = ("Haswell", "Prescott")
#: whose short tests compare digits
NUMERICAL = ["annotations", "statistics"]
NUMERICAL += [f"questions/{q}" for q in ("agreement", "annotators", "fragility", "groups", "judges")]
NUMERICAL += [f"questions/{q}" for q in ("performance", "planning", "validity")]
#: the long tests of a file carry one of these, or a fixture that it imports gives it to them
_MARK = re.compile(r"mark\.evidence\b")
_FIXTURES = re.compile(r"^from fixtures\.(\w+) import", re.MULTILINE)
#: what starts the pipeline, whose notebooks can load any module
_RUNS = re.compile(r"run_all|-m\W+judgebook|subprocess|notebook_runs|project_copy")
_RUNNING = {"judgebook.pipeline.run", "judgebook.pipeline.cli", "judgebook.pipeline.audit", "judgebook.__main__"}
#: seconds of CPU time that a piece is thought to take which has never run
UNKNOWN = 60.0


@dataclass(frozen=True)
class Piece:
    """test : a file or folder below the root; kernel : "" for that of this machine; fuzz : seconds, 0 for tests."""

    test: str
    kernel: str = ""
    fuzz: int = 0

    @property
    def name(self) -> str:
        return self.test + (f" ({self.kernel})" if self.kernel else "")


def all_pieces() -> list[Piece]:
    """Every piece, in a fixed order."""
    marking = {p.stem for p in (TESTS / "fixtures").glob("*.py") if _MARK.search(p.read_text("utf-8"))}
    texts = {p: p.read_text("utf-8") for p in sorted(TESTS.rglob("test_*.py"))}
    long = [p for p, text in texts.items() if _MARK.search(text) or marking & {*_FIXTURES.findall(text)}]
    return [
        *(Piece(p.relative_to(ROOT).as_posix()) for p in long),
        *(Piece(f"tests/{folder}", kernel) for kernel in KERNELS for folder in NUMERICAL),
        Piece("tests/fuzz.py", fuzz=3600),
    ]


class Sources:
    """Files of the project as they are now. root : of the checkout."""

    def __init__(self, root: Path = ROOT):
        self.root, self.cache = root, Cache(root / "build" / "evidence.json")
        self._files: dict[Path, set[Path]] = {}

    def digests(self, pieces: Iterable[Piece]) -> dict[str, str]:
        """Name of each piece -> digest of the files that it can depend on."""
        with self.cache.moment():
            found = {p.name: sorted(self.files(p.test)) for p in pieces}
            one = {path: self.cache.file(path) for path in set[Path]().union(*found.values())}
        self.cache.save()
        return {
            name: digest([[path.relative_to(self.root).as_posix(), one[path]] for path in paths])
            for name, paths in found.items()
        }

    def files(self, test: str) -> set[Path]:
        """Every file that a test, or a folder of them, can depend on, public data apart: their checksums stand in the
        sources."""
        path = self.root / test
        tests = sorted(path.rglob("test_*.py")) if path.is_dir() else [path]
        for one in tests:
            if one not in self._files:
                self._files[one] = self._of_file(one)
        return set[Path]().union(*(self._files[one] for one in tests))

    def _of_file(self, path: Path) -> set[Path]:
        own, names, text = self._tests(path)
        modules = closure.closure(names, self.cache)
        found = {*own, self.root / "requirements-test.lock", self.root / "tests" / "conftest.py"}
        if _RUNS.search(text) or _RUNNING & modules.keys():
            return found | self._everything
        known = closure.modules(self.cache)
        paths = {known[name] for name in modules if known[name].is_file()}
        beside = {p for path in paths for p in self._beside(path.parent)}
        data = [("published", "compendium.published"), ("embedded", "judgebook.sources.instead")]
        more = [d for d, module in data if any(name.startswith(module) for name in modules)]
        folders = [self.root / "data" / d for d in more] + [self.root / "tests" / "reference"]
        folders += [self.root / "params"] * ("params" in text)
        return found | paths | beside | {p for folder in folders for p in self.cache.listed(folder)}

    def _beside(self, package: Path) -> list[Path]:
        """Templates, registries and the like of a package; those of the packages in it are theirs."""
        listed = [p for p in self.cache.listed(package) if p.suffix not in (".py", ".pyi")]
        inner = {p.parent for p in self.cache.listed(package) if p.name == "__init__.py"} - {package}
        return [p for p in listed if not inner & {*p.parents}]

    @cached_property
    def _everything(self) -> set[Path]:
        folders = ("src", "notebooks", "params", "data/published", "data/embedded", "data/atlas", "examples")
        listed = (p for folder in folders for p in self.cache.listed(self.root / folder))
        return {p for p in listed if p.suffix != ".pyc"} | {self.root / "run_all.py"}

    def _tests(self, path: Path) -> tuple[set[Path], set[str], str]:
        """Files of the tests that one imports, itself included; what they import of the project; and their text."""
        found, names, texts, todo = set[Path](), set[str](), [], [path]
        while todo:
            if (path := todo.pop()) in found:
                continue
            found.add(path)
            texts.append(path.read_text("utf-8"))
            names.update(closure.imported(texts[-1]))
            for node in ast.walk(ast.parse(texts[-1])):
                if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                    todo += self._named([node.module, *(f"{node.module}.{a.name}" for a in node.names)])
                elif isinstance(node, ast.Import):
                    todo += self._named(a.name for a in node.names)
        return found, names, "\n".join(texts)

    def _named(self, names: Iterable[str]) -> list[Path]:
        paths = [(self.root / "tests").joinpath(*name.split(".")) for name in names]
        return [p for path in paths for p in (path.with_suffix(".py"), path / "__init__.py") if p.is_file()]


def read(path: Path = RECORD) -> dict[str, dict[str, Any]]:
    return json.loads(path.read_text("utf-8")) if path.is_file() else {}


def write(record: dict[str, dict[str, Any]], path: Path = RECORD) -> None:
    """One line a piece, so that two branches that renew other pieces can be merged."""
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in sorted(record.items()))
    temporary = path.with_suffix(".new")
    temporary.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    temporary.replace(path)


def git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""
