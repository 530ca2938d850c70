"""What notebook 03 shows and says: figures, tables, and sentences, which `text.md.j2` puts into words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from judgebook.display import plots, tables
from judgebook.display.names import DisplayNames
from judgebook.display.plots import HOLLOW
from judgebook.display.text import Phrases, counted, listing, percent, plural, span
from judgebook.display.views import Plot, Prose, Table
from judgebook.questions.agreement.coefficients import COEFFICIENTS
from judgebook.questions.agreement.items import BOUNDS, FIXED, SAMPLE, UNKNOWN, judged, primary
from judgebook.study.results import Results
from judgebook.study.schema import CELL

#: values of alpha that Krippendorff asks for: in general, and where tentative conclusions will do (2004, Reliability in
#: content analysis, Human Communication Research 30, 411-433, p. 429)
RELIABLE, TENTATIVE = 0.8, 0.667
#: what alpha is made of, and other coefficients: heading -> statistic, values of its keys
EVIDENCE: dict[str, tuple[str, Mapping[str, object]]] = {
    "Observed": ("observed_disagreement", {}),
    "Expected": ("expected_disagreement", {}),
    "Raw agreement": ("raw_agreement", {}),
    "Prevalence": ("prevalence", {}),
    "Positive": ("positive_agreement", {}),
    "Negative": ("negative_agreement", {}),
    **{heading: (one.statistic, column.keys) for one in COEFFICIENTS for heading, column in one.columns.items()},
}
NO_EVIDENCE = {
    **dict.fromkeys(("Prevalence", "Positive", "Negative"), "Not a binary label."),
    **{heading: column.missing for one in COEFFICIENTS for heading, column in one.columns.items()},
}
#: of whom an interval speaks
HOLDS_FOR = {SAMPLE: "other annotators", FIXED: "these annotators", UNKNOWN: "these annotators"}
#: rows of a forest that fit on a page
FOREST_ROWS = 62
_PHRASES = Phrases(__package__)


def forests(
    results: Results, names: DisplayNames, threshold: float = TENTATIVE, marks: Sequence[float] = ()
) -> Iterator[Plot]:
    """Forest plots of alpha, one per corpus: the main group, and where groups can be compared all groups.

    threshold : `iaa.threshold`, drawn as a line, with Krippendorff's second one if it is his first. marks : other
    values at which a line is drawn.
    """
    marks = sorted({threshold, *marks, *([RELIABLE] if threshold == TENTATIVE else [])})
    rows = primary(results)
    for i, corpus in enumerate(dict.fromkeys(rows["corpus"])):
        for name, whole in _figures(rows[rows["corpus"] == corpus]).items():
            for j, part in enumerate(_pages(names.sort(whole), FOREST_ROWS)):
                plot = _forest(part, names, marks, f"{name}_{i}" if i else name)
                plot = replace(plot, title=_alpha_title(part, threshold))
                yield replace(plot, name=f"{plot.name}_page{j + 1}") if j else plot


def _forest(part: pd.DataFrame, names: DisplayNames, marks: Sequence[float], name: str) -> Plot:
    interval = f"{names.ci} over {over(part)}"
    fig = plots.forest_figure(part, names, xlabel="Krippendorff's alpha", reference=(0.0, *marks))
    for ax in fig.axes:
        for k, mark in enumerate(marks):
            close = k + 1 < len(marks) and marks[k + 1] - mark < 0.2  # two numbers would touch
            side = "right" if close else "left"
            over_axes = ax.get_xaxis_transform()
            place = {"transform": over_axes, "ha": side, "va": "bottom"}
            ax.text(mark, 1.0, f"{mark:g}", fontsize=7, color="0.4", **place)
    groups = listing(names.name("group", g) for g in dict.fromkeys(part["group"]))
    alt = f"Forest plot: alpha of {plural(len(part), 'label')} with intervals, by method, from"
    alt += f" {span(part['estimate'].dropna())}. Judged by {groups}."
    lines = listing(f"{mark:g}" for mark in marks)
    alt += f" Lines mark {lines}."
    caption = f"Krippendorff's alpha of each label, judged by {groups}. Points: estimates; lines: {interval}"
    caption += f"; {counted(part['n'], 'items')}. Vertical lines: 0, agreement by chance"
    caption += f", and {lines}."
    if set(marks) == {TENTATIVE, RELIABLE}:
        caption += " Krippendorff (2004) asks for 0.8, and for 0.667 where tentative conclusions will do."
    caption += " Hollow: exact bound (dashed), or no CI available." if part["ci_kind"].isin(HOLLOW).any() else ""
    return Plot(fig, name, alt, caption, subtitle="Krippendorff's alpha; 1: full agreement, 0: agreement by chance")


def _alpha_title(rows: pd.DataFrame, threshold: float) -> str:
    """On how many labels agreement is shown to be enough; empty where none has an interval of its own."""
    free = rows[~rows["ci_kind"].isin(BOUNDS) & rows["ci_low"].notna()]
    if free.empty:
        return ""
    sides = {"above": int((free["ci_low"] > threshold).sum()), "below": int((free["ci_high"] < threshold).sum())}
    n_labels = len(rows[["method", "label"]].drop_duplicates())
    return _PHRASES.say("alpha_title", n=len(rows), n_labels=n_labels, threshold=f"{threshold:g}", **sides)


def _pages(rows: pd.DataFrame, most: int) -> Iterator[pd.DataFrame]:
    """Sorted rows in parts of at most `most`, no label of a method in two."""
    size = rows.groupby(["method", "label"], sort=False).size()
    page = ((size.cumsum() - 1) // most).rename("page")
    at = rows[["method", "label"]].merge(page.reset_index(), on=["method", "label"], how="left")["page"].to_numpy()
    for number in dict.fromkeys(at):
        yield rows[at == number]


def main_group(rows: pd.DataFrame) -> str:
    """The group with most labels judged twice, of these the one with most items."""
    size = rows.groupby("group").agg(labels=("label", "size"), items=("n", "sum"))
    return size.sort_values(["labels", "items"], kind="stable").index[-1]


def _figures(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Rows of each figure of one corpus: `alpha`, and `alpha_groups` where only some methods allow a comparison."""
    groups = rows.groupby("method", sort=False)["group"].nunique()
    shared = rows["method"].isin(groups.index[groups > 1])
    if shared.all() or len(set(rows["group"])) == 1:
        return {"alpha": rows}
    return {"alpha": rows[rows["group"] == main_group(rows)]} | ({"alpha_groups": rows[shared]} if shared.any() else {})


def alphas(results: Results, names: DisplayNames, confidence: float) -> Table | None:
    """Sample sizes, alpha with its primary interval and of whom it speaks: one row per label judged twice."""
    rows = names.sort(primary(results))
    if rows.empty:
        return None
    out = rows[[*CELL, "n", "n_clusters", "n_annotators"]].set_index(CELL).astype("Int64")
    out["Alpha"] = tables.intervals(rows.set_index(CELL))
    out["Holds for"] = rows["population"].map(HOLDS_FOR).to_numpy()
    units = " or ".join(f"{unit}s" for unit in dict.fromkeys(rows["unit"]))
    sizes = {"n": "Items", "n_clusters": units.capitalize(), "n_annotators": "Annotators"}
    levels = ", ".join(sorted(set(rows["measurement"])))
    caption = f"Krippendorff's alpha ({levels}) with {percent(confidence)} CI over {over(rows)}."
    return Table(names.named(out.rename(columns=sizes).reset_index()), "alpha", caption)


def over(rows: pd.DataFrame) -> str:
    """What the primary intervals of `rows` resample."""
    units = dict.fromkeys(
        f"{r['unit']}s" + (" and annotators" if r["population"] == SAMPLE else "") for _, r in rows.iterrows()
    )
    return " or ".join(units)


def never_twice(results: Results, names: DisplayNames) -> Prose | None:
    """Groups and methods of which no item was judged twice."""
    most = judged(results).groupby(["group", "method"], sort=False)["n"].max()
    none = [f"{names.name('method', m)}, {names.name('group', g)}" for g, m in most.index[most == 0]]
    if not none:
        return None
    return Prose(f"Agreement is undefined for {listing(none)}, because no item was judged twice within the group.")


def evidence(results: Results, names: DisplayNames) -> Table | None:
    """What alpha is made of, and other coefficients: one row per label judged twice."""
    if primary(results).empty:
        return None
    twice = Results({s: frame[frame["n"] > 0] for s, frame in results.items()})
    wide = names.named(names.sort(tables.side_by_side(twice, CELL, EVIDENCE)))
    decimals = {"Observed": 3, "Expected": 3}
    kinds = dict.fromkeys(results["ac"]["weights"])
    ac = listing("AC1" if kind == "identity" else f"AC2 with {kind} weights" for kind in kinds)
    caption = "Components of alpha, and other coefficients of agreement."
    caption += f" Gwet's AC: {ac}." if ac else ""
    return Table(wide, "evidence", caption, decimals, NO_EVIDENCE)


#: heading -> weights of kappa: none, or by the squared distance in rank
KAPPAS = {"Kappa": "none", "Weighted kappa": "quadratic"}


def pairs_of_people(results: Results, names: DisplayNames) -> Table | None:
    """Cohen's kappa of every two people, where few are known."""
    rows = results["pair_kappa"]
    if rows.empty:
        return None
    spec: dict[str, tuple[str, Mapping[str, object]]] = {h: ("pair_kappa", {"weights": w}) for h, w in KAPPAS.items()}
    wide = tables.side_by_side(results, [*CELL, "pair", "n"], spec)
    out = names.named(names.sort(wide).rename(columns={"pair": "People", "n": "Items"}))
    caption = "Cohen's kappa of each pair of people over the items that both judged."
    why = {"Weighted kappa": "The label has two values, or values without an order."}
    return Table(out, "pairs_of_people", caption, why={h: reason for h, reason in why.items() if h in out})


#: a mark this rare, or this common, makes alpha collapse: expected agreement comes near 1
RARE = 0.1
#: raw agreement from which a low alpha needs explaining
HIGH = 0.8


def findings(
    results: Results,
    names: DisplayNames,
    *,
    min_items: int,
    confidence: float,
    threshold: float = TENTATIVE,
    misleading: Sequence[str] = (),
) -> Iterator[Prose]:
    """The headline and what qualifies it. threshold : `iaa.threshold`. misleading : methods whose unit of resampling
    misleads (`analysis`)."""
    rows = names.sort(primary(results))
    free = rows[~rows["ci_kind"].isin(BOUNDS)]
    above = [names.full(r) for _, r in free[free["ci_low"] > threshold].iterrows()]
    facts = {"n": len(rows), "threshold": f"{threshold:g}", "above": above, "level": confidence}
    shown = {
        "n_labels": len(rows[["method", "label"]].drop_duplicates()),
        "below": len(free[free["ci_high"] < threshold]),
        "one": rows.iloc[0].to_dict() if len(rows) == 1 else None,
        "values": list(rows["estimate"].dropna()),
        "median": rows["estimate"].median(),
        "undefined": list(dict.fromkeys(rows.loc[rows["estimate"].isna(), "note"].dropna())),
        "sample": int((rows["population"] == SAMPLE).sum()),
    }
    yield Prose(_PHRASES.say("headline", **facts, **shown))
    yield Prose(_PHRASES.say("few_items", few=_few_items(rows, names, min_items), min_items=min_items))
    qualified = {
        "reliable": [names.full(r) for _, r in free[free["ci_low"] > max(RELIABLE, threshold)].iterrows()],
        "bounded": bool((rows["ci_low"] > threshold).any()) and not above,
        "chance": [names.full(r) for _, r in free[free["ci_low"] <= 0].iterrows()],
    }
    yield Prose(_PHRASES.say("qualified", **facts, **qualified))
    yield Prose(_PHRASES.say("holds_for", **_holds_for(rows, names)))
    yield misled(misleading, names)
    yield Prose(_PHRASES.say("collapse", rows=_collapsed(results, rows, names)))
    rare = rows[rows["ci_kind"].isin([*BOUNDS, "profile"])]
    named = [(names.full(r), r["ci_kind"] != "not_estimable", r["note"]) for _, r in rare.iterrows()]
    yield Prose(_PHRASES.say("rare", rows=named))


def _holds_for(rows: pd.DataFrame, names: DisplayNames) -> dict[str, Any]:
    """Of whom the primary intervals speak, and with how many annotators nothing can be said of others."""
    fixed, sample = rows[rows["population"] == FIXED], rows[rows["population"] == SAMPLE]
    unknown = rows[~rows["population"].isin([FIXED, SAMPLE])]
    why: dict[str, dict[str, None]] = {}
    for _, r in fixed.iterrows():
        why.setdefault(r["others"], {})[_who(names, r["method"], r["group"])] = None
    facts = {"sample": len(sample), "over": over(sample), "unknown": len(unknown), "n": len(rows)}
    return facts | {"fixed": [(reason, list(who)) for reason, who in why.items()]}


def _collapsed(results: Results, rows: pd.DataFrame, names: DisplayNames) -> list[dict[str, Any]]:
    """Labels on which nearly all get the same value, so that alpha is low though most annotations agree."""
    coefficients = results["ac"].set_index(CELL)["estimate"]
    raw = results["raw_agreement"].set_index(CELL)["estimate"]
    share = results["prevalence"].set_index(CELL)["estimate"]
    out = []
    for _, r in rows.iterrows():
        key = tuple(r[CELL])
        marks = min(share.get(key, 0.5), 1 - share.get(key, 0.5))
        if (
            min(marks, 1 - marks) < RARE
            and raw.get(key, 0) >= HIGH
            and r["estimate"] < TENTATIVE
            and key in coefficients.index
        ):
            facts = {"who": names.full(r), "alpha": r["estimate"], "ac": coefficients[key], "raw": raw[key]}
            out.append(facts | {"marks": min(marks, 1 - marks)})
    return sorted(out, key=lambda f: f["alpha"] - f["ac"])


def misled(misleading: Sequence[str], names: DisplayNames) -> Prose:
    """A warning where the study wants turns resampled (`bootstrap.unit`)."""
    return Prose(_PHRASES.say("misled", methods=[names.name("method", m) for m in misleading]))


def annotations_used(first: int | None) -> Prose:
    """Which annotations of an item enter."""
    return Prose(_PHRASES.say("annotations_used", first=first))


def _few_items(rows: pd.DataFrame, names: DisplayNames, min_items: int) -> list[tuple[str, int, int]]:
    """Method and group, fewest and most items, of those with fewer than `min_items`."""
    few = rows[rows["n"] < min_items].groupby(["method", "group"], sort=False)["n"].agg(["min", "max"])
    return [(_who(names, m, g), int(r["min"]), int(r["max"])) for (m, g), r in few.iterrows()]


def _who(names: DisplayNames, method: str, group: str) -> str:
    return names.name("method", method) + ("" if group == "all" else f", {names.name('group', group)}")
