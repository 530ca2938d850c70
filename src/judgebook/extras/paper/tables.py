"""Results of several groups, runs or methods as tables: what paragraphs would otherwise repeat for each of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from judgebook.display.cells import Cell, of_interval
from judgebook.display.tables import texts
from judgebook.display.text import Phrases, interval, span
from judgebook.display.views import Table
from judgebook.extras.paper import findings, found
from judgebook.extras.paper.analysis import Material

_PHRASES = Phrases(__package__)
#: methods from which the data have a table
_METHODS = 3


@dataclass(frozen=True)
class Rendered:
    """A table in three forms. name : of its LaTeX file, without suffix."""

    name: str
    html: str
    markdown: str
    tex: str


def results(m: Material) -> dict[str, list[Rendered]]:
    """The tables of a passage by its name: of those that speak of several evaluations or methods."""
    made = {
        "data": list(_judged(findings.data(m))),
        "agreement_found": list(_agreement(found.agreement_found(m), m)),
        "ranks_found": list(_ranks(found.ranks_found(m), m)),
        "tests_found": list(_tests(found.tests_found(m), m)),
    }
    return {passage: [_rendered(t) for t in tables] for passage, tables in made.items() if tables}


def _rendered(table: Table) -> Rendered:
    name = f"table_{table.name}"
    return Rendered(name, *texts(table.frame, table.caption, name, decimals=table.decimals, why=table.why))


def _judged(facts: Mapping[str, Any]) -> Iterator[Table]:
    """What was judged with each method."""
    if len(facts["methods"]) < _METHODS:
        return
    rows = [
        {
            "Method": method["name"],
            "Judged": _PHRASES.say("counted", method=method),
            "Labels": len(method["labels"]),
            "Answers": _PHRASES.say("answered", method=method),
            "Annotators each": None if method["each"] is None else float(method["each"]),
        }
        for method in facts["methods"]
    ]
    yield Table(pd.DataFrame(rows), "judged", _PHRASES.say("judged_caption"), 1)


def _agreement(facts: Mapping[str, Any] | None, m: Material) -> Iterator[Table]:
    if facts is None or len(facts["parts"]) < 2:
        return
    rows = [
        {"Evaluation": part["who"], "Labels": part["n"], "Median": float(part["median"])}
        | {"Lowest": _of_label(part["low"]), "Highest": _of_label(part["high"])}
        for part in facts["parts"]
    ]
    yield Table(pd.DataFrame(rows), "agreement", _PHRASES.say("agreement_caption", level=facts["level"]))


def _of_label(row: Mapping[str, Any]) -> str:
    """A text, which may wrap where a column of numbers may not."""
    return f"{row['title']}: {interval(row['estimate'], row['ci_low'], row['ci_high'])}"


def _ranks(facts: Mapping[str, Any] | None, m: Material) -> Iterator[Table]:
    if facts is None:
        return
    if len(facts["strengths"]) > 1:
        shown = [
            {"Evaluation": line["who"], "Strongest": _led(line["first"], line["best"])}
            | {"Weakest": _led(line["last"], line["worst"])}
            for line in facts["strengths"]
        ]
        yield Table(pd.DataFrame(shown), "strengths", _PHRASES.say("strengths_caption", level=facts["level"]))
    if len(facts["overall"]) < 2:
        return
    sure = {line["key"]: f"{line['n_sure']} of {line['n']}" for line in facts["labels"]}
    rows = []
    for line in facts["overall"]:
        row = {"Evaluation": line["who"], "Labels": line["labels"], "Highest mean": _led(line["first"], line["best"])}
        row |= {"Rank": _rank(line["rank"]), "Lowest mean": _led(line["last"], line["worst"])}
        rows.append(row | {"Certain by label": sure.get(line["key"])})
    n = span([line["n"] for line in facts["overall"]], 0)
    yield Table(pd.DataFrame(rows), "leaders", _PHRASES.say("leaders_caption", level=facts["level"], n=n))


def _led(system: str, row: Mapping[str, Any]) -> str:
    return f"{system}: {interval(row['estimate'], row['ci_low'], row['ci_high'])}"


def _rank(row: Mapping[str, Any] | None) -> Cell | None:
    if row is None:
        return None
    return of_interval(row["estimate"], row["ci_low"], row["ci_high"], 0)


def _tests(facts: Mapping[str, Any] | None, m: Material) -> Iterator[Table]:
    if facts is None or len(facts["parts"]) < 2:
        return
    rows = []
    for part in facts["parts"]:
        row = {"Evaluation": part["who"], "Comparisons": part["n"], "Significant": part["differ"]}
        row["With other annotators"] = None if part["people"] is None else f"{part['people']} of {part['n_people']}"
        rows.append(row | {"Equivalent": part["alike"], "Detected": _PHRASES.say("detected", part=part)})
    caption = _PHRASES.say("tests_caption", margin=facts["margin"], power=facts["power"])
    frame = pd.DataFrame(rows)
    why = {
        "With other annotators": "Annotators are too few to stand for others, or not known individually.",
        "Equivalent": "Not tested.",
    }
    if not frame["Detected"].astype(bool).any():
        frame = frame.drop(columns="Detected")
    yield Table(frame.astype({"Equivalent": "Int64"}), "tests", caption, why=why)
