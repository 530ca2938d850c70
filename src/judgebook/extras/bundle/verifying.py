"""Computes the report of a bundle again, from the bundle alone, and says what does not come out: `verify`."""

from __future__ import annotations

import io
import json
import math
import os
import re
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar
from urllib.parse import unquote

import pandas as pd
from pyarrow.lib import ArrowException

from judgebook import __version__, project
from judgebook.extras.bundle.contents import PACKAGES, PARAMS, PROFILE
from judgebook.extras.bundle.finished import BundleError
from judgebook.extras.bundle.metadata import METADATA
from judgebook.pipeline.surroundings import installed
from judgebook.sources.instead import shared
from judgebook.study import params
from judgebook.study.questions import declared

#: lines that a report of what does not come out has room for, of each kind
LINES = 20
Read = TypeVar("Read")
#: numbers that agree to this share of their size are the same: libraries of linear algebra differ by 1e-12 in what they
#: sum, and iterations (of models, of strengths of systems) stop within 1e-9 of their end
RELATIVE, ABSOLUTE = 1e-9, 1e-12
#: what a run says of itself, not of the study
_COMMAND = re.compile(r"python (?:run_all\.py|-m judgebook)")
_OF_A_RUN = {"Command", "Changed with --set", "Date and version", "Data (SHA-256)"}


@dataclass(frozen=True)
class Missing:
    """Something that does not come out. where : the file. what : the value, or the row, with its place."""

    where: str
    what: str
    now: str = ""


@dataclass(frozen=True)
class Compared:
    """n : answers and rows of results that were compared, by kind. missing : those that do not come out."""

    n: Counter[str]
    missing: dict[str, list[Missing]]


@dataclass(frozen=True)
class Verdict:
    """compared : what was compared. failed : what should have come out and did not. impossible : what cannot come out,
    by why. remarks : on the software. code : 0 all comes out; 1 something differs; 3 the rest cannot come out."""

    compared: Compared
    failed: dict[str, list[Missing]]
    impossible: dict[str, list[tuple[str, Missing]]]
    remarks: list[str] = field(default_factory=list)

    @property
    def code(self) -> int:
        if any(self.failed.values()):
            return 1
        return 3 if any(self.impossible.values()) else 0


def command(path: str, *, say: Callable[[str], None] = print) -> int:
    """Verify a bundle, a zip file or a folder; returns the exit code. Raises BundleError."""
    verdict = verify(Path(path))
    for line in lines(verdict):
        say(line)
    return verdict.code


def verify(path: Path) -> Verdict:
    """What of a bundled report comes out again. Raises BundleError where the bundle cannot be run."""
    try:
        return _verify(path)
    except BundleError as error:
        raise BundleError(f"{path}: {error}") from None


def _verify(path: Path) -> Verdict:
    with tempfile.TemporaryDirectory(prefix="verify-") as name:
        folder = Path(name) / "bundle"
        _unpack(path, folder)
        study = _study(folder)
        notebooks = sorted(p.stem for p in (folder / "results").glob("[0-9]*.parquet"))
        executed = {p.stem for p in (folder / "notebooks").glob("*.ipynb")}
        notebooks = sorted({stem.partition(".")[0] for stem in notebooks} | executed)
        here = [n for n in notebooks if (project.ROOT / "notebooks" / f"{n}.ipynb").is_file()]
        out = Path(name) / "out"
        asked = [*here, *_skipped(tree(folder / PROFILE) if (folder / PROFILE).is_file() else None, here)]
        try:
            code, told = _run(folder / PARAMS.format(study=study), asked, out)
        except params.ParamsError as error:
            what = str(error).replace(str(folder), str(path))  # a zip file is unpacked where nobody looks for it
            raise BundleError(f"it is damaged, its settings cannot be read: {what}; copy it anew") from None
        if code == 2 or not (out / "reports" / study / "index.html").is_file():
            raise BundleError(f"its judgements cannot be analysed: {told or 'nothing was computed'}")
        return _judged(folder, out, study, set(notebooks) - set(here))


def _unpack(path: Path, folder: Path) -> None:
    """The bundle as a folder. Raises BundleError for what is none, and for members that lead elsewhere."""
    if path.is_dir() and (path / METADATA).is_file():
        folder.symlink_to(path.resolve(), target_is_directory=True)
        return
    if not path.is_file() or not zipfile.is_zipfile(path):
        raise BundleError(f"expected a bundle (a zip file or a folder with {METADATA}), found none")
    with zipfile.ZipFile(path) as packed:
        names = packed.namelist()
        if METADATA not in names:
            raise BundleError(f"expected a bundle, found a zip file without {METADATA}")
        outside = [n for n in names if PurePosixPath(n).is_absolute() or ".." in PurePosixPath(n).parts or "\\" in n]
        if outside:
            raise BundleError(f"expected files of a bundle, found {outside[0]!r}")
        try:
            packed.extractall(folder)
        except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, OSError) as error:
            raise BundleError(f"expected a whole bundle, found a damaged or locked zip file: {error}") from None


def _study(folder: Path) -> str:
    """Name of the bundled study. Raises BundleError where the bundle lacks what is needed to run it, or a file."""
    settings = sorted((folder / "params").glob("*.yaml"))
    if len(settings) != 1:
        raise BundleError(f"expected one YAML in params/, found {len(settings)}")
    if not (folder / shared.FOLDER / "annotations.csv").is_file():
        raise BundleError(
            "it has no judgements, so that nothing can be computed again; make it with "
            f"`{project.command()} bundle {settings[0].stem} --with-judgements`"
        )
    files = [unquote(e["@id"]) for e in tree(folder / METADATA)["@graph"] if "File" in e["@type"]]
    if absent := sorted(name for name in files if not (folder / name).is_file()):
        more = f" and {len(absent) - 1} more" if absent[1:] else ""
        raise BundleError(f"it is not whole: {absent[0]}{more} missing; copy it anew")
    return settings[0].stem


def _skipped(profile: dict[str, Any] | None, executed: list[str]) -> list[str]:
    """Notebooks that need one for which the data lack something, and otherwise only what was executed: asked for, they
    are skipped once more, and the first page says why. profile : of the bundle; None where it has none."""
    features = (profile or {}).get("features", {})
    lacking = {name for name, question in declared().items() if any(features.get(f) for f in question.requires)}
    needs = {name: set(question.needs) for name, question in declared().items()}
    return [name for name, of in needs.items() if of & lacking and of <= lacking | set(executed)]


def _run(settings: Path, notebooks: list[str], out: Path) -> tuple[int, str]:
    """Run notebooks of a study into a folder, with no raw files in reach; the exit code and what was said of errors.
    Raises ParamsError."""
    from judgebook.pipeline.run import Options, run

    told = io.StringIO()
    with (
        _environment(COMPENDIUM_OUT=str(out), COMPENDIUM_RAW=""),
        redirect_stdout(io.StringIO()),
        redirect_stderr(told),
    ):
        code = run([str(settings)], Options(only=notebooks, jobs=1))
    return code, told.getvalue().strip()


@contextmanager
def _environment(**values: str) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _judged(bundle: Path, out: Path, study: str, strangers: set[str]) -> Verdict:
    """What differs; and what cannot come out: notebooks that are not here, and those that need what is not shared."""
    found = compared(bundle, out, study)
    ran = {path.stem for path in (out / "data" / "processed" / study / "notebooks").glob("*.ipynb")}
    reading = {name: why for name, why in _needing(shared.about(bundle / shared.FOLDER)).items() if name in ran}
    failed: dict[str, list[Missing]] = {kind: [] for kind in found.missing}
    impossible: dict[str, list[tuple[str, Missing]]] = {kind: [] for kind in found.missing}
    for kind, missing in found.missing.items():
        for one in missing:
            notebook, why = one.where.partition(".")[0], ""
            if notebook in strangers:
                why = "its notebook is not part of this installation"
            elif notebook in reading:
                why = reading[notebook]
            (impossible[kind].append((why, one)) if why else failed[kind].append(one))
    return Verdict(found, failed, impossible, _remarks(bundle))


def _needing(about: dict[str, Any]) -> dict[str, str]:
    """Notebooks that read what a bundle lacks -> what that is. about : what was left out of it."""
    lacks = [name for name, q in declared().items() if any(about[f"{p}_left_out"] for p in q.private)]
    return dict.fromkeys(lacks, "its notebook reads texts, which the bundle lacks")


def _remarks(bundle: Path) -> list[str]:
    """What is different about the software."""
    made, out = tree(bundle / PACKAGES), []
    if made["judgebook"] != __version__:
        out.append(f"the bundle was made with version {made['judgebook']} of judgebook, here is {__version__}")
    here = installed()
    other = [f"{k} {v} (here {here[k]})" for k, v in made["packages"].items() if here.get(k, v) != v]
    if other:
        out.append(f"other versions were installed: {', '.join(other[:5])}{' …' if other[5:] else ''}")
    return out


def compared(bundle: Path, again: Path, study: str) -> Compared:
    """A bundle as a folder, against the folder of output of a run from its judgements. What tells of a run, such as its
    date, is left out."""
    before, now = (_answers(p / "answers.json") for p in (bundle / "report", again / "reports" / study))
    differ = [place for place, value in before.items() if place not in now or not same(value, now[place])]
    told = [Missing("answers.json", f"{place}: {before[place]}", str(now.get(place, "nothing"))) for place in differ]
    n, rows = 0, list[Missing]()
    for path in sorted((bundle / "results").glob("*.parquet")):
        of_file, odd = _rows(path, again / "data" / "processed" / study / "results" / path.name)
        n, rows = n + of_file, rows + odd
    return Compared(Counter({"answers": len(before), "results": n}), {"answers": told, "results": rows})


def same(before: Any, now: Any) -> bool:
    """Whether a value came out again: numbers within RELATIVE and ABSOLUTE, all else exactly."""
    if isinstance(before, bool) or isinstance(now, bool):
        return before is now
    if not all(isinstance(v, int | float) for v in (before, now)):
        return bool(before == now)
    return (math.isnan(before) and math.isnan(now)) or math.isclose(before, now, rel_tol=RELATIVE, abs_tol=ABSOLUTE)


def intact(path: Path, read: Callable[[Path], Read]) -> Read:
    """What a file of a bundle says. Raises BundleError that names a damaged one."""
    try:
        return read(path)
    except (OSError, ValueError, ArrowException, RecursionError) as error:
        raise BundleError(f"it is damaged: {path.name} cannot be read: {error}; copy it anew") from None


def tree(path: Path) -> Any:
    """What a JSON file says."""
    return intact(path, lambda file: json.loads(file.read_bytes()))


def _answers(path: Path) -> dict[str, Any]:
    """Each value of the answers by its place, without what tells of the run, and with one name for the command line,
    which each reader calls in their own way."""
    if not path.is_file():
        return {}
    tree = json.loads(intact(path, lambda file: _COMMAND.sub("judgebook", file.read_bytes().decode("utf-8"))))
    tree["made"] = {k: v for k, v in tree.get("made", {}).items() if k not in _OF_A_RUN}
    return dict(_leaves(tree, ""))


def _leaves(tree: Any, place: str) -> Iterator[tuple[str, Any]]:
    if isinstance(tree, dict | list):
        for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from _leaves(value, f"{place}.{key}" if place else str(key))
    else:
        yield place, tree


def _rows(before: Path, now: Path) -> tuple[int, list[Missing]]:
    """How many rows a table of results has, and those that do not come out: same texts and counts in a row, and floats
    within the tolerance. Rows of the same texts are compared in their order."""
    first = intact(before, pd.read_parquet)
    second = intact(now, pd.read_parquet) if now.is_file() else first.iloc[:0]
    numbers = [c for c in first if first[c].dtype.kind == "f"]
    texts = [c for c in first if c not in numbers]
    waiting: dict[tuple, list[int]] = {}
    for i, key in enumerate(_keys(second, texts)):
        waiting.setdefault(key, []).append(i)
    values = second.reindex(columns=numbers).to_numpy(dtype=float, na_value=math.nan)
    odd = []
    for key, row in zip(_keys(first, texts), first[numbers].to_numpy(dtype=float, na_value=math.nan), strict=True):
        there = waiting.get(key) or []
        found = next((i for i in there if all(map(same, map(float, row), map(float, values[i])))), None)
        if found is None:
            shown = ", ".join(str(part) for part in key if part and part != "nan")
            at = there[0] if there else None
            now_ = "no such row" if at is None else str([float(f"{v:.6g}") for v in values[at] if not math.isnan(v)])
            numbers_ = [float(f"{v:.6g}") for v in map(float, row) if not math.isnan(v)]
            odd.append(Missing(before.stem, f"{shown}: {numbers_}", now_))
        else:
            there.remove(found)
    return len(first), odd


def _keys(frame: pd.DataFrame, columns: list[str]) -> list[tuple]:
    cells = frame.reindex(columns=columns).astype(object)
    return [tuple("" if v is None or v is pd.NA or v != v else str(v) for v in row) for row in cells.to_numpy()]


def lines(verdict: Verdict) -> Iterator[str]:
    """What the command says."""
    yield from (f"note: {remark}" for remark in verdict.remarks)
    for kind, n in verdict.compared.n.items():
        failed, impossible = verdict.failed[kind], verdict.impossible[kind]
        good = n - len(failed) - len(impossible)
        share = f"{100 * good / n:.1f}%" if n else "none to compare"
        cannot = f"; {len(impossible)} cannot be computed from the bundle" if impossible else ""
        yield f"{kind}: {good:,} of {n:,} come out again ({share}); {len(failed)} differ{cannot}"
    for kind, missing in verdict.failed.items():
        for one in missing[:LINES]:
            now = f"; now {one.now}" if one.now else ""
            yield f"  differs: {one.where}: {one.what}{now}"
        if missing[LINES:]:
            yield f"  … and {len(missing) - LINES} more {kind} differ"
    for kind, of_kind in verdict.impossible.items():
        for (why, where), n in Counter((why, one.where) for why, one in of_kind).items():
            yield f"  cannot be computed again: {where}: {n} {kind}: {why}"
            examples = [one.what for reason, one in of_kind if (reason, one.where) == (why, where)]
            yield from (f"    {what}" for what in examples[:LINES])
            if examples[LINES:]:
                yield f"    … and {len(examples) - LINES} more"
