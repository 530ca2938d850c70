from types import SimpleNamespace

import krippendorff
import numpy as np
import pandas as pd
import pytest
from fixtures.made_annotations import monte_carlo
from fixtures.notebook_cells import as_published
from fixtures.notebook_code import functions
from scipy import stats

from compendium.simulation import study as simulate
from helpers import items
from judgebook.display.names import display_names
from judgebook.display.views import Plot, Table
from judgebook.questions.collection import analysis, pilot
from judgebook.questions.performance import rates
from judgebook.sources import build
from judgebook.statistics.intervals import Sampling, jackknife_t
from judgebook.study import params
from judgebook.study.labels import Label
from judgebook.study.results import collect

LABELS = [
    Label("ignore", "behavior", "Ignore", (0, 1), task="transitions"),
    Label("redundant", "behavior", "Redundant", (0, 1), task="consistency"),
    Label("quality", "dialogue_likert", "Quality", (1, 5)),
]


def marks(rng, n_dialogues=6, annotators=("g1", "g2", "u1", "u2"), turns=8, corpus="annotation_pilot_1", uneven=0.0):
    """Marks of two labels: each dialogue has a rate and a difficulty (`uneven`: by how much these differ), each turn a
    truth that annotators see with noise."""
    rows = []
    for d in range(n_dialogues):
        rate, noise = rng.beta(2, 4), 0.4 + uneven * rng.choice([-1, 1])
        for label in ("ignore", "redundant"):
            for turn in range(turns):
                truth = rng.random() < rate
                for a in annotators:
                    score = float(truth if rng.random() > noise else rng.random() < 0.3)
                    rows.append((f"{corpus}-{d}", label, turn, a, score))
    frame = pd.DataFrame(rows, columns=["dialogue", "label", "turn", "annotator", "score"])
    fixed = {"corpus": corpus, "method": "behavior", "system": "s", "dialogue_b": None, "session": None}
    fixed |= {"annotator_known": True, "annotator_kind": "human", "source_row": range(len(frame)), "work_unit": None}
    return frame.assign(group=frame["annotator"].str[0], **fixed).astype({"turn": "Int32", "dialogue_b": "str"})


def alpha(frame):
    """By the krippendorff package, over all labels together."""
    wide = frame.pivot_table(index="annotator", columns=["label", "dialogue", "turn"], values="score")
    return krippendorff.alpha(reliability_data=wide.to_numpy(), level_of_measurement="ordinal", value_domain=[0, 1])


def agreements(frame, labels, passed=None):
    return collect(pilot.agreements(pilot.marks(frame, labels, passed)))


def means(frame):
    return collect(pilot.means(pilot.rated(frame, "quality")))


def rows_of(found, group, scope=None):
    keys = {"kind": "human", "measurement": "ordinal", "raters": "all", "resample": "dialogue", "scope": scope}
    rows = found.select("alpha", group=group, **keys)
    assert len(rows) == 1
    return rows.iloc[0]


class TestAgreements:
    frame = marks(np.random.default_rng(1))
    found = agreements(frame, LABELS)

    def test_alpha_over_all_labels_is_that_of_krippendorff(self):
        assert rows_of(self.found, "all")["estimate"] == pytest.approx(alpha(self.frame))
        kind = self.frame[self.frame["group"] == "g"]
        assert rows_of(self.found, "g")["estimate"] == pytest.approx(alpha(kind))

    def test_intervals_leave_one_dialogue_out(self):
        row = rows_of(self.found, "all")
        left = [alpha(self.frame[self.frame["dialogue"] != d]) for d in sorted(set(self.frame["dialogue"]))]
        expected = jackknife_t(alpha(self.frame), np.array(left), "dialogue", bounded=False)
        assert (row["ci_low"], row["ci_high"]) == pytest.approx((expected.low, expected.high))

    def test_labels_of_different_scales_are_not_combined(self):
        labels = [LABELS[0], Label("redundant", "behavior", "Redundant", (1, 5))]
        with pytest.raises(ValueError, match="annotation_pilot_1, behavior: only labels of one scale can be combined"):
            agreements(self.frame, labels)


class TestScreened:
    frame = marks(np.random.default_rng(2), annotators=("u1", "u2", "u3", "u4"))
    passed = pd.DataFrame(
        {
            "corpus": "annotation_pilot_1",
            "annotator": ["u1", "u2", "u3", "u1"],
            "task": ["transitions", "transitions", "transitions", "consistency"],
        }
    )
    found = agreements(frame, LABELS, passed)

    def test_only_tasks_that_the_annotator_passed_count(self):
        able = self.frame[(self.frame["label"] == "ignore") & (self.frame["annotator"] != "u4")]
        row = rows_of(self.found, "u", scope="screened")
        assert row["estimate"] == pytest.approx(alpha(able))
        assert (row["n"], row["n_annotators"]) == (48, 3)


@pytest.fixture
def cells():
    sampling = SimpleNamespace(n_resamples=300, seed=1)
    return SimpleNamespace(**functions("01_pilot", page=SimpleNamespace(level=0.95, sampling=sampling, least=3.0)))


def of_cells(cells, frame):
    """Alpha as published: over all labels, with an interval over turns and labels."""
    return cells.agreement(items.by_people(pilot.marks(frame, LABELS).assign(group="all")))


@pytest.mark.evidence
def test_leaving_out_dialogues_covers_where_resampling_marks_does_not(cells):
    rng, people, runs = np.random.default_rng(5), ("u1", "u2", "u3", "u4"), 300
    truth = alpha(marks(rng, 1500, people, uneven=0.35))
    hits = {"dialogue": 0, "item": 0}
    for _ in range(runs):
        frame = marks(rng, 6, people, uneven=0.35)
        found = {"dialogue": rows_of(agreements(frame, LABELS), "u"), "item": of_cells(cells, frame)}
        for unit, row in found.items():
            hits[unit] += row["ci_low"] <= truth <= row["ci_high"]
    assert hits["dialogue"] / runs > 0.95 - monte_carlo(0.95, runs)
    assert hits["item"] / runs < 0.85


class TestAsPublished:
    """Cells of notebook 01 against kernels, another package and numbers by hand."""

    def test_alpha_is_that_of_the_kernel_and_of_krippendorff(self, cells):
        frame = marks(np.random.default_rng(1))
        row = of_cells(cells, frame)
        assert row["estimate"] == pytest.approx(rows_of(agreements(frame, LABELS), "all")["estimate"], abs=1e-9)
        assert row["estimate"] == pytest.approx(alpha(frame), abs=1e-9)
        assert (row["ci_kind"], row["n"], row["n_annotators"]) == ("bca", 96, 4)

    def test_means_have_intervals_of_t(self, cells):
        x = pd.Series([5, 4, 3, 4, 5, 2, 4, 4, 5.0])
        row = cells.average(x)
        low, high = stats.t.interval(0.95, 8, x.mean(), stats.sem(x))
        assert [row[c] for c in ("estimate", "ci_low", "ci_high")] == pytest.approx([x.mean(), low, high], abs=1e-9)
        assert cells.average(x[:1])["note"] == "fewer than two scores"
        assert cells.average(0 * x)["note"] == "all scores are equal"
        assert (cells.passes(3.0), cells.passes(2.9)) == (True, False)

    def test_shares_have_intervals_of_wilson(self, cells):
        for passed in ([True, True, False], [True], [False] * 4):
            row = cells.share(pd.Series(passed))
            expected = rates.wilson(sum(passed), len(passed))
            assert (row["ci_low"], row["ci_high"]) == pytest.approx(expected, abs=1e-9)
            assert (row["estimate"], row["n"]) == (np.mean(passed), len(passed))


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The page of the simulated study, and what the library computes of it."""
    folder, study = tmp_path_factory.mktemp("raw"), params.load("demo")
    simulate.write(study, folder / "demo")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COMPENDIUM_RAW", str(folder))
        frames = build.build(study).frames
    annotations, attempts, labels = frames["annotations"], frames["screening"], study.label_list()
    tried, sampling = pilot.verdicts(attempts, study.pilot), Sampling(n_resamples=100, confidence=0.95, seed=1)
    page = {
        "ratings": pilot.rated(annotations, "quality"),
        "tried": tried,
        "rule": "",
        "least": 3.0,
    }
    page["marks"] = pilot.marks(annotations, labels, tried[tried["passed"]])
    page |= {"names": display_names(study, annotations, attempts), "level": 0.95, "sampling": sampling}
    page["who"] = lambda rows: rows["group"].tolist()
    return page, analysis.pilots(annotations, attempts, labels, study.pilot, sampling=sampling)


@pytest.mark.verify
def test_cells_of_the_simulated_study_are_kernels(demo):
    page, kernel = demo
    cells = as_published("01_pilot", **page)
    for statistic, keys, by in (
        ("mean", {"interval": "annotator"}, ["group", "system"]),
        ("alpha", {"resample": "dialogue"}, ["corpus", "group", "scope"]),
    ):
        both = cells.saved[statistic].merge(kernel.select(statistic, **keys), on=by, suffixes=("", "_kernel"))
        assert len(both) == len(cells.saved[statistic]) > 5
        np.testing.assert_allclose(both["estimate"], both["estimate_kernel"], atol=1e-9)
    passed = cells.saved["screening_pass_rate"]
    ends = [rates.wilson(round(n * p), n) for n, p in zip(passed["n"], passed["estimate"], strict=True)]
    np.testing.assert_allclose(passed[["ci_low", "ci_high"]], ends, atol=1e-9)
    assert set(cells.saved["alpha"]["ci_kind"]) == {"bca"}


@pytest.mark.verify
def test_another_rule_and_another_coefficient_are_shown_and_stored_as_such(demo):
    found = as_published("01_pilot", ("return mean >= page.least", "return mean >= 3.7"), **demo[0])
    assert found.saved["pilot_passed"]["estimate"].sum() == 1
    assert "1 of 6 pass the pilot" in [view.title for view in found.shown if isinstance(view, Plot)]
    found = as_published("01_pilot", ('COEFFICIENT = "Krippendorff\'s alpha"', 'COEFFICIENT = "Agreement"'), **demo[0])
    assert "alpha" not in found.saved
    assert len(found.saved["published_coefficient"]) == 7
    assert any(isinstance(view, Table) and "Agreement" in view.frame for view in found.shown)


class TestBots:
    def frame(self, scores, corpus="bot_pilot_1"):
        rows = [(f"d{i}", s, a, float(x)) for i, (s, a, x) in enumerate(scores)]
        frame = pd.DataFrame(rows, columns=["dialogue", "system", "annotator", "score"])
        fixed = {"corpus": corpus, "group": "stu_i", "method": "dialogue_likert", "label": "quality"}
        return frame.assign(turn=pd.NA, dialogue_b=None, **fixed)

    def test_pilots_are_put_together_and_people_left_out(self):
        scores = [("a", f"p{i % 6}", x) for i, x in enumerate([5, 4, 3, 4, 5, 2, 4, 4])]
        first = self.frame(scores)
        second = self.frame([("a", "p9", 5), ("b", "p1", 2), ("b", "p2", 1)], "bot_pilot_2")
        second["dialogue"] += "x"
        found = means(pd.concat([first, second]))
        row = found.select("mean", system="a", interval="annotator").iloc[0]
        x = np.array([5, 4, 3, 4, 5, 2, 4, 4, 5.0])
        assert (row["estimate"], row["n"], row["n_clusters"]) == (pytest.approx(x.mean()), 9, 7)
        who = np.array([*(i % 6 for i in range(8)), 9])
        left = np.array([x[who != w].mean() for w in np.unique(who)])
        expected = jackknife_t(x.mean(), left, "annotator", bounded=False)
        assert (row["ci_low"], row["ci_high"]) == pytest.approx((expected.low, expected.high))
        assert found.select("mean", system="b").iloc[0]["ci_kind"] == "not_estimable"
        assert set(found["mean"]["corpus"]) == {"bot_pilots"}

    def test_equal_ratings_are_no_certainty(self):
        found = means(self.frame([("a", f"p{i}", 2) for i in range(9)]))
        assert found["mean"]["ci_kind"].tolist() == ["not_estimable"]
