"""Does a label distinguish systems? The results of notebook 05, all as published.

One annotation per item, 32 conversations per system, drawn once; pairs of systems with p below 0.01, 0.05 and 0.1 by
tests that differ between methods; and the type I error of each test. As we would defend it, systems are compared by the
fits that notebook 07 stores; `with_fits` puts what they say of pairs beside the published tests.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from judgebook.annotations.families import adjust_rows
from judgebook.questions.performance import leading
from judgebook.questions.sensitivity import placebo, significance, system_tests
from judgebook.questions.sensitivity.judged_groups import JudgedGroup
from judgebook.questions.sensitivity.question import Sensitivity
from judgebook.study.results import Results, collect, mark_primary

#: tests that are made as published, one per method
PUBLISHED = ("z", "student", "sign")


def analyse(judged: Sequence[JudgedGroup], options: Sensitivity, *, draw_seed: int) -> Results:
    """All results of notebook 05: of every group, but type I error for the first group of each corpus.

    Parameters
    ----------
    judged : sequence of JudgedGroup
        From `judged_groups.groups`.
    draw_seed : int
        Of which conversations a draw has.
    """
    parts: list[Results] = []
    for one in judged:
        parts.append(tests(one))
        if n := one.draw_size(options.n_dialogues):
            counted = significance.count_significant(
                one.panels, n=n, n_draws=one.n_draws(options.n_draws), seed=draw_seed
            )
            parts.append(_marked(one, [counted]))
    for corpus in dict.fromkeys(one.corpus for one in judged):
        first = next(one for one in judged if one.corpus == corpus)
        if not first.weighted:
            parts.append(type_i_errors(first, options, seed=draw_seed))
    results = collect(*parts)
    return mark_primary(results, system_difference=results["system_difference"].iloc[:0])  # reports answer by the fits


def tests(judged: JudgedGroup) -> Results:
    """Every pair of systems and label by the published test, on all dialogues: `system_difference`, with p-values
    adjusted by Holm within each label, and `n_significant` counted from it, also with the families over all labels."""
    rows = collect(*map(system_tests.published_tests, judged.panels))["system_difference"]
    rows = adjust_rows(rows, ["method", "label"], "systems of one label")
    counted = significance.count_tests(judged.panels, rows)
    return _marked(judged, [rows.assign(statistic="system_difference"), counted])


def type_i_errors(judged: JudgedGroup, options: Sensitivity, *, seed: int) -> Results:
    """How often the published test finds a difference within one system, with up to `n_dialogues` dialogues a side."""
    parts = []
    for data in judged.panels:
        least = len(data.system) if data.unit == "pair" else int(pd.Series(data.system).value_counts().max()) // 2
        if (size := min(options.n_dialogues, least)) > 1:
            parts.append(placebo.null_rejection(data, n=size, n_runs=options.null_runs, seed=seed))
    return _marked(judged, parts)


def _marked(judged: JudgedGroup, parts: Sequence[pd.DataFrame]) -> Results:
    """With corpus and group."""
    marked = {s: rows.assign(corpus=judged.corpus, group=judged.group) for s, rows in collect(*parts).items()}
    return Results(marked)


def with_fits(results: Results, fits: Results) -> Results:
    """`results` and what the fits of notebook 07 say of pairs of systems: `contrast`, and `difference_found`."""
    return Results({**results, "contrast": fits["contrast"], "difference_found": fits["difference_found"]})


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


def compared(results: Results) -> pd.DataFrame:
    """Differences of pairs of systems by the fits, with `sure`, whether a pair is decided; of pairs that can be
    compared."""
    rows = results["contrast"].dropna(subset="ci_low")
    return rows.assign(sure=leading.decided(rows))


def decided(results: Results) -> pd.Series:
    """Pairs of systems that are decided by the fits, by (method, label)."""
    return compared(results).groupby(["method", "label"], sort=False)["sure"].sum()


def others(results: Results) -> bool:
    """Whether differences by the fits are about other annotators, too."""
    return bool(results["contrast"]["resample_unit"].str.contains("annotator").any())


def as_published(results: Results) -> pd.DataFrame:
    """The tests of the first draw by the paper's tests; those of all dialogues where nothing was drawn."""
    drawn = results.select("system_difference", test=PUBLISHED, sample="draw")
    return drawn if len(drawn) else on_all(results)


def on_all(results: Results) -> pd.DataFrame:
    """The paper's tests on all dialogues."""
    return results.select("system_difference", test=PUBLISHED, sample=None)


def counts(results: Results, summary: str | None = None, alpha: float = 0.05) -> pd.Series:
    """Pairs of systems that differ by the published tests, unadjusted, by (method, label).

    summary : over draws (`first`, `mean`, `smallest`, `largest`); None: on all dialogues, where there is one count.
    """
    rows = results.select("n_significant", adjust="none", alpha=alpha, summary=summary or "first")
    return rows[rows["n_dialogues"].isna() == (summary is None)].set_index(["method", "label"])["estimate"]
