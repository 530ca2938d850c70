import krippendorff
import numpy as np
import pandas as pd
import pytest
from evaluations import monte_carlo
from scipy import stats

from helpers import pilot, rates, schema
from helpers.alpha import alpha_intervals
from helpers.coincidences import patterns
from helpers.labels import Label
from helpers.look import Look
from helpers.resampling import generator
from helpers.validity import jackknife_t
from helpers.views import pilot_report

LABELS = [
    Label("ignore", "behavior", "Ignore", (0, 1), task="transitions"),
    Label("redundant", "behavior", "Redundant", (0, 1), task="consistency"),
    Label("quality", "dialogue_likert", "Quality", (1, 5)),
]
LOOK = Look(
    {(x.method, x.id): x for x in LABELS},
    {"method": {"behavior": "Behaviour"}, "group": {"g": "Graduates", "u": "Undergraduates"}, "system": {}},
)


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


def rows_of(found, group, resample="dialogue", scope=None):
    keys = schema.condition(kind="human", measurement="ordinal", raters="all", resample=resample, scope=scope)
    rows = found[(found["statistic"] == "alpha") & (found["group"] == group) & (found["condition"] == keys)]
    assert len(rows) == 1
    return rows.iloc[0]


class TestAgreements:
    frame = marks(np.random.default_rng(1))
    found = pilot.agreements(frame, LABELS, seed=1, n_resamples=300)

    def test_alpha_over_all_labels_is_that_of_krippendorff(self):
        assert rows_of(self.found, "all")["estimate"] == pytest.approx(alpha(self.frame))
        kind = self.frame[self.frame["group"] == "g"]
        assert rows_of(self.found, "g")["estimate"] == pytest.approx(alpha(kind))

    def test_intervals_leave_one_dialogue_out(self):
        row = rows_of(self.found, "all")
        left = [alpha(self.frame[self.frame["dialogue"] != d]) for d in sorted(set(self.frame["dialogue"]))]
        expected = jackknife_t(alpha(self.frame), np.array(left), "dialogue", bounded=False)
        assert (row["ci_low"], row["ci_high"]) == pytest.approx((expected.low, expected.high))

    def test_intervals_leave_one_person_out(self):
        few = rows_of(self.found, "all", "annotator")
        assert few["note"] == "4 clusters (annotator) are too few for an interval; 5 are needed"
        frame = marks(np.random.default_rng(7), annotators=[f"u{i}" for i in range(5)])
        row = rows_of(pilot.agreements(frame, LABELS, seed=1, n_resamples=200), "u", "annotator")
        left = [alpha(frame[frame["annotator"] != a]) for a in sorted(set(frame["annotator"]))]
        expected = jackknife_t(alpha(frame), np.array(left), "annotator", bounded=False)
        assert (row["ci_low"], row["ci_high"]) == pytest.approx((expected.low, expected.high))

    def test_single_marks_are_resampled_beside(self):
        wide = self.frame.pivot_table(index=["label", "dialogue", "turn"], columns="annotator", values="score")
        options = {"unit": "item", "rng": generator(1, "x"), "n_resamples": 4000}
        expected = alpha_intervals(patterns(wide.to_numpy()), "ordinal", **options)["alpha"]
        row = rows_of(self.found, "all", "item")
        assert row["ci_kind"] == "bca"
        assert (row["ci_low"], row["ci_high"]) == pytest.approx((expected.low, expected.high), abs=0.04)
        assert row["n"] == row["n_clusters"] == 96

    def test_sizes(self):
        counts = self.found[self.found["statistic"] == "count"].set_index(["group", "condition"])["estimate"]
        assert counts["all", "kind=human;what=dialogues"] == 6
        assert counts["all", "kind=human;what=annotators"] == 4
        assert counts["g", "kind=human;what=labels"] == 2

    def test_rows_fit_the_schema(self):
        gains = pilot.gains(self.found)
        out = schema.make_results(pd.concat([self.found, gains]), study="x", notebook="01_pilot")
        assert set(out["statistic"]) == {"alpha", "count"}

    def test_a_kind_with_one_annotator_has_no_row(self):
        frame = self.frame[self.frame["annotator"] != "u2"]
        found = pilot.agreements(frame, LABELS, seed=1, n_resamples=200)
        assert set(found["group"]) == {"all", "g"}
        assert rows_of(found, "all")["estimate"] == pytest.approx(alpha(frame))

    def test_what_is_no_pilot_of_annotation_does_not_count(self):
        other = self.frame.assign(corpus="main")
        assert pilot.agreements(other, LABELS, seed=1).empty
        assert pilot.gains(pilot.agreements(other, LABELS, seed=1)).empty
        unknown = self.frame.assign(annotator_known=False)
        assert pilot.agreements(unknown, LABELS, seed=1).empty

    def test_labels_of_different_scales_are_not_put_together(self):
        labels = [LABELS[0], Label("redundant", "behavior", "Redundant", (1, 5))]
        with pytest.raises(ValueError, match="annotation_pilot_1, behavior: labels of one scale can be put together"):
            pilot.agreements(self.frame, labels, seed=1)

    def test_a_label_that_only_a_pilot_had_counts_like_the_others(self):
        renamed = self.frame.assign(label=self.frame["label"].replace("redundant", "presentation"))
        found = pilot.agreements(renamed, LABELS, seed=1, n_resamples=200)
        assert rows_of(found, "all")["estimate"] == pytest.approx(alpha(self.frame))
        able = pd.DataFrame({"corpus": "annotation_pilot_1", "annotator": ["g1", "g2"], "task": ["transitions"] * 2})
        screened = pilot.agreements(renamed, LABELS, able, seed=1, n_resamples=200)
        own = renamed[(renamed["label"] == "ignore") & (renamed["group"] == "g")]
        assert rows_of(screened, "g", scope="screened")["estimate"] == pytest.approx(alpha(own))
        with pytest.raises(ValueError, match="declare 'ignore' of method 'behavior', which only a pilot has"):
            pilot.agreements(renamed, [LABELS[2]], seed=1)

    def test_annotators_who_always_agree_have_no_jackknife_but_say_so(self):
        same = self.frame.assign(score=self.frame.groupby(["label", "dialogue", "turn"])["score"].transform("first"))
        row = rows_of(pilot.agreements(same, LABELS, seed=1, n_resamples=200), "all")
        assert row["estimate"] == 1


class TestScreened:
    frame = marks(np.random.default_rng(2), annotators=("u1", "u2", "u3", "u4"))
    passed = pd.DataFrame(
        {
            "corpus": "annotation_pilot_1",
            "annotator": ["u1", "u2", "u3", "u1"],
            "task": ["transitions", "transitions", "transitions", "consistency"],
        }
    )
    found = pilot.agreements(frame, LABELS, passed, seed=1, n_resamples=200)

    def test_only_tasks_that_the_annotator_passed_count(self):
        able = self.frame[(self.frame["label"] == "ignore") & (self.frame["annotator"] != "u4")]
        row = rows_of(self.found, "u", scope="screened")
        assert row["estimate"] == pytest.approx(alpha(able))
        assert (row["n"], row["n_annotators"]) == (48, 3)

    def test_the_gain_is_on_the_same_items(self):
        able = self.frame[(self.frame["label"] == "ignore") & (self.frame["annotator"] != "u4")]
        everybody = self.frame[self.frame["label"] == "ignore"]
        row = self.found[self.found["statistic"] == "alpha_gain"].iloc[0]
        assert row["estimate"] == pytest.approx(alpha(able) - alpha(everybody))
        dialogues = sorted(set(able["dialogue"]))
        left = [alpha(able[able["dialogue"] != d]) - alpha(everybody[everybody["dialogue"] != d]) for d in dialogues]
        expected = jackknife_t(row["estimate"], np.array(left), "dialogue", bounded=False)
        assert (row["ci_low"], row["ci_high"]) == pytest.approx((expected.low, expected.high))

    def test_nobody_passed(self):
        nobody = self.passed.iloc[:0]
        found = pilot.agreements(self.frame, LABELS, nobody, seed=1, n_resamples=200)
        assert not found["condition"].str.contains("screened").any()

    def test_sentences_and_table(self):
        said = pilot_report.of_agreement(self.found, pilot.gains(self.found), LOOK)
        assert "Pilot 1, passed the training less everybody, on the same turns and labels" in said
        table = pilot_report.agreement_table(self.found, LOOK)
        assert table["Annotators are"].tolist() == ["Undergraduates", "Undergraduates, passed the training"]
        assert table["Items"].tolist() == [96, 48]
        rows = pilot_report.agreement_rows(self.found, LOOK)
        assert rows[["block", "hue"]].to_numpy().tolist() == [
            ["Pilot 1", "Undergraduates"],
            ["Pilot 1", "Undergraduates, passed the training"],
        ]
        assert (rows["light_low"] < rows["estimate"]).all()


class TestGains:
    def test_is_welch_of_the_two_jackknives(self):
        rng = np.random.default_rng(3)
        frames = [marks(rng, n, ("u1", "u2"), corpus=f"annotation_pilot_{i}") for i, n in ((2, 7), (10, 5))]
        found = pilot.agreements(pd.concat(frames), LABELS, seed=1, n_resamples=200)
        row = pilot.gains(found).iloc[0]
        a, b = (found[found["corpus"] == f"annotation_pilot_{i}"].iloc[0] for i in (2, 10))
        assert (row["corpus"], row["condition"]) == (
            "annotation_pilot_10",
            "against=annotation_pilot_2;resample=dialogue",
        )
        assert row["estimate"] == pytest.approx(b["estimate"] - a["estimate"])
        # a difference as large as half the interval is just significant in Welch's test of means of so many dialogues
        sd = [(r["ci_high"] - r["estimate"]) / stats.t.ppf(0.975, n - 1) * np.sqrt(n) for r, n in ((a, 7), (b, 5))]
        half = (row["ci_high"] - row["ci_low"]) / 2
        assert stats.ttest_ind_from_stats(half, sd[1], 5, 0, sd[0], 7, equal_var=False).pvalue == pytest.approx(0.05)

    def test_few_dialogues_have_a_reason(self):
        rng = np.random.default_rng(4)
        frames = [marks(rng, n, ("u1", "u2"), corpus=f"annotation_pilot_{i}") for i, n in ((1, 4), (2, 6))]
        found = pilot.agreements(pd.concat(frames), LABELS, seed=1, n_resamples=200)
        row = pilot.gains(found).iloc[0]
        assert row["note"] == "too few dialogues in one of the pilots"
        said = pilot_report.of_agreement(found, pilot.gains(found), LOOK)
        assert "too few dialogues in one of the pilots, so that chance cannot be told apart" in said


@pytest.mark.slow
def test_leaving_out_dialogues_covers_where_resampling_marks_does_not():
    rng, people, runs = np.random.default_rng(5), ("u1", "u2", "u3", "u4"), 300
    truth = alpha(marks(rng, 1500, people, uneven=0.35))
    hits = {"dialogue": 0, "item": 0}
    for _ in range(runs):
        found = pilot.agreements(marks(rng, 6, people, uneven=0.35), LABELS, seed=1, n_resamples=300)
        for unit in hits:
            row = rows_of(found, "u", unit)
            hits[unit] += row["ci_low"] <= truth <= row["ci_high"]
    assert hits["dialogue"] / runs > 0.95 - monte_carlo(0.95, runs)
    assert hits["item"] / runs < 0.85


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
        found = pilot.bots(pd.concat([first, second]), "quality", least=3.0)
        values = found.set_index(["system", "statistic", "condition"])
        x = np.array([5, 4, 3, 4, 5, 2, 4, 4, 5.0])
        row = values.loc[("a", "mean", "interval=independent")]
        assert row["estimate"] == pytest.approx(x.mean())
        assert (row["ci_low"], row["ci_high"]) == pytest.approx(rates.student_t(x)[:2])
        assert values.loc[("a", "count", "what=dialogues"), "estimate"] == 9
        assert values.loc[("a", "count", "what=annotators"), "estimate"] == 7
        assert values.loc[("a", "pilot_passed", "least=3"), "estimate"] == 1
        assert values.loc[("b", "pilot_passed", "least=3"), "estimate"] == 0
        who = np.array([*(i % 6 for i in range(8)), 9])
        left = np.array([x[who != w].mean() for w in np.unique(who)])
        expected = jackknife_t(x.mean(), left, "annotator", bounded=False)
        people = values.loc[("a", "mean", "interval=annotator")]
        assert (people["ci_low"], people["ci_high"]) == pytest.approx((expected.low, expected.high))
        assert values.loc[("b", "mean", "interval=annotator"), "ci_kind"] == "not_estimable"
        assert set(found["corpus"]) == {"bot_pilots"}
        assert len(schema.make_results(found, study="x", notebook="01")) == len(found)

    def test_equal_ratings_are_no_certainty(self):
        found = pilot.bots(self.frame([("a", f"p{i}", 2) for i in range(9)]), "quality", least=3.0)
        assert found.loc[found["statistic"] == "mean", "ci_kind"].tolist() == ["not_estimable"] * 2

    def test_no_pilot(self):
        assert pilot.bots(self.frame([("a", "p", 3)], "main"), "quality", least=3).empty

    def test_least_mean_is_the_middle_of_the_scale(self):
        assert pilot.least_mean(None, "quality", LABELS) == 3
        assert pilot.least_mean(2.5, "quality", LABELS) == 2.5
        with pytest.raises(ValueError, match=r"pilot.least: expected a number, as no label 'ignore' rates whole"):
            pilot.least_mean(None, "ignore", LABELS)

    def test_report(self):
        scores = [("a", f"p{i}", 4 + i % 2) for i in range(9)] + [("b", f"p{i}", 3 + i % 2) for i in range(9)]
        scores += [("c", f"p{i}", 1 + i % 2) for i in range(9)] + [("d", f"p{i}", 2 + 3 * (i % 2)) for i in range(9)]
        found = pilot.bots(self.frame(scores), "quality", least=3.0)
        table = pilot_report.bot_table(found, LOOK)
        assert table["System"].tolist() == ["a", "b", "d", "c"]
        assert table["Passes"].tolist() == ["yes", "yes", "yes", "no"]
        said = pilot_report.of_bots(found, LOOK, 3.0)
        assert said.startswith("With a mean of at least 3, a, b and d pass; c does not.")
        assert "the interval of d holds 3" in said
        alike = pilot.bots(self.frame([*scores, *[("e", f"p{i}", 1) for i in range(9)]]), "quality", least=3.0)
        assert pilot_report.of_bots(alike, LOOK, 3.0).endswith(
            "might have decided otherwise. Of e no interval can be given."
        )
        rows = pilot_report.bot_rows(found, LOOK)
        assert rows["block"].tolist() == ["a", "b", "d", "c"]
        assert (rows["light_low"] < rows["estimate"]).all()
