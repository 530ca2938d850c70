"""A frame of judgements, and what is stated about it, as the YAML of a study."""

from __future__ import annotations

import difflib
import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import EllipsisType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import yaml

from judgebook.extras.new.asking.doubts import Answer, Draft, Question
from judgebook.extras.new.asking.edits import edited
from judgebook.extras.new.asking.terminal import carried
from judgebook.extras.new.transcripts import of_files
from judgebook.extras.new.words import label_id
from judgebook.sources import formats
from judgebook.study import limits, params, store

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

#: a column; None: there is none; `...`: not stated
Column: TypeAlias = str | EllipsisType | None
#: a column, or the two of the systems that were compared
Systems: TypeAlias = str | tuple[str, str] | EllipsisType | None
#: first word of a fact in doubt -> the argument that states it
ARGUMENTS = {
    "system": "write system='COLUMN', or system=None where all judgements are of one",
    "annotator": "write annotator='COLUMN', or annotator=None where the data do not say",
    "item": "write item='COLUMN', or item=None where each row is an item of its own",
    "direction": "write direction=1 (a high score is good), -1 (bad) or 0 (neither)",
    "repeats": "where several systems answered an item, write system='COLUMN'; else keep one judgement of each",
}
#: facts that are assumed as `audit` assumes them, and listed
_GUESSED = ("level of ", "scale of ")
_LEVELS = {"nominal": "names", "ordinal": "ranks", "interval": "amounts"}
#: what a YAML is called by
YAMLS = (".yaml", ".yml")
_ELSEWHERE = (
    "jb.audit(…, folder='DIR') assumes this and writes a YAML: correct that, and pass its path instead of a frame"
)


@contextmanager
def workspace(folder: str | os.PathLike[str] | None) -> Iterator[Path]:
    """`folder`, or a temporary one, which an error removes."""
    where = Path(folder or tempfile.mkdtemp(prefix="judgebook-"))
    try:
        yield where
    except BaseException:
        if not folder:
            shutil.rmtree(where, ignore_errors=True)
        raise


def remove_with(results: object, folder: Path | None) -> None:
    """Remove a temporary folder when the frames that are read from it can be reached no more."""
    if folder:
        weakref.finalize(results, shutil.rmtree, folder, ignore_errors=True)


def study_key(source: Path) -> str:
    """A name for the study of a file: letters, digits and _."""
    name = re.sub(r"\W+", "_", source.stem, flags=re.ASCII).strip("_") or "data"
    return f"data_{name}"[: limits.NAME] if name[0].isdigit() else name[: limits.NAME]


class Roles(NamedTuple):
    """named : our column -> the frame's. without : what a caller says the frame does not have, as facts in doubt."""

    named: dict[str, str]
    without: frozenset[str]


def roles_of(
    item: Column, annotator: Column, system: Systems, label: str | None = None, seconds: str | None = None
) -> Roles:
    """Columns that were named, and those said not to be there. Raises ParamsError for one not named by text."""
    one, other = system if isinstance(system, tuple) else (system, None)
    every = {"dialogue": item, "annotator": annotator, "system": one, "system_b": other}
    every |= {"label": label, "seconds": seconds}
    facts = {"item": item, "annotator": annotator, "system": system}
    _texts(column for column in every.values() if not isinstance(column, EllipsisType | None))
    named = {ours: column for ours, column in every.items() if isinstance(column, str)}
    return Roles(named, frozenset(fact for fact, column in facts.items() if column is None))


def columns_of(score: str | Sequence[str] | None) -> list[str]:
    """Columns of scores, one or several. Errors are those of `roles_of`."""
    if score is None:
        return []
    scores = [*score] if isinstance(score, Sequence) and not isinstance(score, str) else [score]
    _texts(scores)
    return scores


def _texts(columns: Iterable[object]) -> None:
    for column in (column for column in columns if not isinstance(column, str)):
        raise params.ParamsError(
            f"expected the name of a column as text, found {column!r}; write frame.columns = frame.columns.astype(str)"
        )


def said(scores: Sequence[str]) -> dict[str, str]:
    """Columns that hold judgements, as answers to whether they do."""
    return {f"label {column}": column for column in scores}


def stored(data: IntoDataFrame, roles: Mapping[str, str], scores: Sequence[str], folder: Path) -> Path:
    """A frame as a file that can be read again; with `scores`, only the columns that are named.

    Raises ParamsError for columns that are not there, or that no file can hold, and for what is no frame.
    """
    import narwhals as nw
    import pyarrow as pa
    from narwhals.exceptions import DuplicateError, NarwhalsError

    try:
        frame = nw.from_native(data, eager_only=True)
    except DuplicateError as error:
        raise params.ParamsError(f"columns of the frame have the same name: {' '.join(str(error).split())}") from None
    except TypeError:
        raise params.ParamsError(
            f"expected a frame of pandas, polars or pyarrow, found {type(data).__module__}.{type(data).__qualname__}"
        ) from None
    wanted = [*roles.values(), *scores]
    if absent := [column for column in wanted if column not in frame.columns]:
        in_index = absent[0] in getattr(getattr(data, "index", None), "names", ())
        hint = "it is in the index: write frame.reset_index()" if in_index else _near(absent[0], frame.columns)
        raise params.ParamsError(f"no column {absent[0]!r} in the frame; {hint}")
    if scores:
        frame = frame.select(list(dict.fromkeys(wanted)))
    for column in scores:
        cells = frame[column]
        if cells.dtype.is_temporal():
            raise params.ParamsError(f"score={column!r}: expected numbers or words, found {cells.dtype}")
        if cells.dtype.is_float() and len(odd := cells.filter(cells.abs() == float("inf"))):
            raise params.ParamsError(f"score={column!r}: expected numbers that have an end, found {odd[0]}")
    path = folder / "judgements.parquet"
    try:
        with store.atomic(path) as unfinished:
            frame.write_parquet(unfinished)
    except (pa.ArrowException, NarwhalsError, TypeError) as error:
        raise params.ParamsError(
            f"a column of the frame has values of several types, or of one that no file holds: {error.args[-1]}; write "
            "frame.astype({'COLUMN': 'string'})"
        ) from None
    formats.keep(path)
    return path


def drafted(
    source: Path, folder: Path, roles: dict[str, str], facts: Mapping[str, Mapping[str, Any]], settled: Collection[str]
) -> Draft:
    """The first YAML of a file with facts about its labels, and the questions that these leave.

    facts : a label as the data call it -> key of the YAML -> value. settled : facts that need not be asked about.

    Raises ParamsError for a label that is not there.
    """
    out = of_files(study_key(source), [source], folder, roles)
    out.questions = [question for question in out.questions if question.fact not in settled]
    settle(out, facts)
    return out


def settle(out: Draft, facts: Mapping[str, Mapping[str, Any]]) -> None:
    """State facts about labels in a draft, and take back the questions that these answer. Raises as `drafted` does."""
    ids, stated = labels_of(out), set()
    for label, values in facts.items():
        if label not in ids:
            why = f"no scores of {label!r} in the data{_left_out(out, label)}"
            raise params.ParamsError(f"{why}; {_near(label, [*ids])}")
        for key, value in values.items():
            path = f"labels.{ids[label]}.{key}"
            out.text = edited(out.text, path, list(value) if isinstance(value, tuple) else value)
            stated |= {path, f"{key} of {ids[label]}"}
    out.questions = [question for question in out.questions if not _answered(question, stated)]


def labels_of(out: Draft) -> dict[str, str]:
    """Each label as the data call it -> its id in the YAML."""
    data = yaml.safe_load(out.text)
    ids = {x: x for x in data["labels"]}
    ids |= {name: x for source in data["sources"] for name, x in source.get("label_names", {}).items()}
    patterns = [source["scores"] for source in data["sources"] if isinstance(source.get("scores"), str)]
    return ids | {pattern.replace("{label}", name): x for pattern in patterns for name, x in ids.items()}


def save(out: Draft, path: Path) -> Path:
    """Write a draft; returns `path`."""
    with store.atomic(path) as unfinished:
        unfinished.write_text(carried(out), encoding="utf-8")
    return path


def stated(
    data: IntoDataFrame,
    roles: Roles,
    scores: Sequence[str],
    facts: Mapping[str, Any],
    concerned: Collection[str],
    folder: Path,
) -> Draft:
    """The YAML of a frame. Scales and levels that nobody stated are those of `drafted`, and stay as open questions.

    facts : key of a label -> its value for all labels, or a map from label to value; None: not stated. concerned :
    those of level, scale and direction that the analysis is about.

    Raises ParamsError for columns that are not there, and for what is in doubt, with the arguments that state it.
    """
    if not scores:
        raise params.ParamsError("expected `score`, the column of scores, found none")
    long = {"score": scores[0]} if "label" in roles.named else {}
    source = stored(data, roles.named | long, scores, folder)
    out = drafted(source, folder, roles.named | (long or said(scores)), {}, roles.without)
    ids = labels_of(out)
    by_label: dict[str, dict[str, Any]] = {}
    for key, value in facts.items():
        values = value if isinstance(value, Mapping) else dict.fromkeys(ids, value)
        for label, one in values.items():
            by_label.setdefault(label, {}).update({key: one} if one is not None else {})
    settle(out, by_label)
    for key in {"level", "scale", "direction"} - {*concerned}:
        out.without(f"{key} of ")
    if "level" in concerned:
        _levels(out, by_label)
    _raise_what_is_open(out, () if long else scores)
    return out


def _levels(out: Draft, stated: Mapping[str, Mapping[str, Any]]) -> None:
    """Ask whether the level of numbers is the one that was guessed, for labels of which nobody stated it."""
    ids = labels_of(out)
    leveled = {ids[label] for label, values in stated.items() if "level" in values}
    for label, spec in yaml.safe_load(out.text)["labels"].items():
        if label in leveled or spec.get("scale") in (None, [0, 1]):
            continue
        guessed, (low, high) = spec.get("level", "ordinal"), spec["scale"]
        most = f"whole numbers, at most {high - low + 1:g} different ones"
        evidence = most if guessed == "ordinal" else "fractions, or many steps"
        ways = [
            Answer(f"{says}: `level: {level}`", {f"labels.{label}.level": level})
            for level, says in _LEVELS.items()
            if level != guessed
        ]
        assumed = f"{_LEVELS[guessed]} (`level: {guessed}`)"
        text = f"Are the scores of {label} names, ranks or amounts?"
        out.ask(f"level of {label}", text, assumed, *ways, evidence=evidence)


def _raise_what_is_open(out: Draft, scores: Collection[str]) -> None:
    ids = labels_of(out)
    lines = [f"score: {column!r} holds no scores{_left_out(out, column)}" for column in scores if not _is(column, ids)]
    for question in out.questions:
        if question.fact.startswith(_GUESSED):
            continue
        evidence = f" ({question.evidence})" if question.evidence else ""
        how = ARGUMENTS.get(question.fact.partition(" ")[0], f"assumed would be: {question.assumed}. {_ELSEWHERE}")
        lines.append(f"{question.fact}: {question.text}{evidence} {how[0].upper()}{how[1:]}")
    if lines:
        raise params.ParamsError("\n  ".join(["the data leave open how they are to be read:", *lines]))


def _is(column: str, ids: Mapping[str, str]) -> bool:
    return column in ids or label_id(column) in ids


def _answered(question: Question, stated: Collection[str]) -> bool:
    """Whether what is stated is all that the question asks for."""
    paths = {path for answer in question.alternatives for path in answer.edits}
    return question.fact in stated or (bool(paths) and paths <= {*stated})


def _left_out(out: Draft, column: str) -> str:
    """Why a column is not used, where the draft says so."""
    why = re.search(rf"^ *# not used: {re.escape(column)}: (.*)$", out.text, re.MULTILINE)
    return f" ({why[1]})" if why else ""


def _near(name: str, there: Sequence[str]) -> str:
    hint = difflib.get_close_matches(name, there, n=1)
    return f"did you mean {hint[0]!r}?" if hint else f"there are {', '.join(map(repr, there)) or 'none'}"
