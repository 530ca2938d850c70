"""Intervals of cross-validated fits, and of differences between them."""

import numpy as np
import pytest
from scipy.stats import t as student

from judgebook.statistics import subset_stability as held_out
from judgebook.statistics.subsets import Fitness


def losses(seed=1, n=60, people=20):
    rng = np.random.default_rng(seed)
    return rng.gamma(2, size=(n, 3)), np.arange(n) % people


def test_interval_of_a_ratio_by_hand():
    found, clusters = losses()
    one = held_out.fit_intervals(found, clusters, "session", 0.9)[0]
    logs = [np.log(found[clusters != c, 0].sum() / found[clusters != c, 2].sum()) for c in range(20)]
    error = np.sqrt(19 / 20 * np.sum((np.array(logs) - np.mean(logs)) ** 2))
    centre, half = np.log(found[:, 0].sum() / found[:, 2].sum()), student.ppf(0.95, 19) * error
    assert one.estimate == pytest.approx(1 - np.exp(centre))
    assert (one.low, one.high) == pytest.approx((1 - np.exp(centre + half), 1 - np.exp(centre - half)))


def test_rows_that_were_never_left_out_do_not_count():
    found, clusters = losses()
    less = found.copy()
    less[::7] = np.nan
    keep = np.isfinite(less[:, 0])
    wanted = held_out.fit_intervals(found[keep], clusters[keep], "session", 0.95)[1]
    assert held_out.fit_intervals(less, clusters, "session", 0.95)[1] == wanted


def test_a_certain_and_wrong_logit_has_no_fit():
    found, clusters = losses()
    found[3, 0] = np.inf
    (none, known) = held_out.fit_intervals(found, clusters, "session", 0.95)
    assert np.isnan([none.estimate, none.low, none.high]).all()
    assert np.isfinite([known.estimate, known.low, known.high]).all()


def test_difference_by_hand():
    a, clusters = losses(1)
    b, _ = losses(2)
    b[:, 2] = a[:, 2]
    found = held_out.fit_difference(a[:, [0, 2]], b[:, [0, 2]], clusters, "session", 0.95)
    fit_a, fit_b = (1 - x[:, 0].sum() / x[:, 2].sum() for x in (a, b))
    assert found.estimate == pytest.approx(fit_a - fit_b)
    values = []
    for c in range(20):
        rest = clusters != c
        values.append((b[rest, 0].sum() - a[rest, 0].sum()) / a[rest, 2].sum())
    error = np.sqrt(19 / 20 * np.sum((np.array(values) - np.mean(values)) ** 2))
    assert found.high - found.estimate == pytest.approx(student.ppf(0.975, 19) * error)


@pytest.mark.evidence
def test_coverage_of_the_fit_that_the_search_reaches_on_average():
    """150 studies of 40 sessions with two dialogues; the truth is the mean fit on new data. More cases stand in
    `benchmarks/levels/held_out_fits.csv`."""
    rng = np.random.default_rng(4)

    def world(n):
        session = np.repeat(np.arange(n // 2), 2)
        x = rng.normal(size=(n, 4)) + rng.normal(size=(n // 2, 4))[session]
        return x, 0.4 * x[:, 0] + rng.normal(size=n) + 0.5 * rng.normal(size=n // 2)[session], session

    new_x, new_y, _ = world(20_000)
    truth, intervals = [], []
    for _ in range(150):
        x, y, session = world(80)
        one = Fitness(x, y, "ols")
        of = [
            held_out.row_losses(one, new_x, new_y, m).sum() for m in (held_out.best_of_size(one, 2), np.zeros(4, bool))
        ]
        truth.append(1 - of[0] / of[1])
        intervals += held_out.fit_intervals(
            held_out.best_subset_losses(one, session, rng, [2], 10, 1), session, "session", 0.95
        )
    share = np.mean([i.low <= np.mean(truth) <= i.high for i in intervals])
    assert 0.90 <= share <= 0.99  # 3.2 Monte Carlo errors to either side of 0.945
