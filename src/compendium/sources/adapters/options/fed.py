"""What a YAML may say of the files of FED."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from judgebook.study.source_shared import File, SourceModel


class Fed(SourceModel):
    """Conversations rated as a whole and at some of their turns (FED)."""

    adapter: Literal["fed"]
    file: File
    scores: File | None = Field(
        None, description="CSV of automatic scores: fed_index, level, system, one column per score"
    )

    def names(self) -> list[str]:
        return [self.file, *([self.scores] if self.scores else [])]


SOURCE = Fed
