"""Quality control of workers by a degraded control system, and standardised scores (Ji et al. 2022).

Every worker rates ordinary systems and a control whose replies are deliberately bad. Workers who do not rate the
control lower than the others paid no attention, or cannot distinguish good from bad replies, and are excluded (section
3.2). The scores of each worker are then standardised, so that lenient and strict workers count alike (section 3.3).

All tests start from `ratings`. A worker is an annotator within one corpus (run).

Sets of workers (`crowd`): `all`; `passed` and `failed` by the rule; `once`, who passed and took part in one run only.
Data may carry lists of verdicts as well: `released` by the authors, or `fitted`, which was found by searching for
printed values and confirms nothing about them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from scipy.special import ndtr

from judgebook.annotations.summary import evaluated
from judgebook.codes import distinct
from judgebook.questions.quality_control.question import QualityControl
from judgebook.statistics.correlation import rounded
from judgebook.study.labels import Label, spelled_out
from judgebook.study.schema import Annotations, DialogueFacts

WORKER = ["corpus", "annotator"]
OVERALL = "overall mean"  # no key of the YAML, which a label may be called


def of_the_method(annotations: Annotations, control: str | None) -> Annotations:
    """The ratings by known people by the method by which the control was rated most often.

    Of the methods that rate single dialogues or turns. Pilots and gold units, which are no runs of the evaluation, are
    left out. Raises ValueError where there is no control, or it was never rated.
    """
    rated = evaluated(annotations[annotations["dialogue_b"].isna()])
    methods = rated.loc[rated["system"] == control, "method"]
    if methods.empty:
        raise ValueError(f"control_system: expected a system that was rated, found {control!r}")
    method = methods.value_counts().index[0]
    return rated[rated["annotator_known"] & (rated["annotator_kind"] == "human") & (rated["method"] == method)]


def ratings(annotations: Annotations, labels: Iterable[Label], control: str | None) -> Annotations:
    """Those `of_the_method`, reversed where necessary so that a high score is good.

    A label of direction -1 is reversed on its scale (100 - x on a scale from 0 to 100); labels of direction 0, which
    are neither good nor bad, are left out. Ji et al. 2022, section 3.3.
    """
    out = of_the_method(annotations, control)
    methods = distinct(out["method"])
    by_id = {label.id: label for label in labels if label.method in methods}
    direction = out["label"].map({id_: label.direction for id_, label in by_id.items()})
    ends = out["label"].map({id_: sum(label.scale) for id_, label in by_id.items()})
    out = out.assign(score=out["score"].where(direction != -1, ends - out["score"]))
    return out[direction != 0].reset_index(drop=True)


def rank_sum(block: np.ndarray, first: np.ndarray, values: np.ndarray) -> pd.DataFrame:
    """Wilcoxon's rank-sum (Mann-Whitney) test of two samples, in many blocks at once.

    Parameters
    ----------
    block : (n,) array
        Codes from 0.
    first : (n,) array of bool
        Whether the value belongs to the first sample of its block.
    values : (n,) array
        Without missing values.

    Returns
    -------
    DataFrame with one row per block, in the order of codes: n_first, n_second; `superiority`, the share of pairs in
    which the first is larger (ties count half); `p_less`, one-sided: the first tends to be lower. Missing where a
    sample is empty; 1 where all values are equal.

    Notes
    -----
    Normal approximation with corrections for ties and continuity. Values equal but for rounding errors tie.
    """
    size = int(block.max()) + 1 if len(block) else 0
    frame = pd.DataFrame({"block": block, "value": rounded(values)})
    ranks = frame.groupby("block")["value"].rank().to_numpy()
    n1 = np.bincount(block, first, size)
    n = np.bincount(block, minlength=size)
    n2 = n - n1
    u = np.bincount(block, np.where(first, ranks, 0), size) - n1 * (n1 + 1) / 2
    ties = frame.groupby(["block", "value"]).size()
    tied = np.bincount(ties.index.get_level_values("block"), (ties**3 - ties).to_numpy(float), size)
    with np.errstate(divide="ignore", invalid="ignore"):
        sd = np.sqrt(n1 * n2 / 12 * (n + 1 - tied / (n * (n - 1))))
        superiority, shift = u / (n1 * n2), u - n1 * n2 / 2
        p_less = np.where(sd > 0, ndtr((shift + 0.5) / sd), 1.0)
    empty = (n1 == 0) | (n2 == 0)
    p_less, superiority = (np.where(empty, np.nan, v) for v in (p_less, superiority))
    columns = {"n_first": n1.astype(int), "n_second": n2.astype(int), "superiority": superiority}
    return pd.DataFrame(columns | {"p_less": p_less})


def worker_tests(scores: pd.DataFrame, control: str, labels: Iterable[str] = ()) -> pd.DataFrame:
    """How reliably each worker rates the control lower than the other systems.

    Parameters
    ----------
    scores : DataFrame
        From `ratings`.
    labels : iterable of str
        Those whose ratings are pooled in the test; none: all. Ji et al. use the positively worded ones.

    Returns
    -------
    DataFrame with one row per worker: corpus, annotator, n_control, n_ordinary, `superiority` of the control, `p`
    (one-sided, control lower; missing where the worker rated only one side), `sd` of all the worker's scores (ddof 1;
    of all labels, including the control), n_units (work units).

    Notes
    -----
    All ratings of the worker in the corpus are pooled, also over several work units. With 5 ratings of the control and
    25 of the others the normal approximation is coarse; the exact test requires untied scores.

    References
    ----------
    Ji et al. 2022, section 3.2.
    """
    keys = scores.groupby(WORKER, sort=False)
    workers = keys.agg(sd=("score", "std"), n_units=("work_unit", "nunique")).reset_index()
    code = keys.ngroup().to_numpy()
    tested = (scores["label"].isin(list(labels)) if labels else scores["label"].notna()).to_numpy()
    tests = rank_sum(code[tested], (scores["system"] == control).to_numpy()[tested], scores["score"].to_numpy()[tested])
    tests = tests.reindex(range(len(workers)))
    workers["n_control"], workers["n_ordinary"] = (tests[c].fillna(0).astype(int) for c in ("n_first", "n_second"))
    return workers.assign(superiority=tests["superiority"], p=tests["p_less"])


def passes(tests: pd.DataFrame, alpha: float = 0.05) -> pd.Series:
    """Whether each worker of `worker_tests` passes: p below alpha, and more than one score.

    A worker without a rating of the control has no p and does not pass.
    """
    return ((tests["p"] < alpha) & (tests["sd"] > 0)).rename("passes")


def of_those_who_passed(
    annotations: Annotations, labels: Iterable[Label], control: str | None, options: QualityControl
) -> Annotations:
    """The annotations of workers who pass, for analyses other than quality control.

    All annotations where the control was not rated by known people, or nobody passes.
    """
    if control is None or not (annotations["annotator_known"] & (annotations["system"] == control)).any():
        return annotations
    workers = worker_tests(ratings(annotations, labels, control), control, options.labels)
    passed = verdict_of(annotations, workers.assign(passed=passes(workers, options.alpha))).eq(True)
    return annotations[passed] if passed.any() else annotations


def verdict_of(rows: pd.DataFrame, workers: pd.DataFrame, column: str = "passed") -> pd.Series:
    """The verdict of each row's worker, from a column of `workers`; missing for workers it does not have."""
    verdicts = workers.set_index(WORKER)[column].astype(object)
    return pd.Series(verdicts.reindex(pd.MultiIndex.from_frame(rows[WORKER])).to_numpy(), rows.index)


def standardise(scores: pd.DataFrame) -> pd.Series:
    """Scores minus the worker's mean, divided by the worker's standard deviation (ddof 1).

    Both are of all of the worker's ratings in the corpus, including those of the control. Missing where the worker
    gave only one score. Ji et al. 2022, section 3.3.
    """
    grouped = scores["score"].groupby([scores[c] for c in WORKER])
    sd = grouped.transform("std")
    return ((scores["score"] - grouped.transform("mean")) / sd.where(sd > 0)).rename("z")


def dialogue_means(scores: pd.DataFrame, value: str) -> pd.DataFrame:
    """One row per dialogue: corpus, system, dialogue, annotator (the first), work_unit, and the mean of its values.

    The mean is that of the labels' means, so that labels judged more often do not weigh more.
    """
    rows = scores[scores[value].notna()]
    keys = ["corpus", "system", "dialogue"]
    means = rows.groupby([*keys, "label"], sort=False)[value].mean().groupby(keys, sort=False).mean()
    who = rows.groupby(keys, sort=False)[["annotator", "work_unit"]].first()
    return who.assign(value=means).reset_index()


#: fact of a dialogue that holds the verdict of a list -> name of the list
LISTS = {"released_pass": "released", "fitted_pass": "fitted"}
SETS = ("all", "passed", "failed", "once")


@dataclass(frozen=True)
class Crowd:
    """Ratings and workers of one study.

    scores : `worker_tests.ratings` with z and a boolean column for each of SETS and each list. workers : from
    `worker_tests.worker_tests`, with the same columns. systems : those that are ranked. corpora : the first is the one
    with which others are compared. options : the section of the YAML. titles : display names of corpora.
    """

    scores: pd.DataFrame
    workers: pd.DataFrame
    systems: list[str]
    corpora: list[str]
    control: str
    options: QualityControl
    titles: Mapping[str, str] = field(default_factory=dict)

    def title(self, corpus: str) -> str:
        """Display name of a run; its id as words where the YAML gives none."""
        return self.titles.get(corpus) or spelled_out(corpus)

    @property
    def shared(self) -> list[str]:
        """Ranked systems that occur in every corpus."""
        seen = self.scores.groupby("system")["corpus"].nunique()
        return [s for s in self.systems if seen.get(s, 0) == len(self.corpora)]

    @property
    def lists(self) -> list[str]:
        """Lists of verdicts that the data carry."""
        return [name for name in LISTS.values() if name in self.workers]

    @property
    def verdicts(self) -> dict[str, dict[str, str]]:
        """Columns of verdicts -> key of their results: the rule, and lists that differ from it."""
        differ = [name for name in self.lists if (self.workers[name] != self.workers["passed"]).any()]
        return {"passed": {}} | {name: {"list": name} for name in differ}

    @property
    def selections(self) -> dict[str, dict[str, str]]:
        """Columns of `scores` that select ratings -> keys of the results based on them."""
        return {s: {"workers": s} for s in SETS} | {
            column: {"workers": "passed", **key} for column, key in self.verdicts.items() if key
        }


def crowd(
    scores: pd.DataFrame,
    facts: DialogueFacts,
    options: QualityControl,
    *,
    control: str | None,
    systems: Sequence[str],
    titles: Mapping[str, str] | None = None,
) -> Crowd:
    """Test every worker, standardise the scores and form the sets of workers.

    Parameters
    ----------
    scores : DataFrame
        From `worker_tests.ratings`.
    facts : DataFrame
        The study's dialogue facts, which may hold lists of verdicts.
    options : QualityControl
        Its `runs` default to the corpora in which the control was rated, sorted.
    systems : sequence of str
        Candidates for the ranking, in the order of figures; the control and those nobody rated drop out.
    titles : mapping, optional
        Display names of corpora.

    Raises
    ------
    ValueError
        Without a control, for a corpus that the ratings do not have, and for corpora that share no system.
    """
    if control is None:
        raise ValueError("control_system: expected a system that was rated, found none")
    all_corpora = sorted(set(scores["corpus"]))
    absent = sorted(set(options.runs) - set(all_corpora))
    if absent:
        raise ValueError(f"runs: expected corpora of the study ({', '.join(all_corpora)}), found {absent}")
    corpora = options.runs or sorted(set(scores.loc[scores["system"] == control, "corpus"]))
    scores = scores[scores["corpus"].isin(corpora)].reset_index(drop=True)
    workers = worker_tests(scores, control, options.labels)
    passed = passes(workers, options.alpha)
    in_runs = workers.groupby("annotator")["corpus"].transform("nunique")
    sets = {"all": True, "passed": passed, "failed": ~passed, "once": passed & (in_runs == 1)}
    workers = workers.assign(**sets, **_lists(scores, facts, workers, passed))
    scores = scores.assign(z=standardise(scores))
    for name in [*SETS, *(n for n in LISTS.values() if n in workers)]:
        scores[name] = verdict_of(scores, workers, name).astype(bool)
    rated = set(scores["system"]) - {control}
    out = Crowd(scores, workers, [s for s in systems if s in rated], list(corpora), control, options, titles or {})
    if not out.shared:
        raise ValueError(f"runs: expected corpora with a system in common, found {corpora}: name those that have one")
    return out


def _lists(
    scores: pd.DataFrame, facts: DialogueFacts, workers: pd.DataFrame, passed: pd.Series
) -> dict[str, pd.Series]:
    """Verdicts of the lists that the facts hold, by worker; where a list says nothing of a worker, the rule's."""
    who = scores.drop_duplicates(["corpus", "dialogue"])[[*WORKER, "dialogue"]]
    out = {}
    for key, name in LISTS.items():
        answered = facts.loc[facts["key"] == key, ["corpus", "dialogue", "value"]].merge(who, on=["corpus", "dialogue"])
        if len(answered):
            yes = (
                answered["value"].eq("yes").groupby([answered[c] for c in WORKER]).all().rename("verdict").reset_index()
            )
            of = verdict_of(workers, yes, "verdict")
            out[name] = of.where(of.notna(), passed).astype(bool)
    return out
