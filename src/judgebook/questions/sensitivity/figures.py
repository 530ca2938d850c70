"""Figures of notebook 05."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from judgebook.display.many import DRAWN, MANY
from judgebook.display.names import DisplayNames
from judgebook.display.plots import heatmap
from judgebook.display.style import PAGE, subplots
from judgebook.display.text import Phrases, counted, p_value, plural, told
from judgebook.display.views import Plot
from judgebook.questions.performance.arrangement import SIGNS
from judgebook.questions.sensitivity.analysis import as_published, compared
from judgebook.questions.sensitivity.shown import BOTH
from judgebook.study.results import Results

#: p-values below this have the deepest colour
FLOOR = 1e-3
_PHRASES = Phrases(__package__)
SIGNIFICANCE = """
Each cell is a label and a pair of systems. Blue: the first system is better, red: the second; the deeper, the smaller
the p-value; dots: p < 0.05, or decided. ↓: less is better. {neither} Published tests: on {size}, unadjusted. Fits: all
pairs of systems of a label at once; {n}."""
NEITHER = (
    "Grey, ○: neither good nor bad, or not declared; in place of dots, + if the first system is higher, − if lower."
)
COUNTS = """
Numbers of labels on which the system of the row is better than that of the column. Published tests: p < 0.05 on {size},
unadjusted. Fits: decided, all pairs of systems of a label at once; {n}.{neither}"""
NOT_COUNTED = " Not counted: {} that {} neither good nor bad, or whose direction nobody declared."


def _of(part: str, caption: str) -> str:
    """A caption in one line, with the group or corpus first where there are several."""
    text = " ".join(caption.split())
    return f"{part}: {text[0].lower()}{text[1:]}" if part else text


def significance(results: Results, names: DisplayNames, part: str = "", name: str = "significance") -> Plot:
    """Which systems differ on which label, by the published test and by the fit.

    results : of one corpus and group. With many systems, counts of labels for each pair of systems.
    """
    left = as_published(results)
    drawn, fits = left["sample"].notna().any(), compared(results)
    size = f"one draw of {int(left['n_dialogues'].iloc[0])} dialogues per system" if drawn else "all dialogues"
    tests = {
        f"Published tests,\n{size}": _signed(left.assign(p=left["p_value"], sure=left["p_value"] < 0.05), names),
        "Fits, all dialogues": _signed(fits.assign(p=fits["p_adjusted"]), names),
    }
    there = {s for rows in (left, fits) for side in BOTH for s in rows[side]}
    systems = [s for s in names.titles["system"] if s in there]
    many = len(systems) > MANY
    fig = _counts(tests, systems, names) if many else _by_label(tests, names)
    n = counted(fits["n"], "judgements per label")
    neither = _neither(next(iter(tests.values())), many=many)
    caption = (COUNTS if many else SIGNIFICANCE).format(size=size, n=n, neither=neither)
    if not any((rows["direction"] == -1).any() for rows in tests.values()):
        caption = caption.replace("↓: less is better. ", "")
    if len(systems) > DRAWN:
        caption += f" Of {len(systems)} systems the {DRAWN} with most differences are drawn; all are in the file."
    shares = [f"{rows['sure'].sum()} of {rows['p'].notna().sum()}" for rows in tests.values()]
    alt = f"Heatmaps of p-values for {len(systems)} systems: {shares[0]} comparisons are significant at 0.05 by the"
    alt = f"{part}: {alt}" if part else alt
    alt = f"{alt} published tests, {shares[1]} are decided by the fits."
    title = significance_title(fits) + (f" ({part})" if part else "")
    return Plot(fig, name, alt, _of(part, caption), title)


def significance_title(rows: pd.DataFrame) -> str:
    """How many differences are decided. rows : of `analysis.compared`."""
    return _PHRASES.say("significance_title", n=len(rows), found=int(rows["sure"].sum()))


def _neither(rows: pd.DataFrame, *, many: bool) -> str:
    """What a caption says of labels without a direction, nothing where all have one. rows : of `_signed`."""
    n = len(rows.loc[rows["direction"] == 0, ["method", "label"]].drop_duplicates())
    if not n or not many:
        return NEITHER if n else ""
    return NOT_COUNTED.format(plural(n, "label"), "is" if n == 1 else "are")


def _signed(rows: pd.DataFrame, names: DisplayNames) -> pd.DataFrame:
    """With `better`: 1 where the first system is better, -1 where the second is, 0 where a label has no direction."""
    rows = names.pairs(rows)
    second = rows["system_b"].map({system: i for i, system in enumerate(names.titles["system"])})
    rows = names.sort(rows.loc[second.sort_values(kind="stable").index])  # pairs in one order, whatever they are from
    code, keys = pd.factorize(pd.MultiIndex.from_frame(rows[["method", "label"]]))
    direction = np.array([names.labels[key].direction for key in keys])[code]
    return rows.assign(direction=direction, better=np.sign(rows["estimate"]) * direction)


def _by_label(tests: dict[str, pd.DataFrame], names: DisplayNames) -> Figure:
    """Labels by pairs of systems, a panel for each method and test."""
    methods = list(dict.fromkeys(names.sort(pd.concat(tests.values()))["method"]))
    labels = [max(rows.loc[rows["method"] == m, "label"].nunique() for rows in tests.values()) for m in methods]
    ratios = {"height_ratios": [n + 0.8 for n in labels]}
    rows = (0.19 if sum(labels) < 32 else 0.155) * sum(labels) + 0.3 * len(labels)
    # names of pairs stand slanted below: long ones need room where there are few rows
    longest = max((len(n) for n in names.titles["system"].values()), default=0)
    size = {"width": PAGE, "height": max(rows + 1.7, rows + 1.2 + 0.11 * longest if sum(labels) < 4 else 0)}
    fig, axes = subplots(len(methods), len(tests), squeeze=False, sharey="row", gridspec_kw=ratios, **size)
    for i, method in enumerate(methods):
        for j, (title, rows) in enumerate(tests.items()):
            of_method = rows[rows["method"] == method]
            if len(of_method):
                _pairs(axes[i, j], of_method, names, names_below=i == len(methods) - 1)
            else:
                axes[i, j].axis("off")
            heading = names.name("method", method)
            axes[i, j].set_title(f"{title}\n{heading}" if i == 0 else heading)
    bar = fig.colorbar(axes[0, 0].collections[0], ax=axes, location="bottom", shrink=0.6, aspect=40, pad=0.02)
    ends = [-np.log10(p) for p in (FLOOR, 0.01, 0.05)]
    texts = [f"{'≤ ' if p == FLOOR else ''}{p:g}" for p in (FLOOR, 0.01, 0.05)]
    bar.set_ticks([-e for e in ends] + [0] + ends[::-1], labels=[*texts, "1", *texts[::-1]])
    bar.set_label("p-value: second system better (left), first system better (right)")
    return fig


def _pairs(ax: Axes, rows: pd.DataFrame, names: DisplayNames, *, names_below: bool) -> None:
    labels = rows[["method", "label"]].itertuples(index=False, name=None)
    title = [names.name("label", x, m) + SIGNS[names.labels[m, x].direction] for m, x in labels]
    pair = [names.pair_name(*systems) for systems in rows[BOTH].to_numpy()]
    size, neither = -np.log10(rows["p"].clip(lower=FLOOR)), rows["direction"] == 0
    signs = np.where(neither, np.where(rows["estimate"] > 0, "+", "−"), "•")
    star = np.where(rows["sure"], signs, "")
    tooltips = [
        f"{what}, {told(which, row)}, p = {p_value(row['p'])}"
        for what, which, row in zip(title, pair, rows.to_dict("records"), strict=True)
    ]
    drawn = {"depth": size * rows["better"], "grey": size.where(neither), "star": star, "said": tooltips}
    cells = rows.assign(title=title, pair=pair, **drawn).set_index(["title", "pair"])
    value, grey, text, tooltips = (cells[c].unstack().reindex(index=dict.fromkeys(title), columns=dict.fromkeys(pair))  # noqa: PD010
                               for c in drawn)  # fmt: skip
    limit = -np.log10(FLOOR)
    heatmap(value, ax, texts=text.fillna(""), titles=tooltips, cmap="RdBu", vmin=-limit, vmax=limit)
    if neither.any():  # half the depth, so that signs stay legible
        ax.pcolormesh(grey.to_numpy(float), cmap="Greys", vmin=0, vmax=2 * limit, edgecolor="white", linewidth=0.5)
    if not names_below:
        ax.set_xticks([])


def _counts(tests: dict[str, pd.DataFrame], systems: list[str], names: DisplayNames) -> Figure:
    """Systems by systems: on how many labels the system of the row is better than that of the column."""
    tables = []
    for rows in tests.values():
        significant = rows[rows["sure"] & (rows["direction"] != 0)]
        better, worse = (significant[c].where(significant["better"] > 0, significant[d]) for c, d in (BOTH, BOTH[::-1]))
        table = pd.crosstab(better, worse).reindex(index=systems, columns=systems, fill_value=0)
        tables.append(table.where(~np.eye(len(systems), dtype=bool)))
    differ = sum(t.sum() + t.sum(axis=1) for t in tables).sort_values(ascending=False, kind="stable").index
    drawn = [s for s in systems if s in differ[:DRAWN]]
    titles = [names.name("system", s) for s in drawn]
    tables = [pd.DataFrame(t.loc[drawn, drawn].to_numpy(), titles, titles) for t in tables]
    longest = max(map(len, titles))
    size = {"width": PAGE, "height": 1.6 + 0.2 * len(drawn) + 0.04 * longest}
    fig, axes = subplots(1, len(tests), sharey=True, **size)
    most = max(t.max().max() for t in tables)
    for ax, (title, table) in zip(axes, zip(tests, tables, strict=True), strict=True):
        heatmap(table, ax, texts=table.map(lambda v: f"{v:.0f}" if v > 0 else ""), vmin=0, vmax=max(most, 1))
        ax.set_title(title)
    label = "Number of labels on which the row system is better than the column system"
    bar = fig.colorbar(axes[0].collections[0], ax=axes, location="bottom", shrink=0.6, aspect=40, pad=0.02, label=label)
    bar.locator = MaxNLocator(6, integer=True)
    return fig
