"""`jb.compare`: two studies or audits, as `compare` compares them on the command line."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pandas as pd

from judgebook.extras.compare import sides

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from judgebook.display.names import DisplayNames
    from judgebook.extras.compare.analysis import Comparison


class HasFolder(Protocol):
    """An Audit, an Analysis or a StoredStudy: what has a folder of results."""

    @property
    def folder(self) -> Path: ...


@dataclass(frozen=True)
class ComparedStudies:
    """Two studies compared: `str` has the answer, and what it rests on.

    runs : the comparison as its page has it.
    """

    runs: Comparison = field(repr=False)
    _names: DisplayNames = field(repr=False)

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        """labels (a row per label: `verdict`, correlation `r` of the systems' means with its interval, pairs of systems
        in the same order), means, variation (CV*, in percent), pairs, settings that differ, and what is missing in one
        of them."""
        from judgebook.extras.compare.views import FRAMES

        return {name: getattr(self.runs, name) for name in FRAMES}

    @cached_property
    def figures(self) -> dict[str, Figure]:
        """System means of one study against those of the other; none where both are identical."""
        from judgebook.extras.compare import views

        every = () if self.runs.identical else views.against(self.runs, self._names)
        return {plot.name: plot.fig for plot in every}

    def __str__(self) -> str:
        from judgebook.extras.compare.views import terminal

        return terminal(self.runs, self._names)

    def _repr_html_(self) -> str:
        """For a notebook: the answer, and a row for each label."""
        from judgebook.display.tables import texts
        from judgebook.extras.compare import views
        from judgebook.report.prose import markdown

        out = [markdown(views.answer(self.runs, self._names).text)]
        if not self.runs.identical:
            table = views.grades(self.runs, self._names)
            out.append(texts(table.frame, table.caption, "", decimals=table.decimals, why=table.why)[0])
        return "\n".join(map(str, out))


def compare(
    a: HasFolder | str | os.PathLike[str],
    b: HasFolder | str | os.PathLike[str],
    *,
    renamed: Mapping[str, str] | None = None,
    titles: tuple[str, str] | None = None,
) -> ComparedStudies:
    """Were the results of one study reproduced in another? Their systems are compared label by label.

    Parameters
    ----------
    a, b : an Audit, an Analysis or a study of `open_study`; or, as on the command line, the name of a study that was
        run (of a part of it, `study:corpus`), or a folder of results.
    renamed : name of a system or label in `b` -> its name in `a`.
    titles : what the two are called in text and figures; by default the titles of their YAMLs.

    Returns
    -------
    ComparedStudies : `frames["labels"]` has a row per label that both have, on the same scale. Systems or labels that
        only one has are in `frames["missing"]`, and left out of the others.

    Raises
    ------
    ComparisonError, a ValueError : no label or fewer than two systems are in common, or a study was not run.
    ParamsError : there is no such study.

    Notes
    -----
    CV*: Belz (2022); what counts as reproduced: docs/decisions/what_counts_as_reproduced.md.

    Examples
    --------
    >>> import pandas as pd
    >>> import judgebook as jb
    >>> rows = [(f"prompt {i}", s, who, 1 + k + (i + j) % 2) for i in range(20) for j, who in enumerate("ABCDE")
    ...         for k, s in enumerate(["old", "mid", "new"])]
    >>> frame = pd.DataFrame(rows, columns=["prompt", "bot", "rater", "quality"])
    >>> roles = {"item": "prompt", "annotator": "rater", "system": "bot", "score": "quality"}
    >>> june, july = (jb.rank(part, **roles) for part in (frame[:150], frame[150:]))
    >>> rows = jb.compare(june, july, titles=("June", "July")).frames["labels"]
    >>> int(rows["same"].max()), int(rows["pairs"].max())  # of 3 pairs of systems, all are in the same order
    (3, 3)
    """
    from judgebook.display.names import display_names
    from judgebook.extras.compare.analysis import compare as compared
    from judgebook.questions.performance.arrangement import in_order

    one, two = (sides.open_side(os.fspath(x)) if isinstance(x, str | os.PathLike) else _stored(x) for x in (a, b))
    one, two = sides.titled(one, two, titles)
    one, two = sides.named_apart(one, sides.renamed(two, renamed or {}))
    runs = compared(one, two)
    return ComparedStudies(runs, in_order(display_names(one.study, one.scores, two.scores), one.study, one.scores))


def _stored(result: HasFolder) -> sides.Side:
    """A side of what was read from Python: its folder has the results of one study."""
    return sides.of_folder(sides.results_in(result.folder), result.folder.name)
