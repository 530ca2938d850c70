"""Figures of notebook 80. Grey and marker show the role of a test or interval: colours are those of systems, groups and
methods."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter

from judgebook.display import captions
from judgebook.display.names import NEUTRAL, DisplayNames
from judgebook.display.plots import heatmap
from judgebook.display.style import PAGE, handle, legend_of, subplots, tips
from judgebook.display.text import Phrases, number, percent, span, told
from judgebook.display.views import Plot
from judgebook.questions.operating_characteristics.procedures import (
    ALTERNATIVE,
    NOMINAL,
    PRIMARY,
    PUBLISHED,
    ROLES,
    by_question,
    interval_role,
    rejection_rates,
)
from judgebook.questions.operating_characteristics.tables import interval_name, test_name
from judgebook.study.results import Results, where

#: colour and marker; marks of published procedures are hollow
STYLE = {PUBLISHED: (NEUTRAL[0], "s"), PRIMARY: ("#000000", "o"), ALTERNATIVE: (NEUTRAL[2], "D")}
_PHRASES = Phrases(__package__)
#: the lowest coverage on an axis; a value below is drawn at the edge
LOWEST = 0.75
_LINE: dict[str, Any] = {"color": "#666666", "linewidth": 0.9, "linestyle": (0, (4, 2))}


def rejections(results: Results, names: DisplayNames) -> Iterator[Plot]:
    """Type I error of each test: the mean over labels with its Monte Carlo interval, and every label as a tick."""
    rows = names.sort(rejection_rates(results))
    if rows.empty:
        return
    unit = np.where(rows["level"] == "pair", "comparisons", "dialogues per half")
    titles = [names.name("method", m) for m in rows["method"]]
    rows = rows.assign(
        section=[f"{t} ({int(n)} {u})" for t, n, u in zip(titles, rows["n_dialogues"], unit, strict=True)],
        name=[test_name(t, level) for t, level in zip(rows["test"], rows["level"], strict=True)],
    )
    single = results.select("null_rejection", alpha=NOMINAL, scenario=None).dropna(subset="label")
    ticks = [
        of_row.assign(title=[names.name("label", x, r.method) for x in of_row["label"]])
        for r in rows.itertuples()
        for of_row in [where(single, method=r.method, test=r.test)]
    ]
    rows = rows.assign(beside=[_rates(v, of_row) for v, of_row in zip(rows["estimate"], ticks, strict=True)])
    right = max(0.1, 1.08 * max([single["estimate"].max(), rows["ci_high"].max()]))
    fig = _sections(rows, NOMINAL, (0, right), "Share of placebo comparisons found significant", ticks)
    alt = f"Type I error rate at {NOMINAL:g} by method and test, from {span(rows['estimate'], 3)};"
    caption = "Marks: share of comparisons without any true difference that a test finds significant, mean over labels."
    caption += f" Lines: 95% Monte Carlo intervals ({captions.sample(rows['n'], 'simulated comparisons per label')})."
    caption += " Strokes: single labels, the highest of which is named. Dashed line: the nominal rate."
    facts = {"n": len(rows), "above": int((rows["ci_low"] > NOMINAL).sum()), "nominal": NOMINAL}
    title, drawn = _PHRASES.say("rejections_title", **facts), "Share of comparisons of equal systems found significant"
    yield Plot(fig, "rejections", f"{alt} dashed line at {NOMINAL:g}.", caption, title, drawn)


def _rates(mean: float, labels: pd.DataFrame) -> str:
    """The mean in percent, and the label of the highest rate where there are several."""
    if len(labels) < 2:
        return percent(mean, 1)
    top = labels.loc[labels["estimate"].idxmax()]
    return f"{percent(mean, 1)} (up to {percent(top['estimate'], 1)}: {top['title']})"


def questions(results: Results, confidence: float) -> Iterator[Plot]:
    """Coverage of published and primary intervals, question by question."""
    rows = by_question(results)
    if rows.empty:
        return
    lost = rows["n_undefined"] / (rows["n"] + rows["n_undefined"])
    notes = [f" (none in {percent(x)})" if x > 0.01 else "" for x in lost]
    rows = rows.assign(
        section=rows["question"],
        name=[interval_name(r.of, r.interval, r.over) for r in rows.itertuples()],
        beside=[percent(v, 1) + note for v, note in zip(rows["estimate"], notes, strict=True)],
    )
    fig = _sections(rows, confidence, (LOWEST, 1.005), "Coverage")
    alt = f"Coverage of {percent(confidence)} intervals for {rows['question'].nunique()} questions, as published and"
    caption = (
        f"Marks: share of simulated samples whose {percent(confidence)} interval contains the true value; lines: 95%"
    )
    caption += f" Monte Carlo intervals ({captions.sample(rows['n'], 'samples with an interval')}). Samples without an"
    caption += " interval are left out; where they are more than 1%, their share is given next to the value."
    below = rows[rows["estimate"] < LOWEST]
    listed = ", ".join(f"{r.question}: {r.name} ({percent(r.estimate, 1)})" for r in below.itertuples(index=False))
    note = f"Below the axis, drawn as arrows at its end: {listed}." if listed else ""
    yield Plot(fig, "intervals", f"{alt} primary, from {span(rows['estimate'])}.", captions.joined(caption, note))


def _sections(
    rows: pd.DataFrame, nominal: float, xlim: tuple[float, float], xlabel: str, ticks: list[pd.DataFrame] | None = None
) -> Figure:
    """Estimates with intervals under the heading of each `section`, coloured by `role`, with a text `beside` them.

    ticks : for each row further values (title, estimate), drawn as ticks.
    """
    n_sections = rows["section"].nunique()
    fig, ax = subplots(width=PAGE, height=0.2 * (len(rows) + n_sections) + 0.9)
    heading = {"fontweight": "bold", "va": "center", "fontsize": 7.5}
    box = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
    y, section, places = -1.0, None, []
    for i, row in enumerate(rows.to_dict("records")):
        if row["section"] != section:
            section, y = row["section"], y + 1
            ax.text(0, y, section, transform=ax.get_yaxis_transform(), bbox=box, **heading)
        y += 1
        places.append(y)
        color, marker = STYLE[row["role"]]
        if ticks:
            rates = ticks[i]["estimate"]
            ax.plot(rates, np.full(len(rates), y), "|", color=color, alpha=0.55, markersize=6)
            tooltips = [told(f"{row['name']}, {t['title']}", t, percents=True) for t in ticks[i].to_dict("records")]
            tips(ax, tooltips, rates, np.full(len(rates), y))
        if row["ci_high"] >= xlim[0]:
            ax.plot(np.maximum([row["ci_low"], row["ci_high"]], xlim[0]), [y, y], color=color, linewidth=1.6)
        place, shape = (row["estimate"], marker) if row["estimate"] >= xlim[0] else (xlim[0] + 0.004, "<")
        face = "white" if row["role"] == PUBLISHED else color
        ax.plot(place, y, shape, color=color, markersize=4.5, markerfacecolor=face, clip_on=False)
        tips(ax, [told(f"{row['section']}: {row['name']}", row, percents=True)], [place], [y])
        ax.text(1.02, y, row["beside"], transform=ax.get_yaxis_transform(), va="center", fontsize=7)
    ax.axvline(nominal, zorder=0, **_LINE)
    ax.set(yticks=places, yticklabels=rows["name"], ylim=(y + 0.7, -0.7), xlim=xlim, xlabel=xlabel)
    ax.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x")
    keys = [_key(role, role, linewidth=1.4) for role in ROLES if (rows["role"] == role).any()]
    if ticks:
        keys.append(handle("one label", NEUTRAL[0], "|", linewidth=0))
    if (rows["estimate"] < xlim[0]).any():
        keys.append(handle(f"below {percent(xlim[0])}", NEUTRAL[0], "<", linewidth=0, markerfacecolor="white"))
    legend_of(fig, [*keys, handle(f"nominal {percent(nominal)}", marker="", **_LINE)])
    return fig


def _key(name: str, role: str, **kwargs: Any) -> Line2D:
    color, marker = STYLE[role]
    return handle(name, color, marker, markerfacecolor="white" if role == PUBLISHED else color, **kwargs)


def coverage(results: Results, names: DisplayNames, confidence: float) -> Iterator[Plot]:
    """Coverage of intervals of alpha by label and sample size, as heat maps: independent items, and dialogues."""
    rows = results.select("interval_coverage", of="alpha", scenario=None).query("n > 0")
    roles = [interval_role("alpha", r.interval, r.over) for r in rows.itertuples()]
    items, dialogues = rows["sample"] == "item", (rows["sample"] == "dialogue") & (np.array(roles) != ALTERNATIVE)
    rows, marks = rows.assign(order=[ROLES.index(role) for role in roles]), rows["marks"].notna()
    panels = {
        "Ratings and comparisons, by number of items": (items & ~marks, "sample_size"),
        "Marks, by expected number of the rarer value": (items & marks, "marks"),
        "Samples of dialogues, by their number": (dialogues, "sample_size"),
    }
    primary = rows["interval"].isin(["bca", "policy"])
    wide = {
        title: _wide(names.sort(rows[primary & of_panel]), size, names) for title, (of_panel, size) in panels.items()
    }
    wide = {title: frame for title, frame in wide.items() if len(frame)}
    if not wide:
        return
    values = span(rows.loc[primary & (items | dialogues), "estimate"])
    alt = f"Coverage of {percent(confidence)} intervals of alpha by label and sample size, from {values}."
    caption = (
        f"Cells: share of simulated samples whose {percent(confidence)} interval of Krippendorff's alpha contains the"
    )
    caption += " true value, by label (rows), kind of interval and size of the sample (columns), in percent."
    caption += " White is the nominal coverage, red below, blue above, hatched: not simulated."
    caption += f" {captions.sample(rows.loc[primary, 'n'])} per cell."
    for i, page in enumerate(_pages(wide)):
        heights = [len(frame) for frame in page.values()]
        size = {"width": PAGE, "height": 0.21 * sum(heights) + 0.75 * len(page) + 0.5}
        fig, axes = subplots(len(page), 1, squeeze=False, gridspec_kw={"height_ratios": heights}, **size)
        for ax, (title, frame) in zip(axes[:, 0], page.items(), strict=True):
            texts = frame.map(lambda v: number(100 * v, 1))
            heatmap(frame, ax, texts=texts, cmap="RdBu", vmin=confidence - 0.1, vmax=confidence + 0.1)
            ax.set_title(title)
        place = {"ax": axes, "location": "bottom", "shrink": 0.5, "aspect": 35, "pad": 0.02, "extend": "min"}
        bar = fig.colorbar(axes[0, 0].collections[0], label=f"Coverage (nominal {percent(confidence)})", **place)
        bar.set_ticks([confidence - 0.1, confidence - 0.05, confidence, 1.0])
        bar.ax.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        bar.ax.set_xlim(confidence - 0.1, 1.0)
        shown = rows.loc[primary & (items | dialogues), "estimate"]
        title = _PHRASES.say("coverage_title", low=shown.min(), high=shown.max(), confidence=confidence)
        unit = "Share of samples whose interval contains the true alpha, by label and size of the sample"
        yield Plot(fig, f"coverage_{i}" if i else "coverage", alt, caption, title, unit)


def _pages(wide: dict[str, pd.DataFrame], most: int = 36) -> Iterator[dict[str, pd.DataFrame]]:
    """Matrices that fit on a page together, long ones in parts."""
    page: dict[str, pd.DataFrame] = {}
    room = most
    for title, frame in wide.items():
        size = -(-len(frame) // (-(-len(frame) // (most - 4))))  # parts of about as many rows each
        for k in range(0, len(frame), size):
            part = frame.iloc[k : k + size]
            if page and len(part) + 4 > room:
                yield page
                page, room = {}, most
            page, room = page | {title: part}, room - len(part) - 4
    if page:
        yield page


def _wide(rows: pd.DataFrame, size: str, names: DisplayNames) -> pd.DataFrame:
    """A row for each label, a column for each interval and sample size."""
    several, labels = len(set(rows["method"])) > 1, zip(rows["method"], rows["label"], strict=True)
    titles = [names.name("label", x, m) + (f" ({names.name('method', m)})" if several else "") for m, x in labels]
    kinds = ["BCa" if kind == "bca" else "BCa or bound" for kind in rows["interval"]]
    kinds = [f"{kind} over turns" if over == "turn" else kind for kind, over in zip(kinds, rows["over"], strict=True)]
    rows = rows.assign(title=titles, kind=kinds, place=rows[size].astype(int))
    wide = rows.set_index(["title", "order", "kind", "place"])["estimate"]
    out = wide.unstack(["order", "kind", "place"])  # noqa: PD010
    out = out.sort_index(axis=1).reindex(list(dict.fromkeys(titles)))
    return out.set_axis([f"{kind}, {place}" for _, kind, place in out.columns], axis=1)
