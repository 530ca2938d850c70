"""The same comparison of systems under every combination of choices that a reasonable analyst might make.

References
----------
Simonsohn, Simmons and Nelson 2020, Specification curve analysis, Nature Human Behaviour 4, 1208-1214.
Steegen, Tuerlinckx, Gelman and Vanpaemel 2016, Increasing transparency through a multiverse analysis, Perspectives on
Psychological Science 11, 702-712.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

import numpy as np
import pandas as pd

from judgebook.annotations.cells import adjust_rows
from judgebook.annotations.picks import masks
from judgebook.annotations.scores import known_people
from judgebook.questions.fragility.differences import numbers, of_numbers
from judgebook.study.labels import METHODS
from judgebook.study.schema import Annotations

#: choice -> its values, the one of our primary analysis first
CHOICES: Mapping[str, tuple[str, ...]] = {
    "workers": ("passed", "stricter", "looser", "all"),
    "ratings": ("mean", "pick"),
    "scores": ("raw", "standardised"),
    "units": ("dialogue", "item"),
    "people": ("the same", "a sample"),
    "ties": ("kept", "dropped"),
}
KEYS = ["method", "label", "system", "system_b"]
ALPHA = 0.05


@dataclass(frozen=True)
class MethodData:
    """Annotations of one corpus and group by people, of one method.

    workers : value of the choice `workers` -> (annotations,) whether each belongs to a worker who is kept; `passed`,
    that of the primary analysis, is always there. Values that keep the same workers as an earlier one are left out.
    systems : in the order of figures. picked : picks made so far, by their choices of workers and ties.
    """

    annotations: Annotations
    method: str
    systems: list[str]
    workers: Mapping[str, np.ndarray]
    pick_seed: int
    picked: dict[tuple[str, str], np.ndarray] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def numbers(self) -> pd.DataFrame:
        """What differences are made from, a row for each annotation: names are looked at only once."""
        return numbers(self.annotations, self.method, self.systems)

    @property
    def primary(self) -> pd.DataFrame:
        """The annotations of the primary analysis."""
        return self.annotations[self.workers["passed"]]

    def where(self, chosen: np.ndarray) -> MethodData:
        """Some of the annotations, (annotations,) bool."""
        workers = {name: mask[chosen] for name, mask in self.workers.items()}
        return MethodData(self.annotations[chosen], self.method, self.systems, workers, self.pick_seed)


def open_choices(data: MethodData) -> dict[str, tuple[str, ...]]:
    """The choices that make a difference to these data, with their values."""
    rows = data.annotations
    pairwise = METHODS[data.method].unit == "pair"
    item = ["label", "dialogue", "dialogue_b", "turn"]
    all_known = known_people(rows)
    matters = {
        "ratings": bool(rows.duplicated(item).any()),
        "scores": all_known and not pairwise and _rated_several(rows),
        "units": METHODS[data.method].unit == "turn",
        "people": all_known,
        "ties": pairwise and bool((rows["score"] == 0).any()) and bool((rows["score"] != 0).any()),
    }
    out = {name: values if matters.get(name) else values[:1] for name, values in CHOICES.items()}
    return out | {"workers": tuple(v for v in CHOICES["workers"] if v in data.workers)}


def _rated_several(rows: Annotations) -> bool:
    """Whether most annotators met several systems: otherwise standardising takes the systems' differences away."""
    met = rows.groupby("annotator")["system"].nunique()
    return bool((met > 1).mean() > 0.5)


def specifications(data: MethodData) -> Iterator[dict[str, str]]:
    """Every combination of the open choices, the primary analysis first."""
    choices = open_choices(data)
    for values in product(*choices.values()):
        yield dict(zip(choices, values, strict=True))


def under(data: MethodData, choice: Mapping[str, str]) -> pd.DataFrame:
    """All pairs of systems and labels under one combination: estimate, interval, p-value, and p adjusted by Holm within
    the label."""
    used = data.workers[choice["workers"]]
    if choice["ties"] == "dropped":
        used = used & (data.numbers["score"] != 0).to_numpy()
    rows = data.numbers[used]
    if choice["scores"] == "standardised":
        rows = standardised(rows)
    if choice["ratings"] == "pick":
        same = (choice["workers"], choice["ties"])
        if same not in data.picked:
            data.picked[same] = next(masks(data.annotations[used], 1, data.pick_seed))
        rows = rows[data.picked[same]]
    if choice["units"] == "item":
        rows = rows.assign(dialogue=rows["item"], session=rows["item"])
    return _compared(data, rows, people=choice["people"] == "a sample")


def _compared(data: MethodData, rows: pd.DataFrame, *, people: bool) -> pd.DataFrame:
    """rows : of `numbers`."""
    estimated = of_numbers(rows, data.method, data.systems, people=people)
    return estimated if estimated.empty else adjust_rows(estimated, ["label"], "systems of one label")


def spread(rows: pd.DataFrame) -> pd.Series:
    """Standard deviation within systems of the mean scores of dialogues (comparisons), by label."""
    unit = ["label", "system", "system_b", "dialogue", "dialogue_b"]
    values = rows.groupby(unit, dropna=False, sort=False)["score"].mean().reset_index()
    scores = values.groupby(["label", "system", "system_b"], dropna=False)["score"]
    centred = (values["score"] - scores.transform("mean")).groupby(values["label"])
    df = centred.size() - values.groupby("label")[["system", "system_b"]].apply(lambda x: len(x.drop_duplicates()))
    return np.sqrt(centred.agg(lambda x: (x**2).sum()) / df.where(df > 0)).where(lambda sd: sd > 1e-12)


def standardised(rows: pd.DataFrame) -> pd.DataFrame:
    """Scores less their annotator's mean, over their standard deviation (ddof 1), label by label; those of an annotator
    without spread are 0."""
    by = rows.groupby(["label", "annotator"], sort=False)["score"]
    sd = by.transform("std").replace(0, np.nan)
    return rows.assign(score=((rows["score"] - by.transform("mean")) / sd).fillna(0.0))


def curve(data: MethodData) -> pd.DataFrame:
    """Every pair and label under every combination.

    Returns the frame of `under` with a column for each choice, `spec`, the number of the combination (0: the primary
    analysis), and `sd`, in which differences are expressed: of all combinations with raw scores the standard deviation
    of dialogue values in the primary analysis, of those with standardised scores that of standardised values, so that
    a combination changes the difference only, not its unit.
    """
    out, scales = [], {}
    for number, choice in enumerate(specifications(data)):
        raw = choice["scores"] == CHOICES["scores"][0]
        if raw not in scales:
            scales[raw] = spread(data.primary if raw else standardised(data.primary))
        estimated = under(data, choice)
        if len(estimated):
            out.append(estimated.drop(columns="people", errors="ignore").assign(**choice, spec=number))
            out[-1]["sd"] = estimated["label"].map(scales[raw])
    return pd.concat(out, ignore_index=True) if out else pd.DataFrame()


def without_people(data: MethodData, people: list[str]) -> Iterator[pd.DataFrame]:
    """The primary analysis without each of these people in turn; an empty frame where nothing is left."""
    passed = data.workers["passed"]
    rows, annotator = data.numbers[passed], data.annotations["annotator"].to_numpy(object)[passed]
    for person in people:
        yield _compared(data, rows[annotator != person], people=False)
