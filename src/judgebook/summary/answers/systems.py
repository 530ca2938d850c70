"""Which system is best, and were there enough data: facts of `summary.analysis` as data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from judgebook.display.names import DisplayNames
from judgebook.questions.performance import leading
from judgebook.questions.performance.fitted import POWER
from judgebook.questions.performance.leading import PART
from judgebook.study.labels import METHODS
from judgebook.study.results import ResultRows
from judgebook.study.schema import ALL_RUNS
from judgebook.summary import wording
from judgebook.summary.answers import facts, margins, verdicts
from judgebook.summary.answers.parts import Evaluation, Sizes, Span
from judgebook.summary.answers.sources import estimate
from judgebook.summary.evidence import PERFORMANCE, Evidence, of_part, parts

#: length of a scale above which differences are told with one decimal instead of two
FINE = 20
_RANKS = ("rank", "rank_low", "rank_high", "lead", "lead_low", "lead_high", "p_best", "verdict")


def order_verdict(order: facts.OrderFacts) -> verdicts.Order:
    top = order.top
    if top.rank_low is None or any(one.rank_low is None for one in order.systems):
        return verdicts.Order.NO_INTERVAL
    if top.rank_high != 1:
        return verdicts.Order.OPEN
    return verdicts.Order.ONE_ANNOTATOR if order.people.dominated else verdicts.Order.FIRST


def order(evidence: Evidence, rows: ResultRows, names: DisplayNames) -> facts.OrderFacts:
    """rows : `analysis.order`, of which there are some."""
    (part, main), *others = rows.groupby(PART, sort=False)
    lead = leading.leaders(main)
    label, n_labels = wording.label_of_order(main, names), int(main["n_labels"].iloc[0])
    systems = [_ranked(evidence, row, names) for _, row in main.iterrows()]
    rivals = [names.name("system", s) for s in lead["rivals"]]
    whole = part[0] == ALL_RUNS
    return facts.OrderFacts(
        runs=of_part(evidence.counted, part)["corpus"].nunique() if whole else 0,
        evaluation=Evaluation(**dict(zip(PART, part, strict=True)), title=wording.evaluation(part, evidence, names)),
        method=names.name("method", part[2]),
        people=evidence.population(*part[:2]),
        judged=of_part(evidence.counted, part)["annotator"].nunique(),
        top=systems[0],
        second=systems[1] if len(systems) > 1 else None,
        systems=systems,
        name=systems[0].name,
        n=lead["n"],
        n_others=lead["n"] - 1,
        n_rivals=len(rivals),
        rivals=rivals,
        wins=lead["wins"],
        tiers=[[names.name("system", s) for s in tier] for tier in leading.tiers(evidence.results[PERFORMANCE], main)],
        label=label,
        n_labels=n_labels,
        level=evidence.confidence,
        others=_elsewhere(others, evidence, names, part if whole else None),
        margin=margins.against_first(evidence, part, list(main["system"]), names),
    )


def highest(one: Mapping[str, Any], names: DisplayNames) -> dict[str, Any]:
    """What is told of the highest system on a label without direction. one : of `analysis.highest`."""
    said: dict[str, Any] = {
        "label": names.name("label", one["label"], one["method"]),
        "system": names.name("system", one["system"]),
    }
    said |= {"value": one["value"], "second": "", "lead": None}
    if pair := one.get("contrast"):
        turn = 1 if pair["system"] == one["system"] else -1
        ends = sorted((turn * pair["ci_low"], turn * pair["ci_high"]))
        lead = {"estimate": turn * pair["estimate"], "ci_low": ends[0], "ci_high": ends[1]}
        said |= {"second": names.name("system", one["second"]), "lead": lead}
    return said


def _ranked(evidence: Evidence, row: pd.Series, names: DisplayNames) -> facts.Ranked:
    """A system of an order; its estimate stands where its label's or the overall mean does."""
    given = row.get("statistic")
    statistic = "overall_level" if pd.isna(row["label"]) else "strength" if pd.isna(given) else str(given)
    more = {c: row[c] for c in _RANKS} | {"name": names.name("system", row["system"])}
    return estimate(evidence, PERFORMANCE, statistic, row, unit=row["unit"], kind=facts.Ranked, **more)


def _elsewhere(
    others: Any, evidence: Evidence, names: DisplayNames, whole: tuple[str, str, str] | None
) -> facts.Elsewhere:
    """whole : the evaluation of all runs that the order is about."""
    leads = [(leading.leaders(rows), wording.evaluation(part, evidence, names)) for part, rows in others]
    certain = [
        facts.Certain(system=names.name("system", lead["top"]["system"]), evaluation=who)
        for lead, who in leads
        if lead["sure"]
    ]
    titles = [who for _, who in leads]
    tops = [rows.iloc[0] for part, rows in others if whole and part[1:] == whole[1:]]
    alone = [
        facts.Alone(
            system=names.name("system", top["system"]), run=names.name("corpus", top["corpus"]), p_best=top["p_best"]
        )
        for top in tops
    ]
    return facts.Elsewhere(n=len(leads), n_certain=len(certain), certain=certain, names=titles, alone=alone)


def sample_verdict(n: int, open_: int) -> verdicts.Sample:
    if open_ in (0, n):
        return verdicts.Sample.NOT_ENOUGH if open_ else verdicts.Sample.ENOUGH
    codes = {-1: verdicts.Sample.MOST, 0: verdicts.Sample.HALF, 1: verdicts.Sample.MINORITY}
    return codes[int(np.sign(2 * open_ - n))]


def sample(evidence: Evidence, compared: Mapping[str, Any], names: DisplayNames) -> facts.SampleFacts:
    """compared : `analysis.sample`, with comparisons."""
    place = {"corpus": compared["corpus"], "group": compared["group"]}
    counts = {key: compared.get(key, 0) for key in ("n", "n_differ", "n_alike", "open", "untested", "by_model")}
    return facts.SampleFacts(
        **counts,
        who=wording.run_and_group(tuple(place.values()), evidence, names),
        n_decided=compared["n"] - compared["open"],
        margins=compared["margins"],
        people=compared["people"],
        main=evidence.population(*parts(evidence)[0][:2]),
        detectable=detectable(evidence, compared, names),
    )


def detectable(evidence: Evidence, compared: Mapping[str, Any], names: DisplayNames) -> facts.Detectable | None:
    """Detectable differences of the main method; None where there are none. compared : `analysis.sample`."""
    rows = compared.get("detectable")
    if rows is None or rows.empty or not rows["most_per_system"].iloc[0]:
        return None
    method = rows["method"].iloc[0]
    unit = METHODS[method].unit
    scales = [names.labels[method, x].scale for x in rows["label"] if (method, x) in names.labels]
    share = unit == "pair" or all(scale == (0, 1) for scale in scales)
    largest = 1.0 if share else max(high - low for low, high in scales)
    times, middle, more = 100 if share else 1, rows["estimate"].median(), rows["more"].median()
    sizes, sessions = rows[["per_system", "most_per_system"]].iloc[0], rows[["sessions", "most_sessions"]].iloc[0]
    return facts.Detectable(
        method=names.name("method", method),
        unit="pair" if unit == "pair" else "dialogue",
        power=POWER,
        sizes=Sizes.of(sizes),
        sizes_doubled=Sizes.of(2 * sizes),
        of_sessions=Sizes.of(sessions) if sessions.notna().all() else None,
        n_labels=len(rows),
        pairs=int(rows["n"].max()),
        scale="percentage points" if share else "points",
        decimals=1 if share or largest > FINE else 2,
        scales=1 if share else len({high - low for low, high in scales}),
        differences=Span.of(times * rows["estimate"]),
        difference=times * middle,
        difference_more=times * more,
        difference_doubled=times * middle / 2**0.5,
        less=1 - more / middle,
        beyond=bool(middle > largest),
        others=compared["people"].others,
        margins=list(margins.found(evidence, rows, names)),
    )
