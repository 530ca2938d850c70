"""What the `sources:` part of a YAML may say: one model an adapter, told apart by `adapter`.

Kept apart from the adapters, which import pandas: the command line reads YAMLs without it.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

File = Annotated[
    str, Field(min_length=1, description="path relative to the study's folder of raw files, or to the YAML")
]


class SourceModel(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    def names(self) -> list[str]:
        """Raw files the source reads. A model with other fields than `file` and `files` overrides this."""
        return [*([self.file] if hasattr(self, "file") else []), *getattr(self, "files", [])]


class AbcEval(SourceModel):
    """A project file of the ABC-Eval platform."""

    adapter: Literal["abc_eval"]
    files: Annotated[list[File], Field(min_length=1)]
    parts: dict[str, str] = Field({}, description="project part -> evaluator group; empty: the usual names")


class Behaviors(SourceModel):
    """Behaviour marks of people, a language model and classifiers (GPT-ABCEval)."""

    adapter: Literal["behaviors"]
    file: File


class Table(SourceModel):
    """CSV, TSV or Parquet, wide (one column a label and annotator) or long (one row a judgement)."""

    adapter: Literal["table"]
    file: File
    layout: Literal["wide", "long"] = "wide"
    columns: dict[str, str] = Field({}, description="our column -> the file's column")
    scores: str | None = Field(None, description='pattern of score columns in a wide file, e.g. "{label}_{annotator}"')
    na_values: list[str] = [""]


Source = Annotated[AbcEval | Behaviors | Table, Field(discriminator="adapter")]
