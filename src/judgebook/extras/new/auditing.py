"""`audit`: the answers about data, without a project, for the command line and for Python."""

from __future__ import annotations

import difflib
import os
import re
import shutil
import sys
import tempfile
import warnings
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgebook.extras.new import writing
from judgebook.extras.new.asking.edits import edited
from judgebook.extras.new.asking.terminal import carried
from judgebook.extras.new.transcripts import of_files
from judgebook.study import limits, params, store

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

    from judgebook.pipeline.audit.result import Audit

#: what a YAML is called by
YAMLS = (".yaml", ".yml")
#: our columns that `audit` takes the names of: item, annotator and system
ROLES = ("dialogue", "annotator", "system")


def command(sources: list[Path], folder: Path | None, values: list[str], *, yes: bool) -> int:
    """Audit data files, or the study of a YAML; prints the answers, and returns the exit code.

    folder : where all is written; by default `<name>_audit` in the current folder. values : KEY=VALUE, changes of the
    YAML. yes : accept what is assumed instead of asking. A YAML of an earlier audit in that folder is used as it is.
    The code is 0, 1 where an analysis failed, 2 where data could not be read, 3 where questions about them are open.
    """
    from judgebook.pipeline.audit.computing import output_below
    from judgebook.pipeline.audit.writing import MARKDOWN, PAGE, audited, printed, whole

    if absent := [source for source in sources if not source.exists()]:
        raise params.ParamsError(f"{absent[0]}: no such file")
    source, key = sources[0], study_key(sources[0])
    if len(sources) > 1 and any(one.suffix in YAMLS for one in sources):
        raise params.ParamsError("audit: expected files of data, or one YAML, found both, or several")
    folder = folder or Path(f"{key}_audit")
    path = source if source.suffix in YAMLS else folder / f"{key}.yaml"
    if path.exists() and path != source:
        print(f"using {store.relative(path)}, which describes the data; without it, they are looked at anew")
    elif path != source and writing.write(path, sources, yes=yes, facts_only=True) == 2:
        return 2
    with output_below(folder):
        first, rows = audited(path, values, lambda step: print(f"  … {step}", file=sys.stderr, flush=True))
        print("", *printed(first, rows), "", sep="\n")
        print(f"page: {store.relative(folder / PAGE)}; text: {store.relative(folder / MARKDOWN)}")
        print(f"whole report, with every figure and table: {whole(path)}")
    if any(row.state == "failed" for row in rows):
        return 1
    return 3 if first.evidence.study.open_questions else 0


def study_key(source: Path) -> str:
    """A name for the study of a file: letters, digits and _."""
    name = re.sub(r"\W+", "_", source.stem, flags=re.ASCII).strip("_") or "data"
    return f"data_{name}"[: limits.NAME] if name[0].isdigit() else name[: limits.NAME]


def audit(
    data: IntoDataFrame | str | os.PathLike[str],
    *,
    item: str | None = None,
    annotator: str | None = None,
    system: str | None = None,
    score: str | Sequence[str] | None = None,
    labels: Mapping[str, Mapping[str, Any]] | None = None,
    folder: str | os.PathLike[str] | None = None,
) -> Audit:
    """Answer what one asks first of judgements: which system is best, which labels can be trusted, and so on.

    data : a frame of pandas, polars or pyarrow with a row per judgement (or per item and annotator), or the path of a
    file that `new` reads, or of a study's YAML. item, annotator, system : columns that say what was judged, who judged,
    and which system it is from; those not named are looked for. score : columns of scores; with them, all columns that
    are not named are left out. labels : a column of scores -> what is known of it, in the words of the YAML, such as
    `{"scale": [1, 5], "direction": -1}`. folder : where page, text, YAML and results go; by default a temporary one,
    which is removed with the Audit.

    What nobody said is assumed, and listed in `Audit.questions`. A missing score is a judgement that was not made.

    Raises ParamsError for columns that are not there, DataError for data that cannot be read.

    >>> import pandas as pd
    >>> rows = [(f"prompt {i}", s, a, 3 + (s == "new") + (i + k) % 2) for i in range(30)
    ...         for s in ("old", "new") for k, a in enumerate(["Ann", "Bo", "Cy", "Di", "Ed"])]
    >>> frame = pd.DataFrame(rows, columns=["prompt", "bot", "rater", "quality"])
    >>> answers = audit(frame, item="prompt", annotator="rater", system="bot", score="quality").answers
    >>> answers.loc["order", "question"]
    'Which system is best, and how certain is that?'
    """
    from judgebook.pipeline.audit.computing import output_below
    from judgebook.pipeline.audit.result import Audit, Frames
    from judgebook.pipeline.audit.writing import audited
    from judgebook.study.stored import open_study

    where = Path(folder or tempfile.mkdtemp(prefix="judgebook-"))
    roles = {ours: column for ours, column in zip(ROLES, (item, annotator, system), strict=True) if column}
    if isinstance(data, str | os.PathLike):
        source = Path(data)
    else:
        source = _stored(data, roles, [score] if isinstance(score, str) else score, where)
    path = source
    if source.suffix not in YAMLS:
        path = where / f"{study_key(source)}.yaml"
        text = carried(of_files(path.stem, [source], where, roles))
        for label, facts in (labels or {}).items():
            for key, value in facts.items():
                text = edited(text, f"labels.{label}.{key}", value)
        with store.atomic(path) as unfinished:
            unfinished.write_text(text, encoding="utf-8")
    with output_below(where):
        first, rows = audited(path, [], lambda step: None)
        frames = Frames(open_study(path.stem))
    if failed := [f"{row.name}: {row.reason}" for row in rows if row.state == "failed"]:
        warnings.warn(f"analyses failed, and the other answers stand without them: {'; '.join(failed)}", stacklevel=2)
    out = Audit(where, path, frames, first.evidence.study.open_questions, first)
    if not folder:
        weakref.finalize(out, shutil.rmtree, where, ignore_errors=True)
    return out


def _stored(data: IntoDataFrame, roles: Mapping[str, str], scores: Sequence[str] | None, folder: Path) -> Path:
    """A frame as a file that can be read again. Raises ParamsError for columns that are not there."""
    import narwhals as nw

    frame = nw.from_native(data, eager_only=True)
    wanted = [*roles.values(), *(scores or [])]
    if absent := [column for column in wanted if column not in frame.columns]:
        hint = difflib.get_close_matches(absent[0], frame.columns, n=1)
        there = f"did you mean {hint[0]!r}?" if hint else f"there are {', '.join(map(repr, frame.columns))}"
        raise params.ParamsError(f"no column {absent[0]!r} in the frame; {there}")
    if scores:
        frame = frame.select(list(dict.fromkeys(wanted)))
    path = folder / "judgements.parquet"
    with store.atomic(path) as unfinished:
        frame.write_parquet(unfinished)
    return path
