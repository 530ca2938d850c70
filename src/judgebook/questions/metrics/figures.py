"""Figures of notebook 09."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from judgebook.display import captions
from judgebook.display.grid_plots import grid_figure, interval_keys, intervals
from judgebook.display.many import pages
from judgebook.display.names import GOOD, NEUTRAL, DisplayNames
from judgebook.display.style import handle
from judgebook.display.text import Phrases, span
from judgebook.display.views import Plot
from judgebook.questions.metrics.analysis import data_sets, overall
from judgebook.study.results import Results

_PHRASES = Phrases(__package__)
COMPUTED, GIVEN = "computed from the texts", "score in the data"
STYLES = {GIVEN: (NEUTRAL[0], "s"), COMPUTED: (NEUTRAL[1], "o")}


def correlations(results: Results, names: DisplayNames, computed: Collection[str]) -> Iterator[Plot]:
    """Each metric's correlation with people by data set, and by label where a data set has several. computed : metrics
    computed from the texts."""
    sets = data_sets(results, names.titles)
    yield from _plots(sets, "metrics", names, computed)
    for i, (title, part) in enumerate(sets.items()):
        labels = part.select("correlation", scope="pooled").drop_duplicates("label")[["label", "method"]]
        if len(labels) > 1:
            panels = {names.name("label", *key): part.part(label=key[0]) for key in labels.itertuples(index=False)}
            yield from _plots(panels, f"labels_{i}", names, computed, f"{title}. " if len(sets) > 1 else "")


def _plots(
    panels: dict[str, Results], name: str, names: DisplayNames, computed: Collection[str], where: str = ""
) -> Iterator[Plot]:
    rows = pd.concat([panel(part, names, computed).assign(panel=title) for title, part in panels.items()])
    over = " and ".join(f"{unit}s" for unit in dict.fromkeys(rows["resample_unit"].dropna())) or "contexts"
    keys = [
        *interval_keys(f"{names.ci} over {over}", None, rows),
        handle("ceiling", GOOD, "", linestyle=(0, (4, 2))),
    ]
    caption = f"{where}Large marks: Spearman's correlation of each metric with the mean rating of people."
    caption += f" {captions.intervals(names.ci, over, rows['n_clusters'])} Dashed green line (band: CI): the highest"
    caption += " correlation that unreliable ratings allow."
    estimated = rows["estimate"].dropna()
    estimates = f"ρ from {span(estimated)}" if len(estimated) else "no ρ could be computed"
    for suffix, page in pages(rows, columns=3):
        fig = grid_figure(
            page,
            _metrics,
            styles=STYLES,
            xlabel="Spearman's ρ",
            columns=3,
            reference=0,
            named="no correlation",
            sharex=True,
            keys=keys,
        )
        alt = f"{where}Spearman's correlation of {page['block'].nunique()} metrics with mean ratings, with intervals"
        alt += f" and ceiling, for {', '.join(dict.fromkeys(page['panel']))}: {estimates}."
        title = correlations_title(rows) + (f" ({where.rstrip('. ')})" if where else "")
        unit = "Spearman's ρ of a metric with the mean rating of people"
        yield Plot(fig, f"{name}{'_page' if suffix else ''}{suffix}", alt, caption, title, unit)


def correlations_title(rows: pd.DataFrame) -> str:
    """How many correlations have an interval above 0."""
    known = rows.dropna(subset="ci_low")
    return _PHRASES.say("metrics_title", n=len(known), above=int((known["ci_low"] > 0).sum()))


def panel(results: Results, names: DisplayNames, computed: Collection[str]) -> pd.DataFrame:
    """Rows of one panel, one per metric of `names`, from the results of one label or data set.

    The mean over labels has the mean ceiling, and no interval of the ceiling.
    """
    rows = overall(results).set_index("metric").reindex(list(names.titles["metric"]))
    top = results["reliability_ceiling"]
    one = top.iloc[0] if len(top) == 1 else {"ci_low": np.nan, "ci_high": np.nan}
    return rows.assign(
        block=list(names.titles["metric"].values()),
        hue=[COMPUTED if m in computed else GIVEN for m in rows.index],
        ceiling=top["estimate"].mean(skipna=False),
        ceiling_low=one["ci_low"],
        ceiling_high=one["ci_high"],
    )


def _metrics(ax: Axes, rows: pd.DataFrame, color: str, marker: str) -> None:
    intervals(ax, rows, color, marker)
    same = rows.iloc[0]
    ax.axvspan(same["ceiling_low"], same["ceiling_high"], color=GOOD, alpha=0.07, linewidth=0)
    ax.axvline(same["ceiling"], color=GOOD, linewidth=1.2, linestyle=(0, (4, 2)))
