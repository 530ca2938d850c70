"""What is true in the simulated study: population values of the model, as tidy records."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from compendium.simulation import design, gaussian
from compendium.simulation.model import Measure, covariance, measures, moments, pairs
from judgebook.study.sections.data import Simulate

Records = list[dict[str, Any]]
_EQUAL = 1e-12


def truth(spec: Simulate) -> dict[str, Any]:
    """Population values of the simulated study; lists are tables, one record per row.

    means : by group, method, label and system: mean score (share of marks), or for comparisons the share of wins among
        comparisons with a winner (`win_share`) and the share of ties.
    quality : does the label matter? `signal` is the correlation of the dialogue's trait with quality, `r` that of the
        label's value of a dialogue (one annotator of sur_x) with the interactor's rating of its quality.
    effects : Cohen's d or h of each pair of systems.
    group_differences : mean absolute difference of effects between two groups (Finch et al. 2024); 0 is a true null.
    """
    labels = [(g, m) for g in design.GROUPS for m in measures(spec, g).values()]
    sizes = [r for g, m in labels for r in effects(g, m)]
    return {
        "simulated": "generated numbers: nothing here was observed",
        "parameters": spec.model_dump(),
        "systems": list(design.SYSTEMS),
        "means": [r for g, m in labels for r in _means(g, m)],
        "quality": _quality(spec),
        "effects": sizes,
        "group_differences": _group_differences(sizes),
    }


def _key(group: str, m: Measure) -> dict[str, str]:
    return {"group": group, "method": m.method, "label": m.label}


def _means(group: str, m: Measure) -> Records:
    if m.comparative:
        share, ties = win_shares(m)
        return [_key(group, m) | {"system": s, "win_share": share[i], "ties": ties[i]}
                for i, s in enumerate(design.SYSTEMS)]  # fmt: skip
    return [
        _key(group, m) | {"system": s, "mean": x} for s, x in zip(design.SYSTEMS, moments(m)[0].tolist(), strict=True)
    ]


def win_shares(m: Measure) -> tuple[list[float], list[float]]:
    """By system: share of wins among its comparisons that have a winner, and share of ties, over all other systems."""
    p = gaussian.marginal(m.system_cuts())
    left = np.array([i for i, _ in pairs()])
    wins = np.array([p[left == i, 2].mean() for i in range(len(design.SYSTEMS))])
    losses = np.array([p[left == i, 0].mean() for i in range(len(design.SYSTEMS))])
    return (wins / (wins + losses)).tolist(), (1 - wins - losses).tolist()


def effects(group: str, m: Measure) -> Records:
    """Population effect size of each pair of systems: Cohen's d, or for comparisons h of the win shares."""
    if m.comparative:
        position = 2 * np.arcsin(np.sqrt(win_shares(m)[0]))
        scale = {pair: 1.0 for pair in combinations(range(len(design.SYSTEMS)), 2)}
    else:
        position, variance = moments(m)
        scale = {(i, j): float(np.sqrt((variance[i] + variance[j]) / 2))
                 for i, j in combinations(range(len(design.SYSTEMS)), 2)}  # fmt: skip
    return [
        _key(group, m) | {"system": design.SYSTEMS[i], "system_b": design.SYSTEMS[j],
                          "effect": float((position[i] - position[j]) / scale[i, j])}
        for i, j in scale
    ]  # fmt: skip


def _group_differences(sizes: Records) -> Records:
    """Mean over pairs of systems of the absolute difference of effects between two groups, for shared labels."""
    table: dict[tuple, dict[str, list[float]]] = {}
    for r in sizes:
        table.setdefault((r["method"], r["label"]), {}).setdefault(r["group"], []).append(r["effect"])
    out = []
    for (method, label), by_group in table.items():
        for a, b in combinations(by_group, 2):
            difference = float(np.abs(np.subtract(by_group[a], by_group[b])).mean())
            difference = 0.0 if difference < _EQUAL else difference
            out.append({"method": method, "label": label, "group": a, "group_b": b, "difference": difference,
                        "null": difference == 0.0})  # fmt: skip
    return out


def _quality(spec: Simulate) -> Records:
    target = measures(spec, "stu_i")["dialogue_likert", "quality"]
    out = []
    for m in measures(spec, "sur_x").values():
        row = {"method": m.method, "label": m.label, "signal": m.relation, "related": m.relation != 0}
        out.append(row | {"r": None if m.comparative else quality_correlation(m, target)})
    return out


def quality_correlation(m: Measure, target: Measure) -> float:
    """Correlation over dialogues of all systems of the label's value (mean over turns) with the target rating."""
    shared = np.sqrt(m.signal * m.between * target.signal) * m.relation
    (mean, variance), (t_mean, t_variance) = moments(m), moments(target)
    cov = covariance(m, target, shared).mean() + np.mean(mean * t_mean) - mean.mean() * t_mean.mean()
    if m.between < 1:
        inverse = sum(share / n for n, share in design.TURNS.items())
        within = covariance(m, m, m.same_annotator)
        variance = within + (variance - within) * inverse
    spread = (variance.mean() + mean.var()) * (t_variance.mean() + t_mean.var())
    value = float(cov / np.sqrt(spread))
    return 0.0 if abs(value) < _EQUAL else value
