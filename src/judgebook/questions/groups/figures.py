"""Figures of notebook 08."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes

from judgebook.display import captions
from judgebook.display.grid_plots import ROW, filled, grid_figure, interval_keys, intervals
from judgebook.display.many import DRAWN, pages
from judgebook.display.names import BAD, GOOD, OPEN, DisplayNames
from judgebook.display.style import INK, handle
from judgebook.display.text import Phrases, percent, span
from judgebook.display.views import Plot
from judgebook.questions.groups import analysis
from judgebook.questions.groups.tables import ordered
from judgebook.study.results import Results

GREY = "#C9C9C9"
_PHRASES = Phrases(__package__)
#: verdict on a difference -> colour, marker, words
_MARKS = {
    analysis.DIFFERS: (BAD, "o", "different (Holm)"),
    analysis.BOTH: (BAD, "D", "different, but within the margin (Holm)"),
    analysis.EQUIVALENT: (GOOD, "s", "equivalent within the margin (Holm)"),
    analysis.UNDECIDED: (OPEN, "o", "inconclusive"),
    analysis.UNTESTED: (OPEN, "x", "no test"),
}


def differences(results: Results, names: DisplayNames, confidence: float, margin: float) -> Iterator[Plot]:
    """Differences between groups and those expected by chance: figures of each corpus."""
    rows = analysis.differences(results, confidence)
    for name, part in _by(rows, names, ["corpus"], "differences"):
        heading = title(part)
        yield from (replace(plot, title=heading) for plot in _differences(part, names, name, confidence, margin))


def title(rows: pd.DataFrame) -> str:
    """How many differences are shown, and how many are small. rows : with `verdict`."""
    tested = rows.loc[rows["verdict"] != analysis.UNTESTED, "verdict"]
    same = int(tested.isin([analysis.EQUIVALENT, analysis.BOTH]).sum())
    differ = int(tested.isin([analysis.DIFFERS, analysis.BOTH]).sum())
    return _PHRASES.say("differences_title", n=len(tested), differ=differ, same=same)


def _differences(
    rows: pd.DataFrame, names: DisplayNames, name: str, confidence: float, margin: float
) -> Iterator[Plot]:
    rows = ordered(rows, names)
    label = [names.name("label", x, m) for x, m in zip(rows["label"], rows["method"], strict=True)]
    method = [names.name("method", m) for m in rows["method"]]
    rows = rows.assign(block=label, panel=rows["groups"])
    if rows["groups"].nunique() > rows["block"].nunique():
        rows = rows.assign(block=rows["groups"], panel=label)
    rows["panel"] = [f"{m}: {title}" for m, title in zip(method, rows["panel"], strict=True)]
    verdicts = [v for v in _MARKS if v in set(rows["verdict"])]

    def paint(ax: Axes, part: pd.DataFrame, *_: str) -> None:
        y = part["y"]
        ax.barh(y, part["null_q95"].fillna(0), 0.85 * ROW, color=GREY, alpha=0.55)
        ax.plot(part["null_mean"], y, "|", color="#6B6B6B", markersize=5, markeredgewidth=1.2)
        ax.hlines(y + 0.35 * ROW, part["debiased_low"], part["debiased_high"], color=INK, linewidth=0.8)
        ax.plot(part["debiased"], y + 0.35 * ROW, "d", color=INK, markersize=2.4)
        for verdict, of_verdict in part.groupby("verdict", sort=False):
            ax.plot(of_verdict["estimate"], of_verdict["y"], linewidth=0, markersize=3.8, **_style(verdict))
        ax.axvline(margin, color=INK, linewidth=0.6, linestyle=(0, (3, 2)))

    light = f"noise-corrected, {percent(confidence)} CI"
    keys = [handle(_MARKS[v][2], linewidth=0, **_style(v)) for v in verdicts]
    keys += [
        mpl.patches.Patch(color=GREY, alpha=0.55, label="95% chance limit"),
        handle("expected by chance", "#6B6B6B", "|", linewidth=0),
        handle(light, INK, "d", linewidth=0.8),
        handle(f"margin {margin:g}", INK, "", linewidth=0.6, linestyle=(0, (3, 2))),
    ]
    caption = (
        "Large marks: mean over pairs of systems of the absolute difference between the effect sizes of two groups"
    )
    caption += f" of annotators ({captions.sample(rows['n'], 'scores')}), coloured by verdict. Grey bars: differences"
    caption += " that groups formed at random stay below with 95% probability; their mean is the upright line."
    caption += f" Diamonds and lines: the difference without noise, {percent(confidence)} CI over sessions."
    # a row for each label: a verdict is a colour, no row of its own
    placed = rows.assign(hue="")
    for suffix, page in pages(placed, columns=3, around=1.7):
        xlabel = "Mean absolute difference of effect sizes"
        fig = grid_figure(page, paint, xlabel=xlabel, columns=3, sharex=True, keys=keys)
        counts = page["verdict"].value_counts()
        methods = dict.fromkeys(names.name("method", m) for m in page["method"])
        of = f"{', '.join(methods)}. " if len(set(rows["method"])) > 1 else ""
        alt = f"{of}{len(page)} differences between groups by label{_spanned(page)}; verdicts: "
        alt += ", ".join(f"{_MARKS[v][2]} {counts[v]}" for v in verdicts if v in counts)
        unit = "Mean absolute difference of effect sizes between two groups, over pairs of systems"
        yield Plot(fig, f"{name}{suffix}", f"{alt}.", of + caption, subtitle=unit)


def _style(verdict: str) -> dict[str, str]:
    color, marker, _ = _MARKS[verdict]
    return {"color": color, "marker": marker, "markerfacecolor": "white" if color == OPEN else color}


def effects(results: Results, names: DisplayNames) -> Iterator[Plot]:
    """Effect sizes of pairs of systems by label and group: figures of each corpus and method."""
    sizes = names.pairs(results["effect_size"])
    pairs = list(zip(sizes["system"], sizes["system_b"], strict=True))
    sizes["block"] = [names.pair_name(*pair) for pair in pairs]
    sizes["pair"] = [tuple(names.position("system", s) for s in pair) for pair in pairs]
    sizes["hue"] = [names.name("group", g) for g in sizes["group"]]
    sizes = names.sort(sizes.drop(columns="system").sort_values("pair", kind="stable"))
    for name, part in _by(sizes, names, ["corpus", "method"], "effects"):
        method = part["method"].iloc[0]
        xlabel = " and ".join(f"Cohen's {effect}" for effect in sorted(set(part["effect"])))
        pairs_of = "pairs of systems on whose effect sizes the groups differ most"
        shown, pairs_note = _most_contested(part, "block", pairs_of)
        shown, labels_note = _most_contested(shown, "label", "labels on which they do")
        caption = f"Marks: effect size ({xlabel}) of the difference between two systems, by label and by group of"
        caption += " annotators; above 0 the first system named is rated higher."
        over = captions.intervals(names.ci, "sessions", part["n_clusters"])
        caption = captions.joined(caption, over, captions.joined(pairs_note, labels_note))
        keys = interval_keys(f"{names.ci} over sessions", None, shown)
        shown = shown.assign(panel=[names.name("label", x, method) for x in shown["label"]])
        order = list(shown.drop_duplicates("block").sort_values("pair", kind="stable")["block"])
        for suffix, page in pages(filled(shown, order)):
            fig = grid_figure(
                page, intervals, names=names, xlabel=xlabel, reference=0, named="no difference", sharex=True, keys=keys
            )
            alt = f"{xlabel} by label, {names.name('method', method)}: {page['estimate'].notna().sum()} values with"
            yield Plot(fig, f"{name}{suffix}", f"{alt} intervals{_spanned(page)}.", caption)


def _most_contested(rows: pd.DataFrame, column: str, which: str) -> tuple[pd.DataFrame, str]:
    """Of many pairs of systems, or labels, those on which the groups differ most, and what a caption says of them."""
    if (total := rows[column].nunique()) <= DRAWN:
        return rows, ""
    spread = rows.groupby(["block", "label"])["estimate"].agg(lambda v: v.max() - v.min())
    most = spread.groupby(column).mean().nlargest(DRAWN).index
    return rows[rows[column].isin(most)], captions.chosen(len(most), total, which)


def _by(rows: pd.DataFrame, names: DisplayNames, columns: list[str], stem: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """The part of each figure, and the figure's name: with the method, and the number of the corpus from the second."""
    corpora = list(dict.fromkeys(rows["corpus"]))
    for (corpus, *method), part in rows.groupby(columns, sort=False):
        number = [f"corpus{corpora.index(corpus) + 1}"] if corpus != corpora[0] else []
        yield "_".join([stem, *number, *map(names.stem, method)]), part


def _spanned(rows: pd.DataFrame) -> str:
    estimates = rows["estimate"].dropna()
    return f" from {span(estimates)}" if len(estimates) else ", none of them defined"
