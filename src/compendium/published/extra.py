"""Two pages of the scoreboard: every printed number, and where each result of the papers is answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compendium.published import CELLS, ELEMENTS
from judgebook.plugins import Extra, Page

if TYPE_CHECKING:
    from judgebook.pipeline.nodes import Node
    from judgebook.pipeline.pages import Pages
    from judgebook.study.params import Study


def _applies(study: Study) -> bool:
    from compendium.published.question import SCOREBOARD

    return study.across and study.key == SCOREBOARD.only


def _cells(pages: Pages, after: tuple[str, ...]) -> Node:
    from compendium.published import nodes

    return nodes.cells(pages, after)


def _elements(pages: Pages, after: tuple[str, ...]) -> Node:
    from compendium.published import nodes

    return nodes.elements(pages, after)


EXTRA = Extra(
    pages=(
        Page(CELLS, "Every printed number", _applies, _cells),
        Page(ELEMENTS, "Each result of the papers", _applies, _elements),
    )
)
