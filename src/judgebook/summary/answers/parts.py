"""What facts of answers are made of: estimates with the rows of results they come from, ranges, evaluations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any

import pandas as pd
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator, WithJsonSchema

from judgebook.display.text import span

#: key of an answer -> what is asked
QUESTIONS = {
    "order": "Which system is best, and how certain is that?",
    "labels": "Which labels can be trusted?",
    "judges": "Does it matter who judged?",
    "sample": "Were there enough data, and what could have been detected?",
    "cost": "What did it cost, and what would more dialogues buy?",
    "next": "What should be done next?",
}


class Model(BaseModel):
    """Properties say in words what the fields say as data; only fields are written."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def _or_none(value: Any) -> Any:
    return None if pd.api.types.is_scalar(value) and pd.isna(value) else value


def _as_it_is(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"expected a text, found {value!r}")
    return value


#: null where missing or infinite
Number = Annotated[float | None, BeforeValidator(_or_none)]
#: a text that may be Markup, which stays so
Words = Annotated[str, PlainValidator(_as_it_is), WithJsonSchema({"type": "string"})]


class Source(Model):
    """Rows of results that a number comes from: those of the file whose columns have these values."""

    notebook: str
    file: str = Field(description="Parquet file, relative to the folder of output; CSV beside it, up to a million rows")
    columns: dict[str, str | list[str]] = Field(
        description="column -> its value, or its values; further columns that identify a row are empty"
    )
    n: int = Field(description="rows")


class Estimate(Model):
    """A number with what is needed to read it."""

    estimate: Number
    ci_low: Number = None
    ci_high: Number = None
    level: Number = Field(None, description="confidence of the interval; null without one")
    unit: str = Field("", description="SD, share, points, …; empty: a pure number")
    n: int | None = Field(None, description="how many `n_of` it is estimated from")
    n_of: str = Field("", description="what was resampled or assumed independent: dialogue, session, …")
    family: str | None = Field(None, description="the family of tests and the adjustment; null without a test")
    p_adjusted: Number = None
    corpus: str | None = None
    group: str | None = None
    method: str | None = None
    label: str | None = None
    system: str | None = None
    name: str = Field("", description="the name that the page shows of what is estimated")
    note: str | None = None
    source: Source | None = Field(None, description="null: computed from several rows, see `evidence` of the answer")


class Span(Model):
    """The smallest and the largest of several numbers."""

    low: Number
    high: Number

    @classmethod
    def of(cls, values: Iterable[float]) -> Any:
        numbers = [float(v) for v in values if pd.notna(v)]
        return cls(low=min(numbers, default=None), high=max(numbers, default=None))

    def words(self, decimals: int) -> str:
        return span([end for end in (self.low, self.high) if end is not None], decimals)


class Sizes(Span):
    """Of whole numbers."""

    def __str__(self) -> str:
        return self.words(0)


class Evaluation(Model):
    """A run, group and method, by their ids."""

    corpus: str
    group: str
    method: str | None = Field(None, description="null: all methods")
    title: str = Field("", description="as the page names it; empty where there is one only")


@dataclass(frozen=True)
class Stage:
    """A row of the table. kind : everything, enrolled, answered, passed, used, or models. people : different ones whom
    the data identify, over all runs; None where there are none. per_run : people counted once in each run. dialogues,
    judgements : None where none were made. others : whether people judged whom the data do not identify."""

    kind: str
    people: int | None
    per_run: int | None
    dialogues: int | None = None
    judgements: int | None = None
    others: bool = False
