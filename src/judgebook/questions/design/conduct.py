"""How annotators worked: copies, constant answers, haste, and one person under two spellings."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
from scipy.special import bdtr

from judgebook.questions.annotators.outliers import MIN_VALUES, esd
from judgebook.questions.design import changes
from judgebook.questions.design.material import Evaluation, StudyFrames
from judgebook.questions.design.registry import ALPHA, UNKNOWN, NotCheckableError, PricedFacts, check
from judgebook.sources.ids.look_alikes import alike
from judgebook.study.schema import Annotations

#: two people who differ in fewer of their common answers than this have not judged independently
COPIED = 0.02
#: disagreements that two usual annotators would have had by then; none of ten expected has a chance of 1 in 20,000
EXPECTED = 10.0
#: judgements below which an annotator is not called constant
CONSTANT = 15
#: share of pairs lost by the response that the file names first, from which the file does not name winners first
SIDED = 0.1
#: a median time below this share of the others' is far faster, not just quick
FASTER = 0.5
#: annotators beyond whom not every pair is looked at: those with most judgements come first
_MOST = 150
_ITEM = ["label", "dialogue", "turn", "dialogue_b"]


def answers(rows: Annotations) -> pd.DataFrame:
    """(items, annotators) scores; of repeats the first."""
    item = rows.groupby(_ITEM, dropna=False, sort=False).ngroup()
    frame = pd.DataFrame({"item": item, "annotator": rows["annotator"], "score": rows["score"]})
    most = frame["annotator"].value_counts().index[:_MOST]
    frame = frame[frame["annotator"].isin(most)].drop_duplicates(["item", "annotator"])
    return frame.pivot_table(index="item", columns="annotator", values="score")


def copies(rows: Annotations) -> list[tuple[str, str, int, float, float]]:
    """Pairs of annotators who agree almost always where others would not: names, common items, differing, usual.

    `usual` is the share of common items on which the other pairs differ; where there is no other pair, or none that
    differs at all (copies, too), a quarter of what answers drawn at random would give, which is alpha of 0.75.
    """
    wide = answers(rows)
    values, names = wide.to_numpy(), list(wide.columns)
    pairs, sizes, differing = [], [], []
    for i, j in combinations(range(len(names)), 2):
        shared = np.isfinite(values[:, i]) & np.isfinite(values[:, j])
        if (size := int(shared.sum())) > 0:
            pairs.append((i, j))
            sizes.append(size)
            differing.append(int((values[shared, i] != values[shared, j]).sum()))
    n, k = np.array(sizes, dtype=float), np.array(differing, dtype=float)
    shares = rows["score"].groupby(rows["label"]).transform(lambda s: 1 - (s.value_counts(normalize=True) ** 2).sum())
    chance = float(shares.mean()) / 4
    out = []
    for p, (i, j) in enumerate(pairs):
        others = np.array([not {i, j} & set(q) for q in pairs]) if len(pairs) < 400 else np.arange(len(pairs)) != p
        usual = k[others].sum() / n[others].sum() if k[others].any() else chance
        if k[p] / n[p] <= COPIED and n[p] * usual >= EXPECTED and bdtr(k[p], int(n[p]), usual) < ALPHA / len(pairs):
            out.append((names[i], names[j], int(n[p]), float(k[p] / n[p]), float(usual)))
    return sorted(out, key=lambda row: (row[3], -row[2], row[0], row[1]))


@check("copied_annotator", "labels", "judges")
def copied(part: Evaluation) -> PricedFacts:
    """Two annotators with the same answers, who count as one."""
    part.need_people()
    if part.rows["annotator"].nunique() < 2:
        raise NotCheckableError("There is only one annotator.")
    if not part.rows.duplicated(_ITEM).any():
        raise NotCheckableError("No item was judged twice.")
    pairs = copies(part.rows)
    if not pairs:
        return
    one, other, n, differs, usual = pairs[0]
    n_annotators = part.rows["annotator"].nunique()
    facts = {"annotator": one, "annotator_b": other, "n": n, "differs": differs, "usual": usual, "copies": len(pairs)}
    facts["annotators"] = n_annotators
    without = changes.change(part.table, part.without(part.rows["annotator"] == other), widening=True)
    with_both, without_one = _agreement(part.rows), _agreement(part.rows[part.rows["annotator"] != other])
    facts |= without | {"agreement": with_both, "agreement_without": without_one}
    # the two count as one of so few: agreement is overstated, and so is the number of annotators
    yield max(changes.price(without, UNKNOWN), 3 / n_annotators), facts


def _agreement(rows: Annotations) -> float:
    """Mean share of common items on which two annotators agree; NaN where none is common."""
    values = answers(rows).to_numpy()
    total = same = 0
    for i, j in combinations(range(values.shape[1]), 2):
        shared = np.isfinite(values[:, i]) & np.isfinite(values[:, j])
        total, same = total + shared.sum(), same + (values[shared, i] == values[shared, j]).sum()
    return float(same / total) if total else float("nan")


@check("constant_annotator", "labels", "judges", "order")
def constant(part: Evaluation) -> PricedFacts:
    """Annotators who always give one answer where the others would not have."""
    part.need_people()
    ways = [rows for rows in (_as_stored(part.rows), _as_shown(part.rows)) if len(rows)]
    if not ways:
        raise NotCheckableError("It is not known which response was shown first, and the file names the winner first.")
    if part.rows["annotator"].nunique() < 2:
        raise NotCheckableError("There is only one annotator.")
    named = sorted({who for rows in ways for who in _always(rows)})
    if not named:
        return
    rows = part.rows
    gone = rows["annotator"].isin(named)
    share = float(gone.mean())
    facts = {"annotators": named, "n": int(gone.sum()), "share": share, "of": rows["annotator"].nunique()}
    facts |= changes.change(part.table, part.without(gone), widening=True)
    facts |= {"agreement": _agreement(part.rows), "agreement_without": _agreement(part.rows[~gone])}
    yield max(changes.price(facts, UNKNOWN), share), facts


def _always(rows: Annotations) -> list[str]:
    """Annotators with one answer to a label, where the others' answers make this unlikely."""
    size = rows.groupby("annotator").size()
    same = rows.groupby(["annotator", "label"])["score"].nunique().groupby("annotator").max() == 1
    named = []
    for who in size.index[(size >= CONSTANT) & same]:
        of_person, others = rows[rows["annotator"] == who], rows[rows["annotator"] != who]
        if len(others) and _log_chance(of_person, others) < np.log(ALPHA / len(size)):
            named.append(who)
    return named


def _as_stored(rows: Annotations) -> pd.DataFrame:
    """Ratings, and comparisons by the sides that they have in the file.

    Without files that name the winner first: there the first judgement of a pair, which gives it its sides, has the
    winner on the left, and one annotator may have made all first judgements.
    """
    pairs = rows[rows["dialogue_b"].notna()]
    first = pairs.sort_values("source_row", kind="stable").drop_duplicates(["label", "dialogue", "dialogue_b"])
    sided = (first["score"] < 0).mean() >= SIDED if len(first) else False
    return rows if sided else rows[rows["dialogue_b"].isna()]


def _as_shown(rows: Annotations) -> pd.DataFrame:
    """Comparisons with a known order, as 1 where the response shown first wins."""
    first = rows["first_shown"].map({"left": 1.0, "right": -1.0}).astype(float)
    return rows.assign(score=rows["score"] * first)[first.notna() & rows["dialogue_b"].notna()]


def _log_chance(of_person: Annotations, others: Annotations) -> float:
    """Log probability that the others would have given these answers, by label and system; one more of each counted."""
    key = ["label", "system"]
    total = others.groupby(key).size()
    same = others.groupby([*key, "score"]).size()
    counts = of_person.groupby([*key, "score"]).size()
    share = (same.reindex(counts.index, fill_value=0) + 1) / (
        total.reindex(counts.index.droplevel("score"), fill_value=0).to_numpy() + 2
    )
    return float((counts * np.log(share)).sum())


@check("fast_annotator", "labels", "judges")
def fast(part: Evaluation) -> PricedFacts:
    """Annotators far faster than the rest."""
    part.need_people()
    rows = part.rows[part.rows["seconds"].gt(0)]
    if rows.empty:
        raise NotCheckableError("The data contain no times.")
    unit = rows["work_unit"].astype(object).fillna(rows["dialogue"].astype(object))
    times = rows.assign(unit=unit).groupby(["annotator", "unit"])
    each = times["seconds"].first() / times["dialogue"].nunique()
    enough = each.groupby("annotator").size() >= MIN_VALUES
    median = np.log(each.groupby("annotator").median()[enough])
    if len(median) < MIN_VALUES:
        raise NotCheckableError(f"Fewer than {MIN_VALUES} annotators have times of {MIN_VALUES} tasks.")
    usual = float(median.median())
    named = median[(esd(median.to_numpy(), "low") < ALPHA * 5) & (median < usual + np.log(FASTER))].sort_values()
    if named.empty:
        return
    gone = part.rows["annotator"].isin(named.index)
    facts = {"annotators": list(named.index), "seconds": float(np.exp(named.iloc[0])), "usual": float(np.exp(usual))}
    share = float(gone.mean())
    facts |= {"share": share, "of": part.rows["annotator"].nunique()}
    facts |= changes.change(part.table, part.without(gone), widening=True)
    yield max(changes.price(facts, UNKNOWN), share), facts


@check("annotator_spellings", "judges", whole=True)
def spellings(study: StudyFrames) -> PricedFacts:
    """One annotator under two spellings of an id."""
    marks = study.annotations
    people = marks[(marks["annotator_kind"] == "human") & marks["annotator_known"].astype(bool)]
    if people.empty:
        raise NotCheckableError("It is not known who judged what.")
    names = {a: a for a in people["annotator"].unique()}
    if len(study.own_ids):
        own_ids = study.own_ids[study.own_ids["kind"] == "person"].set_index("pseudonym")["own_id"]
        names |= {a: own_ids[a] for a in names if a in own_ids.index}
    elif people["annotator"].str.fullmatch(r"A\d{4,}").all():
        raise NotCheckableError("Only pseudonyms are known, which hide how ids are spelt.")
    pairs = alike(names)
    if not pairs:
        return
    share = float(people["annotator"].isin({a for pair in pairs for a in pair}).mean())
    yield max(0.3, share), {"annotator": pairs[0][0], "annotator_b": pairs[0][1], "cases": len(pairs), "share": share}
