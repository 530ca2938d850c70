"""Sections of notebook 14 that need no choice of the study's: what people notice, people beside a model, looks."""

from __future__ import annotations

from judgebook.display.names import DisplayNames
from judgebook.display.page import NotebookPage, Section
from judgebook.questions.planning import budget_views, next_items, tables
from judgebook.questions.planning.pilot_study import PlanningInput
from judgebook.study.results import Results


class PlanningSections(NotebookPage):
    """data : the basis of the plan. results, names : what is shown, and how it is called."""

    data: PlanningInput
    results: Results
    names: DisplayNames

    def _draw(self) -> int:
        """Store the dialogues that people should judge next (`next_items.of_plan`), which `run_all.py plan` writes as a
        CSV file, and return how many are to be judged."""
        teams, planned = budget_views.teams(self.results, self.names), self.study.planning
        drawn = next_items.of_plan(teams, self.data, uniform=planned.uniform, seed=self.study.seeds.bootstrap)
        self.run.frame(drawn, "next_items")
        return int((drawn["people"] == next_items.NEXT).sum())

    def noticed(self) -> Section:
        yield tables.called_different(self.results, self.names, self.data.blocks)

    def budget(self) -> Section:
        yield budget_views.curves(self.results, self.names, currency=self.study.costs.currency)
        yield budget_views.gains(self.results, self.names)
        yield budget_views.designs(self.results, self.names)

    def looks(self) -> Section:
        yield tables.boundaries(self.results)
