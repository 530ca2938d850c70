"""Does a plan have the power it promises? Studies of the planned size, drawn from the pilot's variances and analysed
as in notebook 05.

Judgements are normal variables cut at the quantiles of the pilot's scores, as in notebook 80
(`operating_characteristics.worlds`), with m of P annotators drawn for each dialogue. What two systems differ by is set.
The tests are the primary ones of notebook 05: the permutation test for the same annotators, the two-way t test where
annotators are a sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr, ndtri, stdtr

from helpers.operating_characteristics.many_clusters import Clustered
from helpers.operating_characteristics.worlds import tilted
from helpers.planning.components import Pilot, cuts
from helpers.planning.designs import SAME, Plan
from helpers.stats import saddlepoint
from helpers.stats.permutation import from_null

#: arrangements of the permutation test in each simulated study
N_ARRANGEMENTS = 1999
#: lowest level at which so few arrangements tell as much as all: 20 of them are expected below it
LEAST_LEVEL = 0.01
#: studies in which the same annotators judge the same dialogues
TOGETHER = 50
#: shortfall of simulated power from which the number of dialogues follows the simulation, and how near it then comes
SHORT, NEAR = 0.03, 0.01
#: studies after which one looks whether power is short: mostly a few hundred tell; normal quantile by which it is not
BATCH, CLEAR = 200, 2.326
#: sizes tried, and the largest relative to the first
TRIES, FARTHEST = 8, 8
#: normal quantile of the 5% level, where the search for a size starts from
CRITICAL = 1.96


@dataclass(frozen=True)
class Study:
    """Simulated studies of two systems; k studies at once.

    scores : (k, sides, n, m), the mean over items of what each annotator said; comparisons have one side. annotator :
    (sides, n, m), who judged. paired : whether the sides share sessions.
    """

    scores: np.ndarray
    annotator: np.ndarray
    paired: bool

    @property
    def values(self) -> np.ndarray:
        """(k, sides, n) values of dialogues (of comparisons)."""
        return self.scores.mean(axis=3)


def studies(
    pilot: Pilot, plan: Plan, difference: float, n_runs: int, rng: np.random.Generator, annotators: str = SAME
) -> Iterator[Study]:
    """Studies of the planned size in which two systems differ by `difference`.

    annotators : SAME: what annotators make of each system adds up to nothing over these annotators, so that the
    difference is the one they see; else they are drawn anew.
    """
    limits, values, loads, noise = _latent(pilot, difference)
    sides, n, m, people = len(limits), plan.n_dialogues, plan.annotators, plan.people
    items, paired = max(round(pilot.items), 1), plan.paired and not pilot.pairwise
    for start in range(0, n_runs, TOGETHER):
        k = min(TOGETHER, n_runs - start)
        who = np.argsort(rng.random((sides, n, people)), axis=2)[..., :m]
        z = rng.standard_normal((k, sides, n, items, m), dtype=np.float32) * noise
        z += loads.get("session", 0) * rng.standard_normal((k, 1 if paired else sides, n, 1, 1))
        z += np.hypot(loads.get("side", 0), loads.get("dialogue", 0)) * rng.standard_normal((k, sides, n, 1, 1))
        z += loads.get("item", 0) * rng.standard_normal((k, sides, n, items, 1))
        for name, own in (("annotator", 1), ("annotator_of_system", sides)):
            effect = rng.standard_normal((k, own, people))
            if name == "annotator_of_system" and annotators == SAME:
                effect -= effect.mean(axis=2, keepdims=True)
            z += (
                loads.get(name, 0)
                * np.stack([effect[:, min(s, own - 1), who[s]] for s in range(sides)], 1)[:, :, :, None]
            )
        scores = np.stack([values[np.searchsorted(limits[s], z[:, s])] for s in range(sides)], axis=1)
        yield Study(scores.mean(axis=3), who, paired)


def _latent(pilot: Pilot, difference: float) -> tuple[list[np.ndarray], np.ndarray, dict[str, float], float]:
    """Cuts of each side, values, and the loadings of each factor and the residual."""
    limits = [cuts(tilted(pilot.shape, pilot.values, mean)) for mean in pilot.means(difference)]
    loads = {name: float(np.sqrt(v)) for name, v in pilot.latent.items()}
    return limits, pilot.values, loads, float(np.sqrt(1 - sum(pilot.latent.values())))


def found(
    pilot: Pilot,
    plan: Plan,
    difference: float,
    n_runs: int,
    rng: np.random.Generator,
    annotators: str = SAME,
    alpha: float = 0.05,
) -> tuple[int, int]:
    """In how many of `n_runs` studies the difference is found, and in how many of these with the wrong sign."""
    hits, wrong, level = 0, 0, alpha / plan.tests
    drawn = annotators == SAME and level >= LEAST_LEVEL
    flips = arrangements(plan.n_dialogues, plan.paired or pilot.pairwise, rng) if drawn else None
    for study in studies(pilot, plan, difference, n_runs, rng, annotators):
        p = permutation_p(study.values, study.paired, flips) if annotators == SAME else two_way_p(study)
        significant = p < level
        hits += int(significant.sum())
        wrong += int((significant & (estimates(study.values) * difference < 0)).sum())
    return hits, wrong


def sized(
    pilot: Pilot, plan: Plan, difference: float, n_runs: int, rng: np.random.Generator, *, wanted: float
) -> tuple[Plan, int, int]:
    """The plan with as many dialogues as simulated power asks for, in how many studies it finds the difference, and
    how many were simulated: at most `n_runs`.

    The noncentral t distribution takes the rates of the pilot's annotators as those of the next ones. Few annotators
    whose strictness is drawn anew move a rare mark's rate, and with it the difference and its variance, and power falls
    more with a lower rate than it rises with a higher one. The normal quantile of power is nearly linear in the root of
    n: the search goes along it. Power may still be short where FARTHEST times as many dialogues do not suffice.
    """
    most = FARTHEST * plan.n_dialogues

    def hits(n: int) -> int:
        return found(pilot, replace(plan, n_dialogues=n), difference, n_runs, rng)[0]

    n, got, tried = plan.n_dialogues, 0, 0
    most_tried = max(n_runs // 2, 1)  # to see that power is not short takes fewer than to find a size
    while tried < most_tried:
        batch = min(BATCH, most_tried - tried)
        got, tried = got + found(pilot, plan, difference, batch, rng)[0], tried + batch
        spread = np.sqrt(wanted * (1 - wanted) / tried) if tried < most_tried else 0.0
        if got / tried >= wanted - SHORT + CLEAR * spread:
            return plan, got, tried
    roots, quantiles = [np.sqrt(n)], [_quantile(got, n_runs)]
    for _ in range(TRIES):
        if abs(got / n_runs - wanted) <= NEAR or (n == most and got < wanted * n_runs):
            break
        # a line through the points so far, or through none found at no dialogues
        slope = np.polyfit(roots, quantiles, 1)[0] if len(roots) > 1 else (quantiles[0] + CRITICAL) / roots[0]
        step = (float(ndtri(wanted)) - quantiles[-1]) / max(slope, 0.1 * (quantiles[0] + CRITICAL) / roots[0])
        n = int(np.clip(round((roots[-1] + step) ** 2), plan.n_dialogues, most))
        got = hits(n)
        roots.append(np.sqrt(n))
        quantiles.append(_quantile(got, n_runs))
    return replace(plan, n_dialogues=n), got, n_runs


def _quantile(hits: int, n_runs: int) -> float:
    return float(ndtri((hits + 0.5) / (n_runs + 1)))


def estimates(values: np.ndarray) -> np.ndarray:
    """(k,) differences between the sides; of comparisons, means."""
    means = values.mean(axis=2)
    return means[:, 0] - means[:, 1] if values.shape[1] == 2 else means[:, 0]


def arrangements(n: int, signs: bool, rng: np.random.Generator) -> np.ndarray:
    """(N_ARRANGEMENTS, n) signs of n pairs, or (N_ARRANGEMENTS, 2 n): which of two systems n dialogues each go to."""
    if signs:
        return np.where(rng.random((N_ARRANGEMENTS, n)) < 0.5, -1.0, 1.0)
    return rng.permuted(np.tile(np.repeat([1.0, -1.0], n), (N_ARRANGEMENTS, 1)), axis=1)


def permutation_p(values: np.ndarray, paired: bool, flips: np.ndarray | None) -> np.ndarray:
    """(k,) p-values of the permutation test (of signs for comparisons, within sessions where these are shared).

    flips : of `arrangements`; None: saddlepoint approximations, for levels that few arrangements do not reach.
    """
    sides, n = values.shape[1:]
    x = values.reshape(len(values), -1)
    if flips is None:
        if sides == 1:
            return saddlepoint.sign_flips(x.T)[1]
        session = np.tile(np.arange(n), 2) if paired else np.zeros(2 * n, dtype=int)
        return saddlepoint.blocked(x.T, np.repeat([0, 1], n), session)[1]
    if sides == 1 or paired:
        x = x[:, :n] - x[:, n:] if sides == 2 else x
        observed = x.sum(axis=1)
    else:
        observed = x @ np.repeat([1.0, -1.0], n)
    result = from_null(observed, flips @ x.T, exact=False)
    return result.mid_p if sides == 1 else result.p_value  # as sensitivity.system_tests.p_value


def two_way_p(study: Study) -> np.ndarray:
    """(k,) p-values of the t test over sessions and annotators, as `sensitivity.differences`."""
    k, sides, n, m = study.scores.shape
    side = np.repeat(np.arange(sides), n * m)
    session = np.repeat(np.tile(np.arange(n), sides) if study.paired else np.arange(sides * n), m)
    model = Clustered(side, np.full(side.size, 1 / m), [session, study.annotator.ravel()])
    means, cov = model.covariance(study.scores.reshape(k, -1).astype(float))
    if sides == 1:
        difference, se, df = means[:, 0], np.sqrt(cov.variances[:, 0]), model.df[0]
    else:
        difference = means[:, 0] - means[:, 1]
        se, df = cov.pair_errors()[:, 0], model.df.min()
    return 2 * stdtr(df, -np.abs(difference) / np.maximum(se, 1e-150))


def looked(
    pilot: Pilot,
    plan: Plan,
    difference: float,
    limits: Mapping[str, tuple[Sequence[float], np.ndarray]],
    n_runs: int,
    rng: np.random.Generator,
) -> dict[str, tuple[int, float]]:
    """In how many studies each way of looking ends with a significant difference, and the share of the dialogues that
    it uses on average.

    limits : name -> shares of the dialogues at each look, and z boundaries. All are tried on the same studies, with the
    permutation test of the dialogues seen so far.
    """
    hits = dict.fromkeys(limits, 0)
    used = dict.fromkeys(limits, 0.0)
    sizes = sorted({_at(plan, share) for shares, _ in limits.values() for share in shares})
    flips = {n: arrangements(n, plan.paired or pilot.pairwise, rng) for n in sizes}
    for study in studies(pilot, plan, difference, n_runs, rng):
        p = {n: permutation_p(study.values[:, :, :n], study.paired, flips[n]) for n in sizes}
        for name, (shares, z) in limits.items():
            level = 2 * ndtr(-np.asarray(z))
            crossed = np.stack([p[_at(plan, s)] <= a for s, a in zip(shares, level, strict=True)])
            hits[name] += int(crossed.any(axis=0).sum())
            first = np.where(crossed.any(axis=0), crossed.argmax(axis=0), len(shares) - 1)
            used[name] += float(np.asarray(shares)[first].sum())
    return {name: (hits[name], used[name] / n_runs) for name in limits}


def _at(plan: Plan, share: float) -> int:
    return max(round(share * plan.n_dialogues), 2)
