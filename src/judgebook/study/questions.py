"""What a question declares of itself, and the questions there are.

A folder that answers questions, of this package or of one that adds to it (`project.packages`), has a module
`question.py` with a list `QUESTIONS`, one for each of its notebooks. What the project needs to know of a notebook
follows from there; nobody lists them. The YAML of a study is made of their options (`params.Study`), so a declaration
imports nothing above `study.sections.data`.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import Field

from judgebook import project
from judgebook.study.sections.data import Section

#: where `question.py` may stand, in a package
FOLDERS = ("*", "questions/*")
#: above the tables of questions, in docs/notebooks.md and CONTRIBUTING
NOTEBOOKS = "| notebook | question | analyses followed |\n| --- | --- | --- |\n"
BY_FOLDER = "| folder | questions | notebooks |\n| --- | --- | --- |\n"


class Question(Section):
    """A notebook, with everything its results depend on. It runs again when its source, a module it imports, an
    installed package, or what is declared here as read has changed."""

    notebook: str = Field(pattern=r"^\d\d_[a-z0-9_]+$", description="its file in notebooks/, without suffix")
    asks: str = Field(description="the question, as docs/notebooks.md and CONTRIBUTING list it")
    follows: str = Field("–", description="the analyses of papers that it follows")
    after: str = Field("", description="the notebook behind which it stands in the report; default: by its number")
    options: dict[str, type[Section]] = Field({}, description="sections of the YAML that are its own -> their model")
    check: Callable[[Any], None] | None = Field(
        None, description="raises ValueError where its options do not fit the rest of a study's YAML"
    )
    uses: list[str] = Field([], description="folders of other questions whose code this folder imports")
    needs: list[str] = Field([], description="notebooks whose results it reads (`run.read_results`)")
    reads: list[str] = Field(
        ["annotations"], description="frames of the study; with a slash: files of the project, data/published/x_*.csv"
    )
    extra: list[str] = Field([], description="keys of the YAML's `extra` that it reads (`run.extra`)")
    own: bool = Field(False, description="it is somebody's own, and declares itself (`study/own_notebook.py`)")
    private: list[Literal["texts"]] = Field(
        [],
        description="what it computes with that a bundle may lack: what texts say, not only how long they are",
    )
    sections: list[str] = Field(
        [], description="other parts of the YAML it uses, in addition to those any notebook may use (`dag.COMMON`)"
    )
    knobs: dict[Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")], str] = Field(
        {}, description="names in its parameters cell -> the YAML value each one is given, e.g. seeds.bootstrap"
    )
    requires: list[str] = Field(
        [], description="features of the data (`annotations.features`) without which it is skipped"
    )
    weighted: str = Field("", description="what on its page uses sampling weights, where they differ")
    unweighted: str = Field("", description="what does not")
    across: bool = Field(False, description="it reads results of other studies, and runs after them")
    results_of: str = Field(
        "",
        description="`module:function` that lists (study, notebook) whose results it reads, of other studies",
    )
    only: str = Field("", description="the one study across others whose report has it; by default each of them")
    headline: str | None = Field(
        None, description="the figure the gallery and papers show of it; by default the first one"
    )
    seconds: Annotated[list[float], Field(min_length=3, max_length=3)] = Field(
        [3, 0, 0],
        description="CPU seconds: a constant, for 10⁵ judgements, for 1,000 pairs of systems × labels",
    )
    most_labels: int | None = Field(None, description="how many labels it studies at most, as `seconds` counts them")
    answers: list[Literal["order", "labels", "judges", "sample", "cost", "next", "design"]] = Field(
        [], description="the questions of the first page to which its results contribute"
    )
    early: bool = Field(
        False,
        description="the first page is written once all that are so declared are done, and again at the end",
    )
    first_page: str = Field(
        "", description="a question of its own on the first page, which `first_page.answer` of its folder answers"
    )

    @property
    def own_sections(self) -> list[str]:
        """Parts of the YAML it uses, its own first."""
        return [*self.options, *self.sections]

    @property
    def of_study(self) -> bool:
        """Whether it shows results of the study, not only files of the project."""
        return bool(self.needs) or any("/" not in read for read in self.reads)


@cache
def folders() -> dict[str, list[Question]]:
    """Folder, as code names it, -> the questions it declares, in the order of the report."""
    by_folder = {}
    for name, package in project.packages().items():
        for path in (p for folder in FOLDERS for p in package.glob(f"{folder}/question.py")):
            folder = ".".join((name, *path.parent.relative_to(package).parts))
            by_folder[folder] = sorted(importlib.import_module(f"{folder}.question").QUESTIONS, key=place)
    return dict(sorted(by_folder.items(), key=lambda item: [place(question) for question in item[1]]))


@cache
def declared() -> dict[str, Question]:
    """Every question by its notebook, in the order of the report.

    Raises ValueError where two declare the same notebook or section of the YAML.
    """
    every = sorted((question for many in folders().values() for question in many), key=place)
    for what in ([q.notebook for q in every], [section for q in every for section in q.options]):
        if twice := sorted({name for name in what if what.count(name) > 1}):
            raise ValueError(f"questions: {', '.join(twice)} is declared twice")
    return {q.notebook: q for q in every}


def place(question: Question) -> tuple[str, str]:
    """Where it stands in the report."""
    return question.after or question.notebook, question.notebook


def home(notebook: str) -> str:
    """The folder that declares a notebook, as code names it."""
    return next(folder for folder, many in folders().items() if any(q.notebook == notebook for q in many))


def options() -> dict[str, type[Section]]:
    """Sections of the YAML that questions declare -> their model, in the order of the report."""
    return {name: model for question in declared().values() for name, model in question.options.items()}


def study_type() -> str:
    """`asked.pyi`: `Study` as type checkers see it, with the sections that questions declare."""
    models, by_module = options(), dict[str, list[str]]()
    for model in models.values():
        by_module.setdefault(model.__module__, []).append(model.__name__)
    lines = [
        '"""Written by `run_all.py schema` from what questions declare: `params.Study`, for type checkers."""\n',
        *(f"from {name} import {', '.join(sorted(many))}" for name, many in sorted(by_module.items())),
        "from judgebook.study.any_study import AnyStudy\n",
        "class Study(AnyStudy):",
        *(f"    {name}: {model.__name__}" for name, model in models.items()),
    ]
    return "\n".join(lines) + "\n"


def answering(*keys: str) -> tuple[str, ...]:
    """The notebooks that contribute to these answers of the first page."""
    return tuple(name for name, question in declared().items() if {*keys} & {*question.answers})


def on_first_page() -> dict[str, str]:
    """Notebooks that answer a question of their own on the first page -> the module that does."""
    every = ((folder, question) for folder, many in folders().items() for question in many)
    return {question.notebook: f"{folder}.first_page" for folder, question in every if question.first_page}


def listed(text: str) -> str:
    """A page with the rows of its tables of questions as they are declared."""
    notebooks = [(q.notebook.replace("_", " ", 1), q.asks, q.follows) for q in declared().values()]
    by_folder = [
        (f"`{folder.rpartition('.')[2]}`", " ".join(q.asks for q in many), ", ".join(q.notebook[:2] for q in many))
        for folder, many in folders().items()
    ]
    for header, rows in ((NOTEBOOKS, notebooks), (BY_FOLDER, by_folder)):
        before, table, after = text.partition(header)
        written = "".join(f"| {' | '.join(row)} |\n" for row in rows) if table else ""
        text = before + table + written + re.sub(r"^(\| .*\n)*", "", after)
    return text
