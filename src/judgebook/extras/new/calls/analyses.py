"""`agreement`, `rank` and `plan`: one notebook of the report each, for a frame of judgements."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypeVar

import pandas as pd

from judgebook.extras.new.calls import frames, told
from judgebook.extras.new.calls.frames import Column, Systems
from judgebook.study import params

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

    from judgebook.display.page import NotebookPage
    from judgebook.pipeline.audit.result import Analysis, Audit

T = TypeVar("T")
#: a value for all labels, or one for each
ByLabel: TypeAlias = T | Mapping[str, T] | None
Level = Literal["nominal", "ordinal", "interval", "ratio"]


class _Notebook(NamedTuple):
    """statistics : in the order of `Analysis.estimates`. sections : whose figures are shown, after what it says."""

    name: str
    statistics: tuple[str, ...]
    sections: tuple[str, ...]


_AGREEMENT = _Notebook("03_iaa", ("alpha", "ac", "raw_agreement", "cohen_kappa", "fleiss_kappa", "icc"), ("alphas",))
_RANK = _Notebook(
    "07_bot_performance",
    (
        *("overall_rank", "overall_level", "overall_best_chance", "rank", "level", "strength", "best_chance"),
        *("contrast", "mean", "rate", "share", "bradley_terry"),
    ),
    ("ranks", "rates", "comparisons"),
)
_PLAN = _Notebook(
    "14_planning",
    ("planned_difference", "plan_dialogues", "plan_cost", "plan_detectable"),
    ("designs",),
)


def agreement(
    data: IntoDataFrame | Audit | str | os.PathLike[str],
    *,
    item: Column = ...,
    annotator: Column = ...,
    score: str | Sequence[str] = (),
    label: str | None = None,
    level: ByLabel[Level] = None,
    scale: ByLabel[tuple[float, float]] = None,
    system: Systems = None,
    folder: str | os.PathLike[str] | None = None,
) -> Analysis:
    """Do annotators agree? Krippendorff's alpha of each label with its intervals, and other coefficients: notebook 03.

    Parameters
    ----------
    data : frame of pandas, polars or pyarrow, shape (judgements, columns), or (items × annotators, columns) where
        several labels stand side by side. Or the YAML of a study (path or name), or an Audit: then nothing else is
        needed, and everything is as the YAML says.
    item, annotator : columns that say what was judged and by whom. `annotator=None` states that the data do not say,
        and that the judgements of an item are those of different people; `item=None` that each row is an item.
    score : the column of scores, or several, each a label. Numbers or words; an empty cell (None, NaN, "") is a
        judgement that was not made. Items with fewer than two judgements of a label are left out of its coefficients;
        annotators need not have judged equally many.
    label : the column that names the label, where each row has the score of one.
    level : measurement level of the scores, for all labels or by label. Where it is not given, as `audit` takes them:
        few whole numbers are ordinal, fractions and sliders interval, words nominal unless their order is known.
    scale : lowest and highest score that could be given, in points; where it is not given, the usual scale that the
        scores fit in.
    system : the column of systems, where several answered the same item; of comparisons, both columns.
    folder : where YAML, frames and results go; by default a temporary folder, which is removed with the Analysis.

    Returns
    -------
    Analysis : what was assumed of scales and levels is listed in `questions`, and in what it prints. `confidence` is
        the level of its intervals, by default 0.95. `estimates` has a row for each coefficient,
        label and way to resample: `statistic` (alpha, ac, raw_agreement, cohen_kappa, fleiss_kappa, icc), `label`,
        `estimate` (at most 1, 0 is chance), `ci_low`, `ci_high`, `n` items, and `primary` for those that reports answer
        with.

    Raises
    ------
    ParamsError : a column is not there, or the data leave open how they are to be read, other than by scale and level;
        the message names the argument.
    DataError : scores cannot be read.
    JudgebookError : no item was judged twice.

    Notes
    -----
    Alpha: Krippendorff (2018), Content Analysis, ch. 12; AC: Gwet (2008); see docs/evidence.md.

    Examples
    --------
    >>> import pandas as pd
    >>> import judgebook as jb
    >>> rows = [(f"reply {i}", who, 1 + (i + (i * k) % 3 // 2) % 5) for i in range(20) for k, who in enumerate("ABC")]
    >>> frame = pd.DataFrame(rows, columns=["reply", "rater", "fluency"])
    >>> found = jb.agreement(frame, item="reply", annotator="rater", score="fluency")
    >>> found.estimates.query("primary")[["statistic", "label", "estimate", "n"]].round(2).values.tolist()
    [['alpha', 'fluency', 0.52, 20]]
    >>> found.questions["level of fluency"].partition("? ")[2]
    'Assumed: ranks (`level: ordinal`) (whole numbers, at most 5 different ones).'
    """
    facts = {"level": level, "scale": scale}
    columns = frames.roles_of(item, annotator, system, label)
    return _analysed(data, columns, score, facts, _AGREEMENT, folder, concerned=("level", "scale"))


def rank(
    data: IntoDataFrame | Audit | str | os.PathLike[str],
    *,
    item: Column = ...,
    annotator: Column = ...,
    system: Systems = ...,
    score: str | Sequence[str] = (),
    label: str | None = None,
    direction: ByLabel[Literal[-1, 0, 1]] = None,
    level: ByLabel[Level] = None,
    scale: ByLabel[tuple[float, float]] = None,
    folder: str | os.PathLike[str] | None = None,
) -> Analysis:
    """Which system is best? Ranks, differences, chances of being best, means, rates or strengths: notebook 07.

    Parameters
    ----------
    data, item, annotator, score, label, scale, folder : as of `agreement`.
    system : the column of systems. Of comparisons, the columns of the two: `("left", "right")`; `score` is then the
        column of the winner, by its name or side, or a tie.
    direction : 1 where a high score is good (in comparisons: where being chosen is), -1 where it is bad, 0 neither;
        for all labels or by label. Needed where the name of a label does not say.
    level : as of `agreement`, but never needed. Scores that are names (`nominal`) have no means, only shares.

    Returns
    -------
    Analysis : `questions` and `confidence` as of `agreement`. `estimates` has a row for each estimate:
        `statistic` (of the model of a label: level, in points, or of comparisons strength, log, by Davidson's model
        with ties; rank, 1 the best; best_chance, that of being the best; contrast, of two systems with the interval of
        all pairs at once, of comparisons by how much more are won than lost; `overall_…` over labels, in SD. Without
        it: mean, in points; rate of marks; share of comparisons won, tied or lost; bradley_terry, sum 1), `system`,
        `system_b` of contrasts, `label`, `estimate`, `ci_low`, `ci_high`, and `primary`, which of several estimates
        of one statistic stands in reports.

    Raises
    ------
    ParamsError, DataError : as of `agreement`.
    JudgebookError : there are not two systems with scores.

    Notes
    -----
    One fit of each label, a linear mixed model or Davidson's (1970) of comparisons: docs/evidence.md.

    Examples
    --------
    >>> import pandas as pd
    >>> import judgebook as jb
    >>> rows = [(f"prompt {i}", who, "old", "new", "tie" if (i + k) % 4 == 0 else "old" if (i * k) % 3 == 2 else "new")
    ...         for i in range(20) for k, who in enumerate("ABC")]
    >>> frame = pd.DataFrame(rows, columns=["prompt", "rater", "left", "right", "winner"])
    >>> found = jb.rank(frame, item="prompt", annotator="rater", system=("left", "right"), score="winner", direction=1)
    >>> found.estimates.query("statistic == 'bradley_terry'").set_index("system")["estimate"].round(2).to_dict()
    {'new': 0.69, 'old': 0.31}
    >>> rows = [(f"prompt {i}", s, who, 3 + (s == "new") + (i + k) % 2)
    ...         for i in range(20) for s in ("old", "new") for k, who in enumerate("ABC")]
    >>> frame = pd.DataFrame(rows, columns=["prompt", "bot", "rater", "fluency"])
    >>> found = jb.rank(frame, item="prompt", annotator="rater", system="bot", score="fluency")
    >>> found.estimates.query("statistic == 'rank'").set_index("system")["estimate"].to_dict()
    {'new': 1.0, 'old': 2.0}
    >>> found.questions["scale of fluency"]
    'Which scale was offered for fluency? Assumed: 1 to 5 (scores run from 3 to 5).'
    """
    facts = {"direction": direction, "level": level, "scale": scale}
    columns = frames.roles_of(item, annotator, system, label)
    return _analysed(data, columns, score, facts, _RANK, folder, concerned=("direction", "scale"))


def plan(
    data: IntoDataFrame | Audit | str | os.PathLike[str],
    *,
    item: Column = ...,
    annotator: Column = ...,
    system: Systems = ...,
    score: str | Sequence[str] = (),
    label: str | None = None,
    seconds: str | None = None,
    level: ByLabel[Level] = None,
    scale: ByLabel[tuple[float, float]] = None,
    margin: Mapping[str, float] | None = None,
    power: float | None = None,
    budget: float | None = None,
    hourly_rate: float | None = None,
    minutes: float | None = None,
    folder: str | os.PathLike[str] | None = None,
) -> Analysis:
    """How many dialogues and annotators does the next study need, if judgements vary as in these? Notebook 14.

    Parameters
    ----------
    data, item, annotator, system, score, label, level, scale, folder : as of `rank`; these judgements are the pilot.
    seconds : column of durations in seconds, as of `audit`; with it the plan has costs.
    margin : label -> smallest difference between two systems that matters, in points of its scale (in comparisons:
        share won minus share lost). Labels that are not named: half a standard deviation of dialogues. Never the
        difference that was observed.
    power : probability with which the difference is to be found, between 0.5 and 1; by default 0.8.
    budget, hourly_rate : money available, and what an hour of an annotator costs, in one currency.
    minutes : that an annotator takes to judge a dialogue; by default the median of `seconds`, where they are given.

    Returns
    -------
    Analysis : `questions` and `confidence` as of `agreement`. `estimates` has a row for each estimate:
        `statistic` (planned_difference and plan_detectable, in points; plan_dialogues, per system; plan_cost, in hours
        or money), `label`, the design (`annotators_per_dialogue`, `annotators`), `aim` (cheapest,
        separate, budget; missing: a design that is considered), `estimate`.

    Raises
    ------
    ParamsError, DataError : as of `agreement`; also for an unknown label in `margin`, or a value out of its range.
    JudgebookError : there are not two systems that can be compared.

    Notes
    -----
    From the fit of each label, as `rank`: docs/evidence.md, on planning.

    Examples
    --------
    >>> import pandas as pd
    >>> import judgebook as jb
    >>> rows = [(f"prompt {i}", s, who, 2 + (s == "new") + (i * i + k * i) % 3)
    ...         for i in range(24) for s in ("old", "new") for k, who in enumerate("ABC")]
    >>> frame = pd.DataFrame(rows, columns=["prompt", "bot", "rater", "fluency"])
    >>> roles = {"item": "prompt", "annotator": "rater", "system": "bot", "score": "fluency"}
    >>> found = jb.plan(frame, **roles, margin={"fluency": 0.5})
    >>> found.estimates.query("statistic == 'planned_difference'")["estimate"].tolist()
    [0.5]
    """
    stated = {"planning.power": power, "planning.budget": budget, "costs.hourly_rate": hourly_rate}

    def values(study: params.Study, ids: Mapping[str, str]) -> list[str]:
        every: dict[str, float | None] = {
            f"margin.{ids.get(name, name)}": value for name, value in (margin or {}).items()
        }
        methods = dict.fromkeys(x.method for x in study.label_list()) if minutes is not None else {}
        every |= stated | {f"planning.minutes_per_judgement.{method}": minutes for method in methods}
        return [f"{key}={value!r}" for key, value in every.items() if value is not None]

    columns = frames.roles_of(item, annotator, system, label, seconds)
    facts = {"level": level, "scale": scale}
    return _analysed(data, columns, score, facts, _PLAN, folder, concerned=("scale",), values=values)


def _analysed(
    data: IntoDataFrame | Audit | str | os.PathLike[str],
    columns: frames.Roles,
    score: str | Sequence[str],
    facts: Mapping[str, Any],
    notebook: _Notebook,
    folder: str | os.PathLike[str] | None,
    *,
    concerned: Collection[str],
    values: Callable[[params.Study, Mapping[str, str]], list[str]] = lambda study, ids: [],
) -> Analysis:
    """Carry out the analysis of a notebook.

    facts : key of a label in the YAML -> its value, or values by label. concerned : those of level, scale and direction
    that it is about. values : changes of the YAML, of its study and the ids of its labels by name.
    """
    from judgebook.pipeline.audit.computing import one, output_below
    from judgebook.pipeline.audit.result import Analysis, Audit, Frames
    from judgebook.study.stored import open_study

    scores = frames.columns_of(score)
    with frames.workspace(folder) as where, told.of_frame(data, columns.named, scores):
        ids: Mapping[str, str] = {}
        if isinstance(data, str | os.PathLike | Audit):
            if columns.named or scores or any(value is not None for value in facts.values()):
                raise params.ParamsError("expected no columns and labels beside a YAML or an Audit: the YAML has them")
            path = params.find(data.yaml if isinstance(data, Audit) else _no_data(data))
        else:
            draft = frames.stated(data, columns, scores, facts, concerned, where)
            ids, path = frames.labels_of(draft), frames.save(draft, where / "judgements.yaml")
        with output_below(where):
            study = params.load(path)
            page = one(path, notebook.name, values(study, ids))
            results = Frames(open_study(path.stem))
            frames.remove_with(results, None if folder else where)
    estimates = _together(page, notebook)
    return Analysis(where, path, results, study.open_questions, estimates, page, notebook.sections)


def _no_data(path: str | os.PathLike[str]) -> str | os.PathLike[str]:
    """Raises ParamsError where it is the path of something else than a YAML."""
    if Path(path).is_file() and Path(path).suffix not in frames.YAMLS:
        raise params.ParamsError(
            f"{path}: expected a frame, or the YAML of a study: read the file first, with pandas.read_csv, say"
        )
    return path


def _together(page: NotebookPage, notebook: _Notebook) -> pd.DataFrame:
    """Rows of several statistics below each other, without columns that are empty."""
    every = {name: page.results[name].dropna(axis=1, how="all") for name in notebook.statistics}
    there = [rows.assign(statistic=name, notebook=notebook.name) for name, rows in every.items() if len(rows)]
    out = pd.concat(there, ignore_index=True)
    # rows that lack a column have made it one of objects
    out = out.assign(**{c: out[c].convert_dtypes() for c in out if pd.api.types.is_object_dtype(out[c])})
    first = ["statistic", "notebook"]
    return out[[*first, *out.columns.drop(first)]]
