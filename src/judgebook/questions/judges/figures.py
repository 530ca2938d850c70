"""Figures of notebook 13."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from judgebook.display import captions
from judgebook.display.grid_plots import filled, grid_figure, interval_keys, intervals
from judgebook.display.many import DRAWN, pages
from judgebook.display.names import GOOD, MARKERS, NEUTRAL, DisplayNames
from judgebook.display.text import Phrases, number, percent, span
from judgebook.display.views import Plot
from judgebook.questions.judges.items import LABEL
from judgebook.questions.judges.replacement import SECOND
from judgebook.study.results import Results

PEOPLE = "People with each other"
#: all systems together
ALL = "All systems"
#: share of dialogues judged by people for which the gain is shown
GAIN = "0.25"
#: a label is worth more than one if the CI of its worth lies above this: a squared correlation is never below 0
LEAST_GAIN = 1.01
_PHRASES = Phrases(__package__)


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
    title, unit = _alpha_title(results, names), "Krippendorff's alpha; 1: full agreement, 0: agreement by chance"
    for suffix, page in pages(_blocks(rows, names)):
        fig = grid_figure(
            page,
            intervals,
            styles=styles | {PEOPLE: (GOOD, "o")},
            xlabel="Krippendorff's alpha",
            reference=0,
            named="agreement by chance",
            keys=keys,
        )
        yield Plot(fig, f"alpha{suffix}", alt, caption, title, unit)


def _alpha_title(results: Results, names: DisplayNames) -> str:
    """How often a judge agrees with a person less, or more, than people do with each other."""
    gaps = results.select("judge_alpha", pair="difference").dropna(subset="ci_low")
    counts = {"n": len(gaps), "less": int((gaps["ci_high"] < 0).sum()), "more": int((gaps["ci_low"] > 0).sum())}
    return _PHRASES.say("alpha_title", judges=_titles(gaps, names), **counts)


def _titles(rows: pd.DataFrame, names: DisplayNames) -> list[str]:
    """Display names of the judges of rows."""
    return [names.name("metric", judge) for judge in dict.fromkeys(rows["metric"])]


def gold(results: Results, names: DisplayNames) -> Iterator[Plot]:
    """Agreement of each judge with the one human label of an item: of one label overall and by system, of several
    overall."""
    rows = results["gold_agreement"].dropna(subset="estimate")
    if rows.empty:
        return
    several = len(rows.drop_duplicates(LABEL)) > 1
    rows = rows[rows["system"].isna()] if several else rows
    binary = (rows["measure"] != "accuracy").any()
    judges = pd.Series([names.name("metric", m) for m in rows["metric"]], rows.index)
    measures = rows["measure"].str.capitalize() if binary else ""
    rows = rows.assign(hue=measures, panel=judges, second=rows["system"].notna())
    over = " and ".join(f"{unit}s" for unit in dict.fromkeys(rows["resample_unit"]))
    caption = "Marks: share of items to which a judge (panels) gives the human label"
    caption += ": of all, and of those with the label 1 (sensitivity) and 0 (specificity)" if binary else ""
    caption += f". {captions.intervals(names.ci, over, rows['n_clusters'])}"
    alt = f"Agreement of {', '.join(judges.unique())} with the human label, {span(rows['estimate'])}, with intervals."
    whole = rows[(rows["measure"] == "accuracy") & rows["system"].isna()]
    by_judge = {names.name("metric", m): list(v) for m, v in whole.groupby("metric", sort=False)["estimate"]}
    title = _PHRASES.say("gold_title", judges=by_judge)
    shown = _blocks(rows, names)
    if not several:
        shown["block"] = [names.name("system", s) if pd.notna(s) else ALL for s in shown["system"]]
    keys = interval_keys(f"{names.ci} over {over}", None, rows)
    for suffix, page in pages(filled(shown)):
        fig = grid_figure(page, intervals, xlabel="Share of items", percent=True, sharex=True, keys=keys)
        yield Plot(fig, f"gold{suffix}", alt, caption, title, "Share of items with the human label")


def gains(results: Results, names: DisplayNames) -> Iterator[Plot]:
    """What a human label is worth when combined with each judge's labels, by label."""
    rows = results.select("assisted_gain", share=GAIN).dropna(subset="estimate")
    if rows.empty:
        return
    judges = pd.Series([names.name("metric", m) for m in rows["metric"]], rows.index)
    rows = rows.assign(hue=judges, panel="", second=False)
    over = " and ".join(f"{unit}s" for unit in dict.fromkeys(rows["resample_unit"].dropna()))
    keys = interval_keys(f"{names.ci} over {over}", None, rows)
    caption = (
        f"Marks: how many human labels one is worth for means of systems, where people judge {percent(float(GAIN))}"
    )
    caption += f" of the dialogues and a judge all of them. {captions.intervals(names.ci, over, rows['n_clusters'])}"
    alt = f"Effective number of human labels per human label, from {span(rows['estimate'])}, with intervals, by label"
    alt += f" and judge: {', '.join(judges.unique())}."
    facts = {"worth": list(rows["estimate"]), "more": int((rows["ci_low"] > LEAST_GAIN).sum())}
    title = _PHRASES.say("gains_title", n=len(rows), judges=_titles(rows, names), **facts)
    unit = f"Human labels that one is worth, where people judge {percent(float(GAIN))} of the dialogues"
    for suffix, page in pages(_blocks(rows, names)):
        fig = grid_figure(
            page,
            intervals,
            xlabel="Effective number of human labels per label",
            reference=1,
            named="a human label alone",
            keys=keys,
        )
        yield Plot(fig, f"gains{suffix}", alt, caption, title, unit)


def changes(results: Results, names: DisplayNames) -> Iterator[Plot]:
    """Change of each system's rate by label, when another person judges and when each judge does."""
    rows = results["rate_change"]
    rows = rows[(rows["by"] == "model") | ~rows.duplicated([*LABEL, "by", "system"])]
    if rows.empty:
        return
    title = _PHRASES.say("changes_title", judges=_changed(results["rate_change"], names))
    people = rows["by"] == SECOND
    judges = pd.Series([names.name("metric", m) for m in rows["metric"]], rows.index)
    rows = rows.assign(panel=judges.mask(people, SECOND.capitalize()), second=~people)
    binary, n_systems = all_binary(rows, names), rows["system"].nunique()
    most = rows["estimate"].abs().groupby(rows["system"]).mean().nlargest(DRAWN).index
    note = captions.chosen(len(most), n_systems, f"systems whose {'rates' if binary else 'means'} change most")
    size = rows["estimate"].abs().groupby(rows["panel"], sort=False).mean()
    sizes = [f"{who} {percent(v, 1) if binary else number(v)}" for who, v in size.items()]
    over = " and ".join(f"{unit}s" for unit in dict.fromkeys(rows["resample_unit"].dropna())) or "dialogues"
    keys = interval_keys(f"{names.ci} over {over}", None, rows)
    what = "rate (share of marked items)" if binary else "mean score"
    who = "another person, or a judge (panels)," if people.any() else "a judge (panels)"
    caption = f"Marks: change in each system's {what} by label where {who} takes the place of the annotators."
    caption += f" {captions.intervals(names.ci, over, rows['n_clusters'])}"
    shown = rows[rows["system"].isin(most)] if n_systems > DRAWN else rows
    shown = _blocks(shown.assign(hue=[names.name("system", s) for s in shown["system"]]), names)
    if len(most) > len(MARKERS) or len(set(shown["hue"])) == 1:  # systems have rows of their own
        several = len(set(shown["block"])) > 1
        shown["block"] = (shown["block"] + ": " + shown["hue"]) if several else shown["hue"]
        shown = shown.assign(hue="") if n_systems > 1 else shown.assign(block=_blocks(rows, names)["block"], hue="")
    for suffix, page in pages(filled(shown), columns=3):
        alt = f"Change in each system's rate by label; mean absolute change: {', '.join(sizes)}."
        fig = grid_figure(
            page,
            intervals,
            names=names,
            xlabel="Change in rate (percentage points)" if binary else "Change in mean score",
            columns=3,
            reference=0,
            named="no change",
            percent=binary,
            sharex=True,
            keys=keys,
        )
        yield Plot(fig, f"changes{suffix}", alt, captions.joined(caption, note), title, f"Change in {what}, by system")


def _changed(rows: pd.DataFrame, names: DisplayNames) -> dict[str, dict[str, int | None]]:
    """By judge: of so many results, how many change significantly with it, and with another person if there is one."""
    beyond, person = (rows["ci_low"] > 0) | (rows["ci_high"] < 0), rows["by"] == SECOND
    out = {}
    for judge in dict.fromkeys(rows.loc[~person, "metric"]):
        mine = rows["metric"] == judge
        counts = {"n": int((mine & ~person).sum()), "judge": int((mine & ~person & beyond).sum())}
        by_person = int((mine & person & beyond).sum()) if (mine & person).any() else None
        out[names.name("metric", judge)] = {**counts, "person": by_person}
    return out


def all_binary(rows: pd.DataFrame, names: DisplayNames) -> bool:
    """Whether all labels have two values, so that means are rates."""
    return all(names.labels[key].binary for key in zip(rows["method"], rows["label"], strict=True))


def _blocks(rows: pd.DataFrame, names: DisplayNames) -> pd.DataFrame:
    """Rows in the order of figures, people first, with the label as `block` (and corpus and method, where several)."""
    rows = names.sort(rows).sort_values("second", kind="stable")
    title = names.named(rows[LABEL])
    title = title[[c for c in title.columns[::-1] if c == "Label" or len(set(title[c])) > 1]]
    return rows.assign(block=title.agg(", ".join, axis=1))
