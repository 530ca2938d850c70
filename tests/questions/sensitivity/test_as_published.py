"""The tests that notebook 05 makes in its cells, against loops over other packages."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from fixtures.notebook_cells import published_tests
from fixtures.notebook_code import functions
from fixtures.session_study import SYSTEMS, annotate
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint, proportions_ztest

from helpers import draws, items, systems
from judgebook.annotations.picks import picks
from judgebook.annotations.summary import evaluated, with_means
from judgebook.display.names import DisplayNames, display_names
from judgebook.display.views import Plot, Prose, Table
from judgebook.questions.sensitivity.question import Sensitivity
from judgebook.sources import build
from judgebook.statistics.intervals import generator
from judgebook.study import params
from judgebook.study.labels import LABEL_SETS

METHODS = {"behavior": "Behaviours", "dialogue_likert": "Ratings", "comparative": "Comparisons"}
NAMES = DisplayNames(
    {(x.method, x.id): x for x in LABEL_SETS["abc_eval"]},
    {"method": METHODS, "group": {}, "system": {s: s.upper() for s in SYSTEMS}},
)
OPTIONS = Sensitivity(n_dialogues=12, n_draws=7, null_runs=30)
KEY = ["corpus", "group", "method", "label", "system", "system_b"]


@pytest.fixture(scope="module")
def judgements():
    return annotate(np.random.default_rng(1), n_interactors=30, per_interactor=4, effect=0.5)[0]


@pytest.fixture(scope="module")
def left(judgements):
    return published_tests(judgements, NAMES, SYSTEMS, OPTIONS)


def by_package(page):
    """Differences and p-values of all pairs on all dialogues by scipy and statsmodels, a pair and a label at a time."""
    rows = []
    for one in page.judged:
        of_group = (page.scored["corpus"] == one.corpus) & (page.scored["group"] == one.group)
        once = items.one_each(page.scored[of_group & page.scored["system"].isin(page.systems)], 1)
        for method, kept in one.systems.items():
            part = once[once["method"] == method]
            part = part[part["system"].isin(kept)]
            marks = part["score"].isin([0, 1]).all()
            for (a, b), (label, x) in product(combinations(kept, 2), part.groupby("label")):
                about = {"corpus": one.corpus, "group": one.group, "method": method, "label": label}
                rows.append(about | {"system": a, "system_b": b} | of_pair(x, a, b, marks=marks))
    return pd.DataFrame(rows)


def of_pair(rows, a, b, marks):
    """The test, difference and p-value of two systems on one label."""
    x, y = (rows.loc[(rows["system"] == s) & rows["system_b"].fillna(t).eq(t), "score"] for s, t in ((a, b), (b, a)))
    if rows["dialogue_b"].notna().all():
        votes = pd.concat([x, -y])
        wins, losses = (votes > 0).sum(), (votes < 0).sum()
        p = stats.binomtest(int(wins), int(wins + losses)).pvalue if wins + losses else 1.0
        return {"test": "sign", "package": votes.mean(), "p": p if len(votes) else np.nan}
    found = {"test": "z" if marks else "student", "package": x.mean() - y.mean(), "p": np.nan}
    if marks and len(x) and len(y):
        n, hits = [len(x), len(y)], [x.sum(), y.sum()]
        return found | {"p": proportions_ztest(hits, n)[1] if 0 < sum(hits) < sum(n) else 1.0}
    if min(len(x), len(y)) < 2:
        return found
    alike = max(x.std(), y.std()) == 0
    return found | {"p": float(x.mean() == y.mean()) if alike else stats.ttest_ind(x, y).pvalue}


def same_as_by_package(left):
    found = left.saved.select("system_difference", sample=None)
    both = found.merge(by_package(left.variables["page"]), on=[*KEY, "test"])
    assert len(both) == len(found)
    np.testing.assert_allclose(both[["estimate", "p_value"]], both[["package", "p"]], atol=1e-9)


def test_every_pair_is_tested_as_by_packages(left):
    same_as_by_package(left)


@pytest.mark.verify
@pytest.mark.parametrize("name", ["abc_public", "finch2024"])
def test_a_public_study_is_tested_as_by_packages(name, raw_data, monkeypatch):
    monkeypatch.setenv("COMPENDIUM_RAW", str(raw_data))
    study = params.load(name)
    rows = with_means(evaluated(build.build(study).frames["annotations"]), study.label_list())
    names = display_names(study, rows)
    same_as_by_package(published_tests(rows, names, names.systems(), OPTIONS))


def test_one_of_each_item_is_picked_as_by_the_kernel(judgements):
    turned = judgements.sample(frac=1, random_state=1)
    assert items.one_each(turned, 5).index.tolist() == next(picks(turned, 1, 5)).index.tolist()


def test_p_values_are_adjusted_within_a_label_where_all_dialogues_are_tested(left):
    found = left.saved["system_difference"]
    assert found.loc[found["sample"].notna(), "p_adjusted"].isna().all()
    for _, part in found[found["sample"].isna()].groupby(["group", "method", "label"]):
        assert part["p_adjusted"].to_numpy() == pytest.approx(multipletests(part["p_value"], method="holm")[1])


def test_counts_are_those_of_the_tests(left):
    tests, counts = left.saved["system_difference"], left.saved.select("n_significant", alpha=0.05)
    for sample, size in ((None, None), ("draw", 12)):
        below = tests[tests["sample"].isna() == (sample is None)].assign(sure=lambda rows: rows["p_value"] < 0.05)
        expected = below.groupby(KEY[:4])["sure"].sum()
        here = counts[(counts["summary"] == "first") & (counts["n_dialogues"].isna() == (size is None))]
        assert here.set_index(KEY[:4])["estimate"].sort_index().tolist() == expected.sort_index().tolist()


def test_draws_have_n_dialogues_of_each_system_and_are_counted_one_by_one(left):
    scores, compare = left.variables["scores"]["main", "ext"], left.variables["compare"]
    given = list(scores.values()), 12, 7
    marks, ratings, pairs = next(draws.drawn(*given, generator(1, "downsample")))
    in_parts = [t[0] for t in draws.drawn(*given, generator(1, "downsample"), at_once=1)]
    assert np.array_equal(np.concatenate(in_parts), marks)
    assert np.array_equal(marks, ratings)
    assert [np.bincount(scores["behavior"].side, t).tolist() for t in marks] == [[12] * 4] * 7
    assert len(np.unique(marks, axis=0)) == 7
    of_pairs = scores["comparative"]
    assert np.bincount(of_pairs.side, pairs[0]).tolist() == np.minimum(12, np.bincount(of_pairs.side)).tolist()
    found = np.array([compare(scores["behavior"], t[None])[0][1, 0] for t in marks])
    counts = left.saved.select("n_significant", alpha=0.05, method="behavior", n_dialogues=12)
    counts = counts.set_index(["summary", "label"])["estimate"]
    for label, numbers in zip(scores["behavior"].labels, found.T, strict=True):
        assert counts[:, label].to_dict() == {
            "first": numbers[0], "mean": numbers.mean(), "smallest": numbers.min(), "largest": numbers.max()
        }  # fmt: skip


def test_type_i_errors_have_exact_intervals(left):
    rows = left.saved["null_rejection"]
    assert set(rows["group"]) == {"ext"}  # that judged the most labels
    low, high = proportion_confint(np.rint(rows["estimate"] * rows["n"]), rows["n"], method="beta")
    np.testing.assert_allclose(rows[["ci_low", "ci_high"]], np.c_[low, high], atol=1e-12)
    assert set(rows["n"] + rows["n_undefined"]) == {30}


def frame(system, values):
    """Ratings of dialogues."""
    rows = pd.DataFrame({"system": system, "label": "x", "score": values, "dialogue_b": None, "system_b": None})
    return rows.assign(dialogue=[f"d{i:03d}" for i in range(len(rows))])


def test_splits_have_the_proportions_of_the_study():
    """10, 60 and 60 dialogues: 10 against 60 is 1 to 6, and 60 against 60 are halves."""
    scores = systems.Scores(frame(np.repeat(list("abc"), [10, 60, 60]), np.zeros(130)), list("abc"))
    splits = [draws.halves(scores, run, 28, np.random.default_rng(run)) for run in range(12)]
    assert {(one.sum(), two.sum()) for one, two in splits} == {(2, 8), (8, 48), (28, 28)}
    assert all((one * two).sum() == 0 for one, two in splits)


@pytest.mark.verify
def test_z_tests_find_too_much_where_turns_depend_on_each_other():
    """15 turns a dialogue, whose log-odds vary with a standard deviation of 1."""
    rng, cells = np.random.default_rng(3), functions("05_sensitivity")
    marks = rng.random((15, 600)) < 1 / (1 + np.exp(1.5 - rng.normal(size=600)))
    scores = systems.Scores(pd.concat(frame(np.repeat(list("ab"), 300), m * 1.0) for m in marks), list("ab"))
    splits = np.array([draws.halves(scores, run, 32, rng) for run in range(1500)])
    one, two = (systems.Sample(scores, splits[:, i]) for i in (0, 1))
    assert cells["kind"](scores) == "z"
    assert (systems.p_values(cells["z_test"], one, two) < 0.05).mean() > 0.12


def test_samples_without_variation_or_scores():
    """a and b are always 3, c is always 4 and d varies; e has one score."""
    values = [3.0] * 10 + [4.0] * 5 + [2.0, 3, 4, 5, 6] + [2.0]
    scores = systems.Scores(frame([*np.repeat(list("abcd"), 5), "e"], values), list("abcde"))
    one, two = (systems.Sample(scores, np.ones((2, 21)), sides) for sides in scores.pairs.T)
    p = systems.p_values(functions("05_sensitivity")["student_t"], one, two)[0, :, 0]
    found = {a + b: value for (a, b), value in zip(scores.systems[scores.pairs], p, strict=True)}
    assert (found["ab"], found["ac"]) == (1, 0)
    assert found["ad"] == pytest.approx(2 * stats.t.sf(2**0.5, 8))  # by hand: 1 / sqrt(2.5 / 2 * 2 / 5)
    assert np.isnan([found[x + "e"] for x in "abcd"]).all()
    empty = systems.Sample(scores, np.zeros((1, 21)), scores.pairs[:, 0])
    assert np.isnan(systems.p_values(lambda one, two: one.n + 1.0, empty, empty)).all()


def test_any_test_of_two_arrays_can_take_their_place(judgements, left):
    one_word = ('RATINGS = "student"', 'RATINGS = "mann_whitney"')
    ranks = published_tests(judgements, NAMES, SYSTEMS, OPTIONS, one_word)
    found = ranks.saved.select("system_difference", sample=None, test="mann_whitney", group="ext")
    assert len(found)
    for view in (view for view in ranks.shown if isinstance(view, Table | Plot)):
        assert "Ratings: Mann–Whitney test" in view.caption
        assert "Student" not in view.caption
    once = items.one_each(judgements[judgements["group"] == "ext"], 1).query("method == 'dialogue_likert'")
    for row in found.itertuples():
        a, b = (once.loc[once["system"] == s, "score"] for s in (row.system, row.system_b))
        assert row.p_value == pytest.approx(stats.mannwhitneyu(a, b).pvalue)
    same = ranks.saved.select("system_difference", test=["z", "sign"])["p_value"]
    assert same.tolist() == left.saved.select("system_difference", test=["z", "sign"])["p_value"].tolist()
    texts = [[view.text for view in x.shown if isinstance(view, Prose)] for x in (ranks, left)]
    assert texts[0] != texts[1]


def test_figure_table_and_sentences_are_those_of_the_results(left):
    tables, plots = ([v for v in left.shown if isinstance(v, kind)] for kind in (Table, Plot))
    assert [t.name for t in tables] == ["published", "published_1"]
    assert [p.name for p in plots] == ["errors"]
    counts = left.saved.select("n_significant", alpha=0.05, summary="first", n_dialogues=12, group="ext")
    assert tables[0].frame["p < 0.05"].tolist() == NAMES.sort(counts)["estimate"].tolist()
