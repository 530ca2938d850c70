"""How sharp and how honest the model of ratings is, in designs whose truth is known, beside lme4 where R is there.

    PYTHONPATH=src python benchmarks/sharpness.py [--runs 500] [--only TEXT] [--truths equal] [--kinds model,lmer]

Writes `sharpness.csv` beside this file: design, truth and procedure, with the share of studies in which any pair is
decided that is equal or the other way round (`false_families`, with Wilson's 95% interval of that share), how often all
differences lie in their simultaneous intervals and each in its own, the median simultaneous half-width, pairs decided,
and how often the system whose chance of being the best is 80 to 90%, or more, is the best. All procedures see the same
studies, R the first of them; of truths that are drawn every third is made. The linear model moves with the means of
systems, so plain scores are fitted once, and the means of each truth added afterwards. Critical values and chances have
a quarter of the usual draws: intervals are up to 0.9% wider, and levels up to 0.2 points lower, than those of a page.
Study k of a design has a seed of its own: `seed`, k and the name. What was done is kept in `build/`, and is not done
again.
"""

from __future__ import annotations

import argparse
import csv
import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from judgebook.model import comparisons, contrasts, ratings
from judgebook.model.comparisons import Comparisons
from judgebook.model.fit import Fit, Judgements

contrasts.DRAWS = 10_000
SEED = 10
HERE = Path(__file__).resolve()
SDS = {"annotator": 0.4, "taste": 0.3, "context": 0.4, "item": 0.6, "residual": 0.7}
#: truths: SD of strengths that are drawn, or what they are
TRUTHS = ("equal", "0 to 1", "drawn 0.15", "drawn 0.3", "drawn 0.6")
#: share of latent scores below each step
STEPS = {
    "Likert": (0.1, 0.3, 0.6, 0.85), "80% at the top": (0.02, 0.05, 0.1, 0.2), "marks 10%": (0.9,), "marks 3%": (0.97,),
}  # fmt: skip
FIELDS = (
    "design", "truth", "procedure", "seed", "studies", "false_families", "false_low", "false_high", "covered_all",
    "covered_single", "half_width", "decided", "pairs", "model_width",
    "claims_80", "right_80", "claims_90", "right_90", "seconds",
)  # fmt: skip


@dataclass(frozen=True)
class Design:
    """Each of `items` per system is judged by `each` of the annotators, or by all.

    nested : annotators are within systems. shared : items answer contexts that all systems have. measure : plain
    scores, with errors of three degrees of freedom, or a scale with `STEPS`. loads : of the busiest annotator over the
    least busy. taste, noise : SD of annotator x system, and of item and residual, of every second system over that of
    the others. runs : of 500 studies how many are made.
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


@dataclass(frozen=True)
class Votes:
    """Each annotator votes on `pairs` random pairs of systems of each context. sds : on the scale of log strengths."""

    systems: int
    annotators: int
    contexts: int = 20
    pairs: int = 3
    answer: float = 0.6
    taste: float = 0.5
    ties: float = 0.5
    log_nu: float = 0.0
    measure: str = "votes"
    runs: int = 500

    def judgements(self, strengths: np.ndarray, rng: np.random.Generator) -> Comparisons:
        context, annotator, _ = (x.ravel() for x in np.indices((self.contexts, self.annotators, self.pairs)))
        first = rng.integers(self.systems, size=len(context))
        second = (first + rng.integers(1, self.systems, size=len(context))) % self.systems
        names = tuple(f"s{i:02d}" for i in range(self.systems))
        empty = Comparisons(names, first, second, np.zeros(len(first)), context, annotator)
        return voted(empty, strengths, (self.answer, self.taste, self.ties), self.log_nu, rng.standard_normal, rng)

    def means(self, strengths: np.ndarray) -> np.ndarray:
        return strengths


def voted(
    c: Comparisons, strengths: np.ndarray, sds: Sequence[float], log_nu: float, effects: Any, rng: np.random.Generator
) -> Comparisons:
    """The votes of Davidson's model. sds : of answers, tastes and the tendency to tie. effects : draws with SD 1."""
    assert c.annotator is not None
    s, people = len(c.systems), int(c.annotator.max()) + 1
    answer = sds[0] * effects((int(c.context.max()) + 1, s))
    taste, tie = sds[1] * effects((people, s)), sds[2] * effects(people)
    a, b = (strengths[x] + answer[c.context, x] + taste[c.annotator, x] for x in (c.first, c.second))
    weight = np.exp(np.column_stack([b, log_nu + tie[c.annotator] + (a + b) / 2, a]))
    below = np.cumsum(weight, axis=1) < rng.random(len(a))[:, None] * weight.sum(axis=1, keepdims=True)
    return replace(c, score=below.sum(axis=1) - 1.0)


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
    "3 of 20 annotators, 20 systems": Design(20, 20, 20, 3, runs=200),
    "2 of 20 annotators, 60 systems, shared contexts": Design(60, 20, 15, 2, shared=True, runs=100),
    "3 of 8 annotators, 60 systems": Design(60, 8, 15, 3, runs=100),
    "2 of 8 annotators, loads 10:1, 6 systems": Design(6, 8, 40, 2, loads=10.0),
    "1 of 5 annotators, loads 10:1, 4 systems": Design(4, 5, 60, 1, loads=10.0),
    "5 annotators, tastes 3:1, 6 systems": Design(6, 5, taste=3.0),
    "8 annotators, tastes 3:1, 6 systems": Design(6, 8, taste=3.0),
    "5 annotators, items and errors 3:1, 6 systems": Design(6, 5, noise=3.0),
    "5 annotators, errors with 3 df, 6 systems": Design(6, 5, measure="3 df"),
    "3 annotators, Likert, 6 systems": Design(6, 3, measure="Likert"),
    "5 annotators, Likert, 6 systems": Design(6, 5, measure="Likert"),
    "5 annotators, 80% at the top, 6 systems": Design(6, 5, measure="80% at the top"),
    "5 annotators, marks 10%, 6 systems": Design(6, 5, measure="marks 10%"),
    "3 annotators, marks 3%, 6 systems": Design(6, 3, measure="marks 3%"),
    "5 annotators, marks 3%, 6 systems": Design(6, 5, measure="marks 3%"),
    "3 annotators, votes, 6 systems": Votes(6, 3),
    "5 annotators, votes, 6 systems": Votes(6, 5),
    "20 annotators, votes, 6 systems": Votes(6, 20, pairs=1),
}
#: procedures that see the first studies only, and of which designs where not of all
OTHERS = {"lmer": "", "kr": "2 annotators, crossed"}
FEW = 20


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


def fitted(data: Judgements | Comparisons) -> Fit:
    return comparisons.fit(data) if isinstance(data, Comparisons) else ratings.fit(data)


def by_model(data: Judgements | Comparisons) -> Answer:
    levels = fitted(data).levels
    i, j = levels.pairs
    df, se = levels.df[i, j], levels.errors
    return Answer(levels.estimates[i] - levels.estimates[j], se, df, levels.critical(df) * se, levels)


def by_r(kind: str, data: Sequence[Judgements]) -> list[Answer | None]:
    """None where R gives up."""
    columns = ("system", "item", "context", "annotator", "score")
    frames = [pd.DataFrame({c: getattr(d, c) for c in columns}).assign(data_set=k) for k, d in enumerate(data)]
    with tempfile.TemporaryDirectory() as folder:
        there, back = Path(folder, "in.csv"), Path(folder, "out.csv")
        pd.concat(frames).to_csv(there, index=False)
        subprocess.run(["Rscript", str(HERE.with_suffix(".R")), kind, str(there), str(back)], check=True)
        found = pd.read_csv(back).sort_values(["data_set", "first", "second"])
    parts = {int(k): part for k, part in found.groupby("data_set")}
    every = [[parts[k][c].to_numpy(float) for c in ("estimate", "se", "df", "half")] if k in parts else None
             for k in range(len(data))]  # fmt: skip
    return [None if one is None else Answer(*one) for one in every]


def told(a: Answer, means: np.ndarray) -> dict[str, Any]:
    """Of one study. means : the true ones. An interval that is not known is endless."""
    i, j = np.triu_indices(len(means), 1)
    gap = means[i] - means[j]
    decided, error, half = np.abs(a.estimate) > a.half, np.abs(a.estimate - gap), np.nan_to_num(a.half, nan=np.inf)
    alone = np.nan_to_num(stats.t.ppf(0.975, np.where(np.isinf(a.df), 1e9, a.df)) * a.se, nan=np.inf)
    out = {
        "false": bool((decided & (np.sign(a.estimate) != np.sign(np.round(gap, 12)))).any()),
        "all": bool((error <= half).all()), "single": float((error <= alone).mean()),
        "half": float(np.median(half)), "decided": int(decided.sum()), "pairs": len(i),
    }  # fmt: skip
    if a.levels is not None:
        p = a.levels.p_best
        out |= {"p": float(p.max()), "right": bool(means[p.argmax()] >= means.max() - 1e-12)}
    return out


def data_of(name: str, design: Any, k: int, wanted: Sequence[str]) -> Iterator[tuple[str, np.ndarray, Any]]:
    """Of each truth strengths and the data of study k: plain ones of equal systems, whose means are to be added."""
    rng = np.random.default_rng([SEED, k, *name.encode()])
    strengths = {t: strengths_of(t, design.systems, rng) for t in TRUTHS}
    base = design.judgements(np.zeros(design.systems), rng) if design.measure == "plain" else None
    for n, t in enumerate(TRUTHS):
        if t in wanted and (k % 3 == 0 or not t.startswith("drawn")):
            rng = np.random.default_rng([SEED, k, n, *name.encode()])
            yield t, strengths[t], base or design.judgements(strengths[t], rng)


def studies(
    name: str, design: Any, ks: Sequence[int], kind: str, wanted: Sequence[str]
) -> Iterator[tuple[int, dict[str, dict[str, Any]]]]:
    """Of each study and truth, what a procedure said."""
    plain = design.measure == "plain"
    cases: Iterable[dict[str, tuple[np.ndarray, Any]]]
    cases = ({t: (s, d) for t, s, d in data_of(name, design, k, wanted)} for k in ks)
    others: dict[int, Answer | None] = {}
    if kind != "model":
        cases = list(cases)
        unique = {id(d): d for case in cases for _, d in case.values()}
        others = dict(zip(unique, by_r(kind, list(unique.values())), strict=True))
    for k, case in zip(ks, cases, strict=True):
        out, fits = dict[str, dict[str, Any]](), dict[int, Answer]()
        for t, (strengths, data) in case.items():
            start = time.perf_counter()
            if id(data) not in fits:
                fits[id(data)] = by_model(data)
            own, means, row = fits[id(data)], design.means(strengths), dict[str, Any]()
            if kind != "model":
                if (other := others[id(data)]) is None:
                    continue
                row, own = {"width": float(np.median(own.half / other.half))}, other
            out[t] = row | told(own.moved(means) if plain else own, means)
            out[t]["seconds"] = time.perf_counter() - start
        yield k, out


def summary(rows: Sequence[Mapping[str, Any]]) -> dict[str, object]:
    n, false = len(rows), sum(r["false"] for r in rows)
    ends = stats.binomtest(false, n).proportion_ci(method="wilson")
    out: dict[str, object] = {
        "seed": SEED, "studies": n, "false_families": f"{false / n:.4f}",
        "false_low": f"{ends.low:.4f}", "false_high": f"{ends.high:.4f}",
        "covered_all": f"{np.mean([r['all'] for r in rows]):.4f}",
        "covered_single": f"{np.mean([r['single'] for r in rows]):.4f}",
        "half_width": f"{np.median([r['half'] for r in rows]):.3f}",
        "decided": f"{np.mean([r['decided'] for r in rows]):.2f}", "pairs": rows[0]["pairs"],
        "seconds": f"{np.mean([r['seconds'] for r in rows]):.3f}",
    }  # fmt: skip
    if "width" in rows[0]:
        out["model_width"] = f"{np.median([r['width'] for r in rows]):.3f}"
    for low, high in ((80, 90), (90, 200)) if "p" in rows[0] else ():
        claims = [r["right"] for r in rows if low <= 100 * r["p"] < high]
        out |= {f"claims_{low}": len(claims), f"right_{low}": sum(claims)}
    return out


def main(designs: Mapping[str, Any], script: str) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=500, help="studies of a design (of large ones fewer)")
    parser.add_argument("--only", default="", help="designs whose name contains this")
    parser.add_argument("--truths", default=",".join(TRUTHS), help="truths, with commas between them")
    parser.add_argument("--kinds", default="model,lmer,kr", help="procedures, with commas between them")
    parser.add_argument("--seconds", type=float, default=1e9, help="for one design and procedure")
    args = parser.parse_args()
    table, done = Path(script).with_suffix(".csv"), HERE.parents[1] / f"build/{Path(script).stem}.jsonl"
    done.parent.mkdir(exist_ok=True)
    told_of: dict[tuple[str, ...], dict[int, Any]] = {}
    for line in done.read_text(encoding="utf-8").splitlines() if done.exists() else ():
        *key, k, row = json.loads(line)
        told_of.setdefault(tuple(key), {})[k] = row
    wanted = args.truths.split(",")
    for name, kind in ((n, k) for n in designs if args.only in n for k in args.kinds.split(",")):
        votes, r = designs[name].measure == "votes", kind != "model"
        if r and (votes or OTHERS[kind] not in name or not shutil.which("Rscript")):
            continue
        runs = min(FEW, args.runs) if r else round(args.runs * designs[name].runs / 500)
        made = told_of.get((name, wanted[0], kind), {})
        ks, end = [k for k in range(runs) if k not in made], time.monotonic() + args.seconds
        if r and not ks:
            continue
        with done.open("a", encoding="utf-8") as file:
            for k, rows in studies(name, designs[name], ks, kind, wanted[:2] if r else wanted):
                for t, row in rows.items():
                    told_of.setdefault((name, t, kind), {})[k] = row
                    file.write(json.dumps([name, t, kind, k, row]) + "\n")
                file.flush()
                if time.monotonic() > end:
                    break
        order = [(d, t, k) for d in designs for t in TRUTHS for k in ("model", *OTHERS)]
        with table.open("w", newline="", encoding="utf-8") as out:
            writer = csv.DictWriter(out, FIELDS)
            writer.writeheader()
            for key in order:
                if key in told_of:
                    writer.writerow(dict(zip(FIELDS, key, strict=False)) | summary(list(told_of[key].values())))
        print(name, kind, {t: len(told_of.get((name, t, kind), ())) for t in TRUTHS}, flush=True)


if __name__ == "__main__":
    main(DESIGNS, __file__)
