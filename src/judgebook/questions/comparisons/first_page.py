"""The answer of the first page."""

from __future__ import annotations

from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases
from judgebook.display.views import Plot
from judgebook.questions.comparisons.views import facts
from judgebook.study.params import Study
from judgebook.study.results import Results


def answer(study: Study, results: Results, names: DisplayNames) -> tuple[str, Plot | None]:
    """The headline of notebook 19 where something moves by more than chance explains, or another system is first; ''
    elsewhere."""
    told = facts(results, names)
    if not any(board["moved"] or board["turned"] for board in told["boards"]):
        return "", None
    return Phrases(__package__).say("headline", **told), None
