"""What was judged: how many dialogues of each system, on which contexts, how often the same, under which name."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import pdtrc

from judgebook.questions.design import changes
from judgebook.questions.design.conduct import copies
from judgebook.questions.design.material import Evaluation, StudyFrames
from judgebook.questions.design.people import FEW, OVERLAP, effective, overlaps, unusual
from judgebook.questions.design.registry import ALPHA, UNKNOWN, NotCheckableError, PricedFacts, check
from judgebook.sources.ids.look_alikes import alike
from judgebook.study.schema import Annotations

#: fewer dialogues of a system support no interval worth having, whatever the others have
TINY = 8
#: so many times as many dialogues of one system as of another is no accident of assignment
RATIO = 3.0
#: a dialogue or context with this share of a system's judgements decides its mean
DOMINANT = 0.4
#: share of contexts with equally many systems from which these are blocks of a design
BLOCKS = 0.95
#: contexts in common say what a difference on the same contexts is if it is this precise, against one of means
LINKED = 0.5
#: repeated dialogues below this share of a study change nothing
REPEATED = 0.02
#: share of an annotator's dialogues that may have the time of another: of whole sessions, all have
SAME_TIME = 0.2
_TEXT = 20


@check("unequal_n", "order", "sample")
def unequal_n(part: Evaluation) -> PricedFacts:
    """Systems with very few dialogues, or very many fewer than others."""
    part.need_systems()
    n = part.units.drop_duplicates(["dialogue", "system"])["system"].value_counts().sort_index(kind="stable")
    least, usual = int(n.min()), float(n.median() if len(n) > 2 else n.max())
    if not (least < TINY or n.max() >= RATIO * least):
        return
    # of the differences with the smallest system, against those of two systems with the usual number
    wider = float(np.sqrt((1 / least + 1 / usual) / (2 / max(usual, least))))
    facts = {
        "system": str(n.idxmin()),
        "n": least,
        "usual": round(usual),
        "most": int(n.max()),
        "system_b": str(n.idxmax()),
    }
    facts |= {"wider": wider, "systems": len(n), "small": int((n < TINY).sum()), "least": TINY}
    yield max(wider - 1, float(np.sqrt(TINY / least)) - 1, 0.1), facts


@check("single_item_context", "order", "sample")
def single_item(part: Evaluation) -> PricedFacts:
    """One dialogue, or one context, with a large part of a system's judgements."""
    rows = part.rows
    worst: tuple[float, dict[str, Any]] | None = None
    for unit in ("context", "dialogue"):
        if rows[unit].isna().any():
            continue
        sides = [rows[["system", unit]]]
        other = "dialogue_b" if unit == "dialogue" else unit
        sides.append(rows[["system_b", other]].set_axis(["system", unit], axis=1))
        judged = pd.concat(sides).dropna()
        count = judged.groupby(["system", unit]).size()
        share = count / count.groupby("system").transform("sum")
        several = count.groupby("system").transform("size") >= 3  # of one or two, one has much of the work anyway
        share = share[several & (share >= DOMINANT)]
        if len(share) and (worst is None or share.max() > worst[0]):
            system, item = share.idxmax()
            gone = (rows[unit] == item) & ((rows["system"] == system) | (rows["system_b"] == system))
            if unit == "dialogue":
                gone |= rows["dialogue_b"] == item
            facts = {"unit": unit, "of_system": system, "share": float(share.max()), "cases": len(share)}
            worst = float(share.max()), facts | changes.change(part.table, part.without(gone), widening=True)
    if worst:
        yield max(worst[0], changes.price(worst[1], UNKNOWN)), worst[1]


@check("unbalanced_contexts", "order", "sample")
def contexts(part: Evaluation) -> PricedFacts:
    """Systems judged on different contexts or prompts.

    Whatever random assignment would give, as a difference between systems includes one between their contexts; but
    where each context has as many systems (incomplete blocks, such as two bots that talk to each other), compared with
    that. Where the data declare no contexts, as of people who chat, nothing was meant to be shared.
    """
    part.need_systems()
    rows = part.rated
    if rows.empty:
        raise NotCheckableError(part.unrated)
    if rows["context"].isna().any() or (rows["context"] == rows["dialogue"]).all():
        raise NotCheckableError("The data do not say which dialogues share a context.")
    units = rows.drop_duplicates(["dialogue", "context", "system"])
    loads = pd.crosstab(units["context"], units["system"])
    common, systems = overlaps(loads.to_numpy()), list(loads.columns)
    a, b = np.triu_indices(len(systems), 1)
    low = common < OVERLAP
    in_blocks = (loads > 0).sum(axis=1).value_counts(normalize=True)
    if low.any() and in_blocks.index[0] > 1 and in_blocks.iloc[0] >= BLOCKS:
        linked = changes.components(loads.to_numpy())
        low &= unusual(loads.to_numpy(), common) | (linked[a] != linked[b])
    if not low.any():
        return
    worst = int(np.argmin(np.where(low, common, np.inf)))
    facts: dict[str, Any] = {"system": systems[a[worst]], "system_b": systems[b[worst]], "pairs": len(a)}
    facts |= {"common": float(common[worst]), "low": int(low.sum()), "contexts": len(loads)}
    effective_n = [effective(loads[s][loads[s] > 0].to_numpy()) for s in (facts["system"], facts["system_b"])]
    facts["few"] = min(effective_n) < FEW
    same = changes.adjusted(rows, "context", LINKED)
    after = changes.change(part.table, same)
    wide = changes.change(part.table, changes.of_means(rows, "context"), widening=True)
    facts["widened"] = wide.get("widened", 1.0)
    facts |= {k: after[k] for k in ("moved", "label", "was", "now") if k in after}
    if facts["few"] and common[worst] == 0:
        yield UNKNOWN, facts | {"moved": facts.get("moved", 0.0)}
    else:
        # without enough in common, nothing but the number of contexts separates systems from them
        least = 0.5 if same["difference"].isna().any() else 0.2
        yield max(changes.price(after, UNKNOWN), changes.price(wide | {"moved": 0.0}, UNKNOWN), least), facts


@check("system_spellings", "order", "sample", whole=True)
def spellings(study: StudyFrames) -> PricedFacts:
    """One system under two spellings of its name."""
    marks = study.annotations
    names = sorted({*marks["system"], *marks["system_b"].dropna()})
    if len(names) < 2:
        raise NotCheckableError("There is only one system.")
    pairs = alike({s: s for s in names})
    if not pairs:
        return
    one, other = pairs[0]
    n = [int(marks.loc[(marks["system"] == s) | (marks["system_b"] == s)].shape[0]) for s in pairs[0]]
    facts = {"system": one, "system_b": other, "n": n[0], "n_b": n[1], "cases": len(pairs), "systems": len(names)}
    # a system's data are cut in two: its intervals are wider than they need be by the root of the ratio
    yield max(0.5, np.sqrt(sum(n) / max(min(n), 1)) - 1), facts


@check("repeated_rows", "sample", "labels", "order")
def repeated(part: Evaluation) -> PricedFacts:
    """Dialogues that occur twice under two ids, by their texts or by their scores; and copied rows."""
    groups = _by_texts(part) or _by_times(part) or _by_scores(part)
    if not groups and not part.known and (part.rows["annotator_kind"] == "human").all():
        groups = _by_position(part)
    if not groups:
        return
    gone = groups.pop("gone")
    facts = groups | changes.change(part.table, part.without(gone), widening=True)
    yield max(changes.price(facts, UNKNOWN), groups["share"] * 2), facts


def _by_texts(part: Evaluation) -> dict[str, Any] | None:
    talk = part.dialogues
    if "system_text" not in talk or talk["system_text"].isna().all():
        return None
    talk = talk[talk["system_text"].notna()].sort_values(["dialogue", "turn"], kind="stable")
    texts = talk["system_text"].astype(str)
    if "user_text" in talk:
        texts = talk["user_text"].fillna("").astype(str) + "\n" + texts
    whole = texts.groupby(talk["dialogue"]).agg("\n".join)
    system = talk.groupby("dialogue")["system"].first()
    context = talk.groupby("dialogue")["context"].first() if "context" in talk else system
    judged = part.units["dialogue"].unique()
    frame = pd.DataFrame({"system": system, "text": whole, "context": context}).reindex(judged).dropna(subset="text")
    frame = frame[frame["text"].str.len() >= _TEXT]
    # a system may say the same in another context: only where no context is known, or it is the same one, is it a copy
    again = frame.duplicated(["system", "text", "context"])
    return _copies(part, list(frame.index[again]), len(judged), "texts")


def _copies(part: Evaluation, again: list[str], judged: int, by: str) -> dict[str, Any] | None:
    if len(again) < max(2, REPEATED * judged):
        return None
    gone = part.rows["dialogue"].isin(again) | part.rows["dialogue_b"].isin(again)
    return {"by": by, "n": len(again), "of": judged, "share": len(again) / judged, "gone": gone}


def _by_times(part: Evaluation) -> dict[str, Any] | None:
    """Dialogues of one system with the same scores by the same annotators at the very same times, where an annotator's
    times usually tell dialogues apart."""
    rows = part.rated
    if rows.empty or rows["completed_at"].isna().any():
        return None
    time = rows["completed_at"].groupby([rows["annotator"], rows["dialogue"]]).first().reset_index()
    if time.duplicated(["annotator", "completed_at"]).mean() > SAME_TIME:
        return None
    vector = _vectors(rows, "completed_at")
    frame = pd.DataFrame({"vector": vector, "system": rows.groupby("dialogue")["system"].first()})
    return _copies(part, list(frame.index[frame.duplicated()]), len(frame), "times")


def _vectors(rows: Annotations, *more: str) -> pd.Series:
    """Dialogue -> who gave which scores on which turns, and `more` of each score."""
    turn = rows["turn"].astype("Float64").fillna(-1).astype(float)
    entry = list(zip(rows["annotator"], rows["label"], turn, rows["score"], *(rows[c] for c in more), strict=True))
    return pd.Series(entry, rows.index).groupby(rows["dialogue"]).agg(lambda s: tuple(sorted(s)))


def _by_scores(part: Evaluation) -> dict[str, Any] | None:
    """Dialogues of one system with the very same scores, far more than among dialogues of two systems."""
    rows = part.rated
    per = rows.groupby("dialogue").size()
    if rows["system"].nunique() < 2 or per.median() < 4:
        return None
    vector = _vectors(rows)
    scores = rows.groupby("dialogue")["score"]
    varied = scores.min() < scores.max()  # straight lines are alike without being copies
    system = rows.groupby("dialogue")["system"].first()
    vector, system = vector[varied], system[varied]
    same = Counter(zip(system, vector, strict=True))
    n_system = system.value_counts()
    within = sum(k * (k - 1) // 2 for k in same.values())
    all_same = sum(k * (k - 1) // 2 for k in Counter(vector).values())
    pairs_within = float((n_system * (n_system - 1) / 2).sum())
    pairs_across = len(vector) * (len(vector) - 1) / 2 - pairs_within
    # systems that differ have fewer equal scores across than within: three times as many pass for chance
    expected = 3 * (all_same - within + 1) / max(pairs_across, 1) * pairs_within
    if within < 3 or pdtrc(within - 1, expected) > ALPHA:
        return None
    frame = pd.DataFrame({"system": system, "vector": vector})
    return _copies(part, list(frame.index[frame.duplicated()]), len(per), "scores")


def _by_position(part: Evaluation) -> dict[str, Any] | None:
    """Rows that were entered twice: where nobody knows who judged, the second one looks like another annotator."""
    pairs = copies(part.rows)
    if not pairs:
        return None
    gone = part.rows["annotator"] == pairs[0][1]
    return {"by": "rows", "n": int(gone.sum()), "of": len(gone), "share": float(gone.mean()), "gone": gone}
