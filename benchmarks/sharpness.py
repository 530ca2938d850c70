"""How sharp and how honest the model of ratings is, in designs whose truth is known, beside lme4 where R is there.

    PYTHONPATH=src python benchmarks/sharpness.py [--runs 500] [--only TEXT] [--kinds model,lmer]

Writes `sharpness.csv` beside this file: design, truth and procedure, with the share of data sets in which any pair is
decided that is equal or the other way round (`false_families`), how often all differences lie in their simultaneous
intervals and each in its own, the median simultaneous half-width, pairs decided, and how often the system whose chance
of being the best is 80 to 90%, or more, is the best. All procedures see the same data sets. Without R, rows of lme4 are
kept as they were recorded. The linear model moves with the means of systems, so data sets of plain scores are fitted
once, and the means of each truth added afterwards.
"""

from __future__ import annotations

import argparse
import csv
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from judgebook.model import ratings
from judgebook.model.judgements import Judgements

HERE = Path(__file__).resolve()
SDS = {"annotator": 0.4, "taste": 0.3, "context": 0.4, "item": 0.6, "residual": 0.7}
#: truths: SD of strengths that are drawn, or what they are
TRUTHS = ("equal", "0 to 1", "drawn 0.15", "drawn 0.3", "drawn 0.6")
#: share of latent scores below each step
STEPS = {
    "Likert": (0.1, 0.3, 0.6, 0.85), "80% at the top": (0.02, 0.05, 0.1, 0.2), "marks 10%": (0.9,), "marks 3%": (0.97,),
}  # fmt: skip
FIELDS = (
    "design", "truth", "procedure", "data_sets", "false_families", "mc_error", "covered_all", "covered_single",
    "half_width", "decided", "pairs", "model_width",
    "claims_80", "right_80", "claims_90", "right_90", "seconds",
)  # fmt: skip


@dataclass(frozen=True)
class Design:
    """Each of `items` per system is judged by `each` of the annotators, or by all.

    nested : annotators are within systems. shared : items answer contexts that all systems have. measure : plain
    scores, with errors of three degrees of freedom, or a scale with `STEPS`. loads : of the busiest annotator over the
    least busy. taste, noise : SD of annotator x system, and of item and residual, of every second system over that of
    the others. runs : of 500 data sets how many are made.
    """

    systems: int
    annotators: int
    items: int = 20
    each: int | None = None
    nested: bool = False
    shared: bool = False
    measure: str = "plain"
    loads: float = 1.0
    taste: float = 1.0
    noise: float = 1.0
    sds: tuple[tuple[str, float], ...] = ()
    runs: int = 500

    @property
    def sd(self) -> dict[str, float]:
        return SDS | (dict(self.sds) if self.shared else {"context": 0.0} | dict(self.sds))

    def judgements(self, strengths: np.ndarray, rng: np.random.Generator) -> Judgements:
        s, m, sd = self.systems, self.annotators, self.sd
        n = s * self.items
        keys = rng.exponential(size=(n, m)) * np.geomspace(1, self.loads, m)  # the least are drawn
        item, annotator = np.nonzero(keys.argsort(axis=1).argsort(axis=1) < (self.each or m))
        system, context = item // self.items, item % self.items
        if self.nested:
            annotator = annotator + m * system
        people, odd = int(annotator.max()) + 1, np.arange(s) % 2
        taste = sd["taste"] * np.array([1.0, self.taste])[odd] / np.sqrt(self.taste)
        noise = (np.array([1.0, self.noise])[odd] / np.sqrt(self.noise))[system]
        error = rng.standard_t(3, len(item)) / np.sqrt(3) if self.measure == "3 df" else rng.normal(size=len(item))
        y = strengths[system] + sd["annotator"] * rng.normal(size=people)[annotator]
        y += (taste * rng.normal(size=(people, s)))[annotator, system]
        y += sd["context"] * rng.normal(size=self.items)[context]
        y += noise * (sd["item"] * rng.normal(size=n)[item] + sd["residual"] * error)
        if self.measure in STEPS:
            y = np.searchsorted(self.cuts, y).astype(float)
        if not np.ptp(y):  # without a mark: nothing to be said
            return self.judgements(strengths, rng)
        annotator = np.unique(annotator, return_inverse=True)[1]
        names = tuple(f"s{i:02d}" for i in range(s))
        marks = self.measure.startswith("marks")
        return Judgements(names, system, item, context if self.shared else item, annotator, y, marks=marks)

    @property
    def latent_sd(self) -> float:
        return float(np.sqrt(sum(v**2 for v in self.sd.values())))

    @property
    def cuts(self) -> np.ndarray:
        return np.asarray(self.latent_sd * stats.norm.ppf(STEPS[self.measure]))

    def means(self, strengths: np.ndarray) -> np.ndarray:
        """Of scores, over all that is a sample."""
        if self.measure not in STEPS:
            return strengths
        return np.asarray(stats.norm.sf((self.cuts - strengths[:, None]) / self.latent_sd).sum(axis=1))


DESIGNS = {
    "2 annotators, crossed, 4 systems": Design(4, 2),
    "3 annotators, crossed, 6 systems": Design(6, 3),
    "5 annotators, crossed, 6 systems": Design(6, 5),
    "8 annotators, crossed, 6 systems": Design(6, 8),
    "5 annotators, crossed, 2 systems": Design(2, 5),
    "5 annotators, crossed, 6 systems, shared contexts": Design(6, 5, shared=True),
    "3 annotators without tastes, 6 systems, shared contexts": Design(6, 3, shared=True, sds=(("taste", 0.0),)),
    "5 annotators in each of 4 systems": Design(4, 5, nested=True),
    "2 of 20 annotators, 6 systems": Design(6, 20, 40, 2),
    "2 of 20 annotators, 6 systems, shared contexts": Design(6, 20, 40, 2, shared=True),
    "1 of 5 annotators, 4 systems": Design(4, 5, 40, 1),
    "2 of 8 annotators, 20 systems, shared contexts": Design(20, 8, 20, 2, shared=True, runs=200),
    "2 of 20 annotators, 60 systems, shared contexts": Design(60, 20, 15, 2, shared=True, runs=40),
    "2 of 8 annotators, loads 10:1, 6 systems": Design(6, 8, 40, 2, loads=10.0),
    "1 of 5 annotators, loads 10:1, 4 systems": Design(4, 5, 60, 1, loads=10.0),
    "5 annotators, tastes 3:1, 6 systems": Design(6, 5, taste=3.0),
    "8 annotators, tastes 3:1, 6 systems": Design(6, 8, taste=3.0),
    "5 annotators, items and errors 3:1, 6 systems": Design(6, 5, noise=3.0),
    "5 annotators, errors with 3 df, 6 systems": Design(6, 5, measure="3 df"),
    "3 annotators, Likert, 6 systems": Design(6, 3, measure="Likert", runs=300),
    "5 annotators, Likert, 6 systems": Design(6, 5, measure="Likert", runs=300),
    "5 annotators, 80% at the top, 6 systems": Design(6, 5, measure="80% at the top", runs=300),
    "5 annotators, marks 10%, 6 systems": Design(6, 5, measure="marks 10%", runs=300),
    "3 annotators, marks 3%, 6 systems": Design(6, 3, measure="marks 3%", runs=300),
    "5 annotators, marks 3%, 6 systems": Design(6, 5, measure="marks 3%", runs=300),
}
#: slower procedures see a few data sets of these designs only: how many where a design has 500
OTHERS = {
    "kr": {"2 annotators, crossed, 4 systems": 30, "3 annotators, crossed, 6 systems": 10},
}


def strengths_of(truth: str, systems: int, rng: np.random.Generator) -> np.ndarray:
    if truth.startswith("drawn"):
        return rng.normal(0, float(truth.split()[1]), systems)
    return rng.permutation(np.linspace(0, 1, systems)) if truth == "0 to 1" else np.zeros(systems)


@dataclass(frozen=True)
class Answer:
    """What a procedure says of one data set: differences of systems, and of the model chances of being the best."""

    estimate: np.ndarray
    se: np.ndarray
    df: np.ndarray
    half: np.ndarray
    levels: Any = None

    def moved(self, by: np.ndarray) -> Answer:
        i, j = np.triu_indices(len(by), 1)
        levels = None if self.levels is None else replace(self.levels, estimates=self.levels.estimates + by)
        return replace(self, estimate=self.estimate + by[i] - by[j], levels=levels)


def by_model(data: Judgements) -> Answer:
    levels = ratings.fit(data).levels
    d = levels.differences()
    return Answer(d.estimate, d.se, d.df, (d.high - d.low) / 2, levels)


def by_r(kind: str, data: dict[str, list[Judgements]]) -> dict[str, list[Answer | None]]:
    """None where R gives up."""
    columns = ("system", "item", "context", "annotator", "score")
    every = [d for rows in data.values() for d in rows]
    frames = [pd.DataFrame({c: getattr(d, c) for c in columns}).assign(data_set=k) for k, d in enumerate(every)]
    with tempfile.TemporaryDirectory() as folder:
        there, back = Path(folder, "in.csv"), Path(folder, "out.csv")
        pd.concat(frames).to_csv(there, index=False)
        subprocess.run(["Rscript", str(HERE.with_suffix(".R")), kind, str(there), str(back)], check=True)
        found = pd.read_csv(back).sort_values(["data_set", "first", "second"])
    parts = {int(k): part for k, part in found.groupby("data_set")}
    names = ("estimate", "se", "df", "half")
    answers = iter(
        [Answer(*(parts[k][c].to_numpy(float) for c in names)) if k in parts else None for k in range(len(every))]
    )
    return {t: [next(answers) for _ in rows] for t, rows in data.items()}


def summary(answers: list[Answer], truths: list[np.ndarray]) -> dict[str, object]:
    """truths : means of systems."""
    i, j = np.triu_indices(len(truths[0]), 1)
    gap = np.array([t[i] - t[j] for t in truths])
    estimate, half, se, df = (
        np.array([getattr(a, part) for a in answers]) for part in ("estimate", "half", "se", "df")
    )
    decided, error = np.abs(estimate) > half, np.abs(estimate - gap)
    false = (decided & (np.sign(estimate) != np.sign(np.round(gap, 12)))).any(axis=1)
    alone = stats.t.ppf(0.975, np.where(np.isinf(df), 1e9, df)) * se
    share, n = float(false.mean()), len(answers)
    spread = np.sqrt(max(share, 1 / n) * (1 - share) / n)
    out: dict[str, object] = {
        "data_sets": n, "false_families": f"{share:.4f}", "mc_error": f"{spread:.4f}",
        "covered_all": f"{(error <= half).all(axis=1).mean():.4f}", "covered_single": f"{(error <= alone).mean():.4f}",
        "half_width": f"{np.median(half):.3f}", "decided": f"{decided.sum(axis=1).mean():.2f}", "pairs": len(i),
    }  # fmt: skip
    if answers[0].levels is not None:
        p = np.array([a.levels.p_best for a in answers])
        right = np.array([t[row.argmax()] >= t.max() - 1e-12 for t, row in zip(truths, p, strict=True)])
        for name, low, high in (("80", 0.8, 0.9), ("90", 0.9, 2.0)):
            claimed = (p.max(axis=1) >= low) & (p.max(axis=1) < high)
            out |= {f"claims_{name}": int(claimed.sum()), f"right_{name}": int(right[claimed].sum())}
    return out


def measured(name: str, design: Design, share: float, kinds: Sequence[str]) -> Iterator[dict[str, object]]:
    """share : of the design's number of data sets. `model_width` is the median of the model's half-widths over those of
    the procedure, on the same data sets."""
    runs, rng = max(4, round(design.runs * share)), np.random.default_rng([9, *name.encode()])
    plain = design.measure not in STEPS
    truths = {t: [strengths_of(t, design.systems, rng) for _ in range(runs)] for t in TRUTHS}
    means = {t: [design.means(s) for s in rows] for t, rows in truths.items()}
    zero = np.zeros(design.systems)
    # of scales each truth has its own data sets, where strengths are drawn fewer
    tried = {t: runs // 3 + 1 if t.startswith("drawn") else runs for t in (TRUTHS[:1] if plain else TRUTHS)}
    data = {t: [design.judgements(zero if plain else s, rng) for s in truths[t][:k]] for t, k in tried.items()}
    fits: dict[str, list[Answer]] = {t: [] for t in data}
    for kind in kinds:
        limit = max(4, round(runs * (OTHERS[kind].get(name, 0) / 500 / share if kind in OTHERS else R_SHARE)))
        if kind == "model":
            limit = runs
        elif kind in OTHERS and name not in OTHERS[kind]:
            continue
        used = {t: d[:limit] for t, d in data.items() if kind == "model" or plain or t in TRUTHS[:2]}
        start = time.perf_counter()
        found = {} if kind == "model" else by_r(kind, used)
        seconds = time.perf_counter() - start
        for t, every in used.items():
            start = time.perf_counter()
            fits[t] += [by_model(d) for d in every[len(fits[t]) :]]
            seconds += (time.perf_counter() - start) * (kind == "model")
        for t in TRUTHS if kind == "model" else TRUTHS[:2]:
            source = "equal" if plain else t
            own = fits[source][:limit]
            rows = [(a.moved(m) if plain else a, m, np.median(f.half / a.half))
                    for a, m, f in zip(found.get(source, own), means[t], own, strict=False) if a]  # fmt: skip
            row = summary([a for a, *_ in rows], [m for _, m, _ in rows])
            if kind != "model":
                row["model_width"] = f"{np.median([ratio for *_, ratio in rows]):.3f}"
            row["seconds"] = f"{seconds / sum(map(len, used.values())):.3f}"
            yield {"design": name, "truth": t, "procedure": kind, **row}


#: share of the data sets that R sees
R_SHARE = 0.2


def main(designs: Mapping[str, Any], script: str) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=500, help="data sets of a design (of large ones fewer)")
    parser.add_argument("--only", default="", help="designs whose name contains this")
    parser.add_argument("--kinds", default="model,lmer,kr", help="procedures, with commas between them")
    args = parser.parse_args()
    kinds = [k for k in args.kinds.split(",") if k == "model" or shutil.which("Rscript")]
    table, kept = Path(script).with_suffix(".csv"), {}
    if table.exists():
        with table.open(newline="", encoding="utf-8") as file:
            kept = {(r["design"], r["truth"], r["procedure"]): dict[str, object](r) for r in csv.DictReader(file)}
    for name in (name for name in designs if args.only in name):
        for row in measured(name, designs[name], args.runs / 500, kinds):
            kept[name, str(row["truth"]), str(row["procedure"])] = row
            print(" | ".join(f"{row.get(f, '')}" for f in FIELDS), flush=True)
        order = [(d, t, k) for d in designs for t in TRUTHS for k in ("model", "lmer", *OTHERS)]
        with table.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, FIELDS)
            writer.writeheader()
            writer.writerows(kept[key] for key in order if key in kept)


if __name__ == "__main__":
    main(DESIGNS, __file__)
