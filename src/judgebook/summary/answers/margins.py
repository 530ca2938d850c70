"""The systems of the main evaluation against the first one, by the margins of the YAML: pairs of the pair finder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from judgebook.display.names import DisplayNames
from judgebook.display.text import number
from judgebook.questions.performance.leading import PART
from judgebook.study.labels import Label
from judgebook.study.results import where
from judgebook.study.sections.margins import share, told
from judgebook.summary.answers.margin_facts import Against, MarginFacts, MarginFound
from judgebook.summary.answers.sources import estimate
from judgebook.summary.answers.verdicts import Margin
from judgebook.summary.evidence import SENSITIVITY, Evidence
from judgebook.summary.pairs.analysis import ALIKE, DIFFER, FEW, SLIGHTLY, comparisons


def against_first(
    evidence: Evidence, part: tuple[str, str, str], order: list[str], names: DisplayNames
) -> MarginFacts | None:
    """None where no label of the evaluation has a margin and a direction, or nothing was compared.

    order : ids of the systems, the best first.
    """
    tests = where(evidence.results[SENSITIVITY]["not_worse"], **dict(zip(PART, part, strict=True)))
    tests = tests[tests["system_b"] == order[0]].set_index(["label", "system"], drop=False)
    every = [one.rows for one in comparisons(evidence) if one.part == part and len(tests)]
    rows = [row for some in every for row in some.itertuples() if row.own and order[0] in (row.system, row.system_b)]
    if not rows:
        return None
    by_pair = {(row.system_b if row.system == order[0] else row.system, row.label): row for row in rows}
    labels = {row.label: names.labels[part[2], row.label] for row in rows}
    pairs = [
        _against(evidence, tests.loc[label, system], by_pair[system, label], labels[label], names)
        for system in order[1:] for label in labels if (system, label) in by_pair and (label, system) in tests.index
    ]  # fmt: skip
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


def _against(evidence: Evidence, test: pd.Series, pair: Any, label: Label, names: DisplayNames) -> Against:
    """test : its row of `not_worse`. pair : its row of `comparisons`."""
    better = test["estimate"] > 0
    if pair.verdict == FEW:
        code = Margin.FEW
    elif pair.verdict == ALIKE:
        code = Margin.EQUIVALENT
    elif pair.verdict in (DIFFER, SLIGHTLY):
        code = Margin.BETTER if better else Margin.SLIGHTLY_WORSE if pair.verdict == SLIGHTLY else Margin.WORSE
    else:
        code = Margin.NOT_WORSE if pair.not_worse == test["system"] else Margin.OPEN
    more: Mapping[str, Any] = {"margin": pair.margin, "verdict": code, "name": names.name("system", test["system"])}
    unit = "share" if share(label) else "points"
    return estimate(evidence, SENSITIVITY, "not_worse", test, unit=unit, kind=Against, level=0.9, **more)


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
