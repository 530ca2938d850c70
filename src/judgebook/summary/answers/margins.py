"""The systems of the main evaluation against the first one, by the margins of the YAML: pairs of the pair finder."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from judgebook.display.names import DisplayNames
from judgebook.display.text import number
from judgebook.questions.performance.leading import ALIKE, DIFFER, FEW, SLIGHTLY
from judgebook.study.labels import Label
from judgebook.study.sections.margins import share, told
from judgebook.summary.answers.margin_facts import Against, MarginFacts, MarginFound
from judgebook.summary.answers.verdicts import Margin
from judgebook.summary.evidence import Evidence
from judgebook.summary.pairs.analysis import comparisons


def against_first(
    evidence: Evidence, part: tuple[str, str, str], order: list[str], names: DisplayNames
) -> MarginFacts | None:
    """None where no label of the evaluation has a margin and a direction, or nothing was compared.

    order : ids of the systems, the best first.
    """
    every = [one.rows for one in comparisons(evidence) if one.part == part]
    rows = [
        row for some in every for row in some.itertuples() if row.margin > 0 and order[0] in (row.system, row.system_b)
    ]
    labels = {row.label: names.labels[part[2], row.label] for row in rows if names.labels[part[2], row.label].direction}
    if not labels:
        return None
    by_pair = {(row.system_b if row.system == order[0] else row.system, row.label): row for row in rows}
    pairs = [
        _against(by_pair[system, label], system, labels[label], evidence.confidence, names)
        for system in order[1:]
        for label in labels
        if (system, label) in by_pair
    ]
    of_system: dict[str, list[Margin]] = {}
    for one in pairs:
        of_system.setdefault(one.name, []).append(one.verdict)
    return MarginFacts(
        labels={names.name("label", x, part[2]): told(evidence.study.margins[part[2], x], labels[x]) for x in labels},
        pairs=pairs,
        holds=[s for s, codes in of_system.items() if all(code.holds for code in codes)],
        equivalent=[s for s, codes in of_system.items() if {*codes} == {Margin.EQUIVALENT}],
        worse=[s for s, codes in of_system.items() if Margin.WORSE in codes],
    )


def _against(pair: Any, system: str, label: Label, level: float, names: DisplayNames) -> Against:
    """A system against the first. pair : their row of `comparisons`."""
    turn = label.direction * (1 if pair.system == system else -1)
    better, *ends = turn * pair.estimate, turn * pair.ci_low, turn * pair.ci_high
    low = min(ends)
    if pair.verdict == FEW:
        code = Margin.FEW
    elif pair.verdict == ALIKE:
        code = Margin.EQUIVALENT
    elif pair.verdict in (DIFFER, SLIGHTLY):
        code = Margin.BETTER if better > 0 else Margin.SLIGHTLY_WORSE if low > -pair.margin else Margin.WORSE
    else:
        code = Margin.NOT_WORSE if low > -pair.margin else Margin.OPEN
    return Against(
        estimate=better,
        ci_low=low,
        ci_high=max(ends),
        level=level,
        unit="share" if share(label) else "points",
        margin=pair.margin,
        verdict=code,
        name=names.name("system", system),
    )


def found(evidence: Evidence, rows: pd.DataFrame, names: DisplayNames) -> Iterator[MarginFound]:
    """Of the labels with a margin among `rows` (one for each label, with `estimate`: the difference found)."""
    for row in rows.itertuples():
        margin = evidence.study.margins.get((row.method, row.label))
        label = names.labels.get((row.method, row.label))
        if margin is not None and label is not None:
            yield MarginFound(
                label=names.name("label", row.label, row.method),
                margin=told(margin, label),
                difference=row.estimate,
                found=row.estimate <= margin,
                told=f"{number(100 * row.estimate, 1)} percentage points"
                if share(label)
                else f"{number(row.estimate, 2)} points",
            )
