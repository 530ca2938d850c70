"""Do annotators agree? The results of notebook 03.

As published: alpha of the first two annotations per item, resampling items. As we would defend it: the same alpha,
resampling dialogues, because turns of one dialogue are not independent; reported with prevalence and specific
agreement, because alpha of a rare label is low even where raw agreement is high. A comparison counts in both
orientations, as in the original files; resampling keeps the two together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from helpers.agreement.alpha import alpha_intervals, alpha_of, alpha_two_way
from helpers.agreement.coincidences import patterns, patterns_long
from helpers.agreement.generalizability import decision_study
from helpers.agreement.items import cells, domain, first_annotations, matrix
from helpers.agreement.kappa_icc import cohen_kappa, fleiss_kappa, icc
from helpers.agreement.pairs_of_people import kappas
from helpers.agreement.variance import variance_shares
from helpers.annotations.summary import in_scope
from helpers.stats.intervals import Interval, generator
from helpers.study.labels import METHODS, Label
from helpers.study.results import Results, collect
from helpers.study.schema import CELL
from helpers.study.sections.analyses import Scope

#: what the primary interval of alpha resamples, where dialogues are judged and where they are compared
PRIMARY = ("dialogue", "pair")
#: what it resamples instead, where the study says so
SHARED = ("session", "context")
#: interval kinds that are not an interval around a free estimate
BOUNDS = ("exact_bound", "not_estimable")


def analyse(
    annotations: pd.DataFrame,
    labels: Sequence[Label],
    *,
    first: int | None,
    n_resamples: int,
    people_resamples: int,
    confidence: float,
    seed: int,
    scope: Scope | None = None,
    control: bool = False,
    modelled: Collection[str] | None = None,
    unit: str | None = None,
) -> Results:
    """Everything notebook 03 says of a study: alpha with both intervals and the measures behind it, alpha with
    annotators resampled where they are known, the decision study, and where the variance comes from.

    Parameters
    ----------
    annotations : DataFrame
        Columns of `schema.ANNOTATIONS`.
    labels : sequence of Label
    first : int or None
        Annotations used per item; None: all.
    n_resamples, people_resamples : int
        Bootstrap resamples, and those in which annotators are resampled as well.
    scope : Scope, optional
        What a paper left out; its alphas are added, with `scope` of `paper`.
    control : bool
        Add nominal alpha of ordered labels, a wrong definition.
    unit : str, optional
        What the study wants resampled (`bootstrap.unit`).
    """
    boot = {"confidence": confidence, "seed": seed}
    added = []
    if scope:
        kept = in_scope(annotations, dialogues=scope.exclude_dialogues, sessions=scope.exclude_sessions)
        alone = alpha_table(kept, labels, first=first, n_resamples=n_resamples, alone=True, **boot)
        added.append(alone["alpha"].assign(scope="paper"))
    if control:
        added.append(nominal_alphas(annotations, labels, first=first))
    known = annotations[annotations["annotator_known"] & (annotations["annotator_kind"] == "human")]
    people = alpha_over_annotators(known, labels, n_resamples=people_resamples, **boot)
    return collect(
        alpha_table(annotations, labels, first=first, n_resamples=n_resamples, unit=unit, **boot),
        *(frame.assign(statistic="alpha") for frame in (people["alpha"].query("n > 0"), *added)),
        kappas(annotations, labels, n_resamples=people_resamples, **boot),
        decision_study(annotations, labels, seed=seed, confidence=confidence),
        variance_shares(annotations, labels, confidence=confidence, only=modelled),
    )


def primary(results: Results) -> pd.DataFrame:
    """Alpha of every label judged twice, with the primary interval: one row per label and group."""
    return judged(results).query("n > 0")


def judged(results: Results) -> pd.DataFrame:
    """As `primary`, with labels of which no item was judged twice. Turns are primary only where nothing else was."""
    rows = results.select("alpha", resample=[*PRIMARY, *SHARED, "turn"], scope=None)
    larger = rows["resample"] != "turn"
    return rows[larger | ~larger.groupby([rows[c] for c in CELL]).transform("any").astype(bool)]


def over_turns(results: Results) -> pd.DataFrame:
    """Alpha with the interval over turns, where another is primary."""
    rows = results.select("alpha", resample="turn", scope=None)
    return rows[~rows.index.isin(judged(results).index)]


def misleading(annotations: pd.DataFrame, unit: str | None) -> list[str]:
    """Methods whose judgements are resampled by turn though a dialogue has several (`bootstrap.unit`)."""
    if unit != "turn":
        return []
    turns = annotations[annotations["turn"].notna()].drop_duplicates(["corpus", "method", "dialogue", "turn"])
    several = turns.duplicated(["corpus", "method", "dialogue"])
    return [method for method in METHODS if method in set(turns.loc[several, "method"])]


def alpha_table(
    annotations: pd.DataFrame,
    labels: Iterable[Label],
    *,
    first: int | None = 2,
    n_resamples: int = 10_000,
    confidence: float = 0.95,
    seed: int = 1,
    units: Sequence[str] = ("turn", "dialogue"),
    kinds: Sequence[str] = ("human",),
    alone: bool = False,
    unit: str | None = None,
) -> Results:
    """Agreement within each corpus, evaluator group, method and label.

    Parameters
    ----------
    annotations : DataFrame
        Columns of `schema.ANNOTATIONS`.
    labels : iterable of Label
        Gives each label its level of measurement.
    first : int or None
        Annotations used per item, in source order; None: all.
    units : sequence of str
        What to resample for judgements of turns. The last is primary: the other measures carry its interval.
        Judgements of dialogues and pairs resample these.
    kinds : sequence of str
        Kinds of annotators that enter: human, llm, classifier.
    alone : bool
        Alpha without the other measures, in a fraction of the time.
    unit : str, optional
        Resampled in place of the last of `units`, of dialogues and of pairs: session or context; turn: items only.

    Returns
    -------
    Results: alpha (one row per resampled unit), observed_disagreement, expected_disagreement, raw_agreement,
    interval_width_ratio; for labels of two values prevalence, positive_agreement, negative_agreement; cohen_kappa
    (two annotations per item), fleiss_kappa, icc. Kappas compare positions, not people. Where an interval or an
    estimate is missing, `note` says why.

    References
    ----------
    Finch, Finch and Choi 2023, Figure 1; Finch, Finch and Choi 2024, Table 3.
    """
    chosen = first_annotations(annotations, first=first, kinds=kinds)
    keys = {"raters": "all" if first is None else f"first{first}", "kind": "+".join(kinds)}
    options = {"n_resamples": n_resamples, "confidence": confidence}
    return collect(
        {**cell, **row}
        for cell, label, frame in cells(chosen, labels)
        for row in _rows(frame, label, keys, _resampled(label, units, unit), seed, tuple(cell.values()), options, alone)
    )


def alpha_between(
    annotations: pd.DataFrame,
    labels: Iterable[Label],
    group: str,
    group_b: str,
    *,
    pick: np.random.Generator | None = None,
    n_resamples: int = 10_000,
    confidence: float = 0.95,
    seed: int = 1,
    units: Sequence[str] = ("turn", "dialogue"),
    kinds: Sequence[str] = ("human",),
    alone: bool = False,
) -> Results:
    """Agreement between two evaluator groups: one annotation by each of every item that both judged.

    pick : where a group judged an item more than once, one annotation is drawn from this generator; None: the first in
    source order. Pass annotations with one per item and group to use a pick of your own.

    Returns results as `alpha_table` (which see for the other arguments), with `group_b`, and `raters` of `one_each`.
    Raises ValueError unless both groups have annotations.
    """
    missing = sorted({group, group_b} - set(annotations["group"]))
    if missing or group == group_b:
        known = sorted(set(annotations["group"]))
        raise ValueError(f"group, group_b: expected two of {', '.join(known)}, found {group!r} and {group_b!r}")
    ours = annotations[annotations["group"].isin([group, group_b])]
    if pick is not None:
        ours = ours.iloc[pick.permutation(len(ours))].reset_index(drop=True).assign(source_row=np.arange(len(ours)))
    chosen = first_annotations(ours, first=1, kinds=kinds)
    chosen = chosen.assign(position=(chosen["group"] == group_b).astype(int), group=group)
    options = {"n_resamples": n_resamples, "confidence": confidence}
    keys = {"raters": "one_each", "kind": "+".join(kinds)}
    return collect(
        {**cell, "group_b": group_b, **row}
        for cell, label, frame in cells(chosen, labels)
        for row in _rows(
            frame, label, keys, _resampled(label, units, None), seed, (*cell.values(), group_b), options, alone
        )
    )


def alpha_over_annotators(
    annotations: pd.DataFrame,
    labels: Iterable[Label],
    *,
    n_resamples: int = 2_000,
    confidence: float = 0.95,
    seed: int = 1,
    kinds: Sequence[str] = ("human",),
) -> Results:
    """How alpha of all annotations depends on who the annotators are, where they are known.

    Returns two rows of alpha per corpus, group, method and label, distinguished by `resample`. `dialogue and annotator`
    (or `pair and annotator`): both are resampled, so the interval covers other people, too, where an interval over
    dialogues covers the same people only. `without one annotator`: the range of alpha when any one person is left out
    (`ci_kind` is `range`). With few people only the second exists.
    """
    chosen = first_annotations(annotations, first=None, kinds=kinds)
    options = {"n_resamples": n_resamples, "confidence": confidence}
    rows = []
    for cell, label, frame in cells(chosen, labels):
        several = frame[frame.groupby("item")["item"].transform("size") >= 2]
        common = {
            "statistic": "alpha",
            "level": METHODS[label.method].unit,
            "n": several["item"].nunique(),
            "n_annotators": several["annotator"].nunique(),
            "seed": seed,
        }
        keys = {"measurement": label.level, "raters": "all", "kind": "+".join(kinds)}
        for unit, interval in _over_annotators(several, label, (seed, *cell.values()), options).items():
            rows.append({**cell, **common, **keys, "resample": unit, **interval.row()})
    return collect(rows)


def _over_annotators(frame: pd.DataFrame, label: Label, names: tuple, options: dict) -> dict[str, Interval]:
    mirrored = METHODS[label.method].unit == "pair"
    both, one_out = f"{'pair' if mirrored else 'dialogue'} and annotator", "without one annotator"

    def none(reason: str) -> dict[str, Interval]:
        return {u: Interval(np.nan, np.nan, np.nan, "not_estimable", u, 0, note=reason) for u in (both, one_out)}

    if frame.empty:
        return none("no item has two annotations")
    if not frame["annotator_known"].all():
        return none("annotators are positions, not people")
    values, dialogue = matrix(frame, "annotator").to_numpy(), frame.groupby("item")["dialogue"].first().to_numpy()
    two_way = alpha_two_way(
        values, label.level, rng=generator(*names, both), clusters=dialogue, mirrored=mirrored, unit=both, **options
    )
    # one row per judgement: with many annotators the matrix is nearly empty, and slow to go through for each
    item, annotator = pd.factorize(frame["item"])[0], pd.factorize(frame["annotator"])[0]
    score, values_known = frame["score"].to_numpy(), domain(frame["score"], label)
    values_known = np.unique(score) if values_known is None else values_known
    rest = (
        patterns_long(item[kept], score[kept], len(values), values_known)
        for kept in annotator != np.unique(annotator)[:, None]
    )
    without = [alpha_of(found, label.level, mirrored=mirrored) for found in rest]
    found = np.array([a.estimate for a in without])
    if np.isnan(found).all():
        return {both: two_way, one_out: none("no two people are left when one is left out")[one_out]}
    low, high, undefined = float(np.nanmin(found)), float(np.nanmax(found)), int(np.isnan(found).sum())
    note = f"smallest and largest of {len(found)}, from {min(a.n_items for a in without)} items or more"
    extremes = Interval(two_way.estimate, low, high, "range", one_out, len(found), undefined, note=note)
    return {both: two_way, one_out: extremes}


def plain_alphas(annotations: pd.DataFrame, labels: Iterable[Label], *, first: int | None = None) -> pd.DataFrame:
    """Alpha without intervals, equal to that of `alpha_table`: one row per corpus, group, method and label judged
    twice.

    first : annotations by people used per item; None: all.
    """
    chosen = first_annotations(annotations, first=first)
    rows = []
    for cell, label, frame in cells(chosen[chosen.duplicated(["item", "group"], keep=False)], labels):
        unit = METHODS[label.method].unit
        mirrored = unit == "pair"
        values = domain(frame["score"], label) if mirrored else None
        found = alpha_of(patterns(matrix(frame).to_numpy(), values), label.level, mirrored=mirrored)
        keys = {"measurement": label.level, "raters": f"first{first}" if first else "all", "kind": "human"}
        rows.append(
            {"statistic": "alpha", **cell, "level": unit, **keys, "estimate": found.estimate, "n": found.n_items}
        )
    return collect(rows)["alpha"]


def nominal_alphas(annotations: pd.DataFrame, labels: Iterable[Label], *, first: int | None = None) -> pd.DataFrame:
    """`plain_alphas` of ordered labels as if their order meant nothing: a wrong definition, as a control of what
    matches the right one."""
    ordered = {(x.method, x.id): replace(x, level="nominal") for x in labels if x.level == "ordinal" and not x.binary}
    keep = [pair in ordered for pair in zip(annotations["method"], annotations["label"], strict=True)]
    return plain_alphas(annotations[keep], ordered.values(), first=first)


def _resampled(label: Label, units: Sequence[str], unit: str | None) -> Sequence[str]:
    """What is resampled for a label, the primary unit last."""
    level = METHODS[label.method].unit
    if unit in SHARED:
        return ("turn", unit) if level == "turn" else (unit,)
    return units if level == "turn" and unit != "turn" else (level,)


def _rows(
    frame: pd.DataFrame, label: Label, keys: dict, units, seed: int, names: tuple, options: dict, alone: bool
) -> list[dict]:
    level = METHODS[label.method].unit
    mirrored = level == "pair"
    item = pd.factorize(frame["item"])[0]
    n_items = int(item.max()) + 1
    found = patterns_long(item, frame["score"].to_numpy(), n_items, domain(frame["score"], label))
    by_item = frame.groupby(pd.Series(item, frame.index))
    several = frame[found.index[item] >= 0]
    by_unit = {}
    for unit in units:
        clusters = None if unit == level else by_item[unit].first().to_numpy()
        rng = generator(seed, *names, unit)
        how = {"clusters": clusters, "mirrored": mirrored, "expanded": unit != "turn"}  # over turns as published
        by_unit[unit] = alpha_intervals(found, label.level, unit=unit, rng=rng, **how, **options)
    measurement = {"measurement": label.level, **keys}
    out = [
        {"statistic": "alpha", **measurement, "resample": unit, **intervals["alpha"].row()}
        for unit, intervals in by_unit.items()
    ]
    if not alone:
        behind = list(by_unit.values())[-1]
        measures = [m for m in behind if m != "alpha" and (label.binary or m == "raw_agreement")]
        out += [{"statistic": m, **keys, **behind[m].row()} for m in measures]
        out += _width_ratio(by_unit, keys["raters"])
        if found.n_items:
            alpha = alpha_of(found, label.level, mirrored=mirrored)
            out.append({"statistic": "observed_disagreement", **measurement, "estimate": alpha.observed})
            out.append({"statistic": "expected_disagreement", **measurement, "estimate": alpha.expected})
            out += _coefficients(several, label, keys, mirrored)
    common = {"level": level, "n": found.n_items, "n_annotators": several["annotator"].nunique(), "seed": seed}
    return [common | row for row in out]


def _width_ratio(by_unit: dict[str, dict[str, Interval]], raters: str) -> list[dict]:
    if not {"turn", "dialogue"} <= set(by_unit):
        return []
    turn, dialogue = by_unit["turn"]["alpha"], by_unit["dialogue"]["alpha"]
    if {turn.kind, dialogue.kind} - {"bca", "percentile"}:
        return []
    ratio = (dialogue.high - dialogue.low) / (turn.high - turn.low)
    return [{"statistic": "interval_width_ratio", "raters": raters, "estimate": ratio}]


def _coefficients(frame: pd.DataFrame, label: Label, keys: dict, mirrored: bool) -> list[dict]:
    values = matrix(frame).to_numpy()
    both = np.concatenate([values, -values]) if mirrored else values
    out = []
    if values.shape[1] == 2:
        ordered = label.level not in ("nominal", "sets") and not label.binary
        for weights in ("none", "linear", "quadratic") if ordered else ("none",):
            kappa, note = cohen_kappa(both, weights)
            out.append(
                {"statistic": "cohen_kappa", "weights": weights, **keys, "estimate": kappa, "note": note or None}
            )
    kappa, note = fleiss_kappa(both)
    out.append({"statistic": "fleiss_kappa", **keys, "estimate": kappa, "note": note or None})
    if not (label.binary or mirrored or label.unordered):
        same_people = frame["annotator_known"].all() and frame["annotator"].nunique() == values.shape[1]
        forms = ("ICC(1,1)", "ICC(1,k)") + (("ICC(A,1)", "ICC(C,1)") if same_people else ())
        out += [
            {"statistic": "icc", **keys, **row}
            for row in icc(matrix(frame, "annotator").to_numpy() if same_people else values, forms)
        ]
    return out
