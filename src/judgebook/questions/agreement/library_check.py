"""Agreement recomputed with well-maintained libraries on the data of the report."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

import numpy as np
import pandas as pd

from judgebook.annotations.cells import cells
from judgebook.questions.agreement.coincidences import patterns_long
from judgebook.questions.agreement.items import SHARED, first_annotations, item_weights, matrix
from judgebook.questions.agreement.population import PRIMARY
from judgebook.study.labels import METHODS, Label
from judgebook.study.results import Results, where
from judgebook.study.schema import Annotations


def compare(
    annotations: Annotations, labels: Iterable[Label], results: Results, *, first: int | None = None
) -> pd.DataFrame:
    """Alpha by `krippendorff` and ICC(1,1) by `pingouin` against those in `results`.

    annotations, labels, first : as given to `analysis.alpha_table`, which `results` come from.

    Returns one row per coefficient, corpus, group, method and label: coefficient, library, ours, theirs.
    """
    chosen = first_annotations(annotations, first=first)
    rows = []
    for cell, label, frame in cells(chosen[chosen.duplicated(["item", "group"], keep=False)], labels):
        if label.level == "sets":  # the libraries know no distance of sets
            continue
        ours = where(results["alpha"], **cell, scope=None, resample=[*PRIMARY, *SHARED, "turn"])["estimate"]
        if item_weights(frame) is None:  # the library knows no sampling weights
            by_library = _krippendorff(frame, label)
            rows.append({**cell, "library": "krippendorff", "ours": ours.iloc[0], "theirs": by_library})
        icc = where(results["icc"], **cell, form="ICC(1,1)")["estimate"].dropna()
        if len(icc):
            rows.append({**cell, "library": "pingouin", "ours": icc.iloc[0], "theirs": _pingouin(frame)})
    return pd.DataFrame(rows, columns=["corpus", "group", "method", "label", "library", "ours", "theirs"])


def largest_differences(compared: pd.DataFrame) -> dict[str, tuple[int, float]]:
    """Per library: how many coefficients were compared, and the largest absolute difference."""
    difference = (compared["ours"] - compared["theirs"]).abs().groupby(compared["library"], sort=False)
    return {library: (int(d.count()), float(d.max())) for library, d in difference if d.count()}


def _krippendorff(frame: Annotations, label: Label) -> float:
    import krippendorff

    item, scores = pd.factorize(frame["item"])[0], frame["score"].to_numpy()
    if METHODS[label.method].unit == "pair":  # both orientations, as in the original files
        item, scores = np.r_[item, item + item.max() + 1], np.r_[scores, -scores]
    items = patterns_long(item, scores, item.max() + 1)
    if len(items.values) < 2:
        return np.nan
    counts = items.counts[items.index[items.index >= 0]]
    return float(krippendorff.alpha(value_counts=counts, value_domain=items.values, level_of_measurement=label.level))


def _pingouin(frame: Annotations) -> float:
    import pingouin

    scores = matrix(frame)
    long = scores.stack().rename("score").reset_index()  # noqa: PD013
    with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
        warnings.filterwarnings("ignore", "The inplace keyword", DeprecationWarning)  # pingouin 0.7 on pandas 3.1
        table = pingouin.intraclass_corr(long, "item", "position", "score").set_index("Type")
    return float(table.at["ICC(1,1)", "ICC"])
