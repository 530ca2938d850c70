"""The alternative annotator test: may a model take the place of annotators recruited at random?

Calderon, Reichart and Dror 2025, The Alternative Annotator Test for LLM-as-a-Judge (ACL 2025; arXiv 2501.10970),
section 3. Each annotator j is left out in turn; on each of j's items the model and j are held against the other
annotators. The model passes j where it is as close to them, less what it may be worse by because it is cheaper. It wins
when it passes half of the annotators or more.

The test needs at least three known annotators, each with enough items (30 by the paper) that others judged too.
"""

from __future__ import annotations

from math import nan

import numpy as np
import pandas as pd
from scipy import stats

from helpers.correlation import clustered_se
from helpers.labels import METHODS, Label
from helpers.multiplicity import adjust
from helpers.schema import condition

MIN_ANNOTATORS, MIN_ITEMS, FALSE_DISCOVERIES = 3, 30, 0.05


def alignment(value: np.ndarray, others: np.ndarray, level: str) -> np.ndarray:
    """(n,) how close a judgement of each item is to those of the others: at the nominal level and for two values the
    share of others who say the same, else less their root mean squared difference (section 3.1).

    value : (n,); others : (n, m), NaN where somebody did not judge. NaN where nobody else did.

    Checked by hand.
    """
    present = np.isfinite(others)
    n = present.sum(axis=1)
    if level == "nominal":
        total = np.sum(present & (others == value[:, None]), axis=1).astype(float)
        return np.where(n > 0, total / np.maximum(n, 1), nan)
    squares = np.where(present, (others - value[:, None]) ** 2, 0.0).sum(axis=1)
    return np.where(n > 0, -np.sqrt(squares / np.maximum(n, 1)), nan)


def _why_not(people: pd.DataFrame, min_items: int = MIN_ITEMS) -> str:
    """Why the test does not apply to these judgements by people, as a sentence; '' where it does.

    people : rows of one corpus, method and label.
    """
    if not people["annotator_known"].all():
        return "Annotators are positions in a list, not people: nobody can be left out."
    others = people.groupby(["dialogue", "turn"], dropna=False)["annotator"].transform("nunique") > 1
    items = people[others].groupby("annotator").size()
    enough = int((items >= min_items).sum())
    if enough < MIN_ANNOTATORS:
        return f"{enough} annotators have {min_items} items that others judged too; {MIN_ANNOTATORS} are needed."
    return ""


def left_out(
    values: np.ndarray,
    model: np.ndarray,
    dialogue: np.ndarray,
    level: str,
    *,
    cost: float = 0.15,
    min_items: int = MIN_ITEMS,
) -> pd.DataFrame:
    """The test of each annotator: one row a column of `values` with enough items.

    Parameters
    ----------
    values : (items, annotators), NaN where an annotator did not judge.
    model : (items,) judgements of the model, on the same scale; NaN where there is none.
    dialogue : (items,) the dialogue of each item.
    cost : float
        What the model may be worse by (epsilon of the paper: 0.2 for experts, 0.15 for skilled annotators, 0.1 for
        crowd workers).

    Returns
    -------
    annotator (column number), n, `model` and `human` (shares of items on which each is as close to the others as the
    other one, ties counting for both), p_value as published (one-sided paired t-test over items, H0: model <= human -
    cost), p_clustered (the same with the standard error of whole dialogues) and both adjusted by Benjamini and
    Yekutieli, as in the paper.

    Notes
    -----
    Checked against `scipy.stats.ttest_1samp` and by simulation of a model that is one more annotator.
    """
    out = []
    for j in range(values.shape[1]):
        others = np.delete(values, j, axis=1)
        at = np.flatnonzero(np.isfinite(values[:, j]) & np.isfinite(model) & np.isfinite(others).any(axis=1))
        if len(at) < min_items:
            continue
        ours, theirs = (alignment(v[at], others[at], level) for v in (model, values[:, j]))
        d = (theirs >= ours).astype(float) - (ours >= theirs)  # +1: the person is closer, -1: the model, 0: alike
        codes = np.unique(dialogue[at], return_inverse=True)[1]
        se = clustered_se((d - d.mean()) / len(d), codes)
        row = {"annotator": j, "n": len(at), "model": float(np.mean(ours >= theirs))}
        row |= {"human": float(np.mean(theirs >= ours)), "p_value": _p(d.mean() - cost, stats.sem(d), len(d) - 1)}
        out.append(row | {"p_clustered": _p(d.mean() - cost, se, int(codes.max()))})
    found = pd.DataFrame(out, columns=["annotator", "n", "model", "human", "p_value", "p_clustered"])
    for name in ("p_value", "p_clustered"):
        found[f"{name}_adjusted"] = adjust(found[name].to_numpy(float), "by")
    return found


def _p(excess: float, se: float, df: int) -> float:
    """One-sided p that the mean is below 0; without any spread the sign decides."""
    if not np.isfinite(se) or df < 1:
        return nan
    if se == 0:
        return 0.0 if excess < 0 else 1.0
    return float(stats.t.cdf(excess / se, df))


def winning_rates(
    annotations: pd.DataFrame, labels: list[Label], *, cost: float = 0.15, min_items: int = MIN_ITEMS
) -> pd.DataFrame:
    """The test for every corpus, method, label and model: result rows `winning_rate` and `advantage_probability`.

    `winning_rate`: share of annotators whom the model passes at a false discovery rate of 5 %, with the p-values over
    items (`test=items`, as published) and over dialogues (`test=dialogues`). From 0.5 on the model may replace
    annotators. `advantage_probability`: mean over annotators of the share of items on which it is at least as close to
    the others. Where the test does not apply the reason stands instead (estimate missing).

    Checked against `left_out`, with the adjustment by statsmodels.
    """
    known, out = {(label.method, label.id): label for label in labels}, []
    marks = annotations[annotations["dialogue_b"].isna()].assign(turn=lambda f: f["turn"].fillna(-1))
    for (corpus, method, name), rows in marks.groupby(["corpus", "method", "label"], sort=False):
        people, label = rows[rows["annotator_kind"] == "human"], known[method, name]
        for judge, theirs in rows[rows["annotator_kind"] != "human"].groupby("annotator", sort=False):
            head = {"corpus": corpus, "method": method, "label": name, "metric": judge, "level": METHODS[method].unit}
            both = people.merge(theirs[["dialogue", "turn"]], on=["dialogue", "turn"])
            reason = _why_not(both, min_items)
            found = pd.DataFrame() if reason else _tested(both, theirs, label, cost, min_items)
            out += [head | row for row in _rows(found, reason, cost)]
    return pd.DataFrame(out) if out else pd.DataFrame(columns=["statistic"])


def _tested(people: pd.DataFrame, theirs: pd.DataFrame, label: Label, cost: float, min_items: int) -> pd.DataFrame:
    once = people.drop_duplicates(["dialogue", "turn", "annotator"])
    wide = once.set_index(["dialogue", "turn", "annotator"])["score"].unstack()  # noqa: PD010
    model = theirs.set_index(["dialogue", "turn"])["score"].reindex(wide.index).to_numpy(float)
    dialogue = wide.index.get_level_values("dialogue").to_numpy()
    level = "nominal" if label.binary else label.level
    return left_out(wide.to_numpy(float), model, dialogue, level, cost=cost, min_items=min_items)


def _rows(found: pd.DataFrame, reason: str, cost: float) -> list[dict]:
    if reason:
        keys = condition(cost=cost, test="items")
        return [{"statistic": "winning_rate", "condition": keys, "estimate": nan, "note": reason}]
    n = {"n": int(found["n"].sum()), "n_annotators": len(found)}
    out = [{"statistic": "advantage_probability", "condition": None, "estimate": found["model"].mean(), **n}]
    for name, column in (("items", "p_value_adjusted"), ("dialogues", "p_clustered_adjusted")):
        passed = float((found[column] < FALSE_DISCOVERIES).mean())
        out.append({"statistic": "winning_rate", "condition": condition(cost=cost, test=name), "estimate": passed, **n})
    return out
