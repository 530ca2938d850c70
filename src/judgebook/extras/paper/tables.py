"""Results of several groups, runs or methods as tables: what paragraphs would otherwise repeat for each of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

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
    if facts is None or len(facts["orders"]) < 2:
        return
    rows = []
    for line in facts["orders"]:
        row = {"Evaluation": line["who"], "Labels": line["labels"], "Leader": line["first"]}
        row |= {"Best": f"{line['chance']:.0%}", "Rank": span(line["rank"], 0)}
        row["Lead"] = _PHRASES.say("lead", other=line["over"][0], unit=line["unit"])
        rows.append(row | {"Certain by label": "{} of {}".format(*facts["labels"].get(line["key"], (0, 0)))})
    n = span([line["n"] for line in facts["orders"]], 0)
    yield Table(pd.DataFrame(rows), "leaders", _PHRASES.say("leaders_caption", level=facts["level"], n=n))


def _tests(facts: Mapping[str, Any] | None, m: Material) -> Iterator[Table]:
    if facts is None or len(facts["parts"]) < 2:
        return
    rows = [
        {"Evaluation": part["who"], "Comparisons": part["n"], "Decided": part["differ"], "Equivalent": part["alike"]}
        | {"Detected": _PHRASES.say("detected", part=part), "Annotators": "others, too" if part["others"] else "these"}
        for part in facts["parts"]
    ]
    caption = _PHRASES.say("tests_caption", margin=facts["margin"], power=facts["power"], level=facts["level"])
    frame = pd.DataFrame(rows).astype({"Equivalent": "Int64"})
    empty = [c for c in ("Equivalent", "Detected") if not any(map(bool, frame[c].dropna()))]
    yield Table(frame.drop(columns=empty), "tests", caption, why={"Equivalent": "Not tested."})
