"""Figures of notebook 05."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from helpers.display.names import COLORS, DisplayNames
from helpers.display.plots import heatmap, lines
from helpers.display.style import PAGE, handle, legend_of, subplots
from helpers.display.text import percent, span
from helpers.display.views import Plot, View
from helpers.performance.figures import MANY, SIGNS
from helpers.sensitivity.analysis import PUBLISHED, Group, as_published, of_group, primary, verdicts
from helpers.study.results import Results

#: p-values below this have the deepest colour
FLOOR = 1e-3
#: tests in figures, tables and prose
TESTS = {
    "z": "z test on turns",
    "student": "Student's t",
    "welch": "Welch's t",
    "sign": "sign test",
    "dialogue_welch": "Welch's t on dialogues",
    "session": "permutation test",
    "clustered_t": "t test, clustered",
}
BOTH = ["system", "system_b"]
#: colours and markers of what is shown of a pair: differ, undecided, alike, both
VERDICTS = (("#0072B2", "o"), ("#7F7F7F", "o"), ("#D55E00", "D"), ("#CC79A7", "s"))


def who(one: Group, judged: Sequence[Group], names: DisplayNames) -> str:
    """What tells one group or corpus from the others; '' where there is one."""
    where = [names.name("corpus", one.corpus)] if len({x.corpus for x in judged}) > 1 else []
    return ", ".join([*where, *([] if one.group == "all" else [names.name("group", one.group)])])


def each(
    view: Callable[..., View | None],
    results: Results,
    judged: Sequence[Group],
    names: DisplayNames,
    name: str,
    **options,
) -> Iterator[View | None]:
    """A figure or table of every corpus and group. view : one of this room, with the arguments `part` and `name`."""
    for i, one in enumerate(judged):
        place = {"part": who(one, judged, names), "name": f"{name}_{i}" if i else name}
        yield view(of_group(results, one), names, **place, **options)


def significance(results: Results, names: DisplayNames, part: str = "", name: str = "significance") -> Plot:
    """Which systems differ on which label, by the published and by the permutation test.

    results : of one corpus and group. With many systems, counts of labels for each pair of systems.
    """
    left = as_published(results)
    drawn = left["sample"].notna().any()
    size = f"one draw of {int(left['n_dialogues'].iloc[0])} dialogues per system" if drawn else "all dialogues"
    tests = {
        f"Published tests,\n{size}": _signed(left, "p_value", names),
        "Permutation test (Holm),\nall dialogues": _signed(primary(results), "p_adjusted", names),
    }
    systems = [s for s in names.titles["system"] if s in {*left["system"], *left["system_b"]}]
    fig = _counts(tests, systems, names) if len(systems) > MANY else _by_label(tests, names)
    shares = [f"{(rows['p'] < 0.05).sum()} of {rows['p'].notna().sum()}" for rows in tests.values()]
    alt = f"Heatmaps of p-values for {len(systems)} systems: {shares[0]} comparisons are significant at 0.05 by the"
    alt = f"{part}: {alt}" if part else alt
    return Plot(fig, name, f"{alt} published tests, {shares[1]} by the permutation test after adjustment.")


def _signed(rows: pd.DataFrame, p: str, names: DisplayNames) -> pd.DataFrame:
    """With `p`, and `better`: 1 where the first system is better (higher, if the label has no direction), else −1."""
    rows = names.sort(rows)
    direction = [names.labels[key].direction or 1 for key in zip(rows["method"], rows["label"], strict=True)]
    return rows.assign(p=rows[p], better=np.sign(rows["estimate"]) * direction)


def _by_label(tests: dict[str, pd.DataFrame], names: DisplayNames) -> Figure:
    """Labels by pairs of systems, a panel for each method and test."""
    methods = list(dict.fromkeys(next(iter(tests.values()))["method"]))
    labels = [max(rows.loc[rows["method"] == m, "label"].nunique() for rows in tests.values()) for m in methods]
    ratios = {"height_ratios": [n + 0.8 for n in labels]}
    rows = 0.19 * sum(labels) + 0.3 * len(labels)
    # names of pairs stand slanted below: long ones need room where there are few rows
    longest = max((len(n) for n in names.titles["system"].values()), default=0)
    size = {"width": PAGE, "height": max(rows + 1.7, rows + 1.2 + 0.11 * longest if sum(labels) < 4 else 0)}
    fig, axes = subplots(len(methods), len(tests), squeeze=False, sharey="row", gridspec_kw=ratios, **size)
    for i, method in enumerate(methods):
        for j, (title, rows) in enumerate(tests.items()):
            own = rows[rows["method"] == method]
            _pairs(axes[i, j], own, names, names_below=i == len(methods) - 1)
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
    pair = [" − ".join(names.name("system", s) for s in both) for both in rows[BOTH].to_numpy()]
    depth = -np.log10(rows["p"].clip(lower=FLOOR)) * rows["better"]
    star = np.where(rows["p"] < 0.05, "•", "")
    cells = rows.assign(title=title, pair=pair, depth=depth, star=star).set_index(["title", "pair"])
    value, text = (cells[c].unstack().reindex(index=dict.fromkeys(title), columns=dict.fromkeys(pair))  # noqa: PD010
                   for c in ("depth", "star"))  # fmt: skip
    heatmap(value, ax, texts=text.fillna(""), cmap="RdBu", vmin=np.log10(FLOOR), vmax=-np.log10(FLOOR))
    if not names_below:
        ax.set_xticks([])


def _counts(tests: dict[str, pd.DataFrame], systems: list[str], names: DisplayNames) -> Figure:
    """Systems by systems: on how many labels the system of the row is better than that of the column."""
    titles = [names.name("system", s) for s in systems]
    fig, axes = subplots(1, len(tests), width=PAGE, height=1.6 + 0.2 * len(systems), sharey=True)
    tables = []
    for rows in tests.values():
        found = rows[rows["p"] < 0.05]
        better, worse = (found[c].where(found["better"] > 0, found[d]) for c, d in (BOTH, BOTH[::-1]))
        table = pd.crosstab(better, worse).reindex(index=systems, columns=systems, fill_value=0)
        tables.append(pd.DataFrame(table.where(~np.eye(len(systems), dtype=bool)).to_numpy(), titles, titles))
    most = max(t.max().max() for t in tables)
    for ax, (title, table) in zip(axes, zip(tests, tables, strict=True), strict=True):
        heatmap(table, ax, texts=table.map(lambda v: f"{v:.0f}" if v > 0 else ""), vmin=0, vmax=max(most, 1))
        ax.set_title(title)
    label = "Number of labels on which the row system is better than the column system"
    fig.colorbar(axes[0].collections[0], ax=axes, location="bottom", shrink=0.6, aspect=40, pad=0.02, label=label)
    return fig


def type_i_errors(
    results: Results, names: DisplayNames, *, n_runs: int, part: str = "", name: str = "errors"
) -> Plot | None:
    """Type I error at 0.05 of each label, by method and test, with what chance allows an exact test."""
    rows = results.select("null_rejection", alpha=0.05).dropna(subset="estimate")
    if rows.empty:
        return None
    kinds = {"published": "published test"} | {t: TESTS[t] for t in ("dialogue_welch", "session")}
    rows = names.sort(rows.assign(kind=rows["test"].where(~rows["test"].isin(PUBLISHED), "published")))
    rows = rows.assign(Method=[names.name("method", m) for m in rows["method"]], Test=rows["kind"].map(kinds))
    colors = {title: c for title, c in zip(kinds.values(), COLORS, strict=False) if title in set(rows["Test"])}
    fig, ax = subplots(width=min(PAGE, 3.4 + 1.2 * rows["method"].nunique()), height=2.7)
    common = {"data": rows, "x": "Method", "y": "estimate", "hue": "Test", "hue_order": list(colors), "dodge": True}
    sns.stripplot(**common, palette=colors, ax=ax, size=3.2, alpha=0.5, jitter=False, legend=False)
    chance = 1.96 * np.sqrt(0.05 * 0.95 / n_runs)
    ax.axhspan(max(0, 0.05 - chance), 0.05 + chance, color="#999999", alpha=0.2, linewidth=0)
    ax.axhline(0.05, color="#444444", linewidth=0.9)
    ax.text(1, 0.05, " nominal 0.05", transform=ax.get_yaxis_transform(), va="center", fontsize=7)
    ax.set(ylabel="Type I error at 0.05", xlabel="", ylim=(0, None))
    legend_of(fig, [handle(title, color, "o", linewidth=0) for title, color in colors.items()])
    means = rows.groupby("Test", sort=False)["estimate"].mean()
    told = ", ".join(f"{test} {percent(value, 1)}" for test, value in means.items())
    alt = f"Type I error at 0.05 of each label, by method and test{', ' + part if part else ''}. Means: {told}."
    return Plot(fig, name, alt)


def power(results: Results, names: DisplayNames, part: str = "", name: str = "power") -> Plot | None:
    """Mean expected power by number of dialogues, one line per method, and that for equal systems."""
    rows = mean_power(results)
    if rows.empty:
        return None
    fig, ax = subplots(width=5.4, height=2.8)
    title = "Mean share of pairs found"
    lines(rows, ax, names, x="n_dialogues", hue="method", xlabel="Dialogues per system", ylabel=title)
    ax.axhline(0.05, color="#777777", linestyle="--", linewidth=0.8)
    ax.text(rows["n_dialogues"].min(), 0.055, "equal systems", fontsize=7, color="#555555", va="bottom")
    ax.set_ylim(0, None)
    alt = f"{title} at 0.05 by number of dialogues per system, one line per method{', ' + part if part else ''}, from"
    return Plot(fig, name, f"{alt} {span(rows['estimate'])}.")


def mean_power(results: Results) -> pd.DataFrame:
    """Mean expected power over the labels of each method, by number of dialogues."""
    rows = results["power"].dropna(subset="estimate").assign(n_dialogues=lambda f: f["n_dialogues"].astype(int))
    return rows.groupby(["method", "n_dialogues"], sort=False, as_index=False)["estimate"].mean()


def equivalence(
    results: Results, names: DisplayNames, *, margin: float, part: str = "", name: str = "equivalence"
) -> Plot | None:
    """Smallest margin of each pair of systems by label: a point per pair, coloured by what is shown."""
    rows = names.sort(verdicts(results))
    if rows.empty:
        return None
    kinds = {"differ": rows["differ"] & ~rows["alike"], "undecided": ~rows["differ"] & ~rows["alike"]}
    kinds |= {"equivalent": rows["alike"] & ~rows["differ"], "differ, but equivalent": rows["alike"] & rows["differ"]}
    methods = list(dict.fromkeys(rows["method"]))
    heights = [rows.loc[rows["method"] == m, "label"].nunique() for m in methods]
    size = {"width": 6.0, "height": 0.2 * sum(heights) + 0.35 * len(methods) + 0.9}
    options = {"squeeze": False, "sharex": True, "gridspec_kw": {"height_ratios": heights}}
    fig, axes = subplots(len(methods), 1, **options, **size)
    shown = [(title, *style) for title, style in zip(kinds, VERDICTS, strict=True) if kinds[title].any()]
    for ax, method in zip(axes.flat, methods, strict=True):
        own = rows[rows["method"] == method]
        place = {label: i for i, label in enumerate(dict.fromkeys(own["label"]))}
        for title, color, marker in shown:
            points = own[kinds[title][own.index]]
            ax.plot(
                points["smallest"],
                points["label"].map(place),
                marker,
                color=color,
                markersize=4,
                alpha=0.7,
                linestyle="",
            )
        ax.axvline(margin, color="#444444", linewidth=0.9)
        ax.set_yticks(range(len(place)), [names.name("label", x, method) for x in place])
        ax.set_ylim(len(place) - 0.5, -0.5)
        ax.set_title(names.name("method", method))
        ax.grid(axis="x")
    axes.flat[-1].set_xlim(0, 1.04 * max(margin, rows["smallest"].max()))  # shared by all methods
    axes.flat[-1].set_xlabel(f"Smallest margin (SD); line: ±{margin:g} SD")
    legend_of(fig, [handle(title, color, marker, linewidth=0) for title, color, marker in shown])
    told = ", ".join(f"{title} {int(kinds[title].sum())}" for title, _, _ in shown)
    alt = "Smallest margin of equivalence of each pair of systems, by label, in standard deviations"
    alt = f"{part}: {alt}" if part else alt
    return Plot(fig, name, f"{alt}, from {span(rows['smallest'])}. Pairs: {told}.")
