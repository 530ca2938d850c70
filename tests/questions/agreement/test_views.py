"""What notebook 03 shows follows from its results, and from the primary interval only."""

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


def test_the_headline_counts_intervals_and_leaves_out_bounds():
    text = texts(RESULTS)
    # the CI of Redundant begins at 0.67, just above 0.667
    assert "**Single judgements are reliable on 2 of 5 labels:**" in text
    assert "Above 0.8, as Krippendorff usually asks: Ignore, Behaviour, Group G." in text
    above = next(line for line in text.splitlines() if line.startswith("CI above 0.667: "))
    assert "Antisocial" not in above  # a bound, not an interval
    assert "In 2 of 5, the CI includes 0" in text
    assert "of the only label are reliable:**" in texts(without(label="redundant", resample="dialogue"))


def test_bounds_few_items_and_what_was_never_judged_twice_are_named():
    text = texts(RESULTS)
    assert "Antisocial, Behaviour, Group G: few marks" in text
    assert "Comparative, Group G (12 items); Comparative, Group H (20 items)" in text
    assert "Preliminary" in text
    assert "Preliminary" not in texts(RESULTS, min_items=12)
    assert "1.00 to 1.40 times as wide" in text
    assert "Behaviour, Group H" in tables.never_twice(RESULTS, NAMES).text
    assert tables.never_twice(without(group="g"), NAMES) is None


def test_figures_compare_groups_where_they_share_a_method():
    plots = {plot.name: plot for plot in figures.alphas(RESULTS, NAMES, 0.667, [0.5])}
    assert list(plots) == ["alpha", "alpha_groups"]
    assert "Group H" not in plots["alpha"].alt
    assert "Lines mark 0.5, 0.667 and 0.8." in plots["alpha"].alt
    assert "0.10 to 0.20" in plots["alpha_groups"].alt
    assert [plot.name for plot in figures.alphas(without(method="comparative"), NAMES)] == ["alpha"]


def test_the_table_has_both_intervals_in_the_order_of_labels():
    wide = tables.alphas(RESULTS, NAMES, 0.95).frame.set_index("Label")
    assert list(wide.index) == ["Antisocial", "Redundant", "Ignore", "Quality", "Relevance"]
    row = wide.loc["Ignore", ["Alpha", "Over turns", "Width ratio"]].tolist()
    assert row == ["0.85 [0.81, 0.90]", "0.85 [0.82, 0.88]", 1.4]
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
    moved = compared.assign(ours=compared["ours"] + 0.01)
    assert library_check.largest_differences(moved)["krippendorff"] == (2, pytest.approx(0.01))


def test_one_call_gives_all_results_of_the_notebook(judged):
    results = analysed(judged, control=True)
    resampled = set(results["alpha"]["resample"].dropna())
    assert resampled == {"turn", "dialogue", "dialogue and annotator", "without one annotator"}
    assert set(results.select("alpha", resample=None)["measurement"]) == {"nominal", "interval"}
    wide = tables.over_people(results, NAMES).frame
    assert (wide["Label"].tolist(), wide["Annotators"].tolist()) == (["Ignore", "Quality"], [2, 3])
    row = results.select("alpha", resample="without one annotator", label="quality").iloc[0]
    assert wide["Range without one annotator"][1] == f"{row['ci_low']:.2f} to {row['ci_high']:.2f}"


def test_what_was_resampled_is_named_and_turns_are_warned_of():
    over_sessions = collect([alpha("g", "behavior", "ignore", 0.8, 0.7, 0.9, resample="session")])
    assert tables.over(population.primary(RESULTS)) == "dialogues or pairs"
    assert tables.over(population.primary(over_sessions)) == "sessions"
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
    places = frame["dialogue"].str[1:].astype(int) % (contexts or n)
    return frame.assign(context="c" + places.astype(str)) if contexts else frame


def analysed(frame, **options):
    how = {"first": None, "people_resamples": 50, "sampling": QUICK}
    return analysis.analyse(frame, LABEL_SETS["abc_eval"], **how | options)


@pytest.mark.parametrize(
    ("frame", "whom", "resample"),
    [
        (people(), "sample", "dialogue and annotator"),
        (people(contexts=8), "sample", "context and annotator"),
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
    assert ("For these annotators" in tables.alphas(results, NAMES, 0.95).frame) == (whom == "sample")
    said = {"sample": "holds for other annotators, too", "fixed": "For other annotators, nothing can be said"}
    assert said.get(whom, "not known individually") in texts(results)
    (means,) = population.reliability_of_means(results).to_dict("records")
    assert (means["n"], means["n_dialogues"], means["annotators_per_dialogue"]) == (3, 13, 3)


def test_where_nobody_judged_twice_that_is_all_it_says():
    results = analysed(people(per=1))
    assert texts(results) == "**Agreement cannot be determined:** no item was judged by two people of one group."
    assert tables.alphas(results, NAMES, 0.95) is None
    assert tables.over_people(results, NAMES) is None
    assert list(figures.alphas(results, NAMES)) == []
