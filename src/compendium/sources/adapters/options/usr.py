"""What a YAML may say of the files of USR."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from judgebook.study.source_shared import File, SourceModel


class Usr(SourceModel):
    """Responses to the same dialogue histories, each rated by several people on several criteria (USR).

    Every list of a response is a criterion, every number an automatic score: labels and scales come from `labels:`.
    """

    adapter: Literal["usr"]
    file: File
    scores: File | None = Field(None, description="the same records with automatic scores")
    corpus: str = Field("main", description="what the corpus is called here")
    reference_system: str | None = Field(None, description="system whose response is the reference for the others")

    def names(self) -> list[str]:
        return [self.file, *([self.scores] if self.scores else [])]


SOURCE = Usr
