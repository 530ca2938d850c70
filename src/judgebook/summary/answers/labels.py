"""Which labels can be trusted: agreement on labels that were judged twice, else whether another run repeats means."""

from __future__ import annotations

import pandas as pd

from judgebook.display.names import DisplayNames
from judgebook.questions.agreement.views import TENTATIVE
from judgebook.questions.quality_control.worker_tests import OVERALL
from judgebook.study.labels import METHODS
from judgebook.study.results import ResultRows
from judgebook.summary import analysis, wording
from judgebook.summary.analysis import DOUBTFUL, RELIABLE, TOO_FEW
from judgebook.summary.answers import facts, verdicts
from judgebook.summary.answers.parts import Estimate, Sizes
from judgebook.summary.answers.sources import estimate
from judgebook.summary.evidence import AGREEMENT, PERFORMANCE, REPEAT, Evidence


def agreement_verdict(about: facts.AgreementFacts) -> verdicts.Labels:
    if about.alike:
        return verdicts.Labels.UNDEFINED
    if about.reliable.n:
        return verdicts.Labels.RELIABLE if about.reliable.n == about.n else verdicts.Labels.PARTLY
    return verdicts.Labels.DOUBTFUL if about.doubtful.n == about.n else verdicts.Labels.NOT_SHOWN


def agreement(evidence: Evidence, judged: ResultRows, names: DisplayNames) -> facts.AgreementFacts:
    """judged : `analysis.labels`, of which there are some."""
    several = len(set(judged["method"])) > 1
    counted, aside = judged[judged["counts"]], judged[~judged["counts"]]
    free = counted[counted["ci_low"].notna()]
    alike = counted["estimate"].isna() & counted["note"].fillna("").str.contains("have the same value")
    groups = {"reliable": RELIABLE, "doubtful": DOUBTFUL, "few": TOO_FEW}
    threshold, whose = evidence.study.iaa.threshold, wording.spoken_of(counted, evidence)
    return facts.AgreementFacts(
        who=wording.run_and_group(tuple(judged.iloc[0][["corpus", "group"]]), evidence, names),
        **whose,
        n_fixed=len(counted) - (whose["n_sample"] or 0),
        n=len(counted),
        aside=_group(aside, names, several),
        aside_reliable=int((aside["verdict"] == RELIABLE).sum()),
        labels=[_alpha(evidence, row, names, several) for _, row in judged.iterrows()],
        **{key: _group(counted[counted["verdict"] == verdict], names, several) for key, verdict in groups.items()},
        best=_alpha(evidence, free.loc[free["estimate"].idxmax()], names, several) if len(free) else None,
        level=evidence.confidence,
        least=threshold,
        customary=threshold == TENTATIVE,
        means=_reliability(evidence, names, several),
        pairs=all(METHODS[method].unit == "pair" for method in counted["method"].unique()),
        alike=list(counted["note"].str.partition(":")[0].unique()) if alike.all() else [],
    )


def _alpha(evidence: Evidence, row: pd.Series, names: DisplayNames, several: bool) -> facts.LabelAlpha:
    more = {"verdict": row["verdict"], "name": wording.titled(row, names, several)}
    return estimate(evidence, AGREEMENT, "alpha", row, kind=facts.LabelAlpha, **more)


def _group(rows: ResultRows, names: DisplayNames, several: bool) -> facts.LabelGroup:
    rows = rows.sort_values("estimate", ascending=False)
    by_method = [
        facts.LabelsOfMethod(
            method=names.name("method", method) if several else "",
            names=[names.name("label", x, method) for x in part["label"]],
            n=len(part),
        )
        for method, part in rows.groupby("method", sort=False)
    ]
    return facts.LabelGroup(n=len(rows), by_method=by_method)


def _reliability(evidence: Evidence, names: DisplayNames, several: bool) -> list[facts.Reliability]:
    """Of system means, by method, which is named where several were judged."""
    rows, out = analysis.reliability(evidence), []
    for method, part in rows.groupby("method", sort=False):
        each = part["annotators_per_dialogue"]
        reliability = facts.Reliability(
            method=names.name("method", method) if several else "",
            n=len(part),
            row=estimate(evidence, PERFORMANCE, "order_reliability", part.iloc[0]),
            median=part["estimate"].median(),
            low=part["estimate"].min(),
            high=part["estimate"].max(),
            dialogues=Sizes.of(part["n_dialogues"]),
            annotators=Sizes.of(each) if each.max() > 1 else None,
        )
        out.append(reliability)
    return out


def replication(evidence: Evidence, names: DisplayNames) -> facts.ReplicationFacts:
    """Where no item was judged twice: whether system means repeat in another run."""
    rows = analysis.repeats(evidence)
    of_labels, whole = rows[rows["label"] != OVERALL], rows[rows["label"] == OVERALL]
    labels = [_r(evidence, row, names) for _, row in of_labels.iterrows()]
    overall = _r(evidence, whole.iloc[0], names) if len(whole) and labels else None
    sure = int((of_labels["ci_low"] > 0).sum())
    return facts.ReplicationFacts(
        replication=_replicated(overall, sure, len(labels)),
        overall=overall,
        least=labels[int(of_labels["estimate"].argmin())] if labels else None,
        labels=labels,
        n=len(labels),
        sure=sure,
        twice=bool(analysis.judged_twice(evidence).any()),
        workers=bool((rows["workers"] == "passed").any()),
        runs=[names.name("corpus", rows[c].iloc[0]) for c in ("against", "corpus") if len(rows)],
    )


def _replicated(overall: Estimate | None, sure: int, n: int) -> verdicts.Replication | None:
    if overall is None:
        return None
    if overall.ci_low is None or overall.ci_low <= 0:
        return verdicts.Replication.NOT_SHOWN
    return verdicts.Replication.PARTLY if sure < n else verdicts.Replication.REPLICATED


def replicated(evidence: Evidence, names: DisplayNames) -> Estimate | None:
    """r between means of systems over all labels, where its interval lies above 0."""
    rows = analysis.repeats(evidence)
    rows = rows[(rows["label"] == OVERALL) & (rows["ci_low"] > 0)]
    return _r(evidence, rows.iloc[0], names) if len(rows) else None


def _r(evidence: Evidence, row: pd.Series, names: DisplayNames) -> Estimate:
    label = row["label"]
    name = "" if label == OVERALL else names.name("label", label, wording.method_of(label, names))
    return estimate(evidence, REPEAT, "replication_r", row, name=name)
