import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from helpers import rates
from helpers.figure import PAGE
from helpers.labels import Label
from helpers.look import Look
from helpers.views import grid_plots, performance_report, performance_tables

NAMES = {
    "method": {"behavior": "Behaviour", "dialogue_likert": "Likert", "comparative": "Comparative"},
    "group": {"x": "Group X", "y": "Group Y"},
    "system": {s: s.upper() for s in "abcdefgh"},
}
BAD = [Label(f"bad{i}", "behavior", f"Bad {i}", (0, 1), direction=-1) for i in range(5)]
GOOD = [Label(f"good{i}", "behavior", f"Good {i}", (0, 1)) for i in range(3)]
NEITHER = [Label("neither", "behavior", "Neither", (0, 1), direction=0)]
RATED = [Label("quality", "dialogue_likert", "Quality", (1, 5)), Label("quality", "comparative", "Quality", (-1, 1))]
LOOK = Look({(x.method, x.id): x for x in [*BAD, *GOOD, *NEITHER, *RATED]}, NAMES)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def estimates(labels, systems, groups=("x",), **columns):
    """Rows of estimates: every label, system and group."""
    rows = [
        {"corpus": "main", "method": x.method, "label": x.id, "group": g, "system": s, "estimate": 0.1 * (i + 1)}
        for g in groups
        for x in labels
        for i, s in enumerate(systems)
    ]
    out = pd.DataFrame(rows)
    fixed = {"ci_low": out["estimate"] - 0.05, "ci_high": out["estimate"] + 0.05, "ci_kind": "bca", "n": 9}
    return out.assign(**fixed | {"statistic": "rate", "condition": "interval=dialogue"} | columns)


class TestArrange:
    def test_one_part_of_many_labels_is_split_by_direction(self):
        found = performance_tables.arrange(estimates([*BAD, *GOOD, *NEITHER], "ab"), LOOK)
        blocks = found.groupby("panel", sort=False)["block"].unique().map(list).to_dict()
        assert blocks == {
            "Less is better": [x.title for x in BAD],
            "More is better, or neither (○)": ["Good 0", "Good 1", "Good 2", "Neither ○"],
        }
        assert not performance_tables.one_axis(found)

    def test_groups_are_panels_with_the_same_blocks(self):
        rows = estimates([BAD[0], GOOD[0]], "ab", ("x", "y"))
        rows = rows[(rows["group"] == "x") | (rows["label"] == "good0")]
        found = performance_tables.arrange(rows, LOOK)
        assert list(found["panel"].unique()) == ["Group X", "Group Y"]
        for _, panel in found.groupby("panel"):
            assert list(dict.fromkeys(panel["block"])) == ["Bad 0 ↓", "Good 0"]
            assert panel.groupby("block").size().tolist() == [2, 2]
        assert found["estimate"].isna().sum() == 2
        assert performance_tables.one_axis(found)

    def test_many_systems_are_blocks_of_a_panel_a_label(self):
        found = performance_tables.arrange(estimates([BAD[0], GOOD[0]], "abcdefgh", ("x", "y")), LOOK)
        assert list(found["panel"].unique()) == ["Bad 0 ↓", "Good 0"]
        assert list(found["block"].unique()) == list("ABCDEFGH")
        assert set(found["hue"]) == {"Group X", "Group Y"}
        assert not performance_tables.one_axis(found)
        assert [len(set(p["panel"])) for p in performance_tables.pages(found, most=1)] == [1, 1]

    def test_intervals_of_means_end_with_the_scale(self):
        rows = estimates([RATED[0]], "ab", statistic="mean", estimate=2.0, ci_low=-7.0, ci_high=[3.0, 11.0])
        found = performance_tables.arrange(rows, LOOK)
        assert found[["ci_low", "ci_high"]].to_numpy().tolist() == [[1, 3], [1, 5]]
        strengths = performance_tables.arrange(rows.assign(statistic="bradley_terry"), LOOK)
        assert strengths["ci_low"].tolist() == [-7, -7]


class TestGrid:
    def test_blocks_follow_one_another_and_hues_keep_their_order(self):
        rows = pd.DataFrame(
            {"panel": "", "block": ["q", "q", "r"], "hue": ["a", "b", "b"], "estimate": 1.0}, index=range(3)
        )
        y = grid_plots.place(rows)["y"].tolist()
        row, gap = grid_plots.ROW, grid_plots.GAP
        assert y == pytest.approx([row / 2, 3 * row / 2, 5 * row / 2 + gap])

    def test_names_stand_once_where_panels_share_them_and_the_page_is_wide_enough(self):
        rows = performance_tables.arrange(estimates([BAD[0], GOOD[0]], "ab", ("x", "y")), LOOK)
        fig = grid_plots.grid_figure(rows, grid_plots.intervals, sharex=True)
        names = [[t.get_text() for t in ax.get_yticklabels()] for ax in fig.axes]
        assert names == [["Bad 0 ↓", "Good 0"], ["", ""]]
        assert fig.get_figwidth() <= PAGE
        assert [t.get_text() for t in fig.legends[0].get_texts()] == ["A", "B"]

    def test_a_bound_is_hollow_and_both_intervals_are_drawn(self):
        rows = estimates([BAD[0]], "ab", ci_kind=["bca", "exact_bound"], light_low=0.08, light_high=0.12)
        rows = performance_tables.arrange(rows, LOOK)
        ax = grid_plots.grid_figure(rows, grid_plots.intervals).axes[0]
        faces = [line.get_markerfacecolor() for line in ax.lines if line.get_marker() in ("o", "s")]
        assert faces.count("white") == 1
        drawn = [c.get_segments()[0][:, 0].tolist() for c in ax.collections if len(c.get_segments())]
        assert drawn[0] == pytest.approx([0.05, 0.15])
        assert drawn[1] == pytest.approx([0.08, 0.12])
        keys = grid_plots.interval_keys("over dialogues", None, rows)
        assert [k.get_label() for k in keys] == ["over dialogues", "a bound, or none"]

    def test_ties_stand_behind_wins(self):
        rows = pd.DataFrame({"y": [0.1], "estimate": [0.4], "tie": [0.25], "ci_low": [0.3], "ci_high": [0.5]})
        fig, axes = grid_plots.subplots(squeeze=False)
        grid_plots.shares(axes[0, 0], rows, "#000000", "o")
        won, tied = axes[0, 0].patches
        assert (won.get_width(), tied.get_x(), tied.get_width()) == pytest.approx((0.4, 0.4, 0.25))
        assert fig.axes

    def test_matrices_write_each_cell(self):
        values = pd.DataFrame([[0.9, 0.1]], index=["Quality"], columns=["A", "B"])
        texts = pd.DataFrame([["1 (1)", "2 (2)"]], index=["Quality"], columns=["A", "B"])
        fig = grid_plots.matrices({"One": (values, texts), "Two": (values, texts)})
        left, right = fig.axes[:2]
        assert [t.get_text() for t in left.texts] == ["1 (1)", "2 (2)"]
        assert [t.get_text() for t in right.get_yticklabels()] == []
        assert [t.get_text() for t in right.get_xticklabels()] == ["A", "B"]


class TestTables:
    def test_intervals_stand_side_by_side_with_the_ratio_of_their_widths(self):
        rows = estimates([BAD[0]], "ab", light_low=[0.075, 0.15], light_high=[0.125, 0.25])
        table = performance_tables.score_table(rows, LOOK, 100)
        assert table.to_dict("records") == [
            {"Label": "Bad 0", "A": "10.0 [5.0, 15.0]", "B": "20.0 [15.0, 25.0]", "Widths": pytest.approx(1.5)}
        ]

    def test_many_systems_have_a_row_each(self):
        rows = estimates([BAD[0]], "abcdefgh", light_low=0.0, light_high=0.1)
        table = performance_tables.score_table(rows, LOOK, 1)
        assert table["System"].tolist() == list("ABCDEFGH")
        assert table.loc[0, "As if independent"] == "0.00 to 0.10"

    def test_shares_won_carry_the_share_tied(self):
        rows = estimates([RATED[1]] * 3, "ab", statistic="share")
        rows["condition"] = np.repeat([f"interval=dialogue;outcome={o}" for o in ("win", "tie", "loss")], 2)
        both = performance_tables.two_intervals(rows, rows.assign(ci_low=0.0, ci_high=1.0))
        won = performance_tables.won(both)
        assert won[["estimate", "tie", "light_low", "light_high"]].to_numpy().tolist() == [
            pytest.approx([0.1, 0.1, 0, 1]),
            pytest.approx([0.2, 0.2, 0, 1]),
        ]
        assert "A" in performance_tables.share_table(both, LOOK)

    def test_ranks_as_text(self):
        text = performance_tables._rank_text
        assert (text(1, 1, 1), text(2, 1, 3), text(1, np.nan, np.nan), text(np.nan, np.nan, np.nan)) == (
            "1 (1)", "2 (1–3)", "1", "–",
        )  # fmt: skip

    def test_rank_matrices_put_the_part_with_most_labels_first(self):
        rows = pd.concat([estimates([BAD[0]], "ab"), estimates([BAD[0], GOOD[0]], "ab", ("y",))])
        rows = pd.concat([rows.assign(statistic=s, estimate=e) for s, e in (("rank", 1), ("first_place_share", 0.5))])
        found = performance_tables.rank_matrices(rows.assign(ci_low=1, ci_high=2), LOOK)
        assert list(found) == ["Behaviour, Group Y", "Behaviour, Group X"]
        values, texts = found["Behaviour, Group Y"]
        assert list(values.index) == ["Bad 0 ↓", "Good 0"]
        assert texts.to_numpy().tolist() == [["1 (1–2)", "1 (1–2)"]] * 2
        assert [list(p) for p in performance_tables.matrix_pages(found, 1)] == [list(found)]
        table = performance_tables.rank_table(rows.assign(ci_low=1, ci_high=2), LOOK)
        assert table[["Group", "Label", "A"]].to_numpy().tolist() == [
            ["Group X", "Bad 0", "1 (1–2); 50 %"],
            ["Group Y", "Bad 0", "1 (1–2); 50 %"],
            ["Group Y", "Good 0", "1 (1–2); 50 %"],
        ]
        many = {str(i): None for i in range(9)}
        assert [len(p) for p in performance_tables.matrix_pages(many, 2)] == [2, 6, 1]

    def test_effects_over_labels_and_systems(self):
        rows = estimates(BAD[:2], "ab", statistic="design_effect", condition="of=rate;unit=dialogue", n_clusters=30)
        found = performance_tables.effect_table(rows.assign(estimate=[1.0, 2.0, 3.0, 4.0]), LOOK)
        assert found[["Median", "Range", "Clusters a system"]].to_numpy().tolist() == [[2.5, "1.00 to 4.00", 30]]
        assert performance_tables.any_clustering(rows)
        assert not performance_tables.any_clustering(rows.assign(estimate=1.0))

    def test_picks_are_measured_in_widths_of_the_interval(self):
        clustered = estimates([BAD[0]], "ab")
        picked = clustered.assign(condition="interval=picks", ci_low=clustered["estimate"] - [0.01, 0.02])
        picked["ci_high"] = picked["estimate"]
        table = performance_tables.pick_table(picked, clustered, LOOK)
        assert table[["Estimates", "Median", "Largest"]].to_numpy().tolist() == [
            [2, pytest.approx(0.15), pytest.approx(0.2)]
        ]


class TestSentences:
    def ranks(self, ends):
        rows = estimates([BAD[0]], "ab", statistic="rank", ci_kind="simultaneous", estimate=[1.0, 2.0])
        return rows.assign(ci_low=[e[0] for e in ends], ci_high=[e[1] for e in ends])

    def test_who_is_first(self):
        said = performance_report.of_ranks(self.ranks([(1, 1), (2, 2)]), LOOK)
        assert said.startswith("On 1 of 1 labels one system is surely first: 1 is the only rank in its interval,")
        assert (
            "all systems of a label at once, though not for all labels. On 0 the order of the systems is wholly open."
            in said
        )
        assert "- Behaviour (1 label): A on bad 0." in said
        said = performance_report.of_ranks(self.ranks([(1, 2), (1, 2)]), LOOK)
        assert "none on any label. On 1 the order of the systems is wholly open." in said
        assert performance_report.of_ranks(pd.DataFrame(), LOOK) == ""

    def test_rank_without_an_interval_is_no_finding(self):
        rows = self.ranks([(np.nan, np.nan), (np.nan, np.nan)]).assign(ci_kind="not_estimable")
        assert "On 1 the order of the systems is wholly open." in performance_report.of_ranks(rows, LOOK)

    def test_widths_are_roots_of_design_effects(self):
        rows = estimates([BAD[0]], "ab", statistic="design_effect", condition="of=rate;unit=dialogue", estimate=4.0)
        people = rows.assign(condition="of=rate;unit=annotator", estimate=9.0, n_clusters=12)
        said = performance_report.of_widths(rows, pd.concat([rows, people]), LOOK)
        assert "- Behaviour: intervals over dialogues are about 2.0 (2.0 to 2.0) times as wide" in said
        assert (
            "- Behaviour: 3.0 (3.0 to 3.0) times, if others might have judged, too (12 people a system; groups" in said
        )
        ties = people.assign(condition="of=share;outcome=tie;unit=annotator", estimate=100.0)  # not in the table either
        assert performance_report.of_widths(rows, pd.concat([rows, people, ties]), LOOK) == said
        few = people.assign(n_clusters=3)  # three people are no sample
        assert "others" not in performance_report.of_widths(rows, pd.concat([rows, few]), LOOK)

    def test_nothing_to_say_of_intervals_that_agree(self):
        rows = estimates([RATED[0]], "ab", statistic="design_effect", condition="of=mean;unit=dialogue", estimate=1.0)
        said = performance_report.of_widths(rows, rows.assign(n_clusters=30), LOOK)
        assert said == "Scores of one cluster are no more alike than others: both intervals are about as wide."
        assert performance_report.of_widths(pd.DataFrame(), pd.DataFrame(), LOOK) == ""

    def test_labels_without_strengths(self):
        rows = estimates([RATED[1]], "ab", statistic="bradley_terry")
        assert performance_report.of_strengths(rows) == ""
        assert "For 1 label" in performance_report.of_strengths(rows.assign(estimate=np.nan))

    def test_picks(self):
        table = pd.DataFrame({"Median": [0.1, 0.3], "Largest": [0.5, 0.4]})
        assert "a median of 20 % of the width of its interval, at most by 50 %" in performance_report.of_picks(
            table, 20
        )
        assert performance_report.of_picks(pd.DataFrame(), 20) == ""

    def test_systems_left_out_of_rankings(self):
        rows = estimates([BAD[0]], "ab")
        assert "left out of rankings and comparisons: A." in performance_report.left_out(["a", "q"], rows, LOOK)
        assert performance_report.left_out([], rows, LOOK) == ""


def test_printed_numbers_are_read_as_they_are_worded():
    given = pd.DataFrame({"row": [x.id for x in BAD[:3]], "column": "all", "value": [1.0, 12.0, 20.0]})
    given["printed"], given["wording"] = ["1", "12", "20"], ["less than 1% of responses", "about 12%", "about 20%"]
    given["here"], given["ci_low"], given["ci_high"] = [0.4, 10.0, 30.0], [0.0, 8.0, 25.0], [2.0, 12.0, 40.0]
    cells = performance_report.read(given)
    assert cells["reading"].tolist() == ["open", "inside", "outside"]  # 0.4 is less than 1, its interval reaches to 2
    said = performance_report.of_printed(cells)
    assert "Of 2 printed numbers that have an interval here, 1 lies inside it. Outside: bad2 (all)." in said
    assert "Of 1 printed bound 0 hold; 1 is open, because our interval reaches over it." in said
    sure = performance_report.read(given.assign(ci_high=[0.9, 12.0, 40.0]))
    assert sure["reading"].iloc[0] == "holds"
    assert "Of 1 printed bound 1 holds." in performance_report.of_printed(sure)
    table = performance_report.printed_table(cells)
    assert table["Interval"].tolist() == ["0.0 to 2.0", "8.0 to 12.0", "25.0 to 40.0"]
    above = performance_report.read(given.assign(here=2.0, ci_low=1.5, ci_high=3.0))
    assert above["reading"].iloc[0] == "does not hold"


def test_printed_numbers_find_their_rates_and_intervals():
    results = estimates(BAD[:1], "a", statistic="rate", condition="interval=dialogue")
    results = results.assign(label="correct_fact", system="blender2_3B", group="people", estimate=0.19)
    cells = performance_report.beside(results.assign(ci_low=0.1, ci_high=0.3), "gpt_abceval", "07_bot_performance")
    found = cells[cells["here"].notna()]
    assert found[["row", "column", "here", "ci_low", "ci_high", "reading"]].to_numpy().tolist() == [
        ["correct_fact", "blender2", 19.0, 10.0, 30.0, "inside"]
    ]


def test_alt_text_names_panels_and_range():
    rows = performance_tables.arrange(estimates([BAD[0], GOOD[0]], "ab", ("x", "y")), LOOK)
    assert performance_report.alt(rows, "Share") == (
        "Share by system with intervals, from 0.10 to 0.20, in panels: Group X and Group Y."
    )


def test_two_intervals_meet_by_outcome():
    frame = pd.DataFrame(
        {"corpus": "main", "method": "behavior", "label": "bad0", "group": "x", "system": "a", "dialogue": list("ppqq"),
         "annotator": "A", "turn": [0, 1, 0, 1], "score": [0.0, 1.0, 1.0, 0.0], "dialogue_b": None, "system_b": None}
    )  # fmt: skip
    thick = rates.clustered(frame, seed=1, n_resamples=200)
    both = performance_tables.two_intervals(thick[thick["statistic"] == "rate"], rates.published(frame)).iloc[0]
    assert (both["light_low"], both["light_high"]) == pytest.approx(rates.wilson(2, 4))
