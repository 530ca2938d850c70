"""What notebook 03 shows follows from its results, and from the primary interval only."""

import numpy as np
import pandas as pd
import pytest
from fixtures.made_annotations import annotation_rows

from judgebook.display.names import DisplayNames
from judgebook.questions.agreement import analysis, findings, library_check, population, tables
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
    ]
)


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
    only = RESULTS.select("alpha", label="redundant", resample="dialogue").assign(statistic="alpha")
    assert "of the only label are reliable:**" in texts(collect(only))


def test_bounds_few_items_and_what_was_never_judged_twice_are_named():
    text = texts(RESULTS)
    assert "Antisocial, Behaviour, Group G: few marks" in text
    assert "Comparative, Group G (12 items); Comparative, Group H (20 items)" in text
    assert "Preliminary" in text
    assert "Preliminary" not in texts(RESULTS, min_items=12)


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


def test_the_libraries_agree_on_every_coefficient():
    frame, labels = people(m=3), LABEL_SETS["abc_eval"]
    results = analysis.alpha_table(frame, labels, first=None, sampling=QUICK)
    compared = library_check.compare(frame, labels, results)
    assert sorted(compared["library"]) == ["krippendorff", "pingouin"]
    assert np.abs(compared["ours"] - compared["theirs"]).max() < 1e-12
    moved = compared.assign(ours=compared["ours"] + 0.01)
    assert library_check.largest_differences(moved)["krippendorff"] == (1, pytest.approx(0.01))


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
    assert len(population.for_these_annotators(results)) == (whom == "sample")
    said = {"sample": "holds for other annotators, too", "fixed": "For other annotators, nothing can be said"}
    assert said.get(whom, "not known individually") in texts(results)
    (means,) = population.reliability_of_means(results).to_dict("records")
    assert (means["n"], means["n_dialogues"], means["annotators_per_dialogue"]) == (3, 13, 3)


def test_where_nobody_judged_twice_that_is_all_it_says():
    results = analysed(people(per=1))
    assert texts(results) == "**Agreement cannot be determined:** no item was judged by two people of one group."
    assert tables.alphas(results, NAMES, 0.95) is None
    assert tables.over_people(results, NAMES) is None
