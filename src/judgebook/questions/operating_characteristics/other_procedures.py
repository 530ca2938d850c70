"""Coverage of the primary intervals of notebooks 09, 10 and 13, and size of the alternative annotator test.

As in `estimate_coverage` the units that an interval resamples (contexts, dialogues, workers) are drawn from the study's
own with replacement, and the true value is that of all of them. The alternative annotator test is tried on a judge who
is another annotator from the same world (`worlds`), and is therefore exactly as close to the others as any of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd

from judgebook.questions.judges.agreement import alpha_sums
from judgebook.questions.judges.alternative_annotator import MIN_ANNOTATORS, AnnotatorPanel
from judgebook.questions.judges.assisted import ASSISTED, HUMAN
from judgebook.questions.judges.items import JudgedItems
from judgebook.questions.judges.prediction_powered import Sums, estimate, hidden
from judgebook.questions.metrics import ceiling, correlations
from judgebook.questions.metrics.items import ScoredItems, clusters_of
from judgebook.questions.operating_characteristics.alpha_coverage import evenly
from judgebook.questions.operating_characteristics.as_used import ALPHA, base
from judgebook.questions.operating_characteristics.many_data_sets import cluster_ends
from judgebook.questions.operating_characteristics.monte_carlo import (
    Row,
    SimulationPlan,
    coverage_rows,
    mean,
    shared_out,
)
from judgebook.questions.operating_characteristics.worlds import PEOPLE, PlaceboWorld
from judgebook.questions.quality_control import replication
from judgebook.statistics.intervals import MIN_MINORITY

#: runs, and resamples in each, of intervals that are made one at a time, at most
ONE_BY_ONE, RESAMPLES = 400, 400
#: share of dialogues whose labels by people are kept, and what intervals with and without the judge are called
HIDDEN, _ASSISTED = 0.5, {HUMAN: "people_only", ASSISTED: "judge_assisted"}
#: contexts with a correlation, at least
LEAST = 10


def judge_coverage(items: JudgedItems, plan: SimulationPlan) -> Iterator[Row]:
    """Coverage of the intervals of the difference of alphas and of the change of systems' rates (`judge_alpha`,
    `rate_change`), BCa over dialogues. Samples with too few marks for an interval count as missing."""
    rows, alphas, *_ = alpha_sums(items)
    head: Row = {"level": items.head["level"], "method": items.label.method, "label": items.label.id}
    head |= {"over": "dialogue", "sample": "dialogue", "metric": items.key["metric"]}
    head |= {"ratings": float(items.human.shape[1])}
    n = len(items.system)
    table = np.zeros((n, rows.shape[1]))
    np.add.at(table, items.dialogue, rows)
    rng = plan.rng("judge_alpha", items.label.method, items.label.id, items.key["metric"])
    drawn = rng.integers(0, n, (plan.n_runs, n))
    ends = cluster_ends(table, drawn, lambda sums: alphas(sums)[:, -1], plan, rng).bca
    if items.label.binary:
        marks = np.column_stack([items.judge, items.human])
        per = np.zeros((n, marks.shape[1] + 1))
        np.add.at(per, items.dialogue, np.column_stack([marks, np.ones(len(marks))]))
        totals = per[drawn].sum(axis=1)
        of_sides = totals[:, :-1]
        # as `Patterns.n_minority`: the judge with each person, and people together
        pairs = of_sides[:, [0]] + of_sides[:, 1:]
        sums = np.column_stack([pairs, of_sides[:, 1:].sum(axis=1)])
        most = np.column_stack([np.tile(2 * totals[:, [-1]], pairs.shape[1]), items.human.shape[1] * totals[:, -1]])
        ends = np.where(np.minimum(sums, most - sums).min(axis=1)[:, None] >= MIN_MINORITY, ends, np.nan)
    truth = float(alphas(table.sum(axis=0, keepdims=True))[0, -1])
    yield from coverage_rows({"bca": ends}, truth, head | {"of": "judge_alpha", "sample_size": n})
    if not items.label.unordered:
        yield from _rate_change(items, plan, head)


def _rate_change(items: JudgedItems, plan: SimulationPlan, head: Row) -> Iterator[Row]:
    change = np.zeros((len(items.system), 2))
    np.add.at(change, items.dialogue, np.column_stack([np.ones(len(items.judge)), items.judge - items.human.mean(1)]))
    systems, ends, truth = sorted(set(items.system.tolist())), [], []
    rng = plan.rng("rate_change", items.label.method, items.label.id, items.key["metric"])
    for system, runs in zip(systems, shared_out(plan.n_runs, len(systems)), strict=True):
        table = change[items.system == system]
        drawn = rng.integers(0, len(table), (runs, len(table)))
        ends.append(cluster_ends(table, drawn, lambda s: s[:, 1] / s[:, 0], plan, rng).bca)
        truth.append(np.full(runs, table[:, 1].sum() / table[:, 0].sum()))
    size = {"of": "rate_change", "sample_size": int(np.median([np.sum(items.system == s) for s in systems]))}
    yield from coverage_rows({"bca": np.concatenate(ends)}, np.concatenate(truth), head | size)


def assisted_coverage(items: JudgedItems, plan: SimulationPlan) -> Iterator[Row]:
    """Coverage and width of judge-assisted intervals of means and differences of systems (`assisted`), beside those by
    people alone, where people's labels of a random half of the dialogues are hidden.

    In each run as many dialogues of each system are drawn as there are. Its intervals concern one system and one pair,
    in turn: runs are independent. Nothing of a label without a mean.
    """
    if items.label.unordered:
        return
    people = np.bincount(items.dialogue, items.human.mean(axis=1))
    model, size = np.bincount(items.dialogue, items.judge), np.bincount(items.dialogue).astype(float)
    systems = sorted(set(items.system.tolist()))
    rows_of = [np.flatnonzero(items.system == s) for s in systems]
    place = np.repeat(np.arange(len(systems)), [len(x) for x in rows_of])
    truth = np.array([people[x].sum() / size[x].sum() for x in rows_of])
    one = np.eye(len(systems))
    wanted = {"assisted_mean": list(one)}
    wanted["assisted_difference"] = [a - b for a, b in combinations(one, 2)]
    few = min(plan.n_runs, ONE_BY_ONE)
    rng = plan.rng("assisted", items.label.method, items.label.id, items.key["metric"])
    ends = {of: {raters: np.full((few, 2), np.nan) for raters in (HUMAN, ASSISTED)} for of in wanted}
    for run in range(few):
        at = np.concatenate([rng.choice(x, len(x)) for x in rows_of])
        drawn = Sums(systems, people[at], model[at], size[at], place, np.arange(len(at)), scale=items.label.scale)
        alone, with_model, _ = estimate(hidden(drawn, HIDDEN, rng))
        for of, weights in wanted.items():
            if weights:
                w = weights[run % len(weights)]
                intervals = {
                    HUMAN: alone.contrast(w, plan.confidence),
                    ASSISTED: with_model.contrast(w, plan.confidence),
                }
                for raters, row in intervals.items():
                    ends[of][raters][run] = row.get("ci_low", np.nan), row.get("ci_high", np.nan)
    head: Row = {
        "level": items.head["level"],
        "method": items.label.method,
        "label": items.label.id,
        "over": "dialogue",
    }
    head |= {"sample": "dialogue", "metric": items.key["metric"], "ratings": float(items.human.shape[1])}
    head |= {"sample_size": int(np.median([len(x) for x in rows_of]))}
    for of, weights in wanted.items():
        if weights:
            values = np.array([w @ truth for w in weights])[np.arange(few) % len(weights)]
            kinds = {_ASSISTED[raters]: intervals for raters, intervals in ends[of].items()}
            yield from coverage_rows(kinds, values, head | {"of": of})


def metric_coverage(
    scored: ScoredItems, joined: pd.DataFrame, with_others: pd.DataFrame, plan: SimulationPlan
) -> Iterator[Row]:
    """Coverage of the intervals of notebook 09 for one metric and label.

    `rho`, Spearman's correlation with the mean rating (BCa over contexts or dialogues, ranked anew; cluster-robust with
    very many, as in the notebook); `within_context`, its mean over contexts (BCa); `replaceability`, the metric's
    correlation with the other annotators minus that of the annotator left out (cluster-robust).

    scored : with one metric and one label. joined, with_others : the same items, of `items.join` and
    `ceiling.with_rest`.
    """
    head: Row = {"level": scored.head["level"], "method": scored.method, "label": scored.labels[0]}
    head |= {"metric": scored.metrics[0], "over": scored.unit, "sample": scored.unit, "sample_size": scored.n_clusters}
    head |= {"ratings": round(float(with_others.groupby(["dialogue", "turn"], dropna=False).size().mean()), 2)}
    names = (scored.method, scored.labels[0], scored.metrics[0])
    few = replace(plan, n_runs=min(plan.n_runs, ONE_BY_ONE), n_resamples=min(plan.n_resamples, RESAMPLES))
    kind = "cluster_robust" if scored.n_clusters > correlations.MANY_CLUSTERS else "bca"
    yield from coverage_rows({kind: _rho(scored, few, few.rng("rho", *names))}, _whole(scored), head | {"of": "rho"})
    for _, r in correlations.by_context(joined):
        values = r[np.isfinite(r)]
        if len(values) >= LEAST:
            rng, table = plan.rng("within_context", *names), np.column_stack([values, np.ones(len(values))])
            drawn = rng.integers(0, len(table), (plan.n_runs, len(table)))
            ends = cluster_ends(table, drawn, lambda s: s[:, 0] / s[:, 1], plan, rng).bca
            keys = head | {"of": "within_context", "sample_size": len(values)}
            yield from coverage_rows({"bca": ends}, float(values.mean()), keys)
    replaceable = ceiling.left_out_in_turn(with_others, confidence=plan.confidence)["difference"]
    if np.isfinite(replaceable["ci_low"]):
        ends = _replaced(with_others, few, few.rng("replaceability", *names))
        keys = head | {"of": "replaceability", "n_annotators": int(replaceable["n_annotators"])}
        yield from coverage_rows({"cluster_robust": ends}, float(replaceable["estimate"]), keys)


def _whole(scored: ScoredItems) -> float:
    from judgebook.statistics.correlation import correlate

    return correlate(scored.x[:, 0], scored.y[:, 0])[0]


def _rho(scored: ScoredItems, plan: SimulationPlan, rng: np.random.Generator) -> np.ndarray:
    rows = _members(scored.clusters)
    out = np.full((plan.n_runs, 2), np.nan)
    for run in range(plan.n_runs):
        at, clusters = _drawn(rows, rng)
        part = replace(scored, x=scored.x[at], y=scored.y[at], clusters=clusters)
        one = correlations.intervals_of(
            part, "spearman", rng, n_resamples=plan.n_resamples, confidence=plan.confidence
        )[0][0]
        out[run] = one.low, one.high
    return out


def _replaced(with_others: pd.DataFrame, plan: SimulationPlan, rng: np.random.Generator) -> np.ndarray:
    codes, unit = clusters_of(with_others)
    rows, out = _members(codes), np.full((plan.n_runs, 2), np.nan)
    needed = with_others[["annotator", "score", "value", "rest", "context", "dialogue"]]
    for run in range(plan.n_runs):
        at, clusters = _drawn(rows, rng)
        part = needed.iloc[at].assign(**{unit: clusters.astype(str)})
        replaceable = ceiling.left_out_in_turn(part, confidence=plan.confidence)["difference"]
        out[run] = replaceable["ci_low"], replaceable["ci_high"]
    return out


def _members(clusters: np.ndarray) -> list[np.ndarray]:
    return [np.flatnonzero(clusters == c) for c in range(int(clusters.max()) + 1)]


def _drawn(members: list[np.ndarray], rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows of as many clusters as there are, drawn with replacement, and which draw each belongs to."""
    chosen = rng.integers(0, len(members), len(members))
    at = np.concatenate([members[c] for c in chosen])
    return at, np.repeat(np.arange(len(chosen)), [len(members[c]) for c in chosen])


def replication_coverage(
    scores: pd.DataFrame, corpora: Sequence[str], systems: Sequence[str], families: Mapping[str, Sequence[str]],
    plan: SimulationPlan,
) -> Iterator[Row]:  # fmt: skip
    """Coverage of the interval over workers of r between runs (`replication.over_workers`), of overall means.

    The workers of each run are drawn from its own with replacement; the true value is the r to be expected of such
    runs, the mean on Fisher's scale.

    scores : rows of one group's ratings by known people, with `annotator`, `corpus`, `system`, `label`, `score`.
    """
    t = replication.tally(scores, "score", corpora, systems)
    quantity = replication.correlations(t, families, overall=True)
    rows: list[Row] = list(quantity.rows)
    took_part = t.count.sum(axis=(2, 3)) > 0
    strata = np.unique(took_part, axis=0, return_inverse=True)[1].reshape(-1)
    members, rng = _members(strata), plan.rng("replication", *corpora)
    few = min(plan.n_runs, ONE_BY_ONE)
    estimate, ends = np.empty((few, len(quantity.rows))), np.full((few, 2, len(quantity.rows)), np.nan)
    for run in range(few):
        drawn = np.concatenate([rng.choice(m, len(m)) for m in members])
        others = replace(t, people=[t.people[i] for i in drawn], total=t.total[drawn], count=t.count[drawn])
        replicated = replication.replicates(
            others, [quantity], rng, n_resamples=2
        )  # of which only the jackknife counts
        estimate[run] = replicated.estimate
        for i, row in enumerate(rows):
            one = replication.over_workers(replicated, i, row["n"], plan.confidence)
            ends[run, :, i] = one.low, one.high
    with np.errstate(divide="ignore"):
        z = np.arctanh(estimate)
    for i, row in enumerate(rows):
        finite = z[np.isfinite(z[:, i]), i]
        if len(finite) and row["n"] >= replication.LEAST_FOR_INTERVAL:
            keys: Row = {"level": "system", "of": "replication_r", "over": "worker", "sample": "worker"}
            keys |= {"sample_size": int(took_part.sum(axis=0).min()), "among": row["among"], "label": row["label"]}
            yield from coverage_rows({"jackknife_t": ends[:, :, i]}, float(np.tanh(finite.mean())), keys)


def placebo_judge(placebo: PlaceboWorld, plan: SimulationPlan, level: str) -> Iterator[Row]:
    """How often the alternative annotator test passes a judge who is exactly as close to the others as an annotator.

    The judge is one more annotator of the same world, in which no annotator has effects of their own, and is allowed to
    be no worse (cost 0): the hypothesis that it is no better is true, just so. Yields `null_rejection` of the test over
    dialogues: the mean over annotators of the share of runs with p below ALPHA, before the correction for several
    annotators. Nothing where fewer than three annotators have enough items.
    """
    d = placebo.design
    if d.annotator is None or d.pairwise:
        return
    item = pd.factorize(pd.MultiIndex.from_arrays([d.row, d.factors.get("item", d.row)]))[0]
    first = np.unique(item, return_index=True)[1]
    once = np.unique(item * d.n_annotators + d.annotator, return_index=True)[1]
    panel = AnnotatorPanel(item[once], d.annotator[once], d.row[first])
    if len(panel.n) < MIN_ANNOTATORS:
        return
    doubled = np.concatenate([np.arange(len(item)), first])
    loadings = placebo.loadings.copy()
    loadings[:, [i for i, f in enumerate(d.factors) if f in PEOPLE]] = 0.0
    extended = replace(
        d, score=d.score[doubled], system=d.system[doubled], factors={f: c[doubled] for f, c in d.factors.items()}
    )
    few = replace(plan, n_runs=min(plan.n_runs, ONE_BY_ONE))
    rng, n, passed = plan.rng("placebo_judge", d.method, d.label), len(item), []
    for chunk in replace(placebo, design=extended, loadings=loadings).draw(few.n_runs, rng):
        for scores in chunk:
            closer = panel.closer(scores[once], scores[n:], level)
            passed.append(np.mean(panel.p_clustered(closer, cost=0.0) < ALPHA))
    row = base(placebo, "fixed") | {"test": "alternative_annotator", "alpha": ALPHA, "scenario": "world"}
    yield row | mean("null_rejection", np.array(passed))


def chosen(items: Sequence[JudgedItems], most: int) -> list[JudgedItems]:
    """At most `most` labels of the first judge that has them, from the rarest marks to the commonest."""
    if not items:
        return []
    judge = items[0].key["metric"]
    of_judge = sorted((i for i in items if i.key["metric"] == judge), key=lambda i: i.human.mean())
    return [of_judge[i] for i in evenly(len(of_judge), most)]
