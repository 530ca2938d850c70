"""What was asked and answered: directions, scales, answers that look like codes, judges that are not independent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import bdtr

from judgebook.codes import distinct
from judgebook.questions.design.material import (
    ALPHA,
    UNKNOWN,
    Evaluation,
    NotCheckableError,
    PricedFacts,
    StudyFrames,
    check,
)
from judgebook.questions.design.people import COPIED, EXPECTED
from judgebook.sources.ids.look_alikes import words
from judgebook.study.labels import Label
from judgebook.study.schema import ITEM, Annotations

#: numbers that stand for a missing answer in many files
CODES = (-999.0, -99.0, -9.0, -1.0, 0.0, 9.0, 99.0, 999.0)
#: scores below which a level that nobody used may be chance
ENOUGH = 50
#: a level beside one with this share of the scores is used, too, where answers are not cut off
BESIDE = 0.1
#: more people are not compared with a judge one by one
_PEOPLE = 50
#: scores of a label whose 0 may be a code; zeros with another judgement of their item; standard errors that settle it
_LEVELS, _ZEROS, _SURE = 4, 5, 4.0
#: a minority of fewer marks supports no difference
_MARKS = 3


@check("undeclared_direction", "order")
def direction(part: Evaluation) -> PricedFacts:
    """Labels of which nobody said whether a high score is good."""
    rated = part.rated if part.votes.empty else part.rows
    there = distinct(rated["label"])
    judged = [label for i, label in part.labels.items() if i in there]
    if not judged:
        raise NotCheckableError(part.unrated)
    named = [label.id for label in judged if not label.direction_declared]
    if not named:
        return
    table = part.table[part.table["label"].isin(named)]
    # what enters no rank until somebody says: the largest difference by these labels
    sizes = (table["difference"].abs() / table["se"]).replace([np.inf], np.nan)
    facts: dict[str, Any] = {"labels": named, "of": len(judged)}
    if sizes.notna().any():
        row = table.loc[sizes.idxmax()]
        facts |= {"moved": float(sizes.max()), "label": row["label"], "was": abs(float(row["difference"]))}
        facts |= {"system": row["system"], "system_b": row["system_b"]}
    yield max(facts.get("moved", 0.0), 0.5), facts


@check("outside_scale", "labels", "order")
def outside(part: Evaluation) -> PricedFacts:
    """Scores that are not on the declared scale."""
    rows, label = part.rated, part.rated["label"]
    if rows.empty:
        raise NotCheckableError(part.unrated)
    there = distinct(label)
    ends = {i: one.scale for i, one in part.labels.items() if i in there}
    if not ends:
        raise NotCheckableError("No scale is declared.")
    low, high = (label.map({i: e[side] for i, e in ends.items()}).astype(float) for side in (0, 1))
    off = ((rows["score"] < low) | (rows["score"] > high)) & ~rows["score"].isin(CODES)
    if not off.any():
        return
    yield part.left_out(off.reindex(part.rows.index, fill_value=False), 0.3, _labels_of(rows, off))


def _labels_of(rows: Annotations, off: pd.Series) -> dict[str, Any]:
    worst = rows.loc[off, "label"].value_counts().index[0]
    values = sorted(rows.loc[off & (rows["label"] == worst), "score"].unique())
    return {
        "label_named": worst,
        "values": [f"{v:g}" for v in values[:5]],
        "n": int(off.sum()),
        "share": float(off.mean()),
    }


@check("missing_codes", "labels", "order")
def codes(part: Evaluation) -> PricedFacts:
    """Values such as -1, 0, 9 or 99 that look like codes for a missing answer."""
    rows = part.rated
    if rows.empty:
        raise NotCheckableError(part.unrated)
    off, why = pd.Series(False, rows.index), {}
    for name, of_label in rows.groupby("label"):
        suspects, why[name] = _codes(of_label, part.labels.get(str(name)))
        off |= rows.index.isin(of_label.index[of_label["score"].isin(suspects)])
    if off.any():
        facts = _labels_of(rows, off)
        facts["why"] = why[facts["label_named"]]
        yield part.left_out(off.reindex(part.rows.index, fill_value=False), 0.3, facts)


def _codes(of_label: Annotations, label: Label | None) -> tuple[list[float], str]:
    """Scores by one label that look like codes, and why: `far` from all others, off the `scale`, or `unlike` a low
    score."""
    used = np.sort(of_label["score"].unique())
    far = _apart(used)
    if far:
        return far, "far"
    off = [c for c in used if c in CODES and label is not None and not label.scale[0] <= c <= label.scale[1]]
    if off:
        return off, "scale"
    return ([0.0] if _unlike_a_low_score(of_label) else []), "unlike"


def _unlike_a_low_score(of_label: Annotations) -> bool:
    """Whether items that some rated 0 are no worse than others by those who rated them from 1 on.

    of_label : judgements by one label. A low score would be followed by the others' as any other is: they are compared
    with the line through those of 1 and more.
    """
    score = of_label["score"]
    used = np.unique(score)
    if len(used) < _LEVELS or used[0] != 0 or used[1] < 1 or np.any(used % 1):
        return False
    item = of_label.groupby([c for c in ITEM if c in of_label], dropna=False, sort=False).ngroup()
    rated = score > 0
    total, n = (score.where(rated, 0.0).groupby(item).transform("sum"), rated.groupby(item).transform("sum"))
    n = n - rated
    others = (total - score.where(rated, 0.0)) / n.where(n > 0)
    low, high = others[~rated].dropna(), pd.DataFrame({"own": score, "others": others})[rated].dropna()
    if len(low) < _ZEROS or len(high) < ENOUGH or np.ptp(high["own"]) == 0:
        return False
    from scipy.stats import linregress  # takes a second to import, which the first page would wait for

    fit = linregress(high["own"], high["others"])
    noise = float(np.std(high["others"] - fit.intercept - fit.slope * high["own"], ddof=2)) / np.sqrt(len(low))
    error = np.hypot(noise, fit.intercept_stderr)
    halfway = (fit.intercept + high["others"].mean()) / 2
    return bool(fit.slope > _SURE * fit.stderr and low.mean() > max(fit.intercept + _SURE * error, halfway))


def _apart(values: np.ndarray) -> list[float]:
    """Codes at either end of the used values, from which the next value is twice the largest step among the others."""
    out: list[float] = []
    while len(values) > 2 + len(out):
        rest = values[~np.isin(values, out)]
        for code, inner in ((rest[0], rest[1:]), (rest[-1], rest[:-1])):
            if code in CODES and len(inner) > 1:
                gap = inner[0] - code if code < inner[0] else code - inner[-1]
                if gap >= 2 * max(np.diff(inner).max(), 0.5):
                    out.append(float(code))
                    break
        else:
            return out
    return out


@check("unused_scale_ends", "labels")
def scale_ends(part: Evaluation) -> PricedFacts:
    """Ends of a scale that nobody uses although the value beside them is common."""
    rows, beyond = part.rated, []
    if rows.empty:
        raise NotCheckableError(part.unrated)
    for name, of_label in rows.groupby("label"):
        label = part.labels.get(str(name))
        if label is None or not label.integer or label.binary or label.level == "sets" or len(of_label) < ENOUGH:
            continue
        low, high = label.scale
        steps = high - low
        share = of_label["score"].value_counts(normalize=True)
        used = of_label["score"].min(), of_label["score"].max()
        for end, beside in ((low, used[0]), (high, used[1])):
            cut = end not in share and abs(beside - end) <= 2 and share.get(beside, 0.0) >= BESIDE
            if steps <= 10 and cut:
                beyond.append((float(share[beside]), name, end, beside, used, len(of_label)))
        if steps > 4 and used[1] - used[0] <= steps / 2:
            beyond.append((0.5, name, low if used[0] > low else high, used[0], used, len(of_label)))
    if beyond:
        share, name, end, beside, used, n = max(beyond)
        facts = {"label_named": name, "end": f"{end:g}", "beside": f"{beside:g}", "share": share, "n": n}
        facts |= {"low": f"{used[0]:g}", "high": f"{used[1]:g}", "labels": len({f[1] for f in beyond})}
        yield min(share, 0.5), facts


@check("constant_label", "labels")
def constant(part: Evaluation) -> PricedFacts:
    """Labels to which everybody gives one answer."""
    rows = part.rows[part.rows["dialogue_b"].isna()]
    if rows.empty:
        raise NotCheckableError(part.unrated)
    sizes = rows.groupby("label")["score"].agg(n="size", most=lambda s: s.value_counts().iloc[0])
    out = sizes[(sizes["n"] >= 20) & (sizes["n"] - sizes["most"] < _MARKS) & (sizes["most"] >= 0.98 * sizes["n"])]
    if len(out):
        facts = {"labels": list(out.index), "n": int(out["n"].iloc[0]), "others": int((out["n"] - out["most"]).max())}
        yield 0.2, facts | {"of": len(sizes)}


@check("dependent_judge", "judges", "labels", whole=True)
def judge(study: StudyFrames) -> PricedFacts:
    """Models that repeat people's labels, or judge themselves."""
    marks = study.annotations
    model = marks["annotator_kind"] != "human"
    if not model.any():
        raise NotCheckableError("No model judged anything.")
    systems = {words(s): s for s in {*marks["system"], *marks["system_b"].dropna()}}
    for name, rows in marks[model].groupby("annotator"):
        if system := _own(str(name), systems):
            yield 1.0, {"kind": "own", "judge": str(name), "system": system}
        if repeats := _repeats(str(name), rows, marks[~model]):
            yield UNKNOWN / 2, repeats


def _own(judge: str, systems: dict[str, str]) -> str | None:
    """The system that a judge is, by its name: `gpt-4` as a judge, or `judge_gpt_4`."""
    called = words(judge)
    for name, system in systems.items():
        if len(name) > 2 and f" {name} " in f" {called} ":
            return system
    return None


def _repeats(name: str, rows: Annotations, people: Annotations) -> dict[str, Any] | None:
    """Whether a judge equals one person, or people's median, majority or mean, where people themselves do not."""
    item = [c for c in ITEM if c in rows]
    marks = pd.concat([rows, people], keys=["own", "people"])
    code = marks.groupby(item, dropna=False, sort=False).ngroup()
    of_judge = marks.loc["own", "score"].groupby(code["own"]).first()
    by_people = people.assign(item=code["people"])[["item", "annotator", "score"]]
    by_people = by_people[by_people["item"].isin(of_judge.index)]
    each, summary = by_people.groupby("item")["score"], {}
    if len(by_people):
        summary = {"median": each.median(), "majority": each.agg(lambda s: s.mode().iloc[0]), "mean": each.mean()}
    if people["annotator_known"].astype(bool).all() and by_people["annotator"].nunique() <= _PEOPLE:
        summary |= {str(a): f.groupby("item")["score"].first() for a, f in by_people.groupby("annotator")}
    agreements = [
        {"of": of, **facts} for of, values in summary.items() if (facts := _as(of_judge, by_people, of, values))
    ]
    return min(agreements, key=lambda f: f["differs"]) | {"kind": "repeats", "judge": name} if agreements else None


def _as(of_judge: pd.Series, by_people: Annotations, of: str, values: pd.Series) -> dict[str, Any] | None:
    """How often a judge (`of_judge`) and how often people differ from a summary of people, or from one of them; None
    where the judge does so no less than a good judge would.

    A median or mean between two answers is equal to both. Where items were judged once, people are taken to differ on a
    quarter of what answers drawn at random would give.
    """
    pairs = pd.DataFrame({"own": of_judge, "of": values}).dropna()
    n, k = len(pairs), int(_differ(pairs["own"], pairs["of"]).sum())
    others = by_people[(by_people["annotator"] != of) & by_people["item"].isin(pairs.index)]
    several = others if of not in ("median", "majority", "mean") else others[others.duplicated("item", keep=False)]
    if len(several):
        usual = float(_differ(several["score"], several["item"].map(values)).mean())
    else:
        usual = float(1 - (by_people["score"].value_counts(normalize=True) ** 2).sum()) / 4
    if n * usual < EXPECTED or k > min(COPIED, usual / 5) * n or bdtr(k, n, usual) > ALPHA:
        return None
    return {"n": n, "differs": k / n, "usual": usual}


def _differ(one: pd.Series, other: pd.Series) -> pd.Series:
    return (one - other).abs() > np.where((one % 1 == 0) & (other % 1 != 0), 0.5, 1e-9)
