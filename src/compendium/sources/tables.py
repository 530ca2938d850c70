"""Reading the tables and texts of fixed formats, with messages that name the place."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

import pandas as pd

from judgebook.study.schema import DataError, Problem, several


def with_ids(table: pd.DataFrame, columns: list[str], file: str) -> pd.DataFrame:
    """A table of text cells without blanks around the ids in `columns`. Raises DataError for rows that lack one.

    Formats that join ids to others, or tell repeats by them, ask for this: what is missing would become part of an id.
    """
    table = table.assign(**{column: table[column].str.strip() for column in columns})
    hint = "fill it in, or delete the row"
    problems = [
        problem
        for column in columns
        for problem in several(
            table.index[table[column] == ""],
            partial(_no_value, file, column, hint),
        )
    ]
    if problems:
        raise DataError(problems)
    return table


def _no_value(file: str, column: str, hint: str, row: int) -> Problem:
    return Problem(file, f"row {row}", column, "a value", "nothing", hint)


def criteria(table: pd.DataFrame, known: Collection[str], file: str) -> list[str]:
    """The columns that are not among the known ones. Raises DataError where there are none, or one has no name."""
    columns = [column for column in table if column not in known]
    if not columns or not all(map(str.strip, columns)):
        expected = "named columns of scores in addition to the ids"
        what = "a column without a name" if columns else "only ids"
        raise DataError([Problem(file, "row 1", "", expected, what, "correct the header")])
    return columns


def lines(text: str) -> str:
    """Utterances one per line, without the blanks around them and without empty lines."""
    return "\n".join(line.strip() for line in text.splitlines() if line.strip())
