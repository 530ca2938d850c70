"""How do two systems compare? Every pair of systems on every label, by the fits that notebook 07 stored, and the pair
finder of the first page: the same as tables of text, one for each evaluation.

Nothing is estimated here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from judgebook.annotations.population import Population
from judgebook.display.names import DisplayNames
from judgebook.display.text import MISSING, Phrases, number, p_value
from judgebook.questions.performance import leading
from judgebook.questions.performance.leading import PART
from judgebook.report.html import Compared
from judgebook.study.labels import METHODS, Label
from judgebook.study.results import ResultRows, where
from judgebook.study.sections.margins import told
from judgebook.summary import wording
from judgebook.summary.evidence import PERFORMANCE, Evidence, parts

KEYS = ["label", "system", "system_b"]


@dataclass(frozen=True)
class Comparisons:
    """All pairs of systems in one evaluation (run, group and method).

    rows : KEYS, estimate (the first system minus the second, on the scale of the label; of comparisons, share won minus
    share lost), ci_low, ci_high (of all pairs at once; missing where systems cannot be compared), p (adjusted
    likewise), n (judgements or votes), verdict, margin of the YAML (missing where it has none for the label), not_worse
    (where the verdict is NOT_WORSE, the system that is not in the direction of scores, else empty). people : whose
    judgements the verdicts are about. place : of the run and group among those of notebook 07. order : rows of
    `leading.order`, the best system first; may be empty.
    """

    part: tuple[str, str, str]
    rows: pd.DataFrame
    people: Population
    place: int
    order: ResultRows


def comparisons(evidence: Evidence) -> Iterator[Comparisons]:
    """Of every evaluation, the main one first; none where no two systems were compared."""
    contrasts, every = evidence.results[PERFORMANCE]["contrast"], parts(evidence)
    order = leading.order(evidence.results[PERFORMANCE], every)
    places = list(contrasts[["corpus", "group"]].drop_duplicates().itertuples(index=False, name=None))
    for part in every:
        key = dict(zip(PART, part, strict=True))
        rows = where(contrasts, **key)
        if rows.empty:
            continue
        rows = rows[[*KEYS, "estimate", "ci_low", "ci_high", "n"]].assign(p=rows["p_adjusted"])
        rows = leading.by_margin(rows.reset_index(drop=True), evidence.study.margins, part[2])
        yield Comparisons(part, rows, evidence.population(*part[:2]), places.index(part[:2]), where(order, **key))


_PHRASES = Phrases(__package__)
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
    about = _PHRASES.say("pair_about", ci=Markup(names.ci), people=one.people, **facts)
    texts = set(units.values())
    order = list(_order(one, names))
    return Compared(
        title=wording.evaluation(one.part, evidence, names),
        whose=_PHRASES.say("whose", people=one.people),
        about=about,
        unit=texts.pop()[0] if len(texts) == 1 else "",
        ci=names.ci,
        n="votes" if METHODS[method].unit == "pair" else "judgements",
        rows=tuple(_cells(row, units[row.label], one, names) for row in rows.itertuples()),
        ranks=tuple(order),
        ranked=_PHRASES.say("pair_ranks", level=f"{names.confidence:.0%}", over_labels=_over_labels(one))
        if order
        else "",
        systems=_systems(one, names),
        places=(f"contrasts_{names.stem(method)}",),
    )


def _unit(label: Label | None, method: str) -> tuple[str, float, int]:
    """What differences are in, by what they are multiplied, and their decimals."""
    votes = METHODS[method].unit == "pair"
    share = votes or (label is not None and label.binary)
    scale = f"{label.scale[0]:g} to {label.scale[1]:g}" if label else ""
    text = _PHRASES.say("pair_unit", share=share, votes=votes, scale=scale)
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
    verdict = _PHRASES.say("pair_verdict", kind=row.verdict, **facts)
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
