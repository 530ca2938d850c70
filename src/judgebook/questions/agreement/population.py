"""Of whom agreement can speak: of other annotators or of these only, by who judged the items that were judged twice."""

from __future__ import annotations

import numpy as np
import pandas as pd

from judgebook.annotations.population import FIXED, UNKNOWN
from judgebook.annotations.population import LEAST as LEAST_EFFECTIVE

#: the population of a result: other annotators too; these; unknown people, and so these (FIXED, UNKNOWN)
SAMPLE = "sample"


def effective_annotators(annotations: pd.DataFrame) -> float:
    """One over the sum of squared shares of judgements: how many annotators with equal shares would say as much.

    annotations : one row per judgement, with `annotator`. Kish 1965, Survey Sampling, section 8.2.
    """
    n = annotations["annotator"].value_counts().to_numpy(dtype=float)
    return float(n.sum() ** 2 / np.sum(n**2)) if n.sum() else 0.0


def population(annotations: pd.DataFrame) -> str:
    """SAMPLE from LEAST_EFFECTIVE effective annotators who are known (to one decimal, as loads that were meant to be
    equal rarely are), FIXED below, UNKNOWN where not all are known."""
    if not annotations["annotator_known"].all():
        return UNKNOWN
    return SAMPLE if round(effective_annotators(annotations), 1) >= LEAST_EFFECTIVE else FIXED
