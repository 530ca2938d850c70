"""Prices of findings against second sources: other estimators, libraries, and cases solved by hand."""

import numpy as np
import pandas as pd
import pytest
from fixtures.planted_designs import talk
from questions.design.test_checks import checked, crossed, voter
from scipy.stats import t as student
from scipy.stats import ttest_ind

from judgebook.questions.performance import analysis
from judgebook.sources.sampling import UNUSED
from judgebook.statistics import clusters


def finding(code, made):
    (found,) = [f for f in checked(made).findings if f.code == code]
    return found


def rows_of(*cells):
    """Judgements of (system, annotator, score) each, every one of another dialogue."""
    frame = pd.DataFrame(cells, columns=["system", "annotator", "score"])
    frame["dialogue"] = frame["system"] + "-" + frame.index.astype(str)
    return frame.assign(method="dialogue_likert", label="quality")


def test_without_a_dominant_voter_strengths_are_those_that_davidson_fits():
    """Without ties Davidson's model is that of Bradley and Terry; the weak prior of the quick look costs under 3%."""
    marks, talk_ = voter()
    marks = marks[marks["score"] != 0]
    facts = finding("dominant_voter", (marks, talk_)).facts
    one, other = facts["system"], facts["system_b"]
    every, rest = analysis.point(marks), analysis.point(marks[marks["annotator"] != facts["annotator"]])
    assert facts["was"] == pytest.approx(every[one] - every[other], rel=0.03)
    assert facts["now"] == pytest.approx(rest[one] - rest[other], rel=0.03)
    assert facts["share"] == pytest.approx((marks["annotator"] == facts["annotator"]).mean())


def test_annotators_as_units_widen_as_much_as_their_means_say():
    """Twelve people judge the one system and twelve the other, one mean each: Welch's t of the means of annotators."""
    rng = np.random.default_rng(3)
    cells = [(s, f"{s}{a}", x) for s in ("alpha", "beta") for a in range(12)
             for x in np.clip(np.round(3 + rng.normal() + rng.normal(0, 0.6, 10)), 1, 5)]  # fmt: skip
    marks = rows_of(*cells)
    facts = finding("confounded_annotators", (marks, talk(marks))).facts
    assert (facts["common"], facts["n"], facts["n_b"]) == (0, 12, 12)
    means = marks.groupby(["system", "annotator"])["score"].mean()
    by_people = ttest_ind(means["alpha"], means["beta"], equal_var=False)
    of = [marks.loc[marks["system"] == s, "score"] for s in ("alpha", "beta")]
    by_dialogues = ttest_ind(*of, equal_var=False)
    ends = [r.confidence_interval().high - r.confidence_interval().low for r in (by_people, by_dialogues)]
    # all 24 people are clusters of either system: 24/23 of the sums of squares, where two samples have 12/11 each
    exact = np.sqrt(24 / 23 * 11 / 12) * student.isf(0.025, 23) / student.isf(0.025, by_people.df)
    assert facts["widened"] == pytest.approx(ends[0] / ends[1] * exact, rel=1e-9)


def test_bounds_of_missing_scores_by_hand():
    """Of alpha 60 scores, half 2 and half 4, and 3 missing; of beta 40 are there, all but two 3, and 20 are missing.

    Means 3 and 3. Beta's mean lies between 2/3 × 3 + 1/3 × 1 = 7/3 and 2/3 × 3 + 1/3 × 5 = 11/3, and alpha's between
    20/21 × 3 + 1/21 × 1 = 61/21 and 20/21 × 3 + 1/21 × 5 = 65/21.
    """
    marks = rows_of(
        *[("alpha", f"a{i % 6}", 2.0 + 2 * (i % 2)) for i in range(60)],
        *[("alpha", f"a{i % 6}", np.nan) for i in range(3)],
        *[("beta", f"a{i % 6}", {0: 2.0, 1: 4.0}.get(i, 3.0)) for i in range(40)],
        *[("beta", f"a{i % 6}", np.nan) for i in range(20)],
    )
    facts = finding("missing_by_system", (marks, talk(marks))).facts
    assert (facts["system"], facts["n"]) == ("beta", 20)
    assert facts["share"] == pytest.approx(1 / 3)
    assert [facts["low"], facts["high"]] == pytest.approx([7 / 3 - 65 / 21, 11 / 3 - 61 / 21])
    assert facts["was"] == pytest.approx(0)
    assert not facts["twice"]  # nothing is compared by alpha
    se = np.sqrt(60 / 59 / 60 + 2 / 39 / 40)
    assert facts["moved"] == pytest.approx(16 / 21 / se)


def test_a_weighted_mean_by_hand():
    """20 flagged dialogues with 2 and 20 others, of five times as many, with 4 (one of each with 3): the mean of 3 is
    that of a population with (1 × (19 × 2 + 3) + 5 × (19 × 4 + 3)) / (20 + 100)."""
    marks = rows_of(*[("alpha", f"a{i % 6}", x) for i, x in enumerate([3.0, *[2.0] * 19, 3.0, *[4.0] * 19])],
                    *[("beta", f"a{i % 6}", 2.0 + i % 3) for i in range(40)])  # fmt: skip
    chance = np.repeat([1.0, 0.2, 1.0], [20, 20, 40])
    facts = pd.DataFrame({"corpus": "main", "dialogue": marks["dialogue"], "value": chance.astype(str)})
    facts = facts.assign(key=UNUSED + "inclusion_probability")
    found = finding("enriched_sample", (marks, talk(marks), {"dialogue_facts": facts})).facts
    assert (found["system"], found["kind"]) == ("alpha", "weight")
    assert found["was"] == pytest.approx(3)
    assert found["now"] == pytest.approx((41 + 5 * 79) / 120)
    scores = marks.loc[marks["system"] == "alpha", "score"]
    assert found["moved"] == pytest.approx((found["now"] - 3) / (scores.std() / np.sqrt(40)))


def test_intervals_for_other_annotators_by_clustered_errors():
    """Three people judge everything: the error by annotators is that of `clusters`, that by dialogues Welch's."""
    marks, talk_ = crossed(people=3, all=3, systems=("alpha", "beta"), labels=("quality",))
    wider = finding("few_annotators", (marks, talk_)).facts["wider"]
    system, people = (pd.factorize(marks[c])[0] for c in ("system", "annotator"))
    cov = clusters.clustered_covariance(system, marks["score"].to_numpy(), np.ones(len(marks)), [people])[1]
    by_people = student.isf(0.025, 2) * cov.pair_errors()[0]
    units = marks.groupby(["system", "dialogue"])["score"].mean()
    span = ttest_ind(units["alpha"], units["beta"], equal_var=False).confidence_interval()
    by_dialogues = (span.high - span.low) / 2
    assert wider == pytest.approx(np.hypot(by_people, by_dialogues) / by_dialogues, rel=1e-9)
