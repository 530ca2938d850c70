"""P-values of result rows are adjusted within their family."""

import numpy as np
import pandas as pd
import pytest

from judgebook.annotations.cells import adjust_rows


def test_families_of_rows():
    rows = pd.DataFrame({"label": list("aabba"), "p_value": [0.01, 0.04, 0.02, np.nan, 0.03]})
    within = adjust_rows(rows, ["label"], "pairs of systems, one label")
    assert within["p_adjusted"].tolist()[:3] == pytest.approx([0.03, 0.06, 0.02])
    assert np.isnan(within["p_adjusted"][3])
    assert set(within["family"]) == {"pairs of systems, one label, holm"}
