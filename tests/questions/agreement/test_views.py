"""What notebook 03 shows follows from its results, and from the primary interval only."""

import krippendorff
import numpy as np
import pandas as pd
import pytest
from fixtures.made_annotations import annotation_rows

from judgebook.display.names import DisplayNames
from judgebook.questions.agreement import analysis, figures, findings, library_check, population, tables
from judgebook.statistics.intervals import Sampling
from judgebook.study.labels import LABEL_SETS
from judgebook.study.results import collect

QUICK = Sampling(n_resamples=200, confidence=0.95, seed=1)
LABELS = {(label.method, label.id): label for label in LABEL_SETS["abc_eval"]}
METHODS = {"behavior": "Behaviour", "comparative": "Comparative"}
NAMES = DisplayNames(LABELS, {"method": METHODS, "group": {"g": "Group G", "h": "Group H"}, "system": {}})


def alpha(group, method, label, estimate, low, high, kind="bca", n=100, resample="dialogue", note=None):
    row = {"statistic": "alpha", "corpus": "main", "group": group, "method": method, "label": label, "n": n}
    row |= {"measurement": "ordinal", "resample": resample, "estimate": estimate, "ci_low": low, "ci_high": high}
    return row | {"ci_kind": kind, "n_clusters": 10, "n_annotators": 2, "note": note}


def width_ratio(label, estimate):
    row = {"statistic": "interval_width_ratio", "corpus": "main", "group": "g", "method": "behavior", "label": label}
    return row | {"raters": "first2", "estimate": estimate, "n": 100}


RESULTS = collect(
    [
        alpha("g", "behavior", "ignore", 0.85, 0.81, 0.90),
        alpha("g", "behavior", "ignore", 0.85, 0.82, 0.88, resample="turn"),
        alpha("g", "behavior", "redundant", 0.7, 0.67, 0.75),
        alpha("g", "behavior", "redundant", 0.7, -0.1, 0.9, resample="turn"),
        alpha("g", "behavior", "antisocial", 1.0, 0.9, 1.0, kind="exact_bound", note="few marks"),
        alpha("g", "comparative", "quality", 0.2, 0.0, 0.4, n=12, resample="pair"),
        alpha("h", "comparative", "quality", np.nan, np.nan, np.nan, kind="not_estimable", n=0, resample="pair"),
        alpha("h", "comparative", "relevant", 0.1, -0.2, 0.3, n=20, resample="pair"),
        alpha("h", "behavior", "ignore", np.nan, np.nan, np.nan, kind="not_estimable", n=0),
        width_ratio("ignore", 1.4),
        width_ratio("redundant", 1.0),
    ]
)


def without(**keys):
    """RESULTS with those alphas only."""
    return collect(RESULTS.select("alpha", **keys).assign(statistic="alpha"))


def texts(results, min_items=25):
    found = findings.findings(results, NAMES, min_items=min_items, confidence=0.95)
    return "\n\n".join(p.text for p in found if p.text)


def test_the_primary_interval_is_over_dialogues_or_pairs():
    rows = population.primary(RESULTS)
    assert len(rows) == 5
    assert set(rows["resample"]) == {"dialogue", "pair"}


def test_the_headline_counts_intervals_and_leaves_out_bounds():
    text = texts(RESULTS)
    assert (
        "**Single judgements are reliable on 2 of 5 labels:**" in text
    )  # the CI of Redundant begins at 0.67, just above 0.667
    assert "Above 0.8, as Krippendorff usually asks: Ignore, Behaviour, Group G." in text
    above = next(line for line in text.splitlines() if line.startswith("CI above 0.667: "))
    assert "Ignore, Behaviour, Group G" in above
    assert "Antisocial" not in above  # a bound, not an interval
    assert "In 2 of 5, the CI includes 0" in text
    assert "of the only label are reliable:**" in texts(without(label="redundant", resample="dialogue"))


def test_bounds_and_few_items_are_named_with_their_reason():
    text = texts(RESULTS)
    assert "Antisocial, Behaviour, Group G: few marks" in text
    assert "Comparative, Group G (12 items); Comparative, Group H (20 items)" in text
    assert "**Preliminary,** as based on fewer than 25 items" in text
    assert "Preliminary" not in texts(RESULTS, min_items=12)
    assert "1.00 to 1.40 times as wide" in text


def test_what_was_never_judged_twice_is_named_by_method_and_group():
    assert "Behaviour, Group H" in tables.never_twice(RESULTS, NAMES).text
    assert tables.never_twice(without(group="g"), NAMES) is None


def test_figures_compare_groups_where_they_share_a_method():
    plots = {plot.name: plot for plot in figures.alphas(RESULTS, NAMES)}
    assert list(plots) == ["alpha", "alpha_groups"]
    assert "Group H" not in plots["alpha"].alt
    assert "alpha of 2 labels" in plots["alpha_groups"].alt
    assert "0.10 to 0.20" in plots["alpha_groups"].alt
    (one,) = figures.alphas(without(method="comparative"), NAMES)
    marked = next(figures.alphas(RESULTS, NAMES, 0.667, [0.5]))
    assert {"0.667", "0.8"} <= {text.get_text() for ax in marked.fig.axes for text in ax.texts}
    assert "Lines mark 0.5, 0.667 and 0.8." in marked.alt
    assert one.name == "alpha"


def test_the_table_has_both_intervals_in_the_order_of_labels():
    wide = tables.alphas(RESULTS, NAMES, 0.95).frame
    assert list(wide["Label"]) == ["Antisocial", "Redundant", "Ignore", "Quality", "Relevance"]
    assert wide["Alpha"][2] == "0.85 [0.81, 0.90]"
    assert wide["Over turns"][2] == "0.85 [0.82, 0.88]"
    assert wide["Width ratio"][2] == 1.4
    assert wide["Items"].dtype == "Int64"
    assert wide["Over turns"].isna().tolist() == [True, False, False, True, True]


@pytest.fixture(scope="module")
def judged():
    rng = np.random.default_rng(0)
    scores = np.clip(np.round(3 + rng.normal(size=(60, 1)) + 0.8 * rng.normal(size=(60, 3))), 1, 5)
    marks = (rng.random((60, 2)) < 0.4).astype(float)
    rows = [
        {"dialogue": f"d{i:03d}", "method": method, "label": label, "annotator": f"A{j}", "score": score, "turn": turn}
        for method, label, turn, values in (
            ("dialogue_likert", "quality", None, scores),
            ("behavior", "ignore", 0, marks),
        )
        for (i, j), score in np.ndenumerate(values)
    ]
    return annotation_rows(rows)


def test_the_libraries_agree_on_every_coefficient(judged):
    labels = LABEL_SETS["abc_eval"]
    results = analysis.alpha_table(judged, labels, first=None, sampling=QUICK)
    compared = library_check.compare(judged, labels, results)
    assert sorted(compared["library"]) == ["krippendorff", "krippendorff", "pingouin"]
    assert np.abs(compared["ours"] - compared["theirs"]).max() < 1e-12
    assert library_check.largest_differences(compared)["krippendorff"][0] == 2
    moved = collect(results["alpha"].assign(statistic="alpha", estimate=results["alpha"]["estimate"] + 0.01))
    assert library_check.largest_differences(library_check.compare(judged, labels, moved))["krippendorff"][
        1
    ] == pytest.approx(0.01)


def test_annotators_as_a_sample_have_an_interval_and_a_range(judged):
    people = analysis.alpha_over_annotators(judged, LABEL_SETS["abc_eval"])
    wide = tables.over_people(people, NAMES).frame
    assert list(wide["Label"]) == ["Ignore", "Quality"]
    assert wide["Annotators"].tolist() == [2, 3]
    row = people.select("alpha", resample="without one annotator", label="quality").iloc[0]
    assert wide["Range without one annotator"][1] == f"{row['ci_low']:.2f} to {row['ci_high']:.2f}"


def test_one_call_gives_all_results_of_the_notebook(judged):
    options = {"first": None, "people_resamples": 50, "sampling": QUICK}
    results = analysis.analyse(judged, LABEL_SETS["abc_eval"], **options, control=True)
    resampled = set(results["alpha"]["resample"].dropna())
    assert resampled == {"turn", "dialogue", "dialogue and annotator", "without one annotator"}
    assert set(results.select("alpha", resample=None)["measurement"]) == {"nominal", "interval"}
    assert isinstance(results["facet_variance"], pd.DataFrame)


def test_what_was_resampled_is_named_and_turns_are_warned_of():
    over_sessions = collect([alpha("g", "behavior", "ignore", 0.8, 0.7, 0.9, resample="session")])
    assert tables.over(population.primary(RESULTS)) == "dialogues or pairs"
    assert tables.over(population.primary(over_sessions)) == "sessions"
    assert tables.alphas(over_sessions, NAMES, 0.95).caption.endswith("over sessions.")
    assert "too narrow** for Behaviour" in findings.misled(["behavior"], NAMES).text
    assert findings.misled([], NAMES).text.strip() == ""


def people(n=40, m=6, per=3, contexts=None, known=True, seed=1, label="quality"):
    """Ratings of n dialogues of three systems, each by `per` of m people in turn; dialogues share contexts."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        for j in range(per):
            score = float(np.clip(np.round(3 + (i % 3) + 0.8 * rng.normal()), 1, 5))
            row = {"dialogue": f"d{i:02d}", "method": "dialogue_likert", "label": label, "system": f"S{i % 3}"}
            rows.append(row | {"annotator": f"A{(i * per + j) % m}", "score": score, "turn": None})
    frame = annotation_rows(rows).assign(annotator_known=known)
    return (
        frame
        if contexts is None
        else frame.assign(context="c" + (frame["dialogue"].str[1:].astype(int) % contexts).astype(str))
    )


def analysed(frame, **options):
    how = {"first": None, "people_resamples": 50, "sampling": QUICK}
    return analysis.analyse(frame, LABEL_SETS["abc_eval"], **how | options)


@pytest.mark.parametrize(
    ("frame", "whom", "resample"),
    [
        (people(), "sample", "dialogue and annotator"),
        (people(contexts=8), "sample", "context and annotator"),
        (people(m=4), "fixed", "dialogue"),
        (people(m=4, contexts=8), "fixed", "context"),
        (people(known=False), "unknown", "dialogue"),
    ],
)
def test_each_alpha_has_one_primary_interval_and_says_of_whom_it_speaks(frame, whom, resample):
    results = analysed(frame)
    (row,) = population.primary(results).to_dict("records")
    assert (row["population"], row["resample"]) == (whom, resample)
    assert row["unit"] == resample.removesuffix(" and annotator")
    assert pd.notna(row["ci_low"])
    assert (row["others"] == "4.0 effective annotators, of 5 needed") == (whom == "fixed")
    (ac,) = population.primary_ac(results).to_dict("records")
    assert ac["resample"] == resample
    beside = population.for_these_annotators(results)
    assert len(beside) == (whom == "sample")
    table = tables.alphas(results, NAMES, 0.95)
    assert ("For these annotators" in table.frame) == (whom == "sample")
    text = texts(results)
    said = {
        "sample": "the CI holds for other annotators, too",
        "fixed": "For other annotators, nothing can be said",
    }
    assert said.get(whom, "not known individually") in text
    assert "Means of systems over many dialogues average out such disagreement" in text
    (means,) = population.reliability_of_means(results).to_dict("records")
    assert (means["n"], means["n_dialogues"], means["annotators_per_dialogue"]) == (3, 13, 3)


def test_the_threshold_of_the_study_decides_the_headline():
    results = analysed(people())
    low = population.primary(results)["ci_low"].item()

    def headline(threshold):
        return next(findings.findings(results, NAMES, min_items=5, confidence=0.95, threshold=threshold)).text

    assert "of the only label are reliable" in headline(low - 0.01)
    assert "iaa.threshold" in headline(low - 0.01)
    assert "are not shown to be reliable" in headline(low + 0.01)
    assert "Krippendorff's (2004)" in headline(0.667)


def test_a_collapsed_alpha_is_explained_beside_ac1():
    rng = np.random.default_rng(3)
    truth = rng.random(400) < 0.04
    marks = [
        {"dialogue": f"d{i:03d}", "method": "behavior", "label": "ignore", "annotator": f"A{j}", "turn": 0}
        | {"score": float(truth[i] ^ (rng.random() < 0.04))}
        for i in range(400)
        for j in range(2)
    ]
    results = analysed(annotation_rows(marks))
    text = texts(results)
    assert "Nearly all items get the same value on 1 label" in text
    assert "Gwet's AC1 0.9" in text
    assert population.primary(results)["estimate"].item() < 0.6


def test_comparisons_say_what_other_software_gives():
    rng = np.random.default_rng(4)
    rows = [
        {"dialogue": f"d{i:02d}", "dialogue_b": f"e{i:02d}", "method": "comparative", "label": "quality", "turn": None}
        | {"annotator": f"A{j}", "score": float(rng.choice([-1, 0, 1], p=[0.2, 0.2, 0.6]))}
        for i in range(40)
        for j in range(3)
    ]
    results = analysed(annotation_rows(rows))
    stored = results.select("alpha", orientation="stored")["estimate"].item()
    values = np.array([row["score"] for row in rows]).reshape(40, 3)
    assert stored == pytest.approx(krippendorff.alpha(values.T, level_of_measurement="ordinal"))
    assert f"alpha is then {stored:.3f}".replace("-", "−") in texts(results)


def test_where_nobody_judged_twice_that_is_all_it_says():
    results = analysed(people(per=1))
    assert texts(results) == "**Agreement cannot be determined:** no item was judged by two people of one group."
    assert tables.alphas(results, NAMES, 0.95) is None
    assert tables.over_people(results, NAMES) is None
    assert list(figures.alphas(results, NAMES)) == []
