"""The answer of the first page."""

from __future__ import annotations

from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases
from judgebook.display.views import Plot
from judgebook.questions.over_time.views import facts
from judgebook.study.params import Study
from judgebook.study.results import Results


def answer(study: Study, results: Results, names: DisplayNames) -> tuple[str, Plot | None]:
    """The headline of notebook 18."""
    return Phrases(__package__).say("headline", **facts(results, names, study.over_time.false_alarms)), None
