"""Every printed number has one verdict, by rules that are tried here on hand-made numbers and on the public data."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from fixtures import audited
from fixtures.project_copy import ROOT

from compendium.gallery import kept
from compendium.published import mapping, scoreboard, verdicts
from compendium.published import numbers as published
from compendium.published.consistency.analysis import Audit
from compendium.published.mapping import Mapping, MappingEntry
from compendium.published.numbers import KEY
from judgebook.pipeline import dag
from judgebook.sources import registry
from judgebook.study import params
from judgebook.study.result_schema import IDS, statistics
from judgebook.study.results import collect

PAIR = ("s", "n")
PASSED = {"workers": "passed"}
EQUAL = "Ours is equal by rounding: the rule fails most of what it applies to."


def mean(label, group, estimate, low=np.nan, high=np.nan, **keys):
    row = {"statistic": "mean_z", "label": label, "group": group, "estimate": estimate, "ci_low": low, "ci_high": high}
    return row | PASSED | keys


def count(estimate, **keys):
    return {"statistic": "count", "estimate": estimate, **keys}


RESULTS = collect(
    [
        mean("x", "a", 0.512, 0.4, 0.6),
        mean("y", "a", 0.25, 0.2, 0.3),
        mean("x", "a", 0.7, 0.7, 0.7, group_b="b"),
        mean("x", "a", 0.9, workers="all"),
        mean("y", "a", 0.31, workers="all"),
        mean("x", "a", 0.55, list="found"),
        count(5.0, system="s1", what="once"),
        count(2.0, system="s1", what="twice"),
        count(4.0, system="s2", what="once"),
        count(11.0),
    ]
)


def cells(*rows):
    """Printed numbers: (row, column, printed), of element T, panel p, paper z."""
    frame = pd.DataFrame(rows, columns=["row", "column", "printed"])
    digits = frame["printed"].str.partition(".")[2].str.len()
    head = {"paper": "z", "element": "T", "panel": "p", "unit": "u", "note": ""}
    return frame.assign(**head, value=frame["printed"].astype(float), decimals=digits)


def entry(**change):
    spec = {"cells": "T/p/*/*", "study": "s", "notebook": "n", "where": {"statistic": "mean_z"}, "keys": PASSED}
    return MappingEntry(**spec | {"row": "groups", "column": "label"} | change)


def paper(*entries, **more):
    return Mapping(paper="z", entries=list(entries), **more)


def judged(printed, *entries, **more):
    return verdicts.judge({PAIR: RESULTS}, printed, [paper(*entries, **more)])


class TestReproduced:
    def of(self, printed, spec, results=RESULTS):
        return verdicts.reproduced(results, printed, spec)["value"].tolist()

    def test_sides_of_the_table_are_columns_groups_or_keys(self):
        assert self.of(cells(("a", "x", "1"), ("a__b", "x", "1"), ("b", "x", "1")), entry()) == [
            0.512,
            0.7,
            pytest.approx(np.nan, nan_ok=True),
        ]
        names, where = {"one": "passed", "two": "all"}, {"statistic": "mean_z", "group_b": None}
        by_key = entry(keys={}, row="workers", where=where, names=names)
        assert self.of(cells(("one", "x", "1"), ("two", "y", "1")), by_key) == [0.512, 0.31]

    def test_keys_must_be_all_there_are(self):
        # with the key `list` there is another row, which an entry that does not name it never takes
        listed = entry(keys=PASSED | {"list": "found"})
        assert self.of(cells(("a", "x", "1")), listed) == [0.55]
        assert np.isnan(self.of(cells(("a", "x", "1")), entry(keys={}))).all()

    def test_a_list_adds_rows_up_and_a_missing_part_leaves_nothing(self):
        both = entry(
            where={"statistic": "count"}, keys={"what": ["once", "twice"]}, row="system", column=None, scale=10.0
        )
        assert self.of(cells(("s1", "x", "1"), ("s2", "x", "1")), both) == [70, pytest.approx(np.nan, nan_ok=True)]

    def test_a_result_becomes_what_was_printed(self):
        """A complement, with its interval the other way round; and a mean times its n."""
        left = verdicts.reproduced(RESULTS, cells(("a", "x", "1")), entry(scale=-100, plus=100)).iloc[0]
        assert left[["value", "ci_low", "ci_high"]].tolist() == pytest.approx([48.8, 40, 60])
        of_n = collect([count(2.5, system="s1", what="once") | {"n": 4}])
        spec = entry(where={"statistic": "count"}, keys={"what": "once"}, row="system", column=None, counted=True)
        assert self.of(cells(("s1", "x", "1")), spec, of_n) == [10]

    def test_two_rows_for_a_number_are_refused(self):
        twice = collect(RESULTS, RESULTS)
        with pytest.raises(ValueError, match=r"2 result rows of n for \('a', 'x'\)"):
            self.of(cells(("a", "x", "1")), entry(), twice)


@pytest.mark.parametrize(
    ("printed", "rule", "fitted", "ranged", "verdict"),
    [
        ("0.51", 0.512, 0.512, (0.4, 0.6), "match"),
        ("0.55", 0.512, 0.55, (0.4, 0.6), "match_fitted"),
        ("0.58", 0.512, 0.55, (0.4, 0.6), "within_noise"),
        ("0.61", 0.512, 0.55, (0.4, 0.6), "differs"),
        ("0.60", None, None, (0.4, 0.597), "within_noise"),
        ("0.55", None, 0.55, None, "match_fitted"),
        ("0.55", None, 0.56, None, "differs"),
        ("0.55", None, None, None, "needs_download"),
        ("0.5", 0.55, None, None, "match"),  # an exact half may be rounded either way
    ],
)
def test_what_decides_on_a_number(printed, rule, fitted, ranged, verdict):
    given = [(entry(), rule, (np.nan,) * 2), (entry(fitted="a list"), fitted, (np.nan,) * 2)]
    given.append((entry(ranged="picks"), np.mean(ranged) if ranged else None, ranged or (np.nan,) * 2))
    tried = [verdicts.Reproduction(e, np.nan if v is None else v, *ends) for e, v, ends in given]
    decimals = len(printed.partition(".")[2])
    assert verdicts.choose(float(printed), decimals, tried)[0] == verdict


def test_only_the_first_result_by_rule_is_tried():
    """A second definition would be a second chance."""
    found = judged(cells(("a", "x", "0.90")), entry(), entry(keys={"workers": "all"}))
    assert found["verdict"].tolist() == ["differs"]
    absent = judged(cells(("a", "x", "0.90")), entry(keys={"workers": "none"}), entry(keys={"workers": "all"}))
    assert absent["verdict"].tolist() == ["match"]


def test_numbers_of_a_row_stand_or_fall_together():
    """By the rule x is .512 and y .25. Printed 0.51 and 0.40: x is equal by rounding only, and counts if fitted."""
    rule, fitted = entry(together="T/{panel}/{row}/*"), entry(keys=PASSED | {"list": "found"}, fitted="a list")
    printed = cells(("a", "x", "0.51"), ("a", "y", "0.40"), ("a__b", "x", "0.7"))
    assert judged(printed, rule)["verdict"].tolist() == ["differs", "differs", "match"]
    assert judged(printed, entry())["verdict"].tolist() == ["match", "differs", "match"]
    both = judged(cells(("a", "x", "0.5"), ("a", "y", "0.40")), rule, fitted.model_copy(update={"keys": PASSED}))
    assert both["verdict"].tolist() == ["match_fitted", "differs"]
    right = judged(cells(("a", "x", "0.51"), ("a", "y", "0.25")), rule)
    assert right["verdict"].tolist() == ["match", "match"]


def test_a_rule_that_fails_most_of_a_table_confirms_nothing_and_the_sources_own_is_told_apart():
    """By our rule x is .512, y .25 and a__b/x .7. The source has .90 for all of them."""
    printed = cells(("a", "x", "0.51"), ("a", "y", "0.90"), ("a__b", "x", "0.90"))
    assert judged(printed, entry())["verdict"].tolist() == ["differs"] * 3
    where, nowhere = {"statistic": "count", "system": None}, dict.fromkeys(("panel", "row", "column"))
    source = entry(rule="the source's", where=where, keys={}, plus=0.9 - 11, **nowhere)
    assert judged(printed, entry(), source)["verdict"].tolist() == ["differs", "match_source", "match_source"]
    alone = judged(printed, source)
    assert alone["verdict"].tolist() == ["differs", "match", "match"]
    assert alone["note"].tolist() == ["", "the source's", "the source's"]
    assert judged(printed, entry())["note"].tolist() == [EQUAL, "", ""]
    assert judged(printed[:2], entry(), source)["verdict"].tolist() == ["match", "match_source"]


def test_what_is_told_of_a_number():
    printed = cells(("a", "x", "0.51"), ("a", "y", "0.4"), ("a", "z", "1"))
    special = [{"cells": "T/p/a/y", "note": "special"}]
    found = judged(printed, entry(note="general", shows="f"), differs=special, needs={"s": "a file"})
    assert found["verdict"].tolist() == ["match", "differs", "needs_download"]
    assert found["note"].tolist() == ["", "special", "a file"]
    assert found["tolerance"].tolist() == [0.005, 0.05, 0.5]
    assert found[["study", "notebook", "shows"]].to_numpy().tolist() == [["s", "n", "f"]] * 3
    other = judged(cells(("a", "x", "0.51"), ("a", "y", "0.4")), entry(note="general", basis="a part"))
    assert other["note"].tolist() == ["Based on a part.", "general"]


def test_a_range_says_how_far_it_reaches_and_what_else_lies_inside():
    """0.58 lies in 0.4 to 0.6; of the two other numbers one does, too."""
    printed = cells(("a", "x", "0.58"), ("b", "x", "0.45"), ("c", "x", "0.90"))
    spec = entry(ranged="picks", row=None, where={"statistic": "mean_z", "label": "x", "group_b": None}, column=None)
    found = judged(printed, spec)
    assert found["verdict"].tolist() == ["within_noise", "within_noise", "differs"]
    assert found["tolerance"].tolist()[0] == pytest.approx(0.005 + 0.6 - 0.512)
    board = scoreboard.scoreboard({PAIR: RESULTS}, printed, made_audit(printed), [paper(spec)])
    assert board["wrong_inside"].tolist()[:2] == [0.5, 0.5]
    ends = entry(ranged="draws", low={"keys": PASSED}, high={"keys": {"workers": "all"}})
    wide = judged(cells(("a", "x", "0.85")), ends)
    assert wide[["low", "high", "verdict"]].to_numpy().tolist() == [[0.512, 0.9, "within_noise"]]


def made_audit(printed, **states):
    """An audit that says of the numbers, by their column, that they follow or are contradicted."""
    place = ["paper", *published.PLACE]
    told = printed.assign(state=[states.get(c, "in_no_check") for c in printed["column"]])
    rows = told[told["state"] != "in_no_check"].assign(low=0.1, high=0.3, evidence="Evidence.")
    arithmetic = rows.rename(columns={"state": "verdict"})[[*place, "verdict", "low", "high", "evidence"]]
    return Audit(pd.DataFrame(), arithmetic, told[[*place, "state"]], pd.DataFrame(), {"z": "Z"})


def test_beside_only_never_decides():
    """Lines with `beside` show numbers next to another study's results; the scoreboard does not read them."""
    apart = entry(study=None, beside=["demo"], notebook="02_collection_stats")
    assert verdicts.attempts({PAIR: RESULTS}, cells(("a", "x", "0.51")), [paper(apart)]) == {}


class TestBoard:
    printed = cells(("a", "x", "0.51"), ("a", "y", "0.9"), ("a", "q", "0.2"), ("a", "r", "0.7"), ("a", "s", "4"))

    def board(self, results, **states):
        mapped = paper(entry(note="reason"), needs={"s": "a file"})
        return scoreboard.scoreboard(results, self.printed, made_audit(self.printed, **states), [mapped])

    def test_raw_data_come_before_arithmetic(self):
        states = {"x": "contradicts", "y": "follows", "q": "follows", "r": "contradicts"}
        found = self.board({PAIR: RESULTS}, **states).set_index("column")
        assert found["verdict"].to_dict() == {
            "x": "match",
            "y": "differs",
            "q": "match_arithmetic",
            "r": "paper_inconsistent",
            "s": "needs_download",
        }
        assert found.at["x", "note"] == "Other printed numbers contradict it: Evidence."
        assert found.at["y", "note"] == "reason"
        assert found.loc["q", ["note", "low", "high", "study"]].tolist() == ["Evidence.", 0.1, 0.3, ""]
        assert found.at["q", "reproduced"] == pytest.approx(0.2)
        assert found.at["q", "tolerance"] == pytest.approx(0.05 + 0.1)
        both = pd.concat([found.reset_index(), found.reset_index().assign(paper="ji2022")])
        for line in scoreboard.badge(both).split("\n\n"):
            assert "1 of the 2 numbers that raw data decide match by rule (50%); 1 differ" in line
            assert "Of all 5 printed numbers, 1 follow" in line

    def test_without_results_arithmetic_speaks_and_files_are_named(self):
        found = self.board({PAIR: None}, x="contradicts", y="follows").set_index("column")
        assert found["verdict"].tolist() == ["paper_inconsistent", "match_arithmetic", *["needs_download"] * 3]
        assert found.at["q", "note"] == "a file"

    def test_a_number_nobody_speaks_of_is_named(self):
        line = {"cells": "T/*/*/s", "verdict": "not_attempted", "note": "why"}
        with pytest.raises(ValueError, match=r"4 printed numbers have no line in a mapping, the first is z/T/p/a/x"):
            scoreboard.scoreboard({}, self.printed, made_audit(self.printed), [Mapping(paper="z", without=[line])])

    def test_the_committed_table_is_checked_verdict_by_verdict(self, tmp_path):
        """With ten digits, and without the columns that only the page of a run has."""
        found = self.board({PAIR: RESULTS}, q="follows")
        (tmp_path / "r.csv").write_bytes(kept.printed(found))
        stored = scoreboard.read(tmp_path / "r.csv")
        pd.testing.assert_frame_equal(stored, found[list(stored)], check_dtype=False, rtol=1e-5)
        assert set(found) - set(stored) == {"arithmetic", "shows"}
        assert kept.differences(stored, found) == []
        other = found.assign(verdict=found["verdict"].where(found["column"] != "x", "differs"))
        assert kept.differences(stored, other) == ["z/T/p/a/x: differs, the gallery says match"]


def test_negative_controls_by_hand():
    """x prints 0.51 and is .512, y prints 0.25 and is .25; swapped neither matches. Under k=2 x is .9, y .31."""
    printed = cells(("a", "x", "0.51"), ("a", "y", "0.25"))
    wrong = {
        "other k": {"keys": {"workers": "all"}},
        "same": {"where": {"statistic": "mean_z"}},
        "none": {"keys": {"workers": "none"}},
    }
    found = scoreboard.controls({PAIR: RESULTS}, printed, [paper(entry(wrong=wrong))]).set_index("control")
    counts = found[["numbers", "matches", "comparisons", "wrong_matches"]].to_numpy().tolist()
    assert dict(zip(found.index, counts, strict=True)) == {
        scoreboard.OTHER_COLUMN: [2, 2, 2, 0],
        "other k": [2, 2, 2, 0],
        "same": [2, 2, 2, 2],
    }
    assert scoreboard.overall(found.reset_index())["comparisons"].tolist() == [2, 4]
    fitted = scoreboard.controls({PAIR: RESULTS}, printed, [paper(entry(fitted="a list"))])
    assert fitted.empty


@cache
def everything_printed():
    return scoreboard.scoreboard({}, published.load(), audited.of_papers(), mapping.load())


class TestMappings:
    papers = mapping.load()

    @pytest.mark.verify
    def test_every_printed_number_has_a_verdict_without_any_data(self):
        found = everything_printed()
        assert len(found) == 3112
        assert set(found["verdict"]) <= set(scoreboard.VERDICTS) - set(scoreboard.ATTEMPTED)
        assert (found["note"] != "").all()

    @pytest.mark.verify
    def test_every_line_speaks_of_some_number(self):
        """A line without a result of one that no line before decides, a reason of one that some entry decides."""
        for paper in self.papers:
            numbers = published.load(paper.paper)

            def places(line, numbers=numbers, paper=paper):
                return set(published.select(numbers, paper.paper, line.cells).index)

            mapped = set().union(*(places(e) for e in paper.entries if e.study))
            assert [line.cells for line in paper.differs if not places(line) & mapped] == []
            for line in paper.without:
                assert places(line) - mapped, (paper.paper, line.cells)
                mapped |= places(line)

    def test_entries_name_studies_notebooks_statistics_and_keys_that_exist(self):
        notebooks = dag.load()
        assert {e.study for paper in self.papers for e in paper.entries} - {None} <= set(registry.studies())
        for e in (e for paper in self.papers for e in paper.entries):
            assert e.study is None or not params.load(e.study).simulated
            assert set(e.beside) <= set(params.names())
            assert e.notebook in notebooks
            for name in [e.where["statistic"]] if "statistic" in e.where else ["published_minutes", "own_cost"]:
                spec = statistics()[name]
                sides = {d for d in (e.panel, e.row, e.column) if d}
                assert set(e.keys) | (sides - {*IDS, "statistic", "groups"}) <= set(spec.keys), e.cells


@pytest.fixture(scope="module")
def committed():
    return scoreboard.read(ROOT / "gallery" / "scoreboard" / "replication.csv")


class TestCommitted:
    """gallery/scoreboard/replication.csv, the last complete run."""

    def test_it_has_a_row_for_each_printed_number(self, committed):
        printed = published.load()
        assert committed[["paper", *published.PLACE]].equals(printed[["paper", *published.PLACE]])
        assert (committed["published"] == printed["printed"]).all()
        assert set(committed["verdict"]) <= set(scoreboard.VERDICTS)

    def test_at_least_350_numbers_match_from_raw_data_by_rule(self, committed):
        match = committed[committed["verdict"] == "match"]
        assert len(match) >= 350
        assert (match["study"] != "").all()
        assert (abs(match["published"].astype(float) - match["reproduced"]) <= match["tolerance"] * 1.001 + 1e-6).all()
        assert (committed.loc[committed["verdict"] != "match", "note"] != "").all()

    @pytest.mark.verify
    def test_what_raw_data_do_not_decide_is_as_arithmetic_has_it_today(self, committed):
        old, new = (f.set_index(KEY)["verdict"] for f in (committed, everything_printed()))
        apart = old[~old.isin(scoreboard.ATTEMPTED)]
        assert len(apart) > 1000
        assert new[apart.index].to_dict() == apart.to_dict()
