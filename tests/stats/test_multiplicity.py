import numpy as np
import pandas as pd
import pytest
from fixtures.reference import TWO_SAMPLES
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from helpers.stats.multiplicity import ADJUSTMENTS, adjust, adjust_rows

STATSMODELS = {"holm": "holm", "bh": "fdr_bh", "by": "fdr_by"}
P = [0.01, 0.02, 0.03, 0.04, 0.05]


def test_by_hand():
    assert adjust(P, "holm") == pytest.approx([0.05, 0.08, 0.09, 0.09, 0.09])
    assert adjust(P, "bh") == pytest.approx([0.05] * 5)
    harmonic = 1 + 1 / 2 + 1 / 3 + 1 / 4 + 1 / 5
    assert adjust(P, "by") == pytest.approx([0.05 * harmonic] * 5)


@pytest.mark.parametrize("method", ADJUSTMENTS)
def test_equals_r(method):
    p = [0.001, 0.02, 0.021, 0.4, 0.04, 0.9]
    expected = [TWO_SAMPLES[f"{method} {i}"] for i in range(1, 7)]
    assert adjust(p, method) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("method", ADJUSTMENTS)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_equals_statsmodels(method, values):
    assert adjust(values, method) == pytest.approx(multipletests(values, method=STATSMODELS[method])[1], abs=1e-12)


@pytest.mark.parametrize("method", ADJUSTMENTS)
def test_along_the_last_axis_and_without_missing_values(method):
    p = np.random.default_rng(0).random((4, 3, 6)) ** 3
    p[1, 2, [0, 4]] = np.nan
    p[3, 0] = np.nan
    found = adjust(p, method)
    for i in np.ndindex(4, 3):
        known = ~np.isnan(p[i])
        assert np.isnan(found[i][~known]).all()
        if known.any():
            assert found[i][known] == pytest.approx(multipletests(p[i][known], method=STATSMODELS[method])[1])


def test_families_of_rows():
    rows = pd.DataFrame({"label": list("aabba"), "p_value": [0.01, 0.04, 0.02, np.nan, 0.03]})
    within = adjust_rows(rows, ["label"], "pairs of systems, one label")
    assert within["p_adjusted"].tolist()[:3] == pytest.approx([0.03, 0.06, 0.02])
    assert np.isnan(within["p_adjusted"][3])
    assert set(within["family"]) == {"pairs of systems, one label, holm"}
    over = adjust_rows(rows, [], "all labels", "bh")
    assert over["p_adjusted"].dropna().tolist() == pytest.approx([0.04, 0.04, 0.04, 0.04])


def test_an_unknown_method_is_refused():
    with pytest.raises(ValueError, match="expected one of holm, bh, by, found 'bonferroni'"):
        adjust(P, "bonferroni")
