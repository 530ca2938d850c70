"""What a study's YAML may say about any file of judgements: how it is read, what its values mean, which rows count."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, Field, field_validator, model_validator

from judgebook.study import conditions, formulas, limits, paths
from judgebook.study.yaml_file import Strict

#: columns of ours that a file may fill
Ours = Literal[
    "corpus",
    "group",
    "annotator",
    "annotator_kind",
    "work_unit",
    "seconds",
    "completed_at",
    "period",
    "system",
    "dialogue",
    "turn",
    "context",
    "session",
    "dialogue_b",
    "system_b",
    "first_shown",
    "method",
    "label",
    "score",
    "reason",
    "order_shown",
    "user_text",
    "system_text",
    "system_text_b",
    "reference",
    "interactor",
    "kind",
]
OURS: tuple[str, ...] = get_args(Ours)
Name = Annotated[str, Field(min_length=1)]


def _one_file(name: str) -> str:
    if "*" in name or paths.placeholders(name):
        hint = "`adapter: records` reads several, with the same `scores` and `columns`"
        raise ValueError(f"expected the name of one file, found {name!r}; {hint}")
    return name


File = Annotated[
    str,
    Field(
        min_length=1,
        max_length=limits.PATH,
        description="path relative to the study's folder of raw files, or to the YAML",
    ),
    AfterValidator(_one_file),
]
Value = str | int | float | bool


def _not_empty(value: Value | list[Value]) -> Value | list[Value]:
    if value == []:
        raise ValueError("expected a value or a non-empty list, found []; add a value or remove the line")
    for one in conditions.listed(value):
        conditions.parse(one)  # raises where it cannot be read
    return value


#: keys that say with which probability a dialogue was drawn
SAMPLING = ("inclusion_probability", "weight", "stratum")
Size = Annotated[int, Field(ge=1)]
Values = Annotated[Value | list[Value], AfterValidator(_not_empty)]
#: column -> values; of several columns each counts
Rows = dict[Name, Values]


Repeats = Literal["error", "first", "last", "mean", "number"]


class SourceModel(Strict):
    """What any element of `sources:` may say. A model of its own for each adapter adds to it `adapter`, its name."""

    optional: bool = Field(False, description="skip the source, with a message, if its files are missing")
    repeats: Repeats = Field(
        "error",
        description="where an annotator judged an item more than once: first or last, the judgement that counts, by "
        "`completed_at` where all have one, otherwise by place in the file; mean: of numeric scores; number: all "
        "count, the second ones as corpus `occasion_2`, and so on",
    )

    def names(self) -> list[str]:
        """Raw files the source reads. A model with other fields than `file` and `files` overrides this."""
        return [*([self.file] if hasattr(self, "file") else []), *getattr(self, "files", [])]


class FileOptions(Strict):
    """How the cells of a file are read."""

    delimiter: Annotated[str, Field(min_length=1, max_length=1)] | None = Field(
        None, description="character between cells; default: a tab for .tsv and .txt, otherwise a comma"
    )
    quoting: bool = Field(True, description='false: a " is an ordinary character')
    encoding: str = Field(
        "utf-8-sig", description="text encoding; the default is UTF-8, or UTF-16 where the file says so itself"
    )
    header: bool | int | Literal["none"] = Field(
        True,
        description="none: the file has no header (columns are numbered from 0, or named in `column_names`); "
        "2, 3, …: that many header rows, whose cells are joined by _",
    )
    column_names: list[Name] = Field([], description="column names, in order, for a file without a header")
    skip_rows: list[Annotated[int, Field(ge=1)]] = Field(
        [], description="rows to skip, counted from 1 as in a spreadsheet"
    )
    short_rows: Literal["error", "fill"] = Field(
        "error", description="fill: the last cells of rows that are too short are taken to be empty"
    )
    sheet: str | None = Field(
        None, description="sheet of a workbook (.xlsx); default: the only one; * or {annotator} for several"
    )

    @field_validator("delimiter")
    @classmethod
    def _divides(cls, value: str | None) -> str | None:
        if value is not None and value in '\r\n"':
            raise ValueError(f"expected a character that divides cells, found {value!r}")
        return value

    @field_validator("encoding")
    @classmethod
    def _known_encoding(cls, value: str) -> str:
        try:
            "0".encode(value).decode(value)
        except (LookupError, ValueError, TypeError):  # unknown, or one of bytes or of texts such as zlib and rot13
            raise ValueError(f"expected an encoding of text, e.g. utf-8, cp1252, utf-16-le, found {value!r}") from None
        return value

    @field_validator("header")
    @classmethod
    def _at_least_one(cls, value: bool | int | str) -> bool | int | str:
        if not isinstance(value, bool) and isinstance(value, int) and value < 1:
            raise ValueError(f"expected true, none, or a number of header rows, found {value}")
        return value

    @property
    def header_rows(self) -> int:
        return 0 if self.header in (False, "none") else int(self.header)


class Composite(Strict):
    """A label that is the mean of several items."""

    mean: Annotated[list[Name], Field(min_length=2, description="the items, as spelt in the file")]
    reversed: list[Name] = Field([], description="items on which a high answer means a low value of what is measured")
    scale: Annotated[
        list[Annotated[float, Field(ge=-limits.SCALE_END, le=limits.SCALE_END)]],
        Field(min_length=2, max_length=2, description="smallest and largest answer"),
    ]
    least: int | None = Field(None, ge=1, description="answered items needed; null: all")

    @model_validator(mode="after")
    def _known(self) -> Composite:
        odd = sorted(set(self.reversed) - set(self.mean))
        if odd:
            raise ValueError(f"reversed: expected items of `mean`, found {odd}")
        if self.scale[0] >= self.scale[1]:
            raise ValueError(f"scale: expected [smallest, largest], found {self.scale}")
        if (self.least or 0) > len(self.mean):
            raise ValueError(f"least: expected at most the {len(self.mean)} items of `mean`, found {self.least}")
        return self


class JudgementOptions(SourceModel):
    """What is common to all files of judgements, whatever their shape."""

    identify: dict[
        Literal["dialogue", "dialogue_b", "context", "session", "work_unit"], Annotated[list[Name], Field(min_length=1)]
    ] = Field(
        {},
        description="our column -> the columns of the file whose values form the id, joined by _; if any id is long, "
        "all are replaced by numbers; a dialogue id needs a value in each column",
        examples=[{"dialogue": ["prompt", "model"]}],
    )
    constants: dict[Ours, str | int] = Field(
        {}, description="our column -> a constant value", examples=[{"system": "GPT 4", "label": "quality"}]
    )
    patterns: dict[Name, Name] = Field(
        {},
        description='column -> what its cells are made of, e.g. "{dialogue} ({system})"; a text between slashes is a '
        "regular expression with named groups",
    )
    label_names: dict[Name, str] = Field(
        {}, description="label as spelt in the file -> its id under `labels:`", examples=[{"Flüssigkeit": "fluency"}]
    )
    values: dict[str, float] = Field(
        {}, description="score as spelt in the file -> number", examples=[{"A": 1, "B": -1, "tie": 0}]
    )
    ties: dict[str, Literal["both good", "both bad"]] = Field(
        {},
        description="of comparisons, score as spelt in the file, which `values` maps to 0 -> which kind of tie it is",
        examples=[{"tie (bothbad)": "both bad"}],
    )
    composites: dict[Name, Composite] = Field(
        {},
        description="label -> the items whose mean it is",
        examples=[{"trust": {"mean": ["Q1", "Q2"], "reversed": ["Q2"], "scale": [1, 7]}}],
    )
    na_values: list[str] = Field([""], description="cells that mean a missing value", examples=[["", "N/A"]])
    na_reasons: dict[str, str] = Field(
        {},
        description="label -> why a score is missing; counted in notebook 00",
        examples=[{"empathy": "no emotion was expressed"}],
    )
    keep: Rows = Field(
        {},
        description="only rows with these values: column (of the file or ours) -> value or values, or a condition as "
        "in `drop`",
        examples=[{"AssignmentStatus": "Approved"}],
    )
    drop: Rows = Field(
        {},
        description="rows left out: column -> value or values (* is any text), or a condition: `< 60`, `<= limit` and "
        "the like compare numbers or times with a number or another column, `= model_b` with what stands there; `is "
        "empty`; `matches ^test` finds a regular expression. One of several suffices",
        examples=[{"seconds": "< 60", "model_a": "= model_b", "comment": "is empty"}],
    )
    annotators: Literal["people", "positions"] | None = Field(
        None,
        description="positions: annotators are unknown, and columns or repeated rows become pos0, pos1, …; people: "
        "they are known; default: positions where they are places in a list, otherwise people",
    )
    judges: dict[Name, Literal["llm", "classifier"]] = Field(
        {}, description="annotators that are models; * stands for any text", examples=[{"gpt-*": "llm"}]
    )
    first_turn: int = Field(0, ge=0, le=1, description="number of the first turn of a dialogue in the file")
    metrics: dict[Name, Name] = Field(
        {}, description="automatic metric -> the file's column with its scores", examples=[{"bleu": "BLEU-4"}]
    )
    metrics_b: dict[Name, Name] = Field(
        {},
        description="of comparisons, metric -> the column with the scores of the second side, `metrics` naming that of "
        "the first",
    )
    derived_metrics: dict[Name, str] = Field(
        {}, description="further metric -> formula of those in `metrics`, e.g. n_words / n_utterances"
    )
    inclusion_probability: Name | None = Field(
        None,
        description="column with the probability with which a dialogue (or pair) was drawn, above 0 and at most 1: "
        "estimates are weighted by its inverse",
    )
    weight: Name | None = Field(
        None, description="column with the sampling weight of a dialogue (or pair): how many of the population it is"
    )
    stratum: Name | None = Field(
        None, description="column with the stratum that a dialogue (or pair) was drawn from; `strata` gives the sizes"
    )
    strata: dict[Name, Size | Annotated[dict[Name, Size], Field(min_length=1)]] = Field(
        {},
        description="stratum -> how many dialogues (pairs) it has in the population, of all systems together, e.g. "
        "{flagged: 130, rest: 2000}; or system -> stratum -> how many",
    )

    @model_validator(mode="after")
    def _sampled(self) -> JudgementOptions:
        given = [key for key in SAMPLING if getattr(self, key)]
        if len(given) > 1:
            raise ValueError(f"expected one of {', '.join(SAMPLING)}, found {' and '.join(given)}")
        if bool(self.stratum) != bool(self.strata):
            raise ValueError("`stratum` names the column and `strata` the size of each stratum: expected both")
        if len({isinstance(size, dict) for size in self.strata.values()}) > 1:
            raise ValueError("strata: expected sizes of strata, or for each system the sizes of its strata, found both")
        return self

    @property
    def sampling(self) -> tuple[str, str] | None:
        """Which key of SAMPLING the YAML gives, and the column that it names."""
        return next(((key, column) for key in SAMPLING if (column := getattr(self, key))), None)

    @model_validator(mode="after")
    def _consistent(self) -> JudgementOptions:
        if ("dialogue_b" in self.identify) > ("dialogue" in self.identify):
            raise ValueError("identify: `dialogue_b` needs `dialogue`, made in the same way")
        for column, text in self.patterns.items():
            if not pattern_names(text):
                raise ValueError(f"patterns: {column}: expected a text with {{names}}, found {text!r}")
        if odd := sorted(set(self.metrics_b) - set(self.metrics)):
            raise ValueError(f"metrics_b: expected names of `metrics`, which has no {odd[0]}")
        for metric, formula in self.derived_metrics.items():
            used = formulas.names(formula)
            if not used or used - set(self.metrics) or metric in self.metrics:
                known = ", ".join(self.metrics) or "none"
                raise ValueError(
                    f"derived_metrics: {metric}: expected a new name made of `metrics` ({known}): {formula!r}"
                )
        return self

    @property
    def ruled(self) -> list[str]:
        """Columns that `keep` and `drop` look at."""
        return conditions.columns(self.keep, self.drop)

    @property
    def bound(self) -> set[str]:
        """Names that `patterns` find in cells."""
        return {name for text in self.patterns.values() for name in pattern_names(text)}


def pattern_names(text: str) -> set[str]:
    """The names that a pattern of `patterns` binds. Raises ValueError for an invalid regular expression."""
    import re

    try:
        return paths.Matcher(text).names
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"patterns: {text!r} is not a valid regular expression: {error}") from None
