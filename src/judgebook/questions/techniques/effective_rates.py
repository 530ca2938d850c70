"""Effective win rates: how often a conversation with one system scores higher than one with another, each judged alone.

Computed from the values of conversations, and from printed rates of systems (Smith et al. 2022, section 4.4.1).
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from compendium.published import numbers
from judgebook.questions.techniques.question import Techniques
from judgebook.statistics.correlation import rounded
from judgebook.statistics.resampling import replicate_sums

TIES = ("drop", "half")


def higher(a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    """Over all pairs of a value of `a` and one of `b`: how often the first is above the second, and how often equal."""
    a, b = np.asarray(a, dtype=float), np.sort(np.asarray(b, dtype=float))
    below, upto = (np.searchsorted(b, a, side) for side in ("left", "right"))
    return float(below.mean() / len(b)), float((upto - below).mean() / len(b))


def effective(
    a: np.ndarray, b: np.ndarray, *, rng: np.random.Generator, n_resamples: int = 10_000, confidence: float = 0.95
) -> list[dict[str, object]]:
    """How often a conversation with the first system has the higher value.

    Parameters
    ----------
    a, b : (n,), (m,) arrays
        One value per conversation with either system.

    Returns
    -------
    list of dict
        Columns of result rows: ties excluded (`drop`) and as half a win (`half`). Conversations of the two systems are
        resampled independently (BCa).

    References
    ----------
    Smith et al. 2022, section 4.4.1.
    """
    both = rounded(np.concatenate([a, b]))  # means of several annotators that differ in their last bits only are ties
    kinds, codes = np.unique(both, return_inverse=True)
    counts = [np.bincount(part, minlength=len(kinds)) for part in np.split(codes.reshape(-1), [len(a)])]
    above = np.tril(np.ones((len(kinds), len(kinds))), -1)

    def statistic(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        pairs = left.sum(axis=1) * right.sum(axis=1)
        won, lost = (np.einsum("ki,ij,kj->k", left, way, right, optimize=True) / pairs for way in (above, above.T))
        return np.stack([won / (won + lost), won + (1 - won - lost) / 2], axis=1)

    rows = [np.eye(len(kinds))] * 2
    replicates = replicate_sums(rows, statistic, unit="conversation", rng=rng, counts=counts, n_resamples=n_resamples)
    by_ties = zip(TIES, replicates.intervals(confidence), strict=True)
    return [{"ties": ties, **interval.row(), "n": len(a) + len(b)} for ties, interval in by_ties]


def effective_of_shares(p: float, q: float, ties: str) -> float:
    """Effective win rate of a system with share p of 1s over one with share q, when conversations are worth 0 or 1.

    It needs no raw data: p (1 - q) is how often only the first has a 1.
    """
    won, lost = p * (1 - q), q * (1 - p)
    return won / (won + lost) if ties == "drop" else won + (1 - won - lost) / 2


def effective_range(p: float, q: float, half_unit: float, ties: str) -> tuple[float, float]:
    """Lowest and highest effective win rate that two printed shares allow, each known to ± `half_unit`.

    The rate rises with p and falls with q, so its extremes lie at the ends.
    """
    low = effective_of_shares(max(p - half_unit, 0.0), min(q + half_unit, 1.0), ties)
    return low, effective_of_shares(min(p + half_unit, 1.0), max(q - half_unit, 0.0), ties)


def printed(options: Techniques) -> pd.DataFrame:
    """The effective win rates that printed rates of systems allow, for each that is printed and way of counting ties.

    Parameters
    ----------
    options : Techniques
        `printed_rates` names the paper's percentages of conversations won, by system, and its effective win rates, by
        pair.

    Returns
    -------
    DataFrame
        Rows of `effective_win_rate` with `data` of `printed`: the estimate from the rates as printed, the interval the
        range they allow. Also `printed` (percent), and `fits`: whether the printed value, with its rounding, overlaps
        that range. Empty where the options name no printed rates.
    """
    at = options.printed_rates
    if at is None:
        return pd.DataFrame(columns=["statistic", "printed", "fits"])
    rates, wins = (numbers.load(options.paper, element) for element in (at.rates, at.wins))
    rates, wins = rates[rates["column"] == at.rate], wins[wins["column"] == at.win]
    wins = wins[wins["panel"].isin(list(options.pairs))]
    shares = rates.set_index(["panel", "row"])["value"] / 100
    half = 0.5 * 10.0 ** -float(rates["decimals"].max()) / 100
    out = []
    for cell in wins.to_dict("records"):
        a, b = options.pairs[cell["panel"]]
        p, q = shares[a, cell["row"]], shares[b, cell["row"]]
        value, edge = cell["value"] / 100, 0.5 * 10.0 ** -float(cell["decimals"]) / 100 + 1e-9
        head = {"statistic": "effective_win_rate", "level": "dialogue", "label": cell["row"], "system": a}
        head |= {"system_b": b, "data": "printed", "ci_kind": "range", "printed": cell["value"]}
        for ties in TIES:
            low, high = effective_range(p, q, half, ties)
            row = {"ties": ties, "estimate": effective_of_shares(p, q, ties), "ci_low": low, "ci_high": high}
            out.append(head | row | {"fits": low <= value + edge and high >= value - edge})
    return pd.DataFrame(out)
