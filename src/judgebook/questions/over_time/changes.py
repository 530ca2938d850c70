"""Who changed from one period to the next: annotators, relative to each other, and systems, as judged by the others.

Scores of two adjacent periods are modelled by systems and annotators. A change of a system, or of the items, moves the
scores of all annotators alike; so an annotator's change is that relative to the other annotators of the same systems,
and does not depend on what systems did. Annotators who changed are left out, one at a time, and those who judged in
both periods and did not change tell how systems changed. If all annotators became stricter together, that looks like a
change of all systems; nothing in such data can tell these apart.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from judgebook.questions.over_time.contrasts import Contrasts, contrasts, indicators

#: why changes of systems and annotators cannot be told apart, for readers
UNKNOWN, NOBODY = "it is not known who judged", "no annotator judged enough in both"
ONLY_ONE, ALL_CHANGED = "only one annotator judged enough in both", "those who judged in both changed"


@dataclass
class Boundary:
    """Two adjacent periods of one label.

    rows : annotator, system, unit (the cluster), score, late (whether of the later period). least : units in either
    period of whom and what is tested. identified : whether all annotators are known. annotators, systems : name ->
    its change, after `test`. changed : annotators who did. why : why systems could not be tested.
    """

    rows: pd.DataFrame
    least: int
    identified: bool = True
    annotators: dict[str, Contrasts] = field(default_factory=dict)
    systems: dict[str, Contrasts] = field(default_factory=dict)
    changed: list[str] = field(default_factory=list)
    why: str = ""

    def __post_init__(self) -> None:
        self.common = _in_both(self.rows, "annotator", self.least)
        self.rows = self.rows[self.rows["annotator"].isin(self.common)]
        self.both = _in_both(self.rows, "system", self.least)

    @property
    def n_tests(self) -> int:
        """How many changes may be named here."""
        few = len(self.common) < 2
        return 0 if few else (len(self.common) if len(self.common) > 2 else 1) + len(self.both)

    def test(self, level: float) -> None:
        """Annotators first, the most conspicuous taken out as long as its p-value is below `level`; then systems."""
        left = list(self.common)
        while len(left) > 1:
            values = annotator_changes(self.rows[self.rows["annotator"].isin(left)], left)
            self.annotators |= dict(zip(left, values, strict=True))
            p = np.array([one.p_values[0] for one in values])
            if np.isnan(p).all() or np.nanmin(p) >= level:
                break
            if len(left) == 2:  # one relative to the other: it cannot be told whose change it is
                self.changed += left
                left = []
            else:
                self.changed.append(left.pop(int(np.nanargmin(p))))
        if len(left) < 2:
            few = ONLY_ONE if self.common else NOBODY if self.identified else UNKNOWN
            self.why = ALL_CHANGED if self.changed else few
            return
        rows = self.rows[self.rows["annotator"].isin(left)]
        if not self.both:
            return
        self.systems = dict(zip(self.both, system_changes(rows, self.both), strict=True))


def _in_both(rows: pd.DataFrame, column: str, least: int) -> list[str]:
    """Values of a column with at least so many units in either period, in order."""
    units = rows.drop_duplicates([column, "unit", "late"]).groupby([column, "late"]).size()
    units = units.unstack(fill_value=0)  # noqa: PD010
    return sorted(units.index[(units.reindex(columns=[False, True], fill_value=0) >= least).all(axis=1)])


def annotator_changes(rows: pd.DataFrame, annotators: list[str]) -> list[Contrasts]:
    """Of each of (two or more) annotators: how much their scores rose more than those of the others.

    rows : as in `Boundary`, by these annotators.
    """
    late = rows["late"].to_numpy(int)
    cell = 2 * pd.factorize(rows["system"])[0] + late
    who = 2 * pd.Index(annotators).get_indexer(rows["annotator"]) + late
    x = np.hstack([indicators(cell), np.eye(2 * len(annotators))[who]])
    n = len(annotators)
    own = np.eye(n) - (1 - np.eye(n)) / (n - 1)
    wanted = np.hstack([np.zeros((n, x.shape[1] - 2 * n)), np.kron(own, [-1.0, 1.0])])
    return _each(contrasts(x, rows["score"].to_numpy(float), rows["unit"].to_numpy(), wanted, late))


def system_changes(rows: pd.DataFrame, systems: list[str]) -> list[Contrasts]:
    """Of each system: how much its scores rose, annotators being as strict as before. rows : as in `Boundary`."""
    rows = rows[rows["system"].isin(systems)]
    late = rows["late"].to_numpy(int)
    cell = 2 * pd.Index(systems).get_indexer(rows["system"]) + late
    x = np.hstack([np.eye(2 * len(systems))[cell], indicators(pd.factorize(rows["annotator"])[0])])
    wanted = np.zeros((len(systems), x.shape[1]))
    wanted[:, : 2 * len(systems)] = np.kron(np.eye(len(systems)), [-1.0, 1.0])
    return _each(contrasts(x, rows["score"].to_numpy(float), rows["unit"].to_numpy(), wanted, late))


def _each(made: Contrasts) -> list[Contrasts]:
    values = (made.estimate, made.error, made.df)
    return [Contrasts(*(v[i : i + 1] for v in values)) for i in range(len(made.estimate))]


def severities(rows: pd.DataFrame, confidence: float) -> list[dict[str, Any]]:
    """Rows of annotators in one period: how much higher each scores than all on average, systems being equal.

    rows : as in `Boundary`, without `late`; none of fewer than two annotators.
    """
    names = sorted(rows["annotator"].unique())
    n = len(names)
    if n < 2:
        return []
    who = pd.Index(names).get_indexer(rows["annotator"])
    x = np.hstack([indicators(pd.factorize(rows["system"])[0]), np.eye(n)[who]])
    wanted = np.hstack([np.zeros((n, x.shape[1] - n)), np.eye(n) - 1 / n])
    made = contrasts(x, rows["score"].to_numpy(float), rows["unit"].to_numpy(), wanted).rows(confidence)
    size = np.bincount(who, minlength=n)
    out = [{**row, "annotator": name, "n": k} for row, name, k in zip(made, names, size, strict=True)]
    return [{k: v for k, v in row.items() if k != "p_value"} for row in out if np.isfinite(row["estimate"])]
