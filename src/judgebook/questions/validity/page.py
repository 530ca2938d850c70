"""What notebooks 04 and 06 share: labels that predict how good a dialogue is."""

from __future__ import annotations

from judgebook.annotations.summary import with_means
from judgebook.display.names import DisplayNames, display_names
from judgebook.display.page import NotebookPage
from judgebook.questions.performance.arrangement import best_first
from judgebook.questions.validity.targets import Targets, find
from judgebook.study.schema import Annotations, Dialogues


class Predictions(NotebookPage):
    """annotations, dialogues : what targets are found in: judgements whose labels have a mean, and the dialogues.
    everybody : all judgements of the evaluation. targets : what is predicted, and what predicts it."""

    everybody: Annotations
    annotations: Annotations
    dialogues: Dialogues
    targets: Targets
    names: DisplayNames

    def _read_targets(self) -> None:
        """Read the frames and find the targets."""
        section = self.study.importance
        self.everybody, self.dialogues = self.evaluated("annotations"), self.run.read("dialogues")
        self.annotations = with_means(self.everybody, self.labels)
        self.names = best_first(display_names(self.study, self.everybody), self.run)
        self.targets = find(
            self.annotations,
            self.dialogues,
            label=section.target,
            group=section.group,
            quality_label=section.quality_label,
            quality_group=section.quality_group,
            quality_rating=section.quality_rating,
            predictor_value=section.predictor_value,
            pick_seed=self.study.seeds.pick,
            parts=self.study.parts,
        )
