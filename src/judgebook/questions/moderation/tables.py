"""Tables of notebook 12."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import pandas as pd

from judgebook.display import cells, tables
from judgebook.display.names import DisplayNames
from judgebook.display.text import number
from judgebook.display.views import Table
from judgebook.questions.moderation.preferences import OUTCOMES
from judgebook.study.results import Results

CATEGORIES = {"-1": "Not acceptable (−1)", "0": "In between (0)", "1": "Acceptable (1)"}


def category_titles(scores: Iterable[str], names: DisplayNames) -> dict[str, str]:
    """Scores of the category label in order, with display names."""
    titles = CATEGORIES | names.titles.get("score", {})
    return {s: titles.get(s, f"Category {number(float(s), 0)}") for s in sorted(set(scores), key=float)}


def asked(names: DisplayNames) -> str:
    """What the categories answer, for captions, where answers are words."""
    return "".join(f" (asked: {title})" for title in names.titles.get("asked", {}).values())


def by_corpus(rows: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Suffix of names of figures and tables, and rows, of each corpus."""
    for i, (_, part) in enumerate(rows.groupby("corpus", sort=False)):
        yield f"_{i}" if i else "", part


def ordered(rows: pd.DataFrame, names: DisplayNames) -> pd.DataFrame:
    """Rows in the order of systems in figures."""
    return rows.iloc[rows["system"].map(lambda s: names.position("system", s)).argsort(kind="stable")]


def pair_titles(rows: pd.DataFrame, names: DisplayNames) -> tuple[pd.DataFrame, dict[str, str]]:
    """Rows of pairs from the side of the system that comes first in figures, with `line`; display names of lines."""
    place = {s: i for i, s in enumerate(ordered(rows, names)["system"].unique())}
    pairs = rows[rows["system"].map(place) < rows["system_b"].map(place)]
    pairs = pairs.assign(line=pairs["system"] + " " + pairs["system_b"])
    between = pairs.drop_duplicates("line")[["line", "system", "system_b"]].itertuples(index=False)
    return pairs, {line: " against ".join(names.name("system", s) for s in two) for line, *two in between}


def agreement(results: Results) -> Iterator[Table]:
    """Alpha of the categories."""
    for suffix, part in by_corpus(results["alpha"]):
        out = pd.DataFrame({"Level": part["measurement"], "Alpha": tables.intervals(part), "Items": part["n_clusters"]})
        caption = "Krippendorff's alpha of the categories, all annotators of an item; CI over items."
        yield Table(out, f"agreement{suffix}", caption)


def outcomes(results: Results, names: DisplayNames) -> Iterator[Table]:
    """Shares of the outcomes in percent with every interval: a row per system and outcome."""
    for suffix, rows in by_corpus(ordered(results.select("moderation_share", data=None, system_b=None), names)):
        yield shares(rows, names, f"outcomes{suffix}", "Outcomes by system, with intervals.")


def shares(rows: pd.DataFrame, names: DisplayNames, name: str, caption: str) -> Table:
    """A row per system and outcome, its share in percent with every interval."""
    key = ["system", "outcome"]
    once = rows.drop_duplicates(key).set_index(key)
    order = [(s, o) for s in rows["system"].unique() for o in OUTCOMES]
    out = pd.DataFrame({"Share (%)": 100 * once["estimate"]}, index=pd.MultiIndex.from_tuples(order, names=key))
    for interval, heading in {"n": "All judgements", "context": "Prompts resampled", "items": "Items only"}.items():
        part = rows[rows["interval"] == interval].set_index(key)
        if len(part):
            out[heading] = cells.ranges(100 * part[["ci_low", "ci_high"]], 1, brackets=True)
    out = out.reset_index().rename(columns={"outcome": "Outcome"})
    return Table(names.named(out), name, caption, 1)


def preferred(rows: pd.DataFrame, alpha: float = 0.05) -> list[tuple[str, str]]:
    """Pairs of systems that differ significantly, the preferred one first. rows : `moderation_lead`."""
    rows = rows[rows["p_adjusted"] < alpha]
    pairs = zip(rows["estimate"], rows["system"], rows["system_b"], strict=True)
    return [(a, b) if lead > 0 else (b, a) for lead, a, b in pairs]


def leads(results: Results, names: DisplayNames) -> Table:
    """Wins minus losses of pairs of systems, in percent of their comparisons, with Holm-adjusted p-values."""
    rows = names.pairs(results["moderation_lead"])
    out = _in_percent(rows, names, "Wins minus losses (%)")
    out.insert(list(out).index("System") + 1, "Against", [names.name("system", s) for s in rows["system_b"]])
    out.insert(len(out.columns) - 1, "p (Holm)", rows["p_adjusted"])
    caption = "Wins minus losses of pairs of systems. The test reverses the outcomes of whole prompts at random."
    return Table(out, "leads", caption, 3)


def flagged(results: Results, names: DisplayNames) -> Table:
    """Shares of judgements that flag a reply, in percent."""
    caption = "Share of judgements that flag a reply; CI over prompts."
    return Table(_in_percent(results["flagged_rate"], names, "Flagged (%)"), "flagged", caption)


def _in_percent(rows: pd.DataFrame, names: DisplayNames, heading: str) -> pd.DataFrame:
    scaled = rows.assign(**{k: 100 * rows[k] for k in ("estimate", "ci_low", "ci_high")})
    shown = {heading: tables.intervals(scaled, 1), "Judgements": rows["n"]}
    return names.named(rows[["corpus", "system"]].assign(**shown))


def overlap(results: Results, names: DisplayNames, titles: Mapping[str, str]) -> Table:
    """Mean overlap by system, a column per metric. titles : metric -> heading, in order."""
    rows = results["overlap"]
    text = rows.assign(text=tables.intervals(rows)).set_index(["corpus", "system", "metric"])["text"]
    wide = text.unstack("metric").reindex(columns=[m for m in titles if (rows["metric"] == m).any()])  # noqa: PD010
    caption = "Overlap with the reference reply: BLEU and chrF from 0 to 100, the others up to 1; CI over replies."
    return Table(names.named(wide.reset_index().rename(columns=titles).rename_axis(columns=None)), "overlap", caption)
