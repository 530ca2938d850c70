"""How good are the systems? The results of notebook 07 as we would defend them.

Rates, means and shares of comparisons with whole dialogues resampled, and ranks with simultaneous intervals. What Finch
et al. 2023 published, every score being independent, is computed by cells of the notebook.

Strengths of systems that were compared in pairs, by votes alone: to put systems in order, and as leaderboards print
them. What is concluded from votes follows from `fitted`, in whose model answers and tastes are random.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import isfinite, nan
from typing import Any

import numpy as np
import pandas as pd

from judgebook import codes
from judgebook.annotations import population
from judgebook.annotations.cells import within_scale
from judgebook.annotations.summary import CIRCUMSTANCES, with_means
from judgebook.codes import distinct
from judgebook.model.comparisons import Comparisons, fit
from judgebook.questions.performance import rates
from judgebook.questions.performance.fitted import fitted
from judgebook.statistics.intervals import Sampling
from judgebook.study.labels import METHODS, Label
from judgebook.study.results import ResultRows, Results, collect, mark_primary
from judgebook.study.schema import SYSTEM_CELL, Annotations, Dialogues, unordered

#: what responses of several systems may share, the widest first
SHARED = ("session", "context")
#: statistics of one system, with an interval over clusters and one for independent scores
SCORES = ("rate", "mean", "share")
#: the interval of scores as published, which does not know clusters
INDEPENDENT = "independent"
#: columns of judgements that no result depends on: to copy their texts with every selection of rows takes long
_UNUSED = (*CIRCUMSTANCES, "source_row")


def chosen(annotations: Annotations, unranked: Collection[str] = (), labels: Iterable[Label] = ()) -> Annotations:
    """The judgements that are about systems, with a column `pair` that names the two dialogues compared.

    Of `labels`, those with several answers without order are left out: they have no mean (notebook 00 gives shares).
    Models are left out of groups that have people. So are comparisons of a system with itself, or with one that is not
    ranked (people, dummies), because they say nothing about how ranked systems compare.
    """
    annotations = with_means(annotations, labels)
    human = annotations["annotator_kind"] == "human"
    with_people = human.groupby([annotations["corpus"], annotations["group"]]).transform("any")
    outside = annotations["system"].isin(list(unranked)) | annotations["system_b"].isin(list(unranked))
    useless = annotations["dialogue_b"].notna() & (outside | (annotations["system"] == annotations["system_b"]))
    out = codes.rows(annotations, (human | ~with_people) & ~useless)
    ends = unordered(out[out["dialogue_b"].notna()])
    return out.assign(pair=ends["low"].astype(str) + " and " + ends["high"].astype(str))


def with_interactors(annotations: Annotations, dialogues: Dialogues) -> Annotations:
    """`annotations` with `interactor`, who talked in the dialogue; missing where that is not known."""
    who = dialogues.dropna(subset="interactor").drop_duplicates(["corpus", "dialogue"])
    who = who.set_index(["corpus", "dialogue"])["interactor"]
    places = pd.MultiIndex.from_frame(annotations[["corpus", "dialogue"]])
    return annotations.assign(interactor=who.reindex(places).to_numpy(object))


def analyse(
    judged: Annotations,
    labels: Iterable[Label],
    unranked: Collection[str] = (),
    *,
    sampling: Sampling,
    overall: str | Sequence[str] = (),
    unit: str | None = None,
    people: Mapping[tuple[str, str], population.Population] | None = None,
    whose: Mapping[tuple[str, str], population.Population] | None = None,
) -> Results:
    """All results of notebook 07.

    Parameters
    ----------
    judged : DataFrame
        From `chosen`, with `interactor` (`with_interactors`).
    unranked : collection of str
        Systems that are not ranked: people, dummies.
    overall : "all" or sequence of str
        Labels of the overall order.
    unit : str, optional
        What intervals of rates, means and shares resample (`bootstrap.unit`); None: `interval_unit`.
    people : mapping, optional
        Of `population.populations`: whether annotators of a corpus and group are a sample. None: wherever they are
        known. Intervals of rates, means and shares follow it.
    whose : mapping, optional
        Likewise, of fitted models; of `population.modelled`.
    """
    labels, confidence = list(labels), sampling.confidence
    judged = judged.drop(columns=[c for c in judged if c in _UNUSED])
    people = population.populations(judged, "sample") if people is None else people
    everybody, judged = judged, population.declared(judged, people)
    inside = codes.rows(everybody, ~everybody[["system", "system_b"]].isin(list(unranked)).any(axis=1))
    parts = by_unit(judged, unit)
    results = collect(
        *(rates.clustered(part, unit=u, sampling=sampling) for u, part in parts),
        *(rates.with_annotators(part, unit=u, confidence=confidence) for u, part in parts),
        rates.composition(judged),
        design_effects_of_people(everybody),
        fitted(inside, labels, whose or population.modelled(inside), overall, confidence=confidence),
        printed_scores(inside[inside["dialogue_b"].notna()]),
    )
    if len(means := results["mean"]):
        results["mean"] = within_scale(means, labels)
    return marked(results)


def marked(results: Results) -> Results:
    """`results`, in which the primary intervals of rates, means and shares are marked."""
    return mark_primary(results, **{s: _primary(results[s], [*SYSTEM_CELL, "outcome"]) for s in SCORES})


def interval_unit(annotations: Annotations) -> str:
    """What intervals of one system resample: the dialogue, or the session or context where a system has several
    dialogues in one (parts of one chat, for example), which are then not independent."""
    for column in SHARED:
        if annotations[column].notna().all():
            dialogues = annotations.drop_duplicates(["corpus", "system", "dialogue"])
            if dialogues.duplicated(["corpus", "system", column]).any():
                return column
    return "dialogue"


def by_unit(annotations: Annotations, unit: str | None) -> list[tuple[str, Annotations]]:
    """What intervals resample, and of which annotations: `unit`, or what the data suggest.

    Turns are numbered over all dialogues; judgements of something else keep what the data suggest.
    """
    if unit != "turn":
        return [(unit or interval_unit(annotations), annotations)]
    of_turns = annotations["method"].isin(METHODS.of_unit("turn"))
    turns, others = annotations[of_turns], annotations[~of_turns]
    numbers = turns.groupby(["corpus", "dialogue", "turn"], dropna=False, sort=False).ngroup()
    frames = [("turn", turns.assign(turn=numbers)), (interval_unit(others), others)]
    return [(u, part) for u, part in frames if len(part)]


def ranking_unit(annotations: Annotations) -> str:
    """What a sample is that all systems are in: the session or context that they share, else the dialogue, or the pair
    if compared."""
    for column in SHARED:
        if len(annotations) and annotations[column].notna().all():
            return column
    return "pair" if len(annotations) and annotations["dialogue_b"].notna().all() else "dialogue"


def design_effects_of_people(annotations: Annotations) -> Results:
    """Design effects by annotator and by interactor, of the groups and methods for which all of them are known.

    By how much the variance of an estimate grows if other annotators, or interactors, might have taken part. Where one
    annotator judges whole dialogues, clusters of annotators include those of dialogues.
    """
    out = []
    for column in ("annotator", "interactor"):
        all_known = annotations[column].notna()
        if column == "annotator":
            all_known &= annotations["annotator_known"]
        whole = all_known.groupby([annotations[c] for c in ("corpus", "group", "method")]).transform("all")
        if whole.any():
            out.append(rates.design_effects(annotations[whole], column))
    return collect(*out)


def primary_scores(results: Results) -> ResultRows:
    """Rates, means and shares (column `statistic`; `outcome` '' except of shares) with their primary intervals: over
    clusters and annotators where these are known, else over clusters."""
    rows = pd.concat([results[s].assign(statistic=s) for s in SCORES if len(results[s])], ignore_index=True)
    return _primary(rows.assign(outcome=rows["outcome"].fillna("")), [*SYSTEM_CELL, "statistic", "outcome"])


def _primary(rows: ResultRows, keys: list[str]) -> ResultRows:
    out = rows[rows["interval"] != INDEPENDENT]
    people = out["interval"].str.endswith(rates.with_people("")).astype(bool)
    return out[people | ~people.groupby([out[k] for k in keys], dropna=False).transform("any")]


def with_and_without(results: Results) -> ResultRows:
    """Unweighted estimates (of comparisons, shares won) with the weighted one (`weighted`), their difference (`effect`)
    and the design effect of the weights (`deff`)."""
    rows = results["unweighted"]
    rows, keys = rows[rows["outcome"].fillna("win") == "win"], [*SYSTEM_CELL, "of"]
    for name, column in (("composition_effect", "effect"), ("weight_effect", "deff")):
        estimates = results[name]
        estimates = estimates[estimates["outcome"].fillna("win") == "win"].set_index(keys)["estimate"]
        rows = rows.join(estimates.rename(column), on=keys)
    return rows.assign(weighted=rows["estimate"] + rows["effect"])


def won(scores: ResultRows) -> ResultRows:
    """Shares won, with the share tied as `tie`: of `primary_scores`."""
    tied = scores[scores["outcome"] == "tie"].set_index(SYSTEM_CELL)["estimate"].rename("tie")
    return scores[scores["outcome"] == "win"].join(tied, on=SYSTEM_CELL)


def of_wins(effects: ResultRows) -> ResultRows:
    """Design effects that are defined; of comparisons, those of the share won."""
    return effects[effects["outcome"].fillna("win") == "win"].dropna(subset="estimate")


#: strengths are of the systems of one label in one corpus and group
CELL = SYSTEM_CELL[:-1]
#: iterations of the model of Bradley and Terry at most, and how near two in a row must be; strengths that exist take
#: some hundreds
_LIMIT, _TOLERANCE = 100_000, 1e-10
NONE = "one group of systems never wins against the others: strengths do not exist"


def point(comparisons: pd.DataFrame, weight: np.ndarray | None = None) -> pd.Series:
    """Strengths in Davidson's model by system, without intervals, of all votes as if each were of its own context.

    NaN where they do not exist. weight : of votes.
    """
    systems, score = sorted(distinct(comparisons["system"], comparisons["system_b"])), comparisons["score"]
    one, other = (pd.Index(systems).get_indexer(comparisons[side]) for side in ("system", "system_b"))
    each = np.arange(len(comparisons))
    found = fit(Comparisons(tuple(systems), one, other, score.to_numpy(float), each, weight=weight))
    return pd.Series(nan if found.note else found.levels.estimates, systems)


def bradley_terry(comparisons: pd.DataFrame) -> pd.Series:
    """Scores as leaderboards print them, by the model of Bradley and Terry with ties as half wins: they add up to 1.

    By system, of votes that all count alike; NaN where the iterations do not converge.
    """
    import evalica  # loads scipy.stats, which takes a second: the first page reads results of this folder, too

    winner = comparisons["score"].map({1.0: evalica.Winner.X, 0.0: evalica.Winner.Draw, -1.0: evalica.Winner.Y})
    sides = (comparisons["system"].tolist(), comparisons["system_b"].tolist(), winner.tolist())
    fitted = evalica.bradley_terry(*sides, tolerance=_TOLERANCE, limit=_LIMIT)
    scores = fitted.scores if fitted.iterations < _LIMIT else fitted.scores * nan
    return scores / scores.sum()


def printed_scores(comparisons: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Rows of `bradley_terry`, one per label and system; n : pairs of responses the system was in."""
    for key, rows in comparisons.groupby(CELL, sort=False):
        pairs = rows.drop_duplicates(["dialogue", "dialogue_b", "turn"])
        n = pd.concat([pairs["system"], pairs["system_b"]]).value_counts()
        head = {**dict(zip(CELL, key, strict=True)), "level": METHODS[rows["method"].iloc[0]].unit}
        for system, score in bradley_terry(rows).sort_index().items():
            row = {"statistic": "bradley_terry", "system": system, "estimate": score, "n": int(n[system])}
            yield head | row | ({} if isfinite(score) else {"note": "the iterations did not converge"})
