"""Coverage of intervals of rates, means, correlations and group differences, by simulation.

As in `alpha_coverage`, dialogues (interactors, for correlations) are drawn from the study's own with replacement, and
the true value is that of all of them.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
from scipy.special import chdtr, chndtr, stdtrit

from judgebook.annotations.dialogue_values import Design
from judgebook.questions.groups.effects import pair_effects
from judgebook.questions.groups.joint_resampling import mean_square_difference
from judgebook.questions.operating_characteristics.many_data_sets import Ends, cluster_ends
from judgebook.questions.operating_characteristics.monte_carlo import (
    Row,
    SimulationPlan,
    coverage_rows,
    mean,
    share,
    shared_out,
)
from judgebook.questions.performance.rate_intervals import design_effect, rare_bound, wilson_of
from judgebook.questions.sensitivity.panels import Panel
from judgebook.statistics.intervals import MIN_MINORITY

#: runs for which whole intervals of the debiased difference are solved for; its coverage needs no solving
SOLVED = 30
#: a system with fewer judged dialogues is left out
LEAST = 8


def _systems_of(data: Panel, column: int) -> list[np.ndarray]:
    """(dialogues, 3) number, sum and sum of squares of one label's scores, for each system with enough dialogues."""
    table = np.stack([data.n[:, column], data.total[:, column], data.squares[:, column]], axis=1)
    parts = [table[(data.system == s) & (table[:, 0] > 0)] for s in range(len(data.systems))]
    return [p for p in parts if len(p) >= LEAST]


def estimate_coverage(data: Panel, column: int, plan: SimulationPlan) -> list[Row]:
    """Coverage of intervals of a system's rate (marks) or mean of one label.

    Each run draws as many dialogues as the system has, the systems in turn. As published: Wilson for marks (`wilson`),
    Student's t for ratings (`t`), with items taken as independent. Over dialogues: bca, percentile, and for marks
    policy, which like notebook 07 takes `rate_intervals.rare_bound` where one of the two values is rare.
    """
    marks, label = data.marks, data.labels[column]
    rng, parts = plan.rng("estimate", data.method, label), _systems_of(data, column)
    ends_of: dict[str, list[np.ndarray]] = {}
    truth = []
    for table, n_runs in zip(parts, shared_out(plan.n_runs, len(parts)), strict=True):
        drawn = rng.integers(0, len(table), (n_runs, len(table)))
        ends = cluster_ends(table[:, :2], drawn, lambda sums: sums[:, 1] / sums[:, 0], plan, rng)
        n, total, squares = table[drawn].sum(axis=1).T
        if marks:
            independent = np.stack(wilson_of(total / n, n, plan.confidence), axis=1)
        else:
            independent = student(n, total, squares, plan)
        one = {"wilson" if marks else "t": independent, "bca": ends.bca, "percentile": ends.percentile}
        for kind, values in (one | ({"policy": _policy(table, drawn, ends, plan)} if marks else {})).items():
            ends_of.setdefault(kind, []).append(values)
        truth.append(np.full(n_runs, table[:, 1].sum() / table[:, 0].sum()))
    out = []
    for kind, of_parts in ends_of.items():
        keys: Row = {"of": "rate" if marks else "mean", "over": data.unit if kind in ("wilson", "t") else "dialogue"}
        keys |= {"sample": "dialogue", "sample_size": int(np.median([len(p) for p in parts]))}
        base: Row = {"level": data.unit, "method": data.method, "label": label, **keys}
        out += coverage_rows({kind: np.concatenate(of_parts)}, np.concatenate(truth), base)
    return out


def student(n: np.ndarray, total: np.ndarray, squares: np.ndarray, plan: SimulationPlan) -> np.ndarray:
    """(r, 2) ends of Student's t interval from r sizes, sums and sums of squares; missing where scores do not vary."""
    variance = np.maximum(squares - total**2 / n, 0) / (n - 1)
    half = stdtrit(n - 1, (1 + plan.confidence) / 2) * np.sqrt(variance / n)
    half = np.where(half > 0, half, np.nan)
    return np.stack([total / n - half, total / n + half], axis=1)


def _policy(table: np.ndarray, drawn: np.ndarray, ends: Ends, plan: SimulationPlan) -> np.ndarray:
    out, cached = ends.bca.copy(), {}
    for i, units in enumerate(drawn):
        n, total, squares = table[units].T
        marks, items = int(total.sum()), int(n.sum())
        if min(marks, items - marks) < MIN_MINORITY:
            deff = design_effect(n, total, squares)
            key = marks, items, round(deff, 6)
            if key not in cached:
                cached[key] = rare_bound(marks, items, len(units), deff, plan.confidence)
            out[i] = cached[key]
    return out


def correlation_coverage(design: Design, column: tuple[str, str], plan: SimulationPlan) -> list[Row]:
    """Coverage of intervals of r and R² of one label with quality; interactors are drawn with all their dialogues.

    R² has BCa (as published, but the paper resamples dialogues); r has BCa and jackknife_t (as in notebook 04),
    which is primary. `interval_power` of R² is the share of lower ends above 0: no interval of a square can contain 0.
    """
    x = design.x[column].to_numpy(float)
    finite = np.isfinite(x)
    x, y = x[finite] - x[finite].mean(), design.y[finite] - design.y[finite].mean()
    code = np.unique(design.clusters[finite].astype(str), return_inverse=True)[1]
    table = np.zeros((code.max() + 1, 6))
    np.add.at(table, code, np.column_stack([np.ones_like(x), x, y, x * x, y * y, x * y]))
    truth = float(_pearson(table.sum(axis=0)[None])[0])
    rng, n = plan.rng("correlation", design.target, *column), len(table)
    drawn = rng.integers(0, n, (plan.n_runs, n))
    r = cluster_ends(table, drawn, _pearson, plan, rng, expanded=False)
    square = cluster_ends(table, drawn, lambda sums: _pearson(sums) ** 2, plan, rng, expanded=False)
    base: Row = {"level": design.level, "method": column[0], "label": column[1]}
    base |= {"over": design.unit, "sample": design.unit, "sample_size": n}
    of_r = {"bca": r.bca, "jackknife_t": jackknife_ends(r.estimate, r.jackknife, plan.confidence)}
    out = coverage_rows({"bca": square.bca}, truth**2, base | {"of": "r2"}, power=True)
    return out + coverage_rows(of_r, truth, base | {"of": "r"}, power=True)


def jackknife_ends(estimate: np.ndarray, jackknife: np.ndarray, confidence: float) -> np.ndarray:
    """(r, 2) ends of the jackknife t interval of r correlations at once, from their leave-one-out values (r, j)."""
    c = jackknife.shape[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.arctanh(jackknife)
        error = np.sqrt((c - 1) / c * np.sum((z - z.mean(axis=1, keepdims=True)) ** 2, axis=1))
        half = stdtrit(c - 1, (1 + confidence) / 2) * error
        return np.tanh(np.arctanh(estimate)[:, None] + half[:, None] * [-1, 1])


def _pearson(sums: np.ndarray) -> np.ndarray:
    n, x, y, xx, yy, xy = sums.T
    vx, vy = xx - x * x / n, yy - y * y / n
    defined = (vx > 1e-12 * xx) & (vy > 1e-12 * yy)
    return np.where(defined, (xy - x * y / n) / np.sqrt(np.where(defined, vx * vy, 1.0)), np.nan)


def group_coverage(
    scores: list[np.ndarray], label: str, method: str, groups: tuple[str, str], plan: SimulationPlan
) -> list[Row]:
    """Coverage of intervals of the difference between two groups, as published and debiased.

    Parameters
    ----------
    scores : list with one (dialogues, 2) array per system
        The value that either group gave each dialogue that both judged.

    Returns
    -------
    Rows for two scenarios. observed: the true difference is that of all these dialogues. null: the two values of a
    dialogue are swapped at random, so there is no difference. As published (`effects.published`): mean over pairs of
    systems of the absolute difference of Cohen's d, BCa with scores resampled within system and group. Debiased
    (`joint_resampling.mean_square_difference`): the mean squared difference minus what sampling adds. And
    group_difference_bias of both.
    """
    tables = [np.stack([np.ones_like(x), x, x**2], axis=-1) for x in scores]  # (dialogues, groups, 3)
    whole = np.stack([t.sum(axis=0) for t in tables], axis=1)
    observed = _differences(whole[None])[0]
    out = []
    for scenario, gaps in (("observed", observed), ("null", np.zeros_like(observed))):
        rng = plan.rng("groups", method, label, *groups, scenario)
        samples = [_sample(t, plan.n_runs, scenario == "null", rng) for t in tables]  # (n, runs, groups, 3) each
        base: Row = {"level": "dialogue", "method": method, "label": label, "group": groups[0], "group_b": groups[1]}
        base |= {"sample_size": len(scores[0]), "scenario": scenario}
        coverage = base | {"of": "group_difference", "sample": "dialogue"}
        published, truth = _published(samples, plan, rng), float(np.abs(gaps).mean())
        out += coverage_rows({"bca": published.bca}, truth, coverage | {"over": "score"})
        rows, bias = _debiased(samples, gaps, plan)
        out += [coverage | {"interval": "noncentral_chi2", "over": "dialogue"} | row for row in rows]
        out.append(base | {"of": "debiased_square"} | bias)
        finite = published.estimate[np.isfinite(published.estimate)]
        out.append(base | {"of": "published"} | mean("group_difference_bias", finite - truth))
    return out


def _sample(table: np.ndarray, n_runs: int, swap: bool, rng: np.random.Generator) -> np.ndarray:
    n = len(table)
    out = table[rng.integers(0, n, (n_runs, n)).T]
    return np.where(rng.random((n, n_runs, 1, 1)) < 0.5, out[:, :, ::-1], out) if swap else out


def _differences(sums: np.ndarray) -> np.ndarray:
    """(…, pairs) differences of d between two groups, from sums (…, groups, systems, 3)."""
    # each quantity in one piece of memory: several times faster
    sums = np.moveaxis(np.ascontiguousarray(np.moveaxis(sums, (-3, -2, -1), (0, 1, 2))), (0, 1, 2), (-3, -2, -1))
    effects = pair_effects(sums, "d")
    return effects[..., 0, :] - effects[..., 1, :]


def _published(samples: list[np.ndarray], plan: SimulationPlan, rng: np.random.Generator) -> Ends:
    cells = [x[:, :, g] for g in (0, 1) for x in samples]  # scores are resampled within group and system

    def statistic(*sums: np.ndarray) -> np.ndarray:
        stacked = np.stack([x.T for x in sums]).reshape(2, len(samples), 3, -1)
        return np.abs(_differences(np.moveaxis(stacked, -1, 0))).mean(axis=-1)

    drawn = [np.tile(np.arange(len(x)), (x.shape[1], 1)) for x in cells]
    return cluster_ends(cells, drawn, statistic, plan, rng, expanded=False)


def _debiased(samples: list[np.ndarray], gaps: np.ndarray, plan: SimulationPlan) -> tuple[list[Row], Row]:
    """Coverage, power and width of the debiased difference, and its bias."""
    whole = np.stack([x.sum(axis=0) for x in samples], axis=2)  # (runs, groups, systems, 3)
    estimate, left_out = _differences(whole), []
    for s, x in enumerate(samples):
        without = np.broadcast_to(whole, (len(x), *whole.shape)).copy()
        without[:, :, :, s] -= x
        left_out.append(_differences(without))
    values = np.concatenate(left_out)  # (dialogues, runs, pairs)
    n = len(values)
    centred = values - values.mean(axis=0)
    covariance = (n - 1) / n * np.einsum("nri,nrj->rij", centred, centred)  # as jackknife_covariance
    truth, finite = (
        float(np.mean(gaps**2)),
        np.isfinite(estimate).all(axis=1) & np.isfinite(covariance).all(axis=(1, 2)),
    )
    estimate, covariance = estimate[finite], covariance[finite]
    hits, none = (holds(estimate, covariance, value, plan.confidence) for value in (truth, 0.0))
    ends = [mean_square_difference(*e, plan.confidence)[1:] for e in zip(estimate[:SOLVED], covariance, strict=False)]
    width = np.diff(np.sqrt(np.array(ends).reshape(-1, 2)), axis=1)[:, 0]
    debiased = np.mean(estimate**2, axis=1) - np.trace(covariance, axis1=1, axis2=2) / estimate.shape[1]
    rows = [
        share("interval_coverage", int(hits.sum()), len(hits)),
        share("interval_power", int(np.sum(~none)), len(none)),
        mean("interval_width", width),
    ]
    undefined = {"n_undefined": int(np.sum(~finite))}
    return [row | undefined for row in rows], mean("group_difference_bias", debiased - truth)


def holds(estimate: np.ndarray, covariance: np.ndarray, truth: float, confidence: float) -> np.ndarray:
    """(r,) whether the interval of `mean_square_difference` contains the true value, without solving for its ends.

    estimate : (r, pairs). covariance : (r, pairs, pairs). An end is where the noncentral chi-square leaves a tail, so
    the truth lies inside where it leaves more.
    """
    m, tail = estimate.shape[1], (1 - confidence) / 2
    q, noise = np.sum(estimate**2, axis=1), np.trace(covariance, axis1=1, axis2=2)
    c = np.sum(covariance**2, axis=(1, 2)) / noise
    at = truth * m / c

    def below(x: np.ndarray) -> np.ndarray:
        central = chdtr(noise / c, x)
        return np.where(at > 0, chndtr(x, noise / c, np.where(at > 0, at, 1.0)), central)

    return (below(q / c) <= 1 - tail) & (below(np.maximum(q, noise) / c) >= tail)


def shared_scores(values: pd.DataFrame, method: str, label: str, groups: tuple[str, str]) -> list[np.ndarray]:
    """One (dialogues, 2) array per system: the value that either group gave each dialogue that both judged."""
    rows = values[(values["method"] == method) & (values["label"] == label) & values["group"].isin(groups)]
    wide = rows.pivot_table(index=["system", "dialogue"], columns="group", values="value").dropna()
    if set(groups) - set(wide.columns):
        return []
    return [part[list(groups)].to_numpy(float) for _, part in wide.groupby(level="system")]


def most_shared(values: pd.DataFrame, methods: tuple[str, ...]) -> tuple[str, str, str] | None:
    """Method and two groups with most dialogues in common; None where no two groups share any."""
    rows = values[values["method"].isin(methods) & values["dialogue_b"].isna()]
    best, most = None, 0
    for method, part in rows.groupby("method", sort=False):
        who = part.groupby("group", sort=False)["dialogue"].agg(set)
        for a, b in combinations(who.index, 2):
            if len(who[a] & who[b]) > most:
                best, most = (method, a, b), len(who[a] & who[b])
    return best
