"""A question that is new to the project is a folder, a notebook and tests: no file that is there changes."""

import hashlib
import json
import re
import shutil

import pytest
from fixtures.project_copy import ROOT, Project

from judgebook.pipeline.commands import LISTING

SECONDS = 40
pytestmark = pytest.mark.verify
QUESTION = '''\
"""What this folder asks, and what a study's YAML may say of it."""

from __future__ import annotations

from pydantic import Field

from judgebook.study.questions import Question
from judgebook.study.sections.data import Section


class Extremes(Section):
    """Notebook 79: who gives the lowest and the highest scores?"""

    least: int = Field(2, ge=1, description="fewest judgements of an annotator who is counted")


QUESTIONS = [
    Question(
        notebook="79_extremes",
        asks="Who gives extreme scores?",
        options={"extremes": Extremes},
        knobs={"least": "extremes.least"},
        headline="shares",
        seconds=[1.0, 0.1, 0.0],
        first_page="Does anybody give extreme scores?",
    )
]
'''
STATISTICS = """\
end_share:
  title: Share of an annotator's scores at an end of the scale
  keys: [person]
  range: [0, 1]
keys:
  person: Pseudonym of the annotator.
"""
ANALYSIS = '''\
"""Shares of scores at the ends of a scale."""

from judgebook.study.results import collect


def analyse(annotations, labels, least):
    ends = {label.id: label.scale for label in labels}
    rows = []
    for (label, person), scores in annotations.groupby(["label", "annotator"])["score"]:
        if len(scores) >= least:
            share = float(scores.isin(ends[label]).mean())
            row = {"statistic": "end_share", "label": label, "person": person, "estimate": share, "n": len(scores)}
            rows.append(row)
    return collect(rows)
'''
FIRST_PAGE = '''\
"""The answer of the first page."""


def answer(study, results, names):
    return f"**Yes:** up to {results['end_share']['estimate'].max():.0%} of somebody's scores.", None
'''
CELLS = [
    "from judgebook.questions.extremes import analysis\n"
    "results = analysis.analyse(run.read('annotations'), run.study.label_list(), least)",
    "run.save_results(results)",
]
FOLDER = "src/judgebook/questions/extremes"
#: what `make schema` writes
GUIDES = (
    "params/schema.json",
    "docs/yaml.md",
    "docs/results.md",
    "docs/requirements.md",
    "src/judgebook/study/asked.pyi",
    *LISTING,
)
MADE = ("data", "reports", "figures", "tables")


def files(project):
    paths = [p.relative_to(project.folder) for p in project.folder.rglob("*") if p.is_file()]
    kept = [p for p in paths if p.parts[0] not in MADE and p.suffix != ".pyc"]
    return {p.as_posix(): hashlib.sha256((project.folder / p).read_bytes()).hexdigest() for p in kept}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """The project before and after a question was added: `before`, `after`, `first` run."""
    project = Project(tmp_path_factory.mktemp("new_question"))
    shutil.copytree(ROOT / "docs", project.folder / "docs")
    for page in LISTING:
        shutil.copy(ROOT / page, project.folder)
    project.before = files(project)
    folder = project.folder / FOLDER
    folder.mkdir()
    texts = {"__init__.py": "", "question.py": QUESTION, "analysis.py": ANALYSIS, "first_page.py": FIRST_PAGE}
    for name, text in {**texts, "statistics.yaml": STATISTICS}.items():
        (folder / name).write_text(text)
    project.notebook("79_extremes", CELLS, knobs="least: int = 2  # fewest judgements\n", title="Who is extreme?")
    project.first = project.run("--study", "tiny")
    project.after = files(project)
    return project


def test_it_runs_and_only_its_folder_and_notebook_are_new(project):
    assert project.first.returncode == 0, project.first.stdout + project.first.stderr
    new = {name for name in project.after if name not in project.before}
    assert {name for name in new if not name.startswith(FOLDER)} == {"notebooks/79_extremes.ipynb"}
    assert {name: project.after[name] for name in project.before} == project.before


def test_its_results_page_and_answer_are_there(project):
    csv = project.out("data", "processed", "tiny", "results", "79_extremes.csv").read_text()
    assert csv.count("end_share") == 2
    reports = project.out("reports", "tiny")
    assert "Who is extreme?" in (reports / "79_extremes.html").read_text()
    index = (reports / "index.html").read_text()
    answers = {a["key"]: a for a in json.loads((reports / "answers.json").read_text())["answers"]}
    assert (answers["79_extremes"]["verdict"], answers["79_extremes"]["sentence"][:4]) == ("stated", "Yes:")
    assert "Does anybody give extreme scores?" in index
    assert 'href="79_extremes.html"' in index


def test_another_value_or_default_of_its_option_runs_it_again(project, tmp_path):
    copy = project.copy(tmp_path / "copy")
    assert copy.states("--set", "extremes.least=31")["79_extremes"] == (
        "done",
        "changed: extremes (YAML), extremes.least (YAML)",
    )
    copy.edit(f"{FOLDER}/question.py", "Field(2,", "Field(3,")
    state, reason = copy.states()["79_extremes"]
    assert state == "done"
    assert "judgebook.questions.extremes.question" in reason.split(": ")[1].split(", ")


def test_guides_schema_and_tables_name_it(project, tmp_path):
    copy = project.copy(tmp_path / "copy")
    assert copy.run("schema").returncode == 0
    guides = {name: copy.out(name).read_text() for name in GUIDES}
    assert [name for name, text in guides.items() if not re.search("extremes|extreme scores|end_share", text)] == []
    assert "extremes" in json.loads(guides["params/schema.json"])["properties"]
    others = {name: digest for name, digest in files(copy).items() if name not in GUIDES}
    assert others == {name: digest for name, digest in project.after.items() if name not in GUIDES}
