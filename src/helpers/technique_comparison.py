"""Notebook 11: compare or rate, per turn or per dialogue?"""

from judgebook.display.names import display_names
from judgebook.questions.performance.arrangement import best_first
from judgebook.questions.techniques import analysis, effective_rates, messages, sittings, turn_marks
from judgebook.questions.techniques.page import TechniqueSections
from judgebook.study.results import collect


class Page(TechniqueSections):
    def __init__(
        self, study: str, run_id: str | None, *, n_resamples: int | None, n_runs: int | None, seed: int | None
    ) -> None:
        super().__init__("11_technique_comparison", study, run_id, n_resamples=n_resamples, n_runs=n_runs, seed=seed)
        options, labels = self.study.techniques, self.labels
        every = self.run.read("annotations") if options.compare else self.evaluated("annotations")
        techniques = options.compare or sittings.by_method(every, labels)
        annotations, checks = messages.screened(every, self.run.read("dialogues"), techniques, options.checks)
        systems = display_names(self.study, annotations).systems(without=self.study.unranked_systems)
        facts = self.run.read("dialogue_facts")
        self.data = sittings.gather(annotations, facts, techniques, labels, systems, options)
        self.turned = turn_marks.gather(annotations, self.data, labels, systems, options)
        judged = self.analysed(
            analysis.analyse,
            self.data,
            self.turned,
            labels,
            options,
            run_seed=self.study.seeds.permute,
            sampling=self.sampling,
        )
        self.printed = effective_rates.printed(options)
        self.results = collect(
            judged,
            messages.counts(checks, options.checks),
            messages.effects(every, checks, labels, self.sampling),
            self.printed.drop(columns=["printed", "fits"]),
        )
        self.run.save_results(self.results)
        kinds = self.turned.titles(self.data, labels, options)
        names = display_names(
            self.study, annotations, technique=kinds["technique"], dimension=kinds["dimension"], pair=kinds["pair"]
        )
        self.names = best_first(names, self.run)
