"""From annotations to one value per dialogue, and to the design matrix of a regression.

A behaviour's value is the proportion of turns that show it, a turn rating's the mean over turns, a dialogue
rating's the score itself, a comparison's the score of the pair (Finch et al. 2023, section 4). Validity, coverage
and sensitivity all start here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pandas as pd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from judgebook.study.schema import ITEM, Annotations, Dialogues, unordered

#: the frame that `dialogue_values` makes, or some of its rows
DialogueValues: TypeAlias = pd.DataFrame
UNIT = ["corpus", "group", "method", "label", "system", "dialogue", "session", "system_b", "dialogue_b"]
DIALOGUE_QUALITY = "dialogue_quality"
COMPARATIVE_QUALITY = "comparative_quality"


def dialogue_values(annotations: Annotations) -> DialogueValues:
    """One value for each dialogue (or compared pair), method, label and evaluator group.

    Parameters
    ----------
    annotations : DataFrame
        Columns of `schema.ANNOTATIONS`. Of an item with several annotations by a group their mean counts, as much as
        any other item; for the published definitions pick one first (`picks.picks`).

    Returns
    -------
    DataFrame with the columns of UNIT and
        annotator : who judged all of it, missing where several people did;
        n_items, total, total_sq : judged items (turns; 1 for a dialogue or a pair), sum of scores and of their
        squares, the score of an item being the mean of its annotations;
        value : total / n_items. For a comparison +1 says that `dialogue` was chosen, -1 `dialogue_b`, 0 neither.
    """
    who, names = pd.factorize(annotations["annotator"])
    frame = one_side(annotations)[[*UNIT, "turn", "score"]].assign(a=who, b=who)
    if frame.duplicated(["group", *ITEM]).any():
        by_item = frame.groupby([*UNIT, "turn"], dropna=False, sort=False)
        frame = by_item.agg(score=("score", "mean"), a=("a", "min"), b=("b", "max")).reset_index()
    grouped = frame.assign(squared=frame["score"] ** 2).groupby(UNIT, dropna=False, sort=False)
    sums = {"total": ("score", "sum"), "total_sq": ("squared", "sum"), "a": ("a", "min"), "b": ("b", "max")}
    out = grouped.agg(n_items=("score", "size"), **sums).reset_index()
    one = (out["a"] == out["b"]).to_numpy()
    annotator = pd.Series(np.asarray(names, dtype=object)[out["a"].to_numpy(dtype=int)], index=out.index)
    return out.drop(columns=["a", "b"]).assign(
        annotator=annotator.where(one, None).astype("str"), value=out["total"] / out["n_items"]
    )


def one_side(annotations: Annotations) -> pd.DataFrame:
    """Comparisons of the same two dialogues seen from the side from which the first of them was seen."""
    pairs = annotations["dialogue_b"].notna()
    if not pairs.any():
        return annotations
    compared = annotations[pairs]
    ends = unordered(compared)
    pair = [*(compared[c] for c in ("group", "corpus", "method", "label")), ends["low"], ends["high"]]
    left = compared["dialogue"].groupby(pair).transform("first")
    turned = (compared["dialogue"] != left).reindex(annotations.index, fill_value=False).to_numpy(dtype=bool)
    if not turned.any():
        return annotations
    out = annotations.copy()
    for a, b in (("dialogue", "dialogue_b"), ("system", "system_b")):
        out.loc[turned, [a, b]] = annotations.loc[turned, [b, a]].to_numpy()
    out.loc[turned, "score"] = -annotations.loc[turned, "score"]
    return out


def count_annotators(annotations: Annotations) -> dict[tuple[str, str], int]:
    """(method, label) -> how many people judged it. Positions in a list are not people: labels with those are left
    out."""
    known = annotations.groupby(["method", "label"])["annotator_known"].transform("all").to_numpy(dtype=bool)
    return annotations[known].groupby(["method", "label"])["annotator"].nunique().to_dict()


def all_own(annotations: Annotations, dialogues: Dialogues) -> bool:
    """Whether everybody judged only dialogues of their own, so that nobody else can judge what they did."""
    if annotations.empty or "interactor" not in dialogues or not annotations["annotator_known"].all():
        return False
    key = ["corpus", "dialogue"]
    talked = dialogues[[*key, "interactor"]].drop_duplicates(key)
    both = annotations[[*key, "annotator"]].drop_duplicates().merge(talked, on=key, how="left")
    return bool((both["annotator"] == both["interactor"]).fillna(False).all())


@dataclass(frozen=True)
class Design:
    """What one target is predicted from.

    target : dialogue_quality or comparative_quality; y : (n,) its values; x : (n, p) predictors, columns (method,
    label), missing where a dialogue lacks the judgement; clusters : (n,) who was in the dialogue; unit : what a
    cluster is; level : what a row is.
    """

    target: str
    y: np.ndarray
    x: pd.DataFrame
    clusters: np.ndarray
    unit: str
    level: str

    def rows(self, keep: np.ndarray) -> Design:
        """The design on some of its rows (boolean or indices)."""
        return Design(self.target, self.y[keep], self.x.iloc[keep], self.clusters[keep], self.unit, self.level)

    def common(self, columns: list) -> Design:
        """The design on the given predictors and the rows that have all of them."""
        part = Design(self.target, self.y, self.x[columns], self.clusters, self.unit, self.level)
        return part.rows(part.x.notna().all(axis=1).to_numpy())


def dialogue_design(values: DialogueValues, target: DialogueValues, interactor: pd.Series | None = None) -> Design:
    """Predict a dialogue's rating from the values of other judgements of it (Finch et al. 2023, section 7.2).

    values : `dialogue_values` of one evaluator group and corpus; comparisons are left out, they do not describe one
    dialogue.
    target : rows of one dialogue-level label, such as the interactors' own rating of quality, one per dialogue.
    interactor : dialogue -> person (`interactors`); where unknown, sessions are the clusters, else dialogues (of pairs,
    all dialogues that pairs link).
    """
    _single(values)
    _single(target, "dialogue")
    target = target.sort_values("dialogue", ignore_index=True)
    single = values[values["dialogue_b"].isna()]
    x = _wide(single, "dialogue", single["value"], target["dialogue"])
    clusters, unit = _clusters(target, interactor)
    return Design(DIALOGUE_QUALITY, target["value"].to_numpy(float), x, clusters, unit, "dialogue")


def comparative_design(
    values: DialogueValues,
    target: DialogueValues,
    interactor: pd.Series | None = None,
    order_shown: pd.Series | None = None,
) -> Design:
    """Predict which dialogue of a pair was chosen from differences between the two (Finch et al. 2023, section 7.2).

    y is 0 where the first dialogue of the pair was chosen and 1 where the second was; pairs without a choice are
    left out. A predictor is the second dialogue's value minus the first's; a comparison by somebody else enters as
    its score, turned the same way. So a positive relation means: more of it, more often chosen.

    values, interactor : as in `dialogue_design`. target : rows of one comparative label, one per pair.
    order_shown : dialogue -> 0 or 1, which came first; where it does not order them, the first is the one that
    `target` calls `dialogue`. A logit with an intercept gives the second dialogue an advantage of its own, so its fit
    depends a little on which dialogue is called the first.
    """
    _single(values)
    _single(target, "pair")
    target = target[target["value"] != 0].sort_values(["dialogue", "dialogue_b"], ignore_index=True)
    first, second, turned = _ordered(target, order_shown)
    y = (np.where(turned, target["value"], -target["value"]) > 0).astype(float)
    single = values[values["dialogue_b"].isna()]
    of = _wide(single, "dialogue", single["value"], pd.unique(pd.concat([first, second])))
    difference = of.loc[second].to_numpy() - of.loc[first].to_numpy()
    x = pd.DataFrame(difference, index=target.index, columns=of.columns)
    pairs = values[values["dialogue_b"].notna()]
    if len(pairs):
        place = pd.Series(target.index, index=pd.MultiIndex.from_arrays([first, second]))
        x = pd.concat([x, _oriented(pairs, place, target.index)], axis=1)
    clusters, unit = _clusters(target, interactor)
    return Design(COMPARATIVE_QUALITY, y, x, clusters, unit, "pair")


def _ordered(target: pd.DataFrame, order_shown: pd.Series | None) -> tuple[pd.Series, pd.Series, np.ndarray]:
    a, b = target["dialogue"], target["dialogue_b"]
    if order_shown is None:
        turned = np.zeros(len(target), dtype=bool)
    else:
        turned = (a.map(order_shown) > b.map(order_shown)).fillna(False).to_numpy(dtype=bool)
    return a.where(~turned, b), b.where(~turned, a), turned


def _oriented(pairs: pd.DataFrame, place: pd.Series, index: pd.Index) -> pd.DataFrame:
    """Comparisons as predictors: + where the second dialogue of the target's pair was chosen."""
    forward = pd.MultiIndex.from_arrays([pairs["dialogue"], pairs["dialogue_b"]])
    backward = pd.MultiIndex.from_arrays([pairs["dialogue_b"], pairs["dialogue"]])
    row = place.reindex(forward).to_numpy()
    other = place.reindex(backward).to_numpy()
    score = np.where(np.isnan(other), -1.0, 1.0) * pairs["value"].to_numpy()
    row = np.where(np.isnan(row), other, row)
    known = ~np.isnan(row)
    frame = pairs[known].assign(row=row[known].astype(int))
    return _wide(frame, "row", pd.Series(score[known], index=frame.index), index)


def _wide(values: pd.DataFrame, key: str, score: pd.Series, index: Iterable[object]) -> pd.DataFrame:
    frame = values.assign(score=score)
    twice = frame.duplicated([key, "method", "label"])
    if twice.any():
        raise ValueError(f"{int(twice.sum())} values are a second one of the same dialogue and label")
    wide = frame.set_index([key, "method", "label"])["score"].unstack(["method", "label"])  # noqa: PD010
    order = frame[["method", "label"]].drop_duplicates()
    return wide.reindex(index=pd.Index(index), columns=pd.MultiIndex.from_frame(order))


def _clusters(target: pd.DataFrame, interactor: pd.Series | None) -> tuple[np.ndarray, str]:
    if interactor is not None and (who := target["dialogue"].map(interactor)).notna().all():
        return who.to_numpy(object), "interactor"
    if target["session"].notna().all():
        return target["session"].to_numpy(object), "session"
    return _linked(target), "dialogue"


def _linked(target: pd.DataFrame) -> np.ndarray:
    """(n,) the dialogue of each row or, of pairs, the first of all dialogues that pairs link with it: two pairs that
    share a dialogue are not independent."""
    if target["dialogue_b"].isna().all():
        return target["dialogue"].to_numpy(object)
    codes, names = pd.factorize(pd.concat([target["dialogue"], target["dialogue_b"]]))
    links = coo_array((np.ones(len(target)), np.split(codes, 2)), shape=(len(names), len(names)))
    group = connected_components(links, directed=False)[1]
    first = pd.Series(names).groupby(group).first()
    return first.loc[group[codes[: len(target)]]].to_numpy(object)


def _one(frame: pd.DataFrame, column: str) -> None:
    values = frame[column].unique()
    if len(values) > 1:
        raise ValueError(f"{column}: expected one, found {', '.join(map(str, values[:5]))}; select one first")


def _single(values: DialogueValues, level: str | None = None) -> None:
    """One corpus and group; for a target also one label, of the right level."""
    for column in ("corpus", "group", *(("method", "label") if level else ())):
        _one(values, column)
    if level and not len(values):
        raise ValueError("target: no rows; the study has no such ratings")
    if level and values["dialogue_b"].notna().any() != (level == "pair"):
        raise ValueError(f"target: expected judgements of one {level} each")
