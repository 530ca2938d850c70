"""Comparisons: pairs of systems that were never compared, and preferences that go round in circles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtr

from judgebook.questions.design import changes
from judgebook.questions.design.material import Evaluation
from judgebook.questions.design.registry import UNKNOWN, NotCheckableError, PricedFacts, check
from judgebook.study.schema import Annotations

#: fewer pairs without a comparison are bridged by the others
UNCOMPARED = 0.2
#: level of the test of circles, over all triples of systems: each of the three preferences must be significant
CYCLES = 0.01
#: clusters of votes below which a pair has no standard error
_FEW = 5


def _need(part: Evaluation) -> pd.DataFrame:
    if part.votes.empty:
        raise NotCheckableError("No two systems were compared directly.")
    if len(part.systems) < 3:
        raise NotCheckableError("There are only two systems.")
    return part.votes


@check("uncompared_pairs", "order", "sample")
def uncompared(part: Evaluation) -> PricedFacts:
    """Pairs of systems that nobody compared."""
    votes = _need(part)
    systems = part.systems
    place = {s: i for i, s in enumerate(systems)}
    n = np.zeros((len(systems), len(systems)))
    np.add.at(n, (votes["system"].map(place), votes["system_b"].map(place)), 1)
    n += n.T
    a, b = np.triu_indices(len(systems), 1)
    never = n[a, b] == 0
    group = changes.components(np.vstack([n, np.eye(len(systems))]))
    if not never.any() or (never.mean() < UNCOMPARED and len(set(group)) == 1):
        return
    worst = int(np.argmax(never & (group[a] != group[b]) if len(set(group)) > 1 else never))
    facts: dict[str, Any] = {"n": int(never.sum()), "pairs": len(a), "components": len(set(group))}
    facts |= {"system": systems[a[worst]], "system_b": systems[b[worst]]}
    if facts["components"] > 1:
        yield UNKNOWN, facts
        return
    table = part.table[part.table["label"] == part.votes["label"].iloc[0]].set_index(["system", "system_b"])["se"]
    pairs = [(systems[i], systems[j]) for i, j in zip(a, b, strict=True)]
    se = table.reindex(pd.MultiIndex.from_tuples(pairs)).to_numpy()
    wider = float(np.nanmedian(se[never]) / np.nanmedian(se[~never]))
    yield max(np.nan_to_num(wider) - 1, float(never.mean())), facts | {"wider": wider}


@check("cycles", "order")
def cycles(part: Evaluation) -> PricedFacts:
    """A beats B, B beats C, and C beats A, all three beyond chance."""
    votes = _need(part)
    systems = part.systems
    worst: tuple[float, dict[str, Any]] | None = None
    for label, rows in votes.groupby("label"):
        mean, t, df = _preferences(rows, systems, part)
        k = len(systems)
        tests = k * (k - 1) * (k - 2) / 3
        with np.errstate(invalid="ignore"):
            p = np.nan_to_num(stdtr(np.maximum(df, 1), -t), nan=1.0)
        # all three must hold, so that the largest p-value is that of the circle (intersection-union test)
        largest = np.maximum(np.maximum(p[:, :, None], p[None, :, :]), p.T[:, None, :])
        i, j, m = np.unravel_index(np.argmin(largest), largest.shape)
        if largest[i, j, m] * tests >= CYCLES:
            continue
        facts = {"systems": [systems[i], systems[j], systems[m]], "label": label}
        facts["shares"] = [float((1 + mean[x, y]) / 2) for x, y in ((i, j), (j, m), (m, i))]
        facts["n"] = int((largest * tests < CYCLES).sum() // 3)
        price = float(min(t[i, j], t[j, m], t[m, i]))
        if worst is None or price > worst[0]:
            worst = price, facts
    if worst:
        yield worst


def _preferences(rows: Annotations, systems: list[str], part: Evaluation) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(m, m) mean score of a system (row) against another, its t value and degrees of freedom; NaN with few clusters.

    Votes of one annotator or on one context are not independent: the larger standard error counts.
    """
    place = {s: i for i, s in enumerate(systems)}
    m = len(systems)
    mean, t, df = (np.full((m, m), np.nan) for _ in range(3))
    kinds: list[str | None] = [
        c for c in ("context", "annotator") if rows[c].notna().all() and (c == "context" or part.known)
    ]
    turned = rows["system"] > rows["system_b"]
    low, high = rows["system"].where(~turned, rows["system_b"]), rows["system_b"].where(~turned, rows["system"])
    score = rows["score"].clip(-1, 1).where(~turned, -rows["score"].clip(-1, 1))
    for (one, other), scores in score.groupby([low, high]):
        average, errors = float(scores.mean()), []
        for kind in kinds or [None]:
            codes = rows.loc[scores.index, kind] if kind else pd.Series(range(len(scores)), scores.index)
            sums = (scores - average).groupby(codes).sum()
            c = len(sums)
            if c >= _FEW:
                errors.append((float(np.sqrt((sums**2).sum() * c / (c - 1))) / len(scores), c - 1))
        if not errors:
            continue
        se, free = max(errors)
        se = max(se, np.sqrt(0.05 / len(scores)))  # a unanimous pair is not certain
        i, j = place[one], place[other]
        mean[i, j], mean[j, i], t[i, j], t[j, i] = average, -average, average / se, -average / se
        df[i, j] = df[j, i] = free
    return mean, t, df
