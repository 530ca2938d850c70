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

from judgebook.questions.operating_characteristics.many_data_sets import Clustered
from judgebook.questions.operating_characteristics.worlds import tilted
from judgebook.questions.planning.components import PilotVariances, cuts
from judgebook.questions.planning.designs import SAME, Plan
from judgebook.statistics import saddlepoint
from judgebook.statistics.permutation import from_null

#: arrangements of the permutation test in each simulated study, at least and at most; as many are expected below the
#: level as tell nearly as much as all. Where it takes more, p-values are approximated
N_ARRANGEMENTS, MOST_ARRANGEMENTS, BELOW = 1999, 4999, 20
#: studies in which the same annotators judge the same dialogues; scores drawn at once
TOGETHER, LARGEST = 200, 2_000_000
#: shortfall of simulated power from which the number of dialogues follows the simulation
SHORT = 0.03
#: sizes that differ by a smaller share of themselves are taken for one: their power differs by less than half a point
CLOSE = 0.01
#: studies after which one looks whether power is short: mostly a few hundred tell; normal quantile by which it is not
BATCH, CLEAR = 200, 2.326
#: sizes tried, and the largest relative to the first
TRIES, FARTHEST = 8, 8
#: normal quantile of the 5% level, where the search for a size starts from
CRITICAL = 1.96


@dataclass(frozen=True)
class SimulatedStudies:
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
    pilot: PilotVariances, plan: Plan, difference: float, n_runs: int, rng: np.random.Generator, annotators: str = SAME
) -> Iterator[SimulatedStudies]:
    """Studies of the planned size in which two systems differ by `difference`.

    annotators : SAME: what annotators make of each system adds up to nothing over these annotators, so that the
    difference is the one they see; else they are drawn anew.
    """
    limits, values, loads, noise = _latent(pilot, difference)
    sides, n, m, people = len(limits), plan.n_dialogues, plan.annotators, plan.people
    items, paired = max(round(pilot.items), 1), plan.paired and not pilot.pairwise
    together = int(np.clip(LARGEST // (sides * n * items * m), 1, TOGETHER))
    for start in range(0, n_runs, together):
        k = min(together, n_runs - start)
        who = np.argsort(rng.random((sides, n, people)), axis=2)[..., :m]
        shared = loads.get("session", 0) * rng.standard_normal((k, 1 if paired else sides, n, 1))
        shared = shared + np.hypot(loads.get("side", 0), loads.get("dialogue", 0)) * rng.standard_normal(
            (k, sides, n, 1)
        )
        for name, n_sides in (("annotator", 1), ("annotator_of_system", sides)):
            effect = rng.standard_normal((k, n_sides, people))
            if name == "annotator_of_system" and annotators == SAME:
                effect -= effect.mean(axis=2, keepdims=True)
            of_side = [effect[:, min(s, n_sides - 1), who[s]] for s in range(sides)]
            shared = shared + loads.get(name, 0) * np.stack(of_side, axis=1)
        within = (loads.get("item", 0), noise)
        scores = [_item_means(shared[:, s], limits[s], values, within, items, rng) for s in range(sides)]
        yield SimulatedStudies(np.stack(scores, axis=1), who, paired)


def _item_means(
    shared: np.ndarray,
    limits: np.ndarray,
    values: np.ndarray,
    within: tuple[float, float],
    items: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """(k, n, m) mean scores of the items of n dialogues by m annotators each.

    shared : (k, n, m), what the items of a dialogue have in common. within : loadings of the item and of the residual.
    With one annotator, the scores of items are independent given `shared`, and how many fall into each category is
    drawn at once.
    """
    of_item, noise = within
    if shared.shape[2] == 1 and items > 1:
        below = ndtr((limits - shared) / max(np.hypot(of_item, noise), 1e-9))
        p = np.diff(below, axis=2, prepend=0.0, append=1.0)
        return (rng.multinomial(items, p) @ values / items)[:, :, None]
    z = noise * rng.standard_normal((*shared.shape[:2], items, shared.shape[2]), dtype=np.float32)
    z = z + of_item * rng.standard_normal((*shared.shape[:2], items, 1)) + shared[:, :, None]
    return values[np.searchsorted(limits, z)].mean(axis=2)


def _latent(pilot: PilotVariances, difference: float) -> tuple[list[np.ndarray], np.ndarray, dict[str, float], float]:
    """Cuts of each side, values, and the loadings of each factor and the residual."""
    limits = [cuts(tilted(pilot.shape, pilot.values, mean)) for mean in pilot.means(difference)]
    loads = {name: float(np.sqrt(v)) for name, v in pilot.latent.items()}
    return limits, pilot.values, loads, float(np.sqrt(1 - sum(pilot.latent.values())))


def found(
    pilot: PilotVariances,
    plan: Plan,
    difference: float,
    n_runs: int,
    rng: np.random.Generator,
    annotators: str = SAME,
    alpha: float = 0.05,
) -> tuple[int, int]:
    """In how many of `n_runs` studies the difference is found, and in how many of these with the wrong sign."""
    hits, wrong, level = 0, 0, alpha / plan.tests
    needed = max(N_ARRANGEMENTS, round(BELOW / level) - 1)
    drawn = annotators == SAME and needed <= MOST_ARRANGEMENTS
    flips = arrangements(plan.n_dialogues, plan.paired or pilot.pairwise, rng, needed) if drawn else None
    for study in studies(pilot, plan, difference, n_runs, rng, annotators):
        p = permutation_p(study.values, study.paired, flips) if annotators == SAME else two_way_p(study)
        significant = p < level
        hits += int(significant.sum())
        wrong += int((significant & (estimates(study.values) * difference < 0)).sum())
    return hits, wrong


def sized(
    pilot: PilotVariances, plan: Plan, difference: float, n_runs: int, rng: np.random.Generator, *, wanted: float
) -> tuple[Plan, int, int]:
    """The plan with as many dialogues as simulated power asks for, in how many studies it finds the difference, and
    how many were simulated: at most `n_runs`.

    The noncentral t distribution takes the rates of the pilot's annotators as those of the next ones. Few annotators
    whose strictness is drawn anew move a rare mark's rate, and with it the difference and its variance, and power falls
    more with a lower rate than it rises with a higher one. The search ends at a size that the line through all sizes
    tried (`_asked_for`) leads back to when `n_runs` studies of it were simulated. Power may still be short where
    FARTHEST times as many dialogues do not suffice.
    """
    got, tried = _whether_short(pilot, plan, difference, max(n_runs // 2, 1), rng, wanted)
    if got / tried >= wanted - SHORT:
        return plan, got, tried
    least, most = plan.n_dialogues, FARTHEST * plan.n_dialogues
    tries, n = {least: (got, tried)}, least
    for _ in range(TRIES):
        n = min(max(_asked_for(tries, wanted), least), most)
        n = min((m for m in tries if abs(m - n) <= CLOSE * n), key=lambda m: abs(m - n), default=n)
        got, tried = tries.get(n, (0, 0))
        if tried == n_runs:
            break
        more = n_runs - tried if tried else -(-n_runs // 4)
        found_more = found(pilot, replace(plan, n_dialogues=n), difference, more, rng)[0]
        tries[n] = (got + found_more, tried + more)
    return replace(plan, n_dialogues=n), *tries[n]


def _whether_short(
    pilot: PilotVariances, plan: Plan, difference: float, most: int, rng: np.random.Generator, wanted: float
) -> tuple[int, int]:
    """In how many studies of the plan the difference is found, and how many were simulated: at most `most`, fewer where
    power is clearly not short."""
    got, tried = 0, 0
    while tried < most:
        batch = min(BATCH, most - tried)
        got, tried = got + found(pilot, plan, difference, batch, rng)[0], tried + batch
        if got / tried >= wanted - SHORT + CLEAR * np.sqrt(wanted * (1 - wanted) / tried):
            break
    return got, tried


def _asked_for(tries: Mapping[int, tuple[int, int]], wanted: float) -> int:
    """The number of dialogues at which the power is `wanted`: the normal quantile of power is nearly linear in the root
    of n. tries : n -> hits and studies."""
    roots, hits, runs = np.sqrt(list(tries)), *np.array(list(tries.values()), dtype=float).T
    share = (hits + 0.5) / (runs + 1)
    quantiles = ndtri(share)
    weights = runs * np.exp(-(quantiles**2)) / (share * (1 - share))  # 1 / variance of a quantile, but for a constant
    root, quantile = np.average(roots, weights=weights), np.average(quantiles, weights=weights)
    slope = least = (quantiles[0] + CRITICAL) / roots[0]  # of the line through none found at no dialogues
    if len(tries) > 1:
        slope = np.average((roots - root) * (quantiles - quantile), weights=weights)
        slope = max(slope / np.average((roots - root) ** 2, weights=weights), 0.1 * least)
    return round((root + (float(ndtri(wanted)) - quantile) / slope) ** 2)


def estimates(values: np.ndarray) -> np.ndarray:
    """(k,) differences between the sides; of comparisons, means."""
    means = values.mean(axis=2)
    return means[:, 0] - means[:, 1] if values.shape[1] == 2 else means[:, 0]


def arrangements(n: int, signs: bool, rng: np.random.Generator, many: int = N_ARRANGEMENTS) -> np.ndarray:
    """(many, n) signs of n pairs, or (many, 2 n): which of two systems n dialogues each go to."""
    if signs:
        return np.where(rng.random((many, n)) < 0.5, -1.0, 1.0)
    return rng.permuted(np.tile(np.repeat([1.0, -1.0], n), (many, 1)), axis=1)


def permutation_p(values: np.ndarray, paired: bool, flips: np.ndarray | None) -> np.ndarray:
    """(k,) p-values of the permutation test (of signs for comparisons, within sessions where these are shared).

    flips : of `arrangements`; None: saddlepoint approximations, for levels that few arrangements do not reach.
    """
    sides, n = values.shape[1:]
    x = values.reshape(len(values), -1)
    if flips is None:
        if sides == 1:
            return saddlepoint.sign_flip_saddlepoint(x.T)[1]
        session = np.tile(np.arange(n), 2) if paired else np.zeros(2 * n, dtype=int)
        return saddlepoint.blocked_saddlepoint(x.T, np.repeat([0, 1], n), session)[1]
    if sides == 1 or paired:
        x = x[:, :n] - x[:, n:] if sides == 2 else x
        observed = x.sum(axis=1)
    else:
        observed = x @ np.repeat([1.0, -1.0], n)
    result = from_null(observed, flips @ x.T, exact=False)
    return np.asarray(result.mid_p if sides == 1 else result.p_value)  # as sensitivity.system_tests.p_value


def two_way_p(study: SimulatedStudies) -> np.ndarray:
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
    pilot: PilotVariances,
    plan: Plan,
    differences: Mapping[str, float],
    limits: Mapping[str, tuple[Sequence[float], np.ndarray]],
    n_runs: int,
    rng: np.random.Generator,
) -> dict[tuple[str, str], tuple[int, float]]:
    """In how many studies each way of looking ends with a significant difference, and the share of the dialogues that
    it uses on average, by name of the true difference and of the way.

    limits : name -> shares of the dialogues at each look, and z boundaries. All are tried on the same studies, with the
    permutation test of the dialogues seen so far.
    """
    hits = {(truth, name): 0 for truth in differences for name in limits}
    used = dict.fromkeys(hits, 0.0)
    sizes = sorted({_at(plan, share) for shares, _ in limits.values() for share in shares})
    flips = {n: arrangements(n, plan.paired or pilot.pairwise, rng) for n in sizes}
    for truth, difference in differences.items():
        for study in studies(pilot, plan, difference, n_runs, rng):
            p = {n: permutation_p(study.values[:, :, :n], study.paired, flips[n]) for n in sizes}
            for name, (shares, z) in limits.items():
                level = 2 * ndtr(-np.asarray(z))
                crossed = np.stack([p[_at(plan, s)] <= a for s, a in zip(shares, level, strict=True)])
                hits[truth, name] += int(crossed.any(axis=0).sum())
                first = np.where(crossed.any(axis=0), crossed.argmax(axis=0), len(shares) - 1)
                used[truth, name] += float(np.asarray(shares)[first].sum())
    return {key: (hits[key], used[key] / n_runs) for key in hits}


def _at(plan: Plan, share: float) -> int:
    return max(round(share * plan.n_dialogues), 2)
