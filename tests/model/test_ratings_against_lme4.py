"""The model of ratings against `lme4`, `lmerTest` and `emmeans` (tests/reference/ratings.R)."""

import numpy as np
import pandas as pd
import pytest
from fixtures.reference import REFERENCE

from judgebook.model import ratings
from judgebook.model.fit import Fit
from judgebook.model.judgements import Judgements, coded

DATA = pd.read_csv(REFERENCE / "ratings_data.csv")
R = pd.read_csv(REFERENCE / "ratings.csv")
PARTS = ["item", "context", "annotator", "taste", "residual"]


def fitted(name: str) -> Fit:
    rows = DATA[DATA["data_set"] == name]
    codes = {column: coded(rows[column]) for column in ("system", "item", "context", "annotator")}
    system, names = codes["system"]
    item, context, annotator = (codes[column][0] for column in ("item", "context", "annotator"))
    return ratings.fit(Judgements(tuple(names), system, item, context, annotator, rows["score"].to_numpy()))


@pytest.mark.parametrize("name", R["data_set"].unique())
def test_lme4(name):
    """Where a variance is estimated as 0, both take it as known: its degrees of freedom do not count."""
    expected, found = R[R["data_set"] == name], fitted(name)
    variances = expected[PARTS].iloc[0].dropna()
    assert set(found.variances) == set(variances.index)
    np.testing.assert_allclose([found.variances[part] for part in variances.index], variances, rtol=1e-4, atol=1e-6)
    d = found.levels.differences()
    systems = np.array(found.systems)
    assert systems[d.first].tolist() == expected["first"].tolist()
    assert systems[d.second].tolist() == expected["second"].tolist()
    np.testing.assert_allclose(d.estimate, expected["estimate"], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(d.se, expected["se"], rtol=1e-3)
    np.testing.assert_allclose(d.df, expected["df"], rtol=0.01)
    np.testing.assert_allclose(d.p_value, expected["p"], rtol=0.01)
