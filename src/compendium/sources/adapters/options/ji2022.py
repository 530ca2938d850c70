"""What a YAML may say of the files of Ji et al. 2022."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from judgebook.study.source_shared import File, SourceModel
from judgebook.study.yaml_file import Strict


class Ji2022Run(Strict):
    """One run: MTurk result files, and the processed copies that say which systems had a persona."""

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


SOURCE = Ji2022
