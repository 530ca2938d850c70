"""Differences between systems, and what becomes of them when something is left out.

A table of differences has one row for each label and pair of systems: `label`, `system`, `system_b`, `difference`,
`se`, `df`. Rated dialogues are independent units (Welch's standard error of means of dialogues); comparisons give
strengths in the Bradley–Terry model with ties as half a win. This is a quick look that sizes a finding: the notebooks
estimate.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit, stdtrit

from judgebook.study.schema import Annotations

COLUMNS = ("label", "system", "system_b", "difference", "se", "df")
#: of intervals whose widths are compared
LEVEL = 0.05
#: prior weight of a draw against an average opponent, which keeps strengths of undefeated systems finite
_RIDGE = 0.25


def of_means(rated: Annotations, clusters: str | None = None) -> pd.DataFrame:
    """Differences of mean scores. clusters : column of what is independent instead of dialogues, such as annotators."""
    parts = []
    for label, rows in rated.groupby("label", sort=True):
        if clusters:
            units = rows.groupby([clusters, "system"], sort=True)["score"].agg(["mean", "size"]).reset_index()
            parts.append(_clustered(str(label), units, clusters))
            continue
        units = rows.groupby(["system", "dialogue"], sort=True)["score"].mean()
        by = units.groupby("system").agg(["mean", "var", "size"])
        parts.append(_pairs(str(label), list(by.index), by["mean"].to_numpy(), *_errors(by)))
    return _joined(parts)


def _joined(parts: list[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=[*COLUMNS])


def _errors(by: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """(m, m) standard errors and Welch's degrees of freedom of differences."""
    v = (by["var"] / by["size"]).to_numpy()
    variances = v**2 / np.maximum(by["size"].to_numpy() - 1, 1)
    total = v[:, None] + v[None, :]
    with np.errstate(invalid="ignore", divide="ignore"):
        df = total**2 / (variances[:, None] + variances[None, :])
    return np.sqrt(np.where(total > 0, total, np.nan)), df


def _pairs(label: str, systems: list[str], means: np.ndarray, se: np.ndarray, df: np.ndarray) -> pd.DataFrame:
    a, b = np.triu_indices(len(systems), 1)
    names = np.array(systems, dtype=object)
    return pd.DataFrame(
        {"label": label, "system": names[a], "system_b": names[b], "difference": means[a] - means[b],
         "se": se[a, b], "df": df[a, b]}
    )  # fmt: skip


def _clustered(label: str, units: pd.DataFrame, clusters: str) -> pd.DataFrame:
    """Means of scores with standard errors clustered by annotators (CR1), who may have judged several systems."""
    total = units.groupby("system")["size"].sum()
    mean = (units["mean"] * units["size"]).groupby(units["system"]).sum() / total
    influence = units["size"] * (units["mean"] - units["system"].map(mean)) / units["system"].map(total)
    wide = units.assign(influence=influence).pivot_table(index=clusters, columns="system", values="influence")
    wide = wide.reindex(columns=total.index)
    judged, values = wide.notna().to_numpy(), wide.fillna(0.0).to_numpy()
    m = (judged[:, :, None] | judged[:, None, :]).sum(axis=0)
    cov = values.T @ values
    var = np.diag(cov)[:, None] + np.diag(cov)[None, :] - 2 * cov
    with np.errstate(invalid="ignore", divide="ignore"):
        se = np.sqrt(np.maximum(var, 0) * m / (m - 1))
    return _pairs(label, list(total.index), mean.to_numpy(), np.where(se > 0, se, np.nan), np.maximum(m - 1.0, 1.0))


def of_votes(votes: Annotations, clusters: str | None = None, shift: np.ndarray | None = None) -> pd.DataFrame:
    """Differences of strengths. shift : (votes,) a covariate, such as 1 where the left side was shown first."""
    parts = []
    for label, rows in votes.groupby("label", sort=True):
        systems = sorted({*rows["system"], *rows["system_b"]})
        moved = None if shift is None else shift[np.flatnonzero((votes["label"] == label).to_numpy())]
        codes = pd.factorize(rows[clusters])[0] if clusters else np.arange(len(rows))
        theta, cov, m = _strengths(rows, systems, codes, moved)
        var = np.diag(cov)[:, None] + np.diag(cov)[None, :] - 2 * cov
        df = np.full_like(var, max(m - 1.0, 1.0))
        parts.append(_pairs(str(label), systems, theta, np.sqrt(np.where(var > 0, var, np.nan)), df))
    return _joined(parts)


def _strengths(
    rows: Annotations, systems: list[str], codes: np.ndarray, shift: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, int]:
    """(m,) Bradley–Terry strengths, their covariance with independent clusters (`codes`), and the number of these."""
    place = {s: i for i, s in enumerate(systems)}
    n, m = len(rows), len(systems)
    x = np.zeros((n, m + (shift is not None)))
    x[np.arange(n), rows["system"].map(place)] += 1
    x[np.arange(n), rows["system_b"].map(place)] -= 1
    if shift is not None:
        x[:, m] = shift
    y = (rows["score"].to_numpy(float).clip(-1, 1) + 1) / 2
    theta, ridge = np.zeros(x.shape[1]), _RIDGE * np.eye(x.shape[1])
    for _ in range(30):
        p = expit(x @ theta)
        bread = np.linalg.inv((x * (p * (1 - p))[:, None]).T @ x + ridge)
        step = bread @ (x.T @ (y - p) - ridge @ theta)
        theta = theta + step
        if np.abs(step).max() < 1e-8:
            break
    scores = np.zeros((codes.max() + 1, x.shape[1]))
    np.add.at(scores, codes, x * (y - expit(x @ theta))[:, None])
    c = len(scores)
    cov = bread @ (scores.T @ scores) @ bread * (c / max(c - 1, 1))
    return theta[:m], cov[:m, :m], c


def components(counts: np.ndarray) -> np.ndarray:
    """(m,) which component each column of an (annotators, systems) table of counts belongs to."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    linked = (counts > 0).astype(int)
    return connected_components(csr_array(linked.T @ linked), directed=False)[1]


def change(before: pd.DataFrame, after: pd.DataFrame, *, widening: bool = False) -> dict[str, Any]:
    """What becomes of the differences of `before` in `after`, as facts; empty where no difference is known in both.

    `moved`: the most that a difference moves, in its standard errors, and `label`, `system`, `system_b`, `was`, `now`
    of that one; `widened`: the median ratio of widths of intervals, with `widening`. Differences of pairs with a
    standard error of 0 are left out.
    """
    joined = before.merge(after, on=["label", "system", "system_b"], suffixes=("", "_after"))
    joined = joined[joined["difference_after"].notna() & joined["se"].notna()]
    if joined.empty:
        return {}
    moved = (joined["difference_after"] - joined["difference"]).abs() / joined["se"]
    row = joined.loc[moved.idxmax()]
    facts = {"moved": float(moved.max()), "label": row["label"], "system": row["system"], "system_b": row["system_b"],
             "was": float(row["difference"]), "now": float(row["difference_after"])}  # fmt: skip
    estimated = joined[joined["se_after"].notna()]
    if widening and len(estimated):
        now, then = (
            estimated[f"se{end}"] * stdtrit(np.maximum(estimated[f"df{end}"].to_numpy(float), 1.0), 1 - LEVEL / 2)
            for end in ("", "_after")
        )
        facts["widened"] = float((then / now).median())
    return facts


def price(facts: Mapping[str, Any]) -> float:
    """Standard errors that a change is worth: how far a difference moves, or how much an interval widens."""
    return float(max(facts.get("moved", 0.0), facts.get("widened", 1.0) - 1))
