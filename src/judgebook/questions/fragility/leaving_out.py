"""What becomes of a conclusion without a few dialogues, without each person, without each session?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtr

from judgebook.annotations.dialogue_values import dialogue_values
from judgebook.annotations.scores import known_people
from judgebook.questions.fragility import drop_few
from judgebook.questions.fragility.specifications import ALPHA, KEYS, MethodData, without_people
from judgebook.study.labels import METHODS
from judgebook.study.results import ResultRows
from judgebook.study.schema import Annotations

#: a sturdy conclusion keeps its sign unless at least this share of the dialogues is left out
STURDY_DIALOGUES = 0.05
#: what becomes of a conclusion without a person or session
KEPT, LOST, TURNED = "kept", "not significant", "turned"
#: note of a conclusion that is lost because a system has no data without a person, a session or few dialogues
NOTHING_LEFT = "a system has no data left, or too few for a test"
#: the conclusion -> sums and numbers of dialogues of each unit: two (units, systems) arrays, or (units, 1) of pairs
_Totals = Callable[[Mapping[str, Any]], tuple[np.ndarray, np.ndarray]]


def with_less_data(
    data: MethodData, chosen: ResultRows, levels: np.ndarray, most_people: int, blocks: str
) -> Iterator[dict[str, Any]]:
    """How few dialogues and people turn each conclusion, and what remains without each session and person: rows of
    `drop_few`, `without_session`, `people_tried` and `without_person`.

    chosen : the conclusions. levels : from `analysis.holm_levels`. most_people : how many annotators are left out in
    turn. blocks : what sessions are, as in `analysis.GroupData`.
    """
    rows = data.primary
    values = dict(iter(dialogue_values(rows).groupby("label", sort=False)))
    all_known = known_people(rows)
    labels = chosen["label"].unique()
    by_session = {label: _by_session(data, values[label]) for label in labels}
    by_person = {
        k: _by_person(data, part) for k, part in rows.groupby("label", sort=False) if all_known and k in labels
    }
    for row, level in zip(chosen.to_dict("records"), levels, strict=True):
        key = {k: row[k] for k in KEYS}
        of_label = values[row["label"]]
        for of, dropped in _dropped(data, of_label, row, level).items():
            yield key | {"statistic": "drop_few", "dropped": "dialogue", "turns": of, **_few(dropped)}
        left = without_session(*by_session[row["label"]](row), row, level)
        yield key | {"statistic": "without_session", "resample_unit": blocks, **left}
        if all_known:
            dropped = drop_few.people(*by_person[row["label"]](row))
            yield key | {"statistic": "drop_few", "dropped": "annotator", "turns": drop_few.SIGN, **_few(dropped)}
    busiest = rows["annotator"].value_counts().index
    tried = busiest[:most_people].tolist() if all_known else []
    row = {"statistic": "people_tried", "method": data.method, "estimate": float(len(tried))}
    yield row | (
        {"n_annotators": len(busiest)} if all_known else {"note": "not all annotators are known, or there is one"}
    )
    yield from _without_people(data, chosen, tried)


def _without_people(data: MethodData, chosen: ResultRows, people: list[str]) -> Iterator[dict[str, Any]]:
    about = data.where(data.annotations["label"].isin(chosen["label"]).to_numpy())
    for person, left in zip(people, without_people(about, people), strict=True):
        keys = zip(*(left[k] for k in KEYS), strict=True) if len(left) else ()
        place = {key: i for i, key in enumerate(keys)}
        values = {k: left[k].to_numpy() for k in ("estimate", "p_value", "p_adjusted", "n") if len(left)}
        for row in chosen.to_dict("records"):
            key = {k: row[k] for k in KEYS}
            head = key | {"statistic": "without_person", "without": person}
            at = place.get(tuple(key.values()))
            if at is None or not np.isfinite(values["estimate"][at]):
                yield head | {"verdict": LOST, "estimate": np.nan, "note": NOTHING_LEFT}
                continue
            one = {k: column[at].item() for k, column in values.items()}
            yield head | one | {"verdict": _verdict(one["estimate"], row["estimate"], one["p_adjusted"])}


def _verdict(left: float, before: float, p: float) -> str:
    """p : adjusted; where it is missing, no test is possible and the conclusion is not significant."""
    if np.sign(left) != np.sign(before):
        return TURNED
    return KEPT if p < ALPHA else LOST


def without_session(totals: np.ndarray, counts: np.ndarray, row: Mapping[str, Any], level: float) -> dict[str, Any]:
    """The difference without the session whose removal brings it closest to 0, or farthest beyond it.

    totals, counts : as in `drop_few.people`, a row for each session. Differences are exact. Significance goes by the
    standard error with all sessions and by `level`, the unadjusted p-value from which Holm's adjustment with the
    p-values of the other pairs would not reject. Where a session holds all data of a system, the conclusion is lost
    without it, and there is no difference.
    """
    left = counts.sum(axis=0) - counts
    if not (left > 1e-9).all():
        return {"verdict": LOST, "estimate": np.nan, "n": len(totals), "note": NOTHING_LEFT}
    gaps = drop_few.gap((totals.sum(axis=0) - totals).T, left.T)
    nearest = float(gaps[np.argmin(np.sign(row["estimate"]) * gaps)])
    p = 2 * float(stdtr(row["df"], -abs(nearest) / row["se"]))
    adjusted = 0.0 if p < level else 1.0
    return {"verdict": _verdict(nearest, row["estimate"], adjusted), "estimate": nearest, "n": len(totals)}


def _few(dropped: drop_few.Dropped) -> dict[str, Any]:
    if dropped.emptied:
        return {"estimate": np.nan, "n": dropped.n, "note": NOTHING_LEFT}
    note = None if dropped.needed is not None else "not even half of them"
    return {"estimate": np.nan if dropped.needed is None else float(dropped.needed), "n": dropped.n, "note": note}


def _dropped(
    data: MethodData, of_label: pd.DataFrame, row: Mapping[str, Any], level: float
) -> dict[str, drop_few.Dropped]:
    """By what turns: the sign, and the significance, at `level`, of a plain t test of dialogue values where that has
    any."""
    if METHODS[data.method].unit == "pair":
        x, y = _seen_from_first(of_label, row, "value")["value"].to_numpy(float), None
        out = {drop_few.SIGN: drop_few.sign_of_one(x)}
    else:
        x, y = (of_label.loc[of_label["system"] == row[s], "value"].to_numpy(float) for s in ("system", "system_b"))
        out = {drop_few.SIGN: _unless_emptied(drop_few.sign_of_two(x, y), min(len(x), len(y)))}
    with suppress(ValueError):  # significant within sessions only, or by other weights
        out[drop_few.SIGNIFICANCE] = drop_few.significance(x, y, alpha=level)
    return out


def _unless_emptied(dropped: drop_few.Dropped, fewest: int) -> drop_few.Dropped:
    """Where the smaller system has so few dialogues that all of them can be left out before the sign turns.

    fewest : its dialogues.
    """
    sooner = dropped.needed is None or dropped.needed > fewest
    return replace(dropped, needed=None, emptied=True) if sooner and fewest < STURDY_DIALOGUES * dropped.n else dropped


def _seen_from_first(rows: pd.DataFrame, row: Mapping[str, Any], value: str) -> pd.DataFrame:
    """The comparisons of a conclusion's two systems, with `value` positive where its first system was chosen."""
    straight = (rows["system"] == row["system"]) & (rows["system_b"] == row["system_b"])
    turned = (rows["system"] == row["system_b"]) & (rows["system_b"] == row["system"])
    one_pair = rows[straight | turned]
    return one_pair.assign(**{value: np.where(straight[one_pair.index], 1, -1) * one_pair[value].astype(float)})


def _by_person(data: MethodData, rows: Annotations) -> _Totals:
    """Of the dialogues that each annotator judged. rows : of one label."""
    if METHODS[data.method].unit == "pair":
        return lambda row: _one_column(_seen_from_first(rows, row, "score"), "annotator", "score")
    values = rows.groupby(["annotator", "system", "dialogue"], sort=True)["score"].mean().reset_index()
    return _two_columns(values, "annotator", "score")


def _by_session(data: MethodData, values: pd.DataFrame) -> _Totals:
    """Of the dialogues (pairs) of each session. values : of dialogues, one label."""
    unit = values["dialogue"].astype(str) + "\x1f" + values["dialogue_b"].fillna("").astype(str)
    values = values.assign(session=values["session"].fillna(unit))
    if METHODS[data.method].unit == "pair":
        return lambda row: _one_column(_seen_from_first(values, row, "value"), "session", "value")
    return _two_columns(values, "session", "value")


def _one_column(rows: pd.DataFrame, unit: str, value: str) -> tuple[np.ndarray, np.ndarray]:
    by = rows.groupby(unit)[value]
    return by.sum().to_numpy(float)[:, None], by.size().to_numpy(float)[:, None]


def _two_columns(values: pd.DataFrame, unit: str, value: str) -> _Totals:
    by = values.groupby([unit, "system"], sort=True)[value]
    whole, sizes = by.sum(), by.size().to_numpy()
    place, system = pd.factorize(whole.index.get_level_values(0))[0], whole.index.get_level_values(1).to_numpy(object)
    sums, n = whole.to_numpy(float), int(place.max(initial=-1)) + 1

    def of(row: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
        totals, counts = np.zeros((2, n, 2))
        for column, name in enumerate((row["system"], row["system_b"])):
            of_system = system == name
            totals[place[of_system], column], counts[place[of_system], column] = sums[of_system], sizes[of_system]
        judged = counts.any(axis=1)
        return totals[judged], counts[judged]

    return of
