"""Notebook 02: what was collected, and at what cost?"""

from collections.abc import Iterable
from functools import cached_property

import pandas as pd

from judgebook.display.names import DisplayNames, display_names
from judgebook.display.page import NotebookPage, Section
from judgebook.display.views import nothing_because, something
from judgebook.project import has_package
from judgebook.questions.collection import analysis, costs, views
from judgebook.questions.collection.views import KINDS
from judgebook.questions.performance.arrangement import in_order
from judgebook.study.labels import METHODS, Label
from judgebook.study.results import collect

if has_package("compendium"):
    from compendium.published import comparison

__all__ = ["KINDS"]
#: why an estimate is missing
WHY = {
    "annotators": "raters are positions",
    "work_units": "not recorded",
    "own_cost": "costs.payments has no payment for it",
    "cost_per_label": "no label is judged in it, or labels of several methods are",
}


class Page(NotebookPage):
    def __init__(
        self, study: str, run_id: str | None, *, hourly_rate: float | None, planned_dialogues: int | None
    ) -> None:
        name, planned = "02_collection_stats", planned_dialogues
        super().__init__(name, study, run_id, hourly_rate=hourly_rate, planned_dialogues=planned)
        self.annotations, self.dialogues = self.evaluated("annotations"), self.evaluated("dialogues")
        self.costs, self.paid = self.study.costs, self.study.quality_control.payment is not None
        self.times = costs.minutes(self.evaluated("work_units"), self.annotations)
        self.results = self.analysed(
            analysis.collection,
            self.annotations,
            self.dialogues,
            self.times,
            self.labels,
            self.costs,
            confidence=self.study.bootstrap.confidence,
        )
        self.run.save_results(self.results)

    @cached_property
    def names(self) -> DisplayNames:
        names = display_names(self.study, self.annotations, self.dialogues)
        return in_order(names, self.study, self.annotations)

    @property
    def no_payment(self) -> str:
        """Why it is not known what was paid."""
        elsewhere = (
            "The YAML has the payment per work unit (`quality_control.payment`), not per annotation: see notebook 10."
        )
        return elsewhere if self.paid else "The YAML states no payment."

    def save(self, statistic: str, rows: pd.DataFrame) -> None:
        """Store what was computed as published, a row each; of counts, `what` is counted."""
        what = rows["what"] if statistic == "count" else pd.Series(statistic, rows.index)
        note = what.map(WHY).fillna("a task has no durations").where(rows["estimate"].isna(), None)
        level = rows["method"].map(unit, na_action="ignore")
        level = level if statistic == "count" else level.replace("turn", "dialogue")
        self.results = collect(self.results, rows.assign(statistic=statistic, level=level, note=note))
        self.run.save_results(self.results)

    def findings(self) -> Section:
        yield views.collection(self.annotations, self.results, self.names, self.costs, paid_elsewhere=self.paid)
        yield nothing_because(views.minutes(self.results, self.names), views.texts(self.results, self.names))

    def texts(self) -> Section:
        yield something(views.texts(self.results, self.names))

    def minutes(self) -> Section:
        yield something(views.minutes(self.results, self.names))

    def paper(self) -> Section:
        if has_package("compendium"):
            yield comparison.views(self.results, self.run)


def unit(method: str) -> str:
    """What is judged at a time by a method: a turn, dialogue or pair; what else was timed is timed by the dialogue."""
    return METHODS[method].unit if method in METHODS else "dialogue"


def tasks(labels: Iterable[Label]) -> dict[tuple[str, str], str]:
    """(method, label) -> the task in which it is judged: the method, where labels have none."""
    return {(label.method, label.id): label.task or label.method for label in labels}
