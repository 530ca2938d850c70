"""The page as an extra declares it; imported with the command line, so the rest comes when it is needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compendium.atlas.standing import NAME, TITLE
from judgebook.plugins import Page

if TYPE_CHECKING:
    from judgebook.pipeline.nodes import Node
    from judgebook.pipeline.pages import Pages
    from judgebook.study.params import Study


def _applies(study: Study) -> bool:
    from compendium.atlas.standing import words

    return not study.across and words.comparable(study)


def _node(pages: Pages, after: tuple[str, ...]) -> Node:
    from compendium.atlas.standing.node import node

    return node(pages, after)


def _problem(study: Study) -> str:
    from compendium.atlas.standing import words

    return words.problem(study)


PAGE = Page(NAME, TITLE, _applies, _node, _problem)
