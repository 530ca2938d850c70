"""Notebook 12: what the printed numbers of Zhang et al. 2022, section 3, imply, computed from them alone (key `data` is
printed).

For Table 5, that is the range of Fleiss' kappa that counts of agreeing annotators allow.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import minimize

from judgebook.display import tables
from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases, span
from judgebook.display.views import Plot, Prose, Table
from judgebook.questions.moderation import views
from judgebook.questions.moderation.analysis import OUTCOMES, two_extremes
from judgebook.questions.moderation.views import CATEGORIES
from judgebook.study.results import Results

_PHRASES = Phrases(__package__)


def from_print(printed: pd.DataFrame, confidence: float) -> Iterator[dict[str, Any]]:
    """`kappa_bound` from the printed numbers of agreeing annotators (Table 5), and `moderation_share` from the printed
    counts of outcomes (Table 6)."""
    printed_values = printed.set_index(["element", "panel", "row", "column"])["value"].sort_index()
    m = int(printed_values["Text 3.3", "moderation", "pairwise", "annotators"])
    agreeing = printed_values.loc["Table 5", "agreement"].unstack("column").fillna(0.0)  # noqa: PD010
    counts = np.zeros((len(agreeing), m + 1))
    for name, values in agreeing.items():
        counts[:, int(name.removeprefix("annotators_"))] = values
    row = {"statistic": "kappa_bound", "level": "turn", "data": "printed", "n": int(counts.sum()), "n_annotators": m}
    for end, value in zip(("low", "high"), kappa_bounds(counts, m), strict=True):
        yield row | {"end": end, "estimate": value}
    outcome = printed_values.loc["Table 6", "count"].unstack("column").drop("total").astype(int)  # noqa: PD010
    yield from of_counts(outcome.to_dict("index"), m, confidence)


def of_counts(counts: Mapping[str, Mapping[str, int]], m: int, confidence: float = 0.95) -> Iterator[dict[str, Any]]:
    """`moderation_share` from printed counts: system -> outcome -> judgements, every item judged m times."""
    for system, row in counts.items():
        n = sum(row[o] for o in OUTCOMES)
        for outcome in OUTCOMES:
            head = {"system": system, "level": "pair", "outcome": outcome, "data": "printed", "n": n}
            for extreme in two_extremes(row[outcome], n, n / m, confidence):
                yield head | extreme | {"n_clusters": round(n / m)}


def printed_agreement(printed: pd.DataFrame) -> Table:
    """The printed Table 5: a row per category, a column per number of annotators. printed : from `published.load`."""
    rows = printed[(printed["element"] == "Table 5") & (printed["panel"] == "agreement")]
    score = rows["row"].str.removeprefix("label_").str.replace("minus_", "-")
    rows = rows.assign(estimate=rows["value"], annotators=rows["column"].str.removeprefix("annotators_"))
    columns = {k: k for k in rows["annotators"].unique()}
    wide = tables.pivot(rows.assign(Category=score.map(CATEGORIES)), ["Category"], "annotators", columns)
    caption = "Printed items by most frequent category and number of annotators who chose it (Table 5)."
    return Table(wide, "printed_agreeing", caption)


def said(results: Results, names: DisplayNames, printed: pd.DataFrame) -> Prose:
    """What the printed numbers imply: the range of kappa, and how many shares of wins are smaller than the largest."""
    reported = printed[(printed["unit"] == "fleiss_kappa") & (printed["element"] == "Text 3.2")].iloc[0]
    ends = results["kappa_bound"].set_index("end")["estimate"]
    half = 0.5 * 10.0 ** -reported["decimals"]
    fits = ends["low"] <= reported["value"] + half and ends["high"] >= reported["value"] - half
    facts = {"low": ends["low"], "high": ends["high"], "fits": fits, "reported": reported["printed"], "below": {}}
    for interval in ("n", "items"):
        wins = results.select("moderation_share", data="printed", outcome="wins", interval=interval).set_index("system")
        best = wins["estimate"].idxmax()
        facts["below"][interval] = int((wins["ci_high"].drop(best) < wins.at[best, "ci_low"]).sum())
    return Prose(_PHRASES.say("moderation_said", **facts, best=names.name("system", best), others=len(wins) - 1))


def figure(results: Results, names: DisplayNames) -> Plot:
    """Printed shares of outcomes (Table 6) with the two extreme intervals."""
    rows = results.select("moderation_share", data="printed")
    titles = {s: names.name("system", s) for s in rows["system"].unique()}
    won = 100 * rows.loc[rows["outcome"] == "wins", "estimate"]
    alt = f"Printed shares of outcomes of {len(titles)} systems, with intervals for independent and for copied"
    caption = f"Bars: shares printed by Zhang et al. (2022, Table 6), by system. {views.ENDS} {views.count(rows)}"
    fig = views.bars(rows.assign(line=rows["system"]), titles)
    return Plot(fig, "printed", f"{alt} judgements: wins {span(won, 0)}%.", caption)


def kappa_bounds(counts: np.ndarray, m: int) -> tuple[float, float]:
    """Smallest and largest Fleiss' kappa that numbers of agreeing annotators allow.

    Parameters
    ----------
    counts : (categories, m + 1) array
        Items whose most frequent category this is, with exactly k annotators: every item once. Columns below the
        smallest majority are 0.
    m : int
        Annotators of each item.

    Returns
    -------
    Smallest and largest kappa.

    Raises
    ------
    ValueError
        Without any item, and where k cannot be the largest number of annotators of an item.

    Notes
    -----
    The numbers do not say how often the other categories of an item were chosen: all ways to fill them are enumerated.
    Kappa is at least λ where P - P_e - λ (1 - P_e) is at least 0, P being agreement, linear in how often each way
    occurs, and P_e the sum of squared shares, convex in it. For λ < 1 the expression is concave: its maximum is found
    by convex optimisation; its minimum is attained where each cell is filled in one way throughout, and all such
    corners are enumerated.
    """
    ways, weights = _ways(counts, m)
    if not ways:
        raise ValueError("counts: expected at least one item")
    total = sum(weights)
    return _lowest(ways, weights, total, m), _highest(ways, weights, total, m)


def _ways(counts: np.ndarray, m: int) -> tuple[list[np.ndarray], list[float]]:
    """For every cell with items: (ways, categories) numbers of annotators that fill it, and its items."""
    n = counts.shape[0]
    all_ = np.array([c for c in itertools.product(range(m + 1), repeat=n) if sum(c) == m])
    ways, weights = [], []
    for j, k in itertools.product(range(n), range(m + 1)):
        if counts[j, k] > 0:
            ways.append(all_[(all_[:, j] == k) & (all_.max(axis=1) == k)])
            weights.append(float(counts[j, k]))
            if not len(ways[-1]):
                raise ValueError(f"counts: {k} of {m} annotators cannot be the most of {n} categories")
    return ways, weights


def _parts(way: np.ndarray, m: int) -> np.ndarray:
    """(ways, categories + 1) shares of the categories, and agreement, of an item filled so."""
    return np.column_stack([way / m, (way * (way - 1)).sum(axis=1) / (m * (m - 1))])


def _kappa_of(mean: np.ndarray) -> np.ndarray:
    expected = np.sum(mean[..., :-1] ** 2, axis=-1)
    return (mean[..., -1] - expected) / (1 - expected)


def _lowest(ways: list[np.ndarray], weights: list[float], total: float, m: int) -> float:
    corners = np.zeros((1, ways[0].shape[1] + 1))
    for way, weight in zip(ways, weights, strict=True):
        corners = (corners[:, None] + weight / total * _parts(way, m)[None]).reshape(-1, corners.shape[1])
        corners = np.unique(np.round(corners, 12), axis=0)
    return float(_kappa_of(corners).min())


def _highest(ways: list[np.ndarray], weights: list[float], total: float, m: int) -> float:
    """Largest kappa by Dinkelbach's steps: λ rises to the kappa at the maximum of the concave expression."""
    parts = [weight / total * _parts(way, m) for way, weight in zip(ways, weights, strict=True)]
    stacked, sizes = np.concatenate(parts), [len(p) for p in parts]
    ends = np.cumsum(sizes)
    rows = np.zeros((len(sizes), len(stacked)))
    for i, (end, size) in enumerate(zip(ends, sizes, strict=True)):
        rows[i, end - size : end] = 1
    x, best = np.concatenate([np.full(s, 1 / s) for s in sizes]), -np.inf
    for _ in range(50):
        value = float(_kappa_of(x @ stacked))
        if value <= best + 1e-10:
            break
        best = value

        def less(y: np.ndarray, at: float = value) -> tuple[float, np.ndarray]:
            mean = y @ stacked
            gain = mean[-1] - (1 - at) * np.sum(mean[:-1] ** 2)
            slope = stacked[:, -1] - 2 * (1 - at) * stacked[:, :-1] @ mean[:-1]
            return -gain, -slope

        limits = {"type": "eq", "fun": lambda y: rows @ y - 1, "jac": lambda y: rows}
        optimum = minimize(  # type: ignore[call-overload] # the stubs know constraints of one value only
            less, x, jac=True, bounds=[(0, 1)] * len(x), constraints=[limits], options={"ftol": 1e-13, "maxiter": 300}
        )
        x = np.clip(optimum.x, 0, None)
        x = x / (rows.T @ (rows @ x))
    return best
