"""Which dialogues were judged, and which scores are missing: both by system."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import chi2_contingency, f_oneway, norm

from helpers.design.material import Part, Study
from helpers.design.people import Found
from helpers.design.registry import ALPHA, Cannot, check
from helpers.sources import sampling as drawn

#: shares of missing scores of two systems that differ by less could not change much
MISSING = 0.05
#: dialogues below which a stratum is not compared with others
_STRATUM = 5
#: of annotations; where it is filled, estimates are weighted
_USED = ("sampling_weight",)
_BY = ["label", "system"]


@check("missing_by_system", "order", "sample")
def missing(part: Part) -> Found:
    """Scores that are missing more often for some systems than for others."""
    part.need_systems()
    if part.rated.empty and part.votes.empty:
        raise Cannot(part.unrated)
    here = part.rated.groupby(_BY).size().rename("here") if part.votes.empty else _sides(part.votes)
    gone = part.absent[part.absent["label"].isin(part.labels)]
    dropped = gone.groupby(_BY)["n"].sum() if part.votes.empty else _sides(gone)
    table, kind = pd.concat([here, dropped.rename("gone")], axis=1).fillna(0.0), "scores"
    if not table["gone"].any() and part.votes.empty:
        table, kind = _fewer(part, here), "annotations"
    total = table.groupby("system").sum()
    share = total["gone"] / total.sum(axis=1)
    # the labels of one judgement go missing together
    counts = (total / table.index.get_level_values("label").nunique()).to_numpy()
    if len(share) < 2 or share.max() - share.min() < MISSING or chi2_contingency(counts + 1e-9).pvalue > ALPHA:
        return
    most, least = str(share.idxmax()), str(share.idxmin())
    facts = {"kind": kind, "system": most, "share": float(share[most]), "n": int(total.loc[most, "gone"])}
    facts |= {"system_b": least, "share_b": float(share[least]), "n_b": int(total.loc[least, "gone"])}
    facts |= {"all": int(total["gone"].sum()), "systems": len(share)}
    bounds = _bounds(part, table, most, least) if part.votes.empty else _bounds_of_wins(part, table, most)
    yield max(bounds.get("moved", 0.0), 0.5), facts | bounds


def _sides(votes: pd.DataFrame) -> pd.Series:
    """(label, system) -> comparisons with a system on either side; a row counts `n` times, if it has `n`."""
    n = votes["n"] if "n" in votes else pd.Series(1, votes.index)
    both = [votes[["label", side]].set_axis(_BY, axis=1).assign(here=n) for side in ("system", "system_b")]
    return pd.concat(both).dropna(subset="system").groupby(_BY)["here"].sum()


def _bounds_of_wins(part: Part, table: pd.DataFrame, system: str) -> dict[str, Any]:
    """The share of its comparisons that a system wins (a tie is half a win), and its bounds if it lost or won all that
    are missing."""
    best: dict[str, Any] = {}
    votes = part.votes
    for label in votes["label"].unique():
        own = votes[(votes["label"] == label) & ((votes["system"] == system) | (votes["system_b"] == system))]
        won = (1 + own["score"].clip(-1, 1) * np.where(own["system"] == system, 1, -1)) / 2
        here, gone = table.loc[(label, system)]
        se = float(won.std() / np.sqrt(len(own))) if len(own) > 1 else 0.0
        if not se > 0:
            continue
        now, share = float(won.mean()), float(gone / (here + gone))
        low, high = (1 - share) * now, (1 - share) * now + share
        if (moved := max(now - low, high - now) / se) > best.get("moved", 0.0):
            best = {"moved": moved, "label": label, "was": now, "low": low, "high": high, "wins": True}
    return best


def _fewer(part: Part, here: pd.Series) -> pd.DataFrame:
    """Annotations that items lack of the number that most items have; none where there is no such number."""
    item = [*_BY, "dialogue", "turn"]
    n = part.rated.groupby(item, dropna=False).size()
    commonest = n.mode()
    gone = (commonest.iloc[0] - n).clip(lower=0) if len(commonest) == 1 else n * 0
    if commonest.iloc[0] < 2 or (n >= commonest.iloc[0]).mean() < 0.5:
        gone = n * 0
    return pd.DataFrame({"here": here, "gone": gone.groupby(_BY).sum()}).fillna(0.0)


def _bounds(part: Part, table: pd.DataFrame, system: str, system_b: str) -> dict[str, Any]:
    """Of the label for which it matters most: the difference, and its bounds if missing scores are lowest or highest.

    Worst-case bounds (Horowitz and Manski 2000, Journal of the American Statistical Association 95, 77-84).
    """
    best: dict[str, Any] = {}
    means = part.rated.groupby(_BY)["score"].mean()
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
    certain = [name for name in [*columns, *study.not_used] if drawn.certain(name)]
    if not (columns or certain):
        raise Cannot("No column says how the dialogues were chosen; they count as a random sample.")
    found = [one for part in study.parts for name, values in columns.items() if (one := _effect(part, name, values))]
    # the column that says most: a probability or weight before a stratum, and the part in which it matters most
    found.sort(key=lambda f: (not f["beyond"], f["kind"] != "weight", -f["moved"]))
    if found and (found[0]["moved"] >= 1 or drawn.certain(found[0]["column"])):
        yield max(found[0]["moved"] * found[0]["beyond"], 0.5), found[0]
    elif certain:
        # what is called so says how dialogues were drawn, whether results change or not
        yield 0.5, {"column": certain[0], "kind": "unknown"}


def _columns(study: Study) -> dict[str, pd.Series]:
    """Names of such columns -> their values by (corpus, dialogue)."""
    key = ["corpus", "dialogue"]
    facts = study.facts[study.facts["key"].astype(str).str.startswith(drawn.UNUSED)]
    out = {
        str(k).removeprefix(drawn.UNUSED): f.groupby(key)["value"].first() for k, f in facts.groupby("key", sort=True)
    }
    metrics = study.metric_scores
    called = metrics[metrics["metric"].isin([m for m in metrics["metric"].unique() if drawn.named(str(m))])]
    out |= {str(m): f.groupby(key)["score"].mean() for m, f in called.groupby("metric", sort=True)}
    marks = study.annotations
    for name in (c for c in marks if drawn.named(str(c)) and c not in _USED and marks[c].notna().any()):
        out[name] = marks.groupby(key)[name].first()
    return {name: values for name, values in out.items() if len(values.unique()) > 1}


def _effect(part: Part, name: str, values: pd.Series) -> dict[str, Any] | None:
    """What the column does to the mean of the system on which it does most: weighted by it, or, of a stratum, how far
    apart the strata are; None where that is no more than chance."""
    rows = part.rated
    if part.corpus not in values.index.get_level_values(0) or rows.empty:
        return None
    own = values.xs(part.corpus, level=0)
    units = rows.groupby([*_BY, "dialogue"])["score"].mean().reset_index()
    number = pd.to_numeric(own, errors="coerce")
    weighted = number.notna().mean() > 0.9 and (number > 0).all() and number.min() < number.max()
    of = number if weighted else own
    cells = [_cell(cell.assign(value=cell["dialogue"].map(of)), name, weighted) for _, cell in units.groupby(_BY)]
    table = pd.DataFrame([cell for cell in cells if cell])
    if table.empty:
        return None
    # of one system, or of all in the same direction
    sums = table.assign(chance=table["chance"] ** 2).groupby("label")[["shift", "chance"]].sum()
    all_ = (sums["shift"].abs() / np.sqrt(sums["chance"])).max() if weighted else 0.0
    limit = norm.isf(ALPHA / 2)
    beyond = (table["shift"].abs() > limit * table["chance"]) | (all_ > limit)
    if not beyond.any() and not drawn.certain(name):
        return None
    worst = table.loc[table["moved"].where(beyond | ~beyond.any()).idxmax()]
    facts = {"column": name, "kind": "weight" if weighted else "stratum", "beyond": bool(beyond.any())}
    facts |= {"corpus": part.corpus, "group": part.group, "method": part.method}
    return facts | {k: worst[k] for k in ("label", "system", "was", "now", "moved")}


def _cell(cell: pd.DataFrame, name: str, weighted: bool) -> dict[str, Any] | None:
    """Of a system: its mean, that of the population, their difference, and the standard deviation of that by chance.

    Where the column has nothing to do with scores, a weighted mean differs by one with variance s² Σ (w / Σw − 1 / n)².
    """
    score, values = cell["score"].to_numpy(float), cell["value"]
    sd = score.std(ddof=1) if len(score) > 2 else 0.0
    if not sd > 0 or values.notna().sum() < 3:
        return None
    if weighted:
        there = values.notna().to_numpy()
        w = values.to_numpy(float)[there]
        weights = w if (w > 1).any() or drawn.named(name) == "weight" else 1 / w
        share = weights / weights.sum()
        now, chance = float(share @ score[there]), sd * np.sqrt(((share - 1 / len(share)) ** 2).sum())
    elif (now := _apart(score, values)) is not None:
        chance = 0.0
    else:
        return None
    was = float(score.mean())
    first = cell.iloc[0]
    return {"label": first["label"], "system": first["system"], "was": was, "now": now, "shift": now - was,
            "chance": float(chance), "moved": float(abs(now - was) / (sd / np.sqrt(len(score))))}  # fmt: skip


def _apart(score: np.ndarray, values: pd.Series) -> float | None:
    """Of the values of a stratum, the mean that is farthest from all; None where they differ by no more than chance."""
    groups = [g for _, g in pd.Series(score).groupby(values.to_numpy()) if len(g) >= _STRATUM and g.std() > 0]
    if len(groups) < 2 or f_oneway(*groups).pvalue > ALPHA:
        return None
    means = np.array([g.mean() for g in groups])
    return float(means[np.abs(means - score.mean()).argmax()])
