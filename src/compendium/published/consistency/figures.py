"""Figure of notebook 91: how many checks, and printed numbers, came out how."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.ticker import PercentFormatter

from compendium.published.consistency import analysis, rules
from compendium.published.consistency.analysis import Audit, by_check, failures
from judgebook.display.plots import heatmap
from judgebook.display.style import subplots
from judgebook.display.text import Phrases
from judgebook.display.views import Plot

_PHRASES = Phrases(__package__)
#: outcome of checks -> display name
KINDS = {
    rules.CONSISTENT: "consistent",
    rules.INCONSISTENT: "inconsistent",
    analysis.CONDITIONAL: "inconsistent only under an assumption",
    rules.OPEN: "not checkable",
}
#: state of printed numbers -> display name
STATE_NAMES = {
    analysis.FOLLOWS: "follows from others",
    analysis.CONSISTENT_WITH: "consistent with others",
    analysis.CONTRADICTS: "contradicts others",
    analysis.INVOLVED: "used to check others",
    analysis.NONE: "in no check",
}


def outcomes(audited: Audit) -> Plot:
    """Checks by outcome, and printed numbers by state, per paper; those of whose numbers none is related to another
    share a row."""
    numbers = _counted(audited.cells, "state", STATE_NAMES, audited.titles)
    alone = numbers.index[numbers[STATE_NAMES[analysis.NONE].capitalize()] == numbers.sum(axis=1)]
    numbers = _pooled(numbers, alone)
    checks = _pooled(_counted(by_check(audited.checks), "kind", KINDS, audited.titles), alone)
    fig, axes = subplots(2, 1, height=0.4 * len(checks) + 2.2)
    for ax, (title, counts) in zip(axes, {"Checks": checks, "Printed numbers": numbers}.items(), strict=True):
        total = counts.sum(axis=1)
        tooltips = counts.apply(lambda column, of=total: [f"{n:,} of {k:,}" for n, k in zip(column, of, strict=True)])
        tooltips = tooltips.apply(lambda column: [f"{p}, {column.name.lower()}: {v}" for p, v in column.items()])
        texts = counts.map(lambda n: f"{n:,}" if n else "")
        heatmap(counts.div(total, axis=0), ax, texts=texts, titles=tooltips, vmin=0, vmax=1)
        ax.set_title(title)
    place = {"ax": axes, "location": "bottom", "shrink": 0.5, "aspect": 35, "pad": 0.02}
    bar = fig.colorbar(axes[0].collections[0], label="Share of the paper's checks, or of its printed numbers", **place)
    bar.ax.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    failed = "; ".join(f"{p}: {row['Inconsistent']} of {row.sum()} inconsistent" for p, row in checks.iterrows())
    follow = "; ".join(
        f"{p}: {row['Follows from others']} of {row.sum()} follow from others" for p, row in numbers.iterrows()
    )
    alt = f"Counts by paper. Checks by outcome: {failed}. Printed numbers by state: {follow}."
    caption = (
        f"How {checks.to_numpy().sum():,} checks came out, and what they say of {numbers.to_numpy().sum():,} printed"
    )
    caption += " numbers, by paper or data set. Cells give counts; the darker, the larger the share of the paper's own."
    title, unit = failures_title(by_check(audited.checks)), "Checks by outcome, and printed numbers by state, by paper"
    return Plot(fig, "outcomes", alt, caption, title, unit)


def failures_title(checks: pd.DataFrame) -> str:
    """How many checks fail. checks : of `by_check`."""
    firm, conditional = map(len, failures(checks))
    return _PHRASES.say("failures_title", checks=len(checks), firm=firm, conditional=conditional)


def _pooled(counted: pd.DataFrame, rows: pd.Index) -> pd.DataFrame:
    """Some rows, where there are several, as one at the end, which says how many they are."""
    if len(rows) < 2:
        return counted
    together = counted.loc[rows].sum().to_frame(f"{len(rows)} others").T
    return pd.concat([counted.drop(index=rows), together])


def _counted(frame: pd.DataFrame, column: str, kinds: Mapping[str, str], titles: Mapping[str, str]) -> pd.DataFrame:
    """A row for each paper and a column for each value of `column`, with display names."""
    counted = pd.crosstab(frame["paper"], frame[column])
    counted = counted.reindex(index=list(titles), columns=list(kinds), fill_value=0)
    return counted.rename(index=titles).set_axis([name.capitalize() for name in kinds.values()], axis=1)
