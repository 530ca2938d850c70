"""In which order things were judged: positions of compared responses, dialogues of a session, and time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import bdtr, bdtrc, ndtr, ndtri, stdtr

from judgebook.questions.design import changes
from judgebook.questions.design.material import Evaluation
from judgebook.questions.design.registry import ALPHA, UNKNOWN, NotCheckableError, PricedFacts, check
from judgebook.study.schema import Annotations

#: effects of position below this share of choices, or this many standard deviations of scores, change little
CHOICES, SCORES = 0.05, 0.2
#: a system that is shown first in more than this share of its comparisons (or less than the rest) has its own position
OWN_POSITION = 0.8
#: share of the variance of time that systems explain, from which one cannot be distinguished from the other
TIME = 0.3
#: probability that a judgement of a system is later than one of the others, from which it was judged after them
APART = 0.95
_FEW = 10
_POSITION = "It is not recorded which response or dialogue was judged first."


def _first(part: Evaluation) -> pd.DataFrame:
    """Comparisons with a known order: `first` is 1 where the left side was shown first, else -1."""
    votes = part.votes[part.votes["first_shown"].isin(["left", "right"])]
    return votes.assign(first=np.where(votes["first_shown"] == "left", 1, -1))


def _in_sessions(part: Evaluation) -> pd.DataFrame:
    """Means of dialogues, in standard deviations of the label and less the mean of the system, with their order."""
    if "order_shown" not in part.dialogues or part.rated.empty:
        return pd.DataFrame()
    order = part.dialogues.dropna(subset="order_shown").groupby("dialogue")["order_shown"].first().astype(float)
    units = part.rated.groupby(["label", "system", "dialogue"])["score"].mean().reset_index()
    units["order"] = units["dialogue"].map(order)
    units = units.dropna(subset="order")
    if units["order"].nunique() < 2:
        return pd.DataFrame()
    rest = units["score"] - units.groupby(["label", "system"])["score"].transform("mean")
    spread = rest.groupby(units["label"]).transform("std")
    return units.assign(rest=rest / spread).replace([np.inf, -np.inf], np.nan).dropna(subset="rest")


@check("order_effect", "order", "sample")
def effect(part: Evaluation) -> PricedFacts:
    """Positions or orders that draw better judgements."""
    votes, units = _first(part), _in_sessions(part)
    if votes.empty and units.empty:
        raise NotCheckableError(_POSITION)
    if len(votes):
        yield from _of_position(part, votes)
    if len(units):
        yield from _of_order(units)


def _of_position(part: Evaluation, votes: Annotations) -> PricedFacts:
    won = np.sign(votes["score"]) * votes["first"]
    decided = votes.assign(won=won)[won != 0]
    # where nobody prefers a position, choices on different pairs are independent, whoever made them
    by = decided.groupby(["dialogue", "dialogue_b"])["won"].agg(["sum", "size"])
    n = int(by["size"].sum())
    if n < _FEW:
        return
    mean = by["sum"].sum() / n
    error = np.sqrt(((by["sum"] - mean * by["size"]) ** 2).sum() * len(by) / max(len(by) - 1, 1)) / n
    error = max(error, np.sqrt((1 - mean**2) / n), 1e-9)  # never below that of independent choices
    share = (1 + mean) / 2
    if abs(share - 0.5) < CHOICES or 2 * stdtr(max(len(by) - 1, 1), -abs(mean) / error) > ALPHA:
        return
    of_label = part.table.loc[part.table["label"].isin(votes["label"])]
    after = changes.change(of_label, changes.of_votes(votes, shift=votes["first"].to_numpy(float)))
    facts = {"kind": "position", "share": float(share), "n": n, "first": float((votes["first"] > 0).mean()), **after}
    yield max(changes.price(after, UNKNOWN), 4 * abs(share - 0.5) ** 2, 0.1), facts


def _of_order(units: pd.DataFrame) -> PricedFacts:
    later = units["order"] > units["order"].min()
    by = units.assign(later=later).groupby(["dialogue", "later"])["rest"].mean().reset_index()
    one, other = by.loc[by["later"], "rest"], by.loc[~by["later"], "rest"]
    if min(len(one), len(other)) < _FEW:
        return
    gap = float(one.mean() - other.mean())
    error = np.sqrt(one.var() / len(one) + other.var() / len(other))
    if abs(gap) < SCORES or 2 * ndtr(-abs(gap) / error) > ALPHA:
        return
    systems = units.assign(later=later).drop_duplicates("dialogue").groupby("system")["later"].mean()
    # only what systems differ in their order moves their difference
    moved = abs(gap) * float(systems.max() - systems.min()) / float(error)
    yield max(min(moved, UNKNOWN), 0.1), {"kind": "order", "gap": gap, "n": len(by), "moved": moved}


@check("order_is_system", "order")
def coincides(part: Evaluation) -> PricedFacts:
    """A system that is nearly always shown first, or second."""
    part.need_systems()
    votes = _first(part)
    if len(votes):
        left = votes[["system", "first"]]
        right = votes[["system_b", "first"]].set_axis(["system", "first"], axis=1)
        firsts = pd.concat([left, right.assign(first=-right["first"])])
        unit = "shown first"
    else:
        order = part.dialogues
        if "order_shown" not in order or order["order_shown"].isna().all():
            raise NotCheckableError(_POSITION)
        judged = order[order["dialogue"].isin(part.units["dialogue"])].dropna(subset="order_shown")
        judged = judged.drop_duplicates("dialogue")
        if judged["order_shown"].nunique() < 2:
            raise NotCheckableError(_POSITION)
        firsts = judged.assign(first=np.where(judged["order_shown"] == judged["order_shown"].min(), 1, -1))
        unit = "talked to first"
    by = firsts.groupby("system")["first"].agg(["mean", "size"])
    by, overall = by[by["size"] >= _FEW], float((firsts["first"] > 0).mean())
    share = (1 + by["mean"]) / 2
    off = (share - overall).abs()
    p = [2 * min(bdtr(k, n, overall), bdtrc(k - 1, n, overall))
         for k, n in zip((share * by["size"]).round(), by["size"], strict=True)]  # fmt: skip
    out = by.index[(off >= OWN_POSITION - 0.5) & (np.array(p) < ALPHA / max(len(by), 1))]
    if not len(out):
        return
    worst = off[out].idxmax()
    facts = {"kind": unit, "system": str(worst), "share": float(share[worst]), "n": int(by.loc[worst, "size"])}
    yield UNKNOWN * min(2 * float(off[worst]), 1.0), facts | {"cases": len(out), "overall": overall}


@check("drift", "order", "judges")
def drift(part: Evaluation) -> PricedFacts:
    """Systems judged at different times while severity shifts."""
    part.need_systems()
    rows = part.rated[part.rated["completed_at"].notna()]
    if len(rows) < 2 * _FEW:
        raise NotCheckableError("The data do not say when judgements were made.")
    units = rows.groupby(["label", "system", "annotator", "dialogue"])
    units = units.agg(score=("score", "mean"), time=("completed_at", "min")).reset_index()
    units["time"] = units["time"].rank() / len(units)
    whole = units.drop_duplicates(["annotator", "dialogue"])
    between = whole.groupby("system")["time"].transform("mean")
    spread = float(whole["time"].var(ddof=0))
    explained = float(between.var(ddof=0)) / spread if spread > 0 else 0.0
    slope, z, moved = _trend(units)
    apart = _apart(whole)
    trend = abs(z) > -ndtri(ALPHA / 2) and abs(slope) >= SCORES
    facts = {"explained": explained, "slope": slope, "trend": bool(trend), "moved": moved, **apart}
    if explained >= 0.8 or apart:
        yield (UNKNOWN if trend else 2.0), facts
    elif explained >= TIME and trend:
        yield max(moved, 0.5), facts
    elif trend and abs(slope) >= 2.5 * SCORES:
        yield max(moved, 0.2), facts


def _apart(whole: pd.DataFrame) -> dict[str, Any]:
    """The system that was judged after (or before) nearly all others, if there is one: the probability that a judgement
    of it is later than one of another system, beyond chance with as many dialogues."""
    rank, total = whole["time"].rank(), len(whole)
    by = rank.groupby(whole["system"]).agg(["mean", "size"])
    later = (by["mean"] - (by["size"] + 1) / 2) / (total - by["size"])
    n = whole.groupby("system")["dialogue"].nunique()
    rest = n.sum() - n
    z = (later - 0.5).abs() * np.sqrt(12 * n * rest / (n.sum() + 1))
    out = later[((later - 0.5).abs() >= APART - 0.5) & (z > -ndtri(ALPHA / 2 / len(by)))]
    if out.empty:
        return {}
    system = (out - 0.5).abs().idxmax()
    return {"system": str(system), "later": float(out[system])}


def _trend(units: pd.DataFrame) -> tuple[float, float, float]:
    """Change of scores from first to last, in standard deviations, within system and annotator; z of it by dialogues;
    and how many standard errors it moves the difference between the earliest and the latest system."""
    cell = ["label", "system", "annotator"]
    y = units["score"] - units.groupby(cell)["score"].transform("mean")
    y = y / y.groupby(units["label"]).transform("std")
    x = units["time"] - units.groupby(cell)["time"].transform("mean")
    finite = np.isfinite(y) & np.isfinite(x)
    if not finite.any() or (total := float((x[finite] ** 2).sum())) <= 1e-9:
        return 0.0, 0.0, 0.0
    slope = float((x * y)[finite].sum() / total)
    share = ((x * (y - slope * x))[finite]).groupby(units["dialogue"][finite]).sum()
    # the means of cells take some of the residuals with them, of small cells much (CR1)
    n_cells, n_rows, n_clusters = len(units[finite].drop_duplicates(cell)), int(finite.sum()), len(share)
    free = (n_rows - 1) / max(n_rows - n_cells - 1, 1) * n_clusters / max(n_clusters - 1, 1)
    error = float(np.sqrt(free * (share**2).sum())) / total
    mean = units.groupby("system")["time"].mean()
    n = units.drop_duplicates("dialogue").groupby("system").size()
    gap = float(mean.max() - mean.min())
    return slope, slope / error if error > 0 else 0.0, abs(slope) * gap / float(np.sqrt(2 / n.median()))
