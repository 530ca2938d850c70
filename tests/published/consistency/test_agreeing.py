"""What agrees: every check that fails nowhere is listed once, with numbers worked out here by hand."""

import pytest
from fixtures import audited

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
