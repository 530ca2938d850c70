"""What Zhang et al. 2022 print: leaderboards (Tables 2 and 3, section 2.4), with intervals where the number of items is
printed, and what remains of the order from one to the next; data sets (section 2.1, Table 1), what follows from their
sizes, and agreement; corpora of toxic prompts (Table 4).

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
from judgebook.display.text import MISSING, Phrases, number, span
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


def leaderboards(printed: pd.DataFrame, papers: list[Paper]) -> Iterator[Table | Prose]:
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


PAPER = "dstc10"
COEFFICIENTS = {
    "spearman_rho": "Spearman",
    "pearson_r": "Pearson",
    "krippendorff_alpha": "alpha",
    "cohens_kappa": "kappa",
}
#: printed once for the data sets of the same authors
SHARED = {"fed_turn": "fed", "fed_dial": "fed"}
#: rows of Table 4 that are means
FEATURES = {
    "avg_turn_length_toxic": "Words of a prompt",
    "avg_turn_length_answer": "Words of an answer",
    "avg_humour_toxic": "Humour, prompt",
    "avg_humour_answer": "Humour, answer",
    "avg_sarcasm_toxic": "Sarcasm, prompt",
    "avg_sarcasm_answer": "Sarcasm, answer",
    "avg_contradiction": "Contradiction",
    "avg_neutral": "Neutral",
    "avg_entailment": "Entailment",
    "avg_perspective_toxic": "Toxicity (Perspective), prompt",
    "avg_perspective_answer": "Toxicity (Perspective), answer",
}
#: the two test sets of comparisons: what each item is called
COMPARED = {"ncm": "prompts", "esl": "segments"}


def development(printed: pd.DataFrame) -> pd.DataFrame:
    """Table 1 and what follows, a row per development set: `items`, `criteria`, `annotations`, `each` annotations per
    item and criterion, `share` of all annotations in percent, `best` printed correlation of a team (Table 3)."""
    rows = select(printed, PAPER, "Table 1/development/*/n_instances|n_criteria|n_annotations")
    wide = rows.pivot(index="row", columns="column", values="value").loc[rows["row"].unique()]  # noqa: PD010
    wide = wide.rename(columns={"n_instances": "items", "n_criteria": "criteria", "n_annotations": "annotations"})
    best = select(printed, PAPER, "Table 3/development/!average/team_*").groupby("row")["value"].max()
    each = wide["annotations"] / (wide["items"] * wide["criteria"])
    return wide.assign(each=each, share=100 * wide["annotations"] / wide["annotations"].sum(), best=best)


def agreement(printed: pd.DataFrame) -> pd.DataFrame:
    """What section 2.1 prints of agreement: `row` (data set), `column` (criterion), `value`, `unit`."""
    return select(printed, PAPER, "Text 2.1/inter_annotator_agreement/*/*")


def compared(printed: pd.DataFrame) -> pd.DataFrame:
    """The test sets of comparisons, a row each: `items`, `sides` (systems and people), `pairs` that these can form,
    `comparisons` and `judgements` as printed, `each` judgements per item and comparison."""
    facts = select(printed, PAPER, "Text 2.1/test_dataset_facts/ncm|esl/*").set_index(["row", "column"])["value"]
    out = []
    for key, items in COMPARED.items():
        one = facts[key]
        sides = one["systems"] + one["human_baselines"]
        row = {"row": key, "items": one[items], "sides": sides, "pairs": sides * (sides - 1) / 2}
        out.append(row | {"comparisons": one["comparisons"], "judgements": 1000 * one["pairwise_judgements"]})
    rows = pd.DataFrame(out).set_index("row")
    return rows.assign(each=rows["judgements"] / (rows["items"] * rows["comparisons"]))


def data_sets(printed: pd.DataFrame) -> Iterator[Table | Prose]:
    """The development sets with totals and agreement, and the test sets of comparisons."""
    sets, agreed = development(printed), agreement(printed)
    odd = sets.index[~np.isclose(sets["each"], sets["each"].round())]
    facts: dict[str, Any] = {
        "n": len(sets),
        "items": int(sets["items"].sum()),
        "annotations": int(sets["annotations"].sum()),
    }
    facts |= {"largest": _title(sets["share"].idxmax()), "share": sets["share"].max(), "odd": [_title(k) for k in odd]}
    others = sets["share"].drop(sets["share"].idxmax())
    facts |= {"others": list(others)}
    facts["without"] = [_title(k) for k in sets.index if SHARED.get(k, k) not in set(agreed["row"])]
    yield Prose(_PHRASES.say("data_sets", **facts))
    agreed_on = {key: _agreement(agreed[agreed["row"] == SHARED.get(key, key)]) for key in sets.index}
    out = pd.DataFrame({"Data set": [_title(k) for k in sets.index]}, index=sets.index)
    for heading in ("items", "criteria", "annotations"):
        out[heading.capitalize()] = sets[heading].astype(int)
    out["Utterances"], out["Words, context / reply"] = _lengths(printed, sets.index)
    out["Per item and criterion"], out["% of annotations"] = sets["each"], sets["share"]
    out["Agreement"], out["Best team"] = pd.Series(agreed_on), sets["best"]
    total = {"Data set": "All", "Items": facts["items"], "Annotations": facts["annotations"], "% of annotations": 100.0}
    out = pd.concat([out, pd.DataFrame([total])]).astype({k: "Int64" for k in ("Items", "Criteria", "Annotations")})
    caption = "Zhang et al. 2022, Table 1 (columns 2 to 6), and what follows from it; agreement between annotators as"
    caption += " printed (section 2.1; of several criteria, the range); best team: Spearman's correlation"
    caption += (
        " in percent (Table 3). Some agreement is approximate, or was computed after annotators or outliers had been"
    )
    caption += " removed."
    why = {"Agreement": "Not printed.", "Criteria": "Differ between data sets."}
    others = ("Per item and criterion", "Best team", "Utterances", "Words, context / reply")
    why |= dict.fromkeys(others, why["Criteria"])
    decimals = {"Per item and criterion": 2, "% of annotations": 1, "Best team": 2}
    yield Table(out.reset_index(drop=True), "data_sets_dstc10", caption, decimals, why)
    yield from _compared(compared(printed))
    yield from _corpora(printed)


def _compared(rows: pd.DataFrame) -> Iterator[Table | Prose]:
    named = [row | {"title": _title(row["row"])} for row in rows.reset_index().to_dict("records")]
    yield Prose(_PHRASES.say("test_sets", rows=named))
    headings = {"items": "Prompts or segments", "sides": "Systems and people", "pairs": "Possible pairs"}
    headings |= {"comparisons": "Comparisons", "judgements": "Judgements"}
    out = rows[list(headings)].astype(int).rename(columns=headings)
    out.insert(0, "Test set", [_title(k) for k in rows.index])
    out["Per item and comparison"] = rows["each"]
    caption = "Zhang et al. 2022, section 2.1: the test sets of comparisons. Of judgements, more than so many thousand"
    caption += " are printed."
    yield Table(out.reset_index(drop=True), "test_sets_dstc10", caption)


def _lengths(printed: pd.DataFrame, keys: pd.Index) -> tuple[pd.Series, pd.Series]:
    """Mean utterances and words as printed."""
    rows = select(printed, PAPER, "Table 1/development/*/avg_*")
    wide = rows.pivot(index="row", columns="column", values="printed").reindex(keys).fillna(MISSING)  # noqa: PD010
    return wide["avg_utts"], wide["avg_ctx_words"] + " / " + wide["avg_hyp_words"]


def corpora(printed: pd.DataFrame) -> pd.DataFrame:
    """Table 4, a row per corpus and feature: `mean` over train, dev and test, weighted by their turns, and the smallest
    (`low`) and largest (`high`) of the three."""
    rows = select(printed, PAPER, "Table 4/*/*/*").rename(columns={"panel": "corpus", "row": "feature"})
    turns = rows[rows["feature"] == "n_turns"].set_index(["corpus", "column"])["value"]
    weight = pd.Series([turns[key] for key in zip(rows["corpus"], rows["column"], strict=True)], rows.index)
    weight /= weight.groupby([rows["corpus"], rows["feature"]]).transform("sum")
    rows = rows.assign(part=rows["value"] * weight)
    out = rows.groupby(["corpus", "feature"], sort=False).agg(
        mean=("part", "sum"), low=("value", "min"), high=("value", "max")
    )
    return out.reset_index()


def _corpora(printed: pd.DataFrame) -> Iterator[Table | Prose]:
    rows, turns = corpora(printed), select(printed, PAPER, "Table 4/*/n_turns/*")
    parts = turns.pivot(index="panel", columns="column", values="value")  # noqa: PD010
    parts = parts.loc[turns["panel"].unique(), ["train", "dev", "test"]]
    total = parts.sum(axis=1)
    wide = rows[rows["feature"].isin(FEATURES)].assign(gap=lambda r: r["high"] - r["low"])
    scores = wide[wide["high"] <= 1]
    most = scores.loc[scores["gap"].idxmax()]
    facts = {"turns": int(total.sum()), "largest": _title(total.idxmax()), "share": 100 * total.max() / total.sum()}
    facts |= {
        "test": list(100 * parts["test"] / total),
        "most": FEATURES[most["feature"]],
        "where": _title(most["corpus"]),
    }
    yield Prose(_PHRASES.say("corpora", **facts, low=most["low"], high=most["high"]))
    named = {key: f"{_title(key)}, {int(total[key]):,} turns" for key in total.index}
    cells = [_spread(*r) for r in wide[["mean", "low", "high"]].itertuples(index=False)]
    out = wide.assign(cell=cells).pivot(index="feature", columns="corpus", values="cell")  # noqa: PD010
    out = out.loc[list(FEATURES), list(named)].rename(columns=named)
    out.insert(0, "Mean", list(FEATURES.values()))
    caption = (
        "Zhang et al. 2022, Table 4: means over the turns of a corpus; in brackets, the smallest and the largest of"
    )
    yield Table(out.reset_index(drop=True), "corpora_dstc10", f"{caption} train, dev and test, where they differ.")


def _title(key: str) -> str:
    return mapping.title(PAPER, key)


def _agreement(rows: pd.DataFrame) -> Cell | None:
    """The printed coefficients of a data set, those of a kind as a range, and their numbers."""
    parts, numbers = list[str](), dict[str, float]()
    for unit, of_unit in rows.groupby("unit", sort=False):
        name, decimals = COEFFICIENTS[unit], int(of_unit["decimals"].max())
        above = "above " if of_unit["note"].str.startswith("above").any() else ""
        parts.append(f"{name} {above}{span(of_unit['value'], decimals)}")
        numbers |= {f"{name} min": of_unit["value"].min(), f"{name} max": of_unit["value"].max()}
    return Cell("; ".join(parts), numbers) if parts else None


def _spread(mean: float, low: float, high: float) -> Cell:
    """A mean with as many decimals as printed, and the ends where they differ."""
    decimals = 2 if high <= 1 else 1
    ends = f" [{number(low, decimals)}, {number(high, decimals)}]" if low < high else ""
    return Cell(number(mean, decimals) + ends, {"": mean, "low": low, "high": high})
