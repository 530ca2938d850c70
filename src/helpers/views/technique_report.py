"""What notebook 11 says: sentences made from unfolded result rows.

They speak from whole conversations resampled and from tests made at a size chosen in advance. They hold for few and
many techniques and for pairs that nothing tells apart. Where data are simulated `SIMULATED` goes first: nothing about
which technique is better follows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from helpers import tables
from helpers.look import Look
from helpers.tables import number
from helpers.techniques import Collected
from helpers.views.technique_tables import MANY_LABELS, WIN, label_titles
from helpers.winrates import REUSED

SIMULATED = (
    "The ratings are simulated after printed rates. They show what the definitions and tests do; they hold no evidence"
    " about which technique is better, and no recommendation follows."
)


def turns(rows: pd.DataFrame) -> str:
    """How the first turn of comparisons differs from later ones."""
    found = rows[(rows["statistic"] == "turn_rate") & rows["system_b"].notna()]
    if found.empty:
        return ""
    found = found.assign(first=found["turn"].astype(int) == found["turn"].astype(int).min())
    mean = found.groupby(["system", "system_b", "label", "first"])["estimate"].mean().unstack("first")  # noqa: PD010
    higher = (mean[False] > mean[True]).sum()
    return (
        f"By turn, the first system wins {100 * mean[True].mean():.0f} % of the first turns and"
        f" {100 * mean[False].mean():.0f} % of the later ones; in {higher} of {len(mean)} comparisons later turns"
        " favour it more. Leaving out the first turn after seeing this is a choice made from the data: it raises rates"
        " that were already expected to be above one half."
    )


def dependence(rows: pd.DataFrame) -> str:
    """How far winner-takes-all rates lie beyond linear ones, which tells how alike the turns of a conversation are."""
    won = rows[(rows["statistic"] == "technique_win_rate") & rows["ties"].isin(["none", "half"])]
    wide = won.pivot_table(index=["system", "system_b", "label"], columns="technique", values="estimate")
    pairs = [(c, f"{c}_winner") for c in wide if f"{c}_winner" in wide]
    if not pairs:
        return ""
    a, b = pairs[0]
    gain = 100 * ((wide[b] - 0.5).abs() - (wide[a] - 0.5).abs())
    return (
        f"Winner-takes-all moves rates away from one half by {number(gain.mean(), 1)} points on average over linear"
        f" rates ({number(gain.min(), 1)} to {number(gain.max(), 1)}). That is no gain in itself: it leaves one value a"
        " conversation instead of several, so that its intervals are wider; what counts is the work until a difference"
        " is found."
    )


def ties(rows: pd.DataFrame, titles: Mapping[str, str]) -> str:
    """How much the two ways of counting ties differ."""
    found = rows[rows["statistic"].isin(WIN) & rows["ties"].isin(["drop", "half"])]
    if found.empty:
        return ""
    key = ["part", "technique", "system", "system_b", "label"]
    wide = found.pivot_table(index=key, columns="ties", values="estimate").dropna()
    gap = 100 * (wide["drop"] - wide["half"]).abs()
    if gap.empty or gap.max() == 0:
        return ""
    of = gap.groupby(level="technique").mean().sort_values(ascending=False)
    most = of.index[0]
    return (
        "Leaving ties out moves win rates away from one half:"
        f" by {number(gap.mean(), 1)} points on average, most under {tables.plain(titles.get(most, most))}"
        f" ({number(of.iloc[0], 1)} points). A rate without ties speaks only of the comparisons that were decided."
    )


def compared(c: Collected, named: Mapping[str, Sequence[str]], look: Look) -> str:
    """What stands against what: techniques, pairs of systems and labels. named : name -> pair, as the YAML has them."""
    if not c.specs:
        return "No two systems are judged under any technique."
    names = {tuple(pair): f"*{tables.plain(name.replace('_', ' '))}* is " for name, pair in named.items()}
    system = {s: tables.plain(look.name("system", s)) for pair in c.pairs for s in pair}
    pairs = [f"{names.get((a, b), '')}{system[a]} against {system[b]}" for a, b in c.pairs]
    if len(pairs) > MANY_LABELS and not named:
        pairs = [f"all {len(pairs)} pairs of {tables.listing(system)}, in this order"]
    labels = tables.listing(label_titles(c, look).values())
    return (
        f"- Techniques: {'; '.join(tables.plain(c.title(t)) for t in c.specs)}.\n"
        f"- Pairs: {'; '.join(pairs)}. The system named first is the one whose wins are counted.\n"
        f"- Questions: {labels}."
    )


def same_winner(rows: pd.DataFrame, parts: Mapping[str, str]) -> str:
    """Whether ratings and comparisons of the same pairs name the same winner, and whether they are two opinions."""
    found = rows[rows["statistic"] == "same_winner"]
    if found.empty:
        return ""
    tied, out = rows[rows["statistic"] == "tied_share"], []
    for part, here in found.groupby("part", sort=False):
        mine = tied[tied["part"] == part]
        by = [_percent(mine[mine["of"] == mine[side]]["estimate"]) for side in ("technique", "against")]
        name = f"{tables.plain(parts[part])}: " if parts.get(part) else ""
        out.append(f"{name}{_percent(here['estimate'])} (ties: {by[0]} of the comparisons, {by[1]} of the ratings)")
    text = (
        "Ratings of two dialogues name the winner that a comparison of them names, where both decide, in this share of"
        f" the pairs, lowest to highest over techniques and labels: {'; '.join(out)}."
    )
    if rows.loc[rows["statistic"] == "same_sitting", "estimate"].max() > 0.5:
        text += (
            " But comparisons and ratings were given by the same people in the same work units: it is how far people"
            " agree with themselves at one time, and no evidence that the techniques agree when they are used apart."
        )
    return text


def _percent(shares: pd.Series) -> str:
    """A share in percent, or the lowest and the highest of several."""
    low, high = f"{100 * shares.min():.0f}", f"{100 * shares.max():.0f}"
    return f"{low} %" if low == high else f"{low} to {high} %"


def hours(middle: pd.DataFrame, power: float) -> list[str]:
    """For each part, which technique takes the fewest hours and which the most. middle : `middle_table`."""
    out = []
    for part, here in middle.groupby("Part", sort=False):
        reached = here.dropna(subset=["Hours"]).sort_values("Hours")
        told = [f"{number(r.Hours, 1)} hours under {tables.plain(r.Technique)}" for r in reached.itertuples()]
        said = [f"half of the contests take at most {told[0]}, the fewest"] if told else []
        said += [f"at most {told[-1]}, the most"] if len(told) > 1 else []
        never = [tables.plain(t) for t in here.loc[here["Hours"].isna(), "Technique"]]
        if never:
            said.append(f"half or more are not reached with the most that was tried under: {'; '.join(never)}")
        name = f"**{tables.plain(part)}.** " if part else ""
        out.append(f"{name}To find a difference with {100 * power:.0f} % power, {'; '.join(said)}.")
    return out


def reused(rows: pd.DataFrame, titles: Mapping[str, str]) -> str:
    """Where conversations stand in several comparisons, hours that take these as independent are too few."""
    uses = rows[(rows["statistic"] == "technique_uses") & (rows["estimate"] >= REUSED)]
    if uses.empty:
        return ""
    said = [f"{tables.plain(titles.get(r.technique, r.technique))} {r.estimate:.0f}" for r in uses.itertuples()]
    return (
        f"Finished conversations stand in several comparisons each ({'; '.join(said)}). The intervals of their win"
        " rates resample conversations of both systems; the hours take comparisons as independent, as published, and"
        " are too few by as much as conversations differ."
    )


def errors(rows: pd.DataFrame, alpha: float, ratings: int) -> str:
    """How often the tests err between equal systems: at a size chosen in advance, and after every rating."""
    fixed = rows[rows["statistic"] == "technique_false_positive"]
    peeking = rows[rows["statistic"] == "technique_false_crossing"]
    if fixed.empty or peeking.empty:
        return ""
    rates = fixed.groupby("technique")["estimate"].mean()
    low, high, seen = rates.min(), rates.max(), peeking["estimate"]
    return (
        "Between equal systems the test of whole conversations, made once, errs in"
        f" {100 * fixed['estimate'].mean():.1f} % of studies ({100 * low:.1f} to {100 * high:.1f} % by technique;"
        f" {100 * alpha:g} % is meant). Testing after each of up to {ratings} ratings, as the first time of"
        f" significance does, errs in {100 * seen.median():.0f} % ({100 * seen.min():.0f} to {100 * seen.max():.0f} %):"
        " hours until the first significant result are no guide to how much work a study needs."
    )


def printed(found: pd.DataFrame) -> str:
    """How many printed effective win rates the printed rates allow, by the way of ties."""
    n = found.groupby("ties")["fits"].agg(["sum", "size"])
    neither = found.groupby(["panel", "row"])["fits"].any()
    lost = [f"{panel}, {row}" for (panel, row), fits in neither.items() if not fits]
    text = (
        f"With ties left out {n.at['drop', 'sum']} of {n.at['drop', 'size']} printed effective win rates lie in the"
        f" range that the printed rates of the two systems allow; with ties as half a win {n.at['half', 'sum']} do."
        " Which way the paper counts them was found by this comparison, so that fitting confirms nothing."
    )
    return text + (f" Neither way gives {tables.listing(lost)}." if lost else "")


def checks(counts: pd.DataFrame, people: int) -> str:
    """Who was left out because of what they typed."""
    failed = counts[counts["check"] == "any"].iloc[0]
    return (
        f"{int(failed['people'])} of {people} people who talked fail a check of their messages in"
        f" {int(failed['conversations'])} conversations; all their judgements are left out, under every technique."
    )


def beside(cells: pd.DataFrame) -> str:
    """What nearness to printed numbers shows in a study simulated after them. cells : of `calibrated.beside`."""
    linear = cells[(cells["element"] == "Table 1") & cells["column"].str.endswith("_lin") & cells["low"].notna()]
    text = (
        "The study is simulated after these very tables: that it lies near them shows nothing about people, only that"
        " the simulation does what it says."
    )
    if linear.empty:
        return text
    half = 0.5 * 10.0 ** -linear["decimals"]
    inside = linear["value"].between(linear["low"] - half, linear["high"] + half).sum()
    return (
        f"{text} {inside} of {len(linear)} printed linear rates of Table 1 lie in the interval of their simulated twin."
    )
