"""The figure of notebook 05."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from judgebook.display.many import DRAWN
from judgebook.display.names import DisplayNames
from judgebook.display.plots import heatmap
from judgebook.display.style import PAGE, subplots
from judgebook.display.text import Phrases, counted, p_value, told
from judgebook.display.views import Plot
from judgebook.questions.sensitivity.analysis import compared
from judgebook.study.results import Results

#: p-values below this have the deepest colour
FLOOR = 1e-3
#: marks of labels of which less is better, or that have no direction
SIGNS = {-1: " ↓", 0: " ○", 1: ""}
_PHRASES = Phrases(__package__)
SIGNIFICANCE = """Each cell is a label and a pair of systems. Blue: the first system is better, red: the second; the
deeper, the smaller the p-value; dots: decided by the fits, all pairs of systems of a label at once; {n}."""
LESS = " ↓: less is better."
NEITHER = (
    " Grey, ○: neither good nor bad, or not declared; in place of dots, + if the first system is higher, − if lower."
)


def significance(results: Results, names: DisplayNames, part: str = "", name: str = "significance") -> Plot | None:
    """Which systems differ on which label, by the fits; None where none can be compared.

    results : of one corpus and group; part : its name, where there are several.
    """
    fits = compared(results)
    if fits.empty:
        return None
    rows = _signed(fits, names)
    caption = " ".join(SIGNIFICANCE.split()).format(n=counted(fits["n"], "judgements per label"))
    caption += LESS * bool((rows["direction"] == -1).any()) + NEITHER * bool((rows["direction"] == 0).any())
    n_pairs = rows["pair"].nunique()
    if n_pairs > DRAWN:
        often = rows.groupby("pair", sort=False)["sure"].sum().nlargest(DRAWN)
        rows = rows[rows["pair"].isin(often.index)]
        caption += f" Of {n_pairs} pairs of systems the {DRAWN} that are decided on most labels are drawn."
    caption = f"{part}: {caption[0].lower()}{caption[1:]}" if part else caption
    alt = f"Heatmap of p-values: {fits['sure'].sum()} of {len(fits)} differences between systems are decided."
    title = significance_title(fits) + (f" ({part})" if part else "")
    return Plot(_by_label(rows, names), name, f"{part}: {alt}" if part else alt, caption, title)


def significance_title(rows: pd.DataFrame) -> str:
    """How many differences are decided. rows : of `analysis.compared`."""
    return _PHRASES.say("significance_title", n=len(rows), found=int(rows["sure"].sum()))


def _signed(rows: pd.DataFrame, names: DisplayNames) -> pd.DataFrame:
    """With `direction` of the label, `title` and `pair`, as readers see them, and `better`: 1 where the first system is
    better, -1 where the second is, 0 where a label has no direction."""
    rows = names.pairs(rows)
    second = rows["system_b"].map({system: i for i, system in enumerate(names.titles["system"])})
    rows = names.sort(rows.loc[second.sort_values(kind="stable").index])  # pairs in one order, whatever they are from
    keys = list(zip(rows["method"], rows["label"], strict=True))
    direction = np.array([names.labels[key].direction for key in keys])
    title = [names.name("label", label, m) + SIGNS[d] for (m, label), d in zip(keys, direction, strict=True)]
    pair = [names.pair_name(*systems) for systems in rows[["system", "system_b"]].to_numpy()]
    return rows.assign(direction=direction, better=np.sign(rows["estimate"]) * direction, title=title, pair=pair)


def _by_label(rows: pd.DataFrame, names: DisplayNames) -> Figure:
    """Labels by pairs of systems, a panel for each method."""
    methods = list(dict.fromkeys(rows["method"]))
    labels = [rows.loc[rows["method"] == m, "label"].nunique() for m in methods]
    height = (0.19 if sum(labels) < 32 else 0.155) * sum(labels) + 0.3 * len(labels)
    # names of pairs stand slanted below: long ones need room where there are few rows
    longest = max((len(n) for n in names.titles["system"].values()), default=0)
    size = {"width": PAGE, "height": max(height + 1.7, height + 1.2 + 0.11 * longest if sum(labels) < 4 else 0)}
    ratios = {"height_ratios": [n + 0.8 for n in labels]}
    fig, axes = subplots(len(methods), 1, squeeze=False, gridspec_kw=ratios, **size)
    for ax, method in zip(axes[:, 0], methods, strict=True):
        _pairs(ax, rows[rows["method"] == method], list(dict.fromkeys(rows["pair"])))
        ax.set_title(names.name("method", method))
        if method != methods[-1]:
            ax.set_xticks([])
    bar = fig.colorbar(axes[0, 0].collections[0], ax=axes, location="bottom", shrink=0.6, aspect=40, pad=0.02)
    ends = [-np.log10(p) for p in (FLOOR, 0.01, 0.05)]
    texts = [f"{'≤ ' if p == FLOOR else ''}{p:g}" for p in (FLOOR, 0.01, 0.05)]
    bar.set_ticks([-e for e in ends] + [0] + ends[::-1], labels=[*texts, "1", *texts[::-1]])
    bar.set_label("p-value: second system better (left), first system better (right)")
    return fig


def _pairs(ax: Axes, rows: pd.DataFrame, pairs: list[str]) -> None:
    size, neither = -np.log10(rows["p_adjusted"].clip(lower=FLOOR)), rows["direction"] == 0
    signs = np.where(neither, np.where(rows["estimate"] > 0, "+", "−"), "•")
    tooltips = [
        f"{row['title']}, {told(row['pair'], row)}, p = {p_value(row['p_adjusted'])}" for row in rows.to_dict("records")
    ]
    drawn = {"depth": size * rows["better"], "grey": size.where(neither), "star": np.where(rows["sure"], signs, "")}
    drawn["said"] = tooltips
    cells = rows.assign(**drawn).set_index(["title", "pair"])
    value, grey, text, said = (
        cells[column].unstack().reindex(index=dict.fromkeys(rows["title"]), columns=pairs)  # noqa: PD010
        for column in drawn
    )
    limit = -np.log10(FLOOR)
    heatmap(value, ax, texts=text.fillna(""), titles=said, cmap="RdBu", vmin=-limit, vmax=limit)
    if neither.any():  # half the depth, so that signs stay legible
        ax.pcolormesh(grey.to_numpy(float), cmap="Greys", vmin=0, vmax=2 * limit, edgecolor="white", linewidth=0.5)
