"""Ratings side by side, as papers correlate them and call it agreement: frames with columns `rating` and `other`."""

from __future__ import annotations

import pandas as pd

#: a label of one data set
LABEL = ["corpus", "method", "label"]


def in_places(judgements: pd.DataFrame) -> pd.DataFrame:
    """Judgements of labels of which some item has two, with `item`, a number, `place`, and `fewest`.

    judgements : of turns or dialogues, a row each, in the order of their source. place : 0 for the first rating of an
    item, 1 for the second, and so on, whoever gave it. fewest : how many ratings every item of the method has.
    """
    rows = judgements.assign(rating=judgements["score"].astype(float))
    of_item = rows.groupby([*LABEL, "dialogue", "turn"], dropna=False, sort=False)
    rows["item"], rows["place"], size = of_item.ngroup(), of_item.cumcount(), of_item["rating"].transform("size")
    rows["fewest"] = size.groupby(rows["method"]).transform("min")
    return rows[rows.groupby(LABEL)["place"].transform("max") > 0]


def each_two(rows: pd.DataFrame, who: str, at_least: int = 3) -> pd.DataFrame:
    """Ratings of the same item by every two of `who` (a column) that share so many items; `of` names the two.

    rows : from `in_places`. Of several ratings of an item by one person, the first counts.
    """
    once = rows.drop_duplicates(["item", who])[[*LABEL, "item", who, "rating"]]
    both = once.merge(once[["item", who, "rating"]].rename(columns={"rating": "other"}), on="item")
    both = both[both[f"{who}_x"] < both[f"{who}_y"]]
    both["of"] = both.groupby([*LABEL, f"{who}_x", f"{who}_y"], sort=False).ngroup()
    return both[both.groupby("of")["of"].transform("size") >= at_least]


def with_the_others(rows: pd.DataFrame) -> pd.DataFrame:
    """Each rating beside the mean of the item's other ratings; `of`: its place."""
    of_item = rows.groupby("item")["rating"]
    others = of_item.transform("size") - 1
    out = rows.assign(of=rows["place"], other=(of_item.transform("sum") - rows["rating"]) / others.where(others > 0))
    return out.dropna(subset="other")


def with_the_mean(rows: pd.DataFrame) -> pd.DataFrame:
    """Each rating beside the mean of all ratings of the item, itself among them; `of`: its place.

    A part correlates with its whole: the coefficient is high even where raters have nothing in common.
    """
    return rows.assign(of=rows["place"], other=rows.groupby("item")["rating"].transform("mean"))


def without_the_farthest(rows: pd.DataFrame) -> pd.DataFrame:
    """Ratings without the one of each item that lies farthest from the item's mean, the first of several."""
    of_item = rows.groupby("item")["rating"]
    far = (rows["rating"] - of_item.transform("mean")).abs().round(9)  # equal but for rounding is equal
    farthest = far.groupby(rows["item"]).idxmax()
    return rows[~rows.index.isin(farthest) | (of_item.transform("size") == 1)]
