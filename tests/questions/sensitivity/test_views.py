"""What notebook 05 shows and says, compared with its results."""

import numpy as np
import pandas as pd
import pytest
from fixtures.session_study import SYSTEMS, annotate, chats

from judgebook.display.names import DisplayNames
from judgebook.questions.sensitivity import analysis, figures, findings, judged_groups, overview, shown, tables
from judgebook.questions.sensitivity.question import Sensitivity
from judgebook.statistics.bounded_means import BOUNDED
from judgebook.study.labels import LABEL_SETS
from judgebook.study.results import Results, where

METHODS = {"behavior": "ABC-Eval behaviour", "dialogue_likert": "Dialogue Likert", "comparative": "Comparative"}
NAMES = DisplayNames(
    {(x.method, x.id): x for x in LABEL_SETS["abc_eval"]},
    {"method": METHODS, "group": {}, "system": {s: s.upper() for s in SYSTEMS}},
)
OPTIONS = Sensitivity(n_dialogues=12, n_draws=30, n_permutations=300, null_runs=30, null_permutations=99,
                      power_sizes=[8, 32])  # fmt: skip


@pytest.fixture(scope="module")
def judged():
    annotations, talked = annotate(np.random.default_rng(11), n_interactors=20, per_interactor=4, effect=0.6)
    return judged_groups.groups(annotations, chats(talked), systems=SYSTEMS, pick_seed=1)


@pytest.fixture(scope="module")
def every(judged):
    return analysis.analyse(judged, OPTIONS, permute_seed=1, draw_seed=1)


@pytest.fixture(scope="module")
def results(every, judged):
    return analysis.of_group(every, judged[0])


def changed(results, statistic, **columns):
    return Results(results | {statistic: results[statistic].assign(**columns)})


def named(row):
    return NAMES.name("method", row.method), NAMES.name("label", row.label, row.method)


def test_bounds_of_means_are_named(every, judged):
    rows = every["system_difference"]
    first = analysis.primary(every).dropna(subset="p_value").index[:3]
    some = changed(every, "system_difference", note=rows["note"].mask(rows.index.isin(first), BOUNDED))
    said = list(findings.findings(some, judged, NAMES, OPTIONS))[1].text
    assert f"In 3 of {len(analysis.primary(every))} comparisons, a system has at most 20 dialogues" in said
    assert "fewer than 3 of which lie away from one end of the scale" in said
    assert not any("bounds" in p.text for p in findings.findings(every, judged, NAMES, OPTIONS))


def test_counts_are_those_of_their_own_label(results):
    table = tables.count_table(results, NAMES).set_index(["Method", "Label"])
    means = results.select("n_significant", summary="mean", adjusted_over="none", alpha=0.05, test=analysis.PUBLISHED)
    assert len(means) == 4
    for row in means.itertuples():
        assert str(table.loc[named(row), "Draws, published"]).startswith(f"{row.estimate:.1f} (")
    tests = analysis.primary(results)
    sure = (tests["p_adjusted"] < 0.05).groupby([tests["method"], tests["label"]]).sum().reset_index()
    for row in sure.itertuples():
        assert table.loc[named(row), "Holm, label"] == row.p_adjusted
    counts = results["n_significant"]
    whole = tables.count_table(Results(n_significant=counts[counts["n_dialogues"].isna()]), NAMES)
    assert not [c for c in whole if "raw" in c]


def test_a_table_of_counts_for_each_group(every, judged):
    found = list(tables.count_tables(every, judged, NAMES, n=12, n_draws=30))
    assert [t.name for t in found] == ["counts", "counts_1"]
    assert [len(t.frame) for t in found] == [4, 2]


def test_differences_shown_are_the_significant_ones(every, results, judged):
    tests = analysis.primary(results)
    n = int((tests["p_adjusted"] < 0.05).sum())
    assert len(tables.differences(results, NAMES).frame) == n > 0
    facts = overview.tally(results)
    assert (facts["n_labels"], facts["n"], facts["n_sure"]) == (4, len(tests), n)
    headline = next(findings.findings(every, judged, NAMES, OPTIONS)).text
    assert f"{n} of {len(tests)} " in headline
    assert all(f"- {shown.who(one, judged, NAMES)}: " in headline for one in judged)
    first = findings._most_often(tests, NAMES)
    most = tests[tests["p_adjusted"] < 0.05].groupby(["system", "system_b"]).size()
    assert (first["n_labels"], len(first["first"])) == (most.max(), (most == most.max()).sum())


def test_findings_hold_where_nothing_is_significant(results, judged):
    none = changed(results, "system_difference", p_adjusted=1.0)
    assert overview.tally(none)["n_apart"] == 0
    assert findings._most_often(analysis.primary(none), NAMES) is None
    said = [p.text for p in findings.findings(none, judged[:1], NAMES, OPTIONS)]
    assert "None of the 4 labels distinguishes" in said[0]
    gone = changed(results, "system_difference", p_value=np.nan)
    assert overview.tally(gone)["n_labels"] == 0
    assert findings._errors([("", Results())], NAMES, 30)["tests"] == []


def test_one_label_and_one_comparison_are_not_counted(results, judged):
    tests = results["system_difference"]
    label = analysis.primary(results)["label"].iloc[0]
    pair = analysis.primary(results)[["system", "system_b"]].iloc[0]
    one = Results(results | {"system_difference": where(tests, label=label, **pair)})
    for p_adjusted, apart, only in (
        (0.5, "does not distinguish any", "not significant"),
        (0.01, "distinguishes", "sig"),
    ):
        said = next(
            findings.findings(changed(one, "system_difference", p_adjusted=p_adjusted), judged[:1], NAMES, OPTIONS)
        )
        assert said.text.startswith(f"**The only label {apart}")
        assert f"The only comparison is {only}" in said.text
        assert " 1 " not in said.text


@pytest.mark.parametrize(("share", "inflated", "conservative"), [(0.2, 1, 0), (0.01, 0, 1), (0.05, 0, 0)])
def test_type_i_error_of_published_tests_is_judged(results, share, inflated, conservative):
    rows = results["null_rejection"]
    published = rows["test"].isin(analysis.PUBLISHED)
    moved = changed(results, "null_rejection", estimate=rows["estimate"].mask(published, share))
    found = findings._errors([("", moved)], NAMES, 30)
    assert (found["inflated"], found["conservative"]) == (inflated, conservative)
    assert dict(found["tests"])["z test on turns"] == pytest.approx([share])
    assert found["chance"] == pytest.approx(1.96 * np.sqrt(0.05 * 0.95 / 30))


def test_draws_are_told_only_where_they_differ(results):
    low, high = (analysis.counts(results, analysis.PUBLISHED, "none", s) for s in ("smallest", "largest"))
    assert findings._spread([results])["largest"] == (high - low).max()
    still = changed(results, "n_significant", estimate=2.0)  # every draw has all comparisons there are
    assert findings._spread([still])["median"] is None
    counts = results["n_significant"]
    whole = Results(n_significant=counts[counts["n_dialogues"].isna()])
    assert findings._spread([whole])["median"] is None
    assert all(p["draws"] == [] for p in overview.by_method(whole, "", NAMES))


def test_printed_counts_meet_ours(results):
    cells = [
        ("behavior", f"alpha_0_{a}", x, v) for a in ("01", "05", "1") for x, v in (("ignore", 99), ("redundant", 0))
    ]
    printed = pd.DataFrame(cells, columns=["panel", "row", "column", "value"]).assign(printed="x")
    found = tables.printed_counts(results, printed, {"behavior": "behavior"})
    assert len(found) == 6
    for row in found.itertuples():
        for summary, value in {"first": row.here, "smallest": row.smallest, "largest": row.largest}.items():
            assert value == analysis.counts(results, "z", "none", summary, row.alpha)["behavior", row.label]
    inside = found["value"].between(found["smallest"], found["largest"])
    assert not inside[found["label"] == "ignore"].any()  # nothing reaches 99
    assert findings.printed(found, same_size=True).text.startswith(f"{inside.sum()} of 6 ")
    assert "Of 6 printed counts" in findings.printed(found, same_size=False).text
    assert "Over draws" in tables.printed(found, NAMES, "Table 5").frame
    assert tables.printed_counts(results, printed.assign(panel="turn_likert"), {"turn_likert": "turn_likert"}).empty


def test_counts_of_other_labels_by_hand():
    cells = pd.DataFrame({"method": "m", "alpha": 0.05, "value": [1.0, 5.0, 2.0], "smallest": [0.0, 4.0, 1.0],
                          "largest": [2.0, 6.0, 1.0]})  # fmt: skip
    # the 2 lies in the first range, the 1 in the third, of six wrong pairings
    assert findings.others_inside(cells) == pytest.approx(2 / 6)


def test_heatmaps_mark_what_is_significant(results):
    fig = figures.significance(results, NAMES).fig
    by_test = [[t.get_text() for ax in fig.axes[i:-1:2] for t in ax.texts].count("•") for i in (0, 1)]
    published, ours = analysis.as_published(results), analysis.primary(results)
    assert by_test == [(published["p_value"] < 0.05).sum(), (ours["p_adjusted"] < 0.05).sum()]
    assert len(published) == len(ours) == 4 * 6
    assert len(fig.axes) == 2 * 3 + 1  # three methods and the colour bar


def test_heatmaps_of_many_systems_count_labels(results, monkeypatch):
    monkeypatch.setattr(figures, "MANY", 3)
    left, right, _ = figures.significance(results, NAMES).fig.axes
    n = sum(int(t.get_text() or 0) for t in right.texts)
    assert n == (analysis.primary(results)["p_adjusted"] < 0.05).sum()
    assert [t.get_text() for t in left.get_yticklabels()] == [s.upper() for s in SYSTEMS]


def test_figures_show_each_label_and_method(results):
    ax = figures.type_i_errors(results, NAMES, n_runs=30).fig.axes[0]
    shown = results.select("null_rejection", alpha=0.05).dropna(subset="estimate")
    assert sum(len(x.get_xdata()) for x in ax.lines if x.get_marker() != "None") == len(shown)
    low = [segment[0, 1] for c in ax.collections for segment in c.get_segments() if len(segment)]
    assert sorted(low) == pytest.approx(sorted(shown["ci_low"]))
    assert ax.get_ylim()[0] == 0
    assert figures.power(results, NAMES).fig.axes[0].get_xlabel().startswith("Dialogues per system")
    assert figures.type_i_errors(Results(), NAMES, n_runs=30) is None
    table = tables.power(results, NAMES).frame
    assert (table["Holm"] > table["Single test"]).all()
    assert table["Single test"].gt(0).all()


@pytest.mark.parametrize("method", METHODS)
def test_every_margin_of_an_equivalence_figure_is_inside_its_panel(results, method):
    rows = results["smallest_margin"]
    own = rows["method"] == method
    assert own.any()
    assert not own.all()
    wide = rows.assign(estimate=rows["estimate"].where(~own, 40 * rows["estimate"]))
    plot = figures.equivalence(Results(results | {"smallest_margin": wide}), NAMES)
    for ax in plot.fig.axes:
        low, high = ax.get_xlim()
        margins = np.concatenate([line.get_xdata() for line in ax.lines if line.get_marker() != "None"])
        assert len(margins)
        assert ((margins >= low) & (margins <= high)).all()
