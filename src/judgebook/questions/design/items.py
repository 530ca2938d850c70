"""What was judged: how dialogues were drawn and whether estimates use that, how many there are of each system, on which
contexts, how often the same, under which name, and which scores are missing."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri, pdtrc

from judgebook.codes import distinct
from judgebook.questions.design import changes
from judgebook.questions.design.material import (
    ALPHA,
    UNKNOWN,
    Evaluation,
    NotCheckableError,
    PricedFacts,
    StudyFrames,
    check,
)
from judgebook.questions.design.people import FEW, OVERLAP, copies, effective, overlaps, unusual
from judgebook.sources import sampling as drawn
from judgebook.sources.ids.look_alikes import alike
from judgebook.study.schema import Annotations

#: dialogues below which a stratum is not compared with others
_STRATUM = 5
#: of annotations; where it is filled, estimates are weighted
_USED = "sampling_weight"
_BY = ["label", "system"]
#: level of the tests of columns that are called so: few files have one, so that one error in a hundred is rare enough
_CALLED = 0.01
_LIMIT = -ndtri(_CALLED / 2)
#: by how much ratios of two sets of weights may differ: probabilities are often rounded
_ROUNDED = 1.1
#: what a YAML says of a selection that is no simple random sample
_SAID = re.compile(
    r"\b(?:flagged|escalated|enriched|over-?sampled|unequal probabilit\w+"
    r"|(?:\d+ ?%|a (?:half|third|quarter|fifth|tenth)|half) of (?:the )?(?:rest|others|remain\w+|unflagged))\b",
    re.IGNORECASE,
)
#: characters of the YAML that are quoted
_QUOTED = 120
#: fewer dialogues of a system support no interval worth having, whatever the others have
TINY = 8
#: so many times as many dialogues of one system as of another is no accident of assignment
RATIO = 3.0
#: a dialogue or context with this share of a system's judgements decides its mean
DOMINANT = 0.4
#: share of contexts with equally many systems from which these are blocks of a design
BLOCKS = 0.95
#: repeated dialogues below this share of a study change nothing
REPEATED = 0.02
#: share of an annotator's dialogues that may have the time of another: of whole sessions, all have
SAME_TIME = 0.2
_TEXT = 20
#: shares of missing scores of two systems that differ by less could not change much
MISSING = 0.05
#: what several annotators judge, of one label; alpha compares their answers
_ITEM = ["label", "system", "dialogue", "turn", "system_b", "dialogue_b"]


@check("enriched_sample", "order", "labels", "sample", whole=True)
def enriched(study: StudyFrames) -> PricedFacts:
    """A column or the YAML says how items were chosen, and the analyses do not use it or use something else."""
    marks, columns = study.annotations, _columns(study)
    if _USED in marks and marks[_USED].notna().any():
        yield from _contradicted(study, columns)
        return
    statement = _SAID.search(study.selection)
    certain = [name for name in [*columns, *study.not_used] if drawn.certain(name)]
    if not (columns or certain or statement):
        raise NotCheckableError("No column says how the dialogues were chosen; they count as a random sample.")
    effects = [one for part in study.parts for name, values in columns.items() if (one := _effect(part, name, values))]
    # the column that says most: a probability or weight before a stratum, and the part in which it matters most
    effects.sort(key=lambda f: (not f["beyond"], f["kind"] != "weight", -f["moved"]))
    if effects and (effects[0]["moved"] >= 1 or drawn.certain(effects[0]["column"])):
        yield max(effects[0]["moved"] * effects[0]["beyond"], 0.5), effects[0]
    elif certain:
        # what is called so says how dialogues were drawn, whether results change or not
        yield 0.5, {"column": certain[0], "kind": "unknown"}
    elif statement:
        yield 0.5, {"text": study.selection[:_QUOTED], "kind": "said"}
    elif telling := [name for name in columns if drawn.telling(name)]:
        yield 0.5, {"column": telling[0], "kind": "chance"}


def _contradicted(study: StudyFrames, columns: dict[str, pd.Series]) -> PricedFacts:
    """A probability or weight in the file that is not in proportion to the weights in use, within a system."""
    marks = study.annotations.dropna(subset=_USED)
    used = marks.groupby(["corpus", "dialogue"])[[_USED, "system"]].first()
    for name in filter(drawn.certain, columns):
        weight = _weights(name, pd.to_numeric(columns[name], errors="coerce"))
        ratio = (weight / used[_USED]).groupby([used.index.get_level_values("corpus"), used["system"]])
        if not (ratio.max() > _ROUNDED * ratio.min()).any():
            continue
        yield 0.5, {"column": name, "kind": "contradicted"}
        return


def _weights(name: str, values: pd.Series) -> pd.Series:
    """Weights that a column with values above 0 stands for: their inverse, where they are probabilities."""
    values = values.where(values > 0)
    return values if (values > 1).any() or drawn.named(name) == "weight" else 1 / values


def _columns(study: StudyFrames) -> dict[str, pd.Series]:
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
    for name in (c for c in marks if drawn.named(str(c)) and c != _USED and marks[c].notna().any()):
        out[name] = marks.groupby(key)[name].first()
    return {name: values for name, values in out.items() if len(values.unique()) > 1}


def _effect(part: Evaluation, name: str, values: pd.Series) -> dict[str, Any] | None:
    """What the column does to the mean of the system on which it does most: weighted by it, or, of a stratum, how far
    apart the strata are; None where that is no more than chance. Weights are strata, too: what they do to one side of
    comparisons may be undone by the other."""
    if part.corpus not in values.index.get_level_values(0):
        return None
    of_corpus = values.xs(part.corpus, level=0)
    number = pd.to_numeric(of_corpus, errors="coerce")
    positive = number.notna().mean() > 0.9 and (number > 0).all() and number.min() < number.max()
    effects = []
    if positive and drawn.named(name) != "stratum":
        effects.append(_moved(part, name, _weights(name, number), weighted=True))
    if of_corpus.nunique() <= drawn.MOST_STRATA:
        effects.append(_moved(part, name, of_corpus, weighted=False))
    return next((f for f in effects if f and f["beyond"]), effects[0] if effects and drawn.certain(name) else None)


def _moved(part: Evaluation, name: str, values: pd.Series, *, weighted: bool) -> dict[str, Any] | None:
    """`_effect` of weights, or of strata. beyond : whether it is more than chance."""
    units = _units(part, values, weighted)
    cells = [_cell(cell, weighted) for _, cell in units.groupby(_BY)]
    table = pd.DataFrame([cell for cell in cells if cell])
    if table.empty:
        return None
    beyond = table["beyond"] | _of_all(part, units, table, weighted)
    worst = table.loc[table["moved"].where(beyond | ~beyond.any()).idxmax()]
    facts = {"column": name, "kind": "weight" if weighted else "stratum", "beyond": bool(beyond.any())}
    facts |= {"corpus": part.corpus, "group": part.group, "method": part.method}
    return facts | {k: worst[k] for k in ("label", "system", "was", "now", "moved")}


def _of_all(part: Evaluation, units: pd.DataFrame, table: pd.DataFrame, weighted: bool) -> bool:
    """Whether all systems together differ by more than chance, each perhaps by too little: weighted means in the same
    direction, or strata within systems."""
    if weighted:
        sums = table.assign(chance=table["chance"] ** 2).groupby("label")[["shift", "chance"]].sum()
        # what one side of a comparison gains, the other loses
        return part.votes.empty and bool((sums["shift"].abs() > _LIMIT * np.sqrt(sums["chance"])).any())
    within = units["score"] - units.groupby(_BY)["score"].transform("mean")
    return any(
        _strata(x.to_numpy(), units.loc[x.index, "value"])[1] <= _CALLED for _, x in within.groupby(units["label"])
    )


def _units(part: Evaluation, values: pd.Series, weighted: bool) -> pd.DataFrame:
    """Mean scores of dialogues, and shares of their comparisons that these win, with their `value`: the weight of a
    pair is that of either side; of a stratum, only sides count that have a value of their own."""
    rated = part.rated.groupby([*_BY, "dialogue"])["score"].mean().reset_index()
    votes, keys = part.votes, [*_BY, "dialogue", "dialogue_b"]
    value, value_b = votes["dialogue"].map(values), votes["dialogue_b"].map(values)
    won = (1 + votes["score"].clip(-1, 1)) / 2
    left = votes.assign(score=won, value=value.fillna(value_b) if weighted else value)
    right = votes.assign(score=1 - won, value=value_b.fillna(value) if weighted else value_b, system=votes["system_b"])
    compared = pd.concat([left, right]).dropna(subset="value").groupby(keys)
    compared = compared.agg(score=("score", "mean"), value=("value", "first")).reset_index()
    return pd.concat([rated.assign(value=rated["dialogue"].map(values)), compared], ignore_index=True)


def _cell(cell: pd.DataFrame, weighted: bool) -> dict[str, Any] | None:
    """Of a system: its mean, that of the population, their difference, and the standard deviation of that by chance.

    Where the column has nothing to do with scores, a weighted mean differs by one with variance s² Σ (w / Σw − 1 / n)².
    """
    score, values = cell["score"].to_numpy(float), cell["value"]
    sd = score.std(ddof=1) if len(score) > 2 else 0.0
    if not sd > 0 or values.notna().sum() < 3:
        return None
    if weighted:
        weighed = values.notna().to_numpy()
        w = values.to_numpy(float)[weighed]
        share = w / w.sum()
        now, chance = float(share @ score[weighed]), sd * np.sqrt(((share - 1 / len(share)) ** 2).sum())
        beyond = abs(now - score.mean()) > _LIMIT * chance
    else:
        (now, p), chance = _strata(score, values), np.nan
        if not np.isfinite(now):
            return None
        beyond = p <= _CALLED
    was = float(score.mean())
    first = cell.iloc[0]
    return {"label": first["label"], "system": first["system"], "was": was, "now": now, "shift": now - was,
            "chance": float(chance), "beyond": bool(beyond),
            "moved": float(abs(now - was) / (sd / np.sqrt(len(score))))}  # fmt: skip


def _strata(score: np.ndarray, values: pd.Series) -> tuple[float, float]:
    """Of the values of a stratum, the mean that is farthest from all, and the p-value of their differences (F test)."""
    groups = [g for _, g in pd.Series(score).groupby(values.to_numpy()) if len(g) >= _STRATUM]
    if len(groups) < 2 or not any(g.std() > 0 for g in groups):
        return np.nan, np.nan
    from scipy.stats import f_oneway  # takes a second to import, which the first page would wait for

    means = np.array([g.mean() for g in groups])
    return float(means[np.abs(means - score.mean()).argmax()]), float(f_oneway(*groups).pvalue)


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
    worst: tuple[float, pd.Series, dict[str, Any]] | None = None
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
            worst = float(share.max()), gone, facts
    if worst:
        yield part.left_out(worst[1], worst[0], worst[2])


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
    wide = changes.change(part.table, changes.of_means(rows, "context"), widening=True)
    facts["widened"] = wide.get("widened", 1.0)
    yield UNKNOWN if facts["few"] and common[worst] == 0 else max(facts["widened"] - 1, 0.5), facts


@check("system_spellings", "order", "sample", whole=True)
def system_spellings(study: StudyFrames) -> PricedFacts:
    """One system under two spellings of its name."""
    marks = study.annotations
    names = sorted(distinct(marks["system"], marks["system_b"]))
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
    yield part.left_out(gone, groups["share"] * 2, groups)


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
    columns = (rows["annotator"], rows["label"], turn, rows["score"], *(rows[c] for c in more))
    entry = list(zip(*(column.tolist() for column in columns), strict=True))
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


@check("missing_by_system", "order", "labels", "sample")
def missing(part: Evaluation) -> PricedFacts:
    """Scores that are missing more often for some systems than for others."""
    part.need_systems()
    if part.rated.empty and part.votes.empty:
        raise NotCheckableError(part.unrated)
    scored = part.rated.groupby(_BY).size().rename("here") if part.votes.empty else _sides(part.votes)
    gone = part.absent[part.absent["label"].isin(part.labels)]
    dropped = gone.groupby(_BY)["n"].sum() if part.votes.empty else _sides(gone)
    table = pd.concat([scored, dropped.rename("gone")], axis=1).fillna(0.0)
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
    facts = {"system": most, "share": float(share[most]), "n": int(total.loc[most, "gone"])}
    facts |= {"system_b": least, "share_b": float(share[least]), "n_b": int(total.loc[least, "gone"])}
    facts |= {"all": int(total["gone"].sum()), "votes": not part.votes.empty}
    judged = part.rated if part.votes.empty else part.votes
    facts["twice"] = bool(judged.duplicated([c for c in _ITEM if c in judged]).any())
    bounds = _bounds(part, table, most, least) if part.votes.empty else {}
    yield max(bounds.get("moved", 0.0), 0.5), facts | bounds


def _sides(votes: Annotations) -> pd.Series:
    """(label, system) -> comparisons with a system on either side; a row counts `n` times, if it has `n`."""
    n = votes["n"] if "n" in votes else pd.Series(1, votes.index)
    sides = [votes[["label", side]].set_axis(_BY, axis=1).assign(here=n) for side in ("system", "system_b")]
    return pd.concat(sides).dropna(subset="system").groupby(_BY)["here"].sum()


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
