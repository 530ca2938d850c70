"""Notebook 12: what the printed numbers of Zhang et al. 2022, section 3, imply, computed from them alone (key `data` is
printed).

For Table 5, that is the range of Fleiss' kappa that counts of agreeing annotators allow; for Table 6, how far wins and
losses of systems can lie apart.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import linprog, minimize

from compendium.published.numbers import select
from judgebook.display import tables
from judgebook.display.cells import Cell, ranges
from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases, listing, number, span
from judgebook.display.views import Plot, Prose, Table
from judgebook.questions.moderation import views
from judgebook.questions.moderation.analysis import OUTCOMES, two_extremes
from judgebook.questions.moderation.views import CATEGORIES
from judgebook.study.results import Results

_PHRASES = Phrases(__package__)


def from_print(printed: pd.DataFrame, confidence: float) -> Iterator[dict[str, Any]]:
    """`kappa_bound` from the printed numbers of agreeing annotators (Table 5), and `moderation_share` from the printed
    counts of outcomes (Table 6)."""
    printed_values = printed.set_index(["element", "panel", "row", "column"])["value"].sort_index()
    m = int(printed_values["Text 3.3", "moderation", "pairwise", "annotators"])
    agreeing = printed_values.loc["Table 5", "agreement"].unstack("column").fillna(0.0)  # noqa: PD010
    counts = np.zeros((len(agreeing), m + 1))
    for name, values in agreeing.items():
        counts[:, int(name.removeprefix("annotators_"))] = values
    row = {"statistic": "kappa_bound", "level": "turn", "data": "printed", "n": int(counts.sum()), "n_annotators": m}
    for end, value in zip(("low", "high"), kappa_bounds(counts, m), strict=True):
        yield row | {"end": end, "estimate": value}
    outcome = printed_values.loc["Table 6", "count"].unstack("column").drop("total").astype(int)  # noqa: PD010
    yield from of_counts(outcome.to_dict("index"), m, confidence)


def of_counts(counts: Mapping[str, Mapping[str, int]], m: int, confidence: float = 0.95) -> Iterator[dict[str, Any]]:
    """`moderation_share` from printed counts: system -> outcome -> judgements, every item judged m times."""
    for system, row in counts.items():
        n = sum(row[o] for o in OUTCOMES)
        for outcome in OUTCOMES:
            head = {"system": system, "level": "pair", "outcome": outcome, "data": "printed", "n": n}
            for extreme in two_extremes(row[outcome], n, n / m, confidence):
                yield head | extreme | {"n_clusters": round(n / m)}


def printed_agreement(printed: pd.DataFrame) -> Table:
    """The printed Table 5: a row per category, a column per number of annotators. printed : from `published.load`."""
    rows = printed[(printed["element"] == "Table 5") & (printed["panel"] == "agreement")]
    score = rows["row"].str.removeprefix("label_").str.replace("minus_", "-")
    rows = rows.assign(estimate=rows["value"], annotators=rows["column"].str.removeprefix("annotators_"))
    columns = {k: k for k in rows["annotators"].unique()}
    wide = tables.pivot(rows.assign(Category=score.map(CATEGORIES)), ["Category"], "annotators", columns)
    caption = "Printed items by most frequent category and number of annotators who chose it (Table 5)."
    return Table(wide, "printed_agreeing", caption)


def said(results: Results, names: DisplayNames, printed: pd.DataFrame) -> Prose:
    """What the printed numbers imply: the range of kappa, and how many shares of wins are smaller than the largest."""
    reported = printed[(printed["unit"] == "fleiss_kappa") & (printed["element"] == "Text 3.2")].iloc[0]
    ends = results["kappa_bound"].set_index("end")["estimate"]
    half = 0.5 * 10.0 ** -reported["decimals"]
    fits = ends["low"] <= reported["value"] + half and ends["high"] >= reported["value"] - half
    facts = {"low": ends["low"], "high": ends["high"], "fits": fits, "reported": reported["printed"], "below": {}}
    for interval in ("n", "items"):
        wins = results.select("moderation_share", data="printed", outcome="wins", interval=interval).set_index("system")
        best = wins["estimate"].idxmax()
        facts["below"][interval] = int((wins["ci_high"].drop(best) < wins.at[best, "ci_low"]).sum())
    return Prose(_PHRASES.say("moderation_said", **facts, best=names.name("system", best), others=len(wins) - 1))


def figure(results: Results, names: DisplayNames) -> Plot:
    """Printed shares of outcomes (Table 6) with the two extreme intervals."""
    rows = results.select("moderation_share", data="printed")
    titles = {s: names.name("system", s) for s in rows["system"].unique()}
    won = 100 * rows.loc[rows["outcome"] == "wins", "estimate"]
    alt = f"Printed shares of outcomes of {len(titles)} systems, with intervals for independent and for copied"
    caption = f"Bars: shares printed by Zhang et al. (2022, Table 6), by system. {views.ENDS} {views.count(rows)}"
    fig = views.bars(rows.assign(line=rows["system"]), titles)
    return Plot(fig, "printed", f"{alt} judgements: wins {span(won, 0)}%.", caption)


def kappa_bounds(counts: np.ndarray, m: int) -> tuple[float, float]:
    """Smallest and largest Fleiss' kappa that numbers of agreeing annotators allow.

    Parameters
    ----------
    counts : (categories, m + 1) array
        Items whose most frequent category this is, with exactly k annotators: every item once. Columns below the
        smallest majority are 0.
    m : int
        Annotators of each item.

    Returns
    -------
    Smallest and largest kappa.

    Raises
    ------
    ValueError
        Without any item, and where k cannot be the largest number of annotators of an item.

    Notes
    -----
    The numbers do not say how often the other categories of an item were chosen: all ways to fill them are enumerated.
    Kappa is at least λ where P - P_e - λ (1 - P_e) is at least 0, P being agreement, linear in how often each way
    occurs, and P_e the sum of squared shares, convex in it. For λ < 1 the expression is concave: its maximum is found
    by convex optimisation; its minimum is attained where each cell is filled in one way throughout, and all such
    corners are enumerated.
    """
    ways, weights = _ways(counts, m)
    if not ways:
        raise ValueError("counts: expected at least one item")
    total = sum(weights)
    return _lowest(ways, weights, total, m), _highest(ways, weights, total, m)


def _ways(counts: np.ndarray, m: int) -> tuple[list[np.ndarray], list[float]]:
    """For every cell with items: (ways, categories) numbers of annotators that fill it, and its items."""
    n = counts.shape[0]
    all_ = np.array([c for c in itertools.product(range(m + 1), repeat=n) if sum(c) == m])
    ways, weights = [], []
    for j, k in itertools.product(range(n), range(m + 1)):
        if counts[j, k] > 0:
            ways.append(all_[(all_[:, j] == k) & (all_.max(axis=1) == k)])
            weights.append(float(counts[j, k]))
            if not len(ways[-1]):
                raise ValueError(f"counts: {k} of {m} annotators cannot be the most of {n} categories")
    return ways, weights


def _parts(way: np.ndarray, m: int) -> np.ndarray:
    """(ways, categories + 1) shares of the categories, and agreement, of an item filled so."""
    return np.column_stack([way / m, (way * (way - 1)).sum(axis=1) / (m * (m - 1))])


def _kappa_of(mean: np.ndarray) -> np.ndarray:
    expected = np.sum(mean[..., :-1] ** 2, axis=-1)
    return (mean[..., -1] - expected) / (1 - expected)


def _lowest(ways: list[np.ndarray], weights: list[float], total: float, m: int) -> float:
    corners = np.zeros((1, ways[0].shape[1] + 1))
    for way, weight in zip(ways, weights, strict=True):
        corners = (corners[:, None] + weight / total * _parts(way, m)[None]).reshape(-1, corners.shape[1])
        corners = np.unique(np.round(corners, 12), axis=0)
    return float(_kappa_of(corners).min())


def _highest(ways: list[np.ndarray], weights: list[float], total: float, m: int) -> float:
    """Largest kappa by Dinkelbach's steps: λ rises to the kappa at the maximum of the concave expression."""
    parts = [weight / total * _parts(way, m) for way, weight in zip(ways, weights, strict=True)]
    stacked, sizes = np.concatenate(parts), [len(p) for p in parts]
    ends = np.cumsum(sizes)
    rows = np.zeros((len(sizes), len(stacked)))
    for i, (end, size) in enumerate(zip(ends, sizes, strict=True)):
        rows[i, end - size : end] = 1
    x, best = np.concatenate([np.full(s, 1 / s) for s in sizes]), -np.inf
    for _ in range(50):
        value = float(_kappa_of(x @ stacked))
        if value <= best + 1e-10:
            break
        best = value

        def less(y: np.ndarray, at: float = value) -> tuple[float, np.ndarray]:
            mean = y @ stacked
            gain = mean[-1] - (1 - at) * np.sum(mean[:-1] ** 2)
            slope = stacked[:, -1] - 2 * (1 - at) * stacked[:, :-1] @ mean[:-1]
            return -gain, -slope

        limits = {"type": "eq", "fun": lambda y: rows @ y - 1, "jac": lambda y: rows}
        optimum = minimize(  # type: ignore[call-overload] # the stubs know constraints of one value only
            less, x, jac=True, bounds=[(0, 1)] * len(x), constraints=[limits], options={"ftol": 1e-13, "maxiter": 300}
        )
        x = np.clip(optimum.x, 0, None)
        x = x / (rows.T @ (rows @ x))
    return best


PAPER = "dstc10"
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


def printed_systems(printed: pd.DataFrame, names: DisplayNames) -> Iterator[Table | Prose]:
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
