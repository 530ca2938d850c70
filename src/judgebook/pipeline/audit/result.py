"""What `jb.audit`, `jb.agreement`, `jb.rank` and `jb.plan` return."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from judgebook.display import tables
from judgebook.display.page import NotebookPage
from judgebook.display.views import Plot, Prose, Table, View
from judgebook.pipeline.audit.computing import output_below
from judgebook.report.prose import markdown, words
from judgebook.study import params
from judgebook.study.stored import StoredStudy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from judgebook.pipeline.first_page import FirstPage


class Frames(Mapping[str, pd.DataFrame]):
    """Frames of an audited study and its results by statistic: `frames["annotations"]`, `frames["mean"]`.

    docs/results.md describes their columns.
    """

    def __init__(self, study: StoredStudy) -> None:
        self._study = study

    @cached_property
    def _names(self) -> dict[str, str]:
        frames = {path.stem: "frame" for path in sorted(self._study.folder.glob("*.parquet"))}
        return frames | {name: "statistic" for name in self._study.statistics["statistic"]}

    def __getitem__(self, name: str) -> pd.DataFrame:
        """Raises KeyError for a name that is neither, with one that is near."""
        return self._study.frame(name) if self._names.get(name) == "frame" else self._study.results(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


@dataclass(frozen=True)
class Analysis:
    """One analysis of judgements, with what its page in the report says and shows.

    folder : where YAML, frames and results lie. yaml : the YAML that describes the data. frames : frames and results by
    name. questions : what was assumed and nobody confirmed, by fact. estimates : a row for each estimate, as the
    notebook stores them; `statistic` says of what. docs/results.md describes the columns; what is missing has no value,
    and `note` says why. confidence : level of the intervals, between 0 and 1.
    """

    folder: Path
    yaml: Path
    frames: Frames
    questions: Mapping[str, str]
    estimates: pd.DataFrame = field(repr=False)
    _page: NotebookPage = field(repr=False)
    _sections: tuple[str, ...] = field(repr=False)

    @property
    def confidence(self) -> float:
        return params.load(self.yaml).bootstrap.confidence

    @property
    def figures(self) -> dict[str, Figure]:
        """The figures of the notebook's main sections, by name."""
        return {view.name: view.fig for view in self._views if isinstance(view, Plot)}

    @cached_property
    def _views(self) -> list[View]:
        """Main sections, drawn when first asked for."""
        with output_below(self.folder):
            return list(_flat(getattr(self._page, section)() for section in ("findings", *self._sections)))

    @property
    def _says(self) -> str:
        assumed = "\n".join(unconfirmed(self.questions.items()))
        said = [view.text for view in self._views if isinstance(view, Prose) and view.text]
        return "\n\n".join([*said, *([assumed] if assumed else [])])

    def __str__(self) -> str:
        """What the notebook's page says, and what was assumed, as plain text."""
        return _plain(self._says)

    def _repr_html_(self) -> str:
        """For a notebook: what the page says, what was assumed, and the page's first table."""
        table = next((view for view in self._views if isinstance(view, Table) and len(view.frame)), None)
        shown = tables.texts(table.frame, table.caption, "", decimals=table.decimals, why=table.why)[0] if table else ""
        return f"{markdown(self._says)}\n{shown}"


def _flat(views: object) -> Iterator[View]:
    """Views of sections, one after the other."""
    if isinstance(views, Plot | Table | Prose):
        yield views
    elif isinstance(views, Iterable):
        for view in views:
            yield from _flat(view)


@dataclass(frozen=True)
class Audit:
    """Answers about the judgements of a file or frame, with all that they follow from.

    folder : where page, text, YAML and results lie. yaml : the YAML that describes the data; correct it where it is
    wrong, and audit it. frames : frames and results. questions : what nobody confirmed about the data, by fact.
    confidence : level of the intervals, between 0 and 1.
    """

    yaml: Path
    frames: Frames
    questions: Mapping[str, str]
    _folder: Path = field(repr=False)
    _first: FirstPage = field(repr=False)
    _write: Callable[[], None] = field(repr=False)

    @property
    def folder(self) -> Path:
        """Page and text are drawn when their folder is first asked for."""
        with output_below(self._folder):
            self._write()
        return self._folder

    @property
    def confidence(self) -> float:
        return self._first.evidence.confidence

    @property
    def answers(self) -> pd.DataFrame:
        """A row per question of the first page: `question`, `answer` and `why` as plain text; the index says which."""
        parts = {a.key: (a.question, *map(_plain, a.text.partition("\n\n")[::2])) for a in self._first.answers}
        return pd.DataFrame.from_dict(parts, orient="index", columns=["question", "answer", "why"])

    @property
    def findings(self) -> pd.DataFrame:
        """A row per fault of the design: `finding`, `consequences` and the answers it `concerns`, the worst first."""
        before = self._first.before
        rows = [
            (_plain(what), _plain(change), touches) for what, change, touches in (before.findings if before else ())
        ]
        return pd.DataFrame(rows, columns=["finding", "consequences", "concerns"])

    @property
    def figures(self) -> dict[str, Figure]:
        """The figure of each answer that has one, by the index of `answers`."""
        return {answer.key: answer.plot.fig for answer in self._first.answers if answer.plot and self.folder}

    def __str__(self) -> str:
        from judgebook.pipeline.audit.writing import printed

        return "\n".join(printed(self._first, []))

    def _repr_html_(self) -> str:
        """For a notebook: open questions, faults of the design, and answers; reasons are folded."""
        out = []
        if preface := self._first.preface:
            out.append(markdown(f"{preface.used}. {preface.whom}"))
        if before := self._first.before:
            lines = [*unconfirmed(before.unconfirmed), *(f"- {f[0]}" for f in before.findings)]
            out.append(markdown("\n".join(["**Before you read on**", "", *lines])))
        for answer in self._first.answers:
            said, _, why = answer.text.partition("\n\n")
            out.append(markdown(f"**{answer.question}**\n\n{said}"))
            if why:
                out.append(f"<details><summary>Why</summary>{markdown(why)}</details>")
        return "\n".join(map(str, out))


def unconfirmed(questions: Iterable[tuple[str, str]]) -> list[str]:
    """A line of Markdown for each question that is open."""
    return [f"- **Not confirmed: {fact}.** {text}" for fact, text in questions]


def _plain(text: str) -> str:
    """Markdown as plain text, a line for each item of a list."""
    return "\n".join(words(markdown(part)) for part in re.split(r"\n(?=[-*] |\d+\. )|\n\n", text) if part.strip())
