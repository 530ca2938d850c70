"""Notebook 08: does it matter who evaluates?"""

from dataclasses import replace
from functools import cached_property
from itertools import combinations

import pandas as pd

from judgebook.annotations.summary import in_scope, with_means
from judgebook.display.names import DisplayNames, display_names
from judgebook.display.page import Section
from judgebook.display.views import without_means
from judgebook.project import has_package
from judgebook.questions.groups import analysis, views
from judgebook.questions.groups.analysis import comparable
from judgebook.questions.groups.effects import MANY_PAIRS, MOST_RESAMPLES, n_pairs
from judgebook.questions.groups.views import Sections
from judgebook.questions.performance.arrangement import best_first
from judgebook.statistics import Sampling
from judgebook.study.labels import METHODS
from judgebook.study.results import Results, collect

if has_package("compendium"):
    from compendium.papers import group_effects as of_paper
    from compendium.papers import printed_effects
    from compendium.published import numbers


class Page(Sections):
    def __init__(
        self,
        study: str,
        run_id: str | None,
        *,
        n_resamples: int | None,
        n_permutations: int | None,
        n_picks: int | None,
        margin: float | None,
        seed: int | None,
        permute_seed: int | None,
        pick_seed: int | None,
    ) -> None:
        super().__init__(
            "08_group_effects", study, run_id, n_resamples=n_resamples, n_permutations=n_permutations, n_picks=n_picks,
            margin=margin, seed=seed, permute_seed=permute_seed, pick_seed=pick_seed,
        )  # fmt: skip
        self.annotations = comparable(self.run.read("annotations"))
        self.judged = with_means(self.annotations, self.labels)
        self.names = best_first(display_names(self.study, self.annotations), self.run)
        self.results = self.analysed(
            analysis.analyse,
            self.annotations,
            self.labels,
            self.study.group_effects,
            sampling=self.sampling,
            pick_seed=self.study.seeds.pick,
            permute_seed=self.study.seeds.permute,
        )
        if has_package("compendium") and self.study.group_effects.paper:
            self.results = collect(self.results, self._of_paper(self.study.group_effects.paper))
        self.run.save_results(self.results)

    def _of_paper(self, paper: str) -> Results:
        """What the paper's own pick of one annotation per item gives."""
        return self.analysed(
            of_paper.analyse,
            self.judged,
            self.labels,
            self.study.group_effects,
            self.study.scope,
            numbers.load(paper),
            sampling=self.sampling,
            pick_seed=self.study.seeds.pick,
            permute_seed=self.study.seeds.permute,
        )

    def in_scope(self, rows: pd.DataFrame) -> pd.DataFrame:
        """`rows` without what the paper left out."""
        out = self.study.scope
        return in_scope(rows, dialogues=out.exclude_dialogues, sessions=out.exclude_sessions) if out else rows

    def with_both(self, rows: pd.DataFrame) -> tuple[pd.DataFrame, DisplayNames]:
        """`rows` of two groups in the order of figures, with the names of both in `group`; names that know these."""
        found = sorted({*rows["group"], *rows["group_b"]}, key=lambda group: self.names.position("group", group))
        both = {(a, b): " / ".join(self.names.name("group", g) for g in (a, b)) for a, b in combinations(found, 2)}
        both |= {(b, a): title for (a, b), title in both.items()}
        titles = self.names.titles | {"group": {title: title for title in both.values()}}
        names, pairs = replace(self.names, titles=titles, colored={}), zip(rows["group"], rows["group_b"], strict=True)
        return names.sort(rows.assign(group=[both[pair] for pair in pairs])), names

    @cached_property
    def published_sampling(self) -> Sampling:
        """Of intervals as published: fewer resamples where pairs of systems are very many."""
        n = self.sampling.n_resamples
        return replace(self.sampling, n_resamples=min(n, MOST_RESAMPLES) if n_pairs(self.judged) > MANY_PAIRS else n)

    def save(self, statistic: str, rows: pd.DataFrame, **keys: str | None) -> None:
        """Store what was computed as published, a row each. keys : what tells these rows from others."""
        same = {"statistic": statistic, "resample": "score", "resample_unit": "score within system and group"}
        unit = rows["method"].map(lambda method: METHODS[method].unit)
        self.results = collect(self.results, rows.assign(level=unit, **(same | keys)))
        self.run.save_results(self.results)

    def findings(self) -> Section:
        level = self.study.bootstrap.confidence
        yield views.findings(self.results, self.names, confidence=level)
        yield without_means(self.annotations, self.labels)
        if has_package("compendium") and self.study.simulate:
            yield of_paper.recovered(self.results, self.names, self.study.simulate, level)

    def paper(self) -> Section:
        if has_package("compendium"):
            yield from of_paper.views(self.results, self.run, self.names)

    def printed_effects(self) -> Section:
        if has_package("compendium"):
            yield from printed_effects.views(self.study.group_effects)
