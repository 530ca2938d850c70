"""Where tables, figures, procedures and statements of the papers are answered, `data/published/elements.yaml` as page.

The registry names places as `study/notebook#section`, which is one address in reports and in the gallery, or as
`docs/page#section`, for what a command does.

What counts as *on real data*: the element's own analysis runs from start to end on people's judgements of real systems
of the paper's kind, and covers more than half of what the element shows (its labels, groups of people, pairs of groups;
of an element that is two figures, of each). Where a paper's data are public only in part, `covers` counts this, and
decides in both directions: half or less is *in part*. Fewer dialogues or other judges do not, because the analysis is
the same and its intervals show the loss; `note` names them. Where something near the element is shown in its place,
such as another target or posts for dialogues, `instead` names it, and the element is *in part*, whatever is covered. An
element that is itself a number of dialogues is covered by dialogues.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import Field, RootModel, field_validator, model_validator

from compendium.published.mapping import FOLDER
from judgebook.display.text import Phrases
from judgebook.study.sections.data import Section
from judgebook.study.yaml_file import read

_PHRASES = Phrases("compendium.published")
TITLE = "Where is each result of the papers?"
Status = Literal["real", "printed", "command", "partly", "simulated", "code", "missing", "design"]
#: status -> as readers know it, from what says most to what says least
STATUSES: dict[str, str] = {
    "real": "on real data",
    "printed": "on printed numbers",
    "command": "as a command",
    "partly": "in part",
    "simulated": "on simulated data only",
    "code": "in code only, never shown",
    "missing": "missing",
    "design": "nothing to compute",
}
#: statuses of which the page says what they mean
EXPLAINED = ("real", "printed", "command", "partly", "simulated")
#: statuses that say what is not there, and why
INCOMPLETE = ("partly", "simulated", "code", "missing")
#: what stands for a study in the address of a page of documentation
DOCS = "docs"
#: study, notebook and section -> address, empty where there is no such page
Link = Callable[[str, str, str], str]


class Element(Section):
    """A table, a figure, a procedure or a statement of a paper."""

    place: str = Field(description="where it is in the paper: a table, a figure or a section")
    what: str = Field(description="what it shows, in a few words")
    status: Status = Field(description="on what it is shown here")
    where: list[str] = Field([], description="pages that answer it, as study/notebook#section")
    covers: str = Field(
        "", pattern=r"^(\d+ of \d+ \D+)?$", description="how much of the element is on real data, as `25 of 40 labels`"
    )
    instead: str = Field("", description="what is shown in its place, where that is something else")
    note: str = Field("", description="what is not there, and why")
    later: bool = Field(False, description="a statement or a detail, not on the first list")

    @field_validator("where")
    @classmethod
    def _addresses(cls, where: list[str]) -> list[str]:
        for place in where:
            if place.count("/") != 1:
                raise ValueError(f"{place}: expected study/notebook#section or docs/page#section")
        return where

    @model_validator(mode="after")
    def _complete(self) -> Element:
        if self.instead and self.status != "partly":
            raise ValueError(f"{self.place}: `{self.status}`, but instead {self.instead}")
        if self.status in INCOMPLETE and not (self.note or self.instead):
            raise ValueError(f"{self.place}: `{self.status}` without a note on what is not there, and why")
        if self.status not in ("code", "missing", "design") and not self.where:
            raise ValueError(f"{self.place}: `{self.status}` without a page in `where`")
        if self.covers and not self.instead and self.status != ("real" if self._most else "partly"):
            half = "more than half" if self._most else "half or less"
            raise ValueError(f"{self.place}: `{self.status}`, but {self.covers} is {half}")
        return self

    @property
    def _most(self) -> bool:
        covered, _, every, *_ = self.covers.split()
        return 2 * int(covered) > int(every)

    @property
    def said(self) -> str:
        """What is covered, what is shown instead, and the note."""
        instead = self.instead and f"Shown instead: {self.instead}."
        return " ".join(filter(None, [self.covers and f"Covers {self.covers}.", instead, self.note]))


class _Registry(RootModel[dict[str, list[Element]]]):
    """Paper -> its elements in order."""


REGISTRY = FOLDER / "elements.yaml"


@cache
def load(path: Path = REGISTRY) -> dict[str, list[Element]]:
    """Paper -> its elements, in the order of the paper. Raises ValueError naming the file and what is wrong in it."""
    return read(path, _Registry).root


def split(place: str) -> tuple[str, str, str]:
    """Study, notebook and section of an address; the section is empty where it names a whole page."""
    page, _, section = place.partition("#")
    study, notebook = page.split("/")
    return study, notebook, section


def page(papers: dict[str, list[Element]], titles: dict[str, str], link: Link) -> str:
    """The page in Markdown.

    Parameters
    ----------
    papers : of `load`.
    titles : paper -> display name.
    link : study, notebook and section -> address; empty where there is no such page, which is then named.
    """
    every = [e for elements in papers.values() for e in elements]
    shown = [s for s in STATUSES if any(e.status == s for e in every)]
    counts = [f"| paper | {' | '.join(STATUSES[s] for s in shown)} |", f"| --- |{' ---: |' * len(shown)}"]
    for name, elements in [*((titles[p], e) for p, e in papers.items()), ("**All**", every)]:
        counts.append(f"| {name} | {' | '.join(str(sum(e.status == s for e in elements)) for s in shown)} |")
    parts = [f"# {TITLE}", _PHRASES.say("elements", n=len(every), counts=_counts(every)), "\n".join(counts)]
    if first := [e for e in every if not e.later]:
        parts.append(_PHRASES.say("compared", first=_counts(first), now=_counts(every)))
    parts += [_PHRASES.say("statuses", statuses=[s for s in shown if s in EXPLAINED], titles=STATUSES)]
    for paper, elements in papers.items():
        parts += [f"## {titles[paper]}", "\n".join(_table(elements, link))]
    return "\n\n".join(parts) + "\n"


def _counts(elements: Iterable[Element]) -> dict[str, int]:
    """How many elements a page answers, how many a command, how many in part; in how many something is computed."""
    of = Counter(e.status for e in elements)
    answered = {"answered": of["real"] + of["printed"], "command": of["command"], "partly": of["partly"]}
    return answered | {"computed": of.total() - of["design"]}


def _table(elements: list[Element], link: Link) -> Iterator[str]:
    yield "| in the paper | what | here | where | what is not there, and why |"
    yield "| --- | --- | --- | --- | --- |"
    for e in elements:
        where = "; ".join(_linked(place, link) for place in e.where)
        yield f"| {e.place} | {e.what} | {STATUSES[e.status]} | {where} | {e.said} |"


def _linked(place: str, link: Link) -> str:
    study, notebook, section = split(place)
    address = link(study, notebook, section)
    name = f"{notebook}.md" if study == DOCS else f"{study}, {notebook.partition('_')[0]}"
    return f"[{name}]({address})" if address else name
