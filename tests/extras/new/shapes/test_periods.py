"""Weeks and other periods in the names of files, or in a column: proposed with a question, or refused."""

import pytest
import yaml

from judgebook.extras.new import draft, transcripts
from judgebook.extras.new.asking import terminal
from judgebook.extras.new.shapes import periods
from judgebook.sources import build
from judgebook.study import params

HEAD = "item,model,rater,quality"


def rows(first=0, of=""):
    """Six items, two systems, three people; the scores of an item differ between them. of : cells before these."""
    return [
        f"{of}{first + i},{bot},r{who},{1 + (i + who + (bot == 'Ada')) % 5}"
        for i in range(6)
        for bot in ("Ada", "Bob")
        for who in range(3)
    ]


def weekly(folder, names, anew=True):
    """A file for each name, with items numbered anew in each, or going on."""
    for n, name in enumerate(names):
        (folder / name).write_text("\n".join([HEAD, *rows(0 if anew else 6 * n)]) + "\n", encoding="utf-8")
    return transcripts.of_files("weekly", [folder], folder.parent)


@pytest.mark.parametrize(
    ("names", "pattern"),
    [
        (["ratings_2026-W01.csv", "ratings_2026-W02.csv"], "ratings_{period}.csv"),
        (["r 2026-01-05.csv", "r 2026-01-12.csv"], "r {period}.csv"),
        (["week9.csv", "week10.csv"], "{period}.csv"),
        (["2026Q1_ann.csv", "2026Q2_ann.csv"], "{period}_ann.csv"),
        (["ann_1.csv", "ann_2.csv"], ""),
        (["a_2026-W01.csv", "b_2026-W02.csv"], ""),
        (["a_2026-W01.csv", "b_2026-W01.csv"], ""),
    ],
)
def test_names_of_files_tell_periods(names, pattern):
    assert periods.of_files(names) == (pattern, "")


@pytest.mark.parametrize(("anew", "asked"), [(True, True), (False, False)])
def test_files_of_weeks_are_proposed_as_periods(tmp_path, anew, asked):
    """Items that are numbered anew are told apart by the week, which is asked: another answer takes it back."""
    (tmp_path / "data").mkdir()
    out = weekly(tmp_path / "data", [f"ratings_2026-W0{n}.csv" for n in (1, 2, 3)], anew=anew)
    (question,) = [q for q in out.questions if q.fact == "files"]
    assert "each is of one period, which its name tells" in question.assumed
    assert ("the same id in two files is two items" in question.assumed) == asked
    (tmp_path / "weekly.yaml").write_text(terminal.carried(out), encoding="utf-8")
    marks = build.build(params.load(tmp_path / "weekly.yaml")).frames["annotations"]
    assert sorted(marks["period"].unique()) == ["2026-W01", "2026-W02", "2026-W03"]
    assert marks["dialogue"].nunique() == 3 * 6 * 2
    assert marks["context"].nunique() == 3 * 6
    if asked:
        out = terminal.settle(out, lambda given: None, lambda text: "2")
        (source,) = yaml.safe_load(out.text)["sources"]
        assert source["identify"] == {"dialogue": ["item", "model"]}
        assert source["columns"]["context"] == "item"
        assert source["file"].endswith("ratings_{period}.csv")


def column(folder, name, values):
    """The draft of a file with a column of periods or dates, one for six items."""
    lines = [f"{value},{row}" for n, value in enumerate(values) for row in rows(6 * n)]
    (folder / "my.csv").write_text("\n".join([f"{name},{HEAD}", *lines]) + "\n", encoding="utf-8")
    out = draft.drafted("mine", folder / "my.csv", folder)
    (folder / "mine.yaml").write_text(terminal.carried(out), encoding="utf-8")
    marks = build.build(params.load(folder / "mine.yaml")).frames["annotations"]
    return out, marks["period"]


@pytest.mark.parametrize(
    ("name", "values"), [("week", ["2026-W07", "2026-W08", "2026-W09"]), ("release", ["1", "2", "3"])]
)
def test_a_column_that_is_called_a_period_is_one(tmp_path, name, values):
    out, read = column(tmp_path, name, values)
    assert f"period: {name}  # by its name" in out.text
    assert set(read) == set(values)
    assert not out.questions


def test_periods_of_an_unclear_order_are_asked_for_and_not_read(tmp_path):
    """Nor are they taken for answers that begin with a number."""
    out, read = column(tmp_path, "week", ["10-03-26", "17-03-26", "24-03-26"])
    assert read.isna().all()
    (question,) = out.questions
    assert question.fact == "period"
    assert "with numbers and the year first" in question.alternatives[0].says
    assert "values" not in yaml.safe_load(out.text)["sources"][0]
