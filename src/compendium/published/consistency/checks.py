"""Which rules apply to which printed numbers: `data/published/<paper>_checks.yaml`, and conventions in `audit.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from compendium.published import elements
from compendium.published import numbers as published
from compendium.published.consistency.rules import RULES, Outcome
from judgebook.study.yaml_file import read

#: arguments of rules that come from neither `use` nor a field of the check
_GIVEN = ("terms", "meant", "below")
_Ends = Annotated[list[float], Field(min_length=2, max_length=2)]
if TYPE_CHECKING:  # the names of rules are known once there are `RULES`
    RuleName = str
else:
    RuleName = Literal[(*RULES, "weights")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Instead(_Strict):
    """Another reading, computed where the check fails; it is evidence and gives no verdict."""

    says: str
    use: dict[str, str] = {}
    expression: str | None = None


class PrintedCheck(_Strict):
    """One relation between printed numbers, or the same for every cell that `target` or `each` selects.

    says : the relation in words, and where the paper states it. rule : a function of `rules`; use : argument -> pattern
    of cells (see `cells`).
    exact, rounded : arguments whose numbers are, or are not, exact whatever their unit says.
    assumes : what the paper does not print; then nothing follows from the check, and no cell is what is wrong.
    decides : false where the target is not in question: the check is of a claim about it, or of one reading of several.
      Then the target follows from nothing here, and is not what is wrong where the check fails.
    """

    id: str
    says: str
    rule: RuleName
    target: str | None = None
    each: str | None = None
    use: dict[str, str] = {}
    expression: str | None = None
    left: str | None = None
    relation: Literal["==", "<=", ">=", "<", ">"] = "=="
    versus: str | None = None
    word: str | None = None
    field: Literal["panel", "row", "column"] | None = None
    test: Literal["t", "f"] | None = None
    exact: list[str] = []
    rounded: list[str] = []
    assumes: str | None = None
    decides: bool = True
    instead: Instead | None = None

    @property
    def _arguments(self) -> list[str]:
        return ["target", "x", "total"] if self.rule == "weights" else list(signature(RULES[self.rule]).parameters)

    def apply(self, given: Mapping[str, Any]) -> Outcome:
        """Its rule, called with those of `given` that are arguments of the rule."""
        return RULES[self.rule](**{name: given[name] for name in self._arguments})

    @model_validator(mode="after")
    def _complete(self) -> PrintedCheck:
        for name in self._arguments:
            if name not in (*_GIVEN, *self.use) and getattr(self, name, None) is None:
                raise ValueError(f"{self.id}: rule {self.rule!r} needs {name!r}")
        if self.rule == "weights" and not self.assumes:
            raise ValueError(f"{self.id}: weights are chosen to fit, and `assumes` must say so")
        return self


class Note(_Strict):
    """A contradiction in prose that no rule reaches."""

    element: str
    says: str


class Leaderboard(_Strict):
    """A printed table of correlations in percent: data sets in rows, who took part in columns.

    cells : pattern of the numbers. average : the row that is the average. sizes : patterns of the numbers of items of
    data sets, whose rows have the same ids.
    """

    title: str
    cells: str
    average: str
    sizes: list[str] = []


class Paper(_Strict):
    """`data/published/<paper>_checks.yaml`. leaderboards : none, or two of the same systems, the later one second."""

    paper: str
    title: str
    trailing_zeros_dropped: list[str] = []
    checks: list[PrintedCheck]
    notes: list[Note] = []
    leaderboards: Annotated[list[Leaderboard], Field(max_length=2)] = []


class Conventions(_Strict):
    """`data/published/audit.yaml`. words : share of cases, from and to. ranges : unit -> smallest and largest value."""

    exact_units: list[str]
    words: dict[str, _Ends]
    implausible_below: float
    ranges: dict[str, _Ends]


def load(folder: Path = published.FOLDER) -> tuple[Conventions, list[Paper]]:
    """The conventions, and the checks of every paper: the five papers, then other sources, each sorted by title.

    Raises ValueError naming the file and what is wrong in it.
    """
    conventions = read(folder / "audit.yaml", Conventions)
    papers = [read(path, Paper) for path in sorted(folder.glob("*_checks.yaml"))]
    for paper in papers:
        names = [c.id for c in paper.checks]
        twice = sorted({n for n in names if names.count(n) > 1})
        unknown = [c.id for c in paper.checks if c.word and c.word not in conventions.words]
        if twice or unknown:
            raise ValueError(f"{paper.paper}_checks.yaml: ids given twice: {twice}; unknown words in: {unknown}")
    five = elements.load()
    return conventions, sorted(papers, key=lambda p: (p.paper not in five, p.title))
