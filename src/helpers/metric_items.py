"""The items that people rated and metrics scored: joined, laid out as arrays, and grouped into what is resampled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from helpers.labels import METHODS, Label

ITEM = ["corpus", "dialogue", "turn"]


def human_means(annotations: pd.DataFrame, labels: Iterable[Label] = ()) -> pd.DataFrame:
    """Mean human rating of each item and label, and the number of ratings behind it (`human`, `n_ratings`).

    annotations : rows of people; others are left out. labels : those of direction -1 are turned around, so that high is
    good in all. Checked by hand.
    """
    people = annotations[annotations["annotator_kind"] == "human"] if "annotator_kind" in annotations else annotations
    keys = ["corpus", "method", "label", "dialogue", "turn", "system", "context"]
    means = people.groupby(keys, dropna=False, sort=False)["score"].agg(human="mean", n_ratings="size").reset_index()
    bad = {(label.method, label.id) for label in labels if label.direction == -1}
    turned = [pair in bad for pair in zip(means["method"], means["label"], strict=True)]
    return means.assign(human=means["human"].where(~np.array(turned, dtype=bool), -means["human"]))


def join(human: pd.DataFrame, metric_scores: pd.DataFrame) -> pd.DataFrame:
    """Human means beside the score (`value`) of each metric, one row an item, label and metric.

    Items without a score of a metric are missing there (`value` null), so that they can be counted; a metric that
    scores no item of a method (turns, where dialogues were rated) is left out of it. Raises ValueError when no item has
    a score, or a metric scores an item twice. Checked by hand.
    """
    scores = metric_scores[[*ITEM, "metric", "score"]].rename(columns={"score": "value"})
    twice = scores.duplicated([*ITEM, "metric"])
    if twice.any():
        raise ValueError(f"{twice.sum()} items have two scores of one metric, e.g. {scores[twice].iloc[0].to_dict()}")
    grid = human.merge(scores[["corpus", "metric"]].drop_duplicates(), on="corpus")
    out = grid.merge(scores, on=[*ITEM, "metric"], how="left")
    if not out["value"].notna().any():
        raise ValueError("no item has both a rating and a metric score: do dialogue and turn ids agree?")
    scored = out["value"].notna().groupby([out["corpus"], out["method"], out["metric"]]).transform("any")
    return out[scored].reset_index(drop=True)


def item_key(rows: pd.DataFrame) -> pd.Series:
    """One string an item: dialogue and turn. Checked through the functions that use it."""
    return rows["dialogue"].astype("string") + "\x1f" + rows["turn"].astype("string").fillna("")


def clusters_of(rows: pd.DataFrame, unit: str = "context") -> tuple[np.ndarray, str]:
    """What each row is resampled with: a number from 0, and what it stands for.

    unit : 'context': the context, and the dialogue where an item has none; 'item': every item for itself. Checked
    through the functions that use it.
    """
    if unit not in ("context", "item"):
        raise ValueError(f"unit: expected 'context' or 'item', found {unit!r}")
    if unit == "item":
        return pd.factorize(item_key(rows))[0], unit
    context, dialogue = rows["context"].astype("string"), rows["dialogue"].astype("string")
    names = context.where(context.notna(), "\x1f" + dialogue)
    return pd.factorize(names)[0], "context" if context.notna().any() else "dialogue"


@dataclass(frozen=True)
class Table:
    """The items of one corpus and method as arrays.

    x : (n, metrics) scores, y : (n, labels) human means, NaN missing; clusters : (n,) numbers from 0, and what they are
    (`unit`).
    """

    corpus: str
    method: str
    metrics: list[str]
    labels: list[str]
    x: np.ndarray
    y: np.ndarray
    clusters: np.ndarray
    unit: str

    @property
    def head(self) -> dict[str, str]:
        """What identifies its result rows. Checked by hand."""
        return {"corpus": self.corpus, "method": self.method, "level": METHODS[self.method].unit}

    @property
    def n_clusters(self) -> int:
        """How many clusters are resampled. Checked by hand."""
        return int(self.clusters.max()) + 1


def tables(joined: pd.DataFrame, unit: str = "context") -> Iterator[Table]:
    """The rows of `join` as a `Table` for each corpus and method. Checked through the functions that use it."""
    for (corpus, method), rows in joined.groupby(["corpus", "method"], sort=False):
        rows = rows.assign(item=item_key(rows))
        facts = rows.drop_duplicates("item").set_index("item")

        def wide(columns: str, values: str, rows: pd.DataFrame = rows, facts: pd.DataFrame = facts) -> pd.DataFrame:
            out = rows.drop_duplicates(["item", columns]).set_index(["item", columns])[values].unstack()  # noqa: PD010
            return out.loc[facts.index, list(rows[columns].unique())].astype(float)

        x, y = wide("metric", "value"), wide("label", "human")
        clusters, what = clusters_of(facts.reset_index(), unit)
        yield Table(corpus, method, list(x), list(y), x.to_numpy(), y.to_numpy(), clusters, what)
