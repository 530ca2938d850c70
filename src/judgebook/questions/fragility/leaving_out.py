"""What becomes of a conclusion without a few dialogues, without each person, without each session?

How few dialogues must be left out for a difference to change its sign is exact: of the better system the dialogues with
the highest values go first, of the other those with the lowest, and all ways to share the number between the two are
tried. Of comparisons the largest values go first.

References
----------
Broderick, Giordano and Meager 2020, An automatic finite-sample robustness metric: when can dropping a little data make
a big difference? arXiv:2011.14999.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtr

from judgebook.annotations.dialogue_values import dialogue_values
from judgebook.annotations.scores import known_people
from judgebook.questions.fragility.specifications import ALPHA, KEYS, MethodData, without_people
from judgebook.study.labels import METHODS
from judgebook.study.results import ResultRows

#: a sturdy conclusion keeps its sign unless at least this share of the dialogues is left out
STURDY_DIALOGUES = 0.05
#: of dialogues, at most so large a share is left out
MOST = 0.5
#: what becomes of a conclusion without a person or session
KEPT, LOST, TURNED = "kept", "not significant", "turned"
#: note of a conclusion that is lost because a system has no data without a person, a session or few dialogues
NOTHING_LEFT = "a system has no data left, or too few for a test"
#: the conclusion -> sums and numbers of dialogues of each session: two (sessions, systems) arrays, or (sessions, 1) of
#: pairs
_Totals = Callable[[Mapping[str, Any]], tuple[np.ndarray, np.ndarray]]


def with_less_data(
    data: MethodData, chosen: ResultRows, levels: np.ndarray, most_people: int, blocks: str
) -> Iterator[dict[str, Any]]:
    """How few dialogues turn each conclusion, and what remains without each session and person: rows of `drop_few`,
    `without_session` and `without_person`.

    chosen : the conclusions. levels : from `analysis.holm_levels`. most_people : how many annotators are left out in
    turn. blocks : what sessions are, as in `analysis.GroupData`.
    """
    values = dict(iter(dialogue_values(data.primary).groupby("label", sort=False)))
    by_session = {label: _by_session(data, values[label]) for label in chosen["label"].unique()}
    for row, level in zip(chosen.to_dict("records"), levels, strict=True):
        key = {k: row[k] for k in KEYS}
        yield key | {"statistic": "drop_few", **few(data.method, values[row["label"]], row)}
        left = without_session(*by_session[row["label"]](row), row, level)
        yield key | {"statistic": "without_session", "resample_unit": blocks, **left}
    if known_people(data.primary):
        yield from _without_people(data, chosen, data.primary["annotator"].value_counts().index[:most_people].tolist())


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

    totals, counts : (sessions, 2) sums and numbers of dialogues of the first and the second system; of comparisons
    (sessions, 1). Differences are exact. Significance goes by the
    standard error with all sessions and by `level`, the unadjusted p-value from which Holm's adjustment with the
    p-values of the other pairs would not reject. Where a session holds all data of a system, the conclusion is lost
    without it, and there is no difference.
    """
    left = counts.sum(axis=0) - counts
    if not (left > 1e-9).all():
        return {"verdict": LOST, "estimate": np.nan, "n": len(totals), "note": NOTHING_LEFT}
    gaps = _gap((totals.sum(axis=0) - totals).T, left.T)
    nearest = float(gaps[np.argmin(np.sign(row["estimate"]) * gaps)])
    p = 2 * float(stdtr(row["df"], -abs(nearest) / row["se"]))
    adjusted = 0.0 if p < level else 1.0
    return {"verdict": _verdict(nearest, row["estimate"], adjusted), "estimate": nearest, "n": len(totals)}


def holm_level(others: np.ndarray, alpha: float = 0.05) -> float:
    """The p-value from which Holm's adjustment no longer rejects a hypothesis, given the p-values of the `others`.

    Holm goes through m p-values in ascending order and stops at the first that reaches alpha / (m - k + 1), k its
    place: the hypothesis is rejected as long as its p-value is below that of the step at which the others stop.
    """
    p = np.sort(np.asarray(others, dtype=float))
    steps = alpha / np.arange(len(p) + 1, 0, -1)
    stopped = np.flatnonzero(p >= steps[:-1])
    return float(steps[stopped[0] if len(stopped) else -1])


def _gap(total: np.ndarray, count: np.ndarray) -> np.ndarray:
    """(2, …) or (1, …) sums and numbers: the difference of the two means, or the mean."""
    means = total / count
    return means[0] - means[1] if len(means) == 2 else means[0]


def few(method: str, values: pd.DataFrame, row: Mapping[str, Any]) -> dict[str, Any]:
    """The least number of dialogues (pairs) of a conclusion's systems without which its sign turns, and of how many.

    Where the smaller system has so few that all of them can be left out before, nothing is left of it. values : of
    dialogues, one label.
    """
    if METHODS[method].unit == "pair":
        x = _seen_from_first(values, row)["value"].to_numpy(float)
        n = fewest = len(x)
        needed = sign_of_one(x)
    else:
        x, y = (values.loc[values["system"] == row[side], "value"].to_numpy(float) for side in ("system", "system_b"))
        n, fewest, needed = len(x) + len(y), min(len(x), len(y)), sign_of_two(x, y)
    if fewest < STURDY_DIALOGUES * n and (needed is None or needed > fewest):
        return {"estimate": np.nan, "n": n, "note": NOTHING_LEFT}
    return {
        "estimate": np.nan if needed is None else float(needed),
        "n": n,
        "note": "not even half of them" if needed is None else None,
    }


def sign_of_two(a: np.ndarray, b: np.ndarray) -> int | None:
    """The least number of values whose removal makes mean(a) - mean(b), which is not 0, zero or turns its sign; None
    where MOST of them do not suffice.

    At least one value of either stays. Exact.
    """
    n = len(a) + len(b)
    first, second = (b, a) if a.mean() < b.mean() else (a, b)
    # how many of the second go after 0, 1, … of the first: the mean of the rest rises with each
    after = np.searchsorted(_means_without(np.sort(second)), _means_without(np.sort(first)[::-1]) - 1e-12)
    removed = np.where(after < len(second), np.arange(len(first)) + after, n + 1).min()
    return None if removed > MOST * n else int(removed)


def _means_without(ordered: np.ndarray) -> np.ndarray:
    """(n,) means of what is left without the first 0, 1, … n - 1 values."""
    return np.cumsum(ordered[::-1])[::-1] / np.arange(len(ordered), 0, -1)


def sign_of_one(x: np.ndarray) -> int | None:
    """As `sign_of_two`, for a mean of comparisons or of differences within sessions."""
    seen = x * np.sign(x.mean())
    enough = np.flatnonzero(_means_without(np.sort(seen)[::-1]) <= 1e-12)
    return None if not len(enough) or enough[0] > MOST * len(x) else int(enough[0])


def _seen_from_first(values: pd.DataFrame, row: Mapping[str, Any]) -> pd.DataFrame:
    """The comparisons of a conclusion's two systems, with `value` positive where its first system was chosen."""
    straight = (values["system"] == row["system"]) & (values["system_b"] == row["system_b"])
    turned = (values["system"] == row["system_b"]) & (values["system_b"] == row["system"])
    one_pair = values[straight | turned]
    return one_pair.assign(value=np.where(straight[one_pair.index], 1, -1) * one_pair["value"].astype(float))


def _by_session(data: MethodData, values: pd.DataFrame) -> _Totals:
    """Of the dialogues (pairs) of each session. values : of dialogues, one label."""
    unit = values["dialogue"].astype(str) + "\x1f" + values["dialogue_b"].fillna("").astype(str)
    values = values.assign(session=values["session"].fillna(unit))

    def of_pairs(row: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
        by = _seen_from_first(values, row).groupby("session")["value"]
        return by.sum().to_numpy(float)[:, None], by.size().to_numpy(float)[:, None]

    return of_pairs if METHODS[data.method].unit == "pair" else _of_systems(values)


def _of_systems(values: pd.DataFrame) -> _Totals:
    by = values.groupby(["session", "system"], sort=True)["value"]
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
