"""What a study costs as it grows: writes made-up studies of any size, runs the notebooks on them, and shows the curve.

    python benchmarks/size.py write out/size/a.yaml --judgements 1e5 --systems 100 --labels 60 --people 500
    python benchmarks/size.py write out/size/b.yaml --judgements 1e6 --systems 10 --labels 10 --people 100
    python benchmarks/size.py measure out/size/a.yaml out/size/b.yaml --out out/size/out --table out/size/size.csv
    python benchmarks/size.py measure out/size/a.yaml --only 03,05 --gb 4 --seconds 300 --out out/size/out
    python benchmarks/size.py table out/size/size.csv

Each dialogue is rated by the person who talked (one label, `quality`) and on all other labels by two people; there are
two groups of people, two automatic metrics and sessions of up to four systems. What is measured is the kernel that runs
a notebook, and the process that computes for the first page, before any kernel, what this waits for: their CPU seconds,
user and system, and the most memory that one of them held (resident). What is up to date does not run and is not
measured. Linux only: peaks come from /proc.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

ROOT = Path(__file__).resolve().parents[1]
JUDGES = 2  # people who rate each dialogue, besides the one who talked
SESSION = 4  # systems somebody talks with in one session
BLOCK = 10_000  # dialogues drawn and written at a time: the data do not depend on memory
POLL = 0.05  # seconds between two looks at the kernel
EXTRAS = ("control", "judge", "comparisons")
READING = "annotations"


@dataclass(frozen=True)
class Size:
    """judgements : as many as asked for, rounded to whole dialogues, without those of the extras."""

    judgements: int
    systems: int
    labels: int
    people: int
    extras: tuple[str, ...] = ()

    @property
    def dialogues(self) -> int:
        return max(1, round(self.judgements / (JUDGES * self.labels + 1)))


def write(path: Path, size: Size, seed: int = 1) -> None:
    """A YAML at `path`, and beside it the files it describes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    folder = path.parent / path.stem
    folder.mkdir(exist_ok=True)
    labels = [f"label_{j:03d}" for j in range(size.labels)]
    rngs = np.random.default_rng(seed).spawn(2 + -(-size.dialogues // BLOCK))
    world = _world(size, rngs[0])
    with (folder / "ratings.csv").open("w", encoding="utf-8") as file:
        for first, rng in zip(range(0, size.dialogues, BLOCK), rngs[2:], strict=True):
            rows = _ratings(size, world, np.arange(first, min(first + BLOCK, size.dialogues)), labels, rng)
            rows.to_csv(file, index=False, header=not first)
    if "comparisons" in size.extras:
        _comparisons(size, world, rngs[1]).to_csv(folder / "comparisons.csv", index=False)
    text = yaml.safe_dump(_described(path, size, labels), sort_keys=False, allow_unicode=True)
    path.write_text(text, encoding="utf-8")


def _world(size: Size, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """True qualities of systems, severities of people, and how much each label depends on quality."""
    system = 0.4 * rng.normal(size=size.systems)
    if "control" in size.extras:
        system[-1] = -2
    return {
        "system": system,
        "person": 0.4 * rng.normal(size=size.people),
        "loading": rng.uniform(0.1, 0.9, size.labels),
        "own": 0.2 * rng.normal(size=(size.systems, size.labels)),  # of a system, on one label
        # the system of each dialogue: all in random order, again and again, so any two meet in some session
        "assigned": np.concatenate([rng.permutation(size.systems) for _ in range(-(-size.dialogues // size.systems))]),
    }


def _likert(latent: np.ndarray) -> np.ndarray:
    return np.clip(np.rint(3 + latent), 1, 5).astype(int)


def _marked(j: int) -> bool:
    """Every fifth label is a mark, 0 or 1; the others are scales from 1 to 5."""
    return j % 5 == 4


def _ratings(
    size: Size, world: dict[str, np.ndarray], dialogue: np.ndarray, labels: list[str], rng: np.random.Generator
) -> pd.DataFrame:
    """Rows of the file: one per dialogue and person; empty cells where somebody was not asked."""
    n, session = len(dialogue), dialogue // SESSION
    system = world["assigned"][dialogue]
    user, good = session % size.people, world["system"][system] + 0.6 * rng.normal(size=n)
    judge = rng.integers(0, size.people - 1, n)
    other = rng.integers(0, size.people - 2, n)
    judge += judge >= user  # neither the one who talked, nor the same person twice
    low, high = np.minimum(judge, user), np.maximum(judge, user)
    other += other >= low
    other += other >= high
    dialogues = pd.DataFrame(
        {
            "dialogue": [f"d{d:07d}" for d in dialogue],
            "system": [f"S{s:03d}" for s in system],
            "session": [f"s{s:07d}" for s in session],
            "user": [f"p{u:05d}" for u in user],
            "overlap": np.round(good + rng.normal(size=n), 3),
            "length": rng.integers(20, 200, n),
        }
    )
    quality = _likert(good + 0.3 * world["person"][user] + 0.5 * rng.normal(size=n))
    parts = [dialogues.assign(rater=dialogues["user"], group="users", seconds=rng.integers(10, 60, n), quality=quality)]
    raters = [(judge, "p"), (other, "p")] + ([(np.zeros(n, int), "gpt")] if "judge" in size.extras else [])
    aspects = world["loading"] * good[:, None] + world["own"][system] + 0.5 * rng.normal(size=(n, size.labels))
    for who, kind in raters:
        latent = aspects + world["person"][who][:, None] + 0.7 * rng.normal(size=(n, size.labels))
        marks = [j for j in range(size.labels) if _marked(j)]
        scores = _likert(latent)
        scores[:, marks] = latent[:, marks] > 1.2
        names = [f"p{w:05d}" for w in who] if kind == "p" else ["gpt"] * n
        groups = np.where(who % 5 < 3, "crowd", "experts") if kind == "p" else "models"
        about = dialogues.assign(rater=names, group=groups, seconds=rng.integers(60, 600, n))
        parts.append(pd.concat([about, pd.DataFrame(scores, columns=labels)], axis=1))
    return pd.concat(parts).astype({"quality": "Int64", **dict.fromkeys(labels, "Int64")}).sort_index(kind="stable")


def _comparisons(size: Size, world: dict[str, np.ndarray], rng: np.random.Generator) -> pd.DataFrame:
    """A tenth as many choices between two dialogues as there are judgements."""
    n = max(1, size.judgements // 10)
    first, second = rng.integers(0, size.dialogues, n), rng.integers(0, size.dialogues - 1, n)
    second += second >= first
    system = [world["assigned"][d] for d in (first, second)]
    keep = system[0] != system[1]
    lead = world["system"][system[0]] - world["system"][system[1]] + rng.normal(size=n)
    return pd.DataFrame(
        {
            "dialogue": [f"d{d:07d}" for d in first],
            "dialogue_b": [f"d{d:07d}" for d in second],
            "system": [f"S{s:03d}" for s in system[0]],
            "system_b": [f"S{s:03d}" for s in system[1]],
            "rater": [f"p{p:05d}" for p in rng.integers(0, size.people, n)],
            "better": np.where(np.abs(lead) < 0.2, 0, np.sign(lead)).astype(int),
        }
    )[keep].drop_duplicates(["dialogue", "dialogue_b", "rater"])


def _described(path: Path, size: Size, labels: list[str]) -> dict:
    """The YAML of the study."""
    ratings = {
        "adapter": "table",
        "file": "ratings.csv",
        "layout": "wide",
        "columns": {
            **{c: c for c in ("dialogue", "system", "session", "group", "seconds")},
            "interactor": "user",
            "annotator": "rater",
        },
        "scores": "{label}",
        "metrics": {"overlap": "overlap", "length": "length"},
        "judges": {"gpt": "llm"},
    }
    scales: dict[str, dict] = {"quality": {"scale": [1, 5]}}
    scales |= {name: {"scale": [0, 1] if _marked(j) else [1, 5]} for j, name in enumerate(labels)}
    sources = [ratings]
    if "judge" not in size.extras:
        del ratings["judges"]
    if "comparisons" in size.extras:
        columns = {c: c for c in ("dialogue", "dialogue_b", "system", "system_b")} | {"annotator": "rater"}
        constants = {"group": "crowd", "method": "pairwise_dialogue"}
        sources.append(
            {"adapter": "table", "file": "comparisons.csv", "layout": "wide", "columns": columns, "scores": "{label}"}
            | {"constants": constants}
        )
        scales["better"] = {"scale": [-1, 1], "method": "pairwise_dialogue"}
    out = {
        "title": f"Made up: {size.judgements:,} judgements, {size.systems} systems",
        "description": f"{size.labels} labels, {size.people} people. All data are made up by benchmarks/size.py.",
        "sources": sources,
        "labels": scales,
    }
    return out | ({"control_system": f"S{size.systems - 1:03d}"} if "control" in size.extras else {})


# -- measuring ---------------------------------------------------------------------------------------------------------


@dataclass
class Use:
    """What a process used so far."""

    seconds: float = 0.0
    mb: float = 0.0

    def look(self, process: int) -> None:
        """Keep the largest values seen: those of a process that has ended cannot be read any more."""
        try:
            stat = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
        except OSError:
            return
        ticks = os.sysconf("SC_CLK_TCK")
        self.seconds = max(self.seconds, (int(stat[11]) + int(stat[12])) / ticks)
        peak = [int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")]
        self.mb = max(self.mb, *[p / 1024 for p in peak], 0.0)


def _below(process: int) -> Iterator[int]:
    """All descendants of a process."""
    try:
        tasks = list(Path(f"/proc/{process}/task").iterdir())
        children = [int(c) for t in tasks for c in (t / "children").read_text(encoding="utf-8").split()]
    except OSError:
        return
    for child in children:
        yield child
        yield from _below(child)


def _is_kernel(process: int) -> bool:
    """A kernel is forked by the process that has imported what all kernels need."""
    try:
        parent = int(Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
        return all(b"warm.py" in Path(f"/proc/{p}/cmdline").read_bytes() for p in (process, parent))
    except OSError:
        return False


def measured(command: list[str], gb: float, seconds: float, raw: Path) -> tuple[Use, Use, str]:
    """What the process that did most before a kernel started took in `command`, and the kernel; and how it ended.

    A process at work is stopped where it takes more than `gb` or `seconds`.
    """
    environment = {**os.environ, "COMPENDIUM_RAW": str(raw)}
    with tempfile.TemporaryFile("w+", encoding="utf-8") as said:
        run = subprocess.Popen(command, env=environment, stdout=said, stderr=subprocess.STDOUT)
        before: dict[int, Use] = {}
        kernels: dict[int, Use] = {}
        ended = ""
        while run.poll() is None:
            processes = list(_below(run.pid))
            at_work = [p for p in processes if _is_kernel(p)]
            uses = kernels if at_work or kernels else before
            for process in at_work if uses is kernels else processes:
                use = uses.setdefault(process, Use())
                use.look(process)
                if use.mb > 1024 * gb or use.seconds > seconds:
                    # a kernel does again what was stopped before it
                    ended = ended or (f"stopped at {gb:g} GB" if use.mb > 1024 * gb else f"stopped at {seconds:g} s")
                    with suppress(ProcessLookupError):
                        os.kill(process, signal.SIGKILL)
            time.sleep(POLL)
        said.seek(0)
        text = said.read()
    if run.returncode and not ended:
        ended = f"exit {run.returncode}"
        print(text, file=sys.stderr)
    largest = [max(uses.values(), key=lambda use: use.seconds, default=Use()) for uses in (before, kernels)]
    return *largest, ended or ("done" if kernels else "did not run")


def _entries() -> dict[str, bool]:
    """Notebooks that a study of made-up data may have, and whether the first page waits for them."""
    sys.path.insert(0, str(ROOT / "src"))
    from judgebook.pipeline import dag

    entries = dag.load(dag.NOTEBOOKS).items()
    return {name: entry.early for name, entry in entries if not entry.across and "embedded" not in entry.requires}


def measure(path: Path, out: Path, only: list[str], gb: float, seconds: float) -> Iterator[dict[str, object]]:
    """A row per step: reading, then each notebook, alone and one after the other."""
    study = yaml.safe_load(path.read_text(encoding="utf-8"))
    about = {"study": path.stem, "title": study["title"]}
    run = [sys.executable, str(ROOT / "run_all.py"), "--study", str(path), "--jobs", "1", "--out", str(out)]
    entries, frames = _entries(), out / "data" / "processed" / path.stem / f"{READING}.parquet"
    for step in [READING, *(name for name in entries if not only or any(name.startswith(o) for o in only))]:
        read = frames.stat().st_mtime_ns if frames.exists() else 0
        before, kernel, ended = measured([*run, "--only", step], gb, seconds, path.parent)
        uses = [before] if step == READING else [kernel, before] if entries[step] else [kernel]
        use = Use(sum(use.seconds for use in uses), max(use.mb for use in uses))
        if step == READING and ended == "did not run" and frames.exists() and frames.stat().st_mtime_ns != read:
            ended = "done"  # without a kernel
        yield {**about, "step": step, "seconds": round(use.seconds, 1), "mb": round(use.mb), "outcome": ended}


def table(rows: pd.DataFrame) -> str:
    """Markdown: a row per step, a column per study, `seconds / MB`; what was stopped says so."""
    shown = [
        "–"
        if r.outcome == "skipped"
        else f"{r.seconds:.0f} / {r.mb:,.0f}" + ("" if r.outcome == "done" else f" ({r.outcome})")
        for r in rows.itertuples()
    ]
    ran = rows.assign(shown=shown)[rows["outcome"] != "did not run"]
    last = ran.drop_duplicates(["study", "step"], keep="last")
    wide = last.pivot_table(index="step", columns="study", values="shown", aggfunc="first").fillna("–")
    wide = wide.reindex([s for s in [READING, *sorted(set(wide.index) - {READING})] if s in wide.index])
    lines = [f"| CPU s / peak MB | {' | '.join(wide.columns)} |", f"| --- |{' --- |' * len(wide.columns)}"]
    lines += [f"| {step} | {' | '.join(row)} |" for step, row in zip(wide.index, wide.to_numpy(), strict=True)]
    sums = last[last["outcome"] == "done"].groupby("study").agg(seconds=("seconds", "sum"), mb=("mb", "max"))
    total = [f"{sums.seconds[s]:.0f} / {sums.mb[s]:,.0f}" if s in sums.index else "–" for s in wide.columns]
    return "\n".join([*lines, f"| all (sum / largest) | {' | '.join(total)} |"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    add = commands.add_parser("write").add_argument
    add("yaml", type=Path)
    add("--judgements", type=float, default=1e5)
    add("--systems", type=int, default=10)
    add("--labels", type=int, default=10)
    add("--people", type=int, default=100)
    add("--extras", nargs="*", choices=EXTRAS, default=[])
    add("--seed", type=int, default=1)
    add = commands.add_parser("measure").add_argument
    add("yaml", type=Path, nargs="+")
    add("--out", type=Path, required=True)
    add("--table", type=Path, help="CSV that rows are added to")
    add("--only", default="", help="03,05_sensitivity")
    add("--gb", type=float, default=6)
    add("--seconds", type=float, default=600)
    add = commands.add_parser("table").add_argument
    add("csv", type=Path, nargs="+")
    args = parser.parse_args()
    if args.command == "write":
        size = Size(int(args.judgements), args.systems, args.labels, args.people, tuple(args.extras))
        write(args.yaml, size, args.seed)
    elif args.command == "measure":
        for path in args.yaml:
            only = [o for o in args.only.split(",") if o]
            for row in measure(path, args.out, only, args.gb, args.seconds):
                print("{study}  {step:<28} {seconds:7.1f} s {mb:7,d} MB  {outcome}".format(**row), flush=True)
                if args.table:
                    new = not args.table.exists()
                    pd.DataFrame([row]).to_csv(args.table, mode="a", header=new, index=False)
    else:
        print(table(pd.concat([pd.read_csv(path) for path in args.csv])))


if __name__ == "__main__":
    main()
