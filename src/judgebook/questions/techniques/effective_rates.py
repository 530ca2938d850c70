"""Effective win rates: how often a conversation with one system scores higher than one with another, each judged alone;
as printed rates of the systems allow them (Smith et al. 2022, section 4.4.1)."""

from __future__ import annotations

import pandas as pd

from compendium.published import numbers
from judgebook.questions.techniques.question import Techniques

TIES = ("drop", "half")


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
