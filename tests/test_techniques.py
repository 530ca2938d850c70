"""Techniques side by side: what belongs to which, hours, variability, text; and the real studies."""

import json

import numpy as np
import pandas as pd
import pytest
from test_winrates import COMPARED, SINGLE, marks

from helpers import final_ratings, look, params, schema, technique_chunks, technique_hours, techniques
from helpers.labels import METHODS, Label
from helpers.sections import Mixture, Technique
from helpers.sources import build
from helpers.views import quality_tables, technique_plots
from helpers.views import technique_report as report
from helpers.views import technique_tables as shown

LABELS = [
    Label("quality", method, "Quality", scale)
    for method, scale in (
        ("pairwise_turn", (-1, 1)),
        ("pairwise_dialogue", (-1, 1)),
        ("single_turn", (0, 1)),
        ("single_dialogue", (1, 5)),
    )
]
BOOT = {"seed": 1, "n_resamples": 200, "confidence": 0.95}
NO_FACTS = pd.DataFrame(columns=["corpus", "dialogue", "key", "value"])


def people(frame):
    return frame.assign(annotator_kind="human", annotator_known=True, session=None, context=None)


def study(n=24, seed=0):
    """Comparisons by turn and of whole pairs, marks and ratings of two systems: `a` is better."""
    rng, rows = np.random.default_rng(seed), []
    by_turn = [(f"t{i}", "a", "b", rng.choice([1, -1], 6, p=[0.7, 0.3]), 600 + i) for i in range(n)]
    whole = [(f"w{i}", "a", "b", [rng.choice([1, 0, -1], p=[0.6, 0.2, 0.2])], 60 + i) for i in range(n)]
    single = [(f"s{i}", "ab"[i % 2], None, rng.choice([1, 0], 6, p=[0.7 - 0.3 * (i % 2), 0.3 + 0.3 * (i % 2)]), 240)
              for i in range(2 * n)]  # fmt: skip
    rows = [marks(by_turn), marks(whole, method="pairwise_dialogue"), marks(single, method="single_turn")]
    final = rows[2].groupby("dialogue").first().reset_index()
    score = 1 + np.minimum(4, rows[2].groupby("dialogue")["score"].sum().reindex(final["dialogue"]).to_numpy())
    rows.append(final.assign(method="single_dialogue", score=score, turn=pd.NA, dialogue_b=None, system_b=None))
    out = people(pd.concat(rows, ignore_index=True)).assign(source_row=lambda f: range(len(f)))
    return out.astype({"turn": "Int32"})


def collected(frame=None, **specs):
    frame = study() if frame is None else frame
    specs = specs or techniques.by_method(frame, LABELS)
    return techniques.collect(frame, NO_FACTS, specs, LABELS, systems=["a", "b"])


class TestCollect:
    def test_methods_are_techniques_pairwise_ones_first(self):
        found = techniques.by_method(study(), LABELS)
        assert list(found) == ["pairwise_turn", "pairwise_dialogue", "single_turn", "single_dialogue"]

    def test_a_method_that_shares_no_label_with_a_comparison_is_none(self):
        frame = study()
        other = frame["method"] == "single_dialogue"
        labels = [*LABELS, Label("fun", "single_dialogue", "Fun", (1, 5))]
        found = techniques.by_method(frame.assign(label=frame["label"].mask(other, "fun")), labels)
        assert "single_dialogue" not in found

    def test_windows_corpora_and_facts_select(self):
        frame = study()
        frame["corpus"] = np.where(frame["dialogue"].str.startswith("t1"), "other", "main")
        facts = pd.DataFrame(
            {"corpus": "main", "dialogue": ["t2/a", "t3/a"], "key": "n_exchanges", "value": ["2", "3"]}
        )
        specs = {
            "late": Technique(method="pairwise_turn", turns=[2, 6]),
            "other": Technique(method="pairwise_turn", corpus="other"),
            "short": Technique(method="pairwise_turn", facts={"n_exchanges": "2"}),
            "absent": Technique(method="single_turn", corpus="nowhere"),
        }
        found = techniques.collect(frame, facts, specs, LABELS, systems=["a", "b"])
        assert set(found.specs) == {"late", "other", "short"}
        assert (found.sittings["late"]["n"] == 5).all()
        assert set(found.sittings["other"]["corpus"]) == {"other"}
        assert found.sittings["short"]["dialogue"].tolist() == ["t2/a"]
        assert techniques.corpora({"other": specs["other"]}, frame) == ["other"]
        assert techniques.corpora(specs, frame) == ["main", "other"]

    def test_labels_can_be_compared_under_one_name(self):
        frame = study()
        frame["label"] = frame["label"].mask(frame["method"] == "single_dialogue", "points")
        specs = {
            "compared": Technique(method="pairwise_turn"),
            "points": Technique(method="single_dialogue", rename={"points": "quality"}),
        }
        found = techniques.collect(frame, NO_FACTS, specs, LABELS, systems=["a", "b"])
        assert found.labels == ["quality"]
        assert set(found.sittings) == {"compared", "points"}


class TestRows:
    @pytest.fixture
    def results(self):
        c = collected()
        timed = technique_hours.seconds(c)
        plan = technique_hours.Plan(0.05, 0.8, [4, 16, 64], 100, 100, 50, **BOOT)
        mix = Mixture(techniques=["single_turn", "single_dialogue"], weights=[1, 1])
        contests = technique_hours.contests(c, timed) + technique_hours.averaged(c, {"mixed": mix}, timed)
        frame = study()
        parts = [
            techniques.rates(c, **BOOT),
            techniques.turn_rates(frame, NO_FACTS, c, 0.95),
            techniques.sign_rows(c, **BOOT),
            techniques.turn_coefficients(frame, c, 0.95),
            timed,
            technique_hours.hours(contests, plan),
            technique_chunks.variability(c, 45),
        ]
        rows = schema.make_results(pd.concat([p for p in parts if len(p)]), study="s", notebook="n")
        return c, shown.with_parts(rows, c)

    def test_the_better_system_wins_under_every_technique(self, results):
        _, rows = results
        won = shown.win_rows(rows)
        assert set(won["technique"]) == {"pairwise_turn", "pairwise_dialogue", "single_turn", "single_dialogue"}
        assert (won["estimate"] > 0.5).all()
        assert set(shown.win_rows(rows, "drop")["ties"]) == {"none", "drop"}

    def test_marks_and_the_rating_give_coefficients(self, results):
        _, rows = results
        found = rows[(rows["statistic"] == "turn_coefficient") & rows["system"].isna()]
        assert len(found) == 6
        # the rating is one plus the number of marks, four at most
        assert (found["estimate"] > 0.4).all()

    def test_hours_follow_from_the_seconds(self, results):
        c, rows = results
        curve = rows[(rows["statistic"] == "technique_power") & (rows["technique"] == "pairwise_turn")]
        seconds = c.sittings["pairwise_turn"]["seconds"].mean()
        first = curve[curve["conversations"].astype(int) == 16].iloc[0]
        assert float(first["hours"]) == pytest.approx(16 * seconds / 3600, rel=1e-3)
        alone = rows[(rows["statistic"] == "technique_power") & (rows["technique"] == "single_turn")]
        assert float(alone.iloc[0]["hours"]) == pytest.approx(2 * 4 * 240 / 3600, rel=1e-3)
        assert "mixed" in set(rows["technique"].dropna())

    def test_variability_by_hand(self):
        frame = marks([(f"c{i}", "a", "b", [1 if i < 6 else -1] * 6, 900) for i in range(12)])
        found = technique_chunks.variability(collected(people(frame)), 45)
        row = quality_tables.unfold(found.assign(group="all")).query("of == 'observed'").iloc[0]
        # four parts of three conversations: all won, all won, all lost, all lost; the fourth ends on the boundary
        assert row["n"] == 4
        assert row["estimate"] == pytest.approx(np.std([1, 1, 0, 0], ddof=1))

    def test_sentences_hold_for_any_rows(self, results):
        c, rows = results
        titles, parts = shown.technique_titles(c), dict.fromkeys(rows["part"].dropna(), "")
        assert "later turns" in report.turns(rows)
        assert "errs in" in report.errors(rows, 0.05, 100)
        assert report.same_winner(rows, parts) == ""
        assert report.reused(rows, titles) == ""
        empty = rows.iloc[:0]
        for text in (
            report.turns(empty),
            report.ties(empty, titles),
            report.errors(empty, 0.05, 9),
            report.dependence(empty),
        ):
            assert text == ""
        lk = look.Look({}, {"system": {"b": "Bot *b*"}, "method": {}, "group": {}})
        assert report.hours(shown.middle_table(empty, titles, lk), 0.8) == []
        said = report.compared(c, {"one_pair": ["a", "b"]}, lk)
        assert "- Pairs: *one pair* is a against Bot \\*b\\*. The system named first" in said
        assert said.endswith("- Questions: quality.")

    def test_the_middle_of_contests_counts_those_not_reached_as_longest(self):
        lk = look.Look({}, {"system": {}, "method": {}, "group": {"g": "Group"}})
        hours = {"fast": [1.0, 2.0, np.nan], "slow": [3.0, 9.0, 8.0], "never": [5.0, np.nan, np.nan]}
        rows = [
            {"statistic": "hours_to_power", "part": "main / g", "technique": t, "estimate": h}
            for t, found in hours.items()
            for h in found
        ]
        titles = {t: t.capitalize() for t in hours}
        found = shown.middle_table(pd.DataFrame(rows), titles, lk)
        assert found["Hours"].fillna(-1).tolist() == [2.0, 8.0, -1]
        assert found["Reached"].tolist() == [2, 3, 1]
        (said,) = report.hours(found, 0.8)
        assert said == (
            "**Group.** To find a difference with 80 % power, half of the contests take at most 2.0 hours under Fast,"
            " the fewest; at most 8.0 hours under Slow, the most; half or more are not reached with the most that was"
            " tried under: Never."
        )

    def test_nothing_is_said_of_ties_that_are_not_there(self):
        head = {"statistic": "effective_win_rate", "part": "p", "technique": "t", "system": "a", "system_b": "b"}
        made = pd.DataFrame(
            [head | {"label": "x", "ties": t, "estimate": e} for t, e in (("drop", 0.0), ("half", 0.0))]
        )
        assert report.ties(made, {}) == ""
        assert "(10.0 points)" in report.ties(made.assign(estimate=[0.8, 0.7]), {})

    def test_judgements_of_one_sitting_are_said_to_be_such(self):
        def rows(share):
            head = {"part": "p", "technique": "choice", "against": "points"}
            cells = [("same_winner", 0.9, None), ("same_winner", 0.7, None), ("same_sitting", share, None)]
            cells += [("tied_share", 0.5, "choice"), ("tied_share", 0.25, "points")]
            return pd.DataFrame([head | {"statistic": s, "estimate": v, "of": of} for s, v, of in cells])

        said = report.same_winner(rows(0.0), {"p": ""})
        assert said.endswith(": 70 to 90 % (ties: 50 % of the comparisons, 25 % of the ratings).")
        assert "how far people agree with themselves" in report.same_winner(rows(1.0), {"p": ""})

    def test_figures_and_tables_are_made(self, results):
        c, rows = results
        lk = look.Look({(label.method, label.id): label for label in LABELS}, {"system": {}, "method": {}, "group": {}})
        keys = shown.lines(shown.win_rows(rows), c, ["quality"])
        lines = technique_plots.labelled(keys, lk, {}, {"quality": "Quality"})
        kinds = {name: shown.technique_titles(c, {}, two) for two, name in shown.KINDS.items()}
        fig = technique_plots.rate_figure(shown.win_rows(rows), kinds, lines)
        assert len(fig.axes) == 2
        ready, heads = shown.power_columns(
            rows[rows["statistic"].isin(["technique_power", "technique_false_positive"])], c, {}, lk, ["quality"]
        )
        assert len(technique_plots.power_figure(ready, shown.technique_titles(c), heads, 0.05, 0.8).axes) == 2
        assert len(shown.hours_table(rows, lines, shown.technique_titles(c))) == 1
        assert shown.seconds_table(rows, c, lk)["Seconds"].notna().all()
        table = shown.score_table(rows, c, lk, ["quality"])
        assert table["System"].tolist() == ["a", "b"]
        only_compared = rows[rows["statistic"] != "technique_score"]
        assert shown.score_table(only_compared, c, lk, ["quality"]).empty
        score = rows[(rows["statistic"] == "technique_score") & (rows["technique"] == "single_turn")]
        marked = c.sittings["single_turn"].groupby("system")[["won", "n"]].sum()
        share = marked["won"] / marked["n"]
        assert score.set_index("system")["estimate"].to_dict() == pytest.approx(share.to_dict())
        heading = next(h for h in table if h.startswith(c.title("single_turn")))
        assert table[heading].str.startswith(tuple(f"{100 * v:.0f}" for v in share)).all()

    def test_a_pair_that_nobody_judged_gives_no_rows(self):
        frame = people(pd.concat([COMPARED, SINGLE]))
        c = techniques.collect(frame, NO_FACTS, techniques.by_method(frame, LABELS), LABELS, systems=["x", "y"])
        assert techniques.rates(c, **BOOT).empty or set(c.specs) == set()


class TestPlainRows:
    """Rows against counts of the judgements themselves."""

    c = collected()

    def row(self, rows, **where):
        for column, value in where.items():
            rows = rows[rows[column] == value]
        assert len(rows) == 1, rows
        return rows.iloc[0]

    def test_names_cells_and_levels(self):
        assert self.c.title("pairwise_turn") == METHODS["pairwise_turn"].title
        assert self.c.title("my_own") == "my own"
        assert [self.c.level(t) for t in ("pairwise_turn", "single_turn")] == ["pair", "dialogue"]
        ((cell, rows),) = self.c.cells("single_turn")
        assert cell == {"corpus": "main", "group": "all", "label": "quality"}
        assert rows is not None
        assert len(rows) == 48

    def test_rates_are_shares_of_marks(self):
        frame, rows = study(), techniques.rates(self.c, **BOOT)
        won = (frame.loc[frame["method"] == "pairwise_turn", "score"] > 0).mean()
        assert self.row(rows, condition="technique=pairwise_turn;ties=none")["estimate"] == pytest.approx(won)
        whole = frame.loc[frame["method"] == "pairwise_dialogue", "score"]
        half = (whole > 0).mean() + (whole == 0).mean() / 2
        assert self.row(rows, condition="technique=pairwise_dialogue;ties=half")["estimate"] == pytest.approx(half)
        marked = frame[frame["method"] == "single_turn"].groupby("system")["score"].mean()
        for system in "ab":
            score = self.row(rows, condition="technique=single_turn", statistic="technique_score", system=system)
            assert score["estimate"] == pytest.approx(marked[system])

    def test_rates_by_turn_are_shares_of_each_turn(self):
        frame, rows = study(), techniques.turn_rates(study(), NO_FACTS, self.c, 0.95)
        for turn in (0, 5):
            here = frame[(frame["turn"] == turn) & (frame["method"] == "pairwise_turn")]
            found = self.row(rows, method="pairwise_turn", condition=f"turn={turn + 1}")
            assert found["estimate"] == pytest.approx((here["score"] > 0).mean())

    def test_a_mixture_is_the_weighted_mean(self):
        mix = {"mixed": Mixture(techniques=["pairwise_turn", "pairwise_dialogue"], weights=[1, 3])}
        rows = techniques.mixtures(self.c, mix, **BOOT)
        single = techniques.rates(self.c, **BOOT).set_index("condition")["estimate"]
        expected = single["technique=pairwise_turn;ties=none"] + 3 * single["technique=pairwise_dialogue;ties=half"]
        assert rows["estimate"].tolist() == pytest.approx([expected / 4])
        assert rows["condition"].tolist() == ["technique=mixed;ties=half"]
        other = {"mixed": Mixture(techniques=["pairwise_turn", "single_turn"], weights=[1, 1])}
        assert techniques.mixtures(self.c, other, **BOOT).empty

    def test_same_winner_counts_pairs_in_which_neither_ties(self):
        chosen = marks([(f"p{i}", "a", "b", [s], 9) for i, s in enumerate([1, 1, -1, 0])], method="pairwise_dialogue")
        points = [("p0", 5, 3), ("p1", 2, 4), ("p2", 1, 2), ("p3", 4, 3)]
        single = marks([(p, s, None, [v], 9) for p, *both in points for s, v in zip("ab", both, strict=True)],
                       method="single_dialogue")  # fmt: skip
        frame = people(pd.concat([chosen, single.assign(turn=pd.array([pd.NA] * 8, dtype="Int32"))]))
        rows = techniques.sign_rows(collected(frame), **BOOT)
        same = self.row(rows, statistic="same_winner")
        assert (same["estimate"], same["n"]) == (pytest.approx(2 / 3), 3)
        tied = rows[rows["statistic"] == "tied_share"].set_index("condition")["estimate"]
        assert sorted(tied) == [0, 0.25]

    def test_coefficients_are_those_of_the_joined_conversations(self):
        frame = study()
        rows = techniques.turn_coefficients(frame, self.c, 0.95)
        turns = frame["method"] == "single_turn"
        both = final_ratings.conversations(frame[turns], frame[frame["method"] == "single_dialogue"])
        direct = final_ratings.by_turn(both, 0.95)
        assert rows["estimate"].tolist() == pytest.approx(direct["estimate"].tolist(), nan_ok=True)
        without = frame[~turns]
        assert techniques.turn_coefficients(without, collected(without), 0.95).empty

    def test_seconds_by_hand(self):
        specs = {"turns": Technique(method="pairwise_turn", onboarding_minutes=2)}
        frame = people(marks([("c1", "a", "b", [1] * 6, 60), ("c2", "a", "b", [1] * 6, 120)]))
        rows = technique_hours.seconds(collected(frame, **specs)).set_index("condition")["estimate"]
        # two people, one comparison each: two minutes of training for every comparison
        assert rows.to_dict() == {
            "of=unit;technique=turns": 90,
            "of=training;technique=turns": 120,
            "technique=turns": 1,
        }

    def test_contests_hold_the_values_of_conversations(self):
        timed = technique_hours.seconds(self.c)
        found = {x.head["technique"]: x for x in technique_hours.contests(self.c, timed)}
        value = self.c.sittings["pairwise_turn"]["value"]
        assert (found["pairwise_turn"].a.n, found["pairwise_turn"].b) == (24, None)
        assert found["pairwise_turn"].a.mean == pytest.approx(value.mean())
        assert (found["pairwise_turn"].each, found["single_turn"].each, found["pairwise_dialogue"].each) == (6, 6, 1)
        seconds = self.c.sittings["pairwise_turn"]["seconds"].mean()
        assert float(found["pairwise_turn"].cost.hours(10)) == pytest.approx(10 * seconds / 3600)
        apart = self.c.sittings["single_turn"].groupby("system")["value"].mean()
        assert (found["single_turn"].a.mean, found["single_turn"].b.mean) == pytest.approx((apart["a"], apart["b"]))
        mix = Mixture(techniques=["single_turn", "single_dialogue"], weights=[1, 3])
        (mixed,) = technique_hours.averaged(self.c, {"mixed": mix}, timed)
        rating = self.c.sittings["single_dialogue"].groupby("system")["value"].mean()
        assert (mixed.each, mixed.cost.sides) == (1, 2)
        for side, system in ((mixed.a, "a"), (mixed.b, "b")):
            assert side.mean == pytest.approx(apart[system] / 4 + 3 / 4 * (rating[system] - 1) / 4)


# --- real data -------------------------------------------------------------------------------------------------------


def frames(name):
    built = build.build(params.load(name))
    return built.frames["annotations"], built.frames["dialogue_facts"], params.load(name)


@pytest.mark.data
def test_ratings_and_comparisons_of_the_same_dialogues(raw_data):
    """Finch et al. 2024: eight labels, two groups. Counts by a loop over the raw file's own structure."""
    annotations, facts, spec = frames("finch2024")
    labels = spec.label_list()
    c = techniques.collect(
        annotations, facts, techniques.by_method(annotations, labels), labels, systems=list(spec.systems)
    )
    assert list(c.specs) == ["comparative", "dialogue_likert"]
    assert len(c.labels) == 8
    rows = quality_tables.unfold(techniques.sign_rows(c, **BOOT))
    assert len(rows[rows["statistic"] == "same_winner"]) == 16
    assert (rows.loc[rows["statistic"] == "same_sitting", "estimate"] == 0).all()  # tasks of their own
    raw = json.loads((raw_data / "finch2024" / "data_student_external_comparative.json").read_text())
    part = raw["student_external_comparative"]
    scores = [m["score"] for d in part["dialogues"].values() for m in d["comparative_annotations"]["quality"]]
    found = c.sittings["comparative"].query("label == 'quality'")
    assert len(found) == len(scores) / 2
    assert (found["value"] == 0).sum() == scores.count(0) / 2


@pytest.mark.data
def test_most_comparisons_of_chats_tie(raw_data):
    """Spot The Bot: 5,123 and 2,136 rows, 68 and 79 % ties (data README); cuts after 2, 3 and 5 exchanges."""
    annotations, facts, spec = frames("spot_the_bot")
    systems = [s for s in spec.systems if s not in spec.unranked_systems]
    c = techniques.collect(
        annotations, facts, spec.techniques.compare, spec.label_list(), systems=systems, labels=spec.techniques.labels
    )
    raw = {
        name: pd.read_csv(raw_data / "spot_the_bot" / f"annotations_{name}.csv") for name in ("convai2", "dailydialog")
    }
    assert {k: len(v) for k, v in raw.items()} == {"convai2": 5123, "dailydialog": 2136}
    assert {k: round(100 * (v["winner"] == "tie").mean()) for k, v in raw.items()} == {"convai2": 68, "dailydialog": 79}
    told = techniques.sign_rows(c, **BOOT)
    # either side's points decide the winner: it is one judgement, which the page says
    assert told.loc[told["statistic"] == "same_sitting", "estimate"].between(0.99, 1).all()
    for cut in (2, 3, 5):
        found = c.sittings[f"choice_{cut}"]
        for name, table in raw.items():
            here = table[(table["n_exchanges"] == cut) & (table["system0"] != table["system1"])]
            here = here.drop_duplicates(["convo_id", "annotator"])
            mine = found[found["corpus"] == name]
            assert len(mine) == len(here)
            assert (mine["value"] == 0).sum() == (here["winner"] == "tie").sum()
