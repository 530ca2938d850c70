"""What notebook 14 shows and says: figures, tables, and sentences, which `text.md.j2` puts into words."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from judgebook.display import captions
from judgebook.display.names import MARKERS, NEUTRAL, DisplayNames
from judgebook.display.style import PAGE, handle, legend_of, panel, subplots, tips
from judgebook.display.text import Phrases, number, percent, plural, span
from judgebook.display.views import Plot, Prose, Table
from judgebook.model.designs import MOST
from judgebook.questions.judges.prediction_powered import ASSISTED, HUMAN
from judgebook.questions.planning.analysis import LOOKS, cheapest
from judgebook.questions.planning.pilot_study import PlanningInput
from judgebook.questions.planning.question import Planning
from judgebook.study.results import Results, where

#: labels in the figure
SHOWN = 6
_PHRASES = Phrases(__package__)
_DESIGN = ["n_dialogues", "annotators_per_dialogue"]
_WANTED: dict[str, Any] = {"color": "#666666", "linewidth": 0.9, "linestyle": (0, (4, 2))}
_CASE = ["method", "label"]
#: what a design is for
AIMS = {"cheapest": "cheapest", "separate": "first from second", "budget": "within the budget"}


def maps(results: Results, names: DisplayNames, *, currency: str) -> Iterator[Plot]:
    """The smallest difference that each design finds, by the hours (or dialogues) it takes: a panel for each label."""
    rows = results.select("plan_detectable", aim=None)
    rows = names.sort(rows.dropna(subset="estimate"))
    if rows.empty:
        return
    labels = rows[["method", "label"]].drop_duplicates()
    turns = labels.groupby("method", sort=False).cumcount().sort_values(kind="stable")
    first = labels.loc[turns.index[:SHOWN]]
    chosen = captions.chosen(len(first), len(labels), "labels that come first in each method")
    rows = rows.merge(first, on=["method", "label"])
    cost = results["plan_cost"]
    if len(cost):
        key = ["method", "label", *_DESIGN]
        amounts = cost[cost["aim"].isna()] if "aim" in cost else cost
        for resource in ("hours", "money"):
            of_resource = amounts[amounts["resource"] == resource].set_index(key)["estimate"]
            rows = rows.join(of_resource.rename(resource), on=key)
    wanted = results["planned_difference"].set_index(["method", "label"])["estimate"]
    panels = list(rows.groupby(["method", "label"], sort=False))
    columns = min(len(panels), 2)
    fig, axes = subplots(
        -(-len(panels) // columns), columns, squeeze=False, width=PAGE if columns == 2 else 4.6,
        height=2.5 * -(-len(panels) // columns) + 0.7,
    )  # fmt: skip
    for ax, (key, of_resource) in zip(axes.flat, panels, strict=False):
        _panel(ax, of_resource, wanted[key], names, currency)
        panel(ax, of_resource, names)
    for ax in axes.flat[len(panels) :]:
        ax.axis("off")
    each = sorted(rows["annotators_per_dialogue"].unique())
    keys = [
        handle(plural(int(m), "annotator") + " per dialogue", *_style(i), linestyle="-") for i, m in enumerate(each)
    ]
    legend_of(fig, [*keys, handle("difference worth finding", marker="", **_WANTED)])
    fig.supylabel("Smallest difference found", fontsize=8)
    power = percent(rows["power"].iloc[0])
    caption = "Points: the smallest true difference between two systems, in units of the label, that a study finds"
    caption += f" with a power of {power}, by"
    if "hours" in rows:
        caption += " the work required. Points along a line differ in the number of dialogues per system, which is"
        caption += " given next to the points of the first line."
    else:
        caption += " dialogues per system, because the time per judgement is unknown."
    caption += f" Bars: {names.ci}, by what the pilot tells of its variances. Dashed: the difference worth finding."
    caption += " Both axes are logarithmic."
    shown = [names.distinct_label(label, method) for (method, label), _ in panels]
    alt = f"Smallest difference found, by {'hours' if 'hours' in rows else 'dialogues'} and annotators, for"
    alt += f" {', '.join(shown)}: {span(pd.concat([of_resource for _, of_resource in panels])['estimate'])}."
    best = rows.groupby(["method", "label"])["estimate"].min()
    facts = {"n": len(best), "found": int((best <= wanted.reindex(best.index)).sum())}
    title = _PHRASES.say("map_title", **facts, power=rows["power"].iloc[0])
    unit = f"Smallest true difference found, by {'hours of work' if 'hours' in rows else 'dialogues per system'}"
    yield Plot(fig, "map", alt, captions.joined(caption, chosen), title, unit)


def _style(i: int) -> tuple[str, str]:
    return NEUTRAL[i % len(NEUTRAL)], MARKERS[i % len(MARKERS)]


def _panel(ax: Axes, rows: pd.DataFrame, wanted: float, names: DisplayNames, currency: str) -> None:
    timed = "hours" in rows and rows["hours"].notna().all()
    x = "hours" if timed else "n_dialogues"
    for i, (m, of_number) in enumerate(rows.groupby("annotators_per_dialogue")):
        color, marker = _style(i)
        ax.plot(of_number[x], of_number["estimate"], marker=marker, color=color, markersize=3.5, linewidth=1)
        bounded = of_number.dropna(subset="ci_low")
        ax.vlines(bounded[x], bounded["ci_low"], bounded["ci_high"], color=color, linewidth=0.8, alpha=0.6)
        tooltips = [
            f"{number(row.n_dialogues)} dialogues per system, {plural(int(m), 'annotator')}: {number(row.estimate)}"
            f"{f' [{number(row.ci_low)}, {number(row.ci_high)}]' if pd.notna(row.ci_low) else ''}"
            f"{f'; {number(row.hours, 0)} hours, {number(row.money, 0)} {currency}' if timed else ''}"
            for row in of_number.itertuples()
        ]
        tips(ax, tooltips, of_number[x], of_number["estimate"])
        if i == 0 and timed:
            for row in of_number.itertuples():
                ax.annotate(
                    number(row.n_dialogues), (getattr(row, x), row.estimate), xytext=(-3, -4), ha="right", va="top",
                    textcoords="offset points", fontsize=6, color=color,
                )  # fmt: skip
    ax.axhline(wanted, **_WANTED)
    first = rows.iloc[0]
    ax.set(xscale="log", yscale="log", title=names.distinct_label(first["label"], first["method"]))
    plain = FuncFormatter(lambda v, _: f"{v:,g}")
    ax.margins(x=0.09)  # room for the number left of the first point
    # of a decade or two, few powers of 10 are in sight
    steps = [(1, 2, 5) if high < 100 * low else (1,) for low, high in (ax.get_xlim(), ax.get_ylim())]
    for axis, subs in zip((ax.xaxis, ax.yaxis), steps, strict=True):
        axis.set_major_locator(LogLocator(subs=subs))
        axis.set_major_formatter(plain)
        axis.set_minor_formatter(NullFormatter())
    ax.set_xlabel("Hours of work" if timed else "Dialogues per system")
    ax.grid(alpha=0.4)


def designs(results: Results, names: DisplayNames, *, currency: str) -> Table:
    """The cheapest design that finds the difference worth finding, and what the budget buys, label by label."""
    wanted = results["planned_difference"].set_index(_CASE)["estimate"]
    rows = names.sort(results["plan_dialogues"])
    keys, separate = [*_CASE, "aim"], rows["aim"] == "separate"
    of_label = wanted.reindex(pd.MultiIndex.from_frame(rows[_CASE])).to_numpy()
    out = rows[keys].assign(**{"Worth finding": of_label})
    out["Worth finding"] = out["Worth finding"].mask(separate)
    out["Dialogues per system"] = rows["estimate"].astype("Int64")
    for column, title in {"annotators_per_dialogue": "Annotators each", "annotators": "Annotators"}.items():
        out[title] = rows.get(column, pd.Series(pd.NA, rows.index)).astype("Int64")
    index = pd.MultiIndex.from_frame(rows[keys])
    found = results["plan_detectable"].dropna(subset="aim").set_index(keys)["estimate"]
    out["Difference found"] = found.reindex(index).to_numpy()
    cost = results["plan_cost"]
    if len(cost) and cost["aim"].notna().any():
        for resource, heading in {"hours": "Hours", "money": currency}.items():
            costs = cost[(cost["resource"] == resource) & cost["aim"].notna()].set_index(keys)["estimate"]
            out[heading] = costs.reindex(index).round().to_numpy()
    out["aim"] = out["aim"].map(AIMS)
    if len(set(out["aim"])) == 1:
        out = out.drop(columns="aim")
    caption = "The design that finds the difference worth finding with the least work"
    if separate.any():
        caption += "; the one that tells the first system from the second, if they differ as in this study"
    if (rows["aim"] == "budget").any():
        caption += "; and the one within the budget that finds the smallest difference"
    caption += ". Differences are in units of the label."
    notes = rows.loc[rows["estimate"].isna(), "note"].dropna().unique() if "note" in rows else []
    none = f"There is no such design: {'; or '.join(notes)}." if len(notes) else ""
    why = dict.fromkeys(out.columns, none) | {"Worth finding": "As far apart as in this study."}
    why["Annotators"] = f"Who judged is not known. {none}".strip()
    why |= dict.fromkeys(("Hours", currency), f"The time per judgement is unknown. {none}".strip())
    return Table(names.named(out.rename(columns={"aim": "Design"})), "designs", caption, {"Hours": 0, currency: 0}, why)


def boundaries(results: Results) -> Table:
    """z boundaries and p-values at each look."""
    rows = results["sequential_boundary"]
    wide = pd.DataFrame({"Share of the dialogues": [percent(float(s)) for s in rows["share"]]})
    wide["z"], wide["p"] = rows["estimate"].round(3).to_numpy(), rows["p_value"].to_numpy()
    caption = "O’Brien–Fleming boundaries. A look is significant if |z| exceeds the boundary or, equivalently, if the"
    caption += " two-sided p-value is below the one given."
    return Table(wide, "boundaries", caption, {"p": 6, "z": 3})


_TEAM = ["method", "metric"]


def findings(
    results: Results,
    data: PlanningInput,
    names: DisplayNames,
    options: Planning,
    *,
    currency: str,
    confidence: float = 0.95,
    paid: tuple[float, str] | None = None,
    n_next: int = 0,
) -> Iterator[Prose]:
    """The decision: people and a model where it is recommended, and the recommended design of people, by method, and
    within the budget; then what the plan rests on, costs and early looks.

    paid : what a work unit of this study was paid, and the currency; None where that is not known. n_next : dialogues
    in the list of those to be judged next.
    """
    known = facts(results, data, names, options, confidence)
    with_model = teams(results, names)
    said = [_PHRASES.say("team", t=t, currency=currency, least=options.least_gain) for t in with_model[:1]]
    beside = any(t["helps"] for t in with_model)
    shared = {key: known[key] for key in ("methods", "lost", "too_wide", "assumed", "others")}
    shared |= {"most": MOST, "every": len(data.pilots)}
    headline = _PHRASES.say(
        "headline", **shared, power=options.power, currency=currency, n_systems=data.n_systems, budget=options.budget,
        effect=options.effect, beside=beside,
    )  # fmt: skip
    first, _, rest = headline.partition("\n")
    paragraphs = [*said, first, rest.strip()] if beside else [first, *said, rest.strip()]
    yield Prose("\n\n".join(paragraph for paragraph in paragraphs if paragraph) if said else headline)
    judges = dict.fromkeys(j.judge for j in data.judged)
    unpriced = [j for j in judges if j not in data.judge_costs and "*" not in data.judge_costs]
    yield Prose(_PHRASES.say("unpriced", judges=[names.name("metric", j) for j in unpriced]))
    if with_model:
        yield Prose(_PHRASES.say("next_items", n=n_next, judge=with_model[0]["judge"]))
    kinds = (("corpus", data.corpus, data.several[0]), ("group", data.group, data.several[1]))
    basis = [names.name(kind, value) for kind, value, several in kinds if several > 1]
    more = {"unit": data.blocks, "met": data.met, "paired": data.paired, "annotators": data.annotators}
    more |= {"left_out": known["left_out"], "once": known["once"], "basis": basis}
    yield Prose(_PHRASES.say("basis", **shared, **more))
    rate = next((prices.hourly_rate for prices in data.prices.values() if prices), None)
    yield Prose(_PHRASES.say("costs", times=_times(data, names), currency=currency, rate=rate, paid=paid))
    yield Prose(_PHRASES.say("looks", looks=LOOKS))


def facts(
    results: Results, data: PlanningInput, names: DisplayNames, options: Planning, confidence: float = 0.95
) -> dict[str, Any]:
    """What is said about designs.

    Returns `methods` (`_by_method`), `lost` (names of labels without a design), `too_wide` (of those whose difference
    is as wide as the scale), `assumed` (labels whose difference was not stated, and is therefore `effect` standard
    deviations), `left_out` (labels that were judged and cannot be planned from), `once` (planned labels of which no
    dialogue was judged twice), `others` (whether plans hold for other annotators: True, False, or None where some do).
    """
    rows = names.sort(results.select("plan_dialogues", aim="cheapest"))
    rows = rows[rows["estimate"].isna()]
    lost = [names.distinct_label(x, m) for m, x in zip(rows["method"], rows["label"], strict=True)]
    wide = {names.distinct_label(p.label, p.method) for p in data.pilots if data.wanted(p) >= p.widest}
    whom = {p.fit.others for p in data.pilots}
    return {
        "methods": _by_method(results, data, names, options, confidence),
        "lost": [x for x in lost if x not in wide], "too_wide": [x for x in lost if x in wide],
        "assumed": [names.distinct_label(x, m) for m, x in data.assumed],
        "left_out": [names.distinct_label(x, m) for m, x in data.left_out],
        "once": [names.distinct_label(p.label, p.method) for p in data.pilots if not p.judged_twice],
        "others": whom.pop() if len(whom) == 1 else None,
    }  # fmt: skip


def _times(data: PlanningInput, names: DisplayNames) -> list[dict[str, Any]]:
    """Of each method that is planned, minutes of a judgement and of a conversation; None where they are not known."""
    planned = {p.method for p in data.pilots}
    return [
        {"method": names.name("method", method), "judged": prices.minutes_per_judgement if prices else None,
         "talked": prices.minutes_per_dialogue if prices else None}
        for method, prices in data.prices.items() if method in planned
    ]  # fmt: skip


def _by_method(
    results: Results, data: PlanningInput, names: DisplayNames, options: Planning, confidence: float
) -> list[dict[str, Any]]:
    """Of each method the one design that finds the difference worth finding on all labels for which there is one: each
    judgement gives them all, so the neediest decides. The method to be recommended comes first: the one that finds it
    on the largest share of its labels, within the budget if there is one; of several, the one of least cost.

    n : dialogues per system or comparisons per pair; each : annotators of one; people : in all, None where they are not
    known. had : the number of the pilot, as a median. labels : planned; found : with a design; within : of the budget;
    every : whether that is all. hours, money : missing where times are not known.
    """
    chosen = results["plan_detectable"].dropna(subset="aim").set_index(["aim", "method", "label"])["estimate"]
    out = []
    for method in dict.fromkeys(p.method for p in data.pilots):
        of_method = [p for p in data.pilots if p.method == method]
        needed = [p for p in of_method if ("cheapest", method, p.label) in chosen.index]
        within = sum(chosen.get(("budget", method, p.label), np.nan) <= data.wanted(p) for p in needed)
        design = cheapest(needed, [data.wanted(p) for p in needed], data, options, confidence) if needed else None
        row = {"name": names.name("method", method), "labels": len(of_method), "found": len(needed) if design else 0}
        row |= {"within": within, "every": within == len(of_method), "had": _per_system(data, method), "timed": False}
        if design:
            people = int(design.annotators) if np.isfinite(design.annotators) else None
            row |= {"pairwise": needed[0].pairwise, "n": int(design.dialogues), "each": int(design.per_dialogue)}
            row["people"] = people
            if prices := data.prices.get(method):
                hours, money = (amount(design, needed[0].pairwise) for amount in (prices.hours, prices.cost))
                row |= {"hours": hours, "money": money, "timed": True}
        out.append(row)
    priced = all(row["timed"] for row in out if row["found"])
    return sorted(
        out,
        key=lambda m: (
            -m["within"] / m["labels"],
            -m["found"] / m["labels"],
            m["money"] if priced and m["found"] else 0,
        ),
    )


def _per_system(data: PlanningInput, method: str) -> int:
    """Dialogues per system of the pilot, or comparisons per pair of systems: the median."""
    judged = data.annotations[data.annotations["method"] == method].drop_duplicates(["dialogue", "dialogue_b"])
    sides = judged[["system", "system_b"]].astype("string").fillna("")
    sizes = pd.DataFrame(np.sort(sides.to_numpy(dtype=str), axis=1)).value_counts()
    return round(float(sizes.median()))


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
