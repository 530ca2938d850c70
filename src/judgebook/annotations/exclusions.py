"""Ratings that a study leaves out because they differ from the others (`filters:` of the YAML).

Such rules raise agreement by leaving out ratings that do not agree: agreement after a filter says nothing about how
closely people agreed.
"""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from judgebook.study.labels import METHODS, Label
from judgebook.study.schema import Annotations
from judgebook.study.sections.data import Filter

#: makes the median absolute deviation of a normal distribution its standard deviation (Leys et al. 2013)
NORMAL = 1.4826
_ITEM = ["corpus", "group", "method", "label", "dialogue", "turn"]


def left_out(annotations: Annotations, labels: Iterable[Label], rules: Iterable[Filter]) -> pd.Series:
    """For each annotation the reason why it is left out, missing where it stays. Rules apply in order, each to what the
    ones before have left; comparisons, and judgements by models, stay.
    """
    reason = pd.Series(None, index=annotations.index, dtype=object)
    ordered = {(x.method, x.id) for x in labels if not x.unordered}
    single = annotations["method"].map(lambda m: METHODS[m].unit != "pair")
    people = annotations[single & (annotations["annotator_kind"] == "human") & annotations["score"].notna()]
    for rule in rules:
        rows = people[reason[people.index].isna()]
        rows = rows[rows["label"].isin(rule.labels)] if rule.labels else rows
        known = pd.MultiIndex.from_frame(rows[["method", "label"]]).isin(ordered)
        far = deviating(rows[known], rule)
        reason[far.index[far]] = f"far from the {rule.center} of the item (`filters`)"
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
