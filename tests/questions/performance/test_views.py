"""What notebook 07 shows follows from its results: arrangement, both intervals, who is first, who leads."""

import numpy as np
import pandas as pd
import pytest

from judgebook.annotations.population import Population
from judgebook.display import grid_plots
from judgebook.display.names import DisplayNames
from judgebook.published.mapping import MappingEntry
from judgebook.questions.performance import analysis, arrangement, findings, tables
from judgebook.study.labels import Label
from judgebook.study.results import Results, collect

NAMES = {
    "method": {"behavior": "Behaviour", "dialogue_likert": "Likert", "comparative": "Comparative"},
    "group": {"x": "Group X"},
    "system": {s: s.upper() for s in "ab"},
}
BAD = Label("bad", "behavior", "Bad", (0, 1), direction=-1)
RATED = [Label("quality", "dialogue_likert", "Quality", (1, 5)), Label("quality", "comparative", "Quality", (-1, 1))]
SHOWN = DisplayNames({(x.method, x.id): x for x in [BAD, *RATED]}, NAMES)


def estimates(labels, systems, **columns):
    """Rows of estimates: every label and system."""
    rows = [(x.method, x.id, s, 0.1 * (i + 1)) for x in labels for i, s in enumerate(systems)]
    out = pd.DataFrame(rows, columns=["method", "label", "system", "estimate"]).assign(corpus="main", group="x")
    fixed = {"ci_low": out["estimate"] - 0.05, "ci_high": out["estimate"] + 0.05, "ci_kind": "bca", "n": 9}
    return out.assign(**fixed | {"statistic": "rate", "outcome": "", "interval": "dialogue"} | columns)


class TestGrid:
    def test_a_bound_is_hollow_and_both_intervals_are_drawn(self):
        rows = estimates([BAD], "ab", ci_kind=["bca", "exact_bound"], light_low=0.08, light_high=0.12)
        ax = grid_plots.grid_figure(arrangement.arrange(rows, SHOWN), grid_plots.intervals).axes[0]
        faces = [line.get_markerfacecolor() for line in ax.lines if line.get_marker() in ("o", "s")]
        assert faces.count("white") == 1
        drawn = [c.get_segments()[0][:, 0].tolist() for c in ax.collections if len(c.get_segments())]
        assert drawn[:2] == [pytest.approx([0.05, 0.15]), pytest.approx([0.08, 0.12])]


class TestScores:
    def test_both_intervals_with_the_ratio_of_their_widths(self):
        rows = estimates([BAD], "ab", light_low=[0.075, 0.15], light_high=[0.125, 0.25])
        assert tables.score_table(rows, SHOWN, 100).to_dict("records") == [
            {"Label": "Bad", "A": "10.0 [5.0, 15.0]", "B": "20.0 [15.0, 25.0]", "Width ratio": pytest.approx(1.5)}
        ]

    def test_shares_won_carry_the_share_tied(self):
        rows = estimates([RATED[1]] * 3, "ab", statistic="share", outcome=np.repeat(["win", "tie", "loss"], 2))
        independent = rows.assign(interval="independent", ci_low=0.0, ci_high=1.0)
        results = collect(pd.concat([rows, independent]))
        won = analysis.won(analysis.two_intervals(results))
        assert won[["estimate", "tie", "light_low", "light_high"]].to_numpy().tolist() == [
            pytest.approx([0.1, 0.1, 0, 1]),
            pytest.approx([0.2, 0.2, 0, 1]),
        ]


def ranks(ends):
    """Ranks of two systems on one label."""
    low, high = ([e[i] for e in ends] for i in (0, 1))
    kind = "not_estimable" if np.isnan(low[0]) else "simultaneous"
    rows = estimates([BAD], "ab", resample_unit="session", of="mean", resample="session", ci_kind=kind)
    rows = rows.drop(columns=["outcome", "interval"])
    return collect(rows.assign(statistic="rank", estimate=[1.0, 2.0], ci_low=low, ci_high=high))


@pytest.mark.parametrize(
    ("ends", "first", "n_open"),
    [(((1, 1), (2, 2)), [("A", ["bad"])], 0), (((1, 2), (1, 2)), [], 1), (((np.nan, np.nan),) * 2, [], 1)],
)
def test_who_is_certain_to_be_first(ends, first, n_open):
    (line,) = findings._firsts(ranks(ends)["rank"], SHOWN)
    assert (line["firsts"], line["n_first"], line["n_open"]) == (first, len(first), n_open)
    assert findings._firsts(Results()["rank"], SHOWN) == []


class TestEffects:
    def effects(self, **columns):
        rows = estimates([BAD], "ab", statistic="design_effect", of="rate", unit="dialogue", n_clusters=30)
        return rows.drop(columns="interval").assign(**{"outcome": None, "estimate": 4.0, **columns})

    def test_widths_are_roots_of_design_effects(self):
        results = collect(self.effects(), self.effects(unit="annotator", estimate=9.0, n_clusters=12))
        (line,) = findings._widths(results, SHOWN)
        assert (line["who"], line["median"], line["low"], line["high"]) == ("Behaviour", 2, 2, 2)

    def test_annotators_as_a_sample_are_told_by_the_ratio_of_widths(self):
        alone = estimates([BAD], "ab", n_annotators=7)
        both = alone.assign(interval="dialogue and annotator", ci_low=alone["estimate"] - 0.15)
        found, unknown = findings._people(collect(alone, both.assign(ci_high=both["estimate"] + 0.15)), SHOWN)
        (line,) = found
        assert (line["median"], line["n"], unknown) == (pytest.approx(3), [7], [])
        assert findings._people(collect(alone), SHOWN) == ([], ["Behaviour"])


@pytest.mark.parametrize(
    ("wording", "here", "low", "high", "reading"),
    [
        ("less than 1% of responses", 0.4, 0.0, 2.0, "open"),
        ("less than 1% of responses", 0.4, 0.0, 0.9, "holds"),
        ("less than 1% of responses", 2.0, 1.5, 3.0, "does not hold"),
        ("about 1%", 0.9, 0.5, 1.5, "inside"),
        ("about 1%", 3.0, 2.5, 4.0, "outside"),
    ],
)
def test_printed_numbers_are_read_as_they_are_worded(wording, here, low, high, reading):
    entry = MappingEntry(cells="*", study="s", notebook="n", row="label", column="system")
    given = {"paper": "p", "panel": "", "entry": entry, "row": "bad", "column": "all", "value": 1.0, "printed": "1"}
    given |= {"wording": wording, "here": here, "ci_low": low, "ci_high": high}
    assert tables.read(pd.DataFrame([given]))["reading"].tolist() == [reading]


class TestLeader:
    """Said first, as on the first page: of the main evaluation, by the overall mean, and for whom."""

    CELL = {"corpus": "c", "group": "x", "method": BAD.method}  # noqa: RUF012

    def said(self, high, group="x", judged=8, **people):
        rows = []
        for rank, system in enumerate("ab", start=1):
            own = self.CELL | {"system": system, "n": 3, "group": group}
            mean = {"statistic": "overall_mean", "estimate": 1.0 - rank, "ci_low": -2.0, "ci_high": 2.0}
            order = {"statistic": "overall_rank", "estimate": rank, "ci_low": min(rank, high), "ci_high": high}
            rows += [own | mean | {"ci_kind": "t"}, own | order | {"ci_kind": "simultaneous"}]
        frame = pd.DataFrame([self.CELL | {"annotator": f"w{i}"} for i in range(judged)])
        one = people.get("of", Population(True, 8, 8, 8.0, ""))
        return findings.leader(collect(rows), SHOWN, [tuple(self.CELL.values())], {("c", "x"): one}, frame, 0.95)

    @pytest.mark.parametrize("high", [1, 2])
    def test_it_is_named_with_its_certainty_and_for_whom(self, high):
        how = {1: "**A ranks first of 2 systems** (", 2: "**A leads, but is not certain to be best** ("}[high]
        text = self.said(high).text
        assert text.startswith(f"{how}overall mean of 3 labels;")
        assert "for other annotators like these 8." in text
        method = SHOWN.name("method", BAD.method)
        assert f"like these 8, of whom 7 judged by this method ({method})." in self.said(high, judged=7).text

    def test_one_annotators_winner_is_said_to_be_so_and_another_evaluation_has_none(self):
        said = self.said(1, of=Population(False, 20, 20, 1.6, "few", 0.78))
        assert said.text.startswith("**A ranks first of 2 systems, but one annotator made 78% of the judgements** (")
        assert "for these annotators only" in said.text
        assert self.said(1, group="elsewhere") is None
