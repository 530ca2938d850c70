"""Consensus labels and judge-assisted estimates where the truth is known.

    PYTHONPATH=src python benchmarks/levels/consensus_and_choice.py
    PYTHONPATH=src python benchmarks/levels/consensus_and_choice.py --part consensus --runs 200

Parts and their numbers of studies per case are those of RUNS. Writes consensus_and_choice.csv next to this file, a row
at a time (others stay): part, case, procedure, nominal, measured, mc_error, n_runs, note. A study has random numbers
of its own.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from judgebook.questions.annotators.analysis import dawid_skene
from judgebook.questions.judges.prediction_powered import Sums, estimate, selection


def row(case: str, procedure: str, nominal: float, hits: list, note: str = "") -> dict:
    """hits : 0 and 1, or numbers whose mean is measured; (studies, k) where several are from one study."""
    by_study = np.array([np.mean(h) for h in hits], dtype=float)
    error = by_study.std(ddof=1) / np.sqrt(len(by_study)) if len(by_study) > 1 else np.nan
    measured = by_study.mean() if len(by_study) else np.nan
    numbers = {"measured": round(measured, 4), "mc_error": round(error, 4), "n_runs": len(by_study)}
    return {"case": case, "procedure": procedure, "nominal": nominal, **numbers, "note": note}


def consensus(n: int) -> Iterator[dict]:
    for items, people, rate in product((30, 60, 100), (3, 5, 6), (0.1, 0.3)):
        right: dict[str, list] = {"Dawid-Skene": [], "majority": []}
        item, who = np.repeat(np.arange(items), people), np.tile(np.arange(people), items)
        for i in range(n):
            rng = np.random.default_rng([2, i])
            truth = rng.random(items) < rate
            votes = np.where(rng.random((items, people)) < 0.8, truth[:, None], ~truth[:, None]).astype(int)
            share = votes.mean(axis=1)
            made = {"Dawid-Skene": dawid_skene(item, who, votes.ravel()).labels[:, 1] > 0.5}
            made["majority"] = np.where(share == 0.5, rng.random(items) < 0.5, share > 0.5)
            for name, labels in made.items():
                right[name].append(np.mean(labels == truth))
        for name, shares in right.items():
            yield row(
                f"{items} items, {people} people, rate {rate:g}, accuracy 0.8", f"right labels, {name}", 1.0, shares
            )


def choice(n: int) -> Iterator[dict]:
    for tilt, correlation, judged in ((0.0, 0.7, 0.4), (0.5, 0.7, 0.2), (0.5, 0.9, 0.3), (0.5, 0.7, 0.5)):
        out: dict[str, list] = {"with weights": [], "without weights": []}
        rejected = []
        for i in range(n):
            rng = np.random.default_rng([3, i])
            y = rng.standard_normal(100)
            p = np.clip(judged * np.exp(tilt * y - tilt**2 / 2), 0.02, 1)
            people = np.where(rng.random(100) < p, y, np.nan)
            model = correlation * y + np.sqrt(1 - correlation**2) * rng.standard_normal(100)
            data = Sums(["a"], people, model, np.ones(100), np.zeros(100, int), np.arange(100), scale=(-6.0, 6.0))
            for name, chosen in (("with weights", 1 / p), ("without weights", None)):
                one = estimate(replace(data, chosen=chosen))[1].contrast(np.ones(1))
                out[name] += [one["ci_low"] <= 0 <= one["ci_high"]] if "ci_low" in one else []
            rejected.append(next(selection(data)).get("p_value", 1.0) < 0.05)
        case = f"{judged:.0%} of 100 dialogues judged, chance rises by exp({tilt:g} z), r {correlation:g}"
        for name, hits in out.items():
            yield row(case, f"assisted mean {name}, 95% CI covers", 0.95, hits)
        yield row(case, "test of the random sample rejects", 0.05 if tilt == 0 else 1.0, rejected)


PARTS = {"consensus": consensus, "choice": choice}
#: studies per case
RUNS = {"consensus": 2000, "choice": 2000}
OUT = Path(__file__).with_suffix(".csv")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=PARTS, nargs="+", default=[*PARTS])
    parser.add_argument("--runs", type=int, help="studies per case, in place of RUNS")
    given = parser.parse_args()
    key = ["part", "case", "procedure"]
    for part in given.part:
        for made in PARTS[part](given.runs or RUNS[part]):
            found = pd.DataFrame([made | {"part": part}])
            if OUT.exists():
                before = pd.read_csv(OUT)
                found = pd.concat([before, found]).drop_duplicates(key, keep="last")
            found.sort_values("part", key=lambda c: c.map([*PARTS].index), kind="stable").to_csv(OUT, index=False)


if __name__ == "__main__":
    main()
