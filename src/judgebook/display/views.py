"""What a notebook shows: plots, tables and prose, each complete with caption, alt text and reasons for gaps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import pandas as pd
from matplotlib.figure import Figure

from judgebook.annotations.features import undirected
from judgebook.display import saving, tables
from judgebook.display.text import listing
from judgebook.study.labels import Label
from judgebook.study.schema import Annotations
from judgebook.study.store import Run


@dataclass(frozen=True)
class Plot:
    """A figure. name : stem of its files, unique in the notebook. alt : what it shows, with values. caption : what the
    marks and lines are, over what the intervals are, and n; plain text that can be read without the notebook.

    title : what the figure shows to be so, in a few words (Markdown, as `Phrases.say` gives it). subtitle : what is
    drawn and its unit; plain text. Both stand above the figure, and are left out where nothing is computed that would
    fit into a line. of : what it is about, heading of a table's column -> value (Method, Label), by which a page
    chooses figures and rows.
    """

    fig: Figure
    name: str
    alt: str
    caption: str = ""
    title: str = ""
    subtitle: str = ""
    of: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    """A table. decimals : for all columns, or by column. why : reasons for missing cells, by column or by row. folded :
    whether a page shows it on request only, as values of figures above; so are tables with the name of a figure. of :
    as of Plot."""

    frame: pd.DataFrame
    name: str
    caption: str
    decimals: int | Mapping[str, int] = 2
    why: pd.Series | Mapping[str, str] | None = None
    folded: bool = False
    of: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Prose:
    """Markdown. Text from data files must be escaped (`text.plain`; templates do so themselves)."""

    text: str


View = Plot | Table | Prose


@dataclass(frozen=True)
class FromPrint:
    """What rests on printed numbers alone, and is not called simulated where the study is."""

    shown: View | Iterable[View] | None


#: what a section of a notebook shows, in order; None where there is nothing to show
Section = Iterator[View | FromPrint | Iterable[View] | None]


def nothing_because(*views: View | None) -> Iterator[Prose]:
    """Why sections have nothing to show: those of their views that are prose. For What we see."""
    yield from (view for view in views if isinstance(view, Prose))


def something(*views: View | None) -> Iterator[View]:
    """A section's views without those that say why there is nothing, so that pages leave out a section without any."""
    yield from (view for view in views if view is not None and not isinstance(view, Prose))


def without_means(annotations: Annotations, labels: Iterable[Label]) -> Prose | None:
    """Which labels a notebook leaves out because answers without order have no mean."""
    titles = dict.fromkeys(x.title for x in _judged(annotations, labels) if x.unordered)
    if not titles:
        return None
    said = "has answers" if len(titles) == 1 else "have answers"
    return Prose(f"{listing(titles)} {said} without order, which have no mean: see the shares in notebook 00.")


def without_direction(annotations: Annotations, labels: Iterable[Label]) -> Prose:
    """Which judged labels order no systems, because nobody said which way is better, and what to write."""
    return Prose(undirected(x for x in _judged(annotations, labels) if not x.unordered))


def _judged(annotations: Annotations, labels: Iterable[Label]) -> list[Label]:
    judged = set(annotations[["method", "label"]].drop_duplicates().itertuples(index=False, name=None))
    return [x for x in labels if (x.method, x.id) in judged]


def show(run: Run, *views: View | FromPrint | Iterable[View] | Section | None) -> None:
    """Show and store each view in order; None, empty tables and empty prose are passed over."""
    for view in views:
        if isinstance(view, Plot):
            heading = {"title": view.title, "subtitle": view.subtitle}
            saving.save(view.fig, view.name, alt=view.alt, caption=view.caption, run=run, **heading, of=view.of)
        elif isinstance(view, Table):
            if len(view.frame):
                tables.show(
                    view.frame,
                    view.caption,
                    view.name,
                    run=run,
                    decimals=view.decimals,
                    why=view.why,
                    folded=view.folded,
                    of=view.of,
                )
        elif isinstance(view, Prose):
            if view.text:
                tables.say(view.text)
        elif isinstance(view, FromPrint):
            show(replace(run, of_study=False), view.shown)
        elif view is not None:
            for each in view:  # one at a time: a section may have many figures
                show(run, each)
