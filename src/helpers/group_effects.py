"""Notebook 08: does it matter who evaluates?"""

from judgebook.display.names import display_names
from judgebook.questions.groups import analysis
from judgebook.questions.groups.analysis import comparable
from judgebook.questions.groups.page import GroupSections
from judgebook.questions.performance.arrangement import best_first


class Page(GroupSections):
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
            "08_group_effects",
            study,
            run_id,
            n_resamples=n_resamples,
            n_permutations=n_permutations,
            n_picks=n_picks,
            margin=margin,
            seed=seed,
            permute_seed=permute_seed,
            pick_seed=pick_seed,
        )
        self.annotations = comparable(self.run.read("annotations"))
        self.names = best_first(display_names(self.study, self.annotations), self.run)
        self.results, of_pairs = self.analysed(
            analysis.analyse_with_frames,
            self.annotations,
            self.labels,
            self.study.group_effects,
            sampling=self.sampling,
            pick_seed=self.study.seeds.pick,
            permute_seed=self.study.seeds.permute,
            scope=self.study.scope,
        )
        for name, frame in of_pairs.items():
            self.run.frame(frame, name)
        self.run.save_results(self.results)
