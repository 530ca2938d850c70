"""Figures of notebook 10."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from judgebook.display import captions, marks
from judgebook.display.grid_plots import grid_figure, interval_keys, intervals
from judgebook.display.many import DRAWN
from judgebook.display.names import BAD, GOOD, NEUTRAL, OPEN, DisplayNames
from judgebook.display.plots import heatmap
from judgebook.display.style import INK, PAGE, handle, legend_of, subplots, tips
from judgebook.display.text import Phrases, number, plural, span
from judgebook.display.views import Plot
from judgebook.questions.quality_control.crowd import Crowd
from judgebook.questions.quality_control.tables import CORRELATION, SCORES, SETS, headings, repeat_rows
from judgebook.questions.quality_control.worker_tests import OVERALL
from judgebook.study.results import Results, where

#: more systems than this are numbered below a matrix, not named
MANY_COLUMNS = 12
PALETTE = {"passed": GOOD, "failed": BAD}
#: the same in the figure of `repeat`: colour and marker of each set of workers
STYLES = {"all": ("#000000", "o"), "passed": (GOOD, "s"), "failed": (BAD, "D"), "once": (OPEN, "^")}
#: more columns of numbers than this do not fit beside each other
CELLS = 16
BINS = np.linspace(0, 1, 21).round(2)
DASHED = (0, (2, 1.5))
_PHRASES = Phrases(__package__)


def repeat(results: Results, crowd: Crowd) -> Iterator[Plot]:
    """r between the first and each other run, by set of workers and kind of score, with both intervals."""
    for i, corpus in enumerate(crowd.corpora[1:] if len(results["replication_r"]) else ()):
        every = repeat_rows(results, corpus)
        rows = where(every, interval="workers").set_index(CORRELATION)
        fisher = where(every, interval="fisher").set_index(CORRELATION)
        rows = rows.assign(light_low=fisher["ci_low"], light_high=fisher["ci_high"]).reset_index()
        titles = {"panel": ("scores", SCORES), "block": ("among", headings(every, crowd)), "hue": ("workers", SETS)}
        rows = rows.assign(**{column: rows[key].map(names) for column, (key, names) in titles.items()})
        keys = interval_keys("CI, other workers", "CI, other systems (Fisher, optimistic)", rows)
        fig = grid_figure(
            rows, intervals, xlabel="r between runs", reference=0, named="no correlation", keys=keys, sharex=True,
            styles={SETS[key]: style for key, style in STYLES.items()},
        )  # fmt: skip
        alt = f"Correlation of system means between {crowd.title(crowd.corpora[0])} and {crowd.title(corpus)} with CIs:"
        alt += " no quality control, workers who passed, failed, and took part in one run only."
        shown = where(rows, workers="passed")["estimate"].dropna()
        alt += f" Passed: r from {span(shown)}." if len(shown) else ""
        caption = (
            f"Marks: Pearson's r of mean ratings between {crowd.title(crowd.corpora[0])} and {crowd.title(corpus)},"
        )
        caption += " by what is correlated (rows) and set of workers. Thick lines: CI if other workers had rated,"
        caption += f" {captions.sample(rows['n_annotators'], 'workers')}; thin lines: Fisher's CI over systems, which"
        caption += " takes their means as exact."
        unit = "Pearson's r of mean ratings of systems; in the title, of those who passed, with CI over other workers"
        yield Plot(fig, f"repeat_{i}" if i else "repeat", alt, caption, repeat_title(rows, crowd, corpus), unit)


def repeat_title(rows: pd.DataFrame, crowd: Crowd, corpus: str) -> str:
    """Whether the means of systems are shown to be repeated, by workers who passed; empty where r is not defined.

    rows : r with the interval over workers, by CORRELATION.
    """
    of = where(rows, among="systems", scores="z", workers="passed").dropna(subset="estimate")
    if of.empty:
        return ""
    r, low, high = of[["estimate", "ci_low", "ci_high"]].iloc[0].astype(float)
    first, other = crowd.title(crowd.corpora[0]), crowd.title(corpus)
    return _PHRASES.say("repeat_title", first=first, other=other, r=r, low=low, high=high)


def p_values(tested: pd.DataFrame, crowd: Crowd) -> Plot:
    """Distribution of workers' p-values, a panel per run. tested : corpus, p, passed."""
    import seaborn as sns  # takes a second, and few figures need it

    n = len(crowd.corpora)
    fig, axes = subplots(1, n, width=min(PAGE, 3.4 * n), height=2.1, squeeze=False)
    for ax, corpus in zip(axes[0], crowd.corpora, strict=True):
        workers = where(tested, corpus=corpus).dropna(subset="p")
        verdict = np.where(workers["passed"], "passed", "failed")
        options = {"hue_order": [*PALETTE], "palette": PALETTE, "multiple": "stack", "alpha": 1, "legend": False}
        sns.histplot(x=workers["p"], hue=verdict, bins=BINS, ax=ax, **options)
        n_workers = np.histogram(workers["p"], BINS)[0]
        said = [
            f"p from {a:g} to {b:g}: {plural(int(n), 'worker')}"
            for (a, b), n in zip(pairwise(BINS), n_workers, strict=True)
        ]
        tips(ax, said, BINS[:-1], np.where(n_workers > 0, 0, np.nan), x_to=BINS[1:], y_to=n_workers)
        ax.axvline(crowd.options.alpha, color=INK, linewidth=0.8, linestyle=DASHED)
        marks.about(ax, {"Corpus": crowd.title(corpus)})
        ax.set(xlabel="", ylabel="Workers", xlim=(0, 1))
        ax.set_title(crowd.title(corpus))
        counts = [(name, int((verdict == name).sum())) for name in PALETTE]
        keys = [handle(f"{SETS[n]} ({k})", PALETTE[n], "s", linewidth=0) for n, k in counts]
        line = handle(f"p = {crowd.options.alpha:g}", INK, "", linewidth=0.8, linestyle=DASHED)
        ax.legend(handles=[*keys, line], loc="upper right")
    fig.supxlabel("p: control rated lower than the others", fontsize=8)
    alt = "Histograms of workers' p-values, a panel per run: "
    passed = tested.groupby("corpus")["passed"].agg(["sum", "size"]).loc[crowd.corpora]
    passing = [f"{row['sum']} of {row['size']} workers pass in {crowd.title(c)}" for c, row in passed.iterrows()]
    caption = "Bars: workers by the p-value of a one-sided test of whether they rate the degraded control lower"
    caption += f" than the other systems. Workers pass below {crowd.options.alpha:g} (dashed line);"
    caption += " those who could not be tested are left out."
    facts = [{"name": crowd.title(c), "passed": row["sum"], "n": row["size"]} for c, row in passed.iterrows()]
    title = _PHRASES.say("passing_title", runs=facts)
    unit = "Workers by the p-value of their test on the control"
    return Plot(fig, "p_values", f"{alt}{', '.join(passing)}.", caption, title, unit)


def runs(results: Results, names: DisplayNames, crowd: Crowd) -> Plot | None:
    """Mean z of every system of workers who passed, a mark per run."""
    rows = results.select("mean_z", interval="workers", label=OVERALL)
    order, note = _leading(rows, names, crowd)
    rows = rows.set_index("system").loc[order].reset_index()
    caption = "Marks: mean standardised score of each system among workers who passed, by run."
    caption += f" {captions.intervals(names.ci, 'workers', rows['n_annotators'])}"
    rows, caption = rows.assign(block=rows["system"]), captions.joined(caption, note)
    what = "Mean standardised score", "mean of a worker's scores"
    return _by_run(rows, names, crowd, "runs", what, caption)


def _leading(rows: pd.DataFrame, names: DisplayNames, crowd: Crowd) -> tuple[list[str], str]:
    """The first DRAWN of the ranked systems in `rows`, best first, and what a caption says of others."""
    order = sorted({*rows["system"]} & {*crowd.systems}, key=lambda s: names.position("system", s))
    return order[:DRAWN], captions.chosen(len(order[:DRAWN]), len(order), "systems that lead in notebook 07")


def variants(results: Results, names: DisplayNames, crowd: Crowd) -> Plot | None:
    """The variant minus the plain system of each family, a mark per run."""
    rows = results.select("variant_contrast", label=OVERALL, scores="z")
    largest = rows["estimate"].abs().groupby(rows["system_b"]).max().nlargest(DRAWN).index
    note = captions.chosen(len(largest), rows["system_b"].nunique(), "systems with the largest differences")
    what = f"Mean standardised score, with minus without {crowd.options.variant}"
    caption = "Marks: difference in mean standardised score between each system with and without"
    caption += f" {crowd.options.variant}, by run, among workers who passed. Lines: {names.ci} over workers"
    caption += f", {captions.sample(rows['n_annotators'])}."
    rows = rows[rows["system_b"].isin(largest)].assign(block=lambda f: f["system_b"])
    rows = rows.sort_values("block", key=lambda s: s.map(partial(names.position, "system")), kind="stable")
    return _by_run(rows, names, crowd, "variants", (what, "no difference"), captions.joined(caption, note))


def _by_run(
    rows: pd.DataFrame, names: DisplayNames, crowd: Crowd, name: str, sentences: tuple[str, str], caption: str
) -> Plot | None:
    """Estimates with intervals, a row per system (`block`) and a mark per run.

    sentences : what is drawn, and what 0 is.
    """
    what, line = sentences
    if rows.empty:
        return None
    titles = [names.name("system", s) for s in rows["block"]]
    rows = rows.assign(panel="", block=titles, hue=rows["corpus"].map(crowd.title))
    alt = f"{what} of {len(set(titles))} systems by run, workers who passed, with CIs: from {span(rows['estimate'])}."
    keys = interval_keys(f"{names.ci} over workers", None, rows)
    xlabel = f"{what} (standard deviations)"
    fig = grid_figure(rows, intervals, names=names, xlabel=xlabel, reference=0, named=line, keys=keys)
    return Plot(fig, name, alt, caption)


def significance(tests: pd.DataFrame, names: DisplayNames, crowd: Crowd) -> Plot | None:
    """Which system (row) is rated higher than which (column): darker for smaller levels.

    tests : corpus, system, system_b, n and a one-sided p_value for each ordered pair.
    """
    order = [system for system in crowd.systems if system in set(tests["system"])]
    note = captions.chosen(len(order[:DRAWN]), len(order), "systems that lead in notebook 07")
    if len(order := order[:DRAWN]) < 2:
        return None
    levels, titles = sorted(crowd.options.levels, reverse=True), [names.name("system", s) for s in order]
    numbered = len(order) > MANY_COLUMNS
    titles = [f"{t}  {i + 1}" for i, t in enumerate(titles)] if numbered else titles
    fig, axes = _panels(crowd, len(order), stacked=numbered)
    for ax, corpus in zip(axes, crowd.corpora, strict=True):
        p = where(tests, corpus=corpus).pivot_table(index="system", columns="system_b", values="p_value")
        p = p.reindex(index=order, columns=order).set_axis(titles)
        p = p.set_axis(range(1, len(order) + 1) if numbered else titles, axis=1)
        depth = sum((p < level).astype(float) for level in levels).where(p.notna())
        said = {"texts": depth.map(lambda _: ""), "titles": p.map(lambda v: f"p = {v:.3g}"), "linecolor": "#D5D5D5"}
        heatmap(depth, ax, vmin=0, vmax=len(levels) + 0.5, **said)
        _panel(ax, crowd, corpus)
    sure = tests[tests["p_value"] < levels[-1]].groupby("corpus").size().reindex(crowd.corpora, fill_value=0)
    n = ", ".join(f"{count} in {crowd.title(corpus)}" for corpus, count in sure.items())
    alt = f"Matrices of {len(order)} systems, a panel per run: pairs with p < {levels[-1]:g} are {n}."
    caption = "Blue: the system of the row is rated higher than that of the column; darker for smaller p ("
    caption += f"{', '.join(f'p < {level:g}' for level in levels)}; one-sided, not adjusted), among workers who passed"
    caption += f" ({captions.sample(tests['n'], 'dialogues per pair')}). Hatched: the same system."
    return Plot(fig, "significance", alt, captions.joined(caption, note))


def thresholds(results: Results, names: DisplayNames, crowd: Crowd) -> Plot | None:
    """Rank of every system as the p-value below which workers pass changes, a panel per run."""
    ranks = results["threshold_rank"]
    if ranks.empty:
        return None
    order, note = _leading(ranks, names, crowd)
    counts = results["qc_count"].dropna(subset="threshold").set_index(["corpus", "threshold"])["estimate"]
    crowded = len(crowd.corpora) * ranks["threshold"].nunique() > CELLS
    fig, axes = _panels(crowd, len(order), stacked=crowded)
    for ax, corpus in zip(axes, crowd.corpora, strict=True):
        wide = where(ranks, corpus=corpus).pivot_table(index="system", columns="threshold", values="estimate")
        wide = wide.reindex(order).rename(index=lambda s: names.name("system", s))
        heatmap(wide, ax, texts=wide.map(lambda v: f"{v:g}"), cmap="Blues_r", vmin=1, vmax=ranks["estimate"].max())
        columns = [f"{v:g}\n{counts[corpus, v]:.0f}" for v in wide]
        ax.set_xticks(np.arange(len(columns)) + 0.5, columns, rotation=0, ha="center")
        _panel(ax, crowd, corpus)
        for label, value in zip(ax.get_xticklabels(), wide, strict=True):
            label.set_fontweight("bold" if value == crowd.options.alpha else "normal")
    fig.supxlabel("Threshold of p; workers who pass", fontsize=8)
    moved = np.ptp(ranks.pivot_table(index=["corpus", "system"], columns="threshold", values="estimate"), axis=1) > 0
    alt = "Ranks of systems by mean standardised score for each threshold, a panel per run:"
    caption = "Cells: rank of each system (1 is the highest mean standardised score; the darker, the higher) among"
    caption += " workers whose p-value lies below a threshold; below it, how many workers pass. Bold: the threshold in"
    caption += " use. Ranks are of the means alone: see the intervals of the means before reading a change of rank as a"
    caption += " finding."
    alt = f"{alt} {moved.sum()} of {len(moved)} ranks change."
    return Plot(fig, "threshold", alt, captions.joined(caption, note))


def _panels(crowd: Crowd, n_rows: int, *, stacked: bool = False) -> tuple[Figure, np.ndarray]:
    """A panel per run for matrices with systems as rows, whose names are on the left only. stacked : panels one below
    the other, each with the names."""
    n = len(crowd.corpora)
    if stacked:
        row = min(0.16, (8.8 / n - 0.5) / n_rows)  # inches, so that all fit on a page
        fig, axes = subplots(n, 1, width=PAGE, height=0.6 + n * (0.5 + row * n_rows), squeeze=False)
        return fig, axes[:, 0]
    height = 1.84 + 0.19 * n_rows
    fig, axes = subplots(1, n, width=min(PAGE, 4 * n), height=height, squeeze=False, sharey=True)
    return fig, axes[0]


def _panel(ax: Axes, crowd: Crowd, corpus: str) -> None:
    ax.set_title(crowd.title(corpus))
    marks.about(ax, {"Corpus": crowd.title(corpus)})
    ax.tick_params(labelleft=ax.get_subplotspec().is_first_col())


def pairs(frame: pd.DataFrame) -> Plot | None:
    """Distribution of the correlation of two workers, with and without the control. frame : `worker_pairs.pairs`."""
    if frame.empty:
        return None
    fig, axes = subplots(1, 2, width=PAGE, height=2.4)
    for ax, control in zip(axes, ("with", "without"), strict=True):
        rows = where(frame, control=control, pairs="all", workers=[*PALETTE])
        _densities(ax, rows["r"], rows["workers"], np.arange(-10, 11) / 10)
        ax.set(
            xlabel="r of two workers",
            ylabel="Density",
            xlim=(-1, 1),
            ylim=(0, None),
            title=f"{control.capitalize()} the control",
        )
    _legend(fig)
    medians = where(frame, control="with", pairs="all").groupby("workers")["r"].median()
    middles = " and ".join(f"{v:.2f} where both {k}" for k, v in medians.items() if k in PALETTE)
    alt = f"Densities of the correlation of two workers, with and without the control; with it, median {middles}."
    sizes = where(frame, pairs="all", workers=[*PALETTE]).groupby(["control", "workers"]).size()
    caption = "Lines: distribution of Pearson's r between two workers' ratings of the same systems, for pairs who both"
    caption += f" passed and both failed quality control ({captions.sample(sizes, 'pairs each')}). Workers are selected"
    caption += " by their ratings of the degraded control, so r is shown with and without these. Dashed lines: medians."
    return Plot(fig, "pairs", alt.replace("-", "−"), caption)


def lengths(sizes: pd.DataFrame, crowd: Crowd) -> Iterator[Plot]:
    """Distributions of lengths of texts by run, up to the 99th percentile (Ji et al. 2022, Figures 7 to 10). sizes :
    `analysis.text_lengths`."""
    panels = [(of, unit) for of in ("conversation", "input") for unit in ("characters", "words")]
    for i, (corpus, of_corpus) in enumerate(sizes.groupby("corpus", sort=False)):
        fig, axes = subplots(1, 4, width=PAGE, height=1.9)
        for ax, (of, unit) in zip(axes, panels, strict=True):
            part = of_corpus[of_corpus["of"] == of]
            longest = max(part[unit].quantile(0.99), 1)
            bins = np.arange(-0.5, longest + 1, max(1, round(longest / 25)))  # whole numbers: equally many per bin
            _densities(ax, part[unit], np.where(part["passed"], "passed", "failed"), bins)
            ylabel = "Density" if (of, unit) == panels[0] else ""
            ax.set(xlabel=f"{unit.capitalize()} per {of}", ylabel=ylabel, ylim=(0, None), yticks=[])
            ax.spines["left"].set_visible(False)
        _legend(fig)
        alt = f"Densities of characters and words per conversation and input in {crowd.title(corpus)}, workers who"
        caption = (
            f"Lines: distributions of the lengths of what workers wrote in {crowd.title(corpus)}, for those who passed"
        )
        sizes = of_corpus.groupby(["of", "passed"]).size()
        caption += (
            f" and failed quality control ({captions.sample(sizes, 'texts each')}), up to the 99th percentile. Dashed"
        )
        yield Plot(
            fig, f"lengths_{i}", f"{alt} passed and failed: {len(of_corpus):,} texts.", f"{caption} lines: medians."
        )


def _densities(ax: Axes, values: pd.Series, workers: pd.Series | np.ndarray, bins: np.ndarray) -> None:
    """Outlines of the distributions of passed and failed, each with its median."""
    import seaborn as sns  # takes a second, and few figures need it

    options = {"element": "step", "fill": False, "stat": "density", "common_norm": False, "legend": False}
    inside = values.between(bins[0], bins[-1])
    data = pd.DataFrame({"x": values, "workers": workers})
    sns.histplot(data[inside], x="x", hue="workers", hue_order=[*PALETTE], palette=PALETTE, bins=bins, ax=ax, **options)
    for name, median in data.groupby("workers")["x"].median().items():
        ax.axvline(median, color=PALETTE[name], linewidth=0.9, linestyle=DASHED)
        tips(ax, [f"{SETS[name]}: median {number(float(median))}"], [median], [0], y_to=[ax.get_ylim()[1]])


def _legend(fig: Figure) -> None:
    keys = [handle(SETS[name], color, "") for name, color in PALETTE.items()]
    legend_of(fig, [*keys, handle("median", NEUTRAL[0], "", linewidth=0.9, linestyle=DASHED)])
