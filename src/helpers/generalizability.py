"""How reliable is a system's mean, by how many dialogues and annotators? Variance components and a decision study.

Dialogues d are nested in systems s; annotators a judge dialogues of several systems. A judgement is
mu + s + a + sa + d + residual, all but mu random. Where annotators are positions, or nobody judged two dialogues, they
cannot be told from the residual and the model is mu + s + d + residual.

Components are estimated from uncorrected sums of squares set equal to their expectations (Henderson's method 1:
Henderson 1953, Biometrics 9, 226-252; Searle, Casella and McCulloch 1992, Variance Components, chapter 5; Brennan 2001,
Generalizability Theory, chapter 7, calls it the analogous ANOVA procedure). It needs no balance and no iteration, and
equals the analysis of variance where the design is balanced. Estimates below 0 are set to 0 and named.

With few systems their variance is known poorly: that between four has three degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import nan

import numpy as np
import pandas as pd

from helpers.agreement import CELL, first_annotations
from helpers.correlation import MIN_ITEMS, weighted_correlations
from helpers.labels import Label
from helpers.resampling import Interval, bootstrap_weights
from helpers.schema import condition

#: what each model tells apart, richest first; the last always remains
MODELS = (
    ("system", "annotator", "system_annotator", "dialogue"),
    ("system", "annotator", "dialogue"),
    ("system", "dialogue"),
)


def spearman_brown(r: float | np.ndarray, k: float | np.ndarray) -> float | np.ndarray:
    """Reliability of the mean of k parallel measurements, given that of one (Spearman 1910; Brown 1910).

    k may be a fraction: with 1/2 the reliability of half as many. Checked by hand.
    """
    return k * r / (1 + (k - 1) * r)


@dataclass(frozen=True)
class Components:
    """Variance components: `raw` as estimated, `variance` with those below 0 set to 0. The residual stands last."""

    raw: dict[str, float]
    n: int
    n_systems: int
    n_dialogues: int
    n_annotators: int
    note: str = ""

    @property
    def variance(self) -> dict[str, float]:
        """Variance components, none below 0. Checked by hand."""
        return {facet: max(value, 0.0) for facet, value in self.raw.items()}

    @property
    def negative(self) -> list[str]:
        """Facets whose estimate is below 0. Checked by hand."""
        return [facet for facet, value in self.raw.items() if value < 0]


def variance_components(scores: pd.DataFrame, *, annotators_known: bool = True) -> Components:
    """Variance components of judgements of dialogues.

    Parameters
    ----------
    scores : DataFrame
        Columns system, dialogue, annotator, score; one row a dialogue and annotator. A dialogue belongs to one system.
    annotators_known : bool
        False: annotators are positions, which are nobody in particular.

    Returns
    -------
    Components; empty, with a note, where no dialogue has two judgements or there is only one system.

    Notes
    -----
    Checked against the analysis of variance of balanced designs (R's `aov`), REML by statsmodels, and by simulation.
    """
    codes = {
        "system": pd.factorize(scores["system"])[0],
        "annotator": pd.factorize(scores["annotator"])[0],
        "dialogue": scores.groupby(["system", "dialogue"], sort=False).ngroup().to_numpy(),
    }
    codes["system_annotator"] = codes["system"] * (codes["annotator"].max(initial=0) + 1) + codes["annotator"]
    size = [len(np.unique(codes[name])) for name in ("system", "dialogue", "annotator")]
    counts = (len(scores), *size)
    if size[0] < 2:
        return Components({}, *counts, note="one system only: there is nothing to tell apart")
    if len(scores) == size[1]:
        return Components({}, *counts, note="no dialogue has two judgements: annotators cannot be told from dialogues")
    x = scores["score"].to_numpy(dtype=float)
    for facets in MODELS if annotators_known else MODELS[-1:]:
        solved = _henderson(x - x.mean(), {f: codes[f] for f in facets})
        if solved is not None:
            return Components(solved, *counts)
    return Components({}, *counts, note="the design does not tell systems from dialogues")


def _henderson(x: np.ndarray, codes: dict[str, np.ndarray]) -> dict[str, float] | None:
    """Solve T = K (mu^2, variances), T_f being the sum over levels of f of total^2 / n; None where K is singular."""
    facets = list(codes)
    by = {"mean": np.zeros(len(x), dtype=np.int64), **codes, "residual": np.arange(len(x))}
    t, k = [], []
    for f in by:
        n_f = np.bincount(by[f])
        t.append(np.sum(np.bincount(by[f], x)[n_f > 0] ** 2 / n_f[n_f > 0]))
        k.append([len(x), *(_shared(by[f], by[g], n_f) for g in facets), np.sum(n_f > 0)])
    k = np.array(k, dtype=float)
    scale = k[-1]  # every column by its largest entry, so that the condition number means something
    if np.linalg.cond(k / scale) > 1e6:
        return None
    found = np.linalg.solve(k / scale, t) / scale
    return dict(zip([*facets, "residual"], found[1:].tolist(), strict=True))


def _shared(f: np.ndarray, g: np.ndarray, n_f: np.ndarray) -> float:
    """Sum over levels of f and g of n_fg^2 / n_f: how much the variance of g enters T_f."""
    cells, n = np.unique(f * (g.max() + 1) + g, return_counts=True)
    return float(np.sum(n**2 / n_f[cells // (g.max() + 1)]))


def generalizability(components: Components, n_dialogues: int, n_annotators: int) -> dict[str, float]:
    """Reliability of system means over so many dialogues a system, each judged by the same so many annotators.

    Returns `generalizability`, E rho^2, for the order and differences of systems judged alike, and `dependability`,
    Phi, for their absolute level (Shavelson and Webb 1991, Generalizability Theory: A Primer; Brennan 2001, chapters 2
    to 4; design (d:s) x a). Where annotators are positions, n_annotators judgements of a dialogue are by different
    people each time, and both are the same. NaN without components, and where all that enter are 0.

    Checked against formulas worked by hand and against the squared correlation of simulated means with the truth.
    """
    v = components.variance
    if not v:
        return {"generalizability": nan, "dependability": nan}
    relative = (
        v["dialogue"] / n_dialogues
        + v.get("system_annotator", 0.0) / n_annotators
        + v["residual"] / (n_dialogues * n_annotators)
    )
    absolute = relative + v.get("annotator", 0.0) / n_annotators
    names = ("generalizability", "dependability")
    totals = [v["system"] + error for error in (relative, absolute)]
    return {name: v["system"] / total if total > 0 else nan for name, total in zip(names, totals, strict=True)}


def decision_study(
    annotations: pd.DataFrame,
    labels: Iterable[Label],
    *,
    n_dialogues: Sequence[int] = (10, 25, 50, 100, 200),
    n_annotators: Sequence[int] = (1, 2, 3, 5),
    kinds: Sequence[str] = ("human",),
) -> pd.DataFrame:
    """Variance components of each corpus, group, method and label, and the reliability of system means by design.

    annotations : columns of `schema.ANNOTATIONS`; comparisons are left out, as they have no value of one system. A
    judgement of turns is averaged over the dialogue for each annotator first, so that the unit is the dialogue.

    Returns result rows `facet_variance` (`facet` in the condition), `generalizability` and `dependability`. No
    interval is given: with few systems none is trustworthy, and `note` says how many there are.

    Checked against `variance_components` and `generalizability`, whose values its rows hold.
    """
    order = {(label.method, label.id): i for i, label in enumerate(labels)}
    chosen = first_annotations(annotations, first=None, kinds=kinds)
    chosen = chosen[chosen["dialogue_b"].isna()]
    groups = dict(iter(chosen.groupby(CELL, sort=True)))
    rows = []
    for key in sorted(groups, key=lambda k: (k[0], k[1], order[k[2], k[3]])):
        frame = groups[key]
        scores = frame.groupby(["system", "dialogue", "annotator"], sort=False)["score"].mean().reset_index()
        found = variance_components(scores, annotators_known=bool(frame["annotator_known"].all()))
        note = found.note or _note(found)
        common = dict(zip(CELL, key, strict=True)) | {"level": "system", "n": found.n_systems, "note": note}
        common |= {"n_clusters": found.n_dialogues, "n_annotators": found.n_annotators}
        kind = "+".join(kinds)
        for facet, value in found.variance.items():
            where = condition(facet=facet, kind=kind)
            rows.append(common | {"statistic": "facet_variance", "condition": where, "estimate": value})
        for d in n_dialogues:
            for a in n_annotators:
                where = condition(n_dialogues=d, n_annotators=a, kind=kind)
                for name, value in generalizability(found, d, a).items():
                    rows.append(common | {"statistic": name, "condition": where, "estimate": value})
    return pd.DataFrame(rows) if rows else pd.DataFrame(columns=["statistic"])


def _note(found: Components) -> str:
    below = f"; estimated below 0 and set to 0: {', '.join(found.negative)}" if found.negative else ""
    return f"{found.n_systems} systems{below}"


def annotator_correlations(
    values: np.ndarray,
    *,
    unit: str,
    rng: np.random.Generator,
    coefficient: str = "spearman",
    clusters: np.ndarray | None = None,
    n_resamples: int = 2_000,
    confidence: float = 0.95,
) -> dict[str, Interval]:
    """Correlations between annotators: mean over pairs, and mean of each against the mean of the others.

    Parameters
    ----------
    values : (items, annotators) array
        NaN where an annotator did not judge an item. Pairs with too few items in common, or one of them constant, are
        left out and counted in the note.
    coefficient : 'spearman' or 'pearson'
        Spearman's ranks are taken anew in each resample.
    clusters : (items,) array, optional
        Resample these instead of items.

    Returns
    -------
    dict with `pairwise` and `leave_one_out`. An annotator correlates better with a mean of several than with one other:
    the two answer different questions. `spearman_brown` takes the first to the reliability of a mean.

    Notes
    -----
    Correlation ignores differences of level, so it is no measure of agreement. Checked against scipy's coefficients and
    `scipy.stats.bootstrap`.
    """
    values = np.asarray(values, dtype=float)
    n, m = values.shape
    rest = _rest(values)
    cluster = np.arange(n) if clusters is None else np.unique(clusters, return_inverse=True)[1]
    options = {"unit": unit, "rng": rng, "n_resamples": n_resamples, "confidence": confidence, "width": 6 * n}
    pairs = [(values[:, i], values[:, j]) for i in range(m) for j in range(i + 1, m)]
    return {
        "pairwise": _mean_correlation(pairs, coefficient, cluster, options),
        "leave_one_out": _mean_correlation([*zip(values.T, rest.T, strict=True)], coefficient, cluster, options),
    }


def _rest(values: np.ndarray) -> np.ndarray:
    """(items, annotators): the mean of the others' values of an item, NaN where there is none."""
    present = ~np.isnan(values)
    known = np.where(present, values, 0)
    others = present.sum(axis=1, keepdims=True) - present
    return np.where(others > 0, known.sum(axis=1, keepdims=True) - known, nan) / np.maximum(others, 1)


def _mean_correlation(pairs: list, coefficient: str, cluster: np.ndarray, options: dict) -> Interval:
    n_clusters = int(cluster.max(initial=-1)) + 1

    def correlations(weights: np.ndarray, chosen: list) -> np.ndarray:
        return np.stack([weighted_correlations(x, y[:, None], weights, coefficient)[:, 0] for x, y in chosen])

    once = correlations(np.ones((1, len(cluster))), pairs)[:, 0] if pairs else []
    kept = [pair for pair, r in zip(pairs, once, strict=True) if np.isfinite(r)]
    left_out = f"{len(pairs) - len(kept)} of {len(pairs)} left out: constant, or fewer than {MIN_ITEMS} common items"
    if not kept:
        return Interval(nan, nan, nan, "not_estimable", options["unit"], n_clusters, note=left_out)
    found = bootstrap_weights(n_clusters, lambda w: correlations(w[:, cluster], kept).mean(axis=0), **options)
    notes = [left_out] if len(kept) < len(pairs) else []
    return replace(found, note="; ".join(filter(None, [*notes, found.note])))
