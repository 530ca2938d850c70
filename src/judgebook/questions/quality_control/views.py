"""Figures and tables of notebook 10."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from judgebook.display import captions, cells, marks, tables
from judgebook.display.grid_plots import DRAWN, grid_figure, interval_keys, intervals
from judgebook.display.names import BAD, GOOD, NEUTRAL, OPEN, DisplayNames
from judgebook.display.plots import heatmap
from judgebook.display.style import INK, PAGE, handle, legend_of, subplots, tips
from judgebook.display.text import Phrases, number, plural, span
from judgebook.display.views import Plot, Table
from judgebook.questions.quality_control.worker_tests import OVERALL, Crowd
from judgebook.study.results import Results, where

SETS = {"all": "No quality control", "passed": "Passed", "failed": "Failed", "once": "Passed, in one run"}
SCORES = {"z": "Standardised", "raw": "Raw"}
AMONG = {"systems": "{n} systems", "families": "{n} architectures", "variants": "Effect of {variant}, {n} pairs"}
#: what identifies a correlation between two given runs
CORRELATION = ["among", "scores", "workers"]
UNDEFINED = "Not defined: too few points, or one side is constant."
#: a column of both tables of effects
P = "p, adjusted"
#: more systems than this are numbered below a matrix, not named
MANY_COLUMNS = 12
PALETTE = {"passed": GOOD, "failed": BAD}
#: the same in the figure of `repeat`: colour and marker of each set of workers
STYLES = {"all": ("#000000", "o"), "passed": (GOOD, "s"), "failed": (BAD, "D"), "once": (OPEN, "^")}
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


def p_values(tested: pd.DataFrame, crowd: Crowd, alpha: float) -> Plot:
    """Distribution of workers' p-values, a panel per run. tested : corpus, p, passed. alpha : the threshold."""
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
        ax.axvline(alpha, color=INK, linewidth=0.8, linestyle=DASHED)
        marks.about(ax, {"Corpus": crowd.title(corpus)})
        ax.set(xlabel="", ylabel="Workers", xlim=(0, 1))
        ax.set_title(crowd.title(corpus))
        counts = [(name, int((verdict == name).sum())) for name in PALETTE]
        keys = [handle(f"{SETS[n]} ({k})", PALETTE[n], "s", linewidth=0) for n, k in counts]
        line = handle(f"p = {alpha:g}", INK, "", linewidth=0.8, linestyle=DASHED)
        ax.legend(handles=[*keys, line], loc="upper right")
    fig.supxlabel("p: control rated lower than the others", fontsize=8)
    alt = "Histograms of workers' p-values, a panel per run: "
    passed = tested.groupby("corpus")["passed"].agg(["sum", "size"]).loc[crowd.corpora]
    passing = [f"{row['sum']} of {row['size']} workers pass in {crowd.title(c)}" for c, row in passed.iterrows()]
    caption = "Bars: workers by the p-value of a one-sided test of whether they rate the degraded control lower"
    caption += f" than the other systems. Workers pass below {alpha:g} (dashed line);"
    caption += " those who could not be tested are left out."
    facts = [{"name": crowd.title(c), "passed": row["sum"], "n": row["size"]} for c, row in passed.iterrows()]
    title = _PHRASES.say("passing_title", runs=facts)
    unit = "Workers by the p-value of their test on the control"
    return Plot(fig, "p_values", f"{alt}{', '.join(passing)}.", caption, title, unit)


def significance(tests: pd.DataFrame, names: DisplayNames, crowd: Crowd, called: str) -> Plot | None:
    """Which system (row) is rated higher than which (column): darker for smaller levels.

    tests : corpus, system, system_b, n and a one-sided p_value for each ordered pair. called : what they are called.
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
    caption += f"{', '.join(f'p < {level:g}' for level in levels)}; one-sided {called}, not adjusted), among workers"
    caption += f" who passed ({captions.sample(tests['n'], 'dialogues per pair')}). Hatched: the same system."
    return Plot(fig, "significance", alt, captions.joined(caption, note))


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


def length_densities(sizes: pd.DataFrame, crowd: Crowd) -> Iterator[Plot]:
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


def repeat_rows(results: Results, corpus: str) -> pd.DataFrame:
    """r of overall means by rule, with either interval: `interval` workers and fisher."""
    rows = results.select("replication_r", corpus=corpus, label=OVERALL, interval=["workers", "fisher"], list=None)
    return rows[rows["standardised"].isna() | (rows["standardised"] == "all")]


def headings(rows: pd.DataFrame, crowd: Crowd) -> dict[str, str]:
    """What is correlated -> its heading with the number of points, in the order of figures."""
    n = rows.groupby("among")["n"].max()
    return {a: text.format(n=n[a], variant=crowd.options.variant) for a, text in AMONG.items() if a in n}


def gain(results: Results, crowd: Crowd) -> Table | None:
    """What quality control buys, for every pair of runs: r with it, without it, and of as many random workers."""
    key, gains = ["corpus", "against", "scores"], results["replication_gain"]
    if gains.empty:
        return None
    rows = gains.set_index(key)
    share = results.select("replication_share", workers="passed").set_index(key).reindex(rows.index)
    r = results.select("replication_r", interval="point").set_index([*key, "workers"])["estimate"]
    random = results.select("replication_r", interval="random sets", workers="random as passed").set_index(key)
    out = pd.DataFrame({"Runs": [f"{crowd.title(a)}, {crowd.title(b)}" for b, a, _ in rows.index]}, index=rows.index)
    out["Scores"] = [SCORES[scores] for *_, scores in rows.index]
    for workers in ("passed", "all"):
        out[f"r, {SETS[workers].lower()}"] = [r.get((*place, workers)) for place in rows.index]
    out["Gain"] = tables.intervals(rows, 3)
    out["As many at random"] = tables.intervals(random.reindex(rows.index), 3)
    out["At least that of passed"] = cells.percents(share["estimate"], 1)
    out["p, adjusted"] = cells.p_values(share["p_adjusted"])
    caption = "What quality control buys. Gain: r of the workers who passed minus r of all, with its CI over workers,"
    caption += " not adjusted. As many at random: median and range of r of random sets of as many workers as passed. At"
    caption += " least that of passed: the share of these sets with at least the r of those who passed; its p-value is"
    caption += " adjusted for all pairs of runs and kinds of scores (Holm)."
    return Table(out, "gain", caption, 3, dict.fromkeys(out, UNDEFINED))


def label_titles(names: DisplayNames, crowd: Crowd) -> dict[str, str]:
    """Labels of the crowd's ratings -> display names."""
    by_label = crowd.scores.drop_duplicates("label")
    titles = {r.label: names.name("label", r.label, r.method) for r in by_label.itertuples()}
    return {OVERALL: "Overall"} | titles


def overall_first(labels: Iterable[str], names: DisplayNames) -> list[str]:
    """The overall mean, then the labels in the order of the YAML."""
    place = {label: i for i, (_, label) in enumerate(names.labels)}
    return sorted(labels, key=lambda label: (label != OVERALL, place.get(label, len(place))))


def numbers(results: Results, crowd: Crowd) -> Table | None:
    """Workers, dialogues, and minutes per dialogue, for all, passed and failed of each run."""
    count = results.select("qc_count", what=["workers", "dialogues"], list=None, threshold=None)
    if count.empty:
        return None
    key = ["corpus", "workers"]
    out = tables.pivot(count, key, "what", {"workers": "Workers", "dialogues": "Dialogues"}).set_index(key)
    for of in ("workers", "dialogues"):
        rate = results.select("pass_rate", of=of, list=None).assign(workers="passed").set_index(key)
        out[f"{of.capitalize()} passed"] = cells.percents(rate["estimate"], 1)
    time = results["minutes_per_dialogue"]
    out["Minutes per dialogue"] = tables.intervals(time.set_index(key), 1)
    caption = "Before and after quality control; CI of minutes over workers. “All” includes workers without answers."
    why = {"Minutes per dialogue": "Not timed, or no worker."}
    why |= dict.fromkeys(("Workers passed", "Dialogues passed"), "Only for workers who passed.")
    return Table(_by_run(out.reset_index(), crowd), "numbers", caption, 1, why)


def _by_run(frame: pd.DataFrame, crowd: Crowd) -> pd.DataFrame:
    """Corpora and sets of workers as readers know them."""
    frame = frame.assign(corpus=frame["corpus"].map(crowd.title))
    if "workers" in frame:
        frame["workers"] = frame["workers"].replace(SETS | {"all": "All"})
    return frame.rename(columns={"corpus": "Run", "workers": "Of"}).rename_axis(columns=None)


def scores(results: Results, names: DisplayNames, crowd: Crowd) -> Iterator[Table]:
    """Overall means of the workers who passed, with intervals: a row per system, best first."""
    every = {"mean_z": ("Standardised", 3), "mean_raw": ("Raw", 1)}
    for i, corpus in enumerate(crowd.corpora):
        parts = {s: results.select(s, corpus=corpus, interval="workers", label=OVERALL) for s in every}
        parts = {s: rows.set_index("system").sort_values("estimate", ascending=False) for s, rows in parts.items()}
        out = pd.DataFrame({"Dialogues": parts["mean_z"]["n"]})
        for statistic, (what, decimals) in every.items():
            out[what] = tables.intervals(parts[statistic], decimals)
        out.insert(0, "System", [names.name("system", s) for s in out.index])
        caption = f"Overall scores in {crowd.title(corpus)}, workers who passed; CIs over workers."
        if len(out):
            yield Table(out, f"scores_{i}", caption)


def concordance(results: Results, crowd: Crowd) -> Iterator[Table]:
    """Agreement of conclusions by t tests over workers with those of the first run, by set of workers and level."""
    key = ["workers", "alpha"]
    rows = results.select("concordance", test="wald")
    first = where(rows, corpus=crowd.corpora[0], of="significant").set_index(key)["estimate"].astype("Int64")
    shown = {"significant": "Significant, this run", "identical": "Identical"}
    shown |= {"contradiction": "Contradictions", "power_mismatch": "Power mismatches"}
    for i, corpus in enumerate(crowd.corpora[1:] if len(rows) else ()):
        wide = tables.pivot(where(rows, corpus=corpus), key, "of", shown).set_index(key)
        wide.insert(0, "Significant, first run", first)
        wide["Identical"] = cells.percents(wide["Identical"], 1)
        wide = wide.reset_index().assign(workers=lambda f: f["workers"].map(SETS))
        wide["alpha"] = wide["alpha"].map("{:g}".format)
        caption = f"Conclusions about pairs of systems in {crowd.title(crowd.corpora[0])} and {crowd.title(corpus)},"
        caption += " by t tests over workers."
        caption += " Contradiction: significant in both, with opposite signs. Power mismatch: significant in one only."
        yield Table(wide.rename(columns={"workers": "Workers", "alpha": "Level"}), f"conclusions_{i}", caption)


def thresholds(results: Results, crowd: Crowd) -> Table:
    """Workers who pass and r between the runs, as the threshold changes."""
    titles = {c: crowd.title(c) for c in crowd.corpora}
    count = results["qc_count"].dropna(subset="threshold")
    wide = tables.pivot(count, ["threshold"], "corpus", {c: f"Workers, {name}" for c, name in titles.items()})
    rows = results["replication_r"].dropna(subset="threshold")
    r = tables.pivot(rows, ["threshold"], "corpus", {c: f"r, {titles[c]}" for c in crowd.corpora[1:]})
    wide = wide.merge(r, how="left", on="threshold")
    wide["threshold"] = wide["threshold"].map("{:g}".format)
    caption = f"Workers who pass by each threshold, and correlation of system means with {titles[crowd.corpora[0]]}."
    whole = {column: 0 for column in wide if column.startswith("Workers")}
    wide = wide.rename(columns={"threshold": "Threshold"})
    return Table(
        wide, "threshold", caption, whole | {c: 3 for c in wide if c.startswith("r,")}, dict.fromkeys(wide, UNDEFINED)
    )


def opinions(results: Results, crowd: Crowd) -> Table:
    """Share of each opinion on the topic."""
    rows = results["opinion_share"]
    titles = {o: o.capitalize() for o in rows["opinion"].unique()}
    wide = tables.pivot(rows.assign(estimate=100 * rows["estimate"]), ["corpus", "workers"], "opinion", titles)
    return Table(_by_run(wide, crowd), "opinions", "Opinions of workers on the topic of a dialogue (%).", 1)


def lengths(results: Results, crowd: Crowd) -> Table:
    """Median words and characters of inputs and conversations."""
    rows = results["median_length"]
    rows = rows.assign(what=rows["unit"].str.capitalize() + " per " + rows["of"])
    wide = tables.pivot(rows, ["corpus", "workers"], "what", {w: w for w in rows["what"].unique()})
    return Table(_by_run(wide, crowd), "lengths", "Median lengths; conversations: only what the person wrote.", 1)


def costs(results: Results, crowd: Crowd) -> Table:
    """What a run cost, and what it is divided by."""
    titles = {
        "run": "Total",
        "system": "Per system",
        "dialogue": "Per dialogue",
        "passed dialogue": "Per dialogue kept",
    }
    wide = tables.pivot(results["crowd_cost"].dropna(subset="corpus"), ["corpus"], "per", titles)
    caption = f"Payments in {crowd.options.currency}, excluding fees. Workers who failed were also paid."
    return Table(_by_run(wide, crowd), "cost", caption)


def variant_effects(results: Results, names: DisplayNames, crowd: Crowd) -> Table | None:
    """The effect of the variant over families and runs, by label."""
    rows = results["variant_effect"]
    if rows.empty:
        return None
    rows, titles = rows.set_index("label").loc[overall_first(rows["label"].unique(), names)], label_titles(names, crowd)
    out = pd.DataFrame({"Label": [titles[label] for label in rows.index]}, index=rows.index)
    out["Effect"], out[P] = tables.intervals(rows), cells.p_values(rows["p_adjusted"])
    caption = f"Mean of {int(rows['n'].iloc[0])} differences, with minus without {crowd.options.variant}, in standard"
    caption += (
        " deviations of a worker's scores; CI if other workers had rated these systems. CIs and p-values of labels"
    )
    caption += " are adjusted for their number (Sidak); overall is a test of its own."
    return Table(out, "variant_effects", caption, 2)


def best(results: Results, crowd: Crowd) -> str | None:
    """The system with the highest overall mean of raw scores in the first run, among those in every run."""
    rows = results.select("mean_raw", corpus=crowd.corpora[0], interval="workers", label=OVERALL)
    rows = rows[rows["system"].isin(crowd.shared)].dropna(subset="estimate")
    return rows.set_index("system")["estimate"].idxmax() if len(rows) else None


def change_rows(results: Results, names: DisplayNames, crowd: Crowd) -> pd.DataFrame:
    """`run_change` by run, of the mean over systems (system missing) before that of the best system, overall first."""
    rows = results["run_change"]
    rows = rows[rows["system"].isna() | (rows["system"] == best(results, crowd))]
    order = overall_first(rows["label"].unique(), names)
    keys = {"corpus": crowd.corpora.index, "system": pd.notna, "label": order.index}
    return rows.sort_values([*keys], key=lambda column: column.map(keys[column.name]), kind="stable")


def changes(results: Results, names: DisplayNames, crowd: Crowd) -> Table | None:
    """What changes between the first and each other run, by label, in raw scores."""
    rows, titles = change_rows(results, names, crowd), label_titles(names, crowd)
    if rows.empty:
        return None
    out = pd.DataFrame({"Run": rows["corpus"].map(crowd.title)}, index=rows.index)
    out["Of"] = [names.name("system", system) if pd.notna(system) else "Mean of systems" for system in rows["system"]]
    out["Label"], out["Change"] = rows["label"].map(titles), tables.intervals(rows, 1)
    out[P], first = cells.p_values(rows["p_adjusted"]), crowd.title(crowd.corpora[0])
    caption = f"Raw means minus those in {first}, workers who passed; averaged over systems, and of the system with the"
    caption += f" highest mean in {first}. CIs over workers and p-values are adjusted for the number of labels (Sidak);"
    caption += " overall is a test of its own."
    return Table(out, "changes", caption, 2)
