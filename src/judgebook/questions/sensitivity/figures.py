"""Figures of notebook 05."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, MaxNLocator, NullFormatter

from judgebook.display.many import DRAWN, MANY
from judgebook.display.names import BAD, GOOD, NEUTRAL, OPEN, DisplayNames
from judgebook.display.plots import heatmap, lines
from judgebook.display.style import INK, PAGE, handle, legend_of, subplots, tips
from judgebook.display.text import Phrases, counted, number, p_value, percent, plural, span, told
from judgebook.display.views import Plot
from judgebook.questions.performance.arrangement import SIGNS
from judgebook.questions.sensitivity.analysis import (
    PUBLISHED,
    as_published,
    primary,
    primary_name,
    verdicts,
)
from judgebook.questions.sensitivity.equivalence import within
from judgebook.questions.sensitivity.shown import BOTH, TESTS
from judgebook.study.labels import METHODS
from judgebook.study.results import Results

#: p-values below this have the deepest colour
FLOOR = 1e-3
_PHRASES = Phrases(__package__)
SIGNIFICANCE = """
Each cell is a label and a pair of systems. Blue: the first system is better, red: the second; the deeper, the smaller
the p-value; dots: p < 0.05. ↓: less is better. {neither} Published tests: on {size}. The {test}:
on all dialogues, adjusted for all pairs of systems of a label; {n}."""
NEITHER = "Grey, ○: neither good nor bad, or not declared; where p < 0.05, + if the first system is higher, − if lower."
COUNTS = """
Numbers of labels on which the system of the row is significantly better (p < 0.05) than that of the column. Published
tests: on {size}. The {test}: on all dialogues, adjusted for all pairs of systems of a
label; {n}.{neither}"""
NOT_COUNTED = " Not counted: {} that {} neither good nor bad, or whose direction nobody declared."
ERRORS = """
How often tests of equal systems give p < 0.05. Points: labels, in the order of the tables; lines: exact 95% CIs
over n = {n_runs:,} simulated assignments of dialogues to systems; grey: where an exact test lies in 95% of cases."""
POWER = """
Expected share of pairs of systems found at p < 0.05 by a single test (unadjusted) with the same annotators. True
differences are assumed to vary as much as the observed ones suggest once their noise is removed. Lines: means over
labels ({labels}); bands: their interquartile range (not a CI)."""
MARGINS = """
The smallest margin within which two systems can be called equivalent, in standard deviations of the label. {points}
Equivalent: within {within}{left}; {n}."""
PAIRS = "Points: pairs of systems, by what is shown at p < 0.05 after Holm's adjustment."
SUMMED = "Points: medians over pairs of systems; thick lines: interquartile range; thin lines: 5th to 95th percentile."
#: colours and markers of what is shown of a pair: differ, undecided, alike, both
VERDICTS = ((GOOD, "o"), (OPEN, "o"), (BAD, "D"), (INK, "s"))
#: colours and markers of tests: as published, Welch's, by permutation
TEST_STYLES = ((BAD, "s"), (NEUTRAL[2], "^"), (INK, "o"))
#: with more pairs than this a label's pairs are summed up
MANY_PAIRS = 66


def _of(part: str, caption: str) -> str:
    """A caption in one line, with the group or corpus first where there are several."""
    text = " ".join(caption.split())
    return f"{part}: {text[0].lower()}{text[1:]}" if part else text


def significance(results: Results, names: DisplayNames, part: str = "", name: str = "significance") -> Plot:
    """Which systems differ on which label, by the published and by the permutation test.

    results : of one corpus and group. With many systems, counts of labels for each pair of systems.
    """
    left = as_published(results)
    drawn, test = left["sample"].notna().any(), primary_name(results)
    size = f"one draw of {int(left['n_dialogues'].iloc[0])} dialogues per system" if drawn else "all dialogues"
    tests = {
        f"Published tests,\n{size}": _signed(left, "p_value", names),
        f"{test[0].upper()}{test[1:]} (Holm),\nall dialogues": _signed(primary(results), "p_adjusted", names),
    }
    compared = {*left["system"].unique(), *left["system_b"].unique()}
    systems = [s for s in names.titles["system"] if s in compared]
    many = len(systems) > MANY
    fig = _counts(tests, systems, names) if many else _by_label(tests, names)
    n = counted(primary(results)["n"], "dialogues (or comparisons) per pair of systems and label")
    neither = _neither(next(iter(tests.values())), many=many)
    caption = (COUNTS if many else SIGNIFICANCE).format(size=size, n=n, neither=neither, test=test)
    if not any((rows["direction"] == -1).any() for rows in tests.values()):
        caption = caption.replace("↓: less is better. ", "")
    if len(systems) > DRAWN:
        caption += f" Of {len(systems)} systems the {DRAWN} with most differences are drawn; all are in the file."
    shares = [f"{(rows['p'] < 0.05).sum()} of {rows['p'].notna().sum()}" for rows in tests.values()]
    alt = f"Heatmaps of p-values for {len(systems)} systems: {shares[0]} comparisons are significant at 0.05 by the"
    alt = f"{part}: {alt}" if part else alt
    alt = f"{alt} published tests, {shares[1]} by the {test} after adjustment."
    title = significance_title(primary(results), test) + (f" ({part})" if part else "")
    return Plot(fig, name, alt, _of(part, caption), title)


def significance_title(rows: pd.DataFrame, test: str) -> str:
    """How many differences the primary test shows. rows : with `p_adjusted`."""
    p = rows["p_adjusted"].dropna()
    return _PHRASES.say("significance_title", n=len(p), found=int((p < 0.05).sum()), test=test)


def _neither(rows: pd.DataFrame, *, many: bool) -> str:
    """What a caption says of labels without a direction, nothing where all have one. rows : of `_signed`."""
    n = len(rows.loc[rows["direction"] == 0, ["method", "label"]].drop_duplicates())
    if not n or not many:
        return NEITHER if n else ""
    return NOT_COUNTED.format(plural(n, "label"), "is" if n == 1 else "are")


def _signed(rows: pd.DataFrame, p: str, names: DisplayNames) -> pd.DataFrame:
    """With `p`, and `better`: 1 where the first system is better, -1 where the second is, 0 where a label has no
    direction."""
    rows = names.sort(names.pairs(rows))
    code, keys = pd.factorize(pd.MultiIndex.from_frame(rows[["method", "label"]]))
    direction = np.array([names.labels[key].direction for key in keys])[code]
    return rows.assign(p=rows[p], direction=direction, better=np.sign(rows["estimate"]) * direction)


def _by_label(tests: dict[str, pd.DataFrame], names: DisplayNames) -> Figure:
    """Labels by pairs of systems, a panel for each method and test."""
    methods = list(dict.fromkeys(next(iter(tests.values()))["method"]))
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
            _pairs(axes[i, j], of_method, names, names_below=i == len(methods) - 1)
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
    star = np.where(rows["p"] < 0.05, signs, "")
    tooltips = [
        f"{what}, {told(which, {'estimate': row['estimate'], 'n': row['n']})}, p = {p_value(row['p'])}"
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
        significant = rows[(rows["p"] < 0.05) & (rows["direction"] != 0)]
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


def type_i_errors(
    results: Results, names: DisplayNames, *, n_runs: int, part: str = "", name: str = "errors"
) -> Plot | None:
    """Type I error at 0.05 of each label, by method and test, with what chance allows an exact test."""
    rows = results.select("null_rejection", alpha=0.05).dropna(subset="estimate")
    if rows.empty:
        return None
    kinds = {"published": "published test"} | {t: TESTS[t] for t in ("dialogue_welch", "session")}
    rows = names.sort(rows.assign(kind=rows["test"].where(~rows["test"].isin(PUBLISHED), "published")))
    rows = rows.assign(Test=rows["kind"].map(kinds))
    styles = {t: style for t, style in zip(kinds.values(), TEST_STYLES, strict=True) if t in set(rows["Test"])}
    methods = list(dict.fromkeys(rows["method"]))
    fig, ax = subplots(width=min(PAGE, 3.4 + 1.2 * len(methods)), height=2.9)
    chance = 1.96 * np.sqrt(0.05 * 0.95 / n_runs)
    ax.axhspan(max(0, 0.05 - chance), 0.05 + chance, color="#999999", alpha=0.2, linewidth=0)
    ax.axhline(0.05, color="#444444", linewidth=0.9)
    width = 0.84 / len(styles)
    for j, (test, (color, marker)) in enumerate(styles.items()):
        for i, method in enumerate(methods):
            of_test = rows[(rows["method"] == method) & (rows["Test"] == test)]
            x = i - 0.42 + width * (j + (np.arange(len(of_test)) + 0.5) / max(len(of_test), 1) * 0.86 + 0.07)
            ax.vlines(x, of_test["ci_low"], of_test["ci_high"], color=color, linewidth=0.8, alpha=0.6)
            ax.plot(x, of_test["estimate"], marker, color=color, markersize=2.6)
            tooltips = [
                told(f"{names.name('label', r['label'], method)}, {test}", r) for r in of_test.to_dict("records")
            ]
            tips(ax, tooltips, x, of_test["ci_low"].fillna(of_test["estimate"]), y_to=of_test["ci_high"])
    ax.set_xticks(range(len(methods)), [names.name("method", m) for m in methods])
    top = rows[["estimate", "ci_high"]].max().max()
    ax.set(ylabel="Type I error at 0.05", ylim=(0, 1.05 * max(top, 0.1)), xlim=(-0.5, len(methods) - 0.5))
    ax.tick_params(axis="x", length=0)
    ax.grid(axis="y")
    keys = [handle(title, color, marker, linewidth=0.8) for title, (color, marker) in styles.items()]
    keys += [handle("nominal 0.05", "#444444", "", linewidth=0.9)]
    legend_of(fig, [*keys, Patch(color="#999999", alpha=0.2, label=f"95% range of an exact test in {n_runs:,} runs")])
    means = rows.groupby("Test", sort=False)["estimate"].mean()
    share = ", ".join(f"{test} {percent(value, 1)}" for test, value in means.items())
    alt = f"Type I error at 0.05 of each label, by method and test{', ' + part if part else ''}. Means: {share}."
    return Plot(fig, name, alt, _of(part, ERRORS.format(n_runs=n_runs)))


def power(results: Results, names: DisplayNames, part: str = "", name: str = "power") -> Plot | None:
    """Mean expected power by number of dialogues, one line per method, and that for equal systems."""
    rows = mean_power(results)
    if rows.empty:
        return None
    fig, ax = subplots(width=5.4, height=3.0)
    pairs = rows["method"].map(lambda m: METHODS[m].unit == "pair")
    of = ["Dialogues per system", "comparisons per pair of systems"]
    xlabel = " or ".join(of) if pairs.any() and not pairs.all() else of[int(pairs.all())].capitalize()
    title = "Mean power of a single test at 0.05"
    ax.set_ylim(0, 1.08 * rows[["estimate", "ci_high"]].max().max())
    lines(rows, ax, names, x="n_dialogues", hue="method", xlabel=xlabel, ylabel=title)
    ax.axhline(0.05, color="#777777", linestyle="--", linewidth=0.8)
    keys = [handle("equal systems: 0.05", "#777777", "", linewidth=0.8, linestyle="--")]
    if rows["ci_low"].notna().any():
        keys.append(Patch(color="#555555", alpha=0.2, label="interquartile range over labels"))
    legend_of(fig, keys)
    alt = f"{title} by number of dialogues per system, one line per method{', ' + part if part else ''}, from"
    n = rows.groupby("method", sort=False)["n_labels"].first()
    labels = ", ".join(f"{names.name('method', m)} {k}" for m, k in n.items())
    return Plot(fig, name, f"{alt} {span(rows['estimate'])}.", _of(part, POWER.format(labels=labels)))


def mean_power(results: Results) -> pd.DataFrame:
    """Mean expected power over the labels of each method, by number of dialogues, with the quartiles over labels as
    `ci_low` and `ci_high` where there are four or more (`n_labels`)."""
    rows = results["power"].dropna(subset="estimate").assign(n_dialogues=lambda f: f["n_dialogues"].astype(int))
    value = rows.groupby(["method", "n_dialogues"], sort=False)["estimate"]
    out = pd.DataFrame({"estimate": value.mean(), "n_labels": value.size()})
    out = out.assign(ci_low=value.quantile(0.25), ci_high=value.quantile(0.75))
    out.loc[out["n_labels"] < 4, ["ci_low", "ci_high"]] = np.nan
    return out.reset_index()


def equivalence(results: Results, names: DisplayNames, *, part: str = "", name: str = "equivalence") -> Plot | None:
    """Smallest margin of each pair of systems by label: a point per pair, coloured by what is shown."""
    rows = names.sort(verdicts(results))
    if rows.empty:
        return None
    kinds = {"differ": rows["differ"] & ~rows["alike"], "undecided": ~rows["differ"] & ~rows["alike"]}
    kinds |= {"equivalent": rows["alike"] & ~rows["differ"], "differ, but equivalent": rows["alike"] & rows["differ"]}
    methods = list(dict.fromkeys(rows["method"]))
    heights = [rows.loc[rows["method"] == m, "label"].nunique() for m in methods]
    height = (0.2 if sum(heights) < 30 else 0.165) * sum(heights) + 0.35 * len(methods) + 0.9
    ratios = {"height_ratios": heights}
    fig, axes = subplots(len(methods), 1, width=6.0, height=height, squeeze=False, sharex=True, gridspec_kw=ratios)
    shown = [(title, *style) for title, style in zip(kinds, VERDICTS, strict=True) if kinds[title].any()]
    crowded = rows.groupby(["method", "label"]).size().max() > MANY_PAIRS
    in_sd = rows.loc[rows["scale"].isna(), "margin"].astype(float).unique()
    for ax, method in zip(axes.flat, methods, strict=True):
        of_method = rows[rows["method"] == method]
        place = {label: i for i, label in enumerate(dict.fromkeys(of_method["label"]))}
        if crowded:
            _summed(ax, of_method, place)
        for title, color, marker in () if crowded else shown:
            points = of_method[kinds[title][of_method.index]]
            y = np.array([float(place[x]) for x in points["label"]])
            y += 0.12 * (points.groupby("label").cumcount().to_numpy() % 3 - 1)  # equal ones stay visible
            ax.plot(points["smallest"], y, marker, color=color, markersize=3.6, alpha=0.7, linestyle="")
            tooltips = [
                f"{names.name('label', r['label'], method)}, {names.pair_name(*(r[c] for c in BOTH))}: "
                f"{number(r['smallest'])} SD, {title}"
                for r in points.to_dict("records")
            ]
            tips(ax, tooltips, points["smallest"], y)
        for x in in_sd:
            ax.axvline(x, color="#444444", linewidth=0.9)
        ax.set_yticks(range(len(place)), [names.name("label", x, method) for x in place])
        ax.set_ylim(len(place) - 0.5, -0.5)
        ax.tick_params(axis="y", length=0)
        ax.set_title(names.name("method", method))
        ax.grid(axis="x")
    last = axes.flat[-1]
    margins = [*in_sd, *rows["smallest"][rows["smallest"] > 0]]
    last.set_xscale("log")
    last.set_xlim(min(margins) / 1.1, max(margins) * 1.1)  # shared by all methods
    ticks = [
        t
        for t in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
        if min(margins) <= 1.1 * t <= max(margins)
    ]
    last.xaxis.set_major_locator(FixedLocator(ticks))
    last.xaxis.set_major_formatter("{x:g}")
    last.xaxis.set_minor_formatter(NullFormatter())
    last.set_xlabel("Smallest margin (SD, log scale)")
    lines = [handle(f"margin of the study: ±{x:g} SD", "#444444", "", linewidth=0.9) for x in in_sd]
    points = [] if crowded else [handle(title, color, marker, linewidth=0) for title, color, marker in shown]
    legend_of(fig, [*points, *lines])
    share = ", ".join(f"{title} {int(kinds[title].sum())}" for title, _, _ in shown)
    alt = "Smallest margin of equivalence of each pair of systems, by label, in standard deviations"
    alt = f"{part}: {alt}" if part else alt
    left = " (left of the line)" if in_sd else ""
    facts = {"points": SUMMED if crowded else PAIRS, "within": within(rows), "left": left}
    caption = MARGINS.format(n=counted(rows["n"], "dialogues per pair"), **facts)
    return Plot(fig, name, f"{alt}, from {span(rows['smallest'])}. Pairs: {share}.", _of(part, caption))


def _summed(ax: Axes, rows: pd.DataFrame, place: dict[str, int]) -> None:
    """The pairs of each label as median, interquartile range and 90% range."""
    value = rows.groupby("label")["smallest"]
    at = value.quantile([0.05, 0.25, 0.5, 0.75, 0.95]).unstack()  # noqa: PD010 (a quantile per column)
    y = np.array([place[label] for label in at.index])
    ax.hlines(y, at[0.05], at[0.95], color=OPEN, linewidth=1.0)
    ax.hlines(y, at[0.25], at[0.75], color=OPEN, linewidth=4.0)
    ax.plot(at[0.5], y, "o", color=INK, markersize=4, linestyle="")
    tips(ax, [f"median {number(v)} SD" for v in at[0.5]], at[0.05], y, x_to=at[0.95])
