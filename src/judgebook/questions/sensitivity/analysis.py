"""Does a label distinguish systems? The results of notebook 05.

As published: one annotation per item, 32 conversations per system, drawn once; pairs of systems with p below 0.01, 0.05
and 0.1 by tests that differ between methods. As we would defend it: the same permutation test for all methods, on one
value per dialogue, the mean of all its annotations, permuted within sessions, using all dialogues and Holm's
adjustment; and the type I error of every test.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
import pandas as pd

from judgebook.annotations.families import adjust_rows
from judgebook.annotations.scales import within_scale
from judgebook.questions.sensitivity import differences, equivalence, power, significance, system_tests
from judgebook.questions.sensitivity.judged_groups import JudgedGroup
from judgebook.questions.sensitivity.panels import Panel
from judgebook.questions.sensitivity.question import Sensitivity
from judgebook.statistics.bounded_means import BOUNDED
from judgebook.study.labels import Label
from judgebook.study.results import Results, collect, where

#: (method, label) -> margin in units of the label
Margins = Mapping[tuple[str, str], float]
NO_MARGINS: Margins = MappingProxyType({})
#: permutations per comparison of the largest family, so that the smallest p-value can survive its adjustment
PER_COMPARISON = 40
#: columns of `differences.differences` for further calculation, not for results
_INNER = ["se", "df", "per_system"]
#: primary tests: by permutation, or the t test of weighted means where dialogues have sampling weights
PRIMARY = ("session", differences.WEIGHTED)
#: tests that are made as published, one per method
PUBLISHED = ("z", "student", "sign")


def analyse(
    judged: Sequence[JudgedGroup],
    options: Sensitivity,
    labels: Sequence[Label] = (),
    margins: Margins = NO_MARGINS,
    *,
    permute_seed: int,
    draw_seed: int,
) -> Results:
    """All results of notebook 05: of every group, but type I error for the first group of each corpus.

    Parameters
    ----------
    judged : sequence of JudgedGroup
        From `judged_groups.groups`.
    labels : sequence of Label
        Intervals of differences end with the scales of these, on which the primary test rests where most dialogues of a
        system lie at one end.
    margins : mapping
        (method, label) -> margin of equivalence in units of the label, where it is not `options.margin`.
    permute_seed, draw_seed : int
        Of the permutation tests, and of which conversations a draw has.
    """
    judged = [one.on_scales(labels) for one in judged]
    parts: list[Results] = []
    for one in judged:
        parts.append(tests(one, seed=permute_seed, within=options.within, n_permutations=options.n_permutations))
        if n := one.draw_size(options.n_dialogues):
            n_draws = one.n_draws(options.n_draws)
            parts.append(draws(one, n=n, n_draws=n_draws, seed=draw_seed, within=options.within))
        parts += [alike(one, labels, margins, margin=options.margin), planning(one, sizes=options.power_sizes)]
    for corpus in dict.fromkeys(one.corpus for one in judged):
        first = next(one for one in judged if one.corpus == corpus)
        if not first.weighted:
            parts.append(type_i_errors(first, options, seed=draw_seed))
    results = collect(*parts)
    if len(rows := results["system_difference"]):
        differing = rows["test"].isin([differences.TEST, differences.WEIGHTED])
        cut = within_scale(rows[differing], labels, difference=True)
        results["system_difference"] = pd.concat([cut, rows[~differing]]).loc[rows.index]
    return results


def tests(judged: JudgedGroup, *, seed: int, within: str, n_permutations: int) -> Results:
    """Every pair of systems and label by the published test, Welch's t and the permutation test, on all dialogues.

    `system_difference` with p-values adjusted by Holm within each label and test; with intervals by
    `differences.differences`, over annotators too where they are known; where items have several annotations,
    also by the permutation test on one of each (`sample` is pick), to show what the others add, unless permutations are
    too many to draw. Where dialogues have sampling weights, the t test of weighted means takes the place of the
    permutation test, whose null hypothesis is not that of equal means in the population. And `n_significant`
    counted from the tests, also with the families over all labels. Large families get more permutations
    (PER_COMPARISON), or p-values by saddlepoint where these would be too many (`system_tests.session_tests`).
    """
    n_permutations = max(n_permutations, PER_COMPARISON * sum(len(p.pairs) * len(p.labels) for p in judged.panels))
    parts = []
    for data, one in zip(judged.panels, judged.picked, strict=True):
        parts += [system_tests.published_tests(one)]
        parts += [system_tests.published_tests(one, "welch")] if one.published_test == "student" else []
        blocked = _within(data, within)
        compared = judged.annotations, data.method, data.systems
        if judged.weighted:
            alone = differences.differences(*compared, people=False).assign(test=differences.WEIGHTED)
            parts.append(alone.drop(columns=_INNER))
        else:
            parts.append(system_tests.session_tests(data, seed=seed, within=blocked, n_permutations=n_permutations))
        parts.append(differences.differences(*compared, scales=data.scales).drop(columns=_INNER))
        several = not judged.weighted and not np.array_equal(data.squares, one.squares)
        if several and not system_tests.too_many(data, n_permutations):
            picked = system_tests.session_tests(one, seed=seed, within=blocked, n_permutations=n_permutations)
            parts.append(picked.assign(sample="pick"))
    rows = collect(*parts)["system_difference"]
    rows = adjust_rows(rows, ["method", "label", "test", "within", "sample"], "systems of one label")
    results = [rows.assign(statistic="system_difference")]
    rows = where(rows, sample=None)
    results += [significance.count_tests(judged.panels, where(rows, test=t)) for t in (PRIMARY, PUBLISHED)]
    return _marked(judged, results)


def draws(judged: JudgedGroup, *, n: int, n_draws: int, seed: int, within: str) -> Results:
    """Counts over draws of `n` dialogues per system by the published and the permutation test, and the tests of the
    first draw: `significance.count_significant`."""
    within = min(_within(p, within) for p in judged.panels)  # `interactor` only where all panels allow it
    counted = significance.count_significant(
        judged.panels, n=n, n_draws=n_draws, seed=seed, within=within, picked=judged.picked
    )
    return _marked(judged, [counted])


def alike(
    judged: JudgedGroup, labels: Sequence[Label] = (), margins: Margins = NO_MARGINS, *, margin: float
) -> Results:
    """Equivalence tests of every pair of systems and label, adjusted by Holm within each label as `tests` are; on
    labels with a margin of their own also tests of non-inferiority (`equivalence.not_worse`)."""
    parts = []
    for data in judged.panels:
        one = differences.differences(judged.annotations, data.method, data.systems)
        if one.empty:
            continue
        own = {label: size for (method, label), size in margins.items() if method == data.method}
        parts.append(equivalence.equivalence_tests(one, data, margin, own))
        directions = {label.id: label.direction for label in labels if label.method == data.method}
        if len(rows := equivalence.not_worse(one, own, directions)):
            parts.append(rows)
    results = collect(*parts)
    rows = adjust_rows(results["equivalence"], ["method", "label"], "systems of one label")
    others = [results[s].assign(statistic=s) for s in ("smallest_margin", "not_worse") if len(results[s])]
    if len(results["not_worse"]):
        rows = equivalence.as_directions(rows, results["not_worse"])
    return _marked(judged, [rows.assign(statistic="equivalence"), *others])


def type_i_errors(judged: JudgedGroup, options: Sensitivity, *, seed: int) -> Results:
    """How often each test finds a difference within one system, with up to `n_dialogues` dialogues per side."""
    parts = []
    for data, one in zip(judged.panels, judged.picked, strict=True):
        ours = [*(["dialogue_welch"] if data.row != data.unit else []), "session"]
        least = len(data.system) if data.unit == "pair" else int(pd.Series(data.system).value_counts().max()) // 2
        size = min(options.n_dialogues, least)
        for used, tests in ((one, [one.published_test]), (data, ours)) if size > 1 else ():
            rejected = power.null_rejection(
                used,
                tests,
                n=size,
                n_runs=options.null_runs,
                seed=seed,
                within=_within(data, options.within),
                n_permutations=options.null_permutations,
            )
            parts.append(rejected)
    return _marked(judged, parts)


def planning(judged: JudgedGroup, *, sizes: Sequence[int]) -> Results:
    """Power by number of dialogues and the detectable difference: `power.planning` with the same annotators, and
    `power.detectable_differences` with others too, of labels whose annotators are known."""
    parts = []
    for data in judged.panels:
        pairs = differences.differences(judged.annotations, data.method, data.systems, people=False)
        parts.append(pd.DataFrame(power.planning(pairs, sizes)))
        others = _over_people(differences.differences(judged.annotations, data.method, data.systems))
        parts.append(pd.DataFrame(power.detectable_differences(others, power.SAMPLE)))
    return _marked(judged, [part for part in parts if len(part)])


def _within(data: Panel, wanted: str) -> str:
    """`wanted`, but `session` where it is not known who talked."""
    return "session" if data.interactor is None and data.unit != "pair" else wanted


def _marked(judged: JudgedGroup, parts: Sequence[pd.DataFrame]) -> Results:
    """With corpus and group, and with the context as unit where it takes the place of the session."""
    results = collect(*parts)
    for statistic, rows in results.items():
        if judged.blocks == "context":
            rows = rows.assign(resample_unit=rows["resample_unit"].replace("session", "context"))
        results[statistic] = rows.assign(corpus=judged.corpus, group=judged.group)
    return results


def of_group(results: Results, judged: JudgedGroup) -> Results:
    """The results of one corpus and evaluator group."""
    return results.part(corpus=judged.corpus, group=judged.group)


def of_methods(results: Results, judged: Sequence[JudgedGroup]) -> Results:
    """The results of the first corpus, of each method those of the first group that judged with it."""
    groups: dict[str, str] = {}
    for one in (one for one in judged if one.corpus == judged[0].corpus):
        groups = {data.method: one.group for data in one.panels} | groups
    of_corpus = results.part(corpus=judged[0].corpus)
    return Results({s: rows[rows["group"] == rows["method"].map(groups)] for s, rows in of_corpus.items()})


def primary(results: Results) -> pd.DataFrame:
    """The permutation tests of all dialogues, or the t tests of weighted means (PRIMARY)."""
    return results.select("system_difference", test=PRIMARY, sample=None)


def primary_name(results: Results) -> str:
    """How prose calls the primary test."""
    weighted = (primary(results)["test"] == differences.WEIGHTED).any()
    return "t test of weighted means" if weighted else "permutation test"


def with_people(results: Results) -> pd.DataFrame:
    """The differences with intervals over sessions and annotators, of labels whose annotators are known."""
    return _over_people(results.select("system_difference", test=differences.TEST))


def _over_people(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[rows["resample_unit"].str.endswith(" and annotator").astype(bool)] if len(rows) else rows


def detectable(results: Results, *, people: str = power.SAME) -> pd.DataFrame:
    """The difference found with 80% power after Holm's adjustment, with the dialogues there are: a row for each label.

    people : `power.SAME` for the annotators of the study, `power.SAMPLE` for others like them (only labels whose
    annotators are known). It goes with counts of differences after Holm's adjustment for the same people;
    `detectable_effect` is by a single test instead.
    """
    rows = results.select("detectable_difference", people=people, n_dialogues=None)
    return rows.dropna(subset="estimate")


def verdicts(results: Results) -> pd.DataFrame:
    """Each pair of systems and label with what is shown of it: the rows of `equivalence` with `differ` and `alike`
    (p < 0.05 after Holm's adjustment within the label) and `smallest`, the smallest margin in standard deviations."""
    keys = ["corpus", "group", "method", "label", "system", "system_b"]
    rows = results["equivalence"].dropna(subset="p_value")
    smallest = results.select("smallest_margin", scale="d").set_index(keys)["estimate"].rename("smallest")
    apart = primary(results).set_index(keys)["p_adjusted"].rename("apart")
    rows = rows.join(smallest, on=keys).join(apart, on=keys)
    return rows.assign(differ=rows["apart"] < 0.05, alike=rows["p_adjusted"] < 0.05)


def approximate(results: Results) -> bool:
    """Whether p-values of the permutation test are those of saddlepoints."""
    return bool((primary(results)["note"] == system_tests.SADDLEPOINT).any())


def bounded(tests: pd.DataFrame) -> int:
    """How many tests compared bounds of means, because few dialogues of a system lie away from one end of the scale."""
    return int((tests["note"] == BOUNDED).sum()) if "note" in tests else 0


def of_one_pick(results: Results) -> pd.DataFrame:
    """The permutation tests on one annotation per item; empty where no item has several."""
    return results.select("system_difference", test="session", sample="pick")


def as_published(results: Results) -> pd.DataFrame:
    """The tests of the first draw by the paper's tests; those of all dialogues where nothing was drawn."""
    drawn = results.select("system_difference", test=PUBLISHED, sample="draw")
    return drawn if len(drawn) else results.select("system_difference", test=PUBLISHED, sample=None)


def counts(
    results: Results, test: str | Sequence[str], over: str, summary: str | None = None, alpha: float = 0.05
) -> pd.Series:
    """Pairs of systems that differ, by (method, label), by one test and family.

    summary : over draws (`first`, `mean`, `smallest`, `largest`); None: on all dialogues, where there is one count.
    """
    rows = results.select("n_significant", test=test, adjusted_over=over, alpha=alpha, summary=summary or "first")
    rows = rows[rows["adjust"].isin(["none", "holm"]) & (rows["n_dialogues"].isna() == (summary is None))]
    return rows.set_index(["method", "label"])["estimate"]
