"""The items that people rated and metrics scored: joined, laid out as arrays, and grouped into what is resampled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from judgebook.study.labels import METHODS, Label
from judgebook.study.schema import Annotations

#: columns that identify an item, and a label
ITEM, LABEL = ["corpus", "dialogue", "turn"], ["corpus", "method", "label"]


def human_means(annotations: Annotations, labels: Iterable[Label] = ()) -> pd.DataFrame:
    """Mean human rating of each item and label, and the number of ratings behind it (`human`, `n_ratings`).

    annotations : rows of people; others are left out. labels : those of direction -1 are reversed, so that high is
    good in all.
    """
    people = annotations[annotations["annotator_kind"] == "human"]
    keys = ["corpus", "method", "label", "dialogue", "turn", "system", "context"]
    means = people.groupby(keys, dropna=False, sort=False)["score"].agg(human="mean", n_ratings="size").reset_index()
    bad = {(label.method, label.id) for label in labels if label.direction == -1}
    reverse = np.array([pair in bad for pair in zip(means["method"], means["label"], strict=True)], dtype=bool)
    return means.assign(human=means["human"].where(~reverse, -means["human"]))


def join(human: pd.DataFrame, metric_scores: pd.DataFrame) -> pd.DataFrame:
    """Human means with the score (`value`) of each metric, one row per item, label and metric.

    Items that a metric does not score are kept (`value` missing), so that they can be counted; a metric that scores no
    item of a method (turns, where dialogues were rated) is left out of it. Raises ValueError when no item has a score,
    or a metric scores an item twice.
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
    """One string per item: dialogue and turn."""
    return rows["dialogue"].astype("string") + "\x1f" + rows["turn"].astype("string").fillna("")


def clusters_of(rows: pd.DataFrame) -> tuple[np.ndarray, str]:
    """What each row is resampled with: a number from 0, and what it stands for, `context` or `dialogue`.

    An item without a context is resampled with its dialogue.
    """
    (context, names), dialogue = pd.factorize(rows["context"]), pd.factorize(rows["dialogue"])[0]
    codes = np.where(context >= 0, context, len(names) + dialogue)
    return pd.factorize(codes)[0], "context" if len(names) else "dialogue"


@dataclass(frozen=True)
class ScoredItems:
    """The items of one corpus and method as arrays.

    x : (n, metrics) scores, y : (n, labels) human means, NaN missing; clusters : (n,) numbers from 0, and what they are
    (`unit`). systems : (n,) names.
    """

    corpus: str
    method: str
    metrics: list[str]
    labels: list[str]
    x: np.ndarray
    y: np.ndarray
    clusters: np.ndarray
    unit: str
    systems: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=str))

    @property
    def head(self) -> dict[str, str]:
        """What identifies its result rows."""
        return {"corpus": self.corpus, "method": self.method, "level": METHODS[self.method].unit}

    @property
    def n_clusters(self) -> int:
        return int(self.clusters.max()) + 1


def scored_items(joined: pd.DataFrame) -> Iterator[ScoredItems]:
    """The rows of `join` as arrays, for each corpus and method."""
    for (corpus, method), rows in joined.groupby(["corpus", "method"], sort=False):
        rows = rows.assign(item=item_key(rows))
        items = rows.drop_duplicates("item")
        x, y = (_wide(rows, *columns).loc[items["item"]] for columns in (("metric", "value"), ("label", "human")))
        arrays = x.to_numpy(), y.to_numpy(), *clusters_of(items), items["system"].to_numpy(str)
        yield ScoredItems(corpus, method, list(x), list(y), *arrays)


def _wide(rows: pd.DataFrame, columns: str, values: str) -> pd.DataFrame:
    once = rows.drop_duplicates(["item", columns])
    return once.set_index(["item", columns])[values].unstack()[rows[columns].unique()].astype(float)  # noqa: PD010
