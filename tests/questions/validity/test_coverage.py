from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from fixtures.libraries import plain_fit
from scipy.stats import t as student

from judgebook.annotations import dialogue_values as values
from judgebook.questions.validity import coverage
from judgebook.statistics import subsets
from judgebook.statistics import subsets as held_out
from judgebook.study.results import collect

COLUMNS = [("behavior", f"b{i}") for i in range(6)] + [("turn_likert", f"t{i}") for i in range(4)]


def study(seed=0, n=240, n_people=40, binary=False, useful=True):
    """b0 and b1 matter, with people's effects in everything; the rest is noise."""
    rng = np.random.default_rng(seed)
    clusters = np.arange(n) % n_people
    x = 0.5 * rng.normal(size=(n_people, 10))[clusters] + rng.normal(size=(n, 10))
    signal = (x[:, 0] - 0.8 * x[:, 1]) if useful else 0 * x[:, 0]
    y = signal + 0.7 * rng.normal(size=n_people)[clusters] + rng.logistic(size=n)
    names = pd.MultiIndex.from_tuples(COLUMNS, names=["method", "label"])
    target, level = (values.COMPARATIVE_QUALITY, "pair") if binary else (values.DIALOGUE_QUALITY, "dialogue")
    y = (y > 0).astype(float) if binary else y
    people = np.array([f"I{i}" for i in clusters], dtype=object)
    return values.Design(target, y, pd.DataFrame(x, columns=names), people, "interactor", level)


def keyed(rows):
    """All rows in one frame, as they are declared."""
    frame = pd.concat([f.assign(statistic=s) for s, f in collect(rows).items()], ignore_index=True)
    return frame.assign(k=pd.to_numeric(frame["k"])) if "k" in frame else frame


def array(design, method):
    return design.x[method].to_numpy()


def test_halves_of_the_people_are_drawn(monkeypatch):
    seen = []
    monkeypatch.setattr(coverage, "chosen", lambda fitness: seen.append(tuple(fitness.y)) or np.ones(6))
    coverage.stability(study(), "behavior", seed=3, n_halves=5)
    assert [len(y) for y in seen] == [120] * 5
    assert len(set(seen)) == 5


def test_methods_are_compared_on_the_same_rows_and_sizes():
    design = study(3)
    design.x.iloc[:30, 7] = np.nan  # one turn rating is missing on 30 dialogues
    found = keyed(coverage.compare(design, ["behavior", "turn_likert"], seed=1, n_repeats=1, n_permutations=20))
    assert set(found["n"]) == {210}
    kinds = found.pivot_table(index=["method", "k"], columns="kind", values="estimate")
    behaviour, turns = kinds.loc["behavior"], kinds.loc["turn_likert"]
    assert (behaviour["cross_validated"] < behaviour["common"]).all()
    assert behaviour["cross_validated"].min() > turns["cross_validated"].max()
    assert (turns["common"] < 2 * turns["permuted_p95"]).all()


def test_cross_validation_equals_a_loop():
    design = study(4, n=80, n_people=8)
    x, y = array(design, "behavior"), design.y
    fitness = subsets.Fitness(x, y, "ols")
    rng = np.random.default_rng(5)
    losses = held_out.best_subset_losses(fitness, design.clusters, rng, [1, 2], 4, 1)
    found = [i.estimate for i in held_out.fit_intervals(losses, design.clusters, "person", 0.95)]
    fold = np.random.default_rng(5).permutation(np.arange(8) % 4)
    people = np.unique(design.clusters, return_inverse=True)[1]
    for k in (1, 2):
        squares, null = 0.0, 0.0
        for f in range(4):
            test = np.isin(people, np.flatnonzero(fold == f))
            fits = {s: plain_fit(x[~test], y[~test], "ols", set(s)) for s in all_of_size(6, k)}
            best = list(max(fits, key=lambda s: fits[s][0]))
            model = sm.OLS(y[~test], sm.add_constant(x[~test][:, best])).fit()
            squares += np.sum((y[test] - model.predict(sm.add_constant(x[test][:, best], has_constant="add"))) ** 2)
            null += np.sum((y[test] - y[~test].mean()) ** 2)
        assert found[k - 1] == pytest.approx(1 - squares / null, abs=1e-10)


def all_of_size(p, k):
    return [tuple(np.flatnonzero(m)) for m in subsets.masks_of(np.arange(2**p), p) if m.sum() == k]


def test_shuffled_targets_keep_people_together():
    rng = np.random.default_rng(6)
    clusters = np.repeat(["a", "b", "c", "d"], [5, 5, 5, 5])[rng.permutation(20)]
    y = np.where(clusters == "a", 10.0, 0) + np.where(clusters == "b", 20.0, 0) + rng.random(20)
    whole = held_out.permuted_targets(y, clusters, rng, 50)
    assert (np.sort(whole, axis=0) == np.sort(y)[:, None]).all()
    whose = np.floor(whole / 10)
    assert all(len(set(whose[clusters == c, j])) == 1 for c in "abcd" for j in range(50))


@pytest.mark.parametrize("family", subsets.FAMILIES)
def test_searches_of_shuffled_targets_equal_a_loop(family):
    design = study(9, n=60, n_people=12, binary=family == "logit")
    x, y = array(design, "turn_likert"), design.y
    fitness, every = subsets.Fitness(x, y, family), subsets.masks_of(np.arange(16), 4)

    def fits(target):
        return [plain_fit(x, target, family, set(np.flatnonzero(m))) for m in every]

    def best(target):
        found = [fit for fit, _ in fits(target)]
        return [max(f for f, m in zip(found, every, strict=True) if m.sum() == k) for k in range(1, 5)]

    assert held_out.best_fits(fitness) == pytest.approx(best(y), abs=1e-8)
    targets = held_out.permuted_targets(y, design.clusters, np.random.default_rng(1), 3)
    found = held_out.permuted_fits(fitness, design.clusters, np.random.default_rng(1), 3)
    assert found == pytest.approx(np.array([best(t) for t in targets.T]), abs=1e-8)
    top = every[np.argmax([adjusted for _, adjusted in fits(y)])]
    assert held_out.chosen(fitness).tolist() == top.tolist()


def test_rare_labels_that_vanish_in_a_fold_do_no_harm():
    design = study(5, n=60, n_people=20, binary=True)
    design.x[("behavior", "b2")] = 0.0
    design.x.loc[[7, 27], ("behavior", "b2")] = 0.2
    design.x[("behavior", "b3")] = 1.0
    found = keyed(coverage.compare(design, ["behavior"], seed=1, n_folds=20, n_repeats=1, n_permutations=5))
    assert np.isfinite(found.loc[found["kind"] != "excluded", "estimate"]).all()
    dropped = found[found["kind"] == "excluded"]
    assert dropped["label"].tolist() == ["b3"]
    assert "same value throughout" in dropped["note"].item()


def test_quality_is_no_predictor_of_quality():
    design = study()
    renamed = design.x.rename(columns={"b2": "quality"}, level=1)
    found = keyed(coverage.stability(replace(design, x=renamed), "behavior", seed=1, n_halves=2))
    assert "quality" not in set(found["label"])


def test_what_cannot_be_searched_gives_a_reason():
    def reason(design, method="behavior"):
        return keyed(coverage.stability(design, method, seed=1))["note"].item()

    design = study()
    assert "no label that varies" in reason(design, "comparative")
    assert "8 rows are too few for 6 labels" in reason(design.rows(np.arange(8)))
    pairs = study(binary=True)
    rare = np.r_[np.flatnonzero(pairs.y == 1)[:5], np.flatnonzero(pairs.y == 0)]
    assert "rarer answer occurs 5 times, too few" in reason(pairs.rows(rare))


def test_more_than_twenty_labels_have_no_exact_search():
    rng = np.random.default_rng(7)
    names = pd.MultiIndex.from_product([["rating"], [f"r{i:02d}" for i in range(21)]], names=["method", "label"])
    x = pd.DataFrame(rng.normal(size=(90, 21)), columns=names)
    design = replace(study(n=90), x=x)
    assert "21 labels have too many subsets" in keyed(coverage.stability(design, "rating", seed=0))["note"].item()


@pytest.mark.parametrize("family", ["ols", "logit"])
def test_fewer_rows_than_labels_use_labels_that_are_no_combination_of_others(family):
    """Six people of one dialogue each, seven labels: five rows to fit in, so at most four labels enter a model."""
    rng = np.random.default_rng(8)
    x, people = rng.normal(size=(6, 7)), np.arange(6)
    y = rng.normal(size=6) if family == "ols" else np.array([0.0, 1, 0, 1, 1, 0])
    losses = held_out.best_subset_losses(subsets.Fitness(x, y, family), people, rng, [1, 4, 7], 6, 1)
    found = np.array([i.estimate for i in held_out.fit_intervals(losses, people, "person", 0.95)])
    assert np.isfinite(found).all() if family == "ols" else np.isfinite(found).any()
    assert not np.isinf(found).any()
    assert held_out._independent(x[:5], np.arange(7)).tolist() == [0, 1, 2, 3]
    assert held_out._independent(x, np.arange(4)).tolist() == [0, 1, 2, 3]


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
