"""What a study's YAML may say about records: JSON, JSON Lines or tables, read by paths (`study.paths`)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from judgebook.study import limits, paths
from judgebook.study.source_shared import OURS, FileOptions, JudgementOptions, Name, Ours
from judgebook.study.yaml_file import Strict

TABLES = (".csv", ".tsv", ".txt", ".tab", ".xlsx", ".xls", ".xlsb", ".ods")
#: what a path may name besides places in the file
SPECIAL = ("{row}", "{file}")
#: what stands where a path to scores ends, and the score
VALUE, SCORE = "{value}", "{score}"


class Join(FileOptions):
    """Another file whose records belong to those of the first by a key."""

    file: Annotated[
        str,
        Field(
            min_length=1,
            max_length=limits.PATH,
            description="as `file`, whose {names} stand for the same here, file by file; * joins several files as one",
        ),
    ]
    name: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z_0-9]*$")] = Field(
        description="what paths into it begin with: `<name>.text`"
    )
    by: Name = Field(description="path of the key in the records of the first file")
    key: Name | None = Field(None, description="path of the key in this file; default: as `by`")


Weight = Annotated[float, Field(ge=-limits.SCALE_END, le=limits.SCALE_END)]


class Errors(Strict):
    """How marked errors count, where `scores` leads to the severity of each."""

    category: Name | None = Field(None, description="path of the kind of error")
    weights: dict[Name, Weight] = Field(
        {}, description="severity -> weight; of those not given, major has 5, minor 1 and neutral 0"
    )
    categories: dict[Name, Weight | dict[Name, Weight]] = Field(
        {},
        description="kind of error, or what comes before its / -> weight, or severity -> weight; of those not given, "
        "a major Non-translation has 25 and a minor Fluency/Punctuation 0.1",
    )


class Records(FileOptions, JudgementOptions):
    """JSON, JSON Lines or a table, nested or flat, by paths to what was scored.

    A file that holds a list, lines or rows is a series of records, any other JSON is one record. Paths begin in a
    record.
    """

    adapter: Literal["records"]
    file: Annotated[
        str,
        Field(
            min_length=1,
            max_length=limits.PATH,
            description="path relative to the study's folder of raw files, or to the YAML; {annotator} or another name "
            "in it stands for any text and says whose file it is, * for any text",
        ),
    ]
    scores: Name | list[Name] = Field(
        description="path (or paths) to the scores; {names} become columns",
        examples=["turns.[turn].ratings.{label}"],
    )
    columns: dict[Ours, Name] = Field(
        {},
        description="our column -> path of its value, or a name that `scores` binds",
        examples=[{"dialogue": "id", "annotator": "meta.rater"}],
    )
    skip_columns: list[Name] = Field(
        [],
        description="paths (of a joined file led by its name) that hold no judgements, of which `check` need not say "
        "that they are not used; * is any text",
        examples=[["data.*", "key.phase"]],
    )
    either: dict[Ours, Annotated[list[Name], Field(min_length=1)]] = Field(
        {},
        description="our column -> paths, of which the first that has a value counts; where none has, `constants`",
        examples=[{"annotator": ["author", "source"]}],
    )
    join: list[Join] = Field(
        [], description="further files whose records are matched to these by a key, with the same options for reading"
    )
    count: Name | None = Field(
        None,
        description="path of the number of judgements that a score stands for, or {value} where `scores` leads to it; "
        "who gave them is not known",
    )
    chosen: dict[Name, float] = Field(
        {},
        description="where `scores` leads to the options that were shown: path of the one that was chosen -> its "
        "score, e.g. {best: 1, worst: -1}; that of the others is 0",
    )
    pairs: Literal["high", "low"] | None = Field(
        None,
        description="the options of a record are compared two by two instead: who has the higher (or lower) score "
        "wins, and equal scores are a tie; with `chosen`, options of which none was chosen are not compared",
    )
    errors: Errors | None = Field(
        None,
        description="`scores` leads to severities of marked errors, and the score is the sum of their weights: {} for "
        "those of Freitag et al. (2021), 5 for a major and 1 for a minor error",
        examples=[{"category": "category", "weights": {"critical": 25}}],
    )
    empty: str | None = Field(
        None,
        description="score where the last list (or cell with `:split` or `:json`) that `scores` goes through is empty, "
        "and of labels with this answer among their `categories` where others have them; default: no score",
    )

    def names(self) -> list[str]:
        return [self.file, *(j.file for j in self.join)]

    @field_validator("scores", mode="after")
    @classmethod
    def _listed(cls, value: str | list[str]) -> list[str]:
        return [value] if isinstance(value, str) else value

    @property
    def table(self) -> bool:
        """Whether the records are rows of a table."""
        return is_table(self.file)

    @property
    def variables(self) -> set[str]:
        """Names that paths to scores, the name of the file or sheet, and `patterns` bind; and `value`."""
        in_paths = {n for path in self.scores for n in paths.names(path)} | paths.names(self.file)
        return in_paths | paths.names(self.sheet or "") | self.bound | {VALUE[1:-1]}

    @property
    def value_used(self) -> bool:
        """Whether what `scores` leads to is something else than the score."""
        return VALUE in (self.count, *self.columns.values()) or bool(self.chosen)

    def steps(self, path: str) -> tuple[str | None, list[paths.Step]]:
        """The file a path leads into (the name of a join, or None) and its steps there."""
        for join in self.join:
            if path == join.name or path.startswith((f"{join.name}.", f"{join.name}[")):
                return join.name, paths.parse(path[len(join.name) :].removeprefix("."), table=is_table(join.file))
        return None, paths.parse(path, table=self.table)

    def looked_up(self) -> dict[str, str]:
        """Paths of values that belong to a score -> where the YAML gives them."""
        named = {path: f"columns.{ours}" for ours, path in self.columns.items()}
        named |= {path: f"either.{ours}" for ours, many in self.either.items() for path in many}
        named |= {path: f"identify.{ours}" for ours, many in self.identify.items() for path in many}
        named |= {path: f"metrics.{metric}" for metric, path in self.metrics.items()}
        named |= {path: f"metrics_b.{metric}" for metric, path in self.metrics_b.items()}
        named |= {path: "patterns" for path in self.patterns}
        named |= {path: "keep and drop" for path in self.ruled if path not in OURS or path in self.columns.values()}
        named |= {join.by: f"join.{i}.by" for i, join in enumerate(self.join)}
        named |= {self.sampling[1]: self.sampling[0]} if self.sampling else {}
        named |= {path: "chosen" for path in self.chosen} | ({self.count: "count"} if self.count else {})
        named |= {self.errors.category: "errors"} if self.errors and self.errors.category else {}
        return {path: place for path, place in named.items() if path not in SPECIAL}

    @model_validator(mode="after")
    def _complete(self) -> Records:
        given = {*self.columns, *self.either, *self.constants, *self.identify, *(self.variables & set(OURS))}
        if "label" not in given:
            raise ValueError(
                "scores: what was judged is not known: write {label} in the path, map `columns: {label: …}`, or set "
                "`constants: {label: …}`"
            )
        if "dialogue" not in given:
            raise ValueError(
                "columns: expected a path for `dialogue`, {dialogue} in `scores`, or {row} where each record is a "
                "dialogue of its own"
            )
        if self.count and ("annotator" in given or self.chosen):
            raise ValueError("count: several judgements have several annotators: expected no `annotator`, no `chosen`")
        if self.chosen and "score" in given:
            raise ValueError("chosen: it gives the scores: expected no other `score`")
        self._alone(given)
        if "annotator" not in given and self.annotators != "positions" and not self.count:
            raise ValueError(
                "columns: who judged is not known: map `annotator`, write {annotator} (keys) or [annotator] (places in "
                "a list) in `scores`, or set `annotators: positions`"
            )
        for join in self.join:
            paths.parse(join.key or join.by, table=is_table(join.file))
            if unbound := paths.names(join.file) - paths.names(self.file) - paths.names(self.sheet or ""):
                hint = "write * for any text"
                raise ValueError(f"join: {join.file!r}: {{{min(unbound)}}} is not in `file` or `sheet`: {hint}")
        walks = [self.steps(path)[1] for path in self.scores]
        for path, place in self.looked_up().items():
            if paths.ALONE.fullmatch(path):
                unbound = paths.names(path) - self.variables
            else:
                _, steps = self.steps(path)
                check_iterations(path, place, steps, walks, self.variables)
                unbound = {n for s in steps for n in paths.placeholders(s.text)} - self.variables
            if unbound:
                known = ", ".join(sorted(self.variables)) or "no names"
                raise ValueError(f"{place}: {path!r}: {{{sorted(unbound)[0]}}} is not bound; `scores` binds {known}")
        return self

    def _alone(self, given: set[str]) -> None:
        """Refuse what `errors` and `pairs` cannot be combined with."""
        if self.errors is None and self.pairs is None:
            return
        key = "pairs" if self.errors is None else "errors"
        if self.count or (self.errors is not None and (self.pairs or self.chosen)):
            raise ValueError(f"{key}: expected neither `count` nor, with `errors`, `chosen` or `pairs`")
        if "system" not in given or "dialogue_b" in given:
            raise ValueError(f"{key}: each score is of one system: expected `system`, and no `dialogue_b`")
        if self.errors is not None and "annotator" not in given:
            raise ValueError("errors: those of one annotator are added: expected `annotator` in `columns`")
        rows = {*self.keep, *self.drop} & {*self.scores, *([self.errors.category] if self.errors else [])}
        if self.errors is not None and rows:
            hint = "a weight of 0 leaves errors out and keeps what was judged"
            raise ValueError(f"keep and drop: found {', '.join(sorted(map(str, rows)))}: {hint}")


def is_table(file: str) -> bool:
    return file.lower().removesuffix(".gz").endswith(TABLES)


def prefixes(steps: list[paths.Step]) -> list[str]:
    """For every step the path up to it and with it, in one spelling."""
    return [".".join(map(str, steps[: i + 1])) for i in range(len(steps))]


def check_iterations(
    path: str, place: str, steps: list[paths.Step], walks: list[list[paths.Step]], variables: set[str]
) -> None:
    """A value of a score is one value: lists that `scores` does not go through are a mistake."""
    gone = {p for walk in walks for p, s in zip(prefixes(walk), walk, strict=True) if s.iterates}
    for prefix, step in zip(prefixes(steps), steps, strict=True):
        if step.iterates and prefix not in gone and step.name not in variables:
            raise ValueError(
                f"{place}: {path!r}: {prefix!r} goes through a list that `scores` does not go through; begin as "
                "`scores` does, or take one element, e.g. [0]"
            )


SOURCE = Records
