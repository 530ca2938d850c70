"""What notebook 80 shows of its results, and says in the words of `text.md.j2`."""

from __future__ import annotations

from textwrap import fill
from typing import Any

import pandas as pd
from matplotlib.ticker import PercentFormatter

from judgebook.display import captions
from judgebook.display.names import NEUTRAL, DisplayNames
from judgebook.display.style import PAGE, subplots, tips
from judgebook.display.tables import intervals
from judgebook.display.text import Phrases, percent, span, told
from judgebook.display.views import Plot, Prose, Table
from judgebook.model.designs import POWER
from judgebook.questions.operating_characteristics.analysis import ALPHA
from judgebook.questions.operating_characteristics.question import Operating
from judgebook.study.results import Results

_PHRASES = Phrases(__package__)
#: what is simulated of a fit -> its title
RATES = {
    "null_rejection": "Some pair of equal systems decided",
    "interval_coverage": "All intervals of differences hold",
    "interval_power": "Pairs decided that differ by what is found",
}


def of_fits(results: Results, names: DisplayNames, confidence: float) -> pd.DataFrame:
    """The rates of every fit, a row for each method and rate, with `nominal`, `title` and whether it is `kept`: its
    Monte Carlo interval includes the nominal rate or lies on the better side of it."""
    nominal = {"null_rejection": ALPHA, "interval_coverage": confidence, "interval_power": POWER}
    parts = [results[name].assign(statistic=name) for name in RATES]
    parts[1:] = [part[part["of"] == "contrast"] if len(part) else part for part in parts[1:]]
    rows = pd.concat([part[part["n"] > 0] for part in parts if len(part)] or parts[:1], ignore_index=True)
    if rows.empty:
        return rows
    rows["nominal"], rows["title"] = rows["statistic"].map(nominal), rows["statistic"].map(RATES)
    rows["kept"] = (rows["ci_high"] >= rows["nominal"]).where(
        rows["statistic"] != "null_rejection", rows["ci_low"] <= rows["nominal"]
    )
    return names.sort(rows)


def findings(results: Results, names: DisplayNames, sizes: Operating, *, confidence: float, simulated: bool) -> Prose:
    """Whether the fits keep their rates, how often intervals of alpha hold, and what was simulated."""
    rows = of_fits(results, names, confidence)
    made = [
        {"method": names.name("method", r.method), "title": r.title.lower(), "rate": _rate(r), "nominal": r.nominal}
        for r in rows.itertuples() if not r.kept
    ]  # fmt: skip
    wrong = list(rows.loc[rows["statistic"] == "null_rejection", "estimate"]) if len(rows) else []
    facts = {"broken": made, "n": len(rows), "wrong": wrong, "nominal": ALPHA, "simulated": simulated}
    group = rows["group"].iloc[0] if len(rows) else "all"
    of_group = None if group == "all" else names.name("group", group)
    return Prose(
        _PHRASES.say("headline", **facts, alpha=_of_alpha(results), level=confidence, sizes=sizes, group=of_group)
    )


def _rate(row: Any) -> str:
    """`5.1% [4.2%, 6.0%]`."""
    return f"{percent(row.estimate, 1)} [{percent(row.ci_low, 1)}, {percent(row.ci_high, 1)}]"


def _of_alpha(results: Results) -> dict[str, Any] | None:
    """Coverage over turns and over dialogues, labels pooled."""
    rows = results["interval_coverage"]
    rows = rows[(rows["of"] == "alpha") & (rows["n"] > 0)] if len(rows) else rows
    if rows.empty:
        return None
    hits = (rows["estimate"] * rows["n"]).groupby(rows["over"]).sum() / rows.groupby("over")["n"].sum()
    size, samples = int(rows["sample_size"].max()), int((rows["n"] + rows["n_undefined"]).max())
    return {"turn": hits.get("turn"), "dialogue": hits.get("dialogue"), "n": size, "samples": samples}


def fits(results: Results, names: DisplayNames, confidence: float) -> Plot | None:
    """The rates of the fit of each method beside what they should be."""
    rows = of_fits(results, names, confidence)
    if rows.empty:
        return None
    methods = list(dict.fromkeys(rows["method"]))
    fig, axes = subplots(1, len(RATES), width=PAGE, height=0.3 * len(methods) + 1.25, sharey=True, squeeze=False)
    for ax, (name, title) in zip(axes[0], RATES.items(), strict=True):
        part = rows[rows["statistic"] == name]
        y = [methods.index(m) for m in part["method"]]
        ax.hlines(y, part["ci_low"], part["ci_high"], color=NEUTRAL[0], linewidth=1.6)
        ax.plot(part["estimate"], y, "o", color=NEUTRAL[0], markersize=4.5)
        tooltips = [told(names.name("method", r["method"]), r, percents=True) for r in part.to_dict("records")]
        tips(ax, tooltips, part["estimate"], y)
        if len(part):
            ax.axvline(part["nominal"].iloc[0], color="#666666", linewidth=0.9, linestyle=(0, (4, 2)), zorder=0)
        ax.set_title(fill(title, 26), fontsize=7.5)
        ax.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        ax.grid(axis="x")
    titles = [names.name("method", m) for m in methods]
    axes[0, 0].set(yticks=range(len(methods)), yticklabels=titles, ylim=(len(methods) - 0.5, -0.5))
    caption = "Points: shares of simulated studies in the design of this one, one label of each method, with 95% Monte"
    caption += f" Carlo intervals ({captions.sample(rows['n'], 'studies')}). Right: share of pairs. Dashed: what they"
    caption += " should be."
    alt = "; ".join(f"{title.lower()}: {span(part['estimate'])}" for title, part in rows.groupby("title", sort=False))
    subtitle = "Shares of simulated studies"
    title = _PHRASES.say("fits_title", n=len(rows), kept=int(rows["kept"].sum()))
    return Plot(fig, "fits", f"{alt}.", caption, title, subtitle)


def alpha(results: Results, names: DisplayNames) -> Table | None:
    """Coverage and width of intervals of alpha, label by label."""
    rows = results["interval_coverage"]
    rows = names.sort(rows[rows["of"] == "alpha"]) if len(rows) else rows
    if rows.empty:
        return None
    keys = ["method", "label", "over"]
    width = results["interval_width"].set_index(keys)["estimate"].reindex(pd.MultiIndex.from_frame(rows[keys]))
    over = rows["over"].map({"turn": "turns, as published", "dialogue": "dialogues"})
    out = rows[["method", "label"]].assign(Over=over, Dialogues=rows["sample_size"].astype("Int64"))
    out = out.assign(Coverage=intervals(rows, 3), **{"Mean width": width.to_numpy(), "Missing": rows["n_undefined"]})
    caption = "Share of samples of dialogues whose interval of alpha holds the true one. Missing: samples without one."
    return Table(names.named(out), "alpha", caption, {"Mean width": 3}, {"Mean width": "No interval."})
