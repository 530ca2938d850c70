"""Effective win rates: how often a conversation with one system scores higher than one with another, each judged alone;
as printed rates of the systems allow them (Smith et al. 2022, section 4.4.1)."""

from __future__ import annotations

import pandas as pd

from compendium.published import numbers
from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases
from judgebook.display.views import FromPrint, Prose, Section, Table
from judgebook.questions.techniques.question import Techniques
from judgebook.questions.techniques.views import TIES as TITLES
from judgebook.questions.techniques.views import pair_title

_PHRASES = Phrases(__package__)


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


def table(rates: pd.DataFrame, names: DisplayNames) -> Table | None:
    """Printed effective win rates and the ranges that printed rates of systems allow. rates : `printed`."""
    if rates.empty:
        return None
    out = pd.DataFrame({"Dimension": rates["label"].map(names.titles["dimension"]), "Ties": rates["ties"].map(TITLES)})
    out.insert(0, "Pair", [pair_title(names, *p) for p in zip(rates["system"], rates["system_b"], strict=True)])
    out = out.assign(Printed=rates["printed"], Lowest=100 * rates["ci_low"], Highest=100 * rates["ci_high"])
    caption = "Printed effective win rates (%), and the range that the printed rates of the two systems allow."
    return Table(out.assign(Fits=rates["fits"]), "printed_wins", caption, {"Printed": 0, "Lowest": 1, "Highest": 1})


def said(rates: pd.DataFrame, names: DisplayNames) -> Prose:
    """How many printed effective win rates the printed rates allow, by the way of counting ties."""
    if rates.empty:
        return Prose("")
    neither = ~rates.groupby(["system", "system_b", "label"])["fits"].any()
    lost = [f"{pair_title(names, a, b)}, {names.name('dimension', x)}" for a, b, x in neither.index[neither]]
    fits = rates.groupby("ties")["fits"].sum().astype(int).to_dict()
    return Prose(_PHRASES.say("effective_said", fits=fits, n=len(neither), lost=lost))


def views(rates: pd.DataFrame, names: DisplayNames) -> Section:
    """`table` and `said`."""
    yield FromPrint(table(rates, names))
    yield said(rates, names)
