"""Printed counts of systems: pairs by enumeration, Table 7 by hand."""

import itertools

import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

from compendium.papers import moderation
from compendium.published import numbers
from judgebook.questions.moderation.analysis import OUTCOMES


@pytest.fixture(scope="module")
def paper():
    return numbers.load("dstc10")


def test_ranges_are_those_of_all_counts():
    """Three systems, four judgements of each pair: every way to give them outcomes, by their sums."""
    totals = {("a", "b"): 4, ("a", "c"): 4, ("b", "c"): 4}
    ways = [
        w for w in itertools.product(range(5), repeat=4) if sum(w) == 4
    ]  # wins, tied, unrelated, loses of the first
    counts = pd.DataFrame([[4, 1, 1, 2], [3, 1, 1, 3], [2, 2, 0, 4]], index=list("abc"), columns=list(OUTCOMES))
    leads = []
    for ab, ac in itertools.product(ways, repeat=2):
        if [x + y for x, y in zip(ab, ac, strict=True)] == counts.loc["a"].tolist():
            leads += [
                (ab[0] - ab[3], ac[0] - ac[3])
                for bc in ways
                if [ab[3] + bc[0], ab[1] + bc[1], ab[2] + bc[2], ab[0] + bc[3]] == counts.loc["b"].tolist()
                and [ac[3] + bc[3], ac[1] + bc[1], ac[2] + bc[2], ac[0] + bc[0]] == counts.loc["c"].tolist()
            ]
    assert len(leads) > 1
    found = moderation.lead_ranges(counts, totals, [("a", ["b"]), ("c", ["a"]), ("a", ["b", "c"])])
    of = [[x for x, _ in leads], [-y for _, y in leads], [x + y for x, y in leads]]
    for row, values, n in zip(found.itertuples(), of, (4, 4, 8), strict=True):
        assert (row.n, row.low * n, row.high * n) == pytest.approx((n, min(values), max(values)))


def test_what_table_6_determines(paper):
    """BlenderBot 2 wins 1,054 - 474 = 580 times more than it loses; people won or lost at most 140 against it, and lost
    68 times in all."""
    rows = moderation.printed_leads(paper)
    assert rows["n"].tolist() == [2_240] * 3 + [1_120] * 3 + [140] * 3
    whole = rows[rows["against"].map(len) == 2].set_index("system")
    assert whole.loc["blenderbot_2", ["low", "high"]].tolist() == pytest.approx(
        [(580 - 68) / 2_240, (580 + 140) / 2_240]
    )
    assert (whole.at["baseline", "high"] < 0, whole.at["gpt_3", "high"] > 0 > whole.at["gpt_3", "low"]) == (True, True)
    pairs = rows[rows["against"].map(len) == 1]
    assert ((pairs["low"] < 0) & (pairs["high"] > 0)).all()


def test_whether_metrics_order_systems_as_people_do(paper):
    found = {
        row["metric"]: (row["same"], row["other"], row["neither"])
        for row in moderation.agreement(moderation.scores(paper))
    }
    # wins: BlenderBot 44.3, GPT-3 27.3, baseline 17.9
    assert found == {"BLEU": (2, 0, 1), "ROUGE": (2, 1, 0), "BERTScore": (2, 1, 0), "BLEURT": (1, 2, 0)}


def test_flags_have_wilson_s_intervals_of_all_that_rounds_to_them(paper):
    rows = moderation.flags(paper).set_index(["system", "interval"])
    n = 2 * 160 * 7 + 140
    low = proportion_confint(n * 0.1485, n, method="wilson")[0]
    high = proportion_confint(n / 7 * 0.1495, n / 7, method="wilson")[1]
    assert rows.at[("gpt_3", "n"), "ci_low"] == pytest.approx(low)
    assert rows.at[("gpt_3", "items"), "ci_high"] == pytest.approx(high)
    assert rows.at[("human", "n"), "n"] == 420
