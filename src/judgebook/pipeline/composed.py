"""Pages that are made of views as those of notebooks are, without a notebook that is run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import nbformat.v4 as nbf
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

from judgebook.display.views import View, show
from judgebook.report import html as report
from judgebook.study import store

Sections = Iterable[tuple[str, Iterable[View | None]]]


@dataclass(frozen=True)
class PageRun(store.Run):
    """What the views of a page are written by. folder : of figures and tables."""

    folder: Path = Path()

    @property
    def figures(self) -> Path:
        return self.folder

    tables = figures


def composed(run: PageRun, question: str, sections: Sections, page: report.Page, title: str) -> str:
    """HTML of a page. question : Markdown, with its heading. sections : heading -> views, which are shown, and written
    to the folder of `run`, beside the page. What an earlier page left there goes.
    """
    for path in run.folder.glob("*"):
        path.unlink()
    cells = [nbf.new_markdown_cell(question)]
    for heading, views in sections:
        cells += [nbf.new_markdown_cell(f"## {heading}"), _cell(run, views)]
    written = sorted(p for p in run.folder.glob("*") if p.is_file())
    files = [f"{run.folder.name}/{p.name}" for p in written]
    drawings = {p.stem: p.read_text(encoding="utf-8") for p in written if p.suffix == ".svg"}
    notebook = nbf.new_notebook(cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    return report.notebook_page(notebook, page, title, files, drawings)


def _cell(run: PageRun, views: Iterable[View | None]) -> nbf.NotebookNode:
    """A code cell without code whose outputs are what a notebook would show."""
    # captures what is displayed; without one it would be printed. It writes no history: its file may be gone at the end
    InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
    with capture_output(stdout=False, stderr=False) as captured:
        show(run, (view for view in views))
    outputs = [nbf.new_output("display_data", data=o.data, metadata=o.metadata or {}) for o in captured.outputs]
    return nbf.new_code_cell("", outputs=outputs, execution_count=1)
