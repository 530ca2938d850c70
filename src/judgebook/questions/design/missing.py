"""Which scores are missing, by system."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from judgebook.questions.design.material import Evaluation
from judgebook.questions.design.registry import ALPHA, NotCheckableError, PricedFacts, check
from judgebook.study.schema import Annotations

#: shares of missing scores of two systems that differ by less could not change much
MISSING = 0.05
_BY = ["label", "system"]
#: what several annotators judge, of one label; alpha compares their answers
_ITEM = ["label", "system", "dialogue", "turn", "system_b", "dialogue_b"]


@check("missing_by_system", "order", "labels", "sample")
def missing(part: Evaluation) -> PricedFacts:
    """Scores that are missing more often for some systems than for others."""
    part.need_systems()
    if part.rated.empty and part.votes.empty:
        raise NotCheckableError(part.unrated)
    scored = part.rated.groupby(_BY).size().rename("here") if part.votes.empty else _sides(part.votes)
    gone = part.absent[part.absent["label"].isin(part.labels)]
    dropped = gone.groupby(_BY)["n"].sum() if part.votes.empty else _sides(gone)
    table, kind = pd.concat([scored, dropped.rename("gone")], axis=1).fillna(0.0), "scores"
    if not table["gone"].any() and part.votes.empty:
        table, kind = _fewer(part, scored), "annotations"
    total = table.groupby("system").sum()
    share = total["gone"] / total.sum(axis=1)
    # the labels of one judgement go missing together
    counts = (total / table.index.get_level_values("label").nunique()).to_numpy()
    if len(share) < 2 or share.max() - share.min() < MISSING:
        return
    from scipy.stats import chi2_contingency  # takes a second to import, which the first page would wait for

    if chi2_contingency(counts + 1e-9).pvalue > ALPHA:
        return
    most, least = str(share.idxmax()), str(share.idxmin())
    facts = {"kind": kind, "system": most, "share": float(share[most]), "n": int(total.loc[most, "gone"])}
    facts |= {"system_b": least, "share_b": float(share[least]), "n_b": int(total.loc[least, "gone"])}
    facts |= {"all": int(total["gone"].sum()), "systems": len(share)}
    judged = part.rated if part.votes.empty else part.votes
    facts["twice"] = bool(judged.duplicated([c for c in _ITEM if c in judged]).any())
    bounds = _bounds(part, table, most, least) if part.votes.empty else _bounds_of_wins(part, table, most)
    yield max(bounds.get("moved", 0.0), 0.5), facts | bounds


def _sides(votes: Annotations) -> pd.Series:
    """(label, system) -> comparisons with a system on either side; a row counts `n` times, if it has `n`."""
    n = votes["n"] if "n" in votes else pd.Series(1, votes.index)
    sides = [votes[["label", side]].set_axis(_BY, axis=1).assign(here=n) for side in ("system", "system_b")]
    return pd.concat(sides).dropna(subset="system").groupby(_BY)["here"].sum()


def _bounds_of_wins(part: Evaluation, table: pd.DataFrame, system: str) -> dict[str, Any]:
    """The share of its comparisons that a system wins (a tie is half a win), and its bounds if it lost or won all that
    are missing."""
    best: dict[str, Any] = {}
    votes = part.votes
    for label in votes["label"].unique():
        of_system = votes[(votes["label"] == label) & ((votes["system"] == system) | (votes["system_b"] == system))]
        won = (1 + of_system["score"].clip(-1, 1) * np.where(of_system["system"] == system, 1, -1)) / 2
        scored, gone = table.loc[(label, system)]
        se = float(won.std() / np.sqrt(len(of_system))) if len(of_system) > 1 else 0.0
        if not se > 0:
            continue
        now, share = float(won.mean()), float(gone / (scored + gone))
        low, high = (1 - share) * now, (1 - share) * now + share
        if (moved := max(now - low, high - now) / se) > best.get("moved", 0.0):
            best = {"moved": moved, "label": label, "was": now, "low": low, "high": high, "wins": True}
    return best


def _fewer(part: Evaluation, scored: pd.Series) -> pd.DataFrame:
    """Annotations that items lack of the number that most items have; none where there is no such number."""
    item = [*_BY, "dialogue", "turn"]
    n = part.rated.groupby(item, dropna=False).size()
    commonest = n.mode()
    gone = (commonest.iloc[0] - n).clip(lower=0) if len(commonest) == 1 else n * 0
    if commonest.iloc[0] < 2 or (n >= commonest.iloc[0]).mean() < 0.5:
        gone = n * 0
    return pd.DataFrame({"here": scored, "gone": gone.groupby(_BY).sum()}).fillna(0.0)


def _bounds(part: Evaluation, table: pd.DataFrame, system: str, system_b: str) -> dict[str, Any]:
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
            scored, gone = table.loc[(row.label, one)]
            share = gone / (scored + gone)
            ends.append([(1 - share) * means[row.label, one] + share * end for end in (low, high)])
        d = means[row.label, system] - means[row.label, system_b]
        bounds = ends[0][0] - ends[1][1], ends[0][1] - ends[1][0]
        moved = max(d - bounds[0], bounds[1] - d) / row.se
        if moved > best.get("moved", 0.0):
            best = {"moved": float(moved), "label": row.label, "was": float(d)}
            best |= {"low": float(bounds[0]), "high": float(bounds[1])}
    return best


def _ends(part: Evaluation, label: str) -> tuple[float, float]:
    label_, scores = part.labels.get(label), part.rated.loc[part.rated["label"] == label, "score"]
    return label_.scale if label_ else (float(scores.min()), float(scores.max()))
