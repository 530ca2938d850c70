"""The figure of notebook 17."""

from __future__ import annotations

import numpy as np

from judgebook.display.names import DisplayNames
from judgebook.display.plots import heatmap
from judgebook.display.style import PAGE, subplots
from judgebook.display.text import Phrases, plural
from judgebook.display.views import Plot
from judgebook.questions.design.analysis import SHOWN
from judgebook.study.results import Results

#: systems in the figure: more columns than this have names that cannot be read
_SYSTEMS = 30


def loads(results: Results, names: DisplayNames) -> Plot | None:
    """Who judged how many dialogues of each system."""
    rows = results["design_load"]
    if rows.empty:
        return None
    wide = rows.pivot_table(index="annotator", columns="system", values="estimate", sort=False)
    most = wide.sum().sort_values(ascending=False, kind="stable").index[:_SYSTEMS]
    wide = wide[sorted(most, key=lambda s: (names.position("system", s), s))]
    n_annotators, n_systems = wide.shape
    titled = wide.rename(columns=lambda s: names.name("system", s)).replace(0, np.nan)
    fig, ax = subplots(width=min(PAGE, 2.2 + 0.55 * n_systems), height=0.8 + 0.19 * n_annotators + 0.3)
    heatmap(titled, ax, decimals=0, texts=titled.map(lambda v: "" if np.isnan(v) else f"{v:.0f}"), vmin=0)
    where = ", ".join(names.name(k, rows[k].iloc[0]) for k in ("method", "group", "corpus"))
    caption = (
        f"Dialogues of each system (columns) that each annotator (rows) judged; hatched: none. {where}."
        f" Shown are at most {SHOWN} annotators, those with most dialogues first, and {_SYSTEMS} systems."
        " If the same annotators judge all systems, rows are evenly coloured."
    )
    apart = int((wide > 0).sum(axis=1).eq(1).sum())
    alt = f"{plural(n_annotators, 'annotator')} by {plural(n_systems, 'system')}; {apart} judged one system only."
    title = Phrases(__package__).say("loads_title", n=n_annotators, apart=apart)
    return Plot(fig, "loads", alt, caption, title, "Dialogues of each system that an annotator judged")
