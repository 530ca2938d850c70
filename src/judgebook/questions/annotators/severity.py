"""How severe is each annotator, given what others would have scored the same dialogues?

A label's scores are modelled with systems, annotators, dialogues, and annotators within systems as random effects
(`annotations.mixed_models`): ordered answers by a cumulative-link mixed model, which is a many-facet Rasch model with
random raters, marks by a logistic one, other scores by a linear one. Over all labels of a method, the mean of an
annotator's standardised scores of an item has a linear model: its standard error accounts for labels that go together.

Severity is partially pooled: drawn towards 0, the more so the less is known of an annotator. A predicted effect varies
less than the effects themselves: its standard deviation is the root of their variance minus its prediction error, by
which it is divided before annotators are compared (Waternaux, Laird and Ware 1989).

References
----------
Linacre 1989, Many-Facet Rasch Measurement. Waternaux, Laird and Ware 1989, Journal of the American Statistical
Association 84, 33-41 (outliers among random effects).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from judgebook.annotations import mixed_models
from judgebook.annotations.mixed_models import Fitted
from judgebook.study.labels import Label
from judgebook.study.schema import Annotations

#: why there is no severity, for readers
INSEPARABLE = "effects of annotators cannot be separated from those of what they judged"
_ITEM = ["dialogue", "turn"]
_COLUMNS = ["system", "annotator", "annotator_known", "dialogue", "score"]


def standardised(rows: Annotations) -> Annotations:
    """Scores of each label with mean 0 and standard deviation 1; labels whose scores do not vary are left out."""
    by = rows.groupby("label", sort=False)["score"]
    sd = by.transform("std")
    return rows.assign(score=(rows["score"] - by.transform("mean")) / sd)[(sd > 0).to_numpy()]


def towards_better(rows: Annotations, labels: Mapping[tuple[str, str], Label]) -> pd.DataFrame:
    """Rows of one method with scores that are higher for the better, which is what a lenient annotator gives.

    Labels that are neither good nor bad are left out, unless there are no others. Marks stay as they are: what differs
    between annotators is how readily they mark, whatever is marked.
    """
    directions = {key: 1 if label.binary else label.direction for key, label in labels.items()}
    sign = pd.Series([directions[key] for key in zip(rows["method"], rows["label"], strict=True)], index=rows.index)
    if not sign.any():
        return rows
    return rows.assign(score=rows["score"] * sign)[sign != 0]


def by_label(rows: Annotations, confidence: float) -> Iterator[dict[str, Any]]:
    """`annotator_severity` of each annotator for one label, on the model's scale; positive: gives higher scores.

    rows : annotations of one corpus, group, method and label. Yields one row with a note where there is no model.
    """
    why = mixed_models.why_not(rows)
    names = [] if why else [*(m for m in mixed_models.models(rows["score"]) if m != "linear"), "linear"]
    for name in names:
        fitted = mixed_models.fit(rows[_COLUMNS], name)
        if isinstance(fitted, str):
            why = fitted
            continue
        yield from _rows(fitted, confidence, len(rows))
        return
    yield {"statistic": "annotator_severity", "ci_kind": "not_estimable", "note": why}


def overall(rows: Annotations, confidence: float) -> tuple[list[dict[str, Any]], pd.Series]:
    """`annotator_severity` over all labels of a method, in standard deviations of scores, and (annotators,) z values.

    rows : annotations of one corpus, group and method, none of them comparisons, from `towards_better`.
    """
    rows = standardised(rows)
    if rows.empty:
        return [], pd.Series(dtype=float)
    keys = ["annotator", "annotator_known", "system", *_ITEM]
    means = rows.groupby(keys, dropna=False, sort=False)["score"].mean().reset_index()
    why = mixed_models.why_not(means)
    fitted = why or mixed_models.fit(means[_COLUMNS], "linear")
    if isinstance(fitted, str) or "annotator" not in fitted.parts:
        note = fitted if isinstance(fitted, str) else INSEPARABLE
        return [{"statistic": "annotator_severity", "ci_kind": "not_estimable", "note": note}], pd.Series(dtype=float)
    return list(_rows(fitted, confidence, len(means))), z_values(fitted)


def _rows(fitted: Fitted, confidence: float, n: int) -> Iterator[dict[str, Any]]:
    if "annotator" not in fitted.parts:
        yield {"statistic": "annotator_severity", "ci_kind": "not_estimable", "note": INSEPARABLE}
        return
    effect, error = fitted.effects["annotator"], fitted.errors["annotator"]
    half = stdtrit(max(len(effect) - 1, 1), (1 + confidence) / 2) * error
    same = {"statistic": "annotator_severity", "model": fitted.model, "ci_kind": "t", "n": n}
    if np.ptp(effect) == 0:  # the model would be certain that all are alike
        half = np.full(len(effect), np.nan)
        same |= {"ci_kind": "not_estimable", "note": "the variance of annotators is estimated as 0"}
    for name, value, reach in zip(fitted.levels["annotator"], effect, half, strict=True):
        yield {**same, "annotator": name, "estimate": value, "ci_low": value - reach, "ci_high": value + reach}


def z_values(fitted: Fitted) -> pd.Series:
    """Effects of annotators, by the standard deviation that predicted effects have; 0 where annotators do not vary."""
    effect, error, sd = fitted.effects["annotator"], fitted.errors["annotator"], fitted.sd["annotator"]
    spread = np.sqrt(np.maximum(sd**2 - error**2, 0.0))
    z = np.divide(effect, spread, out=np.zeros(len(effect)), where=spread > 1e-3 * max(sd, 1e-12))
    return pd.Series(z, index=fitted.levels["annotator"])
