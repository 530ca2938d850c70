"""Items side by side in a row of crowd work: what was shown at each place, in numbered columns or in a list."""

from __future__ import annotations

import re

import pandas as pd

from judgebook.extras.new.roles import role_of
from judgebook.extras.new.words import is_prose, looks_like_model
from judgebook.sources import json_text

_NUMBERED = re.compile(r"(.*?[^0-9])([0-9]+)")


def shown(cells: pd.DataFrame, places: list[str]) -> dict[str, pd.DataFrame]:
    """Path -> what it leads to at each place, of columns `Input.text1`, … and of lists with an element for each."""
    out: dict[str, pd.DataFrame] = {}
    families: dict[str, dict[str, str]] = {}
    for column in (c for c in cells if c.startswith("Input.")):
        if m := _NUMBERED.fullmatch(column):
            families.setdefault(m[1], {})[m[2]] = column
        lists = [json_text.listed(text) for text in cells[column]]
        if places[0] == "1" and all(held is not None and len(held) == len(places) for held in lists):
            out[f"{column}:nth.{{i}}"] = pd.DataFrame(lists, cells.index, places).astype(str)
    for base, of in families.items():
        if set(places) <= set(of):
            out[f"{base}{{i}}"] = cells[[of[i] for i in places]].set_axis(places, axis=1)
    return out


def roles(found: dict[str, pd.DataFrame]) -> dict[str, str]:
    """Our column -> path of what was shown at a place: texts, systems (each row has nearly all of them), items."""
    out: dict[str, str] = {}
    for path, held in found.items():
        name = path.removeprefix("Input.").partition(":")[0].removesuffix("{i}").rstrip("_ .-")
        values = pd.concat([held[i] for i in held], ignore_index=True)
        every = {*values}
        if is_prose(values):
            ours = "system_text"
        elif role_of(name) == "system" or sum(map(looks_like_model, every)) * 2 > len(every):
            ours = "system"
        else:
            crossed = held.nunique(axis=1).mean() > 0.5 * len(every) and len(held.drop_duplicates()) > 2
            ours = "system" if crossed and role_of(name.removesuffix("s")) != "dialogue" else "dialogue"
        out.setdefault(ours, path)
    return out
