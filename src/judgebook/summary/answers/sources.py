"""Estimates of answers, each with the rows of results where it stands; the rows that each answer rests on, and the
number that it turns on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from judgebook.questions.performance.leading import PART
from judgebook.study.results import ResultRows, Results, identities, once, where
from judgebook.summary import analysis
from judgebook.summary.answers.facts import (
    AgreementFacts,
    CostFacts,
    Facts,
    JudgesFacts,
    OrderFacts,
    ReplicationFacts,
    SampleFacts,
)
from judgebook.summary.answers.parts import Estimate, Source
from judgebook.summary.evidence import AGREEMENT, COST, GROUPS, JUDGES, PERFORMANCE, REPEAT, Evidence

_COPIED = ("estimate", "ci_low", "ci_high", "family", "p_adjusted", "note")
_ABOUT = ("corpus", "group", "method", "label", "system")


def sources(evidence: Evidence, notebook: str, statistic: str, rows: ResultRows) -> list[Source]:
    """Where rows of a statistic are stored: as few selections by columns as say exactly which."""
    stored = _stored(evidence.results[notebook], statistic)
    file = f"data/processed/{evidence.study.key}/results/{notebook}.parquet"
    about = {"notebook": notebook, "file": file}
    return [
        Source(**about, columns={"statistic": statistic, **columns}, n=n)
        for columns, n in _selections(stored, identities(statistic, rows).drop_duplicates())
    ]


@once
def _stored(results: Results, statistic: str) -> pd.DataFrame:
    return identities(statistic, results[statistic])


def _selections(stored: pd.DataFrame, wanted: pd.DataFrame) -> list[tuple[dict[str, Any], int]]:
    """Columns with their values that together select the wanted rows, and no others; with the number of rows."""
    if wanted.empty:
        return []
    values = {column: list(dict.fromkeys(wanted[column])) for column in wanted}
    selected = np.ones(len(stored), dtype=bool)
    for column, some in values.items():
        selected &= stored[column].isin(some).to_numpy()
    several = [column for column, some in values.items() if len(some) > 1]
    if selected.sum() <= len(wanted) or not several:
        shown = {column: some if len(some) > 1 else some[0] for column, some in values.items() if some != [""]}
        return [(shown, len(wanted))]
    parts = wanted.groupby(several[0], sort=False)
    return [one for _, part in parts for one in _selections(stored, part)]


def estimate(
    evidence: Evidence,
    notebook: str,
    statistic: str,
    row: pd.Series,
    *,
    unit: str = "",
    kind: type[Estimate] = Estimate,
    **more: Any,
) -> Any:
    """A row of results as data, a `kind`. more : further fields, or others than those of the row."""
    found: Mapping[str, Any] = row.dropna().to_dict()
    fields = {c: found[c] for c in (*_COPIED, *_ABOUT) if c in found}
    fields |= {"n": int(found["n"])} if "n" in found else {}
    fields |= {"n_of": found.get("resample_unit", ""), "unit": unit, "estimate": row["estimate"]}
    fields |= {"level": evidence.confidence} if "ci_low" in found else {}
    source = next(iter(sources(evidence, notebook, statistic, row.to_frame().T)), None)
    return kind(**(fields | {"source": source} | more))


#: notebook, statistic, rows
_Used: TypeAlias = Iterator[tuple[str, str, ResultRows]]


def turning_point(facts: Facts | None, evidence: Evidence) -> Estimate | None:
    """The number that an answer turns on: the mean of the first system, labels that are reliable (or r between runs),
    the chance of another order, comparisons decided, what was paid (or hours)."""
    if isinstance(facts, OrderFacts):
        return facts.top
    if isinstance(facts, AgreementFacts):
        return facts.best if facts.n == 1 else Estimate(estimate=facts.reliable.n, unit="labels", n=facts.n)
    if isinstance(facts, ReplicationFacts):
        return facts.overall
    if isinstance(facts, JudgesFacts) and facts.chance is not None:
        return Estimate(estimate=facts.chance, unit="share")
    if isinstance(facts, SampleFacts):
        family = evidence.tests["family"].dropna()
        about = {"family": family.iloc[0] if len(family) else None, "unit": "comparisons", "n": facts.n}
        return Estimate(estimate=facts.n_decided, **about)
    if isinstance(facts, CostFacts) and (facts.paid or facts.known):
        return Estimate(estimate=facts.paid or facts.hours, unit=facts.paid_currency or "hours")
    return None


def evidence_of(facts: Facts | None, evidence: Evidence, compared: Mapping[str, Any]) -> list[Source]:
    """Where the rows are stored that an answer rests on. compared : `analysis.sample`."""
    if isinstance(facts, OrderFacts):
        used = _order(facts, evidence)
    elif isinstance(facts, AgreementFacts):
        used = iter([(AGREEMENT, "alpha", analysis.labels(evidence)),
                     (PERFORMANCE, "order_reliability", analysis.reliability(evidence))])  # fmt: skip
    elif isinstance(facts, ReplicationFacts):
        used = iter([(REPEAT, "replication_r", analysis.repeats(evidence))])
    elif isinstance(facts, JudgesFacts):
        used = _judges(evidence)
    elif isinstance(facts, SampleFacts):
        used = _sample(evidence, compared)
    elif isinstance(facts, CostFacts):
        used = _cost(evidence)
    else:
        used = iter(())
    return [one for notebook, statistic, rows in used for one in sources(evidence, notebook, statistic, rows)]


def _order(facts: OrderFacts, evidence: Evidence) -> _Used:
    """Estimates, ranks and leads of all systems of the main evaluation."""
    stored, key = evidence.results[PERFORMANCE], {k: getattr(facts.evaluation, k) for k in PART}
    rows = where(analysis.order(evidence), **key)
    if facts.label:
        key |= {"label": rows["label"].iloc[0]}
        statistic = rows["statistic"].fillna("strength") if "statistic" in rows else pd.Series("strength", rows.index)
        for name, part in rows.groupby(statistic, sort=False):
            yield PERFORMANCE, name, part
        ranks = ("rank", "lead", "best_chance", "contrast")
    else:
        yield PERFORMANCE, "overall_level", where(stored["overall_level"], **key)
        ranks = ("overall_rank", "overall_lead", "overall_best_chance", "overall_contrast")
    for name in ranks:
        yield PERFORMANCE, name, where(stored[name], **key)


def _judges(evidence: Evidence) -> _Used:
    judged = analysis.judges(evidence)
    if judged["kind"] == "shares":
        place = dict(zip(PART[:2], judged["part"][:2], strict=True))
        for statistic in ("component_share", "order_reversal"):
            yield PERFORMANCE, statistic, where(evidence.results[PERFORMANCE][statistic], **place)
    if judged["groups"]:
        yield GROUPS, "group_difference_test", evidence.results[GROUPS]["group_difference_test"]
    for statistic in ("choice_agreement", "judge_alpha"):
        yield JUDGES, statistic, evidence.results[JUDGES][statistic]


def _sample(evidence: Evidence, compared: Mapping[str, Any]) -> _Used:
    # comparisons that cannot be made are counted as undecided, but are no evidence
    yield PERFORMANCE, "contrast", evidence.tests.dropna(subset="ci_low")
    yield PERFORMANCE, "difference_found", compared["detectable"]


def _cost(evidence: Evidence) -> _Used:
    stored = evidence.results[COST]
    yield COST, "unit_minutes", stored.select("unit_minutes", tasks="all")
    yield COST, "median_minutes", stored.select("median_minutes")
    yield REPEAT, "crowd_cost", evidence.results[REPEAT].select("crowd_cost", per="run")
