"""How people and a model share a budget, as notebook 14 shows it: facts, the figure and the tables."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from judgebook.display.names import MARKERS, NEUTRAL, DisplayNames
from judgebook.display.style import handle, legend_of, panel, subplots, tips
from judgebook.display.tables import intervals
from judgebook.display.text import Phrases, number, percent, span
from judgebook.display.views import Plot, Table
from judgebook.questions.judges.assisted import ASSISTED, HUMAN
from judgebook.questions.planning.pilot_study import PlanningInput
from judgebook.study.results import Results, where

_PHRASES = Phrases(__package__)
_TEAM = ["method", "metric"]
#: relative to people alone, or to the narrowest if that is wider
WIDEST = 1.5


def teams(results: Results, names: DisplayNames) -> list[dict[str, Any]]:
    """Of each method the model that gains most, those that are recommended first.

    helps : True, False, or None where the pilot cannot tell. n, pool, each : dialogues of a system that people and the
    model judge, and annotators; alone, alone_each : of people alone. share : of the budget, for people. gain,
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
            curve = where(results["split_width"], method=method, metric=judge, n_dialogues=team["n"])
            team["share"] = float(curve.sort_values("estimate")["share"].iloc[0])
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


def curves(results: Results, names: DisplayNames, *, currency: str) -> Iterator[Plot]:
    """Width of intervals relative to people alone, by share of the budget for people: a panel for each method."""
    shown = [t for t in teams(results, names) if t["gain"]]
    if not shown:
        return
    fig, axes = subplots(1, len(shown), squeeze=False, width=min(3.6 + 2.4 * (len(shown) - 1), 7.0), height=3.0)
    for ax, team in zip(axes.flat, shown, strict=True):
        rows = where(results["split_width"], method=team["method"], metric=team["id"])
        rows = rows.assign(at=rows["share"].astype(float)).sort_values("at")
        rows = rows[rows["estimate"] <= max(WIDEST, WIDEST * rows["estimate"].min())]
        ax.fill_between(100 * rows["at"], 100 * rows["ci_low"], 100 * rows["ci_high"], color=NEUTRAL[0], alpha=0.2)
        ax.plot(100 * rows["at"], 100 * rows["estimate"], color=NEUTRAL[0], linewidth=1.4)
        ax.axhline(100, color="#666666", linewidth=0.9, linestyle=(0, (4, 2)))
        best = rows[np.isclose(rows["at"], team["share"])].iloc[0]
        face = NEUTRAL[0] if team["helps"] else "white"
        at = 100 * best["at"], 100 * best["estimate"]
        ax.plot(*at, marker=MARKERS[0], color=NEUTRAL[0], markerfacecolor=face, markersize=7)
        told = f"{number(team['n'])} by people, {number(team['pool'])} by {team['judge']}: {percent(best['estimate'])}"
        tips(ax, [told], [at[0]], [at[1]])
        ax.set(title=f"{team['name']}, {team['judge']}", xlabel="Budget for people, %", ylabel="Width, %")
        panel(ax, rows[["method"]], names)
        ax.grid(alpha=0.4)
    legend_of(fig, _keys({t["helps"] is True for t in shown}))
    budgets = [f"{number(b, 0)} {currency}" for b in dict.fromkeys(t["budget"] for t in shown)]
    caption = "Line: width of the interval of a difference between two systems within the same budget"
    caption += f" ({', '.join(budgets)}), by the share of it that people's judgements take; the rest pays for dialogues"
    caption += " and for the model's judgements of all of them. 100%: people alone. Mean over labels of the relative"
    caption += f" variance. Band: the same at the ends of the {names.ci} of what the model explains in the pilot."
    caption += " Much wider intervals are left out."
    alt = "Width of intervals by share of the budget for people, relative to people alone: "
    ends = ((t, percent(1 - t["narrower"]["estimate"]), percent(t["share"])) for t in shown)
    alt += "; ".join(f"{t['name']} with {t['judge']}, {width} at {share}" for t, width, share in ends)
    unit = "Width of intervals relative to people alone, by share of the budget"
    yield Plot(fig, "split", f"{alt}.", caption, _PHRASES.say("split_title", teams=shown), unit)


def _keys(recommended: set[bool]) -> list[Line2D]:
    """Of the legend; recommended : whether models are, of those shown."""
    grey, mark = NEUTRAL[0], MARKERS[0]
    keys = [handle("people and model", grey, "", linestyle="-")]
    keys += [handle("recommended", grey, mark, linestyle="none")] if True in recommended else []
    hollow = handle("best, not recommended", grey, mark, linestyle="none", markerfacecolor="white")
    keys += [hollow] if False in recommended else []
    return [*keys, handle("people alone", "#666666", "", linestyle=(0, (4, 2)), linewidth=0.9)]


def designs(results: Results, names: DisplayNames) -> Table | None:
    """Who judges how many dialogues, for all labels of a method and for each by itself."""
    rows = results["split_dialogues"].dropna(subset="estimate")
    if rows.empty:
        return None
    out = []
    for (method, judge, label), part in rows.groupby([*_TEAM, "label"], sort=False, dropna=False):
        row: dict[str, Any] = {"Method": names.name("method", method), "Model": names.name("metric", judge)}
        row["Label"] = "all together" if pd.isna(label) else names.name("label", label, method)
        for raters, title in ((HUMAN, "People alone"), (ASSISTED, "With the model")):
            of = _design(part[part["raters"] == raters], "n", "each")
            row |= {f"{title}: people": of.get("n"), f"{title}: each by": of.get("each")}
            row |= {"With the model: model": of.get("pool")} if raters == ASSISTED else {}
        out.append(row)
    frame = pd.DataFrame(out)
    counts = frame.columns[3:]
    frame = frame.astype(dict.fromkeys(counts, "Int64"))
    caption = (
        "Dialogues of a system (comparisons of a pair of systems) that people and the model judge in the best design"
    )
    caption += (
        " within the budget: for all labels together, as each judgement gives them all, and for each label by itself."
    )
    return Table(frame, "split_designs", caption, 0, dict.fromkeys(counts, "The budget is too small."), folded=True)


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
