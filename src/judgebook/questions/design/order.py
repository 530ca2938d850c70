"""Comparisons and their order: positions of responses, time, pairs of systems that were never compared, and preferences
that go round in circles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import bdtr, bdtrc, ndtri, stdtr

from judgebook.questions.design import changes
from judgebook.questions.design.material import ALPHA, UNKNOWN, Evaluation, NotCheckableError, PricedFacts, check
from judgebook.study.schema import Annotations

#: effects of position below this share of choices, and of time below these standard deviations, change little
CHOICES, SCORES = 0.05, 0.2
#: a system that is shown first in more than this share of its comparisons (or less than the rest) has its own position
OWN_POSITION = 0.8
#: probability that a judgement of a system is later than one of the others, from which it was judged after them
APART = 0.95
_FEW = 10
_POSITION = "It is not recorded which response was shown first."
#: fewer pairs without a comparison are bridged by the others
UNCOMPARED = 0.2
#: level of the test of circles, over all triples of systems: each of the three preferences must be significant
CYCLES = 0.01
#: clusters of votes below which a pair has no standard error
_CLUSTERS = 5


def _first(part: Evaluation) -> pd.DataFrame:
    """Comparisons with a known order: `first` is 1 where the left side was shown first, else -1."""
    votes = part.votes[part.votes["first_shown"].isin(["left", "right"])]
    return votes.assign(first=np.where(votes["first_shown"] == "left", 1, -1))


@check("order_effect", "order", "sample")
def effect(part: Evaluation) -> PricedFacts:
    """Positions that draw better judgements."""
    votes = _first(part)
    if votes.empty:
        raise NotCheckableError(_POSITION)
    won = np.sign(votes["score"]) * votes["first"]
    decided = votes.assign(won=won)[won != 0]
    # where nobody prefers a position, choices on different pairs are independent, whoever made them
    by = decided.groupby(["dialogue", "dialogue_b"])["won"].agg(["sum", "size"])
    n = int(by["size"].sum())
    if n < _FEW:
        return
    mean = by["sum"].sum() / n
    error = np.sqrt(((by["sum"] - mean * by["size"]) ** 2).sum() * len(by) / max(len(by) - 1, 1)) / n
    error = max(error, np.sqrt((1 - mean**2) / n), 1e-9)  # never below that of independent choices
    share = (1 + mean) / 2
    if abs(share - 0.5) < CHOICES or 2 * stdtr(max(len(by) - 1, 1), -abs(mean) / error) > ALPHA:
        return
    of_label = part.table.loc[part.table["label"].isin(votes["label"])]
    after = changes.change(of_label, changes.of_votes(votes, shift=votes["first"].to_numpy(float)))
    facts = {"share": float(share), "n": n, **after}
    yield max(changes.price(after), 4 * abs(share - 0.5) ** 2, 0.1), facts


@check("order_is_system", "order")
def coincides(part: Evaluation) -> PricedFacts:
    """A system that is nearly always shown first, or second."""
    part.need_systems()
    votes = _first(part)
    if votes.empty:
        raise NotCheckableError(_POSITION)
    left, right = votes[["system", "first"]], votes[["system_b", "first"]].set_axis(["system", "first"], axis=1)
    firsts = pd.concat([left, right.assign(first=-right["first"])])
    by = firsts.groupby("system")["first"].agg(["mean", "size"])
    by, overall = by[by["size"] >= _FEW], float((firsts["first"] > 0).mean())
    share = (1 + by["mean"]) / 2
    off = (share - overall).abs()
    p = [2 * min(bdtr(k, n, overall), bdtrc(k - 1, n, overall))
         for k, n in zip((share * by["size"]).round(), by["size"], strict=True)]  # fmt: skip
    out = by.index[(off >= OWN_POSITION - 0.5) & (np.array(p) < ALPHA / max(len(by), 1))]
    if not len(out):
        return
    worst = off[out].idxmax()
    facts = {"system": str(worst), "share": float(share[worst]), "n": int(by.loc[worst, "size"]), "cases": len(out)}
    yield UNKNOWN * min(2 * float(off[worst]), 1.0), facts


@check("drift", "order", "judges")
def drift(part: Evaluation) -> PricedFacts:
    """Systems judged at different times while severity shifts."""
    part.need_systems()
    rows = part.rated[part.rated["completed_at"].notna()]
    if len(rows) < 2 * _FEW:
        raise NotCheckableError("The data do not say when judgements were made.")
    units = rows.groupby(["label", "system", "annotator", "dialogue"])
    units = units.agg(score=("score", "mean"), time=("completed_at", "min")).reset_index()
    units["time"] = units["time"].rank() / len(units)
    whole = units.drop_duplicates(["annotator", "dialogue"])
    slope, z, moved = _trend(units)
    apart = _apart(whole)
    trend = abs(z) > -ndtri(ALPHA / 2) and abs(slope) >= SCORES
    facts = {"slope": slope, "trend": bool(trend), "moved": moved, **apart}
    if apart:
        yield (UNKNOWN if trend else 2.0), facts
    elif trend and abs(slope) >= 2.5 * SCORES:
        yield max(moved, 0.2), facts


def _apart(whole: pd.DataFrame) -> dict[str, Any]:
    """The system that was judged after (or before) nearly all others, if there is one: the probability that a judgement
    of it is later than one of another system, beyond chance with as many dialogues."""
    rank, total = whole["time"].rank(), len(whole)
    by = rank.groupby(whole["system"]).agg(["mean", "size"])
    later = (by["mean"] - (by["size"] + 1) / 2) / (total - by["size"])
    n = whole.groupby("system")["dialogue"].nunique()
    rest = n.sum() - n
    z = (later - 0.5).abs() * np.sqrt(12 * n * rest / (n.sum() + 1))
    out = later[((later - 0.5).abs() >= APART - 0.5) & (z > -ndtri(ALPHA / 2 / len(by)))]
    if out.empty:
        return {}
    system = (out - 0.5).abs().idxmax()
    return {"system": str(system), "later": float(out[system])}


def _trend(units: pd.DataFrame) -> tuple[float, float, float]:
    """Change of scores from first to last, in standard deviations, within system and annotator; z of it by dialogues;
    and how many standard errors it moves the difference between the earliest and the latest system."""
    cell = ["label", "system", "annotator"]
    y = units["score"] - units.groupby(cell)["score"].transform("mean")
    y = y / y.groupby(units["label"]).transform("std")
    x = units["time"] - units.groupby(cell)["time"].transform("mean")
    finite = np.isfinite(y) & np.isfinite(x)
    if not finite.any() or (total := float((x[finite] ** 2).sum())) <= 1e-9:
        return 0.0, 0.0, 0.0
    slope = float((x * y)[finite].sum() / total)
    share = ((x * (y - slope * x))[finite]).groupby(units["dialogue"][finite]).sum()
    # the means of cells take some of the residuals with them, of small cells much (CR1)
    n_cells, n_rows, n_clusters = len(units[finite].drop_duplicates(cell)), int(finite.sum()), len(share)
    free = (n_rows - 1) / max(n_rows - n_cells - 1, 1) * n_clusters / max(n_clusters - 1, 1)
    error = float(np.sqrt(free * (share**2).sum())) / total
    mean = units.groupby("system")["time"].mean()
    n = units.drop_duplicates("dialogue").groupby("system").size()
    gap = float(mean.max() - mean.min())
    return slope, slope / error if error > 0 else 0.0, abs(slope) * gap / float(np.sqrt(2 / n.median()))


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
    yield UNKNOWN if facts["components"] > 1 else float(never.mean()), facts


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
            if c >= _CLUSTERS:
                errors.append((float(np.sqrt((sums**2).sum() * c / (c - 1))) / len(scores), c - 1))
        if not errors:
            continue
        se, free = max(errors)
        se = max(se, np.sqrt(0.05 / len(scores)))  # a unanimous pair is not certain
        i, j = place[one], place[other]
        mean[i, j], mean[j, i], t[i, j], t[j, i] = average, -average, average / se, -average / se
        df[i, j] = df[j, i] = free
    return mean, t, df
