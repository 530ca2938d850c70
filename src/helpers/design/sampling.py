"""Which dialogues were judged, and which scores are missing: both by system."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import chi2_contingency, f_oneway, norm

from helpers.design.material import Part, Study
from helpers.design.people import Found
from helpers.design.registry import ALPHA, Cannot, check
from helpers.sources.guessing.words import SAMPLING, UNUSED

#: shares of missing scores of two systems that differ by less could not change much
MISSING = 0.05
#: dialogues below which a stratum is not compared with others
_STRATUM = 5
_WEIGHT = re.compile("weight|i?pw", re.IGNORECASE)
#: of annotations; where it is filled, estimates are weighted
_USED = ("sampling_weight",)


@check("missing_by_system", "order", "sample")
def missing(part: Part) -> Found:
    """Scores that are missing more often for some systems than for others."""
    part.need_systems()
    rows = part.rated
    if rows.empty:
        raise Cannot(part.unrated)
    by = ["label", "system"]
    here = rows.groupby(by).size().rename("here")
    dropped = part.absent[part.absent["label"].isin(part.labels)].groupby(by)["n"].sum().rename("gone")
    table = pd.concat([here, dropped], axis=1).fillna(0.0)
    kind = "scores"
    if not table["gone"].any():
        table, kind = _fewer(part, here), "annotations"
    if not table["gone"].any():
        return
    total = table.groupby("system").sum()
    share = total["gone"] / total.sum(axis=1)
    # the labels of one judgement go missing together
    counts = (total / rows["label"].nunique()).to_numpy()
    if len(share) < 2 or share.max() - share.min() < MISSING or chi2_contingency(counts + 1e-9).pvalue > ALPHA:
        return
    most, least = str(share.idxmax()), str(share.idxmin())
    facts = {"kind": kind, "system": most, "share": float(share[most]), "n": int(total.loc[most, "gone"])}
    facts |= {"system_b": least, "share_b": float(share[least]), "n_b": int(total.loc[least, "gone"])}
    facts |= {"all": int(total["gone"].sum()), "systems": len(share)}
    bounds = _bounds(part, table, most, least)
    yield max(bounds.get("moved", 0.0), 0.5), facts | bounds


def _fewer(part: Part, here: pd.Series) -> pd.DataFrame:
    """Annotations that items lack of the number that most items have; none where there is no such number."""
    item = ["label", "system", "dialogue", "turn"]
    n = part.rated.groupby(item, dropna=False).size()
    commonest = n.mode()
    gone = (commonest.iloc[0] - n).clip(lower=0) if len(commonest) == 1 else n * 0
    if commonest.iloc[0] < 2 or (n >= commonest.iloc[0]).mean() < 0.5:
        gone = n * 0
    return pd.DataFrame({"here": here, "gone": gone.groupby(["label", "system"]).sum()}).fillna(0.0)


def _bounds(part: Part, table: pd.DataFrame, system: str, system_b: str) -> dict[str, Any]:
    """Of the label for which it matters most: the difference, and its bounds if missing scores are lowest or highest.

    Worst-case bounds (Horowitz and Manski 2000, Journal of the American Statistical Association 95, 77-84).
    """
    best: dict[str, Any] = {}
    means = part.rated.groupby(["label", "system"])["score"].mean()
    for row in part.table.itertuples():
        if {row.system, row.system_b} != {system, system_b} or not row.se > 0:
            continue
        low, high = _ends(part, row.label)
        ends = []
        for one in (system, system_b):
            here, gone = table.loc[(row.label, one)]
            share = gone / (here + gone)
            ends.append([(1 - share) * means[row.label, one] + share * end for end in (low, high)])
        d = means[row.label, system] - means[row.label, system_b]
        bounds = ends[0][0] - ends[1][1], ends[0][1] - ends[1][0]
        moved = max(d - bounds[0], bounds[1] - d) / row.se
        if moved > best.get("moved", 0.0):
            best = {"moved": float(moved), "label": row.label, "was": float(d)}
            best |= {"low": float(bounds[0]), "high": float(bounds[1])}
    return best


def _ends(part: Part, label: str) -> tuple[float, float]:
    known, scores = part.labels.get(label), part.rated.loc[part.rated["label"] == label, "score"]
    return known.scale if known else (float(scores.min()), float(scores.max()))


@check("enriched_sample", "order", "labels", "sample", whole=True)
def enriched(study: Study) -> Found:
    """A column says how items were chosen, and the analyses do not use it."""
    marks = study.annotations
    if any(c in marks and marks[c].notna().any() for c in _USED):
        return
    columns = _columns(study)
    if not columns:
        raise Cannot("No column says how the dialogues were chosen; they count as a random sample.")
    found = [one for part in study.parts for name, values in columns.items() if (one := _effect(part, name, values))]
    # the column that says most: a probability or weight before a stratum, and the part in which it matters most
    found.sort(key=lambda f: (f["kind"] != "weight", -f["moved"]))
    if found and (best := found[0])["moved"] >= 1:
        yield best["moved"], best


def _columns(study: Study) -> dict[str, pd.Series]:
    """Names of such columns -> their values by (corpus, dialogue)."""
    key = ["corpus", "dialogue"]
    facts = study.facts[study.facts["key"].astype(str).str.startswith(UNUSED)]
    out = {str(k).removeprefix(UNUSED): f.groupby(key)["value"].first() for k, f in facts.groupby("key", sort=True)}
    metrics = study.metric_scores
    named = metrics[metrics["metric"].isin([m for m in metrics["metric"].unique() if SAMPLING.fullmatch(str(m))])]
    out |= {str(m): f.groupby(key)["score"].mean() for m, f in named.groupby("metric", sort=True)}
    marks = study.annotations
    for name in (c for c in marks if SAMPLING.fullmatch(str(c)) and c not in _USED and marks[c].notna().any()):
        out[name] = marks.groupby(key)[name].first()
    return {name: values for name, values in out.items() if len(values.unique()) > 1}


def _effect(part: Part, name: str, values: pd.Series) -> dict[str, Any] | None:
    """What the column does to means of systems: weighted by it, or, of a stratum, how far apart the strata are."""
    rows = part.rated
    if part.corpus not in values.index.get_level_values(0) or rows.empty:
        return None
    own = values.xs(part.corpus, level=0)
    units = rows.groupby(["label", "system", "dialogue"])["score"].mean().reset_index()
    number = pd.to_numeric(own, errors="coerce")
    weighted = number.notna().mean() > 0.9 and (number > 0).all() and number.min() < number.max()
    worst: dict[str, Any] | None = None
    for (label, system), cell in units.groupby(["label", "system"]):
        score, at = cell["score"].to_numpy(float), cell["dialogue"]
        se = score.std(ddof=1) / np.sqrt(len(score)) if len(score) > 2 else 0.0
        if not se > 0:
            continue
        other = _weighted(score, at.map(number), name) if weighted else _apart(score, at.map(own))
        if other is None:
            continue
        moved = float(abs(other - score.mean()) / se)
        if worst is None or moved > worst["moved"]:
            worst = {"column": name, "label": label, "system": system, "was": float(score.mean()), "now": other}
            worst |= {"moved": moved, "kind": "weight" if weighted else "stratum", "corpus": part.corpus}
            worst |= {"group": part.group, "method": part.method}
    return worst


def _weighted(score: np.ndarray, values: pd.Series, name: str) -> float | None:
    """The mean weighted by a column; None where it differs from the plain one by no more than chance.

    Where the column has nothing to do with scores, the difference has variance s² Σ (w / Σw − 1 / n)².
    """
    there = values.notna().to_numpy()
    if there.sum() < 3:
        return None
    score, w = score[there], values.to_numpy(float)[there]
    weights = w if (w > 1).any() or _WEIGHT.search(name) else 1 / w
    share = weights / weights.sum()
    chance = score.std(ddof=1) * np.sqrt(((share - 1 / len(share)) ** 2).sum())
    other = float(share @ score)
    return other if abs(other - score.mean()) > norm.isf(ALPHA / 2) * chance else None


def _apart(score: np.ndarray, values: pd.Series) -> float | None:
    """Of the values of a stratum, the mean that is farthest from all; None where they differ by no more than chance."""
    groups = [g for _, g in pd.Series(score).groupby(values.to_numpy()) if len(g) >= _STRATUM and g.std() > 0]
    if len(groups) < 2 or f_oneway(*groups).pvalue > ALPHA:
        return None
    means = np.array([g.mean() for g in groups])
    return float(means[np.abs(means - score.mean()).argmax()])
