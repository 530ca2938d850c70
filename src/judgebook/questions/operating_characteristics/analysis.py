"""How often are the fit of notebook 07, and intervals of alpha, right in studies like this one? Notebook 80.

Everything concerns one corpus and evaluator group, the one with most items judged twice. Of each method one label is
fitted, the one with the lowest mean of those whose systems can be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import partial

import pandas as pd

from judgebook.annotations import population
from judgebook.annotations.summary import in_sessions
from judgebook.execution.tasks import run
from judgebook.questions.operating_characteristics import alpha, fits
from judgebook.questions.operating_characteristics.monte_carlo import Row, SimulationPlan
from judgebook.questions.operating_characteristics.question import Operating
from judgebook.questions.performance.analysis import chosen
from judgebook.study.labels import Label
from judgebook.study.results import Results, collect
from judgebook.study.schema import ITEM, Annotations


def analyse(
    annotations: Annotations,
    labels: list[Label],
    sizes: Operating,
    *,
    first: int | None,
    confidence: float,
    seed: int,
    unranked: Collection[str] = (),
    declared: str = "auto",
) -> Results:
    """`null_rejection`, `interval_coverage`, `interval_power`, `interval_width`, as the data allow (`fits`, `alpha`).

    Parameters
    ----------
    annotations : DataFrame
        Those of the evaluation itself.
    sizes : Operating
        Numbers of runs, resamples and labels.
    first : int or None
        Annotations per item that agreement uses, as in notebook 03.
    unranked : collection of str
        Systems that are not compared with others.
    declared : str
        `inference.annotators`.

    Raises
    ------
    ValueError
        If no item was judged twice.
    """
    every = annotations[annotations["annotator_kind"] == "human"]
    size = every.groupby([*ITEM, "group"], dropna=False, sort=False)["score"].transform("size")
    often = every[size >= 2].groupby(["corpus", "group"])["score"].size()
    if often.empty:
        raise ValueError("no item was judged twice by people of one group")
    corpus, group = often.idxmax()
    every = in_sessions(every[(every["corpus"] == corpus) & (every["group"] == group)])[0]
    plan = SimulationPlan(sizes.n_runs, sizes.n_resamples, seed, confidence)
    pieces: list[Callable[[], list[Row]]] = []
    for one in alpha.by_prevalence(list(alpha.repeated(every, labels, first)), sizes.labels):
        pieces.append(partial(_rows, alpha.coverage, one, plan))
    ranked = chosen(every, unranked, labels)
    ranked = ranked[~ranked[["system", "system_b"]].isin(list(unranked)).any(axis=1)]
    for _, of_method in ranked.groupby("method", sort=False):
        pieces.append(partial(_fitted, of_method, declared, plan))
    rows = [row for made in run(_call, [(piece,) for piece in pieces], doing="simulations") for row in made]
    return collect({"corpus": corpus, "group": group, "seed": seed} | row for row in rows)


def _call(piece: Callable[[], list[Row]]) -> list[Row]:
    return piece()


def _rows(simulate: Callable[..., Iterator[Row]], *given: object) -> list[Row]:
    return list(simulate(*given))


def _fitted(rows: pd.DataFrame, declared: str, plan: SimulationPlan) -> list[Row]:
    """`fits.contrasts` of the first label for which there are rows, by mean."""
    for label in rows.groupby("label", sort=False)["score"].mean().sort_values(kind="stable").index:
        of_label = rows[rows["label"] == label]
        ((_, people),) = population.modelled(of_label, declared).items()
        if made := list(fits.contrasts(of_label, plan, others=people.others)):
            return made
    return []
