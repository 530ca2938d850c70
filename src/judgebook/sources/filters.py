"""Which rows of a source count: `keep` and `drop` by column and value, `filters` by what others judged."""

from __future__ import annotations

import difflib
import fnmatch
import operator
import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import pandas as pd

from judgebook import codes
from judgebook.annotations import exclusions
from judgebook.sources import typed
from judgebook.sources.foreign import child
from judgebook.sources.ids import naming
from judgebook.sources.reading import Counts
from judgebook.sources.rows import numbers
from judgebook.study import conditions
from judgebook.study.conditions import Condition
from judgebook.study.labels import METHODS
from judgebook.study.params import Study
from judgebook.study.schema import ANNOTATIONS, Problem

_SIGNS = {"<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge, "=": operator.eq, "!=": operator.ne}
#: a number; 007 is none
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
#: column -> its cells
Columns: TypeAlias = Mapping[str, pd.Series] | pd.DataFrame
#: columns that a comparison has twice
_SIDES = ("system", "dialogue")
#: columns in which a value that does not occur is a mistake, not a case that did not arise
_IDS = {"annotator", "system", "label", "dialogue", "session", "context", "corpus", "group", "method"}


def text_of(value: Any) -> str:
    """A value of the YAML as a cell holds it."""
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value).strip()


def listed(values: Any) -> list[str]:
    return [text_of(v) for v in (values if isinstance(values, list) else [values])]


def _short(values: list[str]) -> str:
    """Values as a reason names them: of many, the first three."""
    named = " or ".join(values[:3])
    return named if len(values) <= 5 else f"{named} or {len(values) - 3} others"


def _texts(cells: pd.Series) -> pd.Series:
    return cells.astype(object).where(cells.notna(), "").astype(str).str.strip()


def matches(columns: Columns, column: str, value: str, *, ids: bool = False) -> pd.Series:
    """Which cells of a column a value of `keep` or `drop` means: by a condition, by text with *, the very text, or the
    same number.

    columns : also those that a condition compares with; where one is absent, no cell is meant. ids : cells are ids, of
    which 1 and 1.0 are two.
    """
    text = _texts(columns[column])
    if condition := conditions.parse(value):
        return _holds(condition, text, columns, column)
    if "*" in value:
        wanted = re.compile(fnmatch.translate(value))
        return text.map(lambda cell: wanted.match(cell) is not None).astype(bool)
    if _NUMBER.fullmatch(value) and not ids:
        alike = pd.to_numeric(text, errors="coerce").eq(float(value))
        return text.eq(value) | alike & text.str.fullmatch(_NUMBER)
    return text.eq(value) | text.str.lower().eq(value) & text.str.lower().isin(["true", "false"])


def _holds(condition: Condition, text: pd.Series, columns: Columns, column: str) -> pd.Series:
    """Where a condition is true of cells. An empty cell is neither equal nor unequal to anything, nor less or more."""
    if condition.sign == "empty":
        return text.eq("")
    if condition.sign == "matches":
        return child.of_texts("contains", condition.expression, text, "keep and drop", column).astype(bool)
    compared = _SIGNS[condition.sign]
    if condition.number is not None:
        number = numbers.read(text)
        return compared(number, condition.number) & number.notna()
    other = _texts(columns[condition.column]) if condition.column in columns else pd.Series("", text.index)
    both = text.ne("") & other.ne("")
    if condition.sign in ("=", "!="):
        return compared(text, other) & both
    sides = [numbers.read(text), numbers.read(other)]
    if any(side[both].isna().any() for side in sides):
        sides = [typed.parsed(side.where(both, None), ANNOTATIONS["completed_at"])[0] for side in (text, other)]
    return compared(*sides) & both


def dropped(
    columns: Columns,
    keep: Mapping[str, Any],
    drop: Mapping[str, Any],
    index: pd.Index,
    people: frozenset[str] = naming.PEOPLE,
) -> tuple[pd.Series, list[tuple[str, str]]]:
    """For every row the reason why it is left out, missing where it stays; and values of the YAML that no row has.

    columns : column -> its cells. people : those whose values reasons must not name. The second is a list of
    (`drop.status`, value).
    """
    reason = pd.Series(None, index=index, dtype=object)
    unknown: list[tuple[str, str]] = []
    for key, rules in (("drop", drop), ("keep", keep)):
        for column, values in rules.items():
            ids = column in _IDS or column in people
            hits = {value: matches(columns, column, value, ids=ids) for value in listed(values)}
            unknown += [(f"{key}.{column}", value) for value, hit in hits.items() if not hit.any() and len(index)]
            if key == "keep":
                stays = pd.concat(hits.values(), axis=1).any(axis=1)
                said = "not one of those kept" if column in people else f"not {_short(list(hits))}"
                reason[reason.isna() & ~stays] = f"{column} is {said} (`keep`)"
                continue
            for value, hit in hits.items():
                condition = conditions.parse(value)
                said = "is one of those left out" if column in people else f"is {value or 'empty'}"
                # a condition names nobody, but for what an expression says
                said = value if condition and (column not in people or condition.sign != "matches") else said
                reason[reason.isna() & hit] = f"{column} {said} (`drop`)"
    return reason, unknown


def _of(rules: Mapping[str, Any], columns: Iterable[str]) -> dict[str, Any]:
    """Rules that look at no other columns than these."""
    return {c: v for c, v in rules.items() if set(conditions.columns({c: v})) <= set(columns)}


def of_rows(
    marks: pd.DataFrame,
    columns: Columns,
    keep: Mapping[str, Any],
    drop: Mapping[str, Any],
    people: frozenset[str] = naming.PEOPLE,
) -> tuple[pd.Series, list[tuple[str, str]]]:
    """As `dropped`, of judgements: a comparison is left out if one side is; `keep` keeps it if both sides are kept."""
    reason, unknown = dropped(columns, keep, drop, marks.index, people)
    if "dialogue_b" not in marks or not marks["dialogue_b"].notna().any():
        return reason, unknown
    pairs = marks[marks["dialogue_b"].notna()]
    sides = [_of(rules, [c for c in _SIDES if f"{c}_b" in marks]) for rules in (keep, drop)]
    other, missed = dropped({c: pairs[f"{c}_b"] for c in {**sides[0], **sides[1]}}, sides[0], sides[1], pairs.index)
    two_sided = {c for rules in sides for c in rules}
    unknown = [u for u in unknown if u[0].split(".", 1)[1] not in two_sided or u in missed]
    return reason.fillna(other.reindex(reason.index)), unknown


def unknown_values(place: str, unknown: list[tuple[str, str]], columns: Columns) -> list[Problem]:
    """Problems for values that no row has: ids always, other values where another spelling occurs."""
    problems = []
    for key, value in unknown:
        column = key.split(".", 1)[1]
        if conditions.parse(value) or "*" in value:
            continue
        seen = [str(v).strip() for v in columns[column].dropna().unique()]
        near = difflib.get_close_matches(value, seen, n=1, cutoff=0.6 if column in _IDS else 0.8)
        near = [s for s in seen if s.lower() == value.lower()] or near
        if not near and column not in _IDS:
            continue
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(seen[:8])}"
        problems.append(Problem(place, "", key, f"a value of {column!r} in the data", repr(value), hint))
    return problems


def of_study(
    study: Study, raw: dict[str, pd.DataFrame], where: pd.DataFrame, counted: set[tuple[str, str]]
) -> tuple[dict[str, pd.DataFrame], pd.DataFrame, list[Problem]]:
    """The raw frames without what the study's `keep` and `drop` leave out; counts of that; values that nothing has.

    counted : (file, unit) that the adapters count: most annotations, some those of turns and of dialogues.

    A comparison is left out if one of its sides is; `keep` keeps it if both sides are kept.
    """
    counts = Counts()
    keep: dict[str, Any] = {str(column): values for column, values in study.keep.items()}
    drop: dict[str, Any] = {str(column): values for column, values in study.drop.items()}
    if not (keep or drop):
        return raw, counts.frame(), []
    marks = codes.plain(raw["annotations"])
    reason, unknown = of_rows(marks, marks, keep, drop)
    pairs = marks[marks["dialogue_b"].notna()]
    out = reason.notna()
    _count(counts, marks, reason, where, counted)
    place = study.path.name if study.path else study.key
    seen = {c: pd.concat([marks[c], pairs[f"{c}_b"]]) if f"{c}_b" in marks else marks[c] for c in {**keep, **drop}}
    problems = unknown_values(place, unknown, seen)
    if out.all() and not problems:
        problems.append(Problem(place, "", "", "judgements left by `keep` and `drop`", "none", "correct them"))
    left = {"annotations": marks[~out]}
    for name in ("dialogues", "work_units", "screening"):
        frame = raw[name]
        rules = [_of(r, frame) for r in (keep, drop)]
        why, _ = dropped(frame, rules[0], rules[1], frame.index)
        left[name] = frame[why.isna()]
    judged = pd.concat([marks["dialogue"], pairs["dialogue_b"]])
    stay = {*left["dialogues"]["dialogue"], *marks.loc[~out, "dialogue"], *marks.loc[~out, "dialogue_b"].dropna()}
    gone = set(judged) | set(raw["dialogues"]["dialogue"])
    for name in ("metric_scores", "dialogue_facts"):
        frame = raw[name]
        left[name] = frame[frame["dialogue"].isin(stay) | ~frame["dialogue"].isin(gone)]
    return {**raw, **left}, counts.frame(), problems


def by_agreement(
    study: Study, marks: pd.DataFrame, where: pd.DataFrame, counted: set[tuple[str, str]]
) -> tuple[pd.DataFrame, pd.DataFrame, list[Problem]]:
    """The annotations without those that `filters` leave out; counts of that; what is wrong with the rules. marks :
    valid annotations, with the index of `where`."""
    counts, labels = Counts(), study.label_list()
    place = study.path.name if study.path else study.key
    if not study.filters:
        return marks, counts.frame(), []
    marks = codes.texts(marks)
    unknown = {label for rule in study.filters for label in rule.labels} - set(marks["label"])
    if unknown:
        there = ", ".join(sorted(marks["label"].unique())[:8])
        return marks, counts.frame(), [Problem(place, "", "filters", "labels that were judged", there, f"{unknown}")]
    reason = exclusions.left_out(marks, labels, study.filters)
    if reason.notna().all():
        problem = Problem(place, "", "filters", "judgements left by the rules", "none", "loosen them")
        return marks, counts.frame(), [problem]
    _count(counts, marks, reason, where, counted)
    return marks[reason.isna()], counts.frame(), []


def _count(
    counts: Counts, marks: pd.DataFrame, reason: pd.Series, where: pd.DataFrame, counted: set[tuple[str, str]]
) -> None:
    """Count judgements with a reason as dropped; the adapter, which knew nothing of it, counted them as kept."""
    unit = marks["method"].map(lambda m: METHODS[m].unit if m in METHODS else "")
    by = [where["file"].reindex(marks.index), marks["corpus"], reason, unit]
    for (file, corpus, said, of), n in reason.dropna().groupby(by, sort=False).size().items():
        what = f"{of} annotations" if (file, f"{of} annotations") in counted else "annotations"
        counts.add(file, what, "dropped", said, n, corpus=corpus)
        counts.add(file, what, "kept", n=-n, corpus=corpus)
