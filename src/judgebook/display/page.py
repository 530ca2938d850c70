"""A notebook at work: `helpers` has a class of its own for each notebook, below this one."""

from __future__ import annotations

import time
from collections.abc import Callable
from operator import attrgetter
from typing import Any, ParamSpec, TypeVar

import pandas as pd

from judgebook.annotations.summary import CIRCUMSTANCES, evaluated
from judgebook.display import by_hand, views
from judgebook.display.tables import say
from judgebook.display.text import number, plain
from judgebook.display.views import Prose, Section
from judgebook.execution import kept
from judgebook.statistics.intervals import Sampling
from judgebook.study import params, store
from judgebook.study.results import Results

__all__ = ["NotebookPage", "Section"]
P = ParamSpec("P")
T = TypeVar("T")


class _Timed(type):
    """Makes the page of a notebook, notes how long that took, and gives a `Nothing` where the study does not fit."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        start = time.perf_counter()
        try:
            page = super().__call__(*args, **kwargs)
        except by_hand.DoesNotApplyError as reason:
            say(str(reason))
            return Nothing(cls, str(reason))
        page.seconds = time.perf_counter() - start
        return page


class Nothing:
    """In place of the page of a notebook that does not apply to the study: its sections show nothing."""

    def __init__(self, page: type, reason: str) -> None:
        self._page, self._reason = page, reason

    def __getattr__(self, name: str) -> Callable[..., None]:
        """A method of the page that does nothing. Raises DoesNotApplyError for what the page would have computed."""
        if not callable(getattr(self._page, name, None)):
            raise by_hand.DoesNotApplyError(self._reason)
        return lambda *args, **kwargs: None


class NotebookPage(metaclass=_Timed):
    """What one notebook shows of one study.

    A notebook's own class reads, computes and stores the results when it is made (but see `complete`). It has a method
    for each section, which gives what `show` shows there.

    run : the notebook and where it writes. study : the YAML, with the notebook's parameters in place of its values.
    labels : those of the study, in the order of figures. results : what it stores. seconds : how long it took to make.
    """

    results: Results
    seconds = 0.0

    def __init__(
        self, notebook: str, study: str, run_id: str | None, *, of_study: bool = True, **knobs: object
    ) -> None:
        """Arguments of `store.start`. Run by hand, errors of our own take one line from here on, and a study that the
        pipeline would skip is not looked at any further: there is `Nothing` in place of the page."""
        if not run_id:
            by_hand.begin()
        self.run = store.start(study, notebook, run_id, of_study=of_study, **knobs)
        if not run_id:
            by_hand.check(self.run)
        self.study, self.labels = self.run.study, self.run.study.label_list()
        self._set = {name for name, value in knobs.items() if value is not None}

    @property
    def sampling(self) -> Sampling:
        """How the study's intervals are resampled, as the notebook's parameters leave it."""
        boot = self.study.bootstrap
        return Sampling(n_resamples=boot.n_resamples, confidence=boot.confidence, seed=self.study.seeds.bootstrap)

    def analysed(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """`function(*args, **kwargs)`, a part of the analysis; what it gave before where code and arguments are the
        same."""
        return kept(store.kept(self.run.key, self.run.notebook), function, *args, **kwargs)

    def evaluated(self, frame: str, *, circumstances: bool = True) -> pd.DataFrame:
        """A frame of the study without pilots, gold units and extra corpora.

        circumstances : whether columns on how judgements were made are read, which few analyses need.
        """
        return evaluated(self.run.read(frame, () if circumstances else CIRCUMSTANCES))

    def show(self, *shown: Prose | Section | None) -> None:
        """Show figures, tables and text, and store the former two."""
        views.show(self.run, *shown)

    def parameters(self) -> Prose | None:
        """The value of each parameter, also where the cell above says None, where it is from, and what a change of it
        leads to.

        None in a run of the pipeline: the pages it makes list parameters at their end.
        """
        if self.run.run_id:
            return None
        paths = store.knob_paths(self.run.notebook)
        rows = ["| Parameter | Value | From |", "| --- | --- | --- |"] if paths else []
        for name, path in paths.items():
            source = "this notebook" if name in self._set else params.origin(self.study, path)
            value = attrgetter(path)(self.study)
            if value is None:
                shown = "not set"
            else:
                shown = number(value) if isinstance(value, int) and "seed" not in name else str(value)
            rows.append(f"| {plain(name)} | {plain(shown)} | {plain(source)} |")
        return Prose("\n".join([by_hand.about(self.run, self.seconds, changes=bool(paths)), "", *rows]))
