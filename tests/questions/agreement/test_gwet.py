"""Gwet's AC1 and AC2: against published examples, irrCAC, and fractions by hand."""

from fractions import Fraction

import numpy as np
import pytest
from fixtures.judged_items import counts, judged

from judgebook.questions.agreement import gwet
from judgebook.statistics.intervals import Interval

N = np.nan
# Gwet 2014, Handbook of Inter-Rater Reliability, four raters and twelve subjects, with missing ratings:
# `cac.raw4raters` of irrCAC (R 1.0, CRAN); five observers: `raw_5observers` of irrCAC (Python 0.4.4)
FOUR_RATERS = np.array(
    [
        [1, 1, N, 1], [2, 2, 3, 2], [3, 3, 3, 3], [3, 3, 3, 3], [2, 2, 2, 2], [1, 2, 3, 4],
        [4, 4, 4, 4], [1, 1, 2, 1], [2, 2, 2, 2], [N, 5, 5, 5], [N, N, 1, 1], [N, N, 3, N],
    ]
)  # fmt: skip
FIVE_OBSERVERS = np.array(
    [
        [1, 1, 2, N, 2], [1, 1, 0, 1, N], [2, 3, 3, 3, N], [N, 0, 0, N, 0], [0, 0, 0, N, 0],
        [0, 0, 0, N, 0], [1, 0, 2, N, 1], [1, N, 2, 0, N], [2, 2, 2, N, 2], [2, 1, 1, 1, N],
        [N, 1, 0, 0, N], [0, 0, 0, 0, N], [1, 2, 2, 2, N], [3, 3, 2, 2, 3], [1, 1, 1, N, 1],
    ]
)  # fmt: skip
#: coefficients by irrCAC 0.4.4 with identity, ordinal and quadratic weights
BY_IRRCAC = {
    "four": (FOUR_RATERS, np.arange(1.0, 6), (0.77544, 0.89894, 0.914)),
    "five": (FIVE_OBSERVERS, np.arange(4.0), (0.49662, 0.78534, 0.83043)),
}


def raw(kind="bca", low=0.5, high=0.9):
    return Interval(0.8, low, high, kind, "dialogue", 12)


@pytest.mark.parametrize("example", BY_IRRCAC)
def test_published_examples(example):
    values, kinds, expected = BY_IRRCAC[example]
    found = [gwet.coefficient(counts(values, kinds), kinds, level) for level in ("nominal", "ordinal", "interval")]
    assert [round(x, 5) for x in found] == pytest.approx(expected)


def test_two_raters_by_hand():
    # 90 items both 0, 4 both 1, 6 differ: p_a = 94/100, pi_1 = 14/200; p_e = 2 pi (1 - pi) (Gwet 2008, equation 6)
    values = np.array([[0, 0]] * 90 + [[1, 1]] * 4 + [[0, 1]] * 6, dtype=float)
    pi = Fraction(14, 200)
    chance = 2 * pi * (1 - pi)
    expected = (Fraction(94, 100) - chance) / (1 - chance)
    assert gwet.coefficient(counts(values, np.arange(2.0)), np.arange(2.0), "nominal") == pytest.approx(float(expected))


def test_weights_by_hand():
    # three values, ordinal: pairs of values from one to the other, of three: w = [1, 2/3, 0]
    assert gwet.weights(np.arange(3.0), "ordinal")[0].tolist() == pytest.approx([1, 2 / 3, 0])
    assert gwet.weights(np.array([1.0, 2, 5]), "interval")[0].tolist() == pytest.approx([1, 15 / 16, 0])
    # items (0, 1), (2, 2), (0,): p_a = (2/3 + 1) / 2, pi = (1/2 + 0 + 1, 1/2, 1) / 3, T_w = 3 + 4 * 2/3
    values = np.array([[0, 1], [2, 2], [0, N]])
    pi = [Fraction(1, 2), Fraction(1, 6), Fraction(1, 3)]
    total = 3 + 4 * Fraction(2, 3)
    chance = total / 6 * sum(p * (1 - p) for p in pi)
    expected = (Fraction(5, 6) - chance) / (1 - chance)
    assert gwet.coefficient(counts(values, np.arange(3.0)), np.arange(3.0), "ordinal") == pytest.approx(float(expected))


def test_comparisons_do_not_depend_on_which_side_is_first():
    r = np.random.default_rng(2)
    values = r.integers(-1, 2, size=(40, 1)) * (r.random((40, 3)) < 0.8).astype(float)
    turned = np.where(np.arange(40)[:, None] % 3 == 0, -values, values)
    kinds, how = np.arange(-1.0, 2), {"unit": "pair", "mirrored": True, "n_resamples": 100}
    one, other = (
        gwet.intervals(judged(v, kinds)[0], kinds, "ordinal", raw(), rng=np.random.default_rng(1), **how)["pair"]
        for v in (values, turned)
    )
    assert (one.estimate, one.low, one.high) == pytest.approx((other.estimate, other.low, other.high))


def test_a_bound_on_raw_agreement_is_carried_over():
    values, kinds = np.zeros((12, 2)), np.arange(2.0)
    values[0] = 1  # all agree, on one mark
    (found,) = gwet.intervals(
        judged(values, kinds)[0], kinds, "nominal", raw("exact_bound", 0.7, 1.0), unit="dialogue", rng=None
    ).values()
    chance = 2 * (1 / 12) * (11 / 12)
    assert (found.estimate, found.high, found.kind) == (1.0, 1.0, "exact_bound")
    assert found.low == pytest.approx((0.7 - chance) / (1 - chance))
    (none,) = gwet.intervals(
        judged(values, kinds)[0], kinds, "nominal", raw("not_estimable", N, N), unit="dialogue", rng=None
    ).values()
    assert (none.kind, none.estimate) == ("not_estimable", 1.0)
