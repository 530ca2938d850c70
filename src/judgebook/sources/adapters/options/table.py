"""What a study's YAML may say about a table: what its columns are, and how its cells are read."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from judgebook.study import limits, paths
from judgebook.study.source_shared import File, FileOptions, JudgementOptions, Name, Ours

PLACEHOLDERS = ("label", "annotator", "system", "turn", "group")


class Table(FileOptions, JudgementOptions):
    """CSV, TSV or Parquet, wide or long.

    Wide: one column per label (and annotator, and system), one row per item or annotation of it. Long: one row per
    judgement, with a column for the label and one for the score.
    """

    adapter: Literal["table"]
    file: File
    layout: Literal["wide", "long"] = Field(
        "wide", description="wide: one column per label; long: one row per judgement"
    )
    repeat: Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=2, max_length=2)] | None = Field(
        None,
        description="first and last i where a row holds several items side by side: a column written here with {i}, "
        "e.g. Input.query{i}, refers to each of them",
        examples=[[1, 5]],
    )
    columns: dict[Ours, Name] = Field(
        {},
        description="our column -> the file's column; {row} is the row number in the file",
        examples=[{"dialogue": "id", "system": "model"}],
    )
    scores: str = Field(
        "{label}",
        description="wide: pattern of the score columns with {label}, {annotator}, {system}, {turn}, {group}; "
        "without {label} where `constants` names the only label",
        examples=["{label}_{annotator}"],
    )
    skip_columns: list[Name] = Field(
        [],
        description="columns to leave out: their names match `scores`, but they hold no scores; * is any text",
        examples=[["comment"]],
    )

    @model_validator(mode="after")
    def _complete(self) -> Table:
        try:
            paths.check_placeholders(self.scores, PLACEHOLDERS)
        except ValueError as error:
            raise ValueError(f"scores: {error}") from None
        named = paths.placeholders(self.scores)
        if len(set(named)) < len(named):
            raise ValueError(f"scores: expected each {{name}} once, found {self.scores!r}")
        given = {*self.columns, *self.constants, *self.identify, *self.bound, *paths.names(self.sheet or "")}
        if self.layout == "wide" and "{label}" not in self.scores and "label" not in self.constants:
            only = "or `constants: {label: …}` where all scores are of one label"
            raise ValueError(f"scores: expected a pattern with {{label}}, {only}, found {self.scores!r}")
        if self.layout == "long" and ("label" not in given or "score" not in self.columns):
            raise ValueError("a long table needs `columns: {label: …, score: …}`")
        if "dialogue" not in given:
            raise ValueError(
                "columns: expected a column for `dialogue` ({row} where each row is a dialogue of its own)"
            )
        if self.annotators != "positions" and "annotator" not in given and "{annotator}" not in self.scores:
            raise ValueError(
                "expected a column or a {annotator} in `scores` that says who judged, or `annotators: positions`"
            )
        if self.metrics and "{system}" in self.scores:
            raise ValueError("metrics: a table with {system} in `scores` has no score per item; use a long table")
        if self.repeat and self.repeat[0] > self.repeat[1]:
            raise ValueError(f"repeat: expected [first, last], found {self.repeat}")
        if self.repeat and self.repeat[1] - self.repeat[0] >= limits.REPEATS:
            raise ValueError(f"repeat: expected at most {limits.REPEATS:,} items in a row, found {self.repeat}")
        return self


SOURCE = Table
