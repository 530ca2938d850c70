"""How far automatic metrics agree with people: correlations with intervals that respect shared contexts.

Published results correlate a metric with the mean human rating of each item, one label at a time, and average over
labels (Zhang et al. 2022, section 2: Spearman) or correlate means of systems (Ji et al. 2022, section 7: Pearson).
Responses to the same context are not independent, nor are turns of one dialogue: intervals resample contexts, and
dialogues where responses share none. What separates two metrics is in `metric_comparison`, what a perfect metric could
reach in `ceiling`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import nan

import numpy as np
import pandas as pd

from helpers.correlation import MIN_ITEMS, by_clusters, correlate, fisher_mean, kendall, weighted_correlations
from helpers.labels import METHODS
from helpers.metric_items import Table, tables
from helpers.resampling import Interval, bootstrap_index, bootstrap_sums, generator
from helpers.schema import condition

#: fewer systems than this give no interval and no p-value
MIN_SYSTEMS = 8


def correlations(
    joined: pd.DataFrame,
    *,
    seed: int,
    coefficient: str = "spearman",
    unit: str = "context",
    n_resamples: int = 10_000,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Correlation of each metric with the human mean of each label, and its plain mean over labels.

    Parameters
    ----------
    joined : frame
        From `metric_items.join`.
    unit : 'context' or 'item'
        What is resampled, see `metric_items.clusters_of`.

    Returns
    -------
    Result rows `correlation` (`scope=pooled`) for each corpus, method, label and metric and, where a method has several
    labels, `mean_correlation`. Labels and metrics share their resamples. Pearson and Spearman have BCa intervals, with
    new ranks in each resample; Kendall's is cluster-robust, and its mean has none. What is undefined carries the
    reason.

    Notes
    -----
    Checked against scipy's coefficients and a `scipy.stats.bootstrap` over contexts; coverage by simulation.
    """
    out = []
    for table in tables(joined, unit):
        if coefficient == "kendall":
            found = _kendall_intervals(table, confidence)
        else:
            rng = generator(seed, "correlation", coefficient, unit, table.corpus, table.method)
            found = _bootstrap_intervals(table, coefficient, rng, n_resamples, confidence)
        keys = {"coefficient": coefficient, "resample": table.unit}
        both = np.isfinite(table.x)[:, :, None] & np.isfinite(table.y)[:, None, :]
        for j, metric in enumerate(table.metrics):
            head = table.head | {"metric": metric}
            for i, label in enumerate(table.labels):
                row = {**head, "statistic": "correlation", "label": label, "n": int(both[:, j, i].sum())}
                out.append(row | {"condition": condition(scope="pooled", **keys)} | found[j][i].row())
            if len(table.labels) > 1:
                row = {**head, "statistic": "mean_correlation", "n": len(table.labels)}
                out.append(row | {"condition": condition(over="label", average="plain", **keys)} | found[j][-1].row())
    return pd.DataFrame(out)


def _bootstrap_intervals(table: Table, coefficient, rng, n_resamples, confidence) -> list[list[Interval]]:
    """For each metric an interval a label, and a last one for their mean."""
    shape = len(table.metrics), len(table.labels)

    def statistic(counts: np.ndarray) -> np.ndarray:
        r = weighted_correlations(table.x, table.y, counts, coefficient)
        return np.concatenate([r, r.mean(axis=2, keepdims=True)], axis=2).reshape(len(r), -1)

    flat = bootstrap_index(
        table.n_clusters,
        by_clusters(table.clusters, statistic, width=sum(shape) if coefficient == "spearman" else 1),
        unit=table.unit,
        rng=rng,
        n_resamples=n_resamples,
        confidence=confidence,
    )
    found = []
    for j in range(shape[0]):
        reasons = [correlate(table.x[:, j], y, coefficient)[1] for y in table.y.T]
        row = flat[j * (shape[1] + 1) : (j + 1) * (shape[1] + 1)]
        row = [replace(one, note=why) if why else one for one, why in zip(row, [*reasons, ""], strict=True)]
        undefined = np.array([why != "" for why in reasons])
        found.append([*row[:-1], replace(row[-1], note=_unusable(~undefined)) if undefined.any() else row[-1]])
    return found


def _kendall_intervals(table: Table, confidence: float) -> list[list[Interval]]:
    found = []
    for x in table.x.T:
        row = []
        for y in table.y.T:
            both = np.isfinite(x) & np.isfinite(y)
            codes = np.unique(table.clusters[both], return_inverse=True)[1]
            tau, low, high, reason = kendall(x[both], y[both], codes, confidence)
            kind = "not_estimable" if reason else "cluster_robust"
            row.append(Interval(tau, low, high, kind, table.unit, len(np.unique(codes)), note=reason))
        taus = np.array([f.estimate for f in row])
        reason = "no interval for a mean of tau-b" if np.isfinite(taus).all() else _unusable(np.isfinite(taus))
        found.append([*row, _without(float(taus.mean()), table, reason)])
    return found


def _unusable(usable: np.ndarray) -> str:
    return f"undefined for {int((~usable).sum())} of {len(usable)} labels"


def _without(estimate: float, table: Table, reason: str) -> Interval:
    return Interval(estimate, nan, nan, "not_estimable", table.unit, table.n_clusters, note=reason)


def _analyses(joined: pd.DataFrame) -> Iterator[tuple[dict, pd.DataFrame]]:
    names = ["corpus", "method", "label", "metric"]
    for key, rows in joined.groupby(names, sort=False):
        yield {**dict(zip(names, key, strict=True)), "level": METHODS[key[1]].unit}, rows


def by_context(rows: pd.DataFrame, coefficient: str) -> np.ndarray:
    """Correlation of `value` and `human` in each `context`, missing (NaN) where undefined. Checked against scipy."""
    names = pd.factorize(rows["context"])[0]
    x, y = rows["value"].to_numpy(dtype=float), rows["human"].to_numpy(dtype=float)
    if coefficient == "kendall":
        return np.array([correlate(x[names == c], y[names == c], coefficient)[0] for c in range(names.max() + 1)])
    n_contexts, both = names.max() + 1, np.isfinite(x) & np.isfinite(y)
    names, pair = names[both], pd.DataFrame({"x": x[both], "y": y[both]})
    if coefficient == "spearman":
        pair = pair.groupby(names).rank()
    u, v = (pair - pair.groupby(names).transform("mean")).to_numpy().T
    n, uu, vv, uv = (np.bincount(names, w, n_contexts) for w in (np.ones(len(u)), u * u, v * v, u * v))
    defined = (n >= MIN_ITEMS) & (uu > 1e-12) & (vv > 1e-12)
    return np.where(defined, uv / np.sqrt(np.where(defined, uu * vv, 1)), np.nan)


def within_context(
    joined: pd.DataFrame,
    *,
    seed: int,
    coefficient: str = "spearman",
    n_resamples: int = 10_000,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Correlation within each context, averaged over contexts: does the metric rank the responses to one context?

    Contexts with fewer than three scored items, or in which a side is constant, have none and are counted in the note.
    Result rows `correlation` with `scope=within_context` (plain mean, contexts resampled, BCa) and
    `scope=within_context_fisher` (mean on Fisher's scale without |r| = 1, which is counted in the note; no interval).
    Checked against scipy context by context.
    """
    out = []
    for head, rows in _analyses(joined.dropna(subset=["context"])):
        r = by_context(rows, coefficient)
        defined = r[np.isfinite(r)]
        note = f"{len(r) - len(defined)} of {len(r)} contexts have no correlation"
        keys = {"coefficient": coefficient, "resample": "context"}
        row = {**head, "statistic": "correlation", "condition": condition(scope="within_context", **keys)}
        if len(defined) < 2:
            interval = Interval(nan, nan, nan, "not_estimable", "context", len(r), note=note)
        else:
            rng = generator(seed, "within_context", coefficient, *map(str, head.values()))
            interval = bootstrap_sums(
                np.stack([defined, np.ones(len(defined))], axis=1),
                lambda sums: sums[:, 0] / sums[:, 1],
                unit="context",
                rng=rng,
                n_resamples=n_resamples,
                confidence=confidence,
            )
        out.append({**row, **interval.row(), "note": "; ".join(filter(None, [note, interval.note])), "n": len(defined)})
        mean, n, excluded = fisher_mean(r)
        row = {**row, "condition": condition(scope="within_context_fisher", coefficient=coefficient)}
        out.append({**row, "estimate": mean, "n": n, "note": f"{note}; {excluded} with |r| = 1 left out"})
    return pd.DataFrame(out)


def system_level(
    joined: pd.DataFrame,
    *,
    seed: int,
    coefficient: str = "pearson",
    n_resamples: int = 10_000,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Correlation of the means of systems. Result rows `correlation` with `level=system`, and `mean_correlation` where
    a method has several labels (not for Kendall).

    With fewer than MIN_SYSTEMS systems there is the number and no interval; else systems are resampled (BCa; Kendall
    cluster-robust), which treats each system's mean as known. Checked against scipy on the means.
    """
    out = []
    for head, rows in _analyses(joined):
        means = rows.dropna(subset=["value", "human"]).groupby("system")[["value", "human"]].mean()
        x, y = means["value"].to_numpy()[:, None], means["human"].to_numpy()[:, None]
        if len(means) < MIN_SYSTEMS:
            r, reason = correlate(x[:, 0], y[:, 0], coefficient)
            few = f"{len(means)} systems, fewer than {MIN_SYSTEMS}: no interval and no p-value"
            interval = Interval(r, nan, nan, "not_estimable", "system", len(means), note=reason or few)
        else:
            names = [[head["metric"]], [head["label"]]]
            table = Table(head["corpus"], head["method"], *names, x, y, np.arange(len(x)), "system")
            if coefficient == "kendall":
                interval = _kendall_intervals(table, confidence)[0][0]
            else:
                rng = generator(seed, "system_level", coefficient, *map(str, head.values()))
                interval = _bootstrap_intervals(table, coefficient, rng, n_resamples, confidence)[0][0]
        keys = condition(coefficient=coefficient, scope="system", resample="system")
        row = {**head, "level": "system", "statistic": "correlation", "condition": keys}
        out.append({**row, **interval.row(), "n": len(means)})
    if coefficient != "kendall":
        options = {"n_resamples": n_resamples, "confidence": confidence}
        out += _means_over_labels(joined.dropna(subset=["value", "human"]), coefficient, seed, options)
    return pd.DataFrame(out)


def _means_over_labels(joined: pd.DataFrame, coefficient: str, seed: int, options: dict) -> list[dict]:
    """Of each metric the plain mean over labels of its correlations over systems, which are resampled jointly."""
    out, names = [], ["corpus", "method", "metric"]
    for key, rows in joined.groupby(names, sort=False):
        # a label lacks some items, so that the mean score of a system differs a little between labels
        wide = rows.groupby(["system", "label"])[["value", "human"]].mean().unstack("label")  # noqa: PD010
        x, y = wide["value"].to_numpy(), wide["human"].to_numpy()
        n, n_labels = y.shape
        if n_labels < 2:
            continue

        def statistic(counts: np.ndarray, x: np.ndarray = x, y: np.ndarray = y) -> np.ndarray:
            return np.einsum("kll->kl", weighted_correlations(x, y, counts, coefficient)).mean(axis=1)[:, None]

        if n < MIN_SYSTEMS:
            r = float(statistic(np.ones((1, n)))[0, 0])
            few = f"{n} systems, fewer than {MIN_SYSTEMS}: no interval and no p-value"
            interval = Interval(r, nan, nan, "not_estimable", "system", n, note=few)
        else:
            rng = generator(seed, "system_level", "mean", coefficient, *map(str, key))
            drawn = by_clusters(np.arange(n), statistic, width=2 * n_labels)
            interval = bootstrap_index(n, drawn, unit="system", rng=rng, **options)[0]
        head = {**dict(zip(names, key, strict=True)), "level": "system", "statistic": "mean_correlation"}
        keys = condition(over="label", average="plain", coefficient=coefficient, resample="system")
        out.append({**head, "condition": keys, **interval.row(), "n": n_labels})
    return out


def averages(results: pd.DataFrame, over: str = "corpus") -> pd.DataFrame:
    """Mean correlation of each metric over rows `correlation`: plain, and on Fisher's scale without |r| = 1.

    results : rows of one coefficient and scope, one for each corpus, or label and corpus: every row weighs the same.
    `over` names what is averaged over. Undefined correlations are left out and counted in the note, as is |r| = 1.
    Result rows `mean_correlation`, without intervals: data sets are no sample. Checked by hand.
    """
    rows, out = results[results["statistic"] == "correlation"], []
    coefficients = rows["condition"].str.extract("coefficient=([a-z]+)")[0].unique()
    if len(coefficients) != 1:
        raise ValueError(f"expected correlations of one kind, found {list(coefficients)}")
    for metric, part in rows.groupby("metric", sort=False):
        r = part["estimate"].to_numpy(dtype=float)
        fisher, n, excluded = fisher_mean(r)
        missing = f"{int(np.isnan(r).sum())} of {len(r)} are undefined"
        plain = float(np.nanmean(r)) if np.isfinite(r).any() else nan
        for average, value, size, note in (
            ("plain", plain, int(np.isfinite(r).sum()), missing),
            ("fisher", fisher, n, f"{missing}; {excluded} with |r| = 1 left out"),
        ):
            keys = condition(average=average, coefficient=coefficients[0], over=over)
            row = {"statistic": "mean_correlation", "metric": metric, "condition": keys, "estimate": value}
            out.append({**row, "n": size, "note": note})
    return pd.DataFrame(out)


def places(table: pd.DataFrame) -> pd.DataFrame:
    """For a table of metrics (rows) by data sets (columns): 1, 2, 3 where a value is best, second or third of its
    column, else missing. Equal values share the better place (Zhang et al. 2022, Tables 2 and 3). Checked by hand.
    """
    ranks = table.rank(ascending=False, method="min")
    return ranks.where(ranks <= 3).astype("Int64")
