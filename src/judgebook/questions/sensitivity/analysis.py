"""What notebook 05 shows of pairs of systems: published tests, which its cells make, and the fits of notebook 07."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from judgebook.questions.performance import leading
from judgebook.questions.sensitivity.judged_groups import JudgedGroup
from judgebook.study.results import Results


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
    """The tests of the first draw; those of all dialogues where nothing was drawn."""
    drawn = results.select("system_difference", sample="draw")
    return drawn if len(drawn) else on_all(results)


def on_all(results: Results) -> pd.DataFrame:
    """The published tests on all dialogues."""
    return results.select("system_difference", sample=None)
