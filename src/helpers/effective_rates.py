"""How often one system does better than another, where each was judged on its own, and how techniques combine or agree.

Sittings are those of `winrates`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from helpers.resampling import bootstrap_sums
from helpers.schema import condition
from helpers.winrates import CELL, TIES


def higher(a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    """How often a value of `a` is above one of `b`, and how often they are equal, over all pairs of values.

    It is what resampling one of each tends to. Checked against the Mann-Whitney statistic of scipy.
    """
    a, b = np.asarray(a, dtype=float), np.sort(np.asarray(b, dtype=float))
    below, upto = (np.searchsorted(b, a, side) for side in ("left", "right"))
    return float(below.mean() / len(b)), float((upto - below).mean() / len(b))


def effective(
    a: np.ndarray, b: np.ndarray, *, rng: np.random.Generator, n_resamples: int = 10_000, confidence: float = 0.95
) -> list[dict[str, object]]:
    """Effective win rate: how often a conversation with one system has the higher value (Smith et al. 2022, 4.4.1).

    a, b : one value a conversation with either system. Ties left out (`drop`) and as half a win (`half`). Conversations
    of the two are resampled independently (BCa). Checked against `higher` and scipy's Mann-Whitney statistic.
    """
    kinds = np.unique(np.concatenate([a, b]))
    counts = [np.bincount(np.searchsorted(kinds, v), minlength=len(kinds)) for v in (a, b)]
    above = np.tril(np.ones((len(kinds), len(kinds))), -1)

    def statistic(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        pairs = left.sum(axis=1) * right.sum(axis=1)
        won, lost = (np.einsum("ki,ij,kj->k", left, way, right, optimize=True) / pairs for way in (above, above.T))
        return np.stack([won / (won + lost), won + (1 - won - lost) / 2], axis=1)

    found = bootstrap_sums(
        [np.eye(len(kinds))] * 2, statistic, unit="conversation", rng=rng, counts=counts, n_resamples=n_resamples,
        confidence=confidence,
    )  # fmt: skip
    return [
        {"ties": ties} | interval.row() | {"n": len(a) + len(b)} for ties, interval in zip(TIES, found, strict=True)
    ]


def effective_of_shares(p: float, q: float, ties: str) -> float:
    """Effective win rate of a system with share p of 1s over one with share q, when conversations are worth 0 or 1.

    It needs no raw data: p (1 - q) is how often the first alone has a 1. Checked against `higher`.
    """
    won, lost = p * (1 - q), q * (1 - p)
    return won / (won + lost) if ties == "drop" else won + (1 - won - lost) / 2


def effective_range(p: float, q: float, half_unit: float, ties: str) -> tuple[float, float]:
    """Lowest and highest effective win rate that two printed shares allow, each known to `half_unit` either way.

    The rate rises with p and falls with q, so that the ends lie at the ends. Checked by a grid.
    """
    low = effective_of_shares(max(p - half_unit, 0.0), min(q + half_unit, 1.0), ties)
    return low, effective_of_shares(min(p + half_unit, 1.0), max(q - half_unit, 0.0), ties)


def of_printed(rates: pd.DataFrame, wins: pd.DataFrame, pairs: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Printed effective win rates beside the ranges that printed rates of systems allow, with either way of ties.

    rates : printed percentages of conversations won, with panel (system), row (label), value, decimals. wins : printed
    effective win rates, with panel (name of a pair), row, value, decimals. pairs : name -> two systems. Returns a row a
    printed win rate and way of ties: panel, row, printed, ties, estimate (from the rates as printed), low, high, and
    `fits`: whether the range and the printed value with its rounding have a point in common. Checked by hand.
    """
    known = rates.set_index(["panel", "row"])
    half = 0.5 * 10.0 ** -float(rates["decimals"].max()) / 100
    out = []
    for cell in wins.to_dict("records"):
        p, q = (known.at[(system, cell["row"]), "value"] / 100 for system in pairs[cell["panel"]])
        edge = 0.5 * 10.0 ** -float(cell["decimals"]) / 100
        for ties in TIES:
            low, high = effective_range(p, q, half, ties)
            fits = low <= cell["value"] / 100 + edge + 1e-9 and high >= cell["value"] / 100 - edge - 1e-9
            row = {"panel": cell["panel"], "row": cell["row"], "printed": cell["value"], "ties": ties}
            out.append(row | {"estimate": effective_of_shares(p, q, ties), "low": low, "high": high, "fits": fits})
    return pd.DataFrame(out)


def printed_rows(found: pd.DataFrame, pairs: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """`effective_win_rate` result rows of `of_printed`, with `data=printed`: the interval is the range allowed.

    Checked against the frame that it is made from.
    """
    rows = []
    for cell in found.to_dict("records"):
        a, b = pairs[cell["panel"]]
        row = {"statistic": "effective_win_rate", "level": "dialogue", "label": cell["row"], "system": a, "system_b": b}
        row |= {"estimate": cell["estimate"], "ci_low": cell["low"], "ci_high": cell["high"], "ci_kind": "range"}
        rows.append(row | {"condition": condition(data="printed", ties=cell["ties"])})
    return pd.DataFrame(rows)


def combined(
    parts: Sequence[pd.DataFrame],
    weights: Sequence[float],
    *,
    rng: np.random.Generator,
    n_resamples: int = 10_000,
    confidence: float = 0.95,
) -> dict[str, object]:
    """Win rate when ratings of several techniques are sampled in the given ratio: the weighted mean of their rates.

    parts : `sittings` of one pair and label, one frame a technique, linear rate, ties as half a win. Conversations of
    each technique are resampled independently (BCa). Smith et al. 2022, section 4.4.2. Checked by hand.
    """
    rows, counts = [], []
    for part in parts:
        codes = pd.factorize(part["conversation"])[0]
        won = (part["won"] + (part["n"] - part["won"] - part["lost"]) / 2).to_numpy(float)
        sums = np.stack([np.bincount(codes, won), np.bincount(codes, part["n"].to_numpy(float))], axis=1)
        kinds, how_often = np.unique(sums, axis=0, return_counts=True)
        rows.append(kinds)
        counts.append(how_often)
    w = np.asarray(weights, dtype=float) / np.sum(weights)

    def statistic(*sums: np.ndarray) -> np.ndarray:
        return sum(share * s[:, 0] / s[:, 1] for share, s in zip(w, sums, strict=True))

    size = {"n_resamples": n_resamples, "confidence": confidence}
    found = bootstrap_sums(rows, statistic, unit="conversation", rng=rng, counts=counts, **size)
    return found.row() | {"n": sum(len(p) for p in parts)}


def same_sitting(compared: pd.DataFrame, rated: pd.DataFrame) -> float:
    """Share of comparisons that their annotator made in the same work unit as a rating of one of the two dialogues.

    compared, rated : `sittings`. Those whose work unit is not known count as made apart. Checked by hand.
    """
    keys = ["annotator", "work_unit", "dialogue"]
    seen = set(rated.dropna(subset=["work_unit"])[keys].itertuples(index=False, name=None))
    sides = [
        compared[["annotator", "work_unit", c]].itertuples(index=False, name=None) for c in ("dialogue", "dialogue_b")
    ]
    return float(np.mean([left in seen or right in seen for left, right in zip(*sides, strict=True)]))


def same_sign(compared: pd.DataFrame, rated: pd.DataFrame) -> pd.DataFrame:
    """Whether comparisons agree with ratings of the same two dialogues, one row a comparison of which both exist.

    compared : `sittings` of a pairwise technique. rated : `sittings` of one that judges a dialogue at a time, of the
    same corpus, group and label; several annotators are averaged. Returns the comparison with `difference` (of the two
    ratings) and `agrees`: 1 where both name the same winner, 0 where they name different ones, missing where either
    ties. Checked by hand.
    """
    of = rated.groupby([*CELL, "dialogue"])["value"].mean()
    sides = [
        of.reindex(pd.MultiIndex.from_frame(compared[[*CELL, c]].rename(columns={c: "dialogue"}))).to_numpy()
        for c in ("dialogue", "dialogue_b")
    ]
    out = compared.assign(difference=sides[0] - sides[1])
    out = out[out["difference"].notna()]
    product = np.sign(out["difference"]) * np.sign(out["value"])
    return out.assign(agrees=np.where(product == 0, np.nan, product > 0))
