"""What the printed win rates of Smith et al. 2022 say by themselves (Tables 1, 3, 4 and 8, Figures 5 and 7 to 9).

Printed rates stand for everything that rounds to them: an interval begins at the lower end of the smallest such rate
and ends at the upper end of the largest. How many ratings there were is printed as a mean and a minimum over the
evaluations (section 4.1), so intervals are of an evaluation of mean size, and counts are repeated for the smallest.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri

from compendium.published import mapping, numbers
from compendium.published.numbers import select
from judgebook.display.cells import Cell
from judgebook.display.names import DisplayNames
from judgebook.display.text import MISSING, Phrases, number
from judgebook.display.views import FromPrint, Prose, Section, Table
from judgebook.questions.performance.rates import wilson_of
from judgebook.questions.techniques.question import Techniques
from judgebook.questions.techniques.views import TIES as TITLES
from judgebook.questions.techniques.views import pair_title
from judgebook.statistics.multiplicity import adjust_p_values

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


def effective_views(rates: pd.DataFrame, names: DisplayNames) -> Section:
    """`table` and `said`."""
    yield FromPrint(table(rates, names))
    yield said(rates, names)


PAPER = "smith2022"
#: ratings after filtering (Text 4.1), and ratings of a conversation, by technique of Table 3
SIZES = {"pw_turn": ("pw_turn", 6), "pw_dialog_human": ("pw_dialog", 1), "pw_dialog_self": ("pw_dialog", 1)}
SIZES |= {"sm_turn": ("sm_dialog", 1), "sm_dialog": ("sm_dialog", 1)}
#: technique of Table 8 -> (table and column of its rates, its hours in Text 4.1, and over how many evaluations of
#: other conversations its numbers are averaged)
TIMED = {
    "pw_turn": ("Table 1", "pw_turn_t2_6_lin", "pw_turn", 3),
    "pw_turn_wta": ("Table 1", "pw_turn_t2_6_wta", "pw_turn", 3),
    "pw_dialog_self": ("Table 3", "pw_dialog_self", "pw_dialog", 3),
    "sm_turn_wta": ("Table 3", "sm_turn", "sm_turn_and_sm_dialog", 1),
    "sm_dialog": ("Table 3", "sm_dialog", "sm_turn_and_sm_dialog", 1),
}
#: hours of a part in Table 8
PART = 0.75
METRICS = {"preference": "Preference", "humanness": "Humanness", "interestingness": "Interestingness"}


def with_intervals(rows: pd.DataFrame, n: pd.Series | float) -> pd.DataFrame:
    """Printed rates in percent with `low` and `high`: Wilson's interval for n conversations, and for all that round so.

    What conversations have between 0 and 1, such as shares of turns, varies no more than wins and losses with the same
    mean; neither does a win rate over pairs of n and n conversations judged one at a time vary more than one over n of
    them (van Dantzig 1951, Indagationes Mathematicae 13, 1-8). The interval is too wide for both, never too narrow.
    """
    low, high = wilson_of(_share(rows["value"] - 0.5), n)[0], wilson_of(_share(rows["value"] + 0.5), n)[1]
    return rows.assign(low=100 * low, high=100 * high)


def _share(percent: pd.Series) -> pd.Series:
    return (percent / 100).clip(0, 1)


def conversations(printed: pd.DataFrame, technique: str, size: str) -> float:
    """Conversations (of dialogues: ratings) of an evaluation by a technique. size : `mean` or `min`."""
    row, each = SIZES[technique]
    return select(printed, PAPER, f"Text 4.1/ratings_after_filtering/{row}/{size}")["value"].item() / each


def trends(rates: pd.DataFrame, n: float) -> pd.DataFrame:
    """How printed rates change from turn to turn, a row per evaluation.

    Least-squares slope in points per turn with its 95% CI (`slope`, `low`, `high`), and the Cochran-Armitage test for
    linear trend (`p`, `p_adjusted` by Holm over evaluations). Answers of one conversation are taken as independent,
    which makes both conservative where they resemble each other equally much at all turns.

    Parameters
    ----------
    rates : percent, a column for each turn in order. n : conversations, each with an answer at every turn.
    """
    t, p = _centred(rates), rates.to_numpy() / 100
    slope, variance, rounding = _slopes(rates, n)
    half = ndtri(0.975) * np.sqrt(variance) + rounding
    pooled = p.mean(axis=1)
    z = slope / 100 / np.sqrt(pooled * (1 - pooled) / (n * (t @ t)))
    p_value = 2 * ndtr(-np.abs(z))
    out = pd.DataFrame({"slope": slope, "low": slope - half, "high": slope + half}, index=rates.index)
    return out.assign(p=p_value, p_adjusted=adjust_p_values(p_value))


def mean_trend(rates: pd.DataFrame, n: float) -> dict[str, float]:
    """The mean slope over evaluations, each of other conversations, with its 95% CI; arguments as `trends`."""
    slope, variance, rounding = _slopes(rates, n)
    mean, half = slope.mean(), ndtri(0.975) * np.sqrt(variance.sum()) / len(slope) + rounding
    return {"estimate": mean, "ci_low": mean - half, "ci_high": mean + half}


def _centred(rates: pd.DataFrame) -> np.ndarray:
    t = np.arange(rates.shape[1], dtype=float)
    return t - t.mean()


def _slopes(rates: pd.DataFrame, n: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Slopes in points per turn, their variances, and how far rounding to whole percent may have moved a slope."""
    t, p = _centred(rates), rates.to_numpy() / 100
    variance = (p * (1 - p)) @ t**2 / n / (t @ t) ** 2
    return 100 * (p @ t) / (t @ t), 100**2 * variance, 0.5 * np.abs(t).sum() / (t @ t)


def standardised(printed: pd.DataFrame) -> pd.DataFrame:
    """Each technique's distance from 50% in printed standard deviations over parts of 45 minutes, and hours to power.

    `d` : mean rate over metrics minus 50%, over the standard deviation (Table 8), with the 95% CI of a standardised
    mean (Hedges and Olkin 1985, chapter 5: variance 1/N + d²/2N) over the N parts, those of all metrics where each
    was asked of other conversations, and for all rates and deviations that round to the printed ones.
    `hours` : working time after which a two-sided z test of the mean rate at 5% has a power of 80%, if the true
    distance is d: 0.75 (2.80 / d)²; at the ends of the CI the other way round, infinite where it includes 0.
    """
    out = []
    for technique, (table, column, labor, several) in TIMED.items():
        for between in ("length", "size", "finetuning"):
            rate = select(printed, PAPER, f"{table}/{between}/*/{column}")["value"].mean()
            sd = select(printed, PAPER, f"Table 8/sd_of_win_rate/{technique}/{between}")["value"].item()
            hours = select(printed, PAPER, f"Text 4.1/worker_labor/{labor}/mean")["value"].item()
            parts, d = several * hours / PART, (rate - 50) / sd
            ends = [(rate - 50 + up) / (sd + wide) for up in (-0.5, 0.5) for wide in (-0.5, 0.5)]
            low, high = (end + sign * _half(end, parts) for end, sign in ((min(ends), -1), (max(ends), 1)))
            out.append({"technique": technique, "comparison": between, "d": d, "low": low, "high": high})
    rows = pd.DataFrame(out)
    rows["hours"] = _hours(rows["d"])
    return rows.assign(least=_hours(rows["high"]), most=_hours(rows["low"]))


def _half(d: float, parts: float) -> float:
    return ndtri(0.975) * np.sqrt(1 / parts + d**2 / (2 * parts))


def _hours(d: pd.Series) -> pd.Series:
    return (PART * ((ndtri(0.975) + ndtri(0.8)) / d) ** 2).where(d > 0, np.inf)


def views(printed: pd.DataFrame) -> Iterator[Table | Prose]:
    """Tables 1, 4 and 3 with intervals, what Table 8 adds, and what all say."""
    n, least = (conversations(printed, "pw_turn", size) for size in ("mean", "min"))
    table1, table4 = (select(printed, PAPER, f"{table}/*/*/*") for table in ("Table 1", "Table 4"))
    turns = table4.pivot(index=["panel", "row"], columns="column", values="value")  # noqa: PD010
    turns = turns.loc[[(p, r) for p in table1["panel"].unique() for r in METRICS]]
    by_size = {"mean": trends(turns, n), "min": trends(turns, least), "later": trends(turns.iloc[:, 1:], n)}
    means = {"whole": mean_trend(turns, n), "later": mean_trend(turns.iloc[:, 1:], n)}
    yield Prose(_PHRASES.say("printed_weightings", n=n, least=least, **_weightings(table1, n, least)))
    yield _wide(with_intervals(table1, n), "smith_weightings", f"Win rates over all turns or turns 2 to 6. {_OF}")
    yield Prose(_PHRASES.say("printed_turns", n=n, least=least, **_turns(by_size), **means))
    wide = _wide(with_intervals(table4, n), "smith_turns", f"Win rates by turn (Table 4, Figure 5). {_OF}")
    slopes = [_cell(number(r.slope, 1), r.slope, r.low, r.high, 1) for r in by_size["mean"].itertuples()]
    frame = wide.frame.assign(**{"Points per turn": slopes, "p (Holm)": by_size["mean"]["p_adjusted"].to_numpy()})
    yield Table(frame, wide.name, wide.caption, {"p (Holm)": 3})
    techniques = _techniques(printed, "mean")
    yield Prose(_PHRASES.say("printed_techniques", **_exclude(techniques, _techniques(printed, "min"))))
    why = "How many ratings were combined is not printed, so combined rates have no CI."
    yield _wide(techniques, "smith_techniques", f"Win rates of all techniques (Table 3). {_OF} {why}")
    parts = standardised(printed)
    least = parts.loc[parts.groupby("comparison", sort=False)["hours"].idxmin()]
    best = [(_title(r.comparison), _TIMED_TITLES[r.technique], r._asdict()) for r in least.itertuples()]
    open_ = int(np.isinf(parts["most"]).sum())
    yield Prose(_PHRASES.say("printed_hours", best=best, open=open_, total=len(parts)))
    yield _timed(parts)


_OF = "Smith et al. 2022, percent, with 95% CI for an evaluation of mean size."


def _cell(text: str, value: float, low: float, high: float, decimals: int = 0) -> Cell:
    ends = "" if np.isnan(low) else f" [{number(low, decimals)}, {number(high, decimals)}]"
    return Cell(f"{text}{ends}", {"": value, "ci_low": low, "ci_high": high})


def _wide(rows: pd.DataFrame, name: str, caption: str) -> Table:
    """A row per comparison and metric, a column per technique or turn; all in the order of print."""
    cells = [_cell(r.printed, r.value, r.low, r.high) for r in rows.itertuples()]
    wide = rows.assign(cell=cells).pivot(index=["panel", "row"], columns="column", values="cell")  # noqa: PD010
    wide = wide.loc[[(p, r) for p in rows["panel"].unique() for r in METRICS], list(rows["column"].unique())]
    out = wide.rename(columns=lambda c: mapping.title(PAPER, c)).reset_index()
    out = out.assign(panel=out["panel"].map(_title), row=out["row"].map(METRICS))
    return Table(out.rename(columns={"panel": "Comparison", "row": "Metric"}), name, caption)


def _title(key: str) -> str:
    return mapping.title(PAPER, key)


def _techniques(printed: pd.DataFrame, size: str) -> pd.DataFrame:
    """Table 3 with the intervals for evaluations of that size; none where ratings of two techniques are mixed."""
    rows = select(printed, PAPER, "Table 3/length|size|finetuning/*/*")
    n = rows["column"].map({t: conversations(printed, t, size) for t in SIZES})
    return with_intervals(rows, n)


def _outside(rows: pd.DataFrame) -> pd.Series:
    return (rows["low"] > 50) | (rows["high"] < 50)


def _weightings(rows: pd.DataFrame, n: float, least: float) -> dict:
    """How the ways of counting turns order comparisons, and how many intervals leave out 50%."""
    wide = rows.pivot(index=["panel", "row"], columns="column", values="value")  # noqa: PD010
    order = wide.unstack("row").rank(ascending=False)  # noqa: PD010
    linear, winner = wide["pw_turn_t2_6_lin"], wide["pw_turn_t2_6_wta"]
    outside = [_outside(with_intervals(rows, size)).groupby(rows["column"]).sum() for size in (n, least)]
    columns = list(rows["column"].unique())
    named = [_title(c).removeprefix("Pairwise per turn, ") for c in columns]
    return {
        "same": len(set(map(tuple, order.T.to_numpy()))) == 1,
        "metrics": len(METRICS),
        "cells": len(wide),
        "order": [_title(c) for c in order.mean(axis=1).sort_values().index],
        "farther": int(((winner - 50).abs() > (linear - 50).abs()).sum()),
        "sides": [(_title(p), METRICS[r]) for p, r in wide.index[(winner - 50) * (linear - 50) < 0]],
        "counts": [(title, *(o[c] for o in outside)) for title, c in zip(named, columns, strict=True)],
    }


def _turns(by_size: dict[str, pd.DataFrame]) -> dict:
    """How many rates rise, and for how many this exceeds chance: for both sizes, and without the first turn."""
    facts = {k: int((f["p_adjusted"] < 0.05).sum()) for k, f in by_size.items()}
    facts |= {
        "rise": int((by_size["mean"]["slope"] > 0).sum()),
        "rise_later": int((by_size["later"]["slope"] > 0).sum()),
    }
    return {"total": len(by_size["mean"]), "significant": facts}


def _exclude(rows: pd.DataFrame, smallest: pd.DataFrame) -> dict:
    """How many intervals of each technique leave out 50%, and where the highest rate exceeds the second by more than
    chance: the interval of a difference from those of both rates (Newcombe 1998, Statistics in Medicine 17, 873-890,
    method 10), which are taken as independent."""
    bounded = rows.dropna(subset="low")
    outside = [_outside(frame).groupby(frame["column"]).sum() for frame in (bounded, smallest)]
    counts = [(_title(c), *(o[c] for o in outside)) for c in bounded["column"].unique()]
    apart, groups = (
        [],
        bounded.sort_values("value", ascending=False, kind="stable").groupby(["panel", "row"], sort=False),
    )
    for (panel, row), group in groups:
        first, second = group.iloc[0], group.iloc[1]
        spread = np.hypot(first["value"] - first["low"], second["high"] - second["value"])
        if first["value"] - second["value"] > spread:
            apart.append((_title(panel), METRICS[row], _title(first["column"])))
    return {"counts": counts, "apart": apart, "total": len(groups)}


def _timed(rows: pd.DataFrame) -> Table:
    """Distances in standard deviations and hours: a row per technique, a column per comparison."""

    def hours(row: dict) -> Cell:
        most = MISSING if np.isinf(row["most"]) else number(row["most"], 1)
        text = f"; {number(row['hours'], 1)} [{number(row['least'], 1)}, {most}]"
        return Cell(text, {"hours": row["hours"], "hours ci_low": row["least"], "hours ci_high": row["most"]})

    cells = [_cell(number(r["d"], 1), r["d"], r["low"], r["high"], 1) + hours(r) for r in rows.to_dict("records")]
    wide = rows.assign(cell=cells).pivot(index="technique", columns="comparison", values="cell")  # noqa: PD010
    wide = wide.loc[list(TIMED), ["length", "size", "finetuning"]].rename(columns=_title)
    wide.insert(0, "Technique", [_TIMED_TITLES[t] for t in wide.index])
    caption = "Distance of the win rate from 50%, in standard deviations over 45 minutes of work (Table 8); after the"
    caption += " semicolon, hours of work to 80% power. 95% CIs over parts of 45 minutes; a dash: no upper limit."
    return Table(wide.reset_index(drop=True), "smith_hours", caption)


_TIMED_TITLES = {
    "pw_turn": "Pairwise per turn, turns 2 to 6, linear",
    "pw_turn_wta": "Pairwise per turn, turns 2 to 6, winner takes all",
    "pw_dialog_self": "Pairwise per dialogue, self-chats",
    "sm_turn_wta": "Single model per turn, turns 3 to 6, winner takes all",
    "sm_dialog": "Single model per dialogue",
}
