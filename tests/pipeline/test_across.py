"""A study across studies: it has no data, runs after the others, and runs again when their results change."""

import pytest
from fixtures import yaml_studies as studies
from fixtures.project_copy import Project, result

from judgebook.study import store
from judgebook.study.results import collect, fold

MAPPING = """\
paper: z
entries:
  - {cells: T/p/r/c, study: tiny, notebook: 01_counts, where: {statistic: count}, keys: {what: a}}
  - {cells: T/p/r/d, study: absent, notebook: 01_counts, where: {statistic: count}, keys: {what: a}}
"""
READS = """\
from compendium.published import mapping
found = [run.results_elsewhere(*pair) for pair in mapping.sources()]
there = [f for f in found if f is not None]
"""
ABSENT = "title: Not here\nsources: [{adapter: behaviors, file: nowhere.json}]\nlabel_set: abc_eval\n"


def estimate(project):
    text = project.out("data", "processed", "board", "results", "90_board.csv").read_text()
    header, row = (line.split(",") for line in text.splitlines())
    return float(row[header.index("estimate")])


@pytest.mark.evidence
def test_it_comes_last_has_notebooks_of_its_own_and_runs_again_only_when_results_change(tmp_path):
    project = Project(tmp_path / "across")
    project.notebook("01_counts", [result("a", "3.0")])
    project.notebook("90_board", [READS, result("b", "there[0]['count']['estimate'][0] + len(found)")])
    project.dag('01_counts: {}\n90_board: {across: true, reads: ["data/published/*"]}\n')
    project.study("board", "title: Board\nacross: true\n")
    project.study("absent", ABSENT)
    (project.folder / "data" / "published").mkdir(parents=True)
    project.out("data", "published", "z_mapping.yaml").write_text(MAPPING)
    first = project.run("--study", "all", "--jobs", "2")
    assert first.returncode == 0, first.stdout + first.stderr
    lines = [line.split()[0] for line in first.stdout.splitlines() if line.startswith("  ") and "…" not in line]
    assert lines == ["tiny/annotations", "tiny/01_counts", "board/90_board"]
    assert "absent: skipped, its data are missing: nowhere.json" in first.stdout
    assert estimate(project) == 5
    assert "90_board" not in project.manifest()["nodes"]
    project.edit("notebooks/01_counts.ipynb", "3.0", "4.0")
    both = project.run("--study", "all")
    assert "changed: results of tiny/01_counts" in both.stdout
    assert estimate(project) == 6


def test_which_results_a_notebook_reads(tmp_path, monkeypatch):
    """Those of other studies where they are stored and not simulated, and only in a study without data of its own."""
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path / "out"))
    own, board = studies.write(tmp_path, studies.LONG, name="own"), tmp_path / "board.yaml"
    board.write_text("title: Board\nacross: true\n")
    notebook = store.start(str(board), "90_board", None)
    assert notebook.results_elsewhere("own", "01_counts") is None
    rows = fold(collect([{"statistic": "count", "what": "a", "estimate": 3.0}]), study="own", notebook="01_counts")
    home = store.processed("own")
    store.write_frame(rows, home / "results" / "01_counts.parquet")
    (home / "params.yaml").write_text(own.read_text())
    assert notebook.results_elsewhere("own", "01_counts")["count"]["estimate"].tolist() == [3.0]
    (home / "params.yaml").write_text("simulated: true\n" + own.read_text())
    with pytest.raises(ValueError, match="results of 'own' are simulated"):
        notebook.results_elsewhere("own", "01_counts")
    with pytest.raises(ValueError, match="'own' has data of its own: it must not read results of 'board'"):
        store.start(str(own), "01_counts", None).results_elsewhere("board", "90_board")
