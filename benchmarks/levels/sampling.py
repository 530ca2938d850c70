"""Levels of what is weighted by sampling weights: bias, coverage and size where a review queue is enriched.

    python benchmarks/levels/sampling.py [runs]

Writes `sampling.csv` beside this file. Two equal systems, 15% of whose dialogues are marked, have a population of
dialogues each. The queue takes every flagged dialogue and 20% of the rest; a flag catches 80% of the bad dialogues and
8% of the others (another share where a case says so). Every dialogue is judged by two or three of eight annotators.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit, logit

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "src")]

from judgebook.questions.fragility import differences  # noqa: E402
from judgebook.questions.performance import rates  # noqa: E402
from judgebook.statistics.intervals import Sampling  # noqa: E402

#: share of dialogues that are bad; an annotator marks these, and others, with such a chance
BAD, HIT, FALSE = 0.15, 0.9, 0.02
RATE = BAD * HIT + (1 - BAD) * FALSE
REST, ANNOTATORS, AT_ONCE = 0.2, 8, 100
#: mean rating of bad dialogues, and of others
RATINGS = (2.0, 4.0)
MEAN = BAD * RATINGS[0] + (1 - BAD) * RATINGS[1]
SYSTEMS = ("A", "B")
METHOD = "dialogue_rating"


@dataclass(frozen=True)
class Case:
    """size : dialogues of a system in the population. wrong : share of good dialogues that are flagged, by system.
    leniency : standard deviation of annotators, in logits of marks and points of ratings."""

    name: str
    size: int = 500
    wrong: tuple[float, float] = (0.08, 0.08)
    leniency: float = 0.0


CASES = [
    Case("about 170 of 500 dialogues per system"),
    Case("about 170 of 500, annotators differ", leniency=0.3),
    Case("about 50 of 150 dialogues per system", size=150),
    Case("flags differ: 8% and 30% of good dialogues", wrong=(0.08, 0.30)),
]


def queues(case: Case, n: int, first: int, rng: np.random.Generator) -> pd.DataFrame:
    """Annotations of `n` queues, each a corpus of its own."""
    shape = (n, len(SYSTEMS), case.size)
    bad = rng.random(shape) < BAD
    flagged = rng.random(shape) < np.where(bad, 0.8, np.array(case.wrong)[:, None])
    run, system, number = np.nonzero(flagged | (rng.random(shape) < REST))
    place = run, system, number
    judges = np.argsort(rng.random((len(run), ANNOTATORS)), axis=1)[:, :3]
    row, seat = np.nonzero(np.arange(3) < rng.integers(2, 4, len(run))[:, None])
    who = judges[row, seat]
    lenient = case.leniency * rng.standard_normal((n, ANNOTATORS))[run[row], who]
    is_bad = bad[place][row]
    mark = rng.random(len(row)) < expit(logit(np.where(is_bad, HIT, FALSE)) + lenient)
    rating = np.where(is_bad, *RATINGS) + rng.choice([-1, 0, 1], len(row)) + lenient
    weight = np.where(flagged[place], 1.0, 1 / REST)[row]
    dialogue = np.char.add(np.array(SYSTEMS)[system], number.astype(str))
    frame = pd.DataFrame(
        {"corpus": (first + run[row]).astype(str), "system": np.array(SYSTEMS)[system[row]], "dialogue": dialogue[row]}
    )
    frame = frame.assign(session=frame["dialogue"], annotator=who, sampling_weight=weight, group="all", method=METHOD)
    frame = frame.assign(annotator_known=True, annotator_kind="human", turn=pd.NA, dialogue_b=None, system_b=None)
    return pd.concat([frame.assign(label="bad", score=mark * 1.0), frame.assign(label="quality", score=rating)])


def truth(case: Case) -> dict[str, float]:
    """Rate and mean over annotators, by label."""
    if not case.leniency:
        return {"bad": RATE, "quality": MEAN}
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    chance = [weights @ expit(logit(p) + case.leniency * nodes) / weights.sum() for p in (HIT, FALSE)]
    return {"bad": BAD * chance[0] + (1 - BAD) * chance[1], "quality": MEAN}


def measured(frame: pd.DataFrame, *, slow: bool) -> pd.DataFrame:
    """Estimates with intervals and p-values of A against B, by queue and label. slow : with the bootstrap."""
    parts = [rates.with_annotators(frame)]
    parts += [rates.clustered(frame, sampling=Sampling(1000, 0.95, 1))] if slow else []
    scores = pd.concat(parts)
    scores = scores[scores["statistic"].isin(["rate", "mean"])]
    pairs = []
    for corpus, part in frame.groupby("corpus", sort=False):
        for people in (False, True):
            found = differences.differences(part, METHOD, list(SYSTEMS), people=people)
            pairs.append(found.assign(corpus=corpus, interval="people" if people else "dialogue"))
    return pd.concat([scores, *pairs], ignore_index=True)


def rows(case: Case, found: pd.DataFrame, *, weighted: bool) -> list[dict]:
    """Bias in standard errors, coverage and size, with their Monte Carlo errors."""
    true, out = truth(case), []

    def add(procedure: str, nominal: float, values: np.ndarray, note: str = "") -> None:
        error = np.std(values, ddof=1) / np.sqrt(len(values))
        name = f"{procedure}, {'weighted' if weighted else 'unweighted'}"
        out.append({"case": case.name, "procedure": name, "nominal": nominal, "measured": np.mean(values),
                    "mc_error": error, "n_runs": len(values), "note": note})  # fmt: skip

    for (statistic, label, interval), part in found[found["statistic"].isin(["rate", "mean"])].groupby(
        ["statistic", "label", "interval"], sort=False
    ):
        part = part[part["system"] == "A"]
        x = part["estimate"].to_numpy(float)
        if interval != "dialogue":  # the estimate of both
            add(f"bias of a {statistic} in SE", 0, (x - true[label]) / x.std(ddof=1), f"mean {x.mean():.3f}")
        inside = (part["ci_low"] <= true[label]) & (true[label] <= part["ci_high"])
        add(
            f"coverage of a {statistic}, over {interval}", 0.95, inside.to_numpy(float), note(case, interval, statistic)
        )
    for (label, interval), part in found[found["statistic"] == "system_difference"].groupby(["label", "interval"]):
        over = "dialogue and annotator" if interval == "people" else "dialogue"
        add(f"size of A v B ({label}), t over {over}", 0.05, (part["p_value"] < 0.05).to_numpy(float))
    return out


def note(case: Case, interval: str, statistic: str) -> str:
    """Why coverage may differ from the nominal one."""
    said = ["few marks: mostly exact bounds"] if statistic == "rate" and case.size < 200 else []
    if interval == "dialogue" and case.leniency:
        said.append("for these annotators only; the truth is that of all annotators")
    if interval != "dialogue" and not case.leniency:
        said.append("allows for eight annotators who may differ, and do not")
    return "; ".join(said)


def main(n_runs: int) -> None:
    out: list[dict] = []
    for i, case in enumerate(CASES):
        for weighted in (True, False):
            rng, found = np.random.default_rng([31, i]), []
            total = n_runs if weighted else n_runs // 10
            for first in range(0, total, AT_ONCE):
                frame = queues(case, min(AT_ONCE, total - first), first, rng)
                frame = frame if weighted else frame.drop(columns="sampling_weight")
                found.append(measured(frame, slow=first < n_runs // 4))
            out += rows(case, pd.concat(found), weighted=weighted)
        print(pd.DataFrame(out).tail(24).round(3).to_string(), flush=True)
    pd.DataFrame(out).round(4).to_csv(Path(__file__).with_suffix(".csv"), index=False)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
