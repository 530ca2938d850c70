"""How an annotator differs from the others: five indicators, each with z values by which annotators are compared.

Severity, given what others would have scored the same dialogues. Over all labels of a method, the mean of an
annotator's standardised scores of an item has a linear model with systems, annotators, dialogues, and annotators within
systems as crossed random effects (REML; turns of a dialogue are part of the residual): its standard error accounts for
labels that go together. The model needs annotators who are people and enough of them: a variance estimated from two
degrees of freedom (three annotators) has a 95% interval whose ends differ by a factor of 146. Severity is partially
pooled: drawn towards 0, the more so the less is known of an annotator. A predicted effect varies less than the effects
themselves: its standard deviation is the root of their variance minus its prediction error, by which it is divided
before annotators are compared (Waternaux, Laird and Ware 1989).

Disagreement: where items have several annotators, each is compared with the others item by item; where every annotator
judged dialogues of their own, with the means that the others gave to the systems.

Conduct, whatever is judged: how varied answers are, how fast annotators are, and whether they drift.

Which annotators lie outside the others is decided by the generalised extreme Studentised deviate (ESD) test. Good
annotators differ, too. An annotator is therefore not compared with a fixed limit, nor with the hypothesis that all are
alike, but with the spread of the others: with the largest deviation that so many values from one normal distribution
have. Several outliers, which inflate the spread and so hide each other, are taken out one after the other.

References
----------
Baayen, Davidson and Bates 2008, Journal of Memory and Language 59, 390-412 (crossed random effects). Waternaux, Laird
and Ware 1989, Journal of the American Statistical Association 84, 33-41 (outliers among random effects). Rosner 1983,
Technometrics 25, 165-172.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri, stdtr, stdtrit

from judgebook.statistics import reml
from judgebook.statistics.correlation import rounded
from judgebook.statistics.intervals import generator
from judgebook.study.labels import Label
from judgebook.study.schema import Annotations

#: what is judged, within a method
ITEM = ["label", "dialogue", "turn", "dialogue_b"]
_BLOCK = ["annotator", "dialogue", "dialogue_b"]
#: fewer annotators or systems than these are no sample to estimate a variance from
MIN_ANNOTATORS, MIN_SYSTEMS = 5, 3
#: most levels of systems, annotators and annotators within systems together with which the last are a part of their
#: own
MOST_LEVELS = 450
#: share of the variance below which there is no residual, as where annotators always agree
NO_RESIDUAL = 1e-7
#: fewer scores beside those of others give no correlation
MIN_SHARED = 10
#: fewer dialogues or work units of an annotator show no trend and no speed
MIN_UNITS = 5
#: random sets of dialogues with which an annotator's answers are compared
N_DRAWS = 400
#: times longer or shorter than this many robust standard deviations are taken as that: pages are left open
CLIP = 3.0
#: a robust standard deviation over the median absolute deviation, for normal values
_MAD = 1.4826
#: why there is no severity, for readers
INSEPARABLE = "effects of annotators cannot be separated from those of what they judged"


def standardised(rows: Annotations) -> Annotations:
    """Scores of each label with mean 0 and standard deviation 1; labels whose scores do not vary are left out."""
    by = rows.groupby("label", sort=False)["score"]
    sd = by.transform("std")
    return rows.assign(score=(rows["score"] - by.transform("mean")) / sd)[(sd > 0).to_numpy()]


def towards_better(rows: Annotations, labels: Mapping[tuple[str, str], Label]) -> pd.DataFrame:
    """Rows of one method with scores that are higher for the better, which is what a lenient annotator gives.

    Labels that are neither good nor bad are left out, unless there are no others. Marks stay as they are: what differs
    between annotators is how readily they mark, whatever is marked.
    """
    directions = {key: 1 if label.binary else label.direction for key, label in labels.items()}
    judged = zip(*(rows[c].tolist() for c in ("method", "label")), strict=True)
    sign = pd.Series([directions[key] for key in judged], index=rows.index)
    if not sign.any():
        return rows
    return rows.assign(score=rows["score"] * sign)[sign != 0]


def severity(rows: Annotations, confidence: float) -> tuple[list[dict[str, Any]], pd.Series]:
    """`annotator_severity` over all labels of a method, in standard deviations of scores, and (annotators,) z values.

    rows : annotations of one corpus, group and method, none of them comparisons, from `towards_better`.
    """
    rows = standardised(rows)
    if rows.empty:
        return [], pd.Series(dtype=float)
    keys = ["annotator", "annotator_known", "system", "dialogue", "turn"]
    means = rows.groupby(keys, dropna=False, sort=False)["score"].mean().reset_index()
    fitted = model(means)
    if isinstance(fitted, str):
        return [{"statistic": "annotator_severity", "ci_kind": "not_estimable", "note": fitted}], pd.Series(dtype=float)
    levels, fit = fitted
    at, names = list(levels).index("annotator"), levels["annotator"]
    effect, error, sd = fit.effects[at], fit.effect_se[at], float(np.sqrt(fit.variances[at]))
    half = stdtrit(max(len(effect) - 1, 1), (1 + confidence) / 2) * error
    same = {"statistic": "annotator_severity", "ci_kind": "t", "n": len(means)}
    if np.ptp(effect) == 0:  # the model would be certain that all are alike
        half = np.full(len(effect), np.nan)
        same |= {"ci_kind": "not_estimable", "note": "the variance of annotators is estimated as 0"}
    out = [same | {"annotator": name, "estimate": value, "ci_low": value - reach, "ci_high": value + reach}
           for name, value, reach in zip(names, effect, half, strict=True)]  # fmt: skip
    spread = np.sqrt(np.maximum(sd**2 - error**2, 0.0))  # the standard deviation that predicted effects have
    z = np.divide(effect, spread, out=np.zeros(len(effect)), where=spread > 1e-3 * max(sd, 1e-12))
    return out, pd.Series(z, index=names)


def model(rows: pd.DataFrame) -> tuple[dict[str, np.ndarray], reml.LinearMixedFit] | str:
    """Names of the levels of each random effect, and the model of scores; or why there is none.

    rows : system, annotator, annotator_known, dialogue, score.
    """
    if not rows["annotator_known"].all():
        return "annotators are positions, not people"
    annotators, systems = rows["annotator"].nunique(), rows["system"].nunique()
    if annotators < MIN_ANNOTATORS:
        return f"{'one annotator' if annotators == 1 else f'{annotators} annotators'}, fewer than {MIN_ANNOTATORS}"
    if systems < MIN_SYSTEMS:
        return f"{'one system' if systems == 1 else f'{systems} systems'}, fewer than {MIN_SYSTEMS}"
    if rows["score"].nunique() < 2:
        return "all scores are equal"
    codes, score = factors(rows), rows["score"].to_numpy(dtype=float)
    fitted = reml.fit_linear_mixed(score, np.ones((len(rows), 1)), [c for c, _ in codes.values()])
    if not fitted.converged:
        return "the restricted likelihood did not converge"
    if fitted.shares[-1] < NO_RESIDUAL:
        return "the factors explain every score: there is no residual to hold their variance against"
    return ({name: names for name, (_, names) in codes.items()}, fitted) if "annotator" in codes else INSEPARABLE


def factors(rows: pd.DataFrame, most_levels: int = MOST_LEVELS) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The parts of the variance that the design separates: name -> (n,) codes and (k,) names of levels.

    A dialogue with a single score is not separated from the residual; of two factors that group scores alike the first
    stays.
    """
    out = {name: pd.factorize(rows[name], sort=True) for name in ("system", "annotator", "dialogue")}
    pairs = rows["system"].astype(str) + " " + rows["annotator"].astype(str)
    if len(out["system"][1]) + len(out["annotator"][1]) + pairs.nunique() <= most_levels:
        out["system_annotator"] = pd.factorize(pairs, sort=True)
    sizes = {name: len(levels) for name, (_, levels) in out.items()}
    gone = {name for name, size in sizes.items() if size < 2 or size > 0.9 * len(rows)}
    for a, b in combinations(out, 2):
        together = len(pd.MultiIndex.from_arrays([out[a][0], out[b][0]]).unique())
        gone |= {b} if together == sizes[a] == sizes[b] and a not in gone else set()
    return {name: (codes, np.asarray(levels)) for name, (codes, levels) in out.items() if name not in gone}


def oriented(rows: Annotations) -> Annotations:
    """Comparisons with their dialogues in one order, the score turned with them: the same pair is one item."""
    turned = (rows["dialogue_b"].notna() & (rows["dialogue"] > rows["dialogue_b"].fillna(""))).to_numpy()
    out = rows.copy()
    for a, b in (("dialogue", "dialogue_b"), ("system", "system_b")):
        out[a] = np.where(turned, rows[b].astype(object), rows[a].astype(object))
        out[b] = np.where(turned, rows[a].astype(object), rows[b].astype(object))
    return out.assign(score=np.where(turned, -rows["score"], rows["score"]))


def with_others(rows: Annotations, by: list[str]) -> pd.DataFrame:
    """Scores beside those that others gave to the same thing: `others`, their mean, and `squared`, the mean square of
    the differences from them; scores that stand alone are left out.

    rows : oriented annotations of one corpus, group and method. by : what makes two scores comparable.
    """
    all_ = rows.assign(square=rows["score"] ** 2).groupby(by, dropna=False, sort=False)
    n, total, squares = (all_[c].transform(f) for c, f in (("score", "size"), ("score", "sum"), ("square", "sum")))
    of_annotator = rows.assign(square=rows["score"] ** 2).groupby([*by, "annotator"], dropna=False, sort=False)
    n, total = n - of_annotator["score"].transform("size"), total - of_annotator["score"].transform("sum")
    squares = squares - of_annotator["square"].transform("sum")
    out = rows.assign(others=total / n.where(n > 0), n_others=n, squares=squares)[(n > 0).to_numpy()]
    squared = out["score"] ** 2 - 2 * out["score"] * out["others"] + out["squares"] / out["n_others"]
    return out.drop(columns="squares").assign(squared=squared)


def shared(rows: Annotations) -> bool:
    """Whether items have several annotators: at least one in a hundred, and enough for a correlation."""
    n = rows.groupby(ITEM, dropna=False, sort=False)["annotator"].nunique()
    return bool((n > 1).mean() >= 0.01 and (n > 1).sum() >= MIN_SHARED)


def disagreement(rows: Annotations) -> tuple[list[dict[str, Any]], pd.Series]:
    """`annotator_agreement`, the correlation with the mean of the others, and (annotators,) z values of disagreement.

    Parameters
    ----------
    rows : DataFrame
        Oriented annotations of one corpus, group and method, of labels with a mean.

    Returns
    -------
    rows with `over` (item: those with several annotators; system: the others' means of systems), and z values, high
    where an annotator disagrees more than annotators with as many dialogues do. If nobody were better than others, an
    annotator's disagreements would be a random draw from all: z is the mean of their normal scores, by the mean and the
    standard deviation of such draws. The unit is the dialogue, since judgements of one dialogue go together.
    """
    rows = standardised(rows)
    over = "item" if shared(rows) else "system"
    by = ITEM if over == "item" else ["label", "system", "system_b"]
    beside = with_others(rows, by)
    if beside.empty:
        return [], pd.Series(dtype=float)
    if over == "item":
        spread = beside.groupby("label")["squared"].transform("std")
        value = (beside["squared"] - beside.groupby("label")["squared"].transform("mean")) / spread.where(spread > 0)
    else:  # different dialogues: what counts is whether systems are ordered as by the others
        centred = [beside[c] - beside.groupby(["annotator", "label"])[c].transform("mean") for c in ("score", "others")]
        value = -centred[0] * centred[1]
    blocks = beside.assign(value=value).groupby(_BLOCK, dropna=False, sort=False)["value"].mean().dropna()
    return list(_correlations(beside, over)), _drawn(blocks)


def _drawn(blocks: pd.Series) -> pd.Series:
    """(annotators,) mean of an annotator's blocks, by mean and standard deviation of as many drawn at random.

    Blocks are ranked and enter as normal scores: squared differences have a long tail, and the means of few of them
    would lie outside the spread of others far too often (in 9 of 60 simulated studies instead of 1).
    """
    blocks = pd.Series(ndtri((pd.Series(rounded(blocks)).rank().to_numpy() - 0.5) / len(blocks)), index=blocks.index)
    by = blocks.groupby(level="annotator", sort=True)
    n, total = by.size(), len(blocks)
    error = blocks.std(ddof=0) * np.sqrt((total - n) / ((total - 1) * n)) if total > 1 else n * np.nan
    return (by.mean() - blocks.mean()) / error.where(error > 0)


def _correlations(beside: pd.DataFrame, over: str) -> Iterator[dict[str, Any]]:
    for name, of_annotator in beside.groupby("annotator", sort=True):
        row = {"statistic": "annotator_agreement", "annotator": name, "over": over, "n": len(of_annotator)}
        row |= {"n_clusters": of_annotator["dialogue"].nunique()}
        x, y = of_annotator["score"].to_numpy(float), of_annotator["others"].to_numpy(float)
        if len(of_annotator) < MIN_SHARED or x.std() == 0 or y.std() == 0:
            few = f"{len(of_annotator)} scores that can be compared with those of others, fewer than {MIN_SHARED}"
            yield row | {"estimate": np.nan, "note": few if len(of_annotator) < MIN_SHARED else "all scores are equal"}
            continue
        yield row | {"estimate": float(np.corrcoef(x, y)[0, 1])}


def answers(rows: Annotations, rng: np.random.Generator) -> tuple[list[dict[str, Any]], pd.Series]:
    """`annotator_answers`, the share of an annotator's commonest answer, the mean over labels, and (annotators,) z
    values of the entropy of their answers.

    rows : annotations of one corpus, group and method, as they were shown. z values are low where answers vary less
    than in as many dialogues drawn from those of all annotators, as with a straight-liner, and high where they vary
    more.
    """
    z: dict[str, list[float]] = {}
    seen: dict[str, list[float]] = {}
    for _, of_label in rows.groupby("label", sort=False):
        if of_label["score"].nunique() < 2:
            continue
        block = of_label.groupby(["annotator", "dialogue", "dialogue_b"], dropna=False, sort=True).ngroup().to_numpy()
        value = pd.factorize(of_label["score"], sort=True)[0]
        counts = np.zeros((block.max() + 1, value.max() + 1))
        np.add.at(counts, (block, value), 1)
        who = of_label["annotator"].groupby(block).first().to_numpy()
        codes, names = pd.factorize(who, sort=True)
        total = np.zeros((len(names), counts.shape[1]))
        np.add.at(total, codes, counts)
        commonest, entropy = total.max(axis=1) / total.sum(axis=1), _entropy(total)
        for n in np.unique(sizes := np.bincount(codes)):
            drawn = rng.integers(0, len(counts), (N_DRAWS, n))
            usual = _entropy(counts[drawn].sum(axis=1))
            mean, sd = usual.mean(), usual.std()
            for code in np.flatnonzero(sizes == n):
                seen.setdefault(names[code], []).append(float(commonest[code]))
                if n >= MIN_UNITS and sd > 0:
                    z.setdefault(names[code], []).append((float(entropy[code]) - mean) / sd)
    n = rows.groupby("annotator").size()
    same = {"statistic": "annotator_answers"}
    out = [same | {"annotator": name, "n": int(n[name]), "estimate": sum(shares) / len(shares)}
           for name, shares in sorted(seen.items())]  # fmt: skip
    return out, pd.Series({name: np.mean(v) * np.sqrt(len(v)) for name, v in sorted(z.items())}, dtype=float)


def _entropy(counts: np.ndarray) -> np.ndarray:
    """Bits, of each row of counts."""
    p = counts / counts.sum(axis=1, keepdims=True)
    return -np.sum(p * np.log2(np.where(p > 0, p, 1.0)), axis=1)


def speed(times: pd.DataFrame, confidence: float) -> tuple[list[dict[str, Any]], pd.Series]:
    """`annotator_speed`: an annotator's times over those usual for the task, and (annotators,) z values of their logs.

    Parameters
    ----------
    times : DataFrame
        annotator, method, task, minutes: one row per work unit of one corpus and group (`collection.costs.minutes`).

    Notes
    -----
    Logarithms of minutes, less the median of their task, have annotators as random effects; far values are clipped.
    """
    times = times[times["minutes"] > 0]
    log = np.log(times["minutes"])
    rest = log - log.groupby([times["method"], times["task"]]).transform("median")
    limit = CLIP * (_MAD * rest.abs().median() or rest.std())  # where most times are equal, the deviation is 0
    enough = times["annotator"].map(times["annotator"].value_counts()) >= MIN_UNITS
    rest, who = rest.clip(-limit, limit)[enough], times.loc[enough, "annotator"]
    codes, names = pd.factorize(who, sort=True)
    if len(names) < 3 or rest.std() == 0:
        return [], pd.Series(dtype=float)
    fitted = reml.fit_linear_mixed(rest.to_numpy(float), np.ones((len(rest), 1)), [codes])
    if not fitted.converged:
        return [], pd.Series(dtype=float)
    effect, error, n = fitted.effects[0], fitted.effect_se[0], np.bincount(codes)
    half = stdtrit(len(names) - 1, (1 + confidence) / 2) * error
    rows = [
        {"statistic": "annotator_speed", "annotator": name, "estimate": value, "ci_low": low, "ci_high": high,
         "ci_kind": "t", "n": int(k)}
        for name, value, low, high, k in zip(names, *np.exp([effect, effect - half, effect + half]), n, strict=True)
    ]  # fmt: skip
    spread = np.sqrt(np.maximum(fitted.variances[0] - error**2, 0.0))
    z = np.divide(effect, spread, out=np.zeros(len(effect)), where=spread > 1e-6)
    return rows, pd.Series(z, index=names)


def drift(rows: Annotations, confidence: float) -> tuple[list[dict[str, Any]], pd.Series]:
    """`annotator_drift`: change of severity from an annotator's first dialogue to the last, and (annotators,) z values.

    rows : annotations of one corpus, group and method, none of them comparisons, from `severity.towards_better`.

    Scores are standardised by label; what is due to systems and to the annotator's severity is taken off, and the means
    of dialogues are regressed on their order: by time of completion, or as in the source where times are not known. For
    z values the means enter as normal scores, since those of rare marks have a long tail.
    """
    rows = standardised(rows)
    if rows.empty:
        return [], pd.Series(dtype=float)
    rest = rows["score"] - rows.groupby(["label", "system"])["score"].transform("mean")
    frame = pd.DataFrame({"annotator": rows["annotator"], "dialogue": rows["dialogue"], "row": rows["source_row"]})
    frame = frame.assign(rest=rest - rest.groupby([rows["annotator"], rows["label"]]).transform("mean"))
    frame["time"] = rows["completed_at"]
    by = frame.groupby(["annotator", "dialogue"], sort=False)
    units = by.agg(rest=("rest", "mean"), time=("time", "min"), row=("row", "min")).reset_index()
    units["normal"] = ndtri((pd.Series(rounded(units["rest"])).rank().to_numpy() - 0.5) / len(units))
    out, z = [], {}
    for name, of_annotator in units.groupby("annotator", sort=True):
        if len(of_annotator) < MIN_UNITS:
            continue
        of_annotator = of_annotator.sort_values(
            "row" if of_annotator["time"].isna().any() else ["time", "row"], kind="stable"
        )
        row, _ = _trend(of_annotator["rest"].to_numpy(float), confidence)
        _, z[name] = _trend(of_annotator["normal"].to_numpy(float), confidence)
        out.append({"statistic": "annotator_drift", "annotator": name, **row})
    return out, pd.Series(z, dtype=float)


def _trend(y: np.ndarray, confidence: float) -> tuple[dict[str, Any], float]:
    """Slope of y on its order from 0 to 1, with Student's t interval, and its t value as a normal deviate."""
    n = len(y)
    x = np.linspace(0, 1, n) - 0.5
    slope = float(x @ y / (x @ x))
    rest = y - y.mean() - slope * x
    error = float(np.sqrt(rest @ rest / (n - 2) / (x @ x)))
    half = float(stdtrit(n - 2, (1 + confidence) / 2)) * error
    row = {"estimate": slope, "ci_low": slope - half, "ci_high": slope + half, "ci_kind": "t", "n": n}
    t = slope / error if error > 0 else 0.0
    return row, float(-np.sign(t) * ndtri(max(stdtr(n - 2, -abs(t)), 1e-300)))


#: fewer values have no spread that an outlier could stand out from
MIN_VALUES = 5
#: largest share of outliers that is looked for
MOST = 0.25
SIDES = ("both", "high", "low")
#: with fewer values Rosner's limits are exceeded too often, because each step has the full level: see `_calibrated`
ROSNER_FROM = 40
#: samples of normal values for calibration; of the smallest p-values, fewer than TAIL are extrapolated
SAMPLES, TAIL = 40_000, 100


def esd(values: np.ndarray, side: str = "both") -> np.ndarray:
    """p-value of each value, adjusted for the number of values; 1 for those that are not among the most extreme.

    Parameters
    ----------
    values : (n,)
        One for each annotator; missing ones stay missing and do not count.
    side : {"both", "high", "low"}
        Which values can be outliers.

    Returns
    -------
    (n,) p-values: with values of one normal distribution the smallest is below p in about a share of p of samples. NaN
    with fewer than `MIN_VALUES` values, or if these are all equal.

    Notes
    -----
    Rosner's test finds as many outliers as the last of the deviates R_1, R_2, … that exceeds its limit; the p-value of
    the i-th value taken out is therefore the least one of R_i, R_i+1, …. With fewer than `ROSNER_FROM` values, the
    p-value is the share of samples of as many normal values whose least one is not larger.
    """
    if side not in SIDES:
        raise ValueError(f"side: expected one of {', '.join(SIDES)}, found {side!r}")
    values = np.asarray(values, dtype=float)
    out = np.full(len(values), np.nan)
    finite = np.flatnonzero(np.isfinite(values))
    if len(finite) < MIN_VALUES or np.ptp(values[finite]) == 0:
        return out
    p, taken = (x[0] for x in _steps(values[finite][None, :], side))
    p = np.minimum.accumulate(p[::-1])[::-1]
    out[finite] = 1.0
    out[finite[taken]] = _calibrated(p, len(finite), side) if len(finite) < ROSNER_FROM else p
    return out


def _steps(x: np.ndarray, side: str) -> tuple[np.ndarray, np.ndarray]:
    """(samples, steps) p-values of the most extreme values of (samples, n), taken out one after the other, and their
    places."""
    rows, n = np.arange(len(x)), x.shape[1]
    places, p, taken = np.tile(np.arange(n), (len(x), 1)), [], []
    for size in range(n, n - max(1, int(MOST * n)), -1):
        deviate = x - x.mean(axis=1, keepdims=True)
        sd = np.sqrt(np.square(deviate).sum(axis=1, keepdims=True) / (size - 1))
        deviate /= np.where(sd > 0, sd, np.inf)
        signed = {"both": np.abs(deviate), "high": deviate, "low": -deviate}[side]
        at = signed.argmax(axis=1)
        p.append(_p_value(signed[rows, at], size, two_sided=side == "both"))
        taken.append(places[rows, at])
        stays = np.ones(x.shape, dtype=bool)
        stays[rows, at] = False
        x, places = (a[stays].reshape(len(rows), size - 1) for a in (x, places))
    return np.stack(p, axis=1), np.stack(taken, axis=1)


def _calibrated(p: np.ndarray, n: int, side: str) -> np.ndarray:
    """Shares of samples of n normal values whose least p-value is not larger than p; in proportion to p below the
    TAIL-th smallest of SAMPLES."""
    least = _least(n, "high" if side == "low" else side)
    share = np.searchsorted(least, p, side="right") / len(least)
    return np.where(p >= least[TAIL - 1], share, p * TAIL / (len(least) * least[TAIL - 1]))


@lru_cache(maxsize=64)
def _least(n: int, side: str) -> np.ndarray:
    """(SAMPLES,) least p-values of samples of n normal values, in order."""
    return np.sort(_steps(generator(0, "esd", str(n), side).normal(size=(SAMPLES, n)), side)[0].min(axis=1))


def _p_value(deviate: np.ndarray, n: int, *, two_sided: bool) -> np.ndarray:
    """Bonferroni's bound for the largest Studentised deviate of n values (equation 2.5, solved for the level)."""
    rest = (n - 1) ** 2 / n - np.square(deviate)
    t = np.where(rest > 0, deviate * np.sqrt((n - 2) / np.where(rest > 0, rest, 1.0)), np.inf)
    return np.minimum(1.0, (1 + two_sided) * n * stdtr(n - 2, -t))
