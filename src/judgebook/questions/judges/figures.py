"""Figures of notebook 13."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from judgebook.display import captions
from judgebook.display.grid_plots import filled, grid_figure, interval_keys, intervals
from judgebook.display.many import DRAWN, pages
from judgebook.display.names import GOOD, MARKERS, NEUTRAL, DisplayNames
from judgebook.display.text import number, percent, span
from judgebook.display.views import Plot
from judgebook.questions.judges.items import LABEL
from judgebook.questions.judges.replacement import SECOND
from judgebook.study.results import Results

PEOPLE = "People with each other"
#: share of dialogues judged by people for which the gain is shown
GAIN = "0.25"


def alphas(results: Results, names: DisplayNames) -> Iterator[Plot]:
    """Alpha among people and of each judge with a person, by label."""
    rows = results.select("judge_alpha", pair=["people", "mean"])
    rows = rows[(rows["pair"] == "mean") | ~rows.duplicated([*LABEL, "pair"])]
    if rows.empty:
        return
    people = rows["pair"] == "people"
    judges = pd.Series([names.name("metric", m) + " with a person" for m in rows["metric"]], rows.index)
    rows = rows.assign(hue=judges.mask(people, PEOPLE), panel="", second=~people)
    others = [hue for hue in dict.fromkeys(rows["hue"]) if hue != PEOPLE]
    styles = {hue: (NEUTRAL[i % 3], MARKERS[(i + 1) % len(MARKERS)]) for i, hue in enumerate(others)}
    over = " and ".join(f"{unit}s" for unit in dict.fromkeys(rows["resample_unit"].dropna()))
    keys = interval_keys(f"{names.ci} over {over or 'dialogues'}", None, rows)
    caption = (
        "Marks: Krippendorff's alpha by label, of people with each other and, as a mean over people, of each judge with"
    )
    caption += f" one of them. {captions.intervals(names.ci, over, rows['n_clusters'])}"
    alt = f"Krippendorff's alpha by label, with intervals, from {span(rows['estimate'].dropna())}:"
    alt += f" people with each other; {', '.join(judges.unique())}."
    options = {"styles": styles | {PEOPLE: (GOOD, "o")}, "xlabel": "Krippendorff's alpha", "reference": 0, "keys": keys}
    options["named"] = "agreement by chance"
    for suffix, page in pages(_blocks(rows, names)):
        yield Plot(grid_figure(page, intervals, **options), f"alpha{suffix}", alt, caption)


def gains(results: Results, names: DisplayNames) -> Iterator[Plot]:
    """What a human label is worth when combined with each judge's labels, by label."""
    rows = results.select("assisted_gain", share=GAIN).dropna(subset="estimate")
    if rows.empty:
        return
    judges = pd.Series([names.name("metric", m) for m in rows["metric"]], rows.index)
    rows = rows.assign(hue=judges, panel="", second=False)
    over = " and ".join(f"{unit}s" for unit in dict.fromkeys(rows["resample_unit"].dropna()))
    options = {"reference": 1, "named": "a human label alone", "xlabel": "Effective number of human labels per label"}
    options["keys"] = interval_keys(f"{names.ci} over {over}", None, rows)
    caption = (
        f"Marks: how many human labels one is worth for means of systems, where people judge {percent(float(GAIN))}"
    )
    caption += f" of the dialogues and a judge all of them. {captions.intervals(names.ci, over, rows['n_clusters'])}"
    alt = f"Effective number of human labels per human label, from {span(rows['estimate'])}, with intervals, by label"
    alt += f" and judge: {', '.join(judges.unique())}."
    for suffix, page in pages(_blocks(rows, names)):
        yield Plot(grid_figure(page, intervals, **options), f"gains{suffix}", alt, caption)


def changes(results: Results, names: DisplayNames) -> Iterator[Plot]:
    """Change of each system's rate by label, when another person judges and when each judge does."""
    rows = results["rate_change"]
    rows = rows[(rows["by"] == "model") | ~rows.duplicated([*LABEL, "by", "system"])]
    if rows.empty:
        return
    people = rows["by"] == SECOND
    judges = pd.Series([names.name("metric", m) for m in rows["metric"]], rows.index)
    rows = rows.assign(panel=judges.mask(people, SECOND.capitalize()), second=~people)
    binary, n_systems = all_binary(rows, names), rows["system"].nunique()
    most = rows["estimate"].abs().groupby(rows["system"]).mean().nlargest(DRAWN).index
    note = captions.chosen(len(most), n_systems, f"systems whose {'rates' if binary else 'means'} change most")
    size = rows["estimate"].abs().groupby(rows["panel"], sort=False).mean()
    sizes = [f"{who} {percent(v, 1) if binary else number(v)}" for who, v in size.items()]
    over = " and ".join(f"{unit}s" for unit in dict.fromkeys(rows["resample_unit"].dropna())) or "dialogues"
    options = {"names": names, "columns": 3, "reference": 0, "named": "no change", "percent": binary, "sharex": True}
    options["keys"] = interval_keys(f"{names.ci} over {over}", None, rows)
    options["xlabel"] = "Change in rate (percentage points)" if binary else "Change in mean score"
    what = "rate (share of marked items)" if binary else "mean score"
    caption = (
        f"Marks: change in each system's {what} by label where another person, or a judge (panels), takes the place of"
    )
    caption += f" the annotators. {captions.intervals(names.ci, over, rows['n_clusters'])}"
    shown = rows[rows["system"].isin(most)] if n_systems > DRAWN else rows
    shown = _blocks(shown.assign(hue=[names.name("system", s) for s in shown["system"]]), names)
    if len(most) > len(MARKERS) or len(set(shown["hue"])) == 1:  # systems have rows of their own
        several = len(set(shown["block"])) > 1
        shown["block"] = (shown["block"] + ": " + shown["hue"]) if several else shown["hue"]
        shown = shown.assign(hue="") if n_systems > 1 else shown.assign(block=_blocks(rows, names)["block"], hue="")
    for suffix, page in pages(filled(shown), columns=3):
        alt = f"Change in each system's rate by label; mean absolute change: {', '.join(sizes)}."
        yield Plot(grid_figure(page, intervals, **options), f"changes{suffix}", alt, captions.joined(caption, note))


def all_binary(rows: pd.DataFrame, names: DisplayNames) -> bool:
    """Whether all labels have two values, so that means are rates."""
    return all(names.labels[key].binary for key in zip(rows["method"], rows["label"], strict=True))


def _blocks(rows: pd.DataFrame, names: DisplayNames) -> pd.DataFrame:
    """Rows in the order of figures, people first, with the label as `block` (and corpus and method, where several)."""
    rows = names.sort(rows).sort_values("second", kind="stable")
    title = names.named(rows[LABEL])
    title = title[[c for c in title.columns[::-1] if c == "Label" or len(set(title[c])) > 1]]
    return rows.assign(block=title.agg(", ".join, axis=1))
