"""The tidy frames everything passes through, the result rows everything ends in, and their validation.

`ANNOTATIONS` and its siblings say which columns a frame has; `conform` gives a frame those columns, order and types;
`validate` reports every problem of a study's annotations at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from pydantic import RootModel

from judgebook import codes
from judgebook.study import limits, yaml_file
from judgebook.study.labels import METHODS, Label

# all that checks data imports them from here, with the frames
from judgebook.study.problems import PLACE
from judgebook.study.problems import DataError as DataError
from judgebook.study.problems import Problem as Problem
from judgebook.study.problems import several as several
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
#: what a tie may be, where the data tell
TIES = BOTH_GOOD, BOTH_BAD = "both good", "both bad"
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
#: stands for a corpus in results over all runs of a study
ALL_RUNS = "all runs"
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
    empty = cache(partial(_missing, n=n))  # columns of a type share what holds nothing
    for name, column in spec.items():
        if name in constant:
            texts = column.dtype == "str" and bool(codes.columns(frame))
            once = codes.constant(str(constant[name]), pd.RangeIndex(n)).array if texts else None
            out[name] = _repeated(constant[name], column.dtype, n) if once is None else once
            continue
        elif name in frame:
            values = frame[name]
        elif column.missing:
            out[name] = empty(column.dtype)
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
    return _repeated(None, dtype, n)


def _repeated(value: Any, dtype: str, n: int) -> pd.api.extensions.ExtensionArray:
    return _once(value, dtype).take(np.zeros(n, dtype=np.intp))


@cache
def _once(value: Any, dtype: str) -> pd.api.extensions.ExtensionArray:
    return pd.Series([value], dtype=dtype).array


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
    if dtype == "str":
        return values if codes.is_coded(values) else codes.as_text(values)
    return values.astype(dtype)


def unordered(pairs: pd.DataFrame) -> pd.DataFrame:
    """The two dialogues of each row in an order that does not depend on the side: columns `low`, `high`."""
    left, right = pairs["dialogue"], pairs["dialogue_b"]
    if codes.is_coded(left) and right.isna().all():
        return pd.DataFrame({"low": left, "high": right})
    left, right = left.astype(object), right.astype(object)
    if right.isna().all():
        return pd.DataFrame({"low": left, "high": right})
    swap = right.notna() & (right.astype(str) < left.astype(str))
    return pd.DataFrame({"low": left.where(~swap, right), "high": right.where(~swap, left)})


def _shown(value: Any) -> str:
    """A value as a message says it: numbers in full where rounding them would hide what is wrong."""
    if isinstance(value, str):
        return repr(value) if len(value) <= limits.QUOTED else f"{value[: limits.QUOTED]!r}…"
    if pd.isna(value):
        return "nothing"
    return f"{value:g}" if float(f"{value:g}") == value else repr(float(value))


#: said where nothing better is known
MEND = "correct it in the file"
#: a place in a row of a table: the row, and a column
_IN_ROW = re.compile(rf"({PLACE.pattern.replace('row|line|record', 'row')}), .*", re.DOTALL)


def by_row(places: pd.DataFrame) -> pd.DataFrame:
    """Of places that differ only in the column of a row, the first, without the column."""
    row = places.assign(where=places["where"].astype(str).map(_row))
    return places.mask(row.duplicated(keep=False), row)[~row.duplicated()]


def _row(where: str) -> str:
    """The row that a place in a table is in; another place as it is."""
    return _IN_ROW.sub(r"\1", where)


class _Report:
    """Collects problems by row; `sorted` gives them in the order of the rows."""

    def __init__(self, annotations: Annotations, where: pd.DataFrame | None):
        self.annotations = annotations
        self.found: list[tuple[int, Problem]] = []
        if where is None:
            rows = "row " + (annotations["source_row"] + 1).astype(str)
            where = pd.DataFrame({"file": "annotations", "where": rows}, index=annotations.index)
        self.where = where
        #: scores as the file has them, where that is known
        self.cells = where.get("cell")

    def rows(self, bad: pd.Series, column: str, expected: str | pd.Series, hint: str = "", kind: str = "") -> None:
        """A problem for each row where `bad` is true; `expected` may differ by row.

        What is wrong with all judgements of a row in a table is told once, unless it is wrong with labels and scores.
        """
        every = self.annotations.index[bad.fillna(False).to_numpy(dtype=bool)]
        if not len(every):
            return
        texts = pd.Series(expected, every) if isinstance(expected, str) else expected.loc[every]
        place = self.where.loc[every, ["file", "where"]].assign(expected=texts)
        place = by_row(place) if column not in ("label", "score") else place
        at = place.index[: limits.PROBLEMS]
        values = self.annotations.loc[at, [column, "method", "label", "score"]].astype(object)
        for i, (value, *of), where in zip(at, values.itertuples(index=False, name=None), place["where"], strict=False):
            cell = of[-1] if self.cells is None else self.cells[i]
            odd = str(of[0]), str(of[1]), str(cell)
            problem = Problem(
                place.at[i, "file"], where, column, texts[i], _shown(value), hint or MEND, kind=kind, of=odd
            )
            self.found.append((i, problem))
        self.left_out(len(place) - len(at))

    def left_out(self, n: int) -> None:
        """Note `n` more problems like the last one."""
        if n > 0:
            i, problem = self.found[-1]
            self.found[-1] = i, replace(problem, n=n + 1)

    def one(self, i: int, column: str, expected: str, content: str, hint: str, kind: str = "") -> None:
        file, where = self.where.loc[i, ["file", "where"]]
        where = _row(where) if column else where
        self.found.append((i, Problem(file, where, column, expected, content, hint, kind=kind)))

    def row(self, i: int, beside: int) -> str:
        """The row of a judgement, with its file where another is in another file."""
        file, where = self.where.loc[i, ["file", "where"]]
        return _row(where) if file == self.where.at[beside, "file"] else f"{file}, {_row(where)}"

    def sorted(self) -> list[Problem]:
        return [problem for _, problem in sorted(self.found, key=lambda pair: pair[0])]


def validate(annotations: Annotations, labels: Iterable[Label], where: pd.DataFrame | None = None) -> list[Problem]:
    """Every problem of a study's annotations, in the order of the rows (an empty list: none).

    annotations : one row per judgement, columns and types of ANNOTATIONS.
    labels : the labels the study declares.
    where : aligned with `annotations`, columns `file` and `where`, to name the place, and `cell`, the text of the
        score; row numbers when absent.
    """
    report = _Report(annotations, where)
    for name, column in ANNOTATIONS.items():
        if not column.missing:
            values = annotations[name]
            report.rows(
                values.isna() | (values == "" if column.dtype == "str" else False), name, "a value", kind="empty"
            )
    _check_labels(report, annotations, {(label.method, label.id): label for label in labels})
    _check_units(report, annotations)
    first = annotations["first_shown"]
    report.rows(first.notna() & ~first.isin(["left", "right"]), "first_shown", "left or right")
    tie, hint = annotations["tie"], "map it to 0 in `values`, or remove it from `ties`"
    report.rows(tie.notna() & (~tie.isin(TIES) | (annotations["score"] != 0)), "tie", "a tie: the score 0", hint)
    _check_repeats(report, annotations)
    _check_systems(report, annotations)
    return report.sorted()


def _check_labels(report: _Report, annotations: Annotations, known: Mapping[tuple[str, str], Label]) -> None:
    """Methods and labels are declared; scores lie on the label's scale."""
    method, score = annotations["method"], annotations["score"]
    odd = ~method.isin(list(METHODS)) & method.notna()
    report.rows(odd, "method", f"one of {', '.join(METHODS)}")
    # -1 where either is missing; pandas says NaN
    kind = annotations.groupby(["method", "label"], sort=False).ngroup().fillna(-1).astype(int)
    pairs = [
        known.get(pair) for pair in annotations[["method", "label"]].dropna().drop_duplicates().itertuples(index=False)
    ]
    spec = {i: pair for i, pair in enumerate(pairs) if pair is not None}
    declared = kind.isin(list(spec))
    names = {m: ", ".join(sorted(i for k, i in known if k == m)) or "none declared" for m in METHODS}
    undeclared = ~declared & ~odd & (kind >= 0)
    expected = codes.decoded(method[undeclared]).map(lambda m: f"a label of method {m}: {names[m]}")
    hint = "correct it, or declare it under `labels:` in the YAML"
    report.rows(undeclared, "label", expected, hint, kind="label")
    # the last one is of a kind that is missing, which is -1
    low, high = (
        pd.Series(np.array([np.nan if p is None else p.scale[end] for p in [*pairs, None]])[kind], kind.index)
        for end in (0, 1)
    )
    whole = pd.Series(np.array([p is not None and p.integer for p in [*pairs, None]])[kind], kind.index)
    off = declared & score.notna() & ((score < low) | (score > high) | (whole & (score % 1 != 0)))
    scales = {
        i: f"a {'whole ' if pair.integer else ''}number from {pair.scale[0]:g} to {pair.scale[1]:g} ({pair.id})"
        for i, pair in spec.items()
    }
    hint = "correct the value or the scale in the YAML, or list the value in na_values"
    report.rows(off, "score", kind[off].map(scales), hint, kind="off the scale")


def _check_units(report: _Report, annotations: Annotations) -> None:
    """What is judged is what the method judges: a turn, a dialogue or a pair."""
    method, turn, other = annotations["method"], annotations["turn"], annotations["dialogue_b"]
    units = {m.id: m.unit for m in METHODS.values()}
    unit = codes.mapped(method, units.get)

    def report_where(bad: pd.Series, column: str, before: str, after: str, hint: str) -> None:
        report.rows(bad, column, method[bad].map(lambda m: f"{before} ({m} {after})"), hint)

    write = "write `method: {}` in the YAML, or {} `{}` under `columns` of the source"
    hint = write.format("dialogue_rating", "name the column of turns as", "turn")
    report_where((unit == "turn") & turn.isna(), "turn", "a turn", "judges turns", hint)
    hint = write.format("turn_rating", "leave out", "turn")
    report_where((unit == "dialogue") & turn.notna(), "turn", "no turn", "judges whole dialogues", hint)
    hint = write.format("dialogue_rating", "name the column of the other dialogue as", "dialogue_b")
    report_where((unit == "pair") & other.isna(), "dialogue_b", "the other dialogue", "compares two", hint)
    single = unit.notna() & (unit != "pair") & other.notna()
    hint = write.format("comparative", "leave out", "dialogue_b")
    report_where(single, "dialogue_b", "no other dialogue", "judges one", hint)
    hint = 'to leave such comparisons out, write `drop: {dialogue: "= dialogue_b"}` under their source'
    pairs = annotations.loc[other.notna(), ["dialogue", "dialogue_b"]].astype(object)
    same = pairs.index[pairs["dialogue"] == pairs["dialogue_b"]]
    for i in same[: limits.PROBLEMS]:
        report.one(i, "dialogue_b", "a dialogue other than the left one", "the same on both sides", hint)
    report.left_out(len(same) - limits.PROBLEMS)


def judgement_keys(annotations: Annotations) -> pd.DataFrame:
    """What tells the judgements of an annotator apart, with the index of `annotations`: columns of KEY that are there,
    the dialogues of a pair in one order, and of the work unit what positions differ by."""
    pair = (
        unordered(annotations) if "dialogue_b" in annotations else codes.plain(annotations[["dialogue"]]).astype(object)
    )
    key = annotations[[c for c in KEY if c in annotations and c not in ("dialogue", "dialogue_b")]].join(pair)
    if "work_unit" in key and "annotator_known" in annotations:
        key["work_unit"] = key["work_unit"].where(~annotations["annotator_known"].astype(bool))
    elif "work_unit" in key:
        key = key.drop(columns="work_unit")
    return key


def _check_repeats(report: _Report, annotations: Annotations) -> None:
    """An annotator judges an item once per label. Positions also differ by work unit."""
    whole = annotations["annotator"].notna() & annotations["dialogue"].notna()
    key = judgement_keys(annotations if whole.all() else annotations[whole])
    twice = key.index[key.duplicated()]
    if not len(twice):
        return
    first = pd.Series(key.index, key.index).groupby([key[c] for c in key], dropna=False).transform("min")
    # a reply of another system is no repeat: that both are in one dialogue is told of it
    dialogue, system = (annotations[c].astype(object).fillna("") for c in ("dialogue", "system"))
    once = first[twice]
    replied = (dialogue[twice].to_numpy() == dialogue[once].to_numpy()) & (
        system[twice].to_numpy() != system[once].to_numpy()
    )
    twice = twice[~replied]
    hint = (
        "if one person judged it twice, write `repeats: last` (or first, mean, number) under `sources`; "
        "if two did, name the column that tells them apart in `columns: {annotator: …}`"
    )
    score = annotations["score"]
    same = score[twice].to_numpy() == score[first[twice]].to_numpy()
    if len(twice) > 1:
        hint = f"the score is the same in {same.sum():,}, another in {(~same).sum():,}; {hint}"
    for i, equal in zip(twice[: limits.PROBLEMS], same, strict=False):
        alone = (
            report.where.loc[first[i], ["file", "where"]].tolist() == report.where.loc[i, ["file", "where"]].tolist()
        )
        repeat = "two in the same place" if alone else f"a repeat of {report.row(first[i], i)}"
        repeat += ", with the same score" if equal else ", with another score"
        report.one(i, "", "one judgement per annotator, item and label", repeat, hint)
    report.left_out(len(twice) - limits.PROBLEMS)


def _check_systems(report: _Report, annotations: Annotations) -> None:
    """A dialogue belongs to one system, on either side of a comparison."""
    left = annotations[["corpus", "dialogue", "system"]]
    right = annotations[["corpus", "dialogue_b", "system_b"]].set_axis(left.columns, axis=1)
    sides = (left, right[right["dialogue"].notna()])
    owner = pd.concat([codes.plain(side.drop_duplicates()) for side in sides]).dropna().drop_duplicates()
    shared = owner[owner.duplicated(["corpus", "dialogue"], keep=False)]
    hint = "give dialogues of different systems different ids, or map a context column"
    for _, rows in shared.groupby(["corpus", "dialogue"], sort=False):
        (first, one), (i, another) = sorted(rows["system"].items())[:2]
        several_systems = f"{another!r} where {report.row(first, i)} has {one!r}"
        report.one(i, "system", "one system per dialogue", several_systems, hint, "systems")
