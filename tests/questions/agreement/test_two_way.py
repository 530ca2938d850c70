"""Intervals of alpha for other annotators: against leave-one-out written out with the package, and in simulation."""

import krippendorff
import numpy as np
import pytest
from fixtures.judged_items import judged, left_out, world

from judgebook.questions.agreement import alpha as module
from judgebook.questions.agreement.alpha import AT_LOWEST, Judgements, alpha_of, alpha_two_way, lowest_alpha
from judgebook.questions.agreement.coincidences import patterns

N = np.nan


def theirs(values, level):
    return krippendorff.alpha(values[(~np.isnan(values)).sum(axis=1) > 1].T, level_of_measurement=level)


@pytest.mark.parametrize(("level", "contexts"), [("ordinal", None), ("nominal", 10), ("interval", 12)])
def test_it_is_the_jackknife_written_out(level, contexts):
    values, cluster = world(np.random.default_rng(5), contexts=contexts)
    found = alpha_two_way(*judged(values, clusters=cluster), level, unit="context")
    whole, ends, se = left_out(lambda x: theirs(x, level), values, cluster)
    assert found.estimate == pytest.approx(whole)
    assert (found.low, found.high) == pytest.approx(ends, abs=1e-9)
    assert found.standard_error == pytest.approx((1 - whole) * se)
    assert (found.unit, found.kind) == ("context and annotator", "jackknife_t")
    assert found.n_units == len(np.unique(cluster))


def test_comparisons_keep_both_orientations_together():
    values = world(np.random.default_rng(6), cuts=(-0.3, 0.3))[0] - 1
    one, kinds = judged(values)
    found = alpha_two_way(one, kinds, "ordinal", unit="pair", mirrored=True)
    turned = np.where(np.arange(len(values))[:, None] % 2, -values, values)  # as if stored the other way round
    same = alpha_two_way(*judged(turned), "ordinal", unit="pair", mirrored=True)
    assert found.estimate == pytest.approx(alpha_of(patterns(values), "ordinal", mirrored=True).estimate)
    assert (same.low, same.high) == pytest.approx((found.low, found.high))


@pytest.mark.parametrize("mirrored", [False, True])
def test_sliders_have_their_error_from_groups_of_values(monkeypatch, mirrored):
    z = world(np.random.default_rng(7), n=120, cuts=np.linspace(-3, 3, 60))[0] - 30
    one, kinds = judged(z)
    kinds, one = (np.unique(np.r_[kinds, -kinds]), one) if mirrored else (kinds, one)
    if mirrored:
        one = Judgements(one.item, one.annotator, one.cluster, np.searchsorted(kinds, z[one.item, one.annotator]))
    assert len(kinds) > module.MANY_VALUES
    quick = alpha_two_way(one, kinds, "ordinal", unit="item", mirrored=mirrored)
    monkeypatch.setattr(module, "MANY_VALUES", 1000)
    exact = alpha_two_way(one, kinds, "ordinal", unit="item", mirrored=mirrored)
    assert quick.estimate == exact.estimate
    assert quick.standard_error == pytest.approx(exact.standard_error, rel=0.05)


def test_it_says_why_there_is_none():
    four = alpha_two_way(*judged(world(np.random.default_rng(1), people=4)[0]), "ordinal", unit="dialogue")
    assert (four.kind, four.note) == ("not_estimable", "4.0 effective annotators, of 5 needed")
    values, cluster = world(np.random.default_rng(1), contexts=3)
    assert "effective clusters" in alpha_two_way(*judged(values, clusters=cluster), "ordinal", unit="context").note
    rare = (world(np.random.default_rng(2), cuts=(1.9,))[0] > 0).astype(float)
    assert "rarer value" in alpha_two_way(*judged(rare), "nominal", unit="dialogue").note
    heavy = np.array([100.0, 1, 1, 1, 1, 1, 1])  # one annotator with most judgements
    skewed = alpha_two_way(*judged(world(np.random.default_rng(3), per=2, load=heavy)[0]), "ordinal", unit="dialogue")
    assert "effective annotators" in skewed.note


@pytest.mark.parametrize(("m", "n"), [(2, 12), (4, 6)])
@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
def test_no_alpha_is_lower_than_the_bound(m, n, level):
    """Alpha of n items of m values: of all that were tried, and reached where all items have the same mean."""
    rng = np.random.default_rng(4)
    tried = [alpha_of(patterns(rng.integers(1, 4, (n, m)).astype(float)), level).estimate for _ in range(100)]
    bound = 1 - (n * m - 1) / (n * m) * m / (m - 1)
    assert bound > lowest_alpha(m, level)
    assert np.nanmin(tried) >= bound - 1e-12
    same = np.tile(np.arange(1.0, m + 1), (n, 1))
    assert alpha_of(patterns(same), level).estimate == pytest.approx(bound)
    uneven = same.copy()
    uneven[0, 2:] = N
    assert alpha_of(patterns(uneven), level).estimate >= lowest_alpha(2, level)


def test_what_cannot_be_is_cut_off():
    """Two judgements of an item by eight people: the interval is wide."""
    rng, lowest = np.random.default_rng(9), []
    for _ in range(40):
        one, kinds = judged(world(rng, n=12, people=8, per=2, cuts=(-0.3, 0.3))[0])
        found = alpha_two_way(one, kinds, "ordinal", unit="item")
        if np.isfinite(found.low):
            half = np.log((1 - found.high) / (1 - found.estimate))
            lowest.append(1 - (1 - found.estimate) * np.exp(-half))
            assert found.low == pytest.approx(max(lowest[-1], -1.0))
            assert (found.note == AT_LOWEST) == (lowest[-1] < -1)
    assert min(lowest) < -1 < max(lowest)


@pytest.mark.evidence
@pytest.mark.parametrize(("people", "contexts", "load"), [(20, None, "zipf"), (30, 13, "equal")])
def test_it_covers_other_annotators(people, contexts, load):
    rng, n, inside = np.random.default_rng(8), 130, []
    loads = None if load == "equal" else 1 / np.arange(1.0, people + 1)
    # an endless supply of items and annotators: each item is judged by two people who judge nothing else
    many = 200_000
    z = 0.8 * rng.normal(size=(many, 1)) + (0.5 * rng.normal(size=(many, 1)) if contexts else 0)
    z = z + (0.4 * rng.normal(size=(many, 2)) if contexts else 0) + 0.6 * rng.normal(size=(many, 2))
    z = z + 0.7 * np.exp(0.3 * rng.normal(size=(many, 2))) * rng.normal(size=(many, 2))
    truth = alpha_of(patterns(np.searchsorted((-1, -0.3, 0.3, 1), z).astype(float)), "ordinal").estimate
    for _ in range(400):
        values, cluster = world(rng, n=n, people=people, contexts=contexts, load=loads)
        found = alpha_two_way(
            *judged(values[:, ~np.isnan(values).all(axis=0)], clusters=cluster), "ordinal", unit="context"
        )
        if np.isfinite(found.low):  # refused where loads happen to be too unequal: fewer than five effective annotators
            inside.append(found.low <= truth <= found.high)
    assert len(inside) > 300
    assert 0.915 <= np.mean(inside) <= 0.995  # three Monte Carlo errors
