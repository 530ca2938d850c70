"""Figures of notebook 03."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from helpers.agreement.analysis import over_turns, primary
from helpers.agreement.tables import PARTS, over
from helpers.display import plots
from helpers.display.names import DisplayNames
from helpers.display.style import handle, legend_of, subplots
from helpers.display.text import listing, percent, span
from helpers.display.views import Plot
from helpers.study.results import Results
from helpers.study.schema import CELL

#: colours of the parts of the variance, the residual last
_SHADES = ("#0072B2", "#D55E00", "#E69F00", "#009E73", "#D9D9D9")


def alphas(results: Results, names: DisplayNames, marks: Sequence[float] = ()) -> Iterator[Plot]:
    """Forest plots of alpha, one per corpus: the main group, and where groups can be compared all groups.

    marks : values of alpha at which a line is drawn.
    """
    rows = primary(results)
    turns = over_turns(results)
    corpora = list(dict.fromkeys(rows["corpus"]))
    for i, corpus in enumerate(corpora):
        for name, part in _figures(rows[rows["corpus"] == corpus]).items():
            light = turns[(turns["corpus"] == corpus) & turns["group"].isin(part["group"])]
            key = (f"CI over {over(rows)}", "CI over turns")
            fig = plots.forest_figure(
                part, names, light=light, key=key, xlabel="Krippendorff's alpha", reference=(0.0, *marks)
            )
            for ax in fig.axes:
                for mark in marks:
                    place = {"transform": ax.get_xaxis_transform(), "ha": "center", "va": "bottom"}
                    ax.text(mark, 1.0, f"{mark:g}", fontsize=7, color="0.4", **place)
            groups = ", ".join(names.name("group", g) for g in dict.fromkeys(part["group"]))
            alt = f"Forest plot: alpha of {len(part)} labels with intervals, by method, from"
            alt += f" {span(part['estimate'].dropna())}. Judged by {groups}."
            alt += f" Lines mark {listing(f'{mark:g}' for mark in marks)}." if marks else ""
            yield Plot(fig, name if len(corpora) == 1 else f"{name}_{i}", alt)


def main_group(rows: pd.DataFrame) -> str:
    """The group with most labels judged twice, of these the one with most items."""
    size = rows.groupby("group").agg(labels=("label", "size"), items=("n", "sum"))
    return size.sort_values(["labels", "items"], kind="stable").index[-1]


def _figures(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Rows of each figure of one corpus: `alpha`, and `alpha_groups` where only some methods allow a comparison."""
    groups = rows.groupby("method", sort=False)["group"].nunique()
    shared = rows["method"].isin(groups.index[groups > 1])
    if shared.all() or len(set(rows["group"])) == 1:
        return {"alpha": rows}
    return {"alpha": rows[rows["group"] == main_group(rows)]} | ({"alpha_groups": rows[shared]} if shared.any() else {})


def variance(results: Results, names: DisplayNames) -> Plot | None:
    """Shares of the variance as stacked bars: a panel per method and group, a bar per label."""
    rows = results["variance_share"].dropna(subset="estimate")
    rows = names.sort(rows.drop_duplicates([*CELL, "part"]))  # the first model of a label
    if rows.empty:
        return None
    parts = {part: title for part, title in PARTS.items() if part in set(rows["part"])}
    panels = list(rows.groupby(["corpus", "method", "group"], sort=False))
    heights = [own["label"].nunique() for _, own in panels]
    size = {"width": 6.0, "height": 0.2 * sum(heights) + 0.35 * len(panels) + 0.8}
    fig, axes = subplots(len(panels), 1, squeeze=False, sharex=True, gridspec_kw={"height_ratios": heights}, **size)
    for ax, ((corpus, method, group), own) in zip(axes.flat, panels, strict=True):
        wide = own.set_index(["label", "part"])["estimate"].unstack("part")  # noqa: PD010 (twice must raise)
        wide = wide.reindex(index=dict.fromkeys(own["label"]), columns=parts).fillna(0)
        left = wide.cumsum(axis=1) - wide
        for part, color in zip(parts, _SHADES[-len(parts) :], strict=True):
            ax.barh(range(len(wide)), wide[part], left=left[part], color=color, height=0.75)
        ax.set_yticks(range(len(wide)), [names.name("label", x, method) for x in wide.index])
        ax.set(ylim=(len(wide) - 0.5, -0.5), xlim=(0, 1))
        several = [names.name("corpus", corpus)] if len(set(rows["corpus"])) > 1 else []
        ax.set_title(", ".join([*several, names.name("method", method), *names_of_group(names, group)]))
    axes.flat[-1].xaxis.set_major_formatter(lambda x, _: f"{100 * x:.0f}%")
    axes.flat[-1].set_xlabel("Share of the variance")
    legend_of(
        fig,
        [handle(title, c, "s", linewidth=0) for title, c in zip(parts.values(), _SHADES[-len(parts) :], strict=True)],
    )
    told = (
        f"{title.lower()} {percent(rows.loc[rows['part'] == p, 'estimate'].median())}" for p, title in parts.items()
    )
    return Plot(
        fig, "variance", f"Stacked bars: shares of the variance of scores by label. Medians: {', '.join(told)}."
    )


def names_of_group(names: DisplayNames, group: str) -> list[str]:
    """The display name of a group in a list; none of the only one."""
    return [] if group == "all" else [names.name("group", group)]
