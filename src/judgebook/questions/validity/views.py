"""What notebooks 04 and 06 show: figures, tables, and sentences, which `text.md.j2` puts into words."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.colors import ListedColormap
from matplotlib.ticker import MaxNLocator

from judgebook.annotations.dialogue_values import COMPARATIVE_QUALITY, DIALOGUE_QUALITY
from judgebook.display import plots, tables
from judgebook.display.names import DisplayNames
from judgebook.display.style import PAGE, handle, legend_of, subplots, tips
from judgebook.display.text import Phrases, counted, listing, number, percent, plural, span
from judgebook.display.views import Plot, Table
from judgebook.questions.validity.analysis import KEY, comparison, excludes_zero
from judgebook.questions.validity.analysis import correlations as correlations_of
from judgebook.questions.validity.coverage import FITS
from judgebook.study.results import Results

AXES = {DIALOGUE_QUALITY: "R², dialogue quality", COMPARATIVE_QUALITY: "Pseudo-R², comparative quality"}
#: criterion -> heading, decimals of its value
CRITERIA = {
    "agreement": ("Agreement", 2),
    "importance": ("Importance", 2),
    "sensitivity": ("Sensitivity", 0),
    "distinctness": ("Distinctness", 2),
    "cost": ("Cost", 2),
}
MISSED, MET = "#EAD7BF", "#BFE0DC"
_PHRASES = Phrases(__package__)
_GREY = {"color": "#444444"}


def correlation_forest(results: Results, names: DisplayNames, target: str) -> Plot | None:
    """Forest plot of the signed r of every label."""
    rows = correlations_of(results, target)
    if rows.empty:
        return None
    ends = rows[["estimate", "ci_low", "ci_high"]].abs().max().max()
    limit = min(1.0, np.ceil(10 * (ends or 0.9) + 0.2) / 10)
    fig = plots.forest_figure(rows, names, xlabel=f"r with {TITLES[target]}", xlim=(-limit, limit))
    best = rows.loc[rows["estimate"].abs().idxmax()]
    alt = f"Forest plot: correlation of {plural(len(rows), 'label')} with {TITLES[target]}, by method, with CIs, from"
    alt += f" {span(rows['estimate'])}; largest |r|: {names.name('label', best['label'], best['method'])},"
    alt = f"{alt} {names.name('method', best['method'])}, {number(best['estimate'])}."
    caption = f"Pearson's r of each label with {TITLES[target]}. Points: estimates; lines: jackknife"
    caption += f" {names.ci} over {sampled(rows).replace('people', 'the people who talked to the systems')}"
    caption += f"; {counted(rows['n'], f'{ROWS[target]}s')}."
    caption += " Hollow: no CI available." if rows["ci_kind"].isin(plots.HOLLOW).any() else ""
    known = rows.dropna(subset="ci_low")
    apart = int(excludes_zero(known).sum())
    title = _PHRASES.say("correlations_title", n=len(known), apart=apart, target=TITLES[target]) if len(known) else ""
    return Plot(fig, target, alt, caption, title, f"Pearson's r with {TITLES[target]}")


def compared(results: Results, names: DisplayNames) -> Plot | None:
    """The best subset of each size on the same rows: fit, cross-validated fit, and fit to a shuffled target. A row of
    panels per target, a column per method."""
    by_target = {t: comparison(results, t) for t in TITLES}
    by_target = {t: rows for t, rows in by_target.items() if len(rows)}
    if not by_target:
        return None
    methods = sorted(
        {m for rows in by_target.values() for m in rows["method"]}, key=lambda m: names.position("method", m)
    )
    size = {"width": PAGE if len(methods) > 2 else 4.6, "height": 0.7 + 1.7 * len(by_target)}
    fig, axes = subplots(len(by_target), len(methods), squeeze=False, sharey="row", sharex=True, **size)
    for line, (target, rows) in zip(axes, by_target.items(), strict=True):
        for ax, method in zip(line, methods, strict=True):
            part = rows[rows["method"] == method]
            if part.empty:
                ax.axis("off")
                continue
            color = names.color("method", method)
            ax.fill_between(part["k"], part["permuted_mean"], part["permuted_p95"], color="#BBBBBB", linewidth=0)
            ax.plot(part["k"], part["common"], color=color, linewidth=1.0, linestyle=(0, (4, 2)))
            ax.vlines(part["k"], part["ci_low"], part["ci_high"], color=color, linewidth=0.9, alpha=0.6)
            ax.plot(part["k"], part["cross_validated"], "o-", color=color, linewidth=1.4, markersize=3.5)
            ax.axhline(0, color="#888888", linewidth=0.7)
            tips(ax, [f"{k} labels: {number(v)}" for k, v in zip(part["k"], part["cross_validated"], strict=True)],
                 part["k"], part["cross_validated"])  # fmt: skip
            ax.grid(axis="y")
            ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=7))
            ax.set_title(names.name("method", method), fontsize=7.5)
        line[0].set_ylabel(AXES[target].replace(", ", ",\n"))
    fig.supxlabel("Labels in the model", fontsize=8)
    keys = [
        handle("same data", marker="", linewidth=1.0, linestyle=(0, (4, 2)), **_GREY),
        handle(f"cross-validated, with {names.ci}", marker="o", linewidth=1.4, **_GREY),
        handle("shuffled target: mean to 95th percentile", "#BBBBBB", "", linewidth=5),
    ]
    legend_of(fig, keys)
    spans = [f"{AXES[t]} up to {number(rows['cross_validated'].max())}" for t, rows in by_target.items()]
    alt = "Fit of the best subset of labels by its size, for each method and target: on the same data, cross-validated"
    n = "; ".join(counted(rows["n"], f"{ROWS[t]}s") for t, rows in by_target.items())
    over = sampled(pd.concat([results.select(FITS[t], target=t, kind="cross_validated") for t in by_target]))
    caption = "Fit of the best subset of each size, all methods on the same data. Points: fit on"
    caption += f" {over} left out of selection and fitting, with {names.ci}, the fitted models held fixed; below 0, the"
    caption += " prediction is worse than the mean. Dashed: fit on the same data; grey: the same for a shuffled target,"
    caption += f" mean to 95th percentile; {n}."
    return Plot(fig, "compare", f"{alt} ({'; '.join(spans)}), and for a shuffled target.", caption)


def selection(selected: pd.DataFrame, names: DisplayNames, applied: dict[str, float]) -> Plot:
    """Which thresholds each label reaches: a heatmap per method, a row per label, a column per criterion."""
    selected = names.sort(selected)
    shown = [c for c in CRITERIA if c in applied or selected[c].notna().any()]
    parts = list(selected.groupby("method", sort=False))
    size = {"width": 6.2, "height": 0.9 + 0.165 * len(selected) + 0.25 * len(parts)}
    heights = {"height_ratios": [len(part) for _, part in parts]}
    fig, axes = subplots(len(parts), 1, squeeze=False, gridspec_kw=heights, **size)
    for ax, (method, part) in zip(axes[:, 0], parts, strict=True):
        rows = [names.name("label", label, method) for label in part["label"]]
        met = {c: part[f"{c}_met"].astype(float) if c in applied else 0.5 for c in shown} | {"kept": part["kept"]}
        texts = {c: [_value(v, c, applied.get(c)) for v in part[c]] for c in shown}
        texts["kept"] = ["kept" if k else "" for k in part["kept"]]
        values, texts = (pd.DataFrame(v, index=part.index).set_axis(rows) for v in (met, texts))
        plots.heatmap(values, ax, texts=texts, cmap=ListedColormap([MISSED, "#EEEEEE", MET]), vmin=0, vmax=1)
        ax.set_title(names.name("method", method))
        ax.set_xticks([])
        for tick, bold in zip(ax.get_yticklabels(), part["kept"], strict=True):
            tick.set_fontweight("bold" if bold else "normal")
    heads = [f"{CRITERIA[c][0]}\n{_limit(c, applied.get(c))}" for c in shown]
    axes[-1, 0].set_xticks(np.arange(len(shown) + 1) + 0.5, [*heads, "All"], rotation=0, ha="center")
    keys = [("reaches the threshold", MET), ("does not", MISSED), ("no threshold", "#EEEEEE")]
    legend_of(fig, [handle(name, color, "", linewidth=6) for name, color in keys])
    n = int(selected["kept"].sum())
    caption = (
        "Values of each label and the thresholds of the study (below); a label is kept, bold, if it reaches all of"
    )
    caption += f" them: {n} of {len(selected)} do. Thresholds are choices, and values are rounded."
    alt = f"Heatmap: which thresholds each of {plural(len(selected), 'label')} reaches; {n} reach all."
    return Plot(fig, "selection", alt, caption)


def _value(value: float, criterion: str, limit: float | None) -> str:
    """With a further decimal where rounding would hide on which side of the threshold the value is."""
    decimals = CRITERIA[criterion][1]
    hidden = limit is not None and (round(value, decimals) >= limit) != (value >= limit)
    return number(value, decimals + hidden)


def _limit(criterion: str, limit: float | None) -> str:
    if limit is None:
        return ""
    if criterion == "importance":
        return "CI excludes 0"
    return f"{'≤' if criterion == 'cost' else '≥'} {limit:g}"


TITLES = {DIALOGUE_QUALITY: "dialogue quality", COMPARATIVE_QUALITY: "comparative quality"}
#: target -> what its fit is called
STATISTICS = {t: "R²" if t == DIALOGUE_QUALITY else "pseudo-R²" for t in TITLES}
#: what a row of each design is
ROWS = {DIALOGUE_QUALITY: "dialogue", COMPARATIVE_QUALITY: "pair"}


def sampled(rows: pd.DataFrame) -> str:
    """What the intervals of these rows resample, in the plural: people, where it is known who talked."""
    units = listing(dict.fromkeys(rows["resample_unit"].dropna() + "s"))
    return units.replace("interactors", "people") or "people"


def correlation_table(results: Results, names: DisplayNames, target: str, confidence: float) -> Table:
    """Signed r with its interval and its rank: one row per label."""
    rows = names.sort(results.select("r", target=target)).set_index(KEY)
    out = rows[["n_annotators", "n"]].astype("Int64").set_axis(["Annotators", f"{ROWS[target].title()}s"], axis=1)
    out["r"] = tables.intervals(rows)
    out["Rank"] = tables.intervals(results.select("importance_rank", target=target).set_index(KEY), 0)
    caption = f"Correlation with {TITLES[target]}, {percent(confidence)} jackknife CI over {sampled(rows)}; rank by |r|"
    caption += " with simultaneous CI."
    frame = names.named(out.dropna(axis=1, how="all").reset_index())
    return Table(frame, target, caption, why={"Rank": "No variation."})


def stability(results: Results, names: DisplayNames, n_halves: int) -> Table:
    """Share of half-samples that select each label, by target."""
    rows = results.select("selection_frequency", kind="half_samples")
    columns = {t: title.capitalize() for t, title in TITLES.items() if t in set(rows["target"])}
    wide = names.sort(tables.pivot(rows, KEY, "target", columns).astype(dict.fromkeys(columns.values(), float)))
    why = dict.fromkeys(columns.values(), "Not a predictor of this target.")
    caption = f"Share of {n_halves} half-samples in which a label belongs to the subset with the highest adjusted fit."
    return Table(names.named(wide), "stability", caption, why=why)
