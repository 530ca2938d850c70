"""A row per judgement where no usual name says so: what tells the rows of one person and item apart is the label."""

from __future__ import annotations

import pandas as pd

from judgebook import codes
from judgebook.extras.new.columns import Guess, is_rating
from judgebook.extras.new.roles import role_of
from judgebook.extras.new.words import ANSWERS
from judgebook.sources.nature import plain

#: further names of what was judged, which name other things as well
_ALSO = {"category", "categories", "test", "rubric", "property", "facet", "item", "subscale", "measure"}
_MOST = 60


def criterion(out: Guess, cells: pd.DataFrame, numeric: dict[str, pd.Series]) -> None:
    """The columns of labels and scores: each person has each label once for an item, and one column may be scores."""
    item, who = out.columns.get("dialogue"), out.columns.get("annotator")
    if item is None or who is None or "label" in out.columns or out.comparative:
        return
    keys = [item, who, *([out.columns["system"]] if "system" in out.columns else [])]
    free = [c for c in cells if c and c not in out.columns.values()]
    labels = [c for c in free if plain(c) in _ALSO or role_of(c) == "label"]
    labels = [c for c in labels if c not in numeric and _tells_apart(cells, keys, c)]
    scores = [c for c in free if c not in labels and _may_be_score(c, cells[c], numeric)]
    if len(labels) == len(scores) == 1:
        out.columns |= {"label": labels[0], "score": scores[0]}
        out.why["label"] = "each person has each of its values once for an item"


def _tells_apart(cells: pd.DataFrame, keys: list[str], column: str) -> bool:
    """Whether rows of a person and an item are one for each value of a column."""
    n = cells[column].nunique()
    sizes = cells.groupby(keys).size()
    return 1 < n <= _MOST and not cells.duplicated([*keys, column]).any() and bool((sizes == n).mean() > 0.9)


def _may_be_score(column: str, held: pd.Series, numeric: dict[str, pd.Series]) -> bool:
    named = role_of(column) in ("dialogue", "system", "annotator") or column.lower().endswith(("id", "idx", "index"))
    answered = {text.lower() for text in codes.texts_of(held).stripped.distinct} - {""}
    return not named and (answered <= set(ANSWERS) or (column in numeric and is_rating(column, numeric[column])))
