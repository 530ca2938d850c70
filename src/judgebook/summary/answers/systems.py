"""Which system is best, also by the margins of the YAML, and were there enough data: facts of `summary.analysis` as
data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from judgebook.display.names import DisplayNames
from judgebook.display.text import number
from judgebook.questions.performance import leading
from judgebook.questions.performance.fitted import POWER
from judgebook.questions.performance.leading import ALIKE, DIFFER, FEW, PART, SLIGHTLY
from judgebook.study.labels import METHODS, Label
from judgebook.study.results import ResultRows
from judgebook.study.schema import ALL_RUNS
from judgebook.study.sections.margins import share, told
from judgebook.summary import wording
from judgebook.summary.answers import facts, verdicts
from judgebook.summary.answers.facts import Against, MarginFacts, MarginFound
from judgebook.summary.answers.parts import Evaluation, Sizes, Span
from judgebook.summary.answers.sources import estimate
from judgebook.summary.answers.verdicts import Margin
from judgebook.summary.evidence import PERFORMANCE, Evidence, of_part, parts
from judgebook.summary.pairs import comparisons


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
        margin=against_first(evidence, part, list(main["system"]), names),
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
        margins=list(found(evidence, rows, names)),
    )
