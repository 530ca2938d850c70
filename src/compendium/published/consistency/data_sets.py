"""The data sets of Zhang et al. 2022: sizes, what follows from them, and agreement (section 2.1, Table 1); the corpora
of toxic prompts (Table 4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from compendium.published import mapping
from compendium.published.numbers import select
from judgebook.display.cells import Cell
from judgebook.display.text import MISSING, Phrases, number, span
from judgebook.display.views import Prose, Table
from judgebook.statistics.correlation import correlate, spearman_interval

PAPER = "dstc10"
_PHRASES = Phrases(__package__)
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


def against_agreement(printed: pd.DataFrame) -> dict[str, float]:
    """Spearman's correlation of printed Spearman correlations between annotators (means over criteria) with the best
    team's correlation, over data sets; without FED, of which only an approximate range is printed."""
    rows = agreement(printed)
    rows = rows[(rows["unit"] == "spearman_rho") & (rows["row"] != "fed")]
    between = rows.groupby("row")["value"].mean()
    best = development(printed)["best"].reindex(between.index)
    r, _ = correlate(between.to_numpy(), best.to_numpy())
    low, high = spearman_interval(r, len(between))
    return {"estimate": r, "ci_low": low, "ci_high": high, "n": len(between)}


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


def views(printed: pd.DataFrame) -> Iterator[Table | Prose]:
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
    facts |= {"others": list(others), "best": against_agreement(printed)}
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
