"""Can this design answer the questions? All checks of a study's design, made in seconds and without a run.

Each check is a small function in a module of its topic, which registers it (`registry.check`); findings are ranked by
their price: what changes when they are acted on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from judgebook.questions.design import answers, conduct, drawing, items, material, missing, order, people, votes  # noqa: F401 they register
from judgebook.questions.design.registry import CHECKS, UNKNOWN, Check, Finding, NotCheckableError, Unchecked
from judgebook.study.labels import Label


class Examined(NamedTuple):
    """findings : by price, the highest first. unchecked : checks that could not be made. passed : codes of others.

    parts : (corpus, group, method) of every evaluation that was looked at.
    """

    findings: list[Finding]
    unchecked: list[Unchecked]
    passed: list[str]
    parts: list[tuple[str, str, str]]


def examine(
    annotations: pd.DataFrame,
    dialogues: pd.DataFrame,
    labels: Sequence[Label],
    *,
    counts: pd.DataFrame | None = None,
    metric_scores: pd.DataFrame | None = None,
    dialogue_facts: pd.DataFrame | None = None,
    own_ids: pd.DataFrame | None = None,
    leave_out: Sequence[str] = (),
    selection: str = "",
) -> Examined:
    """What the design of a study does not allow to conclude, and what could not be looked at.

    Parameters
    ----------
    annotations, dialogues, counts, metric_scores, dialogue_facts : DataFrames
        As `sources.build` makes them (`study.schema`); of annotations and dialogues, columns that may be empty may be
        absent. A missing score counts as one that was dropped. `counts` says what was dropped while reading.
    own_ids : DataFrame, optional
        Ids of the source (`Built.own_ids`), which tell two spellings of one person.
    leave_out : ids of systems
        Control and unranked systems.
    selection : str
        What the YAML says of how the outputs were selected (`heds.selection`).

    Returns
    -------
    `Examined`. A check counts as not made if no evaluation (corpus, group, method) allows it.
    """
    study = material.study(
        annotations, dialogues, labels, counts, metric_scores, dialogue_facts, own_ids, [s for s in leave_out if s],
        selection,
    )  # fmt: skip
    found: list[Finding] = []
    unchecked: list[Unchecked] = []
    passed: list[str] = []
    for one in CHECKS.values():
        own, reasons, made = _made(one, study)
        found += own
        if not made:
            unchecked.append(Unchecked(one.code, reasons[0] if reasons else "There are no judgements."))
        elif not own:
            passed.append(one.code)
    found.sort(key=lambda f: -f.price)  # stable: equal prices stay in the order in which checks are registered
    return Examined(found, unchecked, passed, [(part.corpus, part.group, part.method) for part in study.parts])


def _made(one: Check, study: material.Study) -> tuple[list[Finding], list[str], bool]:
    """Findings of a check, reasons why it could not be made somewhere, and whether it was made anywhere."""
    found, reasons, made = [], [], False
    for where in [study] if one.whole else study.parts:
        place = {} if one.whole else {"corpus": where.corpus, "group": where.group, "method": where.method}
        try:
            for price, facts in one.run(where):
                place_ = place | {k: facts[k] for k in ("corpus", "group", "method") if k in facts}
                rest = {k: v for k, v in facts.items() if k not in place_ and v == v}  # what is NaN is not known
                found.append(Finding(one.code, min(float(price), UNKNOWN), rest, one.touches, place_))
            made = True
        except NotCheckableError as reason:
            reasons.append(str(reason))
    return found, reasons, made
