"""The judgements of one method as arrays, by dialogue and label: what tests of systems are computed from.

For each dialogue (or compared pair) and label a `Panel` holds the number of judged items, the sum of their scores and
of the squares. Any two-sample test of proportions or means needs only these sums within each system, so 1,000 draws of
dialogues for 40 labels take one matrix product.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pandas as pd

from judgebook.annotations.dialogue_values import DialogueValues
from judgebook.study.labels import METHODS


@dataclass(frozen=True)
class Panel:
    """The judgements of one method by one evaluator group.

    Attributes
    ----------
    n, total, squares : (rows, labels)
        Judged items of a row (0: not judged), the sum of their scores and of the squared scores.
    system, system_b : (rows,)
        Positions in `systems`. `system_b` is -1 unless a row compares two dialogues; then `system` comes first in
        `systems`, and a positive score says that it was chosen.
    unit : {"turn", "dialogue", "pair"}
        What an item is.
    row : {"dialogue", "pair"}
        What a row is.
    """

    method: str
    labels: list[str]
    systems: list[str]
    n: np.ndarray
    total: np.ndarray
    squares: np.ndarray
    system: np.ndarray
    system_b: np.ndarray
    unit: str
    row: str

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Pairs of systems that can be compared, as positions in `systems`."""
        every = combinations(range(len(self.systems)), 2)
        return [(a, b) for a, b in every if self.unit != "pair" or self.rows_of(a, b).any()]

    @property
    def marks(self) -> bool:
        """Whether items are marked 0 or 1, or are means of such marks: only then no square exceeds its score."""
        return self.unit != "pair" and bool(np.all(self.squares <= self.total + 1e-9))

    @property
    def published_test(self) -> str:
        """z for marks of 0 and 1, sign for comparisons, Student's t for ratings (Finch et al. 2023, Table 5)."""
        if self.unit == "pair":
            return "sign"
        return "z" if self.marks else "student"

    def rows_of(self, a: int, b: int) -> np.ndarray:
        """(rows,) which rows are of two systems; of comparisons, between the two."""
        if self.unit == "pair":
            return (self.system == a) & (self.system_b == b)
        return (self.system == a) | (self.system == b)

    def take(self, rows: np.ndarray) -> Panel:
        """Some of the rows (boolean or indices; an index may be repeated)."""
        columns = ("n", "total", "squares", "system", "system_b")
        return replace(self, **{k: getattr(self, k)[rows] for k in columns})


def panel(values: DialogueValues, method: str, systems: list[str] | None = None) -> Panel:
    """The panel of one method.

    Parameters
    ----------
    values : DataFrame
        `dialogue_values` of one corpus and evaluator group.
    systems : list of str, optional
        Which systems, and in which order; by default those found, sorted.

    Raises
    ------
    ValueError
        The method has no values, or corpora or groups are mixed.
    """
    frame = values[values["method"] == method]
    if frame.empty:
        raise ValueError(f"method: {method!r} has no values; there are {sorted(values['method'].unique())}")
    for column in ("corpus", "group"):
        if len(several := sorted(frame[column].unique())) > 1:
            raise ValueError(f"{column}: expected one, found {several[:5]}; select one first")
    paired = frame["dialogue_b"].notna().all()
    present = set(frame["system"].unique()) | (set(frame["system_b"].unique()) if paired else set())
    systems = sorted(present) if systems is None else [s for s in systems if s in present]
    frame = frame[frame["system"].isin(systems) & (frame["system_b"].isin(systems) | (not paired))]
    column, labels = pd.factorize(frame["label"])
    row = frame.groupby(["dialogue", "dialogue_b"], dropna=False, sort=True).ngroup().to_numpy()
    first = frame.assign(row=row).drop_duplicates("row").sort_values("row")
    number = {s: i for i, s in enumerate(systems)}
    a, b = first["system"].map(number).to_numpy(), first["system_b"].map(number).fillna(-1).to_numpy(dtype=int)
    sums = {}
    for name, source in (("n", "n_items"), ("total", "total"), ("squares", "total_sq")):
        sums[name] = np.zeros((len(first), len(labels)))
        sums[name][row, column] = frame[source].to_numpy(float)
    if paired:  # turned so that the first system is on the left
        sums["total"] *= np.where(a > b, -1.0, 1.0)[:, None]
        a, b = np.minimum(a, b), np.maximum(a, b)
    return Panel(
        method=method,
        labels=list(labels),
        systems=systems,
        n=sums["n"],
        total=sums["total"],
        squares=sums["squares"],
        system=a,
        system_b=b,
        unit="pair" if paired else METHODS[method].unit,
        row="pair" if paired else "dialogue",
    )
