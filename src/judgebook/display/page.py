"""A notebook at work: `helpers` has a class of its own for each notebook, below this one."""

from __future__ import annotations

from operator import attrgetter

import pandas as pd

from judgebook.annotations.summary import evaluated
from judgebook.display import views
from judgebook.display.text import plain
from judgebook.display.views import Prose, Section
from judgebook.statistics.intervals import Sampling
from judgebook.study import params, store

__all__ = ["NotebookPage", "Section"]


class NotebookPage:
    """What one notebook shows of one study.

    A notebook's own class reads, computes and stores the results when it is made. It has a method for each section,
    which gives what `show` shows there.

    run : the notebook and where it writes. study : the YAML, with the notebook's parameters in place of its values.
    labels : those of the study, in the order of figures.
    """

    def __init__(
        self, notebook: str, study: str, run_id: str | None, *, of_study: bool = True, **knobs: object
    ) -> None:
        """Arguments of `store.start`."""
        self.run = store.start(study, notebook, run_id, of_study=of_study, **knobs)
        self.study, self.labels = self.run.study, self.run.study.label_list()
        self._set = {name for name, value in knobs.items() if value is not None}

    @property
    def sampling(self) -> Sampling:
        """How the study's intervals are resampled, as the notebook's parameters leave it."""
        boot = self.study.bootstrap
        return Sampling(n_resamples=boot.n_resamples, confidence=boot.confidence, seed=self.study.seeds.bootstrap)

    def evaluated(self, frame: str) -> pd.DataFrame:
        """A frame of the study without pilots, gold units and extra corpora."""
        return evaluated(self.run.read(frame))

    def show(self, *shown: Prose | Section | None) -> None:
        """Show figures, tables and text, and store the former two."""
        views.show(self.run, *shown)

    def parameters(self) -> Prose | None:
        """The value of each parameter, also where the cell above says None, and where it is from.

        None in a run of the pipeline: the pages it makes list parameters at their end.
        """
        paths = {} if self.run.run_id else store.knob_paths(self.run.notebook)
        if not paths:
            return None
        rows = ["| Parameter | Value | From |", "| --- | --- | --- |"]
        for name, path in paths.items():
            source = "this notebook" if name in self._set else params.origin(self.study, path)
            rows.append(f"| {plain(name)} | {plain(str(attrgetter(path)(self.study)))} | {plain(source)} |")
        return Prose("\n".join(rows))
