"""What to report about agreement when bootstrap intervals are not trustworthy.

If all items agree, so does every resample, and with a handful of marks of a binary label resamples take only a handful
of values. In these cases an exact binomial bound on disagreement is converted to alpha, or a reason is given for its
absence. The bound holds the disagreement within items fixed, which fails with three raters or more (53% to 86% on FED's
five): their marks have an interval from the likelihood of a beta-binomial model or the jackknife, whichever reaches
further. Where raters mark clear items and slip on others, the likelihood alone covers 60% to 94%; where marks are
beta-binomial, the jackknife alone covers 91% to 97%; together they cover 95% to 99% of either
(`benchmarks/levels/other_tests.csv`). With two raters 20 marks are enough for the bootstrap; with more, 30 items with
two marks of the rarer value or more. Labels of three values or more keep their bootstrap unless all items
agree: in simulations of 8 to 30 items BCa covered 84% to 99%, the bound 68% to 99%.

In that model, the number of marks of an item with m raters is beta-binomial with mean m pi and correlation rho, which
in large samples is alpha at the nominal level. An interval of any measure is its range over the pairs (pi, rho) whose
likelihood, maximised over everything else, is not too low: a profile likelihood interval. With two raters the model is
saturated and the exact bound is kept, which covers as well.

The model has raters agree on rare marks for one reason. Where they mark clear items and slip on 1% to 3% of the others,
the interval is too short: with five raters it covers alpha in 60% to 87% of 1,000 simulated studies, with three in 88%
to 96%. It is therefore extended to the ends of a jackknife interval.

References
----------
Williams 1975, The analysis of binary responses from toxicological experiments, Biometrics 31, 949-952 (the model).
Venzon and Moolgavkar 1988, A method for computing profile-likelihood-based confidence intervals, Applied Statistics 37,
87-94. Donner and Eliasziw 1992, A goodness-of-fit approach to inference procedures for the kappa statistic, Statistics
in Medicine 11, 1511-1519 (the same model for kappa).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import nan

import numpy as np
from scipy.special import betaln, gammaln, stdtrit

from judgebook.questions.agreement.coincidences import Patterns, terms
from judgebook.statistics.intervals import MIN_MINORITY, Interval, exact_binomial

#: items with two marks of the rarer value or more that a bootstrap needs, with three raters or more
MIN_SHARED = 30
_WEIGHTED = "too few marks or disagreements for a bootstrap, and exact bounds do not allow for sampling weights"
#: degrees of freedom of the jackknife of rare marks, at least
LEAST_DF = 2


def is_degenerate(items: Patterns, *, mirrored: bool = False) -> bool:
    """No item with two values, no disagreement at all, or a label of two values with too few marks of the rarer: fewer
    than 20 by two raters; by three or more, fewer than MIN_SHARED items on which two of them made such a mark.

    Comparisons without ties (`mirrored`) have two values too, but neither is rare. With sampling weights, what counts
    is the effective number of marks or items (Kish 1965, Survey Sampling, section 11.7).
    """
    if items.n_items == 0 or items.n_disagreeing == 0:
        return True
    if len(items.values) != 2 or mirrored:
        return False
    marks = _effective(items, items.counts)
    if several_raters(items):  # items with two annotations or more of the rarer value
        return bool(_effective(items, items.counts >= 2)[np.argmin(marks)] < MIN_SHARED)
    return bool(marks.min() < MIN_MINORITY)


def _effective(items: Patterns, times: np.ndarray) -> np.ndarray:
    """(v,) effective numbers of what occurs `times` (p, v) in an item of each pattern."""
    if items.sampling is None:
        return items.weights @ times
    once, squared = (items.weights @ (items.sampling[:, None] ** power * times) for power in (1, 2))
    return np.divide(once**2, squared, out=np.zeros_like(once), where=squared > 0)


def several_raters(items: Patterns) -> bool:
    """Whether some item has three annotations or more."""
    return bool(items.counts.sum(axis=1).max(initial=0) > 2)


def degenerate(
    items: Patterns,
    level: str,
    names: list[str],
    *,
    unit: str,
    clusters: np.ndarray | None,
    mirrored: bool,
    confidence: float,
) -> dict[str, Interval]:
    """Exact bounds of the agreement measures `names`, or why there are none.

    Two values, two annotations of every item: of the items with any mark of the rarer value the annotators disagree on
    a share q, which is binomial. Given the share s of such items, the rarer value makes up pi = s (1 - q / 2) of
    the annotations; every measure follows. For a rare label s hardly matters.

    Two values, three raters or more: profile likelihood intervals, as far as those of the jackknife
    where these reach further.

    With sampling weights there is none of these: neither counts of items nor a likelihood of them allow for weights.

    Otherwise the share p of items without full agreement is binomial, while the disagreement within such an item (where
    there is none: that of a chance pair of different values) and the expected disagreement are held at their values.

    clusters : code of each item's cluster, -1 for items with fewer than two values. There are then as many binomial
    trials as clusters hold such items: the most cautious design effect (Korn and Graubard 1998, Survey Methodology 24).
    """
    n_units = items.n_items if clusters is None else int(clusters.max(initial=-1)) + 1

    def none(reason: str, estimate: float = nan) -> Interval:
        return Interval(estimate, nan, nan, "not_estimable", unit, n_units, note=reason)

    if items.n_items == 0:
        return dict.fromkeys(names, none("no item has two annotations"))
    point = _point(items, level, mirrored)
    if items.sampling is not None:
        return {name: none(_WEIGHTED if np.isfinite(x) else _undefined(items, name), x) for name, x in point.items()
                if name in names}  # fmt: skip
    rare = int(np.argmin(items.marginals)) if len(items.values) == 2 else 0
    marks = len(items.values) == 2 and not mirrored and items.marginals[rare] > 0
    several = bool(marks and several_raters(items))
    conditional = several or bool(marks and np.ptp(items.counts.sum(axis=1)) == 0)
    at_risk = items.counts[:, rare] > 0 if conditional else np.ones(len(items.weights), dtype=bool)
    n = int(items.weights[at_risk].sum())
    trials = n if clusters is None else len(np.unique(clusters[np.isin(items.index, np.flatnonzero(at_risk))]))
    if several:
        lows, highs, kind = *_profile(items, rare, trials, n / trials, level, point, confidence), "profile"
        what = f"{items.marginals[rare]} marks of the rarer value on {n} items"
        note = f"beta-binomial likelihood or jackknife: {what}{_clustered(trials, n)}"
    else:
        carry = _given_rare_marks(items, rare, n) if conditional else _given_distances(items, level, point)
        least, most = exact_binomial(items.n_disagreeing / n * trials, trials, confidence)
        note, lows, highs, kind = _note(items, n, conditional, trials), carry(most), carry(least), "exact_bound"
    out = {}
    for name in names:
        if not np.isfinite(point[name]):
            out[name] = none(_undefined(items, name))
        elif name not in lows:
            out[name] = none(f"too few marks for an interval: {note}", point[name])
        else:
            # the interval holds the estimate; min and max undo rounding, and the small-sample correction of alpha
            low, high = min(lows[name], point[name]), max(highs[name], point[name])
            out[name] = Interval(point[name], low, high, kind, unit, n_units, note=note)
    return out


def _profile(
    items: Patterns, rare: int, trials: int, per_trial: float, level: str, point: dict[str, float], confidence: float
) -> tuple[dict[str, float], dict[str, float]]:
    """Lower and upper ends from the likelihood of a beta-binomial model, or where they reach further those of the
    jackknife, on the scale of log(1 - x) with Student's t.

    Its degrees of freedom are those of the items with a mark; for alpha and agreement on marks of those with two or
    more, which decide how large these are. trials : as in `degenerate`; per_trial : items with a mark counted as one.
    """
    raters, marks = items.counts.sum(axis=1), items.counts[:, rare]
    region = likelihood_region(marks, raters, items.weights, trials, confidence)
    prevalence = items.weights @ marks / (items.weights @ raters)
    ends = likelihood_ends(region, prevalence)
    specific = ("positive_agreement", "negative_agreement")  # the larger value is the mark
    ends[specific[1 - rare]], ends[specific[rare]] = ends.pop("rare"), ends.pop("common")
    if items.n_disagreeing < 2:  # without the only one, log(1 - x) is infinite
        return {name: low for name, (low, _) in ends.items()}, {name: high for name, (_, high) in ends.items()}
    shared, of_marks = int(items.weights[marks > 1].sum() / per_trial), ("alpha", specific[1 - rare])
    lows, highs = {}, {}
    for name, error in _jackknife_errors(items, level, list(ends)).items():
        df = max((shared if name in of_marks else trials) - 1, LEAST_DF)
        reach = stdtrit(df, (1 + confidence) / 2) * np.sqrt(per_trial)
        low, high = 1 - (1 - point[name]) * np.exp([reach * error, -reach * error])
        least = -prevalence / (1 - prevalence) if name == "alpha" else 0.0
        lows[name], highs[name] = min(ends[name][0], max(low, least)), max(ends[name][1], high)
    return lows, highs


def _jackknife_errors(items: Patterns, level: str, names: list[str]) -> dict[str, float]:
    """Standard errors of log(1 - x) by leaving out an item at a time; two items or more must disagree."""
    t, n = terms(items.counts, items.values, level), items.n_items
    sums, out = items.weights @ t.rows - t.rows, {}
    with np.errstate(divide="ignore", invalid="ignore"):
        without = t.measures(sums) | t.binary_measures(sums)
        for name in names:
            change = np.log1p(-without[name])
            mean = items.weights @ change / n
            out[name] = float(np.sqrt((n - 1) / n * (items.weights @ (change - mean) ** 2)))
    return out


def _point(items: Patterns, level: str, mirrored: bool) -> dict[str, float]:
    t = terms(items.counts, items.values, level, mirrored=mirrored, sampling=items.sampling)
    sums = (items.weights @ t.rows)[None]
    with np.errstate(divide="ignore", invalid="ignore"):
        measures = t.measures(sums) | (t.binary_measures(sums) if len(items.values) == 2 else {})
    return {name: float(value[0]) for name, value in measures.items()}


def _given_rare_marks(items: Patterns, rare: int, n_at_risk: int) -> Callable[[float], dict[str, float]]:
    n, s = 2 * items.n_items, n_at_risk / items.n_items
    specific = ("positive_agreement", "negative_agreement")

    def carry(q: float) -> dict[str, float]:
        pi = s * (1 - q / 2)
        rest = 1 - pi if pi < 1 else nan
        return {
            "alpha": 1 - (n - 1) / n * s * q / (2 * pi * rest),
            "raw_agreement": 1 - s * q,
            specific[1 - rare]: 1 - s * q / (2 * pi),  # the larger value is the mark
            specific[rare]: 1 - s * q / (2 * rest),
        }

    return carry


def _given_distances(items: Patterns, level: str, point: dict[str, float]) -> Callable[[float], dict[str, float]]:
    share = items.n_disagreeing / items.n_items
    if share > 0:
        apart, differing = point["observed"] / share, (1 - point["raw_agreement"]) / share
    else:
        n_c = items.marginals
        nominal = 1 - np.sum(n_c * (n_c - 1)) / (n_c.sum() * (n_c.sum() - 1))
        apart, differing = (point["expected"] / nominal if nominal > 0 else nan), 1.0
    return lambda p: {
        "alpha": 1 - p * apart / point["expected"] if point["expected"] else nan,
        "raw_agreement": 1 - p * differing,
    }


def _note(items: Patterns, n: int, conditional: bool, trials: int) -> str:
    what = f"{n} items with a mark of the rarer value" if conditional else f"{n} items"
    return f"exact binomial: annotators disagree on {items.n_disagreeing} of {what}{_clustered(trials, n)}"


def _clustered(trials: int, n: int) -> str:
    return f", counted as {trials} independent ones" if trials != n else ""


def _undefined(items: Patterns, name: str) -> str:
    if name == "alpha":
        return f"all {int(items.marginals.sum())} annotations have the same value: alpha is undefined"
    return "no annotation has this value"


#: values of rho and of pi that are tried
_RHO = np.concatenate([[1e-4], np.linspace(0.01, 0.99, 99), [0.9999]])
_PI = np.geomspace(2e-4, 0.7, 150)


@cache
def _log_p(m: int) -> np.ndarray:
    """(rho, pi, m + 1) log probability of 0 to m marks."""
    k = np.arange(m + 1)
    rho, pi = _RHO[:, None, None], _PI[None, :, None]
    a, b = pi * (1 - rho) / rho, (1 - pi) * (1 - rho) / rho
    choose = gammaln(m + 1) - gammaln(k + 1) - gammaln(m - k + 1)
    return choose + betaln(k + a, m - k + b) - betaln(a, b)


def likelihood_region(
    marks: np.ndarray, raters: np.ndarray, weights: np.ndarray, trials: float, confidence: float
) -> np.ndarray:
    """(rho, pi) of the pairs of the grid whose likelihood is not too low.

    Parameters
    ----------
    marks, raters, weights : (p,)
        Marks and raters of each pattern of an item, and how many items have it.
    trials : float
        How many independent items those with a mark count for: their number, or that of the clusters that hold them.
    confidence : float

    Returns
    -------
    (q, 2) array. Twice the fall of the log-likelihood is compared with the squared quantile of Student's t with
    trials - 1 degrees of freedom, as few items with a mark estimate rho.
    """
    log_l = np.zeros((len(_RHO), len(_PI)))
    for m in np.unique(raters):
        with_m = raters == m
        log_l += _log_p(int(m))[:, :, marks[with_m].astype(int)] @ weights[with_m]
    at_risk = weights[marks > 0].sum()
    fall = 2 * (log_l.max() - log_l) * min(1.0, trials / at_risk)
    i, j = np.nonzero(fall <= stdtrit(max(trials - 1, 1), (1 + confidence) / 2) ** 2)
    return np.stack([_RHO[i], _PI[j]], axis=1)


def likelihood_ends(region: np.ndarray, prevalence: float) -> dict[str, tuple[float, float]]:
    """Smallest and largest alpha, raw agreement and specific agreement (`rare`, `common`) in a
    `likelihood_region`.

    Where independent raters are not excluded, alpha may be as low as raters who never agree on a mark make it.
    """
    rho, pi = region.T
    independent = rho.min() <= _RHO[0]
    values = {
        "alpha": rho,
        "raw_agreement": 1 - 2 * pi * (1 - pi) * (1 - rho),
        "rare": pi + rho * (1 - pi),
        "common": 1 - pi * (1 - rho),
    }
    out = {name: (float(v.min()), float(v.max())) for name, v in values.items()}
    if independent:
        out["alpha"] = (-prevalence / (1 - prevalence), out["alpha"][1])
        out["rare"] = (0.0, out["rare"][1])
    if rho.max() >= _RHO[-1]:
        out = {name: (low, 1.0) for name, (low, _) in out.items()}
    return out
