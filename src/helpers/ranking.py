"""Which system is best, and how sure can one be of any order?

`ranks` orders systems by their mean score, rate or bot-vs-all win rate; beside each rank stand an interval that holds
for all systems at once, and how often a system comes first when sessions are resampled. The latter is no probability
that the system is best: with four equal systems the largest such share has a median of .56. `win_rates` and
`bradley_terry` are for comparisons.

References: Mogstad, Romano, Shaikh and Wilhelm 2024, Inference for ranks, Review of Economic Studies 91, 476-518,
section 3; Bradley and Terry 1952, Biometrika 39, 324-345; Ford 1957, American Mathematical Monthly 64(8), 28-33 (when
strengths exist).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import combinations

import numpy as np
import pandas as pd

from helpers.labels import METHODS, Label
from helpers.rates import rare_interval
from helpers.resampling import Replicates, bootstrap_sums, generator, replicate_sums
from helpers.schema import condition
from helpers.scores import require_unit, sides

#: an iteration that has not settled by then gives no strengths
MAX_ITERATIONS = 10_000
CELL = ["corpus", "method", "label", "group"]


def ranks(
    annotations: pd.DataFrame,
    labels: Iterable[Label],
    *,
    seed: int,
    unit: str = "session",
    n_resamples: int = 10_000,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Rank of each system with a simultaneous interval, and the bootstrap share of first place.

    Parameters
    ----------
    annotations : frame
        One annotation an item, with the column `unit`.
    labels : iterable of Label
        Say whether a higher score is better; labels that are neither good nor bad, or not named, are left out.
    unit : str
        What is resampled, with all systems in it.

    Returns
    -------
    Result rows `rank` (1 the best; equal systems share the better rank; the intervals of all systems hold jointly with
    the given confidence) and `first_place_share` for each corpus, method, label, group and system. Labels with one
    system give none. Raises ValueError where the column is absent or has gaps.

    Notes
    -----
    The joint coverage of the rank intervals, and the share of first place among equal systems, are checked by
    simulation, the rest by cases solved by hand.
    """
    require_unit(annotations, unit)
    direction = {(x.method, x.id): x.direction for x in labels}
    out = []
    for key, rows in annotations.groupby(CELL, sort=False):
        sign = direction.get((key[1], key[2]), 0)
        scores = _scores(rows)
        systems = sorted(scores["system"].unique())
        if sign == 0 or len(systems) < 2:
            continue
        sums = _unit_sums(scores, systems, unit)
        rng = generator(seed, "ranks", unit, *key)
        found = replicate_sums(sums, _means(len(systems), sign), unit=unit, rng=rng, n_resamples=n_resamples)
        order, low, high, first, reason = rank_intervals(found, confidence)
        head = {**dict(zip(CELL, key, strict=True)), "level": METHODS[key[1]].unit, "resample_unit": unit}
        head |= {"condition": condition(of="win_rate" if "won" in scores else "mean", resample=unit)}
        head |= {"n_clusters": len(sums), "n_undefined": int((~np.isfinite(found.values).all(axis=1)).sum())}
        for i, system in enumerate(systems):
            own = {**head, "system": system, "n": int((scores["system"] == system).sum()), "note": reason or None}
            kind = "not_estimable" if reason else "simultaneous"
            interval = {"estimate": order[i], "ci_low": low[i], "ci_high": high[i], "ci_kind": kind}
            out.append({**own, "statistic": "rank", **interval})
            out.append({**own, "statistic": "first_place_share", "estimate": first[i]})
    return pd.DataFrame(out)


def rank_intervals(
    found: Replicates, confidence: float = 0.95
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, str]:
    """Ranks, their simultaneous intervals, and shares of first place, from resampled values of each system.

    found : the value of each of m systems, more being better. Returns (m,) ranks, low ends, high ends and shares, and
    '' or why there are no intervals.

    Two systems differ when their difference exceeds the `confidence` quantile of the largest studentised difference
    over all pairs; a rank can be no better than one plus the systems that are better, no worse than the systems that
    are not worse (Mogstad et al. 2024, section 3.2). Ties for first place are shared. Resamples in which a system has
    no value are left out. Coverage checked by simulation.
    """
    estimate, m = found.estimate, len(found.estimate)
    order = 1.0 + np.sum(estimate[None, :] > estimate[:, None] + 1e-12, axis=1)
    values = found.values[np.isfinite(found.values).all(axis=1)]
    none = np.full(m, np.nan)
    if not np.isfinite(estimate).all() or found.n_units < 2 or len(values) < 0.5 * len(found.values):
        return np.where(np.isfinite(estimate), order, np.nan), none, none, none, "too few units of a system to resample"
    best = values >= values.max(axis=1, keepdims=True) - 1e-12
    first = np.mean(best / best.sum(axis=1, keepdims=True), axis=0)
    i, j = np.array(list(combinations(range(m), 2))).T
    difference, replicates = estimate[i] - estimate[j], values[:, i] - values[:, j]
    se = np.std(replicates, axis=0, ddof=1)
    varies = se > 1e-12
    if not varies.any():
        return order, none, none, first, "no difference between systems varies over resamples"
    t = np.abs(replicates - difference)[:, varies] / se[varies]
    critical = np.quantile(t.max(axis=1), confidence)
    # without any variation a difference is no estimate: it decides nothing
    sure = np.where(varies, np.sign(difference) * (np.abs(difference) > critical * se), 0)
    better, worse = np.zeros(m), np.zeros(m)
    np.add.at(worse, i, sure < 0)
    np.add.at(worse, j, sure > 0)
    np.add.at(better, i, sure > 0)
    np.add.at(better, j, sure < 0)
    return order, 1 + worse, m - better, first, ""


def win_rates(
    comparisons: pd.DataFrame,
    *,
    seed: int,
    unit: str = "session",
    n_resamples: int = 10_000,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Win rates against all others and against each other system, with ties worth half (`half`) and left out (`drop`).

    comparisons : one annotation an item, with the column `unit`, which is resampled (BCa; with ties left out and few
    wins or losses `rates.rare_bound`). Result rows `win_rate`: `system` alone against all others; `system` and
    `system_b` against that one, both ways round. With nothing but ties the rate without ties carries the reason.
    Checked by hand and against `rates`.
    """
    require_unit(comparisons, unit)
    both, out = sides(comparisons), []
    parts = [(k, None, rows) for k, rows in both.groupby([*CELL, "system"], sort=False)]
    parts += [(k[:-1], k[-1], rows) for k, rows in both.groupby([*CELL, "system", "system_b"], sort=False)]
    for key, against, rows in parts:
        head = {**dict(zip([*CELL, "system"], key, strict=True)), "system_b": against, "statistic": "win_rate"}
        head |= {"level": METHODS[key[1]].unit}
        for ties in ("half", "drop"):
            used = rows if ties == "half" else rows[rows["score"] != 0]
            keys = {"condition": condition(ties=ties, interval=unit), "n": len(used)}
            if used.empty:
                out.append({**head, **keys, "estimate": np.nan, "note": "all comparisons are ties"})
                continue
            x, codes = (used["score"].to_numpy(dtype=float) + 1) / 2, used[unit].factorize()[0]
            n, s, q = (np.bincount(codes, w) for w in (np.ones(len(x)), x, x**2))
            found = rare_interval(n, s, q, unit, confidence) if ties == "drop" else None
            if found is None:
                rng = generator(seed, "win_rate", ties, *map(str, key), str(against))
                found = bootstrap_sums(
                    np.stack([n, s], axis=1),
                    lambda t: t[:, 1] / t[:, 0],
                    unit=unit,
                    rng=rng,
                    n_resamples=n_resamples,
                    confidence=confidence,
                ).row()
            out.append({**head, **found, **keys})
    return pd.DataFrame(out)


def bradley_terry(
    comparisons: pd.DataFrame,
    *,
    seed: int,
    unit: str = "session",
    n_resamples: int = 10_000,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Bradley-Terry strengths on the log scale, mean 0 over systems, a tie counting as half a win for either.

    comparisons : one annotation an item, with the column `unit`, which is resampled (BCa). Result rows `bradley_terry`
    a system. Strengths exist only if no split of the systems has one part never winning against the other (Ford 1957):
    else the reason stands instead, and resamples without strengths are counted as undefined.

    `evalica` computes the strengths. Checked against the minorisation-maximisation iteration written out and a
    `statsmodels` logit.
    """
    require_unit(comparisons, unit)
    out = []
    for key, rows in comparisons.groupby(CELL, sort=False):
        systems = sorted({*rows["system"], *rows["system_b"]})
        m, names = len(systems), pd.Index(systems)
        left, right = names.get_indexer(rows["system"]), names.get_indexer(rows["system_b"])
        codes, won = rows[unit].factorize()[0], (rows["score"].to_numpy(dtype=float) + 1) / 2
        sums = np.zeros((codes.max() + 1, m, m))
        np.add.at(sums, (codes, left, right), won)
        np.add.at(sums, (codes, right, left), 1 - won)
        head = {**dict(zip(CELL, key, strict=True)), "level": METHODS[key[1]].unit, "statistic": "bradley_terry"}
        head |= {"condition": condition(resample=unit), "n": len(rows)}
        estimate = strengths(sums.sum(axis=0))
        if not np.isfinite(estimate).all():
            reason = "one group of systems never wins against the others: strengths do not exist"
            none = {"estimate": np.nan, "ci_kind": "not_estimable", "resample_unit": unit, "note": reason}
            out += [{**head, "system": s, **none} for s in systems]
            continue
        found = bootstrap_sums(
            sums.reshape(len(sums), -1),
            lambda t, m=m: resampled_strengths(t.reshape(-1, m, m)),
            unit=unit,
            rng=generator(seed, "bradley_terry", unit, *key),
            n_resamples=n_resamples,
            confidence=confidence,
        )
        out += [
            {**head, "system": s, **f.row(), "estimate": e} for s, f, e in zip(systems, found, estimate, strict=True)
        ]
    return pd.DataFrame(out)


def strengths(wins: np.ndarray) -> np.ndarray:
    """Log Bradley-Terry strengths with mean 0 from an (m, m) matrix of wins of row over column; NaN where none exist.

    `evalica` does the work. Checked against the minorisation-maximisation iteration and a `statsmodels` logit.
    """
    import evalica  # here, because most notebooks do without

    m = len(wins)
    if not _connected(wins[None])[0]:
        return np.full(m, np.nan)
    i, j = np.nonzero(wins)
    found = evalica.bradley_terry(
        i.tolist(),
        j.tolist(),
        [evalica.Winner.X] * len(i),
        index=pd.Index(range(m)),
        weights=wins[i, j].tolist(),
        tolerance=1e-10,
        limit=MAX_ITERATIONS,
    )
    log = np.log(found.scores.sort_index().to_numpy())
    return log - log.mean() if found.iterations < found.limit else np.full(m, np.nan)


def resampled_strengths(wins: np.ndarray) -> np.ndarray:
    """`strengths` of many (k, m, m) matrices at once: (k, m), NaN where none exist.

    evalica's own iteration (Newman 2023, JMLR 24(238), eq. 5) on all matrices together, as calling it for each resample
    takes sixty times as long. Checked against `strengths`.
    """
    out, usable = np.full(wins.shape[:2], np.nan), _connected(wins)
    w, p = wins[usable], np.ones((usable.sum(), wins.shape[1]))
    settled = np.zeros(len(w), dtype=bool)
    for _ in range(MAX_ITERATIONS):
        before = p.copy()
        for i in range(p.shape[1]):
            total = p[:, i, None] + p
            p[:, i] = np.sum(w[:, i] * p / total, axis=1) / np.sum(w[:, :, i] / total, axis=1)
        p /= np.exp(np.log(p).mean(axis=1, keepdims=True))
        settled = np.isclose(p, before, rtol=1e-10, atol=0).all(axis=1)
        if settled.all():
            break
    out[usable] = np.where(settled[:, None], np.log(p), np.nan)
    return out


def _connected(wins: np.ndarray) -> np.ndarray:
    """(k,): whether each of the systems can be reached from each other one along wins (Ford 1957)."""
    reached = (wins > 0) | np.eye(wins.shape[-1], dtype=bool)
    for _ in range(wins.shape[-1].bit_length()):
        reached = reached @ reached
    return reached.all(axis=(1, 2))


def _scores(rows: pd.DataFrame) -> pd.DataFrame:
    """One row a judged system; a comparison gives two, with ties worth a half (column `won`)."""
    if METHODS[rows["method"].iloc[0]].unit != "pair":
        return rows
    both = sides(rows)
    return both.assign(won=(both["score"] + 1) / 2, score=(both["score"] + 1) / 2)


def _means(m: int, sign: int) -> Callable[[np.ndarray], np.ndarray]:
    return lambda sums: sign * sums[:, m:] / sums[:, :m]


def _unit_sums(scores: pd.DataFrame, systems: list[str], unit: str) -> np.ndarray:
    """(units, 2 * systems): the number of scores of each system, then their sums."""
    codes, system = scores[unit].factorize()[0], pd.Index(systems).get_indexer(scores["system"])
    out = np.zeros((codes.max() + 1, 2 * len(systems)))
    np.add.at(out, (codes, system), 1.0)
    np.add.at(out, (codes, system + len(systems)), scores["score"].to_numpy(dtype=float))
    return out
