"""What is true in the simulated study: population values of the model, as tidy records."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from compendium.simulation import design, gaussian
from compendium.simulation.evaluations import bot_quality, pass_probability, pilot_measures
from compendium.simulation.model import Measure, alpha, covariance, measures, moments, pairs
from judgebook.study.sections.data import Simulate

Records = list[dict[str, Any]]
_EQUAL = 1e-12


def truth(spec: Simulate) -> dict[str, Any]:
    """Population values of the simulated study; lists are tables, one record per row.

    means : by group, method, label and system: mean score (share of marks), or for comparisons the share of wins among
        comparisons with a winner (`win_share`) and the share of ties.
    agreement : alpha of two different annotators; correlation of their normal variables within a system; of two turns
        of a dialogue under one annotator.
    quality : does the label matter? `signal` is the correlation of the dialogue's trait with quality, `r` that of the
        label's value of a dialogue (one annotator of sur_x) with the interactor's rating of its quality.
    effects, equal_systems : Cohen's d or h of each pair of systems; pairs in which it is exactly 0.
    group_differences : mean absolute difference of effects between two groups (Finch et al. 2024); 0 is a true null.
    """
    labels = [(g, m) for g in design.GROUPS for m in measures(spec, g).values()]
    sizes = [r for g, m in labels for r in effects(g, m)]
    return {
        "simulated": "generated numbers: nothing here was observed",
        "parameters": spec.model_dump(),
        "systems": list(design.SYSTEMS),
        "means": [r for g, m in labels for r in _means(g, m)],
        "agreement": [_agreement(g, m) for g, m in labels],
        "quality": _quality(spec),
        "effects": sizes,
        "equal_systems": _equal(sizes),
        "group_differences": _group_differences(sizes),
        "bot_pilots": [{"system": b, "dialogues": p.dialogues, "quality": _pilot_mean(spec, b)}
                       for b, p in design.PILOT_BOTS.items()],
        "annotation_pilots": _annotation_pilots(spec),
        "screening": [{"workforce": w, "task": t, "passes": pass_probability(w, t)}
                      for w in design.WORKFORCES for t in design.DIFFICULTY],
        "minutes": [{"task": t, "median": m} for t, m in design.MINUTES.items()],
    }  # fmt: skip


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


def _agreement(group: str, m: Measure) -> dict[str, Any]:
    return _key(group, m) | {"alpha": alpha(m), "signal": m.signal, "same_annotator": m.same_annotator}


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


def _equal(sizes: Records) -> Records:
    return [{k: v for k, v in r.items() if k != "effect"} for r in sizes if abs(r["effect"]) < _EQUAL]


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


def _pilot_mean(spec: Simulate, bot: str) -> float:
    return float(moments(bot_quality(spec, bot))[0][0])


def _annotation_pilots(spec: Simulate) -> Records:
    """Alpha pooled over all labels, by round and kind of annotators, as Table 8 has it."""
    out = []
    for number, round_ in enumerate(design.PILOT_ROUNDS, start=1):
        for kind in ("all", *round_.odds):
            value = _pooled_alpha(spec, round_, kind)
            out += [] if value is None else [{"round": number, "kind": kind, "alpha": value}]
    return out


def _pooled_alpha(spec: Simulate, round_: design.PilotRound, kind: str) -> float | None:
    """None where no two annotators of the kind share a dialogue.

    Pairs of annotators of a unit have the weight of one over their number minus one, as in Krippendorff's coincidences.
    """
    table, weights = np.zeros((2, 2)), 0.0
    system = design.SYSTEMS.index(design.PILOT_SYSTEM[1])
    by_kind = {k: list(pilot_measures(spec, odds).values()) for k, odds in round_.odds.items()}
    for n, annotators in round_.blocks:
        kinds = [a[0] for a in annotators if kind in ("all", a[0])]
        for a, b in combinations(kinds, 2):
            cuts = [(x.system_cuts()[system], np.sqrt(x.signal * y.signal))
                    for x, y in zip(by_kind[a], by_kind[b], strict=True)]  # fmt: skip
            weight = n / (len(kinds) - 1)
            table += weight * np.mean([gaussian.joint(c, c, r) for c, r in cuts], axis=0)
            weights += weight
    return gaussian.ordinal_alpha(table / weights) if weights else None
