"""Writing a project of one's own: whole, or not at all."""

from __future__ import annotations

import random
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

import judgebook
from judgebook import project
from judgebook.plugins import UsageError
from judgebook.study import store

TEMPLATES = Path(__file__).with_name("project")
#: file of a project -> its template
FILES = {
    "README.md": "README.md.j2",
    "requirements.txt": "requirements.txt.j2",
    ".gitignore": "gitignore.j2",
    ".github/workflows/judgebook.yml": "workflow.yml.j2",
    "params/example.yaml": "example.yaml.j2",
    "notebooks/20_good_scores.ipynb": "20_good_scores.ipynb.j2",
}
#: simulated annotators, and how much higher than the others each scores
_PEOPLE = {"ann": 0.3, "ben": -0.2, "eva": 0.0, "joe": 0.4, "kim": -0.3, "leo": -0.1, "mia": 0.1, "zoe": -0.2}


def init(folder: Path) -> int:
    """Make a project in a folder that is new or empty; returns the exit code.

    Raises UsageError where there is something already, and DeniedError where the folder cannot be written.
    """
    _refuse(folder)
    try:
        with store.scratch(folder.absolute().parent) as made:
            _write(made / "project", folder.absolute().name)
            if folder.is_dir():  # empty, and it may be the one that somebody is in
                for path in sorted((made / "project").iterdir()):
                    path.rename(folder / path.name)
            else:
                (made / "project").rename(folder)
    except OSError as error:
        if remedy := store.remedy(error, folder):
            raise store.DeniedError(remedy) from error
        raise
    call = project.command() if project.INSTALLED else "judgebook"
    print(f"made {folder}; next\n  cd {shlex.quote(str(folder))}\n  {call} check example\n  {call} --study example")
    if not project.INSTALLED:
        print("The command `judgebook` must be installed: `python -m pip install .` in the checkout, without -e.")
    return 0


def _refuse(folder: Path) -> None:
    """Raise UsageError where a project cannot be made."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"init: {folder} is a file: choose another name")
    there = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    if there:
        raise UsageError(
            f"init: {folder} is not empty (it has {', '.join(there[:3])}{', …' if there[3:] else ''}): choose a new "
            "folder. To add to a project, write a YAML with `new NAME --data FILE` in it, or a notebook "
            "(docs/own_project.md)"
        )


def _write(target: Path, name: str) -> None:
    title = re.sub(r"[\W_]+", " ", name).strip().capitalize() or "Project"
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False
    )
    texts = {file: environment.get_template(template) for file, template in FILES.items()}
    written = {file: text.render(title=title, version=judgebook.__version__) for file, text in texts.items()}
    for file, text in {**written, "data/example.csv": "\n".join([*_rows(), ""])}.items():
        path = target / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    shutil.copyfile(project.ROOT / "params" / "schema.json", target / "params" / "schema.json")


def _rows() -> Iterator[str]:
    """Lines of a CSV file: simulated scores of 40 dialogues, each by three of eight people."""
    draw = random.Random(7)
    yield "dialogue,system,annotator,quality,fluency"
    for number in range(1, 41):
        system, mean = ("old", 3.0) if number % 2 else ("new", 3.6)
        good = draw.gauss(mean, 0.7)
        for who in draw.sample(sorted(_PEOPLE), 3):
            means = (good + _PEOPLE[who], good + _PEOPLE[who] + 0.5)
            scores = [min(5, max(1, round(draw.gauss(m, 0.6)))) for m in means]
            yield f"d{number:02},{system},{who},{scores[0]},{scores[1]}"
