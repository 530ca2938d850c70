"""Views of notebook 14: the map of designs, the table of them, and boundaries for early looks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from judgebook.display import captions
from judgebook.display.names import MARKERS, NEUTRAL, DisplayNames
from judgebook.display.style import PAGE, handle, legend_of, panel, subplots, tips
from judgebook.display.text import Phrases, number, percent, plural, span
from judgebook.display.views import Plot, Table
from judgebook.study.results import Results

#: labels in the figure
MOST = 6
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
    first = labels.loc[turns.index[:MOST]]
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
