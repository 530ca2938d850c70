"""What reading costs as a study grows: CPU time and peak memory, from files to checked frames on disk; and notebooks.

    python benchmarks/reading.py 1e5 1e6
    python benchmarks/reading.py 1e6 --layout long
    python benchmarks/reading.py 1e6 1e7 --layout long --notebooks 00 02

The data are those of `size.py`: 10 systems, 10 labels, 100 people. `wide` has a row per dialogue and person, `long` a
row per judgement, with the time at which it was made. Each study is read in a process of its own, and the cells of each
notebook run in one of their own, without a kernel. Not on Windows.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import resource
import subprocess
import sys
import tempfile
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np
import pandas as pd
import size
import yaml

LABELS = 10


def write(path: Path, judgements: int, layout: str) -> None:
    """A YAML at `path`, and beside it the file it describes."""
    size.write(path, size.Size(judgements, 10, LABELS, 100))
    if layout == "wide":
        return
    file = path.parent / path.stem / "ratings.csv"
    wide, described = pd.read_csv(file), yaml.safe_load(path.read_text(encoding="utf-8"))
    labels = list(described["labels"])
    about = wide.columns.difference([*labels, "overlap", "length"], sort=False)
    long = wide.melt(about, labels, "label", "score", ignore_index=False).dropna(subset="score")
    long = long.astype({"score": int}).sort_index(kind="stable")
    seconds = np.random.default_rng(1).integers(0, 30 * 86_400, len(long)).astype("timedelta64[s]")
    long.assign(time=(np.datetime64("2026-01-01T00:00:00") + seconds).astype(str)).to_csv(file, index=False)
    source = described["sources"][0]
    for key in ("scores", "metrics"):
        del source[key]
    source |= {"layout": "long"}
    source["columns"] |= {"label": "label", "score": "score", "completed_at": "time"}
    path.write_text(yaml.safe_dump(described, sort_keys=False), encoding="utf-8")


def read(path: Path) -> str:
    """Read a study in this process: CPU seconds of all, and megabytes at most."""
    sys.path.insert(0, str(size.ROOT / "src"))
    from judgebook.sources import build
    from judgebook.study import params, store

    study = params.load(path)
    n = len(build.build(study, out=store.processed(study.key)).coded["annotations"])
    return f"| {n:,} | {_used()} |"


def run(path: Path, number: str) -> str:
    """Run the cells of a notebook in this process, on a study that was read: as `read`."""
    sys.path.insert(0, str(size.ROOT / "src"))
    (notebook,) = (size.ROOT / "notebooks").glob(f"{number}_*.ipynb")
    written = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    first, *cells = ["".join(cell["source"]) for cell in written if cell["cell_type"] == "code"]
    names: dict[str, object] = {}
    with redirect_stdout(io.StringIO()):
        exec(first, names)
        names["study"] = str(path)
        for cell in cells:
            exec(cell, names)
    return f"| notebook {number} | {_used()} |"


def _used() -> str:
    use = resource.getrusage(resource.RUSAGE_SELF)
    unit = 1 if sys.platform == "darwin" else 1024  # bytes, kilobytes
    return f"{use.ru_utime + use.ru_stime:.1f} | {use.ru_maxrss * unit / 2**20:,.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("judgements", nargs="*", type=float, default=[1e5, 1e6])
    parser.add_argument("--layout", choices=("wide", "long"), default="wide")
    parser.add_argument("--notebooks", nargs="*", default=[], help="00 02")
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.read:
        print(run(arguments.read, *arguments.notebooks) if arguments.notebooks else read(arguments.read))
        return
    print("| judgements | CPU, s | memory, MB |\n| --- | --- | --- |", flush=True)
    for judgements in arguments.judgements:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "study.yaml"
            write(path, int(judgements), arguments.layout)
            environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "COMPENDIUM_RAW": folder}
            environment["COMPENDIUM_OUT"] = str(path.parent / "out")
            for more in ([], *(["--notebooks", number] for number in arguments.notebooks)):
                subprocess.run([sys.executable, __file__, "--read", str(path), *more], env=environment, check=True)


if __name__ == "__main__":
    main()
