"""Win rates and success rates of systems under different ways of evaluating them (Smith et al. 2022).

A *sitting* is one annotator's judgement of one conversation (or pair of conversations) under one label: with several
marks where every turn is judged, with one where the whole is. From sittings follow

- linear rates x / (x + y) over all marks, x won (or successful) and y lost;
- squared rates x² / (x² + y²), and winner-takes-all rates, of each conversation and then averaged (Table 1);
- for techniques that judge one system at a time, rates and means of a system, and effective win rates: how often a
  conversation with one system scores higher than a conversation with the other (section 4.4.1).

Whole conversations are resampled, never single turns. Ties are given both ways: left out, and as half a win.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from helpers.labels import METHODS
from helpers.rates import rare_interval, wilson
from helpers.resampling import bootstrap_sums, bootstrap_two_way, generator
from helpers.schema import condition

RATES = ("linear", "squared", "winner")
TIES = ("drop", "half")
CELL = ["corpus", "group", "label"]
#: conversations are called reused when they stand in this many comparisons on average
REUSED = 1.5
#: most resamples where both sides are resampled: each is dear, and the interval is a percentile one
TWO_WAY_RESAMPLES = 2_000


def pairwise(method: str) -> bool:
    """Whether the method shows two systems at once. Checked by hand."""
    return METHODS[method].unit == "pair"


def sittings(
    annotations: pd.DataFrame,
    *,
    rate: str = "linear",
    turns: Sequence[int] | None = None,
    pairs: Sequence[Sequence[str]] | None = None,
    left_open: float = 10.0,
) -> pd.DataFrame:
    """One row an annotator, conversation (or pair of conversations) and label.

    Parameters
    ----------
    annotations : frame
        Columns of `schema.ANNOTATIONS`, of one method.
    rate : 'linear', 'squared' or 'winner'
        What a conversation is worth. Pairwise: (x - y) / n, (x² - y²) / (x² + y²), or the sign of x - y, from -1 to 1
        with n marks of which x won and y lost. Otherwise the mean mark, or whether at least half of the marks are 1.
    turns : (first, last), optional
        Use these turns only, counted from 1, both included.
    pairs : pairs of systems, optional
        Comparisons of other systems are left out. A comparison is told from the side of the pair's first system;
        without `pairs` from that of the system that comes first in the alphabet.
    left_open : float
        A work unit that took more than this many times the median was left open: its seconds count as missing. Where a
        work unit holds several conversations, each has an equal part of its seconds.

    Returns
    -------
    Frame with corpus, group, label, system, system_b (missing where one system is judged), conversation, dialogue,
    dialogue_b, annotator, work_unit, seconds, at (when finished), order, won, lost, n (marks), total (their sum),
    value.

    Raises
    ------
    ValueError
        Another rate; squared rates of single systems; winner-takes-all of marks that are not 0 or 1.

    Notes
    -----
    Definitions of Smith et al. 2022, Tables 1 and 2. Checked by hand.
    """
    if rate not in RATES:
        raise ValueError(f"rate: expected one of {', '.join(RATES)}, found {rate!r}")
    two = annotations["dialogue_b"].notna().all() if len(annotations) else False
    if rate == "squared" and not two:
        raise ValueError("rate: a squared rate compares two systems; these judgements are about one")
    marks = annotations if turns is None else annotations[(annotations["turn"] + 1).between(*turns)]
    marks = _oriented(marks, pairs) if two else marks
    if rate == "winner" and not two and not marks["score"].isin([0, 1]).all():
        raise ValueError("rate: winner-takes-all of single systems needs marks of 0 and 1")
    score = marks["score"].to_numpy(float)
    marks = marks.assign(won=score > 0, lost=score < 0 if two else score == 0)
    marks["conversation"] = _conversation(marks)
    key = [*CELL, "conversation", "annotator", "system"] + (["system_b"] if two else [])
    taken = {
        "dialogue": "first",
        "dialogue_b": "first",
        "seconds": "first",
        "completed_at": "max",
        "work_unit": "first",
    }
    found = marks.groupby(key, sort=False, observed=True).agg(
        **{c: (c, how) for c, how in taken.items()},
        order=("source_row", "min"), won=("won", "sum"), lost=("lost", "sum"), n=("score", "size"),
        total=("score", "sum"),
    )  # fmt: skip
    found = found.reset_index().rename(columns={"completed_at": "at"})
    if not two:
        found["system_b"] = None
    found["seconds"] = found["seconds"].where(~(found["seconds"] > left_open * found["seconds"].median()))
    held = found.groupby(["work_unit", "label"])["conversation"].transform("nunique")
    found["seconds"] = found["seconds"] / held.where(found["work_unit"].notna(), 1)
    return found.assign(value=_value(found, rate, bool(two)))


def _conversation(marks: pd.DataFrame) -> pd.Series:
    """What is judged in one go: the pair of dialogues where two are compared, else the dialogue."""
    pair = marks["dialogue"].astype(object) + "\x1f" + marks["dialogue_b"].astype(object)
    return pair.where(marks["dialogue_b"].notna(), marks["dialogue"])


def _oriented(marks: pd.DataFrame, pairs: Sequence[Sequence[str]] | None) -> pd.DataFrame:
    """Comparisons of the given pairs, told from the side of the first system."""
    if pairs is None:
        systems = sorted({*marks["system"], *marks["system_b"]})
        pairs = list(combinations(systems, 2))
    here = pd.MultiIndex.from_frame(marks[["system", "system_b"]])
    forward = here.isin([tuple(p) for p in pairs])
    backward = here.isin([tuple(p)[::-1] for p in pairs])
    out = marks[forward | backward].copy()
    turn = (backward & ~forward)[forward | backward]
    for a, b in (("system", "system_b"), ("dialogue", "dialogue_b")):
        left, right = out[a].astype(object), out[b].astype(object)
        out[a], out[b] = left.where(~turn, right), right.where(~turn, left)
    return out.assign(score=out["score"].where(~turn, -out["score"]))


def _value(found: pd.DataFrame, rate: str, two: bool) -> np.ndarray:
    x, y, n = (found[c].to_numpy(float) for c in ("won", "lost", "n"))
    if not two:
        return (2 * x >= n).astype(float) if rate == "winner" else found["total"].to_numpy(float) / n
    if rate == "linear":
        return (x - y) / n
    if rate == "winner":
        return np.sign(x - y)
    return np.divide(x**2 - y**2, x**2 + y**2, out=np.zeros(len(x)), where=x + y > 0)


def _decided(rows: pd.DataFrame, rate: str) -> np.ndarray:
    """What a comparison weighs when ties are left out: its marks for either side, or whether the whole has a winner."""
    x, y = rows["won"].to_numpy(float), rows["lost"].to_numpy(float)
    if rate == "linear":
        return x + y
    return (x != y).astype(float) if rate == "winner" else (x + y > 0).astype(float)


def by_conversation(rows: pd.DataFrame) -> pd.DataFrame:
    """One row a conversation: mean value over its annotators, their number, and their seconds added up.

    Checked by hand.
    """
    group = rows.groupby("conversation", sort=False)
    out = group.agg(
        value=("value", "mean"), sittings=("value", "size"), seconds=("seconds", "mean"), marks=("n", "sum")
    )
    return out.assign(seconds=out["seconds"] * out["sittings"])


def win_rate(
    rows: pd.DataFrame, rate: str, *, rng: np.random.Generator, n_resamples: int = 10_000, confidence: float = 0.95
) -> list[dict[str, object]]:
    """Win rate of the first system of one pair, with ties left out (`drop`) and as half a win (`half`).

    rows : `sittings` of one pair and label. Conversations are resampled (BCa; with few marks of one kind
    `rates.rare_bound`); where conversations are reused in many comparisons, both sides are resampled (percentile,
    `resample_unit` says so). Returns two dicts of columns of result rows, one where nothing ties, which has ties=none.

    Smith et al. 2022, Table 1. Checked by hand and against `ranking.win_rates`.
    """
    x, y, n = (rows[c].to_numpy(float) for c in ("won", "lost", "n"))
    value = rows["value"].to_numpy(float)
    parts = {}
    if rate == "linear":
        parts = {"drop": (x, x + y), "half": (x + (n - x - y) / 2, n)}
    else:
        weight = _decided(rows, rate)
        parts = {"drop": (weight * (1 + value) / 2, weight), "half": ((1 + value) / 2, np.ones(len(value)))}
    if np.array_equal(parts["drop"][1], parts["half"][1]):
        parts = {"none": parts["half"]}
    size = {"n_resamples": n_resamples, "confidence": confidence}
    return [
        {"ties": ties} | ratio(rows, won, total, child, size)
        for (ties, (won, total)), child in zip(parts.items(), rng.spawn(len(parts)), strict=True)
    ]


def ratio(rows: pd.DataFrame, won: np.ndarray, total: np.ndarray, rng, size: dict) -> dict[str, object]:
    """Sum of `won` over sum of `total` with its interval, as columns of a result row.

    Checked by hand; its interval through `win_rate`, against that of `ranking.win_rates`.
    """
    n, people = int(total.sum()), rows["annotator"].nunique()
    if n == 0:
        return {"estimate": np.nan, "note": "all comparisons are ties", "n": 0, "n_annotators": people}
    sides = _reused(rows)
    if sides is not None:
        found = _two_sided(sides, won, total, rng, size)
        return found | {"n": n, "n_annotators": people}
    codes = pd.factorize(rows["conversation"])[0]
    t, s = np.bincount(codes, total), np.bincount(codes, won)
    binary = np.isin(won, (0, 1)).all() and np.isin(total, (0, 1)).all()
    kept = t > 0
    found = rare_interval(t[kept], s[kept], s[kept], "conversation", size["confidence"]) if binary else None
    if found is None:
        sums, counts = np.unique(np.stack([s, t], axis=1), axis=0, return_counts=True)
        found = bootstrap_sums(sums, lambda k: k[:, 0] / k[:, 1], unit="conversation", rng=rng, counts=counts, **size)
        found = found.row()
    return found | {"n": n, "n_annotators": people}


def _reused(rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray] | None:
    """Codes of the left and right dialogues where either stands in many comparisons, else None."""
    pair = rows.drop_duplicates(["dialogue", "dialogue_b"])
    if rows["dialogue_b"].isna().any() or not len(pair):
        return None
    uses = len(pair) / min(pair["dialogue"].nunique(), pair["dialogue_b"].nunique())
    if uses < REUSED:
        return None
    return tuple(pd.factorize(rows[c])[0] for c in ("dialogue", "dialogue_b"))


def _two_sided(sides, won: np.ndarray, total: np.ndarray, rng, size: dict) -> dict[str, object]:
    left, right = sides
    tables = np.zeros((2, left.max() + 1, right.max() + 1))
    np.add.at(tables, (0, left, right), won)
    np.add.at(tables, (1, left, right), total)

    def statistic(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        s, t = (np.einsum("ka,ka->k", a @ table, b) for table in tables)
        return s / t

    size = size | {"n_resamples": min(size["n_resamples"], TWO_WAY_RESAMPLES)}
    unit = "conversations of either system"
    return bootstrap_two_way(*tables.shape[1:], statistic, rng=rng, unit=unit, **size).row()


def system_rate(
    rows: pd.DataFrame, *, rng: np.random.Generator, n_resamples: int = 10_000, confidence: float = 0.95
) -> dict[str, object]:
    """Mean over conversations of one system of what each is worth, conversations resampled (BCa).

    rows : `sittings` of one system and label. With the linear rate every mark weighs the same. Smith et al. 2022, Table
    2. Checked by hand.
    """
    plain = np.isclose(rows["value"], rows["total"] / rows["n"]).all()
    weight = rows["n"].to_numpy(float) if plain else np.ones(len(rows))
    return ratio(
        rows, rows["value"].to_numpy(float) * weight, weight, rng, dict(n_resamples=n_resamples, confidence=confidence)
    )


def by_turn(
    marks: pd.DataFrame, pairs: Sequence[Sequence[str]] | None = None, confidence: float = 0.95
) -> pd.DataFrame:
    """Share won (pairwise, ties as half) or marked at each turn, with Wilson's interval.

    marks : annotations of one method, by turn. A turn has one mark a conversation, so that marks of a turn are
    independent as far as conversations are. Returns corpus, group, label, system, system_b, turn (from 1), estimate,
    ci_low, ci_high, n. Smith et al. 2022, Tables 4 and 5 (Figure 5). Checked by hand.
    """
    two = marks["dialogue_b"].notna().all()
    marks = _oriented(marks, pairs) if two else marks
    share = (marks["score"] + 1) / 2 if two else marks["score"]
    key = [*CELL, "system", "system_b", "turn"]
    out = share.groupby([marks[c] for c in key], sort=False, dropna=False).agg(["mean", "sum", "size"]).reset_index()
    ends = [wilson(round(float(s)), int(n), confidence) for s, n in zip(out["sum"], out["size"], strict=True)]
    out["ci_low"], out["ci_high"] = zip(*ends, strict=True) if ends else ((), ())
    out = out.rename(columns={"mean": "estimate", "size": "n"}).drop(columns="sum")
    # half wins are no whole number of successes: Wilson's interval is then about the nearest one
    return out.assign(turn=out["turn"].astype(int) + 1, ci_kind="wilson", resample_unit="conversation")


def rows_of(found: Mapping[str, object], **columns: object) -> dict[str, object]:
    """A result row from `columns` and what a function here found: `ties` goes into the condition. Checked by hand."""
    keys = columns.pop("keys", {})
    rest = {k: v for k, v in found.items() if k != "ties"}
    return {**columns, "condition": condition(**keys, ties=found.get("ties"))} | rest


def stream(seed: int, *names: object) -> np.random.Generator:
    """The stream of one technique, label and pair. Checked by hand: the same names give the same numbers."""
    return generator(seed, "winrates", *map(str, names))
