"""Notebook 12: are replies to toxic prompts good?"""

import pandas as pd

from judgebook.display.names import display_names
from judgebook.display.page import NotebookPage
from judgebook.display.views import FromPrint, Section
from judgebook.project import has_package
from judgebook.questions.moderation import analysis, views
from judgebook.questions.performance.arrangement import best_first
from judgebook.study.results import collect

if has_package("compendium"):
    from compendium.papers import moderation as printed
    from compendium.published import comparison, numbers


class Page(NotebookPage):
    def __init__(self, study: str, run_id: str | None, *, n_resamples: int | None, seed: int | None) -> None:
        super().__init__("12_moderation", study, run_id, n_resamples=n_resamples, seed=seed)
        section, self.dialogues = self.study.moderation, self.run.read("dialogues")
        kinds = analysis.category_names(self.labels, section)
        self.names = best_first(display_names(self.study, score=kinds["score"], asked=kinds["asked"]), self.run)
        self.judged = judged = analysis.judgements(self.run.read("annotations"), section)
        self.both = analysis.outcomes(judged["better"], judged["unrelated"])
        self.printed = numbers.load(section.paper) if has_package("compendium") and section.paper else None
        seed_of_test = self.study.seeds.permute
        results = self.analysed(
            analysis.analyse, judged, self.labels, self.both, sampling=self.sampling, permute_seed=seed_of_test
        )
        level = self.study.bootstrap.confidence
        of_print = printed.from_print(self.printed, level) if self.printed is not None else ()
        self.results = collect(results, of_print)
        self.run.save_results(self.results)
        scores = sorted(judged["category"]["score"].unique())
        titles = views.category_titles((f"{score:g}" for score in scores), self.names)
        self.categories, self.asked = dict(zip(scores, titles.values(), strict=True)), views.asked(self.names)

    def save(self, statistic: str, rows: pd.DataFrame) -> None:
        """Store estimates as published. rows : one each, with what it is of."""
        if "score" in rows:
            rows = rows.assign(score=rows["score"].map("{:g}".format))
        self.results = collect(self.results, rows.assign(statistic=statistic))
        self.run.save_results(self.results)

    def findings(self) -> Section:
        yield views.findings(self.results, self.names, simulated=self.study.simulated)

    def preferences(self) -> Section:
        yield views.outcomes(self.results, self.names)
        yield views.leads(self.results, self.names)

    def from_print(self) -> Section:
        if self.printed is not None:
            yield FromPrint(printed.figure(self.results, self.names))
            yield FromPrint(printed.printed_agreement(self.printed))
            yield printed.said(self.results, self.names, self.printed)
            yield FromPrint(printed.printed_systems(self.printed, self.names))

    def paper(self) -> Section:
        if has_package("compendium"):
            yield comparison.nearness(self.results, self.run)
