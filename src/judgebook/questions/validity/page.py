"""What notebooks 04 and 06 share: labels that predict how good a dialogue is."""

from __future__ import annotations

import pandas as pd

from judgebook.annotations.summary import with_means
from judgebook.display.names import DisplayNames, display_names
from judgebook.display.page import NotebookPage
from judgebook.questions.validity import targets


class Predictions(NotebookPage):
    """annotations, dialogues : what targets are found in: judgements whose labels have a mean, and the dialogues.
    everybody : all judgements of the evaluation. found : the targets and what predicts them."""

    everybody: pd.DataFrame
    annotations: pd.DataFrame
    dialogues: pd.DataFrame
    found: targets.Targets
    names: DisplayNames

    def _find(self) -> None:
        """Read the frames and find the targets."""
        section = self.study.importance
        self.everybody, self.dialogues = self.evaluated("annotations"), self.run.read("dialogues")
        self.annotations = with_means(self.everybody, self.labels)
        self.names = display_names(self.study, self.everybody)
        self.found = targets.find(
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
