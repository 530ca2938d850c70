"""Sweeps: which values they have, and that each point has its own output."""

import csv
import shutil

import pandas as pd
import pytest
from fixtures.project_copy import Project, result

from judgebook.pipeline import run, sweep
from judgebook.study import params
from judgebook.study.params import ParamsError


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1", ["1"]),
        ("[1,2],[3]", ["[1,2]", "[3]"]),
        ("'a,b',c", ["'a,b'", "c"]),
        ("One, two", ["One, two"]),
        ("it's,that", ["it's", "that"]),
        ("x(1),y", ["x(1)", "y"]),
        ("", [""]),
    ],
)
def test_a_comma_without_a_blank_separates_values(text, found):
    assert sweep.values(text) == found


def test_points_are_all_combinations():
    items = ["a=1,2", "title=Mine", "b=x,y"]
    grid = sweep.points(items)
    assert grid == [(("a", a), ("b", b)) for a in "12" for b in "xy"]
    assert sweep.at(items, grid[1]) == ["title=Mine", "a=1", "b=y"]
    assert sweep.points(["a=1", "b=[1,2]"]) == []


@pytest.mark.parametrize("items", [["a=1,2", "a=3,4"], ["a=1,,2"], ["a=" + ",".join(map(str, range(501)))]])
def test_slips_are_refused(items):
    with pytest.raises(ParamsError, match="--set"):
        sweep.points(items)


def test_names_of_folders_are_safe_and_differ():
    texts = ["a=1", "a=1.", "a=x", "a=X", "a=é", "a=e\u0301", "a=../x", "a=_/x", ".."]
    texts += ["a=" + "9" * 300, "a=" + "9" * 301]
    names = [sweep._name(t) for t in texts]
    assert names[0] == "a=1"
    # as macOS and Windows see them: no capitals, one form of é, no dot at the end
    assert len({n.lower() for n in names}) == len(texts)
    assert all(n.isascii() and "/" not in n and len(n) < 120 and n.strip(".") == n for n in names)


def test_a_dry_run_leaves_the_table_of_an_earlier_sweep(tmp_path, monkeypatch):
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path))
    page = sweep.folder(["seeds.bootstrap"]) / "answers.csv"
    page.parent.mkdir(parents=True)
    page.write_text("earlier")
    assert sweep.run(["seeds.bootstrap=1,2"], ["demo"], lambda values: 0, dry=True) == 0
    assert {p: p.read_text() for p in tmp_path.rglob("*") if p.is_file()} == {page: "earlier"}


def test_other_studies_and_outdated_notebooks_are_not_in_the_table(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path))
    grid = sweep.points(["seeds.bootstrap=1,2"])
    for value in (1, 2):
        home = tmp_path / "sweeps" / "seeds.bootstrap" / f"seeds.bootstrap={value}" / "data" / "processed"
        for study in ("demo", "other"):
            (home / study / "results").mkdir(parents=True)
            shutil.copy(params.ROOT / "params" / "demo.yaml", home / study / "params.yaml")
            for name in ("01_new", "02_old"):
                frame = pd.DataFrame({"study": [study], "notebook": [name], "estimate": [float(value)]})
                frame.to_parquet(home / study / "results" / f"{name}.parquet")
    monkeypatch.setattr(run, "outdated", lambda study: {"02_old": "changed: seeds (YAML)"})
    table = sweep._summary(sweep.folder(["seeds.bootstrap"]), grid, ["demo"])[-1]
    rows = [(r["seeds.bootstrap"], r["study"], r["notebook"]) for r in csv.DictReader(table.read_text().splitlines())]
    assert rows == [("1", "demo", "01_new"), ("2", "demo", "01_new")]
    assert capsys.readouterr().out.count("02_old") == 2
    monkeypatch.setattr(run, "outdated", lambda study: dict.fromkeys(["01_new", "02_old"], "changed: seeds (YAML)"))
    assert sweep._summary(table.parent, grid, ["demo"]) == []
    assert not table.exists()  # it was that of the earlier sweep


@pytest.mark.evidence
def test_each_point_has_its_own_output_and_all_are_in_one_table(tmp_path):
    project = Project(tmp_path / "project")
    project.notebook("01_seeded", [result("a", "seed")], knobs="seed: int = 0\n")
    project.dag("01_seeded: {knobs: {seed: seeds.bootstrap}}\n")
    plain = project.run("--study", "tiny", "--jobs", "1")
    assert plain.returncode == 0, plain.stderr
    before = {p: p.read_bytes() for p in project.out("reports").rglob("*") if p.is_file()}
    done = project.run("--study", "tiny", "--jobs", "1", "--set", "seeds.bootstrap=5,7", "title=Swept")
    assert done.returncode == 0, done.stderr
    home = project.out("sweeps", "seeds.bootstrap")
    rows = list(csv.DictReader((home / "results.csv").read_text().splitlines()))
    assert [(r["seeds.bootstrap"], float(r["estimate"])) for r in rows] == [("5", 5.0), ("7", 7.0)]
    said = list(csv.DictReader((home / "answers.csv").read_text().splitlines()))
    assert {r["seeds.bootstrap"] for r in said} == {"5", "7"}
    assert all((home / r["report"]).is_file() for r in said)
    assert {p: p.read_bytes() for p in project.out("reports").rglob("*") if p.is_file()} == before
