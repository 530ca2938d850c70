"""Printed leaderboards: their order, intervals where the number of items is printed, and what remains of the order from
one leaderboard to the next (Zhang et al. 2022, Tables 2 and 3, section 2.4).

A printed mean over several criteria has the interval of a single correlation of that size, which is the widest it can
have if criteria agree perfectly; items that share a context are counted as independent, which makes it too narrow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from compendium.published import mapping
from compendium.published.consistency.checks import Leaderboard, Paper
from compendium.published.numbers import select
from judgebook.display.cells import Cell
from judgebook.display.text import Phrases, number
from judgebook.display.views import Prose, Table
from judgebook.statistics.correlation import correlate, spearman_interval
from judgebook.study.results import Results, collect

_PHRASES = Phrases(__package__)


def entries(printed: pd.DataFrame, paper: str, board: Leaderboard) -> pd.DataFrame:
    """The printed correlations of a leaderboard: `row` (data set, or the average), `column` (who took part), `value`,
    `n` items where printed, `ci_low`, `ci_high`, `rank` among those who took part (1 is best)."""
    rows = select(printed, paper, board.cells)[["row", "column", "value", "printed", "decimals"]]
    sizes = pd.concat([select(printed, paper, pattern) for pattern in board.sizes])
    rows = rows.assign(n=rows["row"].map(sizes.set_index("row")["value"]))
    ends = [spearman_interval(v / 100, n) for v, n in zip(rows["value"], rows["n"], strict=True)]
    rank = rows.groupby("row")["value"].rank(ascending=False, method="min").astype(int)
    return rows.assign(ci_low=[100 * low for low, _ in ends], ci_high=[100 * high for _, high in ends], rank=rank)


def change(first: pd.DataFrame, second: pd.DataFrame, average: str) -> pd.DataFrame:
    """Averages of both leaderboards, by who took part in both: `first`, `second`, their ranks, and the `drop`."""
    both = {name: f[f["row"] == average].set_index("column") for name, f in {"first": first, "second": second}.items()}
    out = pd.DataFrame({name: f["value"] for name, f in both.items()}).dropna()
    ranks = out.rank(ascending=False, method="min").astype(int).add_suffix("_rank")
    return out.join(ranks).assign(drop=out["first"] - out["second"]).sort_values("first_rank", kind="stable")


def kept(both: pd.DataFrame) -> Iterator[dict]:
    """`leaderboard_correlation`: Spearman's correlation of the averages, of all, and without each in turn."""
    for without in (None, *both.index):
        rows = both.drop(index=[without] if without else [])
        r, note = correlate(rows["first"].to_numpy(), rows["second"].to_numpy())
        low, high = spearman_interval(r, len(rows))
        row = {"statistic": "leaderboard_correlation", "without": without, "estimate": r, "n": len(rows)}
        row |= {"ci_low": low, "ci_high": high, "ci_kind": "fisher", "resample_unit": "system"}
        yield row | {"note": note or None}


def results(printed: pd.DataFrame, papers: list[Paper]) -> Results:
    """What notebook 91 stores of leaderboards, by paper."""
    return collect(*([row | {"paper": p.paper} for row in kept(_change(printed, p))] for p in papers if p.leaderboards))


def _change(printed: pd.DataFrame, paper: Paper) -> pd.DataFrame:
    first, second = paper.leaderboards
    return change(entries(printed, paper.paper, first), entries(printed, paper.paper, second), first.average)


def views(printed: pd.DataFrame, papers: list[Paper]) -> Iterator[Table | Prose]:
    """The drop from the first leaderboard to the second, in words and by who took part; both with intervals."""
    for paper in (p for p in papers if p.leaderboards):
        titles = [board.title for board in paper.leaderboards]
        both = _change(printed, paper)
        named = {key: mapping.title(paper.paper, key) for key in both.index}
        yield Prose(_PHRASES.say("leaderboards", **_facts(both, named, paper.title, titles)))
        out = pd.DataFrame({"Who": [named[c] for c in both.index]}, index=both.index)
        for side, title in zip(("first", "second"), titles, strict=True):
            out[title], out[f"Rank, {title.lower()}"] = both[side], both[f"{side}_rank"]
        caption = f"{paper.title}: averages of the leaderboards, in percent."
        yield Table(out.assign(Drop=both["drop"]), f"drop_{paper.paper}", caption)
        for board in paper.leaderboards:
            yield _table(entries(printed, paper.paper, board), paper, board)


def _table(rows: pd.DataFrame, paper: Paper, board: Leaderboard) -> Table:
    cells = [_cell(row) for row in rows.to_dict("records")]
    wide = rows.assign(cell=cells).pivot(index="row", columns="column", values="cell")  # noqa: PD010
    wide = wide.reindex(index=rows["row"].unique(), columns=rows["column"].unique())
    n = rows.drop_duplicates("row").set_index("row")["n"]
    wide = wide.rename(columns=lambda key: mapping.title(paper.paper, key))
    wide.insert(0, "Items", n.astype("Int64"))
    wide.insert(0, "Data set", [mapping.title(paper.paper, key) for key in wide.index])
    caption = f"{paper.title}, {board.cells.partition('/')[0]}: Spearman's correlation in percent, with 95% CI where"
    caption += " the number of items is printed; (1) to (3): the largest of a row."
    why = {"Items": "Not printed, or an average."}
    return Table(wide.reset_index(drop=True), f"board_{paper.paper}_{rows['row'].iloc[0]}", caption, why=why)


def _cell(row: Mapping[str, Any]) -> Cell:
    place = f" ({row['rank']})" if row["rank"] <= 3 else ""
    bounded = not np.isnan(row["ci_low"])
    ends = f" [{number(row['ci_low'], 0)}, {number(row['ci_high'], 0)}]" if bounded else ""
    numbers = {"": row["value"], "ci_low": row["ci_low"], "ci_high": row["ci_high"]}
    return Cell(f"{row['printed']}{ends}{place}", numbers)


def _facts(both: pd.DataFrame, named: Mapping[str, str], paper: str, titles: list[str]) -> dict:
    """The correlation of all and without the one that changes it most; who led, and where the leader ended."""
    rows = pd.DataFrame(kept(both))
    whole, others = rows[rows["without"].isna()].iloc[0], rows.dropna(subset="without")
    most = others.loc[(others["estimate"] - whole["estimate"]).abs().idxmax()]
    leader = both.index[both["first_rank"] == 1][0]
    risen = [named[c] for c in both.index[both["drop"] <= 0]]
    facts = {"paper": paper, "first": titles[0], "second": titles[1], "n": len(both), "risen": risen}
    facts |= {"whole": whole.to_dict(), "most": most.to_dict(), "who": named[most["without"]], "leader": named[leader]}
    typical = both.drop(index=most["without"])["drop"].median()
    ends = {"from_": both.at[leader, "first"], "to": both.at[leader, "second"], "rank": both.at[leader, "second_rank"]}
    return facts | ends | {"typical": typical, "margin": np.diff(both["first"].nlargest(2).to_numpy()[::-1])[0]}
