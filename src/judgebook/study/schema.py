"""The tidy frames everything passes through, the result rows everything ends in, and their validation.

`ANNOTATIONS` and its siblings say which columns a frame has; `conform` gives a frame those columns, order and types;
`validate` reports every problem of a study's annotations at once.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from pydantic import RootModel

from judgebook.errors import JudgebookError
from judgebook.study import limits, yaml_file
from judgebook.study.labels import METHODS, Label
from judgebook.study.yaml_file import Strict


class Column(Strict):
    """A column of a frame. dtype: a pandas dtype; missing: whether a value may be; doc: what it holds; least: the
    smallest number."""

    dtype: str
    missing: bool = False
    doc: str
    least: int | None = None


class _Frames(RootModel[dict[str, dict[str, Column]]]):
    pass


#: frame -> its columns, in order
FRAMES = yaml_file.read(Path(__file__).with_suffix(".yaml"), _Frames).root
ANNOTATIONS, DIALOGUES, METRIC_SCORES = FRAMES["annotations"], FRAMES["dialogues"], FRAMES["metric_scores"]
SCREENING, WORK_UNITS, COUNTS = FRAMES["screening"], FRAMES["work_units"], FRAMES["counts"]
DIALOGUE_FACTS = FRAMES["dialogue_facts"]
#: what an annotator may be; all but people keep their names
KINDS = ("human", "llm", "classifier")
#: identifies a judgement; the work unit counts only where the annotator is a position
KEY = [
    "study",
    "corpus",
    "group",
    "annotator",
    "work_unit",
    "dialogue",
    "turn",
    "dialogue_b",
    "method",
    "label",
]
#: what one judgement is about, whoever made it
ITEM = ["corpus", "method", "label", "dialogue", "turn", "dialogue_b"]
#: one estimate for each combination of these, and where systems are estimated of these and the system
CELL = ["corpus", "group", "method", "label"]
SYSTEM_CELL = ["corpus", "method", "label", "group", "system"]
#: frames by what a row is: a judgement with columns of ANNOTATIONS, a turn with columns of DIALOGUES, a fact about a
#: dialogue. For type checkers they are any frame: `conform` and `validate` see to the columns
Annotations: TypeAlias = pd.DataFrame
Dialogues: TypeAlias = pd.DataFrame
DialogueFacts: TypeAlias = pd.DataFrame


def conform(frame: pd.DataFrame, spec: Mapping[str, Column], **constant: object) -> pd.DataFrame:
    """`frame` with exactly the columns of `spec`, in order and with their types; absent nullable columns are null.

    `constant` gives columns one value throughout. Raises ValueError for a column that `spec` does not know or a
    required one that is absent.
    """
    unknown = [c for c in frame.columns if c not in spec]
    if unknown:
        raise ValueError(f"columns {unknown} are not in the schema; it has {list(spec)}")
    n, out = len(frame), {}
    for name, column in spec.items():
        if name in constant:
            values = pd.Series([constant[name]] * n)
        elif name in frame:
            values = frame[name]
        elif column.missing:
            out[name] = _missing(column.dtype, n)
            continue
        else:
            raise ValueError(f"column {name!r} is required: {column.doc}")
        cast = _cast(values, column.dtype)
        out[name] = cast.reset_index(drop=True) if column.dtype == "object" else cast.array
    # arrays, since the many columns of a frame of few rows would each have its index aligned; objects would be
    # taken for texts
    return pd.DataFrame(out, index=pd.RangeIndex(n))


def _missing(dtype: str, n: int) -> pd.Series | pd.api.extensions.ExtensionArray:
    """n missing values of a type."""
    if dtype == "object":
        return pd.Series([None] * n, dtype=object)
    return _one_missing(dtype).take(np.zeros(n, dtype=np.intp))


@cache
def _one_missing(dtype: str) -> pd.api.extensions.ExtensionArray:
    return pd.Series([None], dtype=dtype).array


def _cast(values: pd.Series, dtype: str) -> pd.Series:
    if values.dtype == dtype:
        return values
    if dtype.startswith("datetime"):
        return pd.to_datetime(values).astype(dtype)
    if dtype in ("Int32", "Int64"):
        if values.dtype == "int64":
            return values.astype(dtype)
        return pd.to_numeric(values).astype("Float64").astype(dtype)
    if dtype == "float64":
        return pd.to_numeric(values).astype("float64")
    return values.astype(dtype)


@dataclass(frozen=True)
class Problem:
    """Something wrong in a file, described so that its owner can correct it. n : this and others alike, not listed."""

    file: str
    where: str
    column: str
    expected: str
    found: str
    hint: str = ""
    n: int = 1

    def __str__(self) -> str:
        place = ", ".join(p for p in (self.file, self.where, self.column) if p)
        return f"{place}: expected {self.expected}, found {self.found}" + (f"; {self.hint}" if self.hint else "")


def several(places: Sequence[Any], problem: Callable[[Any], Problem]) -> list[Problem]:
    """A problem for each place; beyond `limits.PROBLEMS` the last one stands for those that follow."""
    out = [problem(place) for place in places[: limits.PROBLEMS]]
    if len(places) > len(out):
        out[-1] = replace(out[-1], n=len(places) - len(out) + 1)
    return out


class DataError(JudgebookError, ValueError):
    """One or more problems with a study's files.

    The message shows what recurs once, with three places and a count, and of different problems the first 20.
    """

    shown = 20
    examples = 3

    def __init__(self, problems: Iterable[Problem]):
        self.problems = list(problems)
        n = sum(p.n for p in self.problems)
        alike: dict[tuple, list[Problem]] = {}
        for p in self.problems:
            # the place of a score differs by column; what is wrong with it does not
            alike.setdefault((p.file, p.column, p.expected, p.hint.partition(" or as ")[0][:20]), []).append(p)
        groups = list(alike.values())
        lines = [f"{n:,} problem{'s' if n != 1 else ''} in the data:"]
        for group in groups[: self.shown]:
            few = sum(p.n for p in group) <= self.examples
            lines += [f"  {p}" for p in group] if few else [f"  {self._together(group)}"]
        left = sum(p.n for group in groups[self.shown :] for p in group)
        super().__init__("\n".join([*lines, f"  … and {left:,} more"] if left else lines))

    def _together(self, group: list[Problem]) -> str:
        """One line for problems of one kind."""
        first = group[0]
        place = ", ".join(p for p in (first.file, first.column) if p)
        # different values first: they say more than the same one three times
        distinct = list({p.found: p for p in reversed(group)}.values())[::-1][: self.examples]
        others = (p for p in group if all(p is not f for f in distinct))
        some = [*distinct, *itertools.islice(others, self.examples - len(distinct))]
        cases = ", ".join(f"{p.found} ({p.where})" if p.where else p.found for p in some)
        more = f" and {sum(p.n for p in group) - len(some):,} more"
        return f"{place}: expected {first.expected}, found {cases}{more}" + (f"; {first.hint}" if first.hint else "")


def unordered(pairs: pd.DataFrame) -> pd.DataFrame:
    """The two dialogues of each row in an order that does not depend on the side: columns `low`, `high`."""
    left, right = pairs["dialogue"].astype(object), pairs["dialogue_b"].astype(object)
    swap = right.notna() & (right.astype(str) < left.astype(str))
    return pd.DataFrame({"low": left.where(~swap, right), "high": right.where(~swap, left)})


def _shown(value: Any) -> str:
    """A value as a message says it: numbers in full where rounding them would hide what is wrong."""
    if isinstance(value, str):
        return repr(value) if len(value) <= limits.QUOTED else f"{value[: limits.QUOTED]!r}…"
    if pd.isna(value):
        return "nothing"
    return f"{value:g}" if float(f"{value:g}") == value else repr(float(value))


class _Report:
    """Collects problems by row; `sorted` gives them in the order of the rows."""

    def __init__(self, annotations: Annotations, where: pd.DataFrame | None):
        self.annotations = annotations
        self.found: list[tuple[int, Problem]] = []
        if where is None:
            rows = "row " + (annotations["source_row"] + 1).astype(str)
            where = pd.DataFrame({"file": "annotations", "where": rows}, index=annotations.index)
        self.where = where

    def rows(self, bad: pd.Series, column: str, expected: str | pd.Series, hint: str = "") -> None:
        """A problem for each row where `bad` is true; `expected` may differ by row."""
        every = self.annotations.index[bad.fillna(False).to_numpy(dtype=bool)]
        if not len(every):
            return
        at = every[: limits.PROBLEMS]
        values = self.annotations.loc[at, column]
        texts = [expected] * len(at) if isinstance(expected, str) else expected.loc[at]
        for i, value, text in zip(at, values, texts, strict=True):
            self.one(i, column, text, _shown(value), hint)
        self.left_out(len(every) - len(at))

    def left_out(self, n: int) -> None:
        """Note `n` more problems like the last one."""
        if n > 0:
            i, problem = self.found[-1]
            self.found[-1] = i, replace(problem, n=n + 1)

    def one(self, i: int, column: str, expected: str, content: str, hint: str) -> None:
        place = self.where.loc[i]
        hint = hint or "correct it in the file"
        self.found.append((i, Problem(place["file"], place["where"], column, expected, content, hint)))

    def sorted(self) -> list[Problem]:
        return [problem for _, problem in sorted(self.found, key=lambda pair: pair[0])]


def validate(annotations: Annotations, labels: Iterable[Label], where: pd.DataFrame | None = None) -> list[Problem]:
    """Every problem of a study's annotations, in the order of the rows (an empty list: none).

    annotations : one row per judgement, columns and types of ANNOTATIONS.
    labels : the labels the study declares.
    where : aligned with `annotations`, columns `file` and `where`, to name the place; row numbers when absent.
    """
    report = _Report(annotations, where)
    for name, column in ANNOTATIONS.items():
        if not column.missing:
            values = annotations[name]
            report.rows(values.isna() | (values == "" if column.dtype == "str" else False), name, "a value")
    _check_labels(report, annotations, {(label.method, label.id): label for label in labels})
    _check_units(report, annotations)
    first = annotations["first_shown"]
    report.rows(first.notna() & ~first.isin(["left", "right"]), "first_shown", "left or right")
    _check_repeats(report, annotations)
    _check_systems(report, annotations)
    return report.sorted()


def _check_labels(report: _Report, annotations: Annotations, known: Mapping[tuple[str, str], Label]) -> None:
    """Methods and labels are declared; scores lie on the label's scale."""
    method, score = annotations["method"], annotations["score"]
    odd = ~method.isin(list(METHODS)) & method.notna()
    report.rows(odd, "method", f"one of {', '.join(METHODS)}")
    kind = annotations.groupby(["method", "label"], sort=False).ngroup()  # -1 where either is missing
    pairs = [
        known.get(pair) for pair in annotations[["method", "label"]].dropna().drop_duplicates().itertuples(index=False)
    ]
    spec = {i: pair for i, pair in enumerate(pairs) if pair is not None}
    declared = kind.isin(list(spec))
    names = {m: ", ".join(sorted(i for k, i in known if k == m)) or "none declared" for m in METHODS}
    expected = "a label of method " + method + ": " + method.map(names)
    hint = "correct it, or declare it under `labels:` in the YAML"
    report.rows(~declared & ~odd & (kind >= 0), "label", expected, hint)
    low, high = (kind.map({i: pair.scale[end] for i, pair in spec.items()}).astype(float) for end in (0, 1))
    whole = kind.map({i: pair.integer for i, pair in spec.items()}).eq(True)
    off = declared & score.notna() & ((score < low) | (score > high) | (whole & (score % 1 != 0)))
    scales = {
        i: f"a {'whole ' if pair.integer else ''}number from {pair.scale[0]:g} to {pair.scale[1]:g} ({pair.id})"
        for i, pair in spec.items()
    }
    hint = "correct the value or the scale in the YAML, or list the value in na_values"
    report.rows(off, "score", kind.map(scales), hint)


def _check_units(report: _Report, annotations: Annotations) -> None:
    """What is judged is what the method judges: a turn, a dialogue or a pair."""
    unit = annotations["method"].map({m.id: m.unit for m in METHODS.values()})
    method, turn, other = annotations["method"], annotations["turn"], annotations["dialogue_b"]
    hint = "set `method` in the YAML, or map the column"
    report.rows((unit == "turn") & turn.isna(), "turn", "a turn (" + method + " judges turns)", hint)
    report.rows((unit == "dialogue") & turn.notna(), "turn", "no turn (" + method + " judges whole dialogues)", hint)
    report.rows((unit == "pair") & other.isna(), "dialogue_b", "the other dialogue (" + method + " compares two)", hint)
    single = unit.notna() & (unit != "pair") & other.notna()
    report.rows(single, "dialogue_b", "no other dialogue (" + method + " judges one)", hint)
    hint = 'to leave such comparisons out, write `drop: {dialogue: "= dialogue_b"}` under their source'
    report.rows(other == annotations["dialogue"], "dialogue_b", "a dialogue other than the left one", hint)


def judgement_keys(annotations: Annotations) -> pd.DataFrame:
    """What tells the judgements of an annotator apart, with the index of `annotations`: columns of KEY that are there,
    the dialogues of a pair in one order, and of the work unit what positions differ by."""
    pair = unordered(annotations) if "dialogue_b" in annotations else annotations[["dialogue"]].astype(object)
    key = annotations[[c for c in KEY if c in annotations and c not in ("dialogue", "dialogue_b")]].join(pair)
    if "work_unit" in key and "annotator_known" in annotations:
        key["work_unit"] = key["work_unit"].where(~annotations["annotator_known"].astype(bool))
    elif "work_unit" in key:
        key = key.drop(columns="work_unit")
    return key


def _check_repeats(report: _Report, annotations: Annotations) -> None:
    """An annotator judges an item once per label. Positions also differ by work unit."""
    key = judgement_keys(annotations)
    twice = annotations.index[key.duplicated()]
    if not len(twice):
        return
    first = pd.Series(key.index, key.index).groupby([key[c] for c in key], dropna=False).transform("min")
    hint = (
        "if one person judged it twice, write `repeats: last` (or first, mean, number) under `sources`; "
        "if two did, name the column that tells them apart in `columns: {annotator: …}`"
    )
    for i in twice[: limits.PROBLEMS]:
        place = report.where.at[first[i], "where"]
        repeat = f"a repeat of {place}" if place != report.where.at[i, "where"] else "two in the same place"
        same = annotations.at[i, "score"] == annotations.at[first[i], "score"]
        repeat += ", with the same score" if same else ", with another score"
        report.one(i, "", "one judgement per annotator, item and label", repeat, hint)
    report.left_out(len(twice) - limits.PROBLEMS)


def _check_systems(report: _Report, annotations: Annotations) -> None:
    """A dialogue belongs to one system, on either side of a comparison."""
    left = annotations[["corpus", "dialogue", "system"]]
    right = annotations[["corpus", "dialogue_b", "system_b"]].set_axis(left.columns, axis=1)
    owner = pd.concat([left, right[right["dialogue"].notna()]]).dropna().drop_duplicates()
    shared = owner[owner.duplicated(["corpus", "dialogue"], keep=False)]
    for _, rows in shared.groupby(["corpus", "dialogue"], sort=False):
        systems = rows["system"].tolist()
        i = rows.index[1]
        several_systems = f"dialogue {rows['dialogue'].iloc[0]!r} with {', '.join(map(repr, systems))}"
        hint = "give dialogues of different systems different ids, or map a context column"
        report.one(i, "system", "one system per dialogue", several_systems, hint)
