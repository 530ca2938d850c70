"""What the `sources:` part of a YAML may say: one model per adapter, identified by `adapter`.

Kept apart from the adapters, which import pandas: the command line reads YAMLs without it.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from judgebook.study import paths
from judgebook.study.record_options import RecordOptions
from judgebook.study.sections.table_options import TableOptions
from judgebook.study.source_shared import File


class SourceModel(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)

    optional: bool = Field(False, description="skip the source, with a message, if its files are missing")

    def names(self) -> list[str]:
        """Raw files the source reads. A model with other fields than `file` and `files` overrides this."""
        return [*([self.file] if hasattr(self, "file") else []), *getattr(self, "files", [])]


class AbcEval(SourceModel):
    """A project file of the ABC-Eval platform."""

    adapter: Literal["abc_eval"]
    files: Annotated[list[File], Field(min_length=1)] = Field(description="the project's files, read as one")
    parts: dict[str, str] = Field({}, description="read only these parts: part -> evaluator group")


class Behaviors(SourceModel):
    """Behaviour marks of people, a language model and classifiers (GPT-ABCEval)."""

    adapter: Literal["behaviors"]
    file: File


class Table(TableOptions, SourceModel):
    """CSV, TSV or Parquet, wide (one column per label and annotator) or long (one row per judgement)."""

    adapter: Literal["table"]
    file: File


class Records(RecordOptions, SourceModel):
    """JSON, JSON Lines or a table, nested or flat, by paths to what was scored."""

    adapter: Literal["records"]

    def names(self) -> list[str]:
        return RecordOptions.names(self)


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


class Fed(SourceModel):
    """Conversations rated as a whole and at some of their turns (FED)."""

    adapter: Literal["fed"]
    file: File
    scores: File | None = Field(
        None, description="CSV of automatic scores: fed_index, level, system, one column per score"
    )

    def names(self) -> list[str]:
        return [self.file, *([self.scores] if self.scores else [])]


class Grade(SourceModel):
    """Responses with a list of ratings each, in several corpora (GRADE)."""

    adapter: Literal["grade"]
    file: File
    label: str = Field("coherence", description="what was rated")
    corpora: dict[str, str] = Field({}, description="name of a corpus in the file -> name here and in `texts`")
    texts: File = Field("eval_data/{corpus}/{system}/human_{part}.txt", description="pattern of the text files")
    references: dict[str, list[str]] = Field({}, description="corpus -> systems that have text files with references")

    @field_validator("texts")
    @classmethod
    def _named(cls, value: str) -> str:
        paths.check_placeholders(value, ("corpus", "system", "part"))
        return value

    def text_names(self, corpus: str, system: str) -> dict[str, str]:
        """Text files of one system: context, response (`hyp`) and reference, one line per item."""
        known = {"corpus": corpus, "system": system}
        return {part: str(paths.fill(self.texts, {**known, "part": part})) for part in ("ctx", "hyp", "ref")}

    def names(self) -> list[str]:
        pairs = [(corpus, system) for corpus, systems in self.references.items() for system in systems]
        return [self.file, *(name for pair in pairs for name in self.text_names(*pair).values())]


class Dstc7(SourceModel):
    """Judgements of responses by many judges, one row each (DSTC7 Task 2): JudgeID, InstanceID, SystemID, criteria."""

    adapter: Literal["dstc7"]
    file: File
    responses: File | None = Field(None, description="TSV of SystemID, InstanceID, Response")
    same_system: dict[str, str] = Field({}, description="another name of a system -> the name used here")
    reference_system: str | None = Field(None, description="system whose response is the reference for the others")

    def names(self) -> list[str]:
        return [self.file, *([self.responses] if self.responses else [])]


class Ji2022Run(BaseModel):
    """One run: MTurk result files, and the processed copies that say which systems had a persona."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)

    files: Annotated[list[File], Field(min_length=1, description="MTurk result files (CSV)")]
    passed: list[File] = Field([], description="JSON files of workers who passed quality control")
    failed: list[File] = Field([], description="JSON files of workers who failed it")
    fitted_passed: list[int] = Field(
        [], description="assignments that pass in a fitted list, unlike in the files: their places in `files`, from 0"
    )
    fitted_failed: list[int] = Field(
        [], description="assignments that fail in a fitted list, unlike in the files: their places in `files`, from 0"
    )


class Ji2022(SourceModel):
    """Live chats with six systems per HIT, rated by the person who chatted on sliders from 0 to 100."""

    adapter: Literal["ji2022"]
    runs: Annotated[dict[str, Ji2022Run], Field(min_length=1, description="corpus -> its files")]
    criteria: list[str] = Field(
        ["robotic", "interesting", "fun", "consistent", "fluent", "repetitive", "topic"],
        description="criteria in the order of the scores",
    )
    reverse: list[str] = Field(["robotic", "repetitive"], description="criteria recorded with high scores as bad")
    control: str = Field("qc", description="model type of the degraded control, and its system here")

    def names(self) -> list[str]:
        return [name for run in self.runs.values() for name in (*run.files, *run.passed, *run.failed)]


class SpotTheBot(SourceModel):
    """Chats between two bots, cut after some exchanges: for each side, person or bot? One row per annotation."""

    adapter: Literal["spot_the_bot"]
    file: File


Source = Annotated[
    AbcEval | Behaviors | Table | Records | Usr | Fed | Grade | Dstc7 | Ji2022 | SpotTheBot,
    Field(discriminator="adapter"),
]
