"""How people and a model share a budget, as notebook 14 shows it: facts and the table."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
import pandas as pd

from judgebook.display.names import DisplayNames
from judgebook.display.tables import intervals
from judgebook.display.text import Phrases, span
from judgebook.display.views import Table
from judgebook.questions.judges.prediction_powered import ASSISTED, HUMAN
from judgebook.questions.planning.pilot_study import PlanningInput
from judgebook.study.results import Results, where

_PHRASES = Phrases(__package__)
_TEAM = ["method", "metric"]


def teams(results: Results, names: DisplayNames) -> list[dict[str, Any]]:
    """Of each method the model that gains most, those that are recommended first.

    helps : True, False, or None where the pilot cannot tell. n, pool, each : dialogues of a system that people and the
    model judge, and annotators; alone, alone_each : of people alone. gain,
    narrower : estimate and ends (missing unless `bounded`), None without a design. of : models that were compared.
    """
    rows = results["split_helps"]
    out: list[dict[str, Any]] = []
    if rows.empty:
        return out
    for (method, judge), one in rows.groupby(_TEAM, sort=False):
        key = {"method": method, "metric": judge, "label": None}
        decided, gains = one["estimate"].iloc[0], where(results["split_gain"], **key)
        team = {
            "method": method, "judge": names.name("metric", judge), "id": judge, "budget": float(one["budget"].iloc[0]),
            "helps": None if pd.isna(decided) else bool(decided), "pairwise": one["level"].iloc[0] == "pair",
            "name": names.name("method", method), "gain": None, "of": int((rows["method"] == method).sum()),
        }  # fmt: skip
        for raters, n, each in ((HUMAN, "alone", "alone_each"), (ASSISTED, "n", "each")):
            team |= _design(where(results["split_dialogues"], **key, raters=raters), n, each)
        if len(gains):
            team["gain"] = gains.iloc[0][["estimate", "ci_low", "ci_high"]].to_dict()
            team["bounded"] = bool(np.isfinite(team["gain"]["ci_low"]))
            team["narrower"] = {end: 1 - 1 / sqrt(value) for end, value in team["gain"].items()}
        out.append(team)
    out.sort(key=lambda t: ({True: 0, None: 1, False: 2}[t["helps"]], -(t["gain"] or {"estimate": 0})["estimate"]))
    first: dict[str, dict[str, Any]] = {}
    for team in out:
        first.setdefault(team["method"], team)
    return list(first.values())


def _design(rows: pd.DataFrame, n: str, each: str) -> dict[str, int]:
    """Dialogues that people judge and, where it does, that the model judges, and annotators; {} without a design."""
    by = rows.dropna(subset="estimate").set_index("judged_by")
    if by.empty:
        return {}
    design = {n: int(by.at["people", "estimate"]), each: int(by.at["people", "annotators_per_dialogue"])}
    return design | ({"pool": int(by.at["model", "estimate"])} if "model" in by.index else {})


def unpriced(data: PlanningInput) -> list[str]:
    """Models of the pilot whose cost is not stated."""
    judges = dict.fromkeys(j.judge for j in data.judged)
    return [j for j in judges if j not in data.judge_costs and "*" not in data.judge_costs]


def gains(results: Results, names: DisplayNames) -> Table | None:
    """What the model adds to people, label by label, in the design for all labels."""
    rows = results["split_explained"]
    if rows.empty or results["split_gain"].empty:
        return None
    keys = [*_TEAM, "label"]
    rows = names.sort(rows)
    index = pd.MultiIndex.from_frame(rows[keys])
    out = pd.DataFrame({"method": rows["method"].to_numpy(), "label": rows["label"].to_numpy()})
    out["Model"] = [names.name("metric", m) for m in rows["metric"]]
    out["Explained, %"] = intervals(
        rows.assign(**{c: 100 * rows[c] for c in ("estimate", "ci_low", "ci_high")}), 0
    ).to_numpy()
    gained = results["split_gain"].dropna(subset="label").set_index(keys)[["estimate", "ci_low", "ci_high"]]
    out["Worth of a human label"] = intervals(gained.reindex(index).reset_index(drop=True)).to_numpy()
    caption = f"Explained: share of the variance of a difference that the model explains in the pilot, {names.ci} over"
    caption += f" dialogues or sessions ({span(rows['n_clusters'], 0)}). Worth: labels by people alone that cost as"
    caption += " much, at the same ends."
    why = dict.fromkeys(out.columns, "The budget is too small.") | {"Explained, %": "The model explains nothing."}
    return Table(names.named(out), "split", caption, 2, why)
