"""Notebook 10: which workers can be trusted, and do results replicate?"""

import pandas as pd

from judgebook.display.names import display_names
from judgebook.display.page import NotebookPage, Section
from judgebook.display.views import Plot, Table
from judgebook.project import has_package
from judgebook.questions.performance.arrangement import best_first
from judgebook.questions.quality_control import analysis, findings, views, worker_summary, worker_tests
from judgebook.questions.quality_control.worker_tests import crowd
from judgebook.study.results import collect

if has_package("compendium"):
    from compendium.papers import quality_control as of_paper
    from compendium.published import verdicts


class Page(NotebookPage):
    def __init__(self, study: str, run_id: str | None, *, n_resamples: int | None, seed: int | None) -> None:
        super().__init__("10_quality_control", study, run_id, n_resamples=n_resamples, seed=seed)
        annotations, facts = self.run.read("annotations"), self.run.read("dialogue_facts")
        control = self.study.control_system
        self.names = best_first(display_names(self.study, annotations), self.run)
        self.people = crowd(
            worker_tests.ratings(annotations, self.labels, control),
            facts,
            self.study.quality_control,
            control=control,
            systems=self.names.systems(without=self.study.unranked_systems),
            titles=self.names.titles["corpus"],
        )
        self.run.frame(self.people.workers, "workers")
        judged = worker_tests.of_the_method(annotations, control)
        self.judged = judged[judged["corpus"].isin(self.people.corpora)]
        titles = views.label_titles(self.names, self.people)
        self.titles = {label: titles[label] for label in views.overall_first(titles, self.names)}
        self.lengths = analysis.text_lengths(self.people, self.run.read("dialogues"))
        self.pairs = worker_summary.pairs(self.people, facts)
        self.results = self.analysed(
            analysis.analyse,
            self.people,
            facts,
            worker_summary.work_units(self.run.read("work_units"), self.people.scores),
            self.lengths,
            self.pairs,
            permute_seed=self.study.seeds.permute,
            sampling=self.sampling,
        )
        self.run.save_results(self.results)

    def p_values(self, workers: pd.DataFrame, alpha: float) -> Plot:
        """Distribution of workers' p-values. workers : corpus, p, passed. alpha : the threshold."""
        return views.p_values(workers, self.people, alpha)

    def matrices(self, tests: pd.DataFrame, called: str) -> Plot | None:
        """p-values of systems (rows) against others (columns), a panel for each run.

        tests : a row for each pair. called : what the caption calls them.
        """
        return views.significance(tests, self.names, self.people, called)

    def conclusions(self, found: pd.DataFrame, run: str, name: str, called: str) -> Table:
        """How far a run concludes what the first does. found : of `replication.concordance`. called : the tests."""
        shown = found[(found["corpus"] == run) & (found["standardised"] == "all") & found["list"].isna()]
        wide = shown.pivot_table("estimate", ["workers", "alpha"], "of").reset_index()
        wide = wide.rename(columns=lambda name: name.replace("_", " ").capitalize())
        first, other = self.people.title(self.people.corpora[0]), self.people.title(run)
        caption = f"Conclusions from {called} in {first} and {other}."
        return Table(wide.assign(Alpha=wide["Alpha"].map("{:g}".format)), name, caption, 2)

    def save(self, *rows: pd.DataFrame) -> None:
        """Store estimates as published. rows : with their statistic and what each is of."""
        self.results = collect(self.results, *rows)
        self.run.save_results(self.results)

    def findings(self) -> Section:
        yield findings.findings(self.results, self.people)

    def repeat(self) -> Section:
        yield views.repeat(self.results, self.people)
        yield views.gain(self.results, self.people)

    def workers(self) -> Section:
        yield views.numbers(self.results, self.people)

    def scores(self) -> Section:
        yield views.scores(self.results, self.names, self.people)

    def differences(self) -> Section:
        yield views.concordance(self.results, self.people)

    def thresholds(self) -> Section:
        yield views.thresholds(self.results, self.people)

    def agreement(self) -> Section:
        yield views.pairs(self.pairs)
        yield findings.selection(self.results)

    def variants(self) -> Section:
        yield views.variant_effects(self.results, self.names, self.people)
        yield views.opinions(self.results, self.people)

    def changes(self) -> Section:
        yield views.changes(self.results, self.names, self.people)

    def costs(self) -> Section:
        yield views.length_densities(self.lengths, self.people)
        yield views.lengths(self.results, self.people)
        yield views.costs(self.results, self.people)

    def paper(self) -> Section:
        if has_package("compendium"):
            found = verdicts.compared(self.results, self.run.key, self.run.notebook)
            self.run.frame(found.drop(columns=["entry", "ci_low", "ci_high"]), "cells")
            yield of_paper.tables(found, self.names)
        yield findings.lists(self.people)
