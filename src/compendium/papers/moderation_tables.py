"""What the printed counts and scores of systems imply (Zhang et al. 2022, section 3.3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import linprog

from compendium.published.numbers import select
from judgebook.display.cells import Cell, ranges
from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases, listing, number
from judgebook.display.views import Prose, Table
from judgebook.questions.moderation.analysis import OUTCOMES, two_extremes

PAPER = "dstc10"
_PHRASES = Phrases(__package__)
#: the human reply
PEOPLE = "human"
METRICS = {"bleu": "BLEU", "rouge": "ROUGE", "bertscore": "BERTScore", "bleurt": "BLEURT"}


def lead_ranges(
    counts: pd.DataFrame, totals: Mapping[tuple[str, str], float], contests: Sequence[tuple[str, Sequence[str]]]
) -> pd.DataFrame:
    """How far wins minus losses of a system against others can lie apart, given its outcomes over all opponents.

    Every judgement of a pair is a win of one side, which the other loses, a tie or unrelated of both. The smallest and
    the largest difference of all counts that add up to those given are found by linear programming.

    Parameters
    ----------
    counts : judgements, a row per system, a column for each of OUTCOMES.
    totals : pair of systems -> judgements of it. Other pairs were not compared.
    contests : systems, each with the opponents against whom wins and losses are added.

    Returns
    -------
    `system`, `against` (opponents), `n` judgements, `low` and `high` as shares of these; a row per contest.

    Raises
    ------
    ValueError : no counts add up to those given.
    """
    place = {key: i for i, key in enumerate((pair, outcome) for pair in totals for outcome in OUTCOMES)}
    totals_of = [([(pair, outcome) for outcome in OUTCOMES], n) for pair, n in totals.items()]
    for system in counts.index:
        for outcome in OUTCOMES:
            involved = [(pair, _seen(outcome, pair[0] == system)) for pair in totals if system in pair]
            totals_of.append((involved, counts.at[system, outcome]))
    equal, sizes = np.zeros((len(totals_of), len(place))), np.array([n for _, n in totals_of], dtype=float)
    for row, (cells, _) in zip(equal, totals_of, strict=True):
        row[[place[cell] for cell in cells]] = 1
    out = []
    for system, others in contests:
        lead, n = np.zeros(len(place)), 0.0
        for pair in (p for p in totals if system in p and set(p) - {system} <= set(others)):
            sign = 1 if pair[0] == system else -1
            lead[place[pair, "wins"]], lead[place[pair, "loses"]], n = sign, -sign, n + totals[pair]
        solutions = [linprog(sign * lead, A_eq=equal, b_eq=sizes) for sign in (1, -1)]
        if not all(one.success for one in solutions):
            raise ValueError(f"no counts of pairs add up to those of systems: {solutions[0].message}")
        low, high = (float(lead @ np.asarray(one.x)) / n for one in solutions)
        out.append({"system": system, "against": tuple(others), "n": n, "low": low, "high": high})
    return pd.DataFrame(out)


def _seen(outcome: str, first: bool) -> str:
    """An outcome of a system as that of the first of its pair."""
    return outcome if first else {"wins": "loses", "loses": "wins"}.get(outcome, outcome)


def printed_leads(printed: pd.DataFrame) -> pd.DataFrame:
    """`lead_ranges` of Table 6: each system against all others, and every pair.

    All pairs of the three systems were judged for the same prompts by all annotators (section 3.3); the rest of each
    system's judgements is against people.
    """
    facts = select(printed, PAPER, "Text 3.3/moderation/pairwise/*").set_index("column")["value"]
    rows = select(printed, PAPER, "Table 6/count/!total/*")
    counts = rows.pivot(index="row", columns="column", values="value").loc[rows["row"].unique()]  # noqa: PD010
    each, bots = facts["prompts"] * facts["annotators"], [s for s in counts.index if s != PEOPLE]
    rest = counts.sum(axis=1) - (len(bots) - 1) * each
    totals = dict.fromkeys(combinations(bots, 2), each) | {(PEOPLE, s): rest[s] for s in bots}
    whole = [(s, [b for b in bots if b != s]) for s in bots]
    return lead_ranges(counts, totals, [*whole, *((a, [b]) for a, b in totals)])


def scores(printed: pd.DataFrame) -> pd.DataFrame:
    """Table 7, a row per system and metric: `system`, `metric`, `value`, `printed`, `rank` (1 is best; of equal ones
    the mean), with `wins`, the share of judgements that the system wins (Table 6)."""
    rows = select(printed, PAPER, "Table 7/objective/*/*").rename(columns={"row": "system", "column": "metric"})
    won = select(printed, PAPER, "Table 6/count/*/wins").set_index("row")["value"]
    total = select(printed, PAPER, "Table 6/count/!total/*").groupby("row")["value"].sum()
    rank = rows.groupby("metric")["value"].rank(ascending=False)
    return rows.assign(rank=rank, wins=rows["system"].map(won / total))


def agreement(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """For each metric, in how many pairs of systems it favours the one that wins more often (`same`), the `other`, or
    `neither`, where the printed values are equal; different ones cannot have been rounded from the reverse.

    rows : of `scores`.
    """
    out = []
    for metric, of_metric in rows.groupby("metric", sort=False):
        pairs = list(combinations(of_metric.to_dict("records"), 2))
        signs = [np.sign(a["value"] - b["value"]) * np.sign(a["wins"] - b["wins"]) for a, b in pairs]
        last = of_metric.loc[of_metric["rank"] == of_metric["rank"].max(), "system"]
        best = of_metric.loc[of_metric["rank"] == of_metric["rank"].min(), "system"]
        row = {"metric": METRICS[metric], "best": list(best), "last": list(last), "n": len(signs)}
        counts = {name: signs.count(sign) for name, sign in (("same", 1), ("other", -1), ("neither", 0))}
        out.append({**row, "systems": len(of_metric), **counts})
    return out


def flags(printed: pd.DataFrame) -> pd.DataFrame:
    """Printed shares of flagged replies (section 3.3), a row per system and `interval`: `estimate`, `ci_low`,
    `ci_high`, `n`. Intervals are those of `preferences.two_extremes`, for all shares that round to the printed one."""
    rows = select(printed, PAPER, "Text 3.3/flagged/*/flagged").set_index("row")
    judged = select(printed, PAPER, "Table 6/count/!total/*").groupby("row")["value"].sum()
    m = select(printed, PAPER, "Text 3.3/moderation/pairwise/annotators")["value"].item()
    out = []
    for system, row in rows.iterrows():
        half, n = 0.5 * 10.0 ** -row["decimals"], judged[system]
        low, high = ([*two_extremes(n * (row["value"] + end) / 100, n, n / m, 0.95)] for end in (-half, half))
        for least, most in zip(low, high, strict=True):
            ends = {"ci_low": least["ci_low"], "ci_high": most["ci_high"]}
            out.append(
                {"system": system, "interval": least["interval"], "estimate": row["value"] / 100, **ends, "n": n}
            )
    return pd.DataFrame(out)


def _flags(rows: pd.DataFrame, names: DisplayNames) -> Iterator[Table | Prose]:
    one, copied = (rows[rows["interval"] == k].set_index("system") for k in ("n", "items"))
    order = one["estimate"].sort_values(ascending=False).index
    most = names.name("system", order[0])
    below = [int((f["ci_high"].drop(order[0]) < f.at[order[0], "ci_low"]).sum()) for f in (one, copied)]
    ranked = [(names.name("system", s), 100 * one.at[s, "estimate"]) for s in order]
    yield Prose(_PHRASES.say("printed_flags", ranked=ranked, most=most, below=below, others=len(order) - 1))
    out = pd.DataFrame({"System": [names.name("system", s) for s in one.index], "Flagged (%)": 100 * one["estimate"]})
    for heading, f in (("All judgements", one), ("Items only", copied)):
        out[heading] = ranges(100 * f[["ci_low", "ci_high"]], 1, brackets=True)
    out["Judgements"] = one["n"].astype(int)
    caption = (
        "Printed shares of flagged replies (Zhang et al. 2022, section 3.3), taken as shares of the judgements of a"
    )
    caption += " system (Table 6), with intervals."
    yield Table(out.reset_index(drop=True), "printed_flags", caption, 1)


def views(printed: pd.DataFrame, names: DisplayNames) -> Iterator[Table | Prose]:
    """What Table 6 allows of pairs (Figure 3); flags (3.3); whether the metrics of Table 7 order replies as people
    do."""
    leads = printed_leads(printed)
    out = pd.DataFrame({"System": [names.name("system", s) for s in leads["system"]]})
    out["Against"] = [listing(names.name("system", s) for s in others) for others in leads["against"]]
    out["Judgements"] = leads["n"].astype(int)
    out["Wins minus losses (%)"] = ranges(100 * leads[["low", "high"]], 1)
    single, sure = leads["against"].map(len) == 1, (leads["low"] > 0) | (leads["high"] < 0)
    won = [(out.at[i, "System"], out.at[i, "Against"], leads.loc[i].to_dict()) for i in leads.index[sure]]
    facts = {"pairs": int(single.sum()), "open": int((single & ~sure).sum())}
    yield Prose(_PHRASES.say("printed_leads", won=won, **facts))
    caption = (
        "Wins minus losses that the printed counts of systems allow (Zhang et al. 2022, Table 6): the smallest and"
    )
    yield Table(out, "printed_leads", f"{caption} the largest of all counts of pairs that add up to them.")
    yield from _flags(flags(printed), names)
    rows = scores(printed)
    agreements = [
        row | {k: [names.name("system", s) for s in row[k]] for k in ("best", "last")} for row in agreement(rows)
    ]
    yield Prose(_PHRASES.say("printed_overlap", rows=agreements))
    yield _scores(rows, names)


def _scores(rows: pd.DataFrame, names: DisplayNames) -> Table:
    """Table 7 with ranks, led by how often each system wins."""
    cells = [_ranked(r.printed, r.value, r.rank) for r in rows.itertuples()]
    wide = rows.assign(cell=cells).pivot(index="system", columns="metric", values="cell")  # noqa: PD010
    wide = wide.loc[rows["system"].unique(), list(METRICS)].rename(columns=METRICS)
    wins = 100 * rows.drop_duplicates("system").set_index("system")["wins"].loc[wide.index]
    ranks = wins.rank(ascending=False)
    wide.insert(0, "Wins (%)", [_ranked(number(wins[s], 1), wins[s], ranks[s]) for s in wide.index])
    wide.insert(0, "System", [names.name("system", s) for s in wide.index])
    caption = "Overlap with the human reply as printed (Zhang et al. 2022, Table 7), and how often annotators preferred"
    caption += " the reply (Table 6); in brackets: ranks."
    return Table(wide.reset_index(drop=True), "printed_overlap", caption)


def _ranked(text: str, value: float, rank: float) -> Cell:
    return Cell(f"{text.replace('-', '−')} ({rank:g})", {"": value, "rank": rank})
