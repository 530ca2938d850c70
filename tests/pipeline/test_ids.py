"""Nobody's id leaves the private list: ids are planted wherever one can be, and sought in all that a run makes."""

import json
import re
import shutil

import pandas as pd
import pytest
from fixtures.project_copy import ROOT, Project

from judgebook.sources.ids import naming

pytestmark = pytest.mark.evidence
#: worker and task ids like those of a platform, an address and a name
WORKERS = ["A3KQ7ZP1XVWTRB", "A1MN5YC8DGHJKL", "A2BD4FX6QSUWEV", "zoe.quill@mail.example"]
LEFT_OUT = "A9ZZTOPDROPPED1"
CHAT = ["I am a3kq7zp1xvwtrb", "my id: A3KQ7 ZP1X VWTRB!", "it is A3KQ7ZP1XVWTRB's"]
YAML = """\
title: Planted
sources:
  - adapter: table
    file: rows.csv
    columns: {annotator: WorkerId, work_unit: AssignmentId, system: bot, session: sitting, dialogue: chat, turn: turn,
              user_text: said, system_text: answered, reason: why, interactor: who}
    identify: {context: [WorkerId, prompt]}
    drop: {WorkerId: [A9ZZTOPDROPPED1]}
  - adapter: records
    file: "more_{annotator}.csv"
    scores: "{label}"
    columns: {system: bot, dialogue: chat, session: sitting, turn: turn}
    constants: {corpus: more}
groups:
  some: {annotators: [A3KQ7ZP1XVWTRB, zoe.quill@mail.example]}
  rest: {annotators: [A1MN5YC8DGHJKL, A2BD4FX6QSUWEV]}
labels:
  fluency: {scale: [1, 5], direction: 1}
scope: {exclude_sessions: {turn_rating: [sitting_A3KQ7ZP1XVWTRB_0]}}
method: turn_rating
"""
COLUMNS = ["WorkerId", "AssignmentId", "bot", "sitting", "chat", "turn", "said", "answered", "why", "who", "prompt"]


def rows():
    for k, who in enumerate([*WORKERS, LEFT_OUT]):
        for i in range(4):
            task = f"3TASK{k}{i}QWERTYUIOPASDF"
            said = CHAT[i % 3]
            yield [who, task, f"bot{i % 2}", f"sitting_{who}_{i}", f"{task}.{who.lower()}", 0, said, f"Hello {who}",
                   f"because {who} said so", WORKERS[0], "a long prompt " * 6 + str(i), 1 + (i + k) % 5]  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A study with ids planted, its run, and all notebooks' kinds of output: frames, results, tables, pages."""
    project = Project(tmp_path_factory.mktemp("ids"), paper=True)
    folder = project.folder / "params"
    pd.DataFrame(list(rows()), columns=[*COLUMNS, "fluency"]).to_csv(folder / "rows.csv", index=False)
    for k, who in enumerate(WORKERS):
        more = [[f"bot{i % 2}", f"m{i}-{WORKERS[0]}", f"{WORKERS[1]}-{i}", 0, 1 + (i + k) % 5] for i in range(4)]
        frame = pd.DataFrame(more, columns=["bot", "chat", "sitting", "turn", "fluency"])
        frame.to_csv(folder / f"more_{who}.csv", index=False)
    project.study("planted", YAML)
    for name in ("00_build_annotations", "03_iaa"):
        shutil.copy(ROOT / "notebooks" / f"{name}.ipynb", project.notebooks)
    shutil.copytree(ROOT / "data" / "published", project.folder / "data" / "published")
    before = {p for p in project.folder.rglob("*") if p.is_file()}
    return project, before, project.run("--study", "planted", "--set", "bootstrap.n_resamples=100")


def planted():
    ids = [*WORKERS, LEFT_OUT, *(r[1] for r in rows())]
    return {re.sub(r"[\W_]", "", i).lower() for i in ids}


def found_in(text):
    squeezed = re.sub(r"[\W_]", "", text).lower()
    return {i for i in planted() if i in squeezed}


def contents(path):
    if path.suffix != ".parquet":
        return path.read_text(encoding="utf-8", errors="replace")
    frame = pd.read_parquet(path)
    return "\n".join(f"{c}: {v}" for c in frame for v in frame[c].astype(str).unique())


def test_no_file_but_the_private_list_holds_an_id(made):
    project, before, ran = made
    assert ran.returncode == 0, ran.stdout + ran.stderr
    home = project.out("data", "processed", "planted")
    private = home / naming.OWN_IDS
    files = [p for p in project.folder.rglob("*") if p.is_file() and p not in before and p != private]
    # the first two list files read
    files = [p for p in files if p.name != ".cache.json" and "__pycache__" not in p.parts]
    assert {"annotations.parquet", "params.yaml", "03_iaa.html", "sections.json"} <= {p.name for p in files}
    assert {p.relative_to(project.folder).as_posix(): found for p in files if (found := found_in(contents(p)))} == {}
    assert [found_in(p.name) for p in files if found_in(p.name)] == []
    assert found_in(ran.stdout + ran.stderr) == set()


def test_the_private_list_is_private_and_whole(made):
    project, _, _ = made
    private = project.out("data", "processed", "planted", naming.OWN_IDS)
    assert private.stat().st_mode & 0o777 == 0o600
    listed = pd.read_csv(private)
    assert listed.loc[listed["kind"] == "person", "own_id"].tolist() == WORKERS
    assert listed.loc[listed["kind"] == "person", "pseudonym"].tolist() == [f"A{i:04d}" for i in range(1, 5)]


def test_what_ids_told_is_still_told(made):
    """Which session is whose, who belongs to a group and how many were left out can still be read."""
    project, _, _ = made
    home = project.out("data", "processed", "planted")
    marks = pd.read_parquet(home / "annotations.parquet")
    main = marks[marks["corpus"] == "main"]
    assert main["session"].iloc[:4].tolist() == [f"sitting_A0001_{i}" for i in range(4)]
    assert main["context"].iloc[:5].tolist() == ["C00001", "C00002", "C00003", "C00004", "C00005"]
    assert main["dialogue"].iloc[0] == "U00001.A0001"
    sections = json.loads((home / "sections.json").read_text())
    assert sections["groups"]["some"]["annotators"] == ["A0001", "A0004"]
    assert sections["scope"]["exclude_sessions"] == {"turn_rating": ["sitting_A0001_0"]}
    assert sections["sources"][0]["drop"] == {"WorkerId": "1 not named here"}
    counts = pd.read_parquet(home / "counts.parquet")
    assert "WorkerId is one of those left out (`drop`)" in set(counts.loc[counts["action"] == "dropped", "reason"])
    assert counts.loc[counts["what"] == "texts", "n"].sum() == 3 * 16
