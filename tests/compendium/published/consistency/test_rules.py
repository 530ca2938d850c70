"""Rules of the consistency audit: ranges, GRIM, correlations, weights, chance and power, each against a second source.

The properties are always the two that matter: numbers that were truly rounded raise no alarm, and a planted error does.
"""

from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from compendium.published.consistency import rules, statistics
from compendium.published.consistency.cells import Range, certain, evaluate, exactly, possible, printed

TRUE = st.fractions(min_value=-50, max_value=50, max_denominator=10_000)
POSITIVE = st.fractions(min_value=1, max_value=50, max_denominator=1_000)


def text(value, decimals):
    """A fraction rounded as Python rounds, half to even."""
    return f"{round(Fraction(value) * 10**decimals)}e-{decimals}" if decimals else str(round(Fraction(value)))


def rounded(values, decimals):
    return [printed(text(v, decimals), decimals) for v in values]


def test_a_printed_number_is_all_that_is_rounded_to_it():
    assert printed("0.40", 2) == Range(Fraction(395, 1000), Fraction(405, 1000))
    assert printed("-0.00", 2) == Range(Fraction(-5, 1000), Fraction(5, 1000))
    assert printed("84", 0) == Range(Fraction(167, 2), Fraction(169, 2))
    assert exactly(0.14) == exactly("0.14")
    assert exactly(0.14).low == Fraction(14, 100)


@given(TRUE, TRUE, POSITIVE, st.integers(0, 3))
def test_arithmetic_on_ranges_holds_the_true_result(a, b, c, decimals):
    names = dict(zip("abc", ([r] for r in rounded([a, b, c], decimals)), strict=True))
    truths = {"a + b": a + b, "a - b": a - b, "a * b": a * b, "between(a - c, a + c)": a}
    if names["c"][0].low > 0:
        truths |= {"a / c": a / c, "(a + 2 * b) / (c + 1)": (a + 2 * b) / (c + 1), "60 / c * 0.5": 30 / c}
    for expression, truth in truths.items():
        found = evaluate(expression, names)
        assert found.low <= truth <= found.high


def test_expressions_by_hand():
    names = {"n": [exactly(6)], "x": [printed("1.0", 1), printed("2.0", 1)]}
    assert evaluate("pairs(n)", names) == exactly(15)
    assert evaluate("sum(x) / count(x)", names) == Range(Fraction(145, 100), Fraction(155, 100))
    assert evaluate("n / (n - 6)", names) == Range(-inf, inf)
    assert evaluate("n / 4", names) == exactly(1.5)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("x + 1", "x stands for 2 numbers"),
        ("y", "cannot read 'y'"),
        ("__import__('os')", "cannot read"),
        ("n ** 2", "cannot read"),
    ],
)
def test_expressions_that_cannot_be_read_say_what_is_known(expression, message):
    names = {"n": [exactly(6)], "x": [printed("1.0", 1), printed("2.0", 1)]}
    with pytest.raises(ValueError, match=message):
        evaluate(expression, names)


@given(TRUE, TRUE, st.integers(0, 2))
def test_a_relation_that_holds_is_possible_and_one_that_is_certain_holds(a, b, decimals):
    left, right = rounded([a, b], decimals)
    holds = {"==": a == b, "<=": a <= b, ">=": a >= b, "<": a < b, ">": a > b}
    for relation, true in holds.items():
        assert possible(left, relation, right) or not true
        if relation != "==":
            assert true or not certain(left, relation, right)


@pytest.mark.parametrize("n", [3, 7, 9, 12, 19])
def test_grim_finds_exactly_the_means_that_no_scores_have(n):
    scores = (1, 2, 3, 4, 5) if n < 10 else (1, 5)
    totals = {sum(c) for c in combinations_with_replacement(scores, n)} if n < 10 else set(range(n, 5 * n + 1))
    real = {text(Fraction(t, n), 2) for t in totals}
    every = {text(Fraction(i, 100), 2) for i in range(100, 501)}
    assert {m for m in every if rules.possible_mean(printed(m, 2), n)} == real
    assert {m for m in every if rules.possible_mean(printed(m, 2), n) is False} == every - real


def test_grim_says_nothing_where_every_number_can_be_a_mean():
    assert rules.possible_mean(printed("3.45", 2), 100) is None
    assert rules.possible_mean(printed("4.1", 1), 10) is None
    assert rules.possible_mean(printed("1.9", 1), 9) is True  # 17 / 9
    with pytest.raises(ValueError, match="found 0"):
        rules.possible_mean(printed("1.9", 1), 0)


def test_a_value_out_of_order_is_named():
    assert rules.out_of_order([exactly(v) for v in (5, 4, 6, 2)], ">=") == [2]
    assert rules.out_of_order(rounded([Fraction("0.31"), Fraction("0.30")], 1), "<") == []


def test_every_way_to_divide_a_whole_number():
    assert set(rules.divided(5, 3)) == {w for w in product(range(1, 5), repeat=3) if sum(w) == 5}
    assert len(rules.divided(11, 5)) == 210


def test_a_number_is_fixed_to_less_than_one_unit_of_its_last_decimal():
    assert rules.fixes(printed("0.534", 3), 3, exact=False)
    assert not rules.fixes(Range(Fraction(0), Fraction(2, 1000)), 3, exact=False)
    assert rules.fixes(Range(Fraction("17.6"), Fraction("18.4")), 0, exact=True)
    assert not rules.fixes(Range(Fraction(17), Fraction(18)), 0, exact=True)


def columns(seed, n=10, decimals=2):
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 1, n)
    y = rng.uniform(-1, 1) * x + rng.normal(0, 0.7, n)
    return x, y, *(rounded(map(Fraction, values.tolist()), decimals) for values in (x, y))


@given(st.integers(0, 2**32 - 1), st.integers(3, 30), st.integers(0, 3))
def test_the_true_pearson_correlation_lies_within_the_outer_bound(seed, n, decimals):
    x, y, rx, ry = columns(seed, n, decimals)
    found = statistics.pearson(rx, ry)
    assert found.outer.low <= stats.pearsonr(x, y).statistic <= found.outer.high
    if found.inner.low <= found.inner.high:
        assert found.outer.low <= found.inner.low <= found.inner.high <= found.outer.high


def test_the_middle_of_exact_columns_is_scipys_correlation():
    rng = np.random.default_rng(3)
    x, y = ([Fraction(int(v)) for v in rng.integers(-50, 50, 12)] for _ in range(2))
    r = stats.pearsonr([float(v) for v in x], [float(v) for v in y]).statistic
    found = statistics.pearson([exactly(v) for v in x], [exactly(v) for v in y])
    assert found.inner.low == pytest.approx(r, abs=1e-12)
    assert found.outer.high == pytest.approx(r, abs=1e-11)


def test_spearman_without_ties_is_one_value_and_with_a_tie_three():
    y = [exactly(v) for v in (1, 3, 2, 4)]
    apart = statistics.spearman(rounded(map(Fraction, (10, 20, 30, 40)), 0), y)
    assert apart.outer.low == pytest.approx(stats.spearmanr([1, 2, 3, 4], [1, 3, 2, 4]).statistic, abs=1e-9)
    assert apart.outer.high - apart.outer.low < 1e-9
    tied = statistics.spearman(rounded(map(Fraction, (10, 20, 20, 40)), 0), y)
    orders = [stats.spearmanr(x, [1, 3, 2, 4]).statistic for x in ([1, 2, 3, 4], [1, 3, 2, 4], [1, 2, 2, 4])]
    assert tied.outer.low == pytest.approx(min(orders), abs=1e-9)
    assert tied.outer.high == pytest.approx(max(orders), abs=1e-9)


def test_spearman_gives_up_on_many_ties_constants_and_overlaps():
    y = [exactly(v) for v in range(8)]
    assert statistics.spearman([printed("1", 0)] * 8, y) is None
    assert statistics.spearman([printed("1", 0)] * 6 + [printed("2", 0)] * 2, y) is None
    assert statistics.spearman([printed("1", 0), printed("1.2", 1), *[exactly(v) for v in range(2, 8)]], y) is None
    assert statistics.spearman([exactly(1)] * 7 + [exactly(2)], y) is not None  # equal counts are equal


def test_homogeneity_of_exact_shares_is_the_chi_squared_test():
    counts, n = np.array([284, 150, 283]), np.array([1000, 700, 1000])
    p, odd = statistics.homogeneity([exactly(Fraction(int(c), int(m))) for c, m in zip(counts, n, strict=True)], n)
    table = np.array([counts, n - counts])
    assert p == pytest.approx(stats.chi2_contingency(table, correction=False).pvalue, rel=1e-9)
    assert odd == 1


def test_power_is_that_of_the_noncentral_distributions():
    found = statistics.power("t", exactly("0.4"), 100, 0.05)
    at = stats.t.isf(0.025, 198)
    noncentral = stats.nct(198, 0.4 * np.sqrt(50))
    assert found.low == pytest.approx(noncentral.sf(at) + noncentral.cdf(-at), abs=1e-6)
    assert found.low == pytest.approx(0.8036475, abs=1e-6)  # R 4.2: power.t.test(100, 0.4, strict = TRUE)
    found = statistics.power("f", printed("0.14", 2), 400, 0.05)
    at = stats.f.isf(0.05, 1, 398)
    assert found.low == pytest.approx(stats.ncf.sf(at, 1, 398, 400 * 0.135**2), abs=1e-9)
    assert found.high == pytest.approx(stats.ncf.sf(at, 1, 398, 400 * 0.145**2), abs=1e-9)
    with pytest.raises(ValueError, match="t or f"):
        statistics.power("z", exactly("0.4"), 100, 0.05)
