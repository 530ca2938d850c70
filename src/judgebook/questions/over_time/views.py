"""What notebook 18 shows and says: figures, tables, and sentences, which `text.md.j2` puts into words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from judgebook.annotations.periods import in_order
from judgebook.display import captions, cells
from judgebook.display.grid_plots import DRAWN, MANY
from judgebook.display.names import DisplayNames
from judgebook.display.style import PAGE, legend, panel, subplots, tips
from judgebook.display.text import Phrases, told
from judgebook.display.views import Plot, Prose, Table
from judgebook.study.results import Results

_PANEL = ["corpus", "group", "method", "label"]
#: panels of a figure
_PANELS = 8
#: names of periods below an axis
_TICKS = 4
#: letters in a line of a panel's title
_LETTERS = 44
_PHRASES = Phrases(__package__)


def means(results: Results, names: DisplayNames, false_alarms: float) -> Iterator[Plot]:
    """Means of systems over periods with intervals, a panel for each label; changes that stand out are marked."""
    rows = results["period_mean"]
    if rows.empty:
        return
    changed = named(results, "system_change", false_alarms)
    systems = sorted(rows["system"].unique(), key=lambda s: names.position("system", s))
    first = dict.fromkeys([*changed["system"], *systems])
    shown = sorted([*first][:MANY], key=lambda s: names.position("system", s))
    order = in_order(rows["period"])
    title = _PHRASES.say("means_title", n=len(results["system_change"]), named=len(changed))
    over = sorted({str(u) for u in rows["resample_unit"].dropna()})
    caption = f"Lines: means of systems in each period, {names.ci} over {' or '.join(over)}."
    caption += " Dotted: a change of a system, as told by annotators who judged before and after, stands out."
    caption = captions.joined(caption, captions.chosen(len(shown), len(systems), "systems that changed, or come first"))
    alt = f"Means of {len(shown)} systems in {len(order)} periods, {order[0]} to {order[-1]}."
    rows = names.sort(rows[rows["system"].isin(shown)])
    several = [kind for kind in ("group", "corpus") if len(set(rows[kind])) > 1]
    panels = [part for _, part in rows.groupby(_PANEL, sort=False)]
    for start in range(0, len(panels), _PANELS):
        drawn = panels[start : start + _PANELS]
        down, columns = -(-len(drawn) // 2), min(len(drawn), 2)
        fig, axes = subplots(down, columns, squeeze=False, width=PAGE, height=1.7 * down + 0.7)
        for ax in axes.flat[len(drawn) :]:
            ax.set_visible(False)
        for ax, part in zip(axes.flat, drawn, strict=False):
            one = part.iloc[0]
            of_panel = changed[(changed[_PANEL] == one[_PANEL]).all(axis=1)]
            where = "".join(f", {names.name(kind, one[kind])}" for kind in several)
            ax.set_title(fill(names.distinct_label(one["label"], one["method"]) + where, _LETTERS), fontsize=8)
            _panel(ax, part, of_panel, shown, order, names)
        legend(fig, names, "system", shown)
        name = f"means_{start // _PANELS + 1}" if start else "means"
        yield Plot(fig, name, alt, caption, title, "Mean score of each system by period")


def _panel(
    ax: Axes,
    rows: pd.DataFrame,
    changed: pd.DataFrame,
    systems: Sequence[str],
    order: Sequence[str],
    names: DisplayNames,
) -> None:
    """A line for each of `systems`; a period without estimate interrupts it. changed : changes to mark."""
    at = range(0, len(order), -(-len(order) // _TICKS))
    ax.set_xticks(list(at), [order[i] for i in at], fontsize=6.5)
    ax.set_xlim(-0.5, len(order) - 0.5)
    ax.set_xlabel("Period", fontsize=7)
    panel(ax, rows, names)
    for i, system in enumerate(systems):
        line = rows[rows["system"] == system].set_index("period").reindex(order)
        x = np.arange(len(order)) + (0.4 * (i / (len(systems) - 1) - 0.5) if len(systems) > 1 else 0.0)
        color, marker = names.color("system", system), names.marker("system", system)
        ax.plot(x, line["estimate"], color=color, marker=marker, markersize=3, linewidth=1.2)
        ax.vlines(x, line["ci_low"], line["ci_high"], color=color, linewidth=0.8)
        told_of = zip(order, line.to_dict("records"), strict=True)
        tips(
            ax, [told(f"{names.name('system', system)}, {period}", row) for period, row in told_of], x, line["estimate"]
        )
    for period in changed["period"].unique():
        ax.axvline(list(order).index(period) - 0.5, color="#8A8A8A", linewidth=0.9, linestyle=":", zorder=0)
    ax.set_ylabel("Mean, rate or share won", fontsize=7)


def changes(results: Results, names: DisplayNames) -> Table | None:
    """The clearest changes of annotators and systems, whether or not they stand out."""
    rows = pd.concat([results["annotator_change"], results["system_change"]], ignore_index=True)
    if rows.empty:
        return None
    every, rows = len(rows), rows.sort_values("p_value", kind="stable").head(DRAWN)
    out = rows[_PANEL].assign(
        **{
            "Of": [names.name("system", s) if pd.isna(a) else a
                   for a, s in zip(rows["annotator"], rows["system"], strict=True)],
            "From": rows["before"],
            "To": rows["period"],
            "Change": cells.intervals(rows),
            "Adjusted p": cells.p_values(rows["p_adjusted"]),
        }
    )  # fmt: skip
    caption = (
        "Changes from one period to the next, the clearest first: of an annotator relative to the others who judged"
    )
    caption += " in both periods, of a system as told by these. Intervals are for these annotators, over items."
    note = captions.chosen(len(rows), every, "changes with the smallest p-values")
    return Table(names.named(out), "changes", captions.joined(caption, note))


def composition(results: Results, names: DisplayNames) -> Table | None:
    """Who and what there was in each period."""
    rows = results["period_count"]
    if rows.empty:
        return None
    what = list(dict.fromkeys(rows["what"]))
    wide = rows.set_index(["corpus", "group", "period", "what"])["estimate"].unstack("what")[what]  # noqa: PD010
    wide = wide.rename_axis(None, axis=1).reset_index()
    order = {period: i for i, period in enumerate(in_order(wide["period"]))}
    wide = wide.sort_values(["corpus", "group", "period"], key=lambda c: c.map(order) if c.name == "period" else c)
    wide = wide.rename(columns={"period": "Period", **{w: w.capitalize() for w in what}})
    caption = (
        "Judgements, items, systems and annotators of each period, and how many are new or gone since the one before."
    )
    why = dict.fromkeys(wide.columns, "It is the first period, or annotators are not known.")
    return Table(names.named(wide), "composition", caption, 0, why)


#: changes that are told one by one; more are counted
MOST = 3
_AT = ["corpus", "group", "method", "label", "before", "period"]


def named(results: Results, statistic: str, false_alarms: float) -> pd.DataFrame:
    """The changes that stand out, the clearest first."""
    rows = results[statistic]
    return rows[rows["p_adjusted"] < false_alarms].sort_values("p_value", kind="stable")


def facts(results: Results, names: DisplayNames, false_alarms: float) -> dict[str, Any]:
    """tested, periods (first, last); `changes`: MOST of them as who, what, label, size, ends, since, and
    whether of one of two annotators; n : of all; `together`: where all of several systems changed in one direction."""
    order = in_order(results["period_count"]["period"])
    people, systems = (named(results, s, false_alarms) for s in ("annotator_change", "system_change"))
    everyone = pd.concat([people.assign(who=people["annotator"]), systems.assign(who=None)])
    everyone = everyone.sort_values("p_value", kind="stable")
    # of two annotators one change is told, that of the first relative to the second
    mirrored = (everyone["n_annotators"] == 2) & everyone["who"].notna()
    everyone = everyone[~(mirrored & everyone.assign(mirrored=mirrored).duplicated([*_AT, "mirrored"]))]
    several = len(everyone[["corpus", "group"]].drop_duplicates()) > 1
    tested = results["system_change"].sort_values("p_value", kind="stable").groupby(_AT, sort=False)
    together = [
        {"label": names.distinct_label(key[3], key[2]), "period": key[5], "n": len(rows)}
        for key, rows in tested
        if len(rows) > 1 and (rows["p_adjusted"] < false_alarms).all() and rows["estimate"].gt(0).mean() in (0, 1)
    ]
    return {
        "tested": len(results["annotator_change"]) + len(results["system_change"]),
        "first": order[0] if order else "",
        "last": order[-1] if order else "",
        "n": len(everyone),
        "together": together,
        "changes": [_change(row, names, several=several) for row in everyone.head(MOST).to_dict("records")],
    }


def _change(row: dict[str, Any], names: DisplayNames, *, several: bool) -> dict[str, Any]:
    where = f" ({names.name('group', row['group'])}, {names.name('corpus', row['corpus'])})" if several else ""
    return {
        "annotator": row["who"],
        "system": None if row["who"] else names.name("system", row["system"]),
        "of_two": row["n_annotators"] == 2,
        "label": names.distinct_label(row["label"], row["method"]) + where,
        "rise": row["estimate"] > 0,
        "size": abs(row["estimate"]),
        "low": min(abs(row["ci_low"]), abs(row["ci_high"])),
        "high": max(abs(row["ci_low"]), abs(row["ci_high"])),
        "period": row["period"],
    }


def unseparated(results: Results) -> list[dict[str, Any]]:
    """Why changes of systems and annotators cannot be told apart, and between which periods; the commonest first."""
    rows = results["unseparated"].drop_duplicates(["note", "before", "period"])
    parts = sorted(rows.groupby("note", sort=False), key=lambda item: -len(item[1]))
    return [{"why": why, "n": len(part), "before": part["before"].iloc[0], "period": part["period"].iloc[0]}
            for why, part in parts]  # fmt: skip


def findings(results: Results, names: DisplayNames, false_alarms: float) -> Iterator[Prose]:
    """The headline: which changes stand out; where nothing can be told."""
    yield Prose(_PHRASES.say("headline", **facts(results, names, false_alarms)))
    yield Prose(_PHRASES.say("unseparated", reasons=unseparated(results)))
