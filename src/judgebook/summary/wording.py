"""Facts of `analysis` as the passages of `text.md.j2` take them: names for ids, numbers with their units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from judgebook.display.names import DisplayNames
from judgebook.display.text import number, span
from judgebook.questions.agreement.population import SAMPLE
from judgebook.questions.performance.leading import PART
from judgebook.study.labels import METHODS
from judgebook.study.results import ResultRows, where
from judgebook.summary import analysis
from judgebook.summary.evidence import Evidence

#: length of a scale above which differences are told with one decimal instead of two
FINE = 20


def method_of(label: str, names: DisplayNames) -> str:
    """The first method with a label of this id; empty where none has."""
    return next((method for method, key in names.labels if key == label), "")


def evaluation(part: tuple[str, str, str | None], evidence: Evidence, names: DisplayNames) -> str:
    """Method, group and run as prose names them, the latter two where there are several."""
    corpus, group, method = part
    several = {c: len(evidence.annotations[c].unique()) > 1 for c in ("corpus", "group")}
    words = [names.name("method", method)] if method else []
    words += [names.name("group", group)] if several["group"] else []
    return ", ".join(words + ([names.name("corpus", corpus)] if several["corpus"] else []))


def run_and_group(part: tuple[str, ...], evidence: Evidence, names: DisplayNames) -> str:
    """Group and run as prose names them; '' where there is one of each."""
    return evaluation((part[0], part[1], None), evidence, names)


def label_of_order(rows: ResultRows, names: DisplayNames) -> str:
    """The label by which systems were ordered; empty where all were used."""
    row = rows.iloc[0]
    return "" if pd.isna(row["label"]) else names.name("label", row["label"], row["method"])


def spoken_of(rows: ResultRows, evidence: Evidence) -> dict[str, Any]:
    """Whom intervals of alpha are about: `people`, and `n_sample`, the labels on which they speak of other annotators,
    where that is otherwise than in the answers about systems (else None), as it hangs on who judged the same items."""
    page = evidence.population(*rows.iloc[0][["corpus", "group"]])
    n = int((rows["population"] == SAMPLE).sum())
    if n == len(rows) * page.others:
        return {"people": page, "n_sample": None}
    return {"people": replace(page, others=n > 0, why=""), "n_sample": n}


def reliability_of_means(evidence: Evidence, names: DisplayNames, several: bool) -> list[dict[str, Any]]:
    """Reliability of system means, by method, which is named where several were judged."""
    rows, out = analysis.reliability(evidence), []
    aside = {*evidence.study.unranked_systems, evidence.study.control_system}
    for method, part in rows.groupby("method", sort=False):
        each = part["annotators_per_dialogue"]
        judged = set(where(evidence.people, **{k: part[k].iloc[0] for k in PART})["system"])
        facts: dict[str, Any] = {
            "method": names.name("method", method) if several else "",
            "n": len(part),
            "row": part.iloc[0].to_dict(),
            "median": part["estimate"].median(),
            "low": part["estimate"].min(),
            "high": part["estimate"].max(),
            "dialogues": span(part["n_dialogues"], 0),
            "each": span(each, 0) if each.max() > 1 else "",
            "systems": len(judged) if judged & aside else 0,
            "ranked": len(judged - aside),
        }
        out.append(facts)
    return out


def titled(row: pd.Series, names: DisplayNames, several: bool) -> str:
    """The name of a row's label, with its method where `several` were judged."""
    title = names.name("label", row["label"], row["method"])
    return f"{title} ({names.name('method', row['method'])})" if several else title


def by_method(rows: ResultRows, names: DisplayNames, several: bool) -> dict[str, Any]:
    """How many labels, and by method (empty where there is one) their names, the highest alpha first."""
    rows = rows.sort_values("estimate", ascending=False)
    parts = [
        (names.name("method", method) if several else "", [names.name("label", x, method) for x in part["label"]])
        for method, part in rows.groupby("method", sort=False)
    ]
    return {"n": len(rows), "parts": parts}


def analysed(facts: Mapping[str, Any], evidence: Evidence, names: DisplayNames) -> str:
    """Group and run as prose names them, and the methods that could be analysed where there are others, too."""
    where_, rows = run_and_group(facts["part"], evidence, names), facts["rows"]
    judged = where(evidence.people, **dict(zip(PART[:2], facts["part"][:2], strict=True)))["method"].unique()
    some = [names.name("method", m) for m in rows["method"].unique()] if rows["method"].nunique() < len(judged) else []
    return ", ".join([*some, where_] if where_ else some)


def variance_share(rows: ResultRows) -> dict[str, Any] | None:
    """A part of the variance over labels: median and range; of one label with its interval."""
    if rows.empty:
        return None
    ends = {"median": rows["estimate"].median(), "low": rows["estimate"].min(), "high": rows["estimate"].max()}
    return ends | {"row": rows.iloc[0].to_dict() if len(rows) == 1 else None}


def between_groups(facts: Mapping[str, Any] | None, names: DisplayNames) -> dict[str, Any] | None:
    """Differences between groups; their size is the median, as the largest of many is large by chance."""
    if facts is None:
        return None
    rows = facts["rows"].dropna(subset="debiased")
    out = {**facts, "median": rows["debiased"].median(), "row": None}
    if len(rows) == 1:
        columns = {"estimate": "debiased", "ci_low": "debiased_low", "ci_high": "debiased_high"}
        out["row"] = {k: rows[c].iloc[0] for k, c in columns.items()}
    if "who" in facts:
        out["who"] = (names.name("group", facts["who"][0]), facts["who"][1])
    return out


def detectable_differences(compared: Mapping[str, Any], names: DisplayNames) -> dict[str, Any] | None:
    """Detectable differences of the main method. compared : `analysis.sample`."""
    rows = compared.get("detectable")
    if rows is None or rows.empty or not rows["most_per_system"].iloc[0]:
        return None
    method = rows["method"].iloc[0]
    unit = METHODS[method].unit
    scales = [names.labels[method, x].scale for x in rows["label"] if (method, x) in names.labels]
    share = unit == "pair" or all(scale == (0, 1) for scale in scales)
    largest = 1.0 if share else max(high - low for low, high in scales)

    unit_size, decimals = 100 if share else 1, 1 if share or largest > FINE else 2

    def say(value: float) -> str:
        return number(unit_size * value, decimals)

    values = rows["estimate"]
    ends = span(unit_size * values, decimals)
    sizes, sessions = rows[["per_system", "most_per_system"]].iloc[0], rows[["sessions", "most_sessions"]].iloc[0]
    return {
        "method": names.name("method", method),
        "unit": "pair" if unit == "pair" else "dialogue",
        "size": span(sizes, 0),
        "twice": span(2 * sizes, 0),
        "sessions": span(sessions, 0) if sessions.notna().all() else "",
        "n_labels": len(rows),
        "pairs": int(rows["n"].max()),
        "scale": "percentage points" if share else "points",
        "scales": 1 if share else len({high - low for low, high in scales}),
        "span": ends,
        "median": say(values.median()),
        "more": say(rows["more"].median()),
        "doubled": say(values.median() / 2**0.5),
        "less": float(1 - rows["more"].median() / values.median()),
        "beyond": bool(values.median() > largest),
        "others": compared["people"].others,
    }


def failed(evidence: Evidence) -> dict[str, int] | None:
    """Workers whose judgements do not count, of all, by run; None where all count."""
    frames = (evidence.counted, evidence.annotations)
    counted, n = (len(frame[["corpus", "annotator"]].drop_duplicates()) for frame in frames)
    runs = evidence.annotations["corpus"].nunique()
    return {"out": n - counted, "n": n, "runs": runs} if counted < n else None
