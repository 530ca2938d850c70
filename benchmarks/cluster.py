"""What a cluster gains on a large study and costs on a small one: `python benchmarks/cluster.py`.

    python benchmarks/cluster.py                              # both, with the study that benchmarks/size.py makes
    python benchmarks/cluster.py --large my.yaml --only 05,08  # another study, these notebooks
    python benchmarks/cluster.py --small demo --skip-large

Needs an idle machine with at least as many cores as `--workers`. Reported are ratios of wall time:

- gain: notebooks 05-08 of the large study in one process, by the time on `--workers` local workers (goal: 1.7 on 2);
- cost: the small study on `--workers` local workers, by the time in as many processes without a cluster.

Notebooks that the measured ones need are run before. The files of the two runs are compared, too, byte by byte.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NOT_COMPARED = ("manifest.json", ".cache.json", ".lock")  # they say when something ran


def run(study: str, out: Path, *arguments: str) -> float:
    """Seconds of a run; stops where it fails."""
    command = [sys.executable, str(ROOT / "run_all.py"), "--study", study, "--out", str(out), *arguments]
    env = os.environ | ({"COMPENDIUM_RAW": str(Path(study).parent)} if study.endswith(".yaml") else {})
    start = time.perf_counter()
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout}")
    return time.perf_counter() - start


def contents(out: Path) -> dict[str, bytes]:
    files = (p for part in ("data/processed", "figures", "tables") for p in (out / part).rglob("*"))
    files = (p for p in files if p.name not in NOT_COMPARED)
    return {str(p.relative_to(out)): p.read_bytes() for p in files if p.is_file()}


def differing(one: Path, two: Path) -> int:
    """Number of files that differ or are in one folder only."""
    a, b = contents(one), contents(two)
    return sum(a.get(name) != b.get(name) for name in a.keys() | b.keys())


def large_study(folder: Path) -> str:
    """Study A: 10⁵ judgements, 100 systems, 60 labels, 500 people."""
    path = folder / "a.yaml"
    sizes = ["--judgements", "1e5", "--systems", "100", "--labels", "60", "--people", "500"]
    subprocess.run([sys.executable, str(ROOT / "benchmarks" / "size.py"), "write", str(path), *sizes], check=True)
    return str(path)


def gain(study: str, only: str, workers: int, folder: Path) -> list[str]:
    times = []
    for name, where in (("process", ["--jobs", "1"]), ("cluster", ["--executor", f"local:{workers}"])):
        out = folder / f"large-{name}"
        needed = ",".join(["annotations", "00", "02", "03", "04"])
        run(study, out, "--only", needed, "--jobs", str(workers))
        times.append(run(study, out, "--only", only, *where))
        print(f"large study, {' '.join(where)}: {times[-1]:.0f} s", flush=True)
    other = differing(folder / "large-process", folder / "large-cluster")
    ratio = f"{times[0] / times[1]:.2f}"
    what = f"notebooks {only}, {workers} workers instead of one process"
    return [what, *(f"{t:.0f} s" for t in times), ratio, str(other)]


def cost(study: str, workers: int, folder: Path) -> list[str]:
    plain = run(study, folder / "small-0", "--jobs", str(workers))
    print(f"small study, no cluster: {plain:.0f} s", flush=True)
    on_cluster = run(study, folder / "small-1", "--executor", f"local:{workers}")
    print(f"small study, {workers} workers: {on_cluster:.0f} s", flush=True)
    other = differing(folder / "small-0", folder / "small-1")
    times = [f"{plain:.0f} s", f"{on_cluster:.0f} s", f"{on_cluster / plain:.2f}"]
    return [f"{study}, {workers} workers instead of {workers} processes", *times, str(other)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", metavar="YAML", help="a large study (default: made by benchmarks/size.py)")
    parser.add_argument("--only", default="05,06,07,08", help="notebooks of the large study that are timed")
    parser.add_argument("--small", default="demo")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--skip-large", action="store_true")
    parser.add_argument("--skip-small", action="store_true")
    args = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        if not args.skip_large:
            study = args.large or large_study(folder)
            rows.append(gain(study, args.only, args.workers, folder))
        if not args.skip_small:
            rows.append(cost(args.small, args.workers, folder))
    print("| what | before | after | ratio | files that differ |\n| --- | --- | --- | --- | --- |")
    for row in rows:
        print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()
