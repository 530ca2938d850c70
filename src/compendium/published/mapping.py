"""Which printed numbers correspond to which result rows: `data/published/<paper>_mapping.yaml`.

The files repeat no number. Nothing here imports pandas: the pipeline asks which results the scoreboard reads.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from judgebook import project
from judgebook.study.labels import METHODS, spelled_out
from judgebook.study.sections.data import Section
from judgebook.study.yaml_file import read

FOLDER = project.ROOT / "data" / "published"
Value = str | int | float
#: the statistic of values under a source's own rule: rows that notebook 90 adds to results of notebook 00 of its study
AS_SOURCE = "as_source"


class Change(Section):
    """What a wrong definition changes in an entry; null takes a key away."""

    where: dict[str, str | None] = Field({})
    keys: dict[str, Value | None] = Field({})


class MappingEntry(Section):
    """Printed numbers, and the result rows they correspond to.

    A result row counts where its columns are as `where` says and its condition has the keys of `keys`, those that
    `panel`, `row` and `column` name, and no others.
    """

    cells: str = Field(description="pattern of places: element/panel/row/column (see compendium.published)")
    study: str | None = Field(None, description="the study whose results decide the verdict; null: none")
    beside: list[str] = Field(
        [], description="studies whose notebook shows them next to its own results, without a verdict"
    )
    notebook: str = Field(description="the notebook that stores them")
    where: dict[str, str | list[str] | None] = Field(
        {}, description="columns of the result rows; null: empty; a list: rows are added up"
    )
    keys: dict[str, Value | list[Value]] = Field({}, description="keys of their condition; likewise")
    panel: str | None = Field(None, description="what a printed panel says: a column, or a key of the condition")
    row: str | None = Field(None, description="what a printed row says: likewise")
    column: str | None = Field(None, description="what a printed column says: likewise")
    names: dict[str, str] = Field({}, description="printed id -> id in the results, where they differ")
    counted: bool = Field(False, description="a share or mean times its n: what was counted or summed")
    scale: float = Field(1.0, description="factor that converts a result to the printed unit")
    plus: float = Field(0.0, description="what is then added, as in a complement: scale -100, plus 100")
    rule: str = Field("", description="how the source computes them, in words; compendium.published.as_source does so")
    fitted: str = Field("", description="what was found by searching for these numbers, so equality confirms nothing")
    ranged: str = Field(
        "", description="what the result's ci_low and ci_high range over, where the number involves chance"
    )
    low: Change | None = Field(
        None, description="the row whose estimate is the lower end, where it is a row of its own"
    )
    high: Change | None = Field(None, description="likewise the upper end")
    shows: str = Field("", description="figure or table of the notebook that shows the results")
    note: str = Field("", description="why numbers differ, where they do")
    basis: str = Field("", description="what the result rests on, where that is not all that the number is about")
    together: str = Field(
        "",
        description="pattern of numbers resting on the same data, with {element}, {panel}, {row}, {column} of this "
        "one: its match by rule counts only if the rule gives all of them",
    )
    needs: str = Field("", description="why results may be absent: the file that a user has to download")
    wrong: dict[str, Change] = Field({}, description="wrong definitions, whose results should not match")

    @model_validator(mode="before")
    @classmethod
    def _as_source(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Under the source's rule, results are named by places."""
        if not given.get("rule"):
            return given
        named = {"notebook": "00_build_annotations", "where": {"statistic": AS_SOURCE}}
        named |= {"keys": {"element": given["cells"].partition("/")[0]}}
        return named | {side: side for side in ("panel", "row", "column")} | given

    @model_validator(mode="after")
    def _one_kind(self) -> MappingEntry:
        if not self.study and not self.beside:
            raise ValueError(f"{self.cells}: expected `study` or `beside`, found neither")
        if self.fitted and self.ranged:
            raise ValueError(f"{self.cells}: expected `fitted` or `ranged`, found both")
        if bool(self.low) != bool(self.high) or (self.low and not self.ranged):
            raise ValueError(f"{self.cells}: expected `low` and `high` together, and `ranged` with them")
        return self

    def changed(self, change: Change) -> MappingEntry:
        """The entry under a wrong definition."""
        where, keys = self.where | change.where, {**self.keys, **change.keys}
        return self.model_copy(update={"where": where, "keys": {k: v for k, v in keys.items() if v is not None}})


class Reason(Section):
    """Why printed numbers differ from what their results say, in words one can check."""

    cells: str
    note: str


class Without(Section):
    """Printed numbers that no result corresponds to, and why; the first that fits decides.

    needs_download: anyone can get the data, if only after registration, but this project does not have or read them;
    needs_data: nobody can, because they were not published; states_design: nothing is computed from data, as with a
    decision of the authors, a payment, an assumption, a fact about a system or corpus, or a number quoted from others.
    """

    cells: str
    verdict: Literal["needs_download", "needs_data", "states_design", "not_attempted"]
    note: str


class Mapping(Section):
    """One file. needs : study -> the file to download without which it has no results.

    columns : id of a column, row or panel -> as readers know it, where its words alone do not say it.
    side_by_side : patterns of places; each becomes a table in the layout of the printed one, with our values in it.
    entries : in order. Of those that are neither fitted nor ranged the first that has a result is compared; where it
    is ours and fails, the source's own `rule` is.
    """

    paper: str
    columns: dict[str, str] = Field({})
    side_by_side: list[str] = Field([])
    needs: dict[str, str] = Field({})
    entries: list[MappingEntry] = Field([])
    differs: list[Reason] = Field([])
    without: list[Without] = Field([])


def load(folder: Path = FOLDER) -> list[Mapping]:
    """The mapping of every paper, by name. Raises ValueError naming the file and what is wrong in it."""
    return [read(path, Mapping) for path in sorted(folder.glob("*_mapping.yaml"))]


@cache  # the audit asks for hundreds of titles, each of which would read all mappings
def column_titles() -> dict[tuple[str, str], str]:
    """(paper, id of a column, row or panel) -> as readers know it, for those that have such a name."""
    return {(paper.paper, column): title for paper in load() for column, title in paper.columns.items()}


@cache
def title(paper: str, key: str) -> str:
    """A panel, row or column as readers know it: named by the mapping, a method, or its id as words."""
    method = METHODS.get(key)
    return column_titles().get((paper, key)) or (method.title if method else spelled_out(key))


@cache
def sources(folder: Path = FOLDER) -> list[tuple[str, str]]:
    """(study, notebook) whose results are compared with printed numbers, sorted."""
    entries = [entry for paper in load(folder) for entry in paper.entries]
    return sorted({(entry.study, entry.notebook) for entry in entries if entry.study})
