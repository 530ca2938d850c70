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

from judgebook.annotations.cells import cells
from judgebook.annotations.summary import in_scope
from judgebook.questions.agreement import gwet
from judgebook.questions.agreement.alpha import alpha_intervals, alpha_of
from judgebook.questions.agreement.coincidences import Patterns, patterns_long, with_sampling
from judgebook.questions.agreement.generalizability import OWN, decision_study
from judgebook.questions.agreement.items import (
    SHARED,
    cluster_unit,
    domain,
    first_annotations,
    item_weights,
    matrix,
    scale_values,
    without_weights,
)
from judgebook.questions.agreement.kappa_icc import cohen_kappa, fleiss_kappa, icc, kappas
from judgebook.questions.agreement.over_annotators import TWO_WAY, alpha_over_annotators, judgements
from judgebook.questions.agreement.population import FIXED, SAMPLE, UNKNOWN, population
from judgebook.questions.agreement.variance import variance_shares
from judgebook.statistics.intervals import Interval, generator
from judgebook.study.labels import METHODS, Label
from judgebook.study.results import Results, collect
from judgebook.study.schema import CELL
from judgebook.study.sections.data import Scope

#: why nothing is said of other annotators where the YAML does not ask for it
DECLARED = "`inference.annotators` is fixed"
#: what the primary interval of alpha resamples, where dialogues are judged and where they are compared
PRIMARY = ("dialogue", "pair")
_RANK = {"turn": 0, "dialogue": 1, "pair": 1, "session": 2, "context": 2}
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
    people: str = "auto",
) -> Results:
    """Everything notebook 03 says of a study: alpha with its intervals and the measures behind it, the decision study,
    and where the variance comes from.

    Parameters
    ----------
    annotations : DataFrame
        Columns of `schema.ANNOTATIONS`.
    labels : sequence of Label
    first : int or None
        Annotations used per item; None: all.
    n_resamples, people_resamples : int
        Bootstrap resamples, and those of the kappas of two people.
    scope : Scope, optional
        What a paper left out; its alphas are added, with `scope` of `paper`.
    control : bool
        Add nominal alpha of ordered labels, and alpha of all annotations: other definitions than the printed one.
    unit : str, optional
        What the study wants resampled (`bootstrap.unit`).
    people : {"auto", "sample", "fixed"}
        `inference.annotators`. fixed: no interval is for other annotators; else from five effective annotators among
        those who judged items twice, as the interval does not hold with fewer.
    """
    boot = {"confidence": confidence, "seed": seed}
    added = []
    if scope:
        kept = in_scope(annotations, dialogues=scope.exclude_dialogues, sessions=scope.exclude_sessions)
        alone = alpha_table(without_weights(kept), labels, first=first, n_resamples=n_resamples, alone=True, **boot)
        added.append(alone["alpha"].assign(scope="paper"))
    if control:
        plain = without_weights(annotations)
        added.append(nominal_alphas(plain, labels, first=first))
        added += [plain_alphas(plain, labels)] if first else []
    others = alpha_over_annotators(annotations, labels, first=first, unit=unit, confidence=confidence)
    results = collect(
        alpha_table(annotations, labels, first=first, n_resamples=n_resamples, unit=unit, **boot),
        *(frame.assign(statistic="alpha") for frame in (others["alpha"], *added)),
        kappas(annotations, labels, n_resamples=people_resamples, **boot),
        decision_study(annotations, labels, seed=seed, confidence=confidence),
        variance_shares(annotations, labels, confidence=confidence, only=modelled),
    )
    return _of_these(results) if people == "fixed" else results


def _of_these(results: Results) -> Results:
    """Without intervals for other annotators, as the study declares; why there are none stands in `note`."""
    for statistic in ("alpha", "ac"):
        rows = results[statistic]
        if len(rows):
            others = rows["resample"].fillna("").str.endswith(TWO_WAY).astype(bool)
            ends = rows[["ci_low", "ci_high"]].mask(others)
            kind, note = rows["ci_kind"].mask(others, "not_estimable"), rows["note"].mask(others, DECLARED)
            results[statistic] = rows.assign(ci_low=ends["ci_low"], ci_high=ends["ci_high"], ci_kind=kind, note=note)
    return results


def primary(results: Results) -> pd.DataFrame:
    """Alpha of every label judged twice with its one primary interval: the one to show wherever alpha is shown.

    Returns one row per corpus, group, method and label, with the columns of `alpha` and: `population`, of whom the
    interval speaks (sample: other annotators, too; fixed: these annotators; unknown: these, who are not known
    individually); `unit`, what it resamples besides annotators (dialogue, pair, session, context, turn); `others`, why
    it says nothing of other annotators, missing where it does.
    """
    return judged(results).query("n > 0")


def judged(results: Results) -> pd.DataFrame:
    """As `primary`, with labels of which no item was judged twice.

    The interval for other annotators is primary where there is one; else that over contexts or sessions, if items share
    them; else over dialogues or pairs; over turns only where the study says so.
    """
    rows = results.select("alpha", scope=None, pick=None, over=None)
    rows = rows[rows["resample"].isin([*_RANK, *(unit + TWO_WAY for unit in _RANK)])]
    people = rows["resample"].str.endswith(TWO_WAY).astype(bool)
    unit = rows["resample"].str.removesuffix(TWO_WAY)
    keys = [rows[c] for c in CELL]
    all_known = people.groupby(keys, dropna=False).transform("any").astype(bool)
    others = rows["note"].where(people).groupby(keys, dropna=False).transform("first")
    speaks = people & rows["ci_low"].notna()
    rank = unit.map(_RANK).where(~people, len(_RANK)).where(speaks | ~people, -1)
    rows = rows.assign(
        population=np.select([speaks, all_known], [SAMPLE, FIXED], UNKNOWN),
        unit=unit,
        others=others.where(~speaks, None),
    )
    return rows[rank == rank.groupby(keys, dropna=False).transform("max")]


def primary_ac(results: Results) -> pd.DataFrame:
    """Gwet's coefficient of every label judged twice with its one primary interval, as `primary`."""
    rows = results["ac"]
    others = rows["resample"].str.endswith(TWO_WAY).astype(bool)
    speaks = others & rows["ci_low"].notna()
    instead = speaks.groupby([rows[c] for c in CELL], dropna=False).transform("any").astype(bool)
    return rows[speaks | (~others & ~instead)]


def reliability_of_means(results: Results) -> pd.DataFrame:
    """How reliably the study's own judgements order its systems: `generalizability` of the means of systems, of single
    judgements' labels that at least three systems were given.

    Returns one row per corpus, group, method and label, with `n` systems, `n_dialogues` (per system) and
    `annotators_per_dialogue`, means rounded for words; systems, dialogues and annotators are samples in the interval.
    """
    return results.select("generalizability", design=OWN).query("n >= 3").dropna(subset="estimate")


def for_these_annotators(results: Results) -> pd.DataFrame:
    """Alpha with the interval for these annotators, of labels whose primary interval holds for others too: to be shown
    beside it only, and labelled so."""
    sample = primary(results).query("population == @SAMPLE")
    rows = results.select("alpha", scope=None, pick=None, over=None).merge(
        sample[[*CELL, "unit"]].rename(columns={"unit": "resample"}), on=[*CELL, "resample"]
    )
    return rows


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
        Columns of `schema.ANNOTATIONS`. Where `sampling_weight` differs, alpha, Gwet's coefficient and the measures
        behind them are weighted; kappas and intraclass correlations are not.
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
        for row in _rows(
            frame, label, keys, _resampled(frame, label, units, unit), seed, tuple(cell.values()), options, alone
        )
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
        group_names = sorted(set(annotations["group"]))
        raise ValueError(f"group, group_b: expected two of {', '.join(group_names)}, found {group!r} and {group_b!r}")
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
            frame, label, keys, _resampled(frame, label, units, None), seed, (*cell.values(), group_b), options, alone
        )
    )


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
        item = pd.factorize(frame["item"])[0]
        item_patterns = patterns_long(item, frame["score"].to_numpy(), int(item.max()) + 1, values)
        alpha = alpha_of(with_sampling(item_patterns, item_weights(frame)), label.level, mirrored=mirrored)
        keys = {"measurement": label.level, "raters": f"first{first}" if first else "all", "kind": "human"}
        rows.append(
            {"statistic": "alpha", **cell, "level": unit, **keys, "estimate": alpha.estimate, "n": alpha.n_items}
        )
    return collect(rows)["alpha"]


def nominal_alphas(annotations: pd.DataFrame, labels: Iterable[Label], *, first: int | None = None) -> pd.DataFrame:
    """`plain_alphas` of ordered labels as if their order meant nothing: a wrong definition, as a control of what
    matches the right one."""
    ordered = {(x.method, x.id): replace(x, level="nominal") for x in labels if x.level == "ordinal" and not x.binary}
    keep = [pair in ordered for pair in zip(annotations["method"], annotations["label"], strict=True)]
    return plain_alphas(annotations[keep], ordered.values(), first=first)


def _resampled(frame: pd.DataFrame, label: Label, units: Sequence[str], unit: str | None) -> list[str]:
    """What is resampled for a label, the primary unit last."""
    level, shared = METHODS[label.method].unit, cluster_unit(frame, label, unit)
    if unit in SHARED:
        return ["turn", unit] if level == "turn" else [unit]
    usual = [*units] if level == "turn" and unit != "turn" else [level]
    return [*usual, shared] if shared in SHARED and usual[-1] != "turn" else usual


def _rows(
    frame: pd.DataFrame, label: Label, keys: dict, units, seed: int, names: tuple, options: dict, alone: bool
) -> list[dict]:
    level = METHODS[label.method].unit
    mirrored = level == "pair"
    item = pd.factorize(frame["item"])[0]
    n_items = int(item.max()) + 1
    item_patterns = patterns_long(item, frame["score"].to_numpy(), n_items, domain(frame["score"], label))
    item_patterns = with_sampling(item_patterns, item_weights(frame))
    by_item = frame.groupby(pd.Series(item, frame.index))
    several = frame[item_patterns.index[item] >= 0]
    by_unit = {}
    for unit in units:
        clusters = None if unit == level else by_item[unit].first().to_numpy()
        rng = generator(seed, *names, unit)
        how = {"clusters": clusters, "mirrored": mirrored, "expanded": unit != "turn"}  # over turns as published
        by_unit[unit] = alpha_intervals(item_patterns, label.level, unit=unit, rng=rng, **how, **options)
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
        if item_patterns.n_items:
            out += _gwet(frame, several, label, keys, units[-1], behind["raw_agreement"], (seed, *names), options)
            alpha = alpha_of(item_patterns, label.level, mirrored=mirrored)
            out.append({"statistic": "observed_disagreement", **measurement, "estimate": alpha.observed})
            out.append({"statistic": "expected_disagreement", **measurement, "estimate": alpha.expected})
            out += _coefficients(several, label, keys, mirrored)
            if mirrored:
                stored = alpha_of(_as_stored(item, frame), label.level)
                out.append({"statistic": "alpha", **measurement, "orientation": "stored", "estimate": stored.estimate})
    common = {"level": level, "n": item_patterns.n_items, "n_annotators": several["annotator"].nunique(), "seed": seed}
    return [common | row for row in out]


def _as_stored(item: np.ndarray, frame: pd.DataFrame) -> Patterns:
    """Comparisons each in one orientation, that in which the pair is met first, as other software takes them."""
    turned = frame.groupby("item")["turned"].transform("first")
    item_patterns = patterns_long(item, frame["score"].where(~turned, -frame["score"]).to_numpy(), int(item.max()) + 1)
    return with_sampling(item_patterns, item_weights(frame))


def _gwet(
    frame: pd.DataFrame, several: pd.DataFrame, label: Label, keys: dict, unit: str, raw: Interval, names, options: dict
) -> list[dict]:
    """Gwet's coefficient, for these annotators and, where they are a sample, for others."""
    level, values = METHODS[label.method].unit, scale_values(frame["score"], label)
    judged = judgements(frame, values, "item" if unit == level else unit)
    how = {"mirrored": level == "pair", "others": population(several) == SAMPLE, "rng": generator(*names, "gwet")}
    intervals = gwet.intervals(judged, values, label.level, raw, unit=unit, **how, **options)
    head = {"statistic": "ac", "weights": gwet.WEIGHTS["nominal" if len(values) == 2 else label.level], **keys}
    return [{**head, "resample": over, **one.row()} for over, one in intervals.items()]


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
    oriented = np.concatenate([values, -values]) if mirrored else values
    out = []
    if values.shape[1] == 2:
        ordered = label.level not in ("nominal", "sets") and not label.binary
        for weights in ("none", "linear", "quadratic") if ordered else ("none",):
            kappa, note = cohen_kappa(oriented, weights)
            out.append(
                {"statistic": "cohen_kappa", "weights": weights, **keys, "estimate": kappa, "note": note or None}
            )
    kappa, note = fleiss_kappa(oriented)
    out.append({"statistic": "fleiss_kappa", **keys, "estimate": kappa, "note": note or None})
    if not (label.binary or mirrored or label.unordered):
        same_people = frame["annotator_known"].all() and frame["annotator"].nunique() == values.shape[1]
        forms = ("ICC(1,1)", "ICC(1,k)") + (("ICC(A,1)", "ICC(C,1)") if same_people else ())
        out += [
            {"statistic": "icc", **keys, **row}
            for row in icc(matrix(frame, "annotator").to_numpy() if same_people else values, forms)
        ]
    return out
