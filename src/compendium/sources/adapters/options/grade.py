"""What a YAML may say of the files of GRADE."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from judgebook.study import limits, paths
from judgebook.study.source_shared import File, SourceModel


class Grade(SourceModel):
    """Responses with a list of ratings each, in several corpora (GRADE)."""

    adapter: Literal["grade"]
    file: File
    label: str = Field("coherence", description="what was rated")
    corpora: dict[str, str] = Field({}, description="name of a corpus in the file -> name here and in `texts`")
    texts: str = Field(
        "eval_data/{corpus}/{system}/human_{part}.txt",
        min_length=1,
        max_length=limits.PATH,
        description="pattern of the text files",
    )
    references: dict[str, list[str]] = Field({}, description="corpus -> systems that have text files with references")

    @field_validator("texts")
    @classmethod
    def _named(cls, value: str) -> str:
        paths.check_placeholders(value, ("corpus", "system", "part"))
        return value

    def text_names(self, corpus: str, system: str) -> dict[str, str]:
        """Text files of one system: context, response (`hyp`) and reference, one line per item."""
        names = {"corpus": corpus, "system": system}
        return {part: str(paths.fill(self.texts, {**names, "part": part})) for part in ("ctx", "hyp", "ref")}

    def names(self) -> list[str]:
        pairs = [(corpus, system) for corpus, systems in self.references.items() for system in systems]
        return [self.file, *(name for pair in pairs for name in self.text_names(*pair).values())]


SOURCE = Grade
