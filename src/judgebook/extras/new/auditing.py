"""`audit`: the answers about data, without a project, for the command line and for Python."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgebook.extras.new import writing
from judgebook.extras.new.asking.edits import edited
from judgebook.extras.new.calls.frames import (
    YAMLS,
    columns_of,
    drafted,
    remove_with,
    roles_of,
    said,
    save,
    stored,
    study_key,
    workspace,
)
from judgebook.extras.new.calls.told import of_frame
from judgebook.study import params, store

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

    from judgebook.pipeline.audit.result import Audit


def command(sources: list[Path], folder: Path | None, values: list[str], *, yes: bool, since: str | None = None) -> int:
    """Audit data files, or the study of a YAML; prints the answers, and returns the exit code.

    folder : where all is written; by default `<name>_audit` in the current folder. values : KEY=VALUE, changes of the
    YAML. yes : accept what is assumed instead of asking. since : of votes, the day or period since which changes are
    asked for; a YAML that is written then reads the column of times, where there is one. A YAML of an earlier audit in
    that folder is used as it is.
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
    elif since and path != source:
        path.write_text(with_times(path.read_text("utf-8")), "utf-8")
    values = [*values, f"comparisons.since={since}"] if since else values
    with output_below(folder):
        first, rows = audited(path, values, lambda step: print(f"  … {step}", file=sys.stderr, flush=True))
        print("", *printed(first, rows), "", sep="\n")
        if since and first.evidence.annotations["system_b"].isna().all():
            print("--since is for votes on two systems; `over_time: {every: week}` compares weeks of other judgements")
        print(f"page: {store.relative(folder / PAGE)}; text: {store.relative(folder / MARKDOWN)}")
        print(f"whole report, with every figure and table: {whole(path)}")
        if n := len(first.evidence.study.open_questions):
            are = "question about the data is" if n == 1 else "questions about the data are"
            print(f"{n} {are} open: answer in {store.relative(path)}, and call the same command again")
    if any(row.state == "failed" for row in rows):
        return 1
    return 3 if first.evidence.study.open_questions else 0


def with_times(text: str) -> str:
    """A YAML that reads the column of times that it says it does not use."""
    unused = re.search(r"\n +# not used: .*`columns: \{completed_at: (.+?)\}` and .*", text)
    return edited(text.replace(unused[0], ""), "sources.*.columns.completed_at", unused[1]) if unused else text


def audit(
    data: IntoDataFrame | str | os.PathLike[str],
    *,
    item: str | None = None,
    annotator: str | None = None,
    system: str | tuple[str, str] | None = None,
    score: str | Sequence[str] | None = None,
    seconds: str | None = None,
    labels: Mapping[str, Mapping[str, Any]] | None = None,
    folder: str | os.PathLike[str] | None = None,
) -> Audit:
    """Answer what one asks first of judgements: which system is best, which labels can be trusted, and so on.

    Parameters
    ----------
    data : frame of pandas, polars or pyarrow, shape (judgements, columns), or (items × annotators, columns) with
        several scores side by side; or the path of a file that `new` reads, or of a study's YAML.
    item, annotator, system : columns that say what was judged, who judged, and which system it is from (of comparisons,
        both: `("left", "right")`); those not named are looked for.
    score : columns of scores; with them, all columns that are not named are left out. An empty cell (None, NaN, "") is
        a judgement that was not made.
    seconds : column of durations in seconds, of a judgement or, where several scores stand side by side, of the row;
        with them the audit says what the judgements took. An empty cell is a duration that is not known.
    labels : a column of scores -> what is known of it, in the words of the YAML, such as
        `{"scale": [1, 5], "direction": -1, "level": "ordinal"}`; scales in points.
    folder : where page, text, YAML and results go; by default a temporary one, which is removed with the Audit.

    Returns
    -------
    Audit
        Answers, findings on the design, figures, and as frames the results that they follow from. What nobody said is
        assumed, and listed in `questions`.

    Raises
    ------
    ParamsError : columns, or labels, that are not there.
    DataError : data that cannot be read.

    Notes
    -----
    Numbers are those of the report; docs/evidence.md names their sources.

    Examples
    --------
    >>> import pandas as pd
    >>> import judgebook as jb
    >>> rows = [(f"prompt {i}", s, a, 3 + (s == "new") + (i + k) % 2) for i in range(30)
    ...         for s in ("old", "new") for k, a in enumerate(["Ann", "Bo", "Cy", "Di", "Ed"])]
    >>> frame = pd.DataFrame(rows, columns=["prompt", "bot", "rater", "quality"])
    >>> found = jb.audit(frame, item="prompt", annotator="rater", system="bot", score="quality")
    >>> found.answers.loc["order", "question"]
    'Which system is best, and how certain is that?'
    >>> [*found.questions]  # scores run from 3 to 5: which scale was offered?
    ['scale of quality']
    """
    from judgebook.pipeline.audit.computing import output_below
    from judgebook.pipeline.audit.result import Audit, Frames
    from judgebook.pipeline.audit.writing import unwritten
    from judgebook.study.stored import open_study

    roles, scores = roles_of(item, annotator, system, seconds=seconds).named, columns_of(score)
    with workspace(folder) as where, of_frame(data, roles, scores):
        source = Path(data) if isinstance(data, str | os.PathLike) else stored(data, roles, scores, where)
        path = source
        if source.suffix not in YAMLS:
            draft = drafted(source, where, roles | said(scores), labels or {}, ())
            path = save(draft, where / f"{study_key(source)}.yaml")
        with output_below(where):
            first, rows, write = unwritten(path, [], lambda step: None)
            frames = Frames(open_study(path.stem))
            if folder:
                write()
        remove_with(frames, None if folder else where)
    if failed := [f"{row.name}: {row.reason}" for row in rows if row.state == "failed"]:
        warnings.warn(f"analyses failed, and the other answers stand without them: {'; '.join(failed)}", stacklevel=2)
    return Audit(path, frames, first.evidence.study.open_questions, where, first, write)
