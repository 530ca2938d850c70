"""Notebook 05: does a label distinguish systems?"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from judgebook.annotations.cells import adjust_rows
from judgebook.annotations.summary import with_means
from judgebook.display.names import display_names
from judgebook.display.page import NotebookPage, Section
from judgebook.display.views import Prose, View, without_means
from judgebook.project import has_package
from judgebook.questions.performance.arrangement import in_order
from judgebook.questions.quality_control.findings import who_counts
from judgebook.questions.quality_control.worker_tests import of_those_who_passed
from judgebook.questions.sensitivity import views
from judgebook.questions.sensitivity.analysis import JudgedGroup, groups, of_group, of_methods
from judgebook.study.labels import METHODS
from judgebook.study.results import Results, collect, mark_primary

if has_package("compendium"):
    from compendium.papers import sensitivity as printed
    from compendium.published import numbers
    from compendium.simulation import recovery
    from compendium.simulation.truth import truth


class Page(NotebookPage):
    def __init__(self, study: str, run_id: str | None, *, n_draws: int | None, seed: int | None) -> None:
        super().__init__("05_sensitivity", study, run_id, n_draws=n_draws, seed=seed)
        self.options, self.margins, control = self.study.sensitivity, self.study.margins, self.study.control_system
        self.fits = self.run.read_results("07_bot_performance")
        self.everybody = self.evaluated("annotations").query("annotator_kind == 'human'")
        self.annotations = of_those_who_passed(self.everybody, self.labels, control, self.study.quality_control)
        names = display_names(self.study, self.annotations)
        self.names = in_order(names, self.study, self.run.read("annotations"), self.fits)
        self.systems = self.names.systems(without=[control, *self.study.unranked_systems])
        self.scored, self.methods, self.results = with_means(self.annotations, self.labels), list(METHODS), Results()
        self.judged = groups(self.scored, self.systems)

    def save(self, statistic: str, rows: pd.DataFrame) -> None:
        """Store rows as published, of tests (`system_difference`), numbers of pairs or type I errors. Where all
        dialogues were tested, p is adjusted within a label (Holm), too."""
        frame = collect(rows.assign(statistic=statistic))[statistic]
        unit, note = frame["method"].map(lambda method: METHODS[method].unit), frame["note"]
        if statistic == "system_difference":
            every, of_turns = frame["sample"].isna(), "takes turns of a dialogue as independent"
            adjusted = adjust_rows(frame, ["corpus", "group", "method", "label", "sample"], "systems of one label")
            frame = adjusted.assign(resample_unit=unit, note=note.mask(every & (unit == "turn"), of_turns))
            frame.loc[~every, ["p_adjusted", "family"]] = None
        elif statistic == "null_rejection":
            nothing = note.mask(frame["n"] == 0, "no run had anything to compare")
            frame = frame.assign(resample_unit="run", ci_kind="exact_bound", note=nothing)
        frame["level"] = "system" if statistic == "n_significant" else unit
        self.results = collect(self.results, frame.assign(statistic=statistic))
        # reports answer by the fits
        self.results = mark_primary(self.results, system_difference=self.results["system_difference"].iloc[:0])
        self.run.save_results(self.results)

    def of(self, one: JudgedGroup, alpha: float) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Numbers of pairs of one group, in draws or, where there are none, on all dialogues; and type I errors."""
        found = of_group(self.results, one)
        of_draws = found["n_significant"]["n_dialogues"].notna() == bool(one.draw_size(self.options.n_dialogues))
        return found["n_significant"][of_draws], found.select("null_rejection", alpha=alpha)

    def errors(self, corpus: str, group: str, alpha: float) -> pd.DataFrame:
        """Type I errors at a level, one row per label for which there is one."""
        found = self.results.select("null_rejection", corpus=corpus, group=group, alpha=alpha)
        return found.dropna(subset="estimate")

    def tests(self, rows: pd.DataFrame, named: Mapping[str, Sequence[Any]]) -> str:
        """Which test each method in `rows` had, as a caption says it. named : keys -> names first."""
        found = self.names.sort(rows)[["method", "test"]].drop_duplicates().itertuples(index=False)
        return "; ".join(f"{self.names.name('method', method)}: {named[test][0]}" for method, test in found)

    def who(self, corpus: str, group: str) -> str:
        """What a caption begins with where there are several groups or corpora."""
        one = next(one for one in self.judged if (one.corpus, one.group) == (corpus, group))
        return f"{name}: " if (name := views.who(one, self.judged, self.names)) else ""

    @property
    def split(self) -> list[tuple[str, str]]:
        """The group that judged most labels, of each corpus, where dialogues have no weights."""
        first = {one.corpus: one for one in reversed(self.judged)}
        return [(one.corpus, one.group) for one in reversed(first.values()) if not one.weighted]

    def findings(self) -> Section:
        yield views.findings(self.fits, self.judged, self.names)
        yield who_counts(self.everybody, self.annotations, self.study.control_system)
        yield without_means(self.annotations, self.labels)

    def _each(self, name: str, view: Callable[..., View | None], **given: Any) -> Section:
        """A figure or table of every corpus and group."""
        for i, one in enumerate(self.judged):
            about = {"part": views.who(one, self.judged, self.names), "name": f"{name}_{i}" if i else name}
            yield view(of_group(self.fits, one), self.names, **about, **given)

    def significance(self) -> Section:
        yield views.sample(self.judged, self.names, n=self.options.n_dialogues)
        yield from self._each("significance", views.significance)

    def pairs(self) -> Section:
        yield views.count_tables(self.fits, self.judged, self.names)
        yield from self._each("margins", views.margins, of=self.margins)
        if has_package("compendium") and self.study.simulate:
            both = Results({**self.results, "contrast": self.fits["contrast"]})
            yield Prose(recovery.of_sensitivity(both, truth(self.study.simulate)))

    def paper(self) -> Section:
        """Printed counts and those of this study; nothing where the YAML names no printed table."""
        published = self.options.published
        if published is None or not has_package("compendium"):
            return
        size = numbers.load(published.paper).set_index("row")["value"]["downsampled_conversations_per_bot"]
        of_paper = numbers.load(published.paper, published.element)
        cells = printed.printed_counts(of_methods(self.results, self.judged), of_paper, published.panels)
        yield printed.table(cells, self.names, published.element)
        yield printed.said(cells, same_size=self.judged[0].draw_size(self.options.n_dialogues) == size)
        yield Prose(published.note)
