"""How far automatic metrics agree with people: correlations with intervals that respect shared contexts.

Published results correlate a metric with the mean human rating of each item, one label at a time, and average over
labels (Zhang et al. 2022, section 2: Spearman) or correlate means of systems (Ji et al. 2022, section 7: Pearson).
Responses to the same context are not independent, so intervals resample contexts. What separates two metrics is in
`metric_comparison`, what a perfect metric could reach in `ceiling`.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import nan

import numpy as np
import pandas as pd

from helpers.correlation import MIN_ITEMS, by_clusters, correlate, fisher_mean, kendall, weighted_correlations
from helpers.labels import METHODS
from helpers.resampling import Interval, bootstrap_index, bootstrap_sums, generator
from helpers.schema import condition

#: fewer systems than this give no interval and no p-value
MIN_SYSTEMS = 8
ITEM = ["corpus", "dialogue", "turn"]


def human_means(annotations: pd.DataFrame) -> pd.DataFrame:
    """Mean human rating of each item and label, and the number of ratings behind it (`human`, `n_ratings`).

    annotations : rows of people; others are left out. Checked by hand.
    """
    people = annotations[annotations["annotator_kind"] == "human"] if "annotator_kind" in annotations else annotations
    keys = ["corpus", "method", "label", "dialogue", "turn", "system", "context"]
    means = people.groupby(keys, dropna=False, sort=False)["score"].agg(human="mean", n_ratings="size")
    return means.reset_index()


def join(human: pd.DataFrame, metric_scores: pd.DataFrame) -> pd.DataFrame:
    """Human means beside the score (`value`) of each metric, one row an item, label and metric.

    Items without a score of a metric are missing there (`value` null), so that they can be counted; a metric that
    scores no item of a method (turns, where dialogues were rated) is left out of it. Raises ValueError when no item has
    a score, or a metric scores an item twice. Checked by hand.
    """
    scores = metric_scores[[*ITEM, "metric", "score"]].rename(columns={"score": "value"})
    twice = scores.duplicated([*ITEM, "metric"])
    if twice.any():
        raise ValueError(f"{twice.sum()} items have two scores of one metric, e.g. {scores[twice].iloc[0].to_dict()}")
    grid = human.merge(scores[["corpus", "metric"]].drop_duplicates(), on="corpus")
    out = grid.merge(scores, on=[*ITEM, "metric"], how="left")
    if not out["value"].notna().any():
        raise ValueError("no item has both a rating and a metric score: do dialogue and turn ids agree?")
    scored = out["value"].notna().groupby([out["corpus"], out["method"], out["metric"]]).transform("any")
    return out[scored].reset_index(drop=True)


def item_key(rows: pd.DataFrame) -> pd.Series:
    """One string an item: dialogue and turn. Checked through the functions that use it."""
    return rows["dialogue"].astype("string") + "\x1f" + rows["turn"].astype("string").fillna("")


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
        From `join`.
    unit : 'context' or 'item'
        What is resampled. Items without a context stand for themselves.

    Returns
    -------
    Result rows `correlation` (`scope=pooled`) for each corpus, method, label and metric and, where a method has several
    labels, `mean_correlation`, for which the labels are resampled jointly. Pearson and Spearman have BCa intervals,
    with new ranks in each resample; Kendall's is cluster-robust, and its mean has none. What is undefined carries the
    reason.

    Notes
    -----
    Checked against scipy's coefficients and a `scipy.stats.bootstrap` over contexts; coverage by simulation.
    """
    if unit not in ("context", "item"):
        raise ValueError(f"unit: expected 'context' or 'item', found {unit!r}")
    out = []
    for key, rows in joined.groupby(["corpus", "method", "metric"], sort=False):
        items = rows.assign(item=item_key(rows))
        x = items.drop_duplicates("item").set_index("item")
        y = items.pivot_table(index="item", columns="label", values="human", aggfunc="first", dropna=False)
        y = y.loc[x.index, list(items["label"].unique())]
        names = x["context"].where(x["context"].notna(), x.index) if unit == "context" else pd.Series(x.index)
        clusters, value = names.factorize()[0], x["value"].to_numpy(dtype=float)
        what = "context" if unit == "context" and x["context"].notna().any() else "item"
        args = (value, y.to_numpy(dtype=float), clusters, coefficient, confidence, what)
        if coefficient == "kendall":
            found = _kendall_intervals(*args)
        else:
            rng = generator(seed, "correlation", coefficient, unit, *key)
            found = _bootstrap_intervals(*args, rng, n_resamples)
        corpus, method, metric = key
        head = {"corpus": corpus, "method": method, "metric": metric, "level": METHODS[method].unit}
        n = [int((np.isfinite(value) & y[label].notna().to_numpy()).sum()) for label in y]
        keys = {"coefficient": coefficient, "resample": what}
        for label, interval, size in zip(y, found, n, strict=False):
            row = {**head, "statistic": "correlation", "label": label, "condition": condition(scope="pooled", **keys)}
            out.append({**row, **interval.row(), "n": size})
        if y.shape[1] > 1:
            row = {
                **head,
                "statistic": "mean_correlation",
                "condition": condition(over="label", average="plain", **keys),
            }
            out.append({**row, **found[-1].row(), "n": y.shape[1]})
    return pd.DataFrame(out)


def _bootstrap_intervals(x, y, clusters, coefficient, confidence, unit, rng, n_resamples) -> list[Interval]:
    """One interval a column of y and a last one for their mean."""
    reasons = [correlate(x, column, coefficient)[1] for column in y.T]
    usable = np.array([r == "" for r in reasons])
    found = [_without(nan, unit, clusters, reason) for reason in reasons]
    if usable.any():

        def statistic(counts: np.ndarray) -> np.ndarray:
            r = weighted_correlations(x, y[:, usable], counts, coefficient)
            return np.concatenate([r, r.mean(axis=1, keepdims=True)], axis=1)

        *some, mean = bootstrap_index(
            int(clusters.max()) + 1,
            by_clusters(clusters, statistic),
            unit=unit,
            rng=rng,
            n_resamples=n_resamples,
            confidence=confidence,
        )
        for i, interval in zip(np.flatnonzero(usable), some, strict=True):
            found[i] = interval
    return [*found, mean if usable.all() else _without(nan, unit, clusters, _unusable(usable))]


def _kendall_intervals(x, y, clusters, coefficient, confidence, unit) -> list[Interval]:
    found = []
    for column in y.T:
        both = np.isfinite(x) & np.isfinite(column)
        codes = np.unique(clusters[both], return_inverse=True)[1]
        tau, low, high, reason = kendall(x[both], column[both], codes, confidence)
        kind = "not_estimable" if reason else "cluster_robust"
        found.append(Interval(tau, low, high, kind, unit, len(np.unique(codes)), note=reason))
    taus = np.array([f.estimate for f in found])
    reason = "no interval for a mean of tau-b" if np.isfinite(taus).all() else _unusable(np.isfinite(taus))
    return [*found, _without(float(taus.mean()), unit, clusters, reason)]


def _unusable(usable: np.ndarray) -> str:
    return f"undefined for {int((~usable).sum())} of {len(usable)} labels"


def _without(estimate: float, unit: str, clusters: np.ndarray, reason: str) -> Interval:
    return Interval(estimate, nan, nan, "not_estimable", unit, int(clusters.max()) + 1, note=reason)


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
    """Correlation of the means of systems. Result rows `correlation` with `level=system`.

    With fewer than MIN_SYSTEMS systems there is the number and no interval; else systems are resampled (BCa; Kendall
    cluster-robust), which treats each system's mean as known. Checked against scipy on the means.
    """
    out = []
    for head, rows in _analyses(joined):
        means = rows.dropna(subset=["value", "human"]).groupby("system")[["value", "human"]].mean()
        x, y = means["value"].to_numpy(), means["human"].to_numpy()[:, None]
        if len(means) < MIN_SYSTEMS:
            r, reason = correlate(x, y[:, 0], coefficient)
            few = f"{len(means)} systems, fewer than {MIN_SYSTEMS}: no interval and no p-value"
            interval = Interval(r, nan, nan, "not_estimable", "system", len(means), note=reason or few)
        else:
            args = (x, y, np.arange(len(x)), coefficient, confidence, "system")
            rng = generator(seed, "system_level", coefficient, *map(str, head.values()))
            rest = () if coefficient == "kendall" else (rng, n_resamples)
            interval = (_kendall_intervals if coefficient == "kendall" else _bootstrap_intervals)(*args, *rest)[0]
        keys = condition(coefficient=coefficient, scope="system", resample="system")
        row = {**head, "level": "system", "statistic": "correlation", "condition": keys}
        out.append({**row, **interval.row(), "n": len(means)})
    return pd.DataFrame(out)


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
