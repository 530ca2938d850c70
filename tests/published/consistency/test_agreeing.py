"""What agrees: every check that fails nowhere is listed once, with numbers worked out here by hand."""

import numpy as np
import pytest
from fixtures import audited
from scipy import stats

from judgebook.display.views import Prose, Table
from judgebook.published import elements
from judgebook.published.consistency import agreeing, analysis


@pytest.fixture(scope="module")
def shown():
    return list(agreeing.views(audited.of_papers(), elements.load()))


def listed(shown, name):
    (table,) = (v.frame for v in shown if isinstance(v, Table) and v.name == f"agree_{name}")
    return table.set_index("Check")["Places"]


def test_every_check_of_the_papers_that_fails_nowhere_is_listed_once(shown):
    checks = analysis.by_check(audited.of_papers().checks)
    kept = checks["paper"].isin(elements.load()) & (checks["failed"] == 0) & (checks["outcome"] != "not checkable")
    agree = checks[kept & ~checks["rule"].isin(["range", "reordered"])]
    rows = sum(len(v.frame) for v in shown if isinstance(v, Table))
    again = [v.text for v in shown if isinstance(v, Prose) and v.text]
    brief = agree["rule"].isin(["copy", "distinct"])
    assert rows == (~brief).sum()
    assert sum(text.count("\n- ") for text in again) == brief.sum()


def test_costs_of_table_10_by_hand(shown):
    rows = listed(shown, "finch2023")
    (throughput,) = (c for c in rows.index if c.startswith("Table 10, Dialogue collection: throughput"))
    # 60 / 8.085 and 60 / 8.075; 60 / 2.815 and 60 / 2.805
    assert "Printed 7.43, expected 7.4212 to 7.4303." in throughput
    assert "Dialogue Likert 21.37 (21.3144 to 21.3904)" in throughput
    assert rows[throughput] == 6
    # 400 · 0.595 and 400 · 0.605 USD
    assert "Table 10: own cost is the task payment times 400 dialogues. Printed 240.00, expected 238 to 242." in rows


def test_power_of_section_10_from_noncentral_distributions(shown):
    """400 dialogues, one predictor and f = 0.135 to 0.145; 100 dialogues per bot and d = 0.395 to 0.405; level 0.05."""
    f = [stats.ncf.sf(stats.f.isf(0.05, 1, 398), 1, 398, e**2 * 400) for e in (0.135, 0.145)]
    t = [stats.nct.sf(stats.t.isf(0.025, 198), 198, e * np.sqrt(50)) for e in (0.395, 0.405)]
    rows = listed(shown, "finch2023").index
    for what, (low, high) in {"F-test of a regression on one predictor": f, "two-tailed t-test": t}.items():
        said = f"Section 10: power of the {what}. Printed 0.80, expected {low:.4f} to {high:.4f}."
        assert said in rows
