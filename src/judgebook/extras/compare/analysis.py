"""Did a repetition reproduce the results? Two runs of the same systems and labels compared.

Quantified in the ways of Belz et al.: scores by CV*, sets of scores by correlation, conclusions by what both runs
share . Intervals leave out one cluster at a time: people where each run has enough of them, else dialogues
or pairs. They say what other people, or other dialogues, would have changed.

Do conclusions of two runs about pairs of systems agree, and how far do their scores vary (CV*)?

The coefficient of variation for small samples, CV*, has both corrections of Belz, Popović and Mille: the standard
deviation is divided by c4, its bias in samples of n from a normal distribution, and the coefficient is multiplied by
1 + 1/(4n). A coefficient of variation needs a scale that starts at 0, so values are counted from the low end of their
scale (Belz et al. 2022, section 3).

References
----------
Belz, Thomson, Reiter, Mille 2023, Non-repeatable experiments and non-reproducible results, Findings of ACL (types of
results); Ji et al. 2022, section 4 (correlation of system means between runs). Belz, Popović and Mille 2022, Quantified
reproducibility assessment of NLP results, ACL, 16-28; Belz 2022, A metrological perspective on reproducibility in NLP,
Computational Linguistics 48, 1125-1135; Sokal and Rohlf 1995, Biometry, section 4.9 (the factor for small samples).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import gammaln, stdtr

from judgebook.annotations.summary import with_means
from judgebook.extras.compare.sides import ComparisonError, Copies, Side, copies, data_hash, settings
from judgebook.questions.quality_control import replication
from judgebook.questions.quality_control.replication import Quantity, Tally
from judgebook.questions.quality_control.worker_tests import of_those_who_passed
from judgebook.statistics.correlation import pearson_interval
from judgebook.statistics.intervals import MIN_CLUSTERS, Interval, generator, jackknife_t
from judgebook.study.labels import METHODS, Label

RUNS = ("A", "B")
#: verdicts on a label: how far the second run reproduces the first
CLEARLY, WEAKLY, NOT, OPEN = "clearly", "weakly", "not", "open"
#: correlation of system means from which it is large (Cohen 1988, Statistical Power Analysis, section 3.2)
LARGE = 0.5
Key = tuple[str, str]


@dataclass(frozen=True)
class Comparison:
    """a, b : the sides. identical : whether their judgements are the same. settings : from `sides.settings`.

    labels : a row per label: method, label, systems, unit, clusters, r, its interval over clusters (r_low, r_high;
    r_note where there is none) and over systems (fisher_low, fisher_high), the counts of `counts`, cv with
    cv_low, cv_high and cv_expected, verdict.
    means : a row per label, run and system: estimate, ci_low, ci_high, note.
    variation : a row per label and system: a, b, cv, low, high, expected, note.
    pairs : a row per label and pair of systems: from `gaps`, and change_p from `changes`.
    missing : what is not compared: kind, id, in_ (0: only a has it, 1: only b, 2: both, on other scales).
    copies : whose judgements seem to be in both.
    """

    a: Side
    b: Side
    identical: bool
    settings: pd.DataFrame
    labels: pd.DataFrame
    means: pd.DataFrame
    variation: pd.DataFrame
    pairs: pd.DataFrame
    missing: pd.DataFrame
    copies: Copies
    known: Mapping[Key, Label]
    systems: list[str]
    confidence: float

    @property
    def spread(self) -> dict[str, float]:
        """CV* over all systems and labels, and what is expected."""
        cells = self.variation.dropna(subset="cv")
        return {name: float(cells[name].mean(skipna=False)) for name in ("cv", "expected")}


def compare(a: Side, b: Side, *, confidence: float = 0.95) -> Comparison:
    """Compare two sides, label by label, over the systems that both have.

    Raises
    ------
    ComparisonError
        Where a side has several corpora of which none is named and the other side does not have the same ones, and
        where no label or fewer than two systems are in common.
    """
    rows, of_label, missing = _joined(a, b)
    identical, in_both = _same(a, b), copies(rows)
    shared = _shared(rows, a, b)
    rows = rows[rows["system"].isin(shared)].dropna(subset="score")
    out: list[list[dict]] = [[], [], [], []]
    for i, (method, label) in enumerate(of_label):
        for table, more in zip(out, _compared(rows[rows["label"] == i], shared, confidence), strict=True):
            table += [{"method": method, "label": label} | row for row in more]
    labels, means, varied, pairs = map(pd.DataFrame, out)
    copied = in_both.most and not identical
    labels["verdict"] = [OPEN if copied else verdict(row) for row in labels.to_dict("records")]
    differ = settings(a, b)
    return Comparison(
        a, b, identical, differ, labels, means, varied, pairs, missing, in_both, of_label, shared, confidence
    )


def _same(a: Side, b: Side) -> bool:
    """Whether the judgements are the same."""
    return data_hash(a, corpus=a.corpora is None) == data_hash(b, corpus=b.corpora is None)


def verdict(row: Mapping[str, Any]) -> str:
    """How far the second run reproduces the first on a label.

    NOT where a pair of systems differs in both runs with opposite signs, significant for all pairs and runs at once,
    where the interval of r lies below 0, and where r is not above 0 and the difference between two systems changed,
    significant for all pairs at once. CLEARLY where this interval lies above LARGE and no pair is significant with
    opposite signs even without adjustment, WEAKLY where it lies above 0, else OPEN. The interval of r is that over
    clusters or, where these give none, over systems; means that are the same up to their scale reproduce clearly.
    """
    over = "r" if np.isfinite(row["r_low"]) else "fisher"
    low, high = row[f"{over}_low"], row[f"{over}_high"]
    if row["sure_opposite"] or high < 0 or (row["changed"] and row["r"] <= 0):
        return NOT
    exact = np.isfinite(row["r"]) and row["r"] >= 1 - 1e-12
    if exact or (low > LARGE and not row["opposite"]):
        return CLEARLY
    return WEAKLY if low > 0 else OPEN


def _shared(rows: pd.DataFrame, a: Side, b: Side) -> list[str]:
    """Systems judged in both runs on the same label, in the order of figures; those that are not ranked (a control,
    people) only where they are needed to have two."""
    runs = rows.groupby(["system", "label"])["corpus"].nunique()
    both = set(runs.index[runs > 1].get_level_values("system"))
    systems = [*[s for s in a.study.systems if s in both], *sorted(both - set(a.study.systems))]
    ranked = [s for s in systems if s not in {*a.study.unranked_systems, *b.study.unranked_systems}]
    return ranked if len(ranked) > 1 else systems


def _joined(a: Side, b: Side) -> tuple[pd.DataFrame, dict[Key, Label], pd.DataFrame]:
    """The judgements of both sides: corpus (a run of RUNS), annotator (a cluster), system, label (a place of `known`),
    score from the low end of its scale. The labels in common. What only one side has."""
    for side in (a, b):
        corpora = list(dict.fromkeys(side.scores["corpus"]))
        if side.corpora is None and len(corpora) > 1 and not _same(a, b):
            names = ", ".join(f"{side.spec}:{c}" for c in corpora)
            raise ComparisonError(f"{side.spec} has several corpora; name one of {names}")
    both = [_means_only(side) for side in (a, b)]
    labels = {(x.method, x.id): x for x in a.study.label_list(every=True)}
    judged = [set(map(tuple, frame[["method", "label"]].drop_duplicates().to_numpy())) for frame in both]
    theirs = {(x.method, x.id): x for x in b.study.label_list(every=True)}
    both_have = [key for key in labels if key in judged[0] & judged[1]]
    common = [key for key in both_have if labels[key].scale == theirs[key].scale]
    missing = [("label on another scale", "/".join(key), 2) for key in both_have if key not in common]
    missing += [("label", "/".join(k), i) for i, other in ((0, 1), (1, 0)) for k in sorted(judged[i] - judged[other])]
    if not common:
        sides = " and ".join(f"{side.spec} has {_listed(keys)}" for side, keys in zip((a, b), judged, strict=True))
        raise ComparisonError(
            f"no label in common, by id and method: {sides}. `--map old=new` renames labels of the second"
        )
    systems = [{*f["system"].dropna(), *f["system_b"].dropna()} for f in both]
    missing += [("system", s, i) for i, other in ((0, 1), (1, 0)) for s in sorted(systems[i] - systems[other])]
    if len(systems[0] & systems[1]) < 2:
        sides = " and ".join(
            f"{s.spec} has {', '.join(sorted(x)) or 'none'}" for s, x in zip((a, b), systems, strict=True)
        )
        raise ComparisonError(
            f"fewer than two systems in common: {sides}. `--map old=new` renames systems of the second"
        )
    place = {key: i for i, key in enumerate(common)}
    apart = a.folder != b.folder
    rows = []
    for run, frame in zip(RUNS, both, strict=True):
        frame = frame.assign(place=[place.get(k) for k in zip(frame["method"], frame["label"], strict=True)])
        rows.append(_long(frame.dropna(subset=["place"]), run, labels, common, apart=apart))
    out = pd.concat(rows, ignore_index=True)
    return out, {key: labels[key] for key in common}, pd.DataFrame(missing, columns=["kind", "id", "in_"])


def _listed(keys: set[Key]) -> str:
    """Labels by method."""
    methods = {
        m: ", ".join(sorted(label for method, label in keys if method == m)) for m in sorted({m for m, _ in keys})
    }
    return "; ".join(f"{METHODS[m].title} ({labels})" for m, labels in methods.items()) or "none"


def _means_only(side: Side) -> pd.DataFrame:
    """Judgements by people (by all, where no people judged) on labels that have means; of workers who passed quality
    control, where there is one."""
    labels = side.study.label_list(every=True)
    scores = with_means(side.scores, labels)
    people = scores[scores["annotator_kind"] == "human"]
    if people.empty:
        return scores
    return of_those_who_passed(people, labels, side.study.control_system, side.study.quality_control)


def _long(
    frame: pd.DataFrame, run: str, by_key: Mapping[Key, Label], common: list[Key], *, apart: bool
) -> pd.DataFrame:
    """A row per judged system: a comparison judges two, the second with the opposite sign.

    apart : whether the same id of an annotator may stand for different people in the two runs.
    """
    low = frame["place"].map({i: by_key[k].scale[0] for i, k in enumerate(common)})
    pair = frame["dialogue_b"].notna()
    item = frame["dialogue"].astype(str)
    if pair.any():  # both sides of a comparison are one unit, whichever was shown first
        ends = frame.loc[pair, ["dialogue", "dialogue_b"]].to_numpy()
        item = item.mask(pair, pd.Series([" ".join(sorted(map(str, e))) for e in ends], frame.index[pair]))
    out = pd.DataFrame(
        {
            "corpus": run,
            "person": (f"{run} " if apart else "") + frame["annotator"].astype(str),
            "known": frame["annotator_known"].astype(bool),
            "item": item,
            "pair": pair,
            "system": frame["system"],
            "label": frame["place"].astype(int),
            "score": frame["score"].astype(float) - low.astype(float),
        }
    )
    other = out[pair.to_numpy()].assign(system=frame.loc[pair, "system_b"])
    width = {i: by_key[k].scale[1] - by_key[k].scale[0] for i, k in enumerate(common)}
    other["score"] = other["label"].map(width) - other["score"]
    # a dialogue of one run is not that of the other, whatever its id
    return pd.concat([out, other], ignore_index=True).assign(item=lambda f: f"{run} " + f["item"])


def _unit(rows: pd.DataFrame) -> tuple[str, pd.Series]:
    """What clusters are, and the cluster of each row: people where each run has enough known ones, else items."""
    people = rows.groupby("corpus")["person"].nunique().reindex(list(RUNS)).fillna(0)
    if rows["known"].all() and people.min() >= MIN_CLUSTERS:
        return "person", rows["person"]
    return "pair" if rows["pair"].any() else "dialogue", rows["corpus"] + " " + rows["item"].astype(str)


def _compared(
    rows: pd.DataFrame, systems: list[str], confidence: float
) -> tuple[list[dict], list[dict], list[dict], list[dict]]:
    """One label: its rows of labels, means, variation and pairs."""
    in_both = rows.groupby("system")["corpus"].nunique()
    systems = [s for s in systems if in_both.get(s, 0) == 2]
    if len(systems) < 2:
        return [], [], [], []
    unit, cluster = _unit(rows)
    rows = rows.assign(label="x", annotator=cluster)[rows["system"].isin(systems)]
    t = replication.tally(rows, "score", RUNS, systems)
    left, means = _left_out(t), t.means()[..., 0]
    apart = gaps(means, [left.of_run(i) for i in range(2)])
    apart["change_p"] = changes(means, left.means, left.groups)
    varied = _variation(systems, means, left, unit, confidence)
    columns = {"cv": "cv", "low": "cv_low", "high": "cv_high", "expected": "cv_expected"}
    spread = {name: float(np.mean([row[column] for row in varied])) for column, name in columns.items()}
    label = _correlation(means, left, unit, confidence) | {"systems": len(systems), "unit": unit}
    label |= counts(apart, 1 - confidence) | spread
    pairs = apart.assign(system=[systems[i] for i in apart["i"]], system_b=[systems[j] for j in apart["j"]])
    shown = _means(systems, means, left, unit, confidence)
    return [label], shown, varied, pairs.drop(columns=["i", "j"]).to_dict("records")


@dataclass(frozen=True)
class LeftOut:
    """Means without each cluster. means : (clusters, 2, systems). took_part : (clusters, 2). groups : (clusters,) codes
    of clusters that took part in the same runs."""

    means: np.ndarray
    took_part: np.ndarray
    groups: np.ndarray

    def of_run(self, run: int) -> np.ndarray:
        """(clusters of the run, systems): its means without each of its clusters."""
        return self.means[self.took_part[:, run], run]


def _left_out(t: Tally) -> LeftOut:
    """Means without each cluster, as `replication` leaves out people: within those who took part in the same runs."""
    every = Quantity([], lambda m: m[..., 0].reshape(len(m), -1))
    replicates = replication.replicates(t, [every], generator(0, "comparison"), 2)
    took_part = t.count.sum(axis=(2, 3)) > 0
    groups = np.unique(took_part, axis=0, return_inverse=True)[1].reshape(-1)
    assert replicates.jackknife is not None
    sorted_ = replicates.groups is None or not np.array_equal(replicates.groups, groups)
    order = np.argsort(groups, kind="stable") if sorted_ else np.arange(len(groups))
    means = replicates.jackknife.reshape(-1, 2, len(t.systems))
    return LeftOut(means, took_part[order], groups[order])


def _correlation(means: np.ndarray, left: LeftOut, unit: str, confidence: float) -> dict[str, Any]:
    """r of the systems' means, its interval over clusters and Fisher's over systems."""
    r = float(replication.pearson(means[0][:, None], means[1][:, None])[0])
    without = replication.pearson(left.means[:, 0][..., None], left.means[:, 1][..., None])[:, 0]
    n, people = means.shape[1], left.took_part.sum(axis=0)
    interval = jackknife_t(r, without, unit, confidence, groups=left.groups)
    if n < replication.LEAST_FOR_INTERVAL:
        note = f"{n} systems are too few for an interval over clusters; {replication.LEAST_FOR_INTERVAL} are needed"
        interval = Interval(r, np.nan, np.nan, "not_estimable", unit, len(without), note=note)
    low, high = pearson_interval(r, n, confidence) if np.isfinite(r) else (np.nan, np.nan)
    out: dict[str, Any] = {"r": r, "r_low": interval.low, "r_high": interval.high, "r_note": interval.note or None}
    out |= {"clusters_a": int(people[0]), "clusters_b": int(people[1])}
    return out | {"fisher_low": low, "fisher_high": high}


def _means(systems: list[str], means: np.ndarray, left: LeftOut, unit: str, confidence: float) -> list[dict]:
    out = []
    for i, run in enumerate(RUNS):
        without = left.of_run(i)
        for j, system in enumerate(systems):
            interval = jackknife_t(means[i, j], without[:, j], unit, confidence, bounded=False)
            row = {"run": run, "system": system, "estimate": means[i, j]}
            out.append(row | {"ci_low": interval.low, "ci_high": interval.high, "note": interval.note or None})
    return out


def _variation(systems: list[str], means: np.ndarray, left: LeftOut, unit: str, confidence: float) -> list[dict]:
    """CV* of each system's two means, its interval, and what is expected if only sampling differs.

    The interval is that of the relative difference on the scale of log ratios, folded, at a level that holds for all
    systems at once.
    """
    d = relative_difference(means[0], means[1])
    without = relative_difference(left.means[:, 0], left.means[:, 1])
    out = []
    for j, system in enumerate(systems):
        row = {"system": system, "a": means[0, j], "b": means[1, j], "cv": float(cv_star(means[:, j]))}
        level = 1 - (1 - confidence) / len(systems)
        interval = jackknife_t(d[j], without[:, j], unit, level, groups=left.groups)
        ends = of_two(np.array(folded(np.array(interval.low), np.array(interval.high))))
        row["low"], row["high"] = np.asarray(ends).tolist()
        # a normal difference around 0 is √(2/π) standard errors from it on average
        row["expected"] = float(of_two(interval.standard_error * np.sqrt(2 / np.pi) * (1 - d[j] ** 2)))
        row["note"] = interval.note or (None if np.isfinite(d[j]) else "a mean lies at the low end of the scale")
        out.append(row)
    return out


#: means that differ by less, in units of the larger, are tied
TIE = 1e-12


def gaps(means: np.ndarray, jackknife: list[np.ndarray]) -> pd.DataFrame:
    """Differences between all pairs of systems in both runs, with p-values.

    Parameters
    ----------
    means : (2, systems) array
    jackknife : for each run a (clusters, systems) array
        The means without each cluster of that run.

    Returns
    -------
    DataFrame with a row per pair: i, j (places of the systems), and a_ and b_ estimate, error (jackknife standard
    error) and p (two-sided, Student's t with clusters − 1 degrees of freedom); missing where not estimable.

    References
    ----------
    Efron and Tibshirani 1993, eq. 11.5.
    """
    pairs = np.array(list(combinations(range(means.shape[1]), 2)), dtype=int).reshape(-1, 2)
    out = {"i": pairs[:, 0], "j": pairs[:, 1]}
    for run, (values, left) in zip("ab", zip(means, jackknife, strict=True), strict=True):
        difference = values[pairs[:, 0]] - values[pairs[:, 1]]
        scale = np.maximum(np.abs(values[pairs]).max(axis=1), 1e-300)
        difference = np.where(np.abs(difference) <= TIE * scale, 0.0, difference)
        c = len(left)
        error = np.full(len(pairs), np.nan)
        if c > 1:
            moved = left[:, pairs[:, 0]] - left[:, pairs[:, 1]]
            error = np.sqrt((c - 1) / c * np.sum((moved - moved.mean(axis=0)) ** 2, axis=0))
        with np.errstate(divide="ignore", invalid="ignore"):
            p = 2 * stdtr(max(c - 1, 1), -np.abs(difference) / np.where(error > 0, error, np.nan))
        out |= {f"{run}_estimate": difference, f"{run}_error": error, f"{run}_p": p}
    return pd.DataFrame(out)


def changes(means: np.ndarray, jackknife: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """p-values of the hypotheses that the difference between two systems is the same in both runs.

    Parameters
    ----------
    means : (2, systems) array
    jackknife : (clusters, 2, systems) array
        The means of both runs without each cluster.
    groups : (clusters,) array
        Codes of clusters that took part in the same runs.

    Returns
    -------
    (pairs,) array in the order of `gaps`, two-sided, Student's t with clusters − groups degrees of freedom; NaN where
    not estimable.

    References
    ----------
    Wolter 2007, Introduction to Variance Estimation, section 4.5 (the jackknife in strata); Gelman and Stern 2006, The
    American Statistician 60, 328-331 (why differences are tested, not compared by their significance).
    """
    i, j = np.triu_indices(means.shape[1], 1)
    moved = np.subtract(*np.moveaxis(jackknife[..., i] - jackknife[..., j], 1, 0))
    codes, n = np.unique(groups, return_inverse=True, return_counts=True)[1:]
    degrees = len(codes) - len(n)
    if degrees < 1:
        return np.full(len(i), np.nan)
    centre = np.stack([moved[codes == k].mean(axis=0) for k in range(len(n))])
    error = np.sqrt(np.sum(((n - 1) / n)[codes, None] * (moved - centre[codes]) ** 2, axis=0))
    change = np.abs(np.subtract(*(means[:, i] - means[:, j])))
    with np.errstate(divide="ignore", invalid="ignore"):
        return 2 * stdtr(degrees, -change / np.where(error > 0, error, np.nan))


def counts(pairs: pd.DataFrame, alpha: float) -> dict[str, float]:
    """How the pairs of `gaps`, with `change_p` from `changes`, agree.

    Returns
    -------
    dict: pairs, with a difference in both runs; same, in the same order;
    significant at `alpha` without adjustment: same_sign, opposite, only_a, only_b; the same for all pairs and runs
    at once (Bonferroni): sure_opposite; tested, pairs with a p-value in both runs; changed, pairs whose difference
    is not the same in both runs, for all pairs at once.
    """
    a, b = (pairs[f"{run}_estimate"].to_numpy() for run in "ab")
    defined = np.isfinite(a) & np.isfinite(b)
    untied = defined & (a != 0) & (b != 0)
    p = pairs[["a_p", "b_p"]].to_numpy(float)
    tested = defined & np.isfinite(p).all(axis=1)
    rejected = (p < alpha) & tested[:, None]
    sure = (p < alpha / max(2 * tested.sum(), 1)) & tested[:, None]
    alike = a * b > 0
    out = {"pairs": untied, "same": untied & alike, "tested": tested}
    out |= {"same_sign": rejected.all(axis=1) & alike, "opposite": rejected.all(axis=1) & ~alike}
    out |= {"only_a": rejected[:, 0] & ~rejected[:, 1], "only_b": rejected[:, 1] & ~rejected[:, 0]}
    out["sure_opposite"] = sure.all(axis=1) & ~alike
    out["changed"] = tested & (pairs["change_p"].to_numpy() < alpha / max(tested.sum(), 1))
    return {name: int(rows.sum()) for name, rows in out.items()}


def cv_star(values: np.ndarray) -> np.ndarray:
    """CV* in percent over the last axis.

    Parameters
    ----------
    values : (…, n) array
        Measurements of the same thing on a scale that starts at 0.

    Returns
    -------
    (…) array; NaN with fewer than two measurements, a missing one, or a mean that is not above 0.
    """
    x = np.asarray(values, dtype=float)
    n = x.shape[-1]
    if n < 2:
        return np.full(x.shape[:-1], np.nan)
    mean = x.mean(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        out = factor(n) * x.std(axis=-1, ddof=1) / mean
    return np.where(mean > 0, out, np.nan)


def factor(n: int) -> float:
    """What turns standard deviation over mean of n measurements into CV* in percent."""
    c4 = np.sqrt(2 / (n - 1)) * np.exp(gammaln(n / 2) - gammaln((n - 1) / 2))
    return float(100 * (1 + 1 / (4 * n)) / c4)


def relative_difference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(a − b) / (a + b), the hyperbolic tangent of half the logarithm of a / b; NaN unless a + b is above 0.

    CV* of two measurements is `of_two` times its absolute value. Fisher's transformation of it is half the log ratio.
    """
    total = a + b
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(total > 0, (a - b) / total, np.nan)


def of_two(difference: np.ndarray | float) -> np.ndarray | float:
    """CV* of two measurements from their `relative_difference`: |a − b| / √2 over (a + b) / 2, corrected."""
    return factor(2) * np.sqrt(2) * np.abs(difference)


def folded(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the interval of |d| from those of d: from 0 where the interval of d includes 0."""
    ends = np.abs([low, high])
    return np.where((low <= 0) & (high >= 0), 0.0, ends.min(axis=0)), ends.max(axis=0)
