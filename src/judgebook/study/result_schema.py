"""What a result row can hold: its columns, and for each statistic its title, keys and range, with what keys mean
(`statistics.yaml` of the folder of its question)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from math import inf
from pathlib import Path
from typing import Any

import yaml

from judgebook.study import questions

#: identify a row, together with the keys of its statistic
IDS = ("corpus", "level", "method", "label", "label_b", "metric", "group", "group_b", "system", "system_b")
#: columns of a stored row: dtype, and what they hold
COLUMNS = {
    "study": ("str", "study key"),
    "corpus": ("str", "as in annotations"),
    "notebook": ("str", "the notebook that computed it"),
    "statistic": ("str", "a key of a `statistics.yaml`"),
    "level": ("str", "what one unit of the statistic is: turn, dialogue, pair, context, system"),
    "method": ("str", "evaluation method"),
    "label": ("str", "label"),
    "label_b": ("str", "a second label, where two are related"),
    "metric": ("str", "automatic metric or judge"),
    "group": ("str", "evaluator group"),
    "group_b": ("str", "a second group, where two are compared"),
    "system": ("str", "dialogue system"),
    "system_b": ("str", "a second system, where two are compared"),
    "condition": ("str", "the statistic's keys, sorted: key=value;…"),
    "estimate": ("float64", "the value; missing only where `note` or n_undefined says why"),
    "ci_low": ("float64", "lower end of the interval"),
    "ci_high": ("float64", "upper end of the interval"),
    "ci_kind": ("str", "bca, percentile, wilson, t, exact_bound, not_estimable, …"),
    "resample_unit": ("str", "what was resampled or assumed independent: turn, dialogue, session, …"),
    "p_value": ("float64", "unadjusted p-value"),
    "p_adjusted": ("float64", "adjusted within `family`"),
    "family": ("str", "the family of tests and the adjustment"),
    "n": ("Int64", "units analysed"),
    "n_clusters": ("Int64", "clusters analysed"),
    "n_annotators": ("Int64", "annotators"),
    "n_undefined": ("Int64", "resamples in which the statistic is undefined"),
    "seed": ("Int64", "seed, where random numbers were used"),
    "primary": ("boolean", "whether reports answer with this row; empty where they do not choose among rows"),
    "note": ("str", "for readers; code never reads it"),
}
REQUIRED = ("study", "notebook", "statistic")
#: identify a stored row
IDENTITY = [*COLUMNS][: [*COLUMNS].index("condition") + 1]
VALUES = tuple([*COLUMNS][len(IDENTITY) :])
#: keys that are numbers; all others are text
_FLOATS = ("alpha", "budget", "cost", "half_width", "hours", "least", "margin", "minutes", "power", "threshold")
_INTEGERS = (
    *("annotators", "annotators_per_dialogue", "conversations", "k", "marks", "n_dialogues", "sample_size", "systems"),
    *("times", "turn"),
)
KEY_TYPES: dict[str, type] = dict.fromkeys(_FLOATS, float) | dict.fromkeys(_INTEGERS, int)


@dataclass(frozen=True)
class Statistic:
    """title : for readers. keys : columns that identify its rows in addition to `IDS`; in CSV files the column
    `condition` holds them. range : of its values, by default any number. types : of keys, where they are not those of
    `KEY_TYPES`. meanings : of keys, for readers; where one names values between backticks, there are no others."""

    title: str
    keys: tuple[str, ...] = ()
    range: tuple[float, float] = (-inf, inf)
    types: Mapping[str, type] = field(default_factory=dict)
    meanings: Mapping[str, str] = field(default_factory=dict)

    def type_of(self, key: str) -> type:
        return self.types.get(key, KEY_TYPES.get(key, str))

    def value(self, key: str, text: str) -> object:
        """A value of a key, of the text that it is stored as."""
        return self.type_of(key)(text)


#: statistics that notebooks of one's own have stored, as this process has met them
_OWN: dict[str, Statistic] = {}
#: types of their keys, as they are stored
_TYPES: dict[str, type] = {"text": str, "whole number": int, "number": float}


def statistic(name: str) -> Statistic:
    """A statistic of the project, or of a notebook of one's own. Raises ValueError where nobody declares it."""
    one = statistics().get(name) or _OWN.get(name)
    if one is None:
        raise ValueError(f"statistic {name!r} is in no statistics.yaml, and no notebook of one's own has stored it")
    return one


def declare(name: str, statistic: Statistic) -> None:
    """Take in a statistic of somebody's own."""
    _OWN[name] = statistic


def described(names: Iterable[str]) -> dict[str, Any]:
    """Statistics of somebody's own as JSON, for files that hold their rows."""
    words = {type_: word for word, type_ in _TYPES.items()}
    return {
        name: {
            "title": one.title,
            "keys": {key: words[one.types[key]] for key in one.keys},
            "range": [end if abs(end) < inf else None for end in one.range],
        }
        for name, one in ((name, _OWN[name]) for name in names)
    }


def met(descriptions: Mapping[str, Any]) -> None:
    """Take in statistics that `described` has described."""
    for name, one in descriptions.items():
        low, high = one["range"]
        ends = (-inf if low is None else low, inf if high is None else high)
        types = {key: _TYPES[word] for key, word in one["keys"].items()}
        declare(name, Statistic(one["title"], tuple(types), ends, types))


@cache
def statistics() -> dict[str, Statistic]:
    """Every statistic by name. Raises ValueError where two folders declare the same one, and for a key that its folder
    does not explain."""
    every: dict[str, Statistic] = {}
    for folder in questions.folders():
        path = Path(str(files(folder))) / "statistics.yaml"
        loaded = yaml.load(path.read_bytes(), getattr(yaml, "CSafeLoader", yaml.SafeLoader)) if path.is_file() else {}
        explained = loaded.pop("keys", {})
        if twice := sorted(loaded.keys() & every.keys()):
            raise ValueError(f"{folder}: statistics.yaml: {', '.join(twice)} is declared elsewhere, too")
        for name, s in loaded.items():
            keys, ends = tuple(s.get("keys", ())), tuple(s.get("range", (-inf, inf)))
            meanings = {key: _meaning(explained, key, name, folder) for key in keys}
            every[name] = Statistic(s["title"], keys, ends, meanings=meanings)
    return every


def _meaning(explained: Mapping[str, Any], key: str, statistic: str, folder: str) -> str:
    """What a key says of a row. explained : key -> this, or by statistic where it differs."""
    meaning = explained.get(key)
    meaning = meaning.get(statistic) if isinstance(meaning, Mapping) else meaning
    if not meaning:
        raise ValueError(f"{folder}: statistics.yaml: {statistic} has the key {key!r}, and `keys` does not explain it")
    return str(meaning)
