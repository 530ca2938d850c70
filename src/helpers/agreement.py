"""Do annotators read a label the same way? Agreement of a study's annotations, as result rows.

As published: alpha of the first two annotations of an item, resampling items. As we would defend it: the same alpha,
resampling dialogues, because turns of one dialogue are not independent; beside it prevalence and specific agreement,
since alpha of a rare label is low even where raw agreement is high. A comparison counts in both orientations, as in the
original files, and its two orientations stay together in every resample.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from helpers.alpha import alpha_intervals, alpha_of, alpha_two_way
from helpers.coefficients import cohen_kappa, fleiss_kappa, icc
from helpers.coincidences import Patterns, patterns_long
from helpers.labels import METHODS, Label
from helpers.resampling import Interval, generator
from helpers.schema import condition

CELL = ["corpus", "group", "method", "label"]


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
    beside: bool = True,
) -> pd.DataFrame:
    """Agreement within each corpus, evaluator group, method and label.

    Parameters
    ----------
    annotations : DataFrame
        Columns of `schema.ANNOTATIONS`.
    labels : iterable of Label
        Gives each label its level of measurement.
    first : int or None
        Use the first so many annotations of an item, in source order; None: all.
    units : sequence of str
        What to resample for judgements of turns. The last is primary: the other measures carry its interval.
        Judgements of dialogues and pairs resample these.
    kinds : sequence of str
        Kinds of annotators that enter: human, llm, classifier.
    beside : bool
        Also what stands beside alpha; without it alpha alone, in a fraction of the time.

    Returns
    -------
    DataFrame of result rows: alpha (one row a resampled unit), observed_disagreement, expected_disagreement,
    raw_agreement, interval_width_ratio; for labels of two values prevalence, positive_agreement, negative_agreement;
    cohen_kappa (two annotations an item; weighted beside), fleiss_kappa, icc. Kappas compare positions, not people.

    Notes
    -----
    Where an interval or an estimate is missing, `note` says why. Checked against `krippendorff`, and against the values
    published by Finch et al. 2024 (table 3) and for the behaviour marks of S. E. Finch et al. 2023.
    """
    chosen = first_annotations(annotations, first=first, kinds=kinds)
    raters = "all" if first is None else f"first{first}"
    options = {"n_resamples": n_resamples, "confidence": confidence}
    rows = []
    for cell, label, frame in _cells(chosen, labels):
        keys = {"raters": raters, "kind": "+".join(kinds)}
        rows += [cell | row for row in _rows(frame, label, keys, units, seed, tuple(cell.values()), options, beside)]
    return _table(rows)


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
    beside: bool = True,
) -> pd.DataFrame:
    """Agreement between two evaluator groups: one annotation of each on every item that both judged.

    pick : where a group judged an item more than once, one annotation is drawn from this generator; None: the first in
    source order. Pass annotations with one an item and group to use a pick of your own.

    Returns rows as `alpha_table` (which see for the other arguments), with `group` and `group_b`, and `raters=one_each`
    in the condition.

    Checked against the `krippendorff` package on one annotation of each group.
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
    rows = []
    for cell, label, frame in _cells(chosen, labels):
        keys = {"raters": "one_each", "kind": "+".join(kinds)}
        names = (*cell.values(), group_b)
        found = _rows(frame, label, keys, units, seed, names, options, beside)
        rows += [cell | {"group_b": group_b} | row for row in found]
    return _table(rows)


def alpha_over_annotators(
    annotations: pd.DataFrame,
    labels: Iterable[Label],
    *,
    n_resamples: int = 2_000,
    confidence: float = 0.95,
    seed: int = 1,
    kinds: Sequence[str] = ("human",),
) -> pd.DataFrame:
    """How alpha of all annotations depends on who the annotators are, where they are known.

    Returns two rows of alpha a corpus, group, method and label, told apart by `resample` in the condition. `dialogue
    and annotator` (or `pair and annotator`): both are resampled, so the interval speaks of other people too, where an
    interval over dialogues speaks of the same people. `without one annotator`: the range of alpha when any one person
    is left out (`ci_kind` is `range`). With few people only the second exists.

    Estimate and range are checked against the `krippendorff` package with each annotator left out; the two-way interval
    through `alpha_two_way`.
    """
    chosen = first_annotations(annotations, first=None, kinds=kinds)
    options = {"n_resamples": n_resamples, "confidence": confidence}
    rows = []
    for cell, label, frame in _cells(chosen, labels):
        several = frame[frame.groupby("item")["item"].transform("size") >= 2]
        common = {
            "level": METHODS[label.method].unit,
            "n": several["item"].nunique(),
            "n_annotators": several["annotator"].nunique(),
            "seed": seed,
        }
        keys = {"measurement": label.level, "raters": "all", "kind": "+".join(kinds)}
        for unit, interval in _over_annotators(several, label, (seed, *cell.values()), options).items():
            rows.append(cell | common | _row("alpha", {"resample": unit, **keys}, **interval.row()))
    return _table(rows)


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
    # one row a judgement: with many annotators the matrix is nearly empty, and going through it for each takes minutes
    item, annotator = pd.factorize(frame["item"])[0], pd.factorize(frame["annotator"])[0]
    score, domain = frame["score"].to_numpy(), _domain(frame["score"], label, mirrored)
    domain = np.unique(score) if domain is None else domain
    rest = (
        patterns_long(item[kept], score[kept], len(values), domain)
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


def first_annotations(
    annotations: pd.DataFrame, *, first: int | None = 2, kinds: Sequence[str] = ("human",)
) -> pd.DataFrame:
    """The first annotations of every item within a group, in source order.

    Of several judgements of an item by one known person only the first counts: agreement is between people. Adds
    `item`, a code that is the same for one item whoever judged it (a comparison is the same item from either side; its
    score is turned to one orientation), and `position`, the annotation's place from 0.

    Checked by hand, and through alphas printed by Finch et al. 2024.
    """
    out = annotations[annotations["annotator_kind"].isin(list(kinds))].sort_values("source_row", kind="stable")
    turned = (out["dialogue_b"].notna() & (out["dialogue_b"] < out["dialogue"]).fillna(False)).to_numpy(dtype=bool)
    out = out.assign(
        dialogue=out["dialogue"].where(~turned, out["dialogue_b"]),
        dialogue_b=out["dialogue_b"].where(~turned, out["dialogue"]),
        score=out["score"].where(~turned, -out["score"]),
    )
    about = ["corpus", "method", "label", "dialogue", "turn", "dialogue_b"]
    out["item"] = out.groupby(about, dropna=False, sort=False).ngroup()
    out = out[~(out["annotator_known"] & out.duplicated(["item", "group", "annotator"]))]
    out["position"] = out.groupby(["item", "group"], sort=False).cumcount()
    return (out if first is None else out[out["position"] < first]).reset_index(drop=True)


def matrix(frame: pd.DataFrame, columns: str = "position") -> pd.DataFrame:
    """(items, positions) or, with `columns='annotator'`, (items, annotators) matrix of one label's scores.

    Checked through `alpha_table`, against the `krippendorff` package.
    """
    return frame.pivot(index="item", columns=columns, values="score")  # noqa: PD010 (two values of a cell must raise)


def _cells(chosen: pd.DataFrame, labels: Iterable[Label]):
    """Each corpus, group, method and label that has annotations, in the order of the labels."""
    order = {(label.method, label.id): label for label in labels}
    unknown = sorted({*zip(chosen["method"], chosen["label"], strict=True)} - set(order))
    if unknown:
        raise ValueError(f"labels: expected every (method, label) of the annotations, missing {unknown}")
    groups = dict(iter(chosen.groupby(CELL, sort=True)))
    place = {key: i for i, key in enumerate(order)}
    for key in sorted(groups, key=lambda k: (k[0], k[1], place[k[2], k[3]])):
        yield dict(zip(CELL, key, strict=True)), order[key[2], key[3]], groups[key]


def _rows(
    frame: pd.DataFrame, label: Label, keys: dict, units, seed: int, names: tuple, options: dict, beside: bool
) -> list[dict]:
    level = METHODS[label.method].unit
    mirrored = level == "pair"
    item = pd.factorize(frame["item"])[0]
    n_items = int(item.max()) + 1
    found = patterns_long(item, frame["score"].to_numpy(), n_items, _domain(frame["score"], label, mirrored))
    dialogue = frame.groupby(pd.Series(item, frame.index))["dialogue"].first().to_numpy()
    several = frame[found.index[item] >= 0]
    common = {"level": level, "n": found.n_items, "n_annotators": several["annotator"].nunique(), "seed": seed}
    by_unit = {}
    for unit in units if level == "turn" else (level,):
        clusters = None if unit == level else dialogue
        rng = generator(seed, *names, unit)
        by_unit[unit] = alpha_intervals(
            found, label.level, unit=unit, rng=rng, clusters=clusters, mirrored=mirrored, **options
        )
    out = [
        _row("alpha", {"measurement": label.level, "resample": unit, **keys}, **intervals["alpha"].row())
        for unit, intervals in by_unit.items()
    ]
    if not beside:
        return [common | row for row in out]
    primary = list(by_unit.values())[-1]
    measures = [m for m in primary if m != "alpha" and (label.binary or m == "raw_agreement")]
    out += [_row(m, keys, **primary[m].row()) for m in measures]
    out += _disagreement(found, label, keys, mirrored) + _ratio(by_unit, keys)
    if found.n_items:
        out += _coefficients(several, label, keys, mirrored)
    return [common | row for row in out]


def _domain(scores: pd.Series, label: Label, mirrored: bool) -> Sequence[float] | None:
    """Values that occur (those of a binary label even if not): others change nothing and cost time."""
    if label.binary:
        return (0, 1)
    return np.unique(np.r_[scores, -scores]) if mirrored else None


def _table(rows: list[dict]) -> pd.DataFrame:
    return pd.DataFrame(rows) if rows else pd.DataFrame(columns=["statistic"])


def _row(statistic: str, keys: dict[str, object], **columns: object) -> dict[str, object]:
    return {"statistic": statistic, "condition": condition(**keys), **columns}


def _disagreement(found: Patterns, label: Label, keys: dict, mirrored: bool) -> list[dict]:
    if not found.n_items:
        return []
    a = alpha_of(found, label.level, mirrored=mirrored)
    keys = {"measurement": label.level, **keys}
    return [
        _row("observed_disagreement", keys, estimate=a.observed),
        _row("expected_disagreement", keys, estimate=a.expected),
    ]


def _ratio(by_unit: dict[str, dict[str, Interval]], keys: dict) -> list[dict]:
    if not {"turn", "dialogue"} <= set(by_unit):
        return []
    turn, dialogue = by_unit["turn"]["alpha"], by_unit["dialogue"]["alpha"]
    if {turn.kind, dialogue.kind} - {"bca", "percentile"}:
        return []
    ratio = (dialogue.high - dialogue.low) / (turn.high - turn.low)
    return [_row("interval_width_ratio", {"raters": keys["raters"]}, estimate=ratio)]


def _coefficients(frame: pd.DataFrame, label: Label, keys: dict, mirrored: bool) -> list[dict]:
    values = matrix(frame).to_numpy()
    both = np.concatenate([values, -values]) if mirrored else values
    out = []
    if values.shape[1] == 2:
        ordered = label.level != "nominal" and not label.binary
        for weights in ("none", "linear", "quadratic") if ordered else ("none",):
            kappa, note = cohen_kappa(both, weights)
            out.append(_row("cohen_kappa", {"weights": weights, **keys}, estimate=kappa, note=note or None))
    kappa, note = fleiss_kappa(both)
    out.append(_row("fleiss_kappa", keys, estimate=kappa, note=note or None))
    if not (label.binary or mirrored or label.level == "nominal"):
        same_people = frame["annotator_known"].all() and frame["annotator"].nunique() == values.shape[1]
        forms = ("ICC(1,1)", "ICC(1,k)") + (("ICC(A,1)", "ICC(C,1)") if same_people else ())
        for found in icc(matrix(frame, "annotator").to_numpy() if same_people else values, forms):
            form, note = str(found.pop("form")), found.pop("note")
            kind = "not_estimable" if note else "f"
            out.append(
                _row("icc", {"form": form, **keys}, **found, ci_kind=kind, resample_unit=None, note=note or None)
            )
    return out
