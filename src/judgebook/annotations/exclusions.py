"""Ratings and annotators that a study leaves out because they differ from the others (`filters:` of the YAML).

Such rules make people agree more by leaving out those who do not: agreement after a filter says nothing about how
closely people agreed.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

import numpy as np
import pandas as pd

from judgebook.study.labels import METHODS, Label
from judgebook.study.schema import CELL, Annotations, DataError, Problem
from judgebook.study.sections.data import Filter

#: makes the median absolute deviation of a normal distribution its standard deviation (Leys et al. 2013)
NORMAL = 1.4826
_ITEM = ["corpus", "group", "method", "label", "dialogue", "turn"]


def left_out(annotations: Annotations, labels: Iterable[Label], rules: Iterable[Filter]) -> pd.Series:
    """For each annotation the reason why it is left out, missing where it stays. Rules apply in order, each to what the
    ones before have left; comparisons, and judgements by models, stay.

    Raises DataError where `kappa` would have to compare annotators who are not known.
    """
    reason = pd.Series(None, index=annotations.index, dtype=object)
    ordered = {(x.method, x.id) for x in labels if not x.unordered}
    single = annotations["method"].map(lambda m: METHODS[m].unit != "pair")
    people = annotations[single & (annotations["annotator_kind"] == "human") & annotations["score"].notna()]
    for rule in rules:
        rows = people[reason[people.index].isna()]
        rows = rows[rows["label"].isin(rule.labels)] if rule.labels else rows
        if rule.rule == "deviation":
            known = pd.MultiIndex.from_frame(rows[["method", "label"]]).isin(ordered)
            hit, said = deviating(rows[known], rule), f"far from the {rule.center} of the item"
        else:
            hit, said = disagreeing(rows, rule), f"annotator's mean kappa with the others below {rule.least:g}"
        reason[hit.index[hit]] = f"{said} (`filters`)"
    return reason


def deviating(rows: pd.DataFrame, rule: Filter) -> pd.Series:
    """Whether a rating is further from the centre of its item than `most` times the typical distance from it.

    Centre `median`: the typical distance is the median distance times 1.4826 (Leys et al. 2013), as in the public code
    of Zhao, Lala and Kawahara 2020, with `most` 1. Centre `mean`: the mean distance, in the words of Zhang et al. 2022
    (section 2.1, "mean average deviation filtering"), who do not define it further. Of two ratings none is left out.
    """
    score = rows["score"].astype(float)
    by = [rows[c] for c in _ITEM]
    distance = (score - score.groupby(by, dropna=False).transform(rule.center)).abs()
    typical = distance.groupby(by, dropna=False).transform(rule.center) * (NORMAL if rule.center == "median" else 1.0)
    return distance > rule.most * typical + 1e-9


def disagreeing(rows: pd.DataFrame, rule: Filter) -> pd.Series:
    """Whether a judgement is by an annotator whose mean kappa with the others, on this label, is below `least`.

    The mean is over the others with whom at least `shared` items are common and kappa is defined; who has none of them
    stays. Gupta et al. 2019, as reported by Zhang et al. 2022 (section 2.1): "ratings of annotators with a Cohen's
    Kappa inter-annotator agreement of less than 0.2 are removed".
    """
    if len(rows) and not rows["annotator_known"].astype(bool).all():
        hint = "use `rule: deviation`, or leave out `filters`"
        raise DataError([Problem("filters", "", "kappa", "annotators who are known", "positions in a list", hint)])
    hit = pd.Series(False, index=rows.index)
    for _, cell in rows.groupby(CELL, sort=False):
        kappas = mean_kappas(cell, rule)
        hit[cell.index] = cell["annotator"].isin(kappas.index[kappas < rule.least])
    return hit


def mean_kappas(rows: pd.DataFrame, rule: Filter) -> pd.Series:
    """Annotator -> mean kappa with the others; missing where it cannot be determined. rows : of one label and group."""
    from statsmodels.stats.inter_rater import cohens_kappa

    first = rows.drop_duplicates(["dialogue", "turn", "annotator"])
    wide = first.set_index(["dialogue", "turn", "annotator"])["score"].unstack()  # noqa: PD010 (twice must raise)
    kinds, people = np.unique(first["score"]), list(wide.columns)
    codes = np.searchsorted(kinds, wide.to_numpy(float))  # what is missing has a code of its own, the last
    pairwise = np.full((len(people), len(people)), np.nan)
    for a, b in combinations(range(len(people)), 2):
        common = codes[(codes[:, [a, b]] < len(kinds)).all(axis=1)][:, [a, b]]
        if len(common) < rule.shared or len(np.unique(common)) < 2:
            continue
        table = np.bincount(common[:, 0] * len(kinds) + common[:, 1], minlength=len(kinds) ** 2)
        weights = None if rule.weights == "none" else rule.weights
        kappa = cohens_kappa(table.reshape(len(kinds), -1), wt=weights, return_results=False)
        pairwise[a, b] = pairwise[b, a] = kappa
    return pd.DataFrame(pairwise, index=people).mean(axis=1)
