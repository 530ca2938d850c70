"""Where results stand: which public studies a label is compared with, and what the page says."""

import pandas as pd
import pytest

from compendium.atlas.standing import page
from judgebook.study.labels import Label

KEYS = ["study", "corpus", "group", "method", "label"]
RELEVANCE = Label("relevance", "dialogue_rating", "Relevance", (1, 5))


def tables(values, statistic="alpha", **more):
    """Labels and values: a row for each (study, value)."""
    rows = pd.DataFrame(values, columns=["study", "estimate"])
    rows = rows.assign(corpus="main", group="all", method="dialogue_rating", label="relevance", statistic=statistic)
    rows = rows.assign(ci_low=rows["estimate"] - 0.1, ci_high=rows["estimate"] + 0.1, n=10)
    facts = {"main": 1, "kind": "relevance", "aggregated": 0, "unit": "dialogue", "level": "ordinal", "points": 5}
    labels = rows[KEYS].drop_duplicates("study").assign(**facts | {"low": 1, "high": 5} | more)
    return labels, rows.merge(labels[KEYS])


PUBLIC = [(f"s{i}", i / 10) for i in range(1, 7)]


def found(public=PUBLIC, value=0.35, **more):
    return page.strips(tables([("mine", value)], **more), tables(public, **more), [RELEVANCE])


@pytest.mark.parametrize(("value", "below"), [(0.35, 3), (0.4, 3)])
def test_a_label_stands_among_the_studies_with_lower_values(value, below):
    (one,) = found(value=value)
    assert (one.statistic, one.words, one.below, len(one.others)) == ("alpha", ("relevance", "likert"), below, 6)
    assert (one.value, one.low, one.high) == pytest.approx((value, value - 0.1, value + 0.1))


@pytest.mark.parametrize(
    "change",
    [{"public": [("mine", 0.1), *PUBLIC[:4]]}, {"aggregated": 1}, {"kind": None}, {"level": "nominal", "points": None}],
    ids=["its own is one of five", "means of several people", "nobody knows the kind", "no order"],
)
def test_a_label_without_comparables_has_no_strip(change):
    assert found(**change) == []


@pytest.mark.parametrize("column", ["kind", "points"])
def test_labels_about_something_else_or_of_another_form_are_not_compared(column):
    own, public = tables([("mine", 0.35)]), tables(PUBLIC)
    public[0].loc[public[0]["study"].isin(["s1", "s2"]), column] = {"kind": "fluency", "points": 2}[column]
    assert page.strips(own, public, [RELEVANCE]) == []


def test_counts_and_points_are_relative():
    (pairs,) = found(value=4, public=[(f"s{i}", i) for i in range(6)], statistic="pairs_different")
    assert pairs.value == pytest.approx(0.4)
    assert sorted(pairs.others.values()) == pytest.approx([0, 0.1, 0.2, 0.3, 0.4, 0.5])


def test_a_study_counts_once_by_its_median():
    public = [*PUBLIC, ("s1", 0.9), ("s1", 0.8)]
    (one,) = page.strips(tables([("mine", 0.35)]), tables(public), [RELEVANCE])
    assert one.others["s1"] == pytest.approx(0.8)
    assert one.below == 2
