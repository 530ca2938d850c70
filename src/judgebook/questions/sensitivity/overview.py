"""What notebook 05 finds in each corpus and group, in numbers that its prose and its overview tables share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from judgebook.display.cells import Cell
from judgebook.display.names import DisplayNames
from judgebook.display.text import number, percent, span
from judgebook.display.views import Table
from judgebook.questions.sensitivity.analysis import (
    PRIMARY,
    PUBLISHED,
    counts,
    detectable,
    of_group,
    of_one_pick,
    primary,
    primary_name,
    with_people,
)
from judgebook.questions.sensitivity.judged_groups import JudgedGroup
from judgebook.questions.sensitivity.power import SAMPLE
from judgebook.questions.sensitivity.shown import who
from judgebook.study.labels import METHODS
from judgebook.study.results import Results


def tally(results: Results) -> dict:
    """How many labels and comparisons can be tested, and how many are significant."""
    tests, people = primary(results).dropna(subset="p_value"), with_people(results)
    sure = tests[tests["p_adjusted"] < 0.05]
    n_labels, n_apart = (len(rows[["method", "label"]].drop_duplicates()) for rows in (tests, sure))
    of_pick = of_one_pick(results)
    return {
        "picked": int((of_pick["p_adjusted"] < 0.05).sum()) if len(of_pick) else None,
        "n_labels": n_labels,
        "n_apart": n_apart,
        "n": len(tests),
        "n_sure": len(sure),
        "full": n_apart == n_labels,
        "share": len(sure) / max(len(tests), 1),
        "over_all": int(counts(results, PRIMARY, "all").sum()),
        "n_people": int((people["p_adjusted"] < 0.05).sum()) if len(people) else None,
        "n_tested": len(people),
    }


def _named(method: str, part: str, names: DisplayNames) -> dict[str, str]:
    return {"method": names.name("method", method), "part": part}


def by_method(results: Results, part: str, names: DisplayNames) -> list[dict]:
    """Mean number of significant pairs per label, by method: permutation test, published tests over draws."""
    counted = counts(results, PRIMARY, "label")
    over_draws = [counts(results, PUBLISHED, "none", s) for s in ("mean", "smallest", "largest")]
    n = results["n_significant"].groupby("method")["n"].first()
    out = []
    for method in sorted(counted.index.unique("method"), key=lambda m: names.position("method", m)):
        draws = [values[method].mean() for values in over_draws if method in values.index]
        line = {**_named(method, part, names), "n": int(n[method]), "mean": counted[method].mean(), "draws": draws}
        out.append(line)
    return out


def planning(results: Results, part: str, names: DisplayNames) -> list[dict]:
    """Of each method the detectable difference now, after adjustment, by a single test and with annotators as a sample,
    and expected power at the most dialogues: median and range over labels."""
    now = detectable(results)
    single = results.select("detectable_effect", n_dialogues=None)
    shares, others = results["power"].dropna(subset="estimate"), detectable(results, people=SAMPLE)
    out = []
    for method, rows in names.sort(now).groupby("method", sort=False):
        of_method = shares[shares["method"] == method].astype({"n_dialogues": int})
        n = int(of_method["n_dialogues"].max()) if len(of_method) else None
        power = of_method.loc[of_method["n_dialogues"] == n, "estimate"]
        marks = all(names.labels[method, label].binary for label in rows["label"])
        share = marks or METHODS[method].unit == "pair"
        say = {"scale": 100 if share else 1, "decimals": 1 if share else 2, "share": share, "n": n}
        kinds = {"least": rows, "single": single, "others": others}
        quantiles = {
            k: f.loc[f["method"] == method, "estimate"].quantile([0.5, 0, 1]).tolist() for k, f in kinds.items()
        }
        quantiles["others"] = quantiles["others"] if (others["method"] == method).any() else None
        line = {**_named(method, part, names), "power": [power.median(), power.min(), power.max()]}
        out.append(line | say | quantiles)
    return out


def groups(results: Results, judged: Sequence[JudgedGroup], names: DisplayNames) -> Table | None:
    """How many labels and comparisons of each corpus and group are significant; None where there is one."""
    if len(judged) < 2:
        return None
    rows = []
    for one in judged:
        facts = tally(of_group(results, one))
        row = {"Who judged": who(one, judged, names), "Labels": facts["n_labels"]}
        row |= {"Labels that distinguish": facts["n_apart"], "Comparisons": facts["n"], "Significant": facts["n_sure"]}
        row |= {"Adjusted over all labels": facts["over_all"], "One annotation per item": facts["picked"]}
        rows.append(row | {"Other annotators": facts["n_people"]})
    frame = pd.DataFrame(rows).astype({c: "Int64" for c in rows[0] if c != "Who judged"}).dropna(axis=1, how="all")
    caption = f"Comparisons of two systems on one label that are significant at 0.05 by the {primary_name(results)}."
    caption += " Holm's adjustment within each label, unless stated otherwise. A label distinguishes if at least one"
    caption += " of its comparisons is significant."
    caption += " Other annotators: annotators are treated as a sample." if "Other annotators" in frame else ""
    why = "All annotations are single, or annotators are not known."
    return Table(frame, "groups", caption, why={c: why for c in ("One annotation per item", "Other annotators")})


def pairs_per_label(results: Results, judged: Sequence[JudgedGroup], names: DisplayNames) -> Table:
    """Mean number of pairs of systems that a label distinguishes, by method, corpus and group."""
    rows = []
    for line in _lines(by_method, results, judged, names):
        row: dict[str, Any] = {
            **_keys(line, judged),
            "Pairs": line["n"],
            "Distinguished": Cell(number(line["mean"], 1), {"": line["mean"]}),
        }
        if len(line["draws"]) == 3:
            mean, low, high = line["draws"]
            ends = {"": mean, "smallest": low, "largest": high}
            row["Published tests, draws"] = Cell(f"{number(mean, 1)} ({span((low, high), 1)})", ends)
        rows.append(row)
    caption = "Pairs of systems that a label distinguishes at 0.05, mean over labels: by the"
    caption += f" {primary_name(results)} with Holm's adjustment within the label."
    frame = pd.DataFrame(rows)
    if "Published tests, draws" in frame:
        caption += " By the published tests, unadjusted, the mean over draws; in parentheses, the means of each label's"
        caption += " smallest and largest count."
    return Table(frame, "pairs_per_label", caption, why={"Published tests, draws": "No draws were made."})


def conversations(results: Results, judged: Sequence[JudgedGroup], names: DisplayNames) -> Table | None:
    """Detectable differences, and expected power with more dialogues, by method, corpus and group."""
    kinds = {"Holm": "least", "Single test": "single", "Holm, other annotators": "others"}
    rows = []
    for line in _lines(planning, results, judged, names):
        row: dict[str, Any] = {**_keys(line, judged), "Unit": "percentage points" if line["share"] else "points"}
        row |= {heading: _quantiles(line, line[kind]) for heading, kind in kinds.items() if line[kind]}
        if line["n"]:
            shares = dict(zip(("(%)", "(%) lowest", "(%) highest"), (100 * v for v in line["power"]), strict=True))
            middle, low, high = (percent(v) for v in line["power"])
            text = middle if low == high else f"{middle} ({low} to {high})"
            row[f"Significant with {line['n']} dialogues"] = Cell(text, shares)
        rows.append(row)
    caption = "The smallest difference between two systems that is found with 80% power with the present dialogues:"
    caption += " median over labels, range in parentheses. Holm: at the first step of the adjustment within the label."
    caption += " Significant: expected share of pairs of systems by a single test at 0.05, with this many per system"
    caption += " (5% if all systems are equal)."
    headings = ["Holm, other annotators", *(h for row in rows for h in row if h.startswith("Significant"))]
    why = dict.fromkeys(headings, "Too few annotators or sessions, or no variation.")
    return Table(pd.DataFrame(rows), "conversations", caption, why=why) if rows else None


def _lines(of: Any, results: Results, judged: Sequence[JudgedGroup], names: DisplayNames) -> Iterator[dict[str, Any]]:
    for one in judged:
        yield from of(of_group(results, one), who(one, judged, names), names)


def _keys(line: dict[str, Any], judged: Sequence[JudgedGroup]) -> dict[str, str]:
    return {"Method": line["method"]} | ({"Who judged": line["part"]} if len(judged) > 1 else {})


def _quantiles(line: dict[str, Any], values: Sequence[float]) -> Cell:
    """Median, lowest and highest. Shares differ by at most 200 points: all wins against all losses."""

    def shown(value: float) -> str:
        return "> 200" if line["share"] and 100 * value > 200 else number(line["scale"] * value, line["decimals"])

    middle, low, high = (shown(v) for v in values)
    text = middle if low == high else f"{middle} ({low} to {high})"
    return Cell(text, dict(zip(("", "lowest", "highest"), (line["scale"] * v for v in values), strict=True)))
