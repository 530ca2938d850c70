"""What figures, tables and prose of notebook 05 share: names of groups, and a view for each group."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from judgebook.display.names import DisplayNames
from judgebook.display.views import View
from judgebook.questions.sensitivity.analysis import of_group
from judgebook.questions.sensitivity.judged_groups import JudgedGroup
from judgebook.study.results import Results

BOTH = ["system", "system_b"]


def who(one: JudgedGroup, judged: Sequence[JudgedGroup], names: DisplayNames) -> str:
    """What tells one group or corpus from the others; '' where there is one."""
    where = [names.name("corpus", one.corpus)] if len({x.corpus for x in judged}) > 1 else []
    return ", ".join([*where, *([] if one.group == "all" else [names.name("group", one.group)])])


def each(
    view: Callable[..., View | None],
    results: Results,
    judged: Sequence[JudgedGroup],
    names: DisplayNames,
    name: str,
) -> Iterator[View]:
    """A figure or table of every corpus and group. view : one of this folder, with the arguments `part` and `name`."""
    for i, one in enumerate(judged):
        stem = f"{name}_{i}" if i else name
        if shown := view(of_group(results, one), names, part=who(one, judged, names), name=stem):
            yield shown
