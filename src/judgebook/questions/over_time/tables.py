"""Tables of notebook 18."""

from __future__ import annotations

import pandas as pd

from judgebook.annotations.periods import in_order
from judgebook.display import captions, cells
from judgebook.display.many import DRAWN
from judgebook.display.names import DisplayNames
from judgebook.display.views import Table
from judgebook.study.results import Results

_PANEL = ["corpus", "group", "method", "label"]


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


def means(results: Results, names: DisplayNames) -> Table | None:
    """Means of systems, a column for each period."""
    rows = results["period_mean"]
    if rows.empty:
        return None
    made = rows[[*_PANEL, "system"]].assign(period=rows["period"], cell=cells.intervals(rows))
    wide = made.set_index([*_PANEL, "system", "period"])["cell"].unstack("period")  # noqa: PD010
    wide = wide[in_order(rows["period"])].rename_axis(None, axis=1).reset_index()
    caption = f"Means, rates or shares won of systems by period, with {names.ci}."
    why = dict.fromkeys(wide.columns, "The system was not judged in the period.")
    return Table(names.named(names.sort(wide)), "period_means", caption, why=why, folded=True)


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
