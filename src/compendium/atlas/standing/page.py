"""The page, and the figures beside it."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from compendium.atlas import declared, facts, values
from compendium.atlas.standing import NAME, TITLE, strips, views, words
from judgebook.pipeline import page_jobs
from judgebook.pipeline.composed import PageRun, Sections, composed
from judgebook.study import results
from judgebook.study.results import Results
from judgebook.study.stored import open_study
from judgebook.summary import evidence


def written(target: Path, shared: page_jobs.Shared, name: str, stored: dict[str, Path]) -> None:
    """Write the page with its figures and table. stored : notebook -> its results."""
    study = open_study(name).params
    found = of_study(name, stored)
    titles = strips.atlas("studies").set_index("study")["title"].to_dict()
    shown: Sections = [
        ("What we see", [views.answer(found, len(study.label_list()))]),
        ("Beside public studies", views.figures(found, titles)),
        ("All numbers", [views.table(found)]),
    ]
    run = PageRun(study, NAME, NAME, folder=target.with_suffix(""))
    question = f"# {TITLE}\n\nHow do these results compare with those of public studies?"
    page_jobs.write(target, composed(run, question, shown, shared.page(NAME), TITLE))


def of_study(name: str, stored: dict[str, Path]) -> list[strips.Strip]:
    """The strips of a study that was run. stored : notebook -> its results."""
    read = evidence.read(name, {}, computed=False)
    kinds = words.kinds(read.study)
    by_notebook = defaultdict(Results, {name: results.read(path) for name, path in stored.items()})
    rows = values.rows(by_notebook, evidence.parts(read))
    about = {label: kind for (_, label), kind in kinds.items()}
    about = {label.id: about.get(label.id, "") for label in read.study.label_list()}
    labels = facts.label_rows(read, declared.About(genre="", judges="", labels=about))
    keys = zip(labels["method"], labels["label"], strict=True)
    labels = labels.assign(kind=[kinds.get(key) for key in keys])
    own = (labels, rows.assign(study=name))
    return strips.strips(own, (strips.atlas("labels"), strips.atlas("values")), read.study.label_list())
