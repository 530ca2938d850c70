"""The model of ratings against `lme4`, `lmerTest` and `emmeans` (tests/reference/ratings.R)."""

import numpy as np
import pandas as pd
import pytest
from fixtures.reference import REFERENCE

from judgebook.model import ratings
from judgebook.model.fit import Fit, Judgements, coded

DATA = pd.read_csv(REFERENCE / "ratings_data.csv")
R = pd.read_csv(REFERENCE / "ratings.csv")
PARTS = ["run", "item", "context", "annotator", "taste", "residual"]


def fitted(name: str) -> Fit:
    rows = DATA[DATA["data_set"] == name]
    codes = {column: coded(rows[column]) for column in ("system", "item", "context", "annotator")}
    system, names = codes["system"]
    item, context, annotator = (codes[column][0] for column in ("item", "context", "annotator"))
    run = coded(rows["run"])[0] if rows["run"].notna().all() else None
    return ratings.fit(Judgements(tuple(names), system, item, context, annotator, rows["score"].to_numpy(), run=run))


@pytest.mark.parametrize("name", R["data_set"].unique())
def test_lme4(name):
    """Variances and differences are those of lme4, standard errors and degrees of freedom those of Kenward
    and Roger."""
    expected, found = R[R["data_set"] == name], fitted(name)
    variances = expected[PARTS].iloc[0].dropna()
    assert set(found.variances) == set(variances.index)
    np.testing.assert_allclose([found.variances[part] for part in variances.index], variances, rtol=1e-4, atol=1e-6)
    d = found.levels.differences()
    systems = np.array(found.systems)
    assert systems[d.first].tolist() == expected["first"].tolist()
    assert systems[d.second].tolist() == expected["second"].tolist()
    np.testing.assert_allclose(d.estimate, expected["estimate"], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(d.se, expected["se_kr"], rtol=1e-3)
    np.testing.assert_allclose(d.df, expected["df_kr"], rtol=0.01)


@pytest.mark.parametrize("name", ["balanced", "missing cells", "Likert, two annotators", "one judgement each"])
def test_lmertest_where_no_variance_is_0(name):
    """Satterthwaite's degrees of freedom by the observed information are near. Where a variance is estimated as 0,
    lmerTest takes it as known and has more: 28 instead of 22, 4 to 6 instead of 2 to 3 in the data sets here, and false
    positives."""
    expected, d = R[R["data_set"] == name], fitted(name).levels.differences()
    np.testing.assert_allclose(d.df, expected["df"], rtol=0.03)
