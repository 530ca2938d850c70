"""The pair finder of the first page: `analysis` as tables of text, one for each evaluation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from judgebook.display.names import DisplayNames
from judgebook.display.text import MISSING, Phrases, number, p_value
from judgebook.report.first_page import Compared
from judgebook.study.labels import METHODS, Label
from judgebook.study.sections.margins import told
from judgebook.summary import wording
from judgebook.summary.evidence import Evidence
from judgebook.summary.pairs.analysis import Comparisons, comparisons

_PHRASES, _SUMMARY = Phrases(__package__), Phrases("judgebook.summary")
#: width of a scale from which differences have one decimal
WIDE = 20
#: comparisons beyond which a page would be too large: later evaluations are left to notebook 07
MOST = 2500


def compared(evidence: Evidence) -> list[Compared]:
    """What the pair finder has to say, by evaluation; empty where nothing was compared pair by pair."""
    names = evidence.names
    every = list(comparisons(evidence))
    n = np.cumsum([len(one.rows) for one in every])
    return [_compared(one, evidence, names) for one, so_far in zip(every, n, strict=True) if so_far <= MOST]


def _compared(one: Comparisons, evidence: Evidence, names: DisplayNames) -> Compared:
    method = one.part[2]
    rows = names.sort(names.pairs(one.rows.assign(method=method)))
    units = {label: _unit(names.labels.get((method, label)), method) for label in dict.fromkeys(rows["label"])}
    facts = {"few": bool(rows["ci_low"].isna().any()), "own": bool(rows["margin"].notna().any())}
    about = _PHRASES.say("about", ci=Markup(names.ci), people=one.people, **facts)
    texts = set(units.values())
    order = list(_order(one, names))
    return Compared(
        title=wording.evaluation(one.part, evidence, names),
        whose=_SUMMARY.say("whose", people=one.people),
        about=about,
        unit=texts.pop()[0] if len(texts) == 1 else "",
        ci=names.ci,
        n="votes" if METHODS[method].unit == "pair" else "judgements",
        rows=tuple(_cells(row, units[row.label], one, names) for row in rows.itertuples()),
        ranks=tuple(order),
        ranked=_PHRASES.say("ranks", level=f"{names.confidence:.0%}", over_labels=_over_labels(one)) if order else "",
        systems=_systems(one, names),
        places=(f"contrasts_{names.stem(method)}",),
    )


def _unit(label: Label | None, method: str) -> tuple[str, float, int]:
    """What differences are in, by what they are multiplied, and their decimals."""
    votes = METHODS[method].unit == "pair"
    share = votes or (label is not None and label.binary)
    scale = f"{label.scale[0]:g} to {label.scale[1]:g}" if label else ""
    text = _PHRASES.say("unit", share=share, votes=votes, scale=scale)
    wide = label is not None and label.scale[1] - label.scale[0] >= WIDE
    return text, 100 if share else 1, 1 if share or wide else 2


def _cells(row: Any, unit: tuple[str, float, int], one: Comparisons, names: DisplayNames) -> tuple[str, ...]:
    """The cells of a row, and its unit."""
    text, scale, decimals = unit
    label = names.labels.get((one.part[2], row.label))
    direction = label.direction if label else 0
    first = (row.estimate > 0) == (direction >= 0)
    ahead = names.name("system", row.not_worse or (row.system if first else row.system_b))
    size = told(row.margin, label) if label and pd.notna(row.margin) else ""
    facts = {"ahead": Markup(ahead), "directed": direction != 0, "margin": Markup(size)}
    values = [number(scale * value, decimals) for value in (row.estimate, row.ci_low, row.ci_high)]
    values += [p_value(row.p), MISSING if pd.isna(row.n) else f"{int(row.n):,}"]
    systems = [names.name("system", s) for s in (row.system, row.system_b)]
    verdict = _PHRASES.say("verdict", kind=row.verdict, **facts)
    return (names.name("label", row.label, one.part[2]), *systems, *values, verdict, text)


def _over_labels(one: Comparisons) -> bool:
    return bool(len(one.order)) and bool(pd.isna(one.order["label"].iloc[0]))


def _order(one: Comparisons, names: DisplayNames) -> Iterator[tuple[str, ...]]:
    """Name, rank and ends of its interval of each system, the best first; nothing without intervals."""
    ranked = one.order.dropna(subset=["rank_low", "rank_high"])
    for row in ranked.itertuples():
        yield names.name("system", row.system), *(f"{int(x)}" for x in (row.rank, row.rank_low, row.rank_high))


def _systems(one: Comparisons, names: DisplayNames) -> tuple[str, ...]:
    """Names of the systems compared, the best first where there is an order."""
    met = {*one.rows["system"], *one.rows["system_b"]}
    ordered: Sequence[str] = [s for s in one.order["system"] if s in met]
    rest = sorted(met - set(ordered), key=lambda s: (names.position("system", s), s))
    return tuple(names.name("system", s) for s in [*ordered, *rest])
