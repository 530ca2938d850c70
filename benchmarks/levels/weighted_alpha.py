"""Alpha of an enriched queue: bias and coverage of those of the population, with weights.

    python benchmarks/levels/weighted_alpha.py [runs]

Writes `weighted_alpha.csv` beside this file. A population of dialogues, the worst 15% of which are bad: a flag catches
80% of these and 8% of the others; the queue takes every flagged dialogue and 20% of the rest. Each is judged by three
of the annotators (by two where a case says so), in turn. The truth is the alpha of 400,000 dialogues drawn with
equal probability, each judged by two people who judge nothing else.
"""

from __future__ import annotations

import csv
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "src")]

from judgebook.questions.agreement.alpha import (  # noqa: E402
    Judgements,
    alpha_intervals,
    alpha_of,
    alpha_two_way,
    patterns_of,
)
from judgebook.questions.agreement.coincidences import patterns  # noqa: E402

BAD, CAUGHT, WRONG, REST = 1.0364, 0.8, 0.08, 0.2  # the first: the quantile of 85%
CUTS = {"Likert": (-1.2, -0.4, 0.4, 1.2), "marks (28%)": (0.75,), "marks (7%)": (2.0,)}
LEVELS = {"Likert": "ordinal", "marks (28%)": "nominal", "marks (7%)": "nominal"}


@dataclass(frozen=True)
class Case:
    """size : dialogues of the population. differ : how far annotators differ in severity and (half as much) in care;
    0: intervals over dialogues are for all annotators."""

    measure: str
    size: int = 500
    people: int = 20
    per: int = 3
    differ: float = 0.0

    @property
    def name(self) -> str:
        who = f"{self.people} annotators" if self.differ else "annotators alike"
        return f"{self.measure}, about {self.size * 0.35:.0f} of {self.size}, {self.per} judgements each, {who}"


CASES = [
    Case("Likert"), Case("Likert", per=2), Case("Likert", size=150), Case("marks (28%)"), Case("marks (28%)", per=2),
    Case("marks (7%)"), Case("Likert", differ=0.6), Case("marks (28%)", differ=0.6),
    Case("Likert", people=8, differ=0.6), Case("marks (28%)", people=8, differ=0.6),
]  # fmt: skip


def scores(rng, case: Case, latent: np.ndarray, shape: tuple[int, int], people) -> np.ndarray:
    """Codes of values of `shape` (dialogues, annotators)."""
    severity, care = case.differ * rng.normal(size=people), np.exp(case.differ / 2 * rng.normal(size=people))
    return np.searchsorted(CUTS[case.measure], 0.8 * latent[:, None] + severity + 0.7 * care * rng.normal(size=shape))


def truth(case: Case, n: int = 400_000) -> float:
    rng = np.random.default_rng(9)
    values = scores(rng, case, rng.normal(size=n), (n, 2), (n, 2)).astype(float)
    kinds = np.arange(len(CUTS[case.measure]) + 1.0)
    return alpha_of(patterns(values, kinds), LEVELS[case.measure]).estimate


def queue(rng, case: Case) -> Judgements:
    latent = rng.normal(size=case.size)
    flagged = rng.random(case.size) < np.where(latent > BAD, CAUGHT, WRONG)
    drawn = flagged | (rng.random(case.size) < REST)
    latent, weight = latent[drawn], np.where(flagged, 1.0, 1 / REST)[drawn]
    values = scores(rng, case, latent, (len(latent), case.people), case.people)
    given = (np.arange(case.people) - np.arange(len(latent))[:, None] * case.per) % case.people < case.per
    item, annotator = np.nonzero(given)
    return Judgements(item, annotator, item, values[item, annotator], weight[item])


def measured(rng, case: Case, judged: Judgements, n_resamples: int) -> dict[str, object]:
    """Intervals by what they are over."""
    kinds, level = np.arange(len(CUTS[case.measure]) + 1.0), LEVELS[case.measure]
    how = {"unit": "dialogue", "rng": rng, "n_resamples": n_resamples}
    over = alpha_intervals(patterns_of(judged, kinds), level, only=["alpha"], **how)["alpha"]
    both = alpha_two_way(judged, kinds, level, unit="dialogue")
    return {"dialogue": over, both.unit: both}


def rows(case: Case, runs: int, n_resamples: int) -> list[dict]:
    rng, true, out = np.random.default_rng([7, CASES.index(case)]), truth(case), []
    found: dict[tuple, list] = {}
    for _ in range(runs):
        judged = queue(rng, case)
        plain = Judgements(judged.item, judged.annotator, judged.cluster, judged.value)
        for name, these in (("weighted", judged), ("unweighted", plain)):
            for over, x in measured(rng, case, these, n_resamples).items():
                found.setdefault((name, over), []).append((x.estimate, x.low, x.high))
    for (name, over), values in found.items():
        if (over == "dialogue") == bool(case.differ):
            continue
        estimate, low, high = np.array(values).T
        known = ~np.isnan(low)
        inside = ((low <= true) & (true <= high))[known]
        bias = (estimate - true) / np.nanstd(estimate, ddof=1)
        note = f"truth {true:.3f}, mean {np.nanmean(estimate):.3f}, refused {1 - known.mean():.1%}"
        for procedure, nominal, x in (
            ("bias of alpha in SE", 0, bias),
            (f"coverage of alpha, over {over}", 0.95, inside),
        ):
            error = np.std(x, ddof=1) / np.sqrt(len(x)) if len(x) > 1 else np.nan
            out.append({"case": case.name, "procedure": f"{procedure}, {name}", "nominal": nominal, "note": note,
                        "measured": round(float(np.mean(x)), 4) if len(x) else "", "mc_error": round(float(error), 4),
                        "n_runs": len(x)})  # fmt: skip
    return out


def main(runs: int) -> None:
    with Path(__file__).with_suffix(".csv").open("w", newline="", encoding="utf-8") as file:
        fields = ["case", "procedure", "nominal", "measured", "mc_error", "n_runs", "note"]
        table = csv.DictWriter(file, fields, lineterminator="\n")
        table.writeheader()
        for case in CASES:
            found = rows(case, runs, 1000)
            table.writerows(found)
            for r in found:
                print(f"{r['case']:70} {r['procedure']:55} {r['measured']} ± {r['mc_error']}  {r['note']}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
