"""Coefficients beside alpha: against published examples, irrCAC, R, statsmodels, and fractions by hand."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from fixtures.judged_items import counts
from fixtures.made_annotations import annotation_rows
from fixtures.reference import REFERENCE
from fixtures.reference import agreement as reference
from statsmodels.stats.inter_rater import cohens_kappa

from judgebook.questions.agreement.coefficients import (
    cohen_kappa,
    fleiss_kappa,
    gwet_ac,
    gwet_weights,
    icc,
    kappas,
)
from judgebook.study.labels import Label
from judgebook.study.results import collect

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


@pytest.mark.parametrize("example", BY_IRRCAC)
def test_published_examples(example):
    values, kinds, expected = BY_IRRCAC[example]
    found = [gwet_ac(counts(values, kinds), kinds, level) for level in ("nominal", "ordinal", "interval")]
    assert [round(x, 5) for x in found] == pytest.approx(expected)


def test_two_raters_by_hand():
    # 90 items both 0, 4 both 1, 6 differ: p_a = 94/100, pi_1 = 14/200; p_e = 2 pi (1 - pi) (Gwet 2008, equation 6)
    values = np.array([[0, 0]] * 90 + [[1, 1]] * 4 + [[0, 1]] * 6, dtype=float)
    pi = Fraction(14, 200)
    chance = 2 * pi * (1 - pi)
    expected = (Fraction(94, 100) - chance) / (1 - chance)
    assert gwet_ac(counts(values, np.arange(2.0)), np.arange(2.0), "nominal") == pytest.approx(float(expected))


def test_weights_by_hand():
    # three values, ordinal: pairs of values from one to the other, of three: w = [1, 2/3, 0]
    assert gwet_weights(np.arange(3.0), "ordinal")[0].tolist() == pytest.approx([1, 2 / 3, 0])
    assert gwet_weights(np.array([1.0, 2, 5]), "interval")[0].tolist() == pytest.approx([1, 15 / 16, 0])
    # items (0, 1), (2, 2), (0,): p_a = (2/3 + 1) / 2, pi = (1/2 + 0 + 1, 1/2, 1) / 3, T_w = 3 + 4 * 2/3
    values = np.array([[0, 1], [2, 2], [0, N]])
    pi = [Fraction(1, 2), Fraction(1, 6), Fraction(1, 3)]
    total = 3 + 4 * Fraction(2, 3)
    chance = total / 6 * sum(p * (1 - p) for p in pi)
    expected = (Fraction(5, 6) - chance) / (1 - chance)
    assert gwet_ac(counts(values, np.arange(3.0)), np.arange(3.0), "ordinal") == pytest.approx(float(expected))


def test_comparisons_do_not_depend_on_which_side_is_first():
    r = np.random.default_rng(2)
    values = r.integers(-1, 2, size=(40, 1)) * (r.random((40, 3)) < 0.8).astype(float)
    turned, kinds = np.where(np.arange(40)[:, None] % 3 == 0, -values, values), np.arange(-1.0, 2)
    one, other = (gwet_ac(counts(v, kinds), kinds, "ordinal", mirrored=True) for v in (values, turned))
    assert one == pytest.approx(other)


@pytest.mark.parametrize(("level", "q"), [("nominal", 2), ("nominal", 4)])
def test_no_ac1_is_lower_than_where_each_item_has_two_values(level, q):
    rng, values = np.random.default_rng(4), np.arange(float(q))
    cycle = np.array([np.bincount([i, (i + 1) % q], minlength=q) for i in range(q)])
    lowest = gwet_ac(cycle, values, level)
    assert lowest == pytest.approx(-1 / (q - 1))
    pairs = np.array([np.bincount(row, minlength=q) for row in rng.integers(0, q, (400, 2))])
    assert all(gwet_ac(items, values, level) >= lowest - 1e-12 for items in np.split(pairs, 100))


def test_fleiss_kappa_of_fleiss_1971():
    table = pd.read_csv(REFERENCE / "fleiss1971.csv").to_numpy()
    assert round(fleiss_kappa(np.array([np.repeat(np.arange(5), row) for row in table], dtype=float))[0], 3) == 0.430
    assert table.sum(axis=0) / 180 == pytest.approx([0.144, 0.144, 0.167, 0.306, 0.239], abs=0.0005)


def test_cohen_kappa_by_hand_and_r():
    # 20 both yes, 5 and 10 split, 15 both no: p_o = 0.7, p_e = 0.5 * 0.6 + 0.5 * 0.4 = 0.5, kappa = 0.4
    assert cohen_kappa(np.repeat([[1.0, 1], [1, 0], [0, 1], [0, 0]], [20, 5, 10, 15], 0)) == (pytest.approx(0.4), "")
    ratings = np.array(
        [[1, 2, 3, 3, 4, 5, 5, 2, 1, 3, 4, 4, 2, 5, 1, 3, 2, 4], [1, 2, 2, 3, 4, 4, 5, 3, 1, 3, 5, 4, 1, 5, 2, 3, 2, 3]]
    )
    expected = [reference("kappa")[0], reference("kappa_quadratic")[0]]
    assert [cohen_kappa(ratings.T, w)[0] for w in ("none", "quadratic")] == pytest.approx(expected)


def test_icc_equals_r_psych_and_shrout_fleiss():
    ratings = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7.0]])
    assert icc(ratings)[0] == pytest.approx(reference("icc")[0])
    assert round(icc(ratings)[0], 2) == 0.17  # the paper's table 4


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (cohen_kappa(np.ones((5, 2))), "fewer than two values"),
        (cohen_kappa(np.ones((5, 3))), "two annotators"),
        (fleiss_kappa(np.ones((5, 2))), "only one value"),
        (fleiss_kappa(np.array([[1, 2, np.nan], [1, 1, 2]])), "equally many"),
        (icc(np.ones((5, 2))), "only one value"),
        (icc(np.array([[1, 2], [1, np.nan], [2, 2.0]])), "every annotation"),
        (icc(np.array([[1, 1], [3, 3], [2, 2.0]])), "no error variance"),
        (icc(np.array([[1, 2], [2, 1.0]])), "there are 2 and 2"),
    ],
)
def test_undefined_coefficients_have_a_reason(found, reason):
    value, note = found
    assert np.isnan(value)
    assert reason in note


FINE = Label("fine", "turn_rating", "Fine", (1, 3))


def by_three(n=80, known=True):
    rng = np.random.default_rng(5)
    truth, rows = rng.integers(1, 4, n), []
    for who in ("A1", "A2", "A3"):
        said = np.where(rng.random(n) < 0.7, truth, rng.integers(1, 4, n))
        for i in np.flatnonzero(rng.random(n) < 0.9):
            rows.append({"annotator": who, "score": float(said[i]), "dialogue": f"d{i // 2}", "turn": i % 2})
    return annotation_rows(rows, method="turn_rating", label="fine", annotator_known=known)


@pytest.mark.parametrize(("weights", "wt"), [("none", None), ("quadratic", "quadratic")])
def test_kappas_of_every_two_people_are_those_of_statsmodels(weights, wt):
    frame = by_three()
    found = collect(kappas(frame, [FINE]))["pair_kappa"].set_index("weights").loc[weights].set_index("pair")
    wide = frame.pivot_table(index=["dialogue", "turn"], columns="annotator", values="score")
    for a, b in (("A1", "A2"), ("A1", "A3"), ("A2", "A3")):
        both = wide[[a, b]].dropna()
        table = pd.crosstab(both[a], both[b]).to_numpy()
        assert found.loc[f"{a} and {b}", "estimate"] == pytest.approx(cohens_kappa(table, wt=wt, return_results=False))
        assert found.loc[f"{a} and {b}", "n"] == len(both)


def test_values_without_an_order_have_no_weights_and_positions_and_few_items_no_kappas():
    names = Label("fine", "turn_rating", "Fine", (1, 3), level="nominal")
    assert collect(kappas(by_three(), [names]))["pair_kappa"]["weights"].tolist() == ["none"] * 3
    assert collect(kappas(by_three(known=False), [FINE])) == {}
    assert collect(kappas(by_three(n=20), [FINE])) == {}
