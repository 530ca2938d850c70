"""Sheets of a workbook that are read one after the other, where the YAML gives a pattern for their names."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from judgebook.sources.formats import Rows, filled_sheets
from judgebook.sources.places import matcher, wild
from judgebook.study.schema import DataError, Problem
from judgebook.study.source_shared import FileOptions


@dataclass(frozen=True)
class Sheet:
    """One sheet, or a file without any.

    options : those that read it. rows : what it holds, where it has been read already. where : what its places begin
    with. named : what the {names} stand for in its name.
    """

    options: FileOptions
    rows: Rows | None = None
    where: str = ""
    named: dict[str, str] = field(default_factory=dict)


def sheets(options: FileOptions, path: Path, name: str) -> list[Sheet]:
    """The sheets that `sheet` means, that with most rows first; one without a name where it is no pattern.

    Raises DataError where no sheet fits, with those that there are.
    """
    if not options.sheet or not wild(options.sheet):
        return [Sheet(options)]
    match, every = matcher(options.sheet), filled_sheets(path, name)
    fitting = {sheet: named for sheet in every if (named := match(sheet)) is not None}
    if not fitting:
        shown = ", ".join(every) or "no sheet with data"
        hint = "correct `sheet`, or the file"
        raise DataError([Problem(name, "", "sheet", f"one like {options.sheet!r}", shown, hint)])
    read = {sheet: options.model_copy(update={"sheet": sheet}) for sheet in fitting}
    return [Sheet(read[sheet], every[sheet], f"sheet {sheet}, ", named) for sheet, named in fitting.items()]
