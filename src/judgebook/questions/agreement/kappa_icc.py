"""Kappas and intraclass correlations, and the reason where they are undefined.

`cohen_kappa`, `fleiss_kappa` and `icc` take an (items, annotators) matrix, NaN where an annotator did not judge an
item, and return the coefficient with a note that is empty unless it is undefined. `COEFFICIENTS` says for which labels
each is computed and how notebook 03 shows it: to add one, write its function and add it there. `kappas` is Cohen's
kappa of every two people who are known, for few people who judged the same items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import nan
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import fdtri

from judgebook.questions.agreement.items import matrix
from judgebook.statistics.intervals import Sampling
from judgebook.statistics.resampling import bootstrap_sums
from judgebook.study.labels import METHODS, Label
from judgebook.study.schema import CELL, Annotations, unordered


def cohen_kappa(values: np.ndarray, weights: str = "none") -> tuple[float, str]:
    """Cohen's kappa of two annotators (Cohen 1960; weighted: Cohen 1968) over the items that both judged.

    weights : none, linear or quadratic. Weights go by rank of the values that occur.

    As `statsmodels.stats.inter_rater.cohens_kappa`, to the last digit: to import that takes as long as
    all of notebook 03. Raises ValueError for other weights.
    """
    if weights not in ("none", "linear", "quadratic"):
        raise ValueError(f"weights: expected none, linear or quadratic, found {weights!r}")
    if values.ndim != 2 or values.shape[1] != 2:
        return nan, "Cohen's kappa compares two annotators"
    judged_twice = values[~np.isnan(values).any(axis=1)]
    kinds, codes = np.unique(judged_twice, return_inverse=True)
    if len(kinds) < 2:
        return nan, "undefined: fewer than two values occur"
    codes = codes.reshape(judged_twice.shape)
    table = np.bincount(codes[:, 0] * len(kinds) + codes[:, 1], minlength=len(kinds) ** 2)
    table, n = table.reshape(len(kinds), len(kinds)), len(codes)
    by_chance = table.sum(axis=0) / n * (table.sum(axis=1) / n)[:, None]
    if weights == "none":
        expected = np.trace(by_chance)
        return float((np.trace(table) / n - expected) / (1 - expected)), ""
    power, rank = {"linear": 1, "quadratic": 2}[weights], np.arange(len(kinds), dtype=float)
    apart = np.abs(rank[:, None] - rank) ** power / rank[-1] ** power
    return float(1 - (apart * table).sum() / n / (apart * by_chance).sum()), ""


def fleiss_kappa(values: np.ndarray) -> tuple[float, str]:
    """Fleiss' kappa (Fleiss 1971, equations 1 to 7), where every item with an annotation has equally many."""
    m = (~np.isnan(values)).sum(axis=1)
    if len(set(m[m > 0].tolist())) != 1 or m.max(initial=0) < 2:
        return nan, "Fleiss' kappa needs equally many annotations of every item, at least two"
    kinds = np.unique(values[~np.isnan(values)])
    if len(kinds) < 2:
        return nan, "undefined: only one value occurs"
    table = np.stack([(values[m > 0] == kind).sum(axis=1, dtype=float) for kind in kinds], axis=1)
    expected = ((table.sum(axis=0) / table.sum()) ** 2).sum()
    observed = (((table**2).sum(axis=1) - m.max()) / (m.max() * (m.max() - 1.0))).mean()
    return float((observed - expected) / (1 - expected)), ""


def icc(values: np.ndarray, forms: tuple[str, ...] = ("ICC(1,1)",), confidence: float = 0.95) -> list[dict[str, Any]]:
    """Intraclass correlations of a matrix without gaps, with F intervals.

    Parameters
    ----------
    values : (items, annotators) array
    forms : tuple of str
        ICC(1,1), ICC(A,1), ICC(C,1) for one annotation; ICC(1,k), ICC(A,k), ICC(C,k) for the mean of all columns.
        Only the first kind has a meaning when columns are positions rather than people.

    Returns
    -------
    One dict per form: form, estimate, ci_low, ci_high, ci_kind, note.

    References
    ----------
    McGraw and Wong 1996, Forming inferences about some intraclass correlation coefficients, Psychological Methods 1,
    Tables 4, 7 and 8.
    """
    reason = _no_icc(values)
    coefficients = _icc(values, confidence) if not reason else {}
    out = []
    for form in forms:
        numbers = np.array(coefficients.get(form, (nan,) * 3))
        # 0/0: items do not differ in their means, or nothing is left once people's means are taken out
        note = reason or (
            "" if np.isfinite(numbers).all() else "undefined: items have equal means, or people differ by a constant"
        )
        estimate, low, high = (nan,) * 3 if note else map(float, numbers)
        kind = "not_estimable" if note else "f"
        out.append(
            {"form": form, "estimate": estimate, "ci_low": low, "ci_high": high, "ci_kind": kind, "note": note or None}
        )
    return out


def _no_icc(values: np.ndarray) -> str:
    n, k = values.shape
    if np.isnan(values).any():
        return "an intraclass correlation needs every annotation of every item"
    if n < 3 or k < 2:
        return f"an intraclass correlation needs 3 items and 2 annotations each; there are {n} and {k}"
    if np.ptp(values) == 0:
        return "undefined: only one value occurs"
    if not (values - values.mean(axis=1, keepdims=True)).any():
        return "all annotators agree on every item: there is no error variance"
    return ""


def _icc(x: np.ndarray, confidence: float) -> dict[str, tuple[float, float, float]]:
    """Estimate and interval of every form; symbols as in McGraw and Wong."""
    n, k = x.shape
    rows, columns, upper = x.mean(axis=1), x.mean(axis=0), (1 + confidence) / 2
    ms_r = k * np.sum((rows - x.mean()) ** 2) / (n - 1)
    ms_c = n * np.sum((columns - x.mean()) ** 2) / (k - 1)
    ms_w = np.sum((x - rows[:, None]) ** 2) / (n * (k - 1))
    ms_e = np.sum((x - rows[:, None] - columns + x.mean()) ** 2) / ((n - 1) * (k - 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        within, df = n * (k - 1), (n - 1) * (k - 1)
        one_way = ms_r / ms_w / np.array([1, fdtri(n - 1, within, upper), 1 / fdtri(within, n - 1, upper)])
        two_way = ms_r / ms_e / np.array([1, fdtri(n - 1, df, upper), 1 / fdtri(df, n - 1, upper)])
        absolute = (ms_r - ms_e) / (ms_r + (k - 1) * ms_e + k / n * (ms_c - ms_e))
        a, b = k * absolute / (n * (1 - absolute)), 1 + k * absolute * (n - 1) / (n * (1 - absolute))
        v = (a * ms_c + b * ms_e) ** 2 / ((a * ms_c) ** 2 / (k - 1) + (b * ms_e) ** 2 / df)
        f_low, f_high = fdtri(n - 1, v, upper), fdtri(v, n - 1, upper)
        error = k * ms_c + (k * n - k - n) * ms_e
        low = n * (ms_r - f_low * ms_e) / (f_low * error + n * ms_r)
        high = n * (f_high * ms_r - ms_e) / (error + n * f_high * ms_r)
        single = np.array([absolute, low, high])
        return {
            "ICC(1,1)": tuple((one_way - 1) / (one_way + k - 1)),
            "ICC(1,k)": tuple(1 - 1 / one_way),
            "ICC(C,1)": tuple((two_way - 1) / (two_way + k - 1)),
            "ICC(C,k)": tuple(1 - 1 / two_way),
            "ICC(A,1)": tuple(single),
            "ICC(A,k)": tuple(k * single / (1 + (k - 1) * single)),
        }


@dataclass(frozen=True)
class Ratings:
    """The annotations (`items.first_annotations`) of the items of one label that were judged twice or more."""

    frame: Annotations
    label: Label

    @cached_property
    def paired(self) -> bool:
        """Whether two dialogues are compared."""
        return METHODS[self.label.method].unit == "pair"

    @cached_property
    def scores(self) -> np.ndarray:
        """(items, positions) scores, NaN where an item has fewer annotations; comparisons in both orientations."""
        values = matrix(self.frame).to_numpy()
        return np.concatenate([values, -values]) if self.paired else values

    @cached_property
    def by_person(self) -> np.ndarray | None:
        """(items, annotators) scores where the same people judged all items; None where not, or not known."""
        frame = self.frame
        same = frame["annotator_known"].all() and frame["annotator"].nunique() == self.scores.shape[1]
        return matrix(frame, "annotator").to_numpy() if same else None


@dataclass(frozen=True)
class CoefficientColumn:
    """How a table shows a coefficient: the values of its keys, and why a cell may be empty."""

    keys: Mapping[str, str]
    missing: str


@dataclass(frozen=True)
class Coefficient:
    """A coefficient of agreement beside alpha.

    statistic : its name in `statistics.yaml`. rows : its rows for one label, none where it does not apply: keys,
    estimate, an interval where it has one (`Interval.row`), and the note where it is undefined. columns : heading ->
    column of the table of what alpha is made of.
    """

    statistic: str
    rows: Callable[[Ratings], Iterable[dict[str, Any]]]
    columns: Mapping[str, CoefficientColumn]


def _ordered(label: Label) -> bool:
    return label.level not in ("nominal", "sets") and not label.binary


def _cohen(ratings: Ratings) -> Iterator[dict[str, Any]]:
    label = ratings.label
    if ratings.scores.shape[1] != 2:
        return
    for weights in ("none", "linear", "quadratic") if _ordered(label) else ("none",):
        kappa, note = cohen_kappa(ratings.scores, weights)
        yield {"weights": weights, "estimate": kappa, "note": note or None}


def _fleiss(ratings: Ratings) -> Iterator[dict[str, Any]]:
    kappa, note = fleiss_kappa(ratings.scores)
    yield {"estimate": kappa, "note": note or None}


def _intraclass(ratings: Ratings) -> Iterator[dict[str, Any]]:
    if ratings.label.binary or ratings.label.unordered or ratings.paired:
        return
    if ratings.by_person is None:
        yield from icc(ratings.scores, ("ICC(1,1)", "ICC(1,k)"))
    else:
        yield from icc(ratings.by_person, ("ICC(1,1)", "ICC(1,k)", "ICC(A,1)", "ICC(C,1)"))


#: in the order of their columns
COEFFICIENTS = (
    Coefficient(
        "cohen_kappa",
        _cohen,
        {
            "Kappa": CoefficientColumn({"weights": "none"}, "Items do not all have two annotations."),
            "Weighted kappa": CoefficientColumn(
                {"weights": "quadratic"}, "Items do not all have two annotations, or the label is binary."
            ),
        },
    ),
    Coefficient(
        "fleiss_kappa",
        _fleiss,
        {"Fleiss' kappa": CoefficientColumn({}, "Items have different numbers of annotations.")},
    ),
    Coefficient(
        "icc",
        _intraclass,
        {
            "ICC(1,1)": CoefficientColumn(
                {"form": "ICC(1,1)"},
                "Not computed for comparisons, binary labels, and items with a missing annotation.",
            )
        },
    ),
)

#: people of a label up to which each two are compared, and common items needed
MOST_PEOPLE, MIN_COMMON, MOST_VALUES = 10, 30, 11


def kappas(annotations: Annotations, labels: Iterable[Label], *, sampling: Sampling) -> Iterator[dict[str, Any]]:
    """Kappa of each two known people of a group over the items that both judged.

    Resampled are dialogues, of comparisons pairs. Comparisons are taken as they are stored, in one orientation each.

    Yields `pair_kappa` with `weights` none and, of labels with an order, quadratic; `pair` names the two people.
    """
    whole = {(x.method, x.id): x for x in labels if x.integer and x.scale[1] - x.scale[0] < MOST_VALUES}
    people = annotations[annotations["annotator_known"].astype(bool) & (annotations["annotator_kind"] == "human")]
    for key, names in people.groupby(CELL, sort=False)["annotator"].unique().items():
        if key[2:] not in whole or not 2 <= len(names) <= MOST_PEOPLE:
            continue
        rows, names = people[(people[CELL] == [*key]).all(axis=1)], sorted(names)
        head = dict(zip(CELL, key, strict=True)) | {"level": METHODS[key[2]].unit, "statistic": "pair_kappa"}
        weights = ("none", "quadratic") if _ordered(whole[key[2:]]) else ("none",)
        for a, b, sums, unit in _of_pairs(rows, names):
            intervals = bootstrap_sums(
                sums,
                lambda s, w=weights: np.column_stack([_kappa(s, kind) for kind in w]),
                unit=unit,
                rng=sampling.stream("pair kappa", *key, a, b),
                n_resamples=sampling.n_resamples,
                confidence=sampling.confidence,
            )
            assert isinstance(intervals, list)  # one for each column
            row = head | {"pair": f"{a} and {b}", "n": int(sums.sum()), "n_annotators": 2, "seed": sampling.seed}
            for kind, interval in zip(weights, intervals, strict=True):
                yield row | {"weights": kind} | interval.row()


def _of_pairs(rows: Annotations, names: list[str]) -> Iterator[tuple[str, str, np.ndarray, str]]:
    """Each two people with MIN_COMMON common items: (units, v v) counts of their scores, and what a unit is.

    rows : of one label. v : values that occur among the items of the two.
    """
    ends = unordered(rows)
    unit = ends["low"].astype(str) + " and " + ends["high"].astype(str)
    paired = rows["dialogue_b"].notna()
    unit = unit.where(paired, rows["dialogue"].astype(str))
    unit = pd.factorize(unit, sort=True)[0]  # numbers are told apart faster
    wide = rows.assign(unit=unit, turn=rows["turn"].fillna(-1)).drop_duplicates(["unit", "turn", "annotator"])
    wide = wide.set_index(["unit", "turn", "annotator"])["score"].unstack()  # noqa: PD010 (twice must raise)
    scores, unit = wide[names].to_numpy(float), wide.index.get_level_values("unit").to_numpy()
    for (i, a), (j, b) in combinations(enumerate(names), 2):
        both = ~np.isnan(scores[:, [i, j]]).any(axis=1)
        if both.sum() < MIN_COMMON:
            continue
        kinds, codes = np.unique(scores[both][:, [i, j]], return_inverse=True)
        codes, units = codes.reshape(-1, 2), pd.factorize(unit[both])[0]
        sums = np.zeros((units.max() + 1, len(kinds) ** 2))
        np.add.at(sums, (units, codes[:, 0] * len(kinds) + codes[:, 1]), 1.0)
        yield a, b, sums, "pair" if paired.any() else "dialogue"


def _kappa(sums: np.ndarray, weights: str) -> np.ndarray:
    """(k,) of (k, v v) counts, rows by one person and columns by the other. Weights go by rank."""
    v = round(np.sqrt(sums.shape[1]))
    apart = np.subtract.outer(np.arange(v), np.arange(v)) ** 2 if weights == "quadratic" else 1 - np.eye(v)
    table = sums.reshape(-1, v, v)
    by_chance = np.einsum("ki,kj,ij->k", table.sum(axis=2), table.sum(axis=1), apart) / table.sum(axis=(1, 2))
    with np.errstate(invalid="ignore"):
        return np.where(by_chance > 0, 1 - (table * apart).sum(axis=(1, 2)) / by_chance, np.nan)
