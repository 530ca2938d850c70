"""Where results of a study stand among those of public studies, for labels that can be compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import pandas as pd

from judgebook.extras.atlas import declared, facts
from judgebook.questions.planning.assumed.alike import form
from judgebook.study.labels import METHODS, Label
from judgebook.study.params import Study

#: public studies, at least, that a label is compared with
FEWEST = 5
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


def problem(study: Study) -> str:
    """Which word of the YAML is not one of the atlas; empty where none is."""
    words = declared.declared().kinds
    wrong = [f"labels.{id_}.about: expected one of {', '.join(words)}, found {spec.about!r}"
             for id_, spec in study.labels.items() if spec.about and spec.about not in words]  # fmt: skip
    return wrong[0] if wrong else ""


def comparable(study: Study) -> bool:
    """Whether some label may have a strip."""
    if any(spec.about for spec in study.labels.values()):
        return True
    labels = pd.DataFrame(
        [facts.of_scale(label) | {"kind": kind, "unit": METHODS[label.method].unit} for label, kind in _about(study)]
    )
    if labels.empty:
        return False
    public = atlas("labels")
    public = public[(public["aggregated"] == 0) & (public["study"] != study.key)]
    public, labels = (frame.assign(form=form(frame)) for frame in (public, labels))
    alike = public.merge(labels[["kind", "form"]].dropna().drop_duplicates())
    return bool((alike.groupby(["kind", "form"])["study"].nunique() >= FEWEST).any())


def _about(study: Study) -> Iterator[tuple[Label, str]]:
    about = kinds(study)
    return ((label, about[key]) for label in study.label_list() if (key := (label.method, label.id)) in about)


def kinds(study: Study) -> dict[tuple[str, str], str]:
    """(method, label) -> what it is about: as the YAML says, else as the atlas does, which has labels of its own
    studies, else its id, if that is a word of the atlas."""
    labels = atlas("labels")
    known = labels[labels["study"] == study.key]
    of_atlas = dict(zip(zip(known["method"], known["label"], strict=True), known["kind"], strict=True))
    stated = {spec.id or id_: spec.about for id_, spec in study.labels.items() if spec.about}
    vocabulary = set(declared.declared().kinds)
    out = {}
    for label in study.label_list():
        own = label.id if label.id in vocabulary else None
        if kind := stated.get(label.id) or of_atlas.get((label.method, label.id)) or own:
            out[label.method, label.id] = kind
    return out


def strips(
    own: tuple[pd.DataFrame, pd.DataFrame], atlas: tuple[pd.DataFrame, pd.DataFrame], labels: Iterable[Label]
) -> list[Strip]:
    """What can be compared, by statistic and label.

    own, atlas : labels and values, with the columns of these tables of the atlas; of the own study, `kind` is missing
    where it is not known. labels : of the study.
    """
    public = atlas[0][(atlas[0]["aggregated"] == 0) & ~atlas[0]["study"].isin(own[0]["study"])]
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
