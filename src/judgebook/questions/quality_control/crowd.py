"""Who rated, who passed quality control, and scores standardised per worker.

Sets of workers: `all`; `passed` and `failed` by the rule; `once`, who passed and took part in one run only. Data may
carry lists of verdicts as well: `released` by the authors, or `fitted`, which was found by searching for printed values
and confirms nothing about them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from judgebook.questions.quality_control.question import QualityControl
from judgebook.questions.quality_control.worker_tests import (
    WORKER,
    passes,
    standardise,
    verdict_of,
    worker_tests,
)
from judgebook.study.labels import spelled_out
from judgebook.study.schema import DialogueFacts

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
