"""Who judged what: annotators confounded with systems, too few annotators, one with most of the work."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from judgebook.annotations.dialogue_values import all_own
from judgebook.questions.design import changes
from judgebook.questions.design.material import Evaluation
from judgebook.questions.design.registry import UNKNOWN, NotCheckableError, PricedFacts, check
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
    facts: dict[str, Any] = {"pairs": len(a), "low": int(low.sum()), "none": int((common == 0).sum())}
    worst = int(np.argmin(np.where(low, common, np.inf)))
    facts |= {"system": systems[a[worst]], "system_b": systems[b[worst]], "common": float(common[worst])}
    facts |= {"n": int((loads[:, a[worst]] > 0).sum()), "n_b": int((loads[:, b[worst]] > 0).sum())}
    facts |= {"components": len(set(group)), "few": bool(few.any())}
    if (few & apart).any():
        yield UNKNOWN, facts
        return
    people = changes.change(part.table, _by_people(part), widening=True)
    without = changes.change(part.table, changes.adjusted(part.rated, "annotator"))
    price = max(changes.price(people, UNKNOWN), changes.price(without, UNKNOWN))
    facts |= {"widened": people.get("widened", 1.0), "moved": without.get("moved", 0.0)}
    # without a link, nothing but the number of annotators separates systems from people
    if few.any() or apart.any() or facts["widened"] >= WIDER or facts["moved"] >= 1:
        yield max(price, 2.0 * few.any(), 0.5 * apart.any()), facts


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
    without = changes.change(part.table, part.without(part.rows["annotator"] == who), widening=True)
    clustered = changes.change(part.table, _by_people(part), widening=True)
    facts |= without | {
        f"people_{k}": v for k, v in clustered.items() if k in ("widened", "lost", "separated", "pairs")
    }
    yield max(changes.price(without, UNKNOWN), changes.price(clustered | {"moved": 0.0}, UNKNOWN), share.iloc[0]), facts


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
