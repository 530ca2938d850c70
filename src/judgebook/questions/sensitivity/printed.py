"""The last section of notebook 05: printed counts of significant differences, and those of this study."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from judgebook.display.names import DisplayNames
from judgebook.display.views import Prose, Table
from judgebook.published import numbers
from judgebook.questions.sensitivity import findings, tables
from judgebook.questions.sensitivity.analysis import Group, of_methods
from judgebook.study.results import Results

if TYPE_CHECKING:
    from judgebook.questions.sensitivity.question import Sensitivity


def views(
    results: Results, judged: Sequence[Group], names: DisplayNames, options: Sensitivity
) -> Iterator[Table | Prose]:
    """Nothing where the YAML names no printed table (`sensitivity.published`)."""
    if options.published is None:
        return
    paper, element = options.published.paper, options.published.element
    size = numbers.load(paper).set_index("row")["value"]["downsampled_conversations_per_bot"]
    printed = numbers.load(paper, element)
    cells = tables.printed_counts(of_methods(results, judged), printed, options.published.panels)
    yield tables.printed(cells, names, element)
    yield findings.printed(cells, same_size=judged[0].draw_size(options.n_dialogues) == size)
    yield Prose(options.published.note)
