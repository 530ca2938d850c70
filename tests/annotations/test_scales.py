import numpy as np
import pandas as pd

from judgebook.annotations.cells import within_scale
from judgebook.study.labels import Label

LABELS = [Label("quality", "dialogue_likert", "Quality", (1, 5)), Label("better", "comparative", "Better", (-1, 1))]


def rows(low, high):
    keys = {"method": ["dialogue_likert", "comparative", "dialogue_likert"], "label": ["quality", "better", "other"]}
    return pd.DataFrame({**keys, "ci_low": low, "ci_high": high})


def test_intervals_end_where_the_scale_does():
    found = within_scale(rows([-0.73, -6.64, -7.0], [7.4, 0.5, np.nan]), LABELS)
    assert found["ci_low"].tolist() == [1, -1, -7]
    assert found["ci_high"].iloc[:2].tolist() == [5, 0.5]
    assert np.isnan(found["ci_high"].iloc[2])
