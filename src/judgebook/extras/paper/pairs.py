"""A sentence for each pair of systems and label, for pasting: the difference, its interval and what may be said of it.

The test is that of the population a result is about: over annotators, too, where they stand for others like them, else
the primary test of notebook 05.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from judgebook.display.text import Phrases
from judgebook.extras.paper import found
from judgebook.extras.paper.analysis import Material
from judgebook.questions.sensitivity import analysis as sensitivity_analysis
from judgebook.questions.sensitivity import differences
from judgebook.study.sections.margins import told

_PHRASES = Phrases(__package__)
#: of the intervals of differences in notebook 05
LEVEL = 0.95
_PAIR = ["corpus", "method", "group", "label", "system", "system_b"]


@dataclass(frozen=True)
class OnLabel:
    """The sentences on a label (Markdown), in the order of systems; evaluation : method, group and run."""

    evaluation: str
    label: str
    sentences: list[str]


def sentences(m: Material) -> list[OnLabel]:
    """All sentences by evaluation and label; none where systems were not compared."""
    results = m.of("05")
    rows = sensitivity_analysis.primary(results).dropna(subset="p_value") if results else pd.DataFrame()
    return list(_by_label(m, rows)) if len(rows) else []


def _by_label(m: Material, rows: pd.DataFrame) -> Iterator[OnLabel]:
    results = m.of("05")
    tested, people = (
        results.select("system_difference", test=differences.TEST),
        sensitivity_analysis.with_people(results),
    )
    alone = _by_pair(tested[~tested.index.isin(people.index)])
    over_people = _by_pair(people.dropna(subset="p_adjusted"))
    family = Counter(key[:4] for key in over_people)
    alike = set()
    if len(results["equivalence"]):
        shown = sensitivity_analysis.verdicts(results)
        alike = set(shown.loc[shown["alike"], _PAIR].itertuples(index=False, name=None))
    for (corpus, method, group, label), part in m.names.sort(rows).groupby(_PAIR[:4], sort=False):
        others = (corpus, group) in m.populations and m.populations[corpus, group].others
        sentences = []
        for row in part.to_dict("records"):
            key = tuple(row[k] for k in _PAIR)
            sampled = over_people.get(key) if others else None
            chosen = row if sampled is None else sampled
            ends = alone.get(key, {}) if sampled is None else sampled
            n = len(part) if sampled is None else family[key[:4]]
            bounds = _ends(ends)
            # an interval stands with the estimate that it is about: tests within sessions have another one
            about = ends if bounds["ci_low"] is not None else chosen
            facts = row | {"estimate": about["estimate"], "p_adjusted": chosen["p_adjusted"]} | bounds
            sentences.append(_sentence(m, facts, n, others=sampled is not None, alike=key in alike))
        evaluation = found.who(m, (corpus, method, group), rows)
        yield OnLabel(evaluation, m.names.name("label", label, method), sentences)


def _by_pair(rows: pd.DataFrame) -> dict[tuple, dict]:
    """Rows by corpus, method, group, label and both systems."""
    return {tuple(row[k] for k in _PAIR): row for row in rows.to_dict("records")}


def _ends(row: dict) -> dict[str, float | None]:
    return {end: None if pd.isna(row.get(end)) else float(row[end]) for end in ("ci_low", "ci_high")}


def _margin(m: Material, method: str, label: str) -> str:
    """Within what two systems are equivalent on a label, in words."""
    own = m.study.margins.get((method, label))
    return f"{m.study.sensitivity.margin:g} SD" if own is None else told(own, m.names.labels[method, label])


def _sentence(m: Material, row: dict, n: int, *, others: bool, alike: bool) -> str:
    """row : estimate, ci_low and ci_high (None where there are none) and p_adjusted of a difference of two systems."""
    unit = found.unit(m, row["method"], [row["label"]])
    scale = 1 if isinstance(unit, tuple) else 100
    turned = row["estimate"] < 0
    values = [row["estimate"], row["ci_low"], row["ci_high"]]
    values = [None if v is None else scale * v * (-1 if turned else 1) for v in values]
    systems = [m.names.name("system", row[k]) for k in ("system", "system_b")]
    facts = {
        "label": m.names.name("label", row["label"], row["method"]),
        "first": systems[turned],
        "second": systems[not turned],
        "estimate": values[0],
        "ends": sorted(v for v in values[1:] if v is not None),
        "unit": unit,
        "p": row["p_adjusted"],
        "n": n,
        "level": LEVEL,
        "others": others,
        "alike": alike and _margin(m, row["method"], row["label"]),
        "worse": m.names.labels[row["method"], row["label"]].direction == -1,
    }
    return _PHRASES.say("pair", **facts)
