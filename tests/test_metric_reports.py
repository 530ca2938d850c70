"""What notebooks 04 to 06 say and show: sentences and tables against the rows they come from, odd cases included."""

import numpy as np
import pandas as pd
import pytest
from sessions import SYSTEMS, annotate
from test_targets import chats

from helpers import coverage, label_ranks, label_selection, systems_apart, validity, verdicts
from helpers import targets as target_module
from helpers.labels import LABEL_SETS
from helpers.look import Look
from helpers.schema import make_results
from helpers.sections import LabelSelection
from helpers.values import COMPARATIVE_QUALITY, DIALOGUE_QUALITY
from helpers.views import coverage_plots, sensitivity_plots
from helpers.views import coverage_report as covered
from helpers.views import sensitivity_report as apart
from helpers.views import validity_report as valid

LABELS = {(x.method, x.id): x for x in LABEL_SETS["abc_eval"]}
METHODS = {"behavior": "ABC-Eval behaviour", "dialogue_likert": "Dialogue Likert", "comparative": "Comparative"}
LOOK = Look(LABELS, {"method": METHODS, "group": {}, "system": {s: s.upper() for s in SYSTEMS}})


@pytest.fixture(scope="module")
def data():
    annotations, talked = annotate(np.random.default_rng(11), n_interactors=20, per_interactor=4, effect=0.6)
    return annotations, chats(talked)


@pytest.fixture(scope="module")
def found(data):
    return target_module.find(*data, label="quality", pick_seed=1)


@pytest.fixture(scope="module")
def importance(found):
    parts = [label_ranks.shared_source(found.values)]
    for target, design in found.designs.items():
        parts.append(validity.importance(design, seed=1, repeats=found.repeats[target], n_resamples=200,
                                         n_annotators=found.n_annotators))  # fmt: skip
        parts.append(label_ranks.importance_ranks(design, seed=1, n_resamples=200))
    return make_results(pd.concat(parts), study="t", notebook="04_importance")


def test_importance_is_told_with_the_numbers_of_the_rows(importance):
    rows = valid.correlations(importance, DIALOGUE_QUALITY)
    assert len(rows) == 3
    text = valid.verdict(importance, DIALOGUE_QUALITY, LOOK)
    n = int(valid.excludes_zero(rows).sum())
    assert f"Of 3 labels with an interval, {n} have" in text
    assert "if no label were related, 0.2 would on average" in text  # 5 % of three
    best = rows.loc[rows["estimate"].abs().idxmax()]
    assert f"{abs(best['estimate']):.2f}" in text
    assert "160 dialogues of 20 interactors" in text
    methods = valid.by_method(importance, DIALOGUE_QUALITY, LOOK)
    assert methods.count("\n- ") == 2
    assert "comparative" not in methods.lower()
    assert "Comparative" in valid.by_method(importance, COMPARATIVE_QUALITY, LOOK)


def test_nothing_related_is_told_as_nothing(importance):
    flat = importance.copy()
    r = flat["statistic"] == "r"
    flat.loc[r, ["estimate", "ci_low", "ci_high"]] = [0.01, -0.2, 0.2]
    text = valid.verdict(flat, DIALOGUE_QUALITY, LOOK)
    assert "none have one that excludes 0" in text
    assert "strongest" not in text
    flat.loc[r, ["ci_low", "ci_high"]] = np.nan
    assert "No interval can be given for any of 3 labels" in valid.verdict(flat, DIALOGUE_QUALITY, LOOK)
    flat.loc[r, "estimate"] = np.nan
    flat.loc[r, "note"] = "the label has the same value throughout"
    assert "can be computed" in valid.verdict(flat, DIALOGUE_QUALITY, LOOK)
    assert valid.reasons(flat, DIALOGUE_QUALITY, LOOK).count("same value throughout") == 3
    assert valid.by_method(flat, DIALOGUE_QUALITY, LOOK) == ""


def test_tables_of_importance_hold_each_label_once(importance):
    table = valid.table(importance, DIALOGUE_QUALITY, valid.COLUMNS, LOOK)
    assert table["Label"].tolist() == ["Redundant", "Ignore", "Quality"]
    assert {"r", "With BCa", "Rank", "Reliability", "Corrected r"} <= set(table)
    logits = valid.table(importance, COMPARATIVE_QUALITY, valid.PUBLISHED[COMPARATIVE_QUALITY], LOOK)
    assert len(logits) == 4
    assert "R²" not in logits  # McFadden's is another statistic
    assert logits["p (LLR)"].str.match(r"^(< 0\.001|[01]\.\d{3})$").all()


def test_figures_of_the_two_targets_have_axes_of_their_own(importance):
    fig = valid.fit_figure(importance, LOOK)
    labels = [ax.get_xlabel() for ax in fig.axes]
    assert labels == [valid.FITS[DIALOGUE_QUALITY][1], valid.FITS[COMPARATIVE_QUALITY][1]]
    one = importance[~importance["condition"].fillna("").str.contains(COMPARATIVE_QUALITY)]
    assert len(valid.fit_figure(one, LOOK).axes) == 1
    low, high = valid.forest(importance, DIALOGUE_QUALITY, LOOK).axes[0].get_xlim()
    assert low == -high


def test_a_halo_is_warned_of_where_one_person_gave_all_labels(importance):
    # one person marks both behaviours of a dialogue; the ratings have one label
    assert "ABC-Eval behaviour (100 %" in valid.halo(importance, LOOK)
    assert "Dialogue Likert" not in valid.halo(importance, LOOK)
    rows = [{"statistic": s, "method": m, "estimate": v} for m, s, v in (
        ("dialogue_likert", "single_source_share", 1.0), ("dialogue_likert", "label_intercorrelation", 0.45),
        ("behavior", "single_source_share", 0.0), ("behavior", "label_intercorrelation", 0.07))]  # fmt: skip
    text = valid.halo(pd.DataFrame(rows), LOOK)
    apart_from_it = [row | {"estimate": 0.1} for row in rows]
    assert valid.halo(pd.DataFrame(apart_from_it), LOOK) == ""
    assert "Dialogue Likert (100 %; the labels' mean |r| with each other is 0.45)" in text.replace("\\", "")
    assert "ABC-Eval behaviour 0.07" in text


@pytest.mark.parametrize(("n", "verdict"), [(184.0, "matches"), (183.0, "differs")])
def test_the_printed_number_of_pairs_is_held_against_ours(n, verdict):
    count = {"statistic": "count", "condition": f"what={COMPARATIVE_QUALITY}", "estimate": n}
    cells = verdicts.beside(pd.DataFrame([count]), "abc_eval", "04_importance")
    assert verdicts.table(cells)[["Printed", "Verdict"]].to_numpy().tolist() == [["184", verdict]]


@pytest.fixture(scope="module")
def cell(data):
    return systems_apart.cells(*data, systems=SYSTEMS, pick_seed=1)[0]


@pytest.fixture(scope="module")
def tested(cell):
    parts = [*systems_apart.tests(cell, seed=1, within="session", n_permutations=300)]
    parts += systems_apart.draws(cell, n=12, n_draws=30, seed=1, within="session")
    parts.append(systems_apart.errors(cell, n=12, n_runs=30, seed=1, within="session", n_permutations=99))
    parts.append(systems_apart.planning(cell, sizes=[8, 32], n_draws=30, seed=1, within="session"))
    return apart.unfold(make_results(pd.concat(parts), study="t", notebook="05_sensitivity"))


def test_counts_stand_beside_their_own_label(tested):
    table = apart.count_table(tested, LOOK, True).set_index(["Method", "Label"])
    counts = tested[
        (tested["statistic"] == "n_significant") & (tested["summary"] == "mean") & (tested["over"] == "none")
    ]
    counts = counts[(counts["alpha"] == "0.05") & counts["test"].isin(apart.PUBLISHED)]
    for row in counts.itertuples():
        name = (LOOK.name("method", row.method), LOOK.name("label", row.label, row.method))
        assert table.loc[name, "Draws, .05"].startswith(f"{row.estimate:.1f} (")
    tests = apart.primary(tested)
    sure = (tests["p_adjusted"] < 0.05).groupby([tests["method"], tests["label"]]).sum()
    for (method, label), n in sure.items():
        assert table.loc[(LOOK.name("method", method), LOOK.name("label", label, method)), "Holm, label"] == n
    whole = apart.count_table(tested[tested["n_dialogues"].isna()], LOOK, False)
    assert not [c for c in whole if "raw" in c]


def test_differences_shown_are_those_that_are_told_apart(tested, cell):
    tests = apart.primary(tested)
    n = int((tests["p_adjusted"] < 0.05).sum())
    assert len(apart.difference_table(tested, LOOK)) == n > 0
    text = apart.verdict(tested, cell, LOOK)
    assert f"({n} of {len(tests)} comparisons" in text
    assert "all dialogues were exchanged" not in text


def test_nothing_told_apart_is_told_as_nothing(tested, cell):
    none = tested.assign(p_adjusted=tested["p_adjusted"].where(tested["statistic"] != "system_difference", 1.0))
    text = apart.verdict(none, cell, LOOK)
    assert "none of 4 labels tells at least one pair" in text
    assert "Most often" not in text
    gone = tested.assign(p_value=np.nan)
    assert "No two systems can be compared" in apart.verdict(gone, cell, LOOK)
    assert apart.errors(tested[tested["statistic"] != "null_rejection"], LOOK, 30).startswith("No system has enough")


def test_errors_name_a_test_that_errs_too_often(tested):
    def with_share(value):
        published = (tested["statistic"] == "null_rejection") & tested["test"].isin(apart.PUBLISHED)
        return apart.errors(tested.assign(estimate=tested["estimate"].where(~published, value)), LOOK, 30)

    assert "look more sensitive" in with_share(0.2)
    assert "look less sensitive" in with_share(0.01)
    assert "look" not in with_share(0.05)
    assert "z test on turns 20 %" in with_share(0.2)


def test_luck_is_told_only_where_something_was_drawn(tested):
    assert "over 30 draws" in apart.luck(tested, 12, 30)
    still = tested.assign(estimate=2.0)  # every draw takes all comparisons there are
    assert apart.luck(still, 12, 30) == ""
    assert apart.luck(tested, None, 30) == ""
    assert apart.luck(tested[tested["n_dialogues"].isna()], 12, 30) == ""


def test_printed_counts_get_a_verdict_only_for_draws_of_the_same_size(tested):
    cells = [
        ("behavior", f"alpha_0_{a}", x, v) for a in ("01", "05", "1") for x, v in (("ignore", 99), ("redundant", 0))
    ]
    printed = pd.DataFrame(cells, columns=["panel", "row", "column", "value"]).assign(printed="x")
    found = apart.beside(tested, printed, {"behavior": "behavior"}, True)
    assert len(found) == 6
    assert (found["Verdict"] == "differs")[found["label"] == "ignore"].all()  # nothing reaches 99
    inside = (found["smallest"] <= found["value"]) & (found["value"] <= found["largest"])
    assert found["Verdict"].isin(["within_noise", "match"]).tolist() == inside.tolist()
    alone = (found["smallest"] == found["value"]) & (found["value"] == found["largest"])
    assert (found["Verdict"] == "match").tolist() == alone.tolist()
    other = apart.beside(tested, printed, {"behavior": "behavior"}, False)
    assert other["Verdict"].isna().all()
    assert "neither is a reproduction" in apart.beside_text(other)
    assert "Verdict" not in apart.beside_table(other, LOOK)
    unknown = printed.assign(panel="turn_likert")
    assert apart.beside(tested, unknown, {"turn_likert": "turn_likert"}, True).empty


def test_wrong_cells_by_hand():
    cells = pd.DataFrame({"method": "m", "Level": 0.05, "value": [1.0, 5.0, 2.0], "smallest": [0.0, 4.0, 1.0],
                          "largest": [2.0, 6.0, 1.0]})  # fmt: skip
    # the 2 lies in the first range, the 1 in the third, of six wrong pairings
    assert apart.wrong_cells(cells) == pytest.approx(2 / 6)


def test_figures_of_sensitivity_mark_every_pair(tested):
    fig = sensitivity_plots.p_value_figure(tested, LOOK, 12)
    for ax, rows in zip(fig.axes, (apart.as_published(tested), apart.primary(tested)), strict=True):
        marks = sum(len(line.get_xdata()) for line in ax.lines if line.get_marker() == "o")
        assert marks == len(rows) == 4 * 6
    shown = sensitivity_plots.error_figure(tested, LOOK).axes[0]
    assert shown.get_ylim()[0] == 0
    assert sensitivity_plots.power_figure(tested, LOOK).axes[0].get_xlabel() == "Dialogues a system"


@pytest.fixture(scope="module")
def searched(found):
    parts = []
    for design in found.designs.values():
        methods = list(dict.fromkeys(design.x.columns.get_level_values(0)))
        for method in methods:
            parts += [coverage.stepwise(design, method), coverage.best_subsets(design, method)]
            parts.append(coverage.stability(design, method, seed=1, n_halves=10))
        parts.append(coverage.compare(design, methods, seed=1, n_folds=3, n_repeats=1, n_permutations=10))
    rows = pd.concat(parts).drop_duplicates(["statistic", "method", "label", "condition"])
    return covered.unfold(make_results(rows, study="t", notebook="06_stepwise_coverage"))


def test_paths_and_best_subsets_are_those_of_the_rows(searched):
    path = covered.path(searched, DIALOGUE_QUALITY)
    assert path["method"].unique().tolist() == ["behavior"]  # the only label of the ratings is quality
    assert path["k"].tolist() == [1, 2]
    assert (path["best"] >= path["fit"] - 1e-12).all()
    best = covered.chosen(searched, DIALOGUE_QUALITY)
    assert best["k"].tolist() == [len(labels) for labels in best["labels"]]
    table = covered.model_table(searched, DIALOGUE_QUALITY, LOOK)
    assert table["Path ends alike"].tolist() == [True]
    assert "no label that varies, other than those excluded" in covered.excluded(searched, LOOK)


def test_methods_are_told_apart_by_cross_validation(searched):
    text = covered.verdict(searched, DIALOGUE_QUALITY, LOOK)
    rows = searched[(searched["target"] == DIALOGUE_QUALITY) & (searched["kind"] == "cross_validated")]
    assert f"{rows.set_index('k')['estimate'][2]:.2f}".replace("-", "−") in text
    assert "no interval" in text
    worse = searched.assign(estimate=searched["estimate"].where(searched["kind"] != "cross_validated", -0.1))
    assert "No method predicts other people better" in covered.verdict(worse, DIALOGUE_QUALITY, LOOK)
    empty = searched[searched["kind"] == "excluded"]
    assert "cannot be compared" in covered.verdict(empty, DIALOGUE_QUALITY, LOOK)


def test_what_the_paper_says_in_words_stands_beside_coverage(searched):
    share = searched[(searched["statistic"] == "selection_frequency") & (searched["method"] == "behavior")]
    share = share[share["target"] == DIALOGUE_QUALITY].set_index("label")["estimate"]
    assert len(share) == 2
    one, other = share.index
    text = covered.beside(searched, LOOK, [one])
    often = f"{100 * share[one]:.0f} %"
    said = f"in a median of {often} (fewest: {LOOK.name('label', one, 'behavior')}, {often})"
    assert f"{said}, the other behaviours in {100 * share[other]:.0f} %" in text
    assert "the other behaviours" not in covered.beside(searched, LOOK, [one, other])
    assert covered.beside(searched, LOOK, ["unheard_of"]) == ""


def test_figures_of_coverage_keep_the_targets_apart(searched):
    assert len(coverage_plots.path_figure(searched, LOOK).axes) == 2
    one = searched[searched["target"] == DIALOGUE_QUALITY]
    assert [ax.get_xlabel() for ax in coverage_plots.path_figure(one, LOOK).axes] == [covered.FITS[DIALOGUE_QUALITY][1]]
    fig = coverage_plots.compare_figure(searched, LOOK)
    assert {ax.get_ylabel() for ax in fig.axes if ax.get_ylabel()} == {f[1] for f in covered.FITS.values()}


def test_what_is_kept_is_told_with_its_thresholds():
    values = pd.DataFrame({"method": "behavior", "label": ["ignore", "redundant"], "agreement": [0.5, 0.3],
                           "importance": [0.2, 0.0], "sensitivity": [2.0, 0.0], "distinctness": [0.9, np.nan],
                           "cost": np.nan})  # fmt: skip
    thresholds = LabelSelection()
    selected, limits = label_selection.select(values, thresholds), label_selection.limits(thresholds)
    text = covered.kept(selected, LOOK, limits)
    assert text.startswith("1 of 2 labels reaches every threshold (alpha of 0.4 or more,")
    assert "ABC-Eval behaviour: Ignore." in text
    none = covered.kept(selected.assign(kept=False), LOOK, limits)
    assert none.startswith("0 of 2 labels reach")
    free = LabelSelection(min_alpha=None, excludes_zero=False, min_pairs=None, min_selected=None)
    assert "(none is set)" in covered.kept(label_selection.select(values, free), LOOK, label_selection.limits(free))
    table = covered.kept_table(label_selection.rows(selected, thresholds), LOOK)
    assert table[["Labels", "All", "Agreement"]].to_numpy().tolist() == [[2, 1, 1]]
    assert covered.selection_table(selected, LOOK)["Kept"].tolist() == [False, True]
    fig = coverage_plots.selection_figure(selected, LOOK)
    texts = [t.get_text() for t in fig.axes[0].texts]
    assert texts.count("kept") == 1
    assert "–" in texts  # a value that is not known


def test_how_precise_chance_is_follows_from_the_binomial():
    text = covered.monte_carlo(100, 100)
    assert "within 10 points" in text  # 1.96 sqrt(.25 / 100)
    assert "between the 91 and the 99 % point" in text  # .95 -+ 1.96 sqrt(.95 .05 / 100)
