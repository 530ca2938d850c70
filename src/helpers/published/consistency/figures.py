"""Figure of notebook 91: how many checks, and printed numbers, came out how."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from helpers.display import style
from helpers.display.names import COLORS
from helpers.display.views import Plot
from helpers.published.consistency import analysis, rules
from helpers.published.consistency.analysis import Audit, by_check

#: outcome of checks -> display name and colour
KINDS = {
    rules.CONSISTENT: ("consistent", COLORS[0]),
    rules.INCONSISTENT: ("inconsistent", COLORS[1]),
    analysis.CONDITIONAL: ("inconsistent only under an assumption", COLORS[4]),
    rules.OPEN: ("not checkable", COLORS[7]),
}
#: state of printed numbers -> display name and colour
STATE_NAMES = {
    analysis.FOLLOWS: ("follows from others", COLORS[0]),
    analysis.CONSISTENT_WITH: ("consistent with others", COLORS[5]),
    analysis.CONTRADICTS: ("contradicts others", COLORS[1]),
    analysis.INVOLVED: ("used to check others", "#BBBBBB"),
    analysis.NONE: ("in no check", COLORS[7]),
}


def outcomes(found: Audit) -> Plot:
    """Checks by outcome, and printed numbers by state, per paper."""
    fig, (above, below) = style.subplots(2, 1, height=7.4, height_ratios=[4, 5])
    checks = _bars(above, by_check(found.checks), "kind", KINDS, found.titles)
    above.set(title="Checks", xlabel="Checks")
    numbers = _bars(below, found.cells, "state", STATE_NAMES, found.titles)
    below.set(title="Printed numbers", xlabel="Numbers")
    failed = "; ".join(f"{p}: {row[rules.INCONSISTENT]} of {row.sum()} inconsistent" for p, row in checks.iterrows())
    follow = "; ".join(
        f"{p}: {row[analysis.FOLLOWS]} of {row.sum()} follow from others" for p, row in numbers.iterrows()
    )
    alt = f"Bars by paper. Above, checks by outcome: {failed}. Below, printed numbers by state: {follow}."
    return Plot(fig, "outcomes", alt)


def _bars(
    ax: Axes, frame: pd.DataFrame, column: str, kinds: Mapping[str, tuple[str, str]], titles: Mapping[str, str]
) -> pd.DataFrame:
    """A bar with its number for each paper and value of `column`; gives the counts that are drawn."""
    shown = {"y": frame["paper"].map(titles), "hue": frame[column], "order": list(titles.values()), "hue_order": kinds}
    sns.countplot(**shown, palette={k: color for k, (_, color) in kinds.items()}, saturation=1, ax=ax, legend=False)
    for bars, (name, _) in zip(ax.containers, kinds.values(), strict=True):
        bars.set_label(name)
        ax.bar_label(bars, padding=2, fontsize=7)
    ax.set(ylabel="")
    ax.margins(x=0.12)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x")
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    counted = pd.crosstab(frame["paper"], frame[column])
    return counted.reindex(index=list(titles), columns=list(kinds), fill_value=0).rename(index=titles)
