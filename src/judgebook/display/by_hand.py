"""What a notebook that somebody runs in Jupyter shows besides its results, and the pages of a report do otherwise.

Nothing here is used in a run of the pipeline: its pages number and fold by themselves.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import pandas as pd
from markupsafe import Markup

from judgebook.annotations.features import why_not
from judgebook.display.text import Phrases, number
from judgebook.errors import JudgebookError
from judgebook.study import escape, store
from judgebook.study.questions import Question, declared

#: rows of a table that are shown before somebody asks for all
ROWS = 12
PHRASES = Phrases("judgebook.display")
#: figure or table -> name -> its number in the notebook that this kernel runs
_NUMBERS: defaultdict[str, dict[str, int]] = defaultdict(dict)


class DoesNotApplyError(JudgebookError):
    """The study lacks what the notebook is about; the message is what the notebook says instead."""


def begin() -> None:
    """Count figures and tables from 1, and show errors of our own in one line, with what to do."""
    _NUMBERS.clear()
    from IPython import get_ipython

    if shell := get_ipython():
        shell.set_custom_exc((JudgebookError,), _in_one_line)


def _in_one_line(shell: Any, kind: type, error: Exception, trace: Any, tb_offset: int | None = None) -> None:
    """Without the lines of code that it passed: none of them is the reader's."""
    shell._showtraceback(kind, error, [str(error)])


def check(run: store.Run) -> None:
    """Raises DoesNotApplyError where the pipeline would skip the notebook, with its reason."""
    question = declared().get(run.notebook)
    if question is None:  # one of the reader's own
        return
    if reason := why_not(question, run.study, store.Run(run.study, run.notebook, None).read):
        others = [study for study in _that_have(question) if study != run.key]
        raise DoesNotApplyError(
            PHRASES.say(
                "does_not_apply", study=run.key, reason=Markup(escape.markdown_with_code(reason)), others=others
            )
        )


def _that_have(question: Question) -> list[str]:
    """The studies that were run and can have a notebook."""
    if question.across:
        return [question.only]
    out = []
    for path in sorted(store.processed("x").parent.glob("[!.]*/profile.json")):
        features = json.loads(path.read_text(encoding="utf-8")).get("features", {})
        if features and not any(features.get(name) for name in question.requires):
            out.append(path.parent.name)
    return out


def about(run: store.Run, seconds: float, *, changes: bool) -> str:
    """What was computed, how long that took, and what a change of a parameter leads to."""
    question = declared().get(run.notebook)
    return PHRASES.say(
        "about",
        title=run.study.title,
        simulated=run.simulated,
        seconds=f"{seconds:.1f} seconds" if seconds < 10 else f"{seconds:.0f} seconds",
        needs=[name.partition("_")[0] for name in question.needs] if question else [],
        scratch=Markup(run.tables.parent.relative_to(store.out_root()).as_posix()),
        changes=changes,
    )


def numbered(kind: str, name: str) -> int:
    """The number of a figure or table: the same when its cell is run again."""
    numbers = _NUMBERS[kind]
    return numbers.setdefault(name, len(numbers) + 1)


def say_below(name: str, title: str, caption: str) -> None:
    """Show the number of a figure, its title (Markdown) if it has one, and its caption (plain text)."""
    from IPython.display import Markdown, display

    display(Markdown(PHRASES.say("caption", number=numbered("figure", name), title=Markup(title), text=caption)))


def folded(html: Callable[[pd.DataFrame], str], cells: pd.DataFrame) -> str:
    """A table of which ROWS are shown, and all where somebody asks for them. html : of the rows it is given.

    Without scripts, and without this style, as on sites that remove it, the first rows are there twice.
    """
    if len(cells) <= ROWS:
        return html(cells)
    style = "<style>.rows-folded:has(> details[open]) > .rows-first { display: none }</style>"
    more = f"<summary style='cursor:pointer;padding:0.4em 0'>Show all {escape.html(number(len(cells)))} rows</summary>"
    first = f"<div class='rows-first'>{html(cells.head(ROWS))}</div>"
    return f"<div class='rows-folded'>{style}{first}<details>{more}{html(cells)}</details></div>"
