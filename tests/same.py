"""What a change to the code moves: results, tables and figures of a commit held against those of the working tree.

`make same` runs two studies that come with the project, with few resamples; `FULL=1` every study whose data are there,
as its YAML has it; `STUDIES="fed ji2022"` these. `ONLY="03 07"` runs and compares only these notebooks, `JOBS=1` runs
one at a time. `BASE=REF` names the commit (default: where this branch left main). What a commit gives is kept in
`build/same`, with the digests of its files; a run of all notebooks also serves for some. The working tree runs only
what has changed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pandas as pd

from judgebook.pipeline import dag
from judgebook.study.result_schema import IDENTITY

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "build" / "same"
FILES = ("data/processed/*/results/*", "tables/*/*", "figures/*/*.svg")
DIGESTS = "digests.json"
NUMBERS = ["estimate", "ci_low", "ci_high", "p_value", "p_adjusted", "n", "n_clusters", "n_annotators", "n_undefined"]


def digests(folder: Path) -> dict[str, str]:
    """SHA-256 of each result, table and figure below a folder of runs, by its path there."""
    paths = sorted(p for pattern in FILES for p in folder.glob(pattern) if p.is_file())
    # of what is stored twice the text is enough
    paths = [p for p in paths if p.suffix != ".parquet" or not p.with_suffix(".csv").is_file()]
    return {p.relative_to(folder).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest() for p in paths}


def moved(before: Path, after: Path, old: dict[str, str] | None = None, notebooks: Sequence[str] = ()) -> Iterator[str]:
    """What differs between two folders of runs, a line each, of all notebooks or of these.

    old : digests of the first, where they are known.
    """
    old, new = (of_notebooks(f, notebooks) for f in (digests(before) if old is None else old, digests(after)))
    for name in sorted({*old, *new}):
        if name not in new or name not in old:
            yield f"{name}: {'gone' if name not in new else 'new'}"
        elif old[name] != new[name]:
            yield name
            if "/results/" in name and name.endswith(".csv"):
                yield from (f"  {line}" for line in statistics_moved(*(_rows(f / name) for f in (before, after))))


def _rows(path: Path) -> pd.DataFrame:
    rows = pd.read_csv(path, dtype=str, keep_default_na=False)
    return rows.set_index([*IDENTITY, rows.groupby(IDENTITY, sort=False).cumcount().rename("again")])


def statistics_moved(old: pd.DataFrame, new: pd.DataFrame) -> Iterator[str]:
    """For each statistic, how many of its rows are gone, new or changed, and the largest difference."""
    both = old.index.intersection(new.index, sort=False)
    columns = [*dict.fromkeys([*old, *new])]
    a, b = (frame.reindex(index=both, columns=columns) for frame in (old, new))
    changed = a.ne(b)
    a, b = (frame.reindex(columns=NUMBERS).apply(pd.to_numeric, errors="coerce") for frame in (a, b))
    found = {
        "gone": old.index.difference(both),
        "new": new.index.difference(both),
        "changed": both[changed.any(axis=1)],
    }
    for statistic in dict.fromkeys(s for index in found.values() for s in index.unique("statistic")):
        counts = {how: int((index.get_level_values("statistic") == statistic).sum()) for how, index in found.items()}
        said = [f"{n:,} rows {how}" for how, n in counts.items() if n]
        own = both.get_level_values("statistic") == statistic
        if counts["changed"]:
            said.append(f"in {', '.join(c for c in columns if changed.loc[own, c].any())}")
            differences = (a[own] - b[own]).abs().max()
            if differences.max() > 0:
                said.append(f"by up to {differences.max():.3g} ({differences.idxmax()})")
        yield f"{statistic}: {', '.join(said)}"
    if not any(map(len, found.values())):
        yield "the same rows in another order"


def arguments(studies: list[str], full: bool) -> list[str]:
    """Of `run_all.py`, for both runs."""
    if full or studies:
        return [a for study in studies or ["all"] for a in ("--study", study)]
    from fixtures.notebook_runs import LESS

    return ["--study", "llmfao", "--study", "demo", "--set", *LESS]


def of_notebooks(files: dict[str, str], notebooks: Sequence[str]) -> dict[str, str]:
    """The digests of what these notebooks store and draw; of all files where none is named."""
    numbers = tuple(f"{name.partition('_')[0]}_" for name in notebooks)
    return {path: digest for path, digest in files.items() if not numbers or Path(path).name.startswith(numbers)}


def chosen(only: list[str]) -> list[str]:
    """The notebooks that are named (`03_iaa`, `03` or `iaa`; also several with commas), without what they need."""
    entries = {name: entry.model_copy(update={"needs": []}) for name, entry in dag.load().items()}
    wanted = [name for names in only for name in names.split(",") if name]
    return dag.select(list(entries), wanted, entries)


def run(project: Path, out: Path, given: list[str], jobs: int | None = None) -> None:
    """Run studies with the code of `project`, `jobs` notebooks at a time. Raises SystemExit where none could be run."""
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "COMPENDIUM_OUT")}
    # how many run at a time changes no result: what is kept does not depend on it
    command = [sys.executable, "run_all.py", *given, *(["--jobs", str(jobs)] if jobs else []), "--out", str(out)]
    code = subprocess.run(command, cwd=project, env=environment, stdout=sys.stderr, check=False).returncode
    if code not in (0, 1):
        raise SystemExit(f"same: {' '.join(command[1:])} in {project}: exit code {code}")


def base(commit: str, given: list[str], notebooks: Sequence[str] = (), jobs: int | None = None) -> Path:
    """The folder of what a commit gives, made where it is not there yet. notebooks : these are enough, if named."""
    out = _folder(commit, given)
    if notebooks and not (out / DIGESTS).is_file():
        given = [*given, "--only", ",".join(notebooks)]
        out = _folder(commit, given)
    if not (out / DIGESTS).is_file():
        tree = KEPT / f"tree-{os.getpid()}"
        _git("worktree", "add", "--quiet", "--detach", str(tree), commit)
        try:
            run(tree, out, given, jobs)
        finally:
            _git("worktree", "remove", "--force", str(tree))
        (out / DIGESTS).write_text(json.dumps(digests(out), indent=1), encoding="utf-8")
        _only(out, json.loads((out / DIGESTS).read_text(encoding="utf-8")))
    return out


def _folder(of: str, given: list[str]) -> Path:
    return KEPT / f"{of[:12]}-{hashlib.sha256(json.dumps(given).encode()).hexdigest()[:8]}"


def _only(folder: Path, names: Iterable[str]) -> None:
    """Remove what is not compared: data, executed notebooks, pages."""
    kept = {folder / name for name in names} | {folder / DIGESTS}
    for path in folder.rglob("*"):
        if path.is_file() and path not in kept:
            path.unlink()


def _git(*given: str) -> str:
    return subprocess.run(["git", *given], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def where_left() -> str:
    """The commit at which this branch left main."""
    known = _git("for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/remotes").split()
    main = next((name for name in ("origin/main", "main") if name in known), "HEAD")
    return _git("merge-base", "HEAD", main)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--base", help="the commit to compare with (default: where this branch left main)")
    parser.add_argument("--full", action="store_true", help="every study whose data are there, as its YAML has it")
    parser.add_argument("--study", nargs="+", default=[], help="these studies, as their YAMLs have them")
    parser.add_argument("--only", nargs="+", default=[], help="these notebooks (03_iaa, 03 or iaa) and what they need")
    parser.add_argument("--jobs", type=int, help="notebooks at a time")
    args = parser.parse_args()
    try:
        notebooks = chosen(args.only)
    except dag.NotebookError as error:
        raise SystemExit(f"same: {error}") from None
    commit = _git("rev-parse", "--verify", f"{args.base or where_left()}^{{commit}}")
    given = arguments(args.study, args.full)
    before = base(commit, given, notebooks, args.jobs)
    # one folder for the working tree, whichever notebooks are run: what has not changed is not run again
    after = _folder("here", given)
    run(ROOT, after, given + (["--only", ",".join(notebooks)] if notebooks else []), args.jobs)
    kept = of_notebooks(json.loads((before / DIGESTS).read_text(encoding="utf-8")), notebooks)
    if notebooks and not kept:
        raise SystemExit(f"same: none of these studies has {', '.join(notebooks)}")
    lines = list(moved(before, after, kept, notebooks))
    print(*lines, f"{len(kept):,} files of {commit[:12]}: {'these moved' if lines else 'all the same'}", sep="\n")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
