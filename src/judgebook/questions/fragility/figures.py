"""Figures of notebook 16."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from judgebook.display import captions
from judgebook.display.names import NEUTRAL, DisplayNames
from judgebook.display.style import PAGE, handle, legend_of, subplots, tips
from judgebook.display.text import Phrases, number, percent
from judgebook.display.views import Plot
from judgebook.questions.fragility.analysis import DATA
from judgebook.questions.fragility.specifications import ALPHA, CHOICES, KEYS
from judgebook.study.results import Results

#: conclusions that have a panel of their own
MOST = 4
_PHRASES = Phrases(__package__)
SIGNIFICANT, NOT = "#000000", "#B5B5B5"
TITLES = {
    "workers": {
        "passed": "workers who pass",
        "stricter": "stricter threshold",
        "looser": "looser threshold",
        "all": "all workers",
    },
    "ratings": {"mean": "mean of all annotations", "pick": "one annotation per item"},
    "scores": {"raw": "raw scores", "standardised": "standardised by annotator"},
    "units": {"dialogue": "dialogues", "item": "turns"},
    "people": {"the same": "the same annotators", "a sample": "annotators as a sample"},
    "ties": {"kept": "ties kept", "dropped": "ties dropped"},
}


def curves(results: Results, names: DisplayNames) -> Iterator[Plot]:
    """Specification curves of the conclusions that fewest specifications keep: one panel each, choices below."""
    share = results.select("specification_share", kept="significance")
    if share.empty or share["n"].max() < 2:
        return
    chosen = share.sort_values("estimate", kind="stable").head(MOST)
    rows, several = results["specification"], len(set(share["corpus"])) > 1
    panels = []
    for one in chosen.to_dict("records"):
        of_conclusion = rows[(rows[["corpus", *KEYS]] == [one[k] for k in ("corpus", *KEYS)]).all(axis=1)]
        of_conclusion = of_conclusion.assign(place=range(len(of_conclusion))).dropna(subset="estimate")
        of_conclusion = names.pairs(of_conclusion)
        panels.append((one, of_conclusion.sort_values("estimate", kind="stable").reset_index(drop=True)))
    ratios = [inches for _, of_conclusion in panels for inches in (1.3, 0.17 * max(len(_lines(of_conclusion)), 1))]
    size = {"width": PAGE, "height": sum(ratios) + 0.45 * len(panels) + 0.6}
    fig, axes = subplots(2 * len(panels), 1, squeeze=False, gridspec_kw={"height_ratios": ratios}, **size)
    for i, (one, of_conclusion) in enumerate(panels):
        _curve(axes[2 * i, 0], of_conclusion, names)
        axes[2 * i, 0].set_title(_heading(one, names, several=several), fontsize=8)
        _choices(axes[2 * i + 1, 0], of_conclusion, names)
    keys = [handle(f"significant (adjusted p < {ALPHA:g})", SIGNIFICANT, "o"), handle("not significant", NOT, "o")]
    legend_of(fig, [*keys, handle(names.ci, NEUTRAL[0], "", linewidth=1)])
    caption = (
        "Upper panels: the difference between two systems under each combination of choices, in increasing order, in"
        f" standard deviations of dialogues (or of pairs compared), with {names.ci}; black: significant after Holm's"
        " adjustment within the label. Lower panels: the choices in each combination."
    )
    note = captions.chosen(len(panels), len(share), "conclusions that are significant under the fewest combinations")
    shares = [f"{_heading(o, names, several=several)} {percent(o['estimate'])}" for o, _ in panels]
    alt = f"Specification curves; share of combinations with a significant difference: {'; '.join(shares)}."
    title = _PHRASES.say("curves_title", n=len(share), always=int((share["estimate"] == 1).sum()))
    unit = "Difference between two systems in standard deviations, by combination of choices"
    yield Plot(fig, "curves", alt, captions.joined(caption, note), title, unit)


def _heading(one: Mapping[str, Any], names: DisplayNames, *, several: bool) -> str:
    """Label and systems of a conclusion, and its corpus where there are several."""
    pair = names.pair_name(one["system"], one["system_b"])
    where = f" ({names.name('corpus', one['corpus'])})" if several else ""
    return f"{names.distinct_label(one['label'], one['method'])}: {pair}{where}"


def _curve(ax: Axes, of_conclusion: pd.DataFrame, names: DisplayNames) -> None:
    x, colour = np.arange(len(of_conclusion)), np.where(of_conclusion["p_adjusted"] < ALPHA, SIGNIFICANT, NOT)
    bounded = of_conclusion["ci_low"].notna()
    ax.vlines(
        x[bounded],
        of_conclusion["ci_low"][bounded],
        of_conclusion["ci_high"][bounded],
        color=NEUTRAL[0],
        linewidth=0.8,
        zorder=1,
    )
    ax.scatter(x, of_conclusion["estimate"], c=list(colour), s=10, zorder=2)
    ax.axhline(0, color="#8A8A8A", linewidth=0.9, zorder=0)
    open_ = list(dict.fromkeys(c for c, _ in _lines(of_conclusion)))
    tooltips = [
        f"{', '.join(title(c, row[c], names) for c in open_)}: {number(row['estimate'])}"
        for row in of_conclusion.to_dict("records")
    ]
    tips(ax, tooltips, x, of_conclusion["estimate"])
    ax.set(xlim=(-0.6, len(of_conclusion) - 0.4), xticks=[], ylabel="Difference (SD)")


def title(choice: str, value: str, names: DisplayNames) -> str:
    """A value of a choice, as readers see it."""
    return names.name("corpus", value) if choice == DATA else TITLES[choice][value]


def _lines(of_conclusion: pd.DataFrame) -> list[tuple[str, str]]:
    """Choices that were open, and their values."""
    values = {choice: [v for v in options if (of_conclusion[choice] == v).any()] for choice, options in CHOICES.items()}
    values[DATA] = list(dict.fromkeys(of_conclusion.sort_values("place", kind="stable")[DATA]))
    return [(c, value) for c, options in values.items() if len(options) > 1 for value in options]


def _choices(ax: Axes, of_conclusion: pd.DataFrame, names: DisplayNames) -> None:
    lines = _lines(of_conclusion)
    for y, (choice, value) in enumerate(lines):
        at = np.flatnonzero(of_conclusion[choice] == value)
        ax.scatter(at, np.full(len(at), y), marker="s", s=6, color="#444444")
    ax.set(xlim=(-0.6, len(of_conclusion) - 0.4), ylim=(len(lines) - 0.4, -0.6), xticks=[], yticks=range(len(lines)))
    ax.set_yticklabels([title(c, v, names) for c, v in lines], fontsize=7)
    ax.set_xlabel("Combinations of choices, by the size of the difference", fontsize=7)
    ax.tick_params(axis="y", length=0)
    for side in ("left", "bottom"):
        ax.spines[side].set_visible(False)
