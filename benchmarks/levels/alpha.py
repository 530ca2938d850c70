"""How often intervals of alpha cover the value among other dialogues and annotators.

Items have a true value, in some cases shared by the items of a context; annotators differ in severity and care, and in
some cases in taste by context. The truth is the alpha of 200,000 items, each judged by two people who judge
nothing else. Writes `alpha.csv` beside this file: case, procedure, nominal, measured, mc_error, n_runs, note.

    PYTHONPATH=src python benchmarks/levels/alpha.py [runs]
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np

from judgebook.questions.agreement.alpha import Judgements, alpha_intervals, alpha_of, alpha_two_way
from judgebook.questions.agreement.coincidences import patterns
from judgebook.statistics.intervals import Interval

CUTS = {"Likert": (-1.2, -0.4, 0.4, 1.2), "marks (35%)": (0.5,)}
LEVELS = {"Likert": "ordinal", "marks (35%)": "nominal"}
#: items, annotators, annotations of an item, load, contexts, measure
CASES = [
    (100, 5, 3, "equal", 0, "Likert"), (100, 5, 3, "equal", 0, "marks (35%)"), (60, 5, 5, "equal", 0, "Likert"),
    (100, 5, 3, "Zipf", 0, "Likert"),
    (100, 8, 3, "equal", 0, "Likert"), (100, 8, 3, "equal", 0, "marks (35%)"), (60, 8, 8, "equal", 0, "Likert"),
    (100, 8, 3, "Zipf", 0, "Likert"), (100, 8, 3, "Zipf", 0, "marks (35%)"),
    (100, 20, 3, "equal", 0, "Likert"), (100, 20, 3, "equal", 0, "marks (35%)"),
    (100, 20, 3, "Zipf", 0, "Likert"), (200, 30, 2, "Zipf", 0, "Likert"),
    (260, 8, 3, "equal", 13, "Likert"), (260, 20, 3, "equal", 13, "marks (35%)"),
    (260, 40, 3, "equal", 13, "Likert"), (260, 40, 3, "Zipf", 13, "Likert"),
]  # fmt: skip


def scores(rng, item, annotator, contexts: int, shape, measure: str, context=None) -> np.ndarray:
    """Scores of `shape` (items, annotators): severity and care by annotator, difficulty and taste by context."""
    context = np.arange(shape[0]) if context is None else context
    n = context.max() + 1
    noise, shared, taste = np.ones(shape[0]), 0.0, 0.0
    if contexts:
        noise, shared = np.exp(0.5 * rng.normal(size=n))[context], 0.5 * rng.normal(size=n)[context][:, None]
        taste = 0.5 * rng.normal(size=(n, shape[1]))[context]
    z = item + shared + taste + annotator[0] + 0.7 * noise[:, None] * annotator[1] * rng.normal(size=shape)
    return np.searchsorted(CUTS[measure], z).astype(float)


def people(rng, shape) -> tuple[np.ndarray, np.ndarray]:
    return 0.6 * rng.normal(size=shape), np.exp(0.3 * rng.normal(size=shape))


def world(rng, n: int, m: int, per: int, load: str, contexts: int, measure: str) -> tuple[np.ndarray, np.ndarray]:
    """(n, m) scores, missing where an annotator did not judge an item, and the items' clusters."""
    context = np.arange(n) % contexts if contexts else np.arange(n)
    values = scores(rng, 0.8 * rng.normal(size=(n, 1)), people(rng, m), contexts, (n, m), measure, context)
    if load == "Zipf":
        order = -np.log(np.arange(1.0, m + 1)) + rng.gumbel(size=(n, m))
        given = order >= np.sort(order, axis=1)[:, [m - per]]
    else:  # in turn
        given = (np.arange(m) - np.arange(n)[:, None] * per) % m < per
    return np.where(given, values, np.nan), context


def truth(contexts: int, measure: str, n: int = 200_000) -> float:
    rng, kinds = np.random.default_rng(9), np.arange(len(CUTS[measure]) + 1.0)
    values = scores(rng, 0.8 * rng.normal(size=(n, 1)), people(rng, (n, 2)), contexts, (n, 2), measure)
    return alpha_of(patterns(values, kinds), LEVELS[measure]).estimate


def intervals(rng, values: np.ndarray, context: np.ndarray, measure: str, *, these: bool) -> list[Interval]:
    kinds, level = np.arange(len(CUTS[measure]) + 1.0), LEVELS[measure]
    values = values[:, ~np.isnan(values).all(axis=0)]
    item, annotator = np.nonzero(~np.isnan(values))
    judged = Judgements(item, annotator, context[item], values[item, annotator].astype(int))
    out = [alpha_two_way(judged, kinds, level, unit="item")]
    if these:
        boot = {"clusters": context, "n_resamples": 1000, "only": ["alpha"]}
        out.append(alpha_intervals(patterns(values, kinds), level, unit="item", rng=rng, **boot)["alpha"])
    return out


def measured(case: tuple, runs: int) -> list[dict]:
    n, m, per, load, contexts, measure = case
    true, rng = truth(contexts, measure), np.random.default_rng(1)
    procedures = ["alpha, other annotators: two-way jackknife t", "alpha read so, but for these annotators: BCa"]
    ends = np.full((runs, 2, 2), np.nan)
    for run in range(runs):
        values, context = world(rng, *case)
        found = intervals(rng, values, context, measure, these=run < runs // 20)
        ends[run, : len(found)] = [(one.low, one.high) for one in found]
    title = f"{measure}, {n} items, {per} of {m} annotators each, {load} loads"
    title += f", {contexts} contexts" if contexts else ""
    rows = []
    for i, procedure in enumerate(procedures):
        tried = runs // 20 if i == 1 else runs
        given = np.isfinite(ends[:tried, i, 0])
        inside = ((ends[:tried, i, 0] <= true) & (true <= ends[:tried, i, 1]))[given]
        share = inside.mean() if given.any() else np.nan
        error = np.sqrt(share * (1 - share) / max(given.sum(), 1))
        width = np.median(np.diff(ends[:tried, i])[given]) if given.any() else np.nan
        note = f"truth {true:.3f}, median width {width:.2f}"
        note += (
            f"; refused in {(~given).mean():.0%} of runs (fewer than five effective annotators, or too few marks)"
            if not given.all()
            else ""
        )
        rows.append({"case": title, "procedure": procedure, "nominal": 0.95, "measured": f"{share:.4f}",
                     "mc_error": f"{error:.4f}", "n_runs": int(given.sum()), "note": note})  # fmt: skip
    return rows


def main(runs: int) -> None:
    with Path(__file__).with_suffix(".csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["case", "procedure", "nominal", "measured", "mc_error", "n_runs", "note"])
        writer.writeheader()
        for case in CASES:
            for row in measured(case, runs):
                writer.writerow(row)
                print(row["case"], "|", row["procedure"], row["measured"], row["note"], flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 2_000)
