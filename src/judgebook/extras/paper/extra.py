"""The page for authors: methods, results, references and files for a paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgebook.extras.paper import NAME, TITLE
from judgebook.plugins import Extra, Page

if TYPE_CHECKING:
    from judgebook.pipeline.nodes import Node
    from judgebook.pipeline.pages import Pages
    from judgebook.study.params import Study


def _node(pages: Pages, after: tuple[str, ...]) -> Node:
    from judgebook.extras.paper.node import node

    return node(pages, after)


def _problem(study: Study) -> str:
    from judgebook.extras.paper.references import problem

    return problem(study)


EXTRA = Extra(pages=(Page(NAME, TITLE, lambda study: not study.across, _node, _problem),))
