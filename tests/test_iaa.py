"""What is said about agreement follows from the result rows, and from the primary interval only."""

import krippendorff
import numpy as np
import pandas as pd
import pytest

from helpers import agreement, iaa, schema
from helpers.labels import LABEL_SETS, Label
from helpers.look import Look
from helpers.views import agreement_report as report

LABELS = {(label.method, label.id): label for label in LABEL_SETS["abc_eval"]}
METHODS = {"behavior": "Behaviour", "comparative": "Comparative"}
LOOK = Look(LABELS, {"method": METHODS, "group": {"g": "Group G", "h": "Group H"}, "system": {}})


def row(group, method, label, estimate, low, high, kind="bca", n=100, unit="dialogue", note=None):
    return {
        "corpus": "main",
        "group": group,
        "method": method,
        "label": label,
        "statistic": "alpha",
        "condition": f"measurement=ordinal;resample={unit}",
        "estimate": estimate,
        "ci_low": low,
        "ci_high": high,
        "ci_kind": kind,
        "resample_unit": unit,
        "n": n,
        "n_clusters": 10,
        "n_annotators": 2,
        "note": note,
    }


RESULTS = pd.DataFrame(
    [
        row("g", "behavior", "ignore", 0.85, 0.81, 0.90),
        row("g", "behavior", "ignore", 0.85, 0.82, 0.88, unit="turn"),
        row("g", "behavior", "redundant", 0.7, 0.67, 0.75),
        row("g", "behavior", "redundant", 0.7, -0.1, 0.9, unit="turn"),
        row("g", "behavior", "antisocial", 1.0, 0.9, 1.0, kind="exact_bound", note="few marks"),
        row("g", "comparative", "quality", 0.2, 0.0, 0.4, n=12, unit="pair"),
        row("h", "comparative", "quality", np.nan, np.nan, np.nan, kind="not_estimable", n=0, unit="pair"),
        row("h", "comparative", "relevant", 0.1, -0.2, 0.3, n=20, unit="pair"),
        row("h", "behavior", "ignore", np.nan, np.nan, np.nan, kind="not_estimable", n=0),
        {**row("g", "behavior", "ignore", 1.4, np.nan, np.nan), "statistic": "interval_width_ratio"},
        {**row("g", "behavior", "redundant", 1.0, np.nan, np.nan), "statistic": "interval_width_ratio"},
    ]
)
PRIMARY, TURNS = iaa.alphas(RESULTS)


def test_the_primary_interval_is_the_one_that_is_not_over_turns():
    assert len(PRIMARY) == 5
    assert set(PRIMARY["resample_unit"]) == {"dialogue", "pair"}
    assert list(TURNS["ci_low"]) == [0.82, -0.1]


def test_what_was_never_judged_twice_is_named_by_method_and_group():
    assert report.never_twice(RESULTS).to_records(index=False).tolist() == [("h", "behavior")]


def test_the_first_paragraph_counts_intervals_not_estimates_and_no_bounds():
    text = report.verdict(PRIMARY, LOOK)
    assert "Of 5 labels annotated twice (counted once a group)" in text
    assert "2 have an interval wholly above 0.667 and 1 has one above 0.8" in text
    assert "highest alpha is 1.00 [0.90, 1.00] (Antisocial, Behaviour, Group G)" in text
    assert "For 2 the interval reaches 0" in text
    alone = report.verdict(PRIMARY[PRIMARY["label"] == "redundant"], LOOK)
    assert "Of 1 label annotated twice, 1 has" in alone
    assert "none has one above 0.8" in alone
    assert "reaches 0" not in alone


def test_medians_widths_and_bounds_are_said():
    assert "- Behaviour, Group G: median alpha 0.85, from 0.70 to 1.00 (3 labels)" in report.by_method(PRIMARY, LOOK)
    alone = PRIMARY[PRIMARY["label"] == "redundant"]
    assert report.by_method(alone, LOOK).endswith(f": alpha {alone['estimate'].iloc[0]:.2f} (1 label)")
    assert "1.00 to 1.40 times as wide" in report.widths(RESULTS)
    assert "(median 1.20)" in report.widths(RESULTS)
    assert report.widths(RESULTS[RESULTS["statistic"] == "alpha"]) == ""
    assert "- Antisocial, Behaviour, Group G: bound, few marks" in report.bounds(PRIMARY, LOOK)
    assert report.bounds(PRIMARY[PRIMARY["ci_kind"] == "bca"], LOOK) == ""


def test_few_items_are_warned_of_with_their_number():
    text = report.small(PRIMARY, 25, LOOK)
    assert "fewer than 25 items for Comparative, Group G (12 items) and Comparative, Group H (20 items)" in text
    assert report.small(PRIMARY, 12, LOOK) == ""


def test_the_main_group_has_most_labels_and_groups_are_compared_where_they_share_a_method():
    assert report.main_group(PRIMARY) == "g"
    assert report.shared_methods(PRIMARY) == ["comparative"]
    plots = report.figures(PRIMARY)
    assert list(plots) == ["alpha", "alpha_groups"]
    assert set(plots["alpha"]["group"]) == {"g"}
    assert list(plots["alpha_groups"]["label"]) == ["quality", "relevant"]
    pairs = PRIMARY[PRIMARY["method"] == "comparative"]
    assert list(report.figures(pairs)) == ["alpha"]
    assert len(report.figures(pairs)["alpha"]) == 2
    one = PRIMARY[PRIMARY["group"] == "g"]
    assert report.figures(one)["alpha"].equals(one)
    assert "alpha of 5 labels with intervals, by method, from 0.10 to 1.00. Judged by Group G, Group H." in report.alt(
        PRIMARY, LOOK
    )


def test_the_overview_has_both_intervals_in_the_order_of_labels():
    wide = report.overview(RESULTS, LOOK)
    assert list(wide["label"]) == ["antisocial", "redundant", "ignore", "quality", "relevant"]
    assert wide["Alpha"][2] == "0.85 [0.81, 0.90]"
    assert wide["Over turns"][2] == "0.85 [0.82, 0.88]"
    assert wide["Width ratio"][2] == 1.4
    assert wide["Items"].dtype == "Int64"
    assert wide["Over turns"].isna().tolist() == [True, False, False, True, True]


def test_rows_on_a_scope_are_told_apart_in_the_results():
    scoped = iaa.with_scope(RESULTS, "paper")
    assert set(scoped["condition"].map(lambda c: schema.read_condition(c)["scope"])) == {"paper"}
    both = pd.concat([RESULTS[RESULTS["statistic"] == "alpha"], scoped])
    assert len(schema.make_results(both, study="s", notebook="n")) == 18


def judgements(seed=0, n=60, people=3):
    """Random marks and comparisons, some by one person only, as a frame of annotations."""
    rng = np.random.default_rng(seed)
    rows = []
    for method, label, values in (("behavior", "ignore", [0, 1]), ("comparative", "quality", [-1, 0, 1])):
        for item in range(n):
            truth = rng.choice(values)
            for person in rng.permutation(people)[: rng.integers(1, people + 1)]:
                score = truth if rng.random() < 0.6 else rng.choice(values)
                pair = method == "comparative"
                place = (f"d{item}", None if pair else item % 4, f"e{item}" if pair else None)
                rows.append((f"A{person}", method, label, *place, score))
    columns = ["annotator", "method", "label", "dialogue", "turn", "dialogue_b", "score"]
    frame = pd.DataFrame(rows, columns=columns).assign(corpus="main", group="all", annotator_kind="human")
    frame = frame.assign(annotator_known=True, system="s", source_row=range(len(rows)))
    return schema.conform(frame, schema.ANNOTATIONS, study="s")


@pytest.mark.parametrize("seed", range(3))
def test_plain_alphas_equal_those_of_the_agreement_table(seed):
    marks = judgements(seed)
    labels = [LABELS["behavior", "ignore"], Label("quality", "comparative", "Quality", (-1, 1))]
    table = agreement.alpha_table(marks, labels, first=None, n_resamples=100, units=("dialogue",))
    expected = table[table["statistic"] == "alpha"].set_index("label")
    found = schema.make_results(iaa.plain_alphas(marks, labels), study="s", notebook="n").set_index("label")
    for label in ("ignore", "quality"):
        assert found.at[label, "estimate"] == pytest.approx(expected.at[label, "estimate"], abs=1e-12)
        assert found.at[label, "n"] == expected.at[label, "n"]
    likert = [Label("ignore", "behavior", "Ignore", (0, 2)), labels[1]]  # as if marks were a scale of three
    wrong = iaa.nominal_alphas(marks, likert)
    assert wrong["condition"].str.contains("measurement=nominal").all()
    wide = marks[marks["method"] == "behavior"].pivot_table(
        index="annotator", columns=["dialogue", "turn"], values="score"
    )
    expected = krippendorff.alpha(wide.to_numpy(), level_of_measurement="nominal")
    assert wrong.set_index("label").at["ignore", "estimate"] == pytest.approx(expected)
    assert "ignore" not in set(iaa.nominal_alphas(marks, labels)["label"])  # marks of 0 and 1 have no order to lose
    alone = marks.drop_duplicates(["method", "dialogue", "turn"])
    assert iaa.plain_alphas(alone, labels).empty


def test_annotators_as_a_sample_have_an_interval_and_a_range():
    marks = judgements(n=80)
    labels = [LABELS["behavior", "ignore"], Label("quality", "comparative", "Quality", (-1, 1))]
    people = agreement.alpha_over_annotators(marks, labels, n_resamples=200)
    wide = report.over_people(people, LOOK)
    assert list(wide["label"]) == ["ignore", "quality"]
    assert wide["Annotators"].tolist() == [3, 3]
    rows = people[people["condition"].str.contains("without")].set_index("label")
    assert wide["Without one person"][0] == f"{rows.at['ignore', 'ci_low']:.2f} to {rows.at['ignore', 'ci_high']:.2f}"
