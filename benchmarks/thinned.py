"""Do more annotators ever make an answer vaguer? Studies from which annotators are dropped at random.

    COMPENDIUM_RAW=DATA PYTHONPATH=src python benchmarks/thinned.py [DRAWS] [TEXT]

Public studies are as they are; designs of `sharpness.py`, with means from 0 to 1, are another study in each draw.
Writes `thinned.csv`: of the draws whose answer is for other annotators as before (`others`) the median of the median
half-width (endless where most pairs can no longer be compared), the mean number of pairs decided, and in how many the
answer is wider or decides fewer pairs than with all annotators. TEXT: of these studies only; others keep their rows.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import sharpness
import sharpness_layouts

from judgebook.model.comparisons import Comparisons

TABLE = Path(__file__).resolve().with_suffix(".csv")
SEED, SHARES = 11, (1.0, 0.75, 0.5, 0.25)
STUDIES = (
    "finch2024, stu_x, proactive", "finch2024, dev_x, emotional", "abc_public, external, grammatical",
    "usr, all, understandable", "convai2_wild, all, quality", "llmfao, crowd, better",
    "8 annotators, crossed, 6 systems", "2 of 20 annotators, 6 systems", "2 of 8 annotators, loads 10:1, 6 systems",
    "5 annotators, Likert, 6 systems", "5 annotators, marks 10%, 6 systems", "20 annotators, votes, 6 systems",
)  # fmt: skip
FIELDS = ("study", "annotators", "seed", "draws", "others", "half_width", "decided", "pairs", "wider", "fewer")


def answer(data: Any, people: np.ndarray) -> tuple[float, int, bool]:
    """By some annotators: median half-width, pairs decided, and whether they stand for others."""
    keep, half = np.isin(data.annotator, people), np.full(len(data.systems) * (len(data.systems) - 1) // 2, np.inf)
    sides = ("first", "second") if isinstance(data, Comparisons) else ("system", "item")
    parts = {name: getattr(data, name)[keep] for name in (*sides, "score", "context", "annotator")}
    for name in {"system", "item", "context", "annotator"} & set(parts):
        levels, parts[name] = np.unique(parts[name], return_inverse=True)
        if name == "system":  # without those that nobody judged any more
            parts["systems"] = tuple(data.systems[k] for k in levels)
    fit = sharpness.fitted(replace(data, **parts))
    d = fit.levels.differences()
    half[: len(d.low)] = np.nan_to_num((d.high - d.low) / 2, nan=np.inf)
    return float(np.median(half)), int(d.decided.sum()), fit.others


def measured(name: str, study: Any, draws: int) -> Iterator[dict[str, Any]]:
    told, kept = [], [0]
    for k in range(draws):
        rng = np.random.default_rng([SEED, k, *name.encode()])
        data = getattr(study, "own", None)
        data = data or study.judgements(sharpness.strengths_of("0 to 1", study.systems, rng), rng)
        people = rng.permutation(int(data.annotator.max()) + 1)
        kept = sorted({max(2, round(share * len(people))) for share in SHARES}, reverse=True)
        told.append([answer(data, people[:n]) for n in kept])
    for i, n in enumerate(kept):
        both = [(row[i], row[0]) for row in told if row[i][2]]
        cells = (
            name, n, SEED, draws, len(both), f"{np.median([a[0] for a, _ in both]):.3f}",
            f"{np.mean([a[1] for a, _ in both]):.2f}", study.systems * (study.systems - 1) // 2,
            sum(a[0] > b[0] for a, b in both), sum(a[1] < b[1] for a, b in both),
        )  # fmt: skip
        yield dict(zip(FIELDS, cells, strict=True))


def main(draws: int, only: str) -> None:
    with TABLE.open(newline="", encoding="utf-8") as file:
        rows: list[dict[str, Any]] = list(csv.DictReader(file))
    for name, study in (dict(sharpness_layouts.layouts()) | sharpness.DESIGNS).items():
        if name in STUDIES and only in name:
            rows = [row for row in rows if row["study"] != name] + list(measured(name, study, draws))
            rows.sort(key=lambda row: STUDIES.index(row["study"]))  # in a stable way
            with TABLE.open("w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, FIELDS)
                writer.writeheader()
                writer.writerows(rows)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 30, sys.argv[2] if len(sys.argv) > 2 else "")
