"""Writing a first YAML, and saying what it makes of the data."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from judgebook import project
from judgebook.extras.new.asking import terminal
from judgebook.extras.new.asking.doubts import Draft
from judgebook.extras.new.asking.edits import edited
from judgebook.extras.new.asking.facts import lines as facts_of
from judgebook.extras.new.asking.reread import waits
from judgebook.extras.new.transcripts import of_files
from judgebook.sources import build, joining
from judgebook.sources.in_words import counted, describe
from judgebook.study import limits, params, store
from judgebook.study.schema import DataError


def new(name: str, data: list[Path], *, yes: bool = False) -> int:
    """Write `params/<name>.yaml` for data files, with what was inferred and why; returns the exit code.

    yes : accept what is assumed where there are questions. Without it they are asked in a terminal, and carried by the
    YAML elsewhere. The code is 0 for a YAML that runs, 3 where questions are open (one may have to be answered
    before it runs), 2 where it cannot run.

    Raises ParamsError for a name that cannot be a study's, or whose YAML exists.
    """
    if len(name) > limits.NAME:
        raise params.ParamsError(f"a study's name: expected at most {limits.NAME} characters, found {len(name):,}")
    target = project.folder() / "params" / f"{name}.yaml"
    if target.exists():
        raise params.ParamsError(f"params/{name}.yaml exists already: choose another name, or remove it")
    if name in params.names():
        raise params.ParamsError(f"{name} is a study that comes with the project: choose another name")
    code = write(target, data, yes=yes)
    if target.exists():
        print(f"read it through, then\n  {project.command()} check {name}")
    return code


def write(target: Path, data: list[Path], *, yes: bool, facts_only: bool = False) -> int:
    """Write the YAML `target` for data files, and say what it makes of the data; returns the exit code, as `new` does.

    facts_only : of what it makes of the data, only the facts on which all results rest.
    """
    name = target.stem
    try:
        out = of_files(name, data, target.parent)
    except params.ParamsError:
        raise
    except Exception as error:
        problem = joining.unforeseen([path.name for path in data], "files whose structure can be recognised", error)
        reported = error if isinstance(error, DataError) else DataError([problem])
        print(f"new {name}: {reported}", file=sys.stderr)
        return 2
    again = partial(of_files, name, data, target.parent)
    return _written(target, out, again, yes=yes, facts_only=facts_only)


def _written(
    target: Path, out: Draft, again: Callable[[dict[str, str]], Draft], *, yes: bool, facts_only: bool = False
) -> int:
    """Write a draft, say what it makes of the data, and settle its questions; returns the exit code."""
    asked = not yes and sys.stdin.isatty()
    if yes:
        terminal.accept(out)
    _write(target, out)
    print(f"wrote {store.relative(target)}, as far as it could be guessed")
    runs = _described(target, out, facts_only=asked or facts_only)
    if asked and out.questions:  # an answer may be what is missing
        out = terminal.settle(out, again)
        _write(target, out)
        print(f"wrote {store.relative(target)} with these answers")
    if asked and (runs or out.settled) and not waits(out):
        runs = _described(target, out, facts_only=facts_only)
    if out.questions:
        print(f"{counted(len(out.questions), 'open question')} (`open_questions` of the YAML):")
        print(*(f"  {question.fact}: {question.sentence}" for question in out.questions), sep="\n")
    return (3 if out.questions else 0) if runs or _only_waits(target, out) else 2


def _only_waits(target: Path, out: Draft) -> bool:
    """Whether a YAML would run if somebody said which of several judgements counts."""
    if not waits(out):
        return False
    try:
        build.build(params.of_text(edited(out.text, "sources.*.repeats", "last"), target))
    except (DataError, params.ParamsError):
        return False
    return True


def _write(target: Path, out: Draft) -> None:
    store.sweep(target.parent, deep=False)
    with store.atomic(target) as temporary:
        temporary.write_text(terminal.carried(out), encoding="utf-8")
    if project.INSTALLED:  # the first line of the YAML names it, for editors
        shutil.copy(project.ROOT / "params" / "schema.json", target.parent)


def _described(target: Path, out: Draft, *, facts_only: bool = False) -> bool:
    """Print the facts on which all results rest, then what else the data contain. False where the YAML cannot run."""
    try:
        study = params.load(target)
        built = build.build(study)
        facts = facts_of(study, built, out)
        lines = facts if facts_only else [*facts, *(x for x in describe(study, built) if x not in facts)]
    except (DataError, params.ParamsError) as error:
        print(f"  complete it by hand: {error}".replace("\n", "\n    "))
        return False
    for line in lines:
        print(f"  {line}")
    return True
