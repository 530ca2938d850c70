"""Writing a first YAML, and saying what it makes of the data."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from judgebook import project
from judgebook.extras.new.draft import new_yaml
from judgebook.sources import build, joining
from judgebook.sources.in_words import describe
from judgebook.study import limits, params, store
from judgebook.study.schema import DataError


def new(name: str, data: Path) -> int:
    """Write `params/<name>.yaml` for a data file, with what was inferred and why; returns the exit code.

    Raises ParamsError for a name that cannot be a study's, or whose YAML exists.
    """
    if len(name) > limits.NAME:
        raise params.ParamsError(f"a study's name: expected at most {limits.NAME} characters, found {len(name):,}")
    target = project.folder() / "params" / f"{name}.yaml"
    if target.exists():
        raise params.ParamsError(f"params/{name}.yaml exists already: choose another name, or remove it")
    if name in params.names():
        raise params.ParamsError(f"{name} is a study that comes with the project: choose another name")
    try:
        text = new_yaml(name, data)
    except params.ParamsError:
        raise
    except Exception as error:
        problem = joining.unforeseen([data.name], "a file whose structure can be recognised", error)
        reported = error if isinstance(error, DataError) else DataError([problem])
        print(f"new {name}: {reported}", file=sys.stderr)
        return 2
    store.sweep(target.parent, deep=False)
    with store.atomic(target) as temporary:
        temporary.write_text(text, encoding="utf-8")
    if project.INSTALLED:  # the first line of the YAML names it, for editors
        shutil.copy(project.ROOT / "params" / "schema.json", target.parent)
    print(f"wrote {store.relative(target)}, as far as it could be guessed")
    try:
        study = params.load(target)
        lines = describe(study, build.build(study))
    except (DataError, params.ParamsError) as error:
        lines = [f"complete it by hand: {error}".replace("\n", "\n  ")]
    for line in lines:
        print(f"  {line}")
    print(f"read it through, then\n  {project.command()} check {name}")
    return 0
