"""Notebook 11: compare or rate, per turn or per dialogue?"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from helpers.win_rates import by_pair
from helpers.working_time import ratings
from judgebook.display.names import display_names
from judgebook.display.page import Section
from judgebook.project import has_package
from judgebook.questions.performance.arrangement import best_first
from judgebook.questions.techniques import analysis, sittings, texts, turns
from judgebook.questions.techniques.page import Sections
from judgebook.questions.techniques.question import Technique
from judgebook.study.results import collect, where

if has_package("compendium"):
    from compendium.papers import technique_rates
    from compendium.published import comparison


def counted(ways: Mapping[str, Any], ties: str) -> Any:
    """What was won, and of how much, by a way of counting ties; the only way where there are none."""
    return ways[ties] if ties in ways else ways["none"]


class Page(Sections):
    def __init__(
        self, study: str, run_id: str | None, *, n_resamples: int | None, n_runs: int | None, seed: int | None
    ) -> None:
        super().__init__("11_technique_comparison", study, run_id, n_resamples=n_resamples, n_runs=n_runs, seed=seed)
        options, labels = self.study.techniques, self.labels
        every = self.run.read("annotations") if options.compare else self.evaluated("annotations")
        techniques = options.compare or sittings.by_method(every, labels)
        annotations, checks = texts.screened(every, self.run.read("dialogues"), techniques, options.checks)
        systems = display_names(self.study, annotations).systems(without=self.study.unranked_systems)
        self.data = sittings.gather(annotations, self.run.read("dialogue_facts"), techniques, labels, systems, options)
        self.turned = turns.gather(annotations, self.data, labels, systems, options)
        self.pairings = self.turned.pairings(labels, options.final_rating)
        judged = self.analysed(
            analysis.analyse,
            self.data,
            self.turned,
            self.pairings,
            options,
            run_seed=self.study.seeds.permute,
            sampling=self.sampling,
        )
        self.results = collect(
            judged,
            texts.counts(checks, options.checks),
        )
        if has_package("compendium"):
            self.printed = technique_rates.printed(options)
            self.results = collect(self.results, self.printed.drop(columns=["printed", "fits"]))
        self.run.save_results(self.results)
        kinds = self.turned.titles(self.data, labels, options)
        names = display_names(
            self.study, annotations, technique=kinds["technique"], dimension=kinds["dimension"], pair=kinds["pair"]
        )
        self.names = best_first(names, self.run)

    @cached_property
    def techniques(self) -> dict[str, Technique]:
        """What they are: methods that are only judged turn by turn, and those that are compared."""
        return self.turned.data.techniques | self.data.techniques

    @cached_property
    def alone(self) -> list[str]:
        """The techniques that show one system at a time."""
        return [t for t, spec in self.techniques.items() if not sittings.pairwise(spec.method)]

    @cached_property
    def marks(self) -> dict[str, pd.DataFrame]:
        """The judgements of each technique; see `sittings.marks`."""
        return {t: sittings.marks(data, t) for data in (self.turned.data, self.data) for t in data.techniques}

    @cached_property
    def contests(self) -> list[analysis.Contest]:
        """Two systems each under a technique that is timed, or an average of several."""
        averages = self.study.techniques.average
        return list(analysis.contests(self.data, self.results["technique_seconds"], averages))

    def single_ratings(
        self, contest: analysis.Contest, counts: Mapping[str, pd.DataFrame]
    ) -> tuple[list[np.ndarray], float]:
        """Ratings of either system of a contest, or of the first compared with the second; how many a conversation has.

        An average of techniques (Smith et al. 2022, appendix G) has a value a conversation.
        """
        head, technique = contest.head, contest.head["technique"]
        if technique not in counts:
            return [np.repeat(x.values, x.counts.astype(int)) for x in (contest.a, contest.b) if x], 1.0
        linear = self.techniques[technique].rate == "linear"
        rows = where(counts[technique], **{c: head[c] for c in ("corpus", "group", "label")})
        ((_, sides),) = by_pair(technique, rows, [(head["system"], head["system_b"])])
        samples = [ratings(side, linear=linear) for side in sides]
        conversations = [len(side[["dialogue", "dialogue_b"]].drop_duplicates()) for side in sides]
        return samples, float(np.mean([len(x) / n for x, n in zip(samples, conversations, strict=True)]))

    def save(self, statistic: str, rows: pd.DataFrame) -> None:
        """Store estimates as published. rows : one each, with what it is of."""
        if len(rows) and "technique" in rows:
            method = rows["technique"].map({t: spec.method for t, spec in self.techniques.items()})
            level = rows["technique"].isin(self.alone).map({True: "dialogue", False: "pair"})
            rows = pd.DataFrame({"method": method, "level": level}).assign(**rows)
        self.results = collect(self.results, rows.assign(statistic=statistic))
        self.run.save_results(self.results)

    def from_print(self) -> Section:
        if has_package("compendium"):
            yield from technique_rates.effective_views(self.printed, self.names)

    def paper(self) -> Section:
        if has_package("compendium"):
            yield (comparison.nearness if self.study.simulated else comparison.views)(self.results, self.run)
