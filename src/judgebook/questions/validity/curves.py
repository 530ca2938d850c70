"""What notebook 06 shows and says of decisions that could have been made otherwise (`specifications`)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import prod

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from judgebook.display.names import DisplayNames
from judgebook.display.style import INK, PAGE, handle, legend_of, subplots, tips
from judgebook.display.text import Phrases, number, span
from judgebook.display.views import Plot, Prose
from judgebook.questions.validity.figures import AXES, UNITS
from judgebook.questions.validity.question import Importance
from judgebook.questions.validity.specifications import AND, IS, options_made, options_of
from judgebook.questions.validity.tables import STATISTICS, TITLES, sampled
from judgebook.study.results import Results

_DRAWS = "#999999"
_PHRASES = Phrases(__package__)


def summary(results: Results, names: DisplayNames, section: Importance) -> Prose:
    """How the fits vary over decisions that could have been made otherwise."""
    every = results["specification_fit"].dropna(subset="estimate")
    made = AND.join(f"{decision}{IS}{option}" for decision, option in options_made(section).items())
    targets = []
    for target in [t for t in TITLES if (every["target"] == t).any()]:
        rows = names.sort(every[(every["target"] == target) & (every["kind"] == "option")])
        draws = every[(every["target"] == target) & (every["kind"] == "draw")]
        parts = []
        for method, part in rows.groupby("method", sort=False):
            fact = {"name": names.name("method", method), "n": len(part), "above": int((part["ci_low"] > 0).sum())}
            fact |= {"fits": part["estimate"].tolist(), "median": part["estimate"].median()}
            fact["draws"] = draws.loc[draws["method"] == method, "estimate"].tolist()
            parts.append(fact | {"made": part.loc[part["specification"] == made, "estimate"].tolist()})
        wide = rows.set_index(["specification", "method"])["estimate"].unstack("method")  # noqa: PD010 (a repeat must raise)
        orders = [_order(wide[[a, b]].dropna(), names, draws) for a, b in combinations(wide.columns, 2)]
        orders = [o for o in orders if o["n"]]
        targets.append({"title": TITLES[target], "statistic": STATISTICS[target], "parts": parts, "orders": orders})
    n = prod(len(options) for options in section.vary.values())
    return Prose(_PHRASES.say("specifications", targets=targets, n=n, decisions=list(section.vary)))


def _order(wide: pd.DataFrame, names: DisplayNames, draws: pd.DataFrame) -> dict:
    """In how many combinations, and random draws, each of two methods has the better fit."""
    a, b = wide.columns
    drawn = draws.set_index(["specification", "method"])["estimate"].unstack("method")  # noqa: PD010 (a repeat must raise)
    drawn = drawn.reindex(columns=[a, b]).dropna()
    more = {"n": len(wide), "first": int((wide[a] > wide[b]).sum())}
    more |= {"n_draws": len(drawn), "first_drawn": int((drawn[a] > drawn[b]).sum())}
    return more | {"a": names.name("method", a), "b": names.name("method", b)}


def plots(results: Results, names: DisplayNames, section: Importance) -> Iterator[Plot]:
    """A figure for each target: a panel per method with the fit of every combination of options, the lowest first, and
    below it which options these are."""
    for target in TITLES:
        rows = results.select("specification_fit", target=target).dropna(subset="estimate")
        if len(rows):
            yield _curve(rows, names, section, target)


def _curve(rows: pd.DataFrame, names: DisplayNames, section: Importance, target: str) -> Plot:
    methods = sorted(rows["method"].unique(), key=lambda m: names.position("method", m))
    lines = [(d, o) for d, options in section.vary.items() for o in (None, *options)]
    size = {"width": PAGE, "height": 2.3 + 0.15 * len(lines)}
    heights = {"height_ratios": [1.9, 0.15 * len(lines)]}
    fig, axes = subplots(2, len(methods), squeeze=False, sharey="row", sharex="col", gridspec_kw=heights, **size)
    options = rows[rows["kind"] == "option"]
    lowest, highest = options["estimate"].min(), options["estimate"].max()
    bottom = lowest - 0.3 * (highest - lowest) - 0.1
    cut = options["ci_low"] < bottom
    rows = rows.assign(ci_low=rows["ci_low"].clip(lower=bottom))
    for top, below, method in zip(axes[0], axes[1], methods, strict=True):
        of_method = rows[(rows["method"] == method) & (rows["kind"] == "option")].sort_values("estimate", kind="stable")
        draws = rows[(rows["method"] == method) & (rows["kind"] == "draw")]
        chosen = [options_of(s) for s in of_method["specification"]]
        made = next((i for i, options in enumerate(chosen) if options == options_made(section)), None)
        _fits(top, of_method, draws, made, names.color("method", method))
        _options(below, lines, chosen, made)
        top.set_title(names.name("method", method), fontsize=7.5)
    axes[0, 0].set_ylim(bottom=bottom)
    axes[0, 0].set_ylabel(AXES[target].replace(", ", ",\n"))
    axes[1, 0].set_yticks(np.arange(len(lines)), [d if o is None else f"  {o}" for d, o in lines], fontsize=6.5)
    for tick, (_, option) in zip(axes[1, 0].get_yticklabels(), lines, strict=True):
        tick.set_fontweight("bold" if option is None else "normal")
    axes[1, 0].set_ylim(len(lines) - 0.5, -0.5)
    grey = {"color": "#444444"}
    keys = [
        handle(f"fit, with {names.ci}", marker="o", linewidth=0.9, **grey),
        handle("the decisions made", marker="D", linewidth=0, color=INK),
        handle("the same, other random draws", marker="_", linewidth=0, color=_DRAWS),
    ]
    legend_of(fig, keys)
    caption = _caption(options, names, target)
    caption += " Lines that reach the lower edge are cut there." if cut.any() else ""
    spans = [f"{names.name('method', m)} {span(options.loc[options['method'] == m, 'estimate'])}" for m in methods]
    alt = (
        f"Cross-validated fit for {TITLES[target]} under all combinations of decisions, by method: {'; '.join(spans)}."
    )
    return Plot(fig, f"specifications_{target}", alt, caption)


def _caption(options: pd.DataFrame, names: DisplayNames, target: str) -> str:
    caption = "Cross-validated fit of each method under every combination of decisions, the lowest first;"
    caption += f" {names.ci} over {sampled(options)}, the fitted models held fixed;"
    caption += f" n = {_span(options['n'])} {UNITS[target]}s, {_span(options['k'])} labels."
    caption += (
        " Diamond: the decisions made; grey dashes: these with other random draws of annotators. Below: the options"
    )
    return f"{caption} taken. The combinations share their data, so that how many agree is no test."


def _span(values: pd.Series) -> str:
    low, high = int(values.min()), int(values.max())
    return str(low) if low == high else f"{low} to {high}"


def _fits(ax: Axes, of_method: pd.DataFrame, draws: pd.DataFrame, made: int | None, color: str) -> None:
    x = np.arange(len(of_method))
    ax.axhline(0, color="#888888", linewidth=0.7)
    ax.vlines(x, of_method["ci_low"], of_method["ci_high"], color=color, linewidth=0.9, alpha=0.5)
    ax.plot(x, of_method["estimate"], "o", color=color, markersize=2.6)
    if made is not None:
        ax.plot(np.full(len(draws), made), draws["estimate"], "_", color=_DRAWS, markersize=6, markeredgewidth=0.7)
        ax.plot(made, of_method["estimate"].iloc[made], "D", color=INK, markersize=4)
    tips(ax, [f"{s}: {number(v)}" for s, v in zip(of_method["specification"], of_method["estimate"], strict=True)],
         x, of_method["estimate"])  # fmt: skip
    ax.yaxis.set_major_locator(MaxNLocator(5))
    ax.grid(axis="y")


def _options(ax: Axes, lines: list, chosen: list[dict[str, str]], made: int | None) -> None:
    for y, (decision, option) in enumerate(lines):
        if option is None:
            continue
        taken = [x for x, options in enumerate(chosen) if options[decision] == option]
        ax.plot(taken, np.full(len(taken), y), "|", color="#555555", markersize=5, markeredgewidth=1.3)
        if made in taken:
            ax.plot(made, y, "D", color=INK, markersize=3.2)
    ax.set_xticks([])
    ax.tick_params(axis="y", length=0)
    for side in ("left", "bottom"):
        ax.spines[side].set_visible(False)
