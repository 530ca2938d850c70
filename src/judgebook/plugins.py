"""What a command of the command line is, and the extras: parts of the project that can be removed.

An extra is a folder of `judgebook/extras/`, or of a package that adds to this one (`project.packages`), whose
`extra.py` has a declaration, `EXTRA`. Declarations are imported with the command line, and import only this module and
types of options at their top; the rest is imported when it is done.
"""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from judgebook import project
from judgebook.errors import JudgebookError

if TYPE_CHECKING:
    from judgebook.pipeline.nodes import Node, StudyNodes
    from judgebook.pipeline.pages import Pages
    from judgebook.study.params import Study

#: the package of extras; pyproject.toml lists them as entry points of that name
GROUP = "judgebook.extras"
FOLDER = project.PACKAGE / "extras"


class UsageError(JudgebookError, ValueError):
    """The call cannot be carried out; the message says why and what to do."""


@dataclass(frozen=True)
class Command:
    """A command of the command line.

    title : what it does, in a line. about : what its `--help` says first. place : where it stands in the list of
    commands. options : adds its arguments to a parser. run : carries it out and returns the exit code. examples : lines
    of the general help. contributors : it works in a checkout only, and its examples come last.
    """

    name: str
    title: str
    about: str
    place: int
    options: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]
    examples: str = ""
    contributors: bool = False

    def __call__(self, args: argparse.Namespace) -> int:
        if self.contributors and project.INSTALLED:
            raise UsageError(f"{self.name} is for contributors: it works in a checkout of the project only")
        return self.run(args)


@dataclass(frozen=True)
class Page:
    """A page of the reports of studies. name : of its file and node. title : in the navigation. applies : whether a
    study has it. node : makes its node, of the pages of a study and the notebooks that come before. problem : what is
    wrong with the parts of the YAML that only the page reads; empty where nothing is."""

    name: str
    title: str
    applies: Callable[[Study], bool]
    node: Callable[[Pages, tuple[str, ...]], Node]
    problem: Callable[[Study], str] = lambda study: ""


@dataclass(frozen=True)
class Workers:
    """Where notebooks can run other than in processes of this machine: what `--executor` may name.

    forms : what it looks like, for help and messages. accepts : whether a text is one of these. connect : makes the
    executor, of the text and of what makes the executor for all that is not a notebook; its attribute `places` is how
    many notebooks it takes at a time. Raises a JudgebookError that says what is wrong; so do its futures. examples :
    lines of the general help.
    """

    forms: str
    accepts: Callable[[str], bool]
    connect: Callable[[str, Callable[[], Executor]], Executor]
    examples: str = ""


@dataclass(frozen=True)
class Extra:
    """What an extra adds to the project. raw : nodes that make raw files of a study, before its data are read."""

    commands: tuple[Command, ...] = ()
    pages: tuple[Page, ...] = ()
    workers: Workers | None = None
    raw: Callable[[StudyNodes], list[Node]] = lambda of: []


@cache
def here() -> dict[str, Extra]:
    """Name -> extra, of the folders of `judgebook/extras/` and of the packages that add to this one."""
    folders = {GROUP: FOLDER} | {name: path for name, path in project.packages().items() if path != project.PACKAGE}
    found = {path.parent.name: name for name, folder in folders.items() for path in folder.glob("*/extra.py")}
    return {name: import_module(f"{found[name]}.{name}.extra").EXTRA for name in sorted(found)}


def pages(study: Study) -> list[Page]:
    """Pages that extras add to the report of a study."""
    return [page for extra in here().values() for page in extra.pages if page.applies(study)]


def checked(study: Study) -> None:
    """Raises ParamsError for what the pages of extras could not be made of."""
    from judgebook.study.yaml_file import ParamsError

    if problems := [problem for page in pages(study) if (problem := page.problem(study))]:
        raise ParamsError("\n".join(f"{study.key}: {problem}" for problem in problems))


def workers() -> list[Workers]:
    """Where notebooks can run by what extras add."""
    return [extra.workers for extra in here().values() if extra.workers is not None]


def removed() -> list[str]:
    """Names of the project's extras whose folder is not there."""
    path = project.ROOT / "pyproject.toml"
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    registered = tomllib.loads(text).get("project", {}).get("entry-points", {}).get(GROUP, {})
    return sorted({*registered} - {*here()})
