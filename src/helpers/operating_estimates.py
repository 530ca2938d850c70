"""How often intervals of rates, means, correlations, group differences and ranks hold the truth, by simulation.

As `operating_coverage`, which says what is drawn and what the result rows are: dialogues (interactors) are drawn from
the study's own with replacement, and the truth is the value of all of them.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd

from helpers.contrasts import Panel
from helpers.distributions import chi2_cdf, ncx2_cdf, t_ppf
from helpers.effects import pair_effects
from helpers.groups import mean_square_difference
from helpers.operating_coverage import Plan, Row, mean, rows_of, share
from helpers.operating_intervals import Ends, cluster_ends, draws, spread, times
from helpers.ranking import rank_intervals
from helpers.rates import design_effect, rare_bound, wilson_of
from helpers.resampling import MIN_MINORITY, Replicates
from helpers.schema import condition
from helpers.values import Design

#: runs for which whole intervals of the debiased difference are solved for; its coverage needs no solving
SOLVED = 30


# --- rates and means -------------------------------------------------------------------------------------------------


def _systems_of(data: Panel, column: int, least: int = 8) -> list[np.ndarray]:
    """(dialogues, 3) number, sum and sum of squares of one label's scores, for each system with enough dialogues."""
    table = np.stack([data.n[:, column], data.total[:, column], data.squares[:, column]], axis=1)
    parts = [table[(data.system == s) & (table[:, 0] > 0)] for s in range(len(data.systems))]
    return [p for p in parts if len(p) >= least]


def estimate_coverage(data: Panel, column: int, plan: Plan) -> list[Row]:
    """Coverage of the interval of one system's rate (marks) or mean, as published and over dialogues.

    Each run draws as many dialogues as the system has, the systems in turn. As published: Wilson for marks, Student's t
    for ratings, all items taken as independent. Ours: bca over dialogues; for marks also policy, which with fewer than
    20 of one kind takes `rates.rare_bound` as notebook 07 does.

    No second source exists; checked by simulation of dialogues that differ, and its closed forms against `rates.wilson`
    and `rates.student_t`.
    """
    marks = data.published_test == "z"
    label = data.labels[column]
    rng = plan.rng("estimate", data.method, label)
    parts = _systems_of(data, column)
    found: dict[str, list[np.ndarray]] = {}
    truth = []
    for table, n_runs in zip(parts, spread(plan.n_runs, len(parts)), strict=False):
        drawn = draws(len(table), len(table), n_runs, rng)
        options = {"n_resamples": plan.n_resamples, "rng": rng, "confidence": plan.confidence}
        ends = cluster_ends(table[:, :2], drawn, lambda sums: sums[:, 1] / sums[:, 0], **options)
        sums = table[drawn].sum(axis=1)
        n, s, _ = sums.T
        plain = np.stack(wilson_of(s / n, n, plan.confidence), axis=1) if marks else student(*sums.T, plan)
        found.setdefault("wilson" if marks else "t", []).append(plain)
        found.setdefault("bca", []).append(ends.bca)
        found.setdefault("percentile", []).append(ends.percentile)
        if marks:
            found.setdefault("policy", []).append(_policy(table, drawn, ends, plan))
        truth.append(np.full(n_runs, table[:, 1].sum() / table[:, 0].sum()))
    n = int(np.median([len(p) for p in parts])) if parts else 0
    base = {"level": data.unit, "method": data.method, "label": label}
    out = []
    for name, ends in found.items():
        over = data.unit if name in ("wilson", "t") else "dialogue"
        keys = {"of": "rate" if marks else "mean", "interval": name, "over": over, "sample": "dialogue", "n": n}
        out += rows_of(np.concatenate(ends), np.concatenate(truth), base, **keys)
    return out


def student(n: np.ndarray, total: np.ndarray, squares: np.ndarray, plan: Plan) -> np.ndarray:
    """(r, 2) ends of Student's t interval; missing where scores do not vary. Checked against `rates.student_t`."""
    variance = np.maximum(squares - total**2 / n, 0) / (n - 1)
    half = t_ppf((1 + plan.confidence) / 2, n - 1) * np.sqrt(variance / n)
    half = np.where(half > 0, half, np.nan)
    return np.stack([total / n - half, total / n + half], axis=1)


def _policy(table: np.ndarray, drawn: np.ndarray, ends: Ends, plan: Plan) -> np.ndarray:
    out, known = ends.bca.copy(), {}
    for i, units in enumerate(drawn):
        n, s, q = table[units].T
        marks, total = int(s.sum()), int(n.sum())
        if min(marks, total - marks) < MIN_MINORITY:
            deff = design_effect(n, s, q)
            key = marks, total, round(deff, 6)
            if key not in known:
                known[key] = rare_bound(marks, total, len(units), deff, plan.confidence)
            out[i] = known[key]
    return out


# --- correlation with quality ----------------------------------------------------------------------------------------


def correlation_coverage(design: Design, column: tuple[str, str], plan: Plan) -> list[Row]:
    """Coverage of intervals of r and R² of one label with quality; interactors are drawn, all their dialogues together.

    bca of R² (as published, save that the paper resamples dialogues), bca of r, and jackknife_t of r, which is primary
    (`validity.jackknife_t`). `interval_power` of R² is the share of lower ends above 0: an interval of a square cannot
    hold 0.

    No second source exists; checked by simulation with a known correlation, and its jackknife against
    `validity.jackknife_t`.
    """
    x = design.x[column].to_numpy(float)
    known = np.isfinite(x)
    x, y = x[known] - x[known].mean(), design.y[known] - design.y[known].mean()
    code = np.unique(design.clusters[known].astype(str), return_inverse=True)[1]
    table = np.zeros((code.max() + 1, 6))
    np.add.at(table, code, np.column_stack([np.ones_like(x), x, y, x * x, y * y, x * y]))
    truth = float(_pearson(table.sum(axis=0)[None])[0])
    rng = plan.rng("correlation", design.target, *column)
    drawn, n = draws(len(table), len(table), plan.n_runs, rng), len(table)
    options = {"n_resamples": plan.n_resamples, "confidence": plan.confidence}
    r = cluster_ends(table, drawn, _pearson, rng=rng, keep_jackknife=True, **options)
    square = cluster_ends(table, drawn, lambda sums: _pearson(sums) ** 2, rng=rng, **options)
    base = {"level": design.level, "method": column[0], "label": column[1]}
    keys = {"over": design.unit, "sample": design.unit, "n": n}
    out = rows_of(square.bca, truth**2, base, zero=True, of="r2", interval="bca", **keys)
    out += rows_of(r.bca, truth, base, zero=True, of="r", interval="bca", **keys)
    both = jackknife_ends(r.estimate, r.jackknife, plan.confidence)
    return out + rows_of(both, truth, base, zero=True, of="r", interval="jackknife_t", **keys)


def jackknife_ends(estimate: np.ndarray, jackknife: np.ndarray, confidence: float) -> np.ndarray:
    """(r, 2) ends of `validity.jackknife_t` of many correlations at once. Checked against it."""
    c = jackknife.shape[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.arctanh(jackknife)
        error = np.sqrt((c - 1) / c * np.sum((z - z.mean(axis=1, keepdims=True)) ** 2, axis=1))
        half = t_ppf((1 + confidence) / 2, c - 1) * error
        return np.tanh(np.arctanh(estimate)[:, None] + half[:, None] * [-1, 1])


def _pearson(sums: np.ndarray) -> np.ndarray:
    n, x, y, xx, yy, xy = sums.T
    vx, vy = xx - x * x / n, yy - y * y / n
    defined = (vx > 1e-12 * xx) & (vy > 1e-12 * yy)
    return np.where(defined, (xy - x * y / n) / np.sqrt(np.where(defined, vx * vy, 1.0)), np.nan)


# --- differences between evaluator groups ----------------------------------------------------------------------------


def group_coverage(scores: list[np.ndarray], label: str, method: str, groups: tuple[str, str], plan: Plan) -> list[Row]:
    """Coverage of intervals of the difference between two groups, as published and debiased.

    scores : one array a system, (dialogues, 2), what either group gave each dialogue that both judged. Two scenarios:
    observed, the difference is that of all these dialogues; null, what the two groups said of a dialogue is swapped at
    random, so that nothing differs in truth. As published (`effects.published`): mean over pairs of systems of the
    absolute difference of Cohen's d, bca with scores resampled within system and group. Ours
    (`groups.mean_square_difference`): the mean squared difference less what sampling adds.

    No second source exists; checked by simulation of groups that do not differ.
    """
    tables = [np.stack([np.ones_like(x), x, x**2], axis=-1) for x in scores]  # (dialogues, groups, 3)
    whole = np.stack([t.sum(axis=0) for t in tables], axis=1)
    observed = _differences(whole[None])[0]
    out = []
    for scenario, gaps in (("observed", observed), ("null", np.zeros_like(observed))):
        rng = plan.rng("groups", method, label, *groups, scenario)
        samples = [_sample(t, plan.n_runs, scenario == "null", rng) for t in tables]  # (n, runs, groups, 3) each
        base = {"level": "dialogue", "method": method, "label": label, "group": groups[0], "group_b": groups[1]}
        keys = {"of": "group_difference", "sample": "dialogue", "n": len(scores[0]), "scenario": scenario}
        published = _published(samples, plan, rng)
        truth = float(np.abs(gaps).mean())
        out += rows_of(published.bca, truth, base, interval="bca", over="score", **keys)
        out += _debiased(samples, gaps, base, keys, plan)
        bias = condition(of="published", scenario=scenario, n=len(scores[0]))
        given = published.estimate[np.isfinite(published.estimate)]
        out.append(base | mean("group_difference_bias", given - truth) | {"condition": bias})
    return out


def _sample(table: np.ndarray, n_runs: int, swap: bool, rng: np.random.Generator) -> np.ndarray:
    n = len(table)
    out = table[draws(n, n, n_runs, rng).T]
    return np.where(rng.random((n, n_runs, 1, 1)) < 0.5, out[:, :, ::-1], out) if swap else out


def _differences(sums: np.ndarray) -> np.ndarray:
    """(…, pairs) differences of d between two groups, from sums (…, groups, systems, 3)."""
    # each quantity in one piece of memory: several times faster
    sums = np.moveaxis(np.ascontiguousarray(np.moveaxis(sums, (-3, -2, -1), (0, 1, 2))), (0, 1, 2), (-3, -2, -1))
    effects = pair_effects(sums, "d")
    return effects[..., 0, :] - effects[..., 1, :]


def _published(samples: list[np.ndarray], plan: Plan, rng: np.random.Generator) -> Ends:
    cells = [x[:, :, g] for g in (0, 1) for x in samples]  # scores are resampled within group and system

    def statistic(*sums: np.ndarray) -> np.ndarray:
        stacked = np.stack([x.T for x in sums]).reshape(2, len(samples), 3, -1)
        return np.abs(_differences(np.moveaxis(stacked, -1, 0))).mean(axis=-1)

    drawn = [np.tile(np.arange(len(x)), (x.shape[1], 1)) for x in cells]
    options = {"n_resamples": plan.n_resamples, "rng": rng, "confidence": plan.confidence}
    return cluster_ends(cells, drawn, statistic, **options)


def _debiased(samples: list[np.ndarray], gaps: np.ndarray, base: Row, keys: Row, plan: Plan) -> list[Row]:
    whole = np.stack([x.sum(axis=0) for x in samples], axis=2)  # (runs, groups, systems, 3)
    estimate, left_out = _differences(whole), []
    for s, x in enumerate(samples):
        without = np.broadcast_to(whole, (len(x), *whole.shape)).copy()
        without[:, :, :, s] -= x
        left_out.append(_differences(without))
    values = np.concatenate(left_out)  # (dialogues, runs, pairs)
    n = len(values)
    centred = values - values.mean(axis=0)
    covariance = (n - 1) / n * np.einsum("nri,nrj->rij", centred, centred)  # as groups.jackknife_covariance
    truth, known = float(np.mean(gaps**2)), np.isfinite(estimate).all(axis=1) & np.isfinite(covariance).all(axis=(1, 2))
    estimate, covariance = estimate[known], covariance[known]
    hits, none = (holds(estimate, covariance, value, plan.confidence) for value in (truth, 0.0))
    ends = [mean_square_difference(*e, plan.confidence)[1:] for e in zip(estimate[:SOLVED], covariance, strict=False)]
    width = np.diff(np.sqrt(np.array(ends).reshape(-1, 2)), axis=1)[:, 0]
    debiased = np.mean(estimate**2, axis=1) - np.trace(covariance, axis1=1, axis2=2) / estimate.shape[1]
    rows = [
        share("interval_coverage", int(hits.sum()), len(hits)),
        share("interval_power", int(np.sum(~none)), len(none)),
        mean("interval_width", width),
    ]
    fixed = base | {"condition": condition(interval="noncentral_chi2", over="dialogue", **keys)}
    bias = {"condition": condition(of="debiased_square", scenario=keys["scenario"], n=keys["n"])}
    undefined = {"n_undefined": int(np.sum(~known))}
    return [fixed | r | undefined for r in rows] + [base | mean("group_difference_bias", debiased - truth) | bias]


def holds(estimate: np.ndarray, covariance: np.ndarray, truth: float, confidence: float) -> np.ndarray:
    """(r,) whether the interval of `groups.mean_square_difference` holds the truth, without solving for its ends.

    An end is where the noncentral chi-square leaves a tail; so the truth lies inside where it leaves more. Checked
    against the ends.
    """
    m, tail = estimate.shape[1], (1 - confidence) / 2
    q, noise = np.sum(estimate**2, axis=1), np.trace(covariance, axis1=1, axis2=2)
    c = np.sum(covariance**2, axis=(1, 2)) / noise
    at = truth * m / c

    def below(x: np.ndarray) -> np.ndarray:
        central = chi2_cdf(x, noise / c)
        return np.where(at > 0, ncx2_cdf(x, noise / c, np.where(at > 0, at, 1.0)), central)

    return (below(q / c) <= 1 - tail) & (below(np.maximum(q, noise) / c) >= tail)


# --- ranks -----------------------------------------------------------------------------------------------------------


def first_place(data: Panel, column: int, plan: Plan, *, n_systems: int = 4) -> list[Row]:
    """Bootstrap share of first place among systems that are equal: all are samples of one real system.

    Result rows `top_share` (the largest share: median and 95 % point over runs) and `interval_coverage` of the
    simultaneous rank intervals (`ranking.rank_intervals`): the share of runs in which each system may be at any rank.

    Checked by simulation: the median share of four equal systems is .56.
    """
    label = data.labels[column]
    rng = plan.rng("first_place", data.method, label)
    parts, top, joint = _systems_of(data, column), [], []
    for table, n_runs in zip(parts, spread(plan.n_runs, len(parts)), strict=False):
        n = len(table)
        samples = [table[draws(n, n, n_runs, rng).T][:, :, :2] for _ in range(n_systems)]
        sums = [np.tensordot(times(n, plan.n_resamples, rng), x, axes=(1, 0)) for x in samples]
        sums = np.stack(sums, axis=2)
        values = sums[..., 1] / sums[..., 0]  # (resamples, runs, systems)
        whole = np.stack([x.sum(axis=0) for x in samples], axis=1)
        estimate = whole[..., 1] / whole[..., 0]
        for i in range(n_runs):
            found = Replicates(estimate[i], values[:, i], None, None, None, "dialogue", n, False)
            _, low, high, first, _ = rank_intervals(found, plan.confidence)
            top.append(first.max())
            joint.append(bool(np.all(low <= 1) and np.all(high >= n_systems)) if np.isfinite(low).all() else np.nan)
    return _rank_rows(data, label, np.array(top), np.array(joint, dtype=float), n_systems, parts)


def _rank_rows(data: Panel, label: str, top: np.ndarray, joint: np.ndarray, n_systems: int, parts) -> list[Row]:
    n = int(np.median([len(p) for p in parts])) if parts else 0
    base = {"level": data.row, "method": data.method, "label": label, "resample_unit": data.row}
    out = []
    for point, level in (("median", 0.5), ("q95", 0.95)):
        found = {"estimate": float(np.quantile(top, level)), "n": len(top)} if len(top) else {"estimate": np.nan}
        keys = condition(of="mean", n=n, systems=n_systems, point=point)
        out.append(base | {"statistic": "top_share", "condition": keys} | found)
    known = joint[np.isfinite(joint)]
    keys = condition(of="rank", interval="simultaneous", over=data.row, sample=data.row, n=n)
    found = share("interval_coverage", int(known.sum()), len(known))
    return [*out, base | found | {"condition": keys, "n_undefined": int(len(joint) - len(known))}]


def shared_scores(values: pd.DataFrame, method: str, label: str, groups: tuple[str, str]) -> list[np.ndarray]:
    """One array a system, (dialogues, 2): the value either group gave each dialogue that both judged.

    Checked by hand.
    """
    rows = values[(values["method"] == method) & (values["label"] == label) & values["group"].isin(groups)]
    wide = rows.pivot_table(index=["system", "dialogue"], columns="group", values="value").dropna()
    if set(groups) - set(wide.columns):
        return []
    return [part[list(groups)].to_numpy(float) for _, part in wide.groupby(level="system")]


def most_shared(values: pd.DataFrame, methods: tuple[str, ...]) -> tuple[str, str, str] | None:
    """Method and two groups that have most dialogues in common, or None where no two groups share any.

    Checked by hand.
    """
    rows = values[values["method"].isin(methods) & values["dialogue_b"].isna()]
    best, most = None, 0
    for method, part in rows.groupby("method", sort=False):
        who = part.groupby("group", sort=False)["dialogue"].agg(set)
        for a, b in combinations(who.index, 2):
            if len(who[a] & who[b]) > most:
                best, most = (method, a, b), len(who[a] & who[b])
    return best
