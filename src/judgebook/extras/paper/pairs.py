"""A sentence for each pair of systems and label, for pasting: the difference in the fit of notebook 07, its CI."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from judgebook.display.text import Phrases
from judgebook.extras.paper import findings
from judgebook.extras.paper.analysis import Material
from judgebook.questions.performance import leading
from judgebook.questions.performance.leading import ALIKE, by_margin
from judgebook.study.labels import METHODS
from judgebook.study.sections.margins import told

_PHRASES = Phrases(__package__)
_LABEL = ["corpus", "method", "group", "label"]


@dataclass(frozen=True)
class OnLabel:
    """The sentences on a label (Markdown), in the order of systems; evaluation : method, group and run."""

    evaluation: str
    label: str
    sentences: list[str]


def sentences(m: Material) -> list[OnLabel]:
    """All sentences by evaluation and label; none where systems were not compared."""
    results = m.of("07")
    rows = results["contrast"].dropna(subset="ci_low") if results else pd.DataFrame()
    return list(_by_label(m, rows)) if len(rows) else []


def _by_label(m: Material, rows: pd.DataFrame) -> Iterator[OnLabel]:
    rows = rows.assign(decided=leading.decided(rows))
    for (corpus, method, group, label), part in m.names.sort(rows).groupby(_LABEL, sort=False):
        others = m.populations[corpus, group].others
        each = by_margin(part, m.study.margins, method).to_dict("records")
        sentences = [_sentence(m, row, len(part), others=others) for row in each]
        yield OnLabel(_evaluation(m, corpus, method, group, rows), m.names.name("label", label, method), sentences)


def _evaluation(m: Material, corpus: str, method: str, group: str, rows: pd.DataFrame) -> str:
    """Method, with group and corpus where `rows` have several."""
    several = {"group": group, "corpus": corpus}
    parts = [m.names.name(column, name) for column, name in several.items() if len(rows[column].unique()) > 1]
    return ", ".join([m.names.name("method", method), *parts])


def _unit(m: Material, method: str, label: str) -> tuple[float, float] | str:
    """What differences on a label are in: `wins` (share won minus share lost), `share` of marks, or the scale."""
    if METHODS[method].unit == "pair":
        return "wins"
    scale = m.names.labels[method, label].scale
    return "share" if scale == (0, 1) else scale


def _sentence(m: Material, row: dict, n: int, *, others: bool) -> str:
    """row : of `contrast`, with its verdict, and whether it is decided. n : pairs that the interval and p are adjusted
    for."""
    unit = _unit(m, row["method"], row["label"])
    scale = 1 if isinstance(unit, tuple) else 100
    turned = row["estimate"] < 0
    values = [row["estimate"], row["ci_low"], row["ci_high"]]
    values = [scale * v * (-1 if turned else 1) for v in values]
    systems = [m.names.name("system", row[k]) for k in ("system", "system_b")]
    facts = {
        "label": m.names.name("label", row["label"], row["method"]),
        "first": systems[turned],
        "second": systems[not turned],
        "estimate": values[0],
        "ends": sorted(values[1:]),
        "unit": unit,
        "p": row["p_adjusted"],
        "n": n,
        "level": findings.level(m),
        "decided": row["decided"],
        "others": others,
        "alike": told(row["margin"], m.names.labels[row["method"], row["label"]]) if row["verdict"] == ALIKE else "",
        "worse": m.names.labels[row["method"], row["label"]].direction == -1,
    }
    return _PHRASES.say("pair", **facts)
