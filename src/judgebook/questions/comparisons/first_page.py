"""The answer of the first page."""

from __future__ import annotations

from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases
from judgebook.display.views import Plot
from judgebook.questions.comparisons import changed
from judgebook.questions.comparisons.views import facts
from judgebook.study.params import Study
from judgebook.study.results import Results


def answer(study: Study, results: Results, names: DisplayNames) -> tuple[str, Plot | None]:
    """The headline of notebook 19 where something moves by more than chance explains, or another system is first, and
    what has changed, where that is asked; '' elsewhere."""
    told = facts(results, names)
    since = study.comparisons.since if len(results["strength_changed"]) else None
    said = [prose.text for prose in changed.views(results, names, since)]
    if any(board["moved"] or board["turned"] for board in told["boards"]):
        said.insert(0, Phrases(__package__).say("headline", **told))
    return "\n\n".join(said), None
