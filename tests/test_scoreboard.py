"""Every printed number has one verdict, by rules that are tried here on hand-made numbers and on the public data."""

import re
import shutil

import numpy as np
import pandas as pd
import pytest
from small_project import ROOT

from helpers import (
    agreement,
    collection,
    controls,
    gallery_board,
    iaa,
    mapping,
    params,
    published,
    schema,
    scoreboard,
    statistics,
    verdicts,
)
from helpers.audit import report
from helpers.gallery_board import END, START, with_badge
from helpers.mapping import Entry, Mapping
from helpers.pipeline import dag
from helpers.schema import condition
from helpers.sources import build
from helpers.views import scoreboard_text as text

PAIR = ("s", "n")
RESULTS = pd.DataFrame(
    [
        ("m", "x", None, "a", None, condition(k=1), 0.512, 0.4, 0.6),
        ("m", "y", None, "a", None, condition(k=1), 0.25, 0.2, 0.3),
        ("m", "x", None, "a", "b", condition(k=1), 0.7, 0.7, 0.7),
        ("m", "x", None, "a", None, condition(k=2), 0.9, np.nan, np.nan),
        ("m", "y", None, "a", None, condition(k=2), 0.31, np.nan, np.nan),
        ("m", "x", None, "a", None, condition(k=1, list="found"), 0.55, np.nan, np.nan),
        ("c", None, "s1", None, None, condition(what="once"), 5.0, np.nan, np.nan),
        ("c", None, "s1", None, None, condition(what="twice"), 2.0, np.nan, np.nan),
        ("c", None, "s2", None, None, condition(what="once"), 4.0, np.nan, np.nan),
        ("c", None, None, None, None, None, 11.0, np.nan, np.nan),
    ],
    columns=["statistic", "label", "system", "group", "group_b", "condition", "estimate", "ci_low", "ci_high"],
)


def cells(*rows):
    """Printed numbers: (row, column, printed), of element T, panel p, paper z."""
    frame = pd.DataFrame(rows, columns=["row", "column", "printed"])
    digits = frame["printed"].str.partition(".")[2].str.len()
    head = {"paper": "z", "element": "T", "panel": "p", "unit": "u", "note": ""}
    return frame.assign(**head, value=frame["printed"].astype(float), decimals=digits)


def entry(**change):
    spec = {"cells": "T/p/*/*", "study": "s", "notebook": "n", "where": {"statistic": "m"}, "keys": {"k": 1}}
    return Entry(**spec | {"row": "groups", "column": "label"} | change)


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
        by_key = entry(keys={}, row="k", where={"statistic": "m", "group_b": None}, names={"one": "1", "two": "2"})
        assert self.of(cells(("one", "x", "1"), ("two", "y", "1")), by_key) == [0.512, 0.31]

    def test_keys_must_be_all_there_are(self):
        # with the key `list` there is another row, which an entry that does not name it never takes
        listed = entry(keys={"k": 1, "list": "found"})
        assert self.of(cells(("a", "x", "1")), listed) == [0.55]
        assert np.isnan(self.of(cells(("a", "x", "1")), entry(keys={}))).all()

    def test_a_list_adds_rows_up_and_a_missing_part_leaves_nothing(self):
        both = entry(where={"statistic": "c"}, keys={"what": ["once", "twice"]}, row="system", column=None, scale=10.0)
        assert self.of(cells(("s1", "x", "1"), ("s2", "x", "1")), both) == [70, pytest.approx(np.nan, nan_ok=True)]

    def test_rows_without_a_condition(self):
        assert self.of(cells(("a", "x", "1")), entry(where={"statistic": "c"}, keys={}, row=None, column=None)) == [11]

    def test_two_rows_for_a_number_are_refused(self):
        twice = pd.concat([RESULTS, RESULTS])
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
        ("0.55", None, None, None, "needs_data"),
        ("0.5", 0.55, None, None, "match"),  # an exact half may be rounded either way
    ],
)
def test_what_decides_on_a_number(printed, rule, fitted, ranged, verdict):
    given = [(entry(), rule, (np.nan,) * 2), (entry(fitted="a list"), fitted, (np.nan,) * 2)]
    given.append((entry(ranged="picks"), np.mean(ranged) if ranged else None, ranged or (np.nan,) * 2))
    tried = [verdicts.Attempt(e, np.nan if v is None else v, *ends) for e, v, ends in given]
    decimals = len(printed.partition(".")[2])
    assert verdicts.choose(float(printed), decimals, tried)[0] == verdict


def test_only_the_first_result_by_rule_is_tried():
    """A second definition would be a second chance."""
    found = judged(cells(("a", "x", "0.90")), entry(), entry(keys={"k": 2}))
    assert found["verdict"].tolist() == ["differs"]
    absent = judged(cells(("a", "x", "0.90")), entry(keys={"k": 9}), entry(keys={"k": 2}))
    assert absent["verdict"].tolist() == ["match"]


def test_what_is_told_of_a_number():
    printed = cells(("a", "x", "0.51"), ("a", "y", "0.4"), ("a", "z", "1"))
    found = judged(
        printed,
        entry(note="general", shows="f"),
        differs=[{"cells": "T/p/a/y", "note": "special"}],
        needs={"s": "a file"},
    )
    assert found["verdict"].tolist() == ["match", "differs", "needs_data"]
    assert found["note"].tolist() == ["", "special", "a file"]
    assert found["tolerance"].tolist() == [0.005, 0.05, 0.5]
    assert found[["study", "notebook", "shows"]].to_numpy().tolist() == [["s", "n", "f"]] * 3
    other = judged(cells(("a", "y", "0.4")), entry(note="general"))
    assert other["note"].tolist() == ["general"]


def test_a_range_says_how_far_it_reaches_and_what_else_lies_inside():
    """0.58 lies in 0.4 to 0.6; of the two other numbers one does, too."""
    printed = cells(("a", "x", "0.58"), ("b", "x", "0.45"), ("c", "x", "0.90"))
    spec = entry(ranged="picks", row=None, where={"statistic": "m", "label": "x", "group_b": None}, column=None)
    found = judged(printed, spec)
    assert found["verdict"].tolist() == ["within_noise", "within_noise", "differs"]
    assert found["tolerance"].tolist()[0] == pytest.approx(0.005 + 0.6 - 0.512)
    board = scoreboard.board({PAIR: RESULTS}, printed, audit(printed), [paper(spec)])
    assert board["wrong_inside"].tolist()[:2] == [0.5, 0.5]
    ends = entry(
        ranged="draws", keys={"k": 1}, low={"keys": {"k": 1}}, high={"keys": {"k": 2}}, where={"statistic": "m"}
    )
    wide = judged(cells(("a", "x", "0.85")), ends)
    assert wide[["low", "high", "verdict"]].to_numpy().tolist() == [[0.512, 0.9, "within_noise"]]


def audit(printed, **states):
    """An audit that says of the numbers, by their column, that they follow or are contradicted."""
    place = ["paper", *published.PLACE]
    told = printed.assign(state=[states.get(c, "in_no_check") for c in printed["column"]])
    rows = told[told["state"] != "in_no_check"].assign(low=0.1, high=0.3, evidence="Evidence.")
    arithmetic = rows.rename(columns={"state": "verdict"})[[*place, "verdict", "low", "high", "evidence"]]
    return report.Audit(pd.DataFrame(), arithmetic, told[[*place, "state"]], pd.DataFrame(), {"z": "Z"})


def test_what_a_notebook_shows_beside_the_paper():
    printed = cells(("a", "x", "0.51"), ("a", "y", "0.40"), ("b", "x", "0.1"))
    found = judged(printed, entry(), entry(fitted="a list", keys={"k": 1, "list": "found"}, where={"statistic": "m"}))
    assert verdicts.table(found)[["Printed", "Here", "Verdict"]].to_numpy().tolist() == [
        ["0.51", "0.512", "matches"],
        ["0.40", "0.250", "differs"],
    ]
    assert verdicts.tally(found)[["match", "differs", "needs_data", "cells"]].to_numpy().tolist() == [[1, 1, 1, 3]]
    assert verdicts.told(found).startswith("Of 2 printed numbers that the data speak to: 1 matches; 1 differs.")
    assert "2 match; 2 differ." in verdicts.told(pd.concat([found, found]))
    fitted = judged(cells(("a", "x", "0.55")), entry(note="n"), entry(fitted="a list", keys={"k": 1, "list": "found"}))
    assert verdicts.told(fitted).endswith("- T, matches, fitted: a list")
    assert verdicts.told(judged(cells(("c", "x", "1")), entry())) == ""


def test_beside_only_never_decides():
    """Lines with `beside` show numbers next to another study's results; the scoreboard does not read them."""
    apart = entry(study=None, beside=["demo"], notebook="02_collection_stats")
    assert verdicts.attempts({PAIR: RESULTS}, cells(("a", "x", "0.51")), [paper(apart)]) == {}
    shown = verdicts.beside(RESULTS.assign(statistic="none"), "demo", "02_collection_stats")
    assert set(shown["element"]) == {"Table 10", "Text 7.5"}
    assert set(shown["verdict"]) == {"needs_data"}
    assert verdicts.beside(RESULTS, "demo", "00_build_annotations").empty


class TestBoard:
    printed = cells(("a", "x", "0.51"), ("a", "y", "0.9"), ("a", "q", "0.2"), ("a", "r", "0.7"), ("a", "s", "4"))

    def board(self, results, **states):
        mapped = paper(entry(note="reason"), needs={"s": "a file"})
        return scoreboard.board(results, self.printed, audit(self.printed, **states), [mapped])

    def test_raw_data_come_before_arithmetic(self):
        states = {"x": "contradicts", "y": "follows", "q": "follows", "r": "contradicts"}
        found = self.board({PAIR: RESULTS}, **states).set_index("column")
        assert found["verdict"].to_dict() == {
            "x": "match",
            "y": "differs",
            "q": "match_arithmetic",
            "r": "paper_inconsistent",
            "s": "needs_data",
        }
        assert found.at["x", "note"] == "The paper contradicts the number: Evidence."
        assert found.at["y", "note"] == "reason"
        assert found.loc["q", ["note", "low", "high", "study"]].tolist() == ["Evidence.", 0.1, 0.3, ""]
        assert found.at["q", "reproduced"] == pytest.approx(0.2)
        assert found.at["q", "tolerance"] == pytest.approx(0.05 + 0.1)

    def test_without_results_arithmetic_speaks_and_files_are_named(self):
        found = self.board({PAIR: None}, x="contradicts", y="follows").set_index("column")
        assert found["verdict"].tolist() == ["paper_inconsistent", "match_arithmetic", *["needs_data"] * 3]
        assert found.at["q", "note"] == "a file"

    def test_a_number_nobody_speaks_of_is_named(self):
        line = {"cells": "T/*/*/s", "verdict": "not_attempted", "note": "why"}
        with pytest.raises(ValueError, match=r"4 printed numbers have no line in a mapping, the first is z/T/p/a/x"):
            scoreboard.board({}, self.printed, audit(self.printed), [Mapping(paper="z", without=[line])])

    def test_one_line_says_it_all(self):
        line = scoreboard.badge(self.board({PAIR: RESULTS}, q="follows"))
        assert line.startswith("**1 of 2 attempted numbers match by rule; 1 differ, explained.**")
        assert "Of 5 printed numbers, another 1 follow" in line

    def test_the_csv_reads_back(self, tmp_path):
        found = self.board({PAIR: RESULTS}, q="follows")
        found.to_csv(tmp_path / "r.csv", index=False)
        pd.testing.assert_frame_equal(scoreboard.read(tmp_path / "r.csv"), found, check_dtype=False)

    def test_the_committed_table_is_checked_verdict_by_verdict(self, tmp_path):
        """With six digits, and without the columns that only the page of a run has."""
        found = self.board({PAIR: RESULTS}, q="follows")
        (tmp_path / "r.csv").write_bytes(gallery_board.table(found))
        kept = scoreboard.read(tmp_path / "r.csv")
        pd.testing.assert_frame_equal(kept, found[list(kept)], check_dtype=False, rtol=1e-5)
        assert set(found) - set(kept) == {"arithmetic", "shows"}
        assert gallery_board.differences(kept, found) == []
        other = found.assign(verdict=found["verdict"].where(found["column"] != "x", "differs"))
        assert gallery_board.differences(kept, other) == ["z/T/p/a/x: differs, the gallery says match"]

    def test_sentences_and_tables(self):
        found = self.board({PAIR: RESULTS}, q="follows", r="contradicts")
        wrong = controls.controls({PAIR: RESULTS}, self.printed, [paper(entry())])
        said = " ".join(text.what_we_see(found, wrong, {"z": "Zed"}))
        assert "Of 5 printed numbers 2 can be held against results from raw data. 1 of these (50 %) match" in said
        assert "1 follow from other printed numbers" in said
        one = wrong.iloc[[0]].assign(numbers=4, matches=4, comparisons=4, wrong_matches=1)
        assert "in 1 of the 1 rows above a quarter" in " ".join(text.what_we_see(found, one, {"z": "Zed"}))
        sound = one.assign(wrong_matches=0)
        assert "Not everywhere" not in " ".join(text.what_we_see(found, sound, {"z": "Zed"}))
        assert "- Zed, 5 numbers: 1 of 2 attempted match; 1 follow, 1 are contradicted." in said
        differs = text.explained(found, "differs", {"z": "Zed"})
        assert differs[["Printed", "Here", "Why"]].to_numpy().tolist() == [["0.9", "0.25", "reason"]]
        whole = found.assign(decimals=0, reproduced=147.0, published="193")
        assert text.explained(whole, "differs", {"z": "Zed"})["Here"].tolist() == ["147"]
        assert text.explained(whole.assign(reproduced=0.5), "differs", {"z": "Zed"})["Here"].tolist() == ["0.5"]
        alone = text.what_we_see(self.board({}), wrong.iloc[:0], {"z": "Zed"})
        assert alone == ["No study was run whose results could be compared; run `python run_all.py --study all`."]


def test_negative_controls_by_hand():
    """x prints 0.51 and is .512, y prints 0.25 and is .25; swapped neither matches. Under k=2 x is .9, y .31."""
    printed = cells(("a", "x", "0.51"), ("a", "y", "0.25"))
    wrong = {"other k": {"keys": {"k": 2}}, "same": {"where": {"statistic": "m"}}, "none": {"keys": {"k": 7}}}
    found = controls.controls({PAIR: RESULTS}, printed, [paper(entry(wrong=wrong))]).set_index("control")
    counts = found[["numbers", "matches", "comparisons", "wrong_matches"]].to_numpy().tolist()
    assert dict(zip(found.index, counts, strict=True)) == {
        controls.OTHER_COLUMN: [2, 2, 2, 0],
        "other k": [2, 2, 2, 0],
        "same": [2, 2, 2, 2],
    }
    assert controls.overall(found.reset_index())["comparisons"].tolist() == [2, 4]
    fitted = controls.controls({PAIR: RESULTS}, printed, [paper(entry(fitted="a list"))])
    assert fitted.empty


def test_mistakes_in_a_mapping_are_named(tmp_path):
    def load(text):
        (tmp_path / "z_mapping.yaml").write_text(text)
        return mapping.load(tmp_path)

    with pytest.raises(ValueError, match=r"z_mapping.yaml:\n  entries.0.nots: Extra inputs"):
        load("paper: z\nentries: [{cells: a/b/c/d, study: s, notebook: n, nots: x}]\n")
    with pytest.raises(ValueError, match="expected `fitted` or `ranged`, found both"):
        load("paper: z\nentries: [{cells: a/b/c/d, study: s, notebook: n, fitted: x, ranged: y}]\n")
    with pytest.raises(ValueError, match="expected `study` or `beside`, found neither"):
        load("paper: z\nentries: [{cells: a/b/c/d, notebook: n}]\n")
    with pytest.raises(ValueError, match="expected `low` and `high` together"):
        load("paper: z\nentries: [{cells: a/b/c/d, study: s, notebook: n, ranged: y, low: {keys: {k: 1}}}]\n")
    with pytest.raises(ValueError, match="not valid YAML"):
        load("paper: [z\n")
    with pytest.raises(ValueError, match=r"z: 'T/q/\*/\*': the paper prints no such number"):
        judged(cells(("a", "x", "1")), entry(cells="T/q/*/*"))
    with pytest.raises(ValueError, match="expected element/panel/row/column, found 3 parts"):
        judged(cells(("a", "x", "1")), entry(cells="T/q/*"))


def test_the_template_for_a_new_paper_runs(tmp_path):
    """docs/paper_template, in a folder of its own: read, checked, and given verdicts."""
    for path in [*(ROOT / "docs" / "paper_template").iterdir(), published.FOLDER / "audit.yaml"]:
        shutil.copy(path, tmp_path)
    printed = published.load(folder=tmp_path)
    found = scoreboard.board({}, printed, report.audit(printed, tmp_path), mapping.load(tmp_path))
    assert found["verdict"].value_counts().to_dict() == {"needs_data": 3, "match_arithmetic": 1, "not_attempted": 1}
    results = pd.DataFrame(
        {
            "statistic": "mean",
            "method": "dialogue_likert",
            "label": "quality",
            "system": ["bot_a", "bot_b"],
            "condition": "interval=independent",
            "estimate": [3.418, 2.91],
            "ci_low": np.nan,
            "ci_high": np.nan,
            "group": "all",
            "group_b": None,
        }
    )
    some = {("example", "07_bot_performance"): results}
    found = scoreboard.board(some, printed, report.audit(printed, tmp_path), mapping.load(tmp_path))
    assert found["verdict"].tolist()[:2] == ["match", "differs"]


class TestMappings:
    """The files in data/published."""

    papers = mapping.load()

    @staticmethod
    def deciding(paper):
        return [e for e in paper.entries if e.study]

    def test_every_printed_number_has_a_verdict_without_any_data(self):
        found = scoreboard.board({}, published.load(), report.audit(), self.papers)
        assert len(found) == 2353
        assert set(found["verdict"]) <= set(scoreboard.VERDICTS) - set(scoreboard.ATTEMPTED)
        assert (found["note"] != "").all()

    def test_every_line_without_a_result_decides_about_some_number(self):
        printed = published.load()
        for paper in self.papers:
            mapped = {i for e in self.deciding(paper) for i in published.select(printed, paper.paper, e.cells).index}
            for line in paper.without:
                own = set(published.select(printed, paper.paper, line.cells).index) - mapped
                assert own, (paper.paper, line.cells)
                mapped |= own

    def test_entries_name_studies_notebooks_statistics_and_keys_that_exist(self):
        notebooks = dag.load()
        for e in (e for paper in self.papers for e in paper.entries):
            assert e.study is None or not params.load(e.study).simulated
            assert set(e.beside) <= set(params.names())
            assert e.notebook in notebooks
            for name in [e.where["statistic"]] if "statistic" in e.where else ["unit_minutes", "own_cost"]:
                spec = statistics.STATISTICS[name]
                sides = {d for d in (e.panel, e.row, e.column) if d}
                assert set(e.keys) | (sides - {*schema.RESULTS, "groups"}) <= set(spec.keys), e.cells

    def test_what_differs_says_why(self):
        """Lines that give reasons name numbers that some entry speaks of."""
        printed = published.load()
        for paper in self.papers:
            mapped = {i for e in self.deciding(paper) for i in published.select(printed, paper.paper, e.cells).index}
            for line in paper.differs:
                assert set(published.select(printed, paper.paper, line.cells).index) & mapped, line.cells


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

    def test_whatever_is_no_match_has_a_reason(self, committed):
        assert (committed.loc[committed["verdict"] != "match", "note"] != "").all()

    def test_a_match_moved_by_one_unit_is_none(self, committed):
        """Every one of them, up and down; only an exact half is equal to two neighbours."""
        match = committed[committed["verdict"] == "match"]
        value, unit = match["published"].astype(float), 10.0 ** -match["decimals"]
        for step in (unit, -unit):
            same = published.agrees(value + step, match["decimals"], match["reproduced"])
            half = np.isclose(abs(value - match["reproduced"]), unit / 2, rtol=1e-4)
            assert not (same & ~half).any()

    def test_the_readme_has_its_line(self, committed):
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        assert with_badge(readme, committed) == readme
        assert re.search(rf"{re.escape(START)}\n\*\*\d+ of \d+ attempted .*\n{re.escape(END)}", readme)


def test_a_readme_without_marks_is_refused(committed):
    with pytest.raises(ValueError, match=r"README.md has no lines"):
        with_badge("# Title\n", committed)


@pytest.fixture(scope="module")
def agreement_results(raw_data):
    """Results of notebook 03 on the public files of Finch et al. 2024, without intervals worth having."""
    study = params.load("finch2024")
    marks = build.build(study).frames["annotations"]
    marks = marks[marks["group"].isin(["dev_x", "stu_x"])]
    scope = collection.in_scope(marks, dialogues=study.scope.exclude_dialogues, sessions=study.scope.exclude_sessions)
    tables = [agreement.alpha_table(m, study.label_list(), first=2, n_resamples=100) for m in (marks, scope)]
    rows = pd.concat([tables[0], iaa.with_scope(tables[1], "paper")], ignore_index=True)
    return {("finch2024", "03_iaa"): schema.make_results(rows, study="finch2024", notebook="03_iaa")}


@pytest.mark.data
def test_within_group_agreement_of_finch2024_cell_by_cell(agreement_results):
    """24 numbers by rule on all data, but 8 rest on who the developers are and 8 on a list of pairs: fitted."""
    found = verdicts.judge(agreement_results, published.load(), mapping.load())
    found = found[(found["element"] == "Table 3") & (found["verdict"] != "needs_data")]
    assert found.groupby(["panel", "row"])["verdict"].value_counts().to_dict() == {
        ("likert", "dev_x", "match_fitted"): 8,
        ("likert", "stu_x", "match"): 8,
        ("pairwise", "dev_x", "match"): 8,
        ("pairwise", "stu_x", "match_fitted"): 8,
    }


@pytest.mark.data
def test_on_a_copy_one_moved_number_is_the_one_that_differs(agreement_results, tmp_path):
    shutil.copytree(published.FOLDER, tmp_path / "published")
    folder = tmp_path / "published"

    def board():
        printed = published.load(folder=folder)
        return scoreboard.board(agreement_results, printed, report.audit(printed, folder), mapping.load(folder))

    before = board()
    path = folder / "finch2024_table03.csv"
    rows = path.read_text(encoding="utf-8").splitlines()
    at = next(i for i, row in enumerate(rows) if row.startswith("finch2024,Table 3,likert,stu_x,engaging,"))
    value = rows[at].split(",")[5]
    rows[at] = rows[at].replace(f",{value},", f",{float(value) + 0.01:.2f},")
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    published._read.cache_clear()
    after = board()
    changed = before["verdict"] != after["verdict"]
    assert after.loc[changed, ["row", "column", "verdict"]].to_numpy().tolist() == [["stu_x", "engaging", "differs"]]
    assert before.loc[changed, "verdict"].tolist() == ["match"]
