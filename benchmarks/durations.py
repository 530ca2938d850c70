"""Fits `seconds` of each `question.py`, by which a run says how long a notebook takes.

    python benchmarks/size.py measure out/size/*.yaml --out out/size/out --table out/size/size.csv
    python benchmarks/durations.py out/size/size.csv out/size/out

Prints non-negative least squares of relative errors, one notebook at a time, over the studies measured.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import nnls

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "src")]

from judgebook.pipeline import nodes  # noqa: E402
from judgebook.study.questions import declared  # noqa: E402


def fitted(rows: pd.DataFrame, out: Path) -> dict[str, tuple[float, ...]]:
    """Notebook -> coefficients, of those measured in at least three studies."""
    profiles = {}
    for study in rows["study"].unique():
        path = out / "data" / "processed" / str(study) / "profile.json"
        profiles[study] = json.loads(path.read_text(encoding="utf-8"))
    table = {}
    done = rows[(rows["outcome"] == "done") & rows["step"].str[0].str.isdigit()]
    for name, part in done.drop_duplicates(["study", "step"], keep="last").groupby("step"):
        x = np.array([nodes.sizes(declared()[str(name)], profiles[study]) for study in part["study"]])
        y = part["seconds"].to_numpy(float)
        if len(y) >= 3:
            found, _ = nnls(x / y[:, None], np.ones(len(y)))
            table[str(name)] = tuple(float(f"{c:.2g}") for c in found)
    return table


def main() -> None:
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    for name, coefficients in fitted(pd.read_csv(sys.argv[1]), Path(sys.argv[2])).items():
        print(f"{name}: seconds={[*coefficients]}")


if __name__ == "__main__":
    main()
