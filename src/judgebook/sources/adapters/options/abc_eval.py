"""What a YAML may say of a project file of the ABC-Eval platform."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from judgebook.study.source_shared import File, SourceModel


class AbcEval(SourceModel):
    """A project file of the ABC-Eval platform."""

    adapter: Literal["abc_eval"]
    files: Annotated[list[File], Field(min_length=1)] = Field(description="the project's files, read as one")
    parts: dict[str, str] = Field({}, description="read only these parts: part -> evaluator group")


SOURCE = AbcEval
