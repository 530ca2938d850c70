"""What a YAML may say of the files of DSTC7 Task 2."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from judgebook.study.source_shared import File, SourceModel


class Dstc7(SourceModel):
    """Judgements of responses by many judges, one row each (DSTC7 Task 2): JudgeID, InstanceID, SystemID, criteria."""

    adapter: Literal["dstc7"]
    file: File
    responses: File | None = Field(None, description="TSV of SystemID, InstanceID, Response")
    same_system: dict[str, str] = Field({}, description="another name of a system -> the name used here")
    reference_system: str | None = Field(None, description="system whose response is the reference for the others")

    def names(self) -> list[str]:
        return [self.file, *([self.responses] if self.responses else [])]


SOURCE = Dstc7
