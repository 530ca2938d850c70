"""Davidson's model: strengths of systems that were compared in pairs, with ties as an outcome of their own.

A win is worth pi_i, a loss pi_j, a tie nu sqrt(pi_i pi_j), each divided by their sum. Counting ties as half
wins shrinks strengths: with 70% ties a system that wins nine of ten decided comparisons looks like one that wins 64%.
Every vote counts, so that a pair with five votes says more than a pair with one.

Intervals are robust to votes that depend on each other: clusters are the unit that is a sample (prompt, session, pair)
and, where voters are known people, voters too (`davidson_likelihood`). Student's t has one degree of freedom fewer than
their effective number (`statistics.clusters.effective_number`).

References
----------
Davidson 1970, Journal of the American Statistical Association 65(329), 317-328. Without ties it is the model of Bradley
and Terry 1952, Biometrika 39, 324-345. Ford 1957, American Mathematical Monthly 64(8), 28-33 (existence). Cameron,
Gelbach and Miller 2011, Journal of Business and Economic Statistics 29, 238-249, section 2.4 (maximum likelihood).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite, nan, prod
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from judgebook.annotations.scores import known_people, require_unit, sampling_weights
from judgebook.codes import distinct
from judgebook.questions.performance.davidson_likelihood import Votes, chances, covariance, information, strengths_of
from judgebook.statistics.clusters import LEAST_DF, Covariance, effective_number, heaviest, largest_share
from judgebook.study.labels import METHODS
from judgebook.study.schema import SYSTEM_CELL

#: strengths are of the systems of one label in one corpus and group
CELL = SYSTEM_CELL[:-1]
#: units times systems cubed up to which each unit is left out once, to see whether strengths depend on it
_MOST = 50_000_000
#: iterations of the model of Bradley and Terry at most, and how near two in a row must be; strengths that exist take
#: some hundreds
_LIMIT, _TOLERANCE = 100_000, 1e-10
#: of votes: places of the left and the right system, and the score
Sides = tuple[np.ndarray, np.ndarray, np.ndarray]
NONE = "one group of systems never wins against the others: strengths do not exist"


@dataclass(frozen=True)
class DavidsonFit:
    """Strengths of the systems of one label.

    key : of CELL. strengths : (m,) log scale, mean 0; NaN where they do not exist. log_nu : of ties, -inf without any.
    covariance : of strengths and log nu, NaN where `reason` says why there is none. df : (m,) degrees of freedom of
    strengths. influence : (units, m), what each unit adds to the strengths. unit, over : what is a sample. n : votes,
    by system. heaviest : (m,) who or what has so large a share of a system's votes that it has no interval, or ''.
    """

    key: tuple
    systems: list[str]
    strengths: np.ndarray
    log_nu: float
    covariance: Covariance
    df: np.ndarray
    influence: np.ndarray
    unit: str
    over: str
    n: np.ndarray
    n_votes: int
    reason: str
    heaviest: list[str]

    @property
    def exists(self) -> bool:
        return bool(np.isfinite(self.strengths).all())

    @property
    def errors(self) -> np.ndarray:
        """(pairs,) standard errors of differences of strengths."""
        return self.covariance.only(np.arange(len(self.systems))).pair_errors()

    @property
    def head(self) -> dict[str, Any]:
        """What identifies its result rows, and how many units there are."""
        head: dict[str, Any] = {
            **dict(zip(CELL, self.key, strict=True)),
            "level": METHODS[self.key[1]].unit,
            "resample": self.unit,
        }
        return head | {"n_clusters": len(self.influence), "resample_unit": self.over}


def fits(comparisons: pd.DataFrame, *, unit: str = "session") -> Iterator[DavidsonFit]:
    """The model fitted to the votes on each label.

    Strengths exist only if no split of the systems has one part never winning against the other (Ford 1957). They have
    no covariance where they cease to exist without one of the units.

    comparisons : with the column `unit`; where all voters are known people, they are a sample too. With sampling
    weights the likelihood of a vote counts as often as its pair stands for pairs of the population (a
    pseudo-likelihood; Binder 1983, International Statistical Review 51, 279-292).
    """
    require_unit(comparisons, unit)
    for key, rows in comparisons.groupby(CELL, sort=False):
        systems = sorted({*rows["system"].unique(), *rows["system_b"].unique()})
        names, m = pd.Index(systems), len(systems)
        votes = names.get_indexer(rows["system"]), names.get_indexer(rows["system_b"]), rows["score"].to_numpy(float)
        codes = rows[unit].factorize()[0]
        clusters, over = [codes], unit
        if known_people(rows):
            clusters, over = [codes, rows["annotator"].factorize()[0]], f"{unit} and annotator"
        weight = sampling_weights(rows)
        wins, ties = _counts(*votes, np.zeros(len(rows), int), m, weight)
        log_strengths, log_nu = strengths_of(wins, ties)
        n = np.bincount(np.concatenate(votes[:2]), minlength=m)
        df, reason, most_votes = _degrees(votes, weight, clusters, over.split(" and "))
        cov, influence = Covariance(np.full((m + 1, m + 1), np.nan)), np.zeros((codes.max() + 1, m))
        if np.isfinite(log_strengths).all():
            n_votes = (wins + wins.transpose(0, 2, 1) + ties)[0]
            at_estimate = _at_estimate(*votes, log_strengths[0], log_nu[0], n_votes, weight)
            sums = np.zeros((codes.max() + 1, m + 1))
            np.add.at(sums, codes, at_estimate.scores)
            influence = (sums @ at_estimate.inverse)[:, :m]
            one, fragile = covariance(at_estimate, clusters)
            if not reason and _fragile(votes, codes, m):
                reason = f"strengths do not exist without one {unit}"
            reason = reason or (fragile and f"strengths do not exist without one {over.replace(' and ', ' or ')}")
            cov = cov if reason else one
        else:
            reason = NONE
        yield DavidsonFit(
            key=key,
            systems=systems,
            strengths=log_strengths[0],
            log_nu=float(log_nu[0]),
            covariance=cov,
            df=df,
            influence=influence,
            unit=unit,
            over=over,
            n=n,
            n_votes=len(rows),
            reason=reason,
            heaviest=most_votes,
        )


def _degrees(
    votes: Sides, weight: np.ndarray, clusters: list[np.ndarray], kinds: list[str]
) -> tuple[np.ndarray, str, list[str]]:
    """(m,) degrees of freedom of strengths: one less than the effective number of clusters among all votes or, if
    smaller, among those on a system; why there are no intervals; and why some systems have none."""
    system, counted = np.concatenate(votes[:2]), np.tile(weight, 2)
    twice = [np.concatenate([c, c]) for c in clusters]
    together = np.zeros(len(system), dtype=int)
    whole, of_system = (effective_number(of, counted, twice) - 1 for of in (together, system))
    (share, kind), (shares, kinds_of) = (largest_share(of, counted, twice) for of in (together, system))
    reason = heaviest(kinds[kind[0]], share[0], "votes") if whole[0] < LEAST_DF else ""
    parts = [
        heaviest(kinds[k], x, "votes on a system") if d < LEAST_DF else ""
        for d, k, x in zip(of_system, kinds_of, shares, strict=True)
    ]
    return np.minimum(of_system, whole[0]), reason, parts


def point(comparisons: pd.DataFrame, weight: np.ndarray | None = None) -> pd.Series:
    """Strengths by system, of all votes together, without intervals; NaN where they do not exist. weight : of votes."""
    systems = sorted(distinct(comparisons["system"], comparisons["system_b"]))
    names, score = pd.Index(systems), comparisons["score"].to_numpy(float)
    votes = names.get_indexer(comparisons["system"]), names.get_indexer(comparisons["system_b"]), score
    return pd.Series(strengths_of(*_counts(*votes, np.zeros(len(score), int), len(systems), weight))[0][0], systems)


def strengths(fit: DavidsonFit, confidence: float = 0.95) -> Iterator[dict[str, Any]]:
    """Strengths on the log scale, and the chances of the strongest system against each other one.

    Intervals are of Student's t, those of chances on the logit scale.

    Yields
    ------
    Rows of `strength`, one per system, and `outcome_chance` (`outcome` is win, tie or loss of the strongest system
    against `system_b`).
    """
    m, head = len(fit.systems), fit.head | {"n": fit.n_votes}
    quantile = stdtrit(np.where(fit.df >= LEAST_DF, fit.df, np.nan), (1 + confidence) / 2)
    half = quantile * np.sqrt(fit.covariance.variances[:m])

    def kind(*of: int) -> dict[str, Any]:
        reason = next((why for why in (fit.reason, *(fit.heaviest[i] for i in of)) if why), None)
        return {"ci_kind": "not_estimable" if reason else "cluster_robust", "note": reason}

    for i, (system, estimate, h) in enumerate(zip(fit.systems, fit.strengths, half, strict=True)):
        ends = {"estimate": estimate, "ci_low": estimate - h, "ci_high": estimate + h}
        yield {**head, "statistic": "strength", "system": system, **ends, **kind(i)}
    if not fit.exists:
        return
    best = int(np.argmax(fit.strengths))
    won, tied = chances(fit.strengths, fit.log_nu)
    for other in (i for i in range(m) if i != best):
        p = np.array([won[best, other], tied[best, other], won[other, best]])
        x = np.zeros((3, m + 1))
        x[0, best] = x[2, other] = 1.0
        x[1, [best, other, m]] = 0.5, 0.5, 1.0
        row = {**head, "statistic": "outcome_chance", "system": fit.systems[best], "system_b": fit.systems[other]}
        row |= kind(best, other)
        for outcome, chance, slope in zip(("win", "tie", "loss"), p, x - p @ x, strict=True):
            ends = {"estimate": chance}
            if 0 < chance < 1:
                slope = slope / (1 - chance)  # of the logit
                se, logit = np.sqrt(fit.covariance.of(slope[None])[0]), np.log(chance / (1 - chance))
                h = quantile[[best, other]].max() * se
                ends |= {"ci_low": 1 / (1 + np.exp(h - logit)), "ci_high": 1 / (1 + np.exp(-h - logit))}
            else:
                ends |= {"ci_kind": "not_estimable", "note": row["note"] or "no comparison was tied"}
            yield {**row, "outcome": outcome, **ends}


def _counts(
    left: np.ndarray, right: np.ndarray, score: np.ndarray, part: np.ndarray, m: int, weight: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """(parts, m, m) wins of row over column, and ties (both ways round); part : which part a vote belongs to; weight :
    how often it counts, once by default."""
    shape, weight = (int(part.max()) + 1, m, m), np.ones(len(score)) if weight is None else weight
    won, lost = (part * m + left) * m + right, (part * m + right) * m + left
    decided, tied = np.abs(score) > 0, score == 0
    cells = np.where(score > 0, won, lost)[decided], np.concatenate([won[tied], lost[tied]])
    weights = weight[decided], np.tile(weight[tied], 2)
    wins, ties = (np.bincount(*each, prod(shape)).reshape(shape) for each in zip(cells, weights, strict=True))
    return wins, ties


def _at_estimate(
    left: np.ndarray,
    right: np.ndarray,
    score: np.ndarray,
    strengths: np.ndarray,
    log_nu: float,
    n: np.ndarray,
    weight: np.ndarray,
) -> Votes:
    """Derivatives of each vote's log likelihood by strengths and log nu, and the information; n : (m, m) votes, each
    counted with its weight."""
    m, rows = len(strengths), np.arange(len(left))
    won, tied = chances(strengths, log_nu)
    expected = won + tied / 2
    out = np.zeros((len(left), m + 1))
    out[rows, left] = (score + 1) / 2 - expected[left, right]
    out[rows, right] = -out[rows, left]
    out[:, m] = (score == 0) - tied[left, right]
    of_one = won + tied / 4 - expected**2, tied * (1 - tied), tied * (0.5 - expected)
    return Votes(left, right, weight, out * weight[:, None], *of_one, information(won[None], tied[None], n[None])[0])


def _fragile(votes: Sides, codes: np.ndarray, m: int) -> bool:
    """Whether strengths do not exist without some unit."""
    units = codes.max() + 1
    if units * m**3 > _MOST:
        return False
    wins, ties = _counts(*votes, codes, m)
    without, _ = strengths_of(wins.sum(axis=0) - wins, ties.sum(axis=0) - ties)
    return bool(np.isnan(without).any())


def bradley_terry(comparisons: pd.DataFrame) -> pd.Series:
    """Scores as leaderboards print them, by the model of Bradley and Terry with ties as half wins: they add up to 1.

    By system, of votes that all count alike; NaN where the iterations do not converge.
    """
    import evalica  # loads scipy.stats, which takes a second: the first page reads results of this folder, too

    winner = comparisons["score"].map({1.0: evalica.Winner.X, 0.0: evalica.Winner.Draw, -1.0: evalica.Winner.Y})
    sides = (comparisons["system"].tolist(), comparisons["system_b"].tolist(), winner.tolist())
    fitted = evalica.bradley_terry(*sides, tolerance=_TOLERANCE, limit=_LIMIT)
    scores = fitted.scores if fitted.iterations < _LIMIT else fitted.scores * nan
    return scores / scores.sum()


def printed_scores(comparisons: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Rows of `bradley_terry`, one per label and system; n : pairs of responses the system was in."""
    for key, rows in comparisons.groupby(CELL, sort=False):
        pairs = rows.drop_duplicates(["dialogue", "dialogue_b", "turn"])
        n = pd.concat([pairs["system"], pairs["system_b"]]).value_counts()
        head = {**dict(zip(CELL, key, strict=True)), "level": METHODS[rows["method"].iloc[0]].unit}
        for system, score in bradley_terry(rows).sort_index().items():
            row = {"statistic": "bradley_terry", "system": system, "estimate": score, "n": int(n[system])}
            yield head | row | ({} if isfinite(score) else {"note": "the iterations did not converge"})
