"""The analysis of a notebook in this process, without its cells."""

from __future__ import annotations

import importlib.util
from types import ModuleType
from typing import Any

from judgebook.display.page import NotebookPage
from judgebook.pipeline import dag


def made(notebook: str, parameters: dict[str, Any]) -> NotebookPage:
    """The page of a notebook with these parameters."""
    page: NotebookPage = _helper(notebook).Page(**parameters)
    return page


def _helper(notebook: str) -> ModuleType:
    """The helper module of a notebook, under a name of ours: a user may have a package `helpers`, too."""
    path = dag.helper(notebook)
    found = importlib.util.spec_from_file_location(f"judgebook.carried_helpers.{path.stem}", path)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module
