"""Who judged, and how they worked: annotators confounded with systems, too few of them, one with most of the work;
copies, constant answers, haste, and one person under two spellings."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import bdtr, stdtrit

from judgebook.annotations.dialogue_values import all_own
from judgebook.model.fit import coded
from judgebook.questions.annotators.indicators import MIN_VALUES, esd
from judgebook.questions.comparisons import voter_results, voters
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
from judgebook.questions.performance.fitted import votes
from judgebook.sources.ids.look_alikes import alike
from judgebook.statistics.clusters import LEAST_DF
from judgebook.study.schema import Annotations

#: fewer effective annotators are no sample of others (the limit of the analyses themselves)
FEW = 5.0
#: pairs of systems whose annotators overlap by less than half are confounded with annotators, wholly or partly
OVERLAP = 0.5
#: an overlap this many standard deviations below that of random assignment did not arise from it
UNUSUAL = 4.0
#: intervals that must become this much wider to include annotators are worth a reader's time
WIDER = 1.3
#: share of annotators with one session, and of sessions with one annotator, from which the two are one
ALONE = 0.8
#: random tables with the same loads
_TABLES = 200
#: a share of the work that makes one person dominant: of ratings and, as each vote weighs on all systems, of votes
DOMINANT, DOMINANT_VOTES = 0.4, 0.3
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


def effective(sizes: np.ndarray) -> float:
    """How many equal shares say as much: one over the sum of squared shares."""
    share = np.asarray(sizes, dtype=float) / np.sum(sizes)
    return float(1 / np.sum(share**2)) if len(share) else 0.0


def overlaps(loads: np.ndarray) -> np.ndarray:
    """(pairs,) share of the work on two systems (columns) that annotators (rows) have in common: 0 none, 1 the same.

    Pairs are in the order of `np.triu_indices`.
    """
    shares = loads / loads.sum(axis=0)
    a, b = np.triu_indices(loads.shape[1], 1)
    return np.minimum(shares[:, a], shares[:, b]).sum(axis=0)


def unusual(loads: np.ndarray, common: np.ndarray) -> np.ndarray:
    """(pairs,) whether two systems have less in common (`common`, of `overlaps`) than by random assignment.

    Random tables have the same margins, so that sparse ones, in which nobody judged two systems, are not unusual: who
    judged one dialogue belongs to the noise between dialogues. All pairs are where together they have much less than by
    random assignment, though each alone may have too few annotators to tell.
    """
    from scipy.stats import random_table  # takes a second to import, which the first page would wait for

    loads = loads[loads.sum(axis=1) > 0]
    rng = np.random.default_rng(1)
    tables = random_table(loads.sum(axis=1), loads.sum(axis=0), seed=rng).rvs(_TABLES)
    drawn = np.array([overlaps(table) for table in tables])
    drawn, each = np.column_stack([drawn, drawn.mean(axis=1)]), np.append(common, common.mean())
    below = each < drawn.mean(axis=0) - UNUSUAL * np.maximum(drawn.std(axis=0), 1e-9)
    return below[:-1] | (below[-1] & (each[-1] < OVERLAP * drawn[:, -1].mean()))


@check("confounded_annotators", "order", "judges", "sample")
def confounded(part: Evaluation) -> PricedFacts:
    """Pairs of systems whose annotators differ, so that a difference may be one between annotators."""
    part.need_systems()
    part.need_people()
    loads = part.loads.to_numpy()
    if len(loads) < 2:
        raise NotCheckableError("There is only one annotator.")
    common, systems = overlaps(loads), list(part.loads.columns)
    a, b = np.triu_indices(len(systems), 1)
    low = common < OVERLAP
    if not low.any() or not (low := low & unusual(loads, common)).any():
        return
    effective_n = np.array([effective(column[column > 0]) for column in loads.T])
    group = changes.components(loads)
    apart = group[a] != group[b]
    few = low & (np.minimum(effective_n[a], effective_n[b]) < FEW)
    facts: dict[str, Any] = {"pairs": len(a), "low": int(low.sum())}
    worst = int(np.argmin(np.where(low, common, np.inf)))
    facts |= {"system": systems[a[worst]], "system_b": systems[b[worst]], "common": float(common[worst])}
    facts |= {"n": int((loads[:, a[worst]] > 0).sum()), "n_b": int((loads[:, b[worst]] > 0).sum())}
    if (few & apart).any():
        yield UNKNOWN, facts
        return
    facts["widened"] = changes.change(part.table, _by_people(part), widening=True).get("widened", 1.0)
    # without a link, nothing but the number of annotators separates systems from people
    if few.any() or apart.any() or facts["widened"] >= WIDER:
        yield max(facts["widened"] - 1, 2.0 * few.any(), 0.5 * apart.any()), facts


def _by_people(part: Evaluation) -> pd.DataFrame:
    """The differences with annotators as what is independent."""
    means = changes.of_means(part.rated, "annotator")
    return pd.concat([means, changes.of_votes(part.votes, "annotator")], ignore_index=True)


@check("few_annotators", "order", "judges", "sample")
def few(part: Evaluation) -> PricedFacts:
    """Fewer than five effective annotators, who cannot stand for others."""
    part.need_people()
    sizes = part.units["annotator"].value_counts()
    if (number := effective(sizes.to_numpy())) >= FEW:
        return
    wider = _for_others(part) if len(sizes) > 1 else np.nan
    # where no difference between systems tells, Student's t of so few against the normal distribution
    least = stdtrit(len(sizes) - 1, 0.975) / stdtrit(np.inf, 0.975) if len(sizes) > 1 else np.inf
    ratio = least if np.isnan(wider) else wider
    yield max(float(ratio) - 1, 0.5), {"annotators": len(sizes), "effective": number, "wider": wider}


def _for_others(part: Evaluation) -> float:
    """How much wider intervals of differences are for other annotators: median over labels and pairs; NaN unknown.

    Student's t over the differences of the annotators who judged both systems, against that over dialogues. Of votes,
    by degrees of freedom alone, and unknown where these allow no interval.
    """
    ratios = []
    for label, rows in part.rated.groupby("label"):
        wide = rows.groupby(["annotator", "system"])["score"].mean().unstack()  # noqa: PD010
        table = part.table[part.table["label"] == label]
        for row in table.itertuples():
            d = (wide[row.system] - wide[row.system_b]).dropna()
            if len(d) > 1 and row.se > 0:
                half = stdtrit(len(d) - 1, 0.975) * d.std() / np.sqrt(len(d))
                ratios.append(
                    np.hypot(half, stdtrit(max(row.df, 1), 0.975) * row.se) / (stdtrit(row.df, 0.975) * row.se)
                )
    if not ratios and len(part.votes):
        df = effective(part.votes["annotator"].value_counts().to_numpy()) - 1
        ratios = [stdtrit(df, 0.975) / stdtrit(len(part.votes) - 1, 0.975)] if df >= LEAST_DF else []
    return float(np.median(ratios)) if ratios else float("nan")


@check("dominant_annotator", "order", "judges", "labels")
def dominant_annotator(part: Evaluation) -> PricedFacts:
    """One annotator with a large share of the ratings."""
    if part.rated.empty:
        raise NotCheckableError(part.unrated)
    yield from _dominant(part, part.rated, DOMINANT)


@check("dominant_voter", "order", "judges", "sample")
def dominant_voter(part: Evaluation) -> PricedFacts:
    """One annotator with a large share of the votes."""
    if part.votes.empty:
        raise NotCheckableError("No two systems were compared directly.")
    yield from _dominant(part, part.votes, DOMINANT_VOTES)


def _dominant(part: Evaluation, rows: Annotations, least: float) -> PricedFacts:
    part.need_people()
    share = rows["annotator"].value_counts(normalize=True)
    if len(share) < 3 or share.iloc[0] < max(least, 2 / len(share)):
        return
    who = share.index[0]
    facts = {"annotator": who, "share": float(share.iloc[0]), "annotators": len(share)}
    facts["effective"] = effective(share.to_numpy())
    clustered = changes.change(part.table, _by_people(part), widening=True).get("widened", 1.0)
    least = max(clustered - 1, share.iloc[0])
    yield part.left_out(part.rows["annotator"] == who, least, facts | {"people_widened": clustered})


@check("annotator_is_session", "judges")
def session(part: Evaluation) -> PricedFacts:
    """Annotators who judged one session each, and sessions with one annotator: their effects cannot be separated."""
    part.need_people()
    unit = "session" if part.rows["session"].notna().all() else "dialogue"
    pairs = part.rows[["annotator", unit]].drop_duplicates()
    annotators, units = pairs["annotator"].value_counts(), pairs[unit].value_counts()
    if len(annotators) < 2:
        raise NotCheckableError("There is only one annotator.")
    alone = float((annotators == 1).mean()), float((units == 1).mean())
    # in four of five cases one to one: the rest says too little of either
    if min(alone) >= ALONE and len(annotators) >= FEW:
        facts = {"unit": unit, "annotators": len(annotators), "alone": alone[0], "alone_b": alone[1]}
        yield 1.0, facts | {"units": len(units), "own": all_own(part.rows, part.dialogues)}


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
    if part.rows["dialogue_b"].notna().all():
        yield from _copied_votes(part)
        return
    if not part.rows.duplicated(_ITEM).any():
        raise NotCheckableError("No item was judged twice.")
    pairs = copies(part.rows)
    if not pairs:
        return
    one, other, n, differs, usual = pairs[0]
    facts = {"annotator": one, "annotator_b": other, "n": n, "differs": differs, "usual": usual, "copies": len(pairs)}
    facts["annotators"] = n_annotators = part.rows["annotator"].nunique()
    # the two count as one of so few: agreement is overstated, and so is the number of annotators
    yield part.left_out(part.rows["annotator"] == other, 3 / n_annotators, facts)


def _copied_votes(part: Evaluation) -> PricedFacts:
    """As `copied`, of votes, by how notebook 19 finds them: of however many voters, on the same prompts and systems."""
    found, again = list[dict[str, Any]](), False
    for _, rows in part.votes.groupby("label"):
        pair = rows["dialogue"].astype(str) + " " + rows["dialogue_b"].astype(str)
        c, names = votes(rows.assign(pair=pair), people=True), coded(rows["annotator"])[1]
        ends = {"context": c.context, "low": np.minimum(c.first, c.second), "high": np.maximum(c.first, c.second)}
        score = np.where(c.first < c.second, c.score, -c.score)
        cast = pd.DataFrame({"who": c.annotator, **ends, "score": score}).drop_duplicates(["who", *ends])
        again |= bool(cast.duplicated([*ends]).any())
        of = voters.copies(c, ALPHA)
        for v in np.flatnonzero(of >= 0):
            both = cast[cast["who"] == of[v]].merge(cast[cast["who"] == v], on=[*ends])
            facts = {"annotator": names[of[v]], "annotator_b": names[v], "n": len(both)}
            found.append(facts | {"differs": float((both["score_x"] != both["score_y"]).mean())})
    if not again:
        raise NotCheckableError("No item was judged twice.")
    if found:
        gone = part.rows["annotator"].isin([one["annotator_b"] for one in found])
        n_annotators = part.rows["annotator"].nunique()
        most = max(found, key=lambda one: one["n"])
        yield part.left_out(gone, 3 / n_annotators, most | {"copies": len(found), "annotators": n_annotators})


@check("burst_voter", "order", "judges")
def burst(part: Evaluation) -> PricedFacts:
    """Voters who once cast votes in a row far faster than quick votes are cast."""
    part.need_people()
    timed = part.votes[part.votes["completed_at"].notna()]
    if (timed.groupby(["label", "annotator"]).size() >= voter_results.ROW).sum() < voter_results.ROW:
        raise NotCheckableError(f"Fewer than {voter_results.ROW} voters have times of {voter_results.ROW} votes.")
    rows = [row for _, of_label in timed.groupby("label") for row in voter_results.bursts(of_label)]
    seconds = {row["annotator"]: row["estimate"] for row in sorted(rows, key=lambda row: -row["estimate"])}
    if not seconds:
        return
    named = sorted(seconds, key=seconds.__getitem__)
    gone = part.rows["annotator"].isin(named)
    share = float(gone.mean())
    facts = {"annotators": named[:5], "n": len(named), "seconds": float(seconds[named[0]]), "votes": voter_results.ROW}
    yield part.left_out(gone, share, facts | {"share": share})


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
    yield part.left_out(gone, share, {"annotators": named, "n": int(gone.sum()), "share": share})


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
    yield part.left_out(gone, share, facts | {"share": share})


@check("annotator_spellings", "judges", whole=True)
def annotator_spellings(study: StudyFrames) -> PricedFacts:
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
