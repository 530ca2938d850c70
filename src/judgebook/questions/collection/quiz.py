"""Who passes the quiz before the first conversation?

Smith et al. 2022, Appendix A: before they may talk, people choose between two answers at each turn of a conversation in
which one answer is clearly better. They must choose it every time, and have two tries.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from judgebook.questions.collection.question import Quiz
from judgebook.questions.performance import rate_intervals
from judgebook.study.schema import Annotations


def quiz_tries(annotations: Annotations, quiz: Quiz) -> pd.DataFrame:
    """One row per group, label, person and try: `right`, whether every choice was the better answer, and `place`, the
    number of the try.

    A try is a work unit, or a conversation where work units are not known, in the order of the source.
    """
    rows = annotations[annotations["corpus"] == quiz.corpus]
    unit = rows["work_unit"].astype(object).where(rows["work_unit"].notna(), rows["dialogue"].astype(object))
    won = rows["score"].where(rows["system"] == quiz.better, -rows["score"]) > 0
    person = ["group", "label", "annotator"]
    by_try = rows.assign(unit=unit, right=won).groupby([*person, "unit"], sort=False, observed=True)
    out = by_try.agg(right=("right", "all"), first=("source_row", "min")).reset_index().sort_values("first")
    return out.assign(place=out.groupby(person).cumcount() + 1).drop(columns=["unit", "first"])


def quiz_pass_rates(annotations: Annotations, quiz: Quiz | None, confidence: float = 0.95) -> Iterator[dict[str, Any]]:
    """`quiz_pass_rate`: share of the people who tried the quiz on a label and passed at the `first` try, and within as
    many as are allowed (`any`), with Wilson's interval; and `quiz_failed`, how many of those who did not pass judged
    anything all the same."""
    if quiz is None:
        return
    tried = quiz_tries(annotations, quiz)
    tried = tried[tried["place"] <= quiz.tries]
    elsewhere = set(annotations.loc[annotations["corpus"] != quiz.corpus, "annotator"])
    for (group, label), part in tried.groupby(["group", "label"], sort=False):
        head = {"corpus": quiz.corpus, "group": group, "label": label, "level": "annotator"}
        passed = part.groupby("annotator")["right"].any()
        first = part[part["place"] == 1].set_index("annotator")["right"]
        for name, each in {"first": first, "any": passed}.items():
            k, n = int(each.sum()), len(each)
            low, high = rate_intervals.wilson(k, n, confidence)
            row = {"statistic": "quiz_pass_rate", "tries": name, "estimate": k / n, "ci_low": low, "ci_high": high}
            yield head | row | {"n": n, "n_annotators": n, "ci_kind": "wilson", "resample_unit": "annotator"}
        failed = set(passed.index[~passed])
        yield head | {"statistic": "quiz_failed", "estimate": len(failed & elsewhere), "n": len(failed)}
