"""Where results of a study stand among those of public studies, for labels that can be compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

import pandas as pd

from compendium.atlas import declared
from compendium.atlas.standing.words import FEWEST
from judgebook.questions.planning.assumed import form, once
from judgebook.study.labels import Label

_KEYS = ["study", "corpus", "group", "method", "label"]
#: statistic of the atlas -> statistic or column that it is divided by; in the order of the page
COMPARED = {
    "alpha": "",
    "reliability": "",
    "pairs_different": "n",
    "sturdy": "",
    "detectable_difference": "width",
}


@dataclass(frozen=True)
class Strip:
    """One statistic of one label, beside that of comparable public studies.

    words : what makes them comparable, what the label is about and how it was asked for. others : study -> its median
    over comparable labels, of at least FEWEST studies. value, low, high : of the label; the ends missing without an
    interval.
    """

    statistic: str
    label: Label
    words: tuple[str, str]
    value: float
    low: float
    high: float
    others: Mapping[str, float]

    @property
    def below(self) -> int:
        """Studies with a lower value."""
        return sum(value < self.value for value in self.others.values())


@cache
def atlas(table: str) -> pd.DataFrame:
    """A committed table of the atlas."""
    return pd.read_csv(declared.FOLDER / f"{table}.csv", keep_default_na=False, na_values=[""])


def strips(
    own: tuple[pd.DataFrame, pd.DataFrame], atlas: tuple[pd.DataFrame, pd.DataFrame], labels: Iterable[Label]
) -> list[Strip]:
    """What can be compared, by statistic and label.

    own, atlas : labels and values, with the columns of these tables of the atlas; of the own study, `kind` is missing
    where it is not known. labels : of the study.
    """
    public = atlas[0][(atlas[0]["aggregated"] == 0) & ~atlas[0]["study"].isin(own[0]["study"])]
    public = once(public, atlas[1])
    public, mine = (_with_values(*tables) for tables in ((public, atlas[1]), (own[0][own[0]["main"] == 1], own[1])))
    by_id = {(label.method, label.id): label for label in labels}
    out = []
    for statistic in COMPARED:
        others = public[public["statistic"] == statistic]
        for row in mine[mine["statistic"] == statistic].to_dict("records"):
            alike = others[(others["kind"] == row["kind"]) & (others["form"] == row["form"])]
            medians = alike.groupby("study")["value"].median()
            if len(medians) >= FEWEST:
                label = by_id[row["method"], row["label"]]
                ends = (row["low_end"], row["high_end"])
                out.append(Strip(statistic, label, (row["kind"], row["form"]), row["value"], *ends, medians.to_dict()))
    return out


def _with_values(labels: pd.DataFrame, values: pd.DataFrame) -> pd.DataFrame:
    """Rows of values that are known, relative to what makes them comparable."""
    labels = labels.assign(form=form(labels), width=labels["high"] - labels["low"])
    rows = values[values["statistic"].isin(COMPARED) & values["estimate"].notna()]
    rows = rows.merge(labels[[*_KEYS, "kind", "form", "width"]], on=_KEYS)
    rows = rows[rows["kind"].notna() & rows["form"].notna()]
    by = rows["statistic"].map(COMPARED)
    divisor = rows["n"].where(by == "n", rows["width"].where(by == "width", 1.0)).astype(float)
    ends = {name: rows[column].astype(float) / divisor for name, column in _ENDS.items()}
    return rows.assign(**ends).dropna(subset="value")


_ENDS = {"value": "estimate", "low_end": "ci_low", "high_end": "ci_high"}
